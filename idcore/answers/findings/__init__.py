"""Tables of a scan to findings: what went wrong, with whom, and what proves it. Reads no file and no id but theirs."""

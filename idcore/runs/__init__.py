"""Folders of scans: what was scanned, its tables, who has it, until when it is kept."""

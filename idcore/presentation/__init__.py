"""Everything that a person reads, for pages, command line and reports."""

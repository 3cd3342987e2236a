"""Every place of a scan's input where an id is, and the line around it: made after the scan, read a page at a time."""

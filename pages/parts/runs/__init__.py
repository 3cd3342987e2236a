"""Parts about runs as such: their list, a scan as it goes, their large tables. They know no finding and no message."""

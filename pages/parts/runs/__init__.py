"""Parts about scans as such: their list, a scan as it goes, their large tables. They use no finding and no message."""

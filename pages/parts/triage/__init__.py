"""Parts of the pages that show what is in a scan: findings, producers, counters, brokers, the comparison."""

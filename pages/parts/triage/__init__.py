"""Parts of the pages that show what is in a run: findings, producers, counters, brokers, the comparison."""

"""What became of a long list of messages in a live cluster: one look-up for each ID, and the tables of a scan."""

MOST_IDS = 5_000

"""What happened: findings, look-ups, verdicts, the journey of a message, the growth of a commit log."""

"""What is allowed, bounded and recorded: roles, limits, the audit log, metrics."""

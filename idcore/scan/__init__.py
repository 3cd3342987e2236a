"""The scan: bytes to facts, facts to tables. It uses no Spark and shows nothing."""

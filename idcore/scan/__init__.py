"""The scan: bytes to facts, facts to tables. It knows no Spark and shows nothing."""

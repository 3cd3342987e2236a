"""The scan on Spark: one session, one job, its tables on disk. The only place that uses PySpark."""

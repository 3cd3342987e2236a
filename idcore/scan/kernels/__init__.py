"""The compiled loops of the scan (numba): text to sorted runs of ids, runs to figures. They know no files and no Spark."""

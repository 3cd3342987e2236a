"""Cards and tables as static HTML: values in, escaped HTML out, for pages and reports alike. Draws no figure."""

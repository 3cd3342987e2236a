"""What a report is made of, wherever it is read: escaped HTML, and figures as SVG. Knows no page."""

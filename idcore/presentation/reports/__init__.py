"""What a report is made of, wherever it is read: escaped HTML, and figures as SVG. It needs no page."""

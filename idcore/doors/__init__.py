"""The doors for programs: an HTTP API and an MCP server, both made of the table of operations."""

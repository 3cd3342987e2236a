"""Static HTML of the console: elements, tables and links of the core, which escapes every text. Adds nothing."""

from idcore.reports.markup import Column, Html, emphasised, esc, join, link, table, tag

__all__ = ["Column", "Html", "emphasised", "esc", "join", "link", "table", "tag"]

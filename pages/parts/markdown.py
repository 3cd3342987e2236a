"""Text as Markdown that shows that text and nothing else: the core's, which reports need as well. Adds nothing."""

from idcore.reports.markdown import code, escaped, fenced

__all__ = ["code", "escaped", "fenced"]

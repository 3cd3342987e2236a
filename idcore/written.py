"""Text on its way out: what cannot be encoded becomes its escape, as JSON writes it. Knows no file and no page.

Names of files that are no UTF-8 and JSON from strangers hold lone surrogates, which no encoding takes.
"""

from __future__ import annotations

import codecs
import json
from typing import Any

ESCAPES = "idcore.escapes"  # for streams of any encoding: unlike "backslashreplace", what it leaves of JSON is JSON


def encodable(text: str) -> str:
    """The same text; a lone surrogate becomes six characters such as `\\udcff`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def json_text(value: Any, **options: Any) -> str:
    """JSON with its letters as they are. It can be encoded, and what reads it gets the same value back."""
    return encodable(json.dumps(value, ensure_ascii=False, **options))


def plain(text: str) -> str:
    """Without characters that a terminal would obey: what stands in a log or a message is a stranger's."""
    return "".join(char if char.isprintable() or char in "\t\n" else _escape(ord(char)) for char in text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def _escapes(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    units = problem.object[problem.start : problem.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)), problem.end


codecs.register_error(ESCAPES, _escapes)

"""Text on its way out: sizes in words, and what cannot be encoded as its escape. Depends on no file and no page.

Names of files that are not UTF-8 and JSON from strangers hold lone surrogates, which no encoding takes.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from typing import Any
from unicodedata import category

from idcore.base.lazy_pattern import lazy_pattern

ESCAPES = "idcore.escapes"  # for streams of any encoding: unlike "backslashreplace", what it leaves of JSON is JSON

# What has no shape or turns the direction of writing, whatever the library of Unicode here calls printable: what may be
# left out (Default_Ignorable_Code_Point), separators of lines, and letters that are blank. With two of them a stranger
# writes to an assistant what no person sees.
NO_SHAPE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN = lazy_pattern(f"[\x80-\x9f{NO_SHAPE}]")  # and what a terminal may obey (C1). JSON can have them as escapes

# A path of the server, from its root: not the path of a URI, and not one slash between two words.
_PATH = lazy_pattern(r"(?<![A-Za-z0-9_.:/~*-])/(?:[^\s/:;,'\"<>|()\[\]]+/)+[^\s/:;,'\"<>|()\[\]]*")
_VERSION = lazy_pattern(r"(?<![\w.])v?\d+\.\d+\.\d+(?:[-+_][\w.+-]*\w)?(?!\.?\d)")  # three numbers: an address has four


def encodable(text: str) -> str:
    """The same text; a lone surrogate becomes six characters such as `\\udcff`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def json_text(value: Any, **options: Any) -> str:
    """JSON with its letters as they are, and escapes for what nobody sees. What reads it gets the same value back."""
    text = encodable(json.dumps(value, ensure_ascii=False, **options)).replace("\x7f", "\\u007f")  # DEL
    return text if text.isascii() else _UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def printable(text: str) -> str:
    """Characters that nobody sees are written out: texts of logs are of strangers.

    A terminal obeys some, such as ESC (then `\\x1b`); some turn the direction of writing, on a page too. Spaces stay.
    """
    if text.isprintable() and (text.isascii() or not _UNSEEN.search(text)):
        return text
    seen = lambda char: (char.isprintable() and not _UNSEEN.match(char)) or char in "\t\n" or category(char) == "Zs"  # noqa: E731
    return "".join(char if seen(char) else _escape(ord(char)) for char in text)


def for_visitor(text: str, opened: Sequence[str] = ()) -> str:
    """An error for somebody who uses the console: a path is its last name, and a version is left out.

    `opened` are folders whose paths a visitor may see.
    """

    def shown(match: re.Match[str]) -> str:
        path = match[0]
        known = any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in opened)
        return path if known else path.rstrip("/").rpartition("/")[2]

    return _VERSION.sub("…", _PATH.sub(shown, text))


def size(count: float) -> str:
    """Bytes in words, in powers of 1,024: 6.4 MiB. The command line and the console write sizes with this alone."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            whole = abs(value) >= 100 or (unit == "B" and value.is_integer())
            return f"{value:,.{0 if whole else 1}f} {unit}"
        value /= 1024
    return f"{value:,.{0 if abs(value) >= 100 else 1}f} TiB"


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def _escapes(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    units = problem.object[problem.start : problem.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)), problem.end


codecs.register_error(ESCAPES, _escapes)

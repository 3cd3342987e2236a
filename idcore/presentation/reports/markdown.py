"""Text as Markdown that shows that text and nothing else, for any text. Depends on no page and makes no HTML."""

from __future__ import annotations

import re

from idcore.base.safe_text import encodable, printable

# An underscore inside a word is one, so that names of files stay readable where nobody renders them.
_MARKS = re.compile(r"[\\`*\[\]<>|~#$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|^[-+=](?=[-+=\s]|$)")
_NUMBER = re.compile(r"^(\d+)([.)])(?=\s|$)")
# What GitHub, GitLab and Streamlit make a link of, whatever stands before it (GitHub Flavored Markdown, 6.9), GitLab
# of any scheme, such as that of a shared folder (smb://), to which a system logs in by itself. What calls people to a
# ticket: @all. What names another ticket, which then names this one, whatever mark stands before it (GitHub, GitLab):
# #1, shop/orders#1, GH-1, GL-1, !1, &1, %1, $1. And what Streamlit alone makes a picture of, :material/delete:.
_LINK = re.compile(
    r"\w://|www\.|@[\w-]+\.[\w-]|(?<!\w)@\w|#\d|(?<![\w!%&$])[!%&$]\d|\bG[HL]-\d|:(?:material/\w+|streamlit):",
    re.IGNORECASE | re.ASCII,
)
_RUN = re.compile(r"[!-~]+")
_OPENS, _ENDS = "\"'([{<", "\"')]}>.,;:!?"  # beside a link in a sentence


def escaped(text: str) -> str:
    """A text on one line, its marks made harmless; a list or a heading cannot begin with it.

    What would become a link is code: no other mark keeps a renderer from it. Characters that nobody sees are written
    out: one that turns the direction of writing would turn our own words behind it.
    """
    line = _one_line(text)
    parts, at = [], 0
    for run in _RUN.finditer(line) if _LINK.search(line) else ():
        if _LINK.search(run[0]):
            begin = run.end() - len(run[0].lstrip(_OPENS))
            end = max(begin, run.start() + len(run[0].rstrip(_ENDS)))
            parts += [_plain(line[at:begin], at), code(line[begin:end])]
            at = end
    return "".join([*parts, _plain(line[at:], at)])


def _one_line(text: str) -> str:
    return printable(" ".join(encodable(text).split()))


def _plain(part: str, at: int = 0) -> str:
    """A part of a line, from this place of it."""
    said = _NUMBER.sub(r"\1\\\2", _MARKS.sub(r"\\\g<0>", f" {part}" if at else part))
    return said[1:] if at else said


def with_bold(text: str) -> str:
    """A text on one line in which **this** is set off, and nothing else is a mark."""
    parts = []
    for part in " ".join(text.split()).split("**"):
        inside = part.strip()
        before, _, after = part.partition(inside) if inside else (part, "", "")
        parts.append(f"{before}{escaped(inside)}{after}")
    return "**".join(parts)


def code(text: str) -> str:
    """A text as code: between more backticks than it contains."""
    line = _one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    space = " " if line[:1] == "`" or line[-1:] == "`" or not line else ""
    return f"{fence}{space}{line}{space}{fence}"


def fenced(text: str) -> str:
    """Lines as a block of code: between more backticks than any of them contains."""
    block = printable(encodable(text))
    fence = "`" * (1 + max(2, *map(len, re.findall("`+", block)), 0))
    return f"{fence}text\n{block}\n{fence}"

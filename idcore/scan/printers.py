"""Which application printed a line, as far as its logger says. Reads no logging configuration and no id."""

from __future__ import annotations

import re

OTHERS = "…"  # applications beyond those that are distinguished
_LONGEST_HEAD, _LONGEST_TAIL = 4 << 10, 4 << 10

# A field of its own, in JSON (logback, log4j, ECS, logstash) or in logfmt.
_FIELD = re.compile(
    rb"\\?\"(?:log\.)?logger(?:_name|Name|-name)?\\?\"\s?:\s?\\?\"([\w.$/-]{1,200})\\?\""
    rb"|\blogger(?:_name|Name)?=\"?([\w.$-]{1,200})"
)
_NAME = rb"((?:[A-Za-z_$][\w$-]{0,60}\.){0,15}[A-Za-z_$][\w$]{0,99})"
# Behind the level, as Spring Boot, logback, log4j and Python set a line; pid, thread and line number may come between.
_BEHIND_LEVEL = re.compile(
    rb"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b[\]:|]?\s{0,8}(?:\d{1,10}\s{1,8}---\s{1,8})?"
    rb"(?:\[[^\[\]\n]{0,200}\]\s{1,8}){0,4}" + _NAME + rb"(?::\d{1,6}|\s?\[\d{1,6}\])?\s{0,99}(?:-\s|:|\||>)"
)
# Python's other usual order: time - name - level.
_BEFORE_LEVEL = re.compile(rb" - " + _NAME + rb" - (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) - ")
_BRACKETS = re.compile(rb"\[((?:[a-z_][\w$]{0,60}\.){0,15}[A-Z][A-Za-z0-9$]{1,99})\]")


def _is_logger(name: bytes) -> bool:
    """Whether a name is that of a class or a module: a first word of the message and a thread's name are not."""
    if b"." in name:
        return True
    thread = name.endswith((b"Thread", b"Executor", b"Selector"))
    return not thread and not name.isupper() and sum(65 <= byte <= 90 for byte in name) > 1


class Printer:
    """The loggers of the lines of one text, asked for from its start to its end."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._line, self._at = 0, 0
        self._logger: str | None = None
        self._known = False

    def logger(self, at: int) -> str | None:
        """The logger of the line at a place, which is not before the last one; None where the line names none."""
        text = self._text
        feed = text.rfind(b"\n", self._at, at)
        if feed >= 0:
            self._line, self._known = feed + 1, False
        self._at = at
        if not self._known:
            self._logger, self._known = self._look(at), True
        return self._logger

    def _look(self, at: int) -> str | None:
        text, start = self._text, self._line
        head = text[start : min(at, start + _LONGEST_HEAD)]
        end = text.find(b"\n", at, at + _LONGEST_TAIL)
        tail = text[at : end if end >= 0 else at + _LONGEST_TAIL] if head.lstrip()[:1] == b"{" else b""
        field = _FIELD.search(head) or _FIELD.search(tail)
        if field is not None:
            return (field[1] or field[2]).decode("utf-8", "replace")
        for pattern in (_BEHIND_LEVEL, _BEFORE_LEVEL, _BRACKETS):
            for match in pattern.finditer(head):
                if _is_logger(match[1]):
                    return match[1].decode("utf-8", "replace")
        return None

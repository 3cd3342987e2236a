"""JSON as fastjson writes it: keys may be numbers without quotes, or objects. Does not interpret the JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from idcore.base import plain_json
from idcore.base.lazy_pattern import lazy_pattern

# A string, whole or cut off by the end (so that no text makes the search start over at each of its quotes), or a
# bare key. fastjson writes a Map<Long, String> as {0:"10.0.0.1:10911"} (ClusterInfo, TopicRouteData of 4.x).
_STRING_OR_KEY = lazy_pattern(
    r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|(?P<before>[{,]\s*)(?P<key>-?\d{1,20}|[A-Za-z_$][\w$]{0,200})(?P<after>\s*:)',
    re.DOTALL,
)
_STRING_OR_MARK = lazy_pattern(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[][{},:]', re.DOTALL)
_OBJECT_AS_KEY = lazy_pattern(r"\{\s*\{")


def _quote(match: re.Match[str]) -> str:
    if match["key"] is None:
        return match[0]
    return f'{match["before"]}"{match["key"]}"{match["after"]}'


class _Pairs:
    """A map whose keys are objects becomes a list of pairs: {{"queueId":0}:7} is read as [[{"queueId":0},7]].

    So fastjson writes a Map<MessageQueue, …> (ConsumeStats, TopicStatsTable).
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[str] = []  # a bracket, or where in a list of pairs we are: "key" or "value"

    def __call__(self, match: re.Match[str]) -> str:
        mark, inside = match[0], self._open[-1] if self._open else ""
        if mark in "{[":
            is_map = mark == "{" and _OBJECT_AS_KEY.match(self._text, match.start()) is not None
            self._open.append("key" if is_map else mark)
            return "[[" if is_map else mark
        if mark in "}]" and self._open:
            self._open.pop()
        if inside not in ("key", "value") or mark[0] == '"':
            return mark
        if (inside, mark) == ("key", ":"):
            self._open[-1] = "value"
            return ","
        if (inside, mark) == ("value", ","):
            self._open[-1] = "key"
            return "],["
        if (inside, mark) == ("value", "}"):
            return "]]"
        raise ValueError(f"{mark} at character {match.start()} of a map")


def loads(raw: bytes) -> Any:
    """The value of some bytes of JSON; ValueError says what is wrong with them, or that they may be too many values."""
    if plain_json.most_values(raw) > plain_json.MOST_VALUES:
        raise ValueError(f"more than {plain_json.MOST_VALUES:,} values")
    text = raw.decode("utf-8")
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            text = _STRING_OR_KEY.sub(_quote, text)
            if _OBJECT_AS_KEY.search(text):
                text = _STRING_OR_MARK.sub(_Pairs(text), text)
            return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None

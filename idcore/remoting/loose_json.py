"""JSON as fastjson writes it: keys that are numbers may have no quotes. Does not interpret the JSON."""

from __future__ import annotations

import json
import re
from typing import Any

# A string, whole or cut off by the end (so that no text makes the search start over at each of its quotes), or a
# bare key. fastjson writes a Map<Long, String> as {0:"10.0.0.1:10911"} (ClusterInfo, TopicRouteData of 4.x).
_STRING_OR_KEY = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|(?P<before>[{,]\s*)(?P<key>-?\d{1,20}|[A-Za-z_$][\w$]{0,200})(?P<after>\s*:)',
    re.DOTALL,
)


def _quote(match: re.Match[str]) -> str:
    if match["key"] is None:
        return match[0]
    return f'{match["before"]}"{match["key"]}"{match["after"]}'


def loads(raw: bytes) -> Any:
    """The value of some bytes of JSON; ValueError says what is wrong with them."""
    text = raw.decode("utf-8")
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return json.loads(_STRING_OR_KEY.sub(_quote, text))
    except RecursionError:
        raise ValueError("nested too deeply") from None

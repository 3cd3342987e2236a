"""What a scan that goes on says of itself: up to when, how far behind, what it does not read. Reads no table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from idcore.base.catalogue import Words
from idcore.base.errors import from_coded

FAR_BEHIND = 8 << 20  # bytes that a batch reads at once: less than that is no delay that one notices
_MOST_NAMED = 3


def standing(follow: Mapping[str, Any], words: Words, zone: tzinfo | None = None) -> str:
    """As of when the tables are, whether their source answers, and how many bytes wait."""
    as_of = datetime.fromisoformat(follow["as_of"]).astimezone(zone)
    said = words("follow.as_of", at=f"{as_of:%H:%M:%S}")
    if away := follow.get("away"):  # scans of older versions do not say it
        said += words("comma") + words("follow.away", why=away)
    if follow["behind"] >= FAR_BEHIND:
        said += words("comma") + words("follow.behind", size=words.bytes(follow["behind"]))
    return said


def left_out(follow: Mapping[str, Any], words: Words) -> Iterator[str]:
    """What is not followed, and that older IDs are kept no more."""
    paths = sorted(follow["left_out"].items())
    for path, row in paths[:_MOST_NAMED]:
        problem = from_coded(json.loads(row))
        if problem is not None:
            is_part = problem.code == "kafka_made_again"
            yield words("follow.missed" if is_part else "follow.left_out", path=path, why=words.coded(problem))
    if len(paths) > _MOST_NAMED:
        yield words("follow.left_out_more", n=words.count("file", len(paths) - _MOST_NAMED))
    if follow["is_cut"]:
        yield words("follow.cut")

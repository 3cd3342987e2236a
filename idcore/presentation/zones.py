"""Time zones as people look for them: by place, by country, by offset, in English or Chinese. Has no clock."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from idcore.ids.zone_names import PLACES
from idcore.presentation.times import offset_text, zone_names, zone_of


def ordered_names() -> tuple[str, ...]:
    """UTC, the zones of PLACES, then every other by its name."""
    return tuple(dict.fromkeys(("UTC", *PLACES, *zone_names())))


def options(*first: str | None) -> list[str]:
    """Some zones first, then every other."""
    return list(dict.fromkeys([*filter(None, first), *ordered_names()]))


def label(name: str, at: datetime, shown: str | None = None) -> str:
    """`+08:00 Asia/Shanghai · China … UTC+8 GMT+8`: the present offset, the name, and what else people type for it.

    `shown` takes the place of the name.
    """
    return _label(name, at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0), shown)


@lru_cache(maxsize=2048)
def _label(name: str, at: datetime, shown: str | None) -> str:
    """The label of a quarter of an hour, one text for all visitors: each has six hundred of them."""
    offset, words = _offset_and_words(name, at)
    if name == offset:
        return f"UTC{offset}"  # the other spellings would be the same once more
    head = f"{offset} {shown or name}"
    return f"{head} · {words}" if words else head


def _offset_and_words(name: str, at: datetime) -> tuple[str, str]:
    zone = zone_of(name)
    if zone is None:
        return "", ""
    own = "" if name in PLACES or "_" not in name else name.rpartition("/")[2].replace("_", " ")
    # `+8`, `-3:30`; nothing for UTC itself.
    offset = offset_text(at.astimezone(zone))
    hours, minutes = int(offset[1:3]), offset[4:6]
    short = f"{offset[0]}{hours}{'' if minutes == '00' else f':{minutes}'}" if offset != "+00:00" else ""
    words = (PLACES.get(name, own), *(f"{start}{short}" for start in ("UTC", "GMT") if f"{start}{short}" != name))
    return offset_text(at.astimezone(zone)), " ".join(filter(None, words))

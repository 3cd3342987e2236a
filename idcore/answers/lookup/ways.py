"""Ways to messages without an id: by key, by topic and time, by queue and offset, by group. Asks nobody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from shlex import quote
from typing import Any, Literal

from idcore.answers.fate.sentences import utc_if_known
from idcore.answers.lookup.copies import home_topic, is_special
from idcore.answers.lookup.model import Copy, Evidence
from idcore.base.errors import CoreError
from idcore.ids.clock import is_time, parse_instant, to_ms
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.model import DLQ_PREFIX

Stop = Callable[[], bool]
Kind = Literal["key", "tag", "time", "queue", "dead_letters"]
KINDS: tuple[Kind, ...] = ("key", "tag", "time", "queue", "dead_letters")
# What names a way in an address, and as options of the command line.
NAMES = ("key", "tag", "topic", "queue", "dead_letters", "from", "to", "limit")
# So many messages are listed where nobody says how many, and so many at most. One place alone is one message.
USUAL_LIMIT, MOST_LISTED = 1_000, 100_000
# Records are held in memory until the list is written.
MOST_BYTES = 256 << 20
# One list counts as one look-up for each so many messages that it may have.
MESSAGES_OF_A_LOOKUP = 100
_PLACE = re.compile(r"(?:(?P<broker>.+):)?(?P<queue>\d{1,10}):(?P<offset>\d{1,18})", re.ASCII)


class WrongWay(CoreError):
    """What was asked for is not one of the ways to a message."""


@dataclass(frozen=True, slots=True)
class Way:
    """What is listed. `begin_ms` and `end_ms` bound the store time, both inclusive; None does not bound it."""

    kind: Kind
    topic: str | None = None
    key: str = ""
    group: str = ""
    broker: str | None = None
    queue: int = 0
    offset: int = 0
    begin_ms: int | None = None
    end_ms: int | None = None
    limit: int = USUAL_LIMIT
    tag: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str | None], zone: tzinfo) -> Way | None:
        """From the names of options and of an address; None where they name no way. WrongWay where they clash.

        A time without an offset is in `zone`.
        """
        text = {name: value.strip() for name, value in given.items() if value and value.strip()}
        kinds: list[Kind] = [kind for kind in KINDS if kind != "time" and kind in text]
        if not kinds and "topic" in text and ("from" in text or "to" in text):
            kinds = ["time"]
        if not kinds:
            return None
        if len(kinds) > 1:
            raise WrongWay("way_several")
        (kind,) = kinds
        if kind in ("queue", "tag") and "topic" not in text:
            raise WrongWay("way_topic")
        begin, end = (to_ms(parse_instant(text[name], zone)) if name in text else None for name in ("from", "to"))
        if begin is not None and end is not None and begin > end:
            raise WrongWay("way_times")
        if kind == "queue" and (begin, end) != (None, None):
            raise WrongWay("way_queue_times")
        limit = _limit(text.get("limit"), 1 if kind == "queue" else USUAL_LIMIT)
        place = _place(text["queue"]) if kind == "queue" else (None, 0, 0)
        topic = None if kind == "dead_letters" else text.get("topic")
        of_kind = topic, text.get("key", ""), text.get("dead_letters", ""), *place
        return cls(kind, *of_kind, begin, end, limit, text.get("tag", ""))

    @property
    def listed_topic(self) -> str | None:
        """The topic whose queues are read; None where any topic may have the message."""
        return f"{DLQ_PREFIX}{self.group}" if self.kind == "dead_letters" else self.topic

    @property
    def newest_first(self) -> bool:
        """Whether a list that is too long keeps its newest messages, not its oldest."""
        return self.kind in ("dead_letters", "key", "tag")

    def params(self) -> dict[str, str]:
        """What `of` makes the same way from: names and texts of options and of an address."""
        place = f"{self.queue}:{self.offset}"
        usual = 1 if self.kind == "queue" else USUAL_LIMIT
        params = {
            "topic": self.topic,
            "key": self.key,
            "tag": self.tag,
            "dead_letters": self.group,
            "queue": (f"{self.broker}:{place}" if self.broker else place) if self.kind == "queue" else None,
            "from": utc_if_known(self.begin_ms),
            "to": utc_if_known(self.end_ms),
            "limit": None if self.limit == usual else str(self.limit),
        }
        return {name: value for name, value in params.items() if value}

    def __str__(self) -> str:
        """As a shell takes it, for the audit log and for who goes on at the command line: a key is anybody's text."""
        return " ".join(f"--{name.replace('_', '-')} {quote(value)}" for name, value in self.params().items())


def _limit(text: str | None, usual: int) -> int:
    if text is None:
        return usual
    limit = names.number(text)
    if limit is None or not 1 <= limit <= MOST_LISTED:
        raise WrongWay("way_limit", {"most": f"{MOST_LISTED:,}"})
    return limit


def _place(text: str) -> tuple[str | None, int, int]:
    match = _PLACE.fullmatch(text)
    if match is None:
        raise WrongWay("way_place", {"given": text})
    return match["broker"], int(match["queue"]), int(match["offset"])


@dataclass(frozen=True, slots=True)
class QueueCount:
    """One queue of a list: the offsets that it has, those of the list from `first` up to `end`, what became of them.

    `seen` of them were read, `unreadable` of these have no record that can be read.
    """

    broker: str
    queue_id: int
    min_offset: int
    max_offset: int
    first: int
    end: int
    listed: int = 0
    seen: int = 0
    unreadable: int = 0

    @property
    def count(self) -> int:
        """How many offsets of the list the queue has. A batch of 5.x is one record with several offsets."""
        return self.end - self.first

    @property
    def left(self) -> int:
        """How many offsets of the list were not read."""
        return max(0, self.count - self.seen)


@dataclass(frozen=True, slots=True)
class Listing:
    """The messages of a way in the order of their store time, and what is not among them.

    `cut` says what ended the list early: limit, bytes, stopped, failed. `queues` is empty for a way by key.
    """

    way: Way
    copies: tuple[Copy, ...]
    queues: tuple[QueueCount, ...] = ()
    cut: str | None = None
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def nothing_asked(self) -> bool:
        """Whether nobody could be asked, so that an empty list says nothing."""
        return self.reason == "not_permitted" or (self.reason == "unreachable" and not self.asked)

    @property
    def left(self) -> int | None:
        """How many offsets of the list were not read; None where that is not known, by key."""
        return sum(queue.left for queue in self.queues) if self.queues else None


COLUMNS = (
    "stored_at",
    "topic",
    "broker_name",
    "queue_id",
    "queue_offset",
    "msg_id",
    "offset_msg_id",
    "tag",
    "keys",
    "born_at",
    "born_host",
    "group",
    "home_topic",
    "origin_message_id",
    "reconsume_times",
    "commit_log_offset",
    "store_size",
)


def extra(copy: Copy) -> dict[str, Any]:
    """What a list says of a record besides its fields: the group and topic of a message that a consumer sent back."""
    properties = copy.record.properties
    away = is_special(copy.record.topic)
    return {
        "group": copy.group,
        "home_topic": home_topic(copy.record) if away else None,
        "origin_message_id": properties.get(names.ORIGIN_MESSAGE_ID),
        "tag": properties.get(names.TAGS),
        "keys": properties.get(names.KEYS),
    }


def row(copy: Copy) -> dict[str, Any]:
    """A message as one flat row without its body, for CSV, JSON Lines and tables; times in UTC."""
    record = copy.record
    columns = extra(copy) | {
        "stored_at": _time(record.store_timestamp),
        "topic": record.topic,
        "broker_name": copy.more.get("broker_name"),
        "queue_id": record.queue_id,
        "queue_offset": record.queue_offset,
        "msg_id": record.uniq_id,
        "offset_msg_id": str(record.offset_id),
        "born_at": _time(record.born_timestamp),
        "born_host": str(record.born_host),
        "reconsume_times": record.reconsume_times,
        "commit_log_offset": record.physical_offset,
        "store_size": record.size,
    }
    return {name: columns[name] for name in COLUMNS}


def rows(copies: Iterable[Copy]) -> Iterable[dict[str, Any]]:
    return map(row, copies)


def _time(milliseconds: int) -> str | None:
    return utc_if_known(milliseconds) if is_time(milliseconds) else None

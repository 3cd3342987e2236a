"""The clocks that printed records show: when a producer made a message, its broker stored it, a consumer began.

One pair of times proves little: a producer may have waited. Many records of one broker show whose clock is off
(`idcore.answers.findings.broker_clocks`). Reads texts of any printer: Java, Go, JSON, mqadmin. Judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from idcore.ids.clock import is_time
from idcore.ids.rules import CANDIDATE

MOST_BROKERS, MOST_RECORDS = 256, 2_000  # the records of each broker: more show no more
MOST_LOOKED_AT = 2_000  # records of all, and the bytes that they are looked for in: a tenth of a second
MOST_BYTES = 8 << 20
_AROUND = 4 << 10  # bytes in which the fields of one record are, before and behind its store time
_TIME = rb"[\"']?[^0-9A-Za-z\r\n]{1,24}(\d{12,14}(?!\d)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3})"
_SPELLINGS = (b"toreTimestamp", b"tore Timestamp", b"tore_timestamp", b"toretimestamp", b"TORE_TIMESTAMP")
_STORED = re.compile(rb"store[_ ]?timestamp" + _TIME, re.IGNORECASE)
_BORN = re.compile(rb"born[_ ]?timestamp" + _TIME, re.IGNORECASE)
# As Java, Go and mqadmin print it, or as JSON of an InetSocketAddress.
_HOST = (
    rb"[_ ]?host[\"']?[^0-9A-Za-z\r\n]{1,24}(?:address[\"']{0,2}\s?:\s?[\"']?)?(?:[^/,\s\"'=]{0,255}/)?"
    rb"(\[?[0-9A-Fa-f.:]{3,45}?\]?)(?::|[\"'],\s?[\"']port[\"']\s?:\s?)(\d{1,5})\b"
)
_STORE_HOST, _BORN_HOST = (re.compile(name + _HOST, re.IGNORECASE) for name in (b"store", b"born"))
_OFFSET = re.compile(rb"commit[_ ]?log[_ ]?offset[\"']?[^0-9A-Za-z\r\n]{1,24}(\d{1,19})\b", re.IGNORECASE)
_CONSUMED = re.compile(rb"CONSUME_START_TIME[\"']?[=:]\s?[\"']?(\d{13})(?!\d)")
_ID = re.compile(rb"(?:UNIQ_KEY|msgId)[\"']?\s?[=:]\s?[\"']?(" + CANDIDATE.encode() + rb")(?![0-9A-Fa-f])")
# Of a record that a broker made from another one, or keeps until it is due, the born time is that of the first.
_AGAIN = re.compile(
    rb"(?i:reconsume[_ ]?times|prepared[_ ]?transaction[_ ]?offset)[\"']?[^0-9A-Za-z\r\n]{1,24}[1-9]"
    rb"|\b(?:RECONSUME_TIME|ORIGIN_MESSAGE_ID|RETRY_TOPIC|REAL_TOPIC|DELAY|TIMER_[A-Z_]{1,20}|TRAN_MSG)[\"']?\s?[=:]"
    rb"|%RETRY%|%DLQ%|SCHEDULE_TOPIC_XXXX|RMQ_SYS_"
)


class Stamp(NamedTuple):
    """One record: its times in ms, where it is in the commit log, the host it was born on, an id of it.

    `is_copy`: a broker made it from another one, so that it is stored later than born by more than a moment.
    """

    born: int
    stored: int
    offset: int | None
    born_host: str
    consumed: int | None
    id: str
    is_copy: bool = False


def stamps(text: bytes, most: int = MOST_LOOKED_AT) -> Iterator[tuple[str, Stamp]]:
    """The broker and the times of each record of a text that has both; of copies, which are born earlier, only those
    that are stored before.

    Of more than `most` some are looked at, spread evenly.
    """
    store_times = _store_times(text)
    for number in range(0, len(store_times), max(1, -(-len(store_times) // max(1, most)))):
        at = store_times[number]
        first = max(store_times[number - 1].end() if number else 0, at.start() - _AROUND)
        last = min(store_times[number + 1].start() if number + 1 < len(store_times) else len(text), at.end() + _AROUND)
        born, host = (_nearest(pattern, text, first, last, at) for pattern in (_BORN, _STORE_HOST))
        if born is None or host is None:
            continue
        end = min([last, *(one.start() for one in _BORN.finditer(text, at.end(), last) if one.start() != born.start())])
        begin = min(born.start(), at.start(), host.start())
        times = _ms(born[1]), _ms(at[1])
        is_copy = _AGAIN.search(text, begin, end) is not None
        if not all(times) or (is_copy and times[1] >= times[0]):
            continue
        of, offset = (_nearest(pattern, text, first, last, at) for pattern in (_BORN_HOST, _OFFSET))
        consumed, id_ = _CONSUMED.search(text, begin, end), _ID.search(text, begin, end)
        yield (
            f"{host[1].decode()}:{host[2].decode()}",
            Stamp(
                *times,
                int(offset[1]) if offset else None,
                of[1].decode() if of else "",
                int(consumed[1]) if consumed else None,
                id_[1].decode() if id_ else "",
                is_copy,
            ),
        )


def _store_times(text: bytes) -> list[re.Match[bytes]]:
    """What `_STORED` finds, in its order; it is tried only where one of its spellings is, in a tenth of the time."""
    places: list[int] = []
    for spelling in _SPELLINGS:
        at = text.find(spelling)
        while at >= 0:
            places.append(at)
            at = text.find(spelling, at + 1)
    matches = (_STORED.match(text, at - 1) for at in sorted(places) if at)
    return [time for time in matches if time is not None]


def _nearest(
    pattern: re.Pattern[bytes], text: bytes, first: int, last: int, at: re.Match[bytes]
) -> re.Match[bytes] | None:
    """The field of a record next to its store time: printers differ in the order of fields."""
    behind = pattern.search(text, at.end(), last)
    before = next(iter(list(pattern.finditer(text, first, at.start()))[-1:]), None)
    if behind is None or before is None:
        return behind or before
    return before if at.start() - before.end() <= behind.start() - at.end() else behind


def _ms(digits: bytes) -> int:
    """Milliseconds; of a date those of its wall time, because only differences count. 0 for what is no time."""
    if digits.isdigit():
        return int(digits) if is_time(int(digits)) else 0
    try:
        wall = datetime.strptime(digits.decode().replace(".", ","), "%Y-%m-%d %H:%M:%S,%f")
    except ValueError:
        return 0
    return (wall - datetime(1970, 1, 1)) // timedelta(milliseconds=1)

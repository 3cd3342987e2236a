"""What mqadmin and dashboards print of each consumer group of a message: tracks, as text, JSON or rows of a table.

A track names no message: it belongs to the last one in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids.line_moments import moment_at_ms, prefix_time

_TRACK = lazy_pattern(
    r"MessageTrack ?\[consumerGroup=([^,\]]{1,255}), ?trackType=([A-Z_]{2,40})"
    r"(?:, ?exceptionDesc=((?:[^\[\]\n]|\[[^\[\]\n]{0,255}\]){0,300}))?"
)
_OBJECT = lazy_pattern(r"\{[^{}]{0,2000}?[tT]rackType[^{}]{0,2000}?\}")
_IS = r"""\\?["']?\s{0,8}[=:]\s{0,8}\\?["']?"""
_GROUP = lazy_pattern(rf"(?:[cC]onsumerGroup|\"Group){_IS}([^\s,\"'\\{{}}]{{1,255}})")
_TYPE = lazy_pattern(rf"[tT]rackType{_IS}([A-Z_]{{2,40}})")
_REASON = lazy_pattern(rf"[eE]xceptionDesc{_IS}([^\"\n]{{1,300}}?)\\?(?:\"|,|\}}|$)")
# A row of the dashboard's table, behind its head; a status of several words needs no head.
# Its blanks are taken once, whatever follows: a line of blanks is not tried in each way to part them.
_CELL = r"(?=[ \t]{0,40}[\t|,]|[ \t]{0,38} {2})[ \t]{0,80}+[|,]?+[ \t|]{0,40}+"
_STATUS = r"(?:NOT_CONSUME_YET|NOT_ONLINE|CONSUMED_BUT_FILTERED|CONSUME_BROADCASTING|CONSUMED|PULL|UNKNOWN)"
_ROW = lazy_pattern(rf"[>| \t]{{0,40}}+([A-Za-z%][^\s,|]{{0,254}}){_CELL}({_STATUS})(?={_CELL}|[ \t|]*\Z)")
_HEADS = ("rackType", "rack Type", "Message Track", "消费状态", "#ConsumerGroup")
# A row of queryMsgTraceById: Sub, the group, the client, the time of consumption, how long it took, how it ended.
_SUB = lazy_pattern(
    r"[> \t]{0,40}Sub {1,20}(\S{1,255}) {1,40}\S{1,255} {1,40}(\d{4}-.{15}) {1,20}\S{1,20} {1,20}(success|failed)\b"
)
_NULLS = ("", "null", "None")
# The consumers of a message in the trace that the dashboard answers: groups, and in each of them its attempts.
_SUBSCRIPTION = lazy_pattern(
    rf"subscriptionGroup{_IS}(?P<group>[^\s,\"'\\{{}}]{{1,255}})"
    r"|\{(?=[^{}]{0,1000}clientHost)(?=[^{}]{0,1000}retryTimes)(?P<node>[^{}]{0,2000})\}"
)
_ENDED = lazy_pattern(rf"\bstatus{_IS}(success|failed)\b")
_TRIES = lazy_pattern(rf"\bretryTimes{_IS}(\d{{1,5}})\b")
_END_AT = lazy_pattern(rf"\bendTimestamp{_IS}(1\d{{12}})\b")


class Track(NamedTuple):
    """What one place of a text says of a group; `event` as of `idcore.ids.delivery.Delivery`."""

    group: str
    status: str
    reason: str | None
    event: str
    time: datetime | None
    tries: int | None = None


def may_be_track(text: str) -> bool:
    """Whether a line may say something of a group: most are told apart by a few words."""
    return (
        "rack" in text
        or '"Group"' in text
        or "CONSUME" in text
        or "onsumerGroup" in text
        or "consumeNodeList" in text
        or "_ONLINE" in text
        or "消费状态" in text
    )


class Tracks:
    """Reads the lines of a text in their order."""

    def __init__(self) -> None:
        self._group: str | None = None  # of an object that is printed one field a line
        self.in_table = False

    def of(self, text: str) -> list[Track]:
        """What a line says that `may_be_track`, or that is behind one."""
        found = list(self._of(text))
        if not found:
            self.in_table = any(head in text for head in _HEADS) or (self.in_table and text.strip(" |-+>\t") == "")
        return found

    def _of(self, text: str) -> Iterator[Track]:
        for match in _TRACK.finditer(text):
            yield _track(match[1], match[2], match[3])
        for match in _OBJECT.finditer(text) if "rackType" in text else ():
            group, status, reason = (pattern.search(match[0]) for pattern in (_GROUP, _TYPE, _REASON))
            if group is not None and status is not None:
                yield _track(group[1], status[1], reason and reason[1])
        if "consumeNodeList" in text:
            yield from _attempts(text)
        if "{" not in text and "[" not in text:
            yield from self._of_field(text)
            if (row := _ROW.match(text)) is not None and (self.in_table or "_" in row[2]):
                yield _track(row[1], row[2], None)
            elif self.in_table and (row := _SUB.match(text)) is not None:
                event = "acked" if row[3] == "success" else "failed"
                yield Track(row[1], row[3], None, event, prefix_time(row[2]))

    def _of_field(self, text: str) -> Iterator[Track]:
        """An object that is printed one field a line: its group comes first."""
        if (group := _GROUP.search(text)) is not None:
            self._group = group[1]
        elif self._group is not None and (status := _TYPE.search(text)) is not None:
            yield _track(self._group, status[1], None)
            self._group = None


def _attempts(text: str) -> Iterator[Track]:
    """The attempts of each group, behind its name."""
    group = None
    for match in _SUBSCRIPTION.finditer(text):
        group = match["group"] or group
        node = match["node"] or ""
        if group is None or (ended := _ENDED.search(node)) is None:
            continue
        tries, at = _TRIES.search(node), _END_AT.search(node)
        event = "acked" if ended[1] == "success" else "failed"
        when = None if at is None else moment_at_ms(int(at[1]))
        yield Track(group, ended[1], None, event, when, None if tries is None else int(tries[1]))


def _track(group: str, status: str, reason: str | None) -> Track:
    event = "filtered" if status == "CONSUMED_BUT_FILTERED" else "track"
    return Track(group, status, None if reason in _NULLS else reason, event, None)

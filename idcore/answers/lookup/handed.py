"""Whether a broker handed a group as many messages as its offset moved over. Judges nothing, and asks as it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idcore.answers.fate import Observation
from idcore.answers.fate.model import FewerHanded
from idcore.answers.fate.rule import LONG_POLLING_MS
from idcore.rocketmq.remoting.consumers import ConsumeStats, QueueStats, TopicStats
from idcore.rocketmq.remoting.counters import HandedTo, StoredIn, Sums
from idcore.rocketmq.remoting.requests import QueueAt, Request

# Questions to one broker; with an instant, answers since then count as well.
Ask = Callable[[Sequence[Request[Any]], int], list[Observation[Any]]]
# How late a broker may be with a sample, and ours with its clock.
_LATE_MS = 5_000
# A group that begins at the last offset gets its queues so long after its clients subscribed, at most.
_BEGUN_MS = 60_000
# Of a topic with more queues at a broker, where each was at six instants is too much to ask.
_MOST_QUEUES = 256
# Before 5.0 a broker answers with the message that is nearest to an instant, so one too few or too many.
_INEXACT = 2


@dataclass(frozen=True, slots=True)
class Window:
    """What one sum covers for certain: messages stored from `begin_ms` to `end_ms`, by the broker's clock.

    Clients pull ahead of what they process. Who was handed none of these by the last sample is behind, or was reset.
    """

    begin_ms: int
    end_ms: int
    sum_of: Callable[[Sums], int]


# Of each sum: its length, the time between samples, and how long before a sample a message is handed out at the latest.
# What came after its last sample is in the sum of a shorter time, up to the last ten minutes.
_SUMS: tuple[tuple[int, int, int, Callable[[Sums], int]], ...] = (
    (60_000, 10_000, 15_000, lambda sums: sums.minute),
    (3_600_000, 600_000, 120_000, lambda sums: sums.minute + sums.hour),
    (86_400_000, 3_600_000, 1_800_000, lambda sums: sums.minute + sums.hour + sums.day),
)


def windows(boot_ms: int, now_ms: int, shortest: bool) -> list[Window]:
    """What the sums of a broker cover now, by its clock; without `shortest`, which is another every ten seconds."""
    found = []
    for length, interval, before, sum_of in _SUMS[0 if shortest else 1 :]:
        sampled = (now_ms - _LATE_MS - boot_ms) // interval  # samples so far, without the one at its start
        last = boot_ms + sampled * interval
        begin, end = max(boot_ms, last + interval - length), last - before
        if sampled > 0 and begin < end:
            found.append(Window(begin, end, sum_of))
    return found


@dataclass(frozen=True, slots=True)
class Reader:
    """A group that is past a record, and since when its filter is known; `narrow`: that may drop other messages.

    `pops`: a broker may hand it messages without counting them.
    """

    group: str
    since_ms: int
    narrow: bool = False
    from_last: bool = False
    pops: bool = False


class Counters:
    """What one broker counted of one topic; `since_ms`: from when on its answers count, to whoever asked.

    `exact`: it knows to the message where a queue was at an instant.
    """

    def __init__(self, ask: Ask, topic: str, covered: Sequence[Window], since_ms: int, exact: bool) -> None:
        self.topic, self.windows, self.exact = topic, covered, exact
        self._ask, self._since_ms = ask, since_ms
        self._queues: Sequence[QueueStats] = ()

    def fewer(self, readers: Sequence[Reader], stored_ms: int) -> dict[str, FewerHanded]:
        """The groups that were handed fewer messages than their offset moved over; `stored_ms` is of the record."""
        if not self.windows or not readers:
            return {}
        (stats,) = self._ask([TopicStats(self.topic, True)], self._since_ms)
        self._queues = stats.value or ()
        if len(self._queues) > _MOST_QUEUES:
            return {}
        busy = [(each, count) for each in self.windows if (count := self._stored(each.begin_ms, each)) > 0]
        if not busy:
            return {}
        asked = [StoredIn(self.topic), *(HandedTo(each.group, self.topic) for each in readers)]
        stored, *handed = self._ask(asked, self._since_ms)
        if stored.value is None:
            return {}
        # who was no broker of the topic for a while did not count what another one stored and handed out
        whole = [(window, most) for window, most in busy if window.sum_of(stored.value) >= most]
        found: dict[str, FewerHanded] = {}
        for reader, sums in zip(readers, (each.value for each in handed), strict=True):
            if sums is None or (reader.pops and not sums.any):
                continue
            for window, most in whole:
                count = window.sum_of(sums)
                passed = self._passed(reader, window, stored_ms, count) if count < most else 0
                if count < passed:
                    found[reader.group] = FewerHanded(count, passed, window.begin_ms)
        return found

    def _passed(self, reader: Reader, window: Window, stored_ms: int, count: int) -> int:
        """How many messages of a window the group's offset moved over, of those that its filter lets through."""
        begin = max(window.begin_ms, reader.since_ms + (_BEGUN_MS if reader.from_last else LONG_POLLING_MS))
        if reader.narrow:  # of all others it is not known whether it gets them
            return int(not count and begin <= stored_ms < window.end_ms)
        (progress,) = self._ask([ConsumeStats(reader.group, self.topic)], self._since_ms)
        offsets = {each.queue: each.consumer_offset for each in progress.value or () if each.topic == self.topic}
        return self._stored(begin, window, offsets) - (0 if self.exact else _INEXACT * len(self._queues))

    def _stored(self, begin_ms: int, window: Window, offsets: Mapping[int, int] | None = None) -> int:
        """How many messages were stored in a window, from an instant on, and before these offsets."""
        if begin_ms >= window.end_ms:
            return 0
        first, last = self._places(begin_ms), self._places(window.end_ms)
        ends = last if offsets is None else {queue: min(end, offsets.get(queue, 0)) for queue, end in last.items()}
        return sum(max(0, end - first.get(queue, end)) for queue, end in ends.items())

    def _places(self, at_ms: int) -> dict[int, int]:
        """By queue, the offset of the first message stored at an instant or later, where the broker says it."""
        known = {each.queue: each.max_offset for each in self._queues if 0 < each.last_ms < at_ms}
        later = [each.queue for each in self._queues if each.queue not in known and each.max_offset > 0]
        heard = self._ask([QueueAt(self.topic, queue, at_ms) for queue in later], 0)  # what was then stays
        return known | {queue: one.value for queue, one in zip(later, heard, strict=True) if one.value is not None}

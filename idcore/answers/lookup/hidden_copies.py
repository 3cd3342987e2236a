"""Which groups damage of a commit log may have taken a copy from, by what the consume queues have. Judges no message.

A consume queue has an entry for each record of its queue. If it is as long as the log, and no entry of it leads into
the damage, none of its records was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from idcore.answers.lookup.copies import TIMER_TOPIC, group_in
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.rocketmq.store.files import first_and_last_byte
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.queue import ConsumeQueue

if TYPE_CHECKING:  # `view` of a store does without it as long as no damage has to be judged
    import numpy as np

_ENDLESS = 1 << 62
Stretch = tuple[int, int]  # of the log: where damage begins, and the offset behind it
Place = tuple[str, int]  # topic and queue


@dataclass(frozen=True, slots=True)
class ReadableRecords:
    """The records of one queue that can be read: how many, and their least and greatest queue offset."""

    records: int
    least: int
    greatest: int


@dataclass(frozen=True, slots=True)
class HiddenCopies:
    """The groups that may lack a copy: these, or every group."""

    groups: frozenset[str] = frozenset()
    every_group: bool = False

    def may_lack(self, group: str) -> bool:
        """Whether a copy of this group may have been in what is damaged."""
        return self.every_group or group in self.groups


def holds_copies(topic: str) -> bool:
    """Whether copies are here that a group's failures make, or that wait to become such."""
    return topic in (SCHEDULE_TOPIC, TIMER_TOPIC) or topic.startswith((RETRY_PREFIX, DLQ_PREFIX))


def hidden_copies(store: StoreFolder, damage: Sequence[Stretch], seen: Mapping[Place, ReadableRecords]) -> HiddenCopies:
    """The groups that may lack a copy because of damage. `seen` has all queues of the log.

    What waits for its time may be of any group, so a gap there concerns every group. It does not matter where the
    schedule is already past it: then the delivered copy is in a retry queue, which is judged by itself.
    """
    if not damage:
        return HiddenCopies()
    stretches = _joined(damage)
    last = store.log.files[-1]
    if stretches[-1, 1] == last.end:  # what was allocated ahead is not damaged
        written = first_and_last_byte(store.reading, last.path, max(0, stretches[-1, 0] - last.start), last.size)
        stretches[-1, 1] = last.end if written is None else last.start + written[1]
    queues = {(topic, queue.queue_id): queue for topic in store.queues.topics for queue in store.queues.of(topic)}
    reached = max((unit.physical_offset + unit.size for each in queues.values() if (unit := each.last)), default=-1)
    if reached < stretches[-1, 1]:  # no consume queue has what was there
        return HiddenCopies(every_group=True)
    if stretches[-1, 1] == last.end:  # the log was cut, and more may have been behind
        stretches[-1, 1] = _ENDLESS
    lacking = {
        place[0]
        for place in {*queues, *seen}
        if holds_copies(place[0]) and _lacks(store, place, queues.get(place), seen.get(place), stretches)
    }
    if lacking & {SCHEDULE_TOPIC, TIMER_TOPIC}:
        return HiddenCopies(every_group=True)
    homes = {topic for topic, _ in seen}
    return HiddenCopies(frozenset(group for topic in lacking for group in _groups_of(topic, homes)))


def _joined(damage: Sequence[Stretch]) -> np.ndarray:
    """Rows of begin and end, in order, none inside another."""
    import numpy as np

    rows: list[list[int]] = []
    for begin, end in sorted(damage):
        if rows and begin <= rows[-1][1]:
            rows[-1][1] = max(rows[-1][1], end)
        else:
            rows.append([begin, end])
    return np.array(rows, np.int64)


def _lacks(
    store: StoreFolder, place: Place, queue: ConsumeQueue | None, seen: ReadableRecords | None, stretches: np.ndarray
) -> bool:
    """Whether a record of a queue may be in the damage; yes where the consume queue does not have all of its time."""
    import numpy as np

    following = (store.config.delays or {}).get(place[1] + 1) if place[0] == SCHEDULE_TOPIC else None
    entries = queue.entries() if queue is not None else np.zeros((0, 3), np.int64)
    offsets, physical = entries[:, 0], entries[:, 1]
    greatest = max([seen.greatest] if seen else [], default=-1)
    if following is not None and following > max([greatest, *offsets[-1:].tolist()]):
        return False  # all of them are delivered
    if seen is None and not len(offsets):
        return False
    if not len(offsets) or int(offsets[-1] - offsets[0]) + 1 != len(offsets):
        return True
    if seen is not None and not (offsets[0] <= seen.least and seen.greatest <= offsets[-1]):
        return True
    at = np.searchsorted(stretches[:, 0], physical, side="right") - 1
    inside = (at >= 0) & (physical < stretches[at, 1])
    if seen is not None and seen.records + np.count_nonzero(inside) < seen.greatest - seen.least + 1:
        return True
    return bool((inside & (offsets >= (following or 0))).any())


def _groups_of(topic: str, homes: Iterable[str]) -> set[str]:
    """The groups that a topic of copies may belong to: a name of POP also fits a group with `_` in its name."""
    named = {group_in(topic, "", False, ()), *(group_in(topic, "", True, [home]) for home in homes)}
    return {group for group in named if group}

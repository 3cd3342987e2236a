"""A list of IDs, asked about in portions of a look-up; how far it is, and a stop. Judges nothing and writes nothing."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from idcore.answers.fate_list import MOST_IDS
from idcore.answers.fate_list.tally import Tally
from idcore.answers.lookup import LookupService
from idcore.answers.lookup.cluster import IDS_AT_ONCE
from idcore.base.errors import CoreError, coded
from idcore.rocketmq.remoting.errors import RemotingError, TooManyLookups

LOG = logging.getLogger(__name__)
# Where the limit of look-ups is reached the portions are small, so that others who share it get in between.
_FEW_AT_ONCE = 16
# The time left is that of the last so many portions.
_PORTIONS = 20
_LEAST_WAIT = 0.05


@dataclass(frozen=True, slots=True)
class IdList:
    """The IDs of a list, each once, and how many there were with those given twice."""

    ids: tuple[str, ...]
    given: int
    topic: str | None = None

    @classmethod
    def of(cls, texts: Iterable[str], topic: str | None = None) -> IdList:
        """CoreError where the list is empty or too long."""
        once: dict[str, None] = {}
        given = 0
        for text in texts:
            once[text] = None
            given += 1
        if not once:
            raise CoreError("fate_list_empty")
        if len(once) > MOST_IDS:
            raise CoreError("fate_list_many", {"count": len(once), "most": MOST_IDS})
        return cls(tuple(once), given, topic)


@dataclass(frozen=True, slots=True)
class FateListProgress:
    """How far it is. Without an estimate `seconds_left` is None.

    `is_waiting`: another list of the same cluster comes first. `is_limited`: the limit of look-ups is reached.
    """

    total: int
    done: int = 0
    found: int = 0
    undelivered: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    is_limited: bool = False
    is_waiting: bool = False


Report = Callable[[FateListProgress], None]


@dataclass
class _Pace:
    """The time left by the portions of a moment ago: the limit of look-ups slows down only those behind it."""

    begun: float = field(default_factory=time.monotonic)
    marks: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_PORTIONS))

    def mark(self, done: int) -> None:
        self.marks.append((time.monotonic(), done))

    def left(self, done: int, total: int) -> float | None:
        since, before = self.marks[0]
        return None if done <= before else (total - done) * (time.monotonic() - since) / (done - before)


def ask(
    service: LookupService,
    wanted: IdList,
    user: str = "",
    report: Report | None = None,
    stop: threading.Event | None = None,
) -> Tally:
    """What became of each message of the list. After a stop, or a problem, it is what was judged until then.

    One ID costs what it costs in any look-up: the same questions, as many at once, the same limit and audit log. A
    broker that is silent is not waited for by each ID.
    """
    stop = stop or threading.Event()
    tally, pace, at, size = Tally(wanted.ids, service.now_ms()), _Pace(), 0, IDS_AT_ONCE
    tell = _Teller(wanted, pace, report)
    names: dict[str, str] = {}
    while at < len(wanted.ids) and not stop.is_set():
        pace.mark(at)
        part = wanted.ids[at : at + size]
        names |= _broker_names(service)
        try:
            for answer in service.judge(part, wanted.topic, user, stop.is_set):
                tally.take(answer, names)
                tell(tally)
        except TooManyLookups as problem:
            size = _FEW_AT_ONCE
            tell(tally, is_limited=True)
            stop.wait(max(_LEAST_WAIT, float(problem.values["seconds"])))
            continue
        except Exception as problem:  # what was judged before it is kept
            if not isinstance(problem, CoreError):
                LOG.exception("a list of IDs was not asked to its end")
            tally.problem = coded(problem)
            break
        at += len(part)
    tally.end(service.now_ms(), time.monotonic() - pace.begun)
    return tally


@dataclass
class _Teller:
    wanted: IdList
    pace: _Pace
    report: Report | None

    def __call__(self, tally: Tally, is_limited: bool = False) -> None:
        if self.report is None:
            return
        done, total = tally.asked, len(self.wanted.ids)
        now = FateListProgress(total, done, tally.found, tally.undelivered, time.monotonic() - self.pace.begun)
        self.report(replace(now, seconds_left=self.pace.left(done, total), is_limited=is_limited))


def _broker_names(service: LookupService) -> dict[str, str]:
    """The name of the broker at each registered address; none where the name server is silent."""
    try:
        brokers = service.cluster.topology().brokers()
    except RemotingError:
        return {}
    return {member.registered: name for name, members in brokers.items() for member in members}

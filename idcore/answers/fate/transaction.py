"""What became of a transaction whose message is not there: halves, notes and progress in, codes out. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from idcore.answers.fate.model import Observation, Reason


@dataclass(frozen=True, slots=True)
class Transaction:
    """The newest half message of a transaction, and what its broker said of it, in the order that it was asked.

    `swept` is the next half message that the broker looks at again: each before it has its end or a newer copy.
    `noted` says whether a note of a decision names it. `committed` is the record that consumers get. `in_rocksdb`: the
    broker keeps checks in RocksDB (transRocksDBEnable), so no record shows them, nor that it gave up. `kept` is what
    a copy of that says: the checks so far, or -1 where the broker has nothing to do for the half message any more.
    """

    topic: str
    group: str
    offset: int
    checks: int = 0
    given_up: bool = False
    swept: Observation[int] = field(default_factory=Observation)
    noted: Observation[bool] = field(default_factory=Observation)
    committed: Observation[str] = field(default_factory=Observation)
    producers: Observation[int] = field(default_factory=Observation)
    in_rocksdb: bool = False
    kept: Observation[int] = field(default_factory=Observation)


def decide(half: Transaction) -> Iterator[Reason]:
    """Committed, rolled back, given up or undecided; from a silence neither.

    A broker asks again while a decision waits to be noted, and may give up what was decided.
    """
    if half.committed.value is not None:
        yield Reason("half_committed", {"topic": half.topic, "offset_msg_id": half.committed.value})
    elif half.committed.answered and half.noted.value:
        yield Reason("half_rolled_back", {"topic": half.topic, "group": half.group})
    elif half.given_up:
        yield Reason("half_given_up", {"checks": half.checks, "group": half.group})
    elif half.in_rocksdb and half.committed.answered and half.noted.answered:
        yield _of_rocksdb(half)
    elif half.committed.answered and half.swept.value is not None and half.swept.value > half.offset:
        yield Reason("half_swept", {"topic": half.topic})
    elif half.committed.answered and half.swept.answered and half.noted.answered:
        yield Reason("half_undecided", {"checks": half.checks, "group": half.group})
        if half.producers.answered:
            clients = half.producers.value or 0
            values = {"group": half.group, "clients": clients}
            yield Reason("half_producers", values) if clients else Reason("half_no_producer", {"group": half.group})
    else:
        yield Reason("only_half")


def _of_rocksdb(half: Transaction) -> Reason:
    """Without a decision: the broker still asks, or has taken the half message off its list, which is giving it up."""
    if half.kept.value is None:
        return Reason("half_open", {"group": half.group})
    if half.kept.value < 0:
        return Reason("half_dropped", {"group": half.group})
    return Reason("half_undecided", {"checks": half.kept.value, "group": half.group})

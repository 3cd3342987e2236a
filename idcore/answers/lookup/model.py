"""What a look-up says: the answer for one id, its copies, its evidence. Values only: no sentence; asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from idcore.answers.fate import Verdict
from idcore.answers.lookup.clients import ProducerMatch
from idcore.rocketmq.message import Record
from idcore.rocketmq.message.attempts import MessageTrace
from idcore.rocketmq.remoting.bodies import BodyPolicy
from idcore.rocketmq.store.consistency import Doubt


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that an answer rests on: a code, and the values of its sentence.

    A figure has no sentence: its only value has the name of its code.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, **values: Any) -> Evidence:
        """The fact with its values."""
        return cls(code, values)

    @classmethod
    def figure(cls, name: str, value: Any) -> Evidence:
        """A value that is shown under its name."""
        return cls(name, {name: value})

    @property
    def is_figure(self) -> bool:
        """Whether it has a name and a value only."""
        return self.values.keys() == {self.code}


@dataclass(frozen=True, slots=True)
class Copy:
    """One stored record of a message, who showed it, and what it is among the others.

    `relation` is None where a source does not relate a single record. `bodies` is what the administrator lets out of
    the body. `more` are further keys of the row. `doubts` is None where nothing was there to compare the record with.
    `trace_link` is the administrator's template of a link for the trace ids of other tracers.
    """

    record: Record
    broker: str = ""
    relation: str | None = "message"
    group: str | None = None
    bodies: BodyPolicy | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] | None = None
    trace_link: str | None = None


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The trace of some message ids, the topics it was looked for in, what says how complete it is, who was asked."""

    message_trace: MessageTrace
    msg_ids: tuple[str, ...]
    topics: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What one id came to. Without copies there is a reason; with them only where the index does not lead to them.

    `source` is the kind of source that answered: some have sentences of their own. `trace` is None where nobody asked
    for it. `fate` is what became of each record in each group; None where that was not asked. `who` is the connected
    client that generated the id; None where that was not asked, or the id is not of a client's process.
    """

    id: str
    copies: tuple[Copy, ...]
    reason: str | None
    evidence: tuple[Evidence, ...]
    asked: tuple[str, ...]
    nothing_asked: bool = False
    source: str = ""
    trace: TraceResult | None = None
    fate: tuple[Verdict, ...] | None = None
    who: ProducerMatch | None = None

    @property
    def found(self) -> bool:
        """Whether any copy is there."""
        return bool(self.copies)

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the evidence by their names."""
        return {item.code: item.values[item.code] for item in self.evidence if item.is_figure}


# Reasons where those who could have the message were not asked, or did not answer.
NO_VERDICT = frozenset({"unreachable", "not_permitted", "not_in_topology", "window"})

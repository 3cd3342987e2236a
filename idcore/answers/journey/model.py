"""What a journey is made of: events, contradictions, gaps. Values and codes only, no sentence; finds nothing itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from idcore.answers.fate import Verdict
from idcore.answers.lookup.model import Answer, Copy
from idcore.ids.delivery import Delivery
from idcore.ids.tokens import Token
from idcore.rocketmq.message.attempts import MessageTrace

STORE = "store"  # the kind of source whose verdicts are those of its own time
# Where an event is: each is a lane of the picture. What a log shows without saying who wrote it is in the last one.
ROLES = ("producer", "broker", "consumer", "log")
Role = Literal["producer", "broker", "consumer", "log"]


@dataclass(frozen=True, slots=True)
class Line:
    """A log line that names the id: its text, and where it is. Around it is what may belong to the same record."""

    file: str
    number: int
    text: str
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known of one message, by its source: None where nobody asked there, empty where nothing was found.

    `snapshots` are verdicts as of the time of a copied store folder; nobody was asked then. `token` is the id with what
    a link or a scan says about its time.
    """

    lines: Sequence[Line] | None = None
    copies: Sequence[Copy] | None = None
    verdicts: Sequence[Verdict] | None = None
    snapshots: Sequence[Verdict] = ()
    trace: MessageTrace | None = None
    token: Token | None = None

    @classmethod
    def of(cls, *answers: Answer, lines: Sequence[Line] | None = None, token: Token | None = None) -> Sources:
        """Those of answers, whatever was asked for them, and log lines. A record that two of them have is one."""
        copies = {str(copy.record.offset_id): copy for answer in reversed(answers) for copy in answer.copies}
        fates = [(answer.source, answer.fate) for answer in answers if answer.fate is not None]
        traces = [answer.trace.message_trace for answer in answers if answer.trace is not None]
        return cls(
            lines,
            tuple(copies.values()) if answers else None,
            tuple(verdict for source, fate in fates for verdict in fate if source != STORE) if fates else None,
            tuple(verdict for source, fate in fates for verdict in fate if source == STORE),
            max(traces, key=lambda trace: len(trace.sends) + len(trace.attempts), default=None),
            token,
        )


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a message, or that somebody saw of it; times in ms since 1970.

    `at_ms` is None where nothing dates it; `until_ms` is the end of what lasted. `earliest_ms` and `latest_ms` bound an
    instant that is not exact. `who` did it. Its time is of `clock`, a host or the file of a line, or of `who` itself.
    """

    code: str
    source: Literal["id", "line", "record", "trace", "verdict"]
    role: Role
    who: str
    at_ms: int | None = None
    until_ms: int | None = None
    earliest_ms: int | None = None
    latest_ms: int | None = None
    evidence: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    clock: str = ""

    @property
    def end_ms(self) -> int | None:
        return self.at_ms if self.until_ms is None else self.until_ms

    @property
    def is_open(self) -> bool:
        """Whether its instant is not exact."""
        return self.earliest_ms is not None and self.earliest_ms != self.latest_ms


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two times that cannot both be right: of which events, by their places in the journey, and by how much."""

    code: str
    first: int
    second: int
    by_ms: int
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gap:
    """A time of which nothing is known: between two events, by their places; behind the first where it has no end.

    `waiting`: the broker kept a copy back. `silence`: no source says anything. `open`: no source names a consumer.
    """

    code: Literal["waiting", "silence", "open"]
    after: int
    before: int | None = None
    ms: int | None = None


@dataclass(frozen=True, slots=True)
class Journey:
    """All events in their order, and what is odd about them. `found` counts what each source gave; None: not asked."""

    id: str
    events: tuple[Event, ...]
    conflicts: tuple[Conflict, ...]
    gaps: tuple[Gap, ...]
    found: Mapping[str, int | None]
    claims: tuple[tuple[str, Delivery], ...] = ()  # what lines say of its delivery, each with its place

    @property
    def doubtful(self) -> frozenset[int]:
        """The places of events whose times contradict each other still: a zone that was found out does not count."""
        open_ = [each for each in self.conflicts if not each.code.startswith("zone_")]
        return frozenset(place for each in open_ for place in (each.first, each.second))

"""What a look-up says: the answer for one id, its copies, its evidence. Values only; asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from idcore.ids.words import say
from idcore.lookup.words import ADVICE, EVIDENCE, REASONS, RELATIONS
from idcore.message import Record


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that an answer rests on: a code of words.EVIDENCE with the values of its template."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, **values: Any) -> Evidence:
        """The fact with its values."""
        return cls(code, values)

    def __str__(self) -> str:
        return say(EVIDENCE[self.code], self.values)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the code, its sentence, its values."""
        return {"code": self.code, "text": str(self), **self.values}


@dataclass(frozen=True, slots=True)
class Copy:
    """One stored record of a message, who showed it, and what it is among the others."""

    record: Record
    broker: str
    relation: str = "message"
    group: str | None = None

    @property
    def relation_text(self) -> str:
        """The relation as a sentence."""
        return say(RELATIONS[self.relation], {"group": self.group})


@dataclass(frozen=True, slots=True)
class Answer:
    """What one id came to. Without copies there is a reason."""

    id: str
    copies: tuple[Copy, ...]
    reason: str | None
    evidence: tuple[Evidence, ...]
    asked: tuple[str, ...]
    nothing_asked: bool = False

    @property
    def found(self) -> bool:
        """Whether any copy is there."""
        return bool(self.copies)

    @property
    def result(self) -> str:
        """For the audit log: how it ended, in a few words."""
        return f"found {len(self.copies)}" if self.copies else str(self.reason)

    @property
    def sentence(self) -> str | None:
        """The reason as a sentence."""
        return None if self.reason is None else REASONS[self.reason]

    @property
    def advice(self) -> str | None:
        """What to try next."""
        return None if self.reason is None else ADVICE[self.reason]


# Reasons that stop short of saying "there is no such message".
NO_VERDICT = frozenset({"unreachable", "not_permitted", "not_in_topology", "window"})

"""What a look-up says: the answer for one id, its copies, its evidence. Values only; asks nobody."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from idcore.lookup.words import ADVICE, FACT, REASON, RELATION, say
from idcore.message import Record
from idcore.message.row import record_row
from idcore.remoting.bodies import BodyPolicy


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that an answer rests on: a code (`lookup.fact.…` of the catalogue) with the values of its template."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, **values: Any) -> Evidence:
        """The fact with its values."""
        return cls(code, values)

    def __str__(self) -> str:
        return say(FACT, self.code, self.values)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: its sentence and its values; the code is the name it stands under."""
        return {"text": str(self), **self.values}


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
        return say(RELATION, self.relation, {"group": self.group})

    def as_dict(self, bodies: BodyPolicy) -> dict[str, Any]:
        """The row of the contract, the body as the operator lets it be seen, and what this copy is."""
        row = record_row(self.record)
        shown = bodies.apply(base64.b64decode(row["body"]), row["body_text"])
        return row | {
            "body": None if shown.raw is None else base64.b64encode(shown.raw).decode("ascii"),
            "body_text": shown.text,
            "body_size": shown.size,
            "body_withheld": shown.withheld,
            "relation": self.relation,
            "relation_text": self.relation_text,
            "broker": self.broker,
            **({"inner": [_seen(inner, bodies) for inner in row["inner"]]} if "inner" in row else {}),
        }


def _seen(inner: dict[str, Any], bodies: BodyPolicy) -> dict[str, Any]:
    shown = bodies.apply(base64.b64decode(inner["body"]), inner["body_text"])
    body = None if shown.raw is None else base64.b64encode(shown.raw).decode("ascii")
    return inner | {"body": body, "body_text": shown.text}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one id came to. Without copies there is a reason; with them only where the index does not lead to them."""

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

    def as_dict(self, bodies: BodyPolicy) -> dict[str, Any]:
        """The keys of the contract. Evidence stands under its code, each as its sentence and its values."""
        evidence: dict[str, list[dict[str, Any]]] = {}
        for item in self.evidence:
            evidence.setdefault(item.code, []).append(item.as_dict())
        return {
            "id": self.id,
            "found": self.found,
            "copies": [copy.as_dict(bodies) for copy in self.copies],
            "reason": self.reason,
            "evidence": evidence,
            "asked": list(self.asked),
        }

    @property
    def result(self) -> str:
        """For the audit log: how it ended, in a few words."""
        return f"found {len(self.copies)}" if self.copies else str(self.reason)

    @property
    def sentence(self) -> str | None:
        """The reason as a sentence."""
        return None if self.reason is None else say(REASON, self.reason, {})

    @property
    def advice(self) -> str | None:
        """What to try next."""
        return None if self.reason is None else say(ADVICE, self.reason, {})


# Reasons that stop short of saying "there is no such message".
NO_VERDICT = frozenset({"unreachable", "not_permitted", "not_in_topology", "window"})

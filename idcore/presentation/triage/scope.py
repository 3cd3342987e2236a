"""What the pages of an incident are narrowed to besides the time range: a host, process, broker, topic. Draws nothing.

Each is in the address under its own name, and travels with every link to a page of the same scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from idcore.ids.identify import identify_alone
from idcore.ids.model import OffsetId, UniqId
from idcore.ids.origins import Fingerprint
from idcore.ids.rules import CANDIDATE
from idcore.presentation.triage.time_range import FROM, TO

if TYPE_CHECKING:  # an address is read before pandas is there
    import pandas as pd

    from idcore.answers.findings.evidence import FindingEvidence
    from idcore.scan.occurrences.index import Filter

_ID = re.compile(CANDIDATE)
NAMES = ("host", "process", "broker", "topic")
# What narrows which page: a msgId names no broker, an offsetMsgId no producer, and neither a topic.
APPLIES: Mapping[str, tuple[str, ...]] = {
    "findings": NAMES,
    "lines": NAMES,
    "producers": ("host", "process"),
    "counters": ("host", "process"),
    "brokers": ("broker",),
    "fate": ("topic",),
}
# For a link that leaves the time range and all of these behind.
UNLIMITED: dict[str, str | None] = dict.fromkeys((FROM, TO, *NAMES))


@dataclass(frozen=True, slots=True)
class Scope:
    """What is asked for; an empty text asks for nothing. `process` is its key in an address."""

    host: str = ""
    process: str = ""
    broker: str = ""
    topic: str = ""

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> Scope:
        """What an address asks for."""
        return cls(*(query.get(name, "").strip() for name in NAMES))

    def __bool__(self) -> bool:
        return bool(self.params())

    def params(self) -> dict[str, str]:
        """The same for an address."""
        return {item.name: text for item in fields(self) if (text := getattr(self, item.name))}

    @property
    def text(self) -> str:
        """What is asked for, as people read it."""
        return " · ".join(part for value in self.params().values() for part in value.split("~"))

    def on(self, page: str) -> Scope:
        """What of it narrows a page."""
        applies = APPLIES.get(page, ())
        return Scope(**{name: text for name, text in self.params().items() if name in applies})

    def idle(self, page: str) -> list[str]:
        """The names of what it has and the page cannot be narrowed to."""
        return [name for name in self.params() if name not in APPLIES.get(page, ())]

    def filter(self) -> Filter:
        """The same for an index of lines, without the topic: to look for that in the texts is to read them."""
        from idcore.scan.occurrences.index import Filter

        return Filter(host=self.host, broker=self.broker, process=tuple(filter(None, self.process.split("~"))))


def agreed(query: Mapping[str, str | None], given: Mapping[str, Any]) -> dict[str, str]:
    """What of a scope in sight goes along with a link: what the link does not name, and nothing that contradicts it."""
    if given.get("ids"):  # an ID is looked for in the whole scan
        return {}
    kept = {name: text for name in NAMES if name not in given and (text := query.get(name))}
    host, process = (str(given.get(name) or kept.get(name, "")) for name in ("host", "process"))
    if host and process and not process.startswith(f"{host}~"):
        kept.pop("process" if given.get("host") else "host", None)
    return kept


def findings(rows: pd.DataFrame, wanted: Scope) -> pd.DataFrame:
    """The findings that name all that is wanted, in their figures or in an ID of their evidence."""
    if not wanted or rows.empty:
        return rows
    from idcore.presentation.triage.finding_rows import evidence_of

    return rows[[_names(evidence_of(row), wanted) for row in rows.to_dict("records")]]


def _names(evidence: FindingEvidence, wanted: Scope) -> bool:
    known = set(_texts(evidence))
    for text in [one for one in known if _ID.fullmatch(one)]:
        best = identify_alone(text).best
        if best is not None and isinstance(best.id, OffsetId):
            known.add(best.id.address)
        elif best is not None and isinstance(best.id, UniqId):
            fingerprint = Fingerprint(best.id.host, best.id.pid, best.id.loader_text)
            known |= {fingerprint.host, fingerprint.key}
    process = "~".join(wanted.process.split("~")[:3])  # its key without a layout
    return known.issuperset((wanted.params() | ({"process": process} if process else {})).values())


def _texts(value: Any) -> Iterator[str]:
    """Every text of some evidence, of a list with commas each of its texts, and the keys of its processes."""
    if isinstance(value, str):
        yield from value.split(", ")
    elif isinstance(value, Mapping):
        if {"host", "pid", "loader"} <= value.keys():
            yield "~".join(str(value[name]) for name in ("host", "pid", "loader"))
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)

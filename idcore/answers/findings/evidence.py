"""What proves a finding, as a value: its fields are the names of the JSON in the table `findings`. Judges nothing.

A rule has a class of its own next to its registration, with the figures that it may have, in the order of the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Self

from idcore.ids.origins import Fingerprint


def always() -> Any:
    """A field that the JSON has where it is not known, too, as null."""
    return field(default=None, metadata={"always": True})


class FindingEvidence(Mapping[str, Any]):
    """The evidence of any rule. A rule's class repeats those of these fields that it may have; others are unset.

    As a mapping it has the fields that are set, as the sentences of the catalogue and the JSON want them.
    """

    __slots__ = ()

    variant: str | None = None  # of the sentences
    also: Sequence[str] = ()  # further sentences
    more: int | None = None  # how many findings the row counts that are not listed
    process: Mapping[str, Any] | None = None  # layout, host, pid, loader; empty for ids of no known kind
    client: Mapping[str, Any] | None = None  # of 5.x: mac, pid
    broker: Mapping[str, Any] | None = None  # its address
    from_address: str = ""  # of the same broker before
    addresses: str | None = None  # of several brokers, with commas between
    producer: str | None = None
    group: str | None = None
    topic: str | None = None
    maker_code: str | None = None
    ids: Sequence[str] = ()
    sent_at: Sequence[str | None] = ()  # of each id
    elapsed_ms: Sequence[int] = ()  # of each id
    track_of_id: Sequence[int] = ()
    offset_msg_ids: Sequence[Any] = ()  # of one id its copies; of several ids those of each
    records: Sequence[Mapping[str, Any]] = ()  # what lines show of the copies
    gaps: Sequence[Mapping[str, Any]] = ()
    after_ids: Sequence[str] = ()  # the ids below the gaps
    gap_after: str | None = None
    gap_before: str | None = None
    back_ms: Sequence[int] = ()
    began_at: Sequence[str] = ()
    label: str | None = None  # in front of the ids in their lines
    places: Sequence[Mapping[str, Any]] = ()  # id, file, line and byte of each id that was found

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """From the JSON of a scan; what only another version knows is left out."""
        return cls(**{name: row[name] for name in _fields(cls) if name in row})

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The process that it is about, if it is about one."""
        return Fingerprint.of_row(self.process) if self.process else None

    @property
    def addresses_of_brokers(self) -> list[str]:
        """The broker addresses that it names, each once."""
        several = (self.addresses or "").split(", ")
        named = [*several, str((self.broker or {}).get("address", "")), self.from_address]
        return list(dict.fromkeys(filter(None, named)))

    def __iter__(self) -> Iterator[str]:
        return (name for name, always in _fields(type(self)).items() if always or self._has(name))

    def __getitem__(self, name: str) -> Any:
        always = _fields(type(self))
        if name not in always or not (always[name] or self._has(name)):
            raise KeyError(name)
        return getattr(self, name)

    def _has(self, name: str) -> bool:
        return getattr(self, name) not in (None, (), "")

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _fields(kind: type) -> dict[str, bool]:
    """The fields of a kind of evidence, and whether each is there even if it is empty."""
    return {item.name: bool(item.metadata.get("always")) for item in fields(kind)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RestEvidence(FindingEvidence):
    """Of a row that counts findings: `more` that are not listed, or `unseen` that were not looked at one by one."""

    variant: str | None = None
    more: int | None = None
    ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProcessEvidence(FindingEvidence):
    """Of a process, without figures."""

    variant: str | None = None
    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostEvidence(FindingEvidence):
    """Of a process whose host may be another one than its ids say."""

    variant: str | None = None
    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()
    born_hosts: str | None = None  # of the messages, with commas between
    also: Sequence[str] = ()

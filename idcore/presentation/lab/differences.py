"""What changed between two ids and between two records, byte by byte and field by field. Does not depend on steps."""

from __future__ import annotations

from dataclasses import dataclass

from idcore.base.layout import Layout
from idcore.rocketmq.message import Record

# What a copy may differ in, in the order in which people look for it; the rest of a record is what follows from it.
_FIELDS = (
    "topic",
    "queue_id",
    "queue_offset",
    "physical_offset",
    "sys_flag",
    "born_timestamp",
    "store_timestamp",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
    "body_crc",
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One field or property of a record and of its copy; None where it is not there."""

    name: str
    before: str | None
    after: str | None

    @property
    def same(self) -> bool:
        """Whether the copy kept it."""
        return self.before == self.after


def changed(text: str, before: str | None) -> tuple[bool, ...]:
    """For each byte of an id, whether it differs from the byte at that place before; all where lengths differ."""
    size = len(text) // 2
    if before is None or len(before) != len(text):
        return (before is not None,) * size
    return tuple(text[2 * at : 2 * at + 2] != before[2 * at : 2 * at + 2] for at in range(size))


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of an id that is not what it was: both values as unsigned numbers."""

    name: str
    before: int
    after: int


def moves(text: str, before: str | None, layouts: tuple[Layout, ...]) -> tuple[FieldChange, ...]:
    """The fields in which two ids of one layout differ, in the order of their bytes."""
    layout = next((item for item in layouts if item.digits == len(text)), None)
    if layout is None or before is None or len(before) != len(text):
        return ()
    pairs = (
        (span.name, before[2 * span.start : 2 * span.stop], text[2 * span.start : 2 * span.stop])
        for span in layout.spans
    )
    return tuple(FieldChange(name, int(old, 16), int(new, 16)) for name, old, new in pairs if old != new)


def differences(before: Record, after: Record) -> tuple[Difference, ...]:
    """Every field that can differ between a record and its copy, and every property of either."""
    differences = [Difference(name, _text(before, name), _text(after, name)) for name in _FIELDS]
    old, new = before.properties, after.properties
    differences += [Difference(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]
    return tuple(differences)


def _text(record: Record, name: str) -> str:
    return str(getattr(record, name))

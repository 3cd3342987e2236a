"""What a file is, by its first bytes: text in some encoding, packed, or what a scan cannot read. No archives."""

from __future__ import annotations

from idcore.base.errors import refuse
from idcore.base.layout import TOPIC_LENGTHS
from idcore.sources.packings import NOT_UNPACKED, PACKED

HEAD = 512  # bytes that show every kind: the last of them is tar's, whose header is one block of this size
PLAIN, WHOLE = "plain", "whole"  # text as it is; not looked at yet
WIDE = {"utf-16-le": "<u2", "utf-16-be": ">u2", "utf-32-le": "<u4", "utf-32-be": ">u4"}  # numpy's names of a unit
COMMITLOG = "commitlog"  # never guessed: the caller of a scan says that a folder is a store
GROWING = "growing"  # nor this: text that may have more bytes by now, whose lines are read as they are
PACKINGS = set(PACKED)

_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32-le",
    b"\x00\x00\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
_MARKS |= {mark: name for name, packing in PACKED.items() for mark in packing.marks}
_UNREADABLE = {
    **{mark: ("packed_with", tool) for mark, tool in NOT_UNPACKED.items()},
    b"LPKSHHRH": ("journal", "journalctl --file NAME -o export"),
    b"Obj\x01": ("avro", ""),
}
_RECORDS = {magic.to_bytes(4, "big", signed=magic < 0) for magic in TOPIC_LENGTHS}  # behind the size of a record


def kind_of(head: bytes) -> str:
    """The kind of what begins like this; CoreError says why it cannot be read.

    A commit log is never text: its bodies would be in the lines of a scan, for everybody who may open it.
    """
    if not head:
        return PLAIN
    if head[4:8] in _RECORDS:
        raise refuse("commit_log")
    for mark, kind in _MARKS.items():
        if head.startswith(mark):
            return kind
    for mark, (code, tool) in _UNREADABLE.items():
        if head.startswith(mark):
            raise refuse(code, tool=tool)
    return unmarked(head)


def unmarked(head: bytes) -> str:
    """UTF-16 without a mark: every other byte of mostly Latin text is 0, and none of those between."""
    units = len(head) // 2
    if units < 8:
        return PLAIN
    first, second = (head[start : 2 * units : 2].count(0) / units for start in (0, 1))
    if second > 0.4 and first < 0.02:
        return "utf-16-le"
    return "utf-16-be" if first > 0.4 and second < 0.02 else PLAIN

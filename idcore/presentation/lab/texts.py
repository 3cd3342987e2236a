"""A story of the lab in words: its answer in a sentence, and what the sentences of its rows are filled with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from idcore.base.catalogue import Words
from idcore.base.layout import COUNTER_DIGITS
from idcore.ids.model import host_bytes, host_text
from idcore.presentation import times
from idcore.presentation.lab.played import PlayedStory, Row
from idcore.presentation.lab.world import SIZES, TOPIC


def story_sentence(shown: PlayedStory, words: Words) -> str:
    """The answer first: how many messages, records, and copies of one id."""
    figures = {
        "messages": words.count("lab_message", shown.messages),
        "records": words.count("lab_record", shown.records),
    }
    figures["messages"] = figures["messages"][:1].upper() + figures["messages"][1:]
    if not shown.messages:
        return words("lab.said_none")
    if shown.collisions > 1:
        return words("lab.said_collide", most=shown.collisions, **figures)
    key = "lab.said_copies" if shown.copies > 1 else "lab.said_one"
    return words(key, **figures, **({"most": shown.copies} if shown.copies > 1 else {}))


def values(row: Row, shown: PlayedStory, words: Words) -> Iterator[tuple[str, Any]]:
    """What the sentences of a row are filled with, as people read it."""
    story, address = shown.story, host_bytes(shown.story.host)
    yield from (("broker", row.broker), ("host", host_text(address)), ("real", TOPIC))
    yield from (("pid", story.pid % 65_536), ("loader", f"{story.loader:08X}"))
    yield "digits", 20 if len(address) == 4 else 44
    for name, value in row.values.items():
        if name == "month_start":
            yield name, times.full(story.at(value), story.zone)
        elif name in ("by", "early"):
            yield name, words.duration(value / 1000)
        elif name in ("needed", "size"):
            yield "left" if name == "size" else name, words.bytes(value)
        elif name == "count" and row.code == "wrap_last":
            yield "skipped", words.count("lab_message", value)
        else:
            yield name, f"{value:,}" if isinstance(value, int) else value
    if row.record is not None:
        record = row.record
        yield from (("topic", record.topic), ("size", words.bytes(record.size)), ("sys_flag", record.sys_flag))
        yield "file", f"{record.physical_offset - record.physical_offset % SIZES.commit_log_file:020d}"
        if row.msg_id is not None:
            yield "counter", f"{int(row.msg_id[-COUNTER_DIGITS:], 16):,}"

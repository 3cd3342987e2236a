"""A record as lines for people, whether it came from a store or from a broker. Depends on the row's keys alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from idcore.base.catalogue import words
from idcore.base.safe_text import printable
from idcore.ids.clock import from_ms, is_time

_BODY_SHOWN = 300
_LINES = (
    "topic",
    "queue_id",
    "queue_offset",
    "commit_log_offset",
    "file",
    "store_size",
    "msg_id",
    "offset_msg_id",
    "batch",
    "born_timestamp",
    "born_host",
    "store_timestamp",
    "store_host",
    "sys_flag",
    "flag",
    "body_crc",
    "reconsume_times",
    "prepared_transaction_offset",
    "tags_code",
    "record_crc_ok",
)


def card(row: dict[str, Any]) -> str:
    """One record, a line for each value."""
    lines = []
    for name in _LINES:
        if name not in row:
            continue
        value = row[name]
        if name.endswith("_timestamp"):
            value = f"{value} ({from_ms(value).isoformat(timespec='milliseconds')})" if is_time(value) else value
        if name == "record_crc_ok":
            if value is None:
                continue
            value = "the record's own CRC agrees" if value else "the record's own CRC does not agree: it was damaged"
        if name == "body_crc":
            value = f"{value} ({'agrees' if row['body_crc_ok'] else 'does not agree: the body was damaged'})"
        lines.append(f"  {name:<27} {'' if value is None else value}")
    lines += [f"  {name:<27} {text}" for name, text in _pointers(row)]
    for tracer in row.get("tracers", ()):
        lines.append(f"  {'trace ' + tracer['name']:<27} {tracer['link'] or tracer['trace_id']}")
    lines += [f"  {'doubt':<27} {doubt['text']}" for doubt in row.get("doubts", ())]
    lines += [f"  {'property ' + name:<27} {'' if value is None else value}" for name, value in row["properties_raw"]]
    text = None if row["body_text"] is None else _cut(row["body_text"])
    if text is None:
        text = words().said(row["body_problem"] or "") or (
            f"({row['body_size']} bytes, not shown: {row['body_withheld']})"
            if row["body"] is None
            else _base64(row["body"])
        )
    lines.append(f"  {'body':<27} {text}")
    if "inner" in row:
        lines += [f"  {'holds':<27} {_inner(inner)}" for inner in row["inner"]]
        lines += [f"  {'holds':<27} (more, not shown)"] if row["inner_cut"] else []
        lines += [f"  {'holds':<27} {words().said(row['inner_problem'])}"] if "inner_problem" in row else []
    return "\n".join(map(printable, lines))


def _cut(text: str) -> str:
    return f"{text[:_BODY_SHOWN]}{'...' if len(text) > _BODY_SHOWN else ''}"


def _base64(body: str) -> str:
    return f"{_cut(body)} (base64)"


def _inner(inner: dict[str, Any]) -> str:
    if inner["body"] is None:
        text = "(not shown)"
    else:
        text = _base64(inner["body"]) if inner["body_text"] is None else _cut(inner["body_text"])
    return f"{inner['queue_offset']} {inner['msg_id'] or '(no ID)'} {text}"


_NO_UNIT = {
    "transaction": "none: a prepared or rolled-back message has no queue entry",
    "not_written": "none: its queue entry was not written",
    "no_queue": "none: this store folder has no such queue",
}


def _pointers(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What of a store folder points at the record."""
    if "index_entries" not in row:
        return
    unit = row["queue_unit"]
    if unit is not None:
        where = "points here" if unit["agrees"] else f"points at {unit['physical_offset']}, {unit['size']} bytes"
        yield "queue_unit", f"{where}, tags code {unit['tags_code']}"
    else:
        yield "queue_unit", _NO_UNIT[row["queue_unit_missing"]]
    for entry in row["index_entries"]:
        place = "too far down its chain to be searched" if entry["place"] is None else f"entry {entry['place']}"
        where = "none" if entry["file"] is None else f"{entry['file']}, {place}"
        yield "index_entry", f"{entry['indexed_as']}: {where}"

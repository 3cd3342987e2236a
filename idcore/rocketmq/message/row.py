"""A record as the contract names its fields: one plain row for JSON, tables and pages. Uses no file, no broker."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from idcore.base.errors import CoreError
from idcore.rocketmq.message import flags
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.bodies import LARGEST_BODY, text_of
from idcore.rocketmq.message.model import MessageExt
from idcore.rocketmq.message.record import Record
from idcore.rocketmq.message.wire import unwrap

# So many messages of an inner batch are taken apart: in a body of a few kilobytes millions can be packed.
MOST_INNER = 10_000


def record_row(record: Record, most: int = LARGEST_BODY) -> dict[str, Any]:
    """Every field; the body as the application sent it, or as it is stored, together with the problem.

    A body that unpacks to more than `most` bytes is one.
    """
    problem = None
    try:
        body = record.plain_body(most)
    except CoreError as error:
        body, problem = record.body, error.coded()
    return {
        "topic": record.topic,
        "queue_id": record.queue_id,
        "queue_offset": record.queue_offset,
        "commit_log_offset": record.physical_offset,
        "store_size": record.size,
        "sys_flag": record.sys_flag,
        "flag": record.flag,
        "born_timestamp": record.born_timestamp,
        "born_host": str(record.born_host),
        "store_timestamp": record.store_timestamp,
        "store_host": str(record.store_host),
        "body_crc": record.body_crc,
        "body_crc_ok": record.body_crc_ok,
        "reconsume_times": record.reconsume_times,
        "prepared_transaction_offset": record.prepared_transaction_offset,
        "properties": record.properties,
        "properties_raw": [list(pair) for pair in record.properties_raw],
        "tags_code": record.tags_code,
        "msg_id": record.uniq_id,
        "offset_msg_id": str(record.offset_id),
        "body": base64.b64encode(body).decode("ascii"),
        "body_text": None if problem else text_of(body),
        "batch": record.in_batch,
        "body_problem": problem,
        "record_crc_ok": record.record_crc_ok,
        **_inner(record, most),
    }


def inner_messages(record: Record, most: int = LARGEST_BODY) -> Sequence[MessageExt]:
    """The messages of an inner batch, MOST_INNER and one more at most; none of any other record.

    A broker indexes the batch's own id, not theirs.
    """
    holds = flags.holds_others(record.sys_flag) and record.body
    return unwrap(record.message(most=most), MOST_INNER + 1) if holds else ()


def _inner(record: Record, most: int) -> dict[str, Any]:
    if not flags.holds_others(record.sys_flag):
        return {}
    try:
        messages = inner_messages(record, most)
    except CoreError as error:
        return {"inner": [], "inner_cut": False, "inner_problem": error.coded()}
    return {
        "inner": [_inner_row(message) for message in messages[:MOST_INNER]],
        "inner_cut": len(messages) > MOST_INNER,
    }


def _inner_row(message: MessageExt) -> dict[str, Any]:
    body = message.body or b""
    return {
        "queue_offset": message.queue_offset,
        "flag": message.flag,
        "properties": dict(message.properties),
        "msg_id": message.uniq_id,
        "body": base64.b64encode(body).decode("ascii"),
        "body_text": text_of(body),
    }


def has_key(record: Record, key: str) -> bool:
    """Whether the broker indexed the record under this key. The index contains hashes only, so this is the proof."""
    return key in names.indexed(record.properties)

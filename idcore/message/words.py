"""The words of messages and records: a code and an English template for every refusal. Decides nothing."""

from __future__ import annotations

from typing import Any

from idcore.errors import CoreError

ERRORS: dict[str, str] = {
    # bytes that are no record, or no message of the wire form
    "cut": "the bytes end inside {name}: it needs {needed}, {remaining} are there",
    "total_size": "total_size is {size}; the smallest of its kind has {least} bytes",
    "magic": "magic is {magic}; a record has DAA320A7 or DAA320AB",
    "blank": "this is the blank record at the end of a file, {size} bytes of filler",
    "negative": "{name} is {value}, below zero",
    "beyond": "{name} says {value} bytes, {remaining} are left of the record",
    "sum": "total_size is {size}, but the fields add up to {parts}",
    "record_port": "{name} is {value}, outside 0 to 65,535",
    # values that do not fit
    "field_range": "{name} {value} does not fit into {bits} bits",
    "properties_long": "the properties have {size} bytes; their length has room for {most}",
    "topic_long": "the topic has {size} bytes; its length has room for {most}",
    "host_mix": "the host has {size} bytes, sys_flag says {wanted}",
    # bodies
    "compression": "compression type {kind} is none that is known (0 and 3 zlib, 1 LZ4, 2 zstd)",
    "body_broken": "the body is no {kind}: {reason}",
    "body_cut": "the body is {kind} that ends early",
    "body_huge": "the body unpacks to more than {most} bytes",
    # MessageBatch.generateFromList, in Java's own words
    "batch_delay": "TimeDelayLevel is not supported for batching",
    "batch_retry": "Retry Group is not supported for batching",
    "batch_topic": "The topic of the messages in one batch should be the same",
    "batch_wait": "The waitStoreMsgOK of the messages in one batch should the same",
    "batch_empty": "a batch holds at least one message",
    # Validators, in Java's own words
    "topic_blank": "The specified topic is blank",
    "topic_length": "The specified topic is longer than topic max length {most}.",
    "topic_characters": "The specified topic[{topic}] contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$",
    "topic_forbidden": "Sending message to topic[{topic}] is forbidden.",
    "body_null": "the message body is null",
    "body_zero": "the message body length is zero",
    "body_over": "the message body size over max value, MAX: {most}",
    "dispatch_path": "INNER_MULTI_DISPATCH {path} can not contains / character",
    "delay_number": "the delay level {value!r} is no number",
}


def refuse(code: str, field: str | None = None, byte: int | None = None, **values: Any) -> CoreError:
    """An error of the family, worded by its code."""
    return CoreError(ERRORS[code].format_map(values), field, byte, None, code, values)

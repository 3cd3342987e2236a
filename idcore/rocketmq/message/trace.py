"""The body of a trace record, taken apart into contexts as clients write them. Pairs nothing, asks nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from idcore.base.errors import CoreError, refuse
from idcore.rocketmq.message.javatext import to_text
from idcore.rocketmq.message.reader import Bytes

# TraceConstants.FIELD_SPLITOR ends a context, CONTENT_SPLITOR is between two fields.
_END, _BETWEEN = b"\x02", b"\x01"
MESSAGE_TYPES = ("normal", "half", "commit", "delay", "order")  # MessageType by its ordinal
CODES = ("success", "time_out", "exception", "null", "failed")  # ConsumeReturnType by its ordinal
STATES = ("COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW")  # LocalTransactionState


@dataclass(frozen=True, slots=True)
class Pub:
    """A send that returned a result. `time_ms` is its start, `broker` the address that it went to."""

    time_ms: int
    region: str | None
    group: str | None
    topic: str | None
    msg_id: str
    tags: str | None
    keys: str | None
    broker: str | None
    body_length: int
    cost_ms: int
    message_type: int
    offset_msg_id: str | None = None
    success: bool | None = None
    client_host: str | None = None


@dataclass(frozen=True, slots=True)
class SubBefore:
    """A consumer is about to call its listener; one for each message of the call, all with one request id."""

    time_ms: int
    region: str | None
    group: str | None
    request_id: str
    msg_id: str
    retry_times: int
    keys: str | None
    client_host: str | None = None


@dataclass(frozen=True, slots=True)
class SubAfter:
    """The listener returned. `cost_ms` is the elapsed time divided by the number of messages: not the duration."""

    request_id: str
    msg_id: str
    cost_ms: int
    success: bool
    keys: str | None
    code: int | None = None
    time_ms: int | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class EndTransaction:
    """A producer's decision on its half message, unasked or in answer to a check."""

    time_ms: int
    region: str | None
    group: str | None
    topic: str | None
    msg_id: str
    tags: str | None
    keys: str | None
    broker: str | None
    message_type: int
    transaction_id: str | None
    state: str
    from_check: bool


@dataclass(frozen=True, slots=True)
class Recall:
    """A producer called a delayed message back."""

    time_ms: int
    region: str | None
    group: str | None
    topic: str | None
    msg_id: str
    success: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """A context of a type that no release up to 5.5.0 writes, as it is."""

    type: str
    fields: tuple[str, ...]


Context = Pub | SubBefore | SubAfter | EndTransaction | Recall | Unknown

_SEND = ("time_ms", "region", "group", "topic", "msg_id", "tags", "keys", "broker")
_PUB = (*_SEND, "body_length", "cost_ms", "message_type")
_BEFORE = ("time_ms", "region", "group", "request_id", "msg_id", "retry_times", "keys")
_AFTER = ("request_id", "msg_id", "cost_ms", "success", "keys")
# Each type with the fields of each of its forms, behind the name of the type (TraceDataEncoder, 4.4.0 to 5.5.0; the
# forms with a client host are those of 4.8.0 and of the Go client).
_FORMS: dict[str, tuple[type[Any], tuple[tuple[str, ...], ...]]] = {
    "Pub": (
        Pub,
        (
            _PUB,
            (*_PUB, "success"),
            (*_PUB, "offset_msg_id", "success"),
            (*_PUB, "offset_msg_id", "success", "client_host"),
        ),
    ),
    "SubBefore": (SubBefore, (_BEFORE, (*_BEFORE, "client_host"))),
    "SubAfter": (SubAfter, (_AFTER, (*_AFTER, "code"), (*_AFTER, "code", "time_ms", "group"))),
    "EndTransaction": (
        EndTransaction,
        ((*_SEND, "message_type", "transaction_id", "state", "from_check"),),
    ),
    "Recall": (Recall, (("time_ms", "region", "group", "topic", "msg_id", "success"),)),
}
_TYPES = {name.encode() for name in _FORMS}
# Where a SubAfter that ends with its code has a separator behind it, and in 4.9.5 to 4.9.8 and 5.1.4 to 5.3.0 nothing
# else (AccessChannel.CLOUD): its time would be here, so a name of a type is the beginning of the next context.
_BEHIND_CODE = 7

_BITS = {"time_ms": 64, "body_length": 32, "cost_ms": 32, "message_type": 32, "retry_times": 32, "code": 32}
_CHOICES = {"success": ("true", "false"), "from_check": ("true", "false"), "state": STATES}
_NEVER_NULL = frozenset({"msg_id", "request_id"})
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")


def read_trace(body: Bytes) -> Iterator[Context | CoreError]:
    """Every context in its order, or what is wrong with it: a bad one does not take the others with it."""
    for fields, start, ended in _contexts(bytes(body)):
        try:
            yield _context(fields, start, ended)
        except CoreError as problem:
            yield problem


def _contexts(body: bytes) -> Iterator[tuple[list[bytes], int, bool]]:
    """The fields of each context, where it begins, and whether it has an end."""
    start = 0
    while start < len(body):
        stop = body.find(_END, start)
        ended = stop >= 0
        stop = stop if ended else len(body)
        fields = body[start:stop].split(_BETWEEN)
        first = 0
        while _ends_with_code(fields, first):
            behind = first + _BEHIND_CODE
            yield fields[first:behind], start, True
            start += sum(map(len, fields[first:behind])) + _BEHIND_CODE
            first = behind
        if not first or fields[first:] != [b""]:
            yield fields[first:], start, ended
        start = stop + 1


def _ends_with_code(fields: list[bytes], first: int) -> bool:
    """Whether a SubAfter begins here that has a separator behind its code, and behind that nothing or a context."""
    behind = first + _BEHIND_CODE
    if fields[first] != b"SubAfter" or len(fields) <= behind:
        return False
    return fields[behind] in _TYPES or (not fields[behind] and len(fields) == behind + 1)


def _context(fields: list[bytes], start: int, ended: bool) -> Context:
    name = to_text(fields[0])
    if not ended:  # the last field may be half of one
        raise refuse("trace_end", None, start, context=name[:40])
    if name not in _FORMS:
        return Unknown(name, tuple(map(to_text, fields[1:])))
    make, forms = _FORMS[name]
    form = next((form for form in forms if len(form) == len(fields) - 1), None)
    if form is None:
        wanted = ", ".join(str(1 + len(form)) for form in forms)
        raise refuse("trace_fields", None, start, context=name, count=len(fields), wanted=wanted)
    values: dict[str, Any] = {}
    at = start + len(fields[0]) + 1
    for field, raw in zip(form, fields[1:], strict=True):
        values[field] = _value(name, field, raw, at)
        at += len(raw) + 1
    return make(**values)  # type: ignore[no-any-return]


def _value(context: str, name: str, raw: bytes, at: int) -> Any:
    """A field as a value. Java writes null as the text null, so a value with that text is None too."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise refuse("trace_text", name, at + problem.start, context=context, name=name) from None
    if name in _BITS:
        limit = 1 << _BITS[name] - 1
        if not _NUMBER.fullmatch(text) or not -limit <= int(text) < limit:
            raise refuse("trace_number", name, at, context=context, name=name, value=text[:40])
        return int(text)
    if name in _CHOICES:
        if text not in _CHOICES[name]:
            wanted = ", ".join(_CHOICES[name])
            raise refuse("trace_choice", name, at, context=context, name=name, value=text[:40], wanted=wanted)
        return text if name == "state" else text == "true"
    return None if text == "null" and name not in _NEVER_NULL else text

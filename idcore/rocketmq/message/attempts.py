"""Sends of a message and the attempts of its consumers, paired from trace contexts. Judges nothing, asks nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from idcore.ids.identify import identify
from idcore.ids.model import UniqId
from idcore.rocketmq.message.trace import (
    CODES,
    MESSAGE_TYPES,
    Context,
    EndTransaction,
    Pub,
    Recall,
    SubAfter,
    SubBefore,
    Unknown,
)

# A context, and the address that the trace record was sent from: that of the client itself.
Written = tuple[Context, str | None]


@dataclass(frozen=True, slots=True)
class Send:
    """A send that returned a result. `success` is false also where the broker stored it but not yet on its disk.

    `client` is the address that the trace came from: clients write a default of their own, or none.
    """

    msg_id: str
    topic: str | None
    group: str | None
    began_ms: int
    cost_ms: int
    success: bool | None
    broker: str | None
    message_type: int
    offset_msg_id: str | None
    client: str | None

    @property
    def kind(self) -> str | None:
        """Its kind by name; None for a number that no release has."""
        return _named(MESSAGE_TYPES, self.message_type)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a listener with this message. `host`, `pid`, `loader`, `counter` are of the request id, which the
    consuming process generated: so `pid` has its lower 16 bits.
    """

    msg_id: str
    group: str | None
    request_id: str
    began_ms: int | None
    ended_ms: int | None
    success: bool | None
    code: int | None
    retry_times: int | None
    host: str | None
    pid: int | None
    loader: str | None
    counter: int | None
    client: str | None

    @property
    def duration_ms(self) -> int | None:
        """From the call to the return, by the consumer's clock; None where a release did not write one of them."""
        return None if self.began_ms is None or self.ended_ms is None else self.ended_ms - self.began_ms

    @property
    def outcome(self) -> str | None:
        """`success`, `time_out`, `exception`, `null` or `failed`; None without an end.

        A time-out is a call that took longer than the limit, with any result.
        """
        return None if self.success is None else outcome_of(self.success, self.code)


@dataclass(frozen=True, slots=True)
class MessageTrace:
    """What the trace has of some messages, in the order of time. Nothing in it proves nothing."""

    sends: tuple[Send, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    decisions: tuple[EndTransaction, ...] = ()
    recalls: tuple[Recall, ...] = ()
    unknown: int = 0


def paired(written: Iterable[Written], msg_ids: Collection[str]) -> MessageTrace:
    """The trace of these messages from contexts of any; a context that was stored twice counts once."""
    sends: dict[Pub, str | None] = {}
    before: dict[tuple[str, str], tuple[SubBefore, str | None]] = {}
    after: dict[tuple[str, str], tuple[SubAfter, str | None]] = {}
    decisions: dict[EndTransaction, None] = {}
    recalls: dict[Recall, None] = {}
    unknown: set[Unknown] = set()
    for context, client in written:
        if isinstance(context, Unknown):
            unknown.add(context)
        elif isinstance(context, Pub):
            # that of a batch of 4.x has the ids of all its messages
            if any(each in msg_ids for each in context.msg_id.split(",")):
                sends.setdefault(context, context.client_host or client)
        elif context.msg_id not in msg_ids:
            continue
        elif isinstance(context, SubBefore):
            before.setdefault((context.request_id, context.msg_id), (context, client))
        elif isinstance(context, SubAfter):
            after.setdefault((context.request_id, context.msg_id), (context, client))
        elif isinstance(context, EndTransaction):
            decisions[context] = None
        else:
            recalls[context] = None
    attempts = (_attempt(key, before.get(key), after.get(key)) for key in before | after)
    return MessageTrace(
        tuple(sorted((_send(pub, client) for pub, client in sends.items()), key=lambda send: send.began_ms)),
        tuple(sorted(attempts, key=_when)),
        tuple(sorted(decisions, key=lambda decision: decision.time_ms)),
        tuple(sorted(recalls, key=lambda recall: recall.time_ms)),
        len(unknown),
    )


def _send(pub: Pub, client: str | None) -> Send:
    return Send(
        pub.msg_id,
        pub.topic,
        pub.group,
        pub.time_ms,
        pub.cost_ms,
        pub.success,
        pub.broker,
        pub.message_type,
        pub.offset_msg_id,
        client,
    )


def _attempt(
    key: tuple[str, str], begin: tuple[SubBefore, str | None] | None, end: tuple[SubAfter, str | None] | None
) -> Attempt:
    request, msg_id = key
    attempt = partial(Attempt, msg_id=msg_id, request_id=request)
    process = _process(request)
    began, client = begin if begin is not None else (None, None)
    ended, client_after = end if end is not None else (None, None)
    return attempt(
        group=(began.group if began else None) or (ended.group if ended else None),
        began_ms=began.time_ms if began else None,
        ended_ms=ended.time_ms if ended else None,
        success=ended.success if ended else None,
        code=ended.code if ended else None,
        retry_times=began.retry_times if began else None,
        host=process.host if process else None,
        pid=process.pid if process else None,
        loader=process.loader_text if process else None,
        counter=process.counter if process else None,
        client=(began.client_host if began else None) or client or client_after,
    )


def outcome_of(success: bool, code: int | None) -> str:
    """How a call ended, by name."""
    name = None if code is None else _named(CODES, code)
    if name is None or (name == "success" and not success):  # consumers that set no code write 0
        return "success" if success else "failed"
    return name


def _process(request_id: str) -> UniqId | None:
    """The request id as the msgId that it is by its making; other clients may write something else."""
    readings = identify(request_id).readings
    return next((reading.id for reading in readings if isinstance(reading.id, UniqId)), None)


def _when(attempt: Attempt) -> tuple[int, str, str]:
    known = attempt.began_ms if attempt.began_ms is not None else attempt.ended_ms
    return known or 0, attempt.group or "", attempt.request_id


def _named(names: tuple[str, ...], number: int) -> str | None:
    return names[number] if 0 <= number < len(names) else None

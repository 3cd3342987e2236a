"""One call of an operation, by whichever door: its limits, its line in the audit log, its answer or its problem."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio.to_thread import run_sync

from idcore.base.catalogue import Words, words
from idcore.base.errors import CoreError, coded, refuse
from idcore.base.numbers import whole_number
from idcore.base.safe_text import for_visitor
from idcore.intake.allowed import shown
from idcore.operations.model import Caller, Operation
from idcore.operations.table import MOST_ITEMS, TABLE, part_of
from idcore.policy import audit, limits, metrics
from idcore.policy.access import AccessError
from idcore.presentation.triage.run_texts import problem_text
from idcore.rocketmq.remoting.audit import RateLimit
from idcore.rocketmq.remoting.errors import NotRecorded, RemotingError, TooManyLookups
from idcore.runs.runs import RunError

LOG = logging.getLogger(__name__)
Answer = TypeVar("Answer")
USUAL_ITEMS = 100
LONG = 0.5  # seconds of work: who has lost a role meanwhile gets no answer
CALL = "tools/call"
_METHODS = ("initialize", "ping", "tools/list", "prompts/list", "prompts/get", "resources/list")
PROBLEM = "urn:rocketmq-ids:problem:"
# Statuses of codes; those of classes are below.
# fmt: off
_STATUSES = {
    "call_changed": 403,
    "call_foreign": 403, "call_host": 403, "call_no_login": 401, "call_token": 401, "call_large": 413,
    "call_values": 413, "limit_verdicts": 422,
    "call_type": 415, "call_json": 400, "call_slow": 408, "operation_unknown": 404, "argument_wrong": 400,
    "argument_unknown": 400, "argument_missing": 400, "argument_one_of": 400, "too_many_calls": 429,
    "lines_later": 503, "no_scans": 503, "no_mcp": 503, "not_open": 404, "limit_disk": 507,
    "call_failed": 500, "call_method": 405,
}
# fmt: on


class Problem(Exception):
    """What a call came to instead of an answer: a status, and the keys of RFC 9457."""

    def __init__(self, status: int, body: Mapping[str, Any], seconds: int | None = None) -> None:
        super().__init__(body["code"])
        self.status, self.body, self.seconds = status, body, seconds


class Longer(Exception):
    """A call where everybody is served takes longer than a moment: it is made anew in a thread, and counts there."""


class OwnLimit:
    """So many places of each person; who wants one more waits for it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._own = WeakValueDictionary[str, anyio.CapacityLimiter]()

    def of(self, name: str) -> anyio.CapacityLimiter:
        """The places of one person."""
        own = self._own.get(name) or anyio.CapacityLimiter(self._most)
        self._own[name] = own
        return own


class CallLimit:
    """So many calls at work, the others wait. One person has half of them at most, or one: a call may wait, too.

    All who have several have half of them together, besides the first of each: two people do not take all.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: anyio.CapacityLimiter | None = None  # made where the event loop is
        self._further: anyio.CapacityLimiter | None = None
        self._at_work = set[str]()  # who has a first call there
        self._own = OwnLimit(max(1, most // 2))

    async def run(self, caller: Caller, do: Callable[..., Answer], *given: Any) -> Answer:
        """What a function gives, called in a thread."""
        every = self._all = self._all or anyio.CapacityLimiter(self._most)
        name = caller.visitor.name
        if name is None:  # without a log-in all are one
            return await run_sync(do, *given, limiter=every)
        async with self._own.of(name):
            if name in self._at_work:
                further = self._further = self._further or anyio.CapacityLimiter(self._most // 2 - 1)
                async with further:
                    return await run_sync(do, *given, limiter=every)
            self._at_work.add(name)
            try:
                return await run_sync(do, *given, limiter=every)
            finally:
                self._at_work.discard(name)


class InFlight:
    """So many calls of one person from their first byte to the last of their answer: each holds memory as long.

    Who sends slowly, or takes an answer slowly, works at nothing and is in no queue. Only the event loop uses this.
    """

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def begin(self, name: str) -> None:
        """CoreError where they have as many as they may."""
        if limits.exceeds("calls_at_once", self._counts[name] + 1):
            raise limits.limit_error("calls_at_once", self._counts[name])
        self._counts[name] += 1

    def end(self, name: str) -> None:
        """Its answer was taken, or its caller has gone."""
        self._counts[name] -= 1
        if not self._counts[name]:
            del self._counts[name]


@cache
def _rate(per_minute: int) -> RateLimit:
    return RateLimit(per_minute, code="too_many_calls")


def operation_of(name: str) -> Operation:
    """A row of the table by its name; CoreError of one that it lacks."""
    if name not in TABLE:
        raise refuse("operation_unknown", name=name[:60], known=", ".join(TABLE))
    return TABLE[name]


def call(
    operation: Operation, given: Mapping[str, Any], caller: Caller, door: str, cursor: str | None, most: int
) -> tuple[dict[str, Any], Iterator[Mapping[str, Any]]]:
    """The first items of an answer with what is true of all, and the rest; anything but an answer is raised.

    `remaining`: how many the rest is; None where they have to be counted.
    """
    with counted(operation.name, caller, door, _scans_of(given)):
        caller.go_on()  # it may have waited for its turn
        begun, ask = time.monotonic(), asking_again(given, caller)
        result = operation.call(given, caller)
        items, rest = part_of(_while_there(result.items, caller), cursor, most)
        if time.monotonic() - begun > LONG:
            ask()
        count = result.count if not isinstance(result.items, Sized) else len(result.items)
        left = None if count is None else max(0, count - int(cursor or 0) - len(items))
        return {**result.head, "items": items, "remaining": left}, rest


@contextmanager
def counted(name: str, caller: Caller, door: str, scans: Sequence[str] = ()) -> Iterator[None]:
    """What a caller asks for counts for their limit, in the metrics, and in the audit log with how it ended.

    `scans` are the names of those that it is about: the log has them where they were opened.
    """
    outcome = "done"
    try:
        _take(caller)
        yield
    except Longer:
        outcome = ""
        raise
    except Exception as error:
        outcome = coded(error).code if isinstance(error, CoreError | OSError) else "call_failed"
        raise
    finally:
        if outcome:
            metrics.count("operations", operation=name, outcome=_label(outcome))
            opened = {"run": " ".join(scans)} if scans and outcome == "done" else {}
            audit.note("operation", caller.who, operation=name, door=door, outcome=outcome, **opened)


def count_request(body: bytes, caller: Caller) -> Caller:
    """Counts a request of MCP: lists, prompts, handshakes, and others. Who asks from now on.

    A call of a tool has its line from the tool, and counts for the limit here: one that is written wrongly never gets
    there. TooManyLookups beyond the limit of the caller.
    """
    try:
        held = json.loads(body)
    except (ValueError, RecursionError):
        held = None
    method = held.get("method") if isinstance(held, dict) else None
    if method == CALL:
        _take(caller)
        return replace(caller, is_counted=True)
    with counted(method if method in _METHODS else metrics.OTHER, caller, "mcp"):
        caller.go_on()
    return caller


def _while_there(items: Iterable[Mapping[str, Any]], caller: Caller) -> Iterator[Mapping[str, Any]]:
    for item in items:
        caller.go_on()
        yield item


def _scans_of(given: Mapping[str, Any]) -> list[str]:
    """The names of the scans of a call."""
    return [name for key, name in given.items() if name and (key == "run" or key.endswith("_run"))]


def asking_again(given: Mapping[str, Any], caller: Caller) -> Callable[[], None]:
    """Whether the rest of a long answer may be sent: asked before each part, or who reads slowly keeps what was lost.

    CoreError once the log-in or the token has ended, a role was taken away, or the scan is not the caller's any more.
    """
    before = caller.visitor
    scans = _scans_of(given)

    def ask() -> None:
        if not caller.visitor.keeps_all_of(before):
            raise refuse("call_changed")
        for name in scans:
            caller.runs.open(name)

    return ask


def _take(caller: Caller) -> None:
    per_minute = limits.value("calls_of_one")
    if per_minute is not None and not caller.is_counted:
        _rate(per_minute).take(caller.counted, 1, time.time())


def _label(outcome: str) -> str:
    return outcome if outcome == "done" or words().has(f"error.{outcome}") else metrics.OTHER


def next_of(cursor: str | None, taken: int, rest: Iterator[Any], left: int | None = None) -> dict[str, Any]:
    """The cursor of what follows, None where nothing does; and how many items that are."""
    if next(rest, None) is None:
        return {"next": None, "remaining": 0}
    return {"next": str(int(cursor or 0) + taken), "remaining": left or 1 + sum(1 for _ in rest)}


def limit_of(text: str | None) -> int:
    """How many items a caller wants; CoreError of no number of them."""
    if text is None:
        return USUAL_ITEMS
    if (number := whole_number(text)) is None or not 1 <= number <= MOST_ITEMS:
        raise refuse("argument_wrong", name="limit", wanted=f"a whole number from 1 to {MOST_ITEMS:,}")
    return number


def problem_of(error: Exception, spoken: Words, roots: Callable[[], Any] = list) -> Problem:
    """An error as RFC 9457 has it, without paths and versions; one that is a mistake of ours has a reference."""
    seconds = None
    if isinstance(error, CoreError | OSError):
        problem = coded(error)
        code, detail = problem.code, for_visitor(problem_text(error, spoken), shown(roots()))
        if isinstance(error, TooManyLookups):
            seconds = max(1, round(problem.values["seconds"]))
        elif code == "lines_later":
            seconds = 5
        metrics.error(code)
    else:
        reference = secrets.token_hex(4)
        LOG.error("an operation failed: error %s", reference, exc_info=error, extra={"error_id": reference})
        code, detail = "call_failed", spoken("error.call_failed", reference=reference)
        metrics.error("")
    status = _status(error, code)
    body = {"type": f"{PROBLEM}{code}", "title": spoken(f"problem.status.{status}"), "status": status, "code": code}
    return Problem(status, body | {"detail": detail}, seconds)


def _status(error: Exception, code: str) -> int:
    if code in _STATUSES:
        return _STATUSES[code]
    if isinstance(error, TooManyLookups) or code.startswith("limit_"):
        return 429
    if isinstance(error, AccessError | PermissionError) or code == "not_owner":
        return 403
    if isinstance(error, RunError):
        return 404 if code in ("no_run", "no_run_here", "not_a_scan") else 422
    if isinstance(error, NotRecorded):
        return 503
    return 502 if isinstance(error, RemotingError) else 422


STATUSES = (400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 502, 503, 507)

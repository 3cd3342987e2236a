"""Answers that were heard a moment ago, for who asks the same. Asks nobody itself, and judges nothing."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import Request

# How long an answer serves as the first of two, and how many questions are remembered.
_FIRST_MS, _MOST = 60_000, 20_000
# Bytes of them all, roughly, and of one that is remembered: a broker of a stranger answers with 16 MiB each.
_MOST_HELD, _MOST_OF_ONE = 256 << 20, 16 << 20
_VALUE = 64  # bytes of a small value


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, or the error in its place: of whom, and when it came."""

    member: Member
    answer: Any | RemotingError
    at_ms: int


Ask = Callable[[Sequence[Request[Any]]], Sequence[Reply]]
Now = Callable[[], int]
NEVER = 1 << 62


class AnswerCache:
    """The answers of brokers, by broker and question: many ids ask the same of one group."""

    def __init__(self) -> None:
        self._replies: dict[tuple[str, Request[Any]], tuple[Reply, Reply]] = {}
        self._held = 0  # bytes of the replies that came since the last time that all were forgotten
        self._asking: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def ask(
        self, broker: str, requests: Sequence[Request[Any]], since_ms: int, ask: Ask, now_ms: Now = lambda: NEVER
    ) -> list[Reply]:
        """Answers that came at this instant or later. Only what nobody else has asked since is asked now.

        An answer of the future was heard before the clock was set back: it does not count.
        """
        with self._lock:
            asking = self._asking[broker]
        with asking:  # who comes second waits for the first, and finds his answers
            with self._lock:
                held = {each: self._replies[broker, each][1] for each in requests if (broker, each) in self._replies}
            replies = {each: reply for each, reply in held.items() if since_ms <= reply.at_ms <= now_ms()}
            missing = [each for each in dict.fromkeys(requests) if each not in replies]
            fresh = dict(zip(missing, ask(missing), strict=True)) if missing else {}
            self._remember(broker, fresh)
        replies |= fresh
        return [replies[request] for request in requests]

    def _remember(self, broker: str, fresh: Mapping[Request[Any], Reply]) -> None:
        sizes = {request: _size(reply.answer) for request, reply in fresh.items()}
        with self._lock:
            for request, reply in fresh.items():
                if sizes[request] >= _MOST_OF_ONE:
                    continue
                if len(self._replies) >= _MOST or self._held + sizes[request] > _MOST_HELD:
                    self._replies.clear()  # what was found is not looked for there again
                    self._held = 0
                first, last = self._replies.get((broker, request), (reply, reply))
                kept = first if reply.at_ms - first.at_ms <= _FIRST_MS else last
                self._replies[broker, request] = kept, reply
                self._held += sizes[request]

    def before(self, broker: str, request: Request[Any], at_ms: int) -> Reply | None:
        """An answer from before an instant, for who wants to know what has changed since."""
        with self._lock:
            first, last = self._replies.get((broker, request), (None, None))
        return next((reply for reply in (last, first) if reply is not None and reply.at_ms <= at_ms), None)


def _size(answer: Any) -> int:
    """Roughly the bytes of an answer in memory; of one that is too large to be remembered `_MOST_OF_ONE` or more."""
    held, waiting = 0, [answer]
    while waiting and held < _MOST_OF_ONE:
        value = waiting.pop()
        held += _VALUE + (len(value) if isinstance(value, str | bytes) else 0)
        if isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, tuple | frozenset):
            waiting += value
        elif is_dataclass(value):
            waiting += [getattr(value, each.name) for each in fields(value)]
    return held

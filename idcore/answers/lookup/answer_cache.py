"""Answers that were heard a moment ago, for who asks the same. Asks nobody itself, and judges nothing."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import Request

# How long an answer serves as the first of two, and how many questions are remembered.
_FIRST_MS, _MOST = 60_000, 20_000


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
            with self._lock:
                if len(self._replies) + len(fresh) > _MOST:
                    self._replies.clear()  # what was found is not looked for there again
                for request, reply in fresh.items():
                    first, last = self._replies.get((broker, request), (reply, reply))
                    kept = first if reply.at_ms - first.at_ms <= _FIRST_MS else last
                    self._replies[broker, request] = kept, reply
        replies |= fresh
        return [replies[request] for request in requests]

    def before(self, broker: str, request: Request[Any], at_ms: int) -> Reply | None:
        """An answer from before an instant, for who wants to know what has changed since."""
        with self._lock:
            first, last = self._replies.get((broker, request), (None, None))
        return next((reply for reply in (last, first) if reply is not None and reply.at_ms <= at_ms), None)

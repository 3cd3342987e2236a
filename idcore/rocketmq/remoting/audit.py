"""Who looked up what, when, and how it ended; and how often one person may. Bodies never come this far."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from idcore.policy import audit
from idcore.rocketmq.remoting.errors import TooManyLookups

_LONGEST_ID = 300
_MOST_USERS = 10_000


class AuditLog:
    """A file of JSON lines, one for each id looked up, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, at: datetime, user: str, cluster: str, looked_up: str, result: str, asked: Sequence[str]) -> None:
        """One look-up. OSError goes to the caller: what cannot be recorded is not looked up."""
        line = {
            "what": "look_up",
            "at": at.isoformat(timespec="milliseconds"),
            "user": user[:_LONGEST_ID],
            "cluster": cluster,
            "id": looked_up[:_LONGEST_ID],
            "result": result,
            "asked": list(asked),
        }
        audit.append(self._path, line)


class RateLimit:
    """A bucket of look-ups for each user, filled evenly. The clock is given with every call.

    `of_all` is a bucket that all users share.
    """

    def __init__(self, per_minute: int, of_all: RateLimit | None = None, code: str = "too_many") -> None:
        self._most, self._of_all, self._code = float(per_minute), of_all, code
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, user: str, count: int, now: float) -> None:
        """Uses up so many look-ups, or none: TooManyLookups says when there will be enough.

        More than a whole minute's worth is let through once the bucket is full, and is then owed.
        """
        with self._lock:
            left, since = self._held.pop(user, (self._most, now))
            left = min(self._most, left + max(0.0, now - since) * self._most / 60)  # a clock may be set back
            needed = min(float(count), self._most)
            enough = left >= needed
            self._held[user] = (left - count if enough else left), now
            while len(self._held) > _MOST_USERS:
                self._held.popitem(last=False)
        if not enough:
            seconds = (needed - left) * 60 / self._most
            values = {"seconds": seconds, "count": count, "most": int(self._most)}
            raise TooManyLookups(self._code, values)
        if self._of_all is not None:
            try:
                self._of_all.take("", count, now)
            except TooManyLookups:
                with self._lock:  # nobody is asked, so nothing is used up
                    mine, since = self._held.get(user, (left, now))
                    self._held[user] = mine + count, since
                raise

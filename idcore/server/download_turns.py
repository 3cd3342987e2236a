"""Whose turn it is to make a download: so many of one person at once, and of all. Makes none itself."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from weakref import WeakValueDictionary

MOST_OF_ONE, MOST_AT_ONCE = 2, 4  # of five threads or more, which the server needs for other work too
MOST_ASKED = 16  # of one person: at work, and waiting
_making = Counter[str]()  # by session: files that are made now
_counting = Lock()


@contextmanager
def making(session: str) -> Iterator[None]:
    """While a file is made for a session, in whatever thread."""
    with _counting:
        _making[session] += 1
    try:
        yield
    finally:
        with _counting:
            _making[session] -= 1
            if not _making[session]:
                del _making[session]


def is_making(session: str) -> bool:
    """Whether a file is made for a session, also when its browser has gone."""
    return session in _making


class DownloadTurns:
    """Streamlit makes as many as are asked for: with some of them one person kept all threads for an hour.

    Only the event loop of the server uses this.
    """

    def __init__(self) -> None:
        self._every = asyncio.Semaphore(MOST_AT_ONCE)
        self._own = WeakValueDictionary[str, asyncio.Semaphore]()
        self._asked = Counter[str]()

    async def wait(self, name: str, make: Callable[[], Awaitable[object]]) -> bool:
        """Makes one at its turn. False at once of who has asked for too many."""
        if self._asked[name] >= MOST_ASKED:
            return False
        own = self._own.setdefault(name, asyncio.Semaphore(MOST_OF_ONE))
        self._asked[name] += 1
        try:
            async with own, self._every:
                await make()
        finally:
            self._asked[name] -= 1
            if not self._asked[name]:
                del self._asked[name]
        return True

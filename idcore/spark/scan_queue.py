"""Whose turn it is: so many scans at once, half of them of one person, the others wait. Does not depend on a scan."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from idcore.base.errors import CoreError
from idcore.base.open_folders import Roots, opener
from idcore.policy import limits
from idcore.sources.archives import kind_of
from idcore.sources.kinds import HEAD, PLAIN, WIDE

from .watch import POLL_SECONDS, check

LARGE = 8 << 20  # bytes of input of a scan that others would notice
MOST_SMALL = 4  # scans at once


class Turns:
    """A queue: `most` says how many may be at work, and is asked each time, so that a setting counts at once.

    One person has half of the places at most: a file of some kilobytes may be unpacked for an hour. A place goes to who
    has the fewest, else to who came first. Without a log-in all are one, who may have them all.
    """

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._at_work = Counter[str | None]()  # by their owners
        self._waiting: dict[object, str | None] = {}  # the owner of each, in the order in which they came
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """The number of scans that wait."""
        return len(self._waiting)

    @contextmanager
    def turn(self, stop: threading.Event, report: Callable[[int], None], owner: str | None = None) -> Iterator[None]:
        """Waits for its turn and reports its place meanwhile, the next one is 1; Cancelled if it is to stop."""
        ticket = object()
        with self._changed:
            self._waiting[ticket] = owner
            try:
                while (place := self._place(ticket)) > 1 or not self._has_room(owner):
                    report(place)
                    self._changed.wait(POLL_SECONDS)
                    check(stop)
            finally:
                del self._waiting[ticket]
                self._changed.notify_all()
            self._at_work[owner] += 1
        try:
            yield
        finally:
            with self._changed:
                self._at_work[owner] -= 1
                self._at_work += Counter()  # without those that have none
                self._changed.notify_all()

    def _place(self, ticket: object) -> int:
        """How many go before it, and one. Who has all that they may have goes before nobody else."""
        owner = self._waiting[ticket]
        able = [one for one, whose in self._waiting.items() if whose == owner or self._may_have(whose)]
        return sorted(able, key=lambda one: self._at_work[self._waiting[one]]).index(ticket) + 1

    def _has_room(self, owner: str | None) -> bool:
        return self._at_work.total() < self._most() and self._may_have(owner)

    def _may_have(self, owner: str | None) -> bool:
        return owner is None or self._at_work[owner] < max(1, self._most() // 2)


_large, _small = Turns(partial(limits.figure, "scans")), Turns(lambda: MOST_SMALL)


def waiting() -> int:
    """How many scans wait for their turn."""
    return len(_large) + len(_small)


def of(paths: Sequence[str], store: str | None, roots: Roots = None) -> Turns:
    """The queue of a scan. A small one does not wait for large ones.

    A folder, an address and what is packed count as large: 8 MiB of zstd may be 250 GiB of text.
    """
    if store is not None:
        return _large
    try:
        sizes = [Path(path).stat().st_size for path in paths if not Path(path).is_dir()]
        if len(sizes) < len(paths) or sum(sizes) >= LARGE:
            return _large
        return _small if all(_is_text(path, roots) for path in paths) else _large
    except (OSError, ValueError):
        return _large


def _is_text(path: str, roots: Roots) -> bool:
    with open(path, "rb", opener=opener(roots)) as file:
        try:
            return kind_of(file.read(HEAD)) in (PLAIN, *WIDE)
        except CoreError:  # it cannot be read, and its scan says why at once
            return True

"""Ids as the Java client and the broker generate them. Opens no socket or file: clock, zone, address, pid are given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, tzinfo

from idcore.base.layout import UNIQ_V4, UNIQ_V6
from idcore.ids import clock as clocks
from idcore.ids.generations import CLAMP_MS
from idcore.ids.model import UniqId, host_bytes

_INT, _SHORT = 1 << 32, 1 << 16


def fake_address(now_ms: int) -> bytes:
    """The address Java writes when it cannot read the host's own (createFakeIP): the low 32 bits of the time in ms."""
    return (now_ms % _INT).to_bytes(4, "big")


class Generator:
    """MessageClientIDSetter of one process: a fixed prefix, a month, a counter that all its producers share.

    `clock` gives the time in ms since 1970 and is asked for each id. Without an address the fake one is written.
    `clamp` False is the generator up to 4.9.2: it reads the clock a second time for elapsed. So an id can pass the
    month's end by a few ms. A clock set back across the month's start gives an elapsed near 2^32.
    """

    def __init__(
        self,
        clock: Callable[[], int],
        zone: tzinfo,
        host: str | bytes | None,
        pid: int,
        loader: int,
        *,
        clamp: bool = True,
        counter: int = 0,
    ) -> None:
        self._clock = clock
        self._zone = zone
        self._clamp = clamp
        self._counter = counter
        self._lock = threading.Lock()
        now = clock()
        self._ip = fake_address(now) if host is None else host_bytes(host)
        self._layout = UNIQ_V4 if len(self._ip) == 4 else UNIQ_V6
        self._pid = pid % _SHORT
        self._loader = loader % _INT
        self._start = self._next = 0
        self._set_start(now)

    def _set_start(self, now: int) -> None:
        local = clocks.from_ms(now, self._zone)
        self._start = clocks.month_start(local.year, local.month, self._zone)
        # Calendar.add(MONTH, 1) keeps the wall time, which is not midnight where midnight was skipped.
        wall = clocks.from_ms(self._start, self._zone).replace(tzinfo=None)
        year, month = (wall.year + 1, 1) if wall.month == 12 else (wall.year, wall.month + 1)
        self._next = clocks.wall_ms(datetime(year, month, 1, wall.hour, wall.minute, wall.second), self._zone)

    @property
    def prefix(self) -> str:
        """The digits that every id of this process begins with."""
        start = self._layout.span("elapsed").start
        return bytes(UniqId(self._layout, self._ip, self._pid, self._loader, 0, 0, ""))[:start].hex().upper()

    def next_id(self) -> UniqId:
        """The next id."""
        with self._lock:
            now = self._clock()
            if now >= self._next:
                self._set_start(now)
            if self._clamp:
                elapsed = now - self._start
                if -CLAMP_MS < elapsed < 0:
                    elapsed = 0
            else:
                elapsed = self._clock() - self._start
            counter = self._counter
            self._counter += 1
        message_id = UniqId(self._layout, self._ip, self._pid, self._loader, elapsed % _INT, counter % _SHORT, "")
        return replace(message_id, text=bytes(message_id).hex().upper())

    def skip(self, count: int) -> None:
        """Lets `count` numbers of the counter go by: other producers of the process took them."""
        with self._lock:
            self._counter += count

    @property
    def counter(self) -> int:
        """What the next id has as its counter."""
        return self._counter % _SHORT

    @property
    def month_start(self) -> int:
        """The instant, in ms, from which elapsed is counted now."""
        return self._start

    def create_uniq_id(self) -> str:
        """The next id as text (createUniqID)."""
        return str(self.next_id())

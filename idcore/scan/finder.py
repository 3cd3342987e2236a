"""Where the kernel puts the ids that it finds: arrays that are made once, and grow. Reads no file, dates nothing."""

from __future__ import annotations

from functools import cache

import numpy as np

from idcore.base.layout import ID_DIGITS
from idcore.ids.makers import known_loaders, usual_loaders
from idcore.kernels import find
from idcore.sources.windows import AFTER, WINDOW, Windows

MOST_OF_A_WINDOW = (WINDOW + AFTER) // 32 + 2  # ids
_SPARE = 8  # bytes of a sample that a kernel may touch behind it
_TABLE_ROWS = 1 << 12


@cache
def loaders() -> np.ndarray:
    """Loader hashes of known clients, sorted; the kernels take one array for the life of the process."""
    return known_loaders()


@cache
def usual() -> np.ndarray:
    """Those of usual launches, which chance does not make."""
    return usual_loaders()


class Finder:
    """Finds the ids of windows of text. `ids`: room for so many at first."""

    def __init__(self, case: str = "strict", ids: int = 0) -> None:
        self.rules = find.rules_for(case, loaders(), usual())
        self.state = np.zeros(find.STATE_SIZE, np.int64)
        self.found = find.FoundIds(
            table=np.zeros((_TABLE_ROWS, find.TABLE_COLUMNS), np.uint64),
            keys=np.empty((_TABLE_ROWS // 2 + 1, find.KEY_COLUMNS), np.uint64),
            values=np.empty(ids, np.uint64),
            slots=np.empty(ids, np.uint32),
            lines=np.empty((MOST_OF_A_WINDOW, find.LINE_COLUMNS), np.int64),
            state=self.state,
            refused=np.zeros((len(find.REASONS), 3), np.int64),
            samples=np.zeros((len(find.REASONS), ID_DIGITS[-1] + _SPARE), np.uint8),
            places=np.empty(ids, np.int64),
            named=np.empty((MOST_OF_A_WINDOW, find.NAMED_COLUMNS), np.uint64),
        )

    @property
    def keys(self) -> np.ndarray:
        """The words of each key, by its slot."""
        return self.found.keys[: self.state[find.STATE_KEYS]]

    def forget(self) -> None:
        """Drops the keys: the next one has slot 0. The table stays as large as it is: there will be as many again."""
        self.found.table.fill(0)
        self.state[find.STATE_KEYS] = 0

    def make_room(self, ids: int) -> None:
        """Room for so many ids in all."""
        held = len(self.found.values)
        if ids > held:
            more = max(2 * held, ids) - held
            columns = self.found.values, self.found.slots, self.found.places
            values, slots, places = (np.concatenate([each, np.empty(more, each.dtype)]) for each in columns)
            self.found = self.found._replace(values=values, slots=slots, places=places)

    def clear(self, ids: int) -> None:
        """Forgets the keys and all ids: room for so many."""
        self.forget()
        self.found = self.found._replace(
            values=np.empty(ids, np.uint64), slots=np.empty(ids, np.uint32), places=np.empty(ids, np.int64)
        )

    def step(self, windows: Windows, stop: int, what: int) -> bool:
        """Takes the text up to `stop`, or up to where the table of keys had to grow: `windows.at` says which.

        True when a line that is read on has ended.
        """
        went_to = find.find(windows.buf, windows.origin, windows.at, stop, what, self.rules, self.found)
        if went_to == find.LINE_ENDED:
            return True
        windows.at = int(went_to)
        if windows.at < stop:
            larger = np.zeros((4 * len(self.found.table), find.TABLE_COLUMNS), np.uint64)
            find.grow(self.found.table, larger)
            keys = np.empty((len(larger) // 2 + 1, find.KEY_COLUMNS), np.uint64)
            keys[: len(self.found.keys)] = self.found.keys
            self.found = self.found._replace(table=larger, keys=keys)
        return False

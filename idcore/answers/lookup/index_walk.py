"""Where the index of a store folder leads for a key: place after place, the newest first, until it is enough.

A folder may be anybody's: a small file can have millions of entries of one key, each of which costs a search. Judges no
record but by its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from idcore.answers.lookup.listing import never
from idcore.answers.lookup.ways import MOST_BYTES, Stop
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.store.commitlog import Miss, Stored
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.index import Entry

MOST_STEPS = 2_000_000  # entries of all chains: of a real one that is each message that has a tag
MOST_WRONG = 200  # places without a record of the key; of each the log around it is searched


@dataclass(slots=True)
class IndexWalk:
    """One look-up. `is_cut`: the index may lead to more than was looked at."""

    store: StoreFolder
    stop: Stop = never
    is_cut: bool = False
    steps: Iterator[int] = field(default_factory=lambda: iter(range(MOST_STEPS)))
    _wrong: int = 0
    _held: int = 0

    def outcomes(self, topic: str, key: str) -> Iterator[tuple[Entry, Stored | Miss, bool]]:
        """Each place with the record there or why there is none, and whether that is one of the topic with the key."""
        deleted = 0
        for entry in self.store.index.look_up(topic, key, self.steps):
            if self.stop() or self._wrong >= MOST_WRONG or self._held > MOST_BYTES:
                self.is_cut = True
                return
            outcome = self.store.log.look(entry.physical_offset)
            is_one = isinstance(outcome, Stored) and outcome.record.topic == topic and has_key(outcome.record, key)
            if isinstance(outcome, Stored) and is_one:
                self._held += outcome.record.size
            elif isinstance(outcome, Miss) and outcome.reason == "before_minimum":
                deleted += 1
                if deleted > MOST_WRONG:  # those behind it are older
                    return
            else:
                self._wrong += 1
            yield entry, outcome, is_one
        self.is_cut = self.is_cut or next(self.steps, None) is None

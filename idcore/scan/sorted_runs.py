"""Facts of many tasks in the order of their keys: the runs of ids, and the offsetMsgIds paired with them. No tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from idcore.kernels import clients, codes, encode, paired_offsets
from idcore.scan.crossing import Block

_ROWS = 1 << 20


class PairedOffsets:
    """The offsetMsgIds paired with the runs of all blocks, and the loose pairs. Brokers get one number each."""

    def __init__(self, blocks: Sequence[Block], loose: np.ndarray) -> None:
        blocks_of_brokers = [block.brokers for block in blocks]
        brokers = np.concatenate([*blocks_of_brokers, loose[:, 4:7]]) if blocks else loose[:, 4:7]
        bases = np.cumsum([0] + [len(words) for words in blocks_of_brokers])
        sizes = [block.paired_lengths for block in blocks]
        starts = np.cumsum([0] + [len(block.paired) for block in blocks])
        self.lengths = np.concatenate([*sizes, np.zeros(0, np.uint32)]).astype(np.int64)
        places = [start + np.cumsum(each, dtype=np.int64) - each for start, each in zip(starts, sizes, strict=False)]
        at = np.where(self.lengths > 0, np.concatenate([*places, np.zeros(0, np.int64)]), -1)
        counts = [len(block.keys) for block in blocks]
        bits = np.repeat(np.array([block.bits for block in blocks], np.int64), counts)
        # 8 bytes more: a token is loaded as a word
        data = np.concatenate([*(block.paired for block in blocks), np.zeros(8, np.uint8)])
        order = np.lexsort((brokers[:, 2], brokers[:, 1], brokers[:, 0], codes.codes_of(brokers)))
        first = np.ones(len(order), np.bool_)
        first[1:] = (brokers[order[1:]] != brokers[order[:-1]]).any(axis=1)
        self.numbers = np.empty(len(order), np.int64)
        self.numbers[order] = np.cumsum(first) - 1
        self.packed = paired_offsets.PairedRuns(at, bits, np.repeat(bases[:-1], counts), self.numbers, data)
        self.brokers = brokers[order[first]]
        self.loose_keys = loose[:, :3]
        self.loose = np.column_stack(
            [loose[:, 3].view(np.int64), self.numbers[bases[-1] :], loose[:, 7:9].view(np.int64)]
        )

    def copies(self, runs: SortedRuns, repeated: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Words, values and lines of ids with several offsetMsgIds; words, values and edges of these offsetMsgIds.

        The edges cut them into those of each id. `repeated` marks the keys of which an id occurs more than once: no
        other id can have two, unless one line pairs it twice.
        """
        rows = np.empty(len(self.loose), np.int64)
        keys = np.ascontiguousarray(self.loose_keys)
        of_client = codes.are(keys, codes.CLIENTS)
        keys[of_client, 2] &= ~clients.LETTERS
        paired_offsets.rows_of(runs.keys, keys, rows)
        order = np.argsort(rows, kind="stable")
        order = order[rows[order] >= 0]
        rows, loose = rows[order], self.loose[order]
        sizes = np.add.reduceat(self.lengths[runs.order], runs.edges[:-1])
        wanted = repeated & (sizes > 0)
        wanted[rows] = True
        keys = np.flatnonzero(wanted)
        if not len(keys):
            return
        edges = np.searchsorted(rows, np.append(keys, len(runs.keys)))
        most = int((sizes[keys] + np.diff(edges)).max())
        out = np.empty((max(_ROWS, most), 5), np.int64)
        wanted_keys = paired_offsets.PairQuery(keys, edges, loose, most)
        scratch = len(self.numbers) + 1
        room = paired_offsets.Pairs(
            np.empty(most, np.uint64),
            np.empty((most, 3), np.int64),
            np.zeros(scratch, np.int64),
            np.empty(scratch, np.int64),
        )
        done = 0
        while done < len(keys):
            done, count = paired_offsets.copies_of(runs.packed, self.packed, wanted_keys, room, out, done)
            if count:
                key, value, broker, offset, lines = out[:count].T.copy()
                changed = np.flatnonzero((key[1:] != key[:-1]) | (value[1:] != value[:-1])) + 1
                first = np.concatenate([[0], changed])
                ids = runs.keys[key[first]], value[first].view(np.uint64), lines[first]
                yield *ids, self.brokers[broker], offset.view(np.uint64), np.append(first, count)


@dataclass(frozen=True, slots=True)
class SortedRuns:
    """The runs of one kind of key, in order of key: `edges` cut `order` into keys, `keys` has one row a key."""

    keys: np.ndarray
    order: np.ndarray
    edges: np.ndarray
    key2: np.ndarray
    distinct: np.ndarray
    places: np.ndarray
    data: np.ndarray
    largest: int

    @property
    def packed(self) -> encode.PackedRuns:
        """The runs as arrays for kernels."""
        return encode.PackedRuns(self.order, self.edges, self.key2, self.distinct, self.places, self.data, self.largest)

    def at_once(self, most: int) -> encode.PackedRuns:
        """As kernels take them that merge no more than so many ids at once."""
        return self.packed._replace(largest=min(self.largest, most))


def collect(blocks: Sequence[Block]) -> dict[str, SortedRuns]:
    """All runs of the blocks, by kind: uniq, client, offset."""
    if not blocks:
        return {}
    words = np.concatenate([block.keys for block in blocks])
    marked = np.ascontiguousarray(words[:, 2])  # the letters of a 5.x client's ids are not part of its key
    client, offset = codes.are(words, codes.CLIENTS), codes.are(words, codes.OFFSETS)
    words = np.column_stack([words[:, :2], np.where(client, marked & ~clients.LETTERS, marked)])
    distinct = np.concatenate([block.distinct for block in blocks]).astype(np.int64)
    data = np.concatenate([block.runs for block in blocks])
    bases = np.cumsum([0] + [len(block.runs) for block in blocks])
    places = np.concatenate(
        [
            base + np.cumsum(block.lengths, dtype=np.int64) - block.lengths
            for base, block in zip(bases, blocks, strict=False)
        ]
    )
    kind = np.select([client, offset], [1, 2], 0)
    runs = {}
    for number, name in enumerate(("uniq", "client", "offset")):
        mine = np.flatnonzero(kind == number)
        if not len(mine):
            continue
        chunk = words[mine]
        order = np.lexsort((chunk[:, 1], chunk[:, 0], chunk[:, 2]) if chunk[:, 0].any() else (chunk[:, 1], chunk[:, 2]))
        chunk = chunk[order]
        changed = np.flatnonzero((chunk[1:] != chunk[:-1]).any(axis=1)) + 1
        edges = np.concatenate([[0], changed, [len(chunk)]])
        order = mine[order]
        largest = int(np.add.reduceat(distinct[order], edges[:-1]).max())
        runs[name] = SortedRuns(chunk[edges[:-1]], order, edges, marked, distinct, places, data, largest)
    return runs

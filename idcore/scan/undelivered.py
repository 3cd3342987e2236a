"""Messages that a consumer group has not consumed: rows of a pass to rows of their table. Judges nothing."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.kernels import fates as kernel
from idcore.scan.growing import kept_once, times
from idcore.scan.ordering import stacked
from idcore.scan.schemas import SCHEMAS

_CHUNK = 1 << 16
_CODEC = pa.Codec("lz4_raw")
_MOST_TEXTS = 1 << 14  # that are remembered
MOST_NAMED = 1_000  # groups in one text: each interval of a queue has its own
Pairs = tuple[tuple[str, str], ...]  # groups and their verdicts


class Rows(NamedTuple):
    """Rows of single messages, and the texts that they lead to."""

    rows: np.ndarray
    texts: np.ndarray

    def pack(self) -> bytes:
        """How many rows, then both, compressed: on its way to the driver it is copied many times."""
        head = np.array([len(self.rows)], np.int64)
        whole = head.tobytes() + np.ascontiguousarray(self.rows).tobytes() + self.texts.tobytes()
        return len(whole).to_bytes(8, "big") + _CODEC.compress(whole, asbytes=True)

    def of(self, which: np.ndarray) -> Rows:
        """Some of the rows, with their texts alone."""
        rows = self.rows.compress(which)
        texts = keys_of(Rows(rows, self.texts))
        rows["text"] = np.cumsum(rows["text_size"]) - rows["text_size"]
        pieces = (np.frombuffer(chunk.buffers()[2] or b"", np.uint8) for chunk in texts.chunks)
        return Rows(rows, np.concatenate([np.zeros(0, np.uint8), *pieces]))

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Concatenates rows."""
        begins = np.cumsum([0, *(len(part.texts) for part in parts)])
        rows = stacked([np.zeros(0, kernel.ONE), *(part.rows for part in parts)])
        rows["text"] += np.repeat(begins[:-1], [len(part.rows) for part in parts])
        return cls(rows, np.concatenate([np.zeros(0, np.uint8), *(part.texts for part in parts)]))

    @classmethod
    def unpack(cls, data: bytes | pa.Buffer) -> Rows:
        """The inverse of `pack`."""
        whole = _CODEC.decompress(data[8:], int.from_bytes(data[:8], "big"), asbytes=True)
        count = int(np.frombuffer(whole, np.int64, 1)[0])
        rows = np.frombuffer(whole, kernel.ONE, count, 8)
        return cls(rows, np.frombuffer(whole, np.uint8, offset=8 + rows.nbytes))


@dataclass(frozen=True, slots=True)
class UnconsumedIntervals:
    """Which groups have not consumed what is in an interval. `verdicts` is a number for group, interval and kind."""

    queues: Sequence[tuple[str, int]]
    groups: Sequence[Sequence[str]]
    verdicts: Sequence[np.ndarray]
    names: Sequence[str]
    undelivered: Collection[str]
    _known: dict[tuple[int, Pairs], tuple[str, int]] = field(default_factory=dict)

    def table(self, single: Rows, pair_of_row: np.ndarray | None = None, pairs: Sequence[Pairs] = ((),)) -> pa.Table:
        """The rows as the table has them; texts that recur are kept once.

        `own` has for each row which of the `pairs` are of its own: groups of which its copies say something else.
        """
        rows = single.rows
        which, said = self._said(rows, np.int64(0) if pair_of_row is None else pair_of_row, pairs)
        queue, keys = rows["queue"], words_of(keys_of(single))
        columns = [
            kept_once([topic for topic, _ in self.queues], queue),
            np.array([number for _, number in self.queues], np.int64)[queue],
            *(rows[name].copy() for name in ("place", "offset", "size")),
            times(rows["time"]),
            pc.if_else(pc.equal(keys, ""), None, keys),
            np.array([groups for _, groups in said], np.int64)[which],
            kept_once([text for text, _ in said], which),
        ]
        return pa.table(columns, SCHEMAS["undelivered"].names)

    def _said(
        self, rows: np.ndarray, pair_of_row: np.ndarray | np.int64, pairs: Sequence[Pairs]
    ) -> tuple[np.ndarray, list[tuple[str, int]]]:
        """Which text is that of each row; the texts, and how many groups each has."""
        sizes = np.array([each.shape[1:] for each in self.verdicts], np.int64).reshape(-1, 2)
        begins, kinds = np.cumsum([0, *sizes.prod(axis=1)]), sizes[:, 1]
        queue, interval, kind = rows["queue"], rows["interval"], rows["kind"]
        places = begins[queue] + kinds[queue] * interval + kind
        alike = pa.array(places * len(pairs) + pair_of_row).dictionary_encode()
        said, edges = list[tuple[str, int]](), begins.tolist()
        for place, number in (divmod(each, len(pairs)) for each in alike.dictionary.to_pylist()):
            of_queue = bisect_right(edges, place) - 1
            if (place, pairs[number]) not in self._known:
                if len(self._known) == _MOST_TEXTS:
                    self._known.clear()
                of_interval, of_kind = divmod(place - edges[of_queue], int(kinds[of_queue]))
                self._known[place, pairs[number]] = self._text(of_queue, of_interval, of_kind, pairs[number])
            said.append(self._known[place, pairs[number]])
        return alike.indices.to_numpy(), said

    def _text(self, queue: int, interval: int, kind: int, own_pairs: Pairs) -> tuple[str, int]:
        """The groups that have not consumed a message, as JSON, and how many they are."""
        usual = self.verdicts[queue][:, interval, kind].tolist()
        every = dict(zip(self.groups[queue], (self.names[verdict] for verdict in usual), strict=True)) | dict(own_pairs)
        groups = [group for group in sorted(every) if every[group] in self.undelivered]
        named = {group: every[group] for group in groups[:MOST_NAMED]}
        return json.dumps(named, ensure_ascii=False), len(groups)


def keys_of(single: Rows) -> pa.ChunkedArray:
    """The keys of single messages; those without one are empty."""
    chunks = []
    for begin in range(0, len(single.rows), _CHUNK):
        starts, sizes = (single.rows[name][begin : begin + _CHUNK].copy() for name in ("text", "text_size"))
        edges = np.append(0, np.cumsum(sizes))
        texts = np.empty(edges[-1], np.uint8)
        kernel.gather(np.uint64(single.texts.ctypes.data), starts, sizes, texts)
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(texts)]
        chunks.append(pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts), buffers))
    return pa.chunked_array(chunks, pa.large_binary())


def words_of(texts: pa.ChunkedArray) -> pa.Array:
    """As text; a byte that is not of any letter is replaced."""
    try:
        return texts.cast(pa.string()).combine_chunks()
    except pa.ArrowInvalid:
        return pa.array([each.decode("utf-8", "replace") for each in texts.to_pylist()], pa.string())

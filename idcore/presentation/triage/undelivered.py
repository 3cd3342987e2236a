"""The messages of a run that groups have not consumed: those that come first in some order. Draws nothing.

The table may have any number of rows. It is read a row group at a time, and what is kept of it is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from idcore.answers.fate.levels import order_of
from idcore.policy import limits
from idcore.presentation import export
from idcore.presentation.triage import largest
from idcore.presentation.triage.fates import FateFilter

ORDERS = ("time", "-time", "worst", "place")
MOST_HELD = 50_000  # messages of one list
MESSAGE = ("topic", "broker", "queue_id", "queue_offset", "commit_log_offset", "msg_id", "store_timestamp")
_RECURRING = ["topic", "broker", "verdicts"]
_PLACE = ("topic", "broker", "queue_id", "queue_offset")
_ALWAYS = ("store_timestamp", "commit_log_offset", "verdicts")
_NO_TIME = (1 << 63) - 1  # behind all that have one, in both directions
Pairs = list[tuple[str, str]]  # groups and their verdicts


@dataclass(frozen=True, slots=True)
class Undelivered:
    """The table `undelivered` of a run."""

    folder: Path

    @classmethod
    def of_run(cls, run: Path) -> Undelivered:
        """The table; it is read when rows are asked for."""
        return cls(run / "undelivered")

    def __len__(self) -> int:
        """How many messages it has."""
        return largest.count(self.folder)

    def select(self, asked: FateFilter, order: str = ORDERS[0], most: int = MOST_HELD) -> UndeliveredList:
        """The first messages that are asked for, to the millisecond, each with its groups."""
        texts, total, kept = _Texts(asked), 0, np.zeros((0, 0), np.int64)
        ranks = self._ranks() if order == "place" else {}
        for begin, rows in self._pieces(asked, [*(_PLACE if order == "place" else _PLACE[:1]), *_ALWAYS]):
            codes = texts.codes(rows["verdicts"].chunk(0))
            number = np.array([len(pairs) for pairs in texts.own], np.int64)[codes]
            mask = (number > 0) & _holds(rows, asked)
            total += int(number[mask].sum())
            keys = [*_keys(rows, order, texts.worst()[codes], ranks), np.arange(begin, begin + len(codes)), codes]
            if 0 < most == len(kept):
                mask &= keys[0] <= kept[-1, 0]
            some = np.stack(keys, axis=1)[mask]
            if len(some):
                kept = np.concatenate([kept.reshape(-1, len(keys)), some])
                kept = kept[np.lexsort(kept.T[-2::-1])][:most]
        places, codes = kept[:, -2:].T if len(kept) else np.zeros((2, 0), np.int64)
        there = pq.read_schema(min(self.folder.glob("*.parquet"))).names
        messages = largest.take(self.folder, places, [name for name in MESSAGE if name in there]).to_pandas()
        messages["msg_id"] = messages["msg_id"].astype(object).where(messages["msg_id"].notna(), None)
        own = [texts.own[code] for code in codes.tolist()]
        return UndeliveredList(messages, own, np.cumsum([len(pairs) for pairs in own]), total)

    def _pieces(self, asked: FateFilter, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """The row groups that may have what is asked for, in some columns, and at which row of the table they begin."""
        begin = 0
        for path in largest.files_of(self.folder):
            names = [name for name in pq.read_schema(path).names if name in columns]
            with pq.ParquetFile(path, read_dictionary=[name for name in _RECURRING if name in names]) as file:
                for group in range(file.num_row_groups):
                    about = file.metadata.row_group(group)
                    if about.num_rows and _may_hold(about, asked):
                        yield begin, file.read_row_group(group, names).unify_dictionaries().combine_chunks()
                    begin += about.num_rows

    def _ranks(self) -> dict[str, dict[str, int]]:
        """The names of topics and, where there are any, of brokers, in order."""
        names: dict[str, set[str]] = {}
        for _, rows in self._pieces(FateFilter(), _PLACE[:2]):
            for name in rows.column_names:
                names.setdefault(name, set()).update(rows[name].chunk(0).dictionary.to_pylist())
        return {name: {one: rank for rank, one in enumerate(sorted(known))} for name, known in names.items()}


class _Texts:
    """The different texts of the column `verdicts`: of each the groups that are asked for, the worst first."""

    def __init__(self, asked: FateFilter) -> None:
        self.own: list[Pairs] = []
        self._asked, self._known = asked, dict[str, int]()

    def codes(self, texts: pa.DictionaryArray) -> np.ndarray:
        """Which of them each row has."""
        codes = np.array([self._code(text) for text in texts.dictionary.to_pylist()], np.int64)
        return codes[texts.indices.to_numpy()]  # type: ignore[no-any-return]

    def _code(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self.own)
            group, verdict = self._asked.group, self._asked.verdict
            pairs = sorted(json.loads(text).items(), key=lambda one: (order_of(one[1]), one[0]))
            self.own.append([one for one in pairs if group in ("", one[0]) and verdict in ("", one[1])])
        return self._known[text]

    def worst(self) -> np.ndarray:
        """The place of the worst verdict of each."""
        return np.array([order_of(pairs[0][1])[1] if pairs else 0 for pairs in self.own], np.int64)


def _holds(rows: pa.Table, asked: FateFilter) -> np.ndarray:
    """Which rows are of the topic and the ranges."""
    mask = np.ones(len(rows), bool)
    if asked.topic:
        topics = rows["topic"].chunk(0)
        mask &= (np.array(topics.dictionary.to_pylist(), object) == asked.topic)[topics.indices.to_numpy()]
    if asked.shown or asked.cell:
        mask &= asked.holds(rows["store_timestamp"].to_pandas()).to_numpy()
    return mask


def _may_hold(about: pq.RowGroupMetaData, asked: FateFilter) -> bool:
    """Whether a row group may have a time of the ranges."""
    columns = [about.column(number) for number in range(about.num_columns)]
    known = next(column.statistics for column in columns if column.path_in_schema == "store_timestamp")
    if known is None or not known.has_min_max:
        return True
    first, last = (pd.Series(pd.to_datetime([end], utc=True)) for end in (known.min, known.max))
    return all(not each or bool(each.overlaps(first, last)[0]) for each in (asked.shown, asked.cell))


def _keys(rows: pa.Table, order: str, worst: np.ndarray, ranks: dict[str, dict[str, int]]) -> list[np.ndarray]:
    """What the rows are ordered by, the first first."""
    if order == "place":
        columns = [(rows[name].chunk(0), known) for name, known in ranks.items()]
        names = [
            np.array([known[one] for one in own.dictionary.to_pylist()], np.int64)[own.indices.to_numpy()]
            for own, known in columns
        ]
        return [*names, *(rows[name].to_numpy() for name in _PLACE[2:])]
    times, offsets = rows["store_timestamp"].cast(pa.int64()), rows["commit_log_offset"].to_numpy()
    known, at = times.is_valid().to_numpy(), times.fill_null(0).to_numpy()
    if order == "-time":
        return [np.where(known, -at, _NO_TIME), -offsets]
    at = np.where(known, at, _NO_TIME)
    return [worst, at, offsets] if order == "worst" else [at, offsets]


@dataclass(frozen=True, slots=True)
class UndeliveredList:
    """Messages in their order, with the groups that are asked for; `ends` counts the rows up to each of them.

    `total` rows are asked for. These are the first of them.
    """

    messages: pd.DataFrame
    lacking: list[Pairs]
    ends: np.ndarray
    total: int

    @property
    def columns(self) -> list[str]:
        """What a row has."""
        return [*(name for name in MESSAGE if name in self.messages), "group", "verdict"]

    def __len__(self) -> int:
        """How many rows it has: one for each message and group."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def rows(self, start: int = 0) -> Iterator[dict[str, Any]]:
        """The rows from a number on."""
        names = self.columns[:-2]
        at = int(np.searchsorted(self.ends, start, side="right"))
        skipped = start - (int(self.ends[at - 1]) if at else 0)
        for row, pairs in zip(self.messages.iloc[at:].itertuples(), self.lacking[at:], strict=True):
            own = {name: getattr(row, name) for name in names}
            for group, verdict in pairs[skipped:]:
                yield own | {"group": group, "verdict": verdict}
            skipped = 0

    def page(self, start: int, count: int) -> list[dict[str, Any]]:
        """So many of them."""
        return list(islice(self.rows(start), count))

    def taken(self) -> Iterator[dict[str, Any]]:
        """The rows of a download: instants in ISO 8601."""
        for row in islice(self.rows(), limits.figure("download_rows")):
            at = row["store_timestamp"]
            yield row | {"store_timestamp": None if pd.isna(at) else at.isoformat(timespec="milliseconds")}

    def as_csv(self) -> bytes:
        """The list as CSV."""
        return export.csv_table(self.columns, (list(row.values()) for row in self.taken()))

    def as_json(self) -> bytes:
        """The list as JSON Lines."""
        return export.file_of(export.json_lines(self.taken()))

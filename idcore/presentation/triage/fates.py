"""The table `fates` of a run: groups by time, and counts. Draws nothing.

A figure counts a message once for each group. The list of `undelivered` is filtered alike, so it has what the counts
have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from idcore.answers.fate.levels import NAMES, NOT_CONSUMED, level_of, order_of
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.triage.activity import CELLS, MINUTE, natural_step
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.table_sizes import fits

_LACKING = len(NOT_CONSUMED)
_KEY = ("topic", "broker", "queue_id", "group", "verdict")
_COUNTED = (*_KEY, "minute", "messages", "first_store_timestamp")


@dataclass(frozen=True, slots=True)
class FateFilter:
    """Which messages are asked for. An empty text is any; `cell` is a part of the range that was chosen in it."""

    topic: str = ""
    group: str = ""
    verdict: str = ""
    shown: TimeRange = ALL_TIMES
    cell: TimeRange = ALL_TIMES

    def holds(self, moments: pd.Series) -> pd.Series:
        """Which instants are in both ranges."""
        return self.shown.contains(moments) & self.cell.contains(moments)

    @property
    def whole(self) -> FateFilter:
        """The same of the minutes that the ranges touch: the counts have no finer times."""
        return replace(self, shown=self.shown.whole_minutes(), cell=self.cell.whole_minutes())

    @property
    def minutes(self) -> TimeRange:
        """The narrower of both ranges, in whole minutes."""
        return (self.cell or self.shown).whole_minutes()

    @property
    def around(self) -> FateFilter:
        """The same without what was chosen in the picture."""
        return replace(self, group="", cell=ALL_TIMES)


# ---- counts


def counted(run: Path) -> pd.DataFrame:
    """The table `fates`; `level` is the place of each verdict's level."""
    frame = _read(run / "fates", _COUNTED).to_pandas()
    levels = np.array([level_of(code) for code in frame["verdict"].cat.categories], np.int8)
    return frame.assign(level=levels[frame["verdict"].cat.codes] if len(frame) else np.zeros(0, np.int8))


def _read(folder: Path, wanted: Sequence[str]) -> pa.Table:
    """Those of the columns that are there: only tables of a cluster have brokers. Texts that recur are kept once."""
    if not fits(folder):
        raise ValueError(f"{folder.name}: the table is too large")
    there = pq.read_schema(min(folder.glob("*.parquet"))).names
    recurring = [name for name in ("topic", "broker", "group", "verdict", "verdicts") if name in there]
    table = pq.read_table(folder, columns=[name for name in wanted if name in there], read_dictionary=recurring)
    return table.unify_dictionaries().replace_schema_metadata()


def choose(rows: pd.DataFrame, asked: FateFilter) -> pd.DataFrame:
    """The counts of what is asked for, of whole minutes."""
    mask = np.ones(len(rows), bool)
    for name in ("topic", "group", "verdict"):
        if value := getattr(asked, name):
            mask &= (rows[name] == value).to_numpy()
    if asked.shown or asked.cell:
        mask &= asked.whole.holds(rows["minute"]).to_numpy()
    return rows[mask]


def values(rows: pd.DataFrame, name: str) -> list[str]:
    """What a filter offers: names in order, verdicts the worst first."""
    names = [str(value) for value in rows[name].cat.categories]
    return sorted(names, key=order_of if name == "verdict" else str.lower)  # type: ignore[arg-type]


def by_minute(rows: pd.DataFrame) -> pd.DataFrame:
    """What groups lack by minute, with the columns of `timeline`; minutes in which they lack nothing are there too."""
    messages = rows["messages"].where(rows["level"] < _LACKING, 0)
    return messages.groupby(rows["minute"]).sum().rename("ids").reset_index()


def levels(rows: pd.DataFrame) -> dict[str, int]:
    """How many messages each level has."""
    counts = np.zeros(len(NAMES), np.int64)
    np.add.at(counts, rows["level"].to_numpy(), rows["messages"].to_numpy())
    return dict(zip(NAMES, counts.tolist(), strict=True))


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Messages by topic, queue, group and verdict, the worst first."""
    names = [name for name in _KEY if name in rows]
    figures = {"messages": ("messages", "sum"), "first_store_timestamp": ("first_store_timestamp", "min")}
    sums = rows.groupby(names, observed=True).agg(**figures).reset_index()
    sums = sums.astype({name: str for name in names if name != "queue_id"})
    sums["order"] = [order_of(code) for code in sums["verdict"]]
    sums = sums.sort_values(["order", "messages", *names], ascending=[True, False, *[True] * len(names)])
    return sums.drop(columns="order").reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class Heat:
    """Groups by time: how many messages of each level. The worst group is first.

    `messages` is group x time x level. `undated`: messages whose time is not known.
    """

    groups: list[str]
    begins: pd.DatetimeIndex
    step: pd.Timedelta
    messages: np.ndarray
    undated: int

    def of(self, groups: list[str]) -> Heat:
        """Some of the groups."""
        places = [self.groups.index(group) for group in groups]
        return replace(self, groups=groups, messages=self.messages[places])

    def worst(self) -> np.ndarray:
        """The place of the worst level of each cell; -1 without a message."""
        there = self.messages > 0
        return np.where(there.any(axis=2), there.argmax(axis=2), -1)

    def shares(self, parts: int) -> np.ndarray:
        """Each cell as so many parts, group x part: the levels by their shares, the worst first; -1 without a message.

        A level that a cell has at all has a part.
        """
        drawn = np.full((*self.messages.shape[:2], parts), -1)
        for group, time in np.argwhere((self.messages > 0).any(axis=2)):
            counts = self.messages[group, time]
            sizes = np.maximum(np.rint(counts / counts.sum() * parts).astype(int), counts > 0)
            sizes[sizes.argmax()] += parts - sizes.sum()
            drawn[group, time] = np.repeat(np.arange(len(sizes)), sizes)
        return drawn.reshape(len(self.groups), -1)

    def columns_in(self, times: TimeRange) -> list[int]:
        """The columns of a range; all of them where it has none."""
        inside = [at for at, begin in enumerate(self.begins) if times and times.contains(pd.Series([begin])).all()]
        return inside or list(range(len(self.begins)))

    def frame(self) -> pd.DataFrame:
        """The cells that have messages, as a table."""
        group, time, level = np.nonzero(self.messages)
        columns = {"group": np.array(self.groups, object)[group], "begin": self.begins[time]}
        return pd.DataFrame(
            columns | {"level": np.array(NAMES, object)[level], "messages": self.messages[group, time, level]}
        )


def heat(rows: pd.DataFrame) -> Heat:
    """The picture of some rows, in at most CELLS steps of time; ranked by the worst level, then by what is lacking."""
    dated = rows[rows["minute"].notna()]
    undated = int(rows["messages"].sum() - dated["messages"].sum())
    if dated.empty:
        return Heat([], pd.DatetimeIndex([], tz="UTC"), MINUTE, np.zeros((0, 0, len(NAMES)), np.int64), undated)
    first, last = dated["minute"].min(), dated["minute"].max()
    step = natural_step(last - first + MINUTE, CELLS)
    begins = pd.date_range(first.floor(step), last.floor(step), freq=step)
    codes, names = pd.factorize(dated["group"])
    time = ((dated["minute"] - begins[0]) // step).to_numpy(np.int64)
    shape = (len(names), len(begins), len(NAMES))
    cells = np.ravel_multi_index((codes, time, dated["level"].to_numpy(np.int64)), shape)
    counted = np.bincount(cells, dated["messages"].to_numpy(float), int(np.prod(shape))).astype(np.int64).reshape(shape)
    of_level = counted.sum(axis=1)
    worst, lacking = (of_level > 0).argmax(axis=1), of_level[:, :_LACKING].sum(axis=1)
    order = sorted(range(len(names)), key=lambda at: (worst[at], -lacking[at], str(names[at])))
    return Heat([str(names[at]) for at in order], begins, step, counted[order], undated)


# ---- in words


@dataclass(frozen=True, slots=True)
class UnconsumedMessages:
    """What groups lack of some rows: how many messages of each, the worst first, and when the oldest was stored."""

    messages: dict[str, int]
    groups: int
    unclear: int
    oldest: datetime | None

    @property
    def total(self) -> int:
        """Each message once for each group."""
        return sum(self.messages.values())


def lacking(rows: pd.DataFrame) -> UnconsumedMessages:
    """The answer to which groups have not consumed what."""
    open_rows = rows[rows["level"] < _LACKING]
    by_group = open_rows.groupby("group", observed=True)["messages"].sum().sort_values(ascending=False, kind="stable")
    unclear = int(rows.loc[rows["level"] == NAMES.index("unclear"), "messages"].sum())
    oldest = open_rows["first_store_timestamp"].min()
    groups = {str(group): int(count) for group, count in by_group.items()}
    return UnconsumedMessages(groups, rows["group"].nunique(), unclear, None if pd.isna(oldest) else oldest)


def span_text(minutes: TimeRange, reader: Reader) -> str:
    """`2026-11-20 10:00:00 – 10:07:00 +08:00`."""
    return times.clock_span(minutes.begin, minutes.end, reader.zone, dated=True)


def sentence(lacking: UnconsumedMessages, oldest: list[dict[str, Any]], minutes: TimeRange, reader: Reader) -> str:
    """Who has not consumed how many messages, and the oldest: the first of the list, where the list has it."""
    words = reader.words
    if not lacking.groups:
        return words("fate.said_nothing")
    span = words("fate.span", span=span_text(minutes, reader)) if minutes else ""
    groups = words.count("group", lacking.groups)
    group, most = next(iter(lacking.messages.items()), ("", 0))
    if not lacking.total:
        text = words("fate.said_none", groups=groups, span=span)
    elif len(lacking.messages) == 1:
        text = words("fate.said_one", group=group, n=words.count("message", most), span=span)
    else:
        numbers = {"n": len(lacking.messages), "all": lacking.total, "most": most}
        shown = {name: f"{value:,}" for name, value in numbers.items()}
        text = words("fate.said_many", groups=groups, span=span, group=group, **shown)
    if lacking.oldest is not None:
        first = oldest[0]["msg_id"] if oldest and oldest[0]["store_timestamp"] == lacking.oldest else None
        key = "fate.said_oldest" if first else "fate.said_oldest_time"
        text += words(key, at=reader.full(lacking.oldest), **({"id": first} if first else {}))
    return text + (words("fate.said_unclear", n=f"{lacking.unclear:,}") if lacking.unclear else "")

"""What is pointed at and clicked in a heat map: each cell that has something, with its filters and its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from idcore.answers.fate.levels import NAMES
from idcore.base.catalogue import Words
from idcore.presentation.reports.markup import esc
from idcore.presentation.triage.activity import MINUTE
from idcore.presentation.triage.fates import Heat
from idcore.presentation.triage.line_filter import pick
from idcore.presentation.triage.time_range import TimeRange

LONGEST = 24  # characters of a name on the axis


class Cell(NamedTuple):
    """The middle of a cell, its row, what a click asks for, and what it says."""

    x: Any
    y: Any
    pick: str
    hover: str


def shortened(name: str) -> str:
    """A name as long as an axis bears, without the middle of a longer one; what is pointed at says all of it."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 10]}…{name[-9:]}"


def of_hosts(
    grid: pd.DataFrame, step: pd.Timedelta, clock: pd.Series, words: Words, assumed: Mapping[str, str]
) -> list[Cell]:
    """Hosts by time. `clock`: the columns as the reader's wall clock; `assumed`: marks of hosts (`Words.assumed`)."""
    form, size = ("%Y-%m-%d %H:%M", 16) if step >= MINUTE else ("%Y-%m-%d %H:%M:%S.%f", 23 if step.microseconds else 19)
    cells = []
    for host, values in zip(grid.index, grid.to_numpy(), strict=True):
        for begin, moment, value in zip(grid.columns, clock, values, strict=True):
            if value == value and value:
                when = f"{f'{moment:{form}}'[:size]}{assumed.get(host, '')}"
                said = f"<b>{host}</b><br>{when}<br>{words.count('occurrence', int(value))}"
                asked = pick(host=host, **TimeRange(begin, begin + step).params())
                cells.append(Cell(moment + step / 2, host, asked, said))
    return cells


def of_groups(heat: Heat, clock: pd.Series, words: Words) -> list[Cell]:
    """Consumer groups by time, with the messages of each level."""
    ranges = [TimeRange(begin, begin + heat.step).params() for begin in heat.begins]
    labels = [words(f"fate.level.{name}") for name in NAMES]
    form, cells = "%Y-%m-%d %H:%M" if heat.step >= MINUTE else "%Y-%m-%d %H:%M:%S", []
    for row, group in enumerate(heat.groups):
        for column in heat.messages[row].any(axis=1).nonzero()[0]:
            counts, moment = heat.messages[row, column], clock.iloc[column]
            own = [f"{labels[level]}: {int(counts[level]):,}" for level in counts.nonzero()[0]]
            pairs = [words("comma").join(own[at : at + 2]) for at in range(0, len(own), 2)]
            said = "<br>".join([f"<b>{esc(group)}</b>", f"{moment:{form}}", *pairs])
            cells.append(Cell(moment + heat.step / 2, row, pick(group=group, **ranges[column]), said))
    return cells

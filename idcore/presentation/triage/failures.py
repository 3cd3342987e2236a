"""The table `retries` of a run: which attempts of groups failed, by the time of the failure. Draws nothing."""

from __future__ import annotations

import pandas as pd

from idcore.presentation.reader import Reader
from idcore.presentation.triage.activity import CELLS, MINUTE, natural_step
from idcore.presentation.triage.fates import span_text
from idcore.presentation.triage.time_range import TimeRange

LED_TO = ("dead_letter", "retry")  # what a failed try led to, the worse first


def by_time(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Timedelta]:
    """Failed attempts by what they led to, empty steps included; and the step."""
    first, last = rows["minute"].min(), rows["minute"].max()
    step = natural_step(last - first + MINUTE, CELLS)
    every = pd.date_range(first.floor(step), last.floor(step), freq=step)
    tries = rows.groupby([rows["minute"].dt.floor(step), "led_to"])["tries"].sum().unstack()
    return tries.reindex(index=every, columns=list(LED_TO)).fillna(0).astype("int64"), step


def sentence(rows: pd.DataFrame, group: str, minutes: TimeRange, reader: Reader) -> str:
    """How many attempts failed in the minutes that are asked for, and how many at other times."""
    words, inside = reader.words, int(rows[minutes.contains(rows["minute"])]["tries"].sum())
    whose = group or words.count("group", rows["group"].nunique())
    span = words("fate.failed_span", span=span_text(minutes, reader)) if minutes else ""
    text = words("fate.failed", n=words.count("try", inside), whose=whose, span=span)
    return text + (words("fate.failed_outside", n=f"{int(rows['tries'].sum()) - inside:,}") if minutes else "")

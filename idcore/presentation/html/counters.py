"""What stands next to the picture of a counter: the processes to look at, and the counter around its widest gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from idcore.presentation import times
from idcore.presentation.html import tables
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, join, link, tag
from idcore.presentation.triage import counter_rows
from idcore.presentation.triage.counter_rows import Gap
from idcore.presentation.triage.processes import process_key
from idcore.presentation.triage.scope import UNLIMITED
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange, between

Row = Mapping[Any, Any]


def ranking(
    rows: Sequence[Row],
    current: str,
    by: str,
    points: Callable[[Row], pd.DataFrame],
    reader: Reader,
    run: str,
    shown: TimeRange = ALL_TIMES,
) -> Html:
    """Each process with its counter of a time range small and what it is ranked by; a link shows it.

    All counters have one axis of time.
    """
    items, within = [], shown or counter_rows.common_span(rows)
    for row in rows:
        key = process_key(row)
        shape = counter_rows.outline(points(row), within)
        saw = tag("i", style=f"clip-path:polygon({shape})") if shape else None
        host, pid = tag("b", row["host"], class_="mq-mono"), tag("span", f"{row['pid']}", class_="mq-pid")
        name = tag("span", join([host, pid], " "))
        figure = tag("span", tables.measured(row, by, reader.words), class_="mq-faint")
        inside = join([tag("span", saw, class_="mq-saw", aria_hidden="true"), name, figure])
        where = reader.href("counters", run=run, process=key)
        items.append(tag("li", tag("a", inside, href=where, target="_self", aria_current=key == current and "page")))
    return tag("ol", *items, class_="mq-ranking")


def gap(gap: Gap, run: str, process: str, reader: Reader) -> Html:
    """The counter around the widest gap: full squares are in the input, empty ones are missing."""
    words = reader.words
    squares = [tag("i", class_=None if part <= 0 else "mq-gone" if part >= 1 else "mq-partly") for part in gap.squares]
    text = words(
        "counters.gap_squares",
        n=words.count("id", max(1, round(gap.each))),
        missing=f"{gap.missing:,}",
        count=gap.missing,
        first=f"{gap.first:,}",
        last=f"{gap.last:,}",
    )
    more: Html | None = None
    if gap.begins is not None and gap.ends is not None:
        when = between(times.local(gap.begins, reader.zone), times.local(gap.ends, reader.zone), reader.zone)
        asked = UNLIMITED | {"run": run, "process": process} | when
        more = link(words("counters.gap_lines"), reader.href("lines", **asked))
    return tag(
        "div",
        tag("div", *squares, class_="mq-squares", role="img", aria_label=text),
        tag("p", join([text, *([more] if more else [])], " "), class_="mq-faint mq-note"),
        class_="mq-plain-links",
    )

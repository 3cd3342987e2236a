"""What stands around the picture of one broker's log: address, figures, first and last file, what is surely gone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from pages.parts import figures_brokers, marks, sentences, tables
from pages.parts.markup import Html, tag
from pages.parts.text import Words
from pages.parts.view import View
from pages.parts.widgets import show

KEPT = timedelta(hours=72)  # fileReservedTime
DELETES_AT = 4  # deleteWhen, the broker's hour


def head(row: dict[str, Any], total: int, rate: float | None, view: View) -> None:
    """One line above the picture."""
    words = view.words
    name = tables.marked(
        tag("b", row["address"], class_="mq-mono mq-broker"), marks.of_broker(row["host"], int(row["port"])), words
    )
    facts = [
        words.count("id", int(row["ids"])),
        words("brokers.share", share=words.share(row["ids"], total)),
        words("brokers.span", span=words.bytes(row["max_offset"] - row["min_offset"])),
        sentences.growth_text(rate, words),
    ]
    show(tag("div", tag("span", name), *(tag("span", fact) for fact in facts if fact), class_="mq-run mq-log-head"))


def foot(segments: pd.DataFrame, words: Words) -> Html:
    """The oldest and the newest file, written out."""
    oldest, newest = segments["segment"].min(), segments["segment"].max()
    _, together = figures_brokers.cells(segments)
    last = tag("span", newest, class_="mq-mono") if newest != oldest else None
    middle = tag("span", words("brokers.together", n=together)) if together > 1 else None
    return tag("div", tag("span", oldest, class_="mq-mono"), middle, last, class_="mq-ends")


def alt(row: dict[str, Any], segments: pd.DataFrame, words: Words) -> str:
    """The picture in words."""
    return words(
        "brokers.alt_log",
        address=row["address"],
        files=words.count("segment", len(segments)),
        ids=words.count("id", int(row["ids"])),
        low=f"{row['min_offset']:,}",
        high=f"{row['max_offset']:,}",
    )


def cut(now: datetime, view: View) -> datetime:
    """Before this instant the default retention has deleted: 72 hours before the last 04:00."""
    local = now.astimezone(view.zone)
    last = local.replace(hour=DELETES_AT, minute=0, second=0, microsecond=0)
    if last > local:
        last -= timedelta(days=1)
    return last - KEPT


def kept_from(growth: pd.DataFrame, address: str, view: View) -> int | None:
    """The offset a broker's log had reached at the cut; None where the dates do not reach across it."""
    if growth.empty:
        return None
    mine = growth[growth["address"] == address]
    edge = cut(view.now(), view)
    old, new = mine[mine["minute"] < edge], mine[mine["minute"] >= edge]
    return int(old["max_offset"].max()) if len(old) and len(new) else None


def all_old(growth: pd.DataFrame, view: View) -> bool:
    """Whether every dated minute lies before the cut."""
    return not growth.empty and bool(growth["minute"].max() < cut(view.now(), view))

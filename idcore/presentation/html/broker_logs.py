"""What is around the picture of a broker's log: a line above it, the ends below it, the files of a clicked piece."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from idcore.base.catalogue import Words
from idcore.presentation.html import tables
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, link, tag
from idcore.presentation.triage import address_flags
from idcore.presentation.triage.broker_logs import Piece, Speed, cells, speed_text
from idcore.presentation.triage.time_range import TimeRange

MOST_FILES = 12  # that a clicked piece names


def head(
    row: Mapping[str, Any], total: int, speed: Speed | None, colour: str, reader: Reader, run: str, within: TimeRange
) -> Html:
    """One line above the picture: the broker, its IDs, its span, its speed. `total`: IDs of all brokers."""
    words, address = reader.words, row["address"]
    flags = address_flags.of_broker(row["host"], int(row["port"]))
    name = tables.marked(tag("b", tables.swatch(address, colour), class_="mq-mono"), flags, words)
    apart = row["max_offset"] - row["min_offset"]
    one = words("brokers.one", offset=f"{row['min_offset']:,}")
    facts = [
        words.count("occurrence", int(row["ids"])),
        words("brokers.share", share=words.share(row["ids"], total)),
        words("brokers.span", span=words.bytes(apart)) if apart else one,
        speed_text(speed, words),
        link(words("brokers.lines"), reader.href("lines", run=run, broker=address, **within.params())),
    ]
    return tag("div", tag("span", name), *(tag("span", fact) for fact in facts if fact), class_="mq-run mq-log-head")


def ends(segments: pd.DataFrame, words: Words) -> Html:
    """The oldest and the newest file, written out."""
    oldest, newest = segments["segment"].min(), segments["segment"].max()
    _, together = cells(segments)
    last = tag("span", newest, class_="mq-mono") if newest != oldest else None
    middle = tag("span", words("brokers.together", n=together)) if together > 1 else None
    return tag("div", tag("span", oldest, class_="mq-mono"), middle, last, class_="mq-ends")


def piece_files(piece: Piece, segments: pd.DataFrame, reader: Reader, run: str) -> Html:
    """Where the lines of a clicked piece are: one link a file."""
    words, files = reader.words, piece.files(segments)
    n, ids = words.count("segment", len(files)), words.count("occurrence", int(files["ids"].sum()))
    links = [
        link(name, reader.href("lines", run=run, broker=piece.address, segment=name), class_="mq-mono")
        for name in files["segment"].head(MOST_FILES)
    ]
    more = len(files) - len(links)
    rest = [words("brokers.more_files", n=f"{more:,}")] if more > 0 else []
    said = words("brokers.piece", address=piece.address, files=n, ids=ids)
    return tag("div", tag("b", said), *(tag("span", one) for one in (*links, *rest)), class_="mq-run mq-piece")

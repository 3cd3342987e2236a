"""The brokers as one list; the ends below the picture of a log, and the files of a clicked piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from idcore.base.catalogue import Words
from idcore.presentation.html import tables
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, join, link, listed, tag
from idcore.presentation.triage import address_flags, broker_logs
from idcore.presentation.triage.broker_logs import Piece, cells
from idcore.presentation.triage.broker_rows import BrokerRow, clock, files_text, gauge_text, outline
from idcore.presentation.triage.time_range import TimeRange

MOST_FILES = 12  # that a clicked piece names


def rows(
    found: Sequence[BrokerRow],
    colours: Mapping[str, str],
    reader: Reader,
    run: str,
    within: TimeRange,
    span: str,
) -> Html:
    """One row for each broker, on one scale. `span`: the time that the strips show."""
    words = reader.words

    def name(row: BrokerRow) -> Html:
        there = reader.href("brokers", run=run, broker=row.address, **within.params())
        flags = address_flags.of_broker(row.host, row.port)
        own = link(tables.swatch(row.name or row.address, colours[row.address]), there)
        below = tag("span", row.address, class_="mq-under") if row.name else None
        return join([tables.marked(own, flags, words), *filter(None, [below])])

    def rate(row: BrokerRow) -> Html | str:
        code = "silent" if row.silent_since is not None else "lower"
        if (since := row.silent_since or row.lower_since) is not None:
            after = words(f"brokers.{code}_after", at=clock(since, reader)).replace("-", "\u2011")
            under = tag("span", after, class_="mq-under", title=reader.full(since))
            return join([tag("b", words(f"brokers.{code}"), class_="mq-error"), under])
        return tag("b", broker_logs.speed_rate(row.speed, words)) if row.speed is not None else words("brokers.no_rate")

    columns = [
        Column("broker", words("col.broker"), mono=True, cell=name),
        Column("growth", words("col.growth"), right=True, help=words("col.growth.help"), cell=rate),
        Column("strip", span, cell=lambda row: _strip(row, colours[row.address], words)),
        Column(
            "gauge",
            words("col.newest_file"),
            help=words("col.newest_file.help"),
            cell=lambda row: _gauge(row, colours[row.address], reader),
        ),
        Column("kept", words("col.kept_files"), cell=lambda row: _files(row, colours[row.address], words)),
        Column("share", words("brokers.share_of"), right=True, cell=lambda row: words.share_cell(row.share, 1)),
        Column(
            "lines",
            words("brokers.lines"),
            cell=lambda row: tables.lines_link(reader, run, broker=row.address, **within.params()),
        ),
    ]
    return tag("div", listed(columns, found, words("brokers.list"), labelled=True), class_="mq-list mq-list-brokers")


def _strip(row: BrokerRow, colour: str, words: Words) -> Html:
    if not row.strip:
        return tag("span", words("brokers.strip_none") if row.speed is None else "–", class_="mq-faint")
    shape = tag("i", style=f"background:{colour};clip-path:polygon({outline(row.strip)})")
    return tag("span", shape, class_="mq-spark", role="img", aria_label=words("brokers.strip_alt"))


def _gauge(row: BrokerRow, colour: str, reader: Reader) -> Html:
    """How much of its newest file is written, and when it is full."""
    part = row.written / row.size
    bar = tag("span", tag("i", style=f"width:{100 * part:.1f}%;background:{colour}"), class_="mq-gauge")
    text = gauge_text(row, reader).replace("-", "\u2011")  # a date that no line break parts
    return join([bar, tag("span", text, class_="mq-under")])


def _files(row: BrokerRow, colour: str, words: Words) -> Html:
    """The newest files as cells; a line stands where what is older is deleted by now."""
    cells = [
        tag("i", class_=f"mq-{state}", style=f"background:{colour}" if state == "seen" else None) for state in row.files
    ]
    border = sum(state == "deleted" for state in row.files)
    if border:
        cells.insert(border, tag("i", class_="mq-border"))
    more = tag("i", "…", class_="mq-more") if row.older else None
    return join([tag("span", more, *cells, class_="mq-cells"), tag("span", files_text(row, words), class_="mq-under")])


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

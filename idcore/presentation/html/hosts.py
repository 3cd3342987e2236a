"""The producer hosts as one list: a row for each host or group, with its share, its time and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from idcore.presentation.html import tables
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, join, link, listed, number, tag
from idcore.presentation.triage import host_rows

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """What a row is drawn with: the marks of hosts, their strips, the time these show, the colours, the scan."""

    marks: Mapping[str, list[str]]
    strips: Mapping[str, Sequence[float]]
    span: str
    colours: Sequence[str]
    run: str
    within: Mapping[str, str]
    grouped: bool
    measure: str
    total: int


def rows(hosts: pd.DataFrame, rest: pd.DataFrame, beyond: tuple[int, int], look: Look, reader: Reader) -> Html:
    """The rows in sight, then all others as one. `beyond`: hosts that are in no row, and their messages."""
    words, most = reader.words, int(hosts["messages"].max()) if len(hosts) else 0

    def name(row: Row) -> Html:
        label = str(row["name"])
        if look.grouped:
            inside = reader.href("producers", run=look.run, q=label, host=None, **look.within) if "/" in label else ""
            shown = link(label, inside) if inside else label
            return join([shown, tag("span", words.count("host", int(row["hosts"])), class_="mq-faint")], " ")
        there = reader.href("producers", run=look.run, host=label, **look.within)
        return tables.marked(link(label, there), look.marks.get(label, ()), words)

    def share(row: Row) -> Html:
        messages = int(row["messages"])
        bar = tag("i", style=f"width:{100 * messages / (most or 1):.2f}%")
        text = words.share_cell(messages, look.total)
        return tag("span", tag("span", bar, class_="mq-beam"), tag("span", text), class_="mq-share")

    def strip(row: Row) -> Html:
        values = look.strips.get(str(row["name"]))
        if not values:
            return tag("span", words("producers.undated"), class_="mq-faint")
        alt = words("producers.strip_alt", n=sum(value > 0 for value in values), all=len(values))
        style = f"background:linear-gradient(to right, {host_rows.stops(values, look.colours)})"
        return tag("span", style=style, class_="mq-spark mq-heat", role="img", aria_label=alt, title=alt)

    def lines(row: Row) -> Html | str:
        where = {"host": str(row["name"]), **look.within}
        return "" if look.grouped else tables.lines_link(reader, look.run, **where)

    counted = words("col.messages" if look.measure == "distinct" else "col.ids")
    columns = [
        Column("host", words("producers.group.host"), mono=True, cell=name),
        Column("messages", counted, right=True, help=words(f"col.{look.measure}.help")),
        Column("share", words("col.share"), cell=share),
        Column("strip", look.span, cell=strip),
        *([Column("missing", words("col.missing"), right=True, cell=_missing_of(reader))] if "lost" in hosts else []),
        Column("processes", words("producers.processes"), right=True),
        *([] if look.grouped else [Column("lines", words("col.lines"), cell=lines)]),
    ]
    table = listed(columns, hosts.to_dict("records"), words("table.hosts"), labelled=True)
    return tag("div", table, _rest(rest, beyond, look, reader), class_="mq-list mq-list-hosts")


def _missing_of(reader: Reader) -> Callable[[Row], Html | str]:
    """How many IDs are missing, and of what share; of a sample nothing is called missing."""
    words = reader.words

    def cell(row: Row) -> Html | str:
        lost, produced = int(row["lost"]), int(row["produced"])
        sample = tag("span", words("producers.sample"), class_="mq-faint", title=words("producers.sample.help"))
        if not lost:
            return sample if row["samples"] else "0"
        share = tag("span", words.share_cell(lost, produced), class_="mq-faint")
        return join([tag("b", number(lost), class_="mq-error"), share, *([sample] if row["samples"] else [])], " ")

    return cell


def _rest(rest: pd.DataFrame, beyond: tuple[int, int], look: Look, reader: Reader) -> Html | None:
    """How many rows are not in sight, and how many messages these have together: no bar, which would be a lie."""
    words, count = reader.words, len(rest) + beyond[0]
    if not count:
        return None
    messages = int(rest["messages"].sum()) + beyond[1]
    text = words(
        "producers.rest_groups" if look.grouped else "producers.rest",
        n=f"{count:,}",
        messages=words.count("message" if look.measure == "distinct" else "occurrence", messages),
        share=words.share(messages, look.total),
    )
    return tag("p", text, class_="mq-faint mq-note")

"""What is different in a time range or a list of IDs, as a list of pairs of bars: here, and before. Counts nothing."""

from __future__ import annotations

from idcore.answers.differences import Difference
from idcore.base.catalogue import upper
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, join, link, listed, tag
from idcore.presentation.triage import explained
from idcore.presentation.triage.explained import AMOUNTS, MOST, Explained
from idcore.presentation.triage.time_range import TimeRange


def rows(found: Explained, run: str, shown: TimeRange, reader: Reader) -> Html:
    """A row for each difference, the largest first. All bars are shares of the IDs, of amounts those of the larger."""
    words, of_list = reader.words, found.base == "scan"
    here = upper(words("explain.list" if of_list else "explain.range"))
    there = upper(words(f"explain.than_{found.base}"))

    def name(one: Difference) -> Html:
        kind = tag("span", words(f"explain.by_{one.by}"), class_="mq-faint")
        return join([kind, tag("b", explained.name_of(one, words), class_="mq-mono")], " ")

    def bar(one: Difference, *, inside: bool) -> Html:
        share = one.share_inside if inside else one.share_outside
        largest = max(one.share_inside, one.share_outside) if one.by in AMOUNTS else 1
        style = f"width:{100 * share / (largest or 1):.2f}%"
        beam = tag("span", tag("i", style=style, class_=None if inside else "mq-other"), class_="mq-beam")
        text = explained.figures(one, found.uneven, words, column=True)[0 if inside else 1]
        label = tag("span", here if inside else there, class_="mq-faint mq-narrow")  # where the columns have no heads
        return join([label, tag("span", beam, tag("b" if inside else "span", text), class_="mq-share")])

    def onward(one: Difference) -> Html:
        page, asked = explained.lines_of(one, shown)
        return link(words(f"page.{page}"), reader.href(page, run=run, **asked))

    columns = [
        Column("what", words("explain.what"), cell=name),
        Column("inside", here, cell=lambda one: bar(one, inside=True)),
        Column("outside", there, cell=lambda one: bar(one, inside=False)),
        Column("onward", words("explain.onward"), cell=onward),
    ]
    title = words("explain.title_list" if of_list else "explain.title")
    table = listed(columns, list(found.differences[:MOST]), title, labelled=True)
    return tag("div", table, class_="mq-list mq-list-explained")

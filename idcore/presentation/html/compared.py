"""Two inputs compared, as static HTML: what is in one only, some of its ids, a table of each kind. Compares nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from idcore.presentation.html.cards import kind_params
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, Table, emphasised, join, link, number, tag
from idcore.presentation.triage import compared as core
from idcore.presentation.triage import compared_texts
from idcore.presentation.triage.compared import GROUPS, MESSAGE, SIDES, Compared

if TYPE_CHECKING:
    from idcore.scan.compare import Difference

SAMPLES = 12
SAID = 3  # producers of one side that have a sentence of their own
Row = Mapping[str, Any]
Scans = Sequence[str | None]  # of each side the scan that has its lines


def missing(of: Scans, comparison: Compared, reader: Reader) -> Html | None:
    """What is in one input only and when it was generated: a sentence for each of the producers with most."""
    words = reader.words
    said = []
    for side in SIDES:
        rows = core.largest(comparison, side)
        named = SAID if len(rows) > SAID + 1 else len(rows)  # one more is named: alone it would be "others"
        for row in rows[:named]:
            exact = "ids" in core.line_filters(comparison, side, row)
            label = words("compare.lines" if exact else "compare.lines_then")
            way = lines_link(of, comparison, side, row, label, reader)
            sentence = emphasised(compared_texts.missing_sentence(row, side, comparison, reader))
            said.append(join([sentence, way or ""], words("compare.between")))
        if rest := rows[named:]:
            group = GROUPS[rest[0].kind]
            ids = words.count(f"{group}_id", sum(core.only(row, side) for row in rest))
            others = words.count("process" if group == MESSAGE else "broker", len(rest))
            said.append(emphasised(words(f"compare.rest_{side}", others=others, ids=ids)))
    return tag("ul", *(tag("li", line) for line in said), class_="mq-missing") if said else None


def bar(comparison: Compared, names: tuple[str, str], reader: Reader) -> Html | None:
    """Both inputs as one bar: what the first has alone, what both have, what the second has alone, in proportion."""
    words = reader.words
    before, after, both = comparison.sums(comparison.group)
    parts = {"first": before - both, "both": both, "second": after - both}
    whole = sum(parts.values())
    if not before or not after:
        return None
    labels = {
        "first": words("compare.bar_only", name=names[0]),
        "both": words("compare.part_both"),
        "second": words("compare.bar_only", name=names[1]),
    }
    pieces = [tag("i", class_=f"mq-part-{name}", style=f"flex-grow:{n}") for name, n in parts.items() if n]
    keys = [
        tag("span", tag("i", class_=f"mq-part-{name}"), tag("b", number(n)), f" {labels[name]}", class_="mq-part")
        for name, n in parts.items()
    ]
    alt = words("comma").join(f"{labels[name]}: {n:,} ({words.share(n, whole)})" for name, n in parts.items())
    whole_bar = tag("div", *pieces, class_="mq-whole", role="img", aria_label=alt)
    return tag("div", whole_bar, tag("div", *keys, class_="mq-parts mq-faint"), class_="mq-proportion")


def lines_link(of: Scans, comparison: Compared, side: str, row: Difference, label: str, reader: Reader) -> Html | None:
    """The lines of the ids that one side has alone. Needs a scan."""
    name = of[SIDES.index(side)]
    if not name or not core.only(row, side):
        return None
    return link(label, reader.href("lines", run=name, **core.line_filters(comparison, side, row)))


def samples(comparison: Compared, side: str, reader: Reader) -> Html | None:
    """Some ids of one side only, each with its bytes and what happened to it. They stand for messages: an offsetMsgId
    does not where both sides name msgIds, since a line may name the msgId alone."""
    ids = list(islice(comparison.alone(side, comparison.group), SAMPLES))
    links = [
        tag("span", _to_id(text, kind, reader, class_="mq-mono"), " ", _to_message(text, kind, reader))
        for text, kind in ids
    ]
    return tag("p", join(links, " "), class_="mq-samples") if links else None


def _to_id(text: str, kind: str, reader: Reader, class_: str | None = None) -> Html:
    return link(text, reader.href("anatomy", id=text, **kind_params(text, kind)), class_=class_)


def _to_message(text: str, kind: str, reader: Reader) -> Html:
    return link(reader.words("message.journey"), reader.href("message", id=text, **kind_params(text, kind)))


def table_of(kind: str, of: Scans, comparison: Compared, shown: Sequence[Row], reader: Reader) -> Table:
    """Producers, clients or brokers, those with the most differences first; each count leads to its lines."""
    words = reader.words
    by_name = {row.subject: row for row in comparison.rows if row.kind == kind}

    def count(name: str, side: str | None = None) -> Column:
        def cell(row: Row) -> Html | str:
            text = number(row[name])
            way = lines_link(of, comparison, side, by_name[row["subject"]], text, reader) if side else None
            return way or text

        return Column(name, words(f"compare.col_{name}"), right=True, cell=cell)

    def sample(row: Row) -> Html | str:
        text = (row["sample_only_first"] or row["sample_only_second"]).partition(" ")[0]
        return _to_id(text, kind, reader) if text else ""

    role = "broker" if kind == "offset" else "host"
    columns = [
        Column("subject", words(f"compare.col_{kind}"), mono=True, role=role),
        *(count(name, side) for side, name in zip(SIDES, ("only_first", "only_second"), strict=True)),
        *(count(name) for name in ("both", "first", "second")),
        Column("sample", words("compare.col_sample"), mono=True, cell=sample),
    ]
    return Table.of(words(f"compare.table_{kind}"), columns, shown)

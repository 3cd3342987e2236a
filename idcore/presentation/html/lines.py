"""Lines of a run as static HTML: each with its ids and the lines around it; filters as chips. Reads no run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from idcore.base.errors import CoreError
from idcore.ids.clock import from_ms
from idcore.ids.origins import Fingerprint
from idcore.presentation.html import deliveries
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, join, link, tag
from idcore.presentation.triage.processes import process_key
from idcore.presentation.triage.scope import UNLIMITED
from idcore.scan.occurrences.index import Allowed, Index, Occurrence

AROUND = 3
BETWEEN = 20  # lines at each end of what is between two


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a run: its index, its name, what is asked before a file is opened, and marks behind times.

    `names`: what its files are called. `assumed`: of each process, by its key, what of its times no line shows.
    """

    index: Index
    run: str
    allowed: Allowed
    names: Callable[[str], str] = str
    assumed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing between two IDs, as text."""

    ids: frozenset[str]
    said: str

    def is_between(self, before: Sequence[Occurrence], after: Sequence[Occurrence]) -> bool:
        """Whether two lines are its two sides, in this order or the other."""
        sides = [self.ids & {one.id.upper() for one in line} for line in (before, after)]
        return all(sides) and sides[0] | sides[1] == self.ids and len(self.ids) == 2


def rows(
    occurrences: Sequence[Occurrence],
    of: Lines,
    reader: Reader,
    *,
    between: bool = False,
    sought: str = "",
    gap: Gap | None = None,
) -> Html:
    """Each line once: where it is, when and by whom each of its ids was generated, and the lines around it.

    What was `sought` is marked, and its line is whole. With `between` also the lines between two that follow each
    other in a file: of a gap, what is in it. `gap` stands where both its sides follow each other.
    """
    # of a long line each id has its own piece
    lines = [list(some) for _, some in groupby(occurrences, key=lambda one: (one.file, one.line, one.text))]
    blocks: list[Html] = []
    for before, some in pairwise([None, *lines]):
        if gap is not None and gap.is_between(before or (), some or ()):
            blocks.append(tag("li", tag("span", gap.said, class_="mq-error"), class_="mq-between"))
        if between and before is not None and some is not None:
            blocks += _between(before[-1], some[0], of, reader)
        blocks += [_row(some, of, reader, sought)] if some is not None else []
    return tag("ol", *blocks, class_="mq-lines")


def _between(one: Occurrence, later: Occurrence, of: Lines, reader: Reader) -> list[Html]:
    number = later.line - one.line - 1
    if one.file != later.file or number < 1 or one.problem is not None or later.problem is not None:
        return []
    try:
        first, last = of.index.between(one, later, BETWEEN, of.allowed)
    except CoreError:
        return []
    cut = [("…", "", None)] if last or len(first) < number else []
    numbered = [*_numbered(one.line + 1, first), *cut, *_numbered(later.line - len(last), last)]
    name = tag("summary", reader.words("lines.between", n=reader.words.count("line", number)), class_="mq-faint")
    folded = tag("details", name, _pre(numbered), open="" if number <= AROUND * 3 else None)
    return [tag("li", folded, class_="mq-between")] if first else []


def _row(ids: Sequence[Occurrence], of: Lines, reader: Reader, sought: str) -> Html:
    words, first = reader.words, ids[0]
    facts = [tag("span", f"{of.names(first.file)}:{first.line:,}", class_="mq-mono")]
    told = None
    for one in ids:
        mark = of.assumed.get(process_key(one.names), "") if one.kind == "uniq" else ""
        sent = words("lines.undated") if one.sent_ms is None else reader.full(from_ms(one.sent_ms)) + mark
        if sent != told:  # the ids of one line have one time, most often
            facts.append(tag("span", sent, class_="mq-mono mq-time"))
        facts.append(tag("span", _maker(one, of, reader), class_="mq-mono"))
        facts.append(link(words("page.anatomy"), reader.href("anatomy", id=one.id, run=of.run)))
        facts.append(link(words("message.journey"), reader.href("message", id=one.id, run=of.run)))
        told = sent
    if said := deliveries.of_line(first.text, [one.id for one in ids], reader):
        facts.append(tag("span", said, class_="mq-faint"))
    head = tag("div", *facts, class_="mq-line-head")
    if first.problem is not None:
        return tag("li", head, tag("p", words.said(first.problem), class_="mq-warning mq-note"))
    return tag("li", head, tag("details", tag("summary", _line(ids, sought)), _around(first, of)))


def _line(ids: Sequence[Occurrence], sought: str) -> Html:
    """The text, its ids marked, and what was sought besides.

    A click opens it, so it has no links: a screen reader would not find them there.
    """
    parts: list[Html | str] = []
    text, done = ids[0].text, 0
    more = "…" if ids[0].cut else ""
    for one in ids:
        parts += [*_marked(text[done : one.at], sought), tag("mark", one.id, class_=f"mq-of-{one.kind}")]
        done = one.at + len(one.id)
    return tag("code", more, *parts, *_marked(text[done:], sought), more)


def _marked(text: str, sought: str) -> Iterator[Html | str]:
    """A text with each place of what was sought marked, in capitals or not."""
    pieces = re.split(f"({re.escape(sought)})", text, flags=re.IGNORECASE) if sought else [text]
    for number, piece in enumerate(pieces):
        yield tag("mark", piece, class_="mq-sought") if number % 2 else piece


def _maker(one: Occurrence, of: Lines, reader: Reader) -> Html | str:
    """The process or broker, a link to its page; the client."""
    names = one.names
    if one.kind == "offset":
        return link(names["address"], reader.href("brokers", run=of.run, broker=names["address"]))
    if one.kind == "client":
        return Fingerprint.of_row(names).host_and_pid
    return link(Fingerprint.of_row(names).host_and_pid, reader.href("counters", run=of.run, process=process_key(names)))


def _around(one: Occurrence, of: Lines) -> Html:
    try:
        before, after = of.index.around(one, AROUND, of.allowed)
    except CoreError:
        return Html("")  # the file went away between two looks: the line itself is there
    own = (f"{one.line}", one.text, "mq-own")
    return _pre([*_numbered(one.line - len(before), before), own, *_numbered(one.line + 1, after)])


def _numbered(first: int, texts: Sequence[str]) -> Iterable[tuple[str, str, None]]:
    return ((f"{first + place}", text, None) for place, text in enumerate(texts))


def _pre(lines: Iterable[tuple[str, str, str | None]]) -> Html:
    return tag("pre", *(tag("span", tag("i", number), " ", text, "\n", class_=style) for number, text, style in lines))


def chips(given: Mapping[str, str], named: Mapping[str, str], run: str, reader: Reader) -> Html:
    """What else is asked for than pages share, each with a link that drops it. `named`: names of what is a number."""
    words = reader.words
    chips = []
    for name, value in ((name, value) for name, value in given.items() if name not in UNLIMITED):
        rest = {other: text for other, text in given.items() if other != name}
        address = reader.href("lines", run=run, **UNLIMITED | rest)
        drop = tag("a", "×", href=address, target="_self", aria_label=words("lines.drop"))
        label = tag("b", words(f"lines.by_{name}"))
        chips.append(tag("span", label, " ", named.get(name) or _value(name, value, reader), drop, class_="mq-chip"))
    return tag("p", join(chips, " "), class_="mq-chips") if chips else Html("")


def _value(name: str, value: str, reader: Reader) -> str:
    if name == "kind" and reader.words.has(f"kind.{value}"):
        return reader.words(f"kind.{value}")
    return value if len(value) <= 80 else f"{value[:79]}…"

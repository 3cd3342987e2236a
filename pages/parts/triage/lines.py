"""Lines of a run: made ready, filtered, a page of them as HTML, the first ones in place on other pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.errors import CoreError
from idcore.ids.clock import from_ms
from idcore.occurrences.index import Filter, Index, Occurrence, Selection
from idcore.reports.markup import Html, join, link, tag
from idcore.runs import Run
from idcore.triage import finding_rows, line_filter
from idcore.triage.processes import process_key
from pages.parts import browser, cache, problems, scans
from pages.parts.view import ANY_TIME, View
from pages.parts.widgets import show_html

PAGE = 50
FIRST = 10
AROUND = 3
BETWEEN = 20  # lines at each end of what is between two
WAIT = 1.0  # seconds that a page waits for the index before it shows that it is being made
LOOK = 0.5


def allowed_for(run: Run) -> Any:
    """Asked before a file is opened: what a run has itself, and what the administrator still opens, may be read."""
    own = run.path.resolve()

    def allowed(path: str) -> None:
        if own not in Path(path).resolve().parents:
            scans.allowed(path)

    return allowed


def ready(run: Run, view: View) -> Index | None:
    """The index; begins to make it where there is none, and says so until the page is drawn again."""
    found = cache.lines(run)
    if found is not None:
        return found
    going = scans.locating(run)
    if going is None:
        show_html(tag("p", view.words("lines.no_engine"), class_="mq-warning mq-note"))
        return None
    if going.wait(WAIT):
        if going.problem is not None:
            reason = problems.said(going.problem, view.words)
            st.error(view.words("lines.failed", reason=reason), icon=":material/error:")
            if st.button(view.words("scan.again"), key="lines-again"):
                scans.locating(run, again=True)
                st.rerun()
            return None
        return cache.lines(run)
    st.fragment(_waiting, run_every=LOOK)(run, view)
    return None


def ready_or_stop(run: Run, view: View) -> Index:
    """The index; without it the page ends here."""
    index = ready(run, view)
    if index is None:
        st.stop()
    return index


def _waiting(run: Run, view: View) -> None:
    going = scans.locating(run)
    if going is None or going.wait(LOOK / 2):
        st.rerun()
    st.status(view.words("lines.making"), state="running")


def select(run: Run, index: Index, given: Mapping[str, str], order: str) -> tuple[Filter, Selection]:
    """The rows that fit; kept for the next page of the same list."""
    wanted = line_filter.filter_of(given, run, index)
    return wanted, cache.selection(run, index, wanted, order, allowed_for(run))


def rows_html(found: Sequence[Occurrence], index: Index, run: Run, view: View, *, between: bool = False) -> Html:
    """Each line once: where it is, when and by whom each of its ids was made, and the lines around it.

    With `between` also the lines between two that follow each other in a file: of a gap, what is in it.
    """
    lines = [list(some) for _, some in groupby(found, key=_line_of)]
    rows: list[Html] = []
    for before, some in pairwise([None, *lines]):
        if between and before is not None and some is not None:
            rows += _between(before[-1], some[0], index, run, view)
        rows += [_row(some, index, run, view)] if some is not None else []
    return tag("ol", *rows, class_="mq-lines")


def _between(one: Occurrence, later: Occurrence, index: Index, run: Run, view: View) -> list[Html]:
    number = later.line - one.line - 1
    if one.file != later.file or number < 1 or one.problem is not None or later.problem is not None:
        return []
    try:
        first, last = index.between(one, later, BETWEEN, allowed_for(run))
    except CoreError:
        return []
    cut = [("…", "", None)] if last or len(first) < number else []
    numbered = [*_numbered(one.line + 1, first), *cut, *_numbered(later.line - len(last), last)]
    name = tag("summary", view.words("lines.between", n=view.words.count("line", number)), class_="mq-faint")
    folded = tag("details", name, _pre(numbered), open="" if number <= AROUND * 3 else None)
    return [tag("li", folded, class_="mq-between")] if first else []


def _line_of(one: Occurrence) -> tuple[object, ...]:
    return one.file, one.line, one.text  # of a long line each id has its own piece


def _row(ids: Sequence[Occurrence], index: Index, run: Run, view: View) -> Html:
    words, first = view.words, ids[0]
    name = first.file.rpartition("/")[2] or first.file
    facts = [tag("span", f"{name}:{first.line:,}", class_="mq-mono", title=f"{first.file}:{first.line}")]
    told = None
    for one in ids:
        sent = words("lines.undated") if one.sent_ms is None else view.full(from_ms(one.sent_ms))
        if sent != told:  # the ids of one line have one time, most often
            facts.append(tag("span", sent, class_="mq-mono mq-time"))
        facts.append(tag("span", _maker(one, run, view), class_="mq-mono"))
        facts.append(link(words("page.anatomy"), view.href("anatomy", id=one.id, run=run.name)))
        facts.append(link(words("page.message"), view.href("message", id=one.id, run=run.name)))
        told = sent
    head = tag("div", *facts, class_="mq-line-head")
    if first.problem is not None:
        return tag("li", head, tag("p", words.said(first.problem), class_="mq-warning mq-note"))
    return tag("li", head, tag("details", tag("summary", _line(ids)), _around(first, index, run)))


def _line(ids: Sequence[Occurrence]) -> Html:
    """The text, its ids marked. A click opens it, so it has no links: a screen reader would not find them there."""
    parts: list[Html | str] = []
    text, done = ids[0].text, 0
    more = "…" if ids[0].cut else ""
    for one in ids:
        parts += [text[done : one.at], tag("mark", one.id, class_=f"mq-of-{one.kind}")]
        done = one.at + len(one.id)
    return tag("code", more, *parts, text[done:], more)


def _maker(one: Occurrence, run: Run, view: View) -> Html | str:
    """The process or broker, a link to its page; the client."""
    names = one.names
    if one.kind == "offset":
        return link(names["address"], view.href("brokers", run=run.name, broker=names["address"]))
    if one.kind == "client":
        return f"{names['mac']} · {names['pid']}"
    return link(f"{names['host']} · {names['pid']}", view.href("counters", run=run.name, process=process_key(names)))


def _around(one: Occurrence, index: Index, run: Run) -> Html:
    try:
        before, after = index.around(one, AROUND, allowed_for(run))
    except CoreError:
        return Html("")  # the file went away between two looks: the line itself is there
    own = (f"{one.line}", one.text, "mq-own")
    return _pre([*_numbered(one.line - len(before), before), own, *_numbered(one.line + 1, after)])


def _numbered(first: int, texts: Sequence[str]) -> Iterable[tuple[str, str, None]]:
    return ((f"{first + place}", text, None) for place, text in enumerate(texts))


def _pre(lines: Iterable[tuple[str, str, str | None]]) -> Html:
    return tag("pre", *(tag("span", tag("i", number), " ", text, "\n", class_=style) for number, text, style in lines))


def clicked(run: Run, view: View, filters: Mapping[str, str], where: str = "") -> None:
    """The first lines of what was clicked in a picture, brought into sight: they are below it."""
    state, key = st.session_state, "-".join(filter(None, ("lines-preview", where)))
    turn, shown = state.get(key + "-of", (0, {}))
    if shown != filters:
        turn += 1
        state[key + "-of"] = turn, dict(filters)
    preview(run, view, filters, key)
    browser.reveal(f".st-key-{key}", turn)


def preview(run: Run, view: View, filters: Mapping[str, str], key: str = "lines-preview") -> None:
    """The first lines in place, and a link to all of them; `filters` as in the address of the page of lines."""
    words = view.words
    given = line_filter.asked(filters)
    with st.container(key=key):
        index = ready(run, view)
        if index is None:
            return
        try:
            _, chosen = select(run, index, given, "line")
            found = index.page(chosen.rows[:FIRST], allowed_for(run))
        except (CoreError, PermissionError) as error:
            problems.show_error(error)
            return
        all_of_them = link(words("lines.all"), view.href("lines", run=run.name, **ANY_TIME | given))
        head = words("lines.preview", shown=f"{len(found):,}", all=words.count("occurrence", len(chosen)))
        show_html(tag("p", head, " ", all_of_them, class_="mq-run"))
        show_html(rows_html(found, index, run, view))


def page_number(pages: int, key: str = "page") -> int:
    """The page in sight: of the address, the first one where there are not so many."""
    asked = st.session_state.get(key) or st.query_params.get(key, "1")
    page = int(asked) if str(asked).isdecimal() else 1
    if not 1 <= page <= pages:
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)
        page = 1
    return page


def filter_chips(given: Mapping[str, str], run: Run, view: View, **kept: str) -> Html:
    """What is asked for, each with a link that drops it."""
    words = view.words
    chips = []
    for name, value in given.items():
        rest = {other: text for other, text in given.items() if other != name}
        address = view.href("lines", run=run.name, **ANY_TIME | rest | kept)
        drop = tag("a", "×", href=address, target="_self", aria_label=words("lines.drop"))
        label = tag("b", words(f"lines.by_{name}"))
        chips.append(tag("span", label, " ", _value(name, value, run, view), drop, class_="mq-chip"))
    return tag("p", join(chips, " "), class_="mq-chips")


def _value(name: str, value: str, run: Run, view: View) -> str:
    if name in ("from", "to"):
        try:
            return view.full(datetime.fromisoformat(value.replace(" ", "+")))
        except ValueError:
            return value
    if name == "kind" and view.words.has(f"kind.{value}"):
        return view.words(f"kind.{value}")
    if name == "process":
        return value.replace("~", " · ")
    if name == "finding" and value.isdecimal():
        rows = cache.frame(run, "findings")
        if int(value) < len(rows):
            return finding_rows.title_of(rows.iloc[int(value)].to_dict(), view.words)
    return value if len(value) <= 80 else f"{value[:79]}…"

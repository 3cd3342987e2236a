"""Lines of a run: made ready, filtered, a page of them as HTML, the first ones in place on other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.base.numbers import whole_number
from idcore.base.open_folders import Roots
from idcore.ids.identify import identify_alone
from idcore.intake import allowed as places
from idcore.presentation.html import lines as html
from idcore.presentation.reports.markup import Html, link, tag
from idcore.presentation.triage import file_names, finding_rows, finding_texts, line_filter, run_tables
from idcore.presentation.triage import lines as line_texts
from idcore.presentation.triage.scope import UNLIMITED
from idcore.runs.runs import Run, RunError
from idcore.scan.occurrences.index import Allowed, Filter, Index, Occurrence, Selection
from idcore.server import jobs
from pages.parts import browser, cache, problems, scans, session
from pages.parts.view import View
from pages.parts.widgets import page_link, show_html

if TYPE_CHECKING:  # Spark may not be installed
    from idcore.spark.background import Locating

PAGE = 50
FIRST = 10
WAIT = 1.0  # seconds that a page waits for the index before it shows that it is being made
POLL_SECONDS = 0.5
MOST_ASKED, MOST_NAMED = 20, 3  # scans that are asked for an ID, and that are named


def allowed_for(run: Run) -> Allowed:
    """Asked before a file is opened: what a run has itself, and what the administrator still opens, may be read."""

    def allowed(path: str) -> Roots:
        if places.is_copy(run.path, path):
            return places.own_of(run.path)
        scans.allowed(path)
        return scans.guard()

    return allowed


def making(run: Run, again: bool = False) -> Locating | None:
    """Begins to make the index; an error where this visitor may not have the input of the run read, now."""
    return jobs.locating(run, scans.roots_of(run), again)


def ready(run: Run, view: View) -> Index | None:
    """The index; begins to make it where there is none, and says so until the page is drawn again."""
    index = cache.known_lines(run)
    if index is not None and not jobs.lines_are_old(run):
        return index
    try:
        going = making(run)
    except (CoreError, PermissionError) as error:
        problems.show_error(error)
        return None
    if index is not None:  # the lines of a moment ago, until the later ones are there
        return index
    if going is None:
        show_html(tag("p", view.words("lines.no_engine"), class_="mq-warning mq-note"))
        return None
    if going.wait(WAIT):
        if going.problem is not None:
            reason = problems.said(going.problem, view.words)
            st.error(view.words("lines.failed", reason=reason), icon=":material/error:")
            if st.button(view.words("scan.again"), key="lines-again"):
                making(run, again=True)
                st.rerun()
            return None
        return cache.known_lines(run)
    st.fragment(session.ending(waiting), run_every=POLL_SECONDS)(going, view)
    return None


def ready_or_stop(run: Run, view: View) -> Index:
    """The index; without it the page ends here."""
    index = ready(run, view)
    if index is None:
        session.stop()
    return index


def holds(run: Run, text: str) -> bool | None:
    """Whether lines of a log name an ID; None where that is not known within a moment, or may not be read."""
    if run.store is not None or run.state != "done":
        return None
    index = cache.lines(run)
    try:
        if index is None and (going := making(run)) is not None and going.wait(WAIT):
            index = cache.lines(run)
    except (CoreError, PermissionError):
        return None  # the page that opens the scan says so
    return None if index is None else bool(len(index.rows_of([text])[text]))


def scans_with(text: str, but: str | None) -> list[Run]:
    """The newest scans, but for one, whose lines name an ID, as far as their indexes are there."""
    found: list[Run] = []
    others = (row["name"] for row in cache.finished() if row["name"] != but and not row["store"])
    for name in islice(others, MOST_ASKED):
        try:
            run = scans.visible_runs().open(name)
        except RunError:
            continue  # deleted a moment ago
        summary = run.summary or {}
        index = None if summary.get("is_list") or summary.get("ids", 0) < 2 else cache.lines(run)
        if index is not None and len(index.rows_of([text])[text]):
            found.append(run)
            if len(found) == MOST_NAMED:
                break
    return found


def waiting(going: Locating, view: View) -> None:
    """That the index is being made, until it is there: then the page is drawn again."""
    if going.wait(0):
        st.rerun()
    st.status(view.words("lines.making"), state="running")


def select(run: Run, index: Index, given: Mapping[str, str], order: str) -> tuple[Filter, Selection]:
    """The rows that fit; kept for the next page of the same list."""
    wanted = line_filter.filter_of(given, run, index)
    return wanted, cache.selection(run, index, wanted, order, scans.guard(), allowed_for(run))


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
            occurrences = index.page(chosen.rows[:FIRST], allowed_for(run))
        except (CoreError, PermissionError) as error:
            problems.show_error(error)
            return
        all_of_them = link(words("lines.all"), view.href("lines", run=run.name, **UNLIMITED | given))
        head = words("lines.preview", shown=f"{len(occurrences):,}", all=words.count("occurrence", len(chosen)))
        show_html(tag("p", head, " ", all_of_them, class_="mq-run"))
        show_html(html.rows(occurrences, of_page(run, index, occurrences, words), view))


def gap_of(run: Run, given: Mapping[str, str], view: View) -> html.Gap | None:
    """The gap of the finding that led to these lines; None where it has none."""
    if "finding" not in given or (row := run_tables.finding(run, given["finding"])) is None:
        return None
    evidence = finding_rows.evidence_of(row)
    if not evidence.gap_after or not evidence.gap_before:
        return None
    ids = frozenset(text.upper() for text in (evidence.gap_after, evidence.gap_before))
    return html.Gap(ids, finding_texts.between_sides(row, view))


def of_page(run: Run, index: Index, occurrences: Sequence[Occurrence], words: Words) -> html.Lines:
    """The lines of a run, with the marks behind the times of the processes of a page."""
    marks = {key: words.assumed(codes) for key, codes in assumed_of(run, occurrences).items()}
    return html.Lines(index, run.name, allowed_for(run), file_names.names_of(run), marks)


def assumed_of(run: Run, occurrences: Sequence[Occurrence]) -> dict[str, tuple[str, ...]]:
    """What of the times of their processes no line shows, by the key of a process."""
    return line_texts.assumed_of(occurrences, lambda hosts: cache.where(run, "processes", host=hosts))


def page_number(pages: int, key: str = "page") -> int:
    """The page in sight: of the address, the first one where there are not so many."""
    asked = st.session_state.get(key) or st.query_params.get(key, "1")
    page = whole_number(str(asked))
    if page is None or not 1 <= page <= pages:
        first_page(key)
        page = 1
    return page


def first_page(key: str = "page") -> None:
    """Another list begins at its first page. Once the pages are drawn, the address follows them."""
    if key in st.session_state:
        st.session_state[key] = 1
    else:
        st.query_params.pop(key, None)


def filter_chips(given: Mapping[str, str], run: Run, view: View) -> Html:
    """What is asked for, each with a link that drops it; a finding by its name."""
    number, named = given.get("finding", ""), {}
    if (row := whole_number(number)) is not None and row in (rows := cache.frame(run, "findings")).index:
        named["finding"] = finding_rows.title_of(rows.loc[row].to_dict(), view.words)
    return html.chips(given, named, run.name, view)


def none(given: Mapping[str, str], run: Run, view: View) -> None:
    """Where was looked in vain, and where an ID that is not there can be looked for."""
    words, summary = view.words, run.summary or {}
    ids, files = (
        words.count(unit, summary.get(f"{name}s", 0)) for unit, name in (("occurrence", "id"), ("file", "file"))
    )
    st.caption(words("lines.none_of", ids=ids, files=files))
    text = next((given[name].strip() for name in ("find", "ids") if given.get(name)), "")
    if identify_alone(text).best is not None:
        for page, label in (("message", "card.message"), ("lookup", "card.lookup"), ("anatomy", "card.anatomy")):
            page_link(page, words(label), icon=":material/arrow_forward:", id=text)

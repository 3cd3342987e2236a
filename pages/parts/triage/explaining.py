"""What is different in a time range, or in a list of IDs, on a page. Counts nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from idcore.base.errors import CoreError
from idcore.ids.clock import Clock
from idcore.intake.intake import FoundId
from idcore.presentation import times
from idcore.presentation.html import explained as html
from idcore.presentation.triage import explained as core
from idcore.presentation.triage import run_tables, run_texts
from idcore.presentation.triage.explained import Counted, Explained
from idcore.presentation.triage.scope import Scope
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.runs import Run
from pages.parts import browser, cache, scans
from pages.parts.triage import chips
from pages.parts.triage import lines as run_lines
from pages.parts.view import View, absolute
from pages.parts.widgets import said, show_html

_NAMED = "list-named-by-lines"


def of_range(run: Run, shown: TimeRange, wanted: Scope, view: View) -> None:
    """The range against the time before it; nothing for all times, and before the index of lines is there."""
    explained = None
    with suppress(CoreError, OSError):  # a topic is looked for in lines: their file is gone, or is not for this visitor
        explained = cache.explained(run, shown, wanted, scans.guard(), run_lines.allowed_for(run)) if shown else None
    if explained is not None:
        span = times.clock_span(explained.begin, explained.end, view.zone, dated=False) if explained.begin else ""
        _show(explained, run, shown, view, (span, chips.names(wanted, view.words) if wanted else ""))


def of_list(items: Sequence[FoundId], clock: Clock, run: Run, view: View) -> None:
    """A list of IDs against a scan."""
    every = core.counted(cache.frame(run, "processes"), cache.frame(run, "brokers"))
    title = run_texts.title_of(run.title, run.options, view.words, run.summary)
    own, named = core.of_intake(items, clock), _named_by_lines(items, run)
    if named is not None:
        own, every = (
            {**counts, **{by: side[by] for by in core.NAMED}} for counts, side in zip((own, every), named, strict=True)
        )
    _show(core.of_list(own, every), run, ALL_TIMES, view, (title, ""))


def _named_by_lines(items: Sequence[FoundId], run: Run) -> tuple[Counted, Counted] | None:
    """What the log lines of the IDs name, and those of all IDs; None for who may not read the log. Kept for a rerun."""
    ids = tuple(item.token.text for item in items)
    asked = run.name, run_tables.line_stamp(run), hash(ids)
    kept = st.session_state.get(_NAMED)
    if kept is None or kept[0] != asked:
        index, named = cache.lines(run), None
        if index is not None:
            with suppress(CoreError, OSError):  # its file is gone, or is not for this visitor
                named = core.of_lines(index, ids, run_lines.allowed_for(run))
        kept = st.session_state[_NAMED] = asked, named
    found: tuple[Counted, Counted] | None = kept[1]
    return found


def _show(explained: Explained, run: Run, shown: TimeRange, view: View, compared: tuple[str, str]) -> None:
    """`compared`: what the other side is called, and what is filtered for."""
    words, (span, names) = view.words, compared
    address = absolute("findings", run=run.name) if shown else ""
    st.header(words("explain.title_list" if explained.base == "scan" else "explain.title"), anchor=False)
    said(*core.headline(explained, words, span, names))
    if explained.differences:
        show_html(html.rows(explained, run.name, shown, view))
    if explained.differences or (explained.ids and explained.others):
        browser.copy_button(core.markdown(explained, words, span, address, names), words, f"explained-{run.name}")

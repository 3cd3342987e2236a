"""What became of the messages of a store on a page: filters, the picture, counts, the list. Counts nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from idcore.policy import limits
from idcore.presentation import times
from idcore.presentation.html import fates as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import failures as core_failures
from idcore.presentation.triage import fates as core
from idcore.presentation.triage import line_filter
from idcore.presentation.triage.activity import step_text
from idcore.presentation.triage.fates import FateFilter, Heat
from idcore.presentation.triage.time_range import TimeRange
from idcore.presentation.triage.undelivered import ORDERS, UndeliveredList
from idcore.runs.runs import FATES, Run
from pages.parts import browser, cache, session
from pages.parts.charts import fate as charts
from pages.parts.triage import filters, lines, time_range
from pages.parts.view import View, into_address
from pages.parts.widgets import Brush, chart, downloads, empty, page_link, page_of, pager, show_html

GROUPS, COUNTS, PAGE = 25, 12, 50  # on one page
FILTERS = ("topic", "group", "verdict")
PICTURES = ("results", "failures")  # the second where attempts failed
CELL = "cell"  # of an address: what was chosen in the picture


def ready_or_stop(run: Run, view: View) -> None:
    """Ends the page, and says why and what to do, where the run does not have what it shows."""
    if run.has("fates") and cache.rows(run, "fates"):
        return
    time_range.bar(run, view, page="fate")  # what the incident is narrowed to goes along, here too
    state(run, view)
    store = run.store
    key = "none_groups" if run.has("fates") else "none_logs" if store is None else "none_older"
    empty(view.words(f"fate.{key}"))
    page_link("store", view.words("fate.to_store"), icon=":material/arrow_forward:", store=store)
    session.stop()


def state(run: Run, view: View) -> list[str]:
    """Of which time the verdicts are and what could not be read, on top: they are worth no more than that.

    What could be read is small print.
    """
    above, below = html.state(run.summary or {}, view)
    if above is not None:
        show_html(above)
    return below


def choose(every: pd.DataFrame, shown: TimeRange, view: View) -> FateFilter:
    """Three filters and the cell of the address."""
    words, given = view.words, dict[str, str]()
    choices = {name: ["", *core.values(every, name)] for name in FILTERS}
    for name, options in choices.items():
        filters.known(name, [value for value in st.query_params.get_all(name) if value], options)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for name, options in choices.items():
            given[name] = (
                st.selectbox(
                    words("fate.group" if name == "group" else f"fate.{name}"),
                    options,
                    format_func=partial(_label, name, view),
                    width=260,
                    **filters.switch(name, options),
                )
                or ""
            )
        cell = TimeRange.of_span(st.query_params.get(CELL, ""))
        if cell:
            span = times.clock_span(cell.begin, cell.end, view.zone, dated=True)
            st.button(
                span,
                icon=":material/close:",
                key="fate-cell",
                help=words("lines.drop"),
                on_click=into_address,
                args=({CELL: None},),
            )
    return FateFilter(**given, shown=shown, cell=cell)


def _label(name: str, view: View, value: str) -> str:
    words = view.words
    if not value:
        return words("fate.any")
    return html.name(value, view) if name == "verdict" else value


def picture(heat: Heat, levels: Mapping[str, int], asked: FateFilter, view: View) -> list[str]:
    """The heat map of a page of groups, with the counts of what was chosen; what of it is small print."""
    words, state, step = view.words, st.session_state, step_text(heat.step, view.words)
    pages = max(1, -(-len(heat.groups) // GROUPS))
    page = lines.page_number(pages, "rows")
    first = (page - 1) * GROUPS
    groups = heat.groups[first : first + GROUPS]
    if asked.group in heat.groups and asked.group not in groups:  # chosen by its name: it is in sight too
        groups = [asked.group, *groups]
    some = heat.of(groups)
    figure = charts.heat(some, view, (asked.group, asked.cell))
    drag = time_range.brush(asked.shown, view.zone)
    turn = state.get("fate-turn", 0)

    def take(chosen: Mapping[str, Any]) -> None:
        drag.take(chosen)
        picked = line_filter.last_clicked(chosen)
        if picked:
            state["group"] = st.query_params["group"] = picked["group"]
            st.query_params[CELL] = f"{picked['from']}~{picked['to']}"
            state["fate-turn"] = turn + 1

    few = charts.is_few(heat)
    alt = words("fate.alt_few" if few else "fate.alt", groups=words.count("group", len(groups)), step=step)
    below = html.legend(levels, view, view.palette.levels, few)
    chart(figure, alt, heat.frame, "fate", select=True, brush=Brush(f"{drag.state}-{turn}", take), below=below)
    if pages > 1:
        last = min(first + GROUPS, len(heat.groups))
        numbers = {"first": first + 1, "last": last, "all": len(heat.groups), "more": len(heat.groups) - last}
        st.caption(words.numbers("fate.rank_note", **numbers))
        st.pagination(pages, key="rows", bind="query-params")
    notes = [words("fate.cell_note_few" if few else "fate.cell_note", step=step)]
    if heat.undated:
        notes.append(words("fate.undated", n=words.count("message", heat.undated)))
    return notes


def failures(run: Run, asked: FateFilter, view: View) -> list[str] | None:
    """In the place of results by time, for who chooses it, the attempts that failed; what of them is small print."""
    words = view.words
    every = cache.frame(run, "retries")
    if every.empty:
        return None
    label, text = words("fate.picture"), lambda name: words(f"fate.picture_{name}")
    look = {"required": True, "label_visibility": "collapsed"}
    if filters.one_of(st.segmented_control, "picture", PICTURES, label, text, **look) != PICTURES[1]:
        return None
    rows = every[every["group"] == asked.group] if asked.group else every
    minutes = asked.minutes
    st.markdown(core_failures.sentence(rows, escaped(asked.group), minutes, view))
    if not rows.empty:
        tries, step = core_failures.by_time(rows)
        figure = charts.failures(tries, step, view, minutes)
        alt = words("fate.failed_alt", step=step_text(step, words))
        chart(figure, alt, lambda: rows, "failures", brush=time_range.brush(asked.shown, view.zone))
    return [words("fate.failed_note")]


def counts(rows: pd.DataFrame, run: Run, view: View) -> None:
    """Messages by topic, queue, group and verdict; the sum of all is that of the picture."""
    sums = core.counts(rows)
    st.caption(view.words("fate.sum", n=view.words.count("message", int(rows["messages"].sum()))))
    page, first = page_of(sums, "fate_counts", COUNTS)
    here = partial(view.href, "fate", run=run.name, cell=st.query_params.get(CELL))
    show_html(html.counts(page.to_dict("records"), view, view.palette.levels, here).html(first=first, numbered=True))
    pager(sums, "fate_counts", COUNTS)
    filters.takeaway(sums, "fates")


def messages(asked: FateFilter, lacking: int, run: Run, view: View) -> None:
    """The messages that were not consumed, with a choice of order.

    `lacking`: how many the counts have.
    """
    words = view.words
    st.header(words("fate.list"), anchor=False)
    text = lambda name: words(f"fate.order_{name}")  # noqa: E731
    order = filters.one_of(st.selectbox, "order", ORDERS, words("sort"), text, width=220)
    listed, whole = (cache.undelivered(run, *each) for each in ((asked, order), (asked.whole, ORDERS[0])))
    if asked != asked.whole:
        st.caption(words("fate.list_exact", span=core.span_text(asked.cell or asked.shown, view)))
    if whole.total < lacking:  # of an older scan; beside the list, also where it is empty
        cut = words.numbers("fate.list_cut", n=listed.total, all=lacking, most=cache.rows(run, "undelivered"))
        show_html(tag("p", cut, " ", words("fate.list_cut_do"), class_="mq-warning mq-note"))
    if not len(listed):
        st.caption(words("fate.list_none"))
    else:
        st.caption(words("fate.list_said", n=words.count("row", listed.total)))
        if (most := min(len(listed), limits.figure("download_rows"))) < listed.total:
            st.caption(words.numbers("fate.list_first", first=len(listed), taken=most, all=listed.total))
        _page(listed, run, view)
    browser.reveal(".st-key-fate-list", st.session_state.get("fate-turn", 0))


def _page(listed: UndeliveredList, run: Run, view: View) -> None:
    """A page of them, each with the ways to its journey and its record; the whole list to take away."""
    place = {"run": run.name, "store": run.store}
    if run.kind == FATES:
        place = {"cluster": run.options["cluster"]}
    pages = max(1, -(-len(listed) // PAGE))
    start = (lines.page_number(pages) - 1) * PAGE
    made = html.lacking(listed.page(start, PAGE), view, view.palette.levels, place)
    show_html(made.html(first=start + 1, numbered=True))
    if pages > 1:
        st.pagination(pages, key="page", bind="query-params")
    downloads(listed.as_csv, listed.as_json, "not_consumed", "undelivered")

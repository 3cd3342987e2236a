"""The time range of a scan's pages: read from the address, chosen with a brush or in two boxes, said in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.presentation import times
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import activity as steps
from idcore.presentation.triage import in_range, run_tables, sentences
from idcore.presentation.triage import time_range as core
from idcore.presentation.triage.processes import is_countable
from idcore.presentation.triage.time_range import ALL_TIMES, FROM, TO, TimeRange
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import Index
from idcore.server import jobs
from pages.parts import cache, session
from pages.parts.charts import registry
from pages.parts.charts import timeline as charts
from pages.parts.charts.registry import Tables
from pages.parts.triage import chips, lines
from pages.parts.view import View, into_address
from pages.parts.widgets import Brush, chart, page_link, said

LEAST_BARS = 10  # of a strip
MOST_LIVE = 256 << 20  # bytes of text
RENEWED = 40.0  # seconds after which a strip of a scan that goes on gets other lines

if TYPE_CHECKING:  # Spark may not be installed
    from idcore.spark.background import Locating


def asked() -> TimeRange:
    """The range in the address; all times where a value cannot be read, which the strip names."""
    try:
        return TimeRange.of_address(st.query_params)
    except CoreError:
        return ALL_TIMES


def _says_unreadable(words: Words) -> None:
    """Names a value of the range in the address that cannot be read."""
    try:
        TimeRange.of_address(st.query_params)
    except CoreError as error:
        st.warning(words("range.ignored", why=escaped(words.error(error))), icon=":material/schedule:")


def bar(run: Run, shown: View, other: Run | None = None, page: str = "") -> TimeRange:
    """The strip of all IDs of a scan, or of two, by time with its brush; the range in words, a reset, two boxes.

    Of a `page` of an incident also what it is narrowed to: the strip has the IDs of that alone, or says that it has
    more. No index has the topics, which are in the texts.
    """
    asked_for = chips.asked(page)
    runs, wanted = [run] if other is None else [run, other], replace(asked_for, topic="")
    for one in runs:
        index_of(one, shown, make=bool(asked()) or bool(wanted) or _minutes_are_coarse(one))
    if page and (part := cache.narrowed_activity(run, wanted)) is not None and not part[0].empty:
        of = shown.words.listed([chips.text(name, value) for name, value in wanted.params().items()])
        more = shown.words("range.every_topic") if asked_for.topic else ""
        assumed = shown.words.assumed(cache.totals(run).assumed)
        return strip([part[0]], shown, part[1], assumed=assumed, whose=charts.StripSubject(of, more), under=(run, page))
    more = shown.words("range.whole_scan") if asked_for else ""
    fine = [fine_rows for one in runs if (fine_rows := cache.fine_activity(one, ALL_TIMES)) is not None]
    codes = dict.fromkeys(code for one in runs for code in cache.totals(one).assumed)
    assumed = shown.words.assumed(codes)
    if len(fine) < len(runs):
        timelines, least = [cache.frame(one, "timeline") for one in runs], steps.MINUTE
    else:
        timelines, least = [table for table, _ in fine], max(step for _, step in fine)
    return strip(timelines, shown, least, assumed=assumed, whose=charts.StripSubject(more=more), under=(run, page))


def _minutes_are_coarse(run: Run) -> bool:
    """Whether a strip of minutes shows little. Of much that goes on it is enough: its index is made again and again."""
    is_much = run.state == "running" and (run.summary or {}).get("text_bytes", 0) > MOST_LIVE
    return cache.totals(run).is_short and not is_much


def strip(
    timelines: list[pd.DataFrame],
    shown: View,
    least: pd.Timedelta = steps.MINUTE,
    unit: str = "occurrence",
    assumed: str = "",
    whose: charts.StripSubject = charts.EVERYBODY,
    under: tuple[Run, str] | None = None,
) -> TimeRange:
    """The same of timelines, whose times are exact to `least`; they count what `unit` names, and `whose` they are.

    `under`: the scan and its page whose filters stand next to the range.
    """
    _says_unreadable(shown.words)
    chosen, extent = asked(), None
    tables = [table for table in timelines if not table.empty]
    if tables:
        table = pd.concat(tables)
        extent = table["minute"].min(), table["minute"].max()
        bins, step = steps.by_time(table, least)
        if len(bins) >= LEAST_BARS or chosen:  # fewer show nothing that the sentence does not say
            figure = charts.strip(bins, step, chosen, shown, unit, assumed, whose)
            alt = shown.words(f"range.alt_{unit}", first=shown.minute(bins.index[0]), last=shown.minute(bins.index[-1]))
            chart(figure, alt, None, "timeline", brush=brush(chosen, shown.zone))
    line(chosen, shown, extent, under)
    return chosen


def says_none(run: Run, chosen: TimeRange, shown: View, page: str) -> bool:
    """Whether no ID of a scan is in a range; then it says so, and from when to when the scan has IDs.

    Where a clock of the log's zone shows such times while the scan has IDs, a link leads to them.
    """
    minutes = cache.frame(run, "timeline").get("minute", pd.Series(dtype="datetime64[us, UTC]"))
    if not chosen or run_tables.any_in(cache.lines(run), minutes, chosen):
        return False
    words, every = shown.words, cache.totals(run)
    if minutes.empty:
        said(words("range.none_dated"))
        return True
    first, last = minutes.min(), minutes.max()
    several = " – ".join(times.between(first, last, shown.zone, by_minute=True))
    span = several if first < last else shown.minute(first)
    said(words("range.none", span=span + words.assumed(every.assumed)))
    for name in sorted(every.zones):
        zone = times.zone_of(name)
        other = chosen.on_clock(shown.zone, zone) if zone is not None else chosen
        if zone is not None and other != chosen and run_tables.any_in(cache.lines(run), minutes, other):
            clock = times.offset_text((other.begin or other.end or shown.now()).astimezone(zone))
            clock += words.assumed([code for code in every.assumed if code.startswith("zone")])
            meant = times.clock_span(other.begin, other.end, zone, dated=False)
            label = words("range.other_clock", zone=clock, span=meant)
            page_link(page, label, icon=":material/schedule:", run=run.name, **other.params())
    return True


def index_of(run: Run, shown: View, *, make: bool) -> Index | None:
    """The index of the run's lines, which has the millisecond of each ID. With `make` it is made, once.

    Where it cannot be made there are the tables by minute.
    """
    index, key = cache.lines(run), f"range-index-{run.name}"
    is_old = jobs.lines_are_old(run) and (run.state != "running" or run.lines_behind > RENEWED)
    if not make or (index is not None and not is_old):
        return index
    if key not in st.session_state or is_old:
        try:
            st.session_state[key] = lines.making(run)
        except (CoreError, PermissionError):  # the page of lines says so
            st.session_state[key] = None
    if index is not None:  # it will do until the other one is there
        return index
    going: Locating | None = st.session_state[key]
    if going is not None and not going.wait(lines.WAIT):
        st.fragment(session.ending(lines.waiting), run_every=lines.POLL_SECONDS)(going, shown)
    return cache.lines(run)


def activity(run: Run, chosen: TimeRange, hosts: list[str]) -> tuple[pd.DataFrame, pd.Timedelta]:
    """IDs of some hosts by time in a range, and the step that the times are exact to: a minute, or less."""
    fine = cache.fine_activity(run, chosen)
    if fine is not None:
        return fine[0][fine[0]["host"].isin(hosts)], fine[1]
    rows = cache.where(run, "activity", host=hosts)
    if not rows.empty:
        rows = rows[chosen.whole_minutes().contains(rows["minute"])]
    return rows, steps.MINUTE


def points(run: Run, row: dict[str, Any], chosen: TimeRange) -> in_range.Points:
    """The scan's points of a process, and in a range every ID of the index where there is one."""
    thinned = cache.points(run, row)
    points_drawn = in_range.Points(thinned, thinned, thinned, len(thinned) == row["distinct"])
    if chosen and points_drawn.dated:
        points_drawn = points_drawn.within(chosen, cache.every_point(run, row, chosen))
    return points_drawn if is_countable(row) else points_drawn.without_gaps()


def line(
    chosen: TimeRange,
    shown: View,
    extent: tuple[datetime, datetime] | None = None,
    under: tuple[Run, str] | None = None,
) -> None:
    """`09:50:13 – 09:52:40 +08:00 (2 min 27 s)`, a reset, and two boxes. `extent`: the first and last minute of all."""
    words = shown.words
    days = {moment.astimezone(shown.zone).date() for moment in extent or ()}
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="time-range"):
        if chosen:
            st.markdown(sentences.range_text(chosen, shown, dated=len(days) != 1), width="content")
            st.button(words("range.reset"), key="range-reset", type="tertiary", on_click=show, args=(ALL_TIMES,))
            if under is not None and under[1] not in ("", "findings"):  # that page says it
                icon = ":material/compare:"
                page_link("findings", words("explain.link"), icon=icon, run=under[0].name)
        with st.popover(words("range.title"), type="tertiary", icon=":material/schedule:"):
            boxes(chosen, shown, extent)
        if under is not None and under[1]:
            chips.draw(*under, shown)


def boxes(chosen: TimeRange, shown: View, extent: tuple[datetime, datetime] | None) -> None:
    """Both ends as text in the reader's zone; a time without a date is on the day of the first ID."""
    words = shown.words
    state = f"{chosen.params()}{shown.zone_name}"
    ends = (chosen.begin, chosen.end)
    st.caption(words("range.help", zone=shown.zone_name))
    with st.form(f"range-form-{state}", border=False):
        written = [
            st.text_input(
                words(f"range.{name}"),
                key=f"range-{name}-{state}",
                value=core.written(moment, shown.zone),
                placeholder=core.written(known, shown.zone),  # as it is written, and what there is
            )
            for name, moment, known in zip((FROM, TO), ends, extent or (None, None), strict=True)
        ]
        if st.form_submit_button(words("range.show"), key=f"range-show-{state}"):
            day = chosen.begin or (extent[0] if extent else shown.now())
            try:
                show(TimeRange(*(core.read(text, day, shown.zone) for text in written)))
            except CoreError as error:
                st.error(escaped(words.error(error)))
            else:
                st.rerun()


def show(chosen: TimeRange) -> None:
    """The address has the range, or none."""
    into_address({**dict.fromkeys((FROM, TO)), **chosen.params()})


def brush(chosen: TimeRange, zone: tzinfo) -> Brush:
    """A brush for a chart whose x axis is the reader's wall clock: a box becomes the time range."""

    def take(state: Mapping[str, Any]) -> None:
        drawn = core.of_box(state, zone)
        if drawn is not None:
            show(drawn)

    return Brush("~".join(chosen.params().values()), take)


def registered(page: str, tables: Tables, chosen: TimeRange, shown: View) -> None:
    """The charts that registered themselves for a page."""
    for one, figure in registry.drawn(page, tables, shown, chosen):
        if one.headed:
            st.header(shown.words(one.words), anchor=False)
        alt, data = shown.words(f"{one.words}_alt"), partial(one.data, tables)
        chart(figure, alt, data, one.name, brush=brush(chosen, shown.zone))

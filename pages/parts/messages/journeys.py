"""The journey of a message on a page: its sources at hand, the picture, the table, what is odd. Dials nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from itertools import pairwise
from pathlib import Path

import pandas as pd
import streamlit as st

from idcore.answers import journey as journeys
from idcore.answers.journey import Journey, Line, Sources
from idcore.answers.lookup import Answer, Offer, StoreLookup
from idcore.answers.lookup.queries import Answers, LookupQuery
from idcore.base.errors import CoreError
from idcore.ids.clock import is_time
from idcore.ids.delivery import is_part
from idcore.ids.failed_sends import MOST_BETWEEN, prints_message
from idcore.intake.intake import FoundId
from idcore.presentation import message_sentence, times
from idcore.presentation.html import answers
from idcore.presentation.html import journeys as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import file_names
from idcore.rocketmq.message.tracers import trace_of
from idcore.rocketmq.store import StoreFolder
from idcore.runs.run_times import linked
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import Allowed, Filter, Index, Occurrence
from pages.parts import cache, live, problems, scans, visitor
from pages.parts.charts import journey as chart_of
from pages.parts.messages import lookups, stores
from pages.parts.triage import lines as run_lines
from pages.parts.view import View
from pages.parts.widgets import chart, page_link, said, show_html

MOST_LINES = 200
MOST_OF_TRACE = 20  # messages of one trace that are named
AROUND = 40  # lines on either side that a record of several lines may have
ONE_ROW_MS = 1_000  # of the picture: what is longer takes more


def run_at_hand() -> Run | None:
    """The finished scan whose lines are searched: of the address, else the session's latest."""
    try:
        run = scans.current()
    except CoreError as error:
        problems.show_error(error)
        return None
    return run if run is not None and run.state == "done" else None


def of_trace(trace: str, run: Run | None, view: View) -> str | None:
    """The only message whose lines contain a trace id of another tracer; else says which there are, or why none is."""
    words, named = view.words, trace_of(trace)
    if named is None:
        said(words("message.no_trace"))
        return None
    if run is None or run.store is not None:
        said(words("message.trace_needs_scan", trace=escaped(named)))
        page_link("decode", words("empty.decode"), icon=":material/arrow_forward:")
        return None
    index = run_lines.ready(run, view)
    if index is None:
        return None
    ids = journeys.messages_of_trace(named, index, run_lines.allowed_for(run))
    if len(ids) == 1:
        return ids[0]
    said(words("message.traced", messages=words.count("message", len(ids)), trace=escaped(named)))
    for text in ids[:MOST_OF_TRACE]:
        page_link("message", text, icon=":material/conversion_path:", id=text, run=run.name)
    page_link("lines", words("lines.all"), icon=":material/arrow_forward:", find=named, run=run.name)
    return None


def found_of(text: str, run: Run | None) -> FoundId:
    """The id, with the time that the link or the scan has of it."""
    query = st.query_params.to_dict() | {"run": run.name if run is not None else ""}
    verdict, token = linked(text, query, scans.visible_runs())
    return FoundId(token, verdict)


def lines_of(text: str, known: Sequence[Answer], run: Run | None, view: View) -> tuple[list[Line] | None, int]:
    """The lines that name the message, by each of its ids, and how many there are; None without a scan of logs.

    What the scan of a store has are records: those are read from the store, with their times.
    """
    index = run_lines.ready(run, view) if run is not None and run.store is None else None
    if run is None or index is None:
        return None, 0

    allowed, names = run_lines.allowed_for(run), file_names.names_of(run)

    def select(ids: tuple[str, ...]) -> tuple[list[Line], int]:
        rows = index.first_of_lines(index.select(Filter(ids=ids)).rows)
        occurrences = index.page(rows[:MOST_LINES], allowed)
        found = [_line(one, index, allowed) for one in occurrences if one.problem is None]
        return [replace(line, file=names(line.file)) for line in found], len(rows)

    try:
        return journeys.lines_of(text, known, select)
    except (CoreError, PermissionError) as error:
        problems.show_error(error)
        return None, 0


def _line(one: Occurrence, index: Index, allowed: Allowed) -> Line:
    """A line, with those around it where it is part of a record of several lines, or prints what a failed send has."""
    lines = MOST_BETWEEN if prints_message(one.text) else AROUND if is_part(one.text) else 0
    before, behind = index.around(one, lines, allowed) if lines else ([], [])
    return Line(one.file, one.line, one.text, tuple(before), tuple(behind))


def build(item: FoundId, known: Sequence[Answer], lines: Sequence[Line] | None, run: Run | None, view: View) -> Journey:
    """The journey from all of them; lines whose times have no zone are read in that of their scan."""
    token = item.token if item.token.linked or item.token.vouched else None
    sources = Sources.of(*known, lines=lines, token=token)
    return journeys.build(item.token.text, sources, view.clock(), _log_zone(run, view))


def _log_zone(run: Run | None, view: View) -> tzinfo:
    """The zone of lines whose times name none."""
    zone = times.zone_of(str(run.options.get("zone") or "")) if run is not None else None
    return zone or view.zone


def summed_up(
    item: FoundId, known: Sequence[Answer], lines: Sequence[Line] | None, journey: Journey, run: Run | None, view: View
) -> str:
    """Who sent it, when, where it is stored, what was last: of its msgId, and of its offsetMsgId if it has one only."""
    sources = Sources.of(*known, lines=lines)
    others = [found_of(text, run) for text in journeys.ids_of(item.token.text, sources)[1:]]
    kinds: dict[str, list[FoundId]] = {}
    for one in [item, *others]:
        if one.verdict.best is not None:
            kinds.setdefault(one.verdict.best.id.kind, []).append(dated(one, known))
    items = [some[0] for kind, some in kinds.items() if kind != "offset" or len(some) == 1]
    return message_sentence.of_journey(items, journey, _log_zone(run, view), view.clock(), view)


def dated(item: FoundId, known: Sequence[Answer]) -> FoundId:
    """The id with the born time of its first record: that is known, whatever a link or a scan assumed."""
    records = [copy.record for copy in Sources.of(*known).copies or () if copy.relation != "trace"]
    born = min((each.born_timestamp for each in records if is_time(each.born_timestamp)), default=None)
    if born is None:
        return item
    return replace(item, token=replace(item.token, born_ms=born, of_record=True, linked=False, assumed=()))


def ask(text: str, offers: Mapping[str, Offer], view: View) -> Answers | None:
    """What a cluster says of it. Only a click asks: on a button here, or on an id's card if there is one cluster."""
    query, state, words = st.query_params, st.session_state, view.words
    clicked = state.pop("message_clicked", None) == text and len(offers) == 1
    names = [query["cluster"]] if query.get("cluster") in offers else list(offers)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for name in names:
            label, hint = words("message.ask", cluster=escaped(name)), words("message.ask_help")
            if st.button(label, key=f"ask-{name}", type="primary", help=hint, icon=":material/search:") or clicked:
                asked = LookupQuery([text], query.get("topic") or None, name, fate=True, trace=True)
                query["cluster"] = name
                lookups.ask(asked, view)
        if visitor.current().may("folders") and not stores.opened():
            page_link("store", words("card.store"), icon=":material/folder_open:", id=text)
    if not offers:
        stores.offers(words)
    held = lookups.kept()
    return held if held is not None and held.is_journey(text, query.to_dict()) else None


@contextmanager
def store_answer(text: str, folder: Path | None, view: View) -> Iterator[Answer | None]:
    """What the store folder that is open has of it; None without one."""
    if folder is None:
        yield None
        return
    with StoreFolder(folder, roots=stores.roots_of(folder)) as store:
        yield live.answer_seen(
            StoreLookup(store, view.clock()).one(text, st.query_params.get("topic") or None, True, True)
        )


# ---- picture and table


def picture(journey: Journey, view: View) -> None:
    """The events from top to bottom, with their data."""
    figure = chart_of.sequence(journey, view, view.instant)
    chart(figure, view.words("message.alt"), lambda: pd.DataFrame(html.rows(journey, view)), "journey")
    moments = [event.at_ms for event in journey.events if event.at_ms is not None]
    waits = any(later - one > ONE_ROW_MS for one, later in pairwise(moments))
    known = (("", waits), ("_tries", html.is_tried(journey)))
    notes = [view.words(f"message.scale{name}") for name, there in known if there]
    if notes:
        st.caption(view.words("compare.between").join(notes))
    if len(journey.events) > chart_of.MOST_DRAWN:
        st.caption(view.words("message.cut", n=f"{chart_of.MOST_DRAWN:,}", of=f"{len(journey.events):,}"))


def tries(text: str, known: Sequence[Answer], run: Run | None, view: View) -> None:
    """What each attempt of each group came to, where the run is the scan of a store."""
    ids = journeys.ids_of(text, Sources.of(*known))
    attempts = cache.where(run, "attempts", msg_id=ids) if run is not None and run.has("attempts") else None
    if attempts is not None and len(attempts):
        st.header(view.words("message.tries"), anchor=False)
        rows = attempts.sort_values(["group", "retry_times"])
        show_html(answers.attempts(rows.astype(object).where(rows.notna(), None).to_dict("records"), view))

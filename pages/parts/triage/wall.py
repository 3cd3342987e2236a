"""The wall display of a scan: `?wall=1` on any page of it. Big, dark, alone on the screen; it draws itself again."""

from __future__ import annotations

import time
from functools import partial

import pandas as pd
import streamlit as st

from idcore.base.errors import CoreError
from idcore.presentation.html import broker_logs, counters, hosts
from idcore.presentation.html import wall as html
from idcore.presentation.reports import roles
from idcore.presentation.reports.markup import Html
from idcore.presentation.triage import broker_logs as logs
from idcore.presentation.triage import broker_rows, finding_rows, finding_texts, follow_texts, host_rows, run_tables
from idcore.presentation.triage.finding_rows import Row
from idcore.presentation.triage.processes import sorted_processes
from idcore.presentation.triage.scope import Scope
from idcore.presentation.triage.time_range import TimeRange
from idcore.runs.runs import Run
from idcore.server.announcements import announceable
from pages.parts import cache, problems, scans, session
from pages.parts.runs.follow import known_errors
from pages.parts.triage import ranking, shared
from pages.parts.view import View, view
from pages.parts.widgets import empty, show_html

HOSTS, BROKERS, COUNTERS, FINDINGS = 7, 5, 6, 5
POLL_SECONDS, RETRY_SECONDS = 1.0, 60.0
NEW = 600.0  # seconds for which an error is new: nobody presses a button on a screen on the wall
_PALETTE = roles.palette("dark")


def show() -> None:
    """The scan of the address, and nothing else."""
    try:
        run = scans.current()
    except (CoreError, OSError) as error:
        problems.show_error(error)
        return
    if run is None or run.summary is None:
        empty(view().words("empty.findings"), ("runs", view().words("empty.runs")))
        return
    st.fragment(session.ending(_drawn), run_every=POLL_SECONDS)(run)


def _drawn(run: Run) -> None:
    """All of it, made anew where the tables are, or where an error is no longer new."""
    if not scans.in_sight(run):
        st.rerun()
    shown = view()
    wanted, known = (run.name, run_tables.stamp(run), shown.words.lang), st.session_state.get("wall")
    if known is None or known[0] != wanted or time.monotonic() >= known[1]:
        try:
            findings = cache.frame(run, "findings")
            new, until = _new_errors(run, findings)
            known = st.session_state["wall"] = (wanted, until, _screen(run, shown, findings, new))
        except Exception as error:  # not each second: to find the damaged table reads all of them
            st.session_state["wall"] = wanted, time.monotonic() + RETRY_SECONDS, problems.message(error, shown.words)
            raise
    if isinstance(known[2], Html):
        show_html(known[2])
    else:
        st.error(known[2], icon=":material/error:")


def _new_errors(run: Run, findings: pd.DataFrame) -> tuple[list[Row], float]:
    """Errors that came while this screen showed the scan, and until when these are the new ones."""
    errors, now = announceable(findings.to_dict("records")), time.monotonic()
    known_errors(run, errors)  # a page that leads here at once may not have been drawn to its end
    ends = st.session_state.setdefault(f"wall-new-{run.name}", dict.fromkeys(errors, now))
    for key in errors:
        ends.setdefault(key, now + NEW)
    new = [key for key in errors if ends[key] > now]
    return [errors[key] for key in new], min((ends[key] for key in new), default=float("inf"))


def _screen(run: Run, shown: View, findings: pd.DataFrame, new: list[Row]) -> Html:
    words, summary = shown.words, run.summary or {}
    said = finding_texts.headline(findings, shown) or finding_texts.findings_sentence(findings, summary, words)
    kinds, follow = finding_rows.kinds(findings) if len(findings) else [], summary.get("follow")
    standing = follow_texts.standing(follow, words, shown.zone) if follow else ""
    parts = [
        html.WallPanel(words("page.producers"), _hosts(run, shown), wide=True),
        html.WallPanel(words("page.findings"), html.findings(kinds[:FINDINGS], shown)),
        html.WallPanel(words("page.brokers"), _brokers(run, shown), wide=True),
        html.WallPanel(words("page.counters"), _counters(run, shown)),
    ]
    told = finding_texts.new_errors(new, words) if new else ""
    return html.screen(run.title, standing, told, said, [part for part in parts if part.inside])


def _hosts(run: Run, shown: View) -> Html | None:
    rows = cache.frame(run, "hosts")
    if rows.empty:
        return None
    name = host_rows.namer("host", cache.frame(run, "processes"), shown.words)
    cut = cache.is_cut(run, "processes")
    every = cache.judged(run) if not cut else rows.head(0)
    page = host_rows.ordered(host_rows.summed(rows, every, "distinct", name), "messages").head(HOSTS)
    activity = cache.frame(run, "activity")
    own = activity[activity["host"].isin(page["name"])]
    strips, _, _ = host_rows.strips(own, page["name"].tolist(), name, pd.Timedelta(minutes=1))
    look = hosts.Look(
        marks=shared.host_codes(run, page["name"].tolist()),
        strips=strips,
        span=shown.words("producers.over_time"),
        colours=_PALETTE.scale[2:8],
        run=run.name,
        within={},
        grouped=False,
        measure="distinct",
        total=int(rows["distinct"].sum()),
    )
    rest = rows[~rows["host"].isin(page["name"])].rename(columns={"distinct": "messages"})
    return hosts.rows(page, rest, (0, 0), look, shown)


def _brokers(run: Run, shown: View) -> Html | None:
    brokers, growth, segments = (cache.frame(run, name) for name in ("brokers", "growth", "segments"))
    if brokers.empty:
        return None
    dated = logs.logs_of(growth)
    rates = logs.speeds_of(brokers, growth, dated)
    colours = roles.colours_of(brokers["address"].tolist(), _PALETTE)
    cut = logs.Retention.of(None, None).cut(shown.now(), shown.zone)
    named = broker_rows.with_names(brokers, run.summary)
    rows = broker_rows.rows_of(named, segments, dated, rates, cut)
    span = broker_rows.span_text(dated, TimeRange(), shown)
    return broker_logs.rows(rows[:BROKERS], colours, shown, run.name, TimeRange(), span)


def _counters(run: Run, shown: View) -> Html | None:
    processes = ranking.of_run(run, Scope())
    if processes.empty:
        return None
    by = ranking.criteria(processes)[0]
    rows = sorted_processes(processes, by).head(COUNTERS).to_dict("records")
    return counters.ranking(rows, "", by, partial(cache.points, run), shown, run.name)

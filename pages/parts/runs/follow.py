"""A scan that goes on, as pages show it: as of when, pause, stop, and what is new."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import finding_texts, follow_texts, run_tables, run_texts
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import Run
from idcore.server import announcements, jobs
from pages.parts import cache, problems, scans, session
from pages.parts.runs import runlist
from pages.parts.view import view
from pages.parts.widgets import page_link, show_html

LIVE, POLL_SECONDS = 0.25, 0.5  # seconds between two looks at whether there is news: while there is some, and at rest
QUIET = 10.0  # seconds without news after which a page is at rest
REST_RATIO = 3  # a page is drawn again after so many times as long as it took; the bar above it counts meanwhile
_SUMMARY = "follow-summary"  # of this session: that of the tables in sight
_DRAWN = "follow-drawn"  # of this session: the page in sight


@dataclass(slots=True)
class _Drawn:
    """A page of a followed scan: when it was begun, of which tables, how often it looks, and how long it took."""

    began: float
    stamp: float
    pace: float
    is_held: bool  # paused, with the tables of that moment
    seconds: float | None = None

    def is_old(self, stamp: float, pace: float) -> bool:
        """Whether it is to be drawn again. The first look after it was drawn tells how long that took."""
        age = time.monotonic() - self.began
        if self.seconds is None:
            self.seconds = age
        return age > REST_RATIO * self.seconds and (stamp, pace) != (self.stamp, self.pace)

    def must_catch_up(self, stamp: float) -> bool:
        """Whether a pause begins with newer tables than those in sight, whose counts the bar has said already."""
        is_behind, self.is_held = not self.is_held and stamp != self.stamp, True
        return is_behind


def has_tables(run: Run) -> bool:
    """Whether files are or were followed into a run that pages can show although it has not ended well."""
    return (run.plan or {}).get("follow") is not None and run.state != "done" and run.summary is not None


def bar(run: Run) -> None:
    """Above a page of a scan that goes on; the page is drawn again when there are other tables."""
    paused = st.session_state.get("follow-paused", False)
    drawn = _Drawn(time.monotonic(), run_tables.stamp(run), _pace(run), paused)
    st.session_state.pop(_DRAWN, None)
    if is_live(run):
        st.session_state[_SUMMARY] = run.summary
        st.fragment(session.ending(_ticking), run_every=drawn.pace)(run)
        st.session_state[_DRAWN] = drawn
        _new_errors(run)
        return
    words = view().words
    if run.state in UNENDED:
        st.info(words("scan.elsewhere"), icon=":material/info:")
        return
    why = problems.said(run.error or words("scan.gone"), words)
    st.warning(words("follow.ended", why=why), icon=":material/pause_circle:")
    if scans.is_own(run):
        st.button(words("follow.on"), key="follow-on", on_click=runlist.again, args=(run.name,))


def is_live(run: Run) -> bool:
    """Whether the bar says how many IDs it has by now."""
    return run.state in UNENDED and jobs.is_followed(run)


def _pace(run: Run) -> float:
    return LIVE if time.time() - run_tables.stamp(run) < QUIET else POLL_SECONDS


def _ticking(run: Run) -> None:
    if not scans.in_sight(run) or run.state not in UNENDED:
        st.rerun()
    words, shown = view().words, view()
    paused = st.session_state.get("follow-paused", False)
    job, summary = jobs.of(run), (st.session_state[_SUMMARY] if paused else run.summary) or {}
    follow = summary.get("follow")
    if job is None or follow is None:
        st.rerun()
    drawn = st.session_state.get(_DRAWN)  # none while the page itself is drawn
    if drawn is not None:
        stamp, drawn.is_held = run_tables.stamp(run), drawn.is_held and paused
        if drawn.must_catch_up(stamp) if paused else drawn.is_old(stamp, _pace(run)):
            st.rerun()
    texts = [follow_texts.standing(follow, words, shown.zone), *run_texts.sizes(summary, words)]
    texts += follow_texts.left_out(follow, words)
    texts += [words("follow.paused")] if paused else []
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="follow-bar"):
        spans = [tag("span", text) for text in texts]
        show_html(tag("div", tag("b", words("follow.live")), *spans, class_="mq-run mq-live"))
        st.toggle(words("follow.pause"), key="follow-paused")
        page_link("findings", words("follow.wall"), icon=":material/tv:", run=run.name, wall="1")
        if scans.is_own(run):
            label = words("follow.stopping" if job.cancelling else "follow.stop")
            st.button(
                label,
                key="follow-stop",
                type="tertiary",
                on_click=scans.cancel,
                args=(run.name,),
                disabled=job.cancelling,
            )


def known_errors(run: Run, errors: Iterable[str]) -> set[str]:
    """The errors that are no news: those of when this session first saw the scan, on whichever page, and seen ones."""
    known: set[str] = st.session_state.setdefault(f"follow-known-{run.name}", set(errors))
    return known


def _new_errors(run: Run) -> None:
    """Errors that were not there when this session first saw the scan: a banner, and the name of the tab."""
    words, errors = view().words, announcements.announceable(cache.frame(run, "findings").to_dict("records"))
    known = known_errors(run, errors)
    fresh = [key for key in errors if key not in known]
    if not fresh:
        return
    st.set_page_config(page_title=words("follow.title", n=len(fresh), title=run.title))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="follow-news"):
        said = finding_texts.new_errors([errors[key] for key in fresh], words)
        st.error(escaped(said), icon=":material/notification_important:")
        page_link("findings", words("follow.news_open"), run=run.name)
        st.button(words("follow.seen"), key="follow-seen", type="tertiary", on_click=known.update, args=(fresh,))

"""A running scan as it goes: bytes, rate, ids, time left, cancel; and the states it can end in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from idcore.answers.fate_list import sentences
from idcore.base.catalogue import Words
from idcore.policy import settings
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import follow_texts, run_texts
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import FATES, TEXT, Run
from idcore.server import jobs, setting_up
from pages.parts import problems, scans, session
from pages.parts.view import view
from pages.parts.widgets import page_link, show_html

if TYPE_CHECKING:
    from idcore.answers.fate_list.batched_lookups import FateListProgress
    from idcore.spark.watch import Progress

# Between two looks at a job; each stays with it for WAIT seconds, or until it ends, and is done in time.
POLL_SECONDS = 0.4
WAIT = 0.3


def scan_state(
    run: Run | None,
    again: Callable[[], None] | None = None,
    *,
    table: bool = False,
    place: str = "scan",
    until: Callable[[Run], bool] | None = None,
) -> bool:
    """Shows how far a scan is; True when its tables are there. `table`: decoded ids are above. `place`: where on a page
    that shows a scan more than once. `until`: the page is drawn again when this is so, too."""
    words = view().words
    if run is None:
        no_engine(words)
        return False
    state = run.state
    if state == "done":
        return True
    if state in UNENDED:
        st.fragment(session.ending(ticking), run_every=POLL_SECONDS)(run, table, place, until)
    elif state == "cancelled":
        st.info(words("scan.cancelled"), icon=":material/cancel:")
        offer(words, again, place)
    else:
        st.error(
            words("scan.failed", reason=problems.said(run.error or words("scan.gone"), words)), icon=":material/error:"
        )
        offer(words, again, place)
    return False


def offer(words: Words, again: Callable[[], None] | None, place: str) -> None:
    """Try again."""
    if again is not None:
        st.button(words("scan.again"), on_click=again, key=f"{place}-again")


def ticking(run: Run, table: bool, place: str, until: Callable[[Run], bool] | None) -> None:
    """One look at the job; when it has ended, or its reader may not see it any more, the whole page is drawn again."""
    if not scans.in_sight(run):
        st.rerun()
    job = jobs.of(run)
    if job is not None and not job.cancelling:  # what was just clicked is answered at once
        job.wait(WAIT)
    if run.state not in UNENDED or (until is not None and until(run)):
        st.rerun()
    if job is None:  # its thread has not begun, or is of another process
        words = view().words
        st.progress(0.0, words("scan.waiting") + (words("scan.table") if table else ""))
        return
    progress(run, table, key=f"{place}-cancel-{run.name}")


def progress(run: Run, table: bool = False, *, key: str) -> None:
    """How far a scan or a list of IDs is, and a way to stop it; or that it is being stopped."""
    words = view().words
    job = jobs.of(run)
    if job is None:
        st.caption(words("scan.elsewhere"))
        return
    now = job.progress()
    if run.kind == TEXT and (summary := run.summary) is not None and "follow" in summary:
        following(run, summary["follow"], job.cancelling, key)
        return
    if run.kind == FATES:
        asking = cast("FateListProgress", now)
        share, text = asking.done / asking.total, sentences.progress_text(asking, words)
    else:
        share, text = _scan(cast("Progress", now), words, table)
    st.progress(share, words("scan.cancelling") if job.cancelling else text)
    label = words("scan.cancelling" if job.cancelling else "scan.cancel")
    if scans.is_own(run):
        st.button(label, key=key, on_click=scans.cancel, args=(run.name,), disabled=job.cancelling)


def following(run: Run, follow: Mapping[str, Any], stopping: bool, key: str) -> None:
    """How a scan that goes on stands, the way to it, and a way to stop it."""
    words = view().words
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        standing = follow_texts.standing(follow, words, view().zone)
        show_html(tag("p", tag("b", words("follow.live")), " ", standing, class_="mq-faint"))
        page_link("findings", words("runs.open"), icon=":material/arrow_forward:", run=run.name)
        if scans.is_own(run):
            label = words("follow.stopping" if stopping else "follow.stop")
            st.button(label, key=key, type="tertiary", on_click=scans.cancel, args=(run.name,), disabled=stopping)


def _scan(now: Progress, words: Words, table: bool) -> tuple[float, str]:
    """Bytes, rate, ids and time left of a scan; before it reads, what it waits for."""
    if now.place or now.state == "waiting" or not now.bytes_total:
        engine = jobs.engine()
        starting = engine.seconds if engine is not None and engine.state == "starting" else None
        return 0.0, run_texts.waiting_text(now.place, starting, words) + (words("scan.table") if table else "")
    text = run_texts.progress_text(now.bytes_done, now.bytes_total, now.ids, now.seconds, now.seconds_left, words)
    text += words("scan.judging") if now.phase == "judging" else ""
    return min(1.0, now.bytes_done / now.bytes_total), text


def lacks_spark(words: Words) -> bool:
    """Where set-up is at work, says how far it is; where there is no Java, what needs it and how to install it."""
    if setting_up.now() is not None and not settings.current().no_spark:
        st.fragment(session.ending(setup_progress), run_every=POLL_SECONDS)()
        return True
    engine = jobs.engine()
    if engine is None or engine.state != "no_java" or engine.error is None:
        return False
    st.info(words("scan.no_java"), icon=":material/info:")
    st.code(engine.error.values["command"], language="bash", wrap_lines=True)
    return True


def setup_progress() -> None:
    """One look at set-up; when it has ended, the whole page is drawn again, and a scan that waits begins."""
    words, state = view().words, setting_up.now()
    if state is None:
        st.rerun()
    said = words(f"setup.{state.step}")
    text = words("setup.at_work", step=said, n=state.number, of=state.steps, time=words.duration(state.seconds))
    st.info(text, icon=":material/hourglass_top:")


def no_engine(words: Words) -> None:
    """Charts need Spark, and Spark needs Java: what is missing, and how to get it."""
    engine = jobs.engine()
    if lacks_spark(words):
        return
    if engine is None:
        st.info(words("scan.no_spark"), icon=":material/info:")
    elif engine.state == "failed":
        st.error(words("scan.spark_failed", reason=problems.said(engine.error, words)), icon=":material/error:")
    elif problem := st.session_state.get("scan_problem"):
        st.error(problem, icon=":material/error:")
    else:
        st.html(tag("p", words("scan.off"), class_="mq-faint"))

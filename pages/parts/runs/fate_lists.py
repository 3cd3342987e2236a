"""A list of IDs that a reader lets a cluster judge: the button, how far it is, the way to the result. A click asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from idcore.answers.fate_list import MOST_IDS, sentences
from idcore.base.errors import CoreError
from idcore.policy import settings
from idcore.presentation import export
from idcore.presentation.html import fates
from idcore.presentation.reports.markup import tag
from idcore.rocketmq.remoting.profile import is_configured
from idcore.runs.runs import FATES, Run
from idcore.server import jobs
from pages.parts import browser, cache, problems, scans, session, visitor
from pages.parts.runs import watch
from pages.parts.view import view
from pages.parts.widgets import download, empty, page_link, show_html, small_print

PARAM = "fates"  # of an address: the run of the list that was begun here
ROWS = 50
FEWEST = 2  # of one ID there is its journey


def offer(lists: Mapping[str, Sequence[str]]) -> None:
    """A button for each list, by its message, where a cluster is configured; below, the list that was begun."""
    lists = {key: ids for key, ids in lists.items() if len(ids) >= FEWEST}
    if lists and is_configured(settings.current()):
        _buttons(lists)
    begun()


def _buttons(lists: Mapping[str, Sequence[str]]) -> None:
    from pages.parts import live  # with it the look-up

    words = view().words
    with problems.caught():
        names = list(live.offers())
    if not names:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="fates-offer"):
        cluster = names[0]
        if len(names) > 1:
            cluster = st.selectbox(words("lookup.cluster"), names, key="fates-cluster", width=220)
        for key, ids in lists.items():
            st.button(
                words(key, ids=words.count("id", len(ids))),
                key=key.replace(".", "-"),
                icon=":material/mark_email_unread:",
                help=words("fates.help", cluster=cluster),
                disabled=len(ids) > MOST_IDS,
                on_click=begin,
                args=(ids, None, cluster),
            )
    if (most := max(map(len, lists.values()))) > MOST_IDS:
        st.caption(words("fates.too_many", ids=words.count("id", most), most=f"{MOST_IDS:,}"))


def again(run: Run, param: str) -> Callable[[], None] | None:
    """Starts a list that ended early once more; None where another server began it, and this one has not its IDs."""
    asked = asked_for(run)
    return None if asked is None else partial(begin, *asked, param)


def asked_for(run: Run) -> tuple[Sequence[str], str | None, str] | None:
    """The IDs of a list that this server began, their topic and cluster."""
    from idcore.answers.fate_list.background import Job

    job = jobs.of(run)
    return (job.wanted.ids, job.wanted.topic, run.options["cluster"]) if isinstance(job, Job) else None


def begin(ids: Sequence[str], topic: str | None, cluster: str, param: str = PARAM) -> None:
    """Starts a list; the address has it from now on."""
    st.session_state.pop("fates_problem", None)
    try:
        st.query_params[param] = start(ids, topic, cluster).name
    except (CoreError, OSError) as error:
        st.session_state["fates_problem"] = problems.message(error, view().words)
        return
    st.session_state["fates-turn"] = st.session_state.get("fates-turn", 0) + 1


def start(ids: Sequence[str], topic: str | None, cluster: str) -> Run:
    """Starts a list, or CoreError says why not."""
    from idcore.answers.fate_list import background, batched_lookups
    from pages.parts import live

    kept = {} if scans.wants_kept() else scans.NOT_KEPT
    service = live.cluster(cluster)
    if service is None:
        raise CoreError("terms_cluster", {"name": cluster, "known": ", ".join(live.offers())})
    wanted = batched_lookups.IdList.of(ids, topic)
    scans.admit(jobs.TABLES)
    later = visitor.later()
    ask = lambda: later().require_cluster(cluster)  # noqa: E731
    run = background.start(scans.visible_runs(), service, wanted, session.someone().user, ask, **kept).run
    scans.mine(run)
    scans.begun_here(run)
    if kept:
        scans.hold(run.name)
    cache.forget_runs()
    return run


def begun() -> None:
    """The list of the address: how far it is, then what it came to, and the way to its page."""
    words, name = view().words, st.query_params.get(PARAM)
    if problem := st.session_state.pop("fates_problem", None):
        st.error(problem, icon=":material/error:")
    if not name:
        return
    try:
        run = scans.visible_runs().open(name, (FATES,))
        scans.keep_while_here(name)
    except CoreError as error:
        problems.show_error(error)
        return
    with st.container(border=True, key="fates-begun"):
        if watch.scan_state(run, again=again(run, PARAM), place="fates"):
            st.markdown(sentences.answer(run.summary or {}, words))
            page_link("fate", words("fates.open"), icon=":material/arrow_forward:", run=name)
    browser.reveal(".st-key-fates-begun", st.session_state.get("fates-turn", 0))


def result(run: Run) -> None:
    """What the IDs of a list came to, and those without a verdict. The page ends here where no message has one."""
    words, summary = view().words, run.summary or {}
    show_html(tag("p", sentences.answer(summary, words), class_="mq-note"))
    small_print(sentences.notes(summary, words))
    rest = [row for row in run.table("asked_ids").to_pylist() if row["outcome"] != "judged"]
    if rest:
        with st.expander(words("fates.rest")):
            show_html(fates.unanswered(rest[:ROWS], summary.get("cluster"), view()).html())
            if len(rest) > ROWS:
                st.caption(words("fates.rest_note", n=f"{ROWS:,}", of=f"{len(rest):,}"))
            columns = ("id", "outcome", "reason")
            csv = export.csv_table(columns, ([row[name] for name in columns] for row in rest))
            download("CSV", csv, "unanswered_ids.csv", key="fates-rest")
    if not summary.get("records") or not cache.rows(run, "fates"):
        empty(words("fates.none"))
        session.stop()

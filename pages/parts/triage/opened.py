"""The scan that a page shows, with its line on top: a way to another scan, its link, its report and tables."""

from __future__ import annotations

from functools import partial
from itertools import islice
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.presentation import export
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import run_texts
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import FATES, PAGES, SCANS, Run
from idcore.simulate import example
from pages.parts import browser, cache, problems, scans, session
from pages.parts.ids.decode_session import load_example
from pages.parts.runs import fate_lists, follow, runlist, sharing, watch
from pages.parts.triage import report, shared
from pages.parts.view import View, link_params, view
from pages.parts.widgets import download, empty, page_link, show_html, working

MOST_LISTED = 12
NEWEST = 3  # scans that are offered where none is open
MORE = {PAGES[FATES]: (FATES,)}  # kinds of runs that a page shows besides scans


def run_of(page: str) -> Run:
    """The scan this page shows, with its line on top. Without one, or before it is done, the page ends here."""
    words = view().words
    try:
        run = scans.current(MORE.get(page, ()))
    except (CoreError, OSError) as error:  # a link to a scan that was deleted: say so, and lead on
        problems.show_error(error)
        run = None
    if run is None:
        if any(row["state"] in (*UNENDED, "done") for row in cache.scans()):
            _offer(page, words)
            _offer_example(words)
        elif not watch.lacks_spark(words):  # then no scan would appear here
            empty(words(f"empty.{page}"), ("decode", words("empty.decode")))
            _offer_example(words)
        session.stop()
    working(words("frame.loading", what=run_texts.title_of(run.title, run.options, words, run.summary)))
    if st.query_params.get("run") != run.name:
        st.query_params["run"] = run.name
    if follow.has_tables(run):
        follow.bar(run)
    elif run.state != "done":
        show_html(tag("p", tag("b", run_texts.title_of(run.title, run.options, words)), class_="mq-run"))
        again = fate_lists.again(run, "run") if run.kind == FATES else partial(runlist.again, run.name)
        watch.scan_state(run, again=again if scans.is_own(run) else None, until=follow.has_tables)
        if problem := st.session_state.get("runs_problem"):
            st.error(problem, icon=":material/error:")
        session.stop()
    line(run, page, words)
    if run.kind == FATES:
        fate_lists.result(run)
    shared.twins(run, words)
    return run


def _offer(page: str, words: Words) -> None:
    """That no scan is open: the scans that run, and the newest that are done, as links to this page of theirs."""
    kept = {"sync": [row for row in cache.scans() if row["state"] in UNENDED], "history": cache.finished()}
    with st.container(border=True, key="empty"):
        st.markdown(words("empty.none_open"))
        for icon, rows in kept.items():
            for name, label in run_texts.labels(rows[:NEWEST], view()).items():
                text = words("empty.runs_now", scan=label) if icon == "sync" else label
                page_link(page, escaped(text), icon=f":material/{icon}:", run=name)
        with st.container(horizontal=True, gap="medium"):
            for address, text in (("runs", words("run.all")), ("decode", words("empty.decode"))):
                page_link(address, text, icon=":material/arrow_forward:")


def _offer_example(words: Words) -> None:
    """A log for those who have none at hand: decoded and scanned at once, by the page that does it."""
    if st.button(words("decode.example"), key="run-example"):
        working(words("frame.loading", what=example.NAME))  # before the work, and not once it is done
        load_example(example.NAME)
        st.switch_page(st.session_state["pages"]["decode"], query_params=link_params())


def line(run: Run, page: str, words: Words) -> None:
    """Which scan: its name, files, bytes, ids, when; switch, link, download."""
    shown, findings = view(), shared.findings_address(run)
    facts = run_texts.scan_facts(run, shown)
    facts = facts if run.kind in SCANS and not follow.is_live(run) else facts[-1:]  # the bar has the others
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="run-line"):
        of_run = run.title, run.options, words, run.summary
        title, how_made = run_texts.title_of(*of_run), run_texts.made_title(*of_run)
        facts = [how_made, *facts] if how_made != title else facts
        show_html(tag("div", tag("b", title), *(tag("span", fact) for fact in facts), class_="mq-run"))
        # The ways on are one row of their own: where the facts leave no room, all of them wrap.
        ways = st.container(horizontal=True, width="content", gap="small", vertical_alignment="center")
    with ways:
        if (folder := run.store) is not None:
            page_link("store", words("run.store_page"), icon=":material/folder_open:", store=folder)
        with st.popover(words("run.switch"), type="tertiary", icon=":material/swap_horiz:"):
            others = {
                name: label for name, label in run_texts.labels(cache.finished(), view()).items() if name != run.name
            }
            for name, label in islice(others.items(), MOST_LISTED):
                page_link(page, escaped(label), run=name)
            if not others:
                st.caption(words("run.no_other"))
            page_link("runs", words("run.all"), icon=":material/history:")
        browser.copy_button(address(run), words, "link", words("run.link"))
        sharing.choice(run.name, run.facts, "line")
        download(
            words("run.download"),
            lambda: everything(run, shown, findings),
            f"{run.name}.zip",
            key="run-zip",
            mime="application/zip",
        )


def address(run: Run) -> str:
    """The address of this very view, with the zone in sight: who opens it sees the same clock."""
    parts = urlsplit(st.context.url or "")
    asked = {name: st.query_params.get_all(name) for name in st.query_params}
    query = urlencode({**asked, **link_params(run=run.name, zone=view().zone_name)}, doseq=True)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))


def everything(run: Run, shown: View, address: str) -> bytes:
    """The report and all tables of a scan; of a table too large for that the first rows, and its name says so."""
    frames = ((shared.name_of(run, name), cache.frame(run, name)) for name in export.TABLES if run.has(name))
    texts = {}
    if run.has("findings"):
        texts = {"report.html": report.html(run, shown, address), "report.md": report.markdown(run, shown, address)}
    return export.zip_frames(frames, run.summary or {}, texts)

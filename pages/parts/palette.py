"""One box that leads anywhere: to an ID, a host, a process, a broker, a finding, a scan or a page. Decides nothing."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.presentation.triage import find_anything, run_tables, run_texts
from idcore.presentation.triage.find_anything import TABLES, Known
from idcore.runs.runs import PAGES, Run
from pages.parts import cache, scans, session
from pages.parts.view import View
from pages.parts.widgets import page_link, show_html

LISTED = 200  # scans


def show(view: View, opened: int) -> None:
    """Opens the box over the page. Its key is new each time: with an old key the text of the last box may come back."""
    st.dialog(view.words("find.title"), width="medium")(session.ending(contents))(view, f"find_term-{opened}")


def contents(view: View, key: str) -> None:
    """The box, and below it what its text means, in groups."""
    words = view.words
    with st.container(key="find-box"):
        typed = st.text_input(
            words("find.box"),
            key=key,
            type="search",
            live="200ms",
            placeholder=words("find.box"),
            label_visibility="collapsed",
        )
    term = typed.strip()
    run = scans.at_hand()
    run = run if run is not None and run.state == "done" else None  # it has hosts and brokers
    known = _known(run, view, term)
    groups = find_anything.search(term, known)
    with st.container(key="find-hits", gap="xsmall"):
        for group in groups:
            show_html(tag("div", words(f"find.group.{group.code}"), class_="mq-group"))
            for hit in group.hits:
                page_link(hit.page, escaped(find_anything.label(hit, words)), **hit.params)
            if group.more:
                st.caption(words("find.more", n=f"{group.more:,}"))
        show_html(tag("i", data_term=typed, hidden=True))  # what the links above it belong to
    found = {group.code for group in groups}
    nothing = words("find.nothing", term=escaped(term)) if not found else ""
    why = words("find.not_id") if found <= {"line"} and find_anything.looks_like_id(term) else ""
    if nothing or why:
        st.markdown(f"{nothing} {why}")
    title = run_texts.title_of(run.title, run.options, words, run.summary) if run else ""
    st.caption(f"{words('find.keys')} {words('find.of_run', run=escaped(title)) if run else words('find.no_run')}")
    if run and any(cache.is_cut(run, name) for name in TABLES):
        st.caption(words("find.cut", n=f"{run_tables.FIRST_ROWS:,}"))


def _table(run: Run, name: str, term: str) -> pd.DataFrame:
    """The rows that can be found. Of a table too large for that the first, and those of the address typed."""
    rows, address = cache.frame(run, name), find_anything.address_in(term)
    if address and cache.is_cut(run, name):
        return find_anything.together(cache.where(run, name, **{TABLES[name]: [address]}), rows)
    return rows


def _known(run: Run | None, view: View, term: str) -> Known:
    words = view.words
    kept = [row for row in cache.all_runs() if row["kept"]]
    done = [row for row in kept if row["state"] == "done"][:LISTED]
    own = {row["name"]: PAGES[row["kind"]] for row in done if row["kind"] in PAGES}
    pages = {name: page.title for name, page in st.session_state["pages"].items() if words.has(f"page.{name}")}
    tables = {name: _table(run, name, term) for name in TABLES} if run else {}
    findings = find_anything.finding_names(cache.frame(run, "findings"), words) if run else {}
    name = run.name if run else None
    has_lines = run is not None and run.store is None
    labels = run_texts.labels(done, view)
    return Known(pages, labels, name, findings=findings, own_pages=own, has_lines=has_lines, **tables)

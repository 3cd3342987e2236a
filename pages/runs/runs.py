"""Runs: what was scanned or compared before, what is being scanned, scans of the server's folders. Computes nothing."""

from __future__ import annotations

from functools import partial

import streamlit as st

from idcore.policy import audit, limits
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import runs_root
from pages.parts import cache, problems, scans, session, visitor
from pages.parts.runs import begin, runlist, watch
from pages.parts.view import view
from pages.parts.widgets import empty, heading, page_of, pager, small_print, zone_note


def damaged() -> None:
    """The runs that no page can show, with the way to delete them; nothing where there are none."""
    names = scans.visible_runs().damaged({row["name"] for row in cache.all_runs()})
    if not names:
        return
    with st.expander(words("runs.damaged", n=f"{len(names):,}"), icon=":material/warning:"):
        st.caption(words("runs.damaged_help"))
        for name in page_of(names, "runs_damaged_page", runlist.SHOWN)[0]:
            left, right = st.columns([5, 4], vertical_alignment="center")
            left.code(name, language=None)
            with right.popover(words("runs.delete"), type="tertiary", key=f"damaged-{name}"):
                st.markdown(words("runs.damaged_sure"))
                step = partial(delete, name)
                st.button(words("runs.delete_yes"), key=f"delete-{name}", on_click=problems.tried, args=(step,))
        pager(names, "runs_damaged_page", runlist.SHOWN)


def delete(name: str) -> None:
    """Asks for the permission of who presses, at that moment."""
    scans.visible_runs().delete_damaged(name)
    audit.note("run_deleted", session.someone(), run=name, outcome="damaged")


shown = view()
words, here = shown.words, visitor.current()
heading("page.runs")

# load
runs, days = runlist.every(), limits.value("days")

# scan
lacking = watch.lacks_spark(words)
if not runs and not lacking:
    empty(words("empty.no_runs"), ("decode", words("empty.decode")))
with st.expander(words("runs.new"), expanded=not runs, icon=":material/add:"):
    left, right = st.columns(2, gap="large")
    with left:
        begin.uploads()
    with right:
        begin.folder()
begin.going()

# show
if runs:
    live = any(row["state"] in UNENDED for row in runs)
    st.fragment(session.ending(runlist.listing), run_every=1.0 if live else None)(live)
damaged()
small_print(
    [
        words("runs.kept_days", days=days) if days else words("runs.kept"),
        words("runs.kept_in", folder=str(runs_root())) if here.may("settings") else "",
        zone_note(shown),
    ]
)

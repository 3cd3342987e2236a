"""Links that take an id along: to its journey, to a cluster, to an open store folder. A click may ask a cluster."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from idcore.base.catalogue import Words
from idcore.intake.intake import message_of
from idcore.policy import settings
from idcore.rocketmq.remoting.profile import is_configured
from pages.parts import scans
from pages.parts.view import link_params
from pages.parts.widgets import page_link

MOST_TRACES = 6  # of one text that have a link
MOST_IDS = 20  # that an address can carry


def trace_links(traces: Sequence[str], words: Words) -> None:
    """Links to the messages of W3C traces, in the scan in sight; nothing without a trace."""
    run = scans.current_name()
    if traces and run is not None:
        st.markdown(words("decode.traces"))
        with st.container(horizontal=True, gap="small"):
            for trace in traces[:MOST_TRACES]:
                page_link("message", trace, icon=":material/timeline:", trace=trace, run=run)


def message_links(ids: Sequence[str], words: Words, own: str | None = None, **named: str | None) -> None:
    """Links that take ids along: one to its journey, all to where messages are looked up.

    A click on the journey, unlike an address, may ask the only cluster that is configured. Its lines are those of the
    scan in sight, or of `own`, that of the input it stands in. `named`: how it is read.
    """
    if (text := message_of(ids)) is not None:
        label = words("card.consumed" if is_configured(settings.current()) else "card.message")
        if st.button(label, key=f"message-{text}", icon=":material/conversion_path:", type="tertiary"):
            st.session_state["message_clicked"] = text
            params = link_params(id=text, run=_scan_with(text, own), **named)
            st.switch_page(st.session_state["pages"]["message"], query_params=params)
    look_up_links(ids, words)


def _scan_with(text: str, own: str | None) -> str | None:
    """The scan in sight; that of the input itself where the other has no line with the ID."""
    run = scans.at_hand()
    if run is None or own is None or own == run.name:
        return own or scans.current_name()
    from pages.parts.triage import lines  # with it Arrow

    return own if lines.holds(run, text) is False else run.name


def look_up_links(ids: Sequence[str], words: Words) -> None:
    """Links that take ids, or one key of messages, to a cluster where one is configured, to an open store folder."""
    if 0 < len(ids) <= MOST_IDS and is_configured(settings.current()):
        page_link("lookup", words("card.lookup"), icon=":material/search:", id=",".join(ids))
    if len(ids) == 1 and (scans.allowed_folders() or st.session_state.get("store_open")):
        page_link("store", words("card.store"), icon=":material/folder_open:", id=ids[0])

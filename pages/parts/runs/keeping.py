"""What a reader who pastes sees about keeping, and the choice not to. Deletes nothing: the end of the session does."""

from __future__ import annotations

import streamlit as st

from idcore.policy import limits
from idcore.presentation.reports.markup import tag
from pages.parts import scans, visitor
from pages.parts.view import in_sight, into_address, view
from pages.parts.widgets import show_html


def choice() -> None:
    """The box that keeps nothing, and one line that says what is kept and who sees it. The address has the choice."""
    words, query = view().words, st.query_params
    if st.session_state.get("unkept") and scans.wants_kept():
        query["keep"] = "no"  # back from another page
    st.session_state["unkept"] = not scans.wants_kept()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="keeping"):
        label, help_text = words("keep.not"), words("keep.help")
        st.checkbox(label, key="unkept", help=help_text, on_change=in_sight(_into_link), persist_state="session")
        days = limits.value("days")
        kept = ("keep.yes" if visitor.current().name is None else "keep.yes_own") + ("_days" if days else "")
        said = words(kept if scans.wants_kept() else "keep.no", days=days or 0)
        show_html(tag("span", said, class_="mq-faint mq-note"))


def _into_link() -> None:
    into_address({"keep": "no" if st.session_state.get("unkept") else None})

"""Who else may open a run: its owner's choice, and one line about it for others. Nothing where there is no login."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from idcore.policy import audit
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.runs.runs import PRIVATE, SHARED, may_change
from pages.parts import problems, scans, session, visitor
from pages.parts.view import in_sight, view
from pages.parts.widgets import show_html


def choice(name: str, facts: Mapping[str, Any], place: str) -> None:
    """The switch of a run that is the reader's; of another's, whose it is. `place`: where on a page."""
    words, here = view().words, visitor.current()
    if here.name is None:
        return
    owner, shared = facts.get("owner"), str(facts.get("shared") or PRIVATE)
    if not may_change(here, facts):
        show_html(tag("span", words("share.of", name=owner or "–"), class_="mq-faint mq-note"))
        return
    key = f"share-{place}-{name}"
    st.session_state[key] = shared
    with st.popover(words(f"share.is_{shared}"), type="tertiary", icon=":material/group:"):
        st.radio(
            words("share.who"),
            SHARED,
            key=key,
            format_func=lambda how: words(f"share.{how}"),
            on_change=in_sight(_share),
            args=(name, key),
        )
        st.caption(words("share.help") if owner == here.name else words("share.of", name=escaped(owner or "–")))


def _share(name: str, key: str) -> None:
    def step() -> None:
        scans.visible_runs().own(name).share(how := str(st.session_state.get(key)))
        audit.note("run_shared", session.someone(), run=name, outcome=how)

    problems.tried(step)

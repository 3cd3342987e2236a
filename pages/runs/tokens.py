"""Tokens: what a person's programs may do in their name. Makes and revokes tokens; computes nothing itself."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from idcore.policy import audit
from idcore.policy.access import PERMISSIONS
from idcore.policy.tokens import LONGEST_LABEL, Token, most_days
from idcore.presentation.html import tokens as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import link
from pages.parts import problems, session, visitor
from pages.parts.view import view
from pages.parts.widgets import heading, said, show_html, small_print, zone_note

USUAL = 30  # days


def make(most: int) -> None:
    """The form of a new token; its text is shown in the next turn, once."""
    state = st.session_state
    with st.form("token", border=False, clear_on_submit=True):
        left, right = st.columns([3, 1], gap="medium")
        left.text_input(
            words("tokens.label"), key="token-label", placeholder=words("tokens.example"), max_chars=LONGEST_LABEL
        )
        right.number_input(words("tokens.days"), 1, most, min(USUAL, most), key="token-days")
        st.multiselect(
            words("tokens.scopes"),
            [name for name in PERMISSIONS if here.may(name)],
            default=["decode"] if here.may("decode") else [],
            key="token-scopes",
            format_func=lambda name: words(f"tokens.may.{name}"),
            placeholder=words("tokens.choose"),
        )
        sent = st.form_submit_button(words("tokens.make"), type="primary")
    if sent:
        with problems.caught():
            asked = str(state["token-label"]), state["token-scopes"], int(state["token-days"])
            token, text = visitor.tokens().make(visitor.current(), visitor.claims(), *asked)
            audit.note("token_made", session.someone(), token=token.name)
        st.success(words("tokens.made", label=escaped(token.label)), icon=":material/key:")
        st.code(text, language=None, wrap_lines=True)


def revoke(token: Token) -> None:
    """Asks for the permission of who presses, at that moment."""
    visitor.tokens().revoke(visitor.current(), token.name)
    audit.note("token_revoked", session.someone(), token=token.name)


def listing(some: list[Token], whose: bool) -> None:
    """Tokens, each with the way to revoke it."""
    for token in some:
        left, right = st.columns([5, 1], vertical_alignment="center")
        with left:
            show_html(html.about(token, whose, time.time(), shown))
        with right.popover(words("tokens.revoke"), type="tertiary", key=f"token-{token.name}"):
            st.markdown(words("tokens.revoke_sure"))
            step = partial(revoke, token)
            st.button(words("tokens.revoke_yes"), key=f"revoke-{token.name}", on_click=problems.tried, args=(step,))


shown = view()
words, here, most = shown.words, visitor.current(), most_days()
heading("page.tokens")
api = link(words("tokens.api"), "api/v1/")  # next to this page

# load
if here.name is None:
    said(words("tokens.no_login"))
    small_print([api])
    session.stop()

# show
above = st.container()
if (problem := st.session_state.pop("runs_problem", None)) is not None:
    st.error(problem, icon=":material/error:")
if most is None:
    st.info(words("tokens.off"), icon=":material/lock:")
else:
    make(most)
every = visitor.tokens().of()  # with the one that was made just now
own = [token for token in every if token.owner == here.name]
others = [token for token in every if token.owner != here.name] if here.may("settings") else []
with above:
    said(words("tokens.said", tokens=words.count("personal_token", len(own))))
if own:
    st.header(words("tokens.own"), anchor=False)
    listing(own, False)
if others:
    st.header(words("tokens.others"), anchor=False)
    listing(others, True)
small_print([words("tokens.once"), words("tokens.roles"), api, zone_note(shown)])

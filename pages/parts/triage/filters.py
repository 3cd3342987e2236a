"""Filters that live in the address: a switch, and what a link asks for that the scan does not have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.base.numbers import whole_between
from idcore.presentation import export
from idcore.presentation.reports.markdown import escaped
from pages.parts.view import in_sight, into_address, view
from pages.parts.widgets import downloads

LONGEST = 100  # characters of a link that are shown
# The rate of a scan, or of a time range.
OF_PROCESSES = ("host", "pid", "loader", "distinct", "missing", "wraps", "rate", "rate_per_second", "lines")


def switch(name: str, options: Sequence[str]) -> dict[str, Any]:
    """What a switch is made with so that it lives in the address under its own name, first option unsaid.

    Streamlit's own binding writes labels there: a link from a Chinese page would open otherwise on an English one.
    """
    state, asked = st.session_state, st.query_params.get(name)
    if state.get(name) not in options:
        state[name] = asked if asked in options else options[0]
    return {"key": name, "on_change": _into_link, "args": (name, options[0])}


def one_of(
    draw: Callable[..., Any], name: str, options: Sequence[str], label: str, text: Callable[[str], str], **look: Any
) -> str:
    """One of some options, as a control of Streamlit draws them; the address has which."""
    return str(draw(label, options, format_func=text, **look, **switch(name, options)) or options[0])


def _into_link(name: str, usual: str | int) -> None:
    value = st.session_state.get(name)
    into_address({name: None if value == usual else str(value)})


def number(place: DeltaGenerator, name: str, label: str, least: int, most: int, usual: int) -> None:
    """A box for a whole number, which the address has; what is not such a number there is the usual one.

    Streamlit's own binding makes a number of any text, and fails at `inf`.
    """
    state, asked, before = st.session_state, st.query_params.get(name), f"{name}-of-address"
    if name not in state or state.get(before) != asked:
        state[name] = whole_between(asked, least, most, usual)
    state[before] = asked
    place.number_input(label, least, most, key=name, on_change=in_sight(_into_link), args=(name, usual))


def known(name: str, asked: Sequence[str], there: Collection[str]) -> list[str]:
    """What a link asks for and the scan has; the rest is said: a link can be mistyped, or of another scan."""
    for value in asked:
        if value not in there:
            st.info(view().words(f"filter.unknown_{name}", name=escaped(value[:LONGEST])), icon=":material/info:")
    return [value for value in asked if value in there]


def takeaway(rows: pd.DataFrame, name: str) -> None:
    """A table as CSV and JSON."""
    downloads(lambda: export.csv_frame(rows), lambda: export.json_frame(rows), name, name)

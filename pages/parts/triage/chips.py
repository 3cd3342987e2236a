"""What an incident is narrowed to, as chips next to its time range, and the boxes that choose it. Computes nothing."""

from __future__ import annotations

from functools import partial

import streamlit as st

from idcore.base.catalogue import Words
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import scope
from idcore.presentation.triage.processes import process_key
from idcore.presentation.triage.scope import Scope
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.view import View, in_sight, into_address

OFFERED = 200  # of each kind, those with the most IDs; others can be written
LONGEST = 60  # characters of a chip
# Where what is offered is, and by what the first are chosen.
OF_TABLES = {
    "host": ("hosts", "ids"),
    "process": ("processes", "ids"),
    "broker": ("brokers", "ids"),
    "topic": ("topics", "messages"),
}


def asked(page: str) -> Scope:
    """What of the address narrows this page."""
    return Scope.of_address(st.query_params).on(page)


def text(name: str, value: str) -> str:
    """A value as people read it."""
    return " · ".join(value.split("~")) if name == "process" else value


def names(wanted: Scope, words: Words) -> str:
    """What the pages are narrowed to, in a sentence."""
    return words.listed(
        [
            words("scope.one", kind=words(f"scope.of_{name}"), value=text(name, value))
            for name, value in wanted.params().items()
        ]
    )


def draw(run: Run, page: str, shown: View) -> None:
    """A chip for each filter, which removes it; what narrows nothing here says so. Then the boxes."""
    words, every = shown.words, Scope.of_address(st.query_params)
    idle = every.idle(page)
    with st.popover(words("scope.title"), type="tertiary", icon=":material/filter_alt:"):
        _boxes(run, every, shown)
    for name, value in every.params().items():
        label = f"{words(f'lines.by_{name}')} {text(name, value)}"
        label = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
        key = f"filter-chip-{name}" if name not in idle else f"filter-chip-idle-{name}"
        button = partial(st.button, escaped(label), key=key, on_click=_drop, args=(name,))
        button(icon=":material/close:", icon_position="right", help=words("lines.drop"))
    if idle:
        names = words.listed([words(f"lines.by_{name}") for name in idle])
        st.caption(words(f"scope.idle_{page}", names=names))


def _boxes(run: Run, chosen: Scope, shown: View) -> None:
    """A box for each filter with what the scan has most of. A choice goes into the address."""
    st.caption(shown.words("scope.help"))
    for name in scope.NAMES:
        key = f"scope-{name}"
        value = chosen.params().get(name)
        options = list(dict.fromkeys([*([value] if value else []), *_offered(run, name)]))
        st.session_state[key] = value
        st.selectbox(
            shown.words(f"lines.by_{name}"),
            options,
            key=key,
            format_func=partial(text, name),
            placeholder=shown.words("fate.any"),
            accept_new_options=name != "process",
            on_change=in_sight(_take),
            args=(name, key),
        )


def _drop(name: str) -> None:
    st.session_state.pop(name, None)  # of a page that has a box of its own for it
    into_address({name: None})


def _take(name: str, key: str) -> None:
    chosen = {name: st.session_state[key] or None}
    kept = scope.agreed({one: st.query_params.get(one) for one in scope.NAMES}, chosen)
    into_address(dict.fromkeys(scope.NAMES) | kept | chosen)


def _offered(run: Run, name: str) -> list[str]:
    """Whom a scan has: those with the most IDs first."""
    table, by = OF_TABLES[name]
    found = cache.frame(run, table)
    if found.empty:
        return []
    rows = found.nlargest(OFFERED, by).to_dict("records")
    column = "address" if name == "broker" else name
    return list(dict.fromkeys(process_key(row) if name == "process" else str(row[column]) for row in rows))

"""What only the browser can do: see the theme, mark the page it is on, hear clicks on charts, scroll, copy.

Each of these is a script in the folder js, which says why it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.server import streamlit_private
from pages.parts.view import COOKIE

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

SCRIPTS = Path(__file__).with_name("js")


@cache
def _component(name: str) -> ComponentRenderer:
    """The script of this name; where it draws anything, there is HTML of the same name."""
    script, html = ((SCRIPTS / f"{name}.{kind}") for kind in ("js", "html"))
    drawn = html.read_text(encoding="utf-8") if html.exists() else None
    code = script.read_text(encoding="utf-8")
    return st.components.v2.component(f"browser_{name}", html=drawn, js=code, isolate_styles=drawn is None)


def copy_button(text: str, words: Words, key: str, label: str | None = None) -> None:
    """A button that copies a text into the clipboard; where the browser forbids it, it says which keys to press.

    With a label of its own it is one of a row of links; without, it copies for a ticket.
    """
    if streamlit_private.runtime() is not None:
        data: dict[str, Any] = {"copied": words("copy.done"), "press": words("copy.press"), "text": text}
        data |= {"label": label or words("copy.ticket"), "quiet": label is not None}
        _component("copy")(data=data, key=f"copy-{key}", width="content")


def reveal(what: str, turn: int, wide: int = 0) -> None:
    """Scrolls to the element that a selector names, once for each turn; turn 0 is the page as it was opened."""
    if streamlit_private.runtime() is not None:
        _component("reveal")(data={"what": what, "turn": turn, "wide": wide}, key=f"browser-reveal{what}", height=1)


@cache
def _chart_code() -> str:
    """The file of Streamlit's own front end that draws charts; empty when it has another name by now."""
    files = sorted((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js"))
    return files[0].name if files else ""


def follow(theme: str, lang: str, entries: Mapping[str, str], home: str) -> None:
    """Runs the page again when the theme is no longer the one it was drawn in; fetches the code of charts early.

    The page says its language, for screen readers and translators, also where a link or a click has changed it.
    `entries` has the page that the menu's entry of each page leads to, and `home` the page of the console's address.
    """
    if streamlit_private.runtime() is not None:
        data = {"theme": theme, "lang": lang, "charts": _chart_code(), "entries": dict(entries), "home": home}
        _component("watch")(data=data, key="browser-watch", on_theme_change=lambda: None, height=1)


def keep(kept: Mapping[str, str], theme: str) -> None:
    """Writes what was chosen into cookies, and switches the theme to the one chosen, on every page of the console."""
    if streamlit_private.runtime() is not None:
        _component("keep")(data={"cookie": COOKIE, "kept": dict(kept), "theme": theme}, key="browser-keep", height=1)


def choose_with_keys(opened: int) -> None:
    """Makes the links of the box that finds anything choices of the keyboard; `opened` counts how often it opened."""
    if streamlit_private.runtime() is not None:
        _component("choose")(data={"opened": opened}, key="browser-choose", height=1)


def decode_while_typing() -> None:
    """Presses the buttons of the decode page's box when somebody pastes a text, or pauses while typing one."""
    if streamlit_private.runtime() is not None:
        _component("type")(key="browser-type", height=1)

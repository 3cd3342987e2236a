"""Figures are drawn on the server, so it has to hear when the reader switches the theme. Draws nothing itself."""

from __future__ import annotations

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

# Streamlit tells the theme with every run, but does not run again when it changes.
WATCH = """
export default function ({ data, setStateValue }) {
  const app = document.querySelector(".stApp");
  let last = data;
  const look = () => {
    const now = app ? getComputedStyle(app).colorScheme : last;
    if ((now === "dark" || now === "light") && now !== last) {
      last = now;
      setStateValue("theme", now);
    }
  };
  const timer = setInterval(look, 600);
  return () => clearInterval(timer);
}
"""


@cache
def _watch() -> ComponentRenderer:
    return st.components.v2.component("theme_watch", js=WATCH)


def follow(theme: str) -> None:
    """Runs the page again when the theme is no longer the one it was drawn in."""
    if st.runtime.exists():
        _watch()(data=theme, key="theme-watch", on_theme_change=lambda: None, height=1)

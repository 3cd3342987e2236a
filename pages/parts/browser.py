"""What only the browser knows: that the theme was switched, that a phone's menu has done its work. Draws nothing."""

from __future__ import annotations

from functools import cache

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

# Figures are drawn on the server. Streamlit tells it the theme with every run, but does not run again when it changes;
# and on a phone its sidebar stays open over the page that a link in it has opened.
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
  const menu = document.querySelector('[data-testid="stSidebar"]');
  const close = (event) => {
    if (window.innerWidth < 768 && event.target.closest('[data-testid="stPageLink-NavLink"]')) {
      setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click(), 50);
    }
  };
  menu?.addEventListener("click", close);
  return () => {
    clearInterval(timer);
    menu?.removeEventListener("click", close);
  };
}
"""


@cache
def _watch() -> ComponentRenderer:
    return st.components.v2.component("browser_watch", js=WATCH)


def follow(theme: str) -> None:
    """Runs the page again when the theme is no longer the one it was drawn in."""
    if st.runtime.exists():
        _watch()(data=theme, key="browser-watch", on_theme_change=lambda: None, height=1)

"""What only the browser can do: see the theme, mark the page it is on, hear clicks on charts, scroll, copy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from idcore.catalogue import Words
from pages.parts.view import COOKIE

# Figures are drawn on the server. Streamlit passes it the theme with every run, but does not run again when it changes;
# and on a phone its sidebar stays open over the page that a link in it has opened. The 5 MB that draw charts it asks
# for with the first chart only: half a second of waiting that is better spent while the reader looks for the ids.
# Where a box can be drawn in a chart, Streamlit does not hear of clicks: they are passed on as a selection.
# To a screen reader a link to the page it is on is like any other: Streamlit only gives it another colour.
# A page that is not served over HTTPS has no clipboard, and Streamlit's copy buttons fail there. What is selected may
# still be copied.
WATCH = """
const copied = async (text) => {
  const area = document.createElement("textarea");
  const before = document.activeElement;
  area.value = text;
  area.style.cssText = "position:fixed;top:0;opacity:0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  if (!done) throw new Error("not copied");
};
if (!navigator.clipboard) Object.defineProperty(navigator, "clipboard", { value: { writeText: copied } });
const heard = new WeakSet();
const hear = (chart) => {
  if (!chart._ev || heard.has(chart._ev)) return;
  heard.add(chart._ev);
  chart.on("plotly_click", ({ points }) => {
    const marks = points.filter((point) => point.customdata !== undefined);
    if (!marks.length || chart._fullLayout?.clickmode !== "event") return;
    const told = marks.map(({ curveNumber, pointNumber, pointIndex, x, y, customdata, data }) => (
      { curveNumber, pointNumber, pointIndex, x, y, customdata, data }
    ));
    chart.emit("plotly_selected", { points: told, selections: [] });
  });
};
export default function ({ data, setStateValue }) {
  const app = document.querySelector(".stApp");
  let last = data.theme;
  const code = document.querySelector('script[type="module"][src*="/static/js/"]');
  if (code && data.charts) {
    setTimeout(() => import(new URL(data.charts, code.src).href).catch(() => {}), 300);
  }
  const mark = () => {
    for (const link of document.querySelectorAll('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')) {
      if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  mark();
  const look = () => {
    document.querySelectorAll(".js-plotly-plot").forEach(hear);
    mark(); // the address changes without anything in the menu
    const now = app ? getComputedStyle(app).colorScheme : last;
    if ((now === "dark" || now === "light") && now !== last) {
      last = now;
      setStateValue("theme", now);
    }
  };
  const timer = setInterval(look, 600);
  const menu = document.querySelector('[data-testid="stSidebar"]');
  const drawn = new MutationObserver(mark);
  if (menu) drawn.observe(menu, { childList: true, subtree: true });
  const close = (event) => {
    if (window.innerWidth < 768 && event.target.closest('[data-testid="stPageLink-NavLink"]')) {
      setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click(), 50);
    }
  };
  menu?.addEventListener("click", close);
  return () => {
    clearInterval(timer);
    drawn.disconnect();
    menu?.removeEventListener("click", close);
  };
}
"""

# What a click has added further down comes into sight; `wide` is the width from which it does.
REVEAL = """
let seen = 0;
export default function ({ data }) {
  if (data.turn > seen && window.innerWidth >= data.wide) {
    setTimeout(() => {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      document.querySelector(data.what)?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
    }, 150);
  }
  seen = data.turn;
}
"""

# navigator.clipboard exists on https and on localhost only. Elsewhere the text is selected and copied the old way, and
# where the browser forbids that, too, it stays in sight, selected, next to the keys that copy it.
COPY = """
export default function ({ data, parentElement }) {
  const find = (name) => parentElement.querySelector(name);
  const [button, said, area] = ["button", "[role=status]", "textarea"].map(find);
  find(".mq-copying").classList.toggle("mq-quiet", data.quiet);
  find("button span").textContent = data.label;
  area.setAttribute("aria-label", data.label);
  const select = () => {
    area.hidden = false;
    area.value = data.text;
    area.focus();
    area.select();
  };
  const old = () => {
    select();
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  };
  const show = (copied) => {
    area.hidden = copied;
    said.textContent = copied ? data.copied : data.press;
    clearTimeout(said.mqTimer);
    if (copied) said.mqTimer = setTimeout(() => (said.textContent = ""), 4000);
    if (copied) button.focus();
    else select();
  };
  button.onclick = () => {
    const copy = window.isSecureContext && navigator.clipboard?.writeText(data.text);
    if (copy) copy.then(() => show(true), () => show(old()));
    else show(old());
  };
}
"""
COPY_HTML = """
<div class="mq-copying"><button type="button"><svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true"><path
fill="currentColor" d="M16 1H4a2 2 0 0 0-2 2v14h2V3h12zm3 4H8a2 2 0 0 0-2 2v14c0 1.1.9 2 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0
0-2-2m0 16H8V7h11z"/></svg><span></span></button> <span role="status"></span>
<textarea readonly hidden rows="8"></textarea></div>
"""


@cache
def _copy() -> ComponentRenderer:
    return st.components.v2.component("browser_copy", html=COPY_HTML, js=COPY, isolate_styles=False)


def copy_button(text: str, words: Words, key: str, label: str | None = None) -> None:
    """A button that copies a text into the clipboard; where the browser forbids it, it says which keys to press.

    With a label of its own it is one of a row of links; without, it copies for a ticket.
    """
    if st.runtime.exists():
        told: dict[str, Any] = {"copied": words("copy.done"), "press": words("copy.press"), "text": text}
        told |= {"label": label or words("copy.ticket"), "quiet": label is not None}
        _copy()(data=told, key=f"copy-{key}", width="content")


@cache
def _reveal() -> ComponentRenderer:
    return st.components.v2.component("browser_reveal", js=REVEAL)


def reveal(what: str, turn: int, wide: int = 0) -> None:
    """Scrolls to the element that a selector names, once for each turn; turn 0 is the page as it was opened."""
    if st.runtime.exists():
        _reveal()(data={"what": what, "turn": turn, "wide": wide}, key=f"browser-reveal{what}", height=1)


@cache
def _watch() -> ComponentRenderer:
    return st.components.v2.component("browser_watch", js=WATCH)


@cache
def _chart_code() -> str:
    """The file of Streamlit's own front end that draws charts; empty when it has another name by now."""
    found = sorted((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js"))
    return found[0].name if found else ""


def follow(theme: str) -> None:
    """Runs the page again when the theme is no longer the one it was drawn in; fetches the code of charts early."""
    if st.runtime.exists():
        _watch()(
            data={"theme": theme, "charts": _chart_code()}, key="browser-watch", on_theme_change=lambda: None, height=1
        )


# What a visitor chose is kept in cookies, so that the server has it with the first request of the next visit. The theme
# is Streamlit's own: its switch is in the menu, which the style hides, and it keeps the theme of each address alone.
# So ours presses that switch, and copies what it stored to every page.
KEEP = """
const NAMES = ["system", "light", "dark"];
const STORED = /^stActiveTheme-(.*)-v[0-9]+$/;
const opened = new URL(performance.getEntriesByType("navigation")[0]?.name ?? location.href).pathname;
const stored = () => Object.keys(localStorage).find((key) => STORED.exec(key)?.[1] === opened);
const theme = () => (stored() ? JSON.parse(localStorage.getItem(stored())).toLowerCase() : "system");
const copy = () => {
  const key = stored();
  const links = document.querySelectorAll('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]');
  const pages = key ? [...links].map((link) => link.pathname) : [];
  for (const path of [...pages, ...pages.map((page) => page.replace(/[^/]*$/, ""))]) {
    localStorage.setItem(key.replace(`stActiveTheme-${opened}-`, `stActiveTheme-${path}-`), localStorage.getItem(key));
  }
};
const press = (name) => {
  const menu = document.querySelector('[data-testid="stMainMenuButton"]');
  const before = document.activeElement;
  menu.click();
  setTimeout(() => {
    document.querySelectorAll('[data-testid="stThemeSwitcher"] [role="menuitemradio"]')[NAMES.indexOf(name)].click();
    setTimeout(() => {
      if (menu.getAttribute("aria-expanded") === "true") menu.click();
      before?.focus();
      copy();
    }, 50);
  }, 50);
};
let pressed = "";
export default function ({ data }) {
  for (const [name, value] of Object.entries(data.kept)) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    const how = `path=/; max-age=${value ? 31536000 : 0}; samesite=lax${secure}`;
    document.cookie = `${data.cookie}${name}=${encodeURIComponent(value)}; ${how}`;
  }
  if (NAMES.includes(data.theme) && data.theme !== pressed) {
    pressed = data.theme;
    if (data.theme !== theme()) press(data.theme);
  }
}
"""

# The box that finds anything: arrows go through the links, Enter in the box opens the first, once it belongs to what is
# in the box.
CHOOSE = """
const links = () => [...document.querySelectorAll('.st-key-find-hits [data-testid="stPageLink-NavLink"]')];
const box = () => document.querySelector('.st-key-find_term input');
let term = "";
let waiting = false;
const open = () => {
  waiting = box().value.trim() !== term;
  if (!waiting) links()[0]?.click();
};
const onKey = (event) => {
  const all = [box(), ...links()];
  const place = all.indexOf(document.activeElement);
  if (event.key === "Enter" && place === 0) open();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || place < 0) return;
  event.preventDefault();
  all[Math.min(Math.max(place + step, 0), all.length - 1)].focus();
};
const onClick = (event) => {
  if (window.innerWidth < 768 && links().includes(event.target.closest("a"))) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
};
export default function ({ data }) {
  term = data.term;
  if (!data.term && !box().dataset.keys) box().focus();
  box().dataset.keys = "on";
  const dialog = box().closest('[role="dialog"]');
  dialog.addEventListener("keydown", onKey);
  dialog.addEventListener("click", onClick);
  if (waiting) setTimeout(open, 50);
  return () => {
    dialog.removeEventListener("keydown", onKey);
    dialog.removeEventListener("click", onClick);
  };
}
"""


@cache
def _keep() -> ComponentRenderer:
    return st.components.v2.component("browser_keep", js=KEEP)


def keep(kept: Mapping[str, str], theme: str) -> None:
    """Writes what was chosen into cookies, and switches the theme to the one chosen, on every page of the console."""
    if st.runtime.exists():
        _keep()(data={"cookie": COOKIE, "kept": dict(kept), "theme": theme}, key="browser-keep", height=1)


@cache
def _choose() -> ComponentRenderer:
    return st.components.v2.component("browser_choose", js=CHOOSE)


def choose_with_keys(term: str) -> None:
    """Makes the links below the box that finds anything choices of the keyboard; `term` is what they belong to."""
    if st.runtime.exists():
        _choose()(data={"term": term}, key="browser-choose", height=1)

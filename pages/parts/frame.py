"""The frame around every page: addresses, sidebar, language, zone, style. Reads no id."""

from __future__ import annotations

import json
import re
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from idcore import catalogue, times
from pages.parts import browser, problems, roles, scans
from pages.parts.view import View, browser_zone, link_params, settle

PAGES = Path(__file__).resolve().parents[1]
ICON = Path(__file__).with_name("icon.png")
STYLE = (Path(__file__).with_name("style.css")).read_text(encoding="utf-8")

# Streamlit writes English next to its own controls, and "1GB" for 1 GiB: these texts of ours are put over its own.
OWN_TEXTS = """
[data-testid="stFileUploaderDropzone"] button p { font-size: 0; }
[data-testid="stFileUploaderDropzone"] button p::after { content: UPLOAD; font-size: 0.875rem; }
[data-testid="stFileUploaderDropzoneInstructions"] { font-size: 0; }
[data-testid="stFileUploaderDropzoneInstructions"] * { font-size: 0; }
[data-testid="stFileUploaderDropzoneInstructions"]::after { content: LIMIT; font-size: 0.875rem; }
[data-testid="InputInstructions"], [data-testid="InputInstructions"] * { font-size: 0; }
[data-testid="InputInstructions"]::after { content: ENTER; font-size: 0.75rem; }
"""

# Group -> pages: address, script, icon. An address is a contract; the words come from text.
GROUPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "ids": (
        ("decode", "ids/decode.py", ":material/data_object:"),
        ("anatomy", "ids/anatomy.py", ":material/view_week:"),
        ("lab", "ids/lab.py", ":material/science:"),
    ),
    "triage": (
        ("findings", "triage/findings.py", ":material/troubleshoot:"),
        ("lines", "triage/lines.py", ":material/format_list_numbered:"),
        ("compare", "triage/compare.py", ":material/compare_arrows:"),
        ("producers", "triage/producers.py", ":material/dns:"),
        ("counters", "triage/counters.py", ":material/show_chart:"),
        ("brokers", "triage/brokers.py", ":material/storage:"),
    ),
    "messages": (
        ("lookup", "messages/lookup.py", ":material/search:"),
        ("store", "messages/store.py", ":material/folder_open:"),
    ),
    "runs": (("runs", "runs/runs.py", ":material/history:"),),
}
TRIAGE = tuple(address for address, _, _ in GROUPS["triage"] if address != "compare")  # pages that show one scan
HOME = "home"


def pages(words: catalogue.Words) -> dict[str, Page]:
    """Every page by its address. The home page is the decode page once more: a default page lives at / alone."""
    made = {HOME: st.Page(PAGES / "ids/decode.py", title=words("page.decode"), url_path=HOME, default=True)}
    for rows in GROUPS.values():
        for address, script, icon in rows:
            made[address] = st.Page(PAGES / script, title=words(f"page.{address}"), url_path=address, icon=icon)
    return made


def draw_frame() -> None:
    """Everything of one run: settings, sidebar, page."""
    view = settle()
    words = view.words
    made = pages(words)
    st.set_page_config(page_title=words("name"), page_icon=str(ICON), layout="wide")
    texts = {
        name: json.dumps(words(f"frame.{name.lower()}"), ensure_ascii=False) for name in ("UPLOAD", "LIMIT", "ENTER")
    }
    own_texts = re.sub("UPLOAD|LIMIT|ENTER", lambda found: texts[found[0]], OWN_TEXTS)
    st.html(f"<style>:root{{{roles.css_variables()}}}{STYLE}{roles.css_fields()}{own_texts}</style>")
    current = st.navigation(list(made.values()), position="hidden")
    st.session_state["pages"] = made
    scans.warm_up()
    with st.sidebar:
        sidebar(view, made, current)
        browser.follow(view.theme)
    with problems.caught():
        current.run()


def sidebar(view: View, made: dict[str, Page], current: Page) -> None:
    """Name, pages in groups, language, zone; nothing else."""
    words = view.words
    st.html(f'<div class="mq-name"><i></i><i></i><i></i><i></i><b>{words("name")}</b></div>')
    for group, rows in GROUPS.items():
        with st.container(key=f"nav-{group}", gap="xsmall"):
            st.html(f'<div class="mq-group">{words(f"group.{group}")}</div>')
            for address, _, icon in rows:
                page = made[HOME] if address == "decode" and current is made[HOME] else made[address]
                run = scans.current_name() if address in TRIAGE else None
                st.page_link(
                    page,
                    label=words(f"page.{address}"),
                    icon=icon,
                    width="stretch",
                    query_params=link_params(run=run),
                )
    with st.container(key="nav-settings", gap="small"):
        state = st.session_state
        state["pick_lang"] = words.lang
        st.segmented_control(
            words("lang"),
            list(catalogue.languages()),
            key="pick_lang",
            format_func=lambda lang: catalogue.words(lang)("lang.self"),
            on_change=choose_lang,
            required=True,
        )
        names = zone_options(view)
        own = view.zone_name if view.zone_from == "browser" else None  # any zone in the link was chosen
        state["pick_zone"] = view.zone_name
        st.selectbox(
            words("zone"),
            names,
            key="pick_zone",
            on_change=choose_zone,
            help=words("zone.help"),
            format_func=lambda name: words("zone.browser", zone=name) if name == own else name,
        )


def zone_options(view: View) -> list[str]:
    """UTC and the browser's zone first, then every other."""
    first = dict.fromkeys(name for name in (browser_zone(), "UTC", view.zone_name) if name)
    return [*first, *(name for name in times.zone_names() if name not in first)]


def choose_lang() -> None:
    """A choice of language goes into the address."""
    lang = st.session_state["lang"] = st.session_state["pick_lang"]
    st.query_params["lang"] = lang


def choose_zone() -> None:
    """A choice of zone goes into the address."""
    name = st.session_state["zone_chosen"] = st.session_state["pick_zone"]
    st.query_params["zone"] = name

"""The frame around every page: addresses, sidebar, title, language, zone, theme, style. Reads no id."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from idcore.base import catalogue
from idcore.policy.access import OF_PAGE, PERMISSIONS, Visitor
from idcore.presentation import zones
from idcore.presentation.reports import roles
from idcore.presentation.triage import run_texts
from idcore.server import jobs
from pages.parts import browser, problems, scans, session, visitor
from pages.parts.view import View, browser_zone, link_params, remember, remembered, settle
from pages.parts.view import view as settled
from pages.parts.widgets import DATA, data_of_charts

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

PAGES = Path(__file__).resolve().parents[1]
# In the page itself: a file of the server needs a login, and without an icon Streamlit asks another site for one.
ICON = "data:image/png;base64," + b64encode(Path(__file__).with_name("icon.png").read_bytes()).decode()
OWN_TEXTS = ("upload", "limit", "enter")  # that the style puts over those of Streamlit
STYLE = (Path(__file__).with_name("style.css")).read_text(encoding="utf-8")

# Entry of the menu -> its pages, tabs where there are several: address, script, icon. An address is a contract.
MENU: dict[str, tuple[tuple[str, str, str], ...]] = {
    "decode": (
        ("decode", "ids/decode.py", ":material/data_object:"),
        ("anatomy", "ids/anatomy.py", ":material/view_week:"),
    ),
    "incident": (
        ("findings", "triage/findings.py", ":material/troubleshoot:"),
        ("lines", "triage/lines.py", ":material/format_list_numbered:"),
        ("producers", "triage/producers.py", ":material/dns:"),
        ("counters", "triage/counters.py", ":material/show_chart:"),
        ("brokers", "triage/brokers.py", ":material/storage:"),
        ("fate", "triage/fate.py", ":material/mark_email_unread:"),
    ),
    "compare": (("compare", "triage/compare.py", ":material/compare_arrows:"),),
    "messages": (
        ("lookup", "messages/lookup.py", ":material/search:"),
        ("message", "messages/message.py", ":material/conversion_path:"),
    ),
    "groups": (("groups", "messages/groups.py", ":material/groups:"),),
    "store": (("store", "messages/store.py", ":material/folder_open:"),),
    "runs": (("runs", "runs/runs.py", ":material/history:"),),
    "lab": (("lab", "ids/lab.py", ":material/science:"),),
    "help": (
        ("help", "about/help.py", ":material/help:"),
        ("tokens", "runs/tokens.py", ":material/key:"),
    ),
}
TRIAGE = tuple(address for address, _, _ in MENU["incident"])  # pages that show one scan
HOME = "home"
THEMES = ("system", "light", "dark")
SUBJECTS = ("process", "host", "broker", "id", "ids", "store", "group")  # of an address: what a page is about


def pages(words: catalogue.Words) -> dict[str, Page]:
    """Every page by its address. The home page is the decode page once more: a default page lives at / alone."""
    pages = {HOME: st.Page(PAGES / "ids/decode.py", title=words("page.decode"), url_path=HOME, default=True)}
    for rows in MENU.values():
        for address, script, icon in rows:
            pages[address] = st.Page(PAGES / script, title=words(f"page.{address}"), url_path=address, icon=icon)
    return pages


@session.ending
def draw_frame() -> None:
    """Everything of one run: settings, sidebar, page."""
    session.begin()
    view = settle()
    words = view.words
    every_page, here = pages(words), visitor.current()
    # Streamlit shows its menu, and with it the switch of themes that ours operates, only where an app adds an item.
    st.set_page_config(page_icon=ICON, layout="wide", menu_items={"About": words("name")})
    texts = (f"--text-{name}:{json.dumps(words(f'frame.{name}'), ensure_ascii=False)};" for name in OWN_TEXTS)
    st.html(f"<style>:root{{{roles.css_variables()}{''.join(texts)}}}{STYLE}{roles.css_fields()}</style>")
    current = st.navigation(list(every_page.values()), position="hidden")
    address = next(name for name, page in every_page.items() if page is current)
    if not here.roles:  # nothing of the page, its title and the sidebar
        st.set_page_config(page_title=words("name"))
        visitor.log_in(words, here)
        return
    may = here.may_open(address)
    st.set_page_config(page_title=title("decode" if address == HOME else address, words) if may else words("name"))
    confirm_link(address)
    st.session_state["pages"] = {
        name: page for name, page in every_page.items() if here.may_open(name)
    }  # links lead to these
    jobs.warm_up()
    if "noted" not in st.session_state:
        st.session_state["noted"] = True
        session.note_login()
    if may and address in TRIAGE and st.query_params.get("wall") == "1":
        from pages.parts.triage import wall  # pandas, which the first page does without

        with problems.caught():
            wall.show()
        return
    with st.sidebar:
        find = sidebar(view, every_page, here)
        opened = st.session_state["find-opened"] = st.session_state.get("find-opened", 0) + find
        browser.choose_with_keys(opened)
        browser.follow(view.theme, words("lang.html"), entries(here), "decode")
        browser.keep(st.session_state.get("remembered", {}), remembered("theme"))
    if find:
        from pages.parts import palette  # pandas, which the first page does without

        palette.show(view, opened)
    if (refused := session.refused_upload()) is not None:
        problems.show_error(refused)
    with problems.caught():
        if may:
            tabs(every_page, "decode" if address == HOME else address, here, words)
            st.session_state.pop(DATA, None)
            try:
                current.run()
            finally:
                data_of_charts()
        else:
            st.title(words(f"page.{address}"), anchor=False)
            visitor.refused(words, here, PERMISSIONS[OF_PAGE[address]].roles)


def confirm_link(address: str) -> None:
    """Streamlit's front end forgets the values of a link to the page in sight. A value set again is sent to it."""
    state, query = st.session_state, st.query_params
    before = state.get("address")
    now = state["address"] = (address, {name: query.get_all(name) for name in query})
    if before is not None and before[0] == address and before != now:
        for name in ("run", "zone", "lang"):
            if name in query:
                query[name] = query[name]  # with it all others are sent
                break


def title(address: str, words: catalogue.Words) -> str:
    """What a tab is called: the page, what it shows, the console. Ten tabs differ in their first words."""
    query = st.query_params
    subjects = [query[name].replace("~", " ") for name in SUBJECTS if query.get(name)]
    if address in TRIAGE:
        run = scans.at_hand()
        subjects += [run_texts.title_of(run.title, run.options, words, run.summary)] if run is not None else []
    return run_texts.tab_title([words(f"page.{address}"), *subjects, words("name")])


def params_of(address: str) -> dict[str, str | Sequence[str]]:
    """What a link to a page carries: where that shows a scan the one in sight, with its range and filters."""
    return link_params(address, run=scans.current_name() if address in TRIAGE else None)


def is_offered(address: str, here: Visitor) -> bool:
    """Whether the menu leads a visitor there: without a log-in nobody has tokens."""
    return here.may_open(address) and (address != "tokens" or bool(here.name))


def entries(here: Visitor) -> dict[str, str]:
    """Of each page that the visitor may open, the first one of its entry of the menu: that is what the entry opens."""
    may = [[address for address, _, _ in rows if is_offered(address, here)] for rows in MENU.values()]
    return {address: some[0] for some in may for address in some}


def tabs(pages: dict[str, Page], opened: str, here: Visitor, words: catalogue.Words) -> None:
    """The pages of the menu's entry that is open, in the place of a title; nothing where it has one page."""
    known = entries(here)
    some = [address for address, first in known.items() if first == known.get(opened)]
    if len(some) > 1:
        with st.container(key="tabs", horizontal=True, gap="medium"):
            for address in some:
                key = "tab-open" if address == opened else f"tab-{address}"
                with st.container(key=key, width="content"):
                    st.page_link(pages[address], label=words(f"page.{address}"), query_params=params_of(address))


def sidebar(view: View, pages: dict[str, Page], here: Visitor) -> bool:
    """Name, the entries of the reader's roles, language, zone, theme; whether the reader wants to find something."""
    words = view.words
    st.html(f'<div class="mq-name"><i></i><i></i><i></i><i></i><b>{words("name")}</b></div>')
    find = st.button(words("find"), key="find-anything", icon=":material/search:", shortcut="Ctrl+K", width="stretch")
    first = entries(here)
    with st.container(key="nav", gap="xsmall"):
        for entry, rows in MENU.items():
            if some := [address for address, _, _ in rows if address in first]:
                page, icon, params = pages[some[0]], rows[0][2], params_of(some[0])
                label = words(f"menu.{entry}" if len(rows) > 1 and entry != some[0] else f"page.{entry}")
                st.page_link(page, label=label, icon=icon, width="stretch", query_params=params)
    with st.container(key="nav-settings", gap="small"):
        state = st.session_state
        look: dict[str, Any] = {"required": True, "label_visibility": "collapsed"}
        state["pick_lang"], langs = words.lang, list(catalogue.languages())
        text = lambda lang: catalogue.words(lang)("lang.self")  # noqa: E731
        st.segmented_control(words("lang"), langs, key="pick_lang", format_func=text, on_change=choose_lang, **look)
        own = view.zone_name if view.zone_from == "browser" else None  # any zone in the link was chosen
        now = view.now()
        state["pick_zone"] = view.zone_name
        st.selectbox(
            words("zone"),
            zones.options(browser_zone(), "UTC", view.zone_name),
            key="pick_zone",
            on_change=choose_zone,
            help=words("zone.help"),
            filter_mode="contains",
            format_func=lambda name: zones.label(name, now, words("zone.browser", zone=name) if name == own else None),
        )
        chosen = remembered("theme")
        state["pick_theme"] = chosen if chosen in THEMES else THEMES[0]
        text, change = lambda name: words(f"theme.{name}"), lambda: remember("theme", state["pick_theme"])
        st.segmented_control(words("theme"), THEMES, key="pick_theme", format_func=text, on_change=change, **look)
        visitor.log_out(words, here)
    return find


def choose_lang() -> None:
    """A choice of language goes into the address, and counts for later visits."""
    lang = st.session_state["pick_lang"]
    if lang == settled().words.lang:  # the value of a page that went, not a choice
        return
    st.session_state["lang"] = lang
    st.query_params["lang"] = lang
    remember("lang", lang)


def choose_zone() -> None:
    """A choice of zone goes into the address, and counts for later visits. The browser's own zone is not kept."""
    name = st.session_state["pick_zone"]
    if name == settled().zone_name:  # the value of a page that went, not a choice
        return
    st.session_state["zone_chosen"] = name
    st.query_params["zone"] = name
    remember("zone", "" if name == browser_zone() else name)

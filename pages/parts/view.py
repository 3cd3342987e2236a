"""How this visitor reads: language, zone, theme; from the address, else from earlier visits. Depends on no page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import unquote, urlencode, urlsplit

import streamlit as st

from idcore.base import catalogue
from idcore.ids.clock import Clock
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.reports import roles
from idcore.presentation.triage import scope

ZoneFrom = Literal["chosen", "browser", "default"]
COOKIE = "rocketmq-ids-"  # and the name of a choice
RANGE = ("from", "to")  # the time range of an address
LONGEST_CARRIED = 4_096  # characters of a value that links take over from an address, as of the longest path


@dataclass(frozen=True, slots=True)
class View(Reader):
    """The choices that colour every page."""

    zone_name: str
    zone_from: ZoneFrom
    theme: roles.Theme
    away: bool = False  # what it makes leaves the console: addresses have their server

    @property
    def palette(self) -> roles.Palette:
        """The colours of the reader's theme."""
        return roles.palette(self.theme)

    def now(self) -> datetime:
        """The clock of this page; the core has no clock."""
        return datetime.now(UTC)

    def clock(self, reference: datetime | None = None) -> Clock:
        """What dates an ID: "now", and the zone that is assumed where no line shows it."""
        return Clock(reference or self.now(), self.zone, "given" if self.zone_from == "chosen" else "assumed")

    def href(self, page: str, **asked: str | Sequence[str] | None) -> str:
        """A page of the console as an address, for links inside tables."""
        return absolute(page, **asked) if self.away else _relative(page, **asked)


def browser_zone() -> str | None:
    """The browser's zone, where it is one that the core accepts."""
    name = st.context.timezone
    return name if name and times.zone_of(name) is not None else None


def remember(name: str, value: str) -> None:
    """A choice that the next visit begins with; an empty one is forgotten. The browser keeps it."""
    st.session_state.setdefault("remembered", {})[name] = value


def remembered(name: str) -> str:
    """What this visitor chose last, now or on an earlier visit; empty without a choice."""
    now: dict[str, str] = st.session_state.get("remembered", {})
    return now[name] if name in now else unquote(st.context.cookies.get(f"{COOKIE}{name}", ""))


def usual_lang() -> str:
    """The language of a visit whose address has none."""
    return catalogue.lang_of(remembered("lang")) or catalogue.lang_of(st.context.locale) or catalogue.ENGLISH


def settle() -> View:
    """Language and zone: the address first, then this session's choice, then earlier visits, then the browser."""
    state, query = st.session_state, st.query_params
    lang = catalogue.lang_of(query.get("lang")) or catalogue.lang_of(state.get("lang")) or usual_lang()
    wanted = (query.get("zone", "").replace(" ", "+"), state.get("zone_chosen"), remembered("zone"))
    asked, zone = next(((name, zone) for name in wanted if name and (zone := times.zone_of(name))), ("", None))
    source: ZoneFrom
    if zone is not None and asked:
        name, source = asked, "chosen"
    elif (browser := browser_zone()) is not None:
        name, zone, source = browser, times.zone_of(browser), "browser"
    else:
        name, zone, source = "UTC", UTC, "default"
    theme: roles.Theme = "dark" if st.context.theme.type == "dark" else "light"
    state["lang"], state["zone_chosen"] = lang, name if source == "chosen" else None
    settled = View(catalogue.words(lang), zone or UTC, name, source, theme)
    state["view"] = settled
    return settled


def view() -> View:
    """What settle() found in this run."""
    held = st.session_state.get("view")
    return held if isinstance(held, View) else settle()


def in_sight(callback: Callable[..., None]) -> Callable[..., None]:
    """A widget's `on_change` that does nothing once another page is in sight.

    A browser sends the values of all widgets with a request. One that is on its way while the page changes has those
    of the page that went, and Streamlit takes each for a change.
    """
    drawn_on = _screen()

    def of_screen(*args: object, **options: object) -> None:
        if _screen() == drawn_on:
            callback(*args, **options)

    return of_screen


def _screen() -> tuple[str, bool] | None:
    """The page in sight, and whether it is the wall display."""
    address = st.session_state.get("address")
    return None if address is None else (address[0], "wall" in address[1])


def into_address(values: Mapping[str, str | None]) -> None:
    """The address of the page has these values from now on; what is empty is not in it."""
    query = st.query_params
    for name, value in values.items():
        if not value:
            query.pop(name, None)
        elif query.get(name) != value:
            query[name] = value


def link_params(page: str = "", /, **more: str | Sequence[str] | None) -> dict[str, str | Sequence[str]]:
    """What every link inside the console carries: language and zone where they are chosen, and what is given.

    A link to the scan in sight also carries the time range in sight, and one to a `page` of its incident the host,
    process, broker and topic; another scan has others.
    """
    state, query = st.session_state, st.query_params
    lang = state.get("lang")
    unsaid = lang == catalogue.ENGLISH == usual_lang()
    params: dict[str, str | Sequence[str] | None] = {"lang": None if unsaid else lang}
    if more.get("run") and more["run"] == query.get("run", state.get("run")):
        if not more.keys() & set(RANGE):
            params |= carried(RANGE)
        if page in scope.APPLIES:
            params |= scope.agreed(carried(scope.NAMES), more)
    params |= {"zone": state.get("zone_chosen"), **more}
    return {key: value for key, value in params.items() if value}


def carried(names: Iterable[str]) -> dict[str, str | None]:
    """These values of the address in sight, for links: a page has hundreds, and a browser may send half a megabyte."""
    every = {name: st.query_params.get(name) for name in names}
    return {name: value if len(value or "") <= LONGEST_CARRIED else None for name, value in every.items()}


def _relative(page: str, **asked: str | Sequence[str] | None) -> str:
    query = urlencode(link_params(page, **asked), doseq=True)
    return f"{page}?{query}" if query else page


def absolute(page: str, **asked: str | Sequence[str] | None) -> str:
    """An address with its server, for what leaves the console, and the zone in sight: who opens it sees its times.

    Empty where nobody asked for a page.
    """
    parts = urlsplit(st.context.url or "")
    path = parts.path.rpartition("/")[0]
    return (
        f"{parts.scheme}://{parts.netloc}{path}/{_relative(page, **{'zone': view().zone_name, **asked})}"
        if parts.netloc
        else ""
    )

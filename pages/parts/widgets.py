"""What every page is made of: the sentence, the chart with its text and its data, the small print, empty states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import streamlit as st

from idcore.policy import audit
from idcore.policy.access import AccessError, Visitor
from idcore.presentation import documents, export
from idcore.presentation.reports.markup import Html, Table, emphasised, tag, unbroken
from idcore.server.gate import May
from pages.parts import scans, session, visitor
from pages.parts.view import View, in_sight, into_address, link_params, view

if TYPE_CHECKING:  # the decode page is up before pandas and Plotly are
    import pandas as pd
    import plotly.graph_objects as go

ROWS = 50  # on one page of a table
ALL_COLUMNS = "all"  # in the address where all columns of the tables are asked for
DATA = "data-of-charts"  # in the state of the session, while a page is drawn
FEW = 2  # ids that are a sentence and not a chart
Rows = TypeVar("Rows", bound=Sized)
CONFIG: dict[str, Any] = {"displayModeBar": False, "doubleClick": "reset", "showTips": False}


def heading(key: str) -> None:
    """The page's name, and a link to the document about it."""
    words, page = view().words, key.removeprefix("page.")
    across: dict[str, Any] = {"horizontal_alignment": "distribute", "vertical_alignment": "center"}
    with st.container(horizontal=True, key="heading", **across):
        st.title(words(key), anchor=False, width="content")
        if page != "help" and documents.names():
            page_link("help", words("help.about"), icon=":material/help:", doc=documents.OF_PAGE.get(page, page))
        st.session_state["working"] = st.empty()
    working(words("frame.loading", what=words(key)))


def working(text: str) -> None:
    """What is being loaded: in sight while a page is drawn for longer than a moment, above what was there before."""
    if (place := st.session_state.get("working")) is not None:
        place.html(tag("p", text, class_="mq-working", role="status"))


def said(sentence: str, aside: str = "") -> None:
    """The answer in a sentence; **figures** are set off. The `aside` is smaller, or the answer where there is none."""
    if not sentence:
        sentence, aside = aside, ""
    more = tag("p", emphasised(aside), class_="mq-faint mq-aside") if aside else None
    st.html(tag("div", tag("p", emphasised(sentence), class_="mq-said"), more))


def small_print(lines: Sequence[str]) -> None:
    """What was assumed, left out or thinned."""
    shown = [line for line in lines if line]
    if shown:
        st.html(tag("ul", *(tag("li", unbroken(line)) for line in shown), class_="mq-small"))


def show_html(html: Html) -> None:
    """Escaped HTML from markup, and nothing else."""
    st.html(html)


@dataclass(frozen=True, slots=True)
class Brush:
    """A box that a reader draws along the time axis of a chart, and who takes it.

    `state` is part of the chart's key: once the range has changed, the chart is a new one, without the old box.
    """

    state: str
    take: Callable[[Mapping[str, Any]], None]


def few(ids: int, names: Sequence[str]) -> bool:
    """Whether ids are so few that a chart would look empty: then a sentence is here in its place."""
    if ids > FEW:
        return False
    words = view().words
    st.html(tag("p", words("chart.few", n=words.count("id", ids), name=words.listed(names)), class_="mq-faint mq-note"))
    return True


def chart(
    figure: go.Figure,
    alt: str,
    data: Callable[[], pd.DataFrame] | None,
    name: str,
    *,
    select: bool = False,
    brush: Brush | None = None,
    below: Html | None = None,
) -> Any:
    """A picture with its text for screen readers. Its data is where that of all charts of the page is.

    With `select` the clicked points are given back. With `brush` a box along x goes to who takes it.
    """
    key = f"chart-{name}"
    if brush is not None:
        key += f"-{brush.state}"
        box = {"fillcolor": view().palette.text, "opacity": 0.12, "line": {"width": 1, "color": view().palette.text}}
        figure.update_layout(dragmode="select", selectdirection="h")
        figure.layout.newselection = {"line": box["line"]}
        figure.layout.activeselection = {name: box[name] for name in ("fillcolor", "opacity")}
    state: Any = None
    if select or brush is not None:
        modes: list[Literal["points", "box"]] = ["points"] if select else []
        take = brush.take if brush is not None else None
        state = st.plotly_chart(
            figure,
            theme=None,
            config=CONFIG,
            key=key,
            alt=alt,
            on_select=(lambda: take(st.session_state[key])) if take is not None else "rerun",
            selection_mode=[*modes, "box"] if brush is not None else modes,
        )
    else:
        st.plotly_chart(figure, theme=None, config=CONFIG, key=key, alt=alt)
    if below is not None:
        st.html(below)
    if data is not None:
        st.session_state.setdefault(DATA, {})[name] = data
    return state


def data_of_charts() -> None:
    """The data of all charts of a page in one place, below them."""
    tables: Mapping[str, Callable[[], pd.DataFrame]] = st.session_state.pop(DATA, {})
    if tables:
        with (
            st.container(horizontal=True, horizontal_alignment="right"),
            st.popover(view().words("csv.of_charts"), icon=":material/download:", type="tertiary"),
        ):
            for name, data in tables.items():
                file = f"{name}.csv"
                download(file, lambda data=data: export.csv_frame(data()), file, key=f"data-{name}")  # type: ignore[misc]


def download(label: str, data: bytes | Callable[[], bytes], file: str, *, key: str, mime: str = "text/csv") -> None:
    """A file; from a function it is made when it is asked for.

    Where the page looks at a running scan the bytes must be there. Streamlit drops what was made for a click as soon as
    anything on the page is drawn again. The audit log has a line for each download.
    """
    taken = partial(audit.note, "downloaded", session.someone(), file=file, run=st.query_params.get("run"))
    may = scans.shown().may
    offer = partial(session.offer, mime=mime, file=file, name=visitor.current().name, may=may)
    if isinstance(data, bytes):
        offer(data)
    st.download_button(
        label,
        data
        if isinstance(data, bytes)
        else partial(_made, data, taken, offer, partial(_ask, visitor.later(), may), session.making()),
        file,
        mime,
        key=key,
        on_click=taken if isinstance(data, bytes) else "ignore",
        type="tertiary",
        icon=":material/download:",
    )


def downloads(rows: bytes | Callable[[], bytes], lines: bytes | Callable[[], bytes], file: str, key: str) -> None:
    """The same as CSV and as JSON Lines."""
    with st.container(horizontal=True, gap="medium"):
        download("CSV", rows, f"{file}.csv", key=f"{key}-csv")
        download("JSON Lines", lines, f"{file}.jsonl", key=f"{key}-json", mime="application/x-ndjson")


def _ask(later: Callable[[], Visitor], may: May) -> None:
    """AccessError where who saw the button may not have its file any more: Streamlit makes it apart from the page."""
    if not may(here := later()):
        raise AccessError("file_withheld", {"name": here.name or "–"})


def _made(
    make: Callable[[], bytes],
    taken: Callable[[], None],
    offer: Callable[[bytes], None],
    ask: Callable[[], None],
    making: Callable[[], AbstractContextManager[None]],
) -> bytes:
    with making():
        ask()
        taken()
        data = make()
        offer(data)
        return data


def page_link(address: str, text: str, /, *, icon: str | None = None, **params: str | Sequence[str] | None) -> None:
    """A link to a page of the console that keeps language, zone and what is given, be it called `label`."""
    pages = st.session_state.get("pages", {})
    if address in pages:
        st.page_link(pages[address], label=text, icon=icon, query_params=link_params(address, **params))


def empty(text: str, *links: tuple[str, str]) -> None:
    """Nothing to show: what to do, with links that do it."""
    with st.container(border=True, key="empty"):
        st.markdown(text)
        with st.container(horizontal=True, gap="medium"):
            for address, label in links:
                page_link(address, label, icon=":material/arrow_forward:")


def zone_note(shown: View) -> str:
    """Which zone the times of this page are in, and why."""
    source = "chosen" if shown.away else shown.zone_from
    return shown.words(f"zone.note_{source}", zone=shown.zone_name)


def columns(table: Table, usual: Sequence[str], name: str = "") -> Table:
    """A table with its usual columns, at most eight, and a switch that shows all of them.

    The address has it for every table; `name` tells the switches of a page apart.
    """
    if {column.name for column in table.columns} <= set(usual):
        return table
    state, key = st.session_state, f"columns{name}"
    state[key] = st.query_params.get("columns") == ALL_COLUMNS
    into = lambda: into_address({"columns": ALL_COLUMNS if state[key] else None})  # noqa: E731
    every = st.toggle(view().words("columns.all", n=len(table.columns)), key=key, on_change=in_sight(into))
    return table if every else table.only(*usual)


def page_of(rows: Rows, key: str, size: int = ROWS) -> tuple[Rows, int]:
    """The rows in sight, and the number of the first."""
    page = min(int(st.session_state.get(key) or 1), max(1, -(-len(rows) // size)))
    sliced: Any = getattr(rows, "iloc", rows)  # of a table, rows by their places
    return sliced[(page - 1) * size : page * size], (page - 1) * size + 1


def pager(rows: Sized, key: str, size: int = ROWS) -> None:
    """Which rows are in sight, and other pages of a table, where there are any."""
    if (pages := -(-len(rows) // size)) > 1:
        first = (min(int(st.session_state.get(key) or 1), pages) - 1) * size
        ends = {"first": first + 1, "last": min(first + size, len(rows)), "all": len(rows)}
        st.caption(view().words.numbers("pager.rows", **ends))
        st.pagination(pages, key=key)

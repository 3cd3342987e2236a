"""Lines: every ID of a run with its log line, filtered and searched. Computes nothing itself."""

from functools import partial

import streamlit as st

from idcore.base.errors import CoreError
from idcore.policy import limits
from idcore.presentation.html import lines as html
from idcore.presentation.triage import file_names, line_filter
from idcore.presentation.triage import lines as files
from pages.parts import problems, session
from pages.parts.triage import filters, lines, opened, shared, time_range
from pages.parts.view import in_sight, view
from pages.parts.widgets import downloads, heading, said, show_html, small_print

shown = view()
words = shown.words
heading("page.lines")

# load
run = opened.run_of("lines")
if time_range.says_none(run, time_range.bar(run, shown, page="lines"), shown, "lines"):
    small_print(shared.notes(run, shown))
    session.stop()
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    label, hint = words("lines.find"), words("lines.find_placeholder")
    st.text_input(label, key="find", placeholder=hint, bind="query-params", on_change=in_sight(lines.first_page))
    text = lambda name: words(f"lines.order_{name}")  # noqa: E731
    order = filters.one_of(st.selectbox, "order", line_filter.ORDERS, words("sort"), text, width=220)
index = lines.ready_or_stop(run, shown)
given = line_filter.asked({name: ",".join(st.query_params.get_all(name)) for name in st.query_params})
if chips := lines.filter_chips(given, run, shown):
    show_html(chips)
try:
    wanted, chosen = lines.select(run, index, given, order)
    pages = max(1, -(-len(chosen) // lines.PAGE))
    page = lines.page_number(pages)
    rows = chosen.rows[(page - 1) * lines.PAGE : page * lines.PAGE]
    found = index.page(rows, lines.allowed_for(run))
except (CoreError, PermissionError) as error:
    problems.show_error(error)
    session.stop()

# show
key = "lines.said_none" if not found else "lines.said" if given else "lines.said_all"
said(words(key, n=words.count("occurrence", len(chosen)), all=f"{index.rows:,}"))
if not found:
    lines.none(given, run, shown)
else:
    show_html(
        html.rows(
            found,
            lines.of_page(run, index, found, words),
            shown,
            between="finding" in given,
            sought=given.get("find", ""),
            gap=lines.gap_of(run, given, shown),
        )
    )
if pages > 1:
    st.pagination(pages, key="page", bind="query-params")
if found:
    taken = index, chosen.rows, lines.allowed_for(run), partial(lines.assumed_of, run), file_names.names_of(run)
    downloads(lambda: files.as_csv(*taken), lambda: files.as_json(*taken), "lines", "lines")
small_print(
    [
        words("lines.note"),
        words("lines.left_undated", n=words.count("occurrence", chosen.undated)) if chosen.undated else "",
        words("lines.taken_cut", most=f"{most:,}") if len(chosen) > (most := limits.figure("download_rows")) else "",
        *shared.notes(run, shown),
    ]
)

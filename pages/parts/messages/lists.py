"""Lists of messages without an ID: the boxes of each way, the list as a table with its downloads. Dials nobody."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime
from threading import Event
from typing import NamedTuple

import streamlit as st

from idcore.answers.lookup import Answer, Listing, Offer, Way, cut_text, list_reason, list_text, ways
from idcore.base.catalogue import Words, upper
from idcore.base.errors import CoreError
from idcore.ids.clock import from_ms
from idcore.presentation import export
from idcore.presentation.html import answers
from idcore.presentation.html import lists as html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import fold, tag
from idcore.presentation.triage.time_range import written
from pages.parts import live, problems, session
from pages.parts.triage import filters
from pages.parts.view import View, into_address
from pages.parts.widgets import downloads, said, show_html, small_print, zone_note

BY_ID = "id"
# The boxes of each way, row by row.
BOXES = {
    "key": (("key", "topic"), ("from", "to")),
    "tag": (("tag", "topic"), ("from", "to")),
    "time": (("topic", "from", "to"),),
    "queue": (("topic", "queue"),),
    "dead_letters": (("dead_letters", "from", "to"),),
}
MOST, SHOWN = 10_000, 200


class Work(NamedTuple):
    """The list that this session asked for last; it may still be under way."""

    listing: Future[Listing]
    stop: Event
    way: Way
    cluster: str
    at: datetime


def chosen(words: Words) -> str:
    """The way in the address: by ID, or one of the lists."""
    label, text = words("lookup.way"), lambda name: words(f"lookup.way_{name}")
    return filters.one_of(st.segmented_control, "way", (BY_ID, *ways.KINDS), label, text)


def page(kind: str, offers: Mapping[str, Offer], view: View) -> None:
    """The boxes, and the last list that was asked for with them."""
    way, cluster = form(kind, list(offers), view)
    if way is not None:
        ask(way, cluster, view)
    work: Work | None = st.session_state.get("list_work")
    if (
        work is None
        or work.cluster not in offers
        or (work.way, work.cluster) != (of_address(view), st.query_params.get("cluster"))
    ):
        small_print([view.words("lookup.guard"), zone_note(view)])
        return
    if not work.listing.done():  # a click has ended the run of this page that began it
        with st.spinner(view.words("list.ending")):
            wait([work.listing])
    problem = work.listing.exception()
    if isinstance(problem, CoreError):
        st.error(problems.message(problem, view.words), icon=":material/error:")
    else:
        show(live.list_seen(work.listing.result()), work, view)


def of_address(view: View) -> Way | None:
    """The way that the address has, in whatever words; None where it has none that can be read."""
    try:
        return Way.of({name: st.query_params.get(name) for name in ways.NAMES}, view.zone)
    except CoreError:
        return None


def form(kind: str, clusters: list[str], view: View) -> tuple[Way | None, str]:
    """The boxes of a way. A link fills them; only its reader's click asks anybody."""
    words, query, state = view.words, st.query_params, st.session_state
    known = of_address(view)
    ends = dict(zip(("from", "to"), (known.begin_ms, known.end_ms), strict=True)) if known is not None else {}
    with st.form(f"list-{kind}", border=False):
        given: dict[str, str | None] = {}
        for row in BOXES[kind]:
            for name, cell in zip(row, st.columns(len(row), gap="medium"), strict=True):
                hint = f"list.box.{'time' if name in ('from', 'to') else name}_example"
                key, example = f"list-{kind}-{name}", words(hint) if words.has(hint) else None
                # of the address as it was when the box was made: a box whose usual value changes is another box
                at = None if (ms := ends.get(name)) is None else from_ms(ms)
                usual = state.setdefault(f"{key}-usual", written(at, view.zone) or query.get(name, ""))
                given[name] = cell.text_input(words(f"list.box.{name}"), usual, key=key, placeholder=example)
        left, right = st.columns(2, gap="medium")
        most = known.limit if known is not None and known.kind == kind else 1 if kind == "queue" else ways.USUAL_LIMIT
        given["limit"] = str(
            left.number_input(words("list.box.limit"), 1, MOST, min(most, MOST), key=f"list-{kind}-limit")
        )
        place = clusters.index(query["cluster"]) if query.get("cluster") in clusters else 0
        cluster = str(right.selectbox(words("lookup.cluster"), clusters, place, key=f"list-{kind}-cluster"))
        sent = st.form_submit_button(words("list.button"), type="primary")
    if not sent:
        return None, cluster
    try:
        way = Way.of(given, view.zone)
    except CoreError as problem:
        st.warning(escaped(words.error(problem)), icon=":material/info:")
        return None, cluster
    if way is None or way.kind != kind:
        st.warning(words("list.nothing"), icon=":material/info:")
        return None, cluster
    into_address({**dict.fromkeys(("id", "fate", "trace", *ways.NAMES)), **way.params(), "cluster": cluster})
    return way, cluster


def ask(way: Way, cluster: str, view: View) -> None:
    """Lists in the background. A click on anything ends it, and what was read so far is the list."""
    words, name, stop = view.words, session.someone().user, Event()
    done: dict[str, int] = {"n": 0, "of": way.limit}
    with problems.caught():
        source = live.source_of(cluster)
    pool = ThreadPoolExecutor(1, "list")
    tell = lambda n, of, _: done.update(n=n, of=of)  # noqa: E731
    work = Work(pool.submit(source.list_messages, way, name, tell, stop.is_set), stop, way, cluster, view.now())
    pool.shutdown(wait=False)
    st.session_state["list_work"] = work
    space = st.empty()
    try:
        with space.container():
            bar = st.progress(0.0)
            st.button(words("list.cancel"), key="list-cancel", icon=":material/close:")
        while not work.listing.done():
            wait([work.listing], timeout=0.2)
            text = words("list.reading", n=f"{done['n']:,}", of=f"{done['of']:,}")
            bar.progress(min(1.0, done["n"] / max(1, done["of"])), text)
    finally:
        stop.set()
    space.empty()


def show(listing: Listing, work: Work, view: View) -> None:
    """The sentence, the messages, what is missing, the queues, what it rests on."""
    words, cluster = view.words, work.cluster
    said(list_text(listing, words, lambda ms: view.full(from_ms(ms))))
    if listing.reason not in (None, listing.cut):
        st.info(upper(list_reason(listing, words)) + words("stop"), icon=":material/search_off:")
    if listing.cut is not None:
        st.warning(escaped(cut_text(listing, words)), icon=":material/content_cut:")
    if listing.copies:
        show_html(html.messages(listing.copies[:SHOWN], len(listing.copies), cluster, view).html())
        rows = [ways.row(copy) for copy in listing.copies]
        table = export.csv_table(ways.COLUMNS, (list(row.values()) for row in rows))
        lines = export.file_of(export.json_lines(rows))
        downloads(table, lines, listing.way.kind.replace("_", "-"), "list")
    if listing.queues:
        queues = html.queues(listing, words)
        show_html(tag("div", fold(queues.caption, queues.html()), class_="mq-plain"))
    show_html(answers.rests_on(Answer("", listing.copies, listing.reason, listing.evidence, listing.asked), view))
    n, of = f"{SHOWN:,}", f"{len(listing.copies):,}"
    small_print(
        [
            words("list.shown", n=n, of=of) if len(listing.copies) > SHOWN else "",
            words("list.more", cluster=cluster, way=str(listing.way)) if listing.cut == "limit" else "",
            words("lookup.asked", cluster=cluster, at=view.full(work.at)),
            words("lookup.guard"),
            zone_note(view),
        ]
    )

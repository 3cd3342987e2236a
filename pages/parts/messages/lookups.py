"""Look-ups of the console: the form, the answers of a session, a card of each. Dials nobody."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import streamlit as st

from idcore.answers.lookup import Answer, BodyRoom, copy_row, ways
from idcore.answers.lookup.queries import Answers, LookupQuery, texts_of
from idcore.base.catalogue import Words
from idcore.base.catalogue import words as words_of
from idcore.base.errors import CoreError
from idcore.operations.found_messages import answer_item
from idcore.presentation import export
from idcore.presentation.html import answers
from pages.parts import live, problems, scans, session
from pages.parts.runs import fate_lists
from pages.parts.view import View, into_address
from pages.parts.widgets import download, page_link, show_html

MOST_IDS = 50


def form(clusters: Sequence[str], words: Words) -> LookupQuery | None:
    """The box, the topic, the cluster. A link fills it; only its reader's click asks anybody."""
    query, state = st.query_params, st.session_state
    if "lookup_text" not in state:
        state["lookup_text"] = "\n".join(query.get("id", "").split(","))
        state["lookup_topic"] = query.get("topic", "")
        state["lookup_cluster"] = query.get("cluster") if query.get("cluster") in clusters else clusters[0]
        state["lookup_fate"], state["lookup_trace"] = (query.get(name) == "1" for name in ("fate", "trace"))
    with st.form("lookup", border=False):
        text = st.text_area(words("lookup.box"), key="lookup_text", height=110, placeholder=words("lookup.placeholder"))
        left, right = st.columns(2, gap="medium")
        topic = left.text_input(words("lookup.topic"), key="lookup_topic", placeholder=words("lookup.any_topic"))
        cluster = right.selectbox(words("lookup.cluster"), clusters, key="lookup_cluster")
        with st.container(horizontal=True, gap="large"):
            fate = st.checkbox(words("lookup.fate"), key="lookup_fate", help=words("lookup.fate_help"))
            trace = st.checkbox(words("lookup.trace"), key="lookup_trace", help=words("lookup.trace_help"))
        with st.container(horizontal=True, gap="small"):
            sent = st.form_submit_button(words("lookup.button"), type="primary")
            listed = st.form_submit_button(words("fates.as_list"), help=words("fates.help", cluster=cluster))
    ids = texts_of(text or "")
    if listed and ids:
        fate_lists.begin(ids, topic.strip() or None, str(cluster))
    fate_lists.begun()
    if not sent and (ids or not listed):
        return None
    if not ids:
        st.warning(words("lookup.nothing"), icon=":material/info:")
        return None
    if len(ids) > MOST_IDS:
        st.warning(words("lookup.many", n=f"{MOST_IDS:,}", of=f"{len(ids):,}"), icon=":material/info:")
        ids = ids[:MOST_IDS]
    asked = LookupQuery(ids, topic.strip() or None, str(cluster), fate, trace)
    into_address({**dict.fromkeys(("fate", "trace", *ways.NAMES)), **asked.in_address})
    return asked


def ask(asked: LookupQuery, view: View) -> None:
    """Looks everything up in the background, and shows meanwhile how many ids are answered and topics asked."""
    words = view.words
    replies: list[Answer] = []
    topics: dict[str, int] = {}

    def tell(done: int, total: int, topic: str) -> None:
        topics.update(done=done, total=total)

    def work() -> None:
        replies.extend(source.look_up(asked.ids, asked.topic, name, tell, asked.fate, asked.trace))

    name = session.someone().user
    with problems.caught():
        source = live.source_of(asked.cluster)
    bar = st.progress(0.0, words("lookup.asking", n=0, of=len(asked.ids)))
    with ThreadPoolExecutor(1, "look-up") as pool:
        done = pool.submit(work)
        while not done.done():
            wait([done], timeout=0.2)
            text = words("lookup.asking", n=len(replies), of=len(asked.ids))
            if topics.get("total"):
                text += " · " + words("lookup.asking_topics", n=topics["done"], of=topics["total"])
            bar.progress(min(1.0, len(replies) / len(asked.ids)), text)
    bar.empty()
    problem = done.exception()
    if isinstance(problem, CoreError):
        st.error(problems.message(problem, words), icon=":material/error:")
    elif problem is not None:
        raise problem
    if replies:
        st.session_state["lookup_answers"] = Answers(replies, asked, view.now())


def latest() -> Answers | None:
    """What this session looked up last, unless the address asks for something else."""
    held = kept()
    return held if held is not None and held.fits(st.query_params.to_dict()) else None


def kept() -> Answers | None:
    """What this session looked up last, as its reader may see it now; nothing of a cluster that they no longer ask."""
    held = st.session_state.get("lookup_answers")
    if not isinstance(held, Answers) or held.cluster not in live.offers():
        return None
    return replace(held, found=[live.answer_seen(answer) for answer in held.found])


def answer_card(answer: Answer, view: View, *, fates: bool = True) -> None:
    """One id: its copies on one line of time and each as a card, or why none was found; what became of them."""
    words, cluster, run = view.words, st.query_params.get("cluster"), scans.current_name()
    with st.container(border=True):
        for part in answers.card(answer, view, cluster, fates):
            show_html(part)
        if fates:
            page_link("message", words("card.message"), icon=":material/conversion_path:", id=answer.id, run=run)
        if answer.copies and run is not None:
            broker = str(copy_row(answer.copies[0])["store_host"])
            page_link("brokers", words("findings.to_brokers"), icon=":material/storage:", run=run, broker=broker)
        show_html(answers.rests_on(answer, view))


def takeaway(last: Answers, words: Words) -> None:
    """The answers as JSON Lines, as the command line prints them."""
    room = BodyRoom()
    lines = export.file_of(export.json_lines([answer_item(answer, words_of(), room) for answer in last.found]))
    download(words("lookup.json"), lines, "lookup.jsonl", key="lookup-json", mime="application/x-ndjson")

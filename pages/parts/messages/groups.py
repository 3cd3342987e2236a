"""The page of consumer groups: its form, a group's progress as tables, the list of all groups. Asks through lookups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from idcore.answers.lookup import Answer, Way, ways
from idcore.answers.lookup.groups import groups_of, progress_of
from idcore.answers.lookup.progress import QUEUE_COLUMNS, Progress, QueueState, SideTopic
from idcore.answers.lookup.queries import GroupQuery, GroupReadings
from idcore.answers.lookup.sentences import groups_text, progress_texts
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.presentation import export
from idcore.presentation.html import answers, groups
from pages.parts import live, problems, session
from pages.parts.view import View, into_address
from pages.parts.widgets import download, said, show_html, small_print

EVERY_SECONDS, MOST_IN_A_ROW = 10, 60


def form(clusters: Sequence[str], words: Words) -> GroupQuery | None:
    """Topic, group and cluster. A link fills it; only its reader's click asks anybody."""
    query, state = st.query_params, st.session_state
    link_of = tuple(query.get(name, "") for name in ("topic", "group", "cluster"))
    if state.get("groups_link") != link_of:
        state["groups_link"], state["groups_topic"], state["groups_group"] = link_of, *link_of[:2]
        state["groups_cluster"] = link_of[2] if link_of[2] in clusters else clusters[0]
    with st.form("groups", border=False):
        left, middle, right = st.columns(3, gap="medium")
        topic = left.text_input(words("lookup.topic"), key="groups_topic").strip()
        group = middle.text_input(
            words("fate.group"), key="groups_group", placeholder=words("groups.any_group")
        ).strip()
        cluster = str(right.selectbox(words("lookup.cluster"), clusters, key="groups_cluster"))
        sent = st.form_submit_button(words("groups.button"), type="primary")
    if not sent:
        return None
    if not topic:
        st.warning(words("groups.no_topic"), icon=":material/info:")
        return None
    same = (topic, group, cluster) == link_of
    asked = GroupQuery(cluster, topic, group, query.get("at", "") if same else "")
    state["groups_link"] = topic, group, cluster
    into_address(asked.query)
    return asked


def ask(asked: GroupQuery, view: View, clients: bool = False, in_a_row: int = 0) -> None:
    """Asks, and keeps the answer behind the earlier ones to the same question."""
    service = live.cluster(asked.cluster)
    if service is None:
        st.error(view.words("lookup.off"), icon=":material/error:")
        return
    work = (
        partial(progress_of, asked.topic, asked.group, ask_clients=clients)
        if asked.group
        else partial(groups_of, asked.topic)
    )
    kept: GroupReadings | None = st.session_state.get("groups_kept")
    subject = f"topic:{asked.topic}" + (f" group:{asked.group}" if asked.group else "")
    try:
        with st.spinner(view.words("lookup.asking", n=0, of=1)):
            seen = service.ask(subject + (" clients" if clients else ""), session.someone().user, work)
    except CoreError as problem:
        st.error(problems.message(problem, view.words), icon=":material/error:")
        if kept is not None and kept.asked == asked:  # what fails counts too, or it would be asked for ever
            st.session_state["groups_kept"] = replace(kept, in_a_row=in_a_row)
        return
    st.session_state["groups_kept"] = GroupReadings.after(kept, asked, seen, in_a_row)


def latest() -> GroupReadings | None:
    """What this session asked last, unless the address asks for something else."""
    kept = st.session_state.get("groups_kept")
    named = {name: st.query_params.get(name, "") for name in ("cluster", "topic", "group", "at")}
    if not isinstance(kept, GroupReadings) or kept.asked.cluster not in live.offers():
        return None
    return kept if kept.asked.query == named else None


# ---- the groups of a topic


def listing(kept: GroupReadings, view: View) -> None:
    """All groups, those furthest behind first."""
    words, seen = view.words, kept.now
    said(groups_text(seen, kept.asked.topic, words))
    if seen.rows:
        show_html(groups.groups(seen.rows, kept.asked, view))
        small_print([words("groups.at_most")])
    _rests_on(kept, view)


# ---- one group


def board(kept: GroupReadings, view: View) -> None:
    """The progress of a group, asked again by a click, or by itself where its reader wants that."""
    words = view.words
    service = live.cluster(kept.asked.cluster)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        if st.button(words("groups.again"), icon=":material/refresh:"):
            ask(kept.asked, view)
        reach = service is not None and service.cluster.profile.limits.reach_clients
        if reach and st.button(
            words("groups.clients_button"), help=words("groups.clients_help"), icon=":material/devices:"
        ):
            ask(kept.asked, view, clients=True)
        auto = st.toggle(words("groups.auto", n=EVERY_SECONDS), key="groups_auto")
    st.fragment(session.ending(_board), run_every=EVERY_SECONDS if auto else None)(auto, view)


def _board(auto: bool, view: View) -> None:
    kept = latest()
    if kept is None:
        return
    words = view.words
    old = abs(view.now().timestamp() * 1_000 - kept.now.at_ms) >= 900 * EVERY_SECONDS  # a clock may be set back
    if auto and old and kept.in_a_row < MOST_IN_A_ROW:
        ask(kept.asked, view, clients=False, in_a_row=kept.in_a_row + 1)
        kept = latest() or kept
    progress, before = kept.now.progress, kept.before
    if progress is None:
        return
    for text in progress_texts(kept.now, before, words):
        said(text)
    if auto and kept.in_a_row >= MOST_IN_A_ROW:
        st.caption(words("groups.auto_ended", n=MOST_IN_A_ROW))
    wrong, remarks = groups.issues(progress.contradictions(before), words)
    if wrong:  # what does not fit together now
        st.warning(wrong, icon=":material/warning:")
    if remarks:
        st.info(remarks, icon=":material/info:")
    if (place := groups.position(kept.asked.at, progress, words)) is not None:
        show_html(place)
    cut = _queues(kept.asked, progress, before, view)
    if (facts := groups.consumption(progress, view)) is not None:
        show_html(facts)
        show_html(groups.clients(progress, view))
        if len(progress.members) > groups.MOST_ROWS:
            most, of = f"{groups.MOST_ROWS:,}", f"{len(progress.members):,}"
            small_print([words("groups.cut_rows", n=most, of=of)])
    if (sides := groups.sides(progress, partial(_held, kept.asked, view), view)) is not None:
        show_html(sides)
    asked = groups.asked_text(kept.asked, progress, before, view)
    notes = [asked, cut, words("groups.at_most"), words("groups.in_flight")]
    small_print([*notes, words("groups.static") if progress.static else ""])
    _rests_on(kept, view)


def _waiting(asked: GroupQuery, view: View, queue: QueueState) -> str:
    """The list of the messages that the group has not consumed in a queue, from its offset on."""
    most = min(queue.lag or 1, ways.USUAL_LIMIT)
    first = queue.first_waiting
    way = Way("queue", asked.topic, broker=queue.broker, queue=queue.queue, offset=first, limit=most)
    return _list(asked, view, way)


def _held(asked: GroupQuery, view: View, side: SideTopic) -> str:
    """The list of the dead letters of the group."""
    return _list(asked, view, Way("dead_letters", group=asked.group)) if side.kind == "dead" else ""


def _list(asked: GroupQuery, view: View, way: Way) -> str:
    return view.href("lookup", way=way.kind, cluster=asked.cluster, **way.params())


def _queues(asked: GroupQuery, progress: Progress, before: Progress | None, view: View) -> str:
    """The queues, those furthest behind first; what to say of the ones left out."""
    words, ordered = view.words, groups.furthest_behind(progress)
    if not ordered:
        return ""
    waiting = partial(_waiting, asked, view)
    show_html(groups.queues(ordered[: groups.MOST_ROWS], progress, before, waiting, view))
    table = export.csv_table(QUEUE_COLUMNS, (queue.row for queue in ordered))
    download(words("csv.of_chart"), table, "queues.csv", key="groups-csv")
    cut = words("groups.cut", n=f"{groups.MOST_ROWS:,}", of=f"{len(ordered):,}")
    return cut if len(ordered) > groups.MOST_ROWS else ""


def _rests_on(kept: GroupReadings, view: View) -> None:
    seen = kept.now
    show_html(answers.rests_on(Answer("", (), None, seen.evidence, seen.asked), view))

"""The page of consumer groups: its form, a group's progress as tables, the list of all groups. Asks through lookups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from idcore import export
from idcore.catalogue import Words, upper
from idcore.errors import CoreError
from idcore.html import answers
from idcore.html.strips import strip
from idcore.lookup import Answer, issue_text
from idcore.lookup.asked import GroupsAsked, GroupsSeen
from idcore.lookup.clients import version_text
from idcore.lookup.groups import groups_of, progress_of
from idcore.lookup.progress import WRONG, Progress, QueueState, in_memory, pace, state_of
from idcore.lookup.sentences import groups_text, progress_texts
from idcore.reports.markdown import escaped
from idcore.reports.markup import Column, link, table, tag
from pages.parts import live, problems
from pages.parts.view import View, into_address
from pages.parts.widgets import download, said, show_html, small_print

EVERY_SECONDS, MOST_IN_A_ROW = 10, 60
MOST_QUEUES, MOST_ISSUES = 300, 8
EXPORTED = ("broker", "queue", "begin", "offset", "end", "lag", "in_flight", "passed_ms", "readable", "owners")


def form(clusters: Sequence[str], words: Words) -> GroupsAsked | None:
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
    asked = GroupsAsked(cluster, topic, group, query.get("at", "") if same else "")
    state["groups_link"] = topic, group, cluster
    into_address(asked.query)
    return asked


def ask(asked: GroupsAsked, view: View, clients: bool = False, in_a_row: int = 0) -> None:
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
    kept: GroupsSeen | None = st.session_state.get("groups_kept")
    subject = f"topic:{asked.topic}" + (f" group:{asked.group}" if asked.group else "")
    try:
        with st.spinner(view.words("lookup.asking", n=0, of=1)):
            seen = service.ask(subject + (" clients" if clients else ""), live.user(), work)
    except CoreError as problem:
        st.error(problems.message(problem, view.words), icon=":material/error:")
        if kept is not None and kept.asked == asked:  # what fails counts too, or it would be asked for ever
            st.session_state["groups_kept"] = replace(kept, in_a_row=in_a_row)
        return
    st.session_state["groups_kept"] = GroupsSeen.after(kept, asked, seen, in_a_row)


def latest() -> GroupsSeen | None:
    """What this session asked last, unless the address asks for something else."""
    kept = st.session_state.get("groups_kept")
    named = {name: st.query_params.get(name, "") for name in ("cluster", "topic", "group", "at")}
    return kept if isinstance(kept, GroupsSeen) and kept.asked.query == named else None


# ---- the groups of a topic


def listing(kept: GroupsSeen, view: View) -> None:
    """All groups, those furthest behind first."""
    words, seen = view.words, kept.now
    said(groups_text(seen, kept.asked.topic, words))
    if seen.rows:
        rows = [
            [
                link(row.group, view.href("groups", **(replace(kept.asked, group=row.group).query))),
                words("groups.not_known") if row.lag is None else f"{row.lag:,}",
                words("groups.not_known") if row.clients is None else f"{row.clients:,}",
                _kind(row.consume_type, row.message_model, words),
                words(f"groups.state.{state_of(row)}"),
            ]
            for row in sorted(seen.rows, key=lambda row: (-(row.lag or 0), row.group))
        ]
        columns = [_column("group", words, mono=True)]
        columns += [_column(name, words, right=True) for name in ("lag", "clients")]
        columns += [_column(name, words) for name in ("kind", "state")]
        show_html(table(columns, rows, words("groups.list")))
        small_print([words("groups.at_most")])
    _rests_on(kept, view)


# ---- one group


def board(kept: GroupsSeen, view: View) -> None:
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
    st.fragment(_board, run_every=EVERY_SECONDS if auto else None)(auto, view)


def _board(auto: bool, view: View) -> None:
    kept = latest()
    if kept is None:
        return
    words = view.words
    old = view.now().timestamp() * 1_000 - kept.now.at_ms >= 900 * EVERY_SECONDS
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
    _issues(progress, before, words)
    _place(kept, progress, words)
    cut = _queues(progress, before, view)
    _clients(progress, view)
    _sides(progress, view)
    at = view.stamp(progress.at_ms)
    asked = words("groups.asked_at", cluster=kept.asked.cluster, at=at)
    if before is not None:
        first = view.stamp(before.at_ms)
        asked = words("groups.asked_twice", cluster=kept.asked.cluster, first=first, last=at)
    notes = [asked, cut, words("groups.at_most"), words("groups.in_flight")]
    small_print([*notes, words("groups.static") if progress.static else ""])
    _rests_on(kept, view)


def _issues(progress: Progress, before: Progress | None, words: Words) -> None:
    """What does not fit together: what is wrong now as a warning, the rest as a remark."""
    found = progress.contradictions(before)
    for wrong, draw in ((True, st.warning), (False, st.info)):
        texts = [upper(issue_text(each, words)) + words("stop") for each in found if (each.code in WRONG) == wrong]
        if texts:
            more = len(texts) - MOST_ISSUES
            lines = [f"- {escaped(text)}" for text in texts[:MOST_ISSUES]]
            lines += [f"- {words('groups.issues_more', n=f'{more:,}')}"] if more > 0 else []
            draw("\n".join(lines), icon=":material/warning:" if wrong else ":material/info:")


def _place(kept: GroupsSeen, progress: Progress, words: Words) -> None:
    """The queue of the message that a link leads from, as a strip."""
    broker, _, rest = kept.asked.at.rpartition(":")[0].rpartition(":")
    offset = kept.asked.at.rpartition(":")[2]
    if not (rest.isascii() and rest.isdigit() and offset.isascii() and offset.isdigit() and len(offset) < 19):
        return
    queue = next((each for each in progress.queues if (each.broker, str(each.queue)) == (broker, rest)), None)
    if queue is None:
        return
    places = {"begin": queue.begin, "offset": queue.offset, "end": queue.end, "message": int(offset)}
    if queue.in_flight:
        places["pulled"] = queue.pulled
    parts: list[Any] = [
        tag("p", tag("b", words("groups.position", queue=f"{queue.queue:,}", broker=broker)), class_="mq-meaning"),
        strip({name: value for name, value in places.items() if value is not None}, words),
    ]
    if any(member.state is not None for member in progress.members):
        held = in_memory(progress, broker, queue.queue, int(offset))
        told = words("groups.memory", clients=words("comma").join(held)) if held else words("groups.no_memory")
        parts.append(tag("p", told, class_="mq-advice"))
    parts.append(tag("p", words("strip.scale"), class_="mq-faint mq-note"))
    show_html(tag("div", *parts))


def _queues(progress: Progress, before: Progress | None, view: View) -> str:
    """The queues, those furthest behind first; what to say of the ones left out."""
    words = view.words
    ordered = sorted(progress.queues, key=lambda queue: (-(queue.lag or 0), queue.broker, queue.queue))
    if not ordered:
        return ""
    columns = [_column("broker", words, mono=True)]
    right = ["queue", "lag", *(["rate", "left"] if before is not None else []), "in_flight", "offset", "begin", "end"]
    columns += [_column(name, words, right=True) for name in right]
    columns += [_column("owner", words, mono=True)] if progress.clients_asked else []
    columns += [_column("passed", words, mono=True)]
    rows = [_queue_row(queue, progress, before, view) for queue in ordered]
    show_html(table(columns, rows[:MOST_QUEUES], words("groups.queues")))
    raw = [[getattr(queue, name) for name in EXPORTED] for queue in ordered]
    download(words("csv.of_chart"), export.csv_table(EXPORTED, raw), "queues.csv", key="groups-csv")
    return words("groups.cut", n=f"{MOST_QUEUES:,}", of=f"{len(rows):,}") if len(rows) > MOST_QUEUES else ""


def _queue_row(queue: QueueState, progress: Progress, before: Progress | None, view: View) -> list[Any]:
    words = view.words
    none = words("groups.none_yet") if queue.known else words("groups.not_known")

    def number(value: int | None, otherwise: str = "") -> str:
        return otherwise if value is None else f"{value:,}"

    name = number(queue.queue)
    row: list[Any] = [queue.broker, name if queue.readable else words("groups.not_read", queue=name)]
    row.append(number(queue.lag))
    if before is not None:
        moved = pace(before, progress, queue)
        seen = moved is not None and queue.lag is not None
        left = moved.left if moved is not None else None
        row.append(f"{moved.consumed:,.1f}" if moved is not None and seen else "")
        row.append("" if not seen or not queue.lag else words("groups.never") if left is None else words.duration(left))
    row += [number(queue.in_flight), number(queue.offset, none), number(queue.begin), number(queue.end)]
    if progress.clients_asked:
        row.append(words("groups.not_known") if queue.owners is None else words("comma").join(queue.owners) or none)
    return [*row, view.stamp(queue.passed_ms)]


def _clients(progress: Progress, view: View) -> None:
    """How the group consumes, and each of its clients."""
    words, online = view.words, progress.online
    if online is None:
        return
    wanted = progress.subscription
    facts = [(words("groups.consumes"), _kind(online.consume_type, online.message_model, words))]
    facts.append((words("groups.from_where"), online.from_where))
    if wanted is not None:
        text, at = f"{wanted.kind} {wanted.expression or '*'}", view.stamp(wanted.version) or "–"
        facts.append((words("groups.subscription"), words("groups.subscribed", expression=text, at=at)))
    pairs = (part for name, value in facts for part in (tag("dt", name), tag("dd", value)))
    show_html(tag("dl", *pairs, class_="mq-facts"))
    columns = [_column(name, words, mono=name in ("client", "address")) for name in ("client", "address", "language")]
    columns += [_column("version", words), _column("brokers", words, mono=True)]
    if progress.clients_asked:
        columns += [_column("began", words, mono=True), _column("owns", words, right=True)]
    rows = []
    for member in progress.members[:MOST_QUEUES]:
        client, state = member.client, member.state
        comma = words("comma").join
        row = [client.client_id, comma(client.addresses), client.language]
        row += [version_text(client.version), comma(client.brokers)]
        if progress.clients_asked:
            row += [view.stamp(state.began_ms) if state else words("groups.no_answer")]
            row += [f"{sum(own.topic == progress.topic for own in state.queues):,}" if state else ""]
        rows.append(row)
    show_html(table(columns, rows, words("groups.clients")))
    if len(progress.members) > MOST_QUEUES:
        small_print([words("groups.cut_rows", n=f"{MOST_QUEUES:,}", of=f"{len(progress.members):,}")])


def _sides(progress: Progress, view: View) -> None:
    """The group's own topics."""
    words = view.words
    rows = [
        [
            side.topic,
            words(f"groups.{side.kind}"),
            f"{side.held:,}",
            "" if side.kind == "dead" else words("groups.not_known") if side.waiting is None else f"{side.waiting:,}",
            view.stamp(side.last_ms),
        ]
        for side in progress.side_topics
    ]
    if rows:
        columns = [_column("topic", words, mono=True), _column("kind", words)]
        columns += [_column(name, words, right=True) for name in ("held", "waiting")]
        show_html(table([*columns, _column("last", words, mono=True)], rows, words("groups.side")))


def _rests_on(kept: GroupsSeen, view: View) -> None:
    seen = kept.now
    show_html(answers.rests_on(Answer("", (), None, seen.evidence, seen.asked), view))


def _kind(consume_type: str, model: str, words: Words) -> str:
    """How a group consumes; what is not known yet as the broker writes it."""
    keys = (f"groups.kind.{text}" if words.has(f"groups.kind.{text}") else "" for text in (consume_type, model))
    named: list[str] = [words(key) if key else text for key, text in zip(keys, (consume_type, model), strict=True)]
    return words("comma").join(text for text in named if text)


def _column(name: str, words: Words, *, mono: bool = False, right: bool = False) -> Column:
    return Column(name, words(f"groups.col.{name}"), mono or right, right)

"""The groups of the store folder that is open: all of them, or one with its queues. Counts nothing itself."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from idcore.answers.lookup import store_groups as core
from idcore.answers.lookup.progress import QueueState, SideTopic, state_of
from idcore.answers.lookup.sentences import evidence_sentences, progress_texts
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.presentation.html import groups as html
from idcore.rocketmq.store import StoreFolder
from pages.parts import cache, problems
from pages.parts.messages import stores
from pages.parts.view import View, into_address
from pages.parts.widgets import page_of, pager, said, show_html, small_print, zone_note


def page(folder: Path, view: View) -> None:
    """The group of the address, else all groups."""
    words, query = view.words, st.query_params
    topic, group = query.get("topic", ""), query.get("group", "")
    with problems.caught(), StoreFolder(folder, roots=stores.roots_of(folder)) as store:
        evidence = StoreEvidence(store)
        if topic and group:
            _one(evidence, topic, group, view)
        else:
            _all(evidence, topic, view)
        facts = [*evidence.state(view.now(), view.zone), *evidence.silent_groups()]
        notes = evidence_sentences(facts, words, view.full)
    small_print([words("groups.at_most"), *notes, zone_note(view)])


def _all(evidence: StoreEvidence, topic: str, view: View) -> None:
    words = view.words
    every = cache.store_groups(evidence.store.state(), partial(core.dated_rows_of, evidence))
    rows = [each for each in every if topic in ("", each.topic)]
    if not rows:
        said(words("groups.none", topic=topic) if topic else words("groups.store_none"))
        return
    told = {
        "behind": [each for each in rows if (each.row.lag or each.row.unread) and state_of(each.row) != "broadcast"],
        "waiting": [each for each in rows if each.waiting],
        "dead": [each for each in rows if each.dead],
    }
    figures = {name: f"{len({each.row.group for each in some}):,}" for name, some in told.items()}
    figures["groups"] = words.count("group", len({each.row.group for each in rows}))
    if topics := {each.topic for each in rows if each.topic}:
        key, figures["topics"] = "groups.store_said", words.count("topic", len(topics))
    else:
        key = "groups.store_unplaced"
        del figures["behind"]
    counted = words(key, at=view.stamp(evidence.snapshot_ms, "–"), **figures)
    lead = html.longest(rows, evidence.snapshot_ms, view)
    said(lead or counted, counted if lead else "")
    shown, _ = page_of(rows, "store_groups_page")
    show_html(html.of_store(shown, partial(_href, view), evidence.snapshot_ms, view))
    pager(rows, "store_groups_page")


def _href(view: View, each: core.OfTopic) -> str:
    return view.href("groups", topic=each.topic, group=each.row.group, **stores.opened())


def _waiting(topic: str, view: View, queue: QueueState) -> str:
    """The records of a queue from the offset of the group on."""
    place = {"queue": str(queue.queue), "offset": str(queue.first_waiting)}
    return view.href("store", topic=topic, **place, **stores.opened())


def _held(view: View, side: SideTopic) -> str:
    """The queues of a topic of the group's own."""
    return view.href("store", topic=side.topic, **stores.opened())


def _one(evidence: StoreEvidence, topic: str, group: str, view: View) -> None:
    """The queues of a group, those furthest behind first, and its own topics."""
    words, seen = view.words, core.progress_of(evidence, topic, group)
    for text in progress_texts(seen, None, words):
        said(text)
    if (progress := seen.progress) is not None:
        wrong, remarks = html.issues(progress.contradictions(), words)
        if wrong or remarks:
            st.warning(wrong or remarks, icon=":material/warning:")
        if (place := html.position(st.query_params.get("at", ""), progress, words)) is not None:
            show_html(place)
        ordered, _ = page_of(html.furthest_behind(progress), "store_queues_page")
        show_html(html.queues(ordered, progress, None, partial(_waiting, topic, view), view))
        pager(progress.queues, "store_queues_page")
        if (sides := html.sides(progress, partial(_held, view), view)) is not None:
            show_html(sides)
    back = partial(into_address, dict.fromkeys(("topic", "group", "at")))
    st.button(words("groups.store_all"), icon=":material/arrow_back:", type="tertiary", on_click=back)

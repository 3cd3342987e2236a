"""Look-ups of the console: the operator's clusters, one service for each, answers as rows. Dials nobody itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from idcore import export
from idcore.ids.find import find
from idcore.ids.identify import identify
from idcore.ids.words import say
from idcore.lookup import NO_VERDICT, Answer, LookupService, Moment
from idcore.lookup import words as english
from idcore.remoting.audit import AuditLog, RateLimit
from idcore.remoting.cluster import Cluster
from idcore.remoting.errors import RemotingError
from idcore.remoting.profile import AUDIT_LOG, Profile, configured
from pages.parts import problems, scans
from pages.parts.markup import Column, Html, table, tag
from pages.parts.messages import records
from pages.parts.text import Words
from pages.parts.triage.diagnosis import upper
from pages.parts.view import View
from pages.parts.widgets import download, page_link
from pages.parts.widgets import show as show_html
from pages.parts.words import zh_lookup as chinese

MOST_IDS = 50
EXAMPLE = """# clusters.toml; start the console with IDCORE_CLUSTERS=clusters.toml
[clusters.production]
name_servers = ["10.0.0.1:9876", "10.0.0.2:9876"]

# one cluster only: IDCORE_NAMESRV=10.0.0.1:9876;10.0.0.2:9876
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form holds when it is sent."""

    ids: list[str]
    topic: str | None
    cluster: str


@dataclass(frozen=True, slots=True)
class Answers:
    """The last look-up of this session: one row an id, as the contract has them, with their sentences."""

    rows: list[dict[str, Any]]
    cluster: str
    at: datetime
    asked: str  # as it stands in the address


def profiles() -> dict[str, Profile]:
    """The clusters that the operator configured; none by default."""
    return configured(os.environ)


@st.cache_resource(max_entries=8, show_spinner=False)
def _desk(name: str, _profile: Profile) -> LookupService:
    """One service for a cluster, with its connections, limit and audit log, shared by all readers."""
    from datetime import UTC

    audit = AuditLog(Path(os.environ[AUDIT_LOG])) if os.environ.get(AUDIT_LOG) else None
    return LookupService(
        Cluster(_profile),
        lambda: Moment(datetime.now(UTC), UTC),
        audit,
        RateLimit(_profile.lookups_per_minute),
    )


def user() -> str:
    """Who asks, for the limit and the audit log: the login where there is one, else the address."""
    name = st.user.get("email") if st.user.get("is_logged_in") else None
    return str(name or st.context.ip_address or "local")


def texts_of(text: str) -> list[str]:
    """Ids or keys in the box: one a line or joined by commas; of a line of several words the ids in it."""
    found: list[str] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",") if part.strip()]
        if any(" " in part for part in parts):
            found += [token.text for token in find(line) if identify(token.text, token.label).best is not None]
        else:
            found += parts
    return list(dict.fromkeys(found))


def form(clusters: dict[str, Profile], words: Words) -> Asked | None:
    """The box, the topic, the cluster. A link fills it; only its reader's click asks anybody."""
    query, state = st.query_params, st.session_state
    if "lookup_text" not in state:
        state["lookup_text"] = "\n".join(query.get("id", "").split(","))
        state["lookup_topic"] = query.get("topic", "")
        state["lookup_cluster"] = query.get("cluster") if query.get("cluster") in clusters else next(iter(clusters))
    with st.form("lookup", border=False):
        text = st.text_area(words("lookup.box"), key="lookup_text", height=110, placeholder=words("lookup.placeholder"))
        left, right = st.columns(2, gap="medium")
        topic = left.text_input(words("lookup.topic"), key="lookup_topic", placeholder=words("lookup.any_topic"))
        cluster = right.selectbox(words("lookup.cluster"), list(clusters), key="lookup_cluster")
        sent = st.form_submit_button(words("lookup.button"), type="primary")
    ids = texts_of(text or "")
    if not sent:
        return None
    if not ids:
        st.warning(words("lookup.nothing"), icon=":material/info:")
        return None
    if len(ids) > MOST_IDS:
        st.warning(words("lookup.many", n=f"{MOST_IDS:,}", of=f"{len(ids):,}"), icon=":material/info:")
        ids = ids[:MOST_IDS]
    query["id"] = ",".join(ids)
    for name, value in (("topic", topic), ("cluster", str(cluster))):
        if value:
            query[name] = value
        else:
            query.pop(name, None)
    return Asked(ids, topic.strip() or None, str(cluster))


def ask(asked: Asked, clusters: dict[str, Profile], view: View) -> None:
    """Looks everything up in the background, and shows meanwhile how many ids are answered and topics asked."""
    words = view.words
    profile = clusters[asked.cluster]
    rows: list[dict[str, Any]] = []
    topics: dict[str, int] = {}

    def tell(done: int, total: int, topic: str) -> None:
        topics.update(done=done, total=total)

    def work() -> None:
        rows.extend(row_of(answer, profile) for answer in service.look_up(asked.ids, asked.topic, name, tell))

    name = user()
    with problems.caught():
        # the repr of a profile hides its secrets; one that was changed makes a new service all the same
        service = _desk(f"{asked.cluster} {profile!r} {hash(profile.credentials)}", profile)
    bar = st.progress(0.0, words("lookup.asking", n=0, of=len(asked.ids)))
    with ThreadPoolExecutor(1, "look-up") as pool:
        done = pool.submit(work)
        while not done.done():
            wait([done], timeout=0.2)
            text = words("lookup.asking", n=len(rows), of=len(asked.ids))
            if topics.get("total"):
                text += " · " + words("lookup.asking_topics", n=topics["done"], of=topics["total"])
            bar.progress(min(1.0, len(rows) / len(asked.ids)), text)
    bar.empty()
    problem = done.exception()
    if isinstance(problem, RemotingError):
        st.error(problems.message(problem, words), icon=":material/error:")
    elif problem is not None:
        raise problem
    if rows:
        st.session_state["lookup_answers"] = Answers(rows, asked.cluster, view.now(), ",".join(asked.ids))


def row_of(answer: Answer, profile: Profile) -> dict[str, Any]:
    """The answer as the contract has it; values of the evidence stand beside their codes."""
    return answer.as_dict(profile.bodies)


def latest() -> Answers | None:
    """What this session looked up last, unless the address asks for something else."""
    found = st.session_state.get("lookup_answers")
    if not isinstance(found, Answers):
        return None
    asked = st.query_params.get("id")
    return found if not asked or found.asked == asked else None


def sentence(answers: Answers, words: Words) -> str:
    """How many were found."""
    found = sum(row["found"] for row in answers.rows)
    return words("lookup.said", found=f"{found:,}", ids=words.count("id", len(answers.rows)), cluster=answers.cluster)


def show(row: dict[str, Any], view: View) -> None:
    """One id: its copies on one line of time and each as a card, or why there is none."""
    words = view.words
    relations = [relation(copy, words) for copy in row["copies"]]
    with st.container(border=True):
        mark, role = ("lookup.found", "info") if row["found"] else ("lookup.missed", "warning")
        if not row["found"] and row["reason"] in NO_VERDICT:
            mark = "lookup.no_verdict"  # who could have it was not asked, or did not answer
        severity = tag("span", words(mark), class_=f"mq-severity mq-{role}")
        show_html(
            tag("div", severity, tag("strong", row["id"] or "–", class_="mq-mono mq-subject"), class_="mq-finding")
        )
        if row["reason"]:
            sentence = upper(core("REASONS", row["reason"], {}, words))
            show_html(tag("p", sentence, words("stop"), class_="mq-meaning"))
        if row["reason"] and not row["found"]:
            advice = core("ADVICE", row["reason"], {}, words)
            show_html(tag("p", tag("b", words("lookup.next")), " ", advice, words("stop"), class_="mq-advice"))
        if len(row["copies"]) > 1:
            show_html(records.copies(row["copies"], relations, view))
        for copy, text in zip(row["copies"], relations, strict=True):
            show_html(records.card(copy, view, text if len(relations) > 1 else ""))
        run = scans.current_name()
        if row["copies"] and run is not None:
            broker = str(row["copies"][0]["store_host"])
            page_link("brokers", words("findings.to_brokers"), icon=":material/storage:", run=run, broker=broker)
        show_html(rests_on(row, view))


def rests_on(row: dict[str, Any], view: View) -> Html:
    """The evidence as a small table, and who was asked; open where there is no message."""
    words, evidence = view.words, row["evidence"].items()
    facts = [[core("EVIDENCE", code, dated(item, view), words)] for code, items in evidence for item in items]
    asked = words("lookup.asked_of", brokers=words("comma").join(row["asked"]) or words("lookup.nobody"))
    if not facts:
        return tag("p", asked, class_="mq-faint mq-note")
    return tag(
        "div",
        tag(
            "details",
            tag("summary", words("lookup.evidence", n=len(facts))),
            table([Column("text", words("lookup.fact"))], facts, words("lookup.fact")),
            tag("p", asked, class_="mq-faint"),
            open=not row["found"],
        ),
        class_="mq-plain",
    )


def dated(item: Mapping[str, Any], view: View) -> dict[str, Any]:
    """The figures of one piece of evidence, its instants in the reader's zone."""

    def local(text: str) -> str:
        try:
            return view.full(datetime.fromisoformat(text))
        except ValueError:
            return text  # what a broker says need not be a time that there is

    return {name: local(value) if name in english.INSTANTS else value for name, value in item.items()}


def core(part: str, code: str, values: Mapping[str, Any], words: Words) -> str:
    """A sentence of the core's look-ups in the reader's language."""
    return say(getattr(chinese if words.lang == "zh" else english, part)[code], values)


def relation(copy: dict[str, Any], words: Words) -> str:
    """What a copy is among the others."""
    group = str(copy["topic"]).partition("%")[2].partition("%")[2]
    return core("RELATIONS", copy["relation"], {"group": group}, words)


def takeaway(answers: Answers, words: Words) -> None:
    """The answers as JSON Lines, as the command line prints them."""
    lines = export.file_of(export.json_lines(answers.rows))
    download(words("lookup.json"), lines, "lookup.jsonl", key="lookup-json", mime="application/x-ndjson")

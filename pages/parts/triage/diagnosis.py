"""One finding as people read it: what, who, how sure, what to do, what proves it and what would disprove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from idcore import times
from idcore.catalogue import Words, upper
from idcore.findings import words as messages
from idcore.findings.registry import RULES, SEVERITIES
from idcore.runs import Run
from idcore.triage import lines
from idcore.triage.finding_rows import Row, brokers_of, evidence_of, subject_process, tokens
from idcore.triage.processes import process_key
from pages.parts import cache, scans
from pages.parts.charts import findings as charts
from pages.parts.markup import Html, join, tag
from pages.parts.triage import evidence_view, shared
from pages.parts.view import View
from pages.parts.widgets import chart, page_link, show_html

MOST_ALIKE = 10
_BEFORE = 2  # lines in front of an id that may show why: what was not sent failed there
SECOND = pd.Timedelta(seconds=1)


def say(part: str, row: Row, view: View) -> str:
    """`meaning`, `advice` or `disproof` of a finding in the reader's language and zone."""
    values = {"subject": row["subject"], "count": row["count"], **evidence_view.dated(evidence_of(row), view)}
    return messages.say(part, str(row["code"]), values, view.words.lang)


def said_figures(row: Row) -> frozenset[str]:
    """The figures that its sentence contains."""
    return messages.names("meaning", str(row["code"]), evidence_of(row))


def option(name: str, found: pd.DataFrame, words: Words) -> str:
    """A severity with its count, for the switch above the list."""
    number = len(found) if name not in SEVERITIES else int((found["severity"] == name).sum())
    return words(f"findings.show_{name}", n=f"{number:,}")


def short(found: pd.DataFrame, words: Words) -> str:
    """How many of each severity, and that there is more to see; for a link."""
    counts = [(name, int((found["severity"] == name).sum())) for name in SEVERITIES] if len(found) else []
    parts = [words.count(f"finding_{name}", number) for name, number in counts if number]
    return words("findings.short", findings=words.listed(parts)) if parts else words("findings.short_none")


def findings_sentence(found: pd.DataFrame, summary: Mapping[str, Any], words: Words) -> str:
    """The answer in one sentence, true for none, one and many."""
    where = words(
        "findings.where",
        ids=words.count("id", summary.get("ids", 0)),
        processes=words.count("process", summary.get("processes", 0)),
        brokers=words.count("broker", summary.get("brokers", 0)),
    )
    if not summary.get("ids"):
        return words("findings.no_ids")
    counts = [(name, int((found["severity"] == name).sum())) for name in SEVERITIES] if len(found) else []
    parts = [f"**{words.count(f'finding_{name}', number)}**" for name, number in counts if number]
    if not parts:
        return words("findings.none", where=where)
    key = "findings.said" if any(number for name, number in counts if name != "info") else "findings.only_info"
    return words(key, findings=words.listed(parts), where=where)


def checked(words: Words) -> str:
    """Everything that was looked for."""
    return words("findings.checked", n=len(RULES), codes=words("semicolon").join(title(code, words) for code in RULES))


def title(code: str, words: Words, variant: str = "") -> str:
    """A code as a name, or a variant of it that has one of its own."""
    names = [name for name in (f"finding.{code}.{variant}", f"finding.{code}") if words.has(name)]
    return words(names[0]) if names else code


def title_of(row: Row, words: Words) -> str:
    """The name of a finding."""
    return title(str(row["code"]), words, str(evidence_of(row).get("variant", "")))


def head(row: Row, view: View) -> Html:
    """Severity, name, subject, when, how sure."""
    words = view.words
    sure, when = sure_of(row, words), when_of(row, view)
    return tag(
        "div",
        tag("span", words(f"severity.{row['severity']}"), class_=f"mq-severity mq-{row['severity']}"),
        tag("strong", title_of(row, words)),
        tag("span", subject(row, words), class_="mq-mono mq-subject"),
        tag("span", sure, class_="mq-warning") if sure else None,
        tag("span", when, class_="mq-faint mq-mono mq-when") if when else None,
        class_="mq-finding",
    )


def subject(row: Row, words: Words) -> str:
    """Whom it is about; of a row that counts many, how many."""
    evidence = evidence_of(row)
    key = f"findings.rest_{evidence.get('variant')}"
    return words(key, n=f"{evidence['more']:,}") if "more" in evidence and words.has(key) else str(row["subject"])


def when_of(row: Row, view: View) -> str:
    """When it happened, or from when to when its ids were generated; nothing where no id of it has a time."""
    first, last, words = row["first_sent_at"], row["last_sent_at"], view.words
    rule = RULES[str(row["code"])]
    by_minute = rule.subject == "broker"  # more is not known of brokers
    if pd.isna(first):
        return ""
    if pd.isna(last) or first == last:
        when = view.minute(first) if by_minute else view.full(first)
    else:
        start, end = times.between(first, last, view.zone, by_minute)
        when = view.full(first) if last - first < SECOND else f"{start} {words('to')} {end}"
    named = rule.code if row["severity"] == rule.severity else "other"
    names = [name for name in (f"when.{named}", "when.other") if words.has(name)]
    return words(names[0], when=when)


def sure_of(row: Row, words: Words) -> str:
    """How sure it is, where it is not certain."""
    return "" if row["certainty"] == "certain" else words(f"certainty.{row['certainty']}")


def more_of(others: Sequence[Row], words: Words) -> Html | None:
    """The other ids of one process with which the same went wrong."""
    if not others:
        return None
    named = evidence_view.linked([str(row["subject"]) for row in others[:MOST_ALIKE]])
    left = len(others) - MOST_ALIKE
    tail = words("findings.alike_more", n=f"{left:,}") if left > 0 else ""
    return tag(
        "p", words.count("findings_alike", len(others)), " ", join(named, " "), " ", tail, class_="mq-advice mq-alike"
    )


def finding_card(row: Row, run: Run, view: View, key: str, others: Sequence[Row] = ()) -> None:
    """A finding, what to do, what would disprove it; its evidence is folded, and not read before it is opened."""
    words = view.words
    with st.container(border=True, gap="small"):
        show_html(head(row, view))
        show_html(tag("p", upper(say("meaning", row, view)), words("stop"), class_="mq-meaning"))
        if (more := more_of(others, words)) is not None:
            show_html(more)
        for part, label in (("advice", "findings.do"), ("disproof", "findings.disproof")):
            show_html(tag("p", tag("b", words(label)), " ", say(part, row, view), class_="mq-advice"))
        opened = st.expander(words("findings.evidence"), key=f"evidence-{key}", on_change="rerun")
        if opened.open:
            with opened:
                proof(row, run, view, key)


def proof(row: Row, run: Run, view: View, key: str) -> None:
    """The picture, the ids, the lines around them, where to look on."""
    words, evidence = view.words, evidence_of(row)
    process = subject_process(row)
    if process is not None:
        picture(str(row["code"]), process, run, view, key)
    for made in (evidence_view.id_table(evidence, view), evidence_view.copies(evidence, view)):
        if made is not None:
            show_html(made)
    named = [f"{evidence['label']}={text}" for text in tokens(evidence)] if evidence.get("label") else []
    before = _BEFORE if "failed_sends" in RULES[str(row["code"])].lines else 0
    around = lines.around(run, named) or lines.around(run, tokens(evidence), before)
    around = list(dict.fromkeys(around))
    if around:
        st.caption(words("findings.lines"))
        st.code("\n".join(around), language=None, wrap_lines=True)
    elif (folder := scans.store_of(run)) is not None and evidence.get("ids"):
        show_html(evidence_view.in_store(evidence["ids"][: lines.MOST_LINES], folder, words))
    elif evidence.get("ids"):
        st.caption(words("findings.no_lines"))
    if (facts := evidence_view.fact_list(evidence_view.facts(evidence, view, said_figures(row)))) is not None:
        show_html(facts)
    onward(row, process, run, words)


def row_of(process: Mapping[str, Any], run: Run) -> pd.DataFrame:
    """The row of the process that a finding names; empty where the scan does not have it."""
    return shared.find_row(run, process_key({"layout": "", **process}))


def points_of(process: Mapping[str, Any], run: Run) -> pd.DataFrame:
    """The thinned counter of a process that a finding names; empty where the scan does not have it."""
    found = row_of(process, run)
    if found.empty:
        return found
    chosen = found.iloc[0]
    return cache.points(run, {name: chosen[name] for name in ("layout", "host", "pid", "loader")})


def picture(code: str, process: Mapping[str, Any], run: Run, view: View, key: str) -> None:
    """The counter of the finding's process, or its clock, where that shows it."""
    shows = RULES[code].picture
    points = points_of(process, run) if shows else pd.DataFrame()
    if points.empty:
        return
    figure = charts.clock(points, view.words, view.palette, view.zone) if shows == "clock" else None
    if figure is not None:
        chart(figure, view.words("findings.alt_clock"), None, f"proof-{key}")
        return
    missing = int(row_of(process, run).iloc[0]["missing"])
    figure = charts.counter(points, view.words, view.palette, view.zone, view.zone_name, missing)
    chart(figure, view.words("counters.alt_small"), None, f"proof-{key}")


def onward(row: Row, process: Mapping[str, Any] | None, run: Run, words: Words) -> None:
    """Links to the pages that show the subject."""
    with st.container(horizontal=True, gap="medium"):
        if process is not None:
            name = process_key({"layout": "", **process})
            page_link(
                "counters", words("findings.to_counters"), icon=":material/show_chart:", run=run.name, process=name
            )
            page_link(
                "producers",
                words("findings.to_producers"),
                icon=":material/dns:",
                run=run.name,
                host=str(process["host"]),
            )
        if addresses := brokers_of(row):
            label, icon = words("findings.to_brokers"), ":material/storage:"
            page_link("brokers", label, icon=icon, run=run.name, broker=addresses)

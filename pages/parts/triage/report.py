"""A scan's findings as a short report for a ticket: Markdown, and HTML with its pictures in one file. Draws no page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from idcore.catalogue import Words, upper
from idcore.runs import Run
from idcore.triage import finding_rows
from idcore.triage.finding_rows import Row
from pages.parts import cache, scans
from pages.parts.markdown import code, escaped
from pages.parts.markup import Html, esc, tag
from pages.parts.triage import diagnosis, evidence_view, shared
from pages.parts.view import View

MOST_IDS = 5
MOST_BARS = 10
MOST_DRAWN = 20  # findings with a picture of their counter
WIDTH, HEIGHT = 640, 120
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1a2230}"
    "h1{font-size:1.5rem}h2{font-size:1.125rem;margin-top:2rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}"
    "code{font-family:ui-monospace,Consolas,monospace;font-size:.85em;overflow-wrap:anywhere}"
    ".error{color:#b3261e}.warning{color:#8a5a00}.info{color:#5a6473}.faint{color:#5a6473;font-size:.85em}"
    ".bar{display:grid;grid-template-columns:14rem 1fr 6rem;gap:.5rem;font-size:.85em;align-items:center}"
    ".bar i{display:block;height:.75rem;background:#2f6bd6;border-radius:2px}.bar b{text-align:right;font-weight:400}"
    "svg{background:#f6f7f9;border-radius:4px;max-width:100%}"
)


def facts(run: Run, view: View) -> list[str]:
    """What was scanned, and with which versions."""
    summary, words = run.summary or {}, view.words
    versions = summary.get("versions") or {}
    return [
        " · ".join(
            [
                words.count("file", summary.get("files", 0)),
                words.bytes(summary.get("text_bytes", 0)),
                words.count("id", summary.get("ids", 0)),
                view.minute(run.created),
            ]
        ),
        *shared.notes(run, view),
        words("report.versions", versions=", ".join(f"{name} {number}" for name, number in versions.items())),
    ]


def _rows(run: Run) -> list[tuple[dict[str, Any], list[Row]]]:
    """Each finding with the others of its kind that one card shows."""
    firsts, others = finding_rows.alike(cache.frame(run, "findings"))
    return [(row, others.get(place, [])) for place, row in firsts.to_dict("index").items()]  # type: ignore[misc]


def _alike(others: Sequence[Row]) -> list[str]:
    return [str(row["subject"]) for row in others[: diagnosis.MOST_ALIKE]]


def markdown(run: Run, view: View) -> str:
    """The report as Markdown."""
    words = view.words
    text = [
        f"# {escaped(scans.title_of(run.title, run.options, words))}",
        diagnosis.findings_sentence(cache.frame(run, "findings"), run.summary or {}, words),
    ]
    for row, others in _rows(run):
        ids = evidence_view.details(finding_rows.evidence_of(row), view)[:MOST_IDS]
        severity, name = words(f"severity.{row['severity']}"), diagnosis.title_of(row, words)
        text.append(f"## {words('colon', name=severity)}{name}")
        text.append(" · ".join([code(diagnosis.subject(row, words)), *map(escaped, _seen(row, view))]))
        text.append(escaped(upper(diagnosis.say("meaning", row, view)) + words("stop")))
        if others:
            named = " ".join(map(code, _alike(others)))
            text.append(f"{escaped(words.count('findings_alike', len(others)))} {named}")
        text.append(escaped(f"{words('findings.do')} {diagnosis.say('advice', row, view)}"))
        if ids:
            text.append("\n".join("- " + " · ".join([code(one), *map(escaped, more)]) for one, more in ids))
        if line := evidence_view.fact_line(finding_rows.evidence_of(row), view, diagnosis.said_figures(row)):
            text.append(escaped(line))
        text.append(escaped(f"{words('findings.disproof')} {diagnosis.say('disproof', row, view)}"))
    text.append("---\n\n" + "\n".join(f"- {escaped(line)}" for line in facts(run, view)))
    return "\n\n".join(text) + "\n"


def _seen(row: dict[str, Any], view: View) -> list[str]:
    """Since when, and how sure."""
    return [text for text in (diagnosis.when_of(row, view), diagnosis.sure_of(row, view.words)) if text]


def html(run: Run, view: View) -> str:
    """The same as one HTML file that needs nothing else, with bars of hosts and brokers and drawn counters."""
    words = view.words
    title = scans.title_of(run.title, run.options, words)
    said = diagnosis.findings_sentence(cache.frame(run, "findings"), run.summary or {}, words).split("**")
    body: list[Html] = [
        tag("h1", title),
        tag("p", *(tag("b", part) if place % 2 else part for place, part in enumerate(said))),
    ]
    for number, (row, others) in enumerate(_rows(run)):
        body += _finding(row, others, run, view, number < MOST_DRAWN)
    for name, key, label in (("hosts", "host", "pictures.producers"), ("brokers", "address", "pictures.brokers")):
        table = cache.frame(run, name)
        if not table.empty:
            body += [tag("h2", words(label)), *_bars(table, key)]
    body += [tag("h2", words("report.about")), tag("ul", *(tag("li", line) for line in facts(run, view)))]
    head = tag("head", Html('<meta charset="utf-8">'), tag("title", title), tag("style", Html(STYLE)))
    return "<!doctype html>" + tag("html", head, tag("body", *body), lang=words("lang.html"))


def _finding(row: dict[str, Any], others: Sequence[Row], run: Run, view: View, drawn: bool) -> Iterable[Html]:
    words = view.words
    severity = tag("span", words(f"severity.{row['severity']}"), class_=str(row["severity"]))
    yield tag("h3", severity, " ", diagnosis.title_of(row, words), " ", tag("code", diagnosis.subject(row, words)))
    if seen := _seen(row, view):
        yield tag("p", " · ".join(seen), class_="faint")
    yield tag("p", upper(diagnosis.say("meaning", row, view)), words("stop"))
    if others:
        named = [tag("span", tag("code", text), " ") for text in _alike(others)]
        yield tag("p", words.count("findings_alike", len(others)), " ", *named)
    yield tag("p", tag("b", words("findings.do")), " ", diagnosis.say("advice", row, view))
    process = finding_rows.subject_process(row)
    if drawn and process is not None:
        points = diagnosis.points_of(process, run)
        if len(points) > 1:
            yield _sawtooth(points, words)
    ids = evidence_view.details(finding_rows.evidence_of(row), view)[:MOST_IDS]
    if ids:
        yield tag("ul", *(tag("li", tag("code", one), "".join(f" · {text}" for text in more)) for one, more in ids))
    if line := evidence_view.fact_line(finding_rows.evidence_of(row), view, diagnosis.said_figures(row)):
        yield tag("p", line)
    yield tag("p", words("findings.disproof"), " ", diagnosis.say("disproof", row, view), class_="faint")


def _bars(table: pd.DataFrame, key: str) -> list[Html]:
    """The largest hosts or brokers by ids."""
    largest = table.sort_values(["ids", key], ascending=[False, True]).head(MOST_BARS)
    most = int(largest["ids"].max())
    return [
        tag(
            "div",
            tag("code", row[key]),
            tag("i", style=f"width:{max(1, round(100 * row['ids'] / most))}%"),
            tag("b", f"{row['ids']:,}"),
            class_="bar",
        )
        for row in largest.to_dict("records")
    ]


def _sawtooth(points: pd.DataFrame, words: Words) -> Html:
    """The 16-bit counter against elapsed, a dot for each point that the scan keeps."""
    elapsed, counter = points["elapsed_ms"], points["counter"]
    span = max(1, int(elapsed.max() - elapsed.min()))
    dots = [
        f"M{(e - elapsed.min()) / span * WIDTH:.1f},{HEIGHT - c / 65_535 * HEIGHT:.1f}h1"
        for e, c in zip(elapsed.tolist(), counter.tolist(), strict=True)
    ]
    path = tag("path", d="".join(dots), stroke="#c26a00", stroke_width="2", stroke_linecap="round", fill="none")
    alt = words("report.counter_alt")
    return Html(
        f'<svg viewBox="-4 -4 {WIDTH + 8} {HEIGHT + 8}" width="{WIDTH}" role="img" aria-label="{esc(alt)}">{path}</svg>'
    )

"""A row of the list of runs: what a run is called, its figures, how it ended and until when it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, tag
from idcore.presentation.triage import run_texts
from idcore.runs.runs import COMPARE, FATES, STORE


def about(row: Mapping[str, Any], problem: str, ends: datetime | None, reader: Reader) -> Html:
    """Title, figures, remarks. `problem`: why it failed, without what only the administrator is to see."""
    words = reader.words
    marks = [("runs.is_pinned", row["pinned"]), ("runs.is_not_kept", not row["kept"])]
    marks += [(f"runs.kind_{kind}", row["kind"] == kind) for kind in (COMPARE, FATES, STORE)]
    facts = [tag("b", words(key)) for key, there in marks if there]
    facts += [tag("span", fact) for fact in (reader.minute(row["created"]), *run_texts.figures(row, words))]
    broken = (row["summary"] or {}).get("failed_files", 0)
    notes = [("mq-warning", words.count("broken_file", broken))] if broken else []
    if ends is not None:
        notes.append(("mq-warning", words("runs.ends_soon", at=reader.minute(ends))))
    if row["state"] == "failed":
        notes.append(("mq-error", words("scan.failed", reason=problem)))
    elif row["state"] == "cancelled":
        notes.append(("mq-faint", words("scan.cancelled")))
    of_run = row["title"], row["options"], words, row["summary"]
    title, how_made = run_texts.title_of(*of_run), run_texts.made_title(*of_run)
    return tag(
        "div",
        tag("b", title, class_="mq-run-title"),
        tag("div", how_made, class_="mq-run") if how_made != title else None,  # what a name hides
        tag("div", *facts, class_="mq-run"),
        *(tag("div", text, class_=f"{role} mq-note") for role, text in notes),
        class_="mq-run-row",
    )

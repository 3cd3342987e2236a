"""Runs in the reader's words: what each is called, what it found, how many there are. Reads no folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from idcore.answers.fate_list import sentences
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError, coded
from idcore.intake.intake import PASTED
from idcore.presentation.reader import Reader
from idcore.presentation.triage.run_rows import Row
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import COMPARE, FATES, Run, RunError

LONGEST_SUBJECT = 40  # characters of a part of a tab's title


def title_of(title: str, options: Mapping[str, Any], words: Words, summary: Mapping[str, Any] | None = None) -> str:
    """What a scan is called: the name that somebody gave it, else what was scanned."""
    return str(options.get("named") or made_title(title, options, words, summary))


def plain_title(run: Run, words: Words) -> str:
    """The same for a report: of a path of the server the name alone."""
    title = title_of(run.title, run.options, words)
    is_path = title.startswith("/") or "://" in title
    return title.rstrip("/").rpartition("/")[2] or title if is_path else title


def made_title(title: str, options: Mapping[str, Any], words: Words, summary: Mapping[str, Any] | None = None) -> str:
    """What was scanned or compared, in the reader's language, where the run says so.

    Once the scan has counted the ids, its figure counts: what was read at once may have been cut.
    """
    names = options.get("sources")
    if options.get("asked_ids"):
        return words("fates.title", ids=words.count("id", options["asked_ids"]), cluster=options["cluster"])
    if options.get("sides"):
        first, second = options["sides"]
        return words("compare.title", first=_side_title(first, words), second=_side_title(second, words))
    if not names:
        return title
    if list(names) == [PASTED]:
        if options.get("only"):
            return str(options["only"])
        ids, lines = (summary or options).get("ids"), words.count("line", options.get("lines", 0))
        return lines if ids is None else words("decode.pasted_title", ids=words.count("id", ids), lines=lines)
    return words.first([words("decode.pasted") if name == PASTED else name for name in names], 3)


def _side_title(names: Sequence[str], words: Words) -> str:
    return words.first([words("decode.pasted") if name == PASTED else name for name in names], 2)


def labels(rows: Sequence[Mapping[str, Any]], reader: Reader) -> dict[str, str]:
    """What a chooser calls each scan: title and minute, and where scans share these, the end of its name as well."""
    labels = {}
    for row in rows:
        title = title_of(row["title"], row["options"], reader.words, row["summary"])
        labels[row["name"]] = f"{title} · {reader.minute(row['created'])}"
    often = Counter(labels.values())
    return {name: f"{label} · {name[-6:]}" if often[label] > 1 else label for name, label in labels.items()}


def runs_sentence(runs: Sequence[Row], words: Words) -> str:
    """How many runs, how much text, how many at work."""
    size = sum((row["summary"] or {}).get("text_bytes", 0) for row in runs)
    live = sum(row["state"] in UNENDED for row in runs)
    text = words("runs.said", runs=counted(runs, words), size=words.bytes(size))
    return text + (words("runs.said_live", n=words.count("running", live)) if live else "")


def counted(rows: Sequence[Row], words: Words) -> str:
    """`3 scans`, `3 scans and 1 comparison`, `1 scan and 2 lists of IDs`."""
    pairs, lists = (sum(row["kind"] == kind for row in rows) for kind in (COMPARE, FATES))
    scanned = len(rows) - pairs - lists
    others = [words.count(name, number) for name, number in (("comparison", pairs), ("fate_list", lists)) if number]
    return words.listed([*([words.count("run", scanned)] if scanned or not rows else []), *others])


def figures(row: Row, words: Words) -> list[str]:
    """Errors and warnings, files, bytes, ids, how long it took; of a comparison, how many ids are in one input only."""
    summary = row["summary"]
    if not summary:
        return []
    if row["kind"] == COMPARE:
        only = {side: f"{summary[f'only_{side}']:,}" for side in ("first", "second")}
        return [words.bytes(summary["text_bytes"]), words("compare.only", **only)]
    if row["kind"] == FATES:
        return [sentences.answer(summary, words), words("runs.took", span=words.duration(summary["seconds"]))]
    took = [] if "follow" in summary else [words("runs.took", span=words.duration(summary["seconds"]))]
    refused, found = summary["refused"] + summary.get("lookalikes", 0), summary.get("findings") or {}
    return [
        *(words.count(f"finding_{name}", found[name]) for name in ("error", "warning") if found.get(name)),
        words.count("file", summary["files"]),
        words.bytes(summary["text_bytes"]),
        words.count("occurrence", summary["ids"]),
        *([words.count("refused_token", refused)] if refused else []),
        *took,
    ]


def sizes(summary: Mapping[str, Any], words: Words) -> list[str]:
    """How many files, bytes and IDs a scan has."""
    size, ids = words.bytes(summary.get("text_bytes", 0)), words.count("occurrence", summary.get("ids", 0))
    return [words.count("file", summary.get("files", 0)), size, ids]


def scan_facts(run: Run, reader: Reader) -> list[str]:
    """How many files, bytes and IDs a scan has, and when it began. Lines with both IDs of a message have two each."""
    words, summary = reader.words, run.summary or {}
    *others, ids = sizes(summary, words)
    counts = {name: summary.get(name, 0) for name in ("uniq", "offset")}
    if all(counts.values()):
        ids = words("run.of_both", ids=ids, **{name: words.count(f"of_{name}", n) for name, n in counts.items()})
    return [*others, ids, words("run.begun", at=reader.minute(run.created))]


def report_name(run: Run, reader: Reader, kind: str) -> str:
    """A name for a report that a person would choose: what was scanned, and the day."""
    title = title_of(run.title, run.options, reader.words, run.summary)
    slug = re.sub(r"[\W_]+", "-", title.lower()).strip("-")[:60].strip("-") or run.name
    return f"rocketmq-ids-{slug}-{run.created.astimezone(reader.zone):%Y-%m-%d}.{kind}"


def waiting_text(place: int | None, starting: float | None, words: Words) -> str:
    """What a scan waits for: the scans before it, Spark, or its thread. `starting`: how long Spark has been at it."""
    if place:
        return words("scan.queued", place=place)
    return words("scan.waiting") if starting is None else words("scan.starting", seconds=words.duration(starting))


def tab_title(parts: Sequence[str]) -> str:
    """What a tab of the browser is called: the page, what it shows, the console."""
    return " · ".join(part if len(part) <= LONGEST_SUBJECT else f"{part[: LONGEST_SUBJECT - 1]}…" for part in parts)


def progress_text(done: int, total: int, ids: int, seconds: float, left: float | None, words: Words) -> str:
    """The figures of a running scan in one line."""
    parts = [words("scan.bytes", done=words.bytes(done), total=words.bytes(total))]
    if seconds > 0.2 and done:
        parts.append(words("scan.rate", rate=words.bytes(done / seconds)))
    if ids:
        parts.append(words.count("occurrence", ids))
    if done and done >= total:
        parts.append(words("scan.merging"))
    elif left is not None:
        parts.append(words("scan.left", span=words.duration(left)))
    return " · ".join(parts)


def problem_text(error: BaseException, words: Words) -> str:
    """What went wrong, without a traceback. It may have markup and paths: a page cleans both."""
    if isinstance(error, RunError) and error.field == "run":
        keys = {"not_a_scan": "problem.comparison", "no_run_here": "problem.run_here", "not_owner": "problem.not_owner"}
        keys["run_damaged"] = "problem.run_damaged"
        return words(keys.get(error.code, "problem.run"), name=error.text)
    if isinstance(error, RunError) and error.code == "table_damaged":
        return words("problem.table_damaged", **error.values)
    if isinstance(error, CoreError):
        return words.error(error)
    if isinstance(error, MemoryError):
        return words("problem.memory")
    if isinstance(error, PermissionError):
        return words("problem.permission", name=error.filename or "")
    if isinstance(error, FileNotFoundError):
        return words("problem.missing", name=error.filename or "")
    if isinstance(error, OSError):
        return words("problem.disk", reason=coded(error))
    return words("problem.other", name=type(error).__name__)

"""What the small print of a scan says: its zone, what could not be read, what was rejected, which files have no ID."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

import pandas as pd

from idcore.base.catalogue import Words
from idcore.ids.identify import ALIKE
from idcore.presentation import times
from idcore.presentation.intake_texts import reasons_text
from idcore.presentation.reader import Reader
from idcore.presentation.triage import run_tables
from idcore.runs.runs import Run

MOST_NAMED = 5  # files of a sentence


def notes(
    run: Run, zones: Collection[str], files: pd.DataFrame, refused: pd.DataFrame, reader: Reader, shown: str
) -> list[str]:
    """What was assumed, what failed, what was rejected. `zones`: those of its processes; `shown`: that of the page."""
    words = reader.words
    lines = [words("run.store")] if run.store is not None else []
    asked = {"at": run.created, **run.options}
    clock = zone(run.summary or {}, asked, sorted(zones), words, reader.zone, of_store=run.store is not None)
    lines.append(f"{shown}{words('compare.between')}{clock}".strip())
    if words.has(key := f"run.case_{((run.summary or {}).get('assumed') or run.options).get('case')}"):
        lines.append(words(key))
    lines.append(deliveries_sampled(run.summary or {}, words))
    lines += unread(files, words)
    lines.append(without_ids(*files_without_ids(files), words))
    lines.append(unknown_findings(run, words))
    return [*lines, *rejected(refused, words), trace_ids(trace_ids_of(files), words)]


def unknown_findings(run: Run, words: Words) -> str:
    """How many findings cannot be said here; empty where all can."""
    n = len(run_tables.unknown_findings(run))
    return words("findings.unknown", n=words.count("finding", n), count=n) if n else ""


def rejected(refused: pd.DataFrame, words: Words) -> Iterator[str]:
    """How many strings were rejected or only look like IDs, and why; nothing where none was."""
    if reasons := reasons_of(refused):
        n = words.count("token", sum(reasons.values()))
        yield words("refused.line", n=n, reasons=reasons_text(reasons, words)) + words("stop")


def zone(
    summary: Mapping[str, Any],
    asked: Mapping[str, Any],
    zones: Sequence[str],
    words: Words,
    shown: tzinfo | None = None,
    of_store: bool = False,
) -> str:
    """The zone that dates were read in, and where it is from; one zone for all would be wrong for some.

    Where the reader is `shown` the times of another zone, an example of both clocks. Records have no lines, and no
    month of theirs is assumed.
    """
    if len(zones) > 1:
        return words("run.zones", n=len(zones), names=words("comma").join(zones[:6]))
    assumed = summary.get("assumed") or asked
    if not assumed.get("zone"):
        return ""
    sources = summary.get("zone_sources") or {}
    from_lines = bool(zones and sources) and not sources.keys() & {"given", "assumed", "unknown"}
    born = "run.zone_stored" if of_store else "run.zone_born"
    key = born if from_lines else f"run.zone_{assumed.get('zone_source') or 'assumed'}"
    at = str(assumed.get("at") or asked.get("at", ""))[:10]
    name = zones[0] if from_lines else assumed["zone"]
    here = _here(name, at, shown, words) if shown is not None else ""
    return words(key if words.has(key) else "run.zone_assumed", zone=name, at=at, here=here)


def log_clock(zones: Sequence[str], at: datetime, reader: Reader) -> str:
    """What clock log lines have in a text whose other times are the reader's; empty where both are the same."""
    known = [zone for zone in map(times.zone_of, zones) if zone is not None]
    offsets = [times.offset_text(at.astimezone(zone)) for zone in known]
    here = times.offset_text(at.astimezone(reader.zone))
    if not set(offsets) - {here}:
        return ""
    return reader.words("report.clock", zone=reader.words("comma").join(dict.fromkeys(offsets)), here=here)


def _here(name: str, day: str, shown: tzinfo, words: Words) -> str:
    """What a clock of the reader shows when that of the log shows 09:50; empty where it is the same."""
    zone = times.zone_of(name)
    if zone is None or not day:
        return ""
    there = datetime.fromisoformat(f"{day}T09:50").replace(tzinfo=zone)
    here = times.local(there, shown)
    apart = {-1: "run.zone_before", 0: "run.zone_here", 1: "run.zone_after"}[(here.date() - there.date()).days]
    same = here == there.replace(tzinfo=None)
    return "" if same else words(apart, there=f"{there:%H:%M}", here=f"{here:%H:%M}")


def line_range(summary: Mapping[str, Any], reader: Reader) -> str:
    """Between which times lines were read; empty where all were."""
    assumed = summary.get("assumed") or {}
    ends = {name: reader.full(datetime.fromisoformat(assumed[name])) for name in ("from", "to") if name in assumed}
    return reader.words(f"run.lines_{'_'.join(ends)}", **{f"{name}_": at for name, at in ends.items()}) if ends else ""


def deliveries_sampled(summary: Mapping[str, Any], words: Words) -> str:
    """That not every line about a delivery was read, and how many were; empty where all were."""
    read = summary.get("deliveries_sampled") or {}
    if not read.keys() >= {"bytes", "of", "lines"}:
        return ""
    sizes = {"part": words.bytes(read["bytes"]), "all": words.bytes(read["of"])}
    return words("run.deliveries_sampled", n=words.count("line", read["lines"]), **sizes)


def unread(files: pd.DataFrame, words: Words) -> list[str]:
    """The files that could not be read, in all or in part."""
    lines = []
    if not files.empty:
        failed = files[files["error"].notna() & (files["error"] != "")]
        partly = failed["text_bytes"] > 0
        for key, rows in (("run.failed_files", failed[~partly]), ("run.part_files", failed[partly])):
            if len(rows):
                some = rows.head(MOST_NAMED).itertuples()
                names = words("comma").join(words("aside", text=row.file, note=_problem(row, words)) for row in some)
                lines.append(words(key, n=words.count("file", len(rows)), of=f"{len(files):,}", names=names))
    return lines


def _problem(row: Any, words: Words) -> str:
    """Why a file was not read; scans of older versions have a sentence in the place of a code."""
    values = getattr(row, "error_values", None)
    return words.problem(str(row.error), json.loads(values)) if isinstance(values, str) else str(row.error)


def reasons_of(refused: pd.DataFrame) -> dict[str, int]:
    """Why strings were rejected, each reason with its count, over all files."""
    if refused.empty:
        return {}
    codes = refused["reason"].map(lambda reason: ALIKE.get(reason, reason))
    return {str(code): int(n) for code, n in refused["ids"].groupby(codes).sum().items()}


def trace_ids_of(files: pd.DataFrame) -> int:
    """How many trace IDs a scan saw; one of an older version did not count them."""
    return int(files["trace_ids"].sum()) if "trace_ids" in files else 0


def trace_ids(count: int, words: Words) -> str:
    """That trace IDs are no IDs of messages; empty where there are none."""
    return words("decode.trace_ids", n=words.count("trace_id", count)) if count else ""


def files_without_ids(files: pd.DataFrame) -> tuple[list[str], int]:
    """The files that were read and have no ID, and how many files there are."""
    if files.empty:
        return [], 0
    none = files[(files["ids"] == 0) & (files["error"].isna() | (files["error"] == ""))]
    return [str(name) for name in none["file"]], len(files)


def without_ids(names: Sequence[str], total: int, words: Words) -> str:
    """Which files have no ID, while others have some."""
    if not 0 < len(names) < total:
        return ""
    n, of = f"{len(names):,}", f"{total:,}"
    return words("run.without_ids", count=len(names), n=n, of=of, names=words.first(names, MOST_NAMED))


def twins(run: Run, words: Words) -> Iterator[str]:
    """A sentence for each content that was scanned more than once."""
    for names in run.options.get("same") or []:
        shown = words.listed(names) if len(names) <= 3 else words.first(names, 3)
        yield words("run.same", names=shown)

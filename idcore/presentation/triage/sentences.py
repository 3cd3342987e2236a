"""The answers in sentences, computed from tables, in the reader's language, true for none, one and many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from idcore.answers.findings.limits import CUT_COUNTER
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.triage import counter_rows, strokes
from idcore.presentation.triage.in_range import InRange, Points
from idcore.presentation.triage.largest import Totals
from idcore.presentation.triage.processes import assumed, is_countable, is_followed, is_several, rate_text
from idcore.presentation.triage.time_range import TimeRange

STILL = 0.1  # a pause of more than this share of the whole span is worth a word next to the average


def span(processes: pd.DataFrame, reader: Reader) -> str:
    """`between 2026-11-21 09:50 and 10:12 +08:00`, or nothing where no time is known."""
    first, last = processes["first_sent_at"].dropna(), processes["last_sent_at"].dropna()
    if first.empty or last.empty:
        return ""
    return between(first.min(), last.max(), reader)


def between(start: datetime | None, end: datetime | None, reader: Reader) -> str:
    """The same of two moments."""
    if start is None or end is None:
        return ""
    if start == end:
        return reader.words("span.at", at=times.full(start, reader.zone))
    begin, finish = times.between(start, end, reader.zone)
    return reader.words("span.between", first=begin, last=finish)


def producers(
    totals: Totals,
    hosts: int,
    reader: Reader,
    judged: pd.DataFrame | None = None,
    summary: Mapping[str, Any] | None = None,
) -> str:
    """Hosts, processes, ids, when, wraps. Of a sample nothing is called missing: it is said apart.

    `judged`: all processes of the scan. Without them, of a large scan, all that miss more than a tenth are samples.
    `summary`: of the scan, whose 5.x clients have no host and are said apart.
    """
    words = reader.words
    lost, samples = totals.missing - totals.missing_in_part, totals.in_part
    if judged is not None:
        lost, samples = int(judged["lost"].sum()), int(judged["sample"].sum())
    parts = [words.count("wrap", totals.wraps)]
    if not totals.is_list:
        parts.append(words.count("missing", lost))
    if totals.restarts:
        parts.insert(1, words.count("restart", totals.restarts))
    is_counted = totals.produced or not totals.uncounted
    text = words(
        "producers.said" if is_counted else "producers.said_uncounted",
        hosts=words.count("host", hosts),
        processes=words.count("process", totals.processes),
        ids=words.count("distinct_uniq", totals.distinct),
        seen=words.count("seen", totals.ids),
        produced=words.count("id", totals.produced),
        span=(when := between(totals.first, totals.last, reader)) + (words.assumed(totals.assumed) if when else ""),
        parts=words("clause").join(parts),
    )
    if totals.is_list:
        text += words("producers.said_list")
    elif samples:
        text += words("producers.said_part", n=words.count("process", samples), missing=f"{totals.missing - lost:,}")
    if totals.uncounted:
        text += words("producers.said_cut", n=words.count("cut", totals.uncounted))
    if totals.shared:
        text += words("producers.said_shared", n=words.count("fingerprint", totals.shared))
    if clients := (summary or {}).get("clients", 0):
        ids = words.count("occurrence", (summary or {}).get("client", 0))
        text += words("producers.said_clients", n=words.count("process", clients), ids=ids)
    return text


def producers_in(counted: InRange, reader: Reader) -> str:
    """The same of a time range: what its figures and its table count."""
    words = reader.words
    if counted.hosts.empty:
        return words("producers.none_range")
    return words(
        "producers.said_range" if counted.exact else "producers.said_minutes",
        hosts=words.count("host", len(counted.hosts)),
        processes=words.count("process", counted.count),
        ids=words.count("seen", int(counted.hosts["ids"].sum())),
        distinct=words.count("distinct_uniq", int(counted.hosts["distinct"].sum())) if counted.exact else "",
    )


def process(
    row: dict[str, Any],
    reader: Reader,
    points: pd.DataFrame | None = None,
    around: pd.DataFrame | None = None,
    has_ended: bool = False,
) -> str:
    """One process: what its counter shows; of its points, how long it did not move.

    `around`: of a time range the points with those that are beyond the gaps that it cuts. Of a process that `has_ended`
    no wrap is to come.
    """
    words = reader.words
    frame = pd.DataFrame([row])
    around = points if around is None else around
    lead = missing_of(row, around, reader) if around is not None else ""
    wraps = words.count("wrap", int(row["wraps"]))
    parts = [wraps if row["wraps_certain"] else words("counters.wraps_at_least", n=wraps)]
    if row["wraps"]:
        parts[0] += words("counters.wraps_normal")
    missing, produced, in_cut_gaps = int(row["missing"]), int(row["produced"]), int(row.get("in_cut_gaps", 0))
    share = words("counters.share", share=words.share(missing, produced)) if missing else ""
    share += words("counters.in_cut_gaps", n=f"{in_cut_gaps:,}") if in_cut_gaps else ""
    here = words.count("distinct_uniq", int(row["distinct"]))
    if row.get("sample"):
        parts.append(words("counters.sampled", ids=here, share=words.share(row["distinct"], produced)))
    else:
        parts += [words.count("missing", missing) + share, words("counters.in_input", ids=here)]
    restarts = int(row["chains"]) - int(row["tracks"]) if row.get("chains") is not None else 0
    if restarts > 0 and row.get("one_counter") != 1:
        parts.append(words.count("restart", restarts))
    rate, sent = row["rate_per_second"], span(frame, reader) + assumed(row, words)
    who = {name: row[name] for name in ("host", "pid", "loader")}
    said = words(
        "counters.said",
        **who,
        produced=words.count("id", produced - in_cut_gaps),
        span=sent,
        parts=words("clause").join(parts),
    )
    if not is_countable(row):  # what it generated is not known
        said = words(
            "counters.said_" + why_uncounted(row),
            **who,
            span=sent,
            ids=words.count("distinct_uniq", int(row["distinct"])),
        )
        rate = None
    if rate is not None and rate == rate:
        said += words("counters.said_rate", rate=rate_text(float(rate)))
        still, whole = strokes.pause(points) if points is not None and not points.empty else (0.0, 0.0)
        if still > STILL * whole:
            said += words("counters.said_pause", pause=words.duration(still), whole=words.duration(whole))
        said += words("stop")
        said += _wraps(row, has_ended, reader)
    if is_several(row):
        said += words("counters.said_tracks", n=words.count("track", int(row["tracks"])))
    return lead + said


def _wraps(row: dict[str, Any], has_ended: bool, reader: Reader) -> str:
    """How often a counter wraps, if it did, and when it will next."""
    words, wrap = reader.words, counter_rows.next_wrap(row)
    if wrap is None:
        return ""
    every, at = wrap
    said = words("counters.said_every", every=words.duration(every.total_seconds())) if row["wraps"] else ""
    if at is not None and not has_ended:
        key = "counters.said_next" if said else "counters.said_first"
        said += words(key, at=reader.minute(at) + assumed(row, words))
    return said + words("stop") if said else ""


def none_of(row: dict[str, Any], around: pd.DataFrame, reader: Reader) -> str:
    """A process without IDs in a time range, which may be in a gap."""
    return missing_of(row, around, reader) + reader.words("counters.none_in_range")


def why_uncounted(row: Any) -> str:
    """Why it is not known what a process generated: `cut`, `mixed` or `back`."""
    return "cut" if row["layout"] == CUT_COUNTER else "mixed" if not is_followed(row) else "back"


def missing_of(row: dict[str, Any], points: pd.DataFrame, reader: Reader) -> str:
    """Where a process whose input is no sample has most missing IDs: a time with many gaps, else its widest gap."""
    if row.get("sample") or not is_countable(row):
        return ""
    words = reader.words
    if (many := counter_rows.many_gaps(points, int(row["missing"]))) is not None:
        first, last = times.between(many.begins, many.ends, reader.zone)
        return words(
            "counters.said_gaps",
            n=words.count("id", many.missing),
            gaps=f"{many.gaps:,}",
            first=first,
            last=last + assumed(row, words),
            share=words.share(many.missing, many.produced),
            widest=f"{many.widest:,}",
        )
    gap = counter_rows.widest_gap(points)
    if gap is None or gap.begins is None or gap.ends is None:
        return ""
    lasting = words.duration((gap.ends - gap.begins).total_seconds())
    at, n = reader.full(gap.begins) + assumed(row, words), words.count("id", gap.missing)
    return words("counters.said_gap", n=n, count=gap.missing, at=at, lasting=lasting)


def point_notes(points: Points, row: dict[str, Any], chosen: TimeRange, reader: Reader) -> list[str]:
    """Which IDs of a process are drawn, and which of its gaps."""
    words, notes = reader.words, list[str]()
    limited = bool(chosen) and points.dated
    shown = points.drawn[chosen.contains(points.drawn["sent_at"])] if limited else points.drawn
    total = len(points.inside) if limited and points.whole else int(row["distinct"])
    if chosen and not points.dated and len(points.drawn):
        notes.append(words("counters.no_range"))
    if limited and not points.whole:
        notes.append(words("counters.in_range"))
    if len(shown) < total and not (limited and not points.whole):
        notes.append(words("counters.thinned", shown=f"{len(shown):,}", all=words.count("id", total)))
    if not points.inside.empty and strokes.least_gap(points.drawn, int(row["missing"])) > 1:
        notes.append(words("counters.sample_note"))
    return notes


def cut_note(in_cut_gaps: Iterable[float], reader: Reader) -> str:
    """That a gap that a time range cuts is counted whole, where that is so of any process."""
    return reader.words("counters.cut_gaps") if any(number > 0 for number in in_cut_gaps) else ""


def brokers(rows: pd.DataFrame, reader: Reader) -> str:
    """Brokers, records (distinct offsetMsgIds) and files."""
    words = reader.words
    said = words(
        "brokers.said",
        count=len(rows),
        brokers=words.count("broker", len(rows)),
        ids=words.count("stored", int(rows["distinct"].sum())),
        files=words.count("segment", int(rows["segments"].sum())),
    )
    return said + words("stop")


def range_text(shown: TimeRange, reader: Reader, *, dated: bool) -> str:
    """`09:50:13 – 09:52:40 +08:00 (2 min 27 s)`; without an end, from when or until when."""
    words, span = reader.words, times.clock_span(shown.begin, shown.end, reader.zone, dated=dated)
    if shown.begin is None or shown.end is None:
        return words("range.open", span=span)
    return words("range.shown", span=span, length=words.lasting((shown.end - shown.begin).total_seconds()))


def minutes_note(shown: TimeRange, reader: Reader) -> str:
    """That figures are of whole minutes, and of which."""
    whole = shown.whole_minutes()
    span = times.clock_span(whole.begin, whole.end, reader.zone, dated=False)
    return reader.words("range.whole_minutes", span=span) if shown else ""

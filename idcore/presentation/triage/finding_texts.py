"""Findings in the reader's words: what is wrong, whom it is about, when, how sure, what to do. Draws nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from idcore.answers import finding_words as messages
from idcore.answers.findings import model
from idcore.answers.findings.registry import SEVERITIES, rules
from idcore.base.catalogue import Words, upper
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.triage import evidence_texts, finding_rows
from idcore.presentation.triage.counter_rows import FEWEST_GAPS
from idcore.presentation.triage.finding_rows import Kind, Row, evidence_of
from idcore.presentation.triage.time_range import TimeRange

_BETWEEN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")  # the space is for a name in Latin letters
MOST_OF_ONE = 0.8  # of the findings of a kind: whose these are is said
MOST_ADVICE = 3  # different advice of one card
_MOST_NAMED = 3  # new errors of a banner, hosts of a gap that several have
SECOND = pd.Timedelta(seconds=1)


def say(part: str, row: Row, reader: Reader) -> str:
    """`meaning`, `advice` or `disproof` of a finding in the reader's language and zone."""
    evidence = evidence_texts.dated(evidence_of(row), reader)
    values = {"subject": row["subject"], "count": row["count"], **evidence, "assumed": finding_rows.assumed_of(row)}
    return messages.say(part, str(row["code"]), values, reader.words.lang)


def said_figures(row: Row) -> frozenset[str]:
    """The figures that its sentence contains."""
    return messages.names("meaning", str(row["code"]), evidence_of(row))


def sentences_of(row: Row, lang: str) -> dict[str, Any]:
    """A finding as JSON of the command line has it: how many it is, and its sentences in the zone of its scan."""
    values = json.loads(row["values"])
    said = {part: messages.say(part, row["code"], values, lang) for part in messages.SENTENCES}
    whose = {name: row[name] for name in ("code", "severity", "subject", "count", "certainty")}
    assumed = values.get("assumed") or []
    return whose | {"assumed": assumed, "number": model.number_of(model.read_evidence(row["code"], values))} | said


def item_of(number: int, row: Row, lang: str) -> dict[str, Any]:
    """A finding as JSON has it, of the command line and of programs' doors: its number, sentences, times, evidence."""
    times = {name: None if pd.isna(row[name]) else row[name].isoformat() for name in ("first_sent_at", "last_sent_at")}
    return {"finding": number} | sentences_of(row, lang) | times | {"evidence": json.loads(row["evidence"])}


def option(name: str, numbers: Mapping[str, int], words: Words) -> str:
    """A severity, or all of them, with its number, for the switch above the list."""
    return words(f"findings.show_{name}", n=f"{numbers.get(name, sum(numbers.values())):,}")


def kind_names(findings: pd.DataFrame, words: Words) -> dict[str, str]:
    """The name of each code as its cards have it: that of a variant, if all its findings are of one."""
    names: dict[str, set[str]] = {}
    for row in findings.to_dict("records"):
        names.setdefault(str(row["code"]), set()).add(finding_rows.title_of(row, words))
    return {code: min(own) if len(own) == 1 else finding_rows.title(code, words) for code, own in names.items()}


def kind_option(code: str, numbers: Mapping[str, int], names: Mapping[str, str], words: Words) -> str:
    """A code, or all of them, with its number, for the list next to the switch. `names`: of the codes."""
    name = names[code] if code in numbers else words("findings.every_kind")
    return words("findings.kind_option", kind=name, n=f"{numbers.get(code, sum(numbers.values())):,}")


def brief(kind: Kind, words: Words) -> str:
    """What is wrong with one subject, or with so many, in a few words."""
    key = messages.key_of(words, "brief", kind.code, kind.variant)
    if not words.has(key):
        return finding_rows.title(kind.code, words)
    values = {
        "kind": finding_rows.title(kind.code, words),
        "who": who(kind, words),
        "n": f"{kind.total:,}",
        "count": kind.number,
    }
    said = words.fill(key, {**values, "ids": words.count("id", kind.total)})
    return _BETWEEN.sub("", said)


def kind_sentence(kind: Kind, reader: Reader) -> str:
    """What is wrong with so many as a sentence. Of messages also: whose most are, and how far apart their copies."""
    said = upper(brief(kind, reader.words)) + reader.words("stop")
    return said + _whose_most(kind, reader) + _copies_apart(kind, reader) if _of_copies(kind) else said


def _of_copies(kind: Kind) -> bool:
    return kind.grouped and rules()[kind.code].subject == "id"


def _whose_most(kind: Kind, reader: Reader) -> str:
    """The process, else the host, that has nearly all of them."""
    processes = [evidence_of(row).fingerprint for _, row in kind.rows]
    of_hosts = Counter(process.host for process in processes if process is not None)
    for name, counts in (("process", Counter(str(one) for one in processes if one is not None)), ("host", of_hosts)):
        for value, n in counts.most_common(1):
            if n >= MOST_OF_ONE * kind.number:
                key = "findings.all_of_one" if n == kind.number else "findings.most_of_one"
                whose = reader.words(f"list.{name}", value=value)
                return reader.words(key, n=f"{n:,}", of=f"{kind.number:,}", whose=whose)
    return ""


def _copies_apart(kind: Kind, reader: Reader) -> str:
    """From the least to the most time between the copies of one, where their records show it."""
    known = [float(apart) for _, row in kind.rows if (apart := dict(evidence_of(row)).get("apart_seconds")) is not None]
    if not known:
        return ""
    least, most = (reader.words.lasting(seconds) for seconds in (min(known), max(known)))
    key = "findings.copies_apart" if least == most else "findings.copies_apart_between"
    part = "" if len(known) == kind.number else reader.words("findings.copies_known", n=f"{len(known):,}")
    return reader.words(key, least=least, most=most, part=part)


def who(kind: Kind, words: Words) -> str:
    """The subject of a kind, or how many it has."""
    if kind.number == 1:
        return subject((kind.rows or kind.rest)[0][1], words)
    key = f"who.{kind.code}"
    key = key if words.has(key) else f"who.{rules()[kind.code].subject}"
    named = words.fill(key, {"n": f"{kind.number:,}", "count": kind.number})
    clients = sum(evidence_of(row).client is not None for _, row in kind.rows)
    return named if kind.rest else _with_clients(named, clients, words)


def _with_clients(processes: str, clients: int, words: Words) -> str:
    """Processes of both generations: how many of them generate 5.x msgIds, which are not in the table of processes."""
    return words("n.with_clients", processes=processes, n=f"{clients:,}") if clients else processes


def by_severity(numbers: Mapping[str, int], words: Words, mark: str = "") -> list[str]:
    """`1 error`, `8 warnings`: of each severity that has findings how many, the worst first."""
    return [f"{mark}{words.count(f'finding_{name}', numbers[name])}{mark}" for name in SEVERITIES if numbers.get(name)]


def findings_sentence(
    findings: pd.DataFrame, summary: Mapping[str, Any], words: Words, *, in_range: bool = False
) -> str:
    """The answer in one sentence, true for none, one and many."""
    clients = summary.get("clients", 0)
    processes = words.count("process", summary.get("processes", 0) + clients)
    where = words(
        "findings.where",
        ids=words.count("occurrence", summary.get("ids", 0)),
        processes=_with_clients(processes, clients, words),
        brokers=words.count("broker", summary.get("brokers", 0)),
    )
    if not summary.get("ids"):
        return words("findings.no_ids")
    numbers = finding_rows.numbers(findings, "severity")
    if in_range:
        parts = words.listed(by_severity(numbers, words, "**"))
        return words("findings.said_range" if parts else "findings.none_range", findings=parts)
    if not numbers:
        return words("findings.none", where=where)
    key = "findings.said" if numbers.keys() - {"info"} else "findings.only_info"
    return words(key, findings=words.listed(by_severity(numbers, words, "**")), where=where)


def filtered(findings: pd.DataFrame, every: int, names: str, words: Words, *, in_range: bool = False) -> str:
    """How many of `every` finding, or of those in the time range, name what the pages are narrowed to."""
    where = "range" if in_range else "scan"
    if findings.empty:
        hidden = words("findings.hidden", count=every, n=words.count("finding", every))
        return words(f"findings.unnamed_{where}", count=every, n=f"{every:,}", names=names) + hidden
    parts = by_severity(finding_rows.numbers(findings, "severity"), words, "**")
    others = every - len(findings)
    hidden = words("findings.hidden_others", count=others, n=f"{others:,}") if others else ""
    return words(f"findings.named_{where}", names=names, findings=words.listed(parts)) + hidden


def between_sides(row: Row, reader: Reader) -> str:
    """What is missing between two log lines: how many IDs, which counters, for how long."""
    evidence, gap, words = evidence_of(row), finding_rows.gap_of(row), reader.words
    figures = dict(evidence)
    lasting = words("findings.sides_lasting", lasting=words.lasting((gap[1] - gap[0]).total_seconds())) if gap else ""
    missing = finding_rows.widest_of(row)
    return words(
        "findings.sides",
        n=words.count("id", missing),
        count=missing,
        first=f"{figures.get('gap_from', 0):,}",
        last=f"{figures.get('gap_to', 0):,}",
        lasting=lasting,
    )


def missing_between(row: Row, reader: Reader) -> str:
    """The same of a finding that has a gap; empty of others."""
    return between_sides(row, reader) if finding_rows.gap_of(row) is not None else ""


def sides(row: Row, lines: tuple[str, str], reader: Reader) -> str:
    """Both log lines with what is missing between them, as text; nothing where they are not at hand."""
    return f"{lines[0]}\n… {between_sides(row, reader)}\n{lines[1]}" if all(lines) else ""


def headline(findings: pd.DataFrame, reader: Reader) -> str:
    """The worst finding as a sentence, above the counts; nothing where there is no error and no warning."""
    kinds = finding_rows.kinds(findings) if not findings.empty else []
    worst = next((kind for kind in kinds if kind.severity != "info"), None)
    if worst is None:
        return ""
    words = reader.words
    if worst.grouped or not worst.rows:
        rest = common_gap((row for _, row in worst.rows), reader) or widest_gap(worst.rows, reader)
        return upper(brief(worst, words)) + words("stop") + rest
    row = _largest(worst)[1]
    if (gap := finding_rows.gap_of(row)) is None:
        return upper(say("meaning", row, reader)) + words("stop")
    if said := _many_gaps(row, reader):
        return said
    more = int(row["count"]) - finding_rows.widest_of(row)
    others = words("findings.headline_more", n=f"{more:,}") if more > 0 else ""
    return _of_gap("findings.headline_gap", row, gap, reader, more=others)


def _many_gaps(row: Row, reader: Reader) -> str:
    """A finding of many gaps, of which none has most of what is missing: how many, when; else nothing."""
    words, gaps = reader.words, int(dict(evidence_of(row)).get("in_gaps") or 0)
    widest, first, last = finding_rows.widest_of(row), row["first_sent_at"], row["last_sent_at"]
    if gaps < FEWEST_GAPS or 2 * widest > row["count"] or pd.isna(first) or pd.isna(last):
        return ""
    begin, end = times.between(first.to_pydatetime(), last.to_pydatetime(), reader.zone)
    return words(
        "findings.headline_gaps",
        subject=row["subject"],
        n=words.count("id", int(row["count"])),
        gaps=f"{gaps:,}",
        first=begin,
        last=end + words.assumed(finding_rows.assumed_of(row)),
        widest=f"{widest:,}",
    )


def _largest(kind: Kind) -> tuple[int, Row]:
    return max(kind.rows, key=lambda one: int(one[1]["count"]))


def gap_in_headline(findings: pd.DataFrame) -> tuple[int, Row] | None:
    """The finding whose gap the headline names, with its number; None where it names none."""
    kinds = finding_rows.kinds(findings) if not findings.empty else []
    worst = next((kind for kind in kinds if kind.severity != "info"), None)
    if worst is None or not worst.rows:
        return None
    if worst.grouped:
        return next(iter(finding_rows.widest_first(worst.rows)), None)
    largest = _largest(worst)
    return largest if finding_rows.gap_of(largest[1]) is not None else None


def at_once(findings: pd.DataFrame, reader: Reader) -> str:
    """When most processes that miss IDs miss them at once; nothing where they do not."""
    gaps = [] if findings.empty else findings[findings["code"] == finding_rows.GAPS].to_dict("records")
    return common_gap(gaps, reader)


def common_gap(rows: Iterable[Row], reader: Reader) -> str:
    """The same of the findings of IDs that are missing."""
    words, gap = reader.words, finding_rows.common_gap(rows)
    if gap is None:
        return ""
    first, last = times.between(gap.begin, gap.end, reader.zone)
    return words(
        "findings.at_once",
        n=f"{len(gap.rows):,}",
        hosts=words.first(gap.hosts, _MOST_NAMED),
        first=first,
        last=last + words.assumed(finding_rows.assumed_of(gap.rows[0])),
        lasting=words.duration((gap.end - gap.begin).total_seconds()),
    )


def widest_gap(rows: Sequence[tuple[int, Row]], reader: Reader) -> str:
    """Of several processes that miss IDs the widest gap: whose it is, and when; nothing where none is known."""
    widest = next(iter(finding_rows.widest_first(rows)), None)
    if widest is None or (gap := finding_rows.gap_of(widest[1])) is None:
        return ""
    return _of_gap("findings.headline_widest", widest[1], gap, reader)


def _of_gap(key: str, row: Row, gap: tuple[datetime, datetime], reader: Reader, **more: str) -> str:
    words, lost = reader.words, finding_rows.widest_of(row)
    return words(
        key,
        subject=row["subject"],
        n=words.count("id", lost),
        count=lost,
        at=reader.full(gap[0]) + words.assumed(finding_rows.assumed_of(row)),
        lasting=words.duration((gap[1] - gap[0]).total_seconds()),
        **more,
    )


def outside(shown: TimeRange, every: pd.DataFrame, words: Words) -> str:
    """Which findings a time range leaves out: those at other times, and those that have none."""
    if not shown or every.empty:
        return ""
    undated = int(every["first_sent_at"].isna().sum())
    others = len(every) - undated - int(shown.overlaps(every["first_sent_at"], every["last_sent_at"]).sum())
    return words("findings.outside", others=f"{others:,}", undated=f"{undated:,}")


def silent(findings: pd.DataFrame, words: Words) -> tuple[str, str]:
    """How many checks found nothing here, which does not prove that all is well; and which."""
    codes = [code for code in rules() if findings.empty or code not in set(findings["code"])]
    said = words("findings.silent", n=words.count("check", len(codes)))
    return said, words("semicolon").join(finding_rows.title(code, words) for code in codes)


def subject(row: Row, words: Words) -> str:
    """Whom it is about; of a row that counts many, how many."""
    evidence = evidence_of(row)
    key = f"findings.rest_{evidence.variant}"
    return words(key, n=f"{evidence.more:,}") if evidence.more is not None and words.has(key) else str(row["subject"])


def new_errors(errors: Sequence[Row], words: Words) -> str:
    """What is new in a scan that goes on: the first of these, each by its name and whom it is about."""
    named = (f"{finding_rows.title_of(row, words)} {subject(row, words)}" for row in errors[:_MOST_NAMED])
    return words("follow.news", what=words("comma").join(named))


def when_of(row: Row, reader: Reader) -> str:
    """When it happened, or from when to when its ids were generated; nothing where no id of it has a time."""
    first, last, words = row["first_sent_at"], row["last_sent_at"], reader.words
    rule = rules()[str(row["code"])]
    by_minute = rule.subject == "broker"  # more is not known of brokers
    if pd.isna(first):
        return ""
    if (gap := finding_rows.gap_of(row)) is not None:  # a gap begins with the ID below it, as the headline says
        first, last = min(first, pd.Timestamp(gap[0])), first if pd.isna(last) else last
    if pd.isna(last) or first == last or (by_minute and reader.minute(first) == reader.minute(last)):
        when = reader.minute(first) if by_minute else reader.full(first)
    else:
        start, end = times.between(first, last, reader.zone, by_minute)
        when = reader.full(first) if last - first < SECOND else f"{start} {words('to')} {end}"
    named = (f"{rule.code}.{finding_rows.evidence_of(row).variant}", rule.code, "other")
    name = next(f"when.{one}" for one in named if words.has(f"when.{one}"))
    return words(name, when=when + words.assumed(finding_rows.assumed_of(row)))


def sure_of(row: Row, words: Words) -> str:
    """How sure it is, where it is not certain."""
    return "" if row["certainty"] == "certain" else words(f"certainty.{row['certainty']}")


def between(first: pd.Timestamp, last: pd.Timestamp, reader: Reader) -> tuple[str, ...]:
    """Two times as `10:00 to 10:05`, or the one that both are."""
    start, end = times.between(first, last, reader.zone)
    return (reader.full(first),) if first == last else (start, reader.words("to"), end)


def sent_between(row: Row, reader: Reader) -> str:
    """When the IDs of a finding were sent, to the millisecond, with what of it is assumed; empty where not known."""
    first, last = row["first_sent_at"], row["last_sent_at"]
    if pd.isna(first):
        return ""
    span = reader.full(first) if first == last or pd.isna(last) else times.clock_span(first, last, reader.zone, True)
    return span + reader.words.assumed(finding_rows.assumed_of(row))


def texts_of(part: str, kind: Kind, reader: Reader) -> list[str]:
    """The different texts of a part that the findings of a kind have, the most frequent first."""
    texts: Counter[str] = Counter()
    same: dict[tuple[str | None, tuple[str, ...]], str] = {}  # of a message without figures
    for _, row in kind.rows:
        evidence = evidence_of(row)
        which = evidence.variant, tuple(evidence.also or ())
        if messages.names(part, kind.code, evidence):
            texts[say(part, row, reader)] += 1
        else:
            texts[same.get(which) or same.setdefault(which, say(part, row, reader))] += 1
    return [text for text, _ in texts.most_common(MOST_ADVICE)]


def seen(row: Row, reader: Reader) -> list[str]:
    """Since when, and how sure."""
    return [text for text in (when_of(row, reader), sure_of(row, reader.words)) if text]

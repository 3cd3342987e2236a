"""What is different in a time range, or in a list of IDs: counted in tables and the index of lines, and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from idcore.answers import differences
from idcore.answers.differences import PAUSE, TOTAL, Difference, Stretch
from idcore.base.catalogue import Words
from idcore.ids.clock import Clock
from idcore.ids.describe import made_by, when
from idcore.ids.model import OffsetId, UniqId
from idcore.ids.origins import PROCESS_KEY, Fingerprint
from idcore.ids.record_fields import fields_of
from idcore.intake.intake import FoundId
from idcore.presentation.reports.markdown import code, escaped
from idcore.presentation.triage import largest
from idcore.presentation.triage.in_range import inside, milliseconds
from idcore.presentation.triage.processes import countable, named_layout, process_key
from idcore.presentation.triage.scope import Scope
from idcore.presentation.triage.time_range import TimeRange
from idcore.scan.occurrences.index import Allowed, Index, IndexPart

MOST = 8  # differences that are named
NAMED = ("named_topic", "named_broker", "named_queue")  # by lines, of which some are read
SHARES = ("host", "process", "maker", "broker", "topic", "group", *NAMED)  # of the IDs, or lines, that have one
SLACK = 0.01  # of a range: it is not shorter for as much of it before the first or after the last ID of a scan
MOST_LINES = 400  # of each side that are read for what they name
COUNTED = ("missing", "retries")  # of all IDs, or lines: what only some of them have
AMOUNTS = (*COUNTED, TOTAL, PAUSE)  # no shares of the IDs
MOST_GAPS = 200  # that are looked at for whether they began in a range
_CHAIN = [*PROCESS_KEY, "track", "chain"]
Counted = dict[str, Counter[str]]
Times = tuple[list[np.ndarray], list[np.ndarray]]


@dataclass(frozen=True, slots=True)
class Explained:
    """What differs, the largest first; how many IDs both sides have.

    `base` says what the other side is: `before` as long, from `begin` to `end`; the `rest` of the scan; the `scan`.
    A `rest` with `begin` and `end` stands for the time before, which has no IDs. `seconds`: the time of both sides.
    `reaches`: whether a gap is counted that goes on after the range.
    """

    differences: tuple[Difference, ...]
    ids: int
    others: int
    base: str
    begin: datetime | None = None
    end: datetime | None = None
    seconds: tuple[float, float] | None = None
    reaches: bool = False

    @property
    def uneven(self) -> tuple[float, float] | None:
        """The time of both sides where one is longer: numbers of these are compared by the minute."""
        if self.seconds is None or not min(self.seconds):
            return None
        return self.seconds if min(self.seconds) < (1 - SLACK) * max(self.seconds) else None


def base_of(shown: TimeRange, first: datetime | None, last: datetime | None) -> tuple[str, list[TimeRange]]:
    """With what a range is compared: at most as much time before it; all other times where the scan has none before."""
    begin, end = shown.begin, shown.end or last
    if begin is None or end is None or first is None or last is None or not first < begin < end:
        return "rest", _rest_of(shown)
    here = _of_scan(shown, first, last)
    before = TimeRange(begin - ((here.end if here and here.end else end) - begin), begin)
    return "before", [_of_scan(before, first, last) or before]


def _of_scan(shown: TimeRange, first: datetime, last: datetime) -> TimeRange | None:
    """What of a range is not before the first or after the last ID of a scan, in whole seconds; None where nothing."""
    begin, end = shown.begin or first, shown.end or last
    slack = (end - begin) * SLACK
    if first - begin > slack:
        begin = first.replace(microsecond=0)
    if end - last > slack:
        end = last.replace(microsecond=0) + timedelta(seconds=1)
    return TimeRange(begin, end) if begin < end else None


def _seconds(ranges: Iterable[TimeRange], first: datetime, last: datetime) -> float:
    """How long a scan was going on in these ranges."""
    parts = [part for one in ranges if (part := _of_scan(one, first, last))]
    return sum((part.end - part.begin).total_seconds() for part in parts if part.end and part.begin)


def _rest_of(shown: TimeRange) -> list[TimeRange]:
    """All times that are not in a range."""
    before = [TimeRange(None, shown.begin)] if shown.begin is not None else []
    return [*before, TimeRange(shown.end, None)] if shown.end is not None else before


def of_range(
    index: Index,
    shown: TimeRange,
    tables: Mapping[str, pd.DataFrame],
    ends: tuple[datetime | None, datetime | None],
    wanted: Scope,
    allowed: Allowed,
) -> Explained:
    """A range against the time before it, or against the rest of the scan where that has no IDs; both as `wanted`.

    `tables`: `processes` with their makers and whether they are a `sample`; `counters` of points with a gap before
    them; `deliveries` and `retries`, which may be empty. `ends`: the first and the last time of the scan.
    """
    chosen = _chosen(index, wanted, allowed)
    tables = _narrowed(tables, wanted)

    def against(others: list[TimeRange], base: str) -> Explained:
        times: Times = [], []
        sides = _of_index(index, ([shown], others), tables["processes"], chosen, times)
        for side, ranges in zip(sides, ([shown], others), strict=True):
            _add_tables(side, ranges, tables)
        found = replace(_explained(sides, base), seconds=lasted(others))
        if any(one.by == "missing" for one in found.differences):
            gaps = tables["counters"]
            found = replace(found, reaches=bool(gaps.loc[shown.contains(gaps["sent_at"]), "reaches"].any()))
        if chosen is None or found.seconds is None:
            return found
        both = zip((found.ids, found.others), times, ([shown], others), strict=True)
        more = differences.of_stretches(wanted.text, *(_stretch(*side, *ends) for side in both))
        return replace(found, differences=tuple(differences.largest_first([*found.differences, *more])))

    def lasted(others: list[TimeRange]) -> tuple[float, float] | None:
        first, last = ends
        return (_seconds([shown], first, last), _seconds(others, first, last)) if first and last else None

    base, others = base_of(shown, *ends)
    found = against(others, base)
    if base == "rest":
        return found
    if not found.others:
        found = against(_rest_of(shown), "rest")
    return replace(found, begin=others[0].begin, end=others[0].end)


def _stretch(
    ids: int, times: list[np.ndarray], ranges: list[TimeRange], first: datetime | None, last: datetime | None
) -> Stretch:
    """How long ranges are, as far as the scan goes, and the longest time there without an ID."""
    assert first is not None and last is not None
    sent, lasted, pause = np.sort(np.concatenate(times)) if times else np.array([], np.int64), 0, 0
    for part in filter(None, (_of_scan(one, first, last) for one in ranges)):
        begin, end = milliseconds(part)
        assert begin is not None and end is not None
        own = sent[np.searchsorted(sent, begin) : np.searchsorted(sent, end)]
        lasted += end - begin
        pause = max(pause, int(np.diff(own, prepend=begin, append=end).max()))
    return Stretch(ids, lasted, pause)


def _chosen(index: Index, wanted: Scope, allowed: Allowed) -> np.ndarray | None:
    """The rows of the index that a filter leaves; None where none is set."""
    if not wanted:
        return None
    return index.select(replace(wanted.filter(), topic=wanted.topic), allowed=allowed).rows.astype(np.int64)


def _narrowed(tables: Mapping[str, pd.DataFrame], wanted: Scope) -> dict[str, pd.DataFrame]:
    """What of the tables is known to be as wanted: a gap names no broker or topic, a delivery only its topic."""
    kept, none = dict(tables), pd.DataFrame()
    if wanted.broker or wanted.topic:
        kept["counters"] = none
    elif len(kept["counters"]):
        gaps = kept["counters"]
        gaps = gaps[gaps["host"] == wanted.host] if wanted.host else gaps
        keys = [process_key(row) for row in gaps.to_dict("records")] if wanted.process else []
        kept["counters"] = gaps[[key == wanted.process for key in keys]] if wanted.process else gaps
    if wanted.host or wanted.process or wanted.broker:
        kept["deliveries"] = none
    elif wanted.topic and len(kept["deliveries"]):
        kept["deliveries"] = kept["deliveries"][kept["deliveries"]["topic"] == wanted.topic]
    return kept | {"retries": none} if wanted else kept


def of_list(counted: Counted, every: Counted) -> Explained:
    """A list of IDs against all of a scan."""
    return _explained((_none() | counted, _none() | every), "scan")


def of_intake(items: Iterable[FoundId], clock: Clock) -> Counted:
    """IDs that were read at once, each once, by host, process, maker and broker."""
    counted = _none()
    for item in {item.token.text.upper(): item for item in items}.values():
        best = item.verdict.best
        if best is not None and isinstance(best.id, OffsetId):
            counted["broker"][best.id.address] += 1
        elif best is not None and isinstance(best.id, UniqId):
            process = Fingerprint(best.id.host, best.id.pid, best.id.loader_text)
            key = "~".join((process.key, *named_layout(best.id.layout.name)))
            _add(counted, process.host, key, made_by(best, when(best, item.token, clock)[1]).code, 1)
    return counted


def of_lines(index: Index, ids: Iterable[str], allowed: Allowed) -> tuple[Counted, Counted]:
    """What the lines of a list of IDs name, and those of all IDs: topic, broker, queue. Of many lines a sample."""
    own = [rows[0] for rows in index.rows_of(list(dict.fromkeys(ids))).values() if len(rows)]
    sides = _none(), _none()
    for side, rows in zip(sides, (np.sort(np.array(own, np.int64)), np.arange(index.rows)), strict=True):
        for one in index.page(_spread(rows), allowed):
            for name, value in _named_by(one.text).items():
                side[name][value] += 1
    return sides


def _spread(rows: np.ndarray) -> np.ndarray:
    """So many of the rows as are read, evenly."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_LINES)).astype(np.int64))]


def _named_by(line: str) -> dict[str, str]:
    known = fields_of(line)
    named = {"named_topic": known.get("topic"), "named_broker": known.get("brokerName")}
    if "topic" in known and "queueId" in known:
        named["named_queue"] = " / ".join(known[name] for name in ("topic", "brokerName", "queueId") if name in known)
    return {name: value for name, value in named.items() if value}


def gaps(folder: Path, processes: pd.DataFrame, shown: TimeRange) -> pd.DataFrame:
    """The points of a table `counters` that have a gap before them, of judged processes; a sample has none.

    A gap that `reaches` from a range beyond its end is dated in the range: its IDs are missing there, too.
    """
    whole = pd.DataFrame(columns=PROCESS_KEY)
    if len(processes):
        whole = processes.loc[~processes["sample"].astype(bool) & countable(processes), PROCESS_KEY]
    points, columns = largest.dataset_of(folder), [*_CHAIN, "position", "sent_at"]
    wide = points.to_table(columns=[*columns, "missing_before"], filter=ds.field("missing_before") > 0)
    found = wide.to_pandas().merge(whole, on=PROCESS_KEY).assign(reaches=False)
    if shown.end is None:
        return found
    later = found[found["sent_at"] >= shown.end].sort_values("sent_at", kind="stable")
    later = later.groupby(_CHAIN, dropna=False).head(1).nlargest(MOST_GAPS, "missing_before")
    if later.empty:
        return found
    until = pa.scalar(shown.end, pa.timestamp("us", "UTC"))
    of_hosts = ds.field("host").isin(later["host"].unique().tolist()) & (ds.field("sent_at") < until)
    before = points.to_table(columns=columns, filter=of_hosts).to_pandas().drop_duplicates([*_CHAIN, "position"])
    later = later.assign(position=later["position"] - later["missing_before"] - 1, place=later.index)
    begun = later.drop(columns="sent_at").merge(before, on=[*_CHAIN, "position"]).set_index("place")["sent_at"]
    found.loc[begun.index, "sent_at"] = begun if shown.begin is None else begun.clip(lower=shown.begin)
    found.loc[begun.index, "reaches"] = True
    return found


def _none() -> Counted:
    return {by: Counter() for by in (*SHARES, *COUNTED)}


def counted(processes: pd.DataFrame, brokers: pd.DataFrame) -> Counted:
    """All IDs of a scan by host, process, maker and broker, of its tables."""
    counts = _none()
    for row in processes.to_dict("records"):
        _add(counts, row["host"], process_key(row), row["maker"], int(row["ids"]))
    counts["broker"].update(
        dict(zip(brokers["address"], map(int, brokers["ids"]), strict=True)) if len(brokers) else {}
    )
    return counts


def _add(counts: Counted, host: str, key: str, maker: str | None, ids: int) -> None:
    counts["host"][host] += ids
    counts["process"][key] += ids
    if maker:
        counts["maker"][maker] += ids


def _explained(sides: tuple[Counted, Counted], base: str) -> Explained:
    here, there = (_wholes(side) for side in sides)
    some = tuple(differences.ranked(*sides, here, there))
    ids, others = (whole["missing"] + whole["broker"] for whole in (here, there))
    return Explained(some, ids, others, base)


def _wholes(side: Counted) -> dict[str, int]:
    """How many IDs, or lines, each kind of value is a share of."""
    ids, grouped = side["host"].total(), side["group"].total()
    return {by: side[by].total() for by in SHARES} | {"missing": ids, "retries": grouped + side["retries"].total()}


def _of_index(
    index: Index,
    both: tuple[list[TimeRange], list[TimeRange]],
    processes: pd.DataFrame,
    chosen: np.ndarray | None,
    times: Times,
) -> tuple[Counted, Counted]:
    """The IDs of both sides by their names, in one pass over the index. `chosen`: of these rows only, with `times`."""
    sides = _none(), _none()
    makers = {process_key(row): row["maker"] for row in processes.to_dict("records")}
    for part in index.parts:
        if not any(part.may_have_time(*milliseconds(one)).any() for one in (*both[0], *both[1])):
            continue  # its names may be millions
        names = part.names.to_pylist()
        for side, ranges, at in zip(sides, both, times, strict=True):
            ids = np.zeros(len(names), np.int64)
            for one in ranges:  # they have no instant in common
                sent, slot = _times_and_slots(part, one, chosen)
                own = inside(sent, one)
                ids += np.bincount(slot[own], minlength=len(names))
                if chosen is not None:
                    at.append(sent[own])
            for place in np.flatnonzero(ids).tolist():
                row, number = names[place], int(ids[place])
                if row["kind"] == "offset":
                    side["broker"][row["address"]] += number
                elif row["kind"] == "uniq":
                    key = process_key(row)
                    _add(side, row["host"], key, makers.get(key), number)
    return sides


def _times_and_slots(part: IndexPart, shown: TimeRange, chosen: np.ndarray | None) -> list[np.ndarray]:
    """Of the rows of a part that may be in a range, or of the chosen ones."""
    if chosen is None:
        return part.timed(*milliseconds(shown), ["slot"])
    first, end = np.searchsorted(chosen, [part.first, part.first + part.rows])
    return [column[chosen[first:end] - part.first] for column in part.columns(["sent_ms", "slot"])]


def _add_tables(side: Counted, ranges: Iterable[TimeRange], tables: Mapping[str, pd.DataFrame]) -> None:
    """What is missing of each host, and the deliveries of each topic and group."""
    for shown in ranges:
        for table, at, counts in (
            ("counters", "sent_at", lambda rows: {"missing": _sums(rows, "host", "missing_before")}),
            ("deliveries", "at", _delivered),
            ("retries", "minute", lambda rows: {"retries": _sums(rows, "group", "tries")}),
        ):
            rows = tables[table]
            if len(rows):
                for by, counted in counts(rows[shown.contains(rows[at])]).items():
                    side[by].update(counted)


def _delivered(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    again = rows[rows["try"] > 0]
    return {
        "topic": rows["topic"].value_counts().to_dict(),
        "group": rows["consumer_group"].value_counts().to_dict(),
        "retries": again["consumer_group"].value_counts().to_dict(),
    }


def _sums(rows: pd.DataFrame, by: str, figure: str) -> dict[str, int]:
    return {str(name): int(number) for name, number in rows.groupby(by)[figure].sum().items() if number}


# ---- in words, for the page and for a ticket


def headline(explained: Explained, words: Words, span: str, names: str = "") -> tuple[str, str]:
    """What differs most; how many IDs both sides have. `span`: the time before; `names`: what is filtered for."""
    is_rest = explained.base == "rest" and explained.begin is not None
    sizes = words(
        "explain.sizes_empty" if is_rest else f"explain.sizes_{explained.base}",
        n=f"{explained.ids:,}",
        others=f"{explained.others:,}",
        span=span,
    )
    if (seconds := explained.uneven) is not None:
        n, others = (
            _by_the_minute(*one, words) for one in zip((explained.ids, explained.others), seconds, strict=True)
        )
        base = words(f"explain.than_{explained.base}")
        sizes += words("explain.rates", n=n, others=others, where=_where(explained.base, words), base=base)
        if explained.base == "before":
            sizes = words("explain.short", length=words.duration(seconds[1])) + sizes
    of_filter = words("explain.filtered", names=names) if names else ""
    if explained.reaches:
        sizes += words("explain.reaches")
    if explained.differences:
        return sentence(explained.differences[0], explained, words), sizes + of_filter
    if not explained.ids:
        return words("explain.empty", where=_where(explained.base, words)), of_filter
    if not explained.others:
        return words("explain.alone", base=words(f"explain.than_{explained.base}")), of_filter
    return words("explain.none"), sizes + of_filter


def _where(base: str, words: Words) -> str:
    return words("explain.list" if base == "scan" else "explain.range")


def _by_the_minute(number: int, seconds: float, words: Words) -> str:
    rate = 60 * number / seconds
    return words("explain.per_minute", n=f"{rate:,.0f}" if rate >= 10 or not rate else f"{rate:,.1f}")


def sentence(one: Difference, explained: Explained, words: Words) -> str:
    """`Host **10.42.35.17** generated **31 %** of the msgIds in the range, 2 % before.`"""
    base = explained.base
    inside, outside = figures(one, explained.uneven, words)
    where, than = _where(base, words), words(f"explain.than_{base}")
    return words(f"explain.{one.by}", value=name_of(one, words), inside=inside, outside=outside, where=where, base=than)


def figures(
    one: Difference, uneven: tuple[float, float] | None, words: Words, *, column: bool = False
) -> tuple[str, str]:
    """Of both sides: the share, or of what only some IDs have the number, by the minute where one side is longer."""
    if one.by == PAUSE:
        return words.duration(one.inside / 1000), words.duration(one.outside / 1000)
    if one.by in AMOUNTS and uneven:
        return _by_the_minute(one.inside, uneven[0], words), _by_the_minute(one.outside, uneven[1], words)
    if one.by in AMOUNTS:
        return f"{one.inside:,}", f"{one.outside:,}"
    share = words.share_cell if column else words.share
    return share(one.inside, one.of_inside), share(one.outside, one.of_outside)


def name_of(one: Difference, words: Words) -> str:
    """Its value as people read it."""
    if one.by == "maker":
        return words.client(one.value, {"position": "?"})
    if one.by == "process":
        host, pid, loader = one.value.split("~")[:3]
        return str(Fingerprint(host, int(pid), loader))
    return one.value


def lines_of(one: Difference, shown: TimeRange) -> tuple[str, dict[str, str]]:
    """The page that shows the IDs or lines of a value, and what it is asked for."""
    page = "counters" if one.by == "missing" else "producers" if one.by == "maker" else "lines"
    name = {"missing": "host", **dict.fromkeys(("group", "retries", *NAMED), "find")}.get(one.by, one.by)
    value = one.value.partition(" / ")[0] if one.by == "named_queue" else one.value
    return page, shown.params() | ({} if one.by in ("maker", TOTAL, PAUSE) else {name: value})


def markdown(explained: Explained, words: Words, span: str, address: str, names: str = "") -> str:
    """The same for a ticket: the headline, then a line for each further difference, and where the console shows it."""
    title = words("explain.title_list" if explained.base == "scan" else "explain.title")
    first, sizes = headline(explained, words, span, names)
    lines = [_with_code(one, explained, words) for one in explained.differences[:MOST]] or [first]
    more = "\n".join(f"- {line}" for line in lines[1:])
    return "\n\n".join(filter(None, [f"## {title}", lines[0], more, escaped(sizes), address])) + "\n"


def _with_code(one: Difference, explained: Explained, words: Words) -> str:
    """Its sentence with its value and figures as code: a topic may have any letters."""
    named = f"**{name_of(one, words)}**"
    before, _, after = sentence(one, explained, words).partition(named)
    return f"{before.replace('**', '`')}{code(named[2:-2])}{after.replace('**', '`')}"

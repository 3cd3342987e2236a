"""What one row says of each producer host, or of each group of hosts: messages, share, time, missing, processes."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from idcore.answers.findings import gaps
from idcore.base.catalogue import Words
from idcore.presentation import times
from idcore.presentation.reader import Reader
from idcore.presentation.triage import run_tables, strokes
from idcore.presentation.triage.activity import LEAST_SILENCE, Ends, binned, is_silent
from idcore.presentation.triage.processes import assumed, countable
from idcore.runs.runs import Run

GROUPED = 30  # from so many hosts on they can be grouped
NAMED = 3  # hosts of a sentence
LARGE_SHARE, LARGE_TIMES = 0.3, 5  # of all messages, and of those of the next host
LONGEST_RESTART = pd.Timedelta(minutes=10)
MOST_CHANGES = 20_000  # processes
MOST_JUDGED = 50  # processes of which more than a tenth is missing
PointsOf = Callable[[Mapping[Any, Any]], pd.DataFrame]
SORTS = ("messages", "missing", "ended", "host", "processes")
GROUPS = ("host", "network", "client")


@lru_cache(maxsize=1 << 16)
def network_of(host: str) -> str:
    """The /24 of an IPv4 address, the /64 of an IPv6 address; the host itself where it is no address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((address, 24 if address.version == 4 else 64), strict=False))


def namer(group: str, processes: pd.DataFrame, words: Words) -> Callable[[str], str]:
    """To which row a host belongs. A host with several clients belongs to that of most of its IDs."""
    if group == "network":
        return network_of
    if group != "client":
        return str
    most = processes.sort_values("ids", ascending=False).drop_duplicates("host").set_index("host")
    names = {
        str(host): words.client(row["maker"] or "", {"position": row.get("loader_position") or "?"})
        for host, row in most.iterrows()
    }
    return lambda host: names.get(host, words("producers.client_unknown"))


def summed(hosts: pd.DataFrame, processes: pd.DataFrame, measure: str, name: Callable[[str], str]) -> pd.DataFrame:
    """One row for each name: `messages`, `hosts`, `processes`; of judged ones `lost`, `produced`, `samples`."""
    rows = hosts.assign(name=hosts["host"].map(name)).groupby("name", sort=False)
    last = {"ended": ("last_sent_at", "max")} if "last_sent_at" in hosts else {}
    sums = rows.agg(messages=(measure, "sum"), hosts=("host", "size"), **last)
    own = processes.assign(name=processes["host"].map(name))
    sums["processes"] = own.groupby("name").size().reindex(sums.index, fill_value=0)
    if "lost" in own:
        figures = own.groupby("name").agg(lost=("lost", "sum"), produced=("produced", "sum"), samples=("sample", "sum"))
        sums = sums.join(figures).fillna({"lost": 0, "produced": 0, "samples": 0})
    return sums.reset_index()


def judged(processes: pd.DataFrame, points: PointsOf) -> pd.DataFrame:
    """Processes with what they `lost`, and whether the input is only a `sample` of them: then only holes are lost.

    Of more than MOST_JUDGED in doubt those with fewer IDs count as samples. Of a counter that cannot be followed
    nothing is lost.
    """
    whole = countable(processes)
    marked = processes.assign(lost=processes["missing"].where(whole, 0), sample=False)
    marked["produced"] = marked["produced"].where(whole, 0)
    doubtful = marked[gaps.is_sample(marked["lost"], marked["produced"])].sort_values("ids", ascending=False)
    for place, (index, row) in enumerate(doubtful.iterrows()):
        known = points(row.to_dict()) if place < MOST_JUDGED else pd.DataFrame()
        if known.empty:
            marked.loc[index, ["lost", "sample"]] = (0, True)
            continue
        judgement = strokes.judgement(known, int(row["distinct"]), int(row["missing"]))
        if judgement.even:
            marked.loc[index, ["lost", "sample"]] = (judgement.in_holes, True)
    return marked


def ordered(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """The rows in the order a person asked for; ties by messages."""
    keys = {"messages": rows["messages"], "processes": rows["processes"], "host": rows["name"].map(in_order)}
    if "lost" in rows:
        keys["missing"] = rows["lost"] / rows["produced"].clip(lower=1)
    if "ended" in rows:
        keys["ended"] = rows["ended"]
    ranked = rows.assign(_by=keys.get(by, rows["messages"]))
    rising = by in ("host", "ended")
    return ranked.sort_values(["_by", "messages", "name"], ascending=[rising, False, True]).drop(columns="_by")


@lru_cache(maxsize=1 << 16)
def in_order(name: str) -> tuple[int, int, str]:
    """Addresses by their numbers: 10.0.0.9 before 10.0.0.10."""
    try:
        address = ipaddress.ip_network(name, strict=False).network_address
    except ValueError:
        return 9, 0, name
    return address.version, int(address), name


def matching(rows: pd.DataFrame, text: str) -> pd.DataFrame:
    """The rows whose name `fits` a text."""
    fit = fits(text)
    return rows[[fit(name) for name in rows["name"]]] if text else rows


def fits(text: str) -> Callable[[str], bool]:
    """Whether a name has this text, or lies in this network.

    >>> [fits(text)("10.42.3.7") for text in ("42.3", "10.42.3.0/24", "10.42.4.0/24")]
    [True, True, False]
    """
    try:
        network = ipaddress.ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        network = None
    return (lambda name: text.lower() in name.lower()) if network is None else partial(_lies_in, network)


def _lies_in(network: ipaddress.IPv4Network | ipaddress.IPv6Network, name: str) -> bool:
    try:
        return ipaddress.ip_network(name, strict=False).network_address in network
    except ValueError:
        return False


def strips(
    activity: pd.DataFrame,
    names: Sequence[str],
    name: Callable[[str], str],
    least: pd.Timedelta,
    within: Ends | None = None,
) -> tuple[dict[str, list[float]], pd.Timedelta, tuple[pd.Timestamp, pd.Timestamp] | None]:
    """How busy each row was from step to step, from 0 to 1 of the busiest cell of its own; the step; the ends of all.

    Each row has its own scale: how many it has is in the columns next to it. A strip shows when. `within`: what strips
    show at least.
    """
    if activity.empty:
        return {}, least, None
    mine = activity.assign(host=activity["host"].map(name))
    mine = mine.groupby(["host", "minute"], as_index=False)["ids"].sum()
    own = [one for one in names if one in set(mine["host"])]
    if not own:
        return {}, least, None
    grid, step = binned(mine, own, least, within)
    whole = grid.div(grid.max(axis=1), axis=0).fillna(0.0)
    by_host = {str(host): values for host, values in zip(whole.index, whole.to_numpy().tolist(), strict=True)}
    return by_host, step, (grid.columns[0], grid.columns[-1] + step)


def stops(values: Sequence[float], colours: Sequence[str]) -> str:
    """A strip as the stops of a CSS gradient: the busier, the stronger; nothing where there was nothing."""
    stops, width = list[str](), 100 / len(values)
    begin = 0
    for place in range(1, len(values) + 1):
        shade = _shade(values[begin], colours)
        if place < len(values) and _shade(values[place], colours) == shade:
            continue
        stops.append(f"{shade} {begin * width:.2f}% {place * width:.2f}%")
        begin = place
    return ", ".join(stops)


def _shade(value: float, colours: Sequence[str]) -> str:
    if value <= 0:
        return "transparent"
    return colours[min(len(colours) - 1, int(value * len(colours)))]


@dataclass(frozen=True, slots=True)
class Worst:
    """The process that misses most without being a sample, and its widest gap where the scan's points have it."""

    process: Mapping[str, Any]
    widest: int
    begins: pd.Timestamp | None
    ends: pd.Timestamp | None


def worst(processes: pd.DataFrame, points: PointsOf) -> Worst | None:
    """Of judged processes the one that lost most; None where none lost any."""
    counted = processes[processes["lost"] > 0] if len(processes) else processes
    if counted.empty:
        return None
    row = counted.sort_values(["lost", "ids"], ascending=False).iloc[0].to_dict()
    known = points(row)
    if known.empty or not known["sent_at"].notna().all():
        return Worst(row, 0, None, None)
    known = known.sort_values(["track", "chain", "position"]).reset_index(drop=True)
    at = int(known["missing_before"].to_numpy().argmax())
    widest = int(known["missing_before"].iloc[at])
    if not widest or not at:
        return Worst(row, widest, None, None)
    return Worst(row, widest, known["sent_at"].iloc[at - 1], known["sent_at"].iloc[at])


def silent(hosts: pd.DataFrame) -> pd.DataFrame:
    """The hosts that have no ID for long when others go on, the largest first.

    None where the clock of a single host would make the others silent, or they have most of the IDs.
    """
    dated = hosts.dropna(subset=["first_sent_at", "last_sent_at"])
    if len(dated) < 2:
        return dated.head(0)
    end = _end(dated["last_sent_at"])
    late = dated[end - dated["last_sent_at"] > LEAST_SILENCE]
    rows = zip(late["first_sent_at"], late["last_sent_at"], late["ids"], strict=True)
    found = late[np.array([is_silent(first, last, count, end) for first, last, count in rows], bool)]
    if 2 * found["ids"].sum() >= dated["ids"].sum():
        return dated.head(0)
    return found.sort_values(["ids", "host"], ascending=[False, True])


def _end(last: pd.Series) -> datetime:
    """Until when hosts go on, of their last IDs: of more than two not what the clock of one alone says."""
    end: datetime = last.nlargest(2).iloc[-1] if len(last) > 2 else last.max()
    return end


def is_apart(last: datetime, others: pd.Series) -> bool:
    """Whether the last of some IDs is before the first of all others: then their clock may be off."""
    return bool(others.min() > last)


def silent_text(hosts: pd.DataFrame, reader: Reader, assumed: str = "") -> str:
    """Which hosts are silent, and since when; of many how many, and the largest. `assumed`: of their times."""
    words, found = reader.words, silent(hosts)
    if found.empty:
        return ""
    first, last = found["last_sent_at"].min(), found["last_sent_at"].max()
    named = [
        {"host": row["host"], "at": reader.second(row["last_sent_at"]) + assumed}
        for row in found.head(NAMED).to_dict("records")
    ]
    if len(found) <= NAMED:
        others = hosts.loc[~hosts["host"].isin(found["host"]), "first_sent_at"]
        apart = [words("producers.apart") if is_apart(at, others) else "" for at in found["last_sent_at"]]
        return "".join(words("producers.silent", **one) + why for one, why in zip(named, apart, strict=True))
    how_many = {"n": f"{len(found):,}", "hosts": words.count("host", len(hosts))}
    if last - first <= LEAST_SILENCE:
        names = words.first(found["host"].tolist(), NAMED)
        return words("producers.silent_at_once", at=reader.second(last) + assumed, names=names, **how_many)
    return words("producers.silent_many", **how_many, **named[0])


def begun_text(hosts: pd.DataFrame, reader: Reader, assumed: str = "") -> str:
    """Which hosts have their first ID soon after a silent one has its last; of many none: that says little."""
    words, ended = reader.words, silent(hosts)
    dated = hosts.dropna(subset=["first_sent_at", "last_sent_at"])
    if ended.empty or len(ended) > NAMED:
        return ""
    begin = dated["first_sent_at"].nsmallest(2).iloc[-1] if len(dated) > 2 else dated["first_sent_at"].min()
    rows = zip(dated["first_sent_at"], dated["last_sent_at"], dated["ids"], strict=True)
    late = dated[np.array([is_silent(begin, begin + (last - first), count, last) for first, last, count in rows], bool)]
    waits = [late["first_sent_at"] - at for at in ended["last_sent_at"]]
    near = np.any([(wait > pd.Timedelta(0)) & (wait <= LONGEST_RESTART) for wait in waits], axis=0)
    found = late[near].sort_values(["first_sent_at", "host"])
    if len(found) > NAMED:
        return ""
    named = zip(found["host"], found["first_sent_at"], strict=True)
    return "".join(words("producers.begun", host=host, at=reader.second(at) + assumed) for host, at in named)


def largest(hosts: pd.DataFrame) -> tuple[list[str], float] | None:
    """The few hosts that generate far more messages than all others, and their share of these; None where none do."""
    ranked = hosts.sort_values(["distinct", "host"], ascending=[False, True])
    counts, names, total = ranked["distinct"].tolist(), ranked["host"].tolist(), int(ranked["distinct"].sum())
    for few in range(1, min(NAMED, max(1, len(counts) // 10), len(counts) - 1) + 1) if total else ():
        share = sum(counts[:few]) / total
        if share >= max(LARGE_SHARE, 2 * few / len(counts)) and counts[few - 1] >= LARGE_TIMES * counts[few]:
            return names[:few], share
    return None


def replaced(processes: pd.DataFrame) -> list[tuple[str, datetime, datetime]]:
    """Hosts on which a process ended and another began after it: when the one ended, and when the other began.

    The latest first, of each host one. Where its processes run side by side, one ended that is silent while others go
    on, and one began late, within ten minutes.
    """
    dated = processes.dropna(subset=["first_sent_at", "last_sent_at"]).sort_values(["host", "first_sent_at"])
    later = dated.assign(ended=dated.groupby("host")["last_sent_at"].shift()).dropna(subset="ended")
    one_by_one = (later["ended"] < later["first_sent_at"]).groupby(later["host"]).transform("all")
    last = later[one_by_one].drop_duplicates("host", keep="last")
    found = list(zip(last["host"], last["ended"], last["first_sent_at"], strict=True))
    found += _side_by_side(dated[~dated["host"].isin(last["host"])])
    return sorted(found, key=lambda one: one[2], reverse=True)


def place_of_replaced(processes: pd.DataFrame) -> int | None:
    """The row of the process that ended last, and in whose place another began; None where none did."""
    for host, ended, _ in replaced(processes):
        rows = (processes["host"] == host) & (processes["last_sent_at"] == ended)
        if rows.any():
            return int(rows.to_numpy().argmax())
    return None


def _side_by_side(dated: pd.DataFrame) -> Iterator[tuple[str, datetime, datetime]]:
    """The same of hosts whose processes run side by side."""
    if dated.empty:
        return
    begin, end = dated["first_sent_at"].min(), dated["last_sent_at"].max()
    figures = list(zip(dated["first_sent_at"], dated["last_sent_at"], dated["ids"], strict=True))
    ended = dated[[is_silent(first, last, count, end) for first, last, count in figures]]
    began = dated[[is_silent(begin, begin + (last - first), count, last) for first, last, count in figures]]
    pairs = began.merge(ended, on="host", suffixes=("", "_ended"))
    wait = pairs["first_sent_at"] - pairs["last_sent_at_ended"]
    near = pairs[(wait > pd.Timedelta(0)) & (wait <= LONGEST_RESTART)].sort_values("first_sent_at")
    for row in near.drop_duplicates("host", keep="last").to_dict("records"):
        yield row["host"], row["last_sent_at_ended"], row["first_sent_at"]


def life(row: Mapping[str, Any], processes: pd.DataFrame, reader: Reader, assumed: str = "") -> tuple[str, bool]:
    """That a process has no more IDs while others go on, or began in the place of another; whether it has ended.

    `processes` are all of the scan.
    """
    words, first, last = reader.words, row["first_sent_at"], row["last_sent_at"]
    if pd.isna(first) or pd.isna(last):
        return "", False
    of_host = processes[processes["host"] == row["host"]]
    pairs = [(end, begin) for host, end, begin in replaced(processes) if host == row["host"]]
    is_over = is_silent(first, last, int(row["ids"]), _end(processes.groupby("host")["last_sent_at"].max().dropna()))
    for end, begin in pairs:
        ended, began = times.between(end, begin, reader.zone)
        if begin == first and end != last:
            other = of_host.loc[of_host["last_sent_at"] == end, "pid"].iloc[0]
            return words("counters.said_began", pid=other, ended=ended, began=began + assumed), is_over
        if end == last and begin != first:
            other = of_host.loc[of_host["first_sent_at"] == begin, "pid"].iloc[0]
            return words("counters.said_then", pid=other, ended=ended, began=began + assumed), True
    if not is_over:
        return "", False
    others = processes.loc[processes["host"] != row["host"], "first_sent_at"]
    why = words("counters.said_apart") if is_apart(last, others) else ""
    return words("counters.said_ended", at=reader.second(last) + assumed) + why, True


def changes(hosts: pd.DataFrame, processes: pd.DataFrame, reader: Reader, assumed: str = "") -> str:
    """Which hosts have no more IDs, on which another process began, and which have most of the messages. Or nothing.

    `assumed`: what of their times no line shows.
    """
    words, text = reader.words, silent_text(hosts, reader, assumed) + begun_text(hosts, reader, assumed)
    others = replaced(processes)
    if 0 < len(others) <= NAMED:
        for host, end, begin in others:
            first, last = times.between(end, begin, reader.zone)
            text += words("producers.replaced", host=host, first=first, last=last + assumed)
    elif others:
        text += words("producers.replaced_many", n=f"{len(others):,}", hosts=words.count("host", len(hosts)))
    if (most := largest(hosts)) is not None:
        names = words.listed([f"**{name}**" for name in most[0]])
        share = words.share(most[1], 1)
        text += words("producers.largest", names=names, share=share, hosts=words.count("host", len(hosts)))
    return text


def changes_in(run: Run, reader: Reader) -> str:
    """The same of a scan, next to its findings: no rule finds it, and all would seem well.

    Nothing of a list, of a store, or of more processes than are worth the time.
    """
    summary, processes = run.summary or {}, run_tables.rows(run, "processes")
    if summary.get("is_list") or run.store is not None or not 0 < processes <= MOST_CHANGES:
        return ""
    hosts, rows = (run_tables.frame(run, name, cut=False) for name in ("hosts", "processes"))
    return changes(hosts, rows, reader, reader.words.assumed(run_tables.totals(run).assumed))


def said(worst: Worst | None, shared: Sequence[str], reader: Reader) -> str:
    """What the page is opened for: who misses messages, and which fingerprints several processes share. Or nothing."""
    words, text = reader.words, ""
    if worst is not None:
        row, missing = worst.process, int(worst.process["lost"])
        mark = assumed(row, words)
        text = words("producers.worst", host=row["host"], pid=row["pid"], missing=words.count("id", missing))
        if worst.begins is not None and worst.ends is not None:
            at = reader.full(worst.begins.to_pydatetime()) + mark
            lasting = words.duration((worst.ends - worst.begins).total_seconds())
            key = "producers.worst_gap" if worst.widest < missing else "producers.worst_one"
            text += words(key, n=f"{worst.widest:,}", count=worst.widest, at=at, lasting=lasting)
        text += words("stop")
    if shared:
        text += words("producers.shared_by", hosts=words.first(list(shared), 3))
    return text

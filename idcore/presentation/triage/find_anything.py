"""What a few typed letters mean: an ID, or something of a scan, a scan, a page. Draws nothing and opens nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import pandas as pd

from idcore.base.catalogue import Words
from idcore.ids.identify import identify
from idcore.ids.origins import PROCESS_KEY
from idcore.ids.rules import CANDIDATE
from idcore.presentation.triage import finding_rows
from idcore.presentation.triage.processes import process_key, process_name

MOST = 5  # hits of a group that are named
LONGEST_NAME = 70
LONGEST_SOUGHT = 100  # characters of a text that is sought in lines
TABLES = {"processes": "host", "hosts": "host", "brokers": "address"}  # of a scan, and the column that has an address
_KEYS = {*PROCESS_KEY, "address"}
_HEX = re.compile(rf"(?<![0-9A-Za-z]){CANDIDATE}(?![0-9A-Za-z])")
_LOOKS_LIKE_ID = re.compile(r"[0-9A-Fa-f]{20,}")


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found: what it is called, how many IDs it has, and the page that shows it."""

    name: str
    page: str
    params: Mapping[str, str]
    ids: int | None = None
    message: str | None = None  # of the catalogue, which the name fills


@dataclass(frozen=True, slots=True)
class Group:
    """The hits of one kind, best first, and how many more there are."""

    code: str
    hits: tuple[Hit, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What can be found: pages and scans by their names, and the tables of the scan in sight."""

    pages: Mapping[str, str]
    runs: Mapping[str, str] = field(default_factory=dict)
    run: str | None = None
    processes: pd.DataFrame = field(default_factory=pd.DataFrame)
    hosts: pd.DataFrame = field(default_factory=pd.DataFrame)
    brokers: pd.DataFrame = field(default_factory=pd.DataFrame)
    findings: Mapping[int, str] = field(default_factory=dict)
    own_pages: Mapping[str, str] = field(default_factory=dict)  # of the runs that are not scans
    has_lines: bool = True  # the scan in sight is of text, and not of records


def search(term: str, known: Known) -> list[Group]:
    """What a term means, the surest kind first; without a term the pages and the latest scans."""
    words = term.casefold().split()
    run = {"run": known.run} if known.run else {}
    groups = [_ids(term, run)] if words else []
    if words and run:
        groups += [
            _rows("process", known.processes, _process_names, words, lambda row: _of_process(row, run)),
            _rows("host", known.hosts, lambda rows: rows["host"], words, lambda row: _of_host(row, run)),
            _rows("broker", known.brokers, lambda rows: rows["address"], words, lambda row: _of_broker(row, run)),
            _findings(known.findings, words, run),
        ]
    runs, pages = list(known.runs), list(known.pages)
    groups += [
        _texts("run", list(known.runs.values()), words, lambda n, text: _of_run(runs[n], text, known)),
        _texts(
            "page",
            [f"{title} {address}" for address, title in known.pages.items()],
            words,
            lambda n, _: Hit(known.pages[pages[n]], pages[n], run),
            most=len(pages),
        ),
    ]
    text = term.strip()
    sought = bool(words) and not groups[0].hits and len(text) <= LONGEST_SOUGHT
    if run and known.has_lines and sought:  # last: what has this name is meant first
        groups.append(Group("line", (Hit(text, "lines", {**run, "find": text}, message="text"),)))
    return [group for group in groups if group.hits]


def _findings(names: Mapping[int, str], words: Sequence[str], run: Mapping[str, str]) -> Group:
    numbers = list(names)
    return _texts(
        "finding",
        list(names.values()),
        words,
        lambda n, text: Hit(text, "findings", {**run, "finding": str(numbers[n])}),
    )


def _of_run(name: str, text: str, known: Known) -> Hit:
    return Hit(text, known.own_pages.get(name, "findings"), {"run": name})


def address_in(term: str) -> str | None:
    """The word of a term that is the whole address of a host or of a broker."""
    return next((word for word in term.split() if _is_address(word)), None)


def _is_address(word: str) -> bool:
    host, colon, port = word.rpartition(":")
    if word.count(":") == 1 or word.startswith("["):
        word = host.strip("[]") if colon and port.isdecimal() else ""
    try:
        ip_address(word)
    except ValueError:
        return False
    return True


def looks_like_id(term: str) -> bool:
    """Whether somebody who typed this probably meant an ID."""
    return _LOOKS_LIKE_ID.search(term) is not None


def _ids(term: str, run: Mapping[str, str]) -> Group:
    """The IDs in the term, and the pages that take one; a line of a log may have several."""
    ids = [text for text in dict.fromkeys(_HEX.findall(term)) if identify(text).best is not None]
    if not ids:
        return Group("id", ())
    names = ",".join(ids)
    hits = [Hit(text, "anatomy", {"id": text}, message="anatomy") for text in ids[:MOST]]
    hits.insert(0, Hit(names, "decode", {"ids": names}, message="decode"))
    hits.append(Hit(names, "lookup", {"id": names}, message="lookup"))
    hits += [Hit(text, "message", {**run, "id": text}, message="message") for text in ids[:1]]
    if run:  # who has a scan open asks about it
        hits.insert(0, Hit(names, "lines", {**run, "ids": names}, message="lines"))
    return Group("id", tuple(hits))


def _rows(
    code: str,
    rows: pd.DataFrame,
    names_of: Callable[[pd.DataFrame], pd.Series],
    words: Sequence[str],
    hit: Callable[[Any], Hit],
) -> Group:
    """Rows of a table whose name has every word: the name itself, then what begins so, then the largest."""
    if rows.empty:
        return Group(code, ())
    names = names_of(rows)
    inside = pd.Series(True, index=rows.index)
    for word in words:
        inside &= names.str.contains(word, case=False, regex=False)
    some = rows[inside]
    own = names[inside].str.casefold()
    rank = own.eq(" ".join(words)) * 2 + own.str.startswith(words[0])
    first = some.assign(_rank=rank).sort_values(["_rank", "ids"], ascending=False, kind="stable").head(MOST)
    return Group(code, tuple(hit(row) for row in first.to_dict("records")), len(some) - len(first))


def _texts(
    code: str, texts: Sequence[str], words: Sequence[str], hit: Callable[[int, str], Hit], most: int = MOST
) -> Group:
    """Texts with every word, those that begin with the first word first; `hit` gets place and text."""
    places = [place for place, text in enumerate(texts) if all(word in text.casefold() for word in words)]
    places.sort(key=lambda place: not texts[place].casefold().startswith(tuple(words[:1])))
    return Group(code, tuple(hit(place, texts[place]) for place in places[:most]), max(0, len(places) - most))


def _process_names(rows: pd.DataFrame) -> pd.Series:
    return rows["host"] + " " + rows["pid"].astype(str) + " " + rows["loader"]


def _of_process(row: Mapping[str, Any], run: Mapping[str, str]) -> Hit:
    return Hit(process_name(row), "counters", {**run, "process": process_key(row)}, int(row["ids"]))


def _of_host(row: Mapping[str, Any], run: Mapping[str, str]) -> Hit:
    return Hit(str(row["host"]), "producers", {**run, "host": str(row["host"])}, int(row["ids"]))


def _of_broker(row: Mapping[str, Any], run: Mapping[str, str]) -> Hit:
    return Hit(str(row["address"]), "brokers", {**run, "broker": str(row["address"])}, int(row["ids"]))


def label(hit: Hit, words: Words) -> str:
    """What a hit is called: its name, cut where it is long, and how many IDs it has."""
    name = hit.name if len(hit.name) <= LONGEST_NAME else f"{hit.name[: LONGEST_NAME - 1]}…"
    text = words(f"find.{hit.message}", id=name) if hit.message else name
    return text if hit.ids is None else f"{text} · {words.count('occurrence', hit.ids)}"


def finding_names(findings: pd.DataFrame, words: Words) -> dict[int, str]:
    """The findings of a scan by their numbers, each by its kind and whom it is about."""
    rows = zip(findings.index, findings.to_dict("records"), strict=True)
    return {int(number): f"{finding_rows.title_of(row, words)} · {row['subject']}" for number, row in rows}


def together(own: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of an address, then the others of the same table."""
    return pd.concat([own, rows]).drop_duplicates([*_KEYS & {*rows}], ignore_index=True)

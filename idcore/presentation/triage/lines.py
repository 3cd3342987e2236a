"""The lines of a scan's own input that contain given ids: the first of each. Reads no more than a bound."""

from __future__ import annotations

import codecs
import mmap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from idcore.base.encodings import text_of_line
from idcore.ids.clock import from_ms
from idcore.ids.find import behind_label
from idcore.intake.intake import copies, open_copy
from idcore.policy import limits
from idcore.presentation import export
from idcore.presentation.triage.processes import assumed_codes, process_key
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import Allowed, Index, Occurrence

if TYPE_CHECKING:
    import pandas as pd

MOST_BYTES = 256 << 20  # of input that is searched for a line: a fraction of a second each id
MOST_LINES = 6
MOST_PLACES = 8
MOST_LOOKED = 200  # places of the ids of one finding
BEFORE, AFTER = 400, 800  # bytes of a line in front of its id and in all; where it goes on there is an ellipsis
_INNER = bytes(range(0x80, 0xC0))  # what no letter of UTF-8 begins with


def around(run: Run, ids: Sequence[str], before: int = 0) -> list[str]:
    """The first line of each id, with its file and so many lines in front of it; empty where the input is not at hand.

    At hand is what is kept in the scan and not packed.
    """
    texts: list[str] = []
    wanted = list(dict.fromkeys(ids))[:MOST_LINES]
    left = MOST_BYTES
    for path in copies(run):
        size = path.stat().st_size
        if not size or left <= 0 or not wanted:
            continue
        left -= size
        with open_copy(path) as file, mmap.mmap(file.fileno(), min(size, MOST_BYTES), access=mmap.ACCESS_READ) as text:
            for token in list(wanted):
                place = text.find(token.encode())
                if place < 0:
                    continue
                wanted.remove(token)
                texts += [f"{path.name[4:]}: {_line(text, at)}" for at in _before(text, place, before)]
                texts.append(f"{path.name[4:]}: {_line(text, place)}")
    return texts


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of the input: what its file is called, its number from 1, its text, of a long one a stretch."""

    file: str
    number: int
    text: str


def numbered(run: Run, places: Sequence[Mapping[str, Any]], before: int = 0) -> list[NumberedLine]:
    """The lines at known places, each with so many in front of it, by file and number; without those not at hand.

    At hand is what is kept in the scan and neither packed nor recoded: there the id is at its byte.
    """
    kept = {path.name[4:]: path for path in copies(run)}
    by_place: dict[tuple[str, int], NumberedLine] = {}
    for one in places[:MOST_PLACES]:
        path = kept.get(str(one["file"])) if "byte" in one else None
        if path is None or path.stat().st_size <= one["byte"]:
            continue
        with open_copy(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            at, number, digits = int(one["byte"]), int(one["line"]), str(one["id"]).encode()
            if text[at : at + len(digits)] != digits:
                continue
            ends = [*_before(text, at, before), at]
            for back, end in enumerate(reversed(ends)):
                line = NumberedLine(str(one["file"]), number - back, _line(text, end))
                by_place.setdefault((line.file, line.number), line)
    return [by_place[key] for key in sorted(by_place)]


def as_text(lines: Sequence[NumberedLine]) -> str:
    """Lines with file and number; where lines of a file are left out, a line with "…" says so."""
    texts = list[str]()
    for before, line in pairwise([None, *lines]):
        if line is None:
            continue
        if before is not None and before.file == line.file and before.number + 1 < line.number:
            texts.append("…")
        texts.append(f"{line.file}:{line.number}  {line.text}")
    return "\n".join(texts)


def indexed(
    index: Index,
    rows: np.ndarray,
    before: int,
    allowed: Allowed,
    label: str = "",
    told: Callable[[str, int], bool] | None = None,
) -> list[NumberedLine]:
    """The first line of each ID of some rows of a scan's index, whatever its input is, each with so many in front.

    With a label: the first line that has it in front of the ID. `told`: which files and lines they are instead.
    """
    firsts: dict[object, Occurrence] = {}
    for one in index.page(rows[:MOST_LOOKED], allowed):
        if one.problem is not None:
            raise one.problem
        is_spelled = not label or behind_label(label, one.id.encode()).search(one.text.encode())
        if is_spelled and (told is None or told(one.file, one.line)):
            firsts.setdefault(one.id if told is None else (one.file, one.line), one)
    by_place: dict[tuple[str, int], NumberedLine] = {}
    for one in list(firsts.values())[:MOST_PLACES]:
        ahead = index.around(one, before, allowed)[0] if before else []
        start = max(0, one.at - BEFORE)
        stop = start + AFTER
        own = f"{'… ' if start else ''}{one.text[start:stop].strip()}{' …' if stop < len(one.text) else ''}"
        for back, text in enumerate([own, *reversed(ahead)]):
            by_place.setdefault((one.file, one.line - back), NumberedLine(one.file, one.line - back, text[: AFTER + 4]))
    return [by_place[key] for key in sorted(by_place)]


def _before(text: mmap.mmap, place: int, lines: int) -> list[int]:
    """The ends of so many lines in front of the one around a place, as far as they are near."""
    ends: list[int] = []
    at, least = place, max(0, place - lines * AFTER)
    while len(ends) < lines and (at := text.rfind(b"\n", least, at)) > 0:
        ends.insert(0, at - 1)
    return ends


def _line(text: mmap.mmap, place: int) -> str:
    """The line around a place, of a long one a stretch; letters that a cut parts in two are left out."""
    first = max(0, place - BEFORE)
    start = text.rfind(b"\n", first, place) + 1 or first
    end = text.find(b"\n", place, start + AFTER)
    stop = end if end >= 0 else min(len(text), start + AFTER)
    head = "… " if start and text[start - 1 : start] != b"\n" else ""
    tail = " …" if end < 0 and stop < len(text) else ""
    raw = text[start:stop].lstrip(_INNER) if head else text[start:stop]
    told = codecs.getincrementaldecoder("utf-8")("replace").decode(raw, final=False) if tail else text_of_line(raw)
    return f"{head}{told.strip()}{tail}"


# Of some occurrences what of their times no line shows, by the key of their process.
Assumed = Callable[[Sequence[Occurrence]], Mapping[str, Sequence[str]]]
Named = Callable[[str], str]  # what a file is called
COLUMNS = (
    "file",
    "line",
    "byte",
    "id",
    "kind",
    "sent_at",
    "assumed",
    "host",
    "pid",
    "loader",
    "mac",
    "address",
    "text",
)


def assumed_of(
    occurrences: Sequence[Occurrence], processes: Callable[[list[str]], pd.DataFrame]
) -> dict[str, tuple[str, ...]]:
    """What of the times of their processes no line shows, by the key of a process. `processes` gives those of hosts."""
    hosts = sorted({one.names["host"] for one in occurrences if one.kind == "uniq"})
    rows = processes(hosts).to_dict("records") if hosts else []
    return {process_key(row): assumed_codes(row) for row in rows}


def taken(
    index: Index, rows: np.ndarray, allowed: Allowed, assumed: Assumed, names: Named = str
) -> Iterable[dict[str, Any]]:
    """The rows of a download, a page at a time. `names`: what files are called."""
    most = limits.figure("download_rows")
    for start in range(0, min(len(rows), most), 1000):
        page = index.page(rows[start : min(start + 1000, most)], allowed)
        codes = assumed(page)
        for one in page:
            sent = None if one.sent_ms is None else from_ms(one.sent_ms).isoformat(timespec="milliseconds")
            own = {"file": names(one.file), "line": one.line, "byte": one.byte, "id": one.id, "kind": one.kind}
            mark = " ".join(codes.get(process_key(one.names), ())) if one.kind == "uniq" else ""
            row = own | {"sent_at": sent, "assumed": mark or None, "text": one.text} | one.names
            yield {name: row.get(name) for name in COLUMNS}


def as_csv(index: Index, rows: np.ndarray, allowed: Allowed, assumed: Assumed, names: Named = str) -> bytes:
    """The rows as CSV."""
    return export.csv_table(COLUMNS, (list(row.values()) for row in taken(index, rows, allowed, assumed, names)))


def as_json(index: Index, rows: np.ndarray, allowed: Allowed, assumed: Assumed, names: Named = str) -> bytes:
    """The rows as JSON Lines."""
    return "".join(export.json_lines(taken(index, rows, allowed, assumed, names))).encode()

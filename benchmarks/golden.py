"""Whether a change changed any result: what the command line says of real logs and stores, kept and compared.

    python -m benchmarks.golden write DIR [--reference DIR]     from the sources of this tree, two minutes
    python -m benchmarks.golden compare BEFORE AFTER            every difference; exit status 1 if there are any

Asks the command line only, so what is behind it may be renamed. Measures nothing: no seconds, no paths, no versions.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from idcore.__main__ import main as idcore
from idcore.simulate import incidents

from .make_log import ROOT

Row = dict[str, Any]
FIXED = ["--zone", "+08:00", "--at", "2026-11-22T12:00:00Z"]
LOGS = {  # name here: file of the reference folder
    "real": "real.log",
    "ids": "ids.jsonl",
    "clients": "real-clients.jsonl",
    "traffic": "traffic.jsonl.gz",
    "public": "../corpus/public-lines.jsonl",
}
UNTIMED = ("seconds", "start_seconds", "versions")
_KEYS = """\
processes: layout host pid loader
hosts: host
brokers: address
segments: address segment
clients: mac pid
timeline: minute kind
activity: host minute
distribution: address from_offset
counters: layout host pid loader sent_at elapsed_ms counter
copies: msg_id
growth: address minute
findings: code subject
topics: topic queue_id
tags: topic tag
refused: reason
files: file
decoded-json: line column text
decoded-csv: line column text
view: id
sentences: code subject
compared: kind subject
columns: table
view-table: line
"""
KEYS = dict(line.split(": ") for line in _KEYS.splitlines())  # columns that name a row; elsewhere its place does
SHOWN = 160  # characters of a value in a report


def ask(*arguments: str | Path, given: bytes | None = None) -> str:
    """What a command prints; with its exit status where that is not 0."""
    command = [sys.executable, "-m", "idcore", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True)
    if done.returncode > 1:  # 1: something was refused or not found, which is a result
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    return done.stdout.decode()


class Folder:
    """The results of one input: files of JSON Lines, sorted. Paths of this machine become `~`."""

    def __init__(self, folder: Path, hidden: Iterable[Path]) -> None:
        self.folder, self.hidden = folder, [str(path) for path in hidden]
        folder.mkdir(parents=True)

    def put(self, name: str, rows: Iterable[Row]) -> None:
        lines = sorted(json.dumps(row, ensure_ascii=False, default=str) for row in rows)
        text = "".join(f"{line}\n" for line in lines)
        for path in self.hidden:
            text = text.replace(path, "~")
        (self.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def scanned(to: Folder, scratch: Path, *what: str | Path) -> None:
    """The tables, the summary, and the findings in both languages. In this process: Spark starts once."""
    for lang in ("en", "zh"):
        out, printed = scratch / "scanned", io.StringIO()
        command = ["scan", *map(str, what), "--out", str(out), "--overwrite", "--format", "json", "--lang", lang]
        with redirect_stdout(printed):
            status = idcore([*command, *FIXED])
        if status > 1:
            sys.exit(f"{' '.join(command)} ended with {status}")
        summary = json.loads(printed.getvalue())
        to.put(f"sentences-{lang}", summary.pop("finding_list"))
    to.put("summary", [{name: value for name, value in summary.items() if name not in UNTIMED}])
    tables = {path.name: pq.read_table(path) for path in sorted(out.iterdir()) if path.is_dir()}
    for name, table in tables.items():
        to.put(name, table.to_pylist())
    to.put("columns", ({"table": n, "columns": {c.name: str(c.type) for c in t.schema}} for n, t in tables.items()))


def decoded(to: Folder, text: bytes) -> None:
    to.put("decoded-json", map(json.loads, ask("decode", "-", "--format", "json", *FIXED, given=text).splitlines()))
    to.put("decoded-csv", csv.DictReader(io.StringIO(ask("decode", "-", "--format", "csv", *FIXED, given=text))))


def viewed(to: Folder, reference: Path, store: Path) -> None:
    """Keys that a real client asked for, hits and misses; ids of records, and offsets beside them."""
    with gzip.open(reference / "lookups.jsonl.gz", "rt", encoding="utf-8") as lines:
        asked = [str(row["key"]) for row in map(json.loads, lines)][::3]
    with gzip.open(reference / "records.jsonl.gz", "rt", encoding="utf-8") as lines:
        offsets = [str(row["offset_id"]) for row in map(json.loads, islice(lines, 0, None, 40)) if "offset_id" in row]
    beside = [f"{text[:16]}{int(text[16:], 16) + step:016X}" for text in offsets[::10] for step in (-1, 1, 1 << 30)]
    text = "\n".join(dict.fromkeys([*asked, *offsets, *beside, "nonsense"])).encode()
    answers = ask("view", "-", "--store", store, "--format", "json", *FIXED, given=text)
    to.put("view", map(json.loads, answers.splitlines()))
    cards = ask("view", *offsets[:20], *beside[:20], "--store", store, "--format", "table", *FIXED)
    to.put("view-table", ({"line": f"{at:04}", "text": line} for at, line in enumerate(cards.splitlines())))


def write(out: Path, reference: Path) -> None:
    """Every result, a folder for each input."""
    if not (reference / "real.log").is_file():
        sys.exit(f"{reference} has no real.log; name the folder with --reference")
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        scratch = Path(name)
        hidden = [scratch, reference.resolve(), reference]
        for log, file in LOGS.items():
            raw = (reference / file).read_bytes()
            to = Folder(out / log, hidden)
            decoded(to, gzip.decompress(raw) if file.endswith(".gz") else raw)
            scanned(to, scratch, reference / file)
        for incident in sorted(incidents.STORIES):
            made = scratch / f"{incident}.log"
            ask("make", "incident", incident, "--seed", "7", "--out", made)
            to = Folder(out / f"incident-{incident}", hidden)
            to.put("truth", [json.loads((scratch / "truth.json").read_text())])
            scanned(to, scratch, made)
        with tarfile.open(reference / "store.tar.gz") as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # since 3.11.4
            archive.extractall(scratch)
        to = Folder(out / "store", hidden)
        scanned(to, scratch, "--store", scratch / "store")
        viewed(to, reference, scratch / "store")
        rows = ask("compare", reference / "real.log", reference / "traffic.jsonl.gz", "--format", "json")
        Folder(out / "compare", hidden).put("compared", map(json.loads, rows.splitlines()))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a row by their paths; JSON that is kept as text is opened."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            yield path, value
            return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if parts is None:
        yield path, value
        return
    for name, part in parts:
        yield from leaves(part, f"{path}.{name}" if path else str(name))


def keyed(path: Path) -> dict[str, Row]:
    """The rows of a file by their names; rows of one name are numbered in their order."""
    if not path.is_file():
        return {}
    columns = KEYS.get(path.stem.removesuffix("-en").removesuffix("-zh"), "").split()
    rows: dict[str, Row] = {}
    seen: dict[str, int] = defaultdict(int)
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        row = json.loads(line)
        name = " ".join(str(row.get(column)) for column in columns)
        seen[name] += 1
        rows[name if seen[name] == 1 else f"{name} #{seen[name]}"] = dict(leaves(row))
    return rows


def differences(before: Path, after: Path) -> Iterator[tuple[str, str, str, Any, Any]]:
    """File, key of the row, column, before and after; a row that is in one only has no column."""
    files = {path.relative_to(side) for side in (before, after) for path in side.rglob("*.jsonl")}
    for file in sorted(files):
        old, new = keyed(before / file), keyed(after / file)
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                yield str(file), key, "(row)", old.get(key), new.get(key)
                continue
            if list(old[key]) == list(new[key]):
                names: Iterable[str] = old[key]
            else:
                names = dict.fromkeys([*old[key], *new[key]])
                if not old[key].keys() ^ new[key].keys():
                    yield str(file), key, "(order)", list(old[key]), list(new[key])
            for name in names:
                if old[key].get(name, "(none)") != new[key].get(name, "(none)"):
                    yield str(file), key, name, old[key].get(name, "(none)"), new[key].get(name, "(none)")


def excerpts(old: str, new: str) -> tuple[str, str]:
    """Both texts from a little before the place where they part."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    at = same - SHOWN // 4
    return (old[:SHOWN], new[:SHOWN]) if at <= 0 else ("…" + old[at : at + SHOWN], "…" + new[at : at + SHOWN])


def compare(before: Path, after: Path) -> int:
    """Prints every difference, by file and column, and how many there are of each. 1 if there are any."""
    for side in (before, after):
        if not any(side.rglob("*.jsonl")):
            sys.exit(f"{side} contains no results")
    groups: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for file, key, column, old, new in differences(before, after):
        groups[file, column].append((key, *excerpts(repr(old), repr(new))))
    for (file, column), rows in groups.items():
        print(f"{file}  {column}: {len(rows):,}")
        for key, old, new in rows:
            print(f"    {key}\n        before {old}\n        after  {new}")
    print(f"{sum(map(len, groups.values())):,} differences in {len(groups):,} columns")
    return int(bool(groups))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writer = commands.add_parser("write")
    writer.add_argument("out", type=Path)
    writer.add_argument("--reference", type=Path, default=ROOT.parent / "shared" / "reference")
    comparer = commands.add_parser("compare")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return compare(options.before, options.after)
    if options.out.exists():
        sys.exit(f"{options.out} exists; name a new folder")
    write(options.out, options.reference)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What a scan that goes on knows: its tables are those of one scan over the same bytes, through crashes and bounds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.base.errors import CoreError
from idcore.ids.broken_lines import unbroken
from idcore.scan import followed
from idcore.scan.crossing import to_batch
from idcore.scan.facts import scan_task
from idcore.scan.followed import PIECES, TAIL, State, note, tables_of
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.growing_files import FileChanges, Offset, ended, opened, ranges
from idcore.sources.inputs import Split
from idcore.sources.kinds import GROWING
from idcore.spark.folder import LiveFolder
from tests.scan import logs, logs_of_dates, logs_of_pairs
from tests.scan.logs import AT

MONTHS = month_rows(AT, UTC)
NOTHING: Offset = {"next": 0, "files": {}, "ended": {}, "left_out": {}}


class Following:
    """A scan that goes on without Spark: batches between offsets, into a state in a folder."""

    def __init__(self, folder: Path, state: Path, kept: int = 1 << 40) -> None:
        self.now, self.folder, self.home, self.kept = 100.0, folder, state, kept
        self.offset, self.batch = NOTHING, -1
        self.restart()

    def restart(self) -> None:
        """A new process: it knows what is on disk."""
        self.changes = FileChanges([str(self.folder)], clock=lambda: self.now)
        self.state = State(self.home, self.kept)

    def look(self, most: int = 1 << 40, seconds: float = 0.3) -> None:
        self.now += seconds
        after = self.changes.first() if self.offset is NOTHING else self.changes.after(self.offset, most)
        if after is not self.offset:
            self.batch += 1
            self.state.take(self.batch, self.facts(after))
            self.offset = after

    def facts(self, after: Offset) -> pa.Table:
        found = {one.number: one for one in ranges(self.offset, after)}
        splits = [
            Split(one.number, one.generation.path, one.start, one.stop, GROWING)
            for one in found.values()
            if one.stop > one.start
        ]
        own = note(found.values(), ended(after), after["left_out"])
        made = scan_task(splits, MONTHS, opened=lambda split: opened(found[split.number].generation, None))
        return pa.Table.from_batches([to_batch([own, *made])])

    def tables(self) -> dict[str, pa.Table]:
        return tables_of((known := self.state.snapshot()).facts, known.inputs, MONTHS)


def differing(found: dict[str, pa.Table], expected: dict[str, pa.Table]) -> list[str]:
    return [name for name, table in expected.items() if not found[name].equals(table)]


KINDS: dict[str, Callable[[], logs.Log]] = {
    "mixed": lambda: logs.mixed(5, 300),
    "shared": lambda: logs.shared(5),
    "restarts": lambda: logs.restarts(5),
    "clock and month": lambda: logs.clock_and_month(5),
    "copied": lambda: logs_of_pairs.copied(5, 300),
    "dated": lambda: logs_of_dates.dated(5, 300),
}


@pytest.mark.long(cases=["mixed"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_are_those_of_a_scan_at_any_moment(kind: str, tmp_path: Path) -> None:
    """Logs are cut anywhere, renamed, and followed by processes that are killed; a batch may come twice."""
    log = KINDS[kind]()
    # a scan puts IDs together that a line break cuts, in files of up to 4 MiB: what grows has none
    log = replace(log, data=unbroken(log.data))
    chance = random.Random(log.name)
    folder = tmp_path / "logs"
    folder.mkdir()
    following = Following(folder, tmp_path / "state")
    at = looked = 0
    while at < len(log.data):
        step, checks = chance.randrange(1, len(log.data) // 12), chance.random() < 0.2
        if checks:  # a line without its end is read after some seconds, and what comes later is another line
            step = (log.data.find(b"\n", at + step) + 1 or len(log.data)) - at
        with (folder / "app.log").open("ab") as file:
            file.write(log.data[at : at + step])
        at += step
        if chance.random() < 0.15 and log.data[at - 1 : at] == b"\n":
            (folder / "app.log").rename(folder / f"app-{at}.log")
        following.look(chance.choice([1 << 40, 4_000]), chance.random())
        if chance.random() < 0.2:
            following.restart()
            assert not following.state.take(following.batch, following.facts(following.offset))
        if checks:
            for _ in range(9):
                following.look(seconds=1)
            looked += 1
            assert differing(following.tables(), scan_local([str(folder)], MONTHS)) == []
    for _ in range(12):
        following.look(seconds=1)
    assert differing(following.tables(), scan_local([str(folder)], MONTHS)) == []
    assert looked and following.batch > 5


def test_one_thread_and_two_make_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few facts one thread makes tables that are in order already; those of two are put in order."""
    (tmp_path / "logs").mkdir()
    for log in (logs.mixed(5, 300), logs.restarts(5), logs.shared(5)):
        (tmp_path / "logs" / f"{log.name}.log").write_bytes(unbroken(log.data))
    following = Following(tmp_path / "logs", tmp_path / "state")
    for _ in range(9):
        following.look(4_000, seconds=1)
    made = []
    for few in (0, 1 << 40):
        monkeypatch.setattr(followed, "FEW", few)
        made.append(following.tables())
    assert made[0]["counters"].num_rows > 100 and len(made[0]["hosts"]) > 3
    assert differing(*made) == []


def test_tables_that_are_written_again_are_read_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_bytes(unbroken(logs.mixed(5, 300).data))
    tables = scan_local([str(tmp_path / "logs")], MONTHS)
    with LiveFolder(tmp_path / "out", tmp_path / "aside") as folder:
        folder.write({name: table.slice(0, 1) for name, table in tables.items()}, last=False)
        folder.write(tables, last=False)
    assert sum(table.num_rows for table in tables.values()) > 100
    assert [name for name in tables if not pq.read_table(tmp_path / "out" / name).equals(tables[name])] == []


@pytest.mark.parametrize("cut", [0, 74, 86, 87, 88, 100])
def test_wherever_its_batches_end_a_log_has_one_year(cut: int, tmp_path: Path) -> None:
    """A blank line parts what was pasted. Of a log that grows it did so in the first batch alone."""
    (tmp_path / "logs").mkdir()
    following = Following(tmp_path / "logs", tmp_path / "state")
    text = (
        b"2025-03-11 08:00:00.000+00:00 sent msgId=0A0A0A0A303918B4AAC235370BFB0001\n"
        b"\tcaused by:\n\n\n"
        b"Mar 11 20:57:46 web1 app: sent msgId=0A0A0A0B303918B4AAC237FF1D100001\n"
    )
    for piece in (text[:cut], text[cut:]):
        with (tmp_path / "logs" / "app.log").open("ab") as file:
            file.write(piece)
        following.look()
    for _ in range(9):
        following.look(seconds=1)
    rows = following.tables()["processes"].to_pylist()
    assert {row["host"]: row["month"] for row in rows} == {"10.10.10.10": "2025-03", "10.10.10.11": "2025-03"}


@pytest.mark.long
def test_older_ids_go_and_the_tables_are_those_of_the_bytes_that_are_kept(tmp_path: Path) -> None:
    folder, data = tmp_path / "logs", logs.honest(3).data
    folder.mkdir()
    kept = 8 * 400
    following = Following(folder, tmp_path / "state", kept)
    lines = data.splitlines(keepends=True)
    for round_ in range(8):
        for at in range(0, len(lines), 25):
            with (folder / f"{round_}.log").open("ab") as file:
                file.writelines(lines[at : at + 25])
            following.look()
    assert following.state.is_cut and following.state.ids <= kept + kept // PIECES + 100 * TAIL
    inputs = following.state.snapshot().inputs
    assert 0 < len(inputs) < 8
    (tmp_path / "rest").mkdir()
    for number, kept_bytes in inputs.items():
        rest = Path(kept_bytes.path).read_bytes()[kept_bytes.start : kept_bytes.size]
        (tmp_path / "rest" / f"{number}.log").write_bytes(rest)
    expected = scan_local([str(tmp_path / "rest")], MONTHS)
    found = following.tables()
    assert set(differing(found, expected)) <= {"files", "refused"}  # whose bytes count from the begin of each file
    assert sum(found["files"]["text_bytes"].to_pylist()) == sum(expected["files"]["text_bytes"].to_pylist())
    folders = sum(path.stat().st_size for path in (tmp_path / "state").iterdir())
    assert folders < 64 * kept


def test_of_large_batches_no_more_ids_are_kept_than_of_small_ones(tmp_path: Path) -> None:
    """As where a backlog is read: each batch fills a piece."""
    folder, data = tmp_path / "logs", logs.honest(3).data
    folder.mkdir()
    kept = 8 * 100
    following = Following(folder, tmp_path / "state", kept)
    most = 0
    for round_ in range(TAIL):
        (folder / f"{round_}.log").write_bytes(b"file %d\n" % round_ + data)
        before = following.state.ids
        following.look(seconds=2)
        most = max(most, following.state.ids - before)
        assert following.state.ids <= PIECES * max(most, kept // PIECES)
    assert most > kept // PIECES and following.state.is_cut


def test_a_state_that_keeps_fewer_ids_from_now_on_gives_the_others_up(tmp_path: Path) -> None:
    folder, data = tmp_path / "logs", logs.honest(3).data
    folder.mkdir()
    ids = data.count(b"\n")
    following = Following(folder, tmp_path / "state", 3 * PIECES * ids)

    def follow(rounds: range) -> int:
        for round_ in rounds:
            (folder / f"{round_}.log").write_bytes(b"file %d\n" % round_ + data)
            following.look(seconds=2)
        return following.state.ids

    before = follow(range(20))
    following.kept = PIECES * ids
    following.restart()
    assert following.state.ids == before > following.kept
    assert follow(range(20, 30)) <= following.kept


def test_what_was_lost_of_a_file_is_said(tmp_path: Path, on_disk: Callable[..., str]) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_bytes(logs.honest(1).data + b"half a line")
    following = Following(folder, tmp_path / "state")
    for _ in range(3):
        following.look(seconds=1.5)
    (folder / "a.log").unlink()
    for _ in range(9):
        following.look(seconds=1)
    (row,) = following.tables()["files"].to_pylist()
    assert row["error"] == "follow_gone" and row["error_values"] == '{"bytes": 11}' and row["ids"]


@pytest.mark.parametrize("name", ["state.json", "batch-0000000000.arrow", "open-0000000031.arrow"])
@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_file_that_lost_its_bytes_is_named(name: str, text: str, tmp_path: Path) -> None:
    """As after a loss of power where the disk said too early that it had them."""
    log, state = tmp_path / "logs" / "a.log", tmp_path / "state"
    log.parent.mkdir()
    following = Following(log.parent, state)
    for number in range(TAIL if name.startswith("open") else 1):
        with log.open("a") as file:
            file.write(f"{number} msgId=0A00000100FF18B4AAC20000000A{number:04X}\n")
        following.look()
        following.look(seconds=20)
    (state / name).write_text(text)
    with pytest.raises(CoreError) as problem:
        State(state)
    assert problem.value.code == "follow_damaged" and str(state) in problem.value.problem


def test_who_looks_waits_for_no_fold_and_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look in the middle of both has what had come before."""
    seen = list[int]()
    state = followed.State(tmp_path / "state")

    def looking(work: Callable[..., object]) -> Callable[..., object]:
        def does(*given: object) -> object:
            seen.append(state.snapshot().batch)
            return work(*given)

        return does

    monkeypatch.setattr(followed, "TAIL", 2)
    monkeypatch.setattr(followed, "fold", looking(followed.fold))
    monkeypatch.setattr(followed, "_write", looking(followed._write))
    for number in range(2):
        state.take(number, pa.Table.from_batches([to_batch([note((), (), {})])]))
    assert seen[:3] == [-1, 0, 1], "before each batch's file is written, and while both are folded"

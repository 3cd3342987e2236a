"""Files that grow are read once each, whole lines at a time, through rotations, copies, cuts and restarts."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from idcore.base.errors import CoreError, from_coded
from idcore.sources import growing_files
from idcore.sources.growing_files import FileChanges, Offset, ended, opened, ranges

pytestmark = pytest.mark.quick
ALL = 1 << 40


class Following:
    """Reads what is new, as Spark does: the offset is JSON, and what lies between two offsets is read."""

    def __init__(self, *paths: Path, since: str | datetime = "beginning") -> None:
        self.now, self.paths, self.since = 100.0, [str(path) for path in paths], since
        self.read: dict[int, bytes] = {}
        self.names: dict[int, str] = {}
        self.ended: dict[int, str] = {}
        self.restart()
        self.offset: Offset = {"next": 0, "files": {}, "ended": {}, "left_out": {}}
        self.take(self.changes.first())

    def restart(self) -> None:
        """A process that was killed knows the offset alone."""
        self.changes = FileChanges(self.paths, since=self.since, zone=UTC, clock=lambda: self.now)

    def look(self, seconds: float = 0.3, most: int = ALL) -> None:
        self.now += seconds
        self.take(self.changes.after(self.offset, most))

    def take(self, after: Offset) -> None:
        after = json.loads(json.dumps(after))
        for one in ranges(self.offset, after):
            self.names[one.number] = Path(one.generation.path).name
            held = self.read.setdefault(one.number, b"")
            if one.stop > one.start:
                with opened(one.generation, None) as file:
                    file.seek(one.start)
                    self.read[one.number] = held + file.read(one.stop - one.start)
        self.ended |= {one.number: one.why for one in ended(after)}
        self.offset = after

    @property
    def texts(self) -> list[bytes]:
        return sorted(filter(None, self.read.values()))


def line(number: int) -> bytes:
    return b"2026-11-20 10:00:00,%03d INFO line %d\n" % (number % 1000, number)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.mark.parametrize("most", [ALL, 1_000])
def test_a_long_line_is_searched_for_its_end_once(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of gigabytes that is still written was read from its first byte by each look."""
    log, looked = tmp_path / "app.log", list[int]()
    append(log, line(1) + b"x" * 300_000)
    following = Following(tmp_path)
    following.look(most=most)
    following.look(most=most)
    pread = os.pread

    def counted(*asked: int) -> bytes:
        found = pread(*asked)
        looked.append(len(found))
        return found

    monkeypatch.setattr(os, "pread", counted)
    for _ in range(20):
        append(log, b"y" * 1_000)
        following.look(most=most)
    assert 20_000 <= sum(looked) < 300_000 and following.texts == [line(1)]
    append(log, b" the end\n" + line(2) + b"half")
    for _ in range(3):
        following.look(most=most)
    assert following.texts == [line(1) + b"x" * 300_000 + b"y" * 20_000 + b" the end\n" + line(2)]


def test_whole_lines_are_read_and_the_rest_waits_for_its_end(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1) + line(2)[:20])
    following = Following(tmp_path)
    following.look()
    assert following.texts == [line(1)]
    append(log, line(2)[20:])
    following.look()
    assert following.texts == [line(1) + line(2)]


def test_a_last_line_without_its_end_is_read_after_some_quiet_seconds(tmp_path: Path) -> None:
    append(tmp_path / "app.log", line(1) + b"killed in the midd")
    following = Following(tmp_path)
    for _ in range(10):
        following.look(0.4)
        assert following.texts == [line(1)]
    following.look(3)
    assert following.texts == [line(1) + b"killed in the midd"]


def test_lines_without_a_time_wait_for_the_record_that_may_date_them(tmp_path: Path) -> None:
    log, record = tmp_path / "app.log", b"msgId: 7F0000010001\nbody size 3\n"
    append(log, line(1) + record)
    following = Following(tmp_path)
    following.look()
    assert following.texts == [line(1)]
    append(log, line(2))
    following.look()
    assert following.texts == [line(1) + record + line(2)]
    append(log, record)
    following.look()
    following.look(2)  # nothing more comes
    assert following.texts == [line(1) + record + line(2) + record]


def test_a_renamed_file_is_the_same_and_a_new_one_has_its_name(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1))
    following = Following(tmp_path)
    following.look()
    append(log, line(2))
    log.rename(tmp_path / "app.log.1")
    append(log, line(3))
    append(tmp_path / "app.log.1", line(4))
    following.look()
    assert following.texts == [line(1) + line(2) + line(4), line(3)]
    assert following.names == {0: "app.log.1", 1: "app.log"}


def test_a_copy_of_a_file_that_is_cut_is_read_on(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1) + line(2))
    following = Following(tmp_path)
    following.look()
    append(log, line(3))
    shutil.copy(log, tmp_path / "app.log.1")
    following.look()
    assert following.texts == [line(1) + line(2) + line(3)]  # a copy is not read a second time
    append(tmp_path / "app.log.1", b"")
    log.write_bytes(line(5))
    following.look()
    assert following.texts == [line(1) + line(2) + line(3), line(5)]
    assert following.names == {0: "app.log.1", 1: "app.log"}


def test_what_was_written_before_a_cut_is_read_from_the_copy(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1))
    following = Following(tmp_path)
    following.look()
    append(log, line(2))
    shutil.copy(log, tmp_path / "app.log.1")
    log.write_bytes(b"")
    following.look()
    assert following.texts == [line(1) + line(2)]


def test_a_copy_that_is_packed_while_it_is_looked_at_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, copy = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, line(1))
    following = Following(tmp_path)
    following.look()
    shutil.copy(log, copy)
    log.write_bytes(b"")
    real = FileChanges._adopted

    def packed_meanwhile(changes: FileChanges, *asked: Any) -> Any:
        copy.unlink()
        return real(changes, *asked)

    monkeypatch.setattr(FileChanges, "_adopted", packed_meanwhile)
    following.look()
    monkeypatch.undo()
    append(log, line(2))
    for _ in range(40):
        following.look(1)
    assert following.texts == [line(1), line(2)] and list(following.ended.values()) in (["gone"], ["truncated"])


def test_a_new_file_that_begins_like_one_that_was_moved_away_is_read_from_its_first_byte(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    log, header = tmp_path / "logs" / "a.csv", line(0) * 40
    append(log, header + line(1) + line(2) * 20)
    following = Following(tmp_path / "logs")
    following.look()
    log.rename(tmp_path / "moved.csv")
    append(log, header + line(3))
    for _ in range(20):
        following.look(1)
    append(log, line(4))
    for _ in range(20):
        following.look(1)
    assert following.texts == [header + line(1) + line(2) * 20, header + line(3) + line(4)]


def test_a_copy_that_lacks_the_last_lines_is_not_read_again(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1) * 40 + line(2))
    following = Following(tmp_path)
    following.look()
    (tmp_path / "app.log.1").write_bytes(line(1) * 40)  # and then a line is written and read before the cut
    following.look()
    log.write_bytes(line(3))
    for _ in range(100):
        following.look(1)
    assert following.texts == [line(1) * 40 + line(2), line(3)]


def test_files_that_begin_alike_are_two(tmp_path: Path) -> None:
    banner = b"".join(map(line, range(60)))
    for name, number in (("a.log", 100), ("b.log", 200)):
        append(tmp_path / name, banner + line(number))
    following = Following(tmp_path)
    append(tmp_path / "c.log", banner)
    following.look()
    append(tmp_path / "c.log", line(300) * 9)
    following.look()
    assert following.texts == [banner + line(100), banner + line(200), banner + line(300) * 9]


def test_a_file_with_nothing_in_it_is_no_copy(tmp_path: Path) -> None:
    append(tmp_path / "a.log", line(1) * 40)
    following = Following(tmp_path)
    append(tmp_path / "b.log", b"")
    following.look()
    assert not following.offset["left_out"]
    append(tmp_path / "b.log", line(2))
    following.look()
    assert not following.offset["left_out"] and following.texts == [line(1) * 40, line(2)]


def test_a_new_file_is_read_once_however_many_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        append(tmp_path / f"{number}.log", line(number) * 40)
    following, marked, mark = Following(tmp_path), list[int](), growing_files._mark
    following.look()

    def noted(file: BinaryIO, start: int, stop: int) -> str:
        marked.append(start)
        return mark(file, start, stop)

    monkeypatch.setattr(growing_files, "_mark", noted)
    append(tmp_path / "new.log", line(100) * 40)
    following.look()
    assert len(following.texts) == 61 and len(marked) < 30


def test_a_file_that_was_deleted_says_how_much_of_it_was_not_read(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1) + b"half a line")
    following = Following(tmp_path)
    following.look()
    log.unlink()
    following.look()
    assert following.ended == {}  # it may have been renamed while the folder was looked at
    following.look(6)
    assert following.ended == {0: "gone"}


def test_packed_files_are_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "app.log.2.gz").write_bytes(gzip.compress(line(1)))
    append(tmp_path / "app.log", line(2))
    following = Following(tmp_path)
    following.look()
    assert following.texts == [line(2)]
    problem = from_coded(json.loads(following.offset["left_out"][str(tmp_path / "app.log.2.gz")]))
    assert isinstance(problem, CoreError) and problem.values == {"kind": "gzip"}


def test_what_is_written_about_them_is_not_followed(tmp_path: Path) -> None:
    append(tmp_path / "app.log", line(1))
    out = tmp_path / "live"
    for name in (".writing", ".follow/checkpoint/offsets/0", ".follow/state/state.json"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(line(2))
    following = Following(tmp_path)
    following.look(2)
    assert following.texts == [line(1)] and not following.offset["left_out"]


def test_it_begins_at_the_end_or_at_a_time(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    lines = [b"2026-11-20 10:%02d:%02d.000 line %d\n" % (n // 60, n % 60, n) for n in range(3000)]
    append(log, b"".join(lines) + b"half")
    following = Following(log, since="end")
    append(log, b" a line\n")
    following.look()
    following.look(2)
    assert following.texts == [b"half a line\n"]
    at = datetime(2026, 11, 20, 10, 20, tzinfo=UTC)
    following = Following(log, since=at)
    following.look(2)
    assert following.texts == [b"".join(lines[1200:]) + b"half a line\n"]


def test_a_bound_is_kept_at_a_lines_end(tmp_path: Path) -> None:
    append(tmp_path / "a.log", b"".join(map(line, range(500))))
    append(tmp_path / "b.log", b"x" * 100_000 + b"\n" + b"".join(map(line, range(500, 900))))
    following = Following(tmp_path)
    sizes: list[int] = []
    while len(sizes) < 2 or sizes[-1]:
        before = sum(map(len, following.read.values()))
        following.look(most=4_000)
        sizes.append(sum(map(len, following.read.values())) - before)
    assert following.texts == sorted([(tmp_path / "a.log").read_bytes(), (tmp_path / "b.log").read_bytes()])
    assert sizes[0] < 2_000 + 100_001 and max(sizes[1:]) <= 4_000 and len(sizes) < 15  # a longer line is read whole


def test_a_line_that_is_longer_than_what_is_read_at_once_waits_for_its_end(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    append(log, line(1) + b"x" * 9_000)
    following = Following(tmp_path)
    following.look(most=2_000)
    following.look(most=2_000)
    assert following.texts == [line(1)]
    append(log, b"y\n")
    following.look(most=2_000)
    following.look(2, most=2_000)
    assert following.texts == [line(1) + b"x" * 9_000 + b"y\n"]


def happenings(chance: random.Random, folder: Path, following: Following) -> Iterator[bytes]:
    """What may happen to a log; gives each text that was written whole."""
    log = folder / "app.log"
    written, number = b"", 0
    for _ in range(60):
        what = chance.random()
        if what < 0.55 or not written:
            data = b"".join(line(number + n) for n in range(chance.randrange(1, 40)))
            number += 50
            append(log, data)
            written += data
        elif what < 0.62:
            for age in range(8, 0, -1):
                if (folder / f"app.log.{age}").exists():
                    (folder / f"app.log.{age}").rename(folder / f"app.log.{age + 1}")
            if chance.random() < 0.5:
                log.rename(folder / "app.log.1")
            else:
                shutil.copy(log, folder / "app.log.1")
                if chance.random() < 0.5:
                    following.look()
                log.write_bytes(b"")
            yield written
            written = b""
        elif what < 0.7:
            following.restart()
        elif what < 0.75:
            append(log, line(number)[:10])
            following.look(chance.random())
            append(log, line(number)[10:])
            written += line(number)
            number += 1
        else:
            following.look(chance.random(), chance.choice([ALL, 900]))
    yield written


@pytest.mark.parametrize("seed", range(25))
def test_every_byte_is_read_once_whatever_happens(seed: int, tmp_path: Path) -> None:
    following = Following(tmp_path)
    written = list(happenings(random.Random(seed), tmp_path, following))
    for _ in range(60):
        following.look(1)
    assert following.texts == sorted(filter(None, written))
    assert not following.ended

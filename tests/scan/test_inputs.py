"""Odd files: cut, shrinking, linked, named in no encoding; and the fullest window there can be."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from idcore.base.errors import refuse
from idcore.cli.parser import Usage
from idcore.cli.scan import _make_room
from idcore.scan.crossing import What, reports_of
from idcore.scan.facts import Scanner
from idcore.scan.local import scan_local
from idcore.sources.archives import kind_of
from idcore.sources.inputs import Split, list_files, pack_tasks, unpack_tasks, walk
from idcore.sources.windows import AFTER, WINDOW

MONTHS = np.array([[0, 31 * 86_400_000 - 1]], np.int64)
PAIR = b"0A00000100FF18B4AAC20000000A0001 0A00000200002A9F0000000000000001\n"


def test_the_fullest_last_window_has_room_for_every_line(tmp_path: Path) -> None:
    lines = (WINDOW + AFTER) // len(PAIR) + 1
    (tmp_path / "a.log").write_bytes(PAIR * lines)
    tables = scan_local([str(tmp_path / "a.log")], MONTHS)
    assert tables["files"]["ids"].to_pylist() == [2 * lines]
    assert Scanner(MONTHS).finder.found.lines.shape[0] >= lines


@pytest.mark.parametrize("lost", [1, 500, 2000])
def test_a_cut_gzip_gives_what_lies_before_the_cut_and_is_named(lost: int, tmp_path: Path) -> None:
    ids = b"".join(b"0A00000100FF18B4AAC2%08X%04X\n" % (n, n & 0xFFFF) for n in range(15_000))
    (tmp_path / "a.gz").write_bytes(gzip.compress(ids)[:-lost])
    row = scan_local([str(tmp_path / "a.gz")], MONTHS)["files"].to_pylist()[0]
    assert row["ids"] > 12_000 and row["text_bytes"] > 400_000 and row["error"]


def test_a_file_that_has_shrunk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(PAIR * 10)
    split = Split(0, str(path), 0, 1000)
    scanner = Scanner(MONTHS)
    texts = ((text, windows) for text, windows, _ in walk([split]) if windows)
    reports = [fact for text, windows in texts for fact in scanner.scan(text, windows) if fact.what == What.REPORT]
    assert reports_of(reports[0].data)[0].error == refuse("shorter")


def test_a_name_that_is_no_utf_8_is_shown_with_its_bytes(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.log", "wb") as file:
        file.write(PAIR)
    row = scan_local([str(tmp_path)], MONTHS)["files"].to_pylist()[0]
    assert row["file"].endswith("\\xff.log") and row["ids"] == 2


def test_tables_of_a_scan_are_no_input_and_what_lies_beside_them_is(tmp_path: Path) -> None:
    """Also where `--out` is the input's own folder, and while the scan writes: its lock and its unfinished tables."""
    for out in (tmp_path, tmp_path / "out"):
        for name in ("files", "processes"):
            (out / name).mkdir(parents=True)
            (out / name / "part-00000.parquet").write_bytes(b"PAR1")
        (out / "own").mkdir()
        for name in ("summary.json", ".writing", "a.log", "own/part-1.log"):
            (out / name).write_bytes(PAIR)
        (out / f".unfinished-{'0' * 32}").mkdir()
    left_out: list[str] = []
    read = [os.path.relpath(file.path, tmp_path) for file in list_files([str(tmp_path)], left_out=left_out)]
    assert read == ["a.log", "out/a.log", "out/own/part-1.log", "own/part-1.log"]
    assert sorted(left_out) == [str(tmp_path), str(tmp_path / "out")]
    assert len(list_files([str(tmp_path / "out" / "files")])) == 1


def test_a_folder_with_a_summary_of_its_own_is_read(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name in ("summary.json", "files/part-00000.parquet"):
        (tmp_path / name).write_bytes(PAIR)
    assert len(list_files([str(tmp_path)])) == 2


def test_links_in_a_folder_are_not_followed_and_a_pattern_counts_a_file_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.log").write_bytes(PAIR)
    (tmp_path / "in" / "a.log").write_bytes(PAIR)
    (tmp_path / "in" / "link.log").symlink_to(tmp_path / "secret.log")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    assert [file.path for file in list_files([str(tmp_path / "in")])] == [str(tmp_path / "in" / "a.log")]
    found = list_files([str(tmp_path / "in" / "**")])
    real = [os.path.realpath(file.path) for file in found]
    assert len(set(real)) == len(real) and str(tmp_path / "in" / "a.log") in real


def test_a_log_that_begins_like_a_name_of_bzip2_is_text() -> None:
    assert kind_of(b"BZhost " + PAIR) == "plain"


def test_overwrite_refuses_a_folder_that_no_scan_wrote(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "thesis.txt").write_text("years of work")
    with pytest.raises(Usage, match="no scan wrote"):
        _make_room(tmp_path, overwrite=True)
    assert (tmp_path / "files" / "thesis.txt").exists()
    (tmp_path / "files" / "thesis.txt").rename(tmp_path / "hosts")
    with pytest.raises(Usage, match="hosts contains files that no scan wrote"):
        _make_room(tmp_path, overwrite=True)


def test_tasks_travel_small_and_arrive_as_they_were() -> None:
    names = [f"/var/log/pods/order-{pod:04d}/{file:03d}-日志\udcff.log" for pod in range(300) for file in range(20)]
    splits = [Split(n, name, 0, n, "whole") for n, name in enumerate(names)]
    tasks = [[Split(7, "s3://bucket/a", 5, 9)], splits[:4000], [], splits[4000:]]
    packed = pack_tasks(tasks)
    assert unpack_tasks(packed) == tasks and len(packed) < 12 * len(names)
    assert unpack_tasks(pack_tasks([])) == []

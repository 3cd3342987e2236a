"""A disk that becomes full: finished runs stay whole, half ones have failed with a reason and begin again."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pytest

from idcore.base.errors import CoreError
from idcore.intake.intake import Dating, Source
from idcore.runs.runs import Run, Runs, write_tables
from idcore.server import jobs
from idcore.spark import background, folder
from idcore.spark.folder import TableFolder
from idcore.spark.job import ScanOptions
from pages.parts import scans
from tests.spark.mounts import mounted
from tests.spark.test_faults import until

ONE = b"msgId=0A42333A0DC818B4AAC246C290FD0000, offsetMsgId=0A42333A00002A9F000000000134F1F5\n"
OPTIONS = ScanOptions(zone=UTC, at=datetime(2026, 11, 21, tzinfo=UTC))
SIZE = 192 << 10  # of two runs


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A real disk of a few pages."""
    monkeypatch.setenv("IDCORE_FREE_DISK", "1")
    place = tmp_path / "disk"
    with mounted(place, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs"):
        yield place


def fill(place: Path) -> None:
    """Takes every free byte."""
    with pytest.raises(OSError, match="No space"):
        (place / "filler").write_bytes(bytes(SIZE))


@pytest.mark.usefixtures("spark")
def test_a_scan_on_a_disk_that_becomes_full_fails_whole_and_succeeds_again_when_there_is_room(
    small_disk: Path, tmp_path: Path
) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(ONE * 10)
    runs = Runs(small_disk)
    first, second = runs.create("finished"), runs.create("half")
    assert background.start(first, [str(log)], OPTIONS).wait(60).state == "done"
    before = {path: path.read_bytes() for path in first.path.rglob("*") if path.is_file()}
    blocker = small_disk / "blocker"
    blocker.write_bytes(bytes(shutil.disk_usage(small_disk).free - (24 << 10)))  # room to begin, and for some tables
    ended = background.start(second, [str(log)], OPTIONS).wait(60)
    assert ended.state == "failed" and second.state == "failed"
    assert second.error == CoreError("ENOSPC"), "whatever library met it"
    assert sorted(path.name for path in second.path.iterdir()) == ["run.json"]
    assert {path: path.read_bytes() for path in first.path.rglob("*") if path.is_file()} == before
    blocker.unlink()
    assert background.again(second).wait(60).state == "done" and second.has("processes")


def test_a_run_ends_on_a_disk_without_a_byte_left(small_disk: Path) -> None:
    run = Runs(small_disk).create("full")
    run.set_state("running")
    fill(small_disk)
    run.set_state("failed", CoreError("ENOSPC"))
    assert (run.state, run.error) == ("failed", CoreError("ENOSPC"))
    run.set_state("done")  # shorter: nothing of the longer one stays
    assert run.state == "done" and [path.name for path in run.path.iterdir()] == ["run.json"]
    with pytest.raises(OSError, match="space"):
        run.set_options(long="x" * 10_000)
    assert run.state == "done"  # what does not fit changes nothing


def on_disk(folder: Path) -> int:
    """Bytes of all files; those that go meanwhile do not count."""
    total = 0
    for parent, _, names in os.walk(folder):  # passes folders that go meanwhile
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total


@pytest.mark.usefixtures("spark")
def test_many_scans_at_once_stay_below_the_bytes_that_may_be_kept_and_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, root = 1 << 20, tmp_path / "runs"
    for name, value in (("IDCORE_RUNS", str(root)), ("IDCORE_KEPT", "1M"), ("IDCORE_SCANS_VISITOR", "off")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(jobs, "_begun", {})
    dated, refused, seen = Dating(UTC, "assumed", datetime(2026, 11, 21, tzinfo=UTC)), list[CoreError](), list[int]()

    def begin(number: int) -> None:
        try:
            scans.begin([Source("a.log", ONE * (200 + number))], dated)
        except CoreError as error:
            refused.append(error)

    def ended() -> bool:
        seen.append(on_disk(root))
        return not any(run.state in ("new", "running") for run in Runs().list())

    begin(0)
    (pinned,) = Runs().list()
    pinned.pin(True)
    for first in range(1, 61, 20):  # until there is no room: those that run have more than they will need
        with ThreadPoolExecutor(10) as visitors:
            list(visitors.map(begin, range(first, first + 20)))
        until(ended)
    kept = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and path.parent.name != ".leases"}
    assert max(seen) <= most and seen[-1] > most // 2, "what may be kept is kept"
    assert {error.code for error in refused} == {"limit_kept"} and len(refused) + len(Runs().list()) == 61
    assert "all scans would take" in str(refused[0]) and all(run.state == "done" for run in Runs().list())
    begin(99)
    until(ended)  # where it had room, it must not write into a folder that is deleted here
    assert {path: path.read_bytes() for path in kept} == kept, "what is finished stays"
    before = len(refused)
    for run in [run for run in Runs().list() if not run.pinned][:4]:
        Runs().delete(run.name)
    begin(100)
    assert len(refused) == before, "who deletes some has room"
    until(ended)
    assert max(seen) <= most and pinned.path.exists()


class Disk:
    """The `write_table` of a library whose disk becomes full at its n-th table, in the middle of it."""

    def __init__(self, write: Callable[..., None], last: int) -> None:
        self.write, self.left = write, last

    def __call__(self, table: pa.Table, file: BinaryIO, **options: Any) -> None:
        self.left -= 1
        if self.left < 0:
            file.write(b"PAR1 and no more")
            raise OSError(errno.ENOSPC, "No space left on device")
        self.write(table, file, **options)


@pytest.mark.parametrize("last", [0, 1])
def test_no_table_stays_where_one_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    tables = {name: pa.table({"host": [name]}) for name in ("a", "b")}
    monkeypatch.setattr(folder.pq, "write_table", Disk(folder.pq.write_table, last))
    with pytest.raises(OSError, match="No space"):
        write_tables(tmp_path, tables)
    assert list(tmp_path.iterdir()) == []


def test_the_earlier_result_stays_where_there_is_no_room_for_the_summary_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TableFolder(tmp_path) as first:
        first.write({"hosts": pa.table({"host": ["a"]})}, lambda: None)
        first.finish({"of": "a"})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with TableFolder(tmp_path) as second, monkeypatch.context() as broken:
        second.write({"hosts": pa.table({"host": ["b"]})}, lambda: None)
        broken.setattr(folder.json, "dump", full)
        with pytest.raises(OSError, match="No space"):
            second.finish({"of": "b"})
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert json.loads((tmp_path / "summary.json").read_text()) == {"of": "a"}
    assert Run(tmp_path).has("hosts")

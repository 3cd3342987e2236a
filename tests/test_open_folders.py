"""Files and folders are opened only where they really are in an open folder, also when a link is put in meanwhile."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from idcore.base import open_folders
from idcore.base.errors import CoreError
from idcore.intake.allowed import contents, guard_of, roots_of
from idcore.rocketmq.store import StoreFolder
from idcore.rocketmq.store.files import Reading
from idcore.rocketmq.store.folder import log_folder
from idcore.scan.occurrences.texts import Source, read
from idcore.sources import growing_files, inputs, storage
from idcore.sources.inputs import list_files, list_store, pack_tasks, split_files, unpack_tasks, walk
from tests.store.unpacked import real_store

SECRET = b"a secret of another folder\n"


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """An open folder with a log in a folder of it; beside it another folder with the same names."""
    for name, text in (("open", b"an open line\n"), ("closed", SECRET)):
        (tmp_path / name / "logs").mkdir(parents=True)
        (tmp_path / name / "logs" / "app.log").write_bytes(text)
    return tmp_path / "open"


def guard(folder: Path) -> open_folders.Roots:
    return guard_of(roots_of(str(folder)))


def swap(folder: Path) -> None:
    """What a colleague does between a check and its use: the folder becomes a link to the closed one (TOCTOU)."""
    folder.rename(folder.with_name("aside"))
    folder.symlink_to(folder.parents[1] / "closed" / folder.name)


def texts(splits: Any) -> tuple[bytes, list[str]]:
    """What a task reads of its splits, as a worker gets them; and why the others cannot be read."""
    (sent,) = unpack_tasks(pack_tasks([list(splits)]))
    found, problems = b"", []
    for _, windows, error in walk(sent):
        if windows is None:
            problems.append(error.code if error is not None else "")
            continue
        windows.slide()
        found += bytes(windows.view[windows.at : windows.filled])
    return found, problems


def test_a_folder_that_is_swapped_after_it_was_listed_is_not_read(opened: Path) -> None:
    files = list_files([str(opened)], guard(opened))
    splits = split_files(files, 1 << 30)
    assert texts(splits) == (b"an open line\n", [])
    swap(opened / "logs")
    assert texts(splits) == (b"", ["EACCES"])


def test_a_file_that_is_swapped_before_its_splits_are_made_is_not_read(opened: Path) -> None:
    (opened / "logs" / "app.log").write_bytes(b"an open line\n" * 100)
    files = list_files([str(opened)], guard(opened))
    swap(opened / "logs")
    assert texts(split_files(files, 64)) == (b"", ["EACCES"])  # the driver looks at what it would cut


def test_a_folder_that_is_swapped_while_it_is_listed_is_not_listed(
    opened: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (opened.parent / "closed" / "logs" / "another name").write_bytes(SECRET)
    swapped: list[Path] = []
    scandir = os.scandir

    class Slow:
        """The entries of the open folder; right behind the look at the last one it is swapped."""

        def __init__(self, at: Any) -> None:
            self.inside = scandir(at)

        def __enter__(self) -> Any:
            entries = [*self.inside]
            if not swapped:
                swapped.append(opened / "logs")
                swap(opened / "logs")
            return iter(entries)

        def __exit__(self, *_: object) -> None:
            self.inside.close()

    monkeypatch.setattr(os, "scandir", Slow)
    files = list_files([str(opened)], guard(opened))
    assert [(file.path, file.size, file.error and file.error.code) for file in files] == [
        (str(opened / "logs"), 0, "EACCES")
    ]


def test_what_a_scan_would_read_is_counted_inside_only(opened: Path) -> None:
    inside = contents(str(opened / "logs"), None, guard(opened))
    assert (inside.files, inside.bytes) == (1, 13)
    swap(opened / "logs")
    assert contents(str(opened / "logs"), None, guard(opened)).files == 0


def test_links_that_stay_inside_work_and_links_that_lead_out_do_not(opened: Path) -> None:
    inside, outside, gone = (opened / name for name in ("inside.log", "outside.log", "gone.log"))
    inside.symlink_to(opened / "logs" / "app.log")
    outside.symlink_to(opened.parent / "closed" / "logs" / "app.log")
    gone.symlink_to(opened.parent / "closed" / "nothing")
    with storage.opened(str(inside), guard(opened)) as file:
        assert file.read(100) == b"an open line\n"
    for path in (outside, gone):  # what is there is not told from what is not
        with pytest.raises(PermissionError) as refused:
            storage.opened(str(path), guard(opened))
        assert str(opened.parent / "closed") not in str(refused.value)
    with pytest.raises(FileNotFoundError):
        storage.opened(str(opened / "nothing"), guard(opened))
    with storage.opened(str(outside)) as file:  # the command line has no open folders
        assert file.read(100) == SECRET


def test_a_name_that_begins_like_an_open_folder_is_not_in_it(opened: Path) -> None:
    beside = opened.with_name("open-too")
    beside.mkdir()
    (beside / "a.log").write_bytes(SECRET)
    with pytest.raises(PermissionError):
        storage.opened(str(beside / "a.log"), guard(opened))
    assert open_folders.is_in("/any/file", ("/",))


def test_a_pipe_in_the_place_of_a_file_lets_nobody_wait(opened: Path) -> None:
    os.mkfifo(opened / "pipe")
    os.close(open_folders.descriptor(opened / "pipe", guard(opened)))


def test_the_lines_of_a_file_that_is_swapped_are_not_read(opened: Path) -> None:
    path = opened / "logs" / "app.log"
    status = path.stat()
    os.utime(opened.parent / "closed" / "logs" / "app.log", ns=(status.st_atime_ns, status.st_mtime_ns))
    (opened.parent / "closed" / "logs" / "app.log").write_bytes(SECRET[: status.st_size])
    os.utime(opened.parent / "closed" / "logs" / "app.log", ns=(status.st_atime_ns, status.st_mtime_ns))
    source = Source("app.log", str(path), status.st_mtime_ns, status.st_size)

    def allowed(_: str) -> open_folders.Roots:
        swap(opened / "logs")  # right after the path was checked
        return guard(opened)

    with pytest.raises(CoreError, match="permission denied"):
        read(source, opened, 0, 10, allowed)


# ---- store folders


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in an open folder, and one that is not open beside it."""
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        real_store(tmp_path / name)
    return next(path for path in (tmp_path / "open").rglob("commitlog")).parent


PARTS = ("commitlog", "consumequeue", "index", "config")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_store_that_leads_outside_is_not_read(store: Path, part: str) -> None:
    opened = next(parent for parent in store.parents if parent.name == "open")
    closed = opened.with_name("closed") / store.relative_to(opened)
    with StoreFolder(store, roots=guard(opened)) as whole:
        topics = whole.topics
        assert topics and whole.index.files and whole.config.offsets and not whole.unreadable
    (store / part).rename(store / f"aside-{part}")
    (store / part).symlink_to(closed / part)
    if part == "commitlog":
        with pytest.raises(CoreError, match="permission denied"):
            StoreFolder(store, roots=guard(opened))
        with pytest.raises(CoreError, match="permission denied"):
            list_store(str(store), guard(opened))
        return
    with StoreFolder(store, roots=guard(opened)) as found:
        left = {"consumequeue": found.queues.topics, "index": found.index.files, "config": found.config.offsets}
        assert not left[part] and {why["code"] for why in found.unreadable.values()} == {"EACCES"}
    with StoreFolder(store) as usual:  # of the command line
        assert usual.topics == topics and usual.index.files and usual.config.offsets


def test_a_log_file_that_is_a_link_is_read_inside_and_not_outside(store: Path) -> None:
    opened = next(parent for parent in store.parents if parent.name == "open")
    log, *others = list_store(str(store), guard(opened))
    moved = opened / "another disk"
    Path(log.path).rename(moved)
    Path(log.path).symlink_to(moved)
    assert {file.error for file in list_store(str(store), guard(opened))} == {None}
    moved.rename(opened.with_name("closed") / "moved")
    Path(log.path).unlink()
    Path(log.path).symlink_to(opened.with_name("closed") / "moved")
    refused, *left = list_store(str(store), guard(opened))
    assert refused.error is not None and refused.error.code == "EACCES" and refused.size == 0 and left == others
    reading = Reading(guard(opened))
    assert reading.read(Path(log.path), 0, 10) == b"" and [*reading.problems] == [Path(log.path)]


# ---- price


def test_the_folders_of_many_files_travel_once() -> None:
    roots = tuple(f"/srv/logs/{number}" for number in range(20))
    splits = [inputs.Split(n, f"/srv/logs/0/{n}.log", 0, n, "whole", roots) for n in range(10_000)]
    with_roots, without = (len(pack_tasks([some])) for some in (splits, [inputs.Split(*_plain(one)) for one in splits]))
    assert with_roots < 1.1 * without + 1_000
    assert unpack_tasks(pack_tasks([splits]))[0] == splits


def _plain(split: inputs.Split) -> tuple[Any, ...]:
    return split.number, split.path, split.start, split.stop, split.kind


@pytest.mark.parametrize("writes", [False, True], ids=["silent", "endless"])
def test_a_pipe_that_is_put_in_the_place_of_a_file_is_not_read(writes: bool, opened: Path) -> None:
    """A silent one ended the scan as a mistake of ours, and one that is filled for ever gave a worker no end."""
    files = list_files([str(opened)], guard(opened))
    (opened / "logs" / "app.log").unlink()
    os.mkfifo(opened / "logs" / "app.log")
    pipe = os.open(opened / "logs" / "app.log", os.O_RDWR)
    try:
        if writes:
            os.write(pipe, b"a line\n" * 1_000)
        assert texts(split_files(files, 1 << 30)) == (b"", ["ENXIO"])
        assert texts(split_files(files, 4)) == (b"", ["ENXIO"])
        with closing(Reading(guard(opened))) as reading:
            assert reading.read(opened / "logs" / "app.log", 0, 10) == b""
            assert [*reading.problems] == [opened / "logs" / "app.log"]
    finally:
        os.close(pipe)


def test_a_file_that_is_swapped_before_it_is_followed_says_nothing_of_what_is_outside(
    opened: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size, and whether it is there, were those of what the link leads to."""
    listed = growing_files.list_files

    def slow(*given: Any) -> Any:
        found = listed(*given)
        if not (opened / "aside").exists():
            swap(opened / "logs")
        return found

    for there in (True, False):
        monkeypatch.setattr(growing_files, "list_files", slow)
        if not there:
            (opened / "logs").unlink()
            (opened / "aside").rename(opened / "logs")
            (opened.parent / "closed" / "logs" / "app.log").unlink()
        found = growing_files.FileChanges([str(opened)], guard(opened)).first()
        assert not found["files"] and [json.loads(why)["code"] for why in found["left_out"].values()] == ["EACCES"]


# What a store may have beside its log, as a link to a file or a folder that is not open.
_BESIDE = {
    "abort": "a file",
    "checkpoint": "a file",
    "config/topics.json": "a file",
    "config/consumerOffset.json.bak": "a file",
    "config/consumerOffsets": "a database",
    "config": "a folder",
    "index": "a folder",
    "consumequeue": "a folder",
    "consumequeue/topic": "a folder",
    "consumequeue/topic/0": "a folder",
    "rocksdbstore": "a database",
    "commitlog": "a log",
    "dledger-n0/data": "a log",
}


@pytest.mark.parametrize("name", _BESIDE)
def test_a_link_in_a_store_says_nothing_of_what_is_outside(name: str, tmp_path: Path) -> None:
    """A triage who writes into an open folder learnt by links which files of this machine are there."""
    said = []
    for there in (True, False):
        root, outside = tmp_path / "open" / "store", tmp_path / "closed" / "it"
        (root / name).parent.mkdir(parents=True)
        if name not in ("commitlog", "dledger-n0/data"):
            (root / "commitlog").mkdir(exist_ok=True)
        outside.parent.mkdir()
        if there and _BESIDE[name] == "a file":
            outside.write_bytes(bytes(64))
        elif there:
            outside.mkdir()
            for inside in ("CURRENT", "000001.sst", "topics.json", "0" * 20):
                (outside / inside).write_bytes(bytes(64))
        (root / name).symlink_to(outside)
        said.append(_told_of(root, tmp_path / "open"))
        for folder in ("open", "closed"):
            shutil.rmtree(tmp_path / folder)
    assert said[0] == said[1]


def _told_of(root: Path, opened: Path) -> list[object]:
    """What the page of a store has of a folder, or why it has nothing."""
    told: list[object] = []
    for ask in (lambda: list_store(str(root), guard(opened)), lambda: log_folder(root, guard(opened))):
        try:
            told.append(ask())
        except CoreError as refused:
            told.append(refused)
    try:
        with StoreFolder(root, roots=guard(opened)) as store:
            told += [store.overview(), store.aborted, store.checkpoint, store.config]
            told.append(store.reading.problems)
    except CoreError as refused:
        told.append(refused)
    return told

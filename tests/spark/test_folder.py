"""The folder of one scan: one writer at a time, and nothing of it when the writer ends early."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from idcore.base.errors import CoreError
from idcore.sources.inputs import WRITING
from idcore.spark.folder import TableFolder

HOLDS = """
import sys
from pathlib import Path
from idcore.spark.folder import TableFolder
with TableFolder(Path(sys.argv[1])) as folder:
    print(folder.aside.name, flush=True)
    sys.stdin.read()
"""


def write(out: Path, host: str) -> None:
    with TableFolder(out) as folder:
        folder.write({"hosts": pa.table({"host": [host]})}, lambda: None)
        folder.finish({"host": host})


def names(out: Path) -> set[str]:
    return {path.name for path in out.iterdir()}


def test_a_second_writer_is_told_who_is_there_and_takes_nothing_away(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", HOLDS, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        aside = first.stdout.readline().decode().strip()
        told = rf"another scan is writing to {re.escape(str(out))} \(process {first.pid} on {socket.gethostname()}\)"
        with pytest.raises(CoreError, match=told):
            write(out, "b")
        assert names(out) == {WRITING, aside}
        first.send_signal(signal.SIGKILL)
        first.wait(30)
        assert names(out) == {WRITING, aside}  # what a killed scan leaves, and nobody holds
        write(out, "c")
    assert names(out) == {"hosts", "summary.json"}


def test_of_two_writers_in_one_process_the_second_is_refused_too(tmp_path: Path) -> None:
    write(tmp_path, "a")
    with TableFolder(tmp_path) as first:
        with pytest.raises(CoreError, match=f"process {os.getpid()} on"), TableFolder(tmp_path):
            raise AssertionError
        first.write({"hosts": pa.table({"host": ["b"]})}, lambda: None)
        first.finish({})
    assert names(tmp_path) == {"hosts", "summary.json"}


def test_writers_that_come_and_go_never_meet(tmp_path: Path) -> None:
    out, inside, met, done, refused = tmp_path / "new" / "out", [], [], [], []

    def work() -> None:
        for number in range(60):
            try:
                with TableFolder(out) as folder:
                    inside.append(folder)
                    met.append(len(inside))
                    assert folder.aside.is_dir()
                    inside.remove(folder)
                done.append(number)
            except CoreError as problem:
                refused.append(problem.code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert set(met) == {1} and len(done) + len(refused) == 240
    assert set(refused) <= {"lock_held", "lock_held_by", "lock_busy"}
    assert not list(out.glob("*"))


def test_a_folder_that_goes_while_it_is_made_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mkdir = os.mkdir
    went: list[Path] = []

    def meets_one_that_goes(path: Path, *mode: int) -> None:
        if Path(path) == tmp_path / "out" and not went:
            went.append(path)
            raise FileExistsError(errno.EEXIST, "File exists", str(path))
        mkdir(path, *mode)

    monkeypatch.setattr(os, "mkdir", meets_one_that_goes)
    with TableFolder(tmp_path / "out") as folder:
        assert folder.aside.is_dir()
    assert went


def test_a_file_in_the_place_of_the_folder_is_unwritable(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(CoreError) as caught, TableFolder(tmp_path / "out"):
        raise AssertionError
    assert caught.value.code == "unwritable" and (tmp_path / "out").read_text() == "a file"


def test_what_can_never_be_made_is_not_tried_for_ever() -> None:
    with pytest.raises(CoreError) as caught, TableFolder(Path("/proc/none/out")):
        raise AssertionError
    assert caught.value.code == "unwritable" and caught.value.values["path"] == "/proc/none/out"

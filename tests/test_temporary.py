"""What a killed process leaves in the temporary folder goes when the next one begins, and nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from idcore.base.temporary import PREFIX
from tests.source_code import ROOT

pytestmark = pytest.mark.quick
BEGIN = """import subprocess, sys
from pathlib import Path
from idcore.base import temporary
Path(temporary.own(), "meter").write_bytes(bytes(16))
if "child" in sys.argv:
    subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[temporary.lock()])
print(temporary.own(), flush=True)
sys.stdin.read()
"""


@contextmanager
def process(there: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process with a folder of its own, which ends when it is told so."""
    command = [sys.executable, "-c", BEGIN, *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = {**os.environ, "TMPDIR": str(there)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, process_group=0, **pipes) as begun:  # type: ignore[call-overload]
        assert begun.stdout is not None
        try:
            yield begun, Path(begun.stdout.readline().strip())
        finally:
            begun.stdin.close()


def test_the_next_process_removes_what_a_killed_one_left_and_its_own_at_its_end(tmp_path: Path) -> None:
    with process(tmp_path) as (killed, left):
        killed.kill()
        killed.wait()
        assert (left / "meter").exists()
        with process(tmp_path) as (_, own):
            assert not left.exists() and list(tmp_path.iterdir()) == [own]
    assert not list(tmp_path.iterdir())


def test_what_has_an_owner_stays_and_a_child_of_a_killed_process_is_one(tmp_path: Path) -> None:
    with process(tmp_path) as (_, alive), process(tmp_path, "child") as (killed, left):
        killed.kill()
        killed.wait()
        with process(tmp_path):
            assert (left / "meter").exists() and (alive / "meter").exists()
        os.killpg(killed.pid, signal.SIGKILL)  # the child
        with process(tmp_path):
            assert not left.exists() and (alive / "meter").exists()
    assert not list(tmp_path.iterdir())


def test_links_files_and_folders_of_others_stay(tmp_path: Path) -> None:
    there, kept = tmp_path / "tmp", tmp_path / "kept"
    for folder in (there, kept, there / "idcore-java-of-an-older-version"):
        folder.mkdir()
        (folder / "file").touch()
    (there / f"{PREFIX}link").symlink_to(kept)
    (there / f"{PREFIX}file").touch()
    before = sorted(path.name for path in there.iterdir())
    with process(there):
        assert (kept / "file").exists()
    assert sorted(path.name for path in there.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a folder of another user")
def test_the_folder_of_another_user_stays(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}other").mkdir()
    os.chown(tmp_path / f"{PREFIX}other", 65_534, 65_534)
    with process(tmp_path):
        assert (tmp_path / f"{PREFIX}other").exists()

"""Somebody else's folder is never written to: a watch on every file the process opens, and the folder as it was."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
IDS = ("CB0071156B7B4E0E2F2A691B8D0B0000", "7F0000010000559700000000000000F7", "order-10017", "nothing")

# Ends the process at the first attempt to open for writing, or to change a folder, anywhere.
WATCH = """
import os, sys
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod",
           "os.chown", "os.utime", "shutil.rmtree", "shutil.copyfile", "tempfile.mkstemp"}
sys.dont_write_bytecode = True
seen = []
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(flags, int) and flags & WRITES:
            os.write(2, f"WRITE {path!r} {mode!r} {flags}\\n".encode()); os._exit(99)
        seen.append(str(path))
    elif event in CHANGES:
        os.write(2, f"CHANGE {event} {arguments!r}\\n".encode()); os._exit(99)
    elif event == "mmap.__new__":
        os.write(2, b"MMAP\\n"); os._exit(99)
sys.addaudithook(watch)
"""
VIEW = (
    WATCH
    + """
from idcore.__main__ import main
status = main(sys.argv[1:])
assert any("commitlog" in path for path in seen), "the watch saw nothing"
sys.stdout.flush()
os._exit(status)
"""
)
OVERVIEW = (
    WATCH
    + """
import json
from pathlib import Path
from idcore.rocketmq.store import StoreFolder, Stored
with StoreFolder(Path(sys.argv[1])) as store:
    seen_records = sum(isinstance(step, Stored) for step in store.log.walk())
    print(json.dumps([seen_records, store.overview()["end"]]))
assert any("commitlog" in path for path in seen), "the watch saw nothing"
sys.stdout.flush()
os._exit(0)
"""
)


def snapshot(root: Path) -> dict[str, tuple[int, int, int, str]]:
    found = {}
    for path in [root, *sorted(root.rglob("*"))]:
        about = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (about.st_mode, about.st_size, about.st_mtime_ns, digest)
    return found


# Root may read and write where it must not; so it gives that up first, where it can.
BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
if BOUND and (not shutil.which(BOUND[0]) or subprocess.run([*BOUND, "true"], capture_output=True).returncode):
    BOUND = []


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BOUND, sys.executable, "-B", "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def lock(root: Path, file_mode: int, folder_mode: int) -> None:
    for path in [*root.rglob("*"), root]:
        path.chmod(folder_mode if path.is_dir() else file_mode)


def test_the_watch_sees_a_write(tmp_path: Path) -> None:
    done = run(WATCH + f"open({str(tmp_path / 'x')!r}, 'w')")
    assert done.returncode == 99
    assert "WRITE" in done.stderr
    assert run(WATCH + f"os.mkdir({str(tmp_path / 'y')!r})").returncode == 99


def test_view_opens_nothing_for_writing_and_leaves_the_folder_as_it_was(copy: Path) -> None:
    lock(copy, 0o444, 0o555)
    before = snapshot(copy)
    try:
        done = run(VIEW, "view", "--store", str(copy), *IDS)
        assert done.returncode == 1, done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["found"] for row in rows] == [True, False, True, False]
        assert snapshot(copy) == before
    finally:
        lock(copy, 0o644, 0o755)


def test_walking_and_the_overview_write_nothing_either(copy: Path) -> None:
    before = snapshot(copy)
    done = run(OVERVIEW, str(copy))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [4_545, 1_438_175]
    assert snapshot(copy) == before


@pytest.mark.skipif(
    not os.environ.get("CI") and os.geteuid() == 0 and not BOUND, reason="permissions do not bind this user"
)
def test_a_folder_that_may_not_be_read_is_said_in_one_line(copy: Path) -> None:
    copy.chmod(0)
    try:
        done = run(VIEW, "view", "--store", str(copy), "x")
        assert done.returncode == 3
        assert done.stderr.count("\n") == 1
    finally:
        copy.chmod(0o755)

"""A server that is killed (SIGKILL) while it deletes, renames or shares a scan: the scan is whole, or it is gone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from idcore.runs.runs import DELETED, EVERYBODY, LINK, PRIVATE, Runs
from tests.pages.conftest import make_run
from tests.source_code import ROOT

KILLS = 12
NAME = "20261121-015500-a1b2c3"
# Each does its work again and again, so that the kill falls into it. A line says that it has begun.
WORK = {
    "rename": "[runs.own(name).rename(f'name {n} ' + 'x' * (n % 100)) for n in range(10 ** 6)]",
    "share": "[runs.own(name).share(('private', 'link', 'everybody')[n % 3]) for n in range(10 ** 6)]",
    "pin": "[runs.own(name).pin(bool(n % 2)) for n in range(10 ** 6)]",
    "delete": "runs.delete(name)",
}
CODE = """import sys
from pathlib import Path
from idcore.runs.runs import Runs
runs, name = Runs(Path(sys.argv[1])), sys.argv[2]
runs.own(name)
print("begun", flush=True)
{work}
"""


def killed(work: str, root: Path, after: float) -> None:
    """Begins the work in a process of its own, and kills it so many seconds later."""
    command = [sys.executable, "-c", CODE.format(work=WORK[work]), str(root), NAME]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        time.sleep(after)
        process.send_signal(signal.SIGKILL)


@pytest.mark.long(first=1)
@pytest.mark.parametrize("work", ["rename", "share", "pin"])
def test_a_server_that_is_killed_while_it_changes_a_scan_leaves_it_whole(work: str, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    before = json.loads((folder / "run.json").read_text())
    r = random.Random(work)
    for _ in range(KILLS):
        killed(work, tmp_path / "runs", r.uniform(0, 0.02))
        (run,) = Runs(tmp_path / "runs").list()
        facts = dict(run.facts)
        assert facts.pop("shared", PRIVATE) in (PRIVATE, LINK, EVERYBODY)
        facts.pop("pinned", None)
        facts["options"] = {name: value for name, value in facts["options"].items() if name != "named"}
        assert facts == before and run.state == "done" and run.table("processes").num_rows
        run.rename("a name")  # and it can be changed again
        assert run.facts["options"]["named"] == "a name"


def test_a_server_that_is_killed_while_it_deletes_a_scan_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    r, root = random.Random(1), tmp_path / "runs"
    whole = half = 0
    for _ in range(KILLS):
        folder = make_run(root) if not (root / NAME).exists() else root / NAME
        (folder / "input").mkdir(exist_ok=True)
        for number in range(1_000):  # so that a deletion takes some time
            (folder / "input" / f"{number:03}").touch()
        killed("delete", root, r.uniform(0, 0.01))
        there = Runs(root).list()
        whole += len(there)
        half += any(root.glob(f"{DELETED}*"))
        assert not Runs(root).damaged()
        assert all(len(os.listdir(run.path / "input")) == 1_000 and run.table("processes").num_rows for run in there)
        Runs(root).sweep()  # as the next server does
        assert not any(root.glob(f"{DELETED}*"))
    assert half, f"no kill came in the middle of a deletion; {whole} of {KILLS} came before"

"""What a scan keeps of its input in a folder of runs that others may write: nothing leads out of it, nothing waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from idcore.intake import allowed, intake
from idcore.operations import scans
from idcore.operations.model import Caller, Ground
from idcore.policy.access import WITHOUT_LOGIN
from idcore.policy.audit import Actor
from idcore.presentation.decoding import Decoding
from idcore.presentation.triage import lines
from idcore.runs.runs import Run, Runs
from idcore.sources.storage import opened
from pages.parts.triage import lines as page_lines

ID = "AC110001473C7D4991AD336AEA5703E0"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run whose second copy is a link to a file that is nobody's but the console's."""
    made = Runs(tmp_path / "runs").create("a.log", "upload", {})
    (tmp_path / "secret").write_text(f"key = 1 {ID}\n", encoding="utf-8")
    (made.input_folder / "000-a.log").write_text("own text\n", encoding="utf-8")
    (made.input_folder / "001-b.log").symlink_to(tmp_path / "secret")
    os.mkfifo(made.input_folder / "002-c.log")
    (made.input_folder / "name").write_text("x", encoding="utf-8")
    return made


def test_a_link_and_a_pipe_among_the_copies_are_not_read(run: Run) -> None:
    assert [source.name for source in intake.kept(run)] == ["a.log"]
    decoding = Decoding.of_run(run)
    assert decoding.intake.found == [] and len(decoding.sources) == 1
    assert lines.around(run, [ID]) == []
    assert lines.numbered(run, [{"file": "b.log", "byte": 8, "line": 1, "id": ID}]) == []


def test_a_copy_that_becomes_a_link_is_not_opened(run: Run, tmp_path: Path) -> None:
    (source,) = intake.kept(run)
    (run.input_folder / "000-a.log").unlink()
    (run.input_folder / "000-a.log").symlink_to(tmp_path / "secret")
    with pytest.raises(PermissionError):
        list(source.pieces())


def test_a_folder_of_a_run_that_is_a_link_has_no_copies(run: Run, tmp_path: Path) -> None:
    run.path.rename(tmp_path / "elsewhere")
    run.path.symlink_to(tmp_path / "elsewhere")
    (source,) = intake.kept(run)
    with pytest.raises(PermissionError):
        list(source.pieces())


def test_a_scan_again_and_the_lines_of_a_run_read_its_folder_alone(run: Run, tmp_path: Path) -> None:
    copies = [str(run.input_folder / "000-a.log"), str(run.input_folder / "001-b.log")]
    roots = allowed.roots_for(run.path, copies, None, WITHOUT_LOGIN, [])
    assert opened(copies[0], roots).read() == b"own text\n"
    with pytest.raises(PermissionError):
        opened(copies[1], roots)
    topics = allowed.roots_for(run.path, ["kafka://h:1/t"], None, WITHOUT_LOGIN, ["kafka://h:1/t"])
    assert topics == roots


def test_the_lines_of_a_run_are_not_those_of_another_file(run: Run) -> None:
    ground = Ground(list, lambda: run.path.parent)
    caller = Caller(lambda: WITHOUT_LOGIN, lambda: WITHOUT_LOGIN, Actor("x", "y"), ground)
    link = str(run.input_folder / "001-b.log")
    for guard in (scans.allowed_for(run, caller), page_lines.allowed_for(run)):
        with pytest.raises(PermissionError):
            opened(link, guard(link))

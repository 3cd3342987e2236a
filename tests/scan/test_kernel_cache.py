"""Compiled kernels are found by what the sources say, wherever they lie: also in the archive a cluster is sent."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from idcore import kernels
from idcore.spark.start.archive import is_there
from scripts import setup
from tests.source_code import modules, name, nodes

PACKAGE = Path(kernels.__file__).parents[1]
COUNT = """
import idcore.kernels.encode as encode, numpy as np
encode.parts_of(np.zeros((1, 6), np.uint64), np.zeros(1, np.int64))
print(encode.__file__, *encode.parts_of.stats.cache_hits.values(), len(encode.parts_of.stats.cache_misses))
"""


def ask(place: Path, cache: Path) -> list[str]:
    """Where the kernel was loaded from, hits and misses of its cache, in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(place), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def archive(folder: Path, added: str = "") -> Path:
    folder.mkdir()
    path = folder / "idcore.zip"
    with zipfile.ZipFile(path, "w") as out:
        for file in PACKAGE.rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            out.writestr(
                str(Path("idcore") / file.relative_to(PACKAGE)), text + (added if file.name == "find.py" else "")
            )
    return path


TYPES = """
from idcore.kernels import merge
from idcore.scan import warm
warm.{}()
print(merge.merge_processes.signatures)
"""


def test_a_second_process_compiles_tables_for_the_types_of_the_first() -> None:
    """Of other types it would take a core for nothing."""
    one, other = (
        subprocess.run([sys.executable, "-c", TYPES.format(name)], capture_output=True, text=True, check=True).stdout
        for name in ("warm_tables", "warm")
    )
    assert one == other and "array(int64" in one


@pytest.mark.long
def test_two_archives_of_the_same_sources_share_their_compiled_kernels(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, second = archive(tmp_path / "app-1"), archive(tmp_path / "app-2")
    assert ask(first, cache) == [f"{first}/idcore/kernels/encode.py", "1"]
    assert ask(second, cache) == [f"{second}/idcore/kernels/encode.py", "1", "0"]
    assert ask(PACKAGE.parent, cache)[1:] == ["1", "0"]


@pytest.mark.long
def test_a_kernel_is_compiled_anew_when_any_source_has_changed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    ask(archive(tmp_path / "app-1"), cache)
    assert (
        ask(archive(tmp_path / "app-2", "\n# another find, which parts_of may have had compiled into it\n"), cache)[-1]
        == "1"
    )


def test_nothing_but_a_kernel_calls_what_has_no_wrapper() -> None:
    """Python that does ends with a segmentation fault."""
    inner = {
        (path.stem, found)
        for path in (PACKAGE / "kernels").glob("*.py")
        for found in re.findall(r"(?m)^@inner\ndef (\w+)\(", path.read_text(encoding="utf-8"))
    }
    calls = []
    for path in modules("idcore", "pages", "tests", "benchmarks", "scripts"):
        if path.parent.name == "kernels":
            continue
        of_kernels: dict[str, str] = {}
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("idcore.kernels"):
                of_kernels |= {one.asname or one.name: one.name for one in node.names}
                stem = (node.module or "").rpartition(".")[2]
                calls += [f"{name(path)}: {one.name}" for one in node.names if (stem, one.name) in inner]
        calls += [
            f"{name(path)}: {ast.unparse(node)}"
            for node in nodes(path)
            if isinstance(node, ast.Attribute) and (of_kernels.get(ast.unparse(node.value), ""), node.attr) in inner
        ]
    assert len(inner) > 50 and not calls, "it is a `kernel`, and no `inner`"


ONCE_MORE = """
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event): ...
    def on_end(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
event.register("numba:compile", Listener())
from idcore.scan import warm
warm.warm()
warm.warm_tables()
print(*compiled)
"""


def test_what_set_up_compiled_no_later_process_compiles_again() -> None:
    """Also of what Python calls that is inlined into others: 0.4 s of every command."""
    told = [
        subprocess.run(
            [sys.executable, "-c", ONCE_MORE], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert told[1].stdout.split() == []


def test_every_file_that_is_compiled_into_a_kernel_counts() -> None:
    kept = {source.split(":")[1] for source in kernels._SOURCES}
    compiled = [
        path
        for path in (PACKAGE / "kernels").glob("*.py")
        if re.search(r"(?m)^@(kernel|inner|inlined)$", path.read_text(encoding="utf-8"))
    ]
    assert len(compiled) > 10 and {path.name for path in compiled} <= kept
    for path in compiled:
        of_ids = re.findall(
            r"^from idcore\.ids(?:\.(\w+) import .*| import (.*))$", path.read_text("utf-8"), re.MULTILINE
        )
        names = {name for one, several in of_ids for name in (one, *several.split(", ")) if name}
        assert {f"{name}.py" for name in names} <= kept, path.name
    warmed = {path.resolve() for pattern in setup.COMPILED for path in PACKAGE.glob(pattern)}
    for source in kernels._SOURCES:
        package, name = source.split(":")
        folder = Path(import_module(package).__file__ or "").parent
        assert folder / name in warmed, "set-up would not compile the kernels anew after a change of it"


def test_a_user_without_a_home_gets_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("HOME", str(blocked))
    monkeypatch.setattr(kernels.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = Path(kernels.cache_folder.__wrapped__())
    assert folder.is_dir() and folder.parent == tmp_path / f"rocketmq-ids-{os.getuid()}"
    assert folder.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("squatted", ["a link", "others write in it", "a file"])
def test_a_folder_that_others_could_write_in_has_no_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, squatted: str
) -> None:
    """Its name is known before, and numba runs what is in it (pickle)."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    monkeypatch.setattr(kernels.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(kernels.tempfile, "tempdir", str(tmp_path))
    spare, elsewhere = tmp_path / f"rocketmq-ids-{os.getuid()}", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if squatted == "a link":
        spare.symlink_to(elsewhere)
    elif squatted == "a file":
        spare.write_text("")
    else:
        spare.mkdir()
        spare.chmod(0o777)
    folder = Path(kernels.cache_folder.__wrapped__())
    assert folder.parent == tmp_path and folder.name.startswith("rocketmq-ids-kernels-")
    assert not any(elsewhere.iterdir())


@pytest.mark.parametrize("before", ["", "import yaml"])
def test_the_folder_of_a_command_says_nothing_to_numba(tmp_path: Path, before: str) -> None:
    """It may be an archive of logs. Numba imports what a file there names, also from the standard library."""
    (tmp_path / ".numba_config.yaml").write_text("cache_locator_classes: colorsys.Nothing\ndisable_jit: 1\n")
    ask = f"{before}\nimport sys, idcore.kernels.encode as one\n"
    ask += "import yaml\nprint('colorsys' in sys.modules, hasattr(one.parts_of, 'stats'), yaml.safe_load('a'))"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout.split(), done.stderr) == (["False", "True", "a"], "")


@pytest.fixture
def mask_of_a_group() -> Iterator[None]:
    """That of a console whose folder of scans is shared."""
    before = os.umask(0o007)
    yield
    os.umask(before)


def test_a_group_that_shares_scans_writes_nothing_that_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask_of_a_group: None
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache" / "kernels"))
    folder = Path(kernels.cache_folder.__wrapped__())
    assert folder.parents[1] == tmp_path / "cache"
    assert {one.stat().st_mode & 0o777 for one in (folder, *folder.parents[:2])} == {0o700}


def test_a_folder_in_which_a_group_could_write_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older version left it so. What lies there may be somebody else's, and is not read."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    planted = tmp_path / "kernels" / kernels._digest() / "encode.parts_of-1.py311.nbi"
    planted.parent.mkdir(parents=True)
    planted.write_bytes(b"")
    for one in planted.parents[:2]:
        one.chmod(0o2770)
    folder = Path(kernels.cache_folder.__wrapped__())
    assert folder == planted.parent and not planted.exists()
    assert not any(one.stat().st_mode & 0o022 for one in planted.parents[:2])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to somebody else")
@pytest.mark.parametrize("theirs", [0, 1])
def test_a_folder_of_somebody_else_has_no_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: int) -> None:
    """Who runs a command as root keeps the home of the user who asked for it."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(kernels.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / "kernels" / kernels._digest()
    folder.mkdir(parents=True)
    os.chown([folder, folder.parent][theirs], 65534, 65534)
    assert Path(kernels.cache_folder.__wrapped__()).parent == tmp_path / f"rocketmq-ids-{os.getuid()}"
    assert folder.is_dir()


@pytest.mark.parametrize("open_to_a_group", ["", "the archive", "its folder"])
def test_a_class_archive_that_others_could_write_is_not_used(tmp_path: Path, open_to_a_group: str) -> None:
    path = tmp_path / "rocketmq-ids" / "spark-0123456789abcdef.jsa"
    assert not is_there(path)
    path.parent.mkdir()
    path.write_bytes(b"")
    path.chmod(0o664 if open_to_a_group == "the archive" else 0o444)
    path.parent.chmod(0o2770 if open_to_a_group == "its folder" else 0o755)
    assert is_there(path) == (open_to_a_group != "the archive")
    assert not path.parent.stat().st_mode & 0o022  # what it has is of this user alone: nobody else writes there now


def test_what_sorts_values_shares_no_compiled_name_with_what_sorts_places() -> None:
    """Numba's quicksort of values and that of places are one name, told apart by a number that each process counts for
    itself. Where two processes fill the cache, the numbers can be the same: then the values stay as they are."""
    sorts = [
        (path.name, line.strip())
        for path in Path(kernels.__file__).parent.glob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "argsort(" in line
    ]
    assert len(sorts) > 3 and [line for line in sorts if 'kind="mergesort"' not in line[1]] == []

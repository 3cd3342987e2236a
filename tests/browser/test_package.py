"""The package `rocketmq-ids`: what a wheel holds, what it does without any other package, and its console."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from idcore import __version__
from tests.browser.harness import ROOT, Console, console, visit
from tests.remoting.fake_queues import Queues
from tests.scan.packing import PACKERS

ID = "AC1100010000251A69D763F93CF40804"
SMALL = ("lz4", "shtab", "tzdata", "zstandard")  # what the package needs in any case
PINS = re.compile(r"^([\w.-]+)==([^ ]+)", re.M)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with wheel and sdist."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(out)], cwd=ROOT, check=True)
    return out


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and nothing else."""
    target = tmp_path_factory.mktemp("installed")
    (wheel,) = built.glob("*.whl")
    words = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*words, str(wheel)], check=True)
    return target


def pythons() -> list[str]:
    """This Python, and those of 3.12 and 3.13 that the machine has: on the path, or kept by pyenv."""
    kept = [sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3")) for version in ("3.12", "3.13")]
    named = [shutil.which(f"python{version}") for version in ("3.12", "3.13")]
    others = [str(paths[-1]) if paths else name for paths, name in zip(kept, named, strict=True)]
    return [sys.executable, *(python for python in others if python)]


def bare(
    installed: Path, folder: Path, *words: str, python: str = sys.executable, beside_it: tuple[str, ...] = SMALL
) -> subprocess.CompletedProcess[str]:
    """A command of the package where only the standard library, the wheel and what it needs are."""
    beside = folder / "beside"
    beside.mkdir(exist_ok=True)
    for name in beside_it:
        if not (beside / name).exists():
            (beside / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
    paths = {"PYTHONPATH": os.pathsep.join((str(installed), str(beside)))}
    around = {"PATH": os.environ["PATH"], "HOME": str(folder), **paths}
    command = [python, "-S", "-m", "idcore", *words]
    return subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True)


def test_the_pins_of_the_package_are_those_of_the_requirements() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = dict(PINS.findall((ROOT / "requirements.txt").read_text(encoding="utf-8")))
    extras = [pin for some in project["optional-dependencies"].values() for pin in some if "==" in pin]
    assert dict(pin.split("==") for pin in (*project["dependencies"], *extras)) == wanted
    assert {pin.partition("==")[0] for pin in project["dependencies"]} == set(SMALL)


def test_the_wheel_and_the_sdist_hold_the_pages_the_licence_and_no_test(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.name == f"rocketmq_ids-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as packed_wheel:
        names = set(packed_wheel.namelist())
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").rglob("*") if path.is_file()}
    pages = {name for name in pages if "__pycache__" not in name}
    assert {f"idcore/_console/{name}" for name in pages} <= names and "idcore/_console/app.py" in names
    documents = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    carried = {name for name in names if name.startswith("idcore/_console/docs/")}
    assert carried == {f"idcore/_console/{name}" for name in documents}
    assert "idcore/_console/.streamlit/config.toml" in names and "idcore/py.typed" in names
    assert {name.rpartition("/")[2] for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}
    tests = [name for name in names - carried if "test" in name.lower()]
    assert not tests and not [name for name in names if name.endswith((".pyc", "secrets.toml"))]
    with tarfile.open(sdist) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "app.py", "pages/entry.py", "idcore/__main__.py", "LICENSE"} <= inside


def test_decode_and_make_need_no_other_package(installed: Path, tmp_path: Path) -> None:
    told = bare(installed, tmp_path, "decode", ID, "--zone", "+08:00", "--at", "2026-11-25T00:00:00Z")
    words = [sys.executable, "-m", "idcore", "decode", ID, "--zone", "+08:00", "--at", "2026-11-25T00:00:00Z"]
    assert told.stdout == subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout
    assert told.returncode == 0 and '"host": "172.17.0.1"' in told.stdout and not told.stderr
    assert bare(installed, tmp_path, "--version").stdout == f"rocketmq-ids {__version__}\n"
    assert len(bare(installed, tmp_path, "make", "ids", "--count", "3").stdout.split()) == 3


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst"])
def test_a_packed_file_is_decoded_or_the_extra_is_named(packing: str, installed: Path, tmp_path: Path) -> None:
    """Python itself unpacks most of them."""
    text = f"2026-11-20 10:00:00 msgId={ID}\n" * 9
    (tmp_path / "a.log").write_text(text)
    (tmp_path / "packed").write_bytes(PACKERS[packing](text.encode()))
    plain, told = (bare(installed, tmp_path, "decode", name) for name in ("a.log", "packed"))
    assert plain.returncode == 0 and len(plain.stdout.splitlines()) == 9
    if packing == "zst":
        assert told.returncode == 2 and "rocketmq-ids[scan]" in told.stderr and "Traceback" not in told.stderr
    else:
        assert (told.returncode, told.stdout, told.stderr) == (0, plain.stdout, plain.stderr)


@pytest.mark.parametrize("python", pythons(), ids=lambda path: Path(path).parent.parent.name)
def test_the_wheel_decodes_with_every_python_that_is_here(python: str, installed: Path, tmp_path: Path) -> None:
    """The bare wheel: packages with code for one Python alone are not beside it."""
    asked = ("decode", ID, "--zone", "Asia/Shanghai", "--at", "2026-11-25T00:00:00Z", "--format", "table")
    first, pure = bare(installed, tmp_path, *asked), ("tzdata", "shtab")
    other = tmp_path / "other"
    other.mkdir()
    told = bare(installed, other, *asked, python=python, beside_it=pure)
    assert told.returncode == 0 and not told.stderr and "172.17.0.1" in told.stdout and told.stdout == first.stdout
    made = bare(installed, other, "make", "log", "--lines", "40", "--out", "a.log", python=python, beside_it=pure)
    assert made.returncode == 0, made.stderr
    read = bare(installed, other, "decode", "a.log", "--format", "csv", python=python, beside_it=pure)
    assert read.returncode == 0 and len(read.stdout.splitlines()) > 20, read.stderr


def test_a_store_folder_is_read_without_a_large_package(installed: Path, tmp_path: Path) -> None:
    assert bare(installed, tmp_path, "make", "store", "--messages", "40", "--out", "store").returncode == 0
    truth = (tmp_path / "truth.json").read_text(encoding="utf-8")
    known = re.findall(r'"(?:uniq_id|msg_id|id)": "([0-9A-F]{32})"', truth)[0]
    told = bare(installed, tmp_path, "view", known, "--store", "store")
    assert told.returncode == 0 and '"found": true' in told.stdout, told.stderr


@pytest.mark.long
def test_a_cluster_is_asked_without_a_large_package(installed: Path, tmp_path: Path) -> None:
    queues = Queues({"Orders": 1})
    queues.put("Orders", 0, 0, ID, KEYS="k")
    with queues.server:
        asked = ("--namesrv", str(queues.server.address), "--topic", "Orders")
        for words in ((ID, *asked), (*asked, "--from", "2026-01-01"), ("--key", "k", *asked), (ID, "--fate", *asked)):
            told = bare(installed, tmp_path, "view", *words)
            assert told.returncode == 0 and '"found": true' in told.stdout and not told.stderr, told.stderr


def test_what_an_extra_brings_is_named_with_the_command(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"msgId={ID}\n")
    for words, extra in ((("scan", "a.log", "--out", "tables"), "scan"), (("serve",), "console"), (("mcp",), "mcp")):
        told = bare(installed, tmp_path, *words)
        assert told.returncode == 2 and f"-m pip install 'rocketmq-ids[{extra}]'" in told.stderr, told.stderr
        assert "Traceback" not in told.stderr and len(told.stderr.splitlines()) == 1
    assert not (tmp_path / "tables").exists()


@pytest.fixture
def served(installed: Path, tmp_path: Path) -> Console:  # type: ignore[misc]
    with console(tmp_path, serve=installed) as running:
        yield running


def test_the_console_of_the_wheel_shows_the_example(served: Console, browser: Browser) -> None:
    with visit(browser, served.url) as tab:
        tab.page.goto(f"{served.url}/decode?ids={ID}&lang=en&zone=UTC")
        tab.settle(90)  # everything of this environment is loaded for the first time
        expect(tab.page.locator("[data-testid=stMain]")).to_contain_text("172.17.0.1")
        tab.turn_to("/help?doc=findings&part=restart&lang=en")
        expect(tab.page.get_by_role("heading", name="Restart")).to_be_visible()
        tab.go("/decode?lang=en")  # a new visit: of this one the box has an ID
        tab.page.get_by_role("button", name="Load an example").click()
        expect(tab.page.locator(".js-plotly-plot").nth(1)).to_be_visible(timeout=120_000)
        tab.settle()
    shutil.rmtree(served.runs, ignore_errors=True)

"""The locks: every package that set-up installs has the version that was chosen, and sums that pip checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^ ;]+)", re.M)
LOCKED = re.compile(
    r"^([\w.-]+)(?:\[[\w,-]+\])?==([^ ;]+)(?: ; (.+?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)
LOCKS = {"requirements.txt": "requirements.lock", "requirements-dev.txt": "requirements-dev.lock"}


def pins(name: str) -> dict[str, str]:
    """What a person chose."""
    text = (ROOT / name).read_text(encoding="utf-8")
    more = pins("requirements.txt") if "-r requirements.txt" in text else {}
    return more | {canonicalize_name(package): chosen for package, chosen in PIN.findall(text)}


def locked(name: str) -> dict[str, tuple[str, str]]:
    """What is installed, and where; of a package with a version for each Python, that of this one."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found, rows = {}, LOCKED.findall(text)
    for package, chosen, marker, _ in rows:
        if package not in found or Marker(marker).evaluate():
            found[str(canonicalize_name(package))] = (chosen, marker)
    entries = [line for line in text.splitlines() if line and line[0] not in " #"]
    assert len(rows) == len(entries), "an entry without a sum"
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_the_pins_and_what_they_need(name: str) -> None:
    lock = locked(LOCKS[name])
    wrong = {package: chosen for package, chosen in pins(name).items() if lock.get(package) != (chosen, "")}
    assert not wrong, "make lock"


def test_tests_run_with_the_packages_of_the_console() -> None:
    everything = locked("requirements-dev.lock")
    assert {package: everything.get(package) for package in locked("requirements.lock")} == locked("requirements.lock")


def test_what_is_installed_here_is_what_is_locked() -> None:
    wrong = {}
    for package, (chosen, marker) in locked("requirements-dev.lock").items():
        if not marker or Marker(marker).evaluate():
            try:
                installed = version(package)
            except PackageNotFoundError:
                installed = "nothing"
            if installed != chosen:
                wrong[package] = (installed, chosen)
    assert not wrong, "make setup-dev"


def test_pip_refuses_a_package_with_another_sum(tmp_path: Path) -> None:
    """As set-up calls it: the sum of a file decides, not its name and version."""
    import zipfile

    wheel = tmp_path / "thing-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("thing.py", "")
        packed.writestr("thing-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
        packed.writestr("thing-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr("thing-1.dist-info/RECORD", "")
    (tmp_path / "some.lock").write_text(f"thing==1 \\\n    --hash=sha256:{'0' * 64}\n")
    words = [sys.executable, "-m", "pip", "install", "--require-hashes", "--no-index", "--target", str(tmp_path / "in")]
    around = {**os.environ, "PIP_FIND_LINKS": str(tmp_path)}
    done = subprocess.run([*words, "-r", str(tmp_path / "some.lock")], env=around, capture_output=True, text=True)
    assert done.returncode != 0 and "DO NOT MATCH THE HASHES" in done.stderr
    setup = (ROOT / "scripts" / "setup.py").read_text(encoding="utf-8")
    container = (ROOT / "docs" / "deploy" / "Containerfile").read_text(encoding="utf-8")
    assert '"--require-hashes"' in setup and "--require-hashes -r requirements.lock" in container

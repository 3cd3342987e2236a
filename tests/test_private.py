"""What others on the machine see: masks, folders of older versions, shared folders, keys in environments."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.policy import private
from tests.source_code import ROOT

LOG = "2026-11-20 09:50:02.000 INFO msgId=0A42333A0DC818B4AAC246C290FD0000\n"
KEYS = {
    "ROCKETMQ_ACCESS_KEY": "canary-1",
    "ROCKETMQ_SECRET_KEY": "canary-2",
    "ROCKETMQ_SECURITY_TOKEN": "canary-3",
    "PROD_SECRET_KEY": "canary-4",
    "OIDC_CLIENT_SECRET": "canary-5",
    "STREAMLIT_SERVER_COOKIE_SECRET": "canary-6",
    "IDCORE_ALLOWED_PATHS": "https://ann:canary-7@example.com/logs",
}


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    mask, held, writes = os.umask(0o022), dict(os.environ), sys.dont_write_bytecode
    yield
    os.umask(mask)
    sys.dont_write_bytecode = writes
    private._taken.clear()
    os.environ.clear()
    os.environ.update(held)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def shared(path: Path) -> Path:
    path.mkdir()
    path.chmod(0o2770)
    return path


def test_the_folder_of_scans_is_its_users_alone_also_one_of_an_older_version(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    root.mkdir()
    root.chmod(0o755)
    private.begin(root)
    (root / "made").mkdir()
    (root / "made" / "run.json").write_text("{}")
    assert (mode(root), mode(root / "made"), mode(root / "made" / "run.json")) == (0o700, 0o700, 0o600)
    private.begin(tmp_path / "none yet")


def test_a_folder_that_is_meant_to_be_shared_stays_so(tmp_path: Path) -> None:
    root = shared(tmp_path / "runs")
    private.begin(root)
    (root / "made").mkdir()
    (root / "made" / "run.json").write_text("{}")
    assert (mode(root), mode(root / "made"), mode(root / "made" / "run.json")) == (0o2770, 0o2770, 0o660)
    for bits in (0o755, 0o777, 0o2755, 0o1777):
        (tmp_path / f"{bits:o}").mkdir()
        (tmp_path / f"{bits:o}").chmod(bits)
        assert not private.is_shared(tmp_path / f"{bits:o}")


def test_a_group_that_shares_scans_writes_no_bytecode_of_the_console(tmp_path: Path) -> None:
    """Python runs what is in `__pycache__`; a module that is first needed later made it with the mask of the group."""
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "__init__.py").write_text("")
    ask = "import subprocess, sys; from pathlib import Path; from idcore.policy import private\n"
    ask += "private.begin(Path(sys.argv[1])); import late\n"
    ask += "subprocess.run([sys.executable, '-c', 'import late'], env=private.child_environment(), check=True)"
    words = [sys.executable, "-c", ask, str(shared(tmp_path / "runs"))]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(tmp_path)])
    assert subprocess.run(words, env=kept, capture_output=True, text=True, cwd=tmp_path).stderr == ""
    assert not (tmp_path / "late" / "__pycache__").exists()


def test_keys_leave_the_environment_and_a_cluster_still_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (KEYS | {"AWS_SECRET_ACCESS_KEY": "of the input", "IDCORE_MEMBERS": "5"}).items():
        monkeypatch.setenv(name, value)
    private.begin()
    told = subprocess.run([sys.executable, "-c", "import os; print(dict(os.environ))"], capture_output=True, text=True)
    assert "canary-6" in told.stdout, "Streamlit reads it again; no child of ours has it"
    assert not any(f"canary-{number}" in told.stdout for number in range(1, 6)) and "of the input" in told.stdout
    child = private.child_environment()
    assert "canary" not in str(child) and child["IDCORE_MEMBERS"] == "5" and "AWS_SECRET_ACCESS_KEY" in child
    assert child["PYTHONSAFEPATH"] == "1"
    assert {name: private.environment()[name] for name in KEYS} == KEYS


@pytest.mark.parametrize("into", ["own", "shared"])
def test_what_the_command_line_writes_is_its_users_alone_or_of_the_group(tmp_path: Path, into: str) -> None:
    (tmp_path / "a.log").write_text(LOG)
    folder = shared(tmp_path / "shared") if into == "shared" else tmp_path
    out = folder / "out"
    words = [
        sys.executable,
        "-m",
        "idcore",
        "compare",
        str(tmp_path / "a.log"),
        str(tmp_path / "a.log"),
        "--out",
        str(out),
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wanted = (0o2770, {0o660}) if into == "shared" else (0o700, {0o600})
    assert (mode(out), {mode(path) for path in out.iterdir()}) == wanted

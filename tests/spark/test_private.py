"""Java and the workers of a scan: their files are their user's alone, and their environment has no key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from idcore.spark import session
from idcore.spark.start.archive import spark_home
from tests.source_code import ROOT
from tests.test_private import KEYS, LOG

SCAN = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from idcore.policy import private
private.begin(Path(sys.argv[1]))
from idcore.spark import job, session
job.scan([sys.argv[2]], sys.argv[1] + "/out", job.ScanOptions(at=datetime.now(UTC)))
import os
mine, found = {os.getpid()}, {}
for _ in range(4):  # children of children
    for one in Path("/proc").iterdir():
        if one.name.isdecimal() and (one / "stat").exists():
            parent = int((one / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in mine:
                mine.add(int(one.name))
for pid in mine - {os.getpid()}:
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("Umask"))
    found[pid] = [command[:200], Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace"), mask]
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="environments of processes are read from /proc")
def test_java_and_workers_have_no_key_in_their_environment(tmp_path: Path, java: None) -> None:
    (tmp_path / "a.log").write_text(LOG * 2_000)
    root = tmp_path / "runs"
    root.mkdir()
    words = [sys.executable, "-c", SCAN, str(root), str(tmp_path / "a.log")]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **KEYS}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    commands = " ".join(command for command, _, _ in found.values())
    assert "java" in commands and "daemon" in commands and len(found) >= 3
    assert not [command for command, environment, _ in found.values() if "canary" in environment]
    assert {mask for *_, mask in found.values()} == {"0077"}
    assert {path.stat().st_mode & 0o077 for path in [root, *root.rglob("*")]} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("begins", [["scan", "a.log", "--out", "out"], ["session", "start"]])
def test_no_module_of_the_folder_that_a_command_is_given_in_is_run(
    begins: list[str], tmp_path: Path, java: None
) -> None:
    (tmp_path / "a.log").write_text(LOG)
    for name in ("idcore", "numpy", "json"):  # as an archive of logs may bring them
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / 'run')!r}, 'a').write(__name__)\nraise ImportError\n"
        )
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [sys.executable, "-P", "-m", "idcore"]  # as the command of the package, whose path has no such folder
    done = subprocess.run([*command, *begins], cwd=tmp_path, env=variables, capture_output=True, text=True)
    subprocess.run([*command, "session", "stop"], cwd=tmp_path, env=variables, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_no_program_above_the_folder_that_a_command_is_given_in_is_run(tmp_path: Path, java: None) -> None:
    """PySpark takes a folder with these two names for Spark: an archive of logs may bring them."""
    here = tmp_path / "logs"
    for folder in (here, tmp_path / "jars", tmp_path / "bin"):
        folder.mkdir()
    (here / "a.log").write_text(LOG)
    (tmp_path / "bin" / "spark-submit").write_text(f"#!/bin/sh\necho >{tmp_path / 'run'}\nexit 1\n")
    (tmp_path / "bin" / "spark-submit").chmod(0o755)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_CONF_DIR": str(tmp_path)}  # which needs Spark's scripts
    command = [sys.executable, "-P", "-m", "idcore", "scan", "a.log", "--out", "out"]
    done = subprocess.run(command, cwd=here, env=variables, capture_output=True, text=True)
    assert not (tmp_path / "run").exists()
    assert done.returncode == 0, done.stderr


class Remote:
    """A session of a server."""

    def addArtifacts(self, *_: str, pyfile: bool) -> None:
        """Takes the package."""


def test_a_server_of_spark_that_is_started_here_is_that_of_pyspark_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PySpark starts one where `--remote` is `local`."""
    monkeypatch.setattr(os, "environ", {name: value for name, value in os.environ.items() if name != "SPARK_HOME"})
    found: list[str] = []

    def asks(_: SparkSession.Builder) -> Remote:
        found.append(_find_spark_home())
        return Remote()

    for folder in ("logs", "jars", "bin"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    monkeypatch.chdir(tmp_path / "logs")
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", asks)
    session._start(None, "local")
    assert found == [spark_home()]
    assert "SPARK_HOME" not in os.environ

"""What the session remembers: a Java that was missing, a start that failed. Starts no Spark."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from idcore.spark import session
from idcore.spark.start import jvm


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Java, and the place where its operator will install one."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr(jvm.shutil, "which", lambda _: None)
    monkeypatch.setattr(jvm.glob, "glob", lambda _: [])
    monkeypatch.delenv("IDCORE_SPARK_REMOTE", raising=False)
    monkeypatch.setattr(session, "_holder", session._Holder())
    return tmp_path / "jdk" / "bin" / "java"


def install(path: Path, version: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025' >&2\n")
    path.chmod(0o755)


def test_a_java_that_is_installed_later_is_found(no_java: Path) -> None:
    assert jvm.java() is None
    status = session.status()
    assert status.state == "no_java" and status.error is not None and jvm.GET_JAVA in str(status.error)
    install(no_java, "11.0.2")
    assert jvm.java() is None  # too old
    install(no_java, "21.0.1")
    os.utime(no_java, (time.time() + 5,) * 2)
    assert jvm.java() == jvm.Java(str(no_java), 21)
    assert session.status().state == "idle"


def test_a_start_that_failed_is_shown_and_may_be_tried_again(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(session.SparkError, match="Spark needs Java 17 or later, which was not found"):
        session.session("local[1]")
    told = session.status()
    assert told.state == "failed" and told.error is not None and told.error.code == "spark_java"
    install(no_java, "17.0.9")
    monkeypatch.setattr(session, "TRY_AGAIN", 0.0)
    assert session.status().state == "idle"


def test_the_python_of_workers_is_this_one_unless_the_operator_names_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDCORE_WORKER_PYTHON", raising=False)
    assert session.worker_python() == sys.executable
    monkeypatch.setenv("IDCORE_WORKER_PYTHON", "venv/bin/python")
    assert session.worker_python() == "venv/bin/python"

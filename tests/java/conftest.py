"""The referee's classes, compiled once a session against each release's jars; without Java and jars its tests skip."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.java import jars


@pytest.fixture(scope="session", autouse=True)
def java() -> None:
    problem = jars.missing()
    if problem and os.environ.get("CI") == "true":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory, java: None) -> dict[str, Path]:
    made = {}
    for release in jars.RELEASES:
        made[release] = tmp_path_factory.mktemp(f"classes-{release}")
        subprocess.run(
            [
                "javac",
                "-nowarn",
                "-encoding",
                "UTF-8",
                "-cp",
                f"{jars.folder(release)}/*",
                "-d",
                str(made[release]),
                str(jars.HERE / "Referee.java"),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
    return made

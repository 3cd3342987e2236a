"""The referee's classes, compiled once a session against each release's jars; without Java and jars its tests skip."""

from __future__ import annotations

import os
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
        jars.javac(release, made[release], jars.HERE / "Referee.java")
    return made

"""The real store, unpacked once a session, and a copy of it that a test may damage."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.store import CommitLog, Stored, StoreFolder
from tests.java import agent, jars

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


@pytest.fixture(scope="session")
def real_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(VECTORS / "store.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / "store"


@pytest.fixture
def real(real_root: Path) -> Iterator[StoreFolder]:
    with StoreFolder(real_root) as store:
        yield store


@pytest.fixture
def copy(real_root: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(real_root, tmp_path / "copy"))


@pytest.fixture(scope="session")
def real_records(real_root: Path) -> list[Stored]:
    return [found for found in CommitLog(real_root / "commitlog").walk() if isinstance(found, Stored)]


@pytest.fixture(scope="session")
def loopback_agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = jars.missing_server()
    if problem and os.environ.get("CI") == "true":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    return agent.loopback_agent(tmp_path_factory.mktemp("agent"))

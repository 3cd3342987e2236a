"""The real store, unpacked once a session, and a copy of it that a test may damage."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.rocketmq.store import CommitLog, Stored, StoreFolder
from tests.java import agent, jars
from tests.store.unpacked import real_store

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


@pytest.fixture(scope="session")
def real_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("real"))


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
    jars.need_server()
    return agent.loopback_agent(tmp_path_factory.mktemp("agent"))

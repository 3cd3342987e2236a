"""One real cluster for every test of this folder that asks for it: booted once, filled once, ended with the session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from idcore.lookup import LookupService
from tests.java import jars
from tests.remoting.boot import RealCluster


class Filled:
    """The cluster and what the Java client sent to it, each line with what mqadmin's own call showed afterwards."""

    def __init__(self, cluster: RealCluster, lines: list[dict[str, Any]]) -> None:
        self.cluster = cluster
        self.lines = lines

    def of(self, *kinds: str, topic: str | None = None) -> list[dict[str, Any]]:
        """The messages of some kinds."""
        return [line for line in self.lines if line["kind"] in kinds and topic in (None, line["topic"])]


@pytest.fixture(scope="session")
def service(real: Filled) -> Iterator[LookupService]:
    """Asks it with the right keys and the right certificate."""
    from tests.remoting.asking import desk_of, profile

    made = desk_of(profile(real))
    with made.cluster:
        yield made


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    jars.need_server()
    work: Path = tmp_path_factory.mktemp("cluster")
    cluster = RealCluster(work)
    try:
        cluster.start()
        cluster.send(work / "sent.jsonl")
        lines = [json.loads(line) for line in (work / "sent.jsonl").read_text(encoding="utf-8").splitlines()]
        yield Filled(cluster, lines)
    finally:
        cluster.stop()

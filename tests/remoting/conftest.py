"""The real clusters of this folder: each boots once, in the background of the tests before the first that wants one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.lookup import LookupService
from tests.java import jars
from tests.remoting.boot import OneBroker, Processes, RealCluster

# The fixtures that want a cluster, and which.
_WANTED = {
    "real": {"guarded"},
    "alone": {jars.SERVER, jars.OLD_SERVER},
    "current": {jars.SERVER},
    "old": {jars.OLD_SERVER},
}


class Filled:
    """The cluster and what the Java client sent to it, each line with what mqadmin's own call showed afterwards."""

    def __init__(self, cluster: RealCluster, lines: list[dict[str, Any]]) -> None:
        self.cluster = cluster
        self.lines = lines

    def of(self, *kinds: str, topic: str | None = None) -> list[dict[str, Any]]:
        """The messages of some kinds."""
        return [line for line in self.lines if line["kind"] in kinds and topic in (None, line["topic"])]


def filled(cluster: RealCluster) -> Filled:
    """Boots the guarded cluster and fills it."""
    cluster.start()
    file = cluster.work / "sent.jsonl"
    cluster.send(file)
    return Filled(cluster, [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()])


class Clusters:
    """What boots, by name; it may be stopped more than once."""

    def __init__(self, work: Path, wanted: set[str]) -> None:
        self._work, self._wanted = work, wanted
        self._all: list[Processes] = []
        self._booting: dict[str, Future[Any]] = {}
        self._pool = ThreadPoolExecutor(max(1, len(wanted)), "boot")

    def begin(self, *names: str) -> None:
        """Boots those of them that are wanted and have not begun."""
        for name in names:
            if name in self._booting or name not in self._wanted:
                continue
            cluster = RealCluster(self._work / name) if name == "guarded" else OneBroker(self._work / name, name)
            self._all.append(cluster)
            boot = partial(filled, cluster) if isinstance(cluster, RealCluster) else cluster.start
            self._booting[name] = self._pool.submit(boot)

    def ready(self, name: str) -> Any:
        """The cluster, once it has booted."""
        self.begin(name)
        return self._booting[name].result()

    def stop(self) -> None:
        """Ends every process, of a boot under way too."""
        for cluster in self._all:
            cluster.stop()
        self._pool.shutdown()


HERE = Path(__file__).resolve().parent
# Which clusters boot from which file on. Clients of one broker never rest, and take a third of a core each as long as
# they are there: they come when the tests of the guarded cluster begin, which last longer than their boot.
AHEAD = {"test_lookup.py": ["guarded"], "test_real.py": [jars.SERVER, jars.OLD_SERVER]}
_CLUSTERS = pytest.StashKey[tuple[Clusters, pytest.Item | None]]()


@pytest.fixture(scope="session")
def clusters(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """Those that the chosen tests want, until the last one that does."""
    of_tests = [
        (item, _WANTED.keys() & set(getattr(item, "fixturenames", ())))
        for item in request.session.items
        if HERE in item.path.parents
    ]
    wanted = {cluster for _, names in of_tests for name in names for cluster in _WANTED[name]}
    made = Clusters(tmp_path_factory.mktemp("clusters"), set() if jars.missing_server() else wanted)
    request.session.stash[_CLUSTERS] = made, next((item for item, names in reversed(of_tests) if names), None)
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def boot_ahead(request: pytest.FixtureRequest) -> None:
    """Begins the boot before a test wants to wait for it."""
    if request.path.parent == HERE and (names := AHEAD.get(request.path.name)):
        request.getfixturevalue("clusters").begin(*names)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """The clusters end with the last test that wants one: other tests want the machine."""
    made, last = item.session.stash.get(_CLUSTERS, (None, None))
    if made is not None and item is last:
        made.stop()


@pytest.fixture(scope="session")
def service(real: Filled) -> Iterator[LookupService]:
    """Asks it with the right keys and the right certificate."""
    from tests.remoting.asking import desk_of, profile

    made = desk_of(profile(real))
    with made.cluster:
        yield made


@pytest.fixture(scope="session")
def real(clusters: Clusters) -> Filled:
    """Several brokers with keys and certificates, filled."""
    jars.need_server()
    return clusters.ready("guarded")  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def current(clusters: Clusters) -> OneBroker:
    """One broker of 5.3.3 with its clients."""
    jars.need_server()
    return clusters.ready(jars.SERVER)  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def old(clusters: Clusters) -> OneBroker:
    """One broker of 4.9.7 with its clients."""
    jars.need_server()
    return clusters.ready(jars.OLD_SERVER)  # type: ignore[no-any-return]


@pytest.fixture(scope="session", params=[jars.SERVER, jars.OLD_SERVER])
def alone(clusters: Clusters, request: pytest.FixtureRequest) -> OneBroker:
    """Each of both."""
    jars.need_server()
    return clusters.ready(request.param)  # type: ignore[no-any-return]

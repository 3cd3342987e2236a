"""Scans that wait for their turn: in order, with their place, a small one not behind large ones. Starts no Spark."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from idcore.policy.access import WITHOUT_LOGIN, Visitor
from idcore.runs.runs import Runs
from idcore.spark import background, scan_queue
from idcore.spark.background import Job
from idcore.spark.job import ScanOptions

Begin = Callable[..., Job]


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, threading.Event]]:
    """Scans that end when a test says so, by the name of their file; one large one at a time."""
    made: dict[str, threading.Event] = {}

    def scan(paths: list[str], *_: Any) -> dict[str, int]:
        made[Path(paths[0]).name] = gate = threading.Event()
        assert gate.wait(30)
        return {"bytes": 0, "ids": 0}

    monkeypatch.setattr(background, "scan", scan)
    monkeypatch.setenv("IDCORE_SCANS", "1")
    yield made
    for gate in made.values():
        gate.set()


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    def started(name: str, size: int, visitor: Visitor = WITHOUT_LOGIN) -> Job:
        path = tmp_path / name
        with path.open("wb") as file:
            file.truncate(size)
        return background.start(Runs(tmp_path / "runs", visitor).create(name), [str(path)], ScanOptions())

    return started


def test_a_large_scan_waits_for_the_others_and_knows_its_place(
    gates: dict[str, threading.Event], begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begin("first", scan_queue.LARGE)
    until(lambda: "first" in gates)
    jobs = []
    for place, name in enumerate(("second", "third", "fourth"), 1):
        jobs.append(begin(name, scan_queue.LARGE))
        until(lambda: jobs[-1].progress().place == place)  # noqa: B023  called at once
        assert jobs[-1].progress().state == "waiting"
    begin("small", scan_queue.LARGE - 1)
    until(lambda: "small" in gates)  # a light one does not wait for them
    second, third, fourth = jobs
    second.cancel()
    assert second.wait(30).state == "cancelled" and second.run.state == "cancelled"
    until(lambda: (third.progress().place, fourth.progress().place) == (1, 2))
    gates["first"].set()
    assert first.wait(30).state == "done"
    until(lambda: "third" in gates)
    assert third.progress().place == 0 and "fourth" not in gates
    monkeypatch.setenv("IDCORE_SCANS", "2")
    until(lambda: "fourth" in gates)


def test_what_has_no_size_counts_as_large(tmp_path: Path) -> None:
    small = tmp_path / "a.log"
    small.write_bytes(b"x")
    assert scan_queue.of([str(small)], None) is scan_queue._small
    for paths, store in (([str(tmp_path)], None), (["s3://bucket/a.log"], None), ([str(small)], "/data/store")):
        assert scan_queue.of(paths, store) is scan_queue._large


@pytest.mark.parametrize("head", [b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08", b"BZh91AY&SY", b"PK\x03\x04", b"PAR1"])
def test_what_is_packed_counts_as_large(head: bytes, tmp_path: Path) -> None:
    """Four files of 8 MiB that unpack to 250 GiB each held every place of the small scans, and every core."""
    (tmp_path / "a.log").write_bytes(head + bytes(600))
    assert scan_queue.of([str(tmp_path / "a.log")], None) is scan_queue._large
    (tmp_path / "b.log").write_bytes("AC11".encode("utf-16"))
    assert scan_queue.of([str(tmp_path / "b.log")], None) is scan_queue._small


def test_one_person_does_not_have_all_places(gates: dict[str, threading.Event], begin: Begin) -> None:
    """Four packed files of 8 MiB that unpack for an hour held everybody's scans, and eight more waited before them."""
    ann, bob, eve = (Visitor(name, frozenset({"viewer"})) for name in ("ann", "bob", "eve"))
    own = [begin(f"ann-{number}", 1, ann) for number in range(6)]
    until(lambda: len(gates) == 2)
    begin("bob-0", 1, bob)
    begin("bob-1", 1, bob)
    until(lambda: {"bob-0", "bob-1"} <= gates.keys())
    late = begin("eve-0", 1, eve)
    until(lambda: late.progress().place == 1)  # the four of ann that came before have to wait
    assert len(gates) == 4 and sum(job.progress().place > 0 for job in own) == 4
    gates[next(name for name in gates if name.startswith("ann"))].set()
    until(lambda: "eve-0" in gates)
    assert len(gates) == 5
    for job in own:
        job.cancel()
    for gate in gates.values():
        gate.set()
    assert all(job.wait(30).state in ("done", "cancelled") for job in (*own, late))

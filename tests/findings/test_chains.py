"""Shared fingerprints, restarts and clocks that were set back, on the made logs of the scan's tests and on a grid."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from idcore.answers.findings.all_rules import Finding
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.findings.every_rule import find_all
from tests.scan import logs

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
OF_CHAINS = {"shared_fingerprint", "clock_back", "restart"}


def found(data: bytes, tmp_path: Path) -> list[Finding]:
    path = tmp_path / "x.log"
    path.write_bytes(data)
    tables = scan_local([str(path)], month_rows(AT, UTC))
    return [item for item in find_all(tables, AT, UTC) if item.code in OF_CHAINS]


@pytest.mark.parametrize("seed", range(4))
def test_honest_processes_are_accused_of_nothing(seed: int, tmp_path: Path) -> None:
    assert [item for item in found(logs.honest(seed).data, tmp_path) if item.severity == "error"] == []


@pytest.mark.parametrize("seed", range(4))
def test_processes_that_start_again_are_one_at_a_time(seed: int, tmp_path: Path) -> None:
    log = logs.restarts(seed)
    assert {(item.code, item.evidence["process"]["pid"], item.count) for item in found(log.data, tmp_path)} == {
        ("restart", pid, chains - 1) for pid, chains in log.chains.items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_every_shared_fingerprint_is_found(seed: int, tmp_path: Path) -> None:
    log = logs.shared(seed)
    got = [item for item in found(log.data, tmp_path) if item.code != "restart"]
    assert {(item.code, item.evidence["process"]["pid"], item.count) for item in got} == {
        ("shared_fingerprint", pid, tracks) for pid, tracks in log.tracks.items()
    }


def test_a_clock_that_was_set_back_is_no_second_process(tmp_path: Path) -> None:
    dice = random.Random(2)
    lines: list[str] = []
    steps = {}
    for pid, (seconds, rate, lost) in enumerate(product((1, 10, 600, 7_200), (5, 50), (0.0, 0.02, 0.3)), 1):
        before = logs.live(dice, rate, 500, start=dice.randrange(60_000), lost=lost)
        begin = int(before[-1][0] - seconds * 1_000 + 1_000 / rate)
        after = logs.live(dice, rate, 600, start=before[-1][1] + 1, elapsed=begin, lost=lost)
        lines += logs.text_of(dice, 0x0A000005, pid, logs.JAVA, before + after)
        steps[pid] = seconds
    got = defaultdict(set)
    for item in found(logs.joined(lines), tmp_path):
        got[item.evidence["process"]["pid"]].add(item.code)
        if item.code == "clock_back":
            told = item.evidence["back_seconds"]
            assert abs(told - steps[item.evidence["process"]["pid"]]) < 2
    assert all(codes == {"clock_back"} for codes in got.values())
    assert len(got) >= len(steps) - 2

"""Folded facts give the tables that the facts themselves give, cell for cell, however they came and were folded."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path

import pytest

from idcore.scan.crossing import Fact, What
from idcore.scan.facts import scan_task
from idcore.scan.folding import fold
from idcore.scan.months import month_rows
from idcore.scan.tables import Merge, Tables, combine
from idcore.sources.inputs import list_files, split_files
from tests.scan import logs, logs_of_dates, logs_of_pairs
from tests.scan.logs import AT
from tests.scan.test_look_alikes import KINDS, mixed

Write = Callable[..., str]
MONTHS = month_rows(AT, UTC)


def tables(facts: list[Fact], path: str) -> Tables:
    files = [(file.shown, file.size, file.error) for file in list_files([path])]
    return combine(Merge(MONTHS).tables(facts), files)


def facts_of(path: str, split: int) -> Iterator[list[Fact]]:
    """The facts of each task: a task is one split."""
    for one in split_files(list_files([path]), split):
        yield list(scan_task([one], MONTHS))


def folded(tasks: list[list[Fact]], chance: random.Random) -> list[Fact]:
    """As a scan that goes on folds them: what it has with what came since, now and then."""
    held: list[Fact] = []
    for facts in tasks:
        held += facts
        if chance.random() < 0.4:
            held = fold(held)
    return fold(held)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_folded_facts_give_the_same_tables(seed: int, on_disk: Write) -> None:
    several = [*logs.everything(seed), logs_of_pairs.copied(seed), logs_of_dates.dated(seed)]
    look_alikes = {kind: "\n".join(mixed(kind, 300)).encode() for kind in list(KINDS)[seed::2]}
    texts = {log.name: log.data for log in several} | look_alikes
    reasons = set()
    for name, data in texts.items():
        chance = random.Random(seed)
        path = on_disk(data)
        tasks = list(facts_of(path, max(300, len(data) // chance.choice([5, 20, 60]))))
        plain = [fact for facts in tasks for fact in facts]
        held = folded(tasks, chance)
        expected, found = tables(plain, path), tables(held, path)
        for table, rows in expected.items():
            assert found[table].equals(rows), (name, table)
        reasons |= set(expected["lookalikes"]["reason"].to_pylist())
        assert len(held) <= len({(fact.part, fact.what) for fact in plain})
    assert reasons >= {"label", "spread"}


def test_many_small_logs_tell_every_part_as_much_as_one(tmp_path: Path) -> None:
    """Every part of the merge gets it: of a million members of an archive it was 3 GB, when each told its own times."""
    line = "{}-03-11 08:00:00.000+00:00 sent msgId=0A0A0A0A303918B4AAC235370BFB0001\n"
    yearless = "Mar 11 20:57:46 web1 app: sent msgId=0A0A0A0B303918B4AAC237FF1D100001\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(300):
            archive.writestr(f"{number}.log", line.format(2023 + number % 3) + yearless * (number == 150))
    (facts,) = facts_of(str(tmp_path / "a.zip"), 1 << 30)
    assert sum(len(fact.data) for fact in facts if fact.what == What.SUMMARY) < 300
    rows = tables(facts, str(tmp_path / "a.zip"))["processes"].to_pylist()
    assert {row["host"]: row["month"] for row in rows}["10.10.10.11"] == "2023-03"  # as in its own log

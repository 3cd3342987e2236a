"""Merging a few parts at a time: whole parts, nothing lost, whatever fits in memory."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from idcore.base.errors import CoreError
from idcore.kernels.encode import PARTS
from idcore.scan import facts
from idcore.scan.batches import batches
from idcore.scan.crossing import Block, Fact, Refused, Report, What, fact_of, from_batches, reports_of, to_batch
from idcore.scan.facts import scan_task
from idcore.sources.inputs import list_files, split_files

MONTHS = np.array([[1_793_491_200_000, 1_771_200_000]], np.int64)


@pytest.mark.parametrize("held", [0, 100, 5_000, 1 << 20])
def test_every_fact_comes_once_and_parts_stay_whole(held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    rng = random.Random(held)
    made = [
        Fact(rng.randrange(64), rng.choice((What.IDS, What.RANGES, What.REPORT)), rng.randbytes(rng.randrange(200)))
        for _ in range(900)
    ]
    given = list(batches(iter(made), held))
    assert Counter(fact for _, batch in given for fact in batch) == Counter(made)
    parts = [{fact.part for fact in batch} for _, batch in given]
    assert sum(map(len, parts)) == len(set().union(*parts)), "a part was cut"
    assert [first for first, _ in given] == [min(own) for own in parts] == sorted(first for first, _ in given)
    assert held < 1 << 20 or len(given) == 1
    assert not list(tmp_path.iterdir()), "what did not fit in memory was left behind"


def test_a_task_with_many_processes_packs_them_before_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "MOST_KEYS", 500)
    log = tmp_path / "sparse.log"
    ids = [f"0A{n:06X}00FF18B4AAC2{n:08X}0001" for n in range(100_000)]
    log.write_text("\n".join(ids) + "\n")
    packed = [fact for fact in scan_task(split_files(list_files([str(log)]), 1 << 30), MONTHS) if fact.what == What.IDS]
    assert len(packed) > PARTS, "all was held until the end"
    assert sum(int(Block.unpack(fact.data).distinct.sum()) for fact in packed) == len(ids)


def test_what_crosses_arrives_as_it_was() -> None:
    refused = Refused("port", 3, "0A" * 16, 1 << 40), Refused("version", 1, "0B" * 17, 0)
    sent = [
        Report(7, 1 << 40, 12),
        Report(0, 0, 0, refused, CoreError("said", {"why": "no\nsuch file"}), "a.tar\nb", (0, 5)),
    ]
    facts = [fact_of(sent), Fact(63, What.RANGES, bytes(range(256))), Fact(-1, What.SUMMARY, b"")]
    arrived = list(from_batches([to_batch(facts), to_batch(facts[:1])]))
    assert arrived == [*facts, facts[0]] and all(type(fact.what) is What for fact in arrived)
    assert reports_of(arrived[0].data) == sent
    assert [report.closes_split for report in sent] == [True, False]


@pytest.mark.parametrize("brokers", [0, 2])
def test_a_block_of_ids_is_the_same_when_it_is_unpacked(brokers: int) -> None:
    words, four = np.arange(6, dtype=np.uint64).reshape(2, 3), np.array([4, 5], np.uint32)
    beside = np.arange(brokers, dtype=np.uint8)
    lengths = four if brokers else np.zeros(2, np.uint32)
    made = Block(words, four, four + 1, np.arange(9, dtype=np.uint8), words[:brokers] + 1, lengths, beside, brokers)
    for one, other in zip(made, Block.unpack(made.pack()), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))

"""An index is a file of strangers: what one key leads to has a bound, and what is left out is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from idcore.answers.lookup import index_walk
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.answers.lookup.ways import Way
from idcore.base.layout import INDEX_ENTRY, INDEX_HEADER
from idcore.rocketmq.store import StoreFolder
from idcore.rocketmq.store.commitlog import CommitLog
from idcore.rocketmq.store.index import key_hash, key_of
from idcore.simulate.writer import StoreWriter
from tests.store.test_damage import CLOCK, record

pytestmark = pytest.mark.quick


def with_chain(root: Path, offsets: list[int]) -> Path:
    """A store of two records whose only index file is one chain of the key k0, the last offset first."""
    with StoreWriter(root) as writer:
        for number in range(2):
            writer.put(record(number), 1_795_000_000_000)
    shutil.rmtree(root / "index")
    (root / "index").mkdir()
    hashed, count = key_hash(key_of("T", "k0")), len(offsets)
    entries = [INDEX_ENTRY.struct.pack(hashed, offset, 0, place) for place, offset in enumerate(offsets)]
    header = INDEX_HEADER.struct.pack(1_795_000_000_000, 1_795_000_000_000, offsets[0], offsets[-1], 1, count + 1)
    raw = header + count.to_bytes(4, "big") + bytes(INDEX_ENTRY.size) + b"".join(entries)
    (root / "index" / "20261125000000000").write_bytes(raw)
    return root


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The offsets that were looked at."""
    look, at = CommitLog.look, list[int]()

    def noted(log: CommitLog, offset: int) -> object:
        at.append(offset)
        return look(log, offset)

    monkeypatch.setattr(CommitLog, "look", noted)
    return at


def told(facts: object) -> bool:
    return "index_cut" in [fact.code for fact in facts]  # type: ignore[attr-defined]


def test_of_entries_that_lead_to_nothing_few_are_looked_at(tmp_path: Path, looked: list[int]) -> None:
    with StoreFolder(with_chain(tmp_path / "s", [7 * at + 1 for at in range(5_000)])) as store:
        listing = StoreLookup(store, CLOCK).list_messages(Way(kind="key", topic="T", key="k0"))
        assert told(listing.evidence) and listing.cut == "failed" and len(listing.copies) == 0
        answer = StoreLookup(store, CLOCK, trace_topics=()).one("k0", "T", True, True)
        assert told(answer.evidence)
        assert StoreEvidence(store).records_of("k0") == ([], False)
    assert len(looked) < 4 * index_walk.MOST_WRONG


def test_who_goes_ends_the_walk(tmp_path: Path, looked: list[int]) -> None:
    with StoreFolder(with_chain(tmp_path / "s", [7 * at + 1 for at in range(100)])) as store:
        StoreLookup(store, CLOCK).one("k0", "T", stop=lambda: len(looked) >= 5)
    assert len(looked) < 20


@pytest.mark.parametrize(("name", "most", "found"), [("MOST_STEPS", 2, 0), ("MOST_BYTES", 1, 1)])
def test_a_long_chain_and_many_records_are_cut(
    name: str, most: int, found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StoreFolder(with_chain(tmp_path / "s", [0, 1 << 40, 1 << 41] if not found else [1 << 40, 0])) as store:
        uncut = StoreLookup(store, CLOCK).one("k0", "T")
        assert len(uncut.copies) == 1 and not told(uncut.evidence), "with room all of it is followed"
        monkeypatch.setattr(index_walk, name, most)
        answer = StoreLookup(store, CLOCK, searched_most=0).one("k0", "T")
        assert len(answer.copies) == found and told(answer.evidence)

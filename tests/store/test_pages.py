"""A store a page at a time: every record of a queue and of a file comes once, in order, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.rocketmq.store import Blank, Miss, Stored, StoreFolder
from idcore.rocketmq.store.pages import find_file, find_queue, of_file, of_queue, page_before
from tests.store.unpacked import real_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreFolder]:
    with StoreFolder(real_store(tmp_path_factory.mktemp("store"))) as opened:
        yield opened


def test_the_pages_of_a_queue_are_its_places_in_order(store: StoreFolder) -> None:
    queue = find_queue(store, "VectorTopic", 0)
    assert queue is not None and queue.span is not None
    begin, end = queue.span
    places, at = [], begin
    while entries := of_queue(store, queue, at, 7):
        for entry in entries:
            assert isinstance(entry.found, Stored) and entry.found.offset == entry.offset
            assert entry.found.record.queue_offset == entry.queue_offset
            assert (entry.found.record.topic, entry.found.record.queue_id) == ("VectorTopic", 0)
            places.append(entry.queue_offset)
        at += 7
    assert places == list(range(begin, end)) and len(places) > 7
    assert of_queue(store, queue, end, 7) == [] and of_queue(store, queue, begin - 5, 1)[0].queue_offset == begin
    assert find_queue(store, "VectorTopic", 99) is None and find_queue(store, "../x", 0) is None


def test_the_pages_of_a_file_are_its_records_in_order_and_back(store: StoreFolder) -> None:
    file = find_file(store, f"{0:020d}")
    assert file is not None and find_file(store, "../commitlog") is None
    wanted = [step.offset for step in store.log.walk(file.start, file.end)]
    offsets, starts, at = [], [], file.start
    next_at: int | None = at
    while next_at is not None:
        starts.append(next_at)
        entries, next_at = of_file(store, file, next_at, 500)
        offsets += [entry.offset for entry in entries]
    assert offsets == wanted and len(starts) > 3
    assert isinstance(entries[-1].found, Blank), "the padding at the end is a place of its own"
    assert [page_before(store, file, start, 500) for start in starts[1:]] == starts[:-1]
    assert page_before(store, file, file.start, 500) == file.start


def test_an_offset_inside_a_record_leads_to_the_next_one(store: StoreFolder) -> None:
    file = store.log.files[0]
    entries, _ = of_file(store, file, 100, 2)
    assert [entry.offset for entry in entries] == [246, 583]


def test_a_place_whose_record_is_gone_says_why(tmp_path: Path) -> None:
    folder = real_store(tmp_path)
    (folder / "commitlog" / f"{0:020d}").unlink()
    with StoreFolder(folder) as opened:
        queue = find_queue(opened, "VectorTopic", 0)
        assert queue is not None and queue.span is not None
        (entry,) = of_queue(opened, queue, queue.span[0], 1)
        assert isinstance(entry.found, Miss) and entry.found.reason == "before_minimum" and entry.offset is not None

"""The real broker opens a store of the lab: commit log files of one page, every step in it, every id served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from idcore.presentation.lab import Story
from idcore.presentation.lab.story import STEPS
from idcore.presentation.lab.world import BROKERS, SIZES, play
from idcore.rocketmq.message import decode_record, decode_records
from tests.store.real_broker import LONG_MOST, QUERY, VIEW, RealBroker

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.long(first=1)
@pytest.mark.parametrize("name", BROKERS)
def test_the_broker_serves_every_record_of_the_lab_by_both_ids(tmp_path: Path, name: str, loopback_agent: Path) -> None:
    told = play(Story.of(".".join(STEPS)), tmp_path / "stores")
    store = tmp_path / "stores" / name
    (store / "broker.conf").write_text(SIZES.broker_conf)
    rows = [row for row in told.rows if row.broker == name and row.record is not None]
    assert len(rows) > 10 and any(row.code == "roll" for row in told.rows)
    broker = RealBroker(tmp_path / "work", store, loopback_agent)
    try:
        for row in rows:
            assert row.record is not None
            head, raw = broker.ask(VIEW, offset=row.record.physical_offset)
            assert head["code"] == 0, head
            assert decode_record(raw) == row.record
            if row.record.uniq_id is None:
                continue
            unique: dict[str, Any] = {"_UNIQUE_KEY_QUERY": "true"}
            head, raw = broker.ask(
                QUERY,
                topic=row.record.topic,
                key=row.record.uniq_id,
                maxNum=64,
                beginTimestamp=0,
                endTimestamp=LONG_MOST,
                **unique,
            )
            assert head["code"] == 0, (head, row.code)
            assert row.offset_msg_id in {str(record.offset_id) for record in decode_records(raw)}
    finally:
        broker.kill()

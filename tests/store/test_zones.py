"""Ids of producers in any zone, looked up in a store: none is called expired that may be younger than the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from idcore.answers.lookup import StoreLookup
from idcore.ids import Clock
from idcore.rocketmq.store import StoreFolder
from idcore.simulate.writer import StoreWriter
from tests.remoting.test_lookup import HALF_AN_HOUR, SERVER_NOWS, made_at
from tests.store.test_damage import SMALL, record

KEPT = timedelta(days=3)


def view(tmp_path: Path, now: datetime, text: str, source: str = "assumed") -> tuple[str | None, datetime]:
    with StoreWriter(tmp_path / "s", SMALL) as writer:
        writer.put(record(0), round((now - KEPT).timestamp() * 1000))
    with StoreFolder(tmp_path / "s", SMALL.slots) as store:
        answer = StoreLookup(store, Clock(now, UTC, source)).one(text)  # type: ignore[arg-type]
        latest = answer.figures.get("sent_at_latest", answer.figures["sent_at"])
        return answer.reason, datetime.fromisoformat(latest)


@pytest.mark.parametrize("hours", [8, 13, 0, -10])
@pytest.mark.parametrize("now", SERVER_NOWS.values(), ids=SERVER_NOWS)
def test_an_id_half_an_hour_old_is_not_called_expired(now: datetime, hours: int, tmp_path: Path) -> None:
    reason, sent_at = view(tmp_path, now, made_at(now - HALF_AN_HOUR, hours))
    assert reason == "unknown" and now - timedelta(hours=1) < sent_at <= now


@pytest.mark.parametrize("hours", [8, 13, 0, -10])
@pytest.mark.parametrize("source", ["assumed", "given"])
def test_an_id_a_week_older_than_the_store_is_expired(hours: int, source: str, tmp_path: Path) -> None:
    now = SERVER_NOWS["in_the_month"]
    assert view(tmp_path, now, made_at(now - KEPT - timedelta(days=7), hours), source)[0] == "expired"
    assert view(tmp_path / "b", now, made_at(now - HALF_AN_HOUR, hours), source)[0] == "unknown"

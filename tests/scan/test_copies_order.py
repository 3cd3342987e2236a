"""Offset ids of one id stand by broker and offset, however few or many there are and in whatever order they came."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.scan.local import scan_local
from idcore.scan.months import month_rows

MONTHS = month_rows(datetime(2026, 11, 22, tzinfo=UTC), UTC)


@pytest.mark.parametrize("split_size", [1 << 20, 3_000])
@pytest.mark.parametrize("in_turn", [True, False], ids=["in-turn", "shuffled"])
def test_by_broker_and_offset(tmp_path: Path, in_turn: bool, split_size: int) -> None:
    rng = random.Random(3)
    wanted: dict[str, list[str]] = {}
    lines = []
    for number, copies in enumerate([2, 3, 15, 16, 17, 40, 2, 90] * 4):
        msg_id = f"0A0000010001{0x18B4AAC2:08X}{1_000_000 + number:08X}{number:04X}"
        offsets = [
            f"0A00000{rng.randrange(1, 4)}00002A9F{offset:016X}" for offset in rng.sample(range(100, 1 << 40), copies)
        ]
        wanted[msg_id] = sorted(offsets)
        mine = [f"msgId={msg_id}, offsetMsgId={offset}\n" for offset in offsets]
        lines += mine
    if not in_turn:
        rng.shuffle(lines)
    (tmp_path / "log").write_text("".join(lines))
    rows = scan_local([str(tmp_path / "log")], MONTHS, split_size)["copies"].to_pylist()
    assert {row["msg_id"]: row["offset_msg_ids"].split(",") for row in rows} == wanted
    assert all(row["lines"] == len(wanted[row["msg_id"]]) for row in rows)

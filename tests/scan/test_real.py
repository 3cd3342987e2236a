"""The scan of a log that real clients wrote, against what the programs that drove them counted."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.scan import twin
from tests.scan.comparing import differences

VECTORS = Path(__file__).parents[1] / "vectors"
AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
TRUTH = json.loads((VECTORS / "real.truth.json").read_text())
Write = Callable[..., str]

# The truth counts by label (what stands behind msgId=, UNIQ_KEY=, ... is a uniq id), the scan by bytes. The application
# gave three kinds of keys of its own as msgId, 15 times each, which the truth lists as processes of one id:
LOWER = "3f2504e04f8911d39a0c0305e82c3301"  # "pid 20361 loader 11d39a0c": all lower case, refused
SHAPED = {
    "127.0.0.1:21853": 0,
    "10.11.12.13:10911": 0x12345,
}  # "pid 0 loader 555D0000", "pid 0 loader 2A9F0000": offsets
# and one that reads as a uniq id for both ("pid 65535 loader 18B4AAC2").


@pytest.fixture(scope="module")
def log() -> bytes:
    return gzip.decompress((VECTORS / "real.log.gz").read_bytes())


@pytest.mark.long(first=1)
@pytest.mark.parametrize("split", [700, 65_536, 1 << 30])
def test_the_counts_are_those_of_the_truth(split: int, log: bytes, on_disk: Write) -> None:
    path = on_disk(log, "real.log")
    found = scan_local([path], month_rows(AT, UTC), split)
    total = TRUTH["total"]
    processes = found["processes"].to_pylist()
    brokers = {row["address"]: row for row in found["brokers"].to_pylist()}

    uniq = sum(row["ids"] for row in processes)
    offsets = sum(row["ids"] for row in brokers.values())
    (refused,) = found["refused"].to_pylist()
    assert (refused["reason"], refused["ids"], refused["sample"]) == ("lower_case", 15, LOWER)
    assert uniq + offsets + refused["ids"] == 10_538
    assert total["uniq_id_occurrences"] + total["offset_id_occurrences"] == 10_538
    assert uniq == total["uniq_id_occurrences"] - 15 - 2 * 15
    assert offsets == total["offset_id_occurrences"] + 2 * 15
    assert sum(row["distinct"] for row in processes) == total["uniq_ids_distinct"] - 1 - 2

    assert set(brokers) == {*TRUTH["brokers"], *SHAPED}
    (address, distinct), *none = TRUTH["brokers"].items()
    assert not none
    assert (brokers[address]["distinct"], brokers[address]["ids"]) == (distinct, total["offset_id_occurrences"])
    for shaped, place in SHAPED.items():
        row = brokers[shaped]
        assert (row["ids"], row["distinct"], row["min_offset"], row["max_offset"]) == (15, 1, place, place)

    expected = {}
    for name, distinct in TRUTH["uniq_ids_distinct_by_pid_and_loader"].items():
        pid, loader = re.findall(r"pid (\d+) loader (\w+)", name)[0]
        if loader not in ("11d39a0c", "555D0000", "2A9F0000"):
            expected[int(pid), loader] = distinct
    assert {(row["pid"], row["loader"]): row["distinct"] for row in processes} == expected
    assert all(row["tracks"] == row["chains"] == 1 for row in processes)


def test_every_table_equals_the_twin(log: bytes, on_disk: Write) -> None:
    path = on_disk(log, "real.log")
    assert differences(scan_local([path], month_rows(AT, UTC), 40_000), twin.tables({path: log}, UTC, AT)) == []


def test_lines_of_three_zones_give_months_and_zones(log: bytes, on_disk: Write) -> None:
    """prodA ran at +08:00 and prodB in UTC: consumers print when their messages were born. Of prodC, in New York, only
    the month is known; a month that began in summer time there is read as in the zone of the scan."""
    path = on_disk(log, "real.log")
    for split in (5_000, 1 << 30):
        found = {r["pid"]: r for r in scan_local([path], month_rows(AT, UTC), split)["processes"].to_pylist()}
        zones = {pid: (row["zone"], row["zone_source"], row["month"]) for pid, row in found.items()}
        assert zones == {
            27515: ("+08:00", "born", "2026-11"),
            29489: ("+00:00", "born", "2026-11"),
            26894: ("+00:00", "born", "2026-11"),
            30683: ("+00:00", "assumed", "2026-11"),
            65535: (None, None, None),
        }
        assert datetime(2026, 11, 21, 1, 50, 13, tzinfo=UTC) < found[27515]["first_sent_at"]
        assert found[27515]["last_sent_at"] < datetime(2026, 11, 21, 1, 50, 21, tzinfo=UTC)

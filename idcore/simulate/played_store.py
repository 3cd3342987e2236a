"""A store folder after a small cluster's traffic: messages of every kind, and groups with known progress."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from idcore.rocketmq.message import Host
from idcore.simulate.append import Settings
from idcore.simulate.broker import Broker
from idcore.simulate.consumption import Consumption
from idcore.simulate.dialects import CURRENT, Line
from idcore.simulate.traffic import Traffic
from idcore.simulate.writer import StoreWriter

NAME = "example-store"  # the one that a page shows
DEAD_LETTER = "0A14030C33B514DAD5DC623D8A4F0006"  # a message of it that a group failed to consume
CONTENT = (1000, 5, 7, datetime(2026, 10, 20, 1, 50, tzinfo=UTC), UTC)  # messages, groups, seed, start, zone


def example(root: Path) -> dict[str, Path]:
    """Writes the store of the example below a folder; it, by its name."""
    write(root / NAME, *CONTENT)
    return {NAME: root / NAME}


def write(
    folder: Path,
    messages: int,
    groups: int,
    seed: int,
    start: datetime,
    zone: tzinfo,
    *,
    settings: Settings | None = None,
    line: Line = CURRENT,
) -> dict[str, Any]:
    """Writes it with the settings that a broker needs to open it, and gives what is in it, for truth.json."""
    settings = settings or Settings()
    with StoreWriter(folder, settings, zone, line) as writer:
        broker = Broker(writer, Host(bytes((10, 20, 0, 5)), 10911))
        traffic = Traffic(broker, seed, start, zone)
        traffic.play(messages)
        consumption = Consumption(traffic, groups)
        consumption.play()
        broker.write_offsets(consumption.offsets)
        consumption.write(folder)
    (folder / "broker.conf").write_text(settings.broker_conf, encoding="utf-8")
    return {**traffic.truth(), **consumption.truth()}

"""A store folder after a small cluster's traffic: messages of every kind, and groups with known progress."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class PlayedStore:
    """How many messages and groups, from which seed and when, in the zone and the files of which broker."""

    messages: int
    groups: int
    seed: int
    start: datetime
    zone: tzinfo
    settings: Settings = field(default_factory=Settings)
    line: Line = CURRENT

    def write(self, folder: Path) -> dict[str, Any]:
        """Writes it with the settings that a broker needs to open it, and gives what is in it, for truth.json."""
        with StoreWriter(folder, self.settings, self.zone, self.line) as writer:
            broker = Broker(writer, Host(bytes((10, 20, 0, 5)), 10911))
            traffic = Traffic(broker, self.seed, self.start, self.zone)
            traffic.play(self.messages)
            consumption = Consumption(traffic, self.groups)
            consumption.play()
            broker.write_offsets(consumption.offsets)
            consumption.write(folder)
        (folder / "broker.conf").write_text(self.settings.broker_conf, encoding="utf-8")
        return {**traffic.truth(), **consumption.truth()}


# What a page shows to those who have no store folder, and a message of it that a group failed to consume.
NAME = "example-store"
EXAMPLE = PlayedStore(1000, 5, 7, datetime(2026, 10, 20, 1, 50, tzinfo=UTC), UTC)
DEAD_LETTER = "0A14030C33B514DAD5DC623D8A4F0006"

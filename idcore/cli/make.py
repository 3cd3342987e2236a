"""`make ids` and `make log`: writes what a scenario tells, and beside it truth.json. Invents nothing itself."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from idcore.ids.clock import parse_instant, zone_text
from idcore.ids.scenario import Scenario

# Not "now": without --start, too, the same seed has to give the same bytes.
_START = datetime(2026, 11, 20, 9, 50)
_ZONE = timezone(timedelta(hours=8))
TRUTH = "truth.json"


def run_ids(options: argparse.Namespace) -> int:
    """Writes ids, one a line."""
    scenario, head = _scenario(options, options.count)
    lines = scenario.ids(options.count)
    if options.out is None:
        for line in lines:
            sys.stdout.write(line + "\n")
        return 0
    written = _write(options.out, lines)
    _tell(options.out, {"made_by": "make ids", **head, "lines": options.count, "bytes": written, **scenario.truth()})
    return 0


def run_log(options: argparse.Namespace) -> int:
    """Writes a log."""
    scenario, head = _scenario(options, options.lines)
    written = _write(options.out, scenario.log(options.lines))
    _tell(options.out, {"made_by": "make log", **head, "lines": options.lines, "bytes": written, **scenario.truth()})
    return 0


def _scenario(options: argparse.Namespace, size: int) -> tuple[Scenario, dict[str, Any]]:
    zone = options.zone or _ZONE
    start = parse_instant(options.start, zone) if options.start else _START.replace(tzinfo=zone)
    head = {"seed": options.seed, "start": start.isoformat(), "zone": zone_text(start.astimezone(zone).utcoffset())}
    return Scenario(options.seed, start, zone, size), head


def _write(path: Path, lines: Iterable[str]) -> int:
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            written += len(line.encode()) + 1
    return written


def _tell(path: Path, truth: dict[str, Any]) -> None:
    text = json.dumps(truth, indent=1, ensure_ascii=False)
    path.with_name(TRUTH).write_text(text + "\n", encoding="utf-8")

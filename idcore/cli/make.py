"""`make ids`, `log`, `store`, `incident`: writes what was asked for, and next to it truth.json. Invents nothing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any

from idcore.base.safe_text import json_text
from idcore.cli.parser import TRUTH, Usage
from idcore.ids.clock import parse_instant, zone_text
from idcore.simulate import incidents
from idcore.simulate.incidents import Incident
from idcore.simulate.scenario import Scenario

# Not "now": without --start, too, the same seed has to give the same bytes.
_START = datetime(2026, 11, 20, 9, 50)
_ZONE = timezone(timedelta(hours=8))


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


def run_store(options: argparse.Namespace) -> int:
    """Writes a store folder, and into it the settings that a broker needs to open it."""
    from idcore.simulate.append import BROKER_DEFAULTS, Settings
    from idcore.simulate.dialects import LINES
    from idcore.simulate.played_store import PlayedStore

    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        raise Usage(f"{options.out} exists and is not an empty folder")
    if options.situation is not None:
        return _run_situation(options)
    if options.messages is None:
        raise Usage("the following arguments are required: --messages, or --situation")
    zone, start = _start(options)
    settings = BROKER_DEFAULTS if options.broker_sizes else Settings()
    numbers = (options.messages, options.groups, options.seed)
    made = PlayedStore(*numbers, start, zone, settings, LINES[options.broker]).write(options.out)
    _tell(options.out, {"made_by": "make store", "broker": options.broker, **_head(options, start, zone), **made})
    return 0


def _run_situation(options: argparse.Namespace) -> int:
    """Writes a store with one situation in it; truth.json names the findings that are true of it."""
    from idcore.answers.findings.all_rules import RULES
    from idcore.simulate import situations

    _check_name("situation", options.situation, options.variant, situations.STORIES)
    if options.messages is not None or options.groups or options.broker_sizes or options.broker != "5.3":
        raise Usage("--situation has messages and groups of its own: give none of the other options of a store")
    zone, start = _start(options)
    situation = situations.Situation(options.situation, options.variant, options.seed, start, zone)
    situation.write(options.out)
    severities = {code: rule.severity for code, rule in RULES.items()}
    _tell(options.out, {"made_by": "make store", **_head(options, start, zone), **situation.truth(severities)})
    return 0


def _check_name(kind: str, name: str, variant: str | None, stories: Mapping[str, Collection[str]]) -> None:
    """Whether an incident or a situation, and its variant, exist."""
    if name not in stories:
        raise Usage(f"unknown {kind} {name}; choose one of {', '.join(sorted(stories))}")
    if variant and variant not in stories[name]:
        raise Usage(f"{name} has no variant {variant}; choose from {', '.join(stories[name])}")


def run_incident(options: argparse.Namespace) -> int:
    """Writes a log with one incident in it; truth.json names the findings that are true of it."""
    _check_name("incident", options.name, options.variant, incidents.STORIES)
    from idcore.answers.findings.all_rules import RULES

    zone, start = _start(options)
    incident = Incident(options.name, options.variant, options.seed, start, zone)
    lines = 0

    def counted() -> Iterator[str]:
        nonlocal lines
        for line in incident.lines():
            lines += 1
            yield line

    written = _write(options.out, counted())
    _tell(
        options.out,
        {
            "made_by": "make incident",
            **_head(options, start, zone),
            "lines": lines,
            "bytes": written,
            **incident.truth({code: rule.severity for code, rule in RULES.items()}),
        },
    )
    return 0


def _scenario(options: argparse.Namespace, size: int) -> tuple[Scenario, dict[str, Any]]:
    zone, start = _start(options)
    return Scenario(options.seed, start, zone, size), _head(options, start, zone)


def _start(options: argparse.Namespace) -> tuple[tzinfo, datetime]:
    zone = options.zone or _ZONE
    return zone, _START.replace(tzinfo=zone) if options.start is None else parse_instant(options.start, zone)


def _head(options: argparse.Namespace, start: datetime, zone: tzinfo) -> dict[str, Any]:
    return {"seed": options.seed, "start": start.isoformat(), "zone": zone_text(start.astimezone(zone).utcoffset())}


def _write(path: Path, lines: Iterable[str]) -> int:
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            written += len(line.encode()) + 1
    return written


def _tell(path: Path, truth: dict[str, Any]) -> None:
    text = json_text(truth, indent=1)
    path.with_name(TRUTH).write_text(text + "\n", encoding="utf-8")

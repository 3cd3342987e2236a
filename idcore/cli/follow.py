"""`python -m idcore follow`: a scan that goes on until Ctrl-C, drawn on a terminal or as JSON Lines. Counts nothing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from idcore.base.errors import CoreError
from idcore.base.safe_text import printable
from idcore.cli.parser import Usage
from idcore.cli.worker_thread import aside, interruptible
from idcore.ids.identify import case_of

if TYPE_CHECKING:
    from idcore.spark.follow import FollowStatus

DONE, NOT_DONE = 0, 3
_PATIENCE = 60.0  # seconds that the last refresh may take
Show = Any


@interruptible()
def run(options: argparse.Namespace) -> int:
    """Exit status 0 ended, 3 could not go on."""
    from idcore.spark.follow import Follower, was_followed
    from idcore.spark.job import FollowOptions, ScanOptions

    if options.out.exists() and not was_followed(options.out):
        raise Usage(f"{options.out} exists, and nothing was followed into it; choose another folder")
    scan = ScanOptions(
        zone=options.zone,
        zone_source=options.zone_source,
        at=options.at if options.as_of else None,
        case=case_of(options.case, options.lookalikes),
        master=options.master,
    )
    asked = FollowOptions(scan, options.since, options.kept) if options.kept else FollowOptions(scan, options.since)
    as_table = options.format == "table" if options.format else sys.stdout.isatty()
    try:
        with _shown(options, as_table) as show:
            follower = Follower(options.paths, options.out, asked, show)
            summary = aside("follow", follower.run, lambda over: over.wait(_PATIENCE))
    except CoreError as problem:
        print(f"idcore: {printable(' '.join(str(problem).split()))}", file=sys.stderr)
        return NOT_DONE
    except Exception as error:
        from idcore.spark.job import problem_of

        raise CoreError("scan_failed", {"why": problem_of(error)}) from error
    if as_table:
        from idcore.presentation.terminal import scans

        print("\n".join(scans.summary(summary, options.out, options.lang)))
    return DONE


@contextmanager
def _shown(options: argparse.Namespace, as_table: bool) -> Iterator[Show]:
    """What is called with each refresh."""
    if not as_table:
        seen: set[str] = set()
        yield lambda now: print(json.dumps(_line(now, options, seen)), flush=True)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from idcore.base.catalogue import words
    from idcore.presentation.terminal import live

    spoken = words(options.lang)
    with Live(
        Text(spoken("follow.starting")), console=Console(), auto_refresh=False, vertical_overflow="ellipsis"
    ) as on:
        yield lambda now: on.update(Text("\n".join(live.lines(now.summary, options.out, spoken))), refresh=True)


def _line(now: FollowStatus, options: argparse.Namespace, seen: set[str]) -> dict[str, Any]:
    """The counts of a refresh, and its findings; `new` are those that no line before has named."""
    from idcore.presentation.terminal import scans

    summary = now.summary or {}
    findings = scans.findings(options.out, options.lang)
    names = {json.dumps([each["code"], each["subject"]]): each for each in findings}
    fresh = [each for name, each in names.items() if name not in seen]
    seen |= names.keys()
    counts = (
        "ids",
        "distinct",
        "text_bytes",
        "files",
        "refused",
        "lookalikes",
        "processes",
        "hosts",
        "brokers",
        "clients",
        "seconds",
    )
    standing = {name: summary["follow"][name] for name in ("as_of", "behind", "is_cut", "away")}
    return standing | {name: summary[name] for name in counts} | {"findings": summary["findings"], "new": fresh}

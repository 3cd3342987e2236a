"""`compare`: which ids of one input are not in another, by producer and broker. Counts nothing itself."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from idcore.base.safe_text import printable
from idcore.cli.parser import Usage
from idcore.scan.compare import Difference, Unread, compare

DONE, SOME_UNREADABLE = 0, 1
_SIDES = ("before", "after")
_SHOWN = 40
NO_PROOF = "this does not prove that every message arrived"
NO_LOSS = "an ID missing from an input was not logged there; this alone does not prove that a message was lost"


def run(options: argparse.Namespace) -> int:
    """Exit status 0 done, 1 some input could not be read."""
    problems: list[Unread] = []
    with ExitStack() as stack:
        told = None
        if options.out is not None:
            if options.out.exists():
                raise Usage(f"{options.out} exists; choose a new folder")
            options.out.mkdir(parents=True)
            files = {
                side: stack.enter_context((options.out / f"only_{side}.txt").open("w", encoding="ascii"))
                for side in _SIDES
            }

            def told(side: str, ids: Sequence[str]) -> None:
                files[side].writelines(f"{one}\n" for one in ids)

        rows = compare([options.before], [options.after], options.case == "any", told, problems)
    if options.format == "json":
        for row in rows:
            print(json.dumps(row.values | {"missing": row.missing, "new": row.new}))
    else:
        print(describe(rows))
    for name, problem in dict.fromkeys(problems):
        print(f"idcore: {printable(f'{name}: {problem}')}", file=sys.stderr)
    return SOME_UNREADABLE if problems else DONE


def describe(rows: Sequence[Difference]) -> str:
    """Totals by kind, and the producers, clients and brokers that differ."""
    lines = []
    for kind, name in (("uniq", "msgId"), ("client", "5.x msgId"), ("offset", "offsetMsgId")):
        mine = [row for row in rows if row.kind == kind]
        if mine:
            before, after, both = (sum(getattr(row, side) for row in mine) for side in ("before", "after", "both"))
            lines.append(
                f"{name}: {before:,} in the first, {after:,} in the second; {before - both:,} only in the first,"
                f" {after - both:,} only in the second"
            )
    if not lines:
        return "no IDs in either input"
    differing = [row for row in rows if row.missing or row.new]
    if not differing:
        return "\n".join([*lines, f"both inputs contain the same IDs; {NO_PROOF}"])
    columns = ["", "first", "second", "only first", "only second", "example"]
    cells = [
        [
            row.subject,
            *(f"{count:,}" for count in (row.before, row.after, row.missing, row.new)),
            (row.only_before or row.only_after)[0],
        ]
        for row in differing[:_SHOWN]
    ]
    widths = [max(len(line[place]) for line in [columns, *cells]) for place in range(len(columns))]
    lines += ["", *("  ".join(_aligned(line, widths)).rstrip() for line in [columns, *cells])]
    if len(differing) > _SHOWN:
        lines.append(f"and {len(differing) - _SHOWN:,} more")
    lines += ["", NO_LOSS]
    return "\n".join(lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    last = len(line) - 1
    return [
        cell.ljust(width) if place in (0, last) else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]

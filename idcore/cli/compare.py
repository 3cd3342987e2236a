"""`compare`: which ids of one input are not in another, by producer and broker. Counts nothing itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC

from idcore.base.catalogue import words
from idcore.base.open_folders import own_file
from idcore.cli.complaint import complain, complain_of_missing
from idcore.cli.parser import Usage, read_clock
from idcore.operations.texts import COMPARED, comparison_items
from idcore.presentation.export import csv_of_rows, json_lines, to_stream
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import comparisons
from idcore.presentation.triage.compared import SIDES, Compared, OneSided, dated, tables_of_paths
from idcore.scan.compare import Unread, compare
from idcore.scan.months import month_rows

DONE, SOME_UNREADABLE = 0, 1


def run(options: argparse.Namespace) -> int:
    """Exit status 0 done, 1 some input could not be read."""
    paths = [options.before, options.after]
    if complain_of_missing(paths, any):  # before a folder is made
        return SOME_UNREADABLE
    if options.at and not options.zone:
        raise Usage("--at goes with --zone")
    at, zone, _ = read_clock(options)
    problems: list[Unread] = []
    exact = OneSided() if options.zone else None
    with ExitStack() as stack:
        told = None
        if options.out is not None:
            if options.out.exists():
                raise Usage(f"{options.out} exists; choose a new folder")
            options.out.mkdir(parents=True)
            files = {
                side: stack.enter_context(
                    open(options.out / f"only_{side}.txt", "w", encoding="ascii", opener=own_file)
                )
                for side in SIDES
            }

            def told(side: str, ids: Sequence[str]) -> None:
                files[side].writelines(f"{one}\n" for one in ids)

        rows = compare(paths[:1], paths[1:], options.case == "any", told, problems, exact)
    if options.format == "table":
        comparison = Compared(tuple(rows), {side: [] for side in SIDES}, ())
        if exact is not None:
            tables = tables_of_paths(paths, month_rows(at, zone, "given"), options.case == "any")
            comparison = dated(comparison, exact, [tables, tables])
        print("\n".join(comparisons.comparison(comparison, Reader(words(), zone if options.zone else UTC))))
    else:
        items = comparison_items(rows, not problems, words())
        to_stream(
            csv_of_rows(items, [one.name for one in COMPARED]) if options.format == "csv" else json_lines(items),
            sys.stdout,
        )
    for name, problem in dict.fromkeys(problems):
        complain(f"{name}: {problem}")
    return SOME_UNREADABLE if problems else DONE

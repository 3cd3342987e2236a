"""`compare`: which ids of one input are not in another, by producer and broker. Counts nothing itself."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC

from idcore.base.catalogue import words
from idcore.base.safe_text import printable
from idcore.cli.parser import Usage
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import comparisons
from idcore.presentation.triage.compared import SIDES, Compared
from idcore.scan.compare import Unread, compare

DONE, SOME_UNREADABLE = 0, 1


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
                for side in SIDES
            }

            def told(side: str, ids: Sequence[str]) -> None:
                files[side].writelines(f"{one}\n" for one in ids)

        rows = compare([options.before], [options.after], options.case == "any", told, problems)
    if options.format == "json":
        for row in rows:
            print(json.dumps(row.values | {"missing": row.missing, "new": row.new}))
    else:
        found = Compared(tuple(rows), {side: [] for side in SIDES}, ())
        print("\n".join(comparisons.comparison(found, Reader(words(), UTC))))
    for name, problem in dict.fromkeys(problems):
        print(f"idcore: {printable(f'{name}: {problem}')}", file=sys.stderr)
    return SOME_UNREADABLE if problems else DONE

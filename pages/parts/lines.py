"""The lines of a run's own input in which given ids stand: the first of each. Reads no more than a bound."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

from idcore.runs import Run

MOST_BYTES = 256 << 20  # of input that is searched for a line: a fraction of a second each id
MOST_LINES = 6
MOST_LENGTH = 400


def around(run: Run, ids: Sequence[str]) -> list[str]:
    """The first line of each id, with its file; empty where the input is not kept in the run, or is packed."""
    found: list[str] = []
    wanted = list(dict.fromkeys(ids))[:MOST_LINES]
    left = MOST_BYTES
    for path in sorted(run.input_folder.iterdir()):
        size = path.stat().st_size
        if not size or left <= 0 or not wanted:
            continue
        left -= size
        with path.open("rb") as file, mmap.mmap(file.fileno(), min(size, MOST_BYTES), access=mmap.ACCESS_READ) as text:
            for token in list(wanted):
                place = text.find(token.encode())
                if place < 0:
                    continue
                wanted.remove(token)
                start = text.rfind(b"\n", max(0, place - MOST_LENGTH), place) + 1 or max(0, place - MOST_LENGTH)
                end = text.find(b"\n", place)
                line = text[start : min(end if end >= 0 else size, start + 2 * MOST_LENGTH)]
                found.append(f"{path.name[4:]}: {line.decode(errors='replace').strip()}")
    return found

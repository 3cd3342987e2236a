"""The scan without Spark, in one process: the same kernels, facts and merge. For tests and for reading how it works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from idcore.sources.inputs import list_files, list_store, split_files
from idcore.sources.line_range import LineRange

from .facts import scan_task
from .months import Months
from .tables import Merge, Tables, combine


def scan_local(
    paths: Sequence[str],
    months: Months | np.ndarray,
    split_size: int = 256 << 20,
    case: str = "strict",
    store: bool = False,
    together: int = 1,
    between: LineRange | None = None,
) -> Tables:
    """The tables of the files, or of a store folder; `together` splits are a task, `between` chooses lines."""
    files = list_store(paths[0]) if store else list_files(paths)
    files = [replace(file, between=between) for file in files]
    splits = list(split_files(files, split_size))
    tasks = [splits[first : first + together] for first in range(0, len(splits), together)]
    facts = [fact for task in tasks for fact in scan_task(task, months, case)]
    return combine(Merge(months).tables(facts), [(file.shown, file.size, file.error) for file in files], store)

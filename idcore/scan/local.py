"""The scan without Spark, in one process: the same kernels, facts and merge. For tests and for reading how it works."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from idcore.sources.inputs import list_files, list_store, split_files

from .facts import scan_task
from .months import Months
from .tables import Merge, Tables, combine


def scan_local(
    paths: Sequence[str],
    months: Months | np.ndarray,
    split_size: int = 256 << 20,
    any_case: bool = False,
    store: bool = False,
) -> Tables:
    """The tables of the files, or of a store folder; every split is a task of its own."""
    files = list_store(paths[0]) if store else list_files(paths)
    facts = [fact for split in split_files(files, split_size) for fact in scan_task([split], months, any_case)]
    return combine(Merge(months).tables(facts), [(file.shown, file.size, file.error) for file in files], store)

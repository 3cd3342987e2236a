"""The table `retries` of a store: how many tries of each group failed in each minute. Counts the copies they left.

A retry copy with the number n shows that the try before it failed. A copy that waits and the one that it becomes are
of the same failure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from idcore.lookup.copies import group_in
from idcore.message.model import DLQ_PREFIX
from idcore.message.validators import SCHEDULE_TOPIC
from idcore.scan.fates import Rows, texts_of
from idcore.scan.kernels import fates as kernel
from idcore.scan.schemas import SCHEMAS
from idcore.spark.attempts import LAST_TIME

LED_TO = ("retry", "dead_letter")
_TOPIC, _KEY, _REAL, _, _POPPED = range(kernel.COPY_TEXTS, kernel.COPY_TEXTS + 10, 2)
_MINUTE_MS = 60_000


def table(copies: Rows, homes: Sequence[str]) -> pa.Table:
    """One row for each group, minute and kind of copy that a failure led to. `homes`: topics that producers send to."""
    groups, group, is_dead = _groups(copies, homes)
    time, tries = copies.rows[:, kernel.COPY_TIME], copies.rows[:, kernel.COPY_TRIES]
    key = texts_of(copies, _KEY).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    of_one = np.stack([group, is_dead, key, np.where(is_dead, 0, tries)], axis=1)
    order = np.lexsort((time, *of_one.T[::-1]))
    first = np.ones(len(order), bool)
    first[1:] = (of_one[order][1:] != of_one[order][:-1]).any(axis=1)
    kept = order[first]
    kept = kept[(group[kept] >= 0) & (time[kept] >= 0) & (time[kept] < LAST_TIME)]
    counted = pa.table({
        "group": pa.array(groups, pa.string()).take(pa.array(group[kept])),
        "minute": pa.array(time[kept] // _MINUTE_MS * _MINUTE_MS * 1_000).cast(SCHEMAS["retries"].field("minute").type),
        "led_to": pa.array(LED_TO, pa.string()).take(pa.array(is_dead[kept])),
        "tries": tries[kept],
    })  # fmt: skip
    summed = counted.group_by(["group", "minute", "led_to"]).aggregate([("tries", "count"), ("tries", "max")])
    made = summed.rename_columns(SCHEMAS["retries"].names).cast(SCHEMAS["retries"])
    return made.sort_by([(name, "ascending") for name in made.column_names[:3]]).combine_chunks()


def _groups(copies: Rows, homes: Sequence[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The groups, the number of that of each copy or -1, and whether the copy is a dead letter."""
    codes, names = [], []
    for column in (_TOPIC, _REAL):
        found = texts_of(copies, column).combine_chunks().dictionary_encode()
        names.append([each.decode("utf-8", "replace") for each in found.dictionary.to_pylist()])
        codes.append(found.indices.to_numpy().astype(np.int64))
    case = (codes[0] * len(names[1]) + codes[1]) * 2 + (copies.rows[:, _POPPED + 1] > 0)
    cases, which = np.unique(case, return_inverse=True)
    groups: dict[str, int] = {}
    of_case = np.full((len(cases), 2), -1, np.int64)
    for at, number in enumerate(cases.tolist()):
        of, goal = names[0][number // 2 // len(names[1])], names[1][number // 2 % len(names[1])]
        if name := group_in(of, goal, bool(number % 2), homes):
            is_dead = (goal if of == SCHEDULE_TOPIC else of).startswith(DLQ_PREFIX)
            of_case[at] = groups.setdefault(name, len(groups)), is_dead
    chosen = of_case[which]
    return list(groups), chosen[:, 0], chosen[:, 1]

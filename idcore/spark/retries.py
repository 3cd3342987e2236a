"""The table `retries` of a store: how many attempts of each group failed in each minute. Counts the copies they left.

A retry copy with the number n shows that the attempt before it failed. A copy that waits and the one that it becomes
are of the same failure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from idcore.answers.lookup.copies import group_in
from idcore.ids.clock import MINUTE_MS
from idcore.rocketmq.message.model import DLQ_PREFIX
from idcore.rocketmq.message.validators import SCHEDULE_TOPIC
from idcore.scan.growing import LAST_TIME
from idcore.scan.ordering import begins_of, numbered, order_of
from idcore.scan.schemas import SCHEMAS
from idcore.sources.copies import CopyKind

LED_TO = ("retry", "dead_letter")


def table(which: Sequence[CopyKind], copies: np.ndarray, homes: Sequence[str]) -> pa.Table:
    """One row for each group, minute and kind of copy that a failure led to. `homes`: topics that producers send to."""
    groups, of_which = _groups(which, homes)
    group, is_dead = of_which[copies["which"]].T
    time, tries = copies["time"], copies["tries"]
    _, key = numbered([copies["key"], copies["key_2"]])
    of_one = [group, is_dead, key, np.where(is_dead, 0, tries)]
    order = order_of([*of_one, time])
    kept = order[begins_of([column[order] for column in of_one])]
    kept = kept[(group[kept] >= 0) & (time[kept] >= 0) & (time[kept] < LAST_TIME)]
    counted = pa.table(
        {
            "group": pa.array(groups, pa.string()).take(pa.array(group[kept])),
            "minute": pa.array(time[kept] // MINUTE_MS * MINUTE_MS * 1_000).cast(
                SCHEMAS["retries"].field("minute").type
            ),
            "led_to": pa.array(LED_TO, pa.string()).take(pa.array(is_dead[kept])),
            "tries": tries[kept],
        }
    )
    summed = counted.group_by(["group", "minute", "led_to"]).aggregate([("tries", "count"), ("tries", "max")])
    table = summed.rename_columns(SCHEMAS["retries"].names).cast(SCHEMAS["retries"])
    return table.sort_by([(name, "ascending") for name in table.column_names[:3]]).combine_chunks()


def _groups(which: Sequence[CopyKind], homes: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The groups; and of each kind of copy the number of its group or -1, and whether they are dead letters."""
    groups: dict[str, int] = {}
    group_and_death = np.full((len(which), 2), -1, np.int64)
    for at, each in enumerate(which):
        if name := group_in(each.topic, each.real, each.popped, homes):
            is_dead = (each.real if each.topic == SCHEDULE_TOPIC else each.topic).startswith(DLQ_PREFIX)
            group_and_death[at] = groups.setdefault(name, len(groups)), is_dead
    return list(groups), group_and_death

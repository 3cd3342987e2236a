"""Clocks that were set back, found in the counters: one counter that goes on while elapsed falls. Words nothing.

In (elapsed, counter) order a clock that was set back looks like a second process: two rising counters side by side. In
the order of the counter alone the two differ. After a step of the clock the counter goes on where it was, and all ids
make one counter in which the time falls. Two processes do not fit together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from idcore.answers.findings import limits
from idcore.answers.findings.processes import Processes
from idcore.ids.rules import COUNTER_WRAP

_REACH = 1024  # between two points of a process whose ids are not all points


@dataclass(frozen=True, slots=True)
class Step:
    """Elapsed fell: rows of `counters` before and after, and by how much; 0 for a new month."""

    before: int
    after: int
    back_ms: int


def _by_counter(processes: Processes, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a process in the order of one counter that runs through all its chains, and that counter."""
    points = processes.points(at)
    chain, position, counter = (processes.columns[name][points] for name in ("chain", "position", "counter"))
    elapsed = processes.time[points]
    running = np.empty(len(chain), np.int64)
    first_times = running_first = None
    for number in np.unique(chain):
        mine = np.flatnonzero(chain == number)
        running[mine] = counter[mine[0]] - position[mine[0]] + position[mine]
        if first_times is None:
            first_times, running_first = elapsed[mine], running[mine]
            continue
        # A later chain is laid where its first id comes nearest to what the first chain had reached by then.
        assert running_first is not None
        reached = running_first[max(0, int(np.searchsorted(first_times, elapsed[mine[0]])) - 1)]
        running[mine] += round((reached - running[mine[0]]) / COUNTER_WRAP) * COUNTER_WRAP
    order = np.argsort(running, kind="stable")
    return points.start + order, running[order]


def _in_order(rows: np.ndarray, running: np.ndarray, elapsed: np.ndarray, least: int, widest: int) -> list[Step] | None:
    """Steps of the clock in ids that are in the order of their counter; None where they are not one counter."""
    fall = np.flatnonzero(elapsed[:-1] - elapsed[1:] > least) + 1
    if not len(fall):
        return []
    if len(fall) * limits.IDS_PER_CLOCK_STEP > len(rows) + limits.IDS_PER_CLOCK_STEP:
        return None
    steps = []
    for k in fall.tolist():
        back = int(elapsed[k - 1] - elapsed[k])
        if not 1 <= running[k] - running[k - 1] <= widest:
            return None
        if back > limits.MONTH_FALL_MS:
            steps.append(Step(int(rows[k - 1]), int(rows[k]), 0))
            continue
        near = elapsed[max(0, k - limits.CLOCK_STEP_IDS) : k + limits.CLOCK_STEP_IDS]
        if k < limits.CLOCK_STEP_IDS or k + limits.CLOCK_STEP_IDS > len(rows) or (np.diff(near) < -least).sum() > 1:
            continue  # late threads and lone ids go up and down; a step is one fall between two rises
        if elapsed[k : k + limits.CLOCK_STEP_IDS].max() < elapsed[k - 1]:
            steps.append(Step(int(rows[k - 1]), int(rows[k]), back))
    return steps


def of_chains(processes: Processes, at: int, least: int) -> list[Step] | None:
    """Steps that make one process of several chains; None where the chains are not one counter."""
    rows, running = _by_counter(processes, at)
    if not len(rows) or (np.diff(running) < 1).any():
        return None
    widest = limits.CONTINUES if processes.whole[at] else _REACH
    return _in_order(rows, running, processes.time[rows], least, widest) or None


def span(processes: Processes, at: int) -> int:
    """How many values one counter, which runs through all chains of a process, passed from its first id to its last."""
    _, running = _by_counter(processes, at)
    return int(running[-1] - running[0]) + 1 if len(running) else 0


def of_one_chain(processes: Processes, which: np.ndarray, least: np.ndarray) -> dict[int, list[Step]]:
    """Steps inside processes of one chain. `least`: by how much, by process."""
    rows = processes.rows(which)
    group = np.repeat(np.arange(len(which)), (processes.stop - processes.start)[which])
    position = processes.columns["position"][rows]
    order = np.lexsort((position, group))
    rows, group, position = rows[order], group[order], position[order]
    elapsed = processes.time[rows]
    fallen = np.zeros(len(rows), bool)
    fallen[1:] = (group[1:] == group[:-1]) & (elapsed[:-1] - elapsed[1:] > least[which][group[1:]])
    steps_of = {}
    for number in np.unique(group[fallen]).tolist():
        low, high = np.searchsorted(group, [number, number + 1])
        at = int(which[number])
        part = slice(int(low), int(high))
        steps = _in_order(rows[part], position[part], elapsed[part], int(least[at]), _REACH)
        if steps and any(step.back_ms for step in steps):
            steps_of[at] = [step for step in steps if step.back_ms]
    return steps_of


def before_month(processes: Processes, official: np.ndarray) -> dict[int, np.ndarray]:
    """Rows with a time before the month, of processes that have several of them with counters near one another."""
    rows = np.flatnonzero(processes.elapsed < 0)
    owner = processes.owners(rows)
    places = {}
    for at in np.unique(owner[owner >= 0]).tolist():
        mine = rows[owner == at]
        counters = np.sort(processes.columns["counter"][mine])
        if official[at] and (np.diff(counters) <= _REACH).sum() + 1 >= limits.BEFORE_MONTH_IDS:
            places[at] = mine
    return places


def held_at_zero(processes: Processes, counted: np.ndarray) -> dict[int, np.ndarray]:
    """Rows with elapsed 0, of processes that have more of them than a timer at midnight explains."""
    rows = np.flatnonzero(processes.elapsed == 0)
    owner = processes.owners(rows)
    count = np.bincount(owner[owner >= 0], minlength=len(processes))
    many = np.flatnonzero((count >= limits.ZERO_RUN) & counted)
    return {at: rows[owner == at] for at in many.tolist()}

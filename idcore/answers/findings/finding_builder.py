"""Findings of many processes at once: the largest are listed, the rest counted. Does not decide what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from idcore.answers.findings.model import Finding, rest
from idcore.answers.findings.processes import Processes


def largest_findings(
    processes: Processes,
    mask: np.ndarray,
    code: str,
    make: Callable[[int], Finding | None],
    count: np.ndarray | None = None,
    severity: str | None = None,
) -> Iterator[Finding]:
    """Findings of the processes of a mask, the largest in full, as many as are listed; the rest is counted."""
    weight = processes["ids"] if count is None else count
    places = np.flatnonzero(mask)
    if not len(places):
        return
    places = places[np.argsort(-weight[places], kind="stable")]
    listed = processes.listed.among((code, severity), weight[places])
    processes.keep_rows(places[:listed].tolist())
    for at in places[:listed].tolist():
        finding = make(at)
        if finding is not None:
            yield finding
    left = places[listed:]
    if len(left):
        yield rest(code, len(left), int(weight[left].sum()), severity)


def of_process(processes: Processes, at: int, code: str, count: int | None = None, **more: Any) -> Finding:
    """A finding about one process: its name, its key, when it was seen, its first and last id where none are given."""
    subject, key, when = processes.describe(at)
    when |= more.pop("when", {}) | {name: more.pop(name) for name in ("certainty",) if name in more}
    evidence = {**more, **key, "ids": more.get("ids") or processes.ends(at)}
    return Finding.of(code, subject, int(processes["ids"][at]) if count is None else int(count), evidence, **when)

"""Findings of many processes at once: the largest are listed, the rest counted. Does not decide what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from idcore.answers.findings.model import Finding, rest
from idcore.answers.findings.processes import Processes


def each(
    processes: Processes,
    mask: np.ndarray,
    code: str,
    make: Callable[[int], Finding | None],
    count: np.ndarray | None = None,
    lighter: str | None = None,
) -> Iterator[Finding]:
    """Findings of the processes of a mask, the largest in full, as many as are listed; the rest is counted."""
    weight = processes["ids"] if count is None else count
    places = np.flatnonzero(mask)
    if not len(places):
        return
    places = places[np.argsort(-weight[places], kind="stable")]
    listed = processes.listed.among((code, lighter), weight[places])
    for at in places[:listed].tolist():
        figures = make(at)
        if figures is not None:
            yield figures
    left = places[listed:]
    if len(left):
        yield rest(code, len(left), int(weight[left].sum()), lighter)


def of_process(processes: Processes, at: int, code: str, count: int | None = None, **more: Any) -> Finding:
    """A finding about one process: its name, its key, when it was seen, its first and last id where none are given."""
    subject, key, when = processes.describe(at)
    options = {name: more.pop(name) for name in ("certainty", "lighter") if name in more}
    when |= more.pop("when", {})
    evidence = {**more, **key, "ids": more.get("ids") or processes.ends(at)}
    return Finding.of(
        code, subject, int(processes["ids"][at]) if count is None else int(count), evidence, **when, **options
    )

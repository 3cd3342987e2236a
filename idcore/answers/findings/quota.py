"""Which subjects of a code are listed: the largest of a scan, however it is cut into pieces. Judges nothing."""

from __future__ import annotations

import numpy as np

from idcore.answers.findings.limits import MOST_SUBJECTS

Kind = tuple[str, str | None]


class FindingQuota:
    """The weights of the largest subjects so far, by code and severity: no other is written in full."""

    def __init__(self) -> None:
        self._weights: dict[Kind, np.ndarray] = {}

    def among(self, kind: Kind, weights: np.ndarray) -> int:
        """How many of these, the heaviest first, are among the heaviest of the scan so far; of equals the earlier."""
        before = self._weights.get(kind, np.zeros(0, np.int64))
        both = np.concatenate([before, weights[:MOST_SUBJECTS]])
        first = np.argsort(-both, kind="stable")[:MOST_SUBJECTS]
        self._weights[kind] = both[first]
        return int((first >= len(before)).sum())

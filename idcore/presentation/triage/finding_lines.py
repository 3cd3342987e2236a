"""The log lines of findings, with file and number: by an index where there is one, else by places of the findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.registry import rules
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.presentation.triage import file_names, finding_rows, line_filter, lines
from idcore.presentation.triage.finding_rows import Kind, Part, Row, evidence_of
from idcore.presentation.triage.lines import NumberedLine
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import Allowed, Index

MOST_LINES = 8  # log lines of a finding
FIRST_OF_KIND, LINES_OF_EACH = 3, 2  # findings of a kind with lines, and how many of each at least
BEFORE = 2  # lines in front of an id that may show why: what was not sent failed there


def rows_of(part: Part) -> list[Row]:
    """The findings of a card whose log lines are shown: one, or the first of a kind, of gaps the widest."""
    if not isinstance(part, Kind):
        return [part[1]]
    widest = [row for _, row in finding_rows.widest_first(part.rows)]
    return (widest or [row for _, row in part.rows])[:FIRST_OF_KIND]


def lines_before(row: Row) -> int:
    """How many lines in front of an id of a finding belong to it."""
    return BEFORE if "failed_sends" in rules()[str(row["code"])].lines else 0


def ids_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """The IDs of some findings: a large index of lines is read once for all of them."""
    evidence = [evidence_of(row) for row in rows]
    ids = (text for one in evidence for text in (*line_filter.ids_of(one), *filter(None, _sides(one))))
    return tuple(dict.fromkeys(ids))


def _sides(evidence: FindingEvidence) -> tuple[str | None, str | None]:
    """The IDs on both sides of the widest gap."""
    return evidence.gap_after, evidence.gap_before


@dataclass(frozen=True, slots=True)
class LogLines:
    """Those of one scan; `allowed` is asked before a file is opened, and raises PermissionError."""

    run: Run
    index: Index | None
    allowed: Allowed
    rows: Mapping[str, np.ndarray] = field(default_factory=dict)  # of the index, by ID, where they are known

    def of_finding(self, row: Row, words: Words, most: int = MOST_LINES, missing: str = "") -> tuple[str, str]:
        """What they are called, and the lines of the evidence in the order of the log; empty where none is at hand.

        `missing`: what stands between both sides of the widest gap, which are then among the lines.
        """
        below, above = self._of_sides(row) if missing else ([], [])
        others = [line for line in self._found(row) if line not in below + above]
        key = "findings.numbered" if len(others) <= most else "findings.numbered_part"
        name = words(key, n=f"{most:,}", all=f"{len(others):,}") if others or below else ""
        return name, as_text(below, above, others[:most], f"… {missing}")

    def of_kind(self, kind: Kind, words: Words) -> tuple[str, str]:
        """The same of the first findings of a kind, a few lines of each."""
        first = rows_of(kind)
        numbered = {line for row in first for line in self._first_of(row)}
        key = "findings.numbered_widest" if finding_rows.widest_first(kind.rows) else "findings.numbered_first"
        name = words(key, n=len(first), count=len(first)) if numbered else ""
        return name, lines.as_text(sorted(numbered, key=lambda line: (line.file, line.number)))

    def _first_of(self, row: Row) -> list[NumberedLine]:
        """A few lines of a finding: of a gap the ID that ends it, and what stands in front of that."""
        evidence = evidence_of(row)
        if evidence.gap_before and (ends := self._of_ids([evidence.gap_before], evidence, lines_before(row))):
            return ends
        return self._found(row)[: max(LINES_OF_EACH, lines_before(row) + 1)]

    def sides(self, row: Row) -> tuple[str, str]:
        """The lines of the IDs on both sides of the widest gap; empty where it has none, or not both are at hand."""
        below, above = map(lines.as_text, self._of_sides(row))
        return below, above

    def _of_sides(self, row: Row) -> tuple[list[NumberedLine], list[NumberedLine]]:
        evidence = evidence_of(row)
        after, before = _sides(evidence)
        if not after or not before:
            return [], []
        below, above = self._of_ids([after], evidence), self._of_ids([before], evidence)
        return (below, above) if below and above else ([], [])

    def _found(self, row: Row) -> list[NumberedLine]:
        evidence = evidence_of(row)
        return self._of_ids(line_filter.ids_of(evidence), evidence, lines_before(row))

    def _of_ids(self, ids: Sequence[str], evidence: FindingEvidence, before: int = 0) -> list[NumberedLine]:
        if self.index is not None and ids:
            try:
                known = self.rows if self.rows.keys() >= set(ids) else self.index.rows_of(ids)
                rows = np.unique(np.concatenate([known[text] for text in ids]))
                names = file_names.names_of(self.run)
                told = {(names(one["file"]), one["line"]) for one in evidence.places if "byte" not in one}
                is_told = (lambda file, line: (names(file), line) in told) if told else None
                found = lines.indexed(self.index, rows, before, self.allowed, evidence.label or "", is_told)
                return [replace(line, file=names(line.file)) for line in found]
            except (CoreError, PermissionError):  # its file changed, or is not allowed any more: Lines says so
                return []
        wanted = {text.upper() for text in ids}
        places = [place for place in evidence.places if str(place["id"]).upper() in wanted]
        return lines.numbered(self.run, places, before)


def as_text(
    below: Sequence[NumberedLine], above: Sequence[NumberedLine], others: Sequence[NumberedLine], missing: str
) -> str:
    """Both sides of a gap and the other lines as one text; what is missing is below the last line before the gap.

    In two files, or turned round, both sides have no order: they come first.
    """
    if not below or not above:
        return lines.as_text(others)
    place = lambda line: (line.file, line.number)  # noqa: E731
    if below[-1].file != above[0].file or place(below[-1]) >= place(above[0]):
        texts = [lines.as_text(below), missing, lines.as_text(above), *(["…", lines.as_text(others)] if others else [])]
        return "\n".join(texts)
    every = sorted({*below, *above, *others}, key=place)
    at = every.index(below[-1]) + 1
    return "\n".join([lines.as_text(every[:at]), missing, lines.as_text(every[at:])])

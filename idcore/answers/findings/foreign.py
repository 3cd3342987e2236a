"""Findings from who generated the ids: clients other than the official one, the start of C++ ones. Reads no counter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.finding_builder import largest_findings, of_process
from idcore.answers.findings.hosts import dated, little_endian
from idcore.answers.findings.model import Finding, unseen
from idcore.answers.findings.processes import Processes, text_mask
from idcore.answers.findings.registry import INFO, Rule, Scan, register
from idcore.ids import seeds
from idcore.ids.makers import MAKERS
from idcore.ids.origins import PROCESS_KEY

# Clients that settle it; "cpp" and "unknown" may be Java with a class loader that no list holds, and an elapsed of more
# than a month or the form of a UUID show no client.
_FOREIGN = pa.array([code for code in MAKERS if not code.startswith(("java", "cpp", "lua", "unknown", "dotnet"))])
_NO_HASH = pa.array(["unknown", "lua"])  # their loaders have the top bit set
_OPEN = pa.array(["cpp", "cpp_or_lua", "dotnet_uuid"])


def _settled(processes: Processes) -> np.ndarray:
    return text_mask(pc.is_in(processes.table["maker"], value_set=_FOREIGN)) | little_endian(processes)


def foreign_makers(processes: Processes, scan: Scan) -> Iterator[Finding]:
    """foreign_maker: what is settled by constants, or by a loader that no JVM generates."""
    scan.once(Seeds).add(processes)
    table, settled = processes.table, _settled(processes)
    timed = dated(processes)

    def settle(at: int) -> Finding:
        code = processes.row(at)["maker"]
        when = {} if timed[at] else {"since": None, "until": None}
        return of_process(processes, at, "foreign_maker", variant=code, maker_code=code, when=when)

    yield from largest_findings(processes, settled, "foreign_maker", settle)
    strange = text_mask(pc.is_in(table["maker"], value_set=_NO_HASH)) & ~settled

    def wonder(at: int) -> Finding:
        code = processes.row(at)["maker"]
        return of_process(processes, at, "foreign_maker", variant="no_hash", maker_code=code, certainty="likely")

    yield from largest_findings(processes, strange, "foreign_maker", wonder)


class Seeds:
    """Processes that may be C++: the largest of a whole scan are tried against the seed of their rand(), at its end."""

    def __init__(self, _: Scan) -> None:
        self._largest: pa.Table | None = None
        self._left = self._ids_left = 0

    def add(self, processes: Processes) -> None:
        """Takes a piece of the scan."""
        maker = processes.table["maker"]
        maybe = text_mask(pc.is_in(maker, value_set=_OPEN)) & (processes["first_sent_at"] != -1)
        candidates = processes.table.filter(pa.array(maybe & ~_settled(processes)))
        if self._largest is not None:
            candidates = pa.concat_tables([self._largest, candidates])
        order = np.argsort(-candidates["ids"].to_numpy(), kind="stable")
        tried, left = order[: limits.MOST_SEED_LOADERS], order[limits.MOST_SEED_LOADERS :]
        self._left += len(left)
        self._ids_left += int(pa.compute.sum(candidates["distinct"].take(pa.array(left))).as_py() or 0)
        self._largest = candidates.take(pa.array(tried)).combine_chunks()

    def findings(self) -> Iterator[Finding]:
        """foreign_maker, of those whose loader is the first rand() of a second shortly before their first id."""
        if self._largest is None or not len(self._largest):
            return
        loaders = np.array([int(text, 16) for text in self._largest["loader"].to_pylist()], np.int64)
        processes = Processes(self._largest, _NO_POINTS)
        first = processes["first_sent_at"] // 1_000_000
        for place, started in seeds.starts_of(loaders, first - limits.SEED_DAYS * 86_400, first + 86_400).items():
            evidence: dict[str, Any] = {
                "maker_code": processes.row(place)["maker"],  # as tables and decode call it
                "started_at": seeds.instant(started),
            }
            yield of_process(processes, place, "foreign_maker", variant="seed", certainty="likely", **evidence)
        if self._left:
            yield unseen("foreign_maker", self._left, self._ids_left)


_NO_POINTS = pa.schema([(name, pa.string()) for name in PROCESS_KEY]).empty_table()


def of_seeds(scan: Scan) -> Iterator[Finding]:
    """foreign_maker, by the seeds of all processes."""
    return scan.once(Seeds).findings()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MakerEvidence(FindingEvidence):
    """Of a client that is not the official one."""

    variant: str | None = None
    maker_code: str | None = None
    started_at: str | None = None  # of its process, by the seed of its rand()
    process: Mapping[str, Any] | None = None
    ids: Sequence[str] = ()
    places: Sequence[Mapping[str, Any]] = ()


register(
    Rule(
        "foreign_maker",
        INFO,
        50,
        "foreign_maker/go",
        evidence=MakerEvidence,
        of_processes=foreign_makers,
        of_scan=of_seeds,
        variants=(*_FOREIGN.to_pylist(), "cpp_old", "no_hash", "seed", "unseen"),
        is_usual=True,
    ),
)

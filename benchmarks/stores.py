"""How often the findings of stores are right: `python -m benchmarks.stores`. Every situation, several seeds.

What counts as right is that of `benchmarks.findings`: a code with its subject, of the truth of the store.
"""

from __future__ import annotations

import argparse
import shutil
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.findings import START, ZONE, Score, measure, table
from idcore.answers.findings.all_rules import RULES, Finding
from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.rocketmq.store.folder import StoreFolder
from idcore.scan.crossing import What
from idcore.scan.facts import scan_task
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate.situations import STORIES, Situation
from idcore.sources.inputs import Split, list_store, split_files
from idcore.spark import fates, group_progress, record_evidence
from idcore.spark.passes import Partitions, Passes, Pieces, Work
from idcore.spark.watch import Reporter
from tests.findings.every_rule import find_all

AT = datetime(2026, 11, 22, tzinfo=UTC)


class Here(Passes):
    """The passes over a log in this process, without Spark."""

    def __init__(self, splits: Sequence[Split]) -> None:
        nothing: Any = None
        super().__init__(nothing, [[splits]], Reporter(None), threading.Event())

    def run(self, work: Work, partitions: Partitions | None = None) -> Pieces:
        chosen = self.partitions if partitions is None else partitions
        every = [split for tasks in chosen for task in tasks for split in task]
        return [(kind, data) for split in every for _, kind, data in work([split])]


def tables(root: Path) -> dict[str, pa.Table]:
    """The tables of a scan of a store, in this process."""
    months, splits = month_rows(AT, UTC), split_files(list_store(str(root)), 1 << 30)
    scanned = scan_local([str(root)], months, store=True)
    copied = [fact.data for fact in scan_task(splits, months, with_copies=True) if fact.what == What.COPIES]
    with StoreFolder(root) as store:
        evidence = StoreEvidence(store)
        made = fates.tables(Here(splits), evidence, scanned, copied).tables
        return scanned | made | {"progress": group_progress.table(evidence, scanned)}


def tell(situation: Situation, folder: Path) -> tuple[list[Finding], dict[str, Any], dict[str, pa.Table]]:
    """Writes a situation, scans it, and gives its findings, its truth and the tables."""
    root = folder / f"{situation.code}-{situation.variant}"
    situation.write(root)
    truth = situation.truth({code: rule.severity for code, rule in RULES.items()})
    made = tables(root)
    seen = record_evidence.look(list_store(str(root)), made["copies"])
    found = find_all(made, AT, situation.zone, line_evidence=seen)
    shutil.rmtree(root)
    return [item for item in found if RULES[item.code].of_store], truth, made


def stores(seeds: int, only: str | None = None, first: int = 1) -> Iterator[Situation]:
    """Every situation in every variant, with several seeds."""
    for name in sorted(STORIES):
        for variant in STORIES[name]:
            for seed in range(first, first + seeds):
                if only is None or only == name:
                    yield Situation(name, variant, seed, START, ZONE)


def main() -> None:
    """Prints the scores of the codes of stores, and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--only", help="one situation")
    options = parser.parse_args()
    scores, alarms = measure(stores(options.seeds, options.only, options.first), tell)
    of_stores = [code for code in RULES if RULES[code].of_store]
    print(table(scores, of_stores))
    print(f"\nabove info in healthy stores: {len(alarms)}")
    for line in [*alarms, *(line for code in of_stores for line in scores.get(code, Score()).examples)]:
        print(f"  {line}")


if __name__ == "__main__":
    main()

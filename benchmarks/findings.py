"""How often the findings are right: `python -m benchmarks.findings`. Every incident, its variants, several seeds.

A finding is right when its code and subject are in the truth of the log. What the truth does not name is wrong,
whatever its severity; a healthy log in which anything above info is found fails the measurement.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from idcore.answers.findings import line_locations
from idcore.answers.findings.all_rules import RULES, Finding
from idcore.ids.clock import parse_instant
from idcore.scan.lines import look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate.incidents import HEALTHY, STORIES, Incident
from idcore.simulate.situations import Situation
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all

T = TypeVar("T", Incident, Situation)
ZONE = timezone(timedelta(hours=8))
START = datetime(2026, 11, 20, 9, 50, tzinfo=ZONE)


@dataclass
class Score:
    """Right, wrong and overlooked findings of one code."""

    right: int = 0
    wrong: int = 0
    overlooked: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float | None:
        told = self.right + self.wrong
        return self.right / told if told else None

    @property
    def recall(self) -> float | None:
        there = self.right + self.overlooked
        return self.right / there if there else None


def tell(incident: Incident, folder: Path) -> tuple[list[Finding], dict[str, Any], dict[str, pa.Table]]:
    """Writes an incident, scans it, and gives its findings, its truth and the tables."""
    path = folder / f"{incident.code}-{incident.variant}.log"
    path.write_text("".join(line + "\n" for line in incident.lines()), encoding="utf-8")
    truth = incident.truth({code: rule.severity for code, rule in RULES.items()})
    at = parse_instant(truth["at"])
    tables = scan_local([str(path)], month_rows(at, incident.zone))
    files = list_files([str(path)])
    told = look(files, tables["copies"]["msg_id"].to_pylist())
    return line_locations.place(find_all(tables, at, incident.zone, line_evidence=told), files), truth, tables


def logs(seeds: int, only: str | None = None, first: int = 1) -> Iterator[Incident]:
    """Every incident in every variant, with several seeds."""
    for name in sorted(STORIES):
        for variant in STORIES[name]:
            for seed in range(first, first + seeds):
                if only is None or only == name:
                    yield Incident(name, variant, seed, START, ZONE)


def measure(
    each: Iterable[T], tell: Callable[[T, Path], tuple[list[Finding], dict[str, Any], dict[str, pa.Table]]]
) -> tuple[dict[str, Score], list[str]]:
    """Scores by code, and what was found above info where all is well."""
    scores: dict[str, Score] = defaultdict(Score)
    alarms = []
    with tempfile.TemporaryDirectory() as folder:
        for made in each:
            found, truth, _ = tell(made, Path(folder))
            name = f"{made.code}/{made.variant}"
            got = Counter((item.code, item.severity, item.subject) for item in found)
            wanted = Counter((row["code"], row["severity"], row["subject"]) for row in truth["expected"])
            count(scores, name, got, wanted)
            if made.code == HEALTHY:
                alarms += [f"{name}: {item.say('meaning')}" for item in found if item.severity != "info"]
    return dict(scores), alarms


WILD = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "wild"


def wild() -> dict[str, Score]:
    """Scores by code of what people really paste: above info what the truth does not name is wrong."""
    scores: dict[str, Score] = defaultdict(Score)
    for path in sorted(WILD.glob("*.txt")):
        truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        at = datetime(2026, 11, 25, 12, tzinfo=ZONE)
        tables = scan_local([str(path)], month_rows(at, ZONE))
        told = look(list_files([str(path)]), tables["copies"]["msg_id"].to_pylist())
        got = {item.code: item.severity for item in find_all(tables, at, ZONE, line_evidence=told)}
        for code in (code for code, severity in got.items() if severity != "info" or code in truth["findings"]):
            if code not in truth.get("any_findings", ()):
                want = truth["findings"].get(code)
                is_right = want is not None and want.get("severity", got[code]) == got[code]
                scores[code].right += is_right
                scores[code].wrong += not is_right
        for code in truth["findings"].keys() - got.keys():
            scores[code].overlooked += 1
    return dict(scores)


Row = tuple[str, str, str]  # code, severity, subject


def count(scores: dict[str, Score], name: str, got: Counter[Row], wanted: Counter[Row]) -> None:
    """Adds what was found in one input, by its code, and by its code and severity."""
    named = ((row, scores[key]) for row in got | wanted for key in (row[0], f"{row[0]}, {row[1]}"))
    for row, score in named:
        if row in got and row in wanted:
            score.right += 1
        elif row in got:
            score.wrong += 1
            score.examples.append(f"{name}: {json.dumps(row)} is wrong")
        else:
            score.overlooked += 1
            score.examples.append(f"{name}: {json.dumps(row)} was overlooked")


def table(scores: dict[str, Score], codes: Iterable[str] | None = None) -> str:
    """The scores as a Markdown table; without `codes` of all findings of logs."""

    def share(value: float | None) -> str:
        return "–" if value is None else f"{value:.1%}"

    lines = ["| code | right | wrong | overlooked | precision | recall |", "|---|---|---|---|---|---|"]
    levels = [f"missing_ids, {severity}" for severity in ("warning", "info")]  # judged by the share and by the gaps
    of_logs = [*(code for code in RULES if not RULES[code].of_store), *levels]
    for code in of_logs if codes is None else codes:
        score = scores.get(code, Score())
        lines.append(
            f"| {code} | {score.right} | {score.wrong} | {score.overlooked} | {share(score.precision)}"
            f" | {share(score.recall)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--first", type=int, default=1, help="the first seed: others than those the rules were made with"
    )
    parser.add_argument("--only", help="one incident")
    parser.add_argument("--examples", action="store_true", help="what was wrong or overlooked")
    options = parser.parse_args()
    scores, alarms = measure(logs(options.seeds, options.only, options.first), tell)
    print(table(scores))
    pasted = wild()
    print("\nwhat people really paste:\n")
    print(table(pasted, sorted(pasted)))
    print(f"\nabove info in healthy logs: {len(alarms)}")
    for line in alarms:
        print(f"  {line}")
    if options.examples:
        for code in RULES:
            for line in scores.get(code, Score()).examples:
                print(f"  {line}")


if __name__ == "__main__":
    main()

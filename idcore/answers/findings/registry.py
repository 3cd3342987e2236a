"""The rules: one registration for each code, and what a rule may look at. Depends on no message, page or finding.

A module that holds rules registers them at its end. Pages, the list of what was checked, the order, docs/findings.md
and the measurements read `rules()`. A new rule is its registration and its messages; nothing else names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar

import pyarrow as pa

from idcore.answers import findings
from idcore.answers.findings.evidence import FindingEvidence, ProcessEvidence
from idcore.answers.findings.large import Rows
from idcore.answers.findings.processes import Processes
from idcore.scan.lines import LineEvidence

ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Scan:
    """One scan as rules see it: its tables, now, the zone its times were read in, and what its lines say of copies."""

    rows: Rows
    at: datetime
    zone: tzinfo
    zone_source: str = "assumed"
    line_evidence: LineEvidence | None = None
    clocks: list[pa.Table] = field(default_factory=list, init=False, repr=False)  # processes with a `CLOCK_MARKS`
    _computed: dict[Callable[[Scan], Any], Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, compute: Callable[[Scan], Result]) -> Result:
        """What is computed from this scan: once, at the first call."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return self._computed[compute]  # type: ignore[no-any-return]


# What they give are findings, which refer to their rule: so no module imports both ways.
OfProcesses = Callable[[Processes, Scan], Iterable[Any]]
OfScan = Callable[[Scan], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One code: how bad it is, what finds it, which messages describe it, which incident proves it, how it is shown.

    `of_processes` is called with each piece of the table of processes, `of_scan` once after the last piece. A function
    that several rules name is called once for all of them.
    """

    code: str
    severity: str
    rank: int  # among the rules of this severity, the least first
    incident: str  # name/variant of a story in idcore.simulate.incidents of which it is true
    of_processes: OfProcesses | None = None
    of_scan: OfScan | None = None
    evidence: type[FindingEvidence] = ProcessEvidence
    variants: tuple[str, ...] = ()  # message keys: the code alone, and the code with each of these
    also: tuple[str, ...] = ()  # message keys of further sentences
    info_variants: tuple[str, ...] = ()  # which are info only
    background: tuple[str, ...] = ()  # variants that are not an event of the input: below all that are
    is_usual: bool = False  # it says how IDs are made, or what is normal: no event either, in its own place
    subject: Literal["process", "id", "broker", "name", "group", "topic"] = "process"
    picture: Literal["", "counter", "clock"] = ""
    # What is looked for in lines apart from the places of ids: born_hosts, broker_name, send_ok, failed_sends.
    lines: tuple[str, ...] = ()
    of_store: bool = False  # true of stores only: its incident is a situation of idcore.simulate.situations

    def is_event(self, variant: str | None) -> bool:
        """Whether a finding of this variant says more than how IDs are made or printed, or what is normal."""
        return not self.is_usual and variant not in self.background


REGISTERED: dict[str, Rule] = {}  # those registered so far, in the order in which findings are read


@cache
def rules() -> dict[str, Rule]:
    """All of them. Loads every module of the folder, for each may hold rules; and the kernels with them."""
    for module in iter_modules(findings.__path__):
        if module.name != "all_rules":  # which asks this
            import_module(f"{findings.__name__}.{module.name}")
    return REGISTERED


def register(*rules: Rule) -> None:
    """Adds rules to those that a scan runs."""
    for rule in rules:
        if rule.code in REGISTERED or rule.severity not in SEVERITIES:
            raise ValueError(f"{rule.code} is registered already, or has no severity")
        if rule.of_processes is None and rule.of_scan is None:
            raise ValueError(f"{rule.code} has no predicate")
        REGISTERED[rule.code] = rule
    ordered = sorted(REGISTERED.values(), key=lambda rule: (SEVERITIES.index(rule.severity), rule.rank))
    REGISTERED.clear()
    REGISTERED.update({rule.code: rule for rule in ordered})

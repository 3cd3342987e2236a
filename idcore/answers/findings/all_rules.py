"""Every rule over the tables of a scan. Loads all of them, and the kernels: the first page needs neither."""

from __future__ import annotations

from collections.abc import Sequence

from idcore.answers.findings import chains
from idcore.answers.findings.large import Rows
from idcore.answers.findings.model import Finding, to_table, worst_first
from idcore.answers.findings.registry import SEVERITIES, OfScan, Rule, Scan, rules

RULES = rules()


def of_ids(scan: Scan) -> list[Finding]:
    """The findings that need no table of consumer groups: their search may begin before there is one."""
    check = scan.rows.check
    of_processes = list(dict.fromkeys(rule.of_processes for rule in RULES.values() if rule.of_processes))
    findings: list[Finding] = []
    for processes in scan.rows.processes():
        for judge in of_processes if len(processes) else ():
            check()
            findings += judge(processes, scan)
        findings = worst_first(findings)
    for judge_all in _of_scan(of_store=False):
        check()
        findings += judge_all(scan)
    return findings


def of_groups(scan: Scan, of_ids: Sequence[Finding]) -> list[Finding]:
    """All findings, worst first: those of IDs, and those of a scan that now has the tables of groups too."""
    every = list(of_ids)
    for judge_all in _of_scan(of_store=True):
        scan.rows.check()
        every += judge_all(scan)
    return [one.in_zone(scan.zone) for one in worst_first(chains.made_twice(every))]


def _of_scan(of_store: bool) -> list[OfScan]:
    """Each once; what serves several rules is asked with the first of them."""
    every = dict.fromkeys(rule.of_scan for rule in RULES.values() if rule.of_scan and rule.of_store == of_store)
    return [each for each in every if each is not None]


__all__ = ["RULES", "SEVERITIES", "Finding", "Rows", "Rule", "Scan"]
__all__ += ["of_groups", "of_ids", "to_table", "worst_first"]

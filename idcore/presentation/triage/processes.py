"""The table of processes: its order, the name of a process, the key of one in an address. Depends on no page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from idcore.answers.findings.limits import CUT_COUNTER
from idcore.base.catalogue import Words
from idcore.base.layout import USUAL_OF_PROCESSES
from idcore.base.numbers import whole_number
from idcore.ids import assumptions
from idcore.ids.origins import Fingerprint
from idcore.scan.schemas import ONE_COUNTER, UNCOUNTED, UNORDERED

LEAST_RATE = 0.001  # IDs a second that are written as a number
PID_DIGITS = 5  # of 65,535


def named_layout(layout: Any) -> tuple[str, ...]:
    """The layout of a process where it is not the usual one: the same process may be in a log by both."""
    return () if layout in USUAL_OF_PROCESSES else (str(layout),)


def assumed(row: Any, words: Words) -> str:
    """What of the times of a process no line shows, in brackets; scans of older versions do not say it."""
    return "" if pd.isna(row.get("first_sent_at")) else words.assumed(assumed_codes(row))


def assumed_codes(row: Any) -> tuple[str, ...]:
    """The same as codes, of any process."""
    return assumptions.assumed("month" not in row or not pd.isna(row["month"]), row.get("zone_source"))


def process_name(row: Any) -> str:
    """A process in one line."""
    return " · ".join((*Fingerprint.of_row(row).parts, *named_layout(row["layout"])))


def process_key(row: Any) -> str:
    """A process in an address: host~pid~loader, and the layout where it is not the usual one."""
    return "~".join((Fingerprint.of_row(row).key, *named_layout(row["layout"])))


def find_process(processes: pd.DataFrame, key: str | None) -> int | None:
    """The row a key names."""
    if not key:
        return None
    parts = key.split("~")
    if len(parts) < 3 or (pid := whole_number(parts[1], PID_DIGITS)) is None:
        return None
    hit = (processes["host"] == parts[0]) & (processes["pid"] == pid) & (processes["loader"] == parts[2])
    hit &= processes["layout"].isin(parts[3:] or USUAL_OF_PROCESSES)
    places = processes.index[hit]
    return int(places[0]) if len(places) else None


def followed(processes: pd.DataFrame, marks: Sequence[str] = UNORDERED) -> pd.Series:
    """Of which processes the counter can be followed: it is whole, and its IDs are of months that are told apart."""
    found = processes["layout"] != CUT_COUNTER
    for mark in marks:
        if mark in processes:
            found &= processes[mark] != 1  # false, or unknown
    return found


def is_followed(row: Any, marks: Sequence[str] = UNORDERED) -> bool:
    """The same of one process."""
    return row["layout"] != CUT_COUNTER and not any(row.get(mark) == 1 for mark in marks)


def countable(processes: pd.DataFrame) -> pd.Series:
    """Of which processes it is known what they generated and what is missing: they are followed, by one clock."""
    return followed(processes, UNCOUNTED)


def is_countable(row: Any) -> bool:
    """The same of one process."""
    return is_followed(row, UNCOUNTED)


def several(processes: pd.DataFrame) -> pd.Series:
    """Of which fingerprints several processes run at once: counters in parallel, and not one that a clock divides."""
    return (processes["tracks"] > 1) & followed(processes, (*UNORDERED, ONE_COUNTER))


def is_several(row: Any) -> bool:
    """The same of one process."""
    return bool(row["tracks"] > 1 and is_followed(row, (*UNORDERED, ONE_COUNTER)))


def sorted_processes(processes: pd.DataFrame, by: str) -> pd.DataFrame:
    """Processes in the order a person asked for; ties by ids."""
    whole, ordered = countable(processes), followed(processes)
    lost = processes["lost" if "lost" in processes else "missing"]  # of a sample nothing is missing
    share = (lost / processes["produced"].clip(lower=1)).where(whole, 0.0)
    keys = {
        "ids": processes["distinct"],
        "missing": share,
        "wraps": processes["wraps"].where(ordered, 0),
        "rate": processes["rate_per_second"],
        "first": processes["first_sent_at"],
        "host": processes["host"],
    }
    rising = by in ("first", "host")
    ranked = processes.assign(_by=keys.get(by, processes["distinct"]))
    ranked = ranked.sort_values(
        ["_by", "distinct", "host", "pid", "loader"],
        ascending=[rising, False, True, True, True],
        na_position="last",
        kind="stable",
    )
    return ranked.drop(columns="_by")


def rate_text(rate: float) -> str:
    """A rate with as many digits as it deserves."""
    if round(rate, 1) >= 100:
        return f"{rate:,.0f}"
    if 0 < rate < LEAST_RATE:
        return f"< {LEAST_RATE}"
    return f"{rate:.1f}" if rate >= 1 else f"{rate:.2g}"

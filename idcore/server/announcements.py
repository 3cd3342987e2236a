"""Errors of a followed scan that are told to people who do not look at it: which they are, and what the webhook had.

What is new since when is decided by who tells: here for the webhook, on a page for its session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from idcore.base.errors import json_value
from idcore.runs.runs import FOLLOWED, Run, write_text
from idcore.server import webhook

ANNOUNCED = "announced.json"  # in the folder of what is followed: the errors that were announced


def announceable(findings: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The errors among the rows of `findings`, by a key that each keeps from one refresh to the next.

    A row that counts what is not listed has another number, so another subject, each time: it is none of them.
    """
    errors = (row for row in findings if row["severity"] == "error" and "more" not in json.loads(row["evidence"]))
    return {f"{row['code']} {row['subject']}": row for row in errors}


def announce_new_errors(run: Run) -> None:
    """Sends the errors of a followed run that were not sent before to the webhook, if there is one."""
    if not webhook.is_on():
        return
    place = run.path / FOLLOWED / ANNOUNCED
    try:
        known = set(json.loads(place.read_text(encoding="utf-8")))
    except FileNotFoundError:
        known = set()
    errors = announceable(run.table("findings").to_pylist())
    about = {"event": "finding", "run": run.name, "title": run.title}
    fresh = [key for key in errors if key not in known]
    taken = {key for key in fresh if webhook.announce({**about, "finding": _as_json(errors[key])})}
    if taken:  # what there was no room for is new again at the next refresh
        write_text(place, json.dumps(sorted(known | taken)))


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table with its JSON as objects and its instants as text."""
    finding = {name: json_value(value) for name, value in row.items() if not name.endswith("_at")}
    finding |= {name: value and value.isoformat() for name, value in row.items() if name.endswith("_at")}
    return finding | {name: json.loads(row[name]) for name in ("evidence", "values") if row[name]}

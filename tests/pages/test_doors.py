"""One truth: the page, its CSV and the links to an id's anatomy say of each id what decode says."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from idcore.ids import Clock
from idcore.ids.clock import parse_zone
from idcore.ids.dating import dates_of
from idcore.ids.describe import describe, month_source, when
from idcore.intake import intake
from idcore.presentation import export
from idcore.presentation.html import cards
from idcore.runs.run_times import linked
from idcore.runs.runs import Runs
from tests.scan.test_doors import LOGS, decoded

ZONES = (("+00:00", "assumed"), ("+08:00", "given"))  # in turns: tests of the scan read each log in every zone
MOST = 400  # links that are followed of a log, evenly over it
LONG = 500_000  # characters of a log, about: tests of the scan read all of it


@pytest.mark.long(first=3)
@pytest.mark.parametrize(("name", "zone"), [(name, ZONES[number % 2]) for number, name in enumerate(LOGS)], ids=str)
def test_page_csv_and_link_say_what_decode_says(name: str, zone: tuple[str, Any]) -> None:
    whole, last = LOGS[name]
    text = whole[: whole.find("\n", LONG) + 1] or whole
    clock = Clock(last + timedelta(minutes=1), parse_zone(zone[0]), zone[1])
    want = [row for row in decoded(text, clock) if row["kind"] is not None]
    found = intake.read([("x.log", text)], limit=len(text)).found
    dated = replace(clock, dates=dates_of(((item.verdict, item.token) for item in found), clock))
    assert [describe(item.verdict, item.token, dated) for item in found] == want
    rows = csv.DictReader(export.csv_of_ids(describe(item.verdict, item.token, dated) for item in found))
    for row, wanted in zip(rows, want, strict=True):
        assert {key: row[key] for key in ("kind", "host", "sent_at")} == {
            key: wanted[key] or "" for key in ("kind", "host", "sent_at")
        }
    for item in found[:: 1 + len(found) // MOST]:
        carried = cards.anatomy_params(item, dated)
        query = {key: each for key, each in carried.items() if each is not None}
        verdict, token = linked(str(carried["id"]), query, Runs())
        shown, best = verdict.best, item.verdict.best
        assert shown is not None and best is not None
        assert shown.id == best.id, "the link shows the same reading first"
        (here, reason), (there, linked_reason) = when(best, item.token, dated), when(shown, token, clock)
        assert (here and here.at) == (there and there.at)
        assumed = [month_source(one, why) == "assumed" for one, why in ((best, reason), (shown, linked_reason))]
        assert assumed[0] == assumed[1]
        assert (here and here.zone_source == "assumed") == (there and there.zone_source == "assumed")

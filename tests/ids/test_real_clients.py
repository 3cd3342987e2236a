"""Ids of real clients are read right alone, in a list and in a line: kind, host, pid, time or its span, and maker."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from idcore.ids import Clock, Verdict, describe, find, identify, judge
from idcore.ids.clock import from_ms, parse_zone
from idcore.ids.dating import dates_of
from idcore.ids.neighbours import settled
from tests.ids.real_clients import Row, at, makers, near, processes, received_line, rows, sent_line, sent_ms

pytestmark = pytest.mark.slow

SLACK = timedelta(seconds=3)


def clock(row: Row, zone: str, source: Any = "given") -> Clock:
    return Clock(at(row), parse_zone(zone), source)


def wrong(row: Row, verdict: Verdict, said: dict[str, Any]) -> list[str]:
    """What is read otherwise than it is."""
    found = []
    if said["kind"] != row["kind_expected"]:
        return [f"kind {said['kind']}"]
    code = said["maker_code"]
    # C++ and Java with an unusual loader are one maker, named as such.
    if not any(code.startswith(name) for name in (*makers(row), *(["cpp"] if "java" in makers(row) else []))):
        found.append(f"maker {code} {verdict.best.certainty if verdict.best else ''}")
    if said["kind"] == "offset":
        return found
    host = said["mac"] if said["kind"] == "client" else said["host"]
    if row["host_expected"] is not None and host != row["host_expected"]:
        found.append(f"host {host}")
    pid = row["process_pid"]
    if said["pid"] not in (pid % 65_536, pid % 65_535, pid >> 16 if said["layout"] == "uniq_v4_le" else -1):
        found.append(f"pid {said['pid']}")
    earliest, latest = said["sent_at_earliest"], said["sent_at_latest"]
    made = from_ms(sent_ms(row))
    held = earliest and datetime.fromisoformat(earliest) - SLACK <= made <= datetime.fromisoformat(latest) + SLACK
    if not near(said["sent_at"], row) and not held:
        found.append(f"time {said['sent_at']}, {earliest} to {latest}")
    return found


@pytest.mark.parametrize(("zone", "source"), [("", "given"), ("+00:00", "assumed"), ("+08:00", "assumed")])
def test_every_id_alone_is_read_right_or_its_doubt_holds_the_truth(zone: str, source: str) -> None:
    told = {}
    for row in rows():
        verdict = identify(row["msg_id"])
        said = describe(verdict, None, clock(row, zone or row["zone"], source))
        problems = wrong(row, verdict, said)
        if problems:
            told[row["client"], row["version"], row["msg_id"]] = problems
    assert told == {}


def test_the_ids_of_a_process_together_are_read_right() -> None:
    told = {}
    for own in processes().values():
        verdicts = settled(identify(row["msg_id"]) for row in own)
        for row, verdict in zip(own, verdicts, strict=True):
            problems = wrong(row, verdict, describe(verdict, None, clock(row, row["zone"])))
            if problems:
                told[row["client"], row["version"], row["msg_id"]] = problems
    assert told == {}


@pytest.mark.long(first=1)
@pytest.mark.parametrize("zone", ["+00:00", "+08:00", "-05:00"])
def test_a_line_with_a_born_timestamp_dates_its_id_whatever_zone_is_given(zone: str) -> None:
    told = {}
    for number, row in enumerate(rows()):
        if row["kind_expected"] == "offset":
            continue
        line = received_line({**row, "uniq_key": row["msg_id"]}, number)
        token = next(token for token in find(line) if token.text == row["msg_id"])
        verdict = identify(token.text, token.label)
        said = describe(verdict, token, clock(row, zone))
        if not near(said["sent_at"], row) or said["sent_at_earliest"] is not None:
            told[row["client"], row["version"], row["msg_id"]] = said["sent_at"], row["zone"]
    assert told == {}


@pytest.mark.long(first=1)
@pytest.mark.parametrize("zone", ["+00:00", "+08:00"])
def test_one_id_has_one_instant_in_the_logs_of_its_producer_and_its_consumer(zone: str) -> None:
    told = {}
    for own in processes().values():
        own = [row for row in own if row["kind_expected"] != "offset"]
        text = "\n".join(
            [*map(sent_line, own), *(received_line({**row, "uniq_key": row["msg_id"]}, n) for n, row in enumerate(own))]
        )
        tokens = list(find(text))
        verdicts = settled(judge(token) for token in tokens)
        if not own:
            continue
        base = clock(own[0], zone)
        dated = Clock(
            base.reference, base.zone, base.zone_source, dates=dates_of(zip(verdicts, tokens, strict=True), base)
        )
        by_id = {row["msg_id"]: row for row in own}
        for token, verdict in zip(tokens, verdicts, strict=True):
            row = by_id.get(token.text)
            if row is not None and not near(describe(verdict, token, dated)["sent_at"], row):
                told[row["client"], token.line, token.text] = describe(verdict, token, dated)["sent_at"], row["zone"]
    assert told == {}


def test_lower_case_ids_of_every_length_are_taken_where_that_is_asked_for() -> None:
    for row in rows():
        verdict = identify(row["msg_id"].lower(), case="any")
        assert verdict.best is not None and verdict.best.kind == row["kind_expected"], row["msg_id"]

"""One truth: what decode says of the ids of an input is what the scan says of their processes, clients and brokers."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from idcore.ids import Clock, describe, find, judge
from idcore.ids.clock import parse_zone, to_ms
from idcore.ids.dating import dates_of
from idcore.ids.identify import Verdict
from idcore.ids.neighbours import settled
from idcore.ids.tokens import Token
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate import example
from tests.ids.real_clients import at, received_line, rows, sent_line
from tests.ids.test_line_moments import INSTANT, STYLES
from tests.scan.comparing import Row
from tests.scan.logs import AT as LAST
from tests.scan.logs import JAVA, offset, uniq
from tests.scan.logs_of_dates import of_wrong_clocks, over_month_ends
from tests.scan.logs_of_lists import lists
from tests.scan.logs_of_records import records

pytestmark = pytest.mark.quick

REAL = Path(__file__).parents[1] / "vectors" / "real.log.gz"
AT = datetime(2026, 11, 23, tzinfo=UTC)


@cache
def judged(text: str) -> tuple[list[Token], list[Verdict]]:
    """The IDs of a text and what they are, in whatever zone they are read."""
    tokens = list(find(text))
    return tokens, settled(judge(token) for token in tokens)


def decoded(text: str, clock: Clock) -> list[Row]:
    """As `decode` prints it."""
    tokens, verdicts = judged(text)
    clock = replace(clock, dates=dates_of(zip(verdicts, tokens, strict=True), clock))
    return [describe(verdict, token, clock) for verdict, token in zip(verdicts, tokens, strict=True)]


def instants(values: Iterable[str | None]) -> tuple[int, int] | None:
    found = [to_ms(datetime.fromisoformat(value)) for value in values if value is not None]
    return (min(found), max(found)) if found else None


def dated(row: Row) -> str | None:
    """When an id was made; the scan gives no time to one that a clock before its month made."""
    return None if (row["elapsed_ms"] or 0) >= 2**32 - 86_400_000 else row["sent_at"]


def by_decode(found: list[Row]) -> dict[str, dict[Any, Any]]:
    groups: dict[str, dict[Any, list[Row]]] = {kind: defaultdict(list) for kind in ("uniq", "client", "offset")}
    for row in found:
        if row["kind"] == "uniq":
            groups["uniq"][row["layout"], row["host"], row["pid"], row["loader"]].append(row)
        elif row["kind"] == "client":
            groups["client"][row["mac"], row["pid"]].append(row)
        elif row["kind"] == "offset":
            address = f"[{row['host']}]:{row['port']}" if ":" in row["host"] else f"{row['host']}:{row['port']}"
            groups["offset"][address].append(row)
    timed = {
        kind: {key: (len(own), instants(dated(row) for row in own)) for key, own in groups[kind].items()}
        for kind in ("uniq", "client")
    }
    offsets = {
        key: (len(own), min(row["offset"] for row in own), max(row["offset"] for row in own))
        for key, own in groups["offset"].items()
    }
    zones = {
        key: {(row["zone"], row["zone_source"]) for row in own if dated(row)} for key, own in groups["uniq"].items()
    }
    return {**timed, "offset": offsets, "zone": zones, "mixed": {}}


def by_scan(path: str, clock: Clock) -> dict[str, dict[Any, Any]]:
    tables = scan_local([path], month_rows(clock.reference, clock.zone, clock.zone_source))

    def span(row: Row) -> tuple[int, int] | None:
        times = [row["first_sent_at"], row["last_sent_at"]]
        return None if None in times else (to_ms(times[0]), to_ms(times[1]))

    processes = tables["processes"].to_pylist()
    return {
        "uniq": {(r["layout"], r["host"], r["pid"], r["loader"]): (r["ids"], span(r)) for r in processes},
        "client": {(r["mac"], r["pid"]): (r["ids"], span(r)) for r in tables["clients"].to_pylist()},
        "offset": {r["address"]: (r["ids"], r["min_offset"], r["max_offset"]) for r in tables["brokers"].to_pylist()},
        "zone": {
            (r["layout"], r["host"], r["pid"], r["loader"]): {(r["zone"], r["zone_source"])} - {(None, None)}
            for r in processes
        },
        # of a process whose months overlap the scan says so, and takes one: decode dates each of its ids
        "mixed": {(r["layout"], r["host"], r["pid"], r["loader"]): True for r in processes if r["months_mixed"]},
    }


def real_clients() -> dict[str, tuple[str, datetime]]:
    """A log of each client, half of it as its producers wrote it and half as consumers did, less faked clocks."""
    found: dict[str, tuple[list[str], datetime]] = {}
    counted: Counter[str] = Counter()
    for row in rows():
        if "faked" in row["note"]:
            continue
        name = f"{row['client']} {row['version']}"
        lines, last = found.setdefault(name, ([], at(row)))
        counted[name] += 1
        both = [sent_line(row)] if counted[name] % 3 else [received_line(row, counted[name])]
        lines += both
        found[name] = lines, max(last, at(row))
    return {name: ("\n".join(lines) + "\n", last) for name, (lines, last) in found.items()}


LOGS = {
    **real_clients(),
    **{log.name: (log.data.decode(), LAST) for log in map(over_month_ends, range(3, 6))},
    **{log.name: (log.data.decode(), LAST) for log in map(of_wrong_clocks, range(10, 13))},
    "the example": (example.log(), example.now()),
    "real producers and consumers": (gzip.decompress(REAL.read_bytes()).decode(), AT),
    **{f"in order, {log.name}": (log.data.decode(), LAST) for log in (records(seed, days=0) for seed in range(20, 24))},
    **{log.name: (log.data.decode(), LAST) for log in (records(1), records(25), lists(1), lists(2))},
}


HOUR_MS = 3_600_000


def made(day: int, hour: int, counter: int) -> str:
    """An id made so long after the start of a month."""
    return f"0A000001004D18B4AAC2{((day - 1) * 24 + hour) * HOUR_MS:08X}{counter:04X}"


# Logs at the edges of the calendar: the text, the scan's zone, "now", and when decode must say that its ids were made.
EDGES = {
    "an id later than all that its process dates": (
        f"2026-11-03 10:00:00,000 send msgId={made(3, 2, 1)}\nmsgId={made(25, 2, 2)}\n",
        "+08:00",
        "2026-11-23T00:00:00+00:00",
        ["2026-11-03T02:00:00.000+08:00", "2026-10-25T02:00:00.000+08:00"],
    ),
    "an id of the morning after the month that lines date": (
        f"2026-10-31 22:00:00,000 send msgId={made(31, 22, 40)}\n\nby key:\n\n"
        f"{made(1, 9, 43)} 2 0\n{made(2, 23, 44)} 3 0\n",
        "+08:00",
        "2026-11-23T00:00:00+00:00",
        ["2026-10-31T22:00:00.000+08:00", "2026-11-01T09:00:00.000+08:00", "2026-11-02T23:00:00.000+08:00"],
    ),
    "an id whose counter is in front of those that lines date": (
        f"2026-10-31 22:00:00,000 send msgId={made(31, 22, 9000)}\n\nby key:\n\n{made(1, 9, 12)} 2 0\n",
        "+08:00",
        "2026-11-23T00:00:00+00:00",
        ["2026-10-31T22:00:00.000+08:00", "2026-10-01T09:00:00.000+08:00"],
    ),
    "an id nearer to the month that lines date": (
        f"2026-10-13 22:00:00,000 send msgId={made(13, 22, 40)}\n\nby key:\n\n{made(1, 9, 43)} 2 0\n\n"
        f"2026-11-20 10:00:00,000 send msgId=0A000002004D18B4AAC2{20 * 24 * HOUR_MS - 14 * HOUR_MS:08X}0001\n",
        "+08:00",
        "2026-11-23T00:00:00+00:00",
        [
            "2026-10-13T22:00:00.000+08:00",
            "2026-10-01T09:00:00.000+08:00",
            "2026-11-20T10:00:00.000+08:00",
        ],
    ),
    "after daylight saving has ended": (
        f"2026-10-26 10:00:00,000 send msgId={made(26, 11, 1)}\n2026-10-28 10:00:00,000 send msgId={made(28, 11, 2)}\n",
        "Europe/Berlin",
        "2026-11-23T00:00:00+00:00",
        ["2026-10-26T10:00:00.000+01:00", "2026-10-28T10:00:00.000+01:00"],
    ),
    "a time of birth that no message has": (
        f"bornTimestamp=99999999999999, msgId={made(3, 2, 1)}\n",
        "+08:00",
        "2026-11-23T00:00:00+00:00",
        ["2026-11-03T02:00:00.000+08:00"],
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_decode_and_scan_say_the_same_at_the_edges_of_the_calendar(name: str, on_disk: Callable[..., str]) -> None:
    text, zone, now, times = EDGES[name]
    clock = Clock(datetime.fromisoformat(now), parse_zone(zone), "given")
    found = decoded(text, clock)
    assert [row["sent_at"] for row in found] == times
    assert by_decode(found) == by_scan(on_disk(text.encode()), clock)


@pytest.mark.parametrize(
    ("hours", "month", "source"),
    [
        (13, "2026-11", "line"),
        (15, "2026-10", "assumed"),
        (71, "2026-10", "assumed"),
        (73, "2026-10", "line"),
        (-30, "2026-11", "line"),
    ],
)
@pytest.mark.parametrize("line", ["2026-11-10 10:00:00,000 got msgId={}", "2026-11-10T02:00:00Z got msgId={}"])
def test_an_id_days_later_than_its_line_has_no_certain_month(
    hours: int, month: str, source: str, line: str, on_disk: Callable[..., str]
) -> None:
    """The month before is weeks earlier than the line: a clock that is ahead is as likely."""
    text = line.format(made(10, 10 + hours, 1)) + "\n"
    clock = Clock(datetime(2026, 11, 25, tzinfo=UTC), parse_zone("+08:00"), "given")
    found = decoded(text, clock)
    assert [(row["month"], row["month_source"]) for row in found] == [(month, source)]
    assert by_decode(found) == by_scan(on_disk(text.encode()), clock)


@pytest.mark.parametrize("zone", [("+00:00", "assumed"), ("+08:00", "given"), ("-05:00", "assumed")], ids=str)
@pytest.mark.parametrize("name", LOGS)
def test_decode_and_scan_say_the_same(name: str, zone: tuple[str, Any], on_disk: Callable[..., str]) -> None:
    text, last = LOGS[name]
    clock = Clock(last + timedelta(minutes=1), parse_zone(zone[0]), zone[1])
    want, got = by_decode(decoded(text, clock)), by_scan(on_disk(text.encode()), clock)
    for kind in want:
        different = {
            key: (want[kind].get(key), got[kind].get(key))
            for key in want[kind].keys() | got[kind].keys()
            if want[kind].get(key) != got[kind].get(key) and key not in got["mixed"]
        }
        assert different == {}, kind


@pytest.mark.parametrize("style", STYLES)
def test_a_line_of_any_style_has_one_time_in_decode_and_scan(style: str, on_disk: Callable[..., str]) -> None:
    """Without a zone that is given, epochs and zones prove that of the producer."""
    text, kind = STYLES[style][0] + "\n", STYLES[style][1]
    for zone, source in (("+08:00", "given"), ("-05:00", "assumed")):
        clock = Clock(datetime(2026, 11, 25, tzinfo=UTC), parse_zone(zone), source)  # type: ignore[arg-type]
        found = decoded(text, clock)
        assert by_decode(found) == by_scan(on_disk(text.encode()), clock), zone
        if source == "given" or kind == INSTANT:
            assert {row["sent_at"] for row in found} == {"2025-02-11T20:57:47.471+08:00"}, zone
        assert {row["month_source"] for row in found} <= {"line", "process"}


def batch(ids: int, digits: int, between: str) -> str:
    """A batch of so many messages as its producer prints it, from a summer long ago."""
    began = (datetime(2025, 8, 14, 9, 30) - datetime(2025, 8, 1)) // timedelta(milliseconds=1)
    own = between.join(uniq(0xC0A8010A, 8080, JAVA, began + n // 4, n) for n in range(ids))
    places = between.join(offset(0xC0A80115, 10911, 10**digits + 300 * n) for n in range(ids))
    queue = "messageQueue=MessageQueue [topic=Paid, brokerName=broker-a, queueId=3], queueOffset=7"
    sent = f"SendResult [sendStatus=SEND_OK, msgId={own}, offsetMsgId={places}, {queue}]"
    return f"2025-08-14 09:30:01.003 INFO [main] {sent}"


def answer(ids: int, more: str = "") -> str:
    """What a dashboard answers about so many messages, on one line."""
    month, began = datetime(2025, 8, 1, tzinfo=UTC), datetime(2025, 8, 14, 9, 30, tzinfo=UTC)
    rows = []
    for n in range(ids):
        made_ms = to_ms(began) + 137 * n
        digits = uniq(0xC0A8010A, 8080, JAVA, made_ms - to_ms(month), n)
        rows.append({"msgId": digits, "bornTimestamp": made_ms, "storeTimestamp": made_ms + 2, "queueOffset": n})
        rows[-1] |= {
            "offsetMsgId": offset(0xC0A80115, 10911, 300 * n),
            "body": more,
            "properties": {"UNIQ_KEY": digits},
        }
    return json.dumps({"status": 0, "data": rows})


LONG_LINES = {
    "as many as were dated": batch(64, 6, ","),
    "one more": batch(65, 6, ","),
    "a large batch": batch(600, 9, ","),
    "a batch of more than 64 KiB": batch(1_100, 9, ", "),
    "an answer": answer(40),
    "an answer of more than 64 KiB": answer(300),
    "an answer of messages with bodies": answer(90, "x" * 9_000),
    "an answer of more than 1 MiB, without a date": answer(600, "x" * 1_500),
    "a line of more than 1 MiB, without a date": f"2025-08-14 09:30:01 got {'x' * (1 << 20)} {made(14, 9, 1)}",
    "a long line with one ID": f"2025-08-14 09:30:01 got {'x' * 70_000} {made(14, 9, 1)}",
    "a long line without a time": f"got {'x' * 70_000} {made(14, 9, 1)}",
    "a long list": ",".join(made(14, 9, n) for n in range(5_000)),
}


@pytest.mark.long(cases=["a large batch", "an answer of messages with bodies"])
@pytest.mark.parametrize("name", LONG_LINES)
def test_a_long_line_or_one_of_many_ids_is_dated_in_decode_and_scan(name: str, on_disk: Callable[..., str]) -> None:
    none = "none here " * 19 + "none here\n"
    for before, behind in (("", ""), (none * 4_500, ""), ("", "\nnone here" * 20)):
        text = f"{before}{LONG_LINES[name]}{behind}\n"
        clock = Clock(AT, parse_zone("+00:00"), "given")
        found = by_decode(decoded(text, clock))
        assert found == by_scan(on_disk(text.encode()), clock)
        ((_, ends),) = found["uniq"].values()
        is_dated = "without" not in name and "list" not in name
        assert ends is not None and datetime.fromtimestamp(ends[0] / 1_000, UTC).year == (2025 if is_dated else 2026)


def test_each_of_a_line_with_as_many_ids_as_fit_has_its_record(on_disk: Callable[..., str]) -> None:
    own = " ".join(uniq(0xC0A8010A, 8080, JAVA, 60_000 * (n // 1_000), n & 0xFFFF) for n in range(31_000))
    line = f"{own} {offset(0xC0A80115, 10911, 300)} {offset(0xC0A80115, 10911, 600)}\n"
    assert 1_020_000 < len(line) < 1 << 20
    assert [
        row["max_offset"] for row in scan_local([on_disk(line.encode())], month_rows(AT, UTC))["growth"].to_pylist()
    ] == [600]


@pytest.mark.parametrize("size", [1_000, 30_000, 200_000])
def test_a_long_line_is_dated_also_where_splits_cut_it(size: int, on_disk: Callable[..., str]) -> None:
    path = on_disk("\n".join([batch(600, 9, ","), answer(300), batch(70, 6, ",")]).encode())
    months = month_rows(AT, UTC, "given")
    whole, cut = scan_local([path], months), scan_local([path], months, split_size=size)
    for name in ("processes", "brokers", "growth", "activity"):
        assert cut[name].equals(whole[name]), name
    assert whole["growth"].num_rows and whole["processes"]["month"].to_pylist() == ["2025-08"]

"""Hosts, counters and brokers as rows: what each row says, held against a slow count of the same log."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from idcore.answers import growth
from idcore.presentation.html import broker_logs as broker_html
from idcore.presentation.html import counters as counter_html
from idcore.presentation.html import hosts as host_html
from idcore.presentation.triage import broker_logs, broker_rows, counter_rows, host_rows
from idcore.presentation.triage.broker_logs import Speed
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from pages.parts.triage import ranking
from tests.pages.test_parts import reader

START = datetime(2026, 11, 20, 2, tzinfo=UTC)
GIB = 1 << 30
MINUTE = 60_000


def log(minutes: range, rate: int, base: int = 0) -> growth.Log:
    """A log that grows by so many bytes a minute."""
    first = int(START.timestamp()) // 60
    rows = [growth.Row(first + n, base + n * rate, base + n * rate, (first + n) * MINUTE) for n in minutes]
    made = growth.of_rows([row._replace(high_at=row.low_at) for row in rows])
    assert made is not None
    return made


def broker_tables(logs: dict[str, growth.Log]) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Speed]]:
    brokers, segments = [], []
    for address, one in logs.items():
        host, _, port = address.rpartition(":")
        low, high = int(one.lows[0]), int(one.highs[-1])
        brokers.append({"address": address, "host": host, "port": int(port), "ids": len(one.lows), "max_offset": high})
        segments += [
            {"address": address, "segment": f"{n * GIB:020d}", "ids": 1} for n in range(low // GIB, high // GIB + 1)
        ]
    speeds = {address: Speed(rate) for address, one in logs.items() if (rate := growth.rate(one))}
    return pd.DataFrame(brokers), pd.DataFrame(segments), speeds


LOGS = {
    "10.0.0.1:10911": log(range(60), 60 << 20, 7 * GIB),
    "10.0.0.2:10911": log(range(60), 6 << 20, GIB // 2),
    "10.0.0.3:10911": log(range(21), 90 << 20),
}


def rows(cut: datetime = START - timedelta(days=3)) -> list[broker_rows.BrokerRow]:
    """Those of LOGS, in their order: the list begins with the one that stopped."""
    brokers, segments, speeds = broker_tables(LOGS)
    stopped, *growing = broker_rows.rows_of(brokers, segments, LOGS, speeds, cut)
    return [*growing, stopped]


def test_a_broker_that_stopped_comes_first_then_the_fastest() -> None:
    found = rows()
    assert [row.address for row in found] == [*LOGS]
    assert [row.silent_since for row in found] == [None, None, START + timedelta(minutes=20)]
    assert sum(row.share for row in found) == pytest.approx(1)


OF_RANKS = {"layout": "uniq_v4", "produced": 9, "missing": 0, "wraps": 0, "tracks": 1}


def anew(fell: int, until: int, rate: int = MINUTE) -> growth.Log:
    """A log that begins anew near 0 at a minute, at the same address, and goes on up to another one.

    `rate`: bytes a minute.
    """
    first = int(START.timestamp()) // 60
    offsets = [(n, 40 * GIB + n * rate if n < fell else (n - fell + 1) * rate) for n in range(until)]
    made = growth.of_rows([growth.Row(first + n, at, at, *[(first + n) * MINUTE] * 2) for n, at in offsets])
    assert made is not None
    return made


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("fell", "since"), [(40, 39), (15, 14)], ids=["late", "early"])
def test_a_broker_whose_log_begins_anew_is_not_said_to_have_stopped(fell: int, since: int, lang: str) -> None:
    """Its row says since when; its file is the one that is written now, and is full at no known time."""
    logs = LOGS | {"10.0.0.3:10911": anew(fell, 60)}
    brokers, segments, speeds = broker_tables(logs)
    brokers.loc[2, "max_offset"] = 40 * GIB + fell * MINUTE
    found = broker_rows.rows_of(brokers, segments, logs, speeds, START - timedelta(days=3))
    row, view = found[0], reader(lang)
    assert (row.address, row.silent_since) == ("10.0.0.3:10911", None)
    assert row.lower_since == START + timedelta(minutes=since)
    assert row.full_at is None and row.written == (60 - fell) * MINUTE
    headline, aside = broker_rows.said(found, view, START)
    at = view.second(row.lower_since)
    assert headline.startswith(view.words("brokers.said_lower", address=row.address, at=at).strip())
    assert "10.0.0.1:10911" in aside and row.address not in aside and broker_rows.spoken_of(found) is row
    listed = broker_html.rows(found, dict.fromkeys(logs, "#123456"), view, "run", ALL_TIMES, "span")
    cells = str(listed).partition("<tbody>")[2]
    assert view.words("brokers.lower") in cells and view.words("brokers.silent") not in cells


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_brokers_whose_logs_begin_anew_at_once_are_one_sentence(lang: str) -> None:
    logs = LOGS | {f"10.0.1.{n}:10911": anew(40, 60) for n in range(5)}
    brokers, segments, speeds = broker_tables(logs)
    found = broker_rows.rows_of(brokers, segments, logs, speeds, START - timedelta(days=3))
    view, own = reader(lang), [f"10.0.1.{n}:10911" for n in range(5)]
    headline, _ = broker_rows.said(found, view, START)
    at = view.second(START + timedelta(minutes=39))
    names = view.words.first(own, broker_logs.NAMED)
    told = view.words("brokers.said_lower_at_once", n=view.words.count("broker", 5), at=at, names=names).strip()
    assert told in headline and headline.count(at) == 1 and own[3] not in headline


def test_files_of_the_log_before_are_not_those_of_a_log_that_began_anew() -> None:
    """A log at 40 GiB that begins anew at 0 has one file, and not 41."""
    logs = LOGS | {"10.0.0.3:10911": anew(40, 60)}
    brokers, segments, speeds = broker_tables(logs)
    before = pd.DataFrame([{"address": "10.0.0.3:10911", "segment": f"{40 * GIB:020d}", "ids": 1}])
    segments = pd.concat([segments, before], ignore_index=True)
    row = broker_rows.rows_of(brokers, segments, logs, speeds, START - timedelta(days=3))[0]
    assert row.lower_since and len(row.files) + row.older == 1


def test_a_broker_that_stopped_after_its_log_began_anew_has_stopped_then() -> None:
    """One minute with a lower offset is no other log: it may be dated wrongly."""
    for until, silent in ((30, 29), (26, 24)):
        logs = LOGS | {"10.0.0.3:10911": anew(25, until)}
        found = broker_rows.rows_of(*broker_tables(logs)[:2], logs, {}, START - timedelta(days=3))
        stopped = [(row.silent_since, row.lower_since) for row in found if row.silent_since or row.lower_since]
        assert stopped == [(START + timedelta(minutes=silent), None)]


def test_of_many_brokers_whose_offsets_fell_some_are_named() -> None:
    row, view = replace(rows()[0], lower_since=START), reader()
    many = [replace(row, address=f"10.0.0.{n}:10911", lower_since=START + n * timedelta(minutes=1)) for n in range(5)]
    headline, aside = broker_rows.said(many, view, START)
    assert headline.count("lower than before") == 3 and "2 brokers more" in headline and not aside


def test_brokers_are_sought_by_name_address_or_network_and_ordered_as_asked() -> None:
    found = rows()
    named = [replace(found[0], name="broker-b"), *found[1:]]
    for text, places in (
        ("BROKER-B", [0]),
        ("10.0.0", [0, 1, 2]),
        ("10.0.0.0/31", [0]),
        ("10.9.0.0/16", []),
        (" /x", []),
    ):
        assert broker_rows.matching(named, text) == [named[place] for place in places], text
    other = [*reversed(found)]  # of equal ones the order stays
    for by, key in (("records", lambda row: -row.share), ("address", lambda row: row.address)):
        assert broker_rows.ordered(other, by) == sorted(other, key=key)
    full = broker_rows.ordered(other, "full")
    known = [row.full_at for row in full if row.full_at is not None]
    assert [row.full_at for row in full] == [*sorted(known), None], "which is never full comes last"
    assert broker_rows.ordered(found, "growth") == found and broker_rows.sorts(found) == list(broker_rows.SORTS)
    assert broker_rows.sorts([replace(row, speed=None) for row in found]) == ["records", "address"]


def test_a_file_is_full_when_its_rest_is_written_at_the_rate_of_its_broker() -> None:
    first, second, stopped = rows()
    for row in (first, second):
        left = row.size - row.written
        assert row.speed is not None and row.full_at is not None
        last = START + timedelta(minutes=59)
        assert (row.full_at - last).total_seconds() == pytest.approx(left / row.speed.rate)
        assert row.written == int(LOGS[row.address].highs[-1]) % GIB
    assert stopped.full_at is None, "nobody knows when it goes on"


def test_all_strips_have_one_scale_of_time_and_of_speed() -> None:
    first, second, stopped = rows()
    tops = [max(step.height for step in row.strip) for row in (stopped, first, second)]
    assert tops == pytest.approx([1, 60 / 90, 6 / 90], rel=0.01)
    assert stopped.strip[-1].right == pytest.approx(20 / 59, rel=0.05) and first.strip[-1].right == 1


@pytest.mark.parametrize("seed", range(20))
def test_an_outline_never_leaves_its_box(seed: int) -> None:
    chance = random.Random(seed)
    edges = sorted(chance.random() for _ in range(2 * chance.randrange(1, 9)))
    steps = [broker_rows.Step(a, b, chance.random()) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    corners = [[float(part[:-1]) for part in corner.split()] for corner in broker_rows.outline(steps).split(", ")]
    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in corners)
    assert corners[0][1] == corners[-1][1] == 100, "it stands on the ground"
    assert [x for x, _ in corners] == sorted(x for x, _ in corners)


def test_a_range_moves_the_strip_and_not_what_is_counted_of_the_whole_scan() -> None:
    brokers, segments, speeds = broker_tables(LOGS)
    within = TimeRange(START + timedelta(minutes=10), START + timedelta(minutes=15))
    stopped, *growing = broker_rows.rows_of(brokers, segments, LOGS, speeds, START - timedelta(days=3), within=within)
    found = [*growing, stopped]
    assert [row.full_at for row in found] == [row.full_at for row in rows()]
    assert [row.silent_since for row in found] == [row.silent_since for row in rows()]
    assert all(len(a.strip) < len(b.strip) for a, b in zip(found, rows(), strict=True))


def test_files_before_the_deletion_line_are_marked_and_counted() -> None:
    half = START + timedelta(minutes=30)
    (first, *_) = rows(half)
    border = next(row for row in LOGS["10.0.0.1:10911"].lows if row >= 7 * GIB + 29 * (60 << 20)) // GIB
    assert first.files.count("deleted") == border - 7
    assert broker_rows.files_text(first, reader().words).endswith(f"{border - 7} probably deleted")
    old = rows(START + timedelta(days=9))
    assert all(set(row.files) == {"deleted"} for row in old), "all is older"
    brokers, segments, speeds = broker_tables({"10.0.0.1:10911": log(range(600), 60 << 20)})
    (long,) = broker_rows.rows_of(brokers, segments, {}, speeds, half)
    assert len(long.files) + long.older == len(segments) and len(long.files) == broker_rows.MOST_CELLS


def test_a_file_that_is_full_in_days_has_a_day_and_no_minute() -> None:
    row, view = rows()[0], reader()
    far = replace(row, written=0, speed=Speed(row.size / (2 * 86_400)), full_at=START + timedelta(days=2))
    near = replace(far, speed=Speed(row.size / 3_600), full_at=START + timedelta(hours=1))
    day = f"{START + timedelta(days=2):%m-%d}"
    assert broker_rows.gauge_text(far, view).endswith(f"full around {day}")
    assert f"around **2026-{day}**" in said([far], view, START)
    assert near.full_at is not None
    assert broker_rows.gauge_text(near, view).endswith(broker_rows.clock(near.full_at, view))


def test_nobody_says_when_a_file_is_full_in_centuries_and_one_step_is_no_strip() -> None:
    logs = {"10.0.0.1:10911": log(range(1), 60)}
    brokers, segments, _ = broker_tables(logs)
    within, speeds = TimeRange(START, START + timedelta(minutes=9)), {"10.0.0.1:10911": Speed(0.08)}
    (slow,) = broker_rows.rows_of(brokers, segments, logs, speeds, START, within=within)
    assert slow.full_at is None and slow.strip == ()
    assert "4.8 B/min" in said([slow], reader(), START)


def said(*given: Any) -> str:
    """The headline of brokers, and what is beside it."""
    return " ".join(filter(None, broker_rows.said(*given)))


def test_the_headline_is_of_the_trouble_alone_and_so_is_the_link() -> None:
    """Who grows and whose file is full is beside it; where all is well it is the headline."""
    fast, slow, silent = rows()
    headline, aside = broker_rows.said([fast, slow, silent], reader(), START)
    assert headline.count("10.0.0.3:10911") == 1 and "grow" not in headline and "full" not in headline
    assert "grow" in aside and "10.0.0.1:10911" in aside and aside.endswith("and the next one begins.")
    assert broker_rows.spoken_of([fast, slow, silent]) is silent
    even = [replace(fast, share=0.5), replace(slow, share=0.5)]
    headline, aside = broker_rows.said(even, reader(), START)
    assert "grows fastest" in headline and headline.endswith("and the next one begins.") and not aside
    assert broker_rows.spoken_of(even) is broker_rows.first_full(even)
    large = [replace(slow, share=0.9), replace(fast, share=0.05), replace(fast, share=0.05)]
    headline, aside = broker_rows.said(large, reader(), START)
    assert "90%" in headline and "grow" in headline and "full" not in headline and "full first" in aside
    assert broker_rows.spoken_of(large) is large[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_headline_of_brokers_names_who_is_fastest_and_who_stopped(lang: str) -> None:
    both = said(rows(), reader(lang), START)
    assert "10.0.0.1:10911" in both and "10.0.0.3:10911" in both and "10.0.0.2" not in both
    assert "2026-11-20 10:20" in both, "when the last record of the third is"
    assert not said([], reader(lang), START)


def test_of_brokers_the_silent_one_is_first_and_who_has_most_or_is_far_faster_is_said() -> None:
    first, second, third = rows()
    assert said([first, second, third], reader(), START).startswith("**10.0.0.3:10911** has no record")
    fast, slow = (replace(row, silent_since=None, speed=Speed(rate)) for row, rate in ((first, 90.0), (second, 20.0)))
    others = [replace(slow, address=f"10.0.0.{n}:10911", share=0.1) for n in range(4, 9)]
    large = said([replace(fast, share=0.5), *others], reader(), START)
    assert large.startswith("**10.0.0.1:10911** has **50%** of the records of 6 brokers.")
    assert ", about 4 times as fast as the next" in large
    even = said([replace(fast, share=0.5), replace(slow, share=0.5, speed=Speed(60.0))], reader(), START)
    assert "of the records" not in even and "times as fast" not in even


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_file_that_would_be_full_by_now_is_in_the_past_and_the_first_one_is_named(lang: str) -> None:
    view, (fast, slow, _) = reader(lang), rows()
    assert fast.full_at is not None
    at, clock = view.minute(fast.full_at), broker_rows.clock(fast.full_at, view)
    for now, form in ((fast.full_at, ""), (fast.full_at + timedelta(minutes=1), "_past")):
        assert view.words(f"brokers.said_full{form}", at=at) in said([fast], view, now)
    assert broker_rows.gauge_text(fast, view).endswith(view.words("brokers.gauge_full", at=clock))
    early = replace(slow, full_at=START)
    for now, form in ((START, ""), (fast.full_at, "_past")):
        first = view.words(f"brokers.said_first{form}", address=slow.address, at=view.minute(START))
        assert first in said([fast, early], view, now)
        assert first not in said([fast, slow], view, now)
    assert broker_rows.first_full([fast, early]) is early and broker_rows.first_full([fast, slow]) is fast
    assert broker_rows.first_full([replace(slow, full_at=None)]) is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_a_file_that_is_full_later_is_extrapolated_from_is_said(lang: str) -> None:
    """Not where the log is longer than the time until then."""
    view, (fast, slow, _) = reader(lang), rows()
    assert fast.speed is not None
    rest = (fast.size - fast.written) / fast.speed.rate
    for row, seconds, is_said in ((fast, rest / 2, True), (fast, rest * 2, False)):
        known = replace(row, speed=Speed(fast.speed.rate, 1, seconds))
        basis = view.words("brokers.said_basis", span=view.words.duration(seconds))
        assert (basis in said([known], view, START)) is (basis in said([known, slow], view, START)) is is_said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nobody_is_the_fastest_of_brokers_that_are_about_equally_fast(lang: str) -> None:
    view, (row, *_) = reader(lang), rows()

    def at_rates(*rates: float) -> str:
        some = [replace(row, address=f"10.0.0.{n}:10911", speed=Speed(rate)) for n, rate in enumerate(rates, 1)]
        ends = [replace(one, full_at=START + timedelta(hours=len(some) - n)) for n, one in enumerate(some)]
        return said(ends, view, START)

    every = at_rates(6_648, 6_645, 6_644, 6_580)
    all_four = view.words("brokers.alike", n=view.words.count("broker", 4), rate="6.4 KiB/s – 6.5 KiB/s")
    assert every.startswith(all_four.strip().replace("KiB/s", view.words("brokers.rate.s", size="KiB")))
    assert "10.0.0.1:10911" not in every and every.count("10.0.0.4:10911") == 1, "whose file is full first"
    some = at_rates(6_648, 6_645, 3_000)
    of = view.words.count("broker", 3)
    assert some.startswith(
        view.words("brokers.alike_of", n="2", of=of, rate=broker_rows.rate_text(6_648, view.words)).strip()
    )
    one = at_rates(7_000, 6_645, 3_000)
    assert one.startswith(
        view.words("brokers.fastest", address="10.0.0.1:10911", rate=broker_rows.rate_text(7_000, view.words)).strip()
    )
    at = f"{START + timedelta(hours=1):%Y-%m-%d}"
    for text, last in ((every, 4), (some, 3), (one, 3)):
        assert text.endswith(
            view.words("brokers.said_first", address=f"10.0.0.{last}:10911", at=at) + view.words("stop").strip()
        )
        assert text.count(at) == text.count(" 2026-") + text.count("**2026-") == 1, (
            "one time, of the broker that the link is of"
        )


@pytest.mark.parametrize(
    ("silent", "rates", "code", "n", "low"),
    [
        (False, (183, 180, 175, 172, 161, 60), "none_apart", 6, 60),
        (True, (183, 180, 172, 161), "none_apart_rest", 4, 161),
        (True, (404, 399, 396), "alike_rest", 3, 396),
        (False, (183, 180, 60), "alike_of", 2, 180),  # the third is far behind
    ],
)
def test_brokers_of_which_none_stands_out_are_said_as_a_whole(
    silent: bool, rates: tuple[int, ...], code: str, n: int, low: int
) -> None:
    view, (row, _, stopped) = reader(), rows()
    some = [replace(row, address=f"10.0.1.{at}:10911", speed=Speed(rate)) for at, rate in enumerate(rates)]
    of = view.words.count("broker", len(rates))
    values = {"n": f"{n}", "of": of} if code == "alike_of" else {"n": view.words.count("broker", n)}
    said_rate = " – ".join(broker_rows.rate_text(rate, view.words) for rate in (low, rates[0]))
    text = view.words(f"brokers.{code}", rate=said_rate, **values)
    assert text.strip() in said([*some, stopped] if silent else some, view, START)


def test_a_broker_that_grows_without_more_records_here_is_said_to() -> None:
    row = replace(rows()[0], share=0.2, full_at=None)
    fast, *others = [replace(row, address=f"10.0.1.{at}:10911", speed=Speed(9.0 - 8 * (at > 0))) for at in range(5)]
    assert "but has only **20%** of the records in this input" in said([fast, *others], reader(), START)
    more = [replace(fast, share=0.36), *(replace(one, share=0.16) for one in others)]
    assert "in this input" not in said(more, reader(), START)


def test_a_row_of_a_broker_shows_no_markup_of_a_name() -> None:
    view = reader()
    colours = dict.fromkeys(LOGS, "#123456")
    html = broker_html.rows(rows(), colours, view, "r", ALL_TIMES, "<span>")
    even = [replace(row, share=share) for row, share in zip(rows(), (0.251, 0.25, 0.499), strict=True)]
    column = re.findall(r">([0-9.]+%)<", broker_html.rows(even, colours, view, "r", ALL_TIMES, ""))
    assert column == ["25.1%", "25.0%", "49.9%"], "one decimal in every row"
    assert "&lt;span&gt;" in html and html.count("mq-gauge") == 3 and html.count("clip-path") == 3


@pytest.mark.parametrize("seed", range(20))
def test_an_offset_is_looked_for_in_the_logs_of_all_brokers(seed: int) -> None:
    chance = random.Random(seed)
    ends = {name: (int(one.lows[0]), int(one.highs[-1])) for name, one in LOGS.items()}
    near = chance.choice([end for both in ends.values() for end in both])
    offset = max(0, near + chance.choice([-1, 0, 1, -(1 << 31), 1 << 31]))
    told = list(broker_logs.ages(LOGS, offset, broker_logs.Retention(), reader(), START))
    inside = [name for name, (low, high) in ends.items() if low <= offset <= high]
    if inside:
        assert len(told) == len(inside) and all(name in text for name, text in zip(inside, told, strict=True))
        return
    apart = {name: min(abs(offset - low), abs(offset - high)) for name, (low, high) in ends.items()}
    (only,) = told
    assert min(apart.items(), key=lambda one: one[1])[0] in only
    assert reader().words.bytes(min(apart.values())) in only


# ---- hosts


def processes(*made: dict[str, Any]) -> pd.DataFrame:
    usual = {"layout": "uniq_v4", "pid": 7, "loader": "18B4AAC2", "maker": "", "loader_position": None, "ids": 10}
    frame = pd.DataFrame([usual | {"distinct": 10, "missing": 0, "produced": 10, "tracks": 1} | one for one in made])
    return frame.astype({"missing": "int64", "produced": "int64"})


def counter(*counters: int) -> pd.DataFrame:
    """The points of one chain, an ID each second."""
    places = list(counters)
    before = [0, *(b - a - 1 for a, b in itertools.pairwise(places))]
    return pd.DataFrame(
        {
            "track": 0,
            "chain": 0,
            "position": [place - places[0] for place in places],
            "counter": [place % 65_536 for place in places],
            "missing_before": before,
            "elapsed_ms": [place * 1000 for place in places],
            "sent_at": pd.to_datetime([int(START.timestamp()) + place for place in places], unit="s", utc=True),
        }
    )


def test_a_hole_is_a_loss_at_any_share_and_an_even_share_is_a_sample() -> None:
    hole, even = counter(*range(200), *range(700, 900)), counter(*range(0, 4000, 10))
    made = processes(
        {"host": "10.0.0.1", "distinct": 400, "missing": 500, "produced": 900},
        {"host": "10.0.0.2", "distinct": 400, "missing": 3_591, "produced": 3_991},
        {"host": "10.0.0.3", "distinct": 95, "missing": 5, "produced": 100},
    )
    known = {"10.0.0.1": hole, "10.0.0.2": even}
    found = host_rows.judged(made, lambda row: known[row["host"]])
    assert found["lost"].tolist() == [500, 0, 5] and found["sample"].tolist() == [False, True, False]
    worst = host_rows.worst(found, lambda row: known[row["host"]])
    assert worst is not None and worst.process["host"] == "10.0.0.1" and worst.widest == 500
    assert worst.begins == pd.Timestamp(START + timedelta(seconds=199))
    said = host_rows.said(worst, ["10.0.0.9"], reader())
    assert "**500 IDs**" in said and "in a row" in said and "10.0.0.9" in said
    assert worst.ends is not None and "for 8 min 21 s." in said, "how long, as on the other pages"
    assert host_rows.worst(found.iloc[[1]], lambda _: even) is None


def hosts_until(*ends: int, each: int = 600) -> pd.DataFrame:
    """Hosts with an ID a second each for so many seconds; `each` is how many IDs they have."""
    rows = [
        {
            "host": f"10.0.0.{n}",
            "ids": each,
            "distinct": each,
            "first_sent_at": START,
            "last_sent_at": START + timedelta(seconds=end),
        }
        for n, end in enumerate(ends)
    ]
    return pd.DataFrame(rows)


def test_a_host_that_has_no_more_ids_when_others_go_on_is_named() -> None:
    named = host_rows.silent_text(hosts_until(600, 300, 595, 600), reader(), " (assumed)")
    assert named == " **10.0.0.1** has no ID after **2026-11-20 10:05:00 +08:00 (assumed)**."
    at_once = host_rows.silent_text(hosts_until(*[600] * 30, *[300] * 4, 303), reader())
    assert at_once.startswith(" **5 of 35 hosts** have no ID after **2026-11-20 10:05:03 +08:00**: ")
    assert at_once.endswith(": 10.0.0.30, 10.0.0.31, 10.0.0.32 and 2 more."), "three of them by name"
    apart = host_rows.silent_text(hosts_until(*[600] * 30, 60, 120, 180, 240), reader())
    assert apart.startswith(" **4 of 34 hosts** have none long before the end") and "10.0.0.30" in apart


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_host_whose_ids_are_all_of_another_time_may_have_a_wrong_clock(lang: str) -> None:
    """A day behind, it ended before the others began: nobody sees whether it stopped."""
    view, hosts = reader(lang), hosts_until(600, 600, 600)
    day = timedelta(days=1)
    hosts.loc[1, ["first_sent_at", "last_sent_at"]] -= day
    text = host_rows.silent_text(hosts, view)
    assert "10.0.0.1" in text and text.endswith(view.words("producers.apart"))
    assert view.words("producers.apart") not in host_rows.silent_text(hosts_until(600, 300, 600), view)
    processes = lived(("a", 0, 600), ("b", 0, 600), ("c", 0, 600)).assign(pid=[1, 2, 3])
    processes.loc[1, ["first_sent_at", "last_sent_at"]] -= day
    said, is_over = host_rows.life(processes.iloc[1].to_dict(), processes, view)
    assert said.endswith(view.words("counters.said_apart")) and is_over


@pytest.mark.parametrize(
    "hosts",
    [
        hosts_until(600),
        hosts_until(600, 560),  # within a minute
        hosts_until(600, 300, each=9),  # one in 37 s: twenty such waits are longer than the rest
        hosts_until(600, 600, 600, 90_000),  # the clock of one is ahead
        hosts_until(600, 600, 90_000, 90_000),  # or those of two: not that most hosts are silent
        hosts_until(600, 300).assign(last_sent_at=pd.NaT),
    ],
)
def test_whose_silence_means_nothing_is_not_named(hosts: pd.DataFrame) -> None:
    assert host_rows.silent_text(hosts, reader()) == ""


def side_by_side(*spans: tuple[int, int], each: int = 600) -> pd.DataFrame:
    """Processes of one host, from second to second, next to a host that sends from 0 to 2,400."""
    rows = [("10.0.0.1", *span) for span in spans] + [("10.0.0.2", 0, 2_400)]
    frame = pd.DataFrame(rows, columns=["host", "first", "last"])
    for name in ("first", "last"):
        frame[f"{name}_sent_at"] = [pd.Timestamp(START + timedelta(seconds=at)) for at in frame[name]]
    return frame.assign(ids=each, distinct=each)


def test_a_process_that_follows_another_is_named_also_among_others_of_its_host() -> None:
    def second(at: int) -> pd.Timestamp:
        return pd.Timestamp(START + timedelta(seconds=at))

    others = ((0, 2_400), (3, 2_399))
    found = host_rows.replaced(side_by_side(*others, (0, 1_795), (1_806, 2_400)))
    assert found == [("10.0.0.1", second(1_795), second(1_806))]
    assert host_rows.replaced(side_by_side((0, 1_795), (1_806, 2_400))) == found, "one after the other"
    for spans in (
        (*others, (0, 1_795)),  # it ended
        (*others, (1_806, 2_400)),  # another began
        (*others, (0, 1_000), (1_806, 2_400)),  # long before
        (*others, (0, 1_810), (1_806, 2_400)),  # at the same time
    ):
        assert host_rows.replaced(side_by_side(*spans)) == [], spans
        assert host_rows.place_of_replaced(side_by_side(*spans)) is None
    assert host_rows.replaced(side_by_side(*others, (0, 1_795), (1_806, 2_400), each=9)) == [], "they send seldom"
    assert host_rows.place_of_replaced(side_by_side(*others, (0, 1_795), (1_806, 2_400))) == 2


def sizes(*ids: int) -> pd.DataFrame:
    return hosts_until(*[600] * len(ids)).assign(distinct=ids)


def test_few_hosts_with_far_more_messages_than_the_others_are_named() -> None:
    few = host_rows.changes(sizes(*[10] * 28, 90, 120), pd.DataFrame(columns=PROCESS), reader())
    assert few == " **10.0.0.29** and **10.0.0.28** generated **42.9%** of the messages of 30 hosts."
    assert host_rows.largest(sizes(10, 10, 900)) == (["10.0.0.2"], 900 / 920)
    for even in (sizes(900), sizes(900, 10), sizes(*[10] * 28, 40, 45), sizes(*[10] * 90, 60), sizes(90, 90, 90)):
        assert host_rows.largest(even) is None


PROCESS = ["host", "first_sent_at", "last_sent_at"]


def lived(*lives: tuple[str, int, int]) -> pd.DataFrame:
    """Processes by host, from and until a second."""
    moments = [(host, START + timedelta(seconds=begin), START + timedelta(seconds=end)) for host, begin, end in lives]
    return pd.DataFrame(moments, columns=PROCESS).assign(ids=600)


def test_a_process_that_begins_when_that_of_its_host_has_ended_is_said() -> None:
    processes = lived(("a", 0, 100), ("a", 160, 600), ("b", 0, 300), ("b", 200, 600), ("c", 0, 600))
    named = host_rows.changes(hosts_until(600, 600), processes, reader(), " (assumed)")
    moments = "between **2026-11-20 10:01:40** and **10:02:40 +08:00 (assumed)**"
    assert named == f" On **a** a process ended and another began, {moments}."
    many = lived(*((f"h{n}", begin, begin + 90) for n in range(5) for begin in (0, 200)))
    assert host_rows.changes(hosts_until(*[600] * 9), many, reader()).startswith(" On **5 of 9 hosts** a process ended")


def test_hosts_are_listed_by_when_they_end() -> None:
    table = hosts_until(600, 300, 450)
    rows = host_rows.summed(table, processes({"host": "10.0.0.0"}), "ids", str)
    assert host_rows.ordered(rows, "ended")["name"].tolist() == ["10.0.0.1", "10.0.0.2", "10.0.0.0"]


@pytest.mark.parametrize("seed", range(5))
def test_a_group_of_hosts_has_the_sums_of_its_hosts(seed: int) -> None:
    chance = random.Random(seed)
    hosts = [f"10.0.{chance.randrange(4)}.{n}" for n in range(60)] + ["2001:db8::1", "2001:db8::2"]
    table = pd.DataFrame({"host": hosts, "ids": [chance.randrange(1, 99) for _ in hosts]}).assign(distinct=1)
    own = processes(*({"host": host, "missing": chance.randrange(2), "produced": 100} for host in hosts))
    judged = host_rows.judged(own, lambda _: pd.DataFrame())
    for group, name in (("network", host_rows.network_of), ("host", str)):
        assert host_rows.namer(group, own, reader().words)("10.0.1.7") == name("10.0.1.7")
        found = host_rows.summed(table, judged, "ids", name)
        for row in found.to_dict("records"):
            mine = [host for host in hosts if name(host) == row["name"]]
            assert row["messages"] == table[table["host"].isin(mine)]["ids"].sum()
            assert (row["hosts"], row["processes"]) == (len(mine), len(mine))
            assert row["lost"] == own[own["host"].isin(mine)]["missing"].sum()
        assert found["messages"].sum() == table["ids"].sum()
        values = host_rows.ordered(found, "messages")["messages"].tolist()
        assert values == sorted(values, reverse=True)
    assert "10.0.0.0/24" in set(host_rows.summed(table, judged, "ids", host_rows.network_of)["name"])


def test_hosts_are_found_by_a_part_or_a_network_and_ordered_as_numbers() -> None:
    table = pd.DataFrame(
        {"name": ["10.0.0.10", "10.0.0.9", "10.1.0.1", "2001:db8::1", "pod-7"], "messages": 1, "processes": 1}
    )
    assert host_rows.matching(table, "10.0.0.0/24")["name"].tolist() == ["10.0.0.10", "10.0.0.9"]
    assert host_rows.matching(table, "POD")["name"].tolist() == ["pod-7"]
    assert host_rows.matching(table, "10.0.0.0/99").empty and len(host_rows.matching(table, "")) == 5
    assert host_rows.matching(table, "[.(").empty, "it is text, not a pattern"
    by = host_rows.ordered(table, "host")["name"].tolist()
    assert by == ["10.0.0.9", "10.0.0.10", "10.1.0.1", "2001:db8::1", "pod-7"]


@pytest.mark.parametrize("seed", range(10))
def test_a_strip_is_as_long_as_its_cells_and_blank_where_nothing_was(seed: int) -> None:
    chance = random.Random(seed)
    values = [chance.choice([0.0, 0.0, chance.random(), 1.0]) for _ in range(chance.randrange(1, 90))]
    stops = [stop.split() for stop in host_rows.stops(values, ["#aaa", "#bbb", "#ccc"]).split(", ")]
    ends = [(float(a[:-1]), float(b[:-1])) for _, a, b in stops]
    assert ends[0][0] == 0 and ends[-1][1] == pytest.approx(100)
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(ends))
    width = 100 / len(values)
    for place, value in enumerate(values):
        (colour,) = [c for c, a, b in stops if float(a[:-1]) - 0.02 <= (place + 0.5) * width < float(b[:-1]) + 0.02][:1]
        assert (colour == "transparent") == (value == 0), place


def test_the_strip_of_a_row_is_when_its_hosts_were_busy() -> None:
    minutes = pd.to_datetime([START + timedelta(minutes=n) for n in (0, 1, 9, 0)])
    activity = pd.DataFrame({"host": ["a", "a", "a", "b"], "minute": minutes, "ids": [4, 2, 1, 7]})
    found, step, ends = host_rows.strips(activity, ["a", "b"], str, pd.Timedelta(minutes=1))
    assert step == pd.Timedelta(minutes=1) and ends == (minutes[0], minutes[0] + pd.Timedelta(minutes=10))
    assert found["a"] == [1, 0.5, 0, 0, 0, 0, 0, 0, 0, 0.25] and found["b"][0] == 1 and not any(found["b"][1:])
    whole = minutes[0] - pd.Timedelta(minutes=5), minutes[0] + pd.Timedelta(minutes=14, seconds=59)
    alone, _, ends = host_rows.strips(activity, ["b"], str, pd.Timedelta(minutes=1), whole)
    assert ends == (whole[0], minutes[0] + pd.Timedelta(minutes=15)) and len(alone["b"]) == 20
    assert alone["b"][5] == 1 and sum(alone["b"]) == 1, "a host that stopped does not fill its strip"
    both, _, _ = host_rows.strips(activity, ["all"], lambda _: "all", pd.Timedelta(minutes=1))
    assert both["all"][0] == 1 and both["all"][1] == pytest.approx(2 / 11)


def test_the_rest_of_a_list_is_told_in_its_true_size() -> None:
    rows_ = pd.DataFrame({"name": ["a", "b", "c"], "messages": [50, 30, 20], "hosts": 1, "processes": 1})
    look = host_html.Look({}, {}, "when", ["#abc"], "r", {}, False, "distinct", 400)
    html = host_html.rows(rows_.head(1), rows_.iloc[1:], (5, 300), look, reader())
    assert "7 more hosts: 350 messages together, 87.5%." in html and "12.5%" in html
    column = re.findall(r"<span>([0-9.]+%)</span>", host_html.rows(rows_, rows_.head(0), (5, 300), look, reader()))
    assert column == ["12.5%", "7.5%", "5.0%"], "one decimal in every row"
    assert not re.search("7 more", host_html.rows(rows_, rows_.head(0), (0, 0), look, reader()))


# ---- counters


@pytest.mark.parametrize("seed", range(15))
def test_squares_show_what_is_missing_around_the_widest_gap(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    here = sorted(chance.sample(range(chance.choice([200, 3_000])), 90))
    start = chance.randrange(65_536)
    points = counter(*(start + place for place in here))
    gap = counter_rows.widest_gap(points)
    widths = [b - a - 1 for a, b in itertools.pairwise(here)]
    assert gap is not None and gap.missing == max(widths)
    at = widths.index(gap.missing)
    first, last = here[at] + 1, here[at + 1] - 1
    assert (gap.first, gap.last) == ((start + first) % 65_536, (start + last) % 65_536)
    around = max(gap.missing // 2, counter_rows.SQUARES // 4)
    left, right = max(here[0], first - around), min(here[-1] + 1, last + 1 + around)
    assert len(gap.squares) == min(counter_rows.SQUARES, right - left)
    missing = sum(gap.squares) * gap.each
    assert missing == pytest.approx(len(set(range(left, right)) - set(here)), abs=0.2)
    html = counter_html.gap(gap, "r", "p", reader())
    assert html.count("<i") == len(gap.squares) and f"{gap.missing:,} are missing" in html
    assert counter_rows.widest_gap(counter(*range(40))) is None


def test_the_next_wrap_is_where_the_line_reaches_the_top() -> None:
    row = {"layout": "uniq_v4", "rate_per_second": 100.0, "produced": 5_000, "tracks": 1, "last_counter": 65_036}
    every, at = counter_rows.next_wrap(row | {"last_sent_at": pd.Timestamp(START)}) or (None, None)
    assert every == timedelta(seconds=655.36) and at == START + timedelta(seconds=5)
    restarted = {"tracks": 1, "chains": 2}
    for other in ({"rate_per_second": None}, {"tracks": 2}, restarted, {"produced": 20}, {"rate_per_second": 1e-6}):
        assert counter_rows.next_wrap(row | {"last_sent_at": None} | other) is None


def test_a_small_sawtooth_stays_in_its_box_and_breaks_at_a_wrap() -> None:
    shape = counter_rows.outline(counter(*range(65_000, 66_000, 10)))
    corners = [[float(part[:-1]) for part in corner.split()] for corner in shape.split(", ")]
    assert all(0 <= x <= 100 and -0.1 <= y <= 100.1 for x, y in corners)
    highest, lowest = min(y for _, y in corners), max(y for _, y in corners)
    assert highest < 1 and lowest > 99, "up to the top, and again from the ground"
    assert counter_rows.outline(counter(5)) == ""


def test_small_sawtooths_share_one_axis_of_time_where_each_can_be_seen_on_it() -> None:
    def lived(*seconds: float) -> dict[str, object]:
        first, last = (pd.Timestamp(START) + pd.Timedelta(seconds=each) for each in seconds)
        return {"first_sent_at": first, "last_sent_at": last}

    within = counter_rows.common_span([lived(0, 100), lived(50, 200)])
    assert (within.begin, within.end) == (pd.Timestamp(START), pd.Timestamp(START) + pd.Timedelta(seconds=200))
    undated = {"first_sent_at": pd.NaT, "last_sent_at": pd.NaT}
    for rows in ([lived(0, 1), lived(0, 200)], [lived(0, 100), undated], [lived(5, 5)], []):
        assert not counter_rows.common_span(rows)
    points = counter(*range(100, 200))
    whole = TimeRange(
        points["sent_at"].min(), points["sent_at"].min() + 2 * (points["sent_at"].max() - points["sent_at"].min())
    )
    widths = [
        max(float(corner.split("%")[0]) for corner in counter_rows.outline(points, one).split(", "))
        for one in (ALL_TIMES, whole)
    ]
    assert widths == [100, 50]


def test_by_rate_a_process_with_few_ids_comes_after_those_with_many() -> None:
    """Three IDs of half a second are the fastest by chance; where all have few, those with the fewest."""
    processes = lived(*[(name, 0, 600) for name in "abcd"]).assign(
        pid=1, loader="", rate_per_second=[9.0, 8.0, 1.0, 2.0]
    )
    for distinct, order in (([3, 99, 5_000, 100], "dcab"), ([3, 8, 10, 2], "bcad"), ([9, 9, 9, 9], "abdc")):
        ranked = ranking.ranked(processes.assign(**OF_RANKS, distinct=distinct), "rate")
        assert "".join(ranked["host"]) == order
    by_wraps = ranking.ranked(processes.assign(**OF_RANKS | {"wraps": [1, 0, 0, 0]}, distinct=[3, 9, 9, 900]), "wraps")
    assert by_wraps["host"].iloc[0] == "a", "the others are no matter of chance"


def test_the_life_of_a_process_is_said_where_it_ended_or_began_in_the_place_of_another() -> None:
    processes = lived(("a", 0, 100), ("a", 160, 600), ("b", 0, 300), ("c", 0, 600), ("c", 1, 599)).assign(
        pid=[1, 2, 3, 4, 5]
    )
    said = [host_rows.life(row, processes, reader(), " (assumed)") for row in processes.to_dict("records")]
    moments = "between **2026-11-20 10:01:40** and **10:02:40 +08:00 (assumed)**. "
    assert said[0] == (f"**This process ended, and pid 2 of the same host began**, {moments}", True)
    assert said[1] == (f"**This process began after pid 1 of the same host had ended**, {moments}", False)
    assert said[2] == ("**This process has no ID after 2026-11-20 10:05:00 +08:00 (assumed).** ", True)
    assert said[3] == said[4] == ("", False)
    ahead = pd.concat([processes, lived(("e", 0, 9_000)).assign(pid=6)])  # the clock of one host
    assert host_rows.life(processes.iloc[3].to_dict(), ahead, reader()) == ("", False)
    undated = processes.iloc[0].to_dict() | {"first_sent_at": pd.NaT, "last_sent_at": pd.NaT}
    assert host_rows.life(undated, processes, reader()) == ("", False)


def test_a_host_that_begins_when_another_stops_is_named_and_one_that_begins_alone_is_not() -> None:
    def begun(*lives: tuple[str, int, int]) -> str:
        return host_rows.begun_text(lived(*lives), reader(), " (assumed)")

    others = (("c", 0, 600), ("d", 1, 600))
    assert begun(("a", 0, 100), ("b", 160, 600), *others) == (
        " **b** has its first ID at **2026-11-20 10:02:40 +08:00 (assumed)**."
    )
    assert begun(("b", 160, 600), *others) == "", "none stopped"
    assert begun(("a", 0, 100), *others) == ""
    assert begun(("a", 0, 300), ("b", 160, 600), *others) == "", "before the other stopped"

"""The twin against numbers worked out by hand, so that it can be trusted as referee. Knows nothing of idcore."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tests.scan import twin
from tests.scan.chains import chains, in_order, step, tracks
from tests.scan.logs import JAVA, client, offset, uniq, uniq_le
from tests.scan.reading import Calendar, Client, Offset, Refused, Uniq, classify, stream, tokens

pytestmark = pytest.mark.quick

AT = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = 86_400_000


def texts(data: bytes) -> list[str]:
    return [token.text for token in tokens(data)]


def only(data: bytes, table: str = "processes", zone: object = UTC) -> dict[str, object]:
    (row,) = twin.tables({"a.log": data}, zone, AT)[table]  # type: ignore[arg-type]
    return row


# --- tokens -----------------------------------------------------------------------------------------------------------

ID = "0A000001000118B4AAC2000003E80001"  # 10.0.0.1, pid 1, loader 18B4AAC2, elapsed 1,000 ms, counter 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ID, [ID]),
        (f"x{ID}g", [ID]),
        (f"{ID}0", []),  # 33 digits
        (f"{ID}00", [ID + "00"]),  # 34
        (f"{ID}{ID}", []),  # 64
        (f"{ID}{ID[:24]}", [ID + ID[:24]]),  # 56
        (f"{ID},{ID}", [ID, ID]),
        (f"%22{ID}%22", [ID]),
        (f"%22{ID}22", [ID + "22"]),
        (rf"\u0022{ID}\u0022", [ID]),
        (rf"\x22{ID}", [ID]),
        (rf"\U0022{ID}", []),  # 36 digits: only a small u is an escape
        (f"u0022{ID}", []),
        (f"%2{ID}", []),  # the escape takes two digits, 31 are left
        (f"%{ID}", []),  # takes 2 of 32
        (f"%2522{ID}", [ID]),  # an address in an address
    ],
)
def test_a_token_is_a_whole_run_without_the_digits_of_an_escape_before_it(text: str, found: list[str]) -> None:
    assert texts(text.encode()) == found


def test_a_token_knows_its_byte_and_the_label_before_it() -> None:
    line = f"msgId={ID}, keys={ID}, UNIQ_KEY: '{ID}', transactionId_={ID} MSGIDS :[\"{ID} messageId  ===={ID}".encode()
    assert [t.labelled for t in tokens(line)] == [True, False, True, False, True, False]  # six characters are too many
    assert [t.byte for t in tokens(line)][:2] == [6, 45]


# --- one id -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (ID, Uniq("uniq_v4", "10.0.0.1", 1, 0x18B4AAC2, 1000, 1)),
        ("0A00000100002A9F0000000000012345", Offset("offset_v4", "10.0.0.1", 10911, 0x12345)),
        ("0A00000100002A9F0001000000000000", Offset("offset_v4", "10.0.0.1", 10911, 2**48)),
        ("0A00000100002A9F0001000000000001", Uniq("uniq_v4", "10.0.0.1", 0, 0x2A9F0001, 0, 1)),
        ("0A000001000000000000000000000001", Refused("port")),  # port 0, loader 0
        ("0A000001000000000001000000000001", Uniq("uniq_v4", "10.0.0.1", 0, 1, 0, 1)),  # port 0, loader 1
        ("0A0000010000FFFF0000000000000001", Offset("offset_v4", "10.0.0.1", 65535, 1)),
        ("0A00000100010000" + "0000000000000001", Uniq("uniq_v4", "10.0.0.1", 1, 0, 0, 1)),  # "port" 65536
        ("0101007F0000A61200003CF1C4030100", Uniq("uniq_v4_le", "127.0.1.1", 0, 0x12A6, 0x03C4F13C, 1)),
        (
            "0A00000B00002A9F0000100000000100",
            Offset("offset_v4", "10.0.0.11", 10911, 2**44 + 256),
        ),  # 11.0.0.10 is not private
        ("01087190669A0000070000000A00000003", Client("08:71:90:66:9a:00", 7, 10, 3)),
        ("02087190669A0000070000000A00000003", Refused("version")),
        (ID.lower(), Refused("lower_case")),
        ("01087190669a0000070000000a00000003", Refused("lower_case")),
        (ID[:20] + ID[20:].lower(), Uniq("uniq_v4", "10.0.0.1", 1, 0x18B4AAC2, 1000, 1)),
        ("1" * 32, Uniq("uniq_v4", "17.17.17.17", 0x1111, 0x11111111, 0x11111111, 0x1111)),
        (uniq(1, 1, 0x7FFF0001, 2_678_401_000, 1), Uniq("uniq_v4", "0.0.0.1", 1, 0x7FFF0001, 2_678_401_000, 1)),
        (uniq(1, 1, 0x7FFF0001, 2_678_401_001, 1), Refused("elapsed")),
        (uniq(1, 1, JAVA, 2_678_401_001, 1), Uniq("uniq_v4", "0.0.0.1", 1, JAVA, 2_678_401_001, 1)),
        (uniq(1, 1, 0x7FFF0001, 2**32 - DAY - 1, 1), Refused("elapsed")),
        (uniq(1, 1, 0x7FFF0001, 2**32 - DAY, 1), Uniq("uniq_v4", "0.0.0.1", 1, 0x7FFF0001, 2**32 - DAY, 1)),
        ("20010DB8" + "0" * 23 + "1" + ID[8:], Uniq("uniq_v6", "2001:db8::1", 1, 0x18B4AAC2, 1000, 1)),
        ("FE80" + "0" * 27 + "A" + "00002A9F0000000000000007", Offset("offset_v6", "fe80::a", 10911, 7)),
    ],
)
def test_classification(text: str, meaning: object) -> None:
    assert classify(text) == meaning


def test_a_label_or_case_any_lets_more_in() -> None:
    late = uniq(1, 1, 0x7FFF0001, 3_000_000_000, 1)
    assert classify(late) == Refused("elapsed")
    assert isinstance(classify(late, labelled=True), Uniq)
    assert classify(ID.lower(), case="any") == classify(ID)
    assert isinstance(classify(("01" + "AB" * 16).lower(), case="any"), Client)


def test_the_stream_holds_the_published_hashes() -> None:
    published = {0x55054057: 0, 0x251A69D7: 8, 0x14DAD5DC: 14, 0x18B4AAC2: 15, 0x764C12B6: 16, 0x63947C6B: 66}
    published |= {0x30946E09: 307, 0x2437C6DC: 521, 0x4E0E2F2A: 18}
    assert {h: stream()[h] for h in published} == {h: (n, 31) for h, n in published.items()}
    assert stream()[0x18B4AAC2 & 0x1FFFFFF] == (15, 25)


# --- months -----------------------------------------------------------------------------------------------------------


def at(zone: object, elapsed: int, layout: str = "uniq_v4") -> str | None:
    start = Calendar(zone, AT).start(layout, elapsed)  # type: ignore[arg-type]
    return None if start is None else twin.instant(start + elapsed).isoformat()[:16]


def test_the_newest_month_that_fits() -> None:
    assert at(UTC, 0) == "2026-03-01T00:00"
    assert at(UTC, 9 * DAY + DAY // 2) == "2026-03-10T12:00"  # the reference itself
    assert at(UTC, 9 * DAY + DAY // 2 + 1) == "2026-02-10T12:00"
    assert at(UTC, 28 * DAY - 1) == "2026-02-28T23:59"
    assert at(UTC, 28 * DAY) == "2026-01-29T00:00"  # February had 28 days
    assert at(UTC, 31 * DAY - 1) == "2026-01-31T23:59"
    assert at(UTC, 31 * DAY) is None
    assert at(ZoneInfo("Asia/Shanghai"), 0) == "2026-02-28T16:00"
    assert at(timezone(timedelta(hours=-3, minutes=-30)), 0) == "2026-03-01T03:30"
    assert at(ZoneInfo("Europe/Berlin"), 31 * DAY) == "2025-10-31T22:00"  # 23:00 there: October has an hour more


def test_the_little_endian_epoch_is_a_day_earlier() -> None:
    assert at(UTC, 0, "uniq_v4_le") == "2026-02-27T23:00"
    assert at(UTC, 32 * DAY - 1, "uniq_v4_le") == "2026-01-31T22:59"
    assert at(UTC, 32 * DAY + 3_600_000, "uniq_v4_le") is None


def test_one_month_for_a_process_and_none_for_impossible_times() -> None:
    # day 5 would fit March, day 20 only February: the process is one, so day 5 is in February too
    lines = [uniq(1, 1, JAVA, 5 * DAY, 1), uniq(1, 1, JAVA, 20 * DAY, 2), uniq(1, 1, JAVA, 2**32 - 1, 3)]
    row = only("\n".join(lines).encode())
    assert row["first_sent_at"] == datetime(2026, 2, 6, tzinfo=UTC)
    assert row["last_sent_at"] == datetime(2026, 2, 21, tzinfo=UTC)
    assert row["last_possible_elapsed_ms"] == 20 * DAY
    assert row["last_elapsed_ms"] == 2**32 - 1


# --- chains and tracks ------------------------------------------------------------------------------------------------


def figures(ids: list[tuple[int, int]]) -> tuple[int, int, int, int]:
    found = chains(sorted(ids))
    return (
        sum(c.produced for c in found),
        sum(c.missing for c in found),
        sum(c.wraps for c in found),
        sum(c.out_of_order for c in found),
    )


def run(first: int, count: int, elapsed: int, every: int) -> list[tuple[int, int]]:
    return [(elapsed + k * every, (first + k) % 65536) for k in range(count)]


def test_steps_are_the_shortest_way_round() -> None:
    assert [step(0, 1), step(65535, 0), step(0, 65535), step(0, 32767), step(0, 32768)] == [1, 1, -1, 32767, -32768]


@pytest.mark.parametrize(
    ("ids", "produced", "missing", "wraps", "out_of_order"),
    [
        ([(0, 7)], 1, 0, 0, 0),
        ([(0, 10), (1, 12)], 3, 1, 0, 0),
        ([(0, 65534), (1, 65535), (2, 0), (3, 1)], 4, 0, 1, 0),
        ([(0, 10), (1, 12), (2, 11), (3, 13)], 4, 0, 0, 1),  # steps 2, -1, 2
        (
            [(0, 0), (1, 65535), (2, 1)],
            3,
            0,
            1,
            1,
        ),  # steps -1, 2: positions 0, -1, 1; floor(1/65536) - floor(-1/65536) = 1
        ([(0, 0), (1, 32768)], 32769, 32767, 1, 1),  # step -32768
        ([(0, 2000), (1, 2000)], 1, 0, 0, 0),  # two ids, one position
        ([(0, 5), (1, 5)], 2, 0, 0, 0),  # so low it can only be a restart: no process uses a counter twice
    ],
)
def test_produced_missing_wraps(
    ids: list[tuple[int, int]], produced: int, missing: int, wraps: int, out_of_order: int
) -> None:
    assert figures(ids) == (produced, missing, wraps, out_of_order)


def test_two_wraps() -> None:
    ids = [(k * 100, k * 1000 % 65536) for k in range(140)]  # 0 to 139,000: wraps at 65,536 and 131,072
    assert figures(ids) == (139_001, 139_001 - 140, 2, 0)


def test_a_fall_that_no_wrap_explains_is_a_restart() -> None:
    # 5000..5009 at 0.1 ids/ms, 2 s later 0..9; a wrap would be 60,527 ids, the rate allows 1,024 + 4 * 0.1 * 2,250
    found = chains(run(5000, 10, 0, 10) + run(0, 10, 2090, 10))
    assert [(c.ids[0][1], c.produced, c.track) for c in found] == [(5000, 10, 0), (0, 10, 0)]


def test_a_fall_that_a_wrap_explains_is_none() -> None:
    # 60000..60009, 0.1 ids/ms; 60 s later 5: 5,532 ids ahead, the rate allows 1,024 + 4 * 0.1 * 60,250 = 25,124
    ids = run(60000, 10, 0, 10) + run(5, 10, 60_090, 10)
    assert figures(ids) == (10 + 5532 + 9, 5531, 1, 0)


def test_ids_of_one_elapsed_follow_the_counter_round_the_ring() -> None:
    # a Go client: the wrap falls inside one second, and sorting by counter would tear it
    assert in_order([(0, 65000), (1000, 0), (1000, 1), (1000, 65001), (1000, 65535)]) == [
        (0, 65000),
        (1000, 65001),
        (1000, 65535),
        (1000, 0),
        (1000, 1),
    ]


def test_two_processes_that_take_turns_are_two_tracks() -> None:
    found = chains(sorted(run(1000, 10, 0, 100) + run(40000, 10, 50, 100)))
    assert [(c.ids[0][1], c.produced, c.missing, c.track) for c in found] == [(1000, 10, 0, 0), (40000, 10, 0, 1)]
    assert tracks(found) == 2


def test_two_processes_born_together_are_two_tracks() -> None:
    found = chains(sorted(run(0, 10, 0, 100) + run(0, 10, 5, 100)))
    assert tracks(found) == 2
    assert [c.produced for c in found] == [10, 10]


def test_late_threads_are_one_track() -> None:
    # 20 ids a ms; every tenth was read 40 ms before its counter was taken
    ids = [(1000 + k // 20 - (40 if k % 10 == 0 else 0), k) for k in range(3000)]
    assert tracks(chains(sorted(ids))) == 1
    assert figures(ids)[:2] == (3000, 0)


def test_rate_and_whether_the_wraps_are_certain() -> None:
    row = only("\n".join(uniq(1, 1, JAVA, e, c) for e, c in [(0, 0), (1000, 60), (2000, 100)]).encode())
    assert (row["produced"], row["rate_per_second"], row["wraps_certain"]) == (101, 50.0, True)  # 100 / 2 s
    # 60,000 ids in 100 s are 600/s; in the 99.999 s between two neighbours 59,999 could have passed: more than 32,768
    row = only("\n".join(uniq(1, 1, JAVA, e, c) for e, c in [(0, 0), (1, 30000), (100_000, 60000)]).encode())
    assert (row["produced"], row["rate_per_second"], row["wraps_certain"]) == (60_001, 600.0, False)
    row = only(f"{uniq(1, 1, JAVA, 5, 1)} {uniq(1, 1, JAVA, 5, 3)}".encode())
    assert (row["produced"], row["rate_per_second"], row["wraps_certain"]) == (3, None, True)


# --- the other tables -------------------------------------------------------------------------------------------------


def test_ids_count_places_and_distinct_counts_ids() -> None:
    row = only(f"{ID} {ID} {ID[:20] + ID[20:].lower()}".encode())
    assert (row["ids"], row["distinct"]) == (3, 1)


def test_brokers_and_segments() -> None:
    gib = 1 << 30
    data = " ".join(offset(0x0A000001, 10911, place) for place in (5, 5, gib - 1, gib, 3 * gib + 7)).encode()
    assert only(data, "brokers") == {
        "address": "10.0.0.1:10911",
        "host": "10.0.0.1",
        "port": 10911,
        "ids": 5,
        "distinct": 4,
        "segments": 3,
        "min_offset": 5,
        "max_offset": 3 * gib + 7,
        "bytes_per_second": None,
    }
    segments = twin.tables({"a": data}, UTC, AT)["segments"]
    assert [(s["segment"], s["ids"], s["distinct"]) for s in sorted(segments, key=lambda s: s["segment"])] == [
        ("00000000000000000000", 3, 2),
        ("00000000001073741824", 1, 1),
        ("00000000003221225472", 1, 1),
    ]


def test_clients() -> None:
    row = only(f"{client(0x087190669A00, 7, 60, 5)} {client(0x087190669A00, 7, 0, 9)}".encode(), "clients")
    assert row == {
        "mac": "08:71:90:66:9a:00",
        "pid": 7,
        "ids": 2,
        "distinct": 2,
        "first_sent_at": datetime(2021, 1, 1, tzinfo=UTC),
        "last_sent_at": datetime(2021, 1, 1, 0, 1, tzinfo=UTC),
        "min_sequence": 5,
        "max_sequence": 9,
        "zone": None,
        "zone_source": None,
    }


def test_growth_pairs_the_ids_of_a_line() -> None:
    one, two = uniq(1, 1, JAVA, 61_000, 1), uniq(1, 1, JAVA, 180_000, 2)
    near, far = offset(2, 9, 100), offset(2, 9, 900)
    rows = twin.tables({"a": f"{one},{two} {near},{far},{offset(2, 9, 950)}\n{near}\n{one}\n".encode()}, UTC, AT)[
        "growth"
    ]
    assert sorted((r["minute"].minute, r["min_offset"], r["max_offset"]) for r in rows) == [
        (1, 100, 100),
        (3, 900, 950),
    ]
    many = " ".join([one] * 65)
    assert len(twin.tables({"a": f"{many} {near}".encode()}, UTC, AT)["growth"]) == 1
    assert twin.tables({"a": f"{one}{' ' * (1 << 20)}{near}".encode()}, UTC, AT)["growth"] == []


def test_timeline_and_activity_hold_possible_times_only() -> None:
    data = f"{uniq(1, 1, JAVA, 59_999, 1)} {uniq(1, 1, JAVA, 60_000, 2)} {uniq(1, 2, JAVA, 2**32 - 1, 1)}".encode()
    found = twin.tables({"a": data + client(1, 1, 61, 1).encode().rjust(40)}, UTC, AT)
    assert sorted((r["minute"].isoformat()[:16], r["kind"], r["ids"]) for r in found["timeline"]) == [
        ("2021-01-01T00:01", "client", 1),
        ("2026-03-01T00:00", "uniq", 1),
        ("2026-03-01T00:01", "uniq", 1),
    ]
    assert len(found["activity"]) == 2


def test_refused_and_files() -> None:
    data = (
        f"{ID} {ID.lower()} {'f' * 32} {uniq(1, 1, 0x7FFF0001, 3_000_000_000, 1)} {uniq_le(0x7F000101, 0x12A6, 5, 5)}"
    )
    found = twin.tables([("a", data.encode()), ("a", b"")], UTC, AT)
    assert {r["reason"]: r["ids"] for r in found["refused"]} == {"lower_case": 2, "elapsed": 1}
    assert [(f["bytes"], f["ids"], f["refused"]) for f in found["files"]] == [(len(data), 2, 3), (0, 0, 0)]


# --- dates ------------------------------------------------------------------------------------------------------------


def test_a_month_that_ends_in_a_log_does_not_turn_time_back() -> None:
    """23:59:30 on 30 November and 00:00:30 on 1 December, ten ids each, one a second apart."""
    late, early = (30 * DAY - 30_000, 30_000)
    lines = [f"2026-11-30 23:59:{30 + k}.000 {uniq(1, 1, JAVA, late + k * 1000, k)}" for k in range(10)]
    lines += [f"2026-12-01 00:00:{30 + k}.000 {uniq(1, 1, JAVA, early + k * 1000, 10 + k)}" for k in range(10)]
    data = "\n".join(lines).encode()
    (row,) = twin.tables({"a.log": data}, UTC, datetime(2027, 1, 5, tzinfo=UTC))["processes"]
    assert row["first_sent_at"] == datetime(2026, 11, 30, 23, 59, 30, tzinfo=UTC)
    assert row["last_sent_at"] == datetime(2026, 12, 1, 0, 0, 39, tzinfo=UTC)
    assert (row["first_elapsed_ms"], row["last_elapsed_ms"]) == (late, early + 9000)
    assert (row["first_counter"], row["last_counter"], row["produced"], row["missing"]) == (0, 19, 20, 0)
    assert (row["month"], row["zone"], row["zone_source"], row["chains"]) == ("2026-12", "+00:00", "assumed", 1)
    assert row["rate_per_second"] == pytest.approx(19 / 69)


def test_a_born_timestamp_gives_the_zone_and_a_plain_line_does_not() -> None:
    noon = 4 * DAY + 12 * 3_600_000  # of the 5th, at +03:30
    born = int(datetime(2025, 6, 5, 8, 30, tzinfo=UTC).timestamp() * 1000)
    for line, want in (
        (f"bornTimestamp={born + 3}, UNIQ_KEY=", ("2025-06", "+03:30", "born")),
        (
            "2025-06-05T08:30:00.004Z ",
            ("2025-06", "+03:30", "prefix"),
        ),  # of a zone that neither the line nor the scan names
        ("2025-06-05T12:00:00.004+03:30 ", ("2025-06", "+03:30", "prefix")),
        ("2025-06-05 12:00:00 ", ("2025-06", "+00:00", "assumed")),
        ("", (None, "+00:00", "assumed")),
    ):
        row = only((line + uniq(1, 1, JAVA, noon, 1)).encode())
        assert (row["month"], row["zone"], row["zone_source"]) == want

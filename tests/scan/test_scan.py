"""The scan against its slow twin, without Spark: every table, every split size, every dress of the same ids."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idcore.scan import facts, large_keys
from idcore.scan.local import scan_local
from idcore.scan.months import Months, month_rows
from idcore.sources.windows import Windows
from tests.scan import logs, twin
from tests.scan.comparing import differences, same
from tests.scan.logs import AT, JAVA, Log, everything, uniq
from tests.scan.logs_of_dates import dated, elapsed_in, of_wrong_clocks, over_month_ends, stamped
from tests.scan.logs_of_lists import lists
from tests.scan.logs_of_pairs import copied
from tests.scan.logs_of_records import records

SHANGHAI = ZoneInfo("Asia/Shanghai")
WHOLE = 1 << 30
DAY = 86_400_000
Write = Callable[..., str]


def scan(
    *paths: str, split: int = WHOLE, zone: tzinfo = SHANGHAI, case: str = "strict", together: int = 1
) -> Mapping[str, pa.Table]:
    return scan_local(list(paths), month_rows(AT, zone), split, case, together=together)


def expect(path: str, data: bytes, zone: tzinfo = SHANGHAI, case: str = "strict") -> dict[str, list[twin.Row]]:
    return twin.tables({path: data}, zone, AT, case)


ALL = [
    log
    for seed in (1, 2)
    for log in (*everything(seed), copied(seed), dated(seed), over_month_ends(seed), records(seed), lists(seed))
]
OF_ONE_SEED = ALL[: len(ALL) // 2]
OF_EACH_KIND = [
    (log if number % 2 else other)
    for number, (log, other) in enumerate(zip(OF_ONE_SEED, ALL[len(ALL) // 2 :], strict=True))
]
STRETCHES = ((0, 5, 0, 4096), (20, 300, 40, WHOLE), (0, 1 << 12, 1 << 12, 4096))  # and the size of a split


@pytest.mark.long(cases=["honest 1", "restarts 2", "copied 1", "shared 1", "dated 2"])
@pytest.mark.parametrize("log", OF_EACH_KIND, ids=lambda log: log.name)
def test_every_table_equals_the_twin_at_every_split_size(log: Log, on_disk: Write) -> None:
    path = on_disk(log.data)
    want = expect(path, log.data)
    whole = scan(path)
    assert differences(whole, want) == []
    larger = 1000 if log in OF_ONE_SEED else 4096
    for split in (64, larger) if len(log.data) < 400_000 else (larger,):
        # a task costs more than what is in 64 bytes; the smallest splits of all are tasks of their own below
        found = scan(path, split=split, together=16 if split == 64 else 1)
        assert differences(found, want) == []
        assert same(found, whole) == []


@pytest.mark.long(first=2)
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_times_of_other_styles_equal_the_twin(first: int, on_disk: Write) -> None:
    for seed in range(first, first + 20):
        log = stamped(seed)
        for zone in (SHANGHAI, UTC):
            path = on_disk(log.data)
            assert differences(scan(path, zone=zone), expect(path, log.data, zone)) == [], (log.name, zone)


@pytest.mark.parametrize("seed", range(4))
def test_ids_of_wrong_clocks_equal_the_twin(seed: int, on_disk: Write) -> None:
    log = of_wrong_clocks(seed)
    for zone in (SHANGHAI, UTC):
        path = on_disk(log.data)
        assert differences(scan(path, zone=zone), expect(path, log.data, zone)) == [], zone


# Styles of most logs, and whether Python is asked where no ID proves them.
USUAL_STYLES = {
    "%b %d %H:%M:%S host app[12]: %H:%M:%S.123 [main]": False,
    "I%m%d %H:%M:%S.123456 12 a.cc:1]": False,
    "%m-%d %H:%M:%S.123": False,
    '10.0.0.9 - - [%d/%b/%Y:%H:%M:%S +0000] "GET /x HTTP/1.1" 200': False,
    "%a %b %d %H:%M:%S UTC %Y": False,
    "%d-%b-%Y %H:%M:%S.123": False,
    "%d.%m.%Y %H:%M:%S": True,
    "%b %d, %Y %I:%M:%S %p com.x.Y send": False,
    "%Y%m%d %H:%M:%S.123": False,
    "%Y%m%d%H%M%S": True,
    '{"ts":%s.123,"level":"info"}': True,
    "%H:%M:%S.123 [http-nio-8080-exec-1]": False,
    "app-1  | %H:%M:%S.123 INFO": False,
}


@pytest.mark.parametrize("late", [0, 1800])
@pytest.mark.parametrize("style", USUAL_STYLES)
def test_python_is_not_asked_of_the_times_of_most_logs(
    style: str, late: int, on_disk: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = datetime(2026, 3, 4, 10, 31, 12, 500_000, tzinfo=UTC)
    id_ = uniq(0x0A000001, 7, JAVA, elapsed_in(sent, 0), 1)
    front = (sent + timedelta(seconds=late)).strftime(style)
    asked = list[int]()
    look = facts._look_for_moments

    def counted(windows: Windows, lines: np.ndarray, asked_of: np.ndarray, months: Months) -> np.ndarray:
        asked.append(len(asked_of))
        return look(windows, lines, asked_of, months)

    monkeypatch.setattr(facts, "_look_for_moments", counted)
    scan(on_disk("\n".join([f"{front} SendResult [msgId={id_}]", f"{front} other"] * 40).encode()), zone=UTC)
    assert bool(asked) == (late > 0 and USUAL_STYLES[style])


@pytest.mark.long(cases=["mixed 1", "honest 1"])
@pytest.mark.parametrize("number", range(len(OF_ONE_SEED)), ids=lambda number: OF_ONE_SEED[number].name)
def test_keys_that_are_judged_in_stretches_give_the_same_tables(
    number: int, on_disk: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = on_disk(OF_ONE_SEED[number].data)
    want = scan(path)
    at_once, stretch, held, split = STRETCHES[number % len(STRETCHES)]
    monkeypatch.setattr(large_keys, "AT_ONCE", at_once)
    monkeypatch.setattr(large_keys, "STRETCH", stretch)
    monkeypatch.setattr(large_keys, "HELD", held)
    assert same(scan(path, split=split), want) == []


@pytest.mark.parametrize("log", [log for log in ALL if log.tracks], ids=lambda log: log.name)
def test_planted_tracks_and_chains_are_found(log: Log, on_disk: Write) -> None:
    found = {row["pid"]: row for row in scan(on_disk(log.data))["processes"].to_pylist()}
    assert {pid: found[pid]["tracks"] for pid in log.tracks} == log.tracks
    assert {pid: found[pid]["chains"] for pid in log.chains} == log.chains


@pytest.mark.long(first=1)
@pytest.mark.parametrize("split", [1, 7, 31, 64])
def test_the_smallest_splits(split: int, on_disk: Write) -> None:
    for seed in (2, 3) if split > 1 else (2,):  # without look-alikes, of which the twin knows nothing
        data = logs.mixed(seed, 25).data[:6000]
        path = on_disk(data)
        assert differences(scan(path, split=split), expect(path, data)) == []


@pytest.mark.long
def test_every_alignment_of_one_id(on_disk: Write) -> None:
    one = logs.uniq(0x0A000000, 7, logs.JAVA, 1000, 0)
    six = logs.uniq6(1 << 120, 7, logs.JAVA, 1000, 1)
    mac = logs.client(0xFF, 7, 1, 2)
    for padding in range(71):
        data = f"{'q' * padding}{one}{'z' * (padding % 3 + 1)}{six}\n{'A' * (padding % 31)}-{mac}".encode()
        path = on_disk(data)
        want = expect(path, data)
        for split in (1, 16, 31, 32, 33, 64, 1000):
            if padding > split + 5:
                continue  # the ends of splits are where they were in the ID with fewer bytes before it
            assert differences(scan(path, split=split), want) == [], (padding, split)


@pytest.mark.long(first=1)
@pytest.mark.parametrize("seed", range(2))
def test_chains_follow_the_rule_to_the_letter(seed: int, on_disk: Write) -> None:
    data = logs.any_counters(seed, 25).data
    path = on_disk(data)
    assert differences(scan(path, split=(WHOLE, 5000)[seed % 2]), expect(path, data)) == []


@pytest.mark.long
def test_the_order_of_files_and_lines_does_not_matter(on_disk: Write) -> None:
    parts = {on_disk(log.data, f"f{i}.log"): log.data for i, log in enumerate(everything(3)[:6:2])}
    want = twin.tables(parts, SHANGHAI, AT)
    paths, in_order = list(parts), scan(*sorted(parts))
    for turn in range(2):
        random.Random(turn).shuffle(paths)
        found = scan(*paths, split=50_000)
        assert differences(found, want) == []
        assert same(found, in_order) == []


def test_a_file_twice_doubles_the_occurrences_and_nothing_else(on_disk: Write) -> None:
    data = logs.mixed(4).data
    path = on_disk(data)
    once, twice = scan(path), scan(path, path, split=10_000)
    assert differences(twice, twin.tables([(path, data), (path, data)], SHANGHAI, AT)) == []
    assert same(once, twice, but=["files", "refused"]) != []
    for name in once:
        if name in ("files", "refused"):
            continue
        fixed = [c for c in once[name].column_names if c not in ("ids", "lines")]
        assert same({name: once[name].select(fixed)}, {name: twice[name].select(fixed)}) == []
        for counted in {"ids", "lines"}.intersection(once[name].column_names):
            assert sorted(2 * n for n in once[name][counted].to_pylist()) == sorted(twice[name][counted].to_pylist())


def test_a_folder_is_read_to_any_depth_and_by_content(on_disk: Write, tmp_path_factory: pytest.TempPathFactory) -> None:
    one, two = logs.mixed(7, 100).data, logs.honest(7).data[:50_000]
    first = on_disk(one, "in/deep/er/a.txt")
    second = on_disk(gzip.compress(two), "in/b.bin")
    folder = first[: first.index("/deep")]
    want = twin.tables({first: one, second: gzip.compress(two)}, SHANGHAI, AT)
    assert [d for d in differences(scan(folder, split=5000), want) if '"bytes"' not in d] == []


def test_what_cannot_be_read_is_named_and_the_rest_is_done(on_disk: Write) -> None:
    data = logs.mixed(8, 50).data
    good, torn, gone = on_disk(data), on_disk(gzip.compress(data)[:900], "torn.gz"), "no-such-file.log"
    found = scan(gone, good, torn)
    errors = {row["file"]: row["error"] for row in found["files"].to_pylist()}
    assert not errors[good]
    assert errors[torn]
    assert errors[gone]
    assert found["brokers"].num_rows > 0


def test_a_line_of_many_megabytes_without_a_newline(on_disk: Write) -> None:
    r = random.Random(1)
    ids = [logs.uniq(0x0A000001, 3, logs.JAVA, logs.NOON + k * 3, k & 0xFFFF) for k in range(50_000, 80_000)]
    data = b" ".join(part.encode() + b"-" * r.randrange(90) for part in ids)
    assert b"\n" not in data and len(data) > 2_000_000
    path = on_disk(data)
    want = expect(path, data)
    assert [(p["distinct"], p["missing"], p["wraps"]) for p in want["processes"]] == [(30_000, 0, 1)]
    for split in (WHOLE, 300_000):
        assert differences(scan(path, split=split), want) == []


SCAN_IN_A_NEW_PROCESS = """
import resource, sys
from zoneinfo import ZoneInfo
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.scan.logs import AT
months = month_rows(AT, ZoneInfo("Asia/Shanghai"))
scan_local([sys.argv[1]], months)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = scan_local([sys.argv[2]], months, 1 << 28)
row = found["processes"].to_pylist()[0]
more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(row["ids"], row["missing"], row["wraps"], found["growth"].num_rows, more)
"""


def test_a_line_of_a_hundred_megabytes_in_bounded_memory(on_disk: Write) -> None:
    once = b"".join(logs.uniq(0x0A000001, 3, logs.JAVA, 1000 + k, k).encode() + b" " * 990 for k in range(1000))
    small, large = on_disk(once), on_disk(once * 100 + logs.offset(1, 10911, 5).encode(), "large.log")
    command = [sys.executable, "-c", SCAN_IN_A_NEW_PROCESS, small, large]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ids, missing, wraps, growth, kilobytes = map(int, done.stdout.split())
    assert (ids, missing, wraps, growth) == (100_000, 0, 0, 0)  # a line so long dates no offset
    assert kilobytes < 60_000


def test_hex_runs_of_a_megabyte(on_disk: Write) -> None:
    data = logs.runs_of_hex(9, 1 << 20).data
    path = on_disk(data)
    want = expect(path, data)
    for split in (WHOLE, 65_536, 4096):
        assert differences(scan(path, split=split), want) == []


def test_several_wraps_in_shuffled_lines(on_disk: Write) -> None:
    lines = [logs.uniq(0x0A000001, 1, logs.JAVA, logs.NOON + k * 8, k * 32) for k in range(7_500)]
    random.Random(3).shuffle(lines)
    data = logs.joined(lines)
    path = on_disk(data)
    found = scan(path, split=50_000)
    (row,) = found["processes"].to_pylist()
    # 0, 32, ... 239,968: of 32 counters 31 are missing; 65,536 divides it three times
    assert (row["produced"], row["missing"], row["wraps"], row["tracks"]) == (239_969, 232_469, 3, 1)
    assert differences(found, expect(path, data)) == []


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=-3, minutes=-30)), ZoneInfo("Europe/Berlin")], ids=str)
def test_zones(zone: tzinfo, on_disk: Write) -> None:
    data = logs.clock_and_month(4).data
    path = on_disk(data)
    assert differences(scan(path, zone=zone), expect(path, data, zone)) == []


@pytest.mark.parametrize("at", ["2026-01-01T00:00", "2025-10-31T23:30", "2024-03-01T00:00", "2025-12-31T23:59"])
def test_references_at_the_ends_of_months(at: str, on_disk: Write) -> None:
    data = logs.clock_and_month(5).data
    path = on_disk(data)
    reference = datetime.fromisoformat(at).replace(tzinfo=UTC)
    found = scan_local([path], month_rows(reference, ZoneInfo("Europe/Berlin")))
    assert differences(found, twin.tables({path: data}, ZoneInfo("Europe/Berlin"), reference)) == []


def test_one_impossible_id_does_not_take_the_times_of_its_process(on_disk: Write) -> None:
    for late in (31 * DAY, 31 * DAY + 500):
        data = f"{logs.uniq(10, 7, logs.JAVA, 10 * DAY, 1)} {logs.uniq(10, 7, logs.JAVA, late, 2)}".encode()
        (row,) = scan(on_disk(data), zone=UTC)["processes"].to_pylist()
        assert row["first_sent_at"] == row["last_sent_at"] == datetime(2026, 2, 11, tzinfo=UTC)


def test_case_any_reads_logs_that_fold_case(on_disk: Write) -> None:
    data = logs.mixed(6, 600).data.lower() + logs.mixed(6, 300).data
    data = data.replace(b"1" * 32, b"")  # a look-alike, of which the twin knows nothing
    path = on_disk(data)
    for case in ("strict", "any"):
        want = expect(path, data, case=case)
        for split in (WHOLE, 4096):
            assert differences(scan(path, split=split, case=case), want) == []


MARKS = ["%22", r"\u0022", r"\x22", "\\", "%", "u0022", " ", ",", "\n", "\r\n", "g", "msgId=", "UNIQ_KEY: ", "\0"]
WORD = st.integers(0, 2**32 - 1)
PIECES = st.one_of(
    st.sampled_from(MARKS),
    st.text("0123456789ABCDEF", min_size=1, max_size=80),
    st.text("0123456789abcdefABCDEF", min_size=28, max_size=60),
    st.builds(
        logs.uniq,
        st.sampled_from([1, 0x0A000001]),
        st.sampled_from([0, 1, 9]),
        st.sampled_from([0, logs.JAVA, 0x7FFF0001]),
        st.one_of(st.integers(0, 2_678_402_000), WORD),
        st.integers(0, 65535),
        st.booleans(),
    ),
    st.builds(
        logs.offset, st.sampled_from([1, 0x7F000001]), st.sampled_from([0, 1, 10911, 65535]), st.integers(0, 2**49)
    ),
    st.builds(logs.uniq_le, st.sampled_from([0x0A000001, 0x7F000101]), WORD, WORD, st.integers(0, 255)),
    st.builds(logs.client, st.integers(0, 2**48 - 1), st.integers(0, 65535), WORD, st.integers(0, 9)),
)


@pytest.mark.long
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECES, max_size=12), split=st.sampled_from([1, 5, 33, 64, 1000]))
def test_any_text_at_all(pieces: list[str], split: int, on_disk: Write) -> None:
    data = "".join(pieces).encode()
    path = on_disk(data)
    assert differences(scan(path, split=split), expect(path, data)) == []

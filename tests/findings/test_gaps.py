"""What is missing, told apart: holes, even shares, single losses, items of batches. Logs are made by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.answers.findings import gaps, limits, line_locations
from idcore.answers.findings.all_rules import Finding
from idcore.answers.findings.batches import Batches, side_by_side
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all
from tests.findings.test_rules import AT, DAY_20, told, uniq

pytestmark = pytest.mark.quick


def at_pace(counters: Iterable[int], pace: int = 40, first: int = 0) -> list[str]:
    """Ids of one process, `pace` ms from one counter to the next."""
    return [uniq(DAY_20 + pace * (n - first), n) for n in counters]


def missing(lines: Sequence[str], tmp_path: Path) -> Finding:
    (finding,) = [item for item in told(lines, tmp_path) if item.code == "missing_ids"]
    return finding


def without(count: int, *holes: tuple[int, int]) -> list[int]:
    """Counters from 0, less those from one to before another."""
    return [n for n in range(count) if not any(start <= n < stop for start, stop in holes)]


def test_a_hole_of_eleven_percent_is_a_warning_that_says_from_where_to_where(tmp_path: Path) -> None:
    # The hole of issue 12: 6,284 of 57,123, of which the tables keep some 700 points.
    lines = at_pace(without(57_123, (20_000, 26_284)), 7)
    finding = missing(lines, tmp_path)
    assert (finding.severity, finding.count, finding.evidence["variant"]) == ("warning", 6_284, "one_gap")
    (gap,) = finding.evidence["gaps"]
    assert gap == {
        "after": uniq(DAY_20 + 7 * 19_999, 19_999),
        "before": uniq(DAY_20 + 7 * 26_284, 26_284),
        "missing": 6_284,
        "from": 20_000,
        "to": 26_283,
    }
    for said in (finding.say("meaning"), finding.say("meaning", "zh")):
        assert all(text in said for text in (gap["after"], gap["before"], "6,284", "20,000", "26,283"))
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    assert (finding.since, finding.until) == tuple(midnight + timedelta(milliseconds=7 * n) for n in (19_999, 26_284))


@pytest.mark.parametrize("percent", [1, 5, 11, 30, 60, 80])
@pytest.mark.parametrize("made", [400, 1_400, 9_000])
def test_a_hole_is_a_warning_at_any_share(percent: int, made: int, tmp_path: Path) -> None:
    width = made * percent // 100
    finding = missing(at_pace(without(made, (made // 10, made // 10 + width))), tmp_path)
    assert (finding.severity, finding.count) == ("warning", width)
    assert [gap["missing"] for gap in finding.evidence["gaps"]] == [width]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kept", [0.8, 0.5, 0.3, 0.1])
@pytest.mark.parametrize("made", [400, 6_000])
def test_an_even_share_is_a_sample_however_large(kept: float, made: int, seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    finding = missing(at_pace(n for n in range(made) if pick.random() < kept), tmp_path)
    assert (finding.severity, finding.evidence["variant"]) == ("info", "sample")


@pytest.mark.parametrize("made", [300, 9_000])
@pytest.mark.parametrize("every", [2, 3, 10])
def test_every_nth_id_is_a_sample(every: int, made: int, tmp_path: Path) -> None:
    assert missing(at_pace(range(0, made, every)), tmp_path).evidence["variant"] == "sample"


@pytest.mark.parametrize("made", [1_200, 12_000])
def test_scattered_losses_up_to_a_tenth_are_a_warning(made: int, tmp_path: Path) -> None:
    finding = missing(at_pace(n for n in range(made) if n % 17 or n == 0), tmp_path)
    assert (finding.severity, finding.count) == ("warning", (made - 1) // 17)


@pytest.mark.parametrize("made", [1_400, 20_000])
def test_a_hole_in_an_even_share_is_counted_alone(made: int, tmp_path: Path) -> None:
    pick = random.Random(made)
    hole = (made // 3, made // 3 + made // 4)
    kept = [n for n in range(made) if not hole[0] <= n < hole[1] and pick.random() < 0.4]
    finding = missing(at_pace(kept), tmp_path)
    assert (finding.severity, finding.evidence["variant"]) == ("warning", "hole")
    (gap,) = finding.evidence["gaps"]
    assert gap["missing"] == finding.count
    assert made // 4 <= finding.count < made // 4 + 20  # what the share leaves out on both sides of it
    assert abs(finding.evidence["seen_share"] - 0.4) < 0.05
    assert finding.evidence["share"] == pytest.approx(1 - len(kept) / finding.evidence["produced"])
    said = finding.say("meaning")
    assert "it is a sample" in said and f"{finding.count:,} consecutive IDs" in said


def test_holes_in_samples_that_are_not_listed_are_counted_among_the_warnings(tmp_path: Path) -> None:
    many, counters = limits.MOST_SUBJECTS + 3, [*range(0, 50, 2), *range(450, 500, 2)]
    lines = [uniq(DAY_20 + 40 * n, n, pid=pid) for pid in range(1, many + 1) for n in counters]
    *listed, rest = [item for item in told(lines, tmp_path) if item.code == "missing_ids"]
    assert {(item.severity, item.evidence["variant"]) for item in listed} == {("warning", "hole")}
    assert (rest.severity, rest.evidence["more"], rest.count) == ("warning", 3, 3 * 401)


def test_several_holes_are_counted_and_the_widest_are_named(tmp_path: Path) -> None:
    holes = [(1_000 * place, 1_000 * place + 300 + place) for place in range(1, 8)]
    finding = missing(at_pace(without(9_000, *holes)), tmp_path)
    assert (finding.severity, finding.count) == ("warning", sum(stop - start for start, stop in holes))
    assert (finding.evidence["in_gaps"], finding.evidence["widest"]) == (7, 307)
    assert [gap["missing"] for gap in finding.evidence["gaps"]] == [307, 306, 305, 304, 303][: limits.MOST_GAPS]


@pytest.mark.parametrize("made", [600, 9_000])
def test_late_threads_make_no_hole_and_hide_none(made: int, tmp_path: Path) -> None:
    pick = random.Random(7)
    late = [uniq(DAY_20 + 10 * n - pick.randrange(150) * (pick.random() < 0.3), n) for n in range(made)]
    assert told(late, tmp_path) == []
    finding = missing(late[: made // 2] + late[made * 3 // 4 :], tmp_path)
    assert (finding.severity, finding.count) == ("warning", made // 4)
    assert [gap["missing"] for gap in finding.evidence["gaps"]] == [made // 4]


@pytest.mark.parametrize("pauses", [[3_600_000], [5_000] * 8])
def test_a_pause_is_no_hole(pauses: list[int], tmp_path: Path) -> None:
    lines, now, number = [], DAY_20, 0
    for pause in [*pauses, 0]:
        for _ in range(80):
            lines.append(uniq(now := now + 30, number := number + 1))
        now += pause
    assert told(lines, tmp_path) == []


def test_a_fall_to_zero_is_no_hole(tmp_path: Path) -> None:
    lines = [uniq(DAY_20 + 40 * n, 30_000 + n) for n in range(200)]
    lines += [uniq(DAY_20 + 60_000 + 40 * n, n) for n in range(200)]
    assert [item.code for item in told(lines, tmp_path)] == ["restart"]


def test_a_hole_in_one_chain_of_several_is_found(tmp_path: Path) -> None:
    lines = [uniq(DAY_20 + 40 * n, 30_000 + n) for n in range(200)]
    lines += [uniq(DAY_20 + 60_000 + 40 * n, n) for n in without(300, (100, 220))]
    finding = missing(lines, tmp_path)
    assert (finding.severity, finding.count) == ("warning", 120)
    assert (finding.evidence["gap_from"], finding.evidence["gap_to"]) == (100, 219)


@pytest.mark.parametrize(("side", "severity"), [(9, "info"), (10, "warning")])
def test_a_few_ids_on_one_side_of_a_gap_are_no_traffic(side: int, severity: str, tmp_path: Path) -> None:
    assert missing(at_pace([*range(side), *range(500, 800)]), tmp_path).severity == severity


def test_of_more_gaps_than_are_kept_it_is_said_that_the_others_were_not_looked_at(tmp_path: Path) -> None:
    # Every 14th of 20,000 is missing, and 900 in a row: 1,300 gaps and more, of which the tables hold 100.
    kept = [n for n in range(20_000) if n % 14 and not 7_000 < n <= 7_900]
    finding = missing(at_pace(kept, first=0), tmp_path)
    assert (finding.severity, finding.count) == ("warning", 19_999 - len(kept))
    assert finding.evidence["gaps"][0]["missing"] >= 900 and "variant" not in finding.evidence
    assert "only counted, not examined" in finding.say("meaning")
    assert finding.evidence["unlisted"] + sum([900, *[1] * 99]) - finding.count in range(-5, 5)


@pytest.mark.parametrize("seed", range(8))
def test_the_rule_holds_of_any_share_and_any_size(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for made in (300, 3_000, 60_000):
        for kept in (0.7, 0.4, 0.15):
            there = draw.random(made) < kept
            assert not judged(there).holes.any()
            there[made // 4 : made // 2] = False
            assert judged(there).in_holes >= made // 4 or kept * made < 100


def judged(there: np.ndarray) -> gaps.Judgement:
    positions = np.flatnonzero(there)
    steps = np.diff(positions) - 1
    at = np.flatnonzero(steps)
    widest = at[np.argsort(-steps[at], kind="stable")][: None if len(positions) <= 1_500 else 100]
    below = widest + 1
    return gaps.find_holes(gaps.Gaps(steps[widest], below, len(positions) - below), len(positions), int(steps.sum()))


def test_the_lines_around_a_gap_are_named_where_they_are_found(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    lines = at_pace(without(400, (200, 300)))
    path.write_text("".join(f"line\n{line}\n" for line in lines))
    found = find_all(scan_local([str(path)], month_rows(AT, UTC)), AT, UTC)
    (finding,) = line_locations.place(found, list_files([str(path)]))
    assert f"after {path}:400 and ends at {path}:402" in finding.say("meaning")
    assert {one["id"]: one["line"] for one in finding.evidence["places"]} == {lines[199]: 400, lines[200]: 402}


# ---- batches


def batch(first: int, items: int, broker: str = "0A000005", step: int = 300) -> list[str]:
    """What a consumer prints of a batch: one UNIQ_KEY, the counter behind those of its items, and its records."""
    key = uniq(DAY_20 + 40 * first, first + items)
    offsets = (f"{broker}00002A9F{1_000_000 + 5_000 * first + step * n:016X}" for n in range(items))
    return [f"offsetMsgId={offset} UNIQ_KEY={key}" for offset in offsets]


def log_of_batches(count: int, items: Callable[[int], int], lost: int = 0) -> list[str]:
    lines, counter = [], 0
    for number in range(count):
        lines += batch(counter, items(number))
        counter += items(number) + 1 + (lost if number == count // 2 else 0)
    return lines


def test_the_counters_of_a_batch_s_items_are_not_missing(tmp_path: Path) -> None:
    finding = missing(log_of_batches(40, lambda number: 3 + number % 5), tmp_path)
    assert (finding.severity, finding.evidence["variant"]) == ("info", "batch")
    assert finding.count == sum(3 + number % 5 for number in range(1, 40))
    assert "share" not in finding.evidence  # nothing is missing
    assert "items of batches" in finding.say("meaning") and "No ID is missing" in finding.say("meaning")


def test_what_a_batch_does_not_explain_is_missing(tmp_path: Path) -> None:
    finding = missing(log_of_batches(40, lambda number: 3 + number % 5, lost=12), tmp_path)
    assert (finding.severity, finding.count) == ("warning", 12)
    assert finding.evidence["explained"] == sum(3 + number % 5 for number in range(1, 40))
    assert "Not counted: " in finding.say("meaning")


@pytest.mark.parametrize(("lost", "severity", "count"), [(0, "info", 7_996), (50, "warning", 50)])
def test_of_many_batches_those_that_are_not_looked_at_are_counted(
    lost: int, severity: str, count: int, tmp_path: Path
) -> None:
    finding = missing(log_of_batches(2_000, lambda number: 4, lost), tmp_path)
    assert (finding.severity, finding.count) == (severity, count)


def test_copies_far_apart_or_of_several_brokers_explain_nothing(tmp_path: Path) -> None:
    near = [f"0A00000500002A9F{place:016X}" for place in (100, 700, 1_500)]
    assert side_by_side(near)
    assert not side_by_side([*near, f"0A00000500002A9F{1_500 + limits.BATCH_STEP_BYTES + 1:016X}"])
    assert not side_by_side([*near, f"0A00000600002A9F{1_900:016X}"])
    lines = [line for n in range(40) for line in batch(10 * n, 4, step=1 << 20)]
    assert missing(lines, tmp_path).evidence["variant"] == "sample"


def test_a_gap_narrower_than_the_batch_is_no_gap_of_its_items() -> None:
    table = pa.table({"msg_id": ["A" * 32], "offset_msg_ids": [",".join(f"{'B' * 16}{n:016X}" for n in range(5))]})
    assert Batches([table]).of(["A" * 32, "C" * 32]) == [5, 0]


def test_a_producer_s_log_of_batches_still_shows_what_is_missing(tmp_path: Path) -> None:
    # Items and batch ids are all there; two sends are not: the batches explain none of it.
    lines = log_of_batches(30, lambda number: 4)
    lines += at_pace(n for n in range(150) if n % 5 != 4 and n not in (61, 62))
    assert missing(lines, tmp_path).count == 2


def test_processes_whose_gaps_were_not_read_are_counted_and_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [uniq(DAY_20 + 40 * n, n, pid=pid) for pid in range(1, 5) for n in range(0, 60 * pid, 3)]
    path = tmp_path / "x.log"
    path.write_text("\n".join(lines))
    tables = scan_local([str(path)], month_rows(AT, UTC))
    written = {}
    for name in ("processes", "counters"):
        written[name] = [tmp_path / f"{name}.parquet"]
        pq.write_table(tables[name], written[name][0])
        tables[name] = tables[name].slice(0, 0)
    monkeypatch.setattr(limits, "MOST_SUSPECTS", 1)
    found = [item for item in find_all(tables, AT, UTC, written=written) if item.code == "missing_ids"]
    (unseen,) = [item for item in found if item.evidence.get("variant") == "unseen"]
    assert (unseen.severity, unseen.evidence["more"], len(found)) == ("info", 3, 2)
    assert "gaps that stand out may be among them" in unseen.say("meaning")

"""The tables of fates as a page asks them, each answer against a slow twin that looks at every row."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.answers.fate.levels import LEVELS, NAMES, NOT_CONSUMED, level_of, order_of
from idcore.base import catalogue
from idcore.presentation.reader import Reader
from idcore.presentation.triage import fates, undelivered
from idcore.presentation.triage.fates import FateFilter
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.presentation.triage.undelivered import Undelivered
from idcore.scan.schemas import SCHEMAS

START = datetime(2026, 11, 20, 1, 50, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TOPICS, GROUPS, QUEUES, MINUTES = ("A", "B"), ("billing", "stock", "=cmd"), 2, 9
CODES = ("dead", "never_read", "retry_waiting", "behind", "broadcast", "consumed")
READER = Reader(catalogue.words("en"), UTC)


class Messages:
    """Messages with the verdict of each group, drawn by lot; the tables are made from them."""

    def __init__(self, seed: int, count: int = 400) -> None:
        lot = random.Random(seed)
        self.rows: list[dict[str, Any]] = []
        for number in range(count):
            at = START + timedelta(milliseconds=lot.randrange(MINUTES * 60_000)) if lot.random() > 0.02 else None
            verdicts = {group: lot.choice(CODES) for group in GROUPS if lot.random() > 0.2}
            place = {"topic": lot.choice(TOPICS), "queue_id": lot.randrange(QUEUES), "queue_offset": number}
            key = None if lot.random() < 0.1 else f"0A14030C0E6014DAD5DC{number:012X}"
            self.rows.append(place | {"commit_log_offset": number * 300, "at": at, "msg_id": key, "verdicts": verdicts})

    def write(self, run: Path) -> Path:
        sums: dict[tuple[Any, ...], list[Any]] = {}
        for row in self.rows:
            for group, verdict in row["verdicts"].items():
                key = (row["topic"], row["queue_id"], group, minute_of(row["at"]), verdict)
                held = sums.setdefault(key, [0, row["at"]])
                held[0] += 1
                held[1] = min(filter(None, (held[1], row["at"])), default=None)
        counted = [
            dict(zip(("topic", "queue_id", "group", "minute", "verdict"), key, strict=True))
            | {"messages": count, "first_store_timestamp": first}
            for key, (count, first) in sums.items()
        ]
        write(run / "fates", "fates", counted)
        listed = [row | {"store_timestamp": row["at"], "verdicts": json.dumps(lacking(row))} for row in self.rows]
        write(run / "undelivered", "undelivered", [row for row in listed if row["verdicts"] != "{}"])
        return run

    def of(self, asked: FateFilter, exact: bool = False) -> list[tuple[dict[str, Any], str, str]]:
        """Message, group and verdict of what is asked for."""
        return [
            (row, group, verdict)
            for row in self.rows
            for group, verdict in row["verdicts"].items()
            if asked.topic in ("", row["topic"]) and asked.group in ("", group) and asked.verdict in ("", verdict)
            if all(inside(row["at"], each, exact) for each in (asked.shown, asked.cell))
        ]


def lacking(row: dict[str, Any]) -> dict[str, str]:
    return {group: code for group, code in row["verdicts"].items() if level_of(code) < len(NOT_CONSUMED)}


def minute_of(at: datetime | None) -> datetime | None:
    return at and at.replace(second=0, microsecond=0)


def inside(at: datetime | None, shown: TimeRange, exact: bool) -> bool:
    """Whether an instant is in the range or, of counts, the range touches its minute."""
    if not shown:
        return True
    if at is None:
        return False
    first, last = (at, at) if exact else (minute_of(at), minute_of(at) + MINUTE - timedelta(microseconds=1))  # type: ignore[operator]
    return (shown.begin is None or last >= shown.begin) and (shown.end is None or first < shown.end)  # type: ignore[operator]


def write(folder: Path, table: str, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True)
    schema = SCHEMAS[table]
    made = pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema=schema)
    half = len(made) // 2  # two files: their dictionaries differ
    for number, part in enumerate((made.slice(0, half), made.slice(half))):
        pq.write_table(part, folder / f"part-{number:05d}.parquet", row_group_size=100)


ASKED = [
    FateFilter(),
    FateFilter(topic="A"),
    FateFilter(group="billing", shown=TimeRange(START + MINUTE, START + 4 * MINUTE)),
    FateFilter(verdict="dead", cell=TimeRange(START + 2 * MINUTE, START + 3 * MINUTE)),
    FateFilter("B", "stock", "behind", TimeRange(START + timedelta(seconds=100), None)),
    FateFilter(group="nobody"),
]


@pytest.fixture(scope="module")
def messages() -> Messages:
    return Messages(3)


@pytest.fixture(scope="module")
def run(messages: Messages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return messages.write(tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize("asked", ASKED)
def test_counts_and_list_are_those_of_each_message_by_itself(messages: Messages, run: Path, asked: FateFilter) -> None:
    rows = fates.choose(fates.counted(run), asked)
    wanted = messages.of(asked)
    found = fates.counts(rows)
    assert {tuple(row[:4]): row[4] for row in found.itertuples(index=False)} == Counter(
        (row["topic"], row["queue_id"], group, verdict) for row, group, verdict in wanted
    )
    assert [order_of(code) for code in found["verdict"]] == sorted(order_of(code) for code in found["verdict"])
    missing = [(row["commit_log_offset"], group, code) for row, group, code in wanted if group in lacking(row)]
    exact = [(row["commit_log_offset"], group, code) for row, group, code in messages.of(asked, True)]
    exact = [one for one in exact if one in missing]
    for order in undelivered.ORDERS:
        listed = Undelivered.of_run(run).select(asked, order)
        first = Undelivered.of_run(run).select(asked, order, 5)
        assert list(first.rows()) == list(islice(listed.rows(), len(first))) and first.total == len(listed)
        assert len(first.messages) == min(5, len(listed.messages)) and listed.total == len(listed)
        assert_ordered(list(listed.rows()), order)
        rows_of = [(row["commit_log_offset"], row["group"], row["verdict"]) for row in listed.rows()]
        assert sorted(rows_of) == sorted(exact) and len(listed) == len(exact)
        pages = [listed.page(start, 7) for start in range(0, len(listed), 7)]
        assert [row for page in pages for row in page] == list(listed.rows()), "pages are the whole"
    answer = fates.lacking(rows)
    assert answer.total == len(missing) and answer.messages == Counter(group for _, group, _ in missing)
    times = [row["at"] for row, group, _ in wanted if group in lacking(row) and row["at"]]
    assert answer.oldest == min(times, default=None)


def assert_ordered(rows: list[dict[str, Any]], order: str) -> None:
    """As a person sorts them; messages without a time are the last."""
    late = [pd.isna(row["store_timestamp"]) for row in rows]
    at = [0 if pd.isna(row["store_timestamp"]) else row["store_timestamp"].timestamp() for row in rows]
    messages: dict[int, int] = {}
    for row in rows:  # the worst of a message, in each of its rows
        known = order_of(row["verdict"])[1]
        messages[row["commit_log_offset"]] = min(known, messages.get(row["commit_log_offset"], known))
    keys: dict[str, list[Any]] = {
        "time": list(zip(late, at, (row["commit_log_offset"] for row in rows), strict=True)),
        "-time": list(zip(late, (-each for each in at), (-row["commit_log_offset"] for row in rows), strict=True)),
        "worst": [(messages[row["commit_log_offset"]], *rest) for row, *rest in zip(rows, late, at, strict=True)],
        "place": [(row["topic"], row["queue_id"], row["queue_offset"]) for row in rows],
    }
    assert keys[order] == sorted(keys[order]), order


@pytest.mark.parametrize("asked", ASKED)
def test_the_picture_has_the_sums_of_the_table(messages: Messages, run: Path, asked: FateFilter) -> None:
    rows = fates.choose(fates.counted(run), asked)
    found = fates.heat(rows)
    cells: Counter[tuple[str, datetime, str]] = Counter()
    for row, group, verdict in messages.of(asked):
        if row["at"]:
            cells[group, minute_of(row["at"]), NAMES[level_of(verdict)]] += 1  # type: ignore[index]
    frame = found.frame()
    assert {(row.group, row.begin, row.level): row.messages for row in frame.itertuples()} == cells
    assert sum(fates.levels(rows).values()) == fates.counts(rows)["messages"].sum()
    for group, own in zip(found.groups, found.worst(), strict=True):
        for begin, level in zip(found.begins, own, strict=True):
            there = [NAMES.index(name) for of, at, name in cells if (of, at) == (group, begin)]
            assert level == min(there, default=-1)


def test_groups_are_ranked_by_the_worst_and_then_by_what_they_lack(run: Path) -> None:
    rows = fates.counted(run)
    few = [("billing", "behind", 9), ("stock", "dead", 1), ("=cmd", "behind", 10)]
    made = pd.DataFrame(few, columns=["group", "verdict", "messages"]).assign(minute=rows["minute"].dropna().iloc[0])
    made["level"] = [level_of(code) for code in made["verdict"]]
    assert fates.heat(made).groups == ["stock", "=cmd", "billing"]


def test_cells_of_a_long_time_are_coarser_and_keep_every_message(run: Path) -> None:
    rows = fates.counted(run)
    long = pd.concat([rows, rows.assign(minute=rows["minute"] + pd.Timedelta(days=9))])
    found = fates.heat(long)
    assert found.step == pd.Timedelta(hours=1) and len(found.begins) <= 240
    assert found.messages.sum() == 2 * fates.heat(rows).messages.sum()


def test_a_run_without_a_message_has_an_empty_picture_and_says_nothing_fits(tmp_path: Path) -> None:
    for name in ("fates", "undelivered"):
        write(tmp_path / name, name, [])
    rows, listed = fates.counted(tmp_path), Undelivered.of_run(tmp_path).select(FateFilter(), "worst")
    assert fates.heat(rows).groups == [] and len(fates.counts(rows)) == 0 and len(listed) == 0
    assert listed.as_csv().decode("utf-8-sig").startswith("topic,queue_id") and listed.as_json() == b""
    assert fates.sentence(fates.lacking(rows), [], ALL_TIMES, READER) == READER.words("fate.said_nothing")


def test_the_list_to_take_away_is_the_list(run: Path) -> None:
    listed = Undelivered.of_run(run).select(ASKED[1])
    rows = list(csv.DictReader(io.StringIO(listed.as_csv().decode("utf-8-sig"))))
    same = [json.loads(line) for line in listed.as_json().decode().splitlines()]
    assert len(rows) == len(same) == len(listed) > 0 and list(same[0]) == listed.columns
    for row, other, own in zip(rows, same, listed.rows(), strict=True):
        assert (row["msg_id"], int(row["queue_offset"])) == (other["msg_id"] or "", other["queue_offset"])
        assert row["group"] == ("'" if own["group"].startswith("=") else "") + own["group"], "no spreadsheet runs it"
        assert other["group"] == own["group"] and other["verdict"] == row["verdict"] == own["verdict"]


def test_the_first_sentence_names_group_count_time_and_the_oldest(run: Path) -> None:
    every, asked = fates.counted(run), FateFilter(group="billing")
    oldest = Undelivered.of_run(run).select(asked).page(0, 1)
    rows = fates.choose(every, asked)
    text = fates.sentence(fates.lacking(rows), oldest, TimeRange(START, START + MINUTE), READER)
    n = sum(code in [one for name in NOT_CONSUMED for one in LEVELS[name]] for code in _verdicts(rows))
    assert text.startswith(f"**billing** has not consumed **{n} messages** of 2026-11-20 01:50:00 – 01:51:00 +00:00. ")
    assert ("The oldest is 0A14" in text) == bool(oldest[0]["msg_id"]) and "stored at 2026-11-20 01:5" in text
    many = fates.sentence(fates.lacking(every), [], ALL_TIMES, READER)
    assert many.startswith("**3** of 3 consumer groups have unconsumed messages: **")
    done = fates.choose(every, FateFilter(verdict="consumed"))
    assert fates.sentence(fates.lacking(done), [], ALL_TIMES, READER).startswith("No unconsumed message was found (")


def _verdicts(rows: pd.DataFrame) -> list[str]:
    return [code for code, count in zip(rows["verdict"], rows["messages"], strict=True) for _ in range(count)]

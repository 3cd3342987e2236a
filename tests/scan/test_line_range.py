"""Lines of a time range: the tables are those of a file with only these lines, however the file is cut or packed."""

from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

from idcore.__main__ import main
from idcore.ids import Clock
from idcore.ids.clock import to_ms
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.line_range import LineRange, LinesOf

pytestmark = pytest.mark.quick

EAST = timezone(timedelta(hours=8))
AT = datetime(2026, 10, 31, tzinfo=UTC)
CLOCK = Clock(AT, EAST, "given")
MONTHS = month_rows(AT, EAST, "given")
PLACES = {"byte", "bytes", "text_bytes", "file", "line"}
ID = "AC110001473C7D4991AD336AEA5703E0"  # README.md: generated at 2026-10-10T23:37:24.823+08:00, seen from AT


def between(begin: str | None, end: str | None) -> LineRange:
    """Instants of 20 October in +08:00."""

    def at(text: str | None) -> int | None:
        return None if text is None else to_ms(datetime.fromisoformat(f"2026-10-20T{text}+08:00"))

    return LineRange(at(begin), at(end), CLOCK)


def left(text: bytes, wanted: LineRange, piece: int = 1 << 16) -> bytes:
    """What is left of a text that is read so many bytes at a time."""
    at = 0

    def read(view: memoryview) -> int:
        nonlocal at
        part = text[at : at + min(piece, len(view))]
        view[: len(part)] = part
        at += len(part)
        return len(part)

    lines, view, found = LinesOf(read, wanted, 0), memoryview(bytearray(1000)), list[bytes]()
    while got := lines.readinto(view):
        found.append(bytes(view[:got]))
    return b"".join(found)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "orders.log"
    made = ["make", "log", "--lines", "4000", "--out", str(path), "--start", "2026-10-20T09:50:00+08:00"]
    assert main(made) == 0
    return path


def plain(tables: dict[str, pa.Table]) -> dict[str, list[dict[str, object]]]:
    """All tables but places in files and sizes."""
    return {
        name: table.select([each for each in table.column_names if each not in PLACES]).to_pylist()
        for name, table in tables.items()
        if name != "files"
    }


@pytest.mark.long(first=1)
@pytest.mark.parametrize("form", ["plain", "gzip", "utf-16"])
def test_the_tables_are_those_of_a_file_with_only_these_lines(log: Path, tmp_path: Path, form: str) -> None:
    begin, end = b"2026-10-20 09:50:20", b"2026-10-20 09:50:41.5"
    kept = [line for line in log.read_bytes().splitlines(True) if begin <= line < end]
    assert 500 < len(kept) < 3000
    (tmp_path / "kept.log").write_bytes(b"".join(kept))
    whole = tmp_path / "whole.log"
    data = log.read_bytes()
    data = {"plain": data, "gzip": gzip.compress(data), "utf-16": data.decode().encode("utf-16")}[form]
    whole.write_bytes(data)
    wanted = plain(scan_local([str(tmp_path / "kept.log")], MONTHS))
    assert sum(row["ids"] for row in wanted["processes"]) > 500  # type: ignore[misc]
    for size in (1 << 30, 50_000):
        found = scan_local([str(whole)], MONTHS, size, between=between("09:50:20", "09:50:41.500"))
        assert plain(found) == wanted, size


def test_each_line_is_judged_by_its_own_time_or_by_the_line_that_it_belongs_to() -> None:
    text = b"\n".join(
        [
            b"2026-10-20 09:59:59,999 too early " + ID.encode(),
            b"	at a stack trace of it",
            b"2026-10-20 10:00:00,000 begins",
            b"	msgId=" + ID.encode() + b" belongs to it, whenever it was generated",
            b"	offsetMsgId of a record of several lines",
            b"2026-10-20T02:30:00Z named its own zone",
            b'{"ts":"20/Oct/2026:10:45:00 +0800"}',
            b"bornTimestamp=1792464300000, of 10:45",
            b"2026-10-20 11:00:00,000 the end is not in it",
            b"and what follows",
            b"",
        ]
    )
    wanted = between("10:00", "11:00")
    expected = text.split(b"\n")
    for place in (0, 1, 8, 9):
        expected[place] = b" " * len(expected[place])
    for piece in (1, 7, 1 << 16):
        assert left(text, wanted, piece).split(b"\n") == expected


def test_a_line_without_any_time_has_that_of_its_id() -> None:
    wanted = LineRange(to_ms(datetime(2026, 10, 10, 23, 37, tzinfo=EAST)), None, CLOCK)
    earlier = ID[:16] + f"{int(ID[16:], 16) - (3_600_000 << 16):016X}"
    assert left(f"{ID}\n{earlier}\n{ID}\n".encode(), wanted) == f"{ID}\n{' ' * 32}\n{ID}\n".encode()
    assert left(b"no time\n0A2A010D00002A9F0000001F12492492\n", wanted).strip() == b""


def test_a_long_line_is_as_its_beginning() -> None:
    tail = b"x" * 300_000
    text = b"2026-10-20 10:30:00 " + tail + b"\n2026-10-20 12:30:00 " + tail + b"\nend"
    first, second, last = left(text, between("10:00", "11:00"), 1 << 15).split(b"\n")
    assert first == text.split(b"\n")[0] and not second.strip() and not last.strip() and len(second) == len(tail) + 20


def test_it_keeps_up_with_a_disk(log: Path) -> None:
    text, began = log.read_bytes() * 4, time.process_time()
    assert len(left(text, between("09:50", "09:51"))) == len(text)
    assert len(text) / (time.process_time() - began) > 10e6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--since", "3x"), "not a span of time"),
        (("--since", "1h", "--from", "2026-10-20"), "either --from or --since"),
        (("--from", "2026-10-21", "--to", "2026-10-20"), "the time range is empty"),
        (("--from", "noon"), "noon"),
    ],
)
def test_a_wrong_range_is_refused_before_spark(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert main(["scan", str(log), "--out", str(tmp_path / "tables"), *words]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1 and not (tmp_path / "tables").exists()

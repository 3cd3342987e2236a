"""Logs as other programs store them: Parquet, CSV, JSON Lines, the journal's export. Every id counts once."""

from __future__ import annotations

import base64
import csv
import io
import json
import random
import struct
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.base.errors import CoreError
from idcore.base.parquet_pages import begin_of, pages
from idcore.scan.local import scan_local
from idcore.scan.tables import Tables
from idcore.sources import columns
from idcore.sources.columns import holds_text, lines_of
from tests.scan import logs
from tests.scan.comparing import same
from tests.scan.logs import AT

ROOT = Path(__file__).resolve().parents[2]
MONTHS = np.array([[int(AT.replace(day=1, hour=0, tzinfo=UTC).timestamp() * 1000), 31 * 86_400_000 - 1]], np.int64)
LOG = logs.mixed(44, 1500).data
LINES = [line.decode("latin-1") for line in LOG.split(b"\n")[:-1]]
SPLITS = [1013, 9973, 1 << 30]
COUNTED = ["processes", "hosts", "brokers", "segments", "clients", "counters", "distribution"]


def scanned(folder: Path, data: bytes, split: int = 1 << 30, name: str = "a") -> Tables:
    path = folder / name
    path.write_bytes(data)
    return scan_local([str(path)], MONTHS, split)


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


@pytest.mark.long(first=1)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())])
def test_a_parquet_column_of_lines_has_the_tables_of_the_log(kind: pa.DataType, split: int, tmp_path: Path) -> None:
    lines: list[Any] = [line.encode() for line in LINES] if kind == pa.binary() else LINES
    data = parquet(
        {"n": range(len(lines)), "line": pa.array(lines).cast(kind)},
        row_group_size=97,
        compression="zstd" if split == 1 << 30 else "none",
    )
    tables, want = scanned(tmp_path, data, split), scanned(tmp_path, LOG, name="b")
    assert same(tables, want, ["files", "refused", "lookalikes"]) == []
    assert tables["refused"].select(["reason", "ids", "sample"]) == want["refused"].select(["reason", "ids", "sample"])
    row, plain = tables["files"].to_pylist()[0], want["files"].to_pylist()[0]
    assert (row["ids"], row["refused"], row["error"]) == (plain["ids"], plain["refused"], None)
    assert row["bytes"] == len(data) and row["text_bytes"] == len("\n".join(LINES).encode()) + 1


@pytest.mark.parametrize("split", SPLITS)
def test_ids_in_columns_of_one_row_are_a_line_with_both(split: int, tmp_path: Path) -> None:
    rows = [
        (logs.uniq(0x0A000001, 9, logs.JAVA, logs.NOON + n, n), logs.offset(0x0A000002, 10911, n << 20))
        for n in range(700)
    ]
    unique, places = (list(column) for column in zip(*rows, strict=True))
    data = parquet(
        {"msg_id": unique, "time": [datetime(2026, 3, 10)] * 700, "offset_msg_id": places}, row_group_size=50
    )
    text = "".join(f"{a}\t{b}\n" for a, b in rows).encode()
    assert same(scanned(tmp_path, data, split), scanned(tmp_path, text, name="b"), ["files"]) == []


def test_text_in_lists_maps_and_structures_is_read_and_numbers_are_not() -> None:
    batch = pa.record_batch(
        {
            "n": pa.array([1, 2, 3]),
            "list": pa.array([["a", None, "b"], None, []], pa.list_(pa.string())),
            "map": pa.array([[("k", "v"), ("l", None)], [], None], pa.map_(pa.string(), pa.string())),
            "struct": pa.array([{"x": "c", "y": 1, "z": ["d"]}, None, {"x": None, "y": 2, "z": None}]),
            "fixed": pa.array([b"ef", None, b"gh"], pa.binary(2)),
            "view": pa.array(["i", None, "j"], pa.string_view()),
        }
    )
    kept = batch.select([field.name for field in batch.schema if holds_text(field.type)])
    assert kept.schema.names == ["list", "map", "struct", "fixed", "view"]
    assert lines_of(kept) == b"a  b\tk v l \tc d\tef\ti\n\t\t \t\t\n\t\t \tgh\tj\n"
    assert lines_of(kept.slice(2, 1)) == b"\t\t \tgh\tj\n"
    assert lines_of(kept.slice(0, 1)) == b"a  b\tk v l \tc d\tef\ti\n"


def test_parquet_without_text_rows_or_end(tmp_path: Path) -> None:
    whole = parquet({"line": LINES}, row_group_size=100)
    for data, ids, error in [
        (parquet({"n": [1, 2]}), 0, None),
        (parquet({"line": pa.array([], pa.string())}), 0, None),
        (whole[:-3000], 0, "parquet_damaged"),
    ]:
        row = scanned(tmp_path, data)["files"].to_pylist()[0]
        assert row["ids"] == ids and row["error"] == error


def test_a_damaged_row_group_is_named_and_those_before_it_count(tmp_path: Path) -> None:
    data = bytearray(parquet({"line": LINES}, row_group_size=100, compression="zstd"))
    at = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(5).column(0).data_page_offset
    data[at : at + 200] = bytes(200)
    for split in SPLITS:
        row = scanned(tmp_path, bytes(data), split)["files"].to_pylist()[0]
        before = scanned(tmp_path, "\n".join(LINES[:500]).encode() + b"\n", name="b")["files"]["ids"][0].as_py()
        assert row["error"] and row["ids"] >= before


@pytest.mark.parametrize("name", [b"elemenu", b"elemen\xff"])
def test_a_footer_with_two_names_of_a_column_is_damage_and_the_other_files_count(name: bytes, tmp_path: Path) -> None:
    """What looks a name up raised KeyError, which ended the scan of a whole folder."""
    data = bytearray(parquet({"line": [["x", line] for line in LINES]}, store_schema=False))
    at = data.rindex(b"element")
    assert at > data.index(b"element"), "that of the schema comes before that of the column"
    data[at : at + len(name)] = name
    (tmp_path / "damaged").write_bytes(data)
    (tmp_path / "whole").write_bytes(LOG)
    rows = scan_local([str(tmp_path / "damaged"), str(tmp_path / "whole")], MONTHS, 1 << 30)["files"].to_pylist()
    assert [(row["error"], row["ids"] > 0) for row in rows] == [("parquet_damaged", False), (None, True)]


@pytest.mark.parametrize("encoding", ["dictionary", "DELTA_BYTE_ARRAY"])
def test_a_long_value_repeated_in_few_bytes_takes_time_but_no_memory(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """600 rows of 1 MiB in less than 1 kB: one value in a dictionary, or each the same as the one before."""
    monkeypatch.setenv("IDCORE_UNPACKED_LOG", "64M")
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 600, pa.int32()), pa.array(["x" * (1 << 20)]))
    table, options = pa.table({"line": values}), {"compression": "zstd", "store_schema": False}
    if encoding == "dictionary":
        pq.write_table(table, tmp_path / "bomb", dictionary_pagesize_limit=1 << 30, **options)
    else:
        table = table.cast(pa.schema([("line", pa.string())]))
        delta = {"use_dictionary": False, "column_encoding": {"line": encoding}}
        pq.write_table(table, tmp_path / "bomb", **options, **delta)
    data = (tmp_path / "bomb").read_bytes()
    del table
    sizes = []

    def counted(batch: pa.RecordBatch) -> bytes:
        sizes.append(len(lines := lines_of(batch)))
        return lines

    monkeypatch.setattr(columns, "lines_of", counted)
    row = scanned(tmp_path, data)["files"].to_pylist()[0]
    assert len(data) < 1000 and row["error"] == "unpacked_large" and row["text_bytes"] < 65 << 20
    assert max(sizes) <= 17 << 20


# Reads the beginning of a file as the page does that it was dropped on; what is wrong, and MiB that it took.
READ = """
import io, sys
from pathlib import Path
from idcore.intake import intake
from idcore.sources import archives, columns

def most():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))

before = most()
heads = intake.heads_of(Path(sys.argv[1]), "a")
print([error.code for _, error in heads.failed + heads.partly], most() - before)
"""


def read_apart(data: bytes, folder: Path) -> tuple[str, int]:
    (folder / "apart").write_bytes(data)
    told = subprocess.run(
        [sys.executable, "-c", READ, str(folder / "apart")], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.strip()
    codes, _, size = told.rpartition(" ")
    return codes, int(size)


def repeated(shape: str, rows: int, text: str) -> pa.Array:
    """The same text in each row, which a Parquet file has once."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    if shape == "struct":
        return pa.StructArray.from_arrays([values], ["x"])
    offsets = [0, rows] if shape == "one list" else range(rows + 1)
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
    return pa.StructArray.from_arrays([lists], ["x"]) if shape == "list in struct" else lists


@pytest.mark.long(first=1)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("shape", ["list", "struct", "list in struct", "one list"])
def test_a_long_value_repeated_in_lists_takes_no_memory(shape: str, tmp_path: Path) -> None:
    """Less than 2 kB were 5 to 8 GiB in the console, when somebody dropped the file on the page."""
    table = pa.table({"line": repeated(shape, 600, "x" * (1 << 20))})
    data = io.BytesIO()
    pq.write_table(table, data, compression="zstd", store_schema=False, dictionary_pagesize_limit=1 << 30)
    codes, size = read_apart(data.getvalue(), tmp_path)
    assert codes == ("['parquet_large']" if shape == "one list" else "[]")
    assert len(data.getvalue()) < 2000 and size < 200


def test_a_page_or_a_list_beyond_all_measure_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """12 kB were 1.6 GiB, as a page of a single value."""
    monkeypatch.setattr(columns, "_PAGE", 4 << 20)
    monkeypatch.setattr(columns, "_PAGES", 6 << 20)
    monkeypatch.setattr(columns, "_VALUES", 1 << 20)
    large, some, many = "x" * (16 << 20), "x" * (3 << 20), [None] * (2 << 20)
    plain: dict[str, Any] = {"compression": "zstd", "use_dictionary": False}
    for data, error in [
        (parquet({"line": [large]}, **plain), "parquet_large"),
        (parquet({"line": [{"x": large}]}, **plain), "parquet_large"),
        (parquet({"line": pa.array([many], pa.list_(pa.string()))}, compression="zstd"), "parquet_large"),
        (parquet({name: [some] for name in "abc"}, **plain), "parquet_large"),
        (parquet({"line": [some]}, **plain), None),
    ]:
        assert scanned(tmp_path, data)["files"].to_pylist()[0]["error"] == error


def test_thousands_of_columns_are_opened_as_often_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 columns in 4.6 MB were opened 20,000 times, each time all of them: hours of a processor."""
    opened: list[int] = []
    real = pq.ParquetFile

    def counted(*given: Any, **options: Any) -> Any:
        opened.append(1)
        return real(*given, **options)

    uniq = logs.uniq(0x0A000001, 9, logs.JAVA, logs.NOON, 1)
    data = parquet({f"c{place}": [uniq] for place in range(1_000)})
    monkeypatch.setattr(columns.pq, "ParquetFile", counted)
    row = scanned(tmp_path, data)["files"].to_pylist()[0]
    assert row["ids"] == 1_000 and len(opened) <= 4


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize(
    "options", [{}, {"compression": "zstd", "write_page_checksum": True, "write_page_index": True}]
)
def test_the_headers_of_pages_say_what_the_footer_of_an_honest_file_says(version: str, options: Any) -> None:
    table = {"line": LINES * 40, "list": [["a", "b" * (n % 90)] for n in range(len(LINES) * 40)]}
    data = io.BytesIO(parquet(table, data_page_version=version, data_page_size=1 << 14, **options))
    group = pq.ParquetFile(data).metadata.row_group(0)
    for place in range(group.num_columns):
        column = group.column(place)
        found = list(pages(data, column))
        assert len(found) > 3 and sum(page.values for page in found) == column.num_values
        headers = column.total_uncompressed_size - sum(page.size for page in found)
        assert 10 * len(found) < headers < 120 * len(found)


@pytest.mark.parametrize("seed", range(40))
def test_a_header_of_a_page_that_is_none_is_damage(seed: int) -> None:
    """Of any bytes: also of structures in one another without end, and of numbers without end."""
    whole = parquet({"line": LINES}, compression="none")
    column = pq.ParquetFile(io.BytesIO(whole)).metadata.row_group(0).column(0)
    odd = [b"\x1c" * 4096, b"\x15" + b"\xff" * 4096, b"\x15\x01\x15\x01\x15\x01", b""]
    junk = odd[seed] if seed < len(odd) else random.Random(seed).randbytes(600)
    at = begin_of(column)
    assert at is not None
    data = whole[:at] + junk + (whole[at + len(junk) :] if junk else b"")
    try:
        said: list[int | str] = [page.size for page in pages(io.BytesIO(data), column)]
    except CoreError as problem:
        said = [problem.code]
    assert said == ["parquet_damaged"] or all(isinstance(size, int) and size >= 0 for size in said)


# ---- text formats: scanned as they stand


def places(tables: Tables) -> list[int]:
    return [tables[name]["ids"].to_pylist() for name in ("processes", "brokers", "clients")]


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    return [
        (logs.uniq(0x0A000001, 9, logs.JAVA, logs.NOON + n, n), logs.offset(0x0A000002, 10911, n << 20))
        for n in range(200)
    ]


def as_docker(message: str) -> str:
    """Docker's json-file driver: Go's encoding/json, which writes <, > and & as escapes."""
    line = json.dumps({"log": message + "\n", "stream": "stdout", "time": "2026-03-10T10:00:00.000000001Z"})
    return line.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def as_kubernetes(message: str) -> str:
    return f"2026-03-10T10:00:00.000000001+08:00 stdout F {message}"


def as_elastic(message: str) -> str:
    source = {"@timestamp": "2026-03-10T02:00:00.000Z", "message": message, "kubernetes": {"pod": {"name": "order-0"}}}
    return json.dumps({"_index": "logs-2026.03", "_id": "xYz", "_source": source}, ensure_ascii=True)


def as_nested(message: str) -> str:
    return json.dumps({"log": json.dumps({"msg": json.dumps({"text": message})})})


def as_csv(message: str) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow(["2026-03-10", message, 'say "hi"'])
    return out.getvalue().rstrip("\r\n")


MESSAGES = [
    "<{0}>发送成功&[{1}]",
    '"msgId":"{0}","offsetMsgId":"{1}"',
    "SendResult [msgId={0}, offsetMsgId={1}]",
    "\t{0}\t{1}\t",
    "'{0}'/'{1}'",
    "消息{0}；{1}消息",
]


@pytest.mark.long(first=3)
@pytest.mark.parametrize("split", [211, 1 << 30])
@pytest.mark.parametrize("write", [as_docker, as_kubernetes, as_elastic, as_nested, as_csv])
@pytest.mark.parametrize("message", MESSAGES)
def test_a_log_in_json_or_csv_is_read_as_it_stands(
    write: Any, message: str, split: int, pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    text = "".join(write(message.format(*pair)) + "\n" for pair in pairs)
    tables = scanned(tmp_path, text.encode(), split)
    want = scanned(tmp_path, "".join(f"{a} {b}\n" for a, b in pairs).encode(), name="b")
    assert same(tables, want, ["files", "refused", "lookalikes"]) == []
    assert tables["files"]["ids"].to_pylist() == [400] and tables["growth"].num_rows


def entry(fields: list[tuple[str, bytes]], binary: bool) -> bytes:
    """Journal Export Format: `NAME=value`, or the name, its length as 64 bits little endian, and the bytes."""
    out = b""
    for name, value in fields:
        if binary and (b"\n" in value or name == "MESSAGE"):
            out += name.encode() + b"\n" + struct.pack("<Q", len(value)) + value + b"\n"
        else:
            out += name.encode() + b"=" + value + b"\n"
    return out + b"\n"


def journal(pairs: list[tuple[str, str]], binary: bool) -> bytes:
    return b"".join(
        entry(
            [
                ("__CURSOR", b"s=739ad463348b4ceca5a9e69c95a3c93f;i=4ece7;b=6c7c6013a26343b29e964691ff25d04c"),
                ("__REALTIME_TIMESTAMP", b"1773108000000000"),
                ("_BOOT_ID", b"6c7c6013a26343b29e964691ff25d04c"),
                ("MESSAGE", f"msgId={a},{' ' if not binary else chr(10)}offsetMsgId={b}".encode()),
                ("_COMM", b"java"),
            ],
            binary,
        )
        for a, b in pairs
    )


@pytest.mark.parametrize("split", [211, 4096, 1 << 30])
@pytest.mark.parametrize("binary", [False, True])
def test_an_export_of_the_journal_is_read_as_it_stands(
    binary: bool, split: int, pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    tables = scanned(tmp_path, journal(pairs, binary), split)
    want = scanned(tmp_path, "".join(f"{a} {b}\n" for a, b in pairs).encode(), name="b")
    assert same(tables, want, ["files", "refused", "lookalikes", "growth", "brokers"]) == []
    counted, wanted = (one["brokers"].drop_columns(["bytes_per_second"]) for one in (tables, want))  # of whole lines
    assert counted.equals(wanted)
    reasons = dict(zip(*(tables["refused"][c].to_pylist() for c in ("reason", "ids")), strict=True))
    assert reasons == {"lower_case": 600}  # the ids of boot and cursor


def test_a_length_of_a_binary_field_never_joins_an_id(tmp_path: Path) -> None:
    """The last byte of a 64-bit length is 0, so it can be no digit in front of the value."""
    one = logs.uniq(0x0A000001, 9, logs.JAVA, logs.NOON, 1).encode()
    for length in (0x41, 0x3030, 0x4141414141):
        data = b"MESSAGE\n" + struct.pack("<Q", length) + one + b"\n"
        assert scanned(tmp_path, data)["files"]["ids"].to_pylist() == [1]


def test_base64_is_not_taken_apart(tmp_path: Path) -> None:
    one = logs.uniq(0x0A000001, 9, logs.JAVA, logs.NOON, 1).encode()
    assert scanned(tmp_path, base64.b64encode(one * 40))["files"]["ids"].to_pylist() == [0]

"""The index of lines against the slow twin of the scan: every place, every line, every time, and every filter."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tracemalloc
import zipfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.base.encodings import text_of_line
from idcore.base.errors import CoreError
from idcore.ids.clock import NO_TIME
from idcore.runs import table_sizes
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.occurrences import parts, texts
from idcore.scan.occurrences.index import NAME, VERSION, Filter, Index, IndexPart, Occurrence
from idcore.scan.occurrences.parts import PartWriter
from idcore.sources.inputs import Split, list_files, split_files
from tests.scan import logs, twin
from tests.scan.logs import AT, JAVA, NOON, send_result, uniq
from tests.scan.packing import ARCHIVES, LOG, PACKERS
from tests.scan.reading import Client, Offset, Uniq

MONTHS = month_rows(AT, UTC)


def index_of(path: str, folder: Path, cuts: list[int] | None = None, case: str = "strict") -> Index:
    """The index of one file, in as many pieces as the cuts make; without Spark."""
    tables = scan_local([path], MONTHS, case=case)
    files = list_files([path])
    splits = split_files(files, 1 << 40)
    if cuts:
        edges = [0, *cuts, files[0].size]
        splits = [Split(0, files[0].path, a, b) for a, b in pairwise(edges)]
    pieces = []
    for number, split in enumerate(splits):
        writer = PartWriter(folder, f"{number:03d}", dict(tables), case)
        pieces += list(writer.write([split], {0: files[0].shown}))
    (folder / NAME).write_text(json.dumps({"version": VERSION, "parts": pieces}))
    index = Index.open(folder)
    assert index is not None
    return index


def every(index: Index, **wanted: object) -> list[Occurrence]:
    return index.page(index.select(Filter(**wanted)).rows)  # type: ignore[arg-type]


def key_of(one: Uniq | Offset | Client) -> tuple[str, ...]:
    if isinstance(one, Uniq):
        return "uniq", one.layout, one.host, str(one.pid), f"{one.loader:08X}"
    return ("offset", one.address) if isinstance(one, Offset) else ("client", one.mac, str(one.pid))


def key_found(one: Occurrence) -> tuple[str, ...]:
    names = one.names
    if one.kind == "uniq":
        return "uniq", names["layout"], names["host"], names["pid"], names["loader"]
    return ("offset", names["address"]) if one.kind == "offset" else ("client", names["mac"], names["pid"])


def lines_of(data: bytes, found: list[Occurrence]) -> list[int]:
    ends = [at for at, byte in enumerate(data) if byte == 10]
    return [bisect_left(ends, one.byte) + 1 for one in found]


def ms(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


LOGS = [log for log in logs.everything(7) if not log.name.endswith(("shuffled", "crlf", "no final newline"))]


@pytest.mark.long(first=1)
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_every_id_is_at_its_byte_in_its_line_with_its_time(log: logs.Log, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(log.data)
    data = twin.unpacked(log.data)
    folder = tmp_path / "index"
    folder.mkdir()
    found = every(index_of(str(path), folder))
    vouched: set[twin.Key] = set()
    accepted = twin.settle(twin.judged(data, "strict", vouched, 0)[0])
    settled = {one.byte: one for one in twin.without(accepted, [one for one, _ in twin.look_alikes(accepted, vouched)])}
    assert [one.byte for one in found] == sorted(settled)
    lines = [data.rfind(b"\n", 0, one.byte) + 1 for one in found]
    assert [one.line for one in found] == lines_of(data, found)
    times = {(*p.key[:3], p.key[3]): p for p in twin.all_processes([("a.log", log.data)], UTC, AT)}
    for one, begin in zip(found, lines, strict=True):
        own = settled[one.byte]
        end = data.find(b"\n", begin)
        line = data[begin : end if end >= 0 else len(data)]
        assert one.id.upper() == own.raw.hex().upper()
        assert key_found(one) == key_of(own.one)
        assert one.text[one.at : one.at + len(one.id)] == one.id
        if not one.cut:
            assert one.text == text_of_line(line).rstrip("\r")
        if isinstance(own.one, Uniq):
            assert one.sent_ms == ms(times[own.one.process].sent_at(own.one.elapsed)), own


def test_a_client_of_5_x_has_the_times_of_its_row(tmp_path: Path) -> None:
    data = logs.mixed(3).data
    path = tmp_path / "a.log"
    path.write_bytes(data)
    (tmp_path / "index").mkdir()
    found = [one for one in every(index_of(str(path), tmp_path / "index")) if one.kind == "client"]
    rows = scan_local([str(path)], MONTHS)["clients"].to_pylist()
    assert rows
    for row in rows:
        mine = [one for one in found if (one.names["mac"], one.names["pid"]) == (row["mac"], str(row["pid"]))]
        own = [one.sent_ms for one in mine if one.sent_ms is not None]
        assert len(own) == row["ids"]
        assert (min(own), max(own)) == (ms(row["first_sent_at"]), ms(row["last_sent_at"]))


@pytest.mark.long(first=3)
@pytest.mark.parametrize("name", [*PACKERS, *ARCHIVES, "log"])
def test_lines_of_packed_files_are_those_of_the_plain_one(name: str, tmp_path: Path) -> None:
    make: Callable[[bytes], bytes] = PACKERS.get(name) or (lambda data: ARCHIVES[name]() if name in ARCHIVES else data)
    path, plain = tmp_path / f"a.{name}", tmp_path / "plain.log"
    path.write_bytes(make(LOG))
    plain.write_bytes(LOG)
    for folder in ("packed", "plain"):
        (tmp_path / folder).mkdir()
    packed, expected = index_of(str(path), tmp_path / "packed"), index_of(str(plain), tmp_path / "plain")
    assert [(one.id, one.text) for one in every(packed)] == [(one.id, one.text) for one in every(expected)]
    one, own = (every(index)[20] for index in (packed, expected))
    if name not in ARCHIVES:  # there the lines are of two files
        assert packed.around(one, 3) == expected.around(own, 3)


def test_what_is_unpacked_of_a_large_text_is_held_up_to_16_mib(tmp_path: Path) -> None:
    """The next index of a followed scan has other blocks; those of the last one stayed in memory, up to 256 MB."""
    line = f"msgId={uniq(0x0A000102, 7, JAVA, NOON, 1)} {4_000 * chr(32)}\n".encode()
    log = tmp_path / "a.log.gz"
    log.write_bytes(gzip.compress(line * 7_000, 1))  # 28 MB, read in windows of 1 MiB
    index = index_of(str(log), tmp_path)
    assert max(block.size for source in index.sources.values() for block in source.blocks) <= parts.BLOCK
    tracemalloc.start()
    try:
        for row in range(0, 7_000, 10):
            assert [one.line for one in index.page(np.array([row]))] == [row + 1]
        assert tracemalloc.get_traced_memory()[0] < 17 << 20
    finally:
        tracemalloc.stop()


def test_pieces_number_their_lines_as_the_whole_does(tmp_path: Path) -> None:
    data = logs.mixed(11).data
    path = tmp_path / "a.log"
    path.write_bytes(data)
    cuts = [data.index(b"\n", place) + 1 for place in (len(data) // 5, len(data) // 2)]
    for folder in ("whole", "cut"):
        (tmp_path / folder).mkdir()
    whole, cut = index_of(str(path), tmp_path / "whole"), index_of(str(path), tmp_path / "cut", cuts)
    assert len(cut.parts) == 3
    assert [(o.line, o.byte, o.id, o.sent_ms) for o in every(cut)] == [
        (o.line, o.byte, o.id, o.sent_ms) for o in every(whole)
    ]
    one = next(o for o in every(cut) if o.byte >= cuts[0])
    assert cut.around(one, 4) == whole.around(every(whole)[one.row], 4)
    rows: dict[str, list[int]] = {}
    for o in every(cut):
        rows.setdefault(o.id, []).append(o.row)
    cases = Counter(text.upper() for text in rows)
    mixed = {text for text in rows if cases[text.upper()] > 1}
    found = cut.rows_of([text for text in rows if text not in mixed] + ["0A" * 16])
    assert {text: places.tolist() for text, places in found.items()} == {
        **{text: places for text, places in rows.items() if text not in mixed},
        "0A" * 16: [],
    }


def test_the_lines_between_two_ids_are_whole_or_their_two_ends(tmp_path: Path) -> None:
    between = [f"{n} nothing" for n in range(7)]
    ids = [f"msgId={'0A' * 10}{n:012X}" for n in (1, 2)]
    path = tmp_path / "a.log"
    path.write_text("\n".join([ids[0], *between, ids[1], ids[0]]))
    index = index_of(str(path), tmp_path)
    first, second, third = every(index)
    assert index.between(first, second, 4) == (between, [])
    assert index.between(first, second, 2) == (between[:2], between[-2:])
    assert index.between(second, third, 2) == ([], []) == index.between(third, first, 2)
    path.write_text("\n".join([ids[0], *(line + "x" * 3000 for line in between), ids[1]]))
    (tmp_path / "long").mkdir()
    long = index_of(str(path), tmp_path / "long")
    head, tail = long.between(every(long)[0], every(long)[1], 2)
    assert [line[:9] for line in head] == ["0 nothing"] and not tail, "of long lines only what is near is read"


def test_a_piece_that_is_full_goes_on_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcore.scan.occurrences.parts.MOST_ROWS", 1)
    data = logs.mixed(12, 4500).data
    assert len(data) > 1 << 20  # more than one window
    for name, make in (("a.log", lambda text: text), ("a.gz", PACKERS["gz"])):
        path, folder = tmp_path / name, tmp_path / f"index-{name}"
        path.write_bytes(make(data))
        folder.mkdir()
        index = index_of(str(path), folder)
        assert len(index.parts) > 1
        rows = index.select(Filter()).rows
        assert len(rows) == scan_local([str(path)], MONTHS)["files"]["ids"][0].as_py()
        found = index.page(rows[::29])
        assert [one.line for one in found] == lines_of(data, found)
        assert all(data[one.byte :].startswith(one.id.encode()) for one in found)


def test_filters_give_what_a_loop_gives(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(logs.mixed(5).data)
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index")
    found = every(index)

    def same(wanted: Mapping[str, object], keep: Callable[[Occurrence], bool]) -> None:
        expected = [one.row for one in found if keep(one)]
        assert expected and [one.row for one in every(index, **wanted)] == expected

    def named(*wanted: tuple[str, str]) -> Callable[[Occurrence], bool]:
        return lambda one: all(one.names.get(name) == value for name, value in wanted)

    first = {one.names["layout"]: one.names for one in reversed(found)}
    own, little, client, broker = (first[name] for name in ("uniq_v4", "uniq_v4_le", "client_v1", "offset_v4"))
    process = [(name, own[name]) for name in ("host", "pid", "loader")]
    same({"host": own["host"]}, named(process[0]))
    same({"kind": "offset"}, lambda one: one.kind == "offset")
    same({"process": tuple(value for _, value in process)}, named(*process))
    turned = [(name, little[name]) for name in ("host", "pid", "loader", "layout")]
    same({"process": tuple(value for _, value in turned)}, named(*turned))
    at_broker = named(("address", broker["address"]))
    same({"broker": broker["address"]}, at_broker)
    file = int(next(one.id for one in found if at_broker(one))[16:], 16) >> 30
    in_file = {"broker": broker["address"], "segment": f"{file << 30:020d}"}
    same(in_file, lambda one: at_broker(one) and int(one.id[16:], 16) >> 30 == file)
    of_client = [(name, client[name]) for name in ("mac", "pid")]
    same({"client": tuple(value for _, value in of_client)}, named(*of_client))
    ids = (found[3].id, found[40].id.lower())
    same({"ids": ids}, lambda one: one.id.upper() in {text.upper() for text in ids})
    same({"text": "uniq_key"}, lambda one: "uniq_key" in one.text.lower())
    times = sorted(one.sent_ms for one in found if one.sent_ms is not None)
    start, stop = times[len(times) // 4], times[len(times) // 2]
    same({"start": start, "stop": stop}, lambda one: one.sent_ms is not None and start <= one.sent_ms < stop)
    assert index.select(Filter(start=start, stop=stop)).undated == sum(one.sent_ms is None for one in found)
    assert not len(index.select(Filter(host="203.0.113.99")))


def test_row_groups_that_cannot_have_a_row_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their statistics say so: of times, values and both, in pieces of very few rows, against a loop over all rows."""
    monkeypatch.setattr(parts, "GROUP_ROWS", 5)
    path, chance = tmp_path / "a.log", Random(3)
    path.write_bytes(logs.mixed(5).data)
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index", [path.stat().st_size // 3])
    found = every(index)
    assert len(index.parts) == 2 and all(part.edges[-1] == part.rows for part in index.parts)
    known = [one.sent_ms for one in found if one.sent_ms is not None]
    assert len(known) < len(found), "some have no time"
    for _ in range(20):
        start, stop = sorted(chance.sample(known, 2))
        expected = [one.row for one in found if one.sent_ms is not None and start <= one.sent_ms < stop]
        assert index.select(Filter(start=start, stop=stop)).rows.tolist() == expected
        assert index.may_be_in(start, stop) >= len(expected)
        sent = np.concatenate([part.timed(start, stop)[0] for part in index.parts])
        assert ((sent >= start) & (sent < stop)).sum() == len(expected)
        undated = np.concatenate([part.timed(start, stop, undated=True)[0] for part in index.parts])
        assert (undated == NO_TIME).sum() == len(found) - len(known)
        some = [one.id.upper() for one in chance.sample(found, 3)]
        of_each = {one: [row.row for row in found if row.id.upper() == one] for one in some}
        assert {one: rows.tolist() for one, rows in index.rows_of(some).items()} == of_each
    read: list[int] = []
    columns = IndexPart.columns

    def counted(part: IndexPart, names: Sequence[str], groups: Sequence[int] | None = None) -> list[np.ndarray]:
        read.append(len(groups or ()))
        return columns(part, names, groups)

    monkeypatch.setattr(IndexPart, "columns", counted)
    index.counts("host", max(known), max(known) + 1, 1)
    assert 0 < sum(read) < sum(len(part.edges) - 1 for part in index.parts)


def test_many_hosts_are_counted_in_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each host was a table, put behind all before it: 100,000 took the page minutes, and each had all the bins."""
    path, hosts = tmp_path / "a.log", 300
    lines = [
        f"2026-11-20 10:00:00 msgId={0x0A000000 + at:08X}0D5818B4AAC2000F{at:04X}{at:04X}\n" for at in range(hosts)
    ]
    path.write_text("".join(lines))
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index")
    known = [one.sent_ms for one in every(index) if one.sent_ms is not None]
    made, own = list[int](), pa.concat_tables

    def counting(tables: Sequence[pa.Table]) -> pa.Table:
        made.append(len(tables))
        return own(tables)

    monkeypatch.setattr(pa, "concat_tables", counting)
    counted = index.counts("host", min(known), max(known) + 1, 1)
    assert made == [1 + len(index.parts)] and counted.num_rows == hosts == len(known)
    assert counted["ids"].to_pylist() == [1] * hosts and counted["name"].to_pylist() == sorted(
        counted["name"].to_pylist()
    )
    assert not index.counts("host", max(known) + 1, max(known) + 2, 1).num_rows


def test_orders_are_by_time_and_undated_ids_come_last(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(logs.mixed(5).data)
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index")
    for order, sign in (("time", 1), ("-time", -1)):
        times = [one.sent_ms for one in index.page(index.select(Filter(), order).rows)]
        dated = [sign * at for at in times if at is not None]
        assert dated == sorted(dated) and None not in times[: len(dated)]


def test_counts_and_points_are_those_of_the_places(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(logs.mixed(5).data)
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index")
    dated = [(one, one.sent_ms) for one in every(index, kind="uniq") if one.sent_ms is not None]
    times = [at for _, at in dated]
    start, stop, step = min(times), max(times) + 1, 3_600_000
    expected = Counter((one.names["host"], start + (at - start) // step * step) for one, at in dated)
    table = index.counts("host", start, stop, step).to_pylist()
    assert {(row["name"], row["from_ms"]): row["ids"] for row in table} == expected
    sent, values = index.points(Filter(kind="uniq"))
    assert sorted(sent.tolist()) == sorted(times)
    assert {int(value) & 0xFFFF for value in values} == {counter_of(one) for one, _ in dated}


def counter_of(one: Occurrence) -> int:
    return int.from_bytes(bytes.fromhex(one.id[-4:]), "little" if one.names["layout"] == "uniq_v4_le" else "big")


def test_a_process_of_two_months_has_each_id_in_its_month(tmp_path: Path) -> None:
    rows = []
    for month, elapsed, counter in ((1, 20 * 86_400_000, 1), (1, 27 * 86_400_000, 2), (2, 5_000, 3), (2, NOON, 4)):
        born = int(datetime(2026, month, 1, tzinfo=UTC).timestamp() * 1000) + elapsed
        rows.append(f"MessageExt [bornTimestamp={born}, properties={{UNIQ_KEY={uniq(1, 2, JAVA, elapsed, counter)}}}]")
    path = tmp_path / "a.log"
    path.write_bytes(logs.joined(rows))
    (tmp_path / "index").mkdir()
    found = every(index_of(str(path), tmp_path / "index"))
    assert [one.sent_ms for one in found] == [int(row.split("=")[1].split(",")[0]) for row in rows]


def test_a_file_that_changed_after_the_scan_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    text = send_result(uniq(1, 2, JAVA, NOON, 1), logs.offset(3, 10911, 77))
    path.write_text(text + "\n")
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index")
    path.write_text("x" + text + "\n")
    found = every(index)
    assert {one.problem.code for one in found if one.problem} == {"file_changed"} and not any(o.text for o in found)
    path.unlink()
    assert all(one.problem and one.problem.code == "unreadable" for one in every(index))


def test_a_name_that_is_not_utf_8_takes_the_lines_from_nobody(tmp_path: Path) -> None:
    path = tmp_path / "a\udcff.log"
    path.write_bytes(LOG)
    (tmp_path / "index").mkdir()
    found = every(index_of(str(path), tmp_path / "index"))
    assert found and all(one.text for one in found) and found[0].file.endswith("a\\xff.log")


def test_a_file_that_is_not_permitted_any_more_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    (tmp_path / "index").mkdir()
    index = index_of(str(path), tmp_path / "index")

    def never(_: str) -> None:
        raise CoreError("EACCES")

    found = index.page(np.arange(9), never)
    assert all(one.problem is not None and one.problem.code == "EACCES" for one in found)
    assert all(one.problem is not None and one.problem.__traceback__ is None for one in found), "it holds what was read"


def test_another_version_is_not_an_index(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(json.dumps({"version": VERSION + 1, "parts": []}))
    assert Index.open(tmp_path) is None and Index.open(tmp_path / "no") is None


def test_a_damaged_archive_keeps_the_lines_before_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    data = ARCHIVES["zip"]()
    path.write_bytes(data)
    assert zipfile.ZipFile(path).testzip() is None
    (tmp_path / "index").mkdir()
    whole = len(every(index_of(str(path), tmp_path / "index")))
    cut = tmp_path / "b.log.gz"
    cut.write_bytes(PACKERS["gz"](LOG)[:-2000])
    (tmp_path / "cut").mkdir()
    found = every(index_of(str(cut), tmp_path / "cut"))
    assert 0 < len(found) < whole
    assert len(found) == scan_local([str(cut)], MONTHS)["files"]["ids"][0].as_py()


def test_what_only_looks_like_an_id_has_no_row_and_no_host(tmp_path: Path) -> None:
    """As in the tables: a page of lines shows none, and no link of its leads to a host that is not there."""
    real = [uniq(0x0A000001, 7, JAVA, 1_600_000_000 + n, n) for n in range(9)]
    hashes = [hashlib.md5(b"%d" % n).hexdigest().upper() for n in range(300)]
    lines = [f"saved {one} ok" for pair in zip(hashes[::30], real, strict=False) for one in pair] + hashes
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.log", "\n".join(lines[:50]))
        archive.writestr("b.log", "\n".join(lines[50:]))
    for name, data in (("a.log", "\n".join(lines).encode()), ("a.zip", packed.getvalue())):
        (tmp_path / name).write_bytes(data)
        for case in ("strict", "lookalikes", "any"):
            folder = tmp_path / f"{name} {case}"
            folder.mkdir()
            index = index_of(str(tmp_path / name), folder, case=case)
            tables = scan_local([str(tmp_path / name)], MONTHS, case=case)
            assert index.rows == len(every(index)) == sum(tables["files"]["ids"].to_pylist())
            if case == "strict":
                assert [one.id for one in every(index)] == real
                assert sum(index.has("host", host) for host in tables["hosts"]["host"].to_pylist()) == 1
                assert {row["host"] for part in index.parts for row in part.names.to_pylist()} == {"10.0.0.1"}


@pytest.mark.parametrize("what", ["keys", "names", "texts", "blocks", "places"])
def test_a_file_of_the_index_that_would_fill_the_memory_is_not_read(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros, and one long text, take some kilobytes, however many rows have them."""
    monkeypatch.setattr(table_sizes, "MOST", 64 << 20)
    log, folder = tmp_path / "a.log", tmp_path / "20261127-202823-e10309" / "occurrences"
    log.write_text(send_result(uniq(1, 2, JAVA, NOON, 1), logs.offset(3, 10911, 77)) + "\n")
    folder.mkdir(parents=True)
    index = index_of(str(log), folder)
    (path,) = folder.glob(f"*.{what}.parquet")
    table = pq.read_table(path)
    if what == "places":
        table = table.take(pa.array(np.zeros(2_000_000, np.int32)))
    else:
        places = pa.array(np.zeros(5_000, np.int32))
        texts = pa.DictionaryArray.from_arrays(places, pa.array(["x" * 1_000_000]))
        table = pa.table(dict.fromkeys(table.column_names, texts))
    pq.write_table(table, path, compression="zstd", store_schema=False)
    part = IndexPart(folder, index.parts[0].name, 0, index.rows)
    with pytest.raises(CoreError) as damaged:
        part.columns(["sent_ms"]) if what == "places" else getattr(part, what)
    assert damaged.value.code == "table_damaged"
    assert damaged.value.values == {"name": "20261127-202823-e10309", "table": "occurrences"}


@pytest.mark.parametrize("what", ["places.parquet", "keys.parquet", "text"])
def test_a_link_in_the_place_of_a_file_of_an_index_is_not_followed(what: str, tmp_path: Path) -> None:
    """Nor is a pipe, which would keep a thread for ever."""
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"msgId=AC110001473C7D4991AD336AEA5703E0\n"))
    (folder := tmp_path / "made").mkdir()
    (found,) = every(index_of(str(tmp_path / "log.gz"), folder))
    assert found.text is not None
    (file,) = folder.glob(f"*.{what}")
    file.rename(tmp_path / "other")
    file.symlink_to(tmp_path / "other")
    texts._unpacked.cache_clear()
    index = Index.open(folder)
    assert index is not None
    with pytest.raises((CoreError, PermissionError)):
        _ = index.parts[0].keys if what == "keys.parquet" else every(index)

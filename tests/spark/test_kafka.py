"""Topics of Kafka that are followed: a real broker and Spark's own source; the files that records are written to."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from idcore.__main__ import main
from idcore.base.catalogue import words
from idcore.base.errors import CoreError
from idcore.intake.allowed import check, inside, roots_of
from idcore.presentation.triage import follow_texts
from idcore.sources.uris import topics
from idcore.spark import kafka
from tests.java import jars
from tests.scan import logs
from tests.spark.kafka_broker import broker
from tests.spark.test_follow import AT, counted, following, wait

TOPIC = "orders"


@pytest.fixture
def with_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_KAFKA_JARS", str(jars.folder(jars.SPARK_KAFKA)))


@pytest.mark.long
def test_a_topic_is_followed_through_a_kill_and_ends_as_a_scan(java: None, with_jars: None, tmp_path: Path) -> None:
    lines = [line.decode() for line in logs.honest(1).data.split(b"\n") if line]
    pieces, out = [lines[n::4] for n in range(4)], tmp_path / "out"
    size = [sum(len(line.encode()) + 1 for line in piece) for piece in pieces]
    with broker(tmp_path, TOPIC) as kafka_broker:
        kafka_broker.send(pieces[0])
        with following(f"kafka://{kafka_broker.address}/{TOPIC}", out) as process:
            wait(lambda: counted(out) == size[0], process, out)
            kafka_broker.send(pieces[1])
            process.kill()  # the driver, whatever it does
            process.wait()
        kafka_broker.send(pieces[2])
        with following(f"kafka://{kafka_broker.address}/{TOPIC}", out) as process:
            wait(lambda: counted(out) == sum(size[:3]), process, out)
            kafka_broker.send(pieces[3])
            wait(lambda: counted(out) == sum(size), process, out)
            process.send_signal(signal.SIGINT)
            process.wait(60)
        assert process.returncode == 0
    written = [line for path in (out / "kafka").glob("*.log") for line in path.read_text().splitlines()]
    assert Counter(written) == Counter(lines)
    assert main(["scan", str(out / "kafka"), "--out", str(tmp_path / "scan"), *AT]) == 0
    for table in sorted(path.name for path in (tmp_path / "scan").iterdir() if path.is_dir()):
        found, wanted = pq.read_table(out / table), pq.read_table(tmp_path / "scan" / table)
        assert found.equals(wanted), table


class Batch:
    """What Spark gives to the driver, without Spark."""

    def __init__(self, rows: list[tuple[str, int, int, bytes | None]]) -> None:
        names = ("topic", "partition", "offset", "value")
        self.asked: list[int] = []  # how many bytes of each value
        types = (pa.string(), pa.int32(), pa.int64(), pa.binary())
        columns = [pa.array([row[n] for row in rows], type=type_) for n, type_ in enumerate(types)]
        self.table = pa.table(columns, names=list(names))

    def selectExpr(self, *parts: str) -> Batch:
        """Of the value as many bytes as the query says, and how many it has."""
        self.asked.append(most := int(parts[3].partition("value, 1, ")[2].partition(")")[0]))
        sizes = pc.binary_length(self.table["value"])
        self.table = self.table.append_column("size", sizes) if "size" not in self.table.column_names else self.table
        cut = Batch([])
        cut.table = self.table.set_column(3, "value", pc.binary_slice(self.table["value"], 0, most))
        return cut

    def toArrow(self) -> pa.Table:
        return self.table


def batch_of(rows: list[tuple[str, int, int, bytes | None]]) -> Any:
    return Batch(rows)


def records_of(folder: Path) -> kafka.Records:
    return kafka.Records("kafka://h:1/orders", folder, folder, "beginning")


def batches(r: random.Random) -> Iterator[list[tuple[str, int, int, bytes | None]]]:
    """Batches of three partitions, their rows in any order; some records have no value, some several lines."""
    at = [0, 0, 0]
    for _ in range(r.randrange(1, 12)):
        rows: list[tuple[str, int, int, bytes | None]] = []
        for partition in range(3):
            for _ in range(r.randrange(0, 6)):
                at[partition] += r.choice((1, 1, 1, 3))  # a transaction's marks take offsets
                value = r.choice((None, b"", b"a\nb\r\n", f"{partition} {at[partition]}".encode(), b"x" * 40))
                rows.append((TOPIC, partition, at[partition], value))
        r.shuffle(rows)
        yield rows


@pytest.mark.parametrize("seed", range(40))
def test_records_are_written_once_and_in_order_whenever_the_driver_ends(
    seed: int, with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "FILE_BYTES", 120)
    r, wanted = random.Random(seed), {0: b"", 1: b"", 2: b""}
    for number, rows in enumerate(batches(r)):
        for _, partition, _, value in sorted(rows, key=lambda row: row[:3]):
            wanted[partition] += value.rstrip(b"\r\n") + b"\n" if value else b""
        for _ in range(r.randrange(1, 4)):  # the same batch again, after an end at any moment
            held = {path: path.read_bytes() for path in tmp_path.glob("records/*.json")}
            records_of(tmp_path)._take(batch_of(rows), number)
            if r.random() < 0.4:  # killed before it noted what it had appended, or in the middle of it
                name = f"{TOPIC}-{r.randrange(3)}"
                note, before = tmp_path / "records" / f"{name}.json", held.get(tmp_path / "records" / f"{name}.json")
                now = json.loads(note.read_text()) if note.exists() else None
                was = json.loads(before) if before else {"batch": -1, "file": 1, "bytes": 0}
                if now and now["batch"] != was["batch"]:
                    log = tmp_path / f"{name}.{was['file']:05}.log"
                    os.truncate(log, r.randrange(was["bytes"], log.stat().st_size + 1))
                    note.write_text(json.dumps(was))
                    records_of(tmp_path)._take(batch_of(rows), number)
    for partition, text in wanted.items():
        files = sorted(tmp_path.glob(f"{TOPIC}-{partition}.*.log"))
        assert b"".join(path.read_bytes() for path in files) == text


def spark_that_begins(begun: list[int], query: Any) -> Any:
    """What begins a query, without Spark; `begun` gets the most records that a batch of each may have."""

    def options(**given: str) -> Any:
        begun.append(int(given["maxOffsetsPerTrigger"]))
        written: Any = SimpleNamespace(start=lambda: query)
        written.option = written.trigger = lambda *_, **__: written
        stream = SimpleNamespace(writeStream=SimpleNamespace(foreachBatch=lambda _: written))
        return SimpleNamespace(load=lambda: SimpleNamespace(select=lambda *_: stream))

    return SimpleNamespace(readStream=SimpleNamespace(format=lambda _: SimpleNamespace(options=options)))


def test_a_batch_has_as_many_records_as_java_has_room_for(with_jars: None, tmp_path: Path) -> None:
    """Whoever may write into a topic ended Java, and all scans of everybody, with some thousand large records."""
    begun: list[int] = []
    sql = spark_that_begins(begun, SimpleNamespace(isActive=True, lastProgress={}, stop=lambda: None))
    records = records_of(tmp_path)
    for number, size in enumerate([0, 100, 200, 900_000, 5_000_000, 900_000, 100]):
        if size:
            records._take(batch_of([("orders", 0, 10 * number + n, b"x" * size) for n in range(10)]), number)
        for _ in range(2):
            records.watch(sql)
    assert [round(most, -1) for most in begun] == [250, 200_000, 150, 30, 150, 200_000]
    assert all(most <= 250 or most * 200 < kafka.BATCH_BYTES for most in begun)


@pytest.mark.parametrize("large", [0, 1, 40, 99])
def test_a_batch_that_has_no_room_is_planned_again_before_it_is_in_memory(
    large: int, with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind small records come large ones: 3,000 that unpack to a megabyte each ended Java, and all scans with it."""
    for name, value in {"BATCH_BYTES": 2_000, "HELD_BYTES": 4_000, "SHORT": 10}.items():
        monkeypatch.setattr(kafka, name, value)
    rows: list[tuple[str, int, int, bytes | None]]
    rows = [("orders", n % 2, n, b"%02d" % n + b"x" * (0 if n < large else 900) + b"\n") for n in range(100)]
    begun: list[int] = []
    query: Any = SimpleNamespace(isActive=False, lastProgress=None, stop=lambda: None)
    sql, records, at, number = spark_that_begins(begun, query), records_of(tmp_path), 0, 0
    planned = tmp_path / "kafka" / "offsets"
    planned.mkdir(parents=True)
    records.watch(sql)
    while at < len(rows):
        batch = Batch(rows[at : at + max(2, begun[-1])])  # of each partition one at least
        for name in (str(number), f".{number}.crc"):
            (planned / name).write_text("v1")
        try:
            records._take(cast(Any, batch), number)
            at, number, query.isActive = at + batch.table.num_rows, number + 1, True
        except RuntimeError:
            assert batch.asked == [10]
            query.isActive = False
        records.watch(sql)
        query.isActive = True
        assert not [*planned.glob(f"{number}"), *planned.glob(f".{number}.crc")]
        assert records.away == "" and len(begun) < 30
    for partition in range(2):
        text = b"".join(path.read_bytes() for path in sorted(tmp_path.glob(f"orders-{partition}.*.log")))
        assert text == b"".join(value or b"" for _, of, _, value in rows if of == partition)


def test_of_one_record_no_more_is_read_than_has_room(
    with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"BATCH_BYTES": 50, "HELD_BYTES": 100, "SHORT": 10}.items():
        monkeypatch.setattr(kafka, name, value)
    records = records_of(tmp_path)
    records._at_once = 1
    records._take(batch_of([("orders", partition, 0, b"x" * 5_000) for partition in range(4)]), 0)
    assert [path.stat().st_size for path in tmp_path.glob("*.log")] == [26] * 4
    assert records._options["kafka.max.poll.records"] == "10"  # keys and headers, which nobody reads, unpack too


def test_the_oldest_files_go_where_all_are_too_large(
    with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "FILE_BYTES", 100)
    monkeypatch.setattr(kafka, "KEPT_BYTES", 350)
    records = records_of(tmp_path)
    for offset in range(40):
        records._take(batch_of([(TOPIC, 0, offset, f"{offset:049}".encode())]), offset)
    left = sorted(tmp_path.glob("*.log"))
    assert sum(path.stat().st_size for path in left) <= 350 + 50  # and the last batch
    assert left[-1].read_bytes().splitlines()[-1] == f"{39:049}".encode()


@pytest.mark.long
def test_all_files_of_many_partitions_stay_bounded(
    with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "KEPT_BYTES", 40_000)
    records = records_of(tmp_path)
    for number in range(60):
        records._take(batch_of([(TOPIC, partition, number, b"x" * 99) for partition in range(100)]), number)
    assert sum(path.stat().st_size for path in tmp_path.glob("*.log")) <= 40_000 + 100 * 100


def test_what_nobody_has_read_stays_and_kafka_waits(
    with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "FILE_BYTES", 100)
    monkeypatch.setattr(kafka, "KEPT_BYTES", 400)
    monkeypatch.setattr(kafka, "POLL_SECONDS", 0.01)
    read: set[Path] = set()

    def unread() -> dict[Path, int]:
        return {path: path.stat().st_size for path in tmp_path.glob("*.log") if path not in read}

    records = kafka.Records("kafka://h:1/orders", tmp_path, tmp_path, "beginning", unread)
    done = threading.Event()

    def write() -> None:
        for offset in range(12):
            records._take(batch_of([(TOPIC, 0, offset, b"x" * 49)]), offset)
        done.set()

    threading.Thread(target=write, daemon=True).start()
    assert not done.wait(0.3)
    assert sum(path.stat().st_size for path in tmp_path.glob("*.log")) == 250  # of which none was read
    while not done.wait(0.02):
        read |= set(tmp_path.glob("*.log"))
    assert sum(path.stat().st_size for path in tmp_path.glob("*.log")) <= 400 + 50


def test_while_kafka_does_not_answer_it_says_so(with_jars: None, tmp_path: Path) -> None:
    records, ended = records_of(tmp_path), SimpleNamespace(isActive=False, lastProgress=None)
    ended.exception = lambda: "TimeoutException: Timed out waiting for a node assignment. Call: describeTopics"
    follow = {"as_of": "2026-11-21T10:00:00+00:00", "behind": 0, "away": records.away}
    assert follow_texts.standing(follow, words("en")) == "As of 10:00:00"
    records._query, records._began = cast(Any, ended), time.monotonic()  # and it is not yet time to ask again
    records.watch(cast(Any, None))
    follow |= {"away": records.away, "behind": 9 << 20}
    said = follow_texts.standing(follow, words("en"))
    assert "10:00:00, Kafka does not answer" in said and "node assignment" in said and said.endswith(", 9.0 MiB behind")
    ended.isActive, ended.lastProgress = True, {}
    records.watch(cast(Any, None))
    assert records.away == ""


def test_a_topic_that_is_made_again_is_read_again(with_jars: None, tmp_path: Path) -> None:
    records = records_of(tmp_path)
    records._take(batch_of([(TOPIC, 0, offset, b"old %d" % offset) for offset in range(5)]), 0)
    records._take(batch_of([(TOPIC, 0, offset, b"new %d" % offset) for offset in range(3)]), 1)
    (log,) = tmp_path.glob("*.log")
    assert log.read_text().splitlines()[5:] == ["new 0", "new 1", "new 2"]
    assert records.left_out() == {}


def test_what_is_missing_of_a_topic_that_was_made_again_is_said(with_jars: None, tmp_path: Path) -> None:
    """Spark goes on at an offset of the topic before; what the new one has in front of it is read by nobody."""
    batches = [(TOPIC, 0, 70), (TOPIC, 1, 9)], [(TOPIC, 0, 30), (TOPIC, 1, 12)], [(TOPIC, 0, 31)], [(TOPIC, 0, 4)]
    for number, rows in enumerate(batches):
        records_of(tmp_path)._take(batch_of([(*row, b"x") for row in rows]), number)
    follow = {"left_out": records_of(tmp_path).left_out(), "is_cut": False}
    (said,) = follow_texts.left_out(follow, words("en"))
    assert said.startswith(f"{TOPIC}-0: the topic was") and "up to 34 of its first records were not read" in said


def test_a_folder_that_takes_nothing_ends_it_with_the_reason(with_jars: None, tmp_path: Path) -> None:
    (tmp_path / "records").write_text("in the way")
    records = records_of(tmp_path)
    with pytest.raises(OSError):
        records._take(batch_of([(TOPIC, 0, 0, b"x")]), 0)
    with pytest.raises(CoreError, match="exists"):
        records.watch(None)  # type: ignore[arg-type]


def test_a_long_name_of_a_topic_makes_a_file(with_jars: None, tmp_path: Path) -> None:
    records_of(tmp_path)._take(batch_of([("t" * 248 + end, 0, 0, b"x") for end in "ab"]), 0)
    assert len(list(tmp_path.glob("*.log"))) == 2


NO_TOPICS = """kafka:// kafka://h:1 kafka://h:1/ kafka://h/t kafka://h:1/a/b kafka://h:1/a, kafka://u:p@h:1/t
kafka://h:1/.. kafka://h:1/a%20b kafka://h:1/a?x=1 kafka:///t kafka://h:1,/t"""


@pytest.mark.parametrize("uri", NO_TOPICS.split())
def test_an_address_that_names_no_topic_is_refused(uri: str) -> None:
    with pytest.raises(CoreError) as refused:
        topics(uri)
    assert refused.value.code == "kafka_uri"
    with pytest.raises(CoreError):
        check(uri)


def test_several_servers_and_topics_are_one_place_that_an_administrator_opens() -> None:
    uri = "kafka://10.0.0.5:9092,[::1]:9093/orders,audit.log"
    assert topics(uri) == ("10.0.0.5:9092,[::1]:9093", ["orders", "audit.log"])
    opened = f"/var/log:{uri}:s3://bucket/logs"
    check(opened)
    roots = roots_of(opened)
    assert roots[1:] == [uri, "s3://bucket/logs"]
    assert inside(uri, roots) == uri
    for other in ("kafka://10.0.0.5:9092/orders", f"{uri},more", "kafka://10.0.0.6:9092,[::1]:9093/orders,audit.log"):
        with pytest.raises(PermissionError):
            inside(other, roots)


def test_properties_are_those_of_kafkas_clients(
    with_jars: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "client.properties"
    monkeypatch.setenv("IDCORE_KAFKA_PROPERTIES", str(place))
    with pytest.raises(CoreError, match="Kafka clients"):
        records_of(tmp_path)
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b=c%s";'
    place.write_bytes("security.protocol=Größe".encode("latin-1"))
    with pytest.raises(CoreError, match="Kafka clients"):
        records_of(tmp_path)
    split = jaas.replace(" required", " \\\n    required")
    place.write_text(f"# who\nbootstrap.servers=other:1\nsecurity.protocol=SASL_SSL\nsasl.jaas.config={split}\n")
    told = records_of(tmp_path)._options
    assert told["kafka.security.protocol"] == "SASL_SSL" and told["kafka.sasl.jaas.config"] == jaas
    assert told["kafka.bootstrap.servers"] == "h:1"  # the address alone says whom it asks


def test_what_cannot_be_followed_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDCORE_KAFKA_JARS", raising=False)
    out = ["--out", str(tmp_path / "out")]
    assert main(["follow", "kafka://127.0.0.1:1/t", *out]) == 3
    assert "IDCORE_KAFKA_JARS" in capsys.readouterr().err
    assert main(["follow", "kafka://127.0.0.1:1/t", str(tmp_path), *out]) == 3
    assert "followed alone" in capsys.readouterr().err
    assert main(["scan", "kafka://127.0.0.1:1/t", *out]) != 0
    assert "followed, not scanned" in capsys.readouterr().err

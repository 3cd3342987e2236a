"""Logs on an S3 server and a web server, both on loopback: the tables of the local file, and errors with names."""

from __future__ import annotations

import gzip
import io
import json
import socket
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import numpy as np
import psutil
import pyarrow.compute as pc
import pyarrow.fs as arrow_fs
import pyarrow.parquet as pq
import pytest

from idcore.base.errors import CoreError
from idcore.scan.local import scan_local
from idcore.scan.tables import Tables
from idcore.sources import storage
from idcore.sources.inputs import list_files, shown
from idcore.sources.web import FinalError
from tests.scan import logs
from tests.scan.comparing import same
from tests.scan.logs import AT
from tests.scan.stores import Web, s3_server, web_server

MONTHS = np.array([[int(AT.replace(day=1, hour=0, tzinfo=UTC).timestamp() * 1000), 31 * 86_400_000 - 1]], np.int64)
LOG = logs.mixed(43, 1500).data
SPLITS = [9973, 1 << 30]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """An empty bucket; the settings are where everyone has them."""
    for name, value in [
        ("ACCESS_KEY_ID", "test"),
        ("SECRET_ACCESS_KEY", "test"),
        ("ENDPOINT_URL", endpoint),
        ("DEFAULT_REGION", "us-east-1"),
        ("EC2_METADATA_DISABLED", "true"),
    ]:
        monkeypatch.setenv(f"AWS_{name}", value)
    name = "logs-" + "".join(c for c in request.node.name.lower() if c.isalnum())[:50]
    filesystem().create_dir(name)
    return name


def filesystem() -> arrow_fs.FileSystem:
    found, _ = arrow_fs.FileSystem.from_uri("s3://any?allow_bucket_creation=true")
    return found


def put(bucket: str, **objects: bytes) -> None:
    where = filesystem()
    for name, data in objects.items():
        with where.open_output_stream(f"{bucket}/{name}") as out:
            out.write(data)


def local(folder: Path, data: bytes = LOG, split: int = 1 << 30) -> Tables:
    path = folder / "local.log"
    path.write_bytes(data)
    return scan_local([str(path)], MONTHS, split)


def ids(tables: Tables) -> list[tuple[str, int, str | None]]:
    return [(row["file"], row["ids"], row["error"]) for row in tables["files"].to_pylist()]


def problems(tables: Tables) -> dict[str, tuple[str, dict] | None]:
    """What is wrong with each file: the code and its values."""
    rows = tables["files"].to_pylist()
    return {row["file"]: (row["error"], json.loads(row["error_values"])) if row["error"] else None for row in rows}


@pytest.mark.parametrize("split", SPLITS)
def test_an_object_has_the_tables_of_the_local_file(split: int, bucket: str, tmp_path: Path) -> None:
    put(bucket, **{"a.log": LOG})
    tables, want = scan_local([f"s3://{bucket}/a.log"], MONTHS, split), local(tmp_path)
    assert same(tables, want, ["files", "refused", "lookalikes"]) == []
    assert tables["files"].drop_columns("file") == want["files"].drop_columns("file")
    assert tables["files"]["file"].to_pylist() == [f"s3://{bucket}/a.log"]


def test_a_prefix_and_patterns_list_objects_in_order(bucket: str, tmp_path: Path) -> None:
    put(
        bucket,
        **{"2026/01/a.log": LOG, "2026/01/b.log.gz": gzip.compress(LOG), "2026/02/a b#c%d?.log": LOG, "x.txt": LOG},
    )
    n = local(tmp_path)["files"]["ids"][0].as_py()
    root = f"s3://{bucket}"
    all_of_2026 = ["2026/01/a.log", "2026/01/b.log.gz", "2026/02/a%20b%23c%25d%3F.log"]
    for asked, want in [
        (f"{root}/2026", all_of_2026),
        (f"{root}/2026/", all_of_2026),
        (root, [*all_of_2026, "x.txt"]),
        (f"{root}/2026/*/a*.log", all_of_2026[::2]),
        (f"{root}/**/*.gz", all_of_2026[1:2]),
        (f"{root}/*", ["x.txt"]),
        (f"{root}/2026/0[!1]/*", all_of_2026[2:]),
        (f"{root}/{all_of_2026[2]}", all_of_2026[2:]),
    ]:
        assert ids(scan_local([asked], MONTHS)) == [(f"{root}/{name}", n, None) for name in want], asked


def test_a_pattern_of_many_wildcards_takes_no_longer_than_others(bucket: str) -> None:
    """It was matched by going back (ReDoS): for the whole console, as one thread held the interpreter."""
    name = "a/" * 30 + "app-server-production-eu-west-1a-2026-11-21-08-00-00.log"
    put(bucket, **{name: LOG})
    begun = time.process_time()
    for pattern in ("**/" * 12 + "*~", "**/" + "*[!~]" * 12 + "*~"):
        (told,) = storage.listed(f"s3://{bucket}/{pattern}")
        assert told[2] is not None and told[2].code == "ENOENT"
    assert [size for _, size, _ in storage.listed(f"s3://{bucket}/{'**/' * 12}*.log")] == [len(LOG)]
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("split", SPLITS)
def test_archives_and_parquet_are_read_by_ranges(split: int, bucket: str, tmp_path: Path) -> None:
    import pyarrow as pa

    half = LOG.index(b"\n", len(LOG) // 2) + 1
    packed, table = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", LOG[:half])
        archive.writestr("b", LOG[half:])
    pq.write_table(pa.table({"line": LOG.split(b"\n")[:-1]}), table, row_group_size=200)
    put(bucket, **{"a.zip": packed.getvalue(), "a.parquet": table.getvalue()})
    for name in ("a.zip", "a.parquet"):
        tables = scan_local([f"s3://{bucket}/{name}"], MONTHS, split)
        assert same(tables, local(tmp_path), ["files", "refused", "lookalikes"]) == []
        assert sum(tables["files"]["text_bytes"].to_pylist()) == len(LOG)


def test_what_is_missing_or_not_permitted_is_named_and_the_rest_goes_on(bucket: str, tmp_path: Path) -> None:
    put(bucket, **{"a.log": LOG})
    paths = [
        f"s3://{bucket}/b.log",
        "s3://no-such-bucket-here/a",
        f"s3://{bucket}/*.gz",
        "nothing://x/y",
        f"s3://{bucket}/[9-0].log",
        f"s3://{bucket}/a.log",
    ]
    tables = scan_local(paths, MONTHS)
    wrong = problems(tables)
    found = [wrong[path] for path in paths]
    assert len(wrong) == len(paths) and found[-1] is None
    assert {path: n for path, n, _ in ids(tables)}[paths[-1]] > 0
    assert found[:3] == [("ENOENT", {})] * 3
    assert found[3] and found[3][0] == "storage_scheme" and found[3][1]["scheme"] == "nothing://"
    assert found[4] and found[4][0] == "pattern" and "invalid character class range: 9-0" in found[4][1]["why"]


def test_an_object_that_goes_after_it_was_listed_is_named(bucket: str) -> None:
    put(bucket, **{"a.log": LOG, "b.log": LOG})
    from idcore.scan.crossing import What, reports_of
    from idcore.scan.facts import scan_task
    from idcore.sources.inputs import split_files

    splits = split_files(list_files([f"s3://{bucket}"]), 1 << 30)
    filesystem().delete_file(f"{bucket}/a.log")
    made = [fact.data for fact in scan_task(splits, MONTHS) if fact.what == What.REPORT]
    gone, read = (report.error for data in made for report in reports_of(data))
    assert gone is not None and gone.code == "said"
    assert f"does not exist '{bucket}/a.log'" in gone.values["why"] and read is None


def test_no_other_address_is_contacted(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's sockets are watched one by one, those of the library by what the process has open while it reads."""
    asked = []
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        asked.append(address)
        real(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)
    put(bucket, **{"a.log": LOG})
    fetch = storage.Ranged.readinto
    open_ones: set[str] = set()

    def watched(self: storage.Ranged, view: object) -> int:
        got = fetch(self, view)
        open_ones.update(c.raddr.ip for c in psutil.Process().net_connections("inet") if c.raddr)
        return got

    monkeypatch.setattr(storage.Ranged, "readinto", watched)
    with web_server() as web:
        web.files["/a.log"] = LOG
        scan_local([f"s3://{bucket}", f"{web.address}/a.log"], MONTHS, 100_000)
    assert open_ones <= {"127.0.0.1"}  # a connection that was short may not be seen; one elsewhere would stay open
    assert {address[0] for address in asked if isinstance(address, tuple)} == {"127.0.0.1"}


def test_stores_that_cannot_be_reached_are_named() -> None:
    google = "gs://anonymous@logs/a?endpoint_override=127.0.0.1:1&scheme=http&retry_limit_seconds=1"
    for uri in (google, "hdfs://127.0.0.1:1/logs", "smb://127.0.0.1/logs"):
        (found,) = list_files([uri])
        assert found.path == uri and found.error and "\n" not in str(found.error)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.usefixtures("java")
def test_the_command_reads_all_of_it_on_spark(bucket: str, tmp_path: Path) -> None:
    packed = tmp_path / "a.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for name in ("a.log", "b.log"):
            info = tarfile.TarInfo(name)
            info.size = len(LOG)
            archive.addfile(info, io.BytesIO(LOG))
    wide = tmp_path / "wide.log"
    wide.write_bytes(LOG.decode("latin-1").encode("utf-16"))
    put(bucket, **{"a.log": LOG})
    command = [sys.executable, "-m", "idcore", "scan", f"s3://{bucket}", str(packed), str(wide), "-"]
    fixed = ["--out", str(tmp_path / "out"), "--at", AT.isoformat(), "--zone", "+00:00", "--split-size", "50k"]
    done = subprocess.run([*command, *fixed, "--format", "json"], input=LOG, capture_output=True, timeout=200)
    assert done.returncode == 0, done.stderr
    summary, one = json.loads(done.stdout), local(tmp_path)
    n = one["files"]["ids"][0].as_py()
    rows = [(row["file"], row["ids"]) for row in pq.read_table(tmp_path / "out" / "files").to_pylist()]
    names = [f"s3://{bucket}/a.log", str(packed), f"{packed}!a.log", f"{packed}!b.log", str(wide), "-"]
    assert sorted(rows) == sorted((name, n if name != str(packed) else 0) for name in names)
    assert (summary["ids"], summary["files"], summary["processes"]) == (5 * n, 4, one["processes"].num_rows)
    assert summary["distinct"] == sum(pc.sum(one[t]["distinct"]).as_py() for t in ("processes", "brokers", "clients"))


# ---- the web


@pytest.fixture
def web() -> Iterator[Web]:
    with web_server() as server:
        yield server


@pytest.mark.parametrize("size", ["99999999999999999999999", str(1 << 63), "-5", "9" * 5_000, "many"])
def test_a_size_that_no_file_has_is_an_error_of_that_file_alone(size: str, web: Web) -> None:
    web.files |= {"/a.log": LOG, "/b.log": LOG}
    web.said["/a.log"] = size
    tables = scan_local([f"{web.address}/a.log", f"{web.address}/b.log"], MONTHS)
    (_, none, error), (_, some, right) = ids(tables)
    assert none == 0 and error == "server_answer" and some > 0 and right is None


@pytest.mark.parametrize("split", SPLITS)
def test_a_web_server_with_ranges_is_read_in_splits(split: int, web: Web, tmp_path: Path) -> None:
    web.files["/logs/a.log"] = LOG
    tables, want = scan_local([f"{web.address}/logs/a.log"], MONTHS, split), local(tmp_path)
    assert same(tables, want, ["files", "refused", "lookalikes"]) == []
    assert tables["files"].drop_columns("file") == want["files"].drop_columns("file")
    if split < len(LOG):
        assert len(web.asked) > len(LOG) // split and all(asked for _, asked, _ in web.asked)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_web_server_without_ranges_is_read_forward(pack: object, tmp_path: Path) -> None:
    with web_server(ranges=False) as web:
        web.files["/a"] = pack(LOG)  # type: ignore[operator]
        tables = scan_local([f"{web.address}/a"], MONTHS, 9973)
    assert same(tables, local(tmp_path), ["files", "refused", "lookalikes"]) == []
    assert tables["files"]["text_bytes"].to_pylist() == [len(LOG)]


def test_an_answer_that_breaks_off_is_asked_for_again(tmp_path: Path) -> None:
    big = LOG * 3
    with web_server() as web:
        web.files["/a.log"] = big
        files = list_files([f"{web.address}/a.log"])
        assert files[0].size == len(big)
        scan_local([f"{web.address}/a.log"], MONTHS)
        web.broken = 2
        with storage.opened(f"{web.address}/a.log") as file:
            found = b""
            while more := file.read(1 << 20):
                found += more
    assert found == big and web.broken == 0


def test_a_file_that_changes_while_it_is_read_is_named(web: Web) -> None:
    web.files["/a.log"] = LOG
    with storage.opened(f"{web.address}/a.log") as file:
        assert file.read(10) == LOG[:10]
        web.files["/a.log"] = LOG.replace(b"0A", b"0B")
        with pytest.raises(FinalError, match="changed while it was read") as caught:
            b"".join(iter(lambda: file.read(1 << 16), b""))
    assert caught.value.code == "changed"


def test_errors_of_the_web_are_named(web: Web) -> None:
    web.files["/empty.log"] = b""
    web.moved["/moved.log"] = "http://localhost:1/a.log"
    web.moved["/round.log"] = "/round.log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    paths = [f"{web.address}/{name}.log" for name in ("gone", "empty", "moved", "round")]
    paths.append(f"http://127.0.0.1:{closed}/a")
    tables = scan_local(paths, MONTHS)
    wrong = problems(tables)
    gone, empty, moved, around, refused = (wrong[path] for path in paths)
    assert gone == ("http_status", {"status": 404, "why": "Not Found"})
    assert empty is None and {path: n for path, n, _ in ids(tables)}[paths[1]] == 0
    assert moved == ("other_server", {"server": "localhost:1"})
    assert around and around[0] == "http_status"
    assert refused == ("server_unreachable", {"why": {"code": "ECONNREFUSED", "values": {}}})


def test_a_move_on_the_same_server_is_followed_and_a_login_goes_along(web: Web) -> None:
    web.files["/b c.log"] = LOG
    web.moved["/a.log"] = "/b%20c.log"
    web.files["/b%20c.log"] = LOG
    address = web.address.replace("http://", "http://reader:pass%20word@")
    found = ids(scan_local([f"{address}/a.log?signature=secret"], MONTHS))
    assert found[0][1] > 0 and found[0][0] == f"{web.address}/a.log"
    assert web.asked[0][2] == "Basic cmVhZGVyOnBhc3Mgd29yZA=="


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ("/mq/b.log", None),
        ("/secret/b.log", "other_folder"),
        ("/mq/../secret/b.log", "other_folder"),
        ("/mq/%252e%252e/secret/b.log", "other_folder"),
        ("/mq/b.log?signature=x", "other_folder"),
        ("http://localhost:1/mq/b.log", "other_server"),
    ],
)
def test_a_move_out_of_an_open_folder_is_not_followed(web: Web, to: str, code: str | None) -> None:
    """By whoever reads it: the driver that asks for the size, and a worker that opens it."""
    for path in ("/mq/b.log", "/secret/b.log", "/mq/../secret/b.log", "/mq/%252e%252e/secret/b.log"):
        web.files[path] = LOG
    web.moved["/mq/a.log"] = to
    uri, roots = f"{web.address}/mq/a.log", ("/var/log", f"{web.address}/mq")
    (told,) = list_files([uri], roots)
    assert (told.error.code if told.error else None) == code and told.size == (0 if code else len(LOG))
    web.asked.clear()
    if code is None:
        with storage.opened(uri, roots) as file:
            assert file.read(10) == LOG[:10]
    else:
        with pytest.raises(CoreError) as refused:
            storage.opened(uri, roots)
        assert refused.value.code == code and [path for path, _, _ in web.asked] == ["/mq/a.log"]
    scanned = problems(scan_local([uri], MONTHS))[uri]  # the command line opens what its user names
    assert scanned is None or code == "other_server"


def test_secrets_of_a_uri_stay_out_of_tables() -> None:
    assert shown("s3://key:secret@bucket/a.log?scheme=http") == "s3://bucket/a.log"
    assert (
        shown("abfss://container@account.dfs.core.windows.net/a") == "abfss://container@account.dfs.core.windows.net/a"
    )
    assert shown("/var/log/a\nb\x1b[31m.log") == "/var/log/a\\x0ab\\x1b[31m.log"


def test_a_file_uri_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "a b.log").write_bytes(LOG)
    found = ids(scan_local([(tmp_path / "a b.log").as_uri()], MONTHS))
    assert found == [(str(tmp_path / "a b.log"), found[0][1], None)] and found[0][1] > 0

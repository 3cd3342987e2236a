"""What of the server and of its stores a visitor may scan: what the operator opens, however a path is written."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from idcore.base import temporary
from idcore.base.errors import CoreError
from idcore.intake.allowed import check, check_apart, inside, roots_of, shown, store_in
from idcore.server.logins import Entrance
from idcore.sources.uris import is_below
from pages.parts import scans

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("roots", [roots_of(""), roots_of([])])
def test_without_allowed_paths_nothing_may_be_scanned(tmp_path: Path, roots: list[Path | str]) -> None:
    with pytest.raises(PermissionError):
        inside(str(tmp_path), roots)


def test_only_what_lies_in_an_allowed_folder_may_be_scanned(tmp_path: Path) -> None:
    opened, outside = tmp_path / "logs", tmp_path / "secret"
    opened.mkdir()
    outside.mkdir()
    (opened / "escape").symlink_to(outside)
    roots = roots_of(os.pathsep.join([str(opened), str(tmp_path / "other")]))
    assert inside(str(opened / "a.log"), roots) == (opened / "a.log").resolve()
    for path in (outside, opened / "escape" / "x", opened / ".." / "secret", tmp_path, Path("/")):
        with pytest.raises(PermissionError):
            inside(str(path), roots)


def test_a_way_back_says_nothing_of_users_and_links_outside(tmp_path: Path) -> None:
    """It was taken of who is no link, and of which home folder there is."""
    opened = tmp_path / "open"
    opened.mkdir()
    (opened / "a.log").touch()
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "deep")
    roots = roots_of(str(opened))
    home = Path("~").expanduser()
    for way in (tmp_path / "link", tmp_path / "none", opened):
        with pytest.raises(PermissionError):
            inside(f"{way}/../open/a.log", roots)
    for user in ("~", "~no-such-user-here"):
        with pytest.raises(PermissionError):
            inside(f"{user}{'/..' * (len(home.parts) - 1)}{opened}/a.log", roots)
    assert inside(f"{opened}/..a", roots) == opened / "..a"


def test_a_store_folder_is_known_and_each_file_of_its_log_must_be_allowed(tmp_path: Path) -> None:
    opened, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (opened / "store" / "commitlog", opened / "logs", outside):
        folder.mkdir(parents=True)
    roots = roots_of(str(opened))
    (opened / "logs" / "app.log").write_text("x")
    (outside / f"{0:020d}").write_bytes(bytes(64))
    store = opened / "store"
    assert [store_in(path, roots) for path in (store, opened / "logs", opened / "logs" / "app.log")] == [None] * 3
    (store / "commitlog" / f"{0:020d}").write_bytes(bytes(64))
    assert store_in(store, roots) == str(store)
    (store / "commitlog" / f"{64:020d}").symlink_to(outside / f"{0:020d}")
    with pytest.raises(PermissionError):
        store_in(store, roots)


def test_a_path_that_cannot_be_read_at_all_is_refused(tmp_path: Path) -> None:
    roots = roots_of(str(tmp_path))
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for path in (
        "~no-such-user-here/a",
        f"{tmp_path}/a\0b",
        f"{tmp_path}/round/a",
        "\0",
        f"file://{tmp_path.parent}/x",
    ):
        with pytest.raises(PermissionError):
            inside(path, roots)
    assert inside(f"file://{tmp_path}/a%20b", roots) == tmp_path.resolve() / "a b"


@pytest.mark.parametrize(
    "path",
    [
        "https://files.example/mq/%" + "25" * 20_000 + "41",  # each look takes one escape off
        "https://files.example/mq/a" + "\u0300\u0316" * 20_000,  # marks that Unicode sorts (NFKC)
        "https://a" + "\u0300" * 10_000 + "\u0316" * 10_000,
        "file://a" + "\u0300" * 10_000 + "\u0316" * 10_000,
        "kafka://a/" + "b," * 20_000,
        "/tmp/" + "../" * 20_000,
    ],
    ids=lambda path: path[:12],
)
def test_a_path_that_is_too_long_is_refused_before_it_is_read(path: str) -> None:
    """Nobody else was answered meanwhile: for some megabytes hours."""
    began = time.process_time()
    with pytest.raises(PermissionError):
        inside(path, roots_of("/tmp:https://files.example/mq:kafka://a:9092/b"))
    assert not is_below(path, "https://files.example/mq")
    assert time.process_time() - began < 0.1


URIS = "s3://logs/2026:/var/log/mq:https://files.example:8443/mq/:gs://all:abfss://logs@house.dfs.core.windows.net/mq"


def test_uris_that_are_allowed_stand_between_paths() -> None:
    roots = roots_of(URIS)
    assert list(map(str, roots)) == [
        "s3://logs/2026",
        "/var/log/mq",
        "https://files.example:8443/mq/",
        "gs://all",
        "abfss://logs@house.dfs.core.windows.net/mq",
    ]
    for uri in (
        "s3://logs/2026",
        "s3://logs/2026/",
        "S3://logs/2026/01/*.gz",
        "s3://logs/2026/a%20b..log",
        "gs://all/a",
        "gs://all",
        "https://FILES.example:8443/mq/a.log",
        "abfss://logs@house.dfs.core.windows.net/mq/a",
    ):
        assert inside(uri, roots) == uri


@pytest.mark.parametrize(
    "uri",
    [
        "s3://logs/2025/a",
        "s3://logs/2026-secret/a",
        "s3://logs",
        "s3://logs2/2026/a",
        "s3://logs/2026/../2025/a",
        "s3://logs/2026/%2e%2e/2025/a",
        "s3://logs/2026*",
        "s3://key:secret@logs/2026/a",
        "s3://logs@evil/2026/a",
        "s3://logs/2026/a?endpoint_override=evil.example",
        "s3://logs/2026/a?x",
        "s3://logs/2026/a#x",
        "gs://logs/2026/a",
        "https://files.example/mq/a",
        "http://files.example:8443/mq/a",
        "https://files.example:8443@evil.example/mq/a",
        "https://files.example:8443/mq/..%2fsecret",
        "https://files.example:8443/mq/%5c..%5csecret",
        "https://evil.example/",
        "http://169.254.169.254/latest/meta-data",
        "s3://logs/2026/a\0b",
        "gs://all.example/a",
        "abfss://mq@house/mq/a",
        "s3://LOGS/2026/a",
        "https://files.example:8443/mq/..;/secret",  # parameters of a folder's name, which Tomcat takes off
        "https://files.example:8443/mq/..;a=b/secret",
        "https://files.example:8443/mq/;/..;x/secret",
        "https://files.example:8443/mq/%252e%252e/secret",  # escapes that are taken out twice
        "https://files.example:8443/mq/%25252e%25252e/secret",
        "https://files.example:8443/mq/..%253b/secret",
        "https://files.example:8443/mq/.%2e/secret",
        "https://files.example:8443/mq/%2e./secret",
        "https://files.example:8443/mq/./a",
        "https://files.example:8443/mq/.../a",
        "https://files.example:8443/mq/.. /secret",
        "https://files.example:8443/mq/..%20/secret",
        "https://files.example:8443/mq/..%00/secret",
        "https://files.example:8443/mq/%c0%ae%c0%ae/secret",  # dots in more bytes than they need
        "https://files.example:8443/mq/\u2025/secret",  # two dots in one letter, and wide ones
        "https://files.example:8443/mq/%ef%bc%8e%ef%bc%8e/secret",
        "https://files.example:8443/mq/a\uff0f..\uff0fsecret",
        "https://files.example:8443/mq%2fa",  # one name, and another folder's for some servers
        "https://files.example:8443/mq/a%252f..%252fb",
        "https://files.example:8443/mq/..\\secret",
        "https://files.example:8443/mq\\..\\secret",
        "https://files.example:8443/mq/%255c..%255csecret",
        "https://files.example:8443\\@evil.example/mq/a",
        "https://files.example:8443//mq/a",
        "https://files.example:8443/mq;x/a",
        "https://files.example:8443/MQ/a",
        "https://files.example.:8443/mq/a",
        "https://files.example:443/mq/a",
        "https://files.example:8443x/mq/a",
        "https://files.example:99999/mq/a",
        "https://user@files.example:8443/mq/a",
        "https://user:password@files.example:8443/mq/a",
        "https://:@files.example:8443/mq/a",
        "https://files.example:8443/mq/a?X-Amz-Signature=secret",
        "https://files.example:8443/mq/a#/../secret",
        "https://files%2eexample:8443/mq/a",
        "https://[::1/mq/a",
        "https://[::1]:9001/mq/a",
        "https://[::2]:9000/mq/a",
        "https://files.example\u2100:8443/mq/a",
    ],
)
def test_a_uri_outside_is_refused(uri: str) -> None:
    roots = roots_of(f"{URIS}:https://[::1]:9000/mq")
    with pytest.raises(PermissionError):
        inside(uri, roots)


@pytest.mark.parametrize(
    ("root", "uri"),
    [
        ("https://[::1]:9000/mq", "https://[::1]:9000/mq/a.log"),
        ("https://files.example/mq", "HTTPS://Files.Example:443/mq/a.log"),
        ("http://files.example:80/mq", "http://files.example/mq/a..log"),
        ("https://me@files.example/mq", "https://me@files.example/mq/a.log"),
        ("https://files.example", "https://files.example/a;type=b.log"),
        ("s3://logs/a b", "s3://logs/a%20b/100%25.log"),
        ("s3://logs", "s3://logs/a//b"),
        ("gs://anonymous@all/mq", "gs://anonymous@all/mq/a"),
    ],
)
def test_a_uri_inside_is_allowed_however_it_is_written(root: str, uri: str) -> None:
    assert roots_of(root) == [root] and inside(uri, roots_of(f"/var/log:{root}:/srv/mq")) == uri


@pytest.mark.parametrize(
    ("configured", "named"),
    [
        ("https://reader:hunter2@files.example:8443/mq", "https://files.example:8443/mq"),
        ("/var/log:s3://key:hunter2@logs/mq:/srv", "s3://logs/mq"),
        ("https://reader:hunter2@[::1]:9000/mq", "https://[::1]:9000/mq"),
        ("https://reader:hunt/er2@files.example/mq:/var/log", "https://files.example/mq"),
        ("https://reader:12/hunter2@files.example/mq", "https://files.example/mq"),
        ("https://reader:hunter2@@files.example/mq", "https://files.example/mq"),
        ("https://reader:hunter:2@files.example/mq", "https://files.example/mq"),
        ("https://files.example/mq?X-Amz-Signature=hunter2", "https://files.example/mq"),
        ("s3://logs/mq?endpoint_override=minio:9000&secret_key=hunter2", "s3://logs/mq"),
        ("s3://logs/mq#hunter2", "s3://logs/mq"),
    ],
)
def test_an_entry_with_a_secret_opens_nothing_and_is_named_without_it(configured: str, named: str) -> None:
    for given in (configured, [configured.removeprefix("/var/log:").removesuffix(":/srv").removesuffix(":/var/log")]):
        with pytest.raises(CoreError) as refused:
            check(given)
        said = refused.value.problem
        assert f"{named} with a log-in" in said and "hunt" not in said and "reader" not in said and "key:" not in said
        assert not [root for root in roots_of(given) if isinstance(root, str)]
    assert [str(root) for root in roots_of(configured)] == [
        part for part in ("/var/log", "/srv") if f"{part}:" in f"{configured}:"
    ]


def test_a_port_that_is_none_is_refused_and_what_is_right_is_not() -> None:
    with pytest.raises(CoreError, match=r"https://files\.example:mq"):
        check("https://files.example:mq")
    for right in (
        URIS,
        "https://[::1]:9000/mq:/var/log",
        "https://me@files.example/mq",
        ["s3://logs/a:b"],
        "logs:data",
        "",
    ):
        check(right)


def test_an_open_folder_has_no_scans_of_others_in_it_and_is_in_none(tmp_path: Path) -> None:
    """Who may scan it read the inputs of private scans there, and who looked what up."""
    runs, log = tmp_path / "data" / "runs", tmp_path / "data" / "audit.jsonl"
    (tmp_path / "link").symlink_to(tmp_path / "data")
    own = {"IDCORE_RUNS": runs, "IDCORE_AUDIT_LOG": log}
    for name in ("", "data", "link", "data/runs", "data/runs/20261127-202823-e10309"):
        with pytest.raises(CoreError, match=r"IDCORE_RUNS is .*/data/runs") as refused:
            check_apart(roots_of(str(tmp_path / name)), own)
        assert refused.value.code == "start_places_own"
    with pytest.raises(CoreError, match=r"IDCORE_AUDIT_LOG is .*/data/audit\.jsonl"):
        check_apart(roots_of(str(tmp_path / "data")), {"IDCORE_RUNS": tmp_path / "runs", "IDCORE_AUDIT_LOG": log})
    check_apart(roots_of(f"{tmp_path / 'data' / 'logs'}:{tmp_path / 'dat'}:s3://logs/mq"), own)
    check_apart(roots_of(str(tmp_path / "data")), {"IDCORE_RUNS": tmp_path / "runs", "IDCORE_AUDIT_LOG": None})


def test_open_places_are_shown_without_secrets() -> None:
    roots: list[Path | str] = [Path("/var/log"), "https://reader:hunter2@files.example/mq?X-Amz-Signature=hunter2"]
    assert shown(roots) == ["/var/log", "https://files.example/mq"]


def test_with_a_login_the_temporary_folder_is_not_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stores that others upload are unpacked there: the page offered them to everybody who may scan folders."""
    monkeypatch.setattr(scans.visitor, "entrance", lambda: Entrance("login"))
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    own = Path(temporary.own())
    for opened in (own.parent, own):
        monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(opened))
        with pytest.raises(CoreError, match="TMPDIR is ") as refused:
            scans.check_places()
        assert refused.value.code == "start_places_own"
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path / "logs"))
    scans.check_places()

"""What of the server and of its stores a visitor may scan: what the operator opens, however a path is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from idcore.intake.allowed import inside, roots_of, store_in


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
    ],
)
def test_a_uri_outside_is_refused(uri: str) -> None:
    roots = roots_of(URIS)
    with pytest.raises(PermissionError):
        inside(uri, roots)

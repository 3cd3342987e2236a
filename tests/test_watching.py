"""What an administrator sees: the audit log, metrics and the structured log. Starts no Spark and no server."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from idcore.base.errors import CoreError
from idcore.policy import audit, limits, logs, metrics
from idcore.policy.audit import Actor
from idcore.runs.runs import Runs
from idcore.server.front_door import HEALTH, FrontDoor, readiness
from idcore.spark import background
from idcore.spark.background import Job
from idcore.spark.job import ScanOptions
from tests.test_front_door import HOST, asked

ROOT = Path(__file__).resolve().parent.parent
ANN = Actor("ann@example.org", "0a1b2c3d")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(path))
    return path


@pytest.fixture
def counted() -> Iterator[Callable[..., float | None]]:
    """What a counter of this process has, which begins at nothing."""
    metrics._counters.cache_clear()
    yield lambda name, **labels: metrics._counters()[0].get_sample_value(f"idcore_{name}_total", labels)
    metrics._counters.cache_clear()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# ---- the audit log


def test_a_line_says_who_what_when_and_how_it_ended(log: Path) -> None:
    audit.note("run_deleted", ANN, run="20261121-015500-a1b2c3", kind="text")
    audit.note("downloaded", ANN, file="x" * 5_000)
    first, second = lines(log)
    at = first.pop("at")
    assert at.endswith("+00:00") and len(at) == 29
    assert first == {
        "what": "run_deleted",
        "user": "ann@example.org",
        "session": "0a1b2c3d",
        "run": "20261121-015500-a1b2c3",
        "kind": "text",
    }
    assert len(second["file"]) == audit.LONGEST and log.stat().st_mode & 0o777 == 0o600


def test_without_the_setting_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDCORE_AUDIT_LOG", raising=False)
    monkeypatch.chdir(tmp_path)
    audit.note("login", ANN)
    assert not list(tmp_path.iterdir()) and audit.is_writable()


def test_a_full_file_is_renamed_and_the_oldest_goes(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_AUDIT_BYTES", "1K")
    monkeypatch.setenv("IDCORE_AUDIT_FILES", "3")
    for number in range(40):
        audit.append(log, {"number": number, "more": "x" * 100})
    files = [log, log.with_name("audit.jsonl.1"), log.with_name("audit.jsonl.2")]
    assert sorted(path.name for path in log.parent.iterdir()) == [path.name for path in files]
    assert all(path.stat().st_size <= 1024 for path in files)
    numbers = [line["number"] for path in reversed(files) for line in lines(path)]
    assert numbers == list(range(40 - len(numbers), 40)) and len(numbers) > 16
    monkeypatch.setenv("IDCORE_AUDIT_FILES", "1")
    audit.append(log, {"number": 40, "more": "x" * 900})
    assert [line["number"] for line in lines(log)] == [40]


def test_a_file_that_cannot_be_opened_after_a_full_one_is_the_error(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_AUDIT_BYTES", "1K")
    audit.append(log, {"more": "x" * 900})
    real, opened = audit._locked, list[int]()

    def once(file: Path) -> int:
        if opened:
            raise PermissionError(13, "no")
        opened.append(real(file))
        return opened[0]

    monkeypatch.setattr(audit, "_locked", once)
    with pytest.raises(PermissionError):
        audit.append(log, {"more": "x" * 900})
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(opened[0])


WRITER = """
import sys
from pathlib import Path
from idcore.policy import audit
for number in range(300):
    audit.append(Path(sys.argv[1]), {"of": sys.argv[2], "number": number})
"""


def test_processes_that_write_and_rename_at_once_lose_no_line(log: Path) -> None:
    bounds = {"IDCORE_AUDIT_BYTES": "2K", "IDCORE_AUDIT_FILES": "1000"}
    going = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(log), name], cwd=ROOT, env={**os.environ, **bounds})
        for name in "abc"
    ]
    assert [each.wait(60) for each in going] == [0, 0, 0]
    found = [(line["of"], line["number"]) for path in log.parent.glob("audit*") for line in lines(path)]
    assert sorted(found) == [(name, number) for name in "abc" for number in range(300)]
    assert len(list(log.parent.glob("audit*"))) > 10


def test_a_disk_that_becomes_full_leaves_no_half_line_and_is_counted(
    log: Path, counted: Callable[..., float | None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    audit.note("login", ANN)
    real = os.write
    monkeypatch.setattr(audit.os, "write", lambda descriptor, raw: real(descriptor, raw[:10]))
    audit.note("login", ANN)
    monkeypatch.undo()
    assert len(lines(log)) == 1 and counted("audit_failed") == 1
    assert "audit log" in caplog.text and "No space left" in caplog.text


def test_an_audit_log_that_cannot_be_written_is_a_reason_of_health(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(tmp_path / "gone" / "audit.jsonl"))
    assert readiness("ready", tmp_path)["reasons"] == ["audit_log"]


# ---- metrics


def test_a_scan_is_begun_and_ended_in_the_audit_log_and_counted_without_names(
    log: Path, counted: Callable[..., float | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scan(paths: list[str], *_: Any) -> dict[str, int]:
        if "bad" in paths[0]:
            raise CoreError("unreadable", {"path": paths[0], "why": "secret of a customer"})
        return {"bytes": 64, "ids": 2}  # it ended before anybody looked how far it is

    monkeypatch.setattr(background, "scan", scan)
    runs = Runs(tmp_path / "runs")
    names = []
    for path in ("good.log", "bad.log"):
        run = runs.create(path)
        Job(run, [path], ScanOptions(), None, ANN).wait(30)
        names.append(run.name)
    assert (lines(log)[1]["bytes"], lines(log)[1]["ids"]) == (64, 2)
    assert [(line["what"], line["run"], line.get("outcome"), line.get("error")) for line in lines(log)] == [
        ("scan_begun", names[0], None, None),
        ("scan_ended", names[0], "done", None),
        ("scan_begun", names[1], None, None),
        ("scan_ended", names[1], "failed", "unreadable"),
    ]
    assert "customer" not in log.read_text() and "good.log" not in log.read_text()
    assert counted("scans", kind="text", outcome="done") == counted("scans", kind="text", outcome="failed") == 1
    assert counted("errors", code="unreadable") == 1
    text, kind = metrics.exposition({"disk_free_bytes": 5e9}, {"server": 1 << 20})
    families = {family.name: family for family in text_string_to_metric_families(text.decode())}
    assert kind.startswith("text/plain; version=0.0.4") and families["idcore_scans"].type == "counter"
    samples = {
        (one.name, *sorted(one.labels.values())): one.value for each in families.values() for one in each.samples
    }
    assert samples["idcore_scans_total", "done", "text"] == 1
    assert samples["idcore_disk_free_bytes",] == 5e9 and samples["idcore_memory_bytes", "server"] == 1 << 20
    assert not any(name in text.decode() for name in (*names, "ann", "bad.log"))


def test_an_unknown_code_is_another(counted: Callable[..., float | None]) -> None:
    metrics.error("no_run")
    metrics.error("made up by a stranger")
    assert counted("errors", code="no_run") == counted("errors", code="other") == 1
    assert counted("errors", code="made up by a stranger") is None


@pytest.mark.parametrize(
    ("setting", "peer", "headers", "read"),
    [
        ("", "127.0.0.1", [], True),
        ("", "::1", [], True),
        ("", "::ffff:127.0.0.1", [], True),
        ("", "10.0.0.7", [], False),
        ("", None, [], False),
        ("", "testclient", [], False),
        ("", "127.0.0.1", [(b"X-Forwarded-For", b"127.0.0.1")], False),  # a proxy of this machine passed it on
        ("", "127.0.0.1", [(b"forwarded", b"for=10.0.0.1")], False),
        ("", "127.0.0.1", [(b"X-Forwarded-Proto", b"https")], False),
        ("10.0.0.7, 10.1.0.0/16", "10.0.0.7", [], True),
        ("10.0.0.7,10.1.0.0/16", "10.1.2.3", [], True),
        ("10.0.0.7,10.1.0.0/16", "10.2.2.3", [], False),
        ("off", "127.0.0.1", [], False),
    ],
)
def test_metrics_are_read_on_this_machine_and_where_the_setting_says(
    setting: str, peer: str | None, headers: list[tuple[bytes, bytes]], read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_METRICS", setting)
    assert metrics.may_read(peer, [HOST, *headers]) is read


def test_who_may_not_read_metrics_does_not_see_that_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDCORE_METRICS", raising=False)
    scope = {"type": "http", "path": f"/desk/{metrics.PATH}", "headers": [HOST], "client": ("10.0.0.7", 4242)}
    start, body = asked(scope, tmp_path)
    assert (start["status"], body["body"]) == (404, b"")
    for host, status in (("evil.example:8501", 404), ("", 404), ("[::1]:8501", 200), ("localhost", 200)):
        here = scope | {"headers": [(b"Host", host.encode())], "client": ("127.0.0.1", 4242)}
        start, _ = asked(here, tmp_path)
        assert start["status"] == status, f"{host}: a site may lead its own name here"
    more: dict[str, Any] = {"gauges": lambda: ({"scans_waiting": 3}, {})}
    start, body = asked({**scope, "client": ("127.0.0.1", 4242)}, tmp_path, **more)
    assert (
        start["status"] == 200 and b"idcore_scans_waiting 3.0" in body["body"] and b"idcore_ready 1.0" in body["body"]
    )


def test_a_wrong_setting_of_the_metrics_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_METRICS", "prometheus.example")
    with pytest.raises(CoreError, match="IDCORE_METRICS"):
        metrics.allowed_networks()


def test_the_memory_of_children_is_that_of_java_and_of_workers() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        held = metrics.memory_of(os.getpid())
        assert held["server"] > 10 << 20 and held["workers"] > 0 and held["java"] >= 0
    finally:
        child.communicate(b"\n")


# ---- the log


def test_a_line_of_the_log_is_json_with_session_request_run_and_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_LOG", "json")
    assert logs.wants_json()
    form = logs.JsonLines(lambda: "0a1b2c3d")
    record = logging.LogRecord("pages.x", logging.ERROR, "x.py", 1, "a page\nfailed: %s", ("why",), None)
    record.error_id = "beef0001"
    with logs.of_run("20261121-015500-a1b2c3"):
        try:
            raise ValueError("broken")
        except ValueError:
            record.exc_info = sys.exc_info()
            text = form.format(record)
    line = json.loads(text)
    assert "\n" not in text and line["message"] == "a page\nfailed: why" and line["level"] == "error"
    assert (line["session"], line["run"], line["error"]) == ("0a1b2c3d", "20261121-015500-a1b2c3", "beef0001")
    assert "ValueError: broken" in line["stack"] and "run" not in json.loads(form.format(record))
    monkeypatch.setenv("IDCORE_LOG", "yaml")
    with pytest.raises(CoreError, match="IDCORE_LOG"):
        logs.wants_json()


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_stack_gives_no_command_to_a_terminal(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of an error may quote what a stranger wrote: ESC, its one-byte form (C1), and turned writing."""
    monkeypatch.setenv("IDCORE_LOG", form)
    said = io.StringIO()
    handler, ours = logging.StreamHandler(said), logging.getLogger("idcore.test_watching")
    ours.addHandler(handler)
    try:
        logs.use_json()
        try:
            raise ValueError("a\x1b]0;b\x07\x9b2J\u202ec")
        except ValueError:
            ours.exception("it failed")
    finally:
        ours.removeHandler(handler)
    text = said.getvalue()
    assert "Traceback" in text and not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    stack = json.loads(text)["stack"] if form == "json" else text
    assert "ValueError: a\\x1b]0;b\\x07\\x9b2J\\u202ec" in stack


def test_a_request_has_an_id_of_its_own(tmp_path: Path) -> None:
    seen: list[str | None] = []

    async def app(*_: Any) -> None:
        seen.append(logs.REQUEST.get())

    door = FrontDoor(app, list, lambda: "/", lambda: None, lambda: tmp_path)
    with ThreadPoolExecutor(1) as apart:
        for _ in range(2):
            apart.submit(asyncio.run, door({"type": "http", "path": "/", "headers": []}, None, None)).result()  # type: ignore[arg-type]
    assert seen[0] and seen[1] and seen[0] != seen[1] and HEALTH
    assert limits.figure("audit_files") >= 1


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_malformed_request_is_one_line_of_the_log(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As uvicorn writes it down, with the stack of the server."""
    import h11

    monkeypatch.setenv("IDCORE_LOG", form)
    served, said = logging.getLogger("uvicorn.error"), io.StringIO()
    handler = logging.StreamHandler(said)
    served.addHandler(handler)
    try:
        for _ in range(2):
            logs.use_json()
        for error in (
            h11.RemoteProtocolError("illegal chunk"),
            h11.LocalProtocolError("Too little data"),
            KeyError("x"),
        ):
            try:
                raise error
            except (h11.ProtocolError, KeyError) as problem:
                served.error("Exception in ASGI application\n", exc_info=problem)
    finally:
        served.removeHandler(handler)
    first, second, *rest = said.getvalue().splitlines()
    assert "illegal chunk" in first and "Too little data" in second and "Traceback" not in first + second
    assert "Traceback" in "".join(rest), "a fault of ours keeps its stack"


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_log_in_that_fails_is_one_line_of_the_log(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Streamlit writes it down: anybody can come back from the provider with a wrong code, as often as they like."""
    from streamlit.web.server.starlette import starlette_auth_routes

    monkeypatch.setenv("IDCORE_LOG", form)
    server, said = logging.getLogger(starlette_auth_routes.__name__), io.StringIO()
    handler = logging.StreamHandler(said)
    server.addHandler(handler)
    try:
        logs.use_json()
        try:
            raise ValueError("invalid_grant: \x1b[2J")
        except ValueError:
            server.warning("OAuth token exchange failed for provider '%s'.", "default", exc_info=True)
    finally:
        server.removeHandler(handler)
    (line,) = said.getvalue().splitlines()
    assert "for provider 'default'. ValueError: invalid_grant: " in line and "\x1b" not in line


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_text_of_a_stranger_gives_no_command_to_a_terminal_that_shows_the_log(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Streamlit writes down an error that anybody can send to the address of the way back from the provider."""
    monkeypatch.setenv("IDCORE_LOG", form)
    server, said = logging.getLogger("streamlit.of_this_test"), io.StringIO()
    handler = logging.StreamHandler(said)
    server.addHandler(handler)
    try:
        logs.use_json()
        server.error("Error during authentication: %s", "x\x1b[2J\x9b31m\x07\n2026-11-26 forged" + "x" * 60_000)
    finally:
        server.removeHandler(handler)
    assert "Error during authentication: x" in said.getvalue() and "[2J" in said.getvalue()
    assert not {"\x1b", "\x9b", "\x07"} & set(said.getvalue())
    assert said.getvalue().count("\n") == 1 and len(said.getvalue()) < 3_000

"""The HTTP API: what it answers, whom it lets in, what a problem looks like."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event, Semaphore
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.types import Message

from idcore.doors import calls
from idcore.doors.calls import CallLimit, asking_again
from idcore.ids import Clock, describe, identify
from idcore.ids.clock import parse_instant
from idcore.operations.model import Caller, Ground
from idcore.operations.table import TABLE
from idcore.operations.texts import MOST_COMPARED
from idcore.policy.access import PERMISSIONS, Policy, Visitor
from idcore.policy.audit import Actor
from idcore.presentation.triage import compared
from idcore.runs.runs import Run, RunError, Runs
from tests.doors.conftest import ID, PEOPLE, Door
from tests.pages.conftest import make_run
from tests.test_damaged_runs import SUMMARY

pytestmark = pytest.mark.quick
Answer = TypeVar("Answer")
NOW = "2026-11-20T12:00:00+08:00"


def test_decode_answers_what_the_command_line_prints(door: Door) -> None:
    answer = door.call("decode", text=ID, zone="+08:00", at=NOW)
    (row,) = answer["items"]
    at = parse_instant(NOW)
    clock = Clock(at, at.tzinfo, "given")  # type: ignore[arg-type]
    own = describe(identify(ID), None, clock)
    differing = {name for name in own if own[name] != row[name]}
    assert differing <= {"line", "column"} and row["disproof"] and answer["next"] is None


def test_an_answer_comes_in_parts_and_as_lines(door: Door) -> None:
    text = "\n".join(f"{ID[:-4]}{number:04X}" for number in range(250))
    first = door.post("decode?limit=100", {"text": text}).json()
    second = door.post(f"decode?limit=200&cursor={first['next']}", {"text": text}).json()
    assert (len(first["items"]), first["next"], len(second["items"]), second["next"]) == (100, "100", 150, None)
    assert (first["remaining"], second["remaining"]) == (150, 0)
    lines = door.post("decode", {"text": text}, headers={"accept": "application/x-ndjson"})
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in lines.text.splitlines()] == first["items"] + second["items"]


def test_a_line_is_explained_field_by_field(door: Door) -> None:
    line = f"2026-11-10 23:37:24 consume failed, msgId={ID}"
    (row,) = door.call("explain_line", text=line, lang="zh")["items"]
    assert [field["name"] for field in row["fields"]] == ["ip", "pid", "loader", "elapsed", "counter"]
    assert row["fields"][1]["value"] == "18236" and row["certainty"] == "certain"


def test_two_inputs_are_compared(door: Door) -> None:
    other = ID[:-4] + "03E1"
    answer = door.call("compare", first_text=f"{ID}\n{other}", second_text=ID)
    (row,) = answer["items"]
    assert (row["missing"], row["new"], row["only_before"]) == (1, 0, [other]) and "1 " in answer["said"]


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", {}, 400, "call_json"),
        (b"[]", {}, 400, "call_json"),
        (b'{"text": NaN}', {}, 400, "call_json"),
        (b"[" * 9_000, {}, 400, "call_json"),
        (b'{"text": 1' + b"0" * 9_000 + b"}", {}, 400, "call_json"),
        (b"{}", {}, 400, "argument_missing"),
        (b'{"text": "\\ud800"}', {}, 400, "argument_wrong"),
        (b'{"text": "A", "txt": 1}', {}, 400, "argument_unknown"),
        (b'{"text": "A", "zone": "nowhere"}', {}, 422, "zone"),
        (b"{}", {"content-type": "text/plain"}, 415, "call_type"),
        (b"{}", {"origin": "http://evil.example"}, 403, "call_foreign"),
        (b"{}", {"sec-fetch-site": "cross-site"}, 403, "call_foreign"),
        (b"{}", {"host": "evil.example", "x-forwarded-for": "127.0.0.1"}, 403, "call_host"),
        (b"{}", {"authorization": "Bearer rmqids_x"}, 401, "call_token"),
        (b" " * (5 << 20), {}, 413, "call_large"),
    ],
)
def test_a_problem_has_its_status_and_code(
    body: bytes, headers: dict[str, str], status: int, code: str, door: Door
) -> None:
    answer = door.post("decode", body, headers=headers)
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    found = answer.json()
    assert (answer.status_code, found["code"], found["status"]) == (status, code, status)
    assert found["type"].endswith(code) and found["title"] and found["detail"]


def test_a_problem_is_in_the_callers_language(door: Door) -> None:
    answer = door.post("decode", {}, headers={"accept-language": "fr, zh-CN;q=0.8"})
    assert answer.json()["detail"] == "缺少参数 text。"


def test_a_scan_of_another_console_says_that_it_is_stopped_there(door: Door) -> None:
    run = Runs(door.folder / "runs").create("a")
    run.set_state("running")
    answer = door.post("cancel_scan", {"run": run.name})
    assert (answer.status_code, answer.json()["code"]) == (422, "scan_elsewhere")
    run.set_state("done")
    assert door.call("cancel_scan", run=run.name)["items"][0]["state"] == "done"


def test_the_audit_log_names_the_scan_that_a_program_opened(with_login: Door) -> None:
    """An administrator who reads everybody's scans by programs leaves their names, as on pages."""
    own = Runs(with_login.folder / "runs", with_login.entrance.policy.visitor({"email": PEOPLE["viewer"]}))
    run = own.create("a scan", "api")
    with_login.call("scan", PEOPLE["admin"], run=run.name)
    with_login.post("scan", {"run": run.name}, PEOPLE["triage"])
    with_login.post("find", {"run": "no scan", "text": "x"}, PEOPLE["admin"])
    with_login.call("decode", PEOPLE["admin"], text=ID)
    lines = [json.loads(line) for line in (with_login.folder / "audit.jsonl").read_text().splitlines()]
    assert [(line["outcome"], line.get("run")) for line in lines] == [
        ("done", run.name),
        ("no_run_here", None),
        ("no_run_here", None),
        ("done", None),
    ]


def test_a_wrong_method_or_name_is_a_problem_too(door: Door) -> None:
    assert door.client.get("/api/v1/decode").json()["code"] == "call_method"
    assert door.post("nothing", {}).json()["code"] == "operation_unknown"
    assert door.client.get("/decode").text == "a page", "what is not below /api/v1 is the console's"


def test_a_page_of_this_console_may_call(door: Door) -> None:
    own = {"origin": "http://localhost:8640", "sec-fetch-site": "same-origin"}
    assert door.post("decode", {"text": ID}, headers=own).status_code == 200


def test_too_many_calls_are_told_when_to_come_back(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_CALLS_VISITOR", "2")
    answers = [door.post("decode", {"text": ID}) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0 and answers[2].json()["code"] == "too_many_calls"


@pytest.mark.parametrize("roles", [("viewer",), ("viewer", "admin")])
def test_calls_of_one_person_or_two_that_wait_leave_room_for_others(with_login: Door, roles: tuple[str, ...]) -> None:
    """A call may wait 20 seconds for a scan: with as many as there is room for, nobody else was answered."""
    greedy, other = [caller_of(with_login, PEOPLE[role]) for role in roles], caller_of(with_login, PEOPLE["triage"])
    waits, begun = Event(), Semaphore(0)

    def wait() -> None:
        begun.release()
        waits.wait(10)

    async def all_of_them() -> str:
        room, answer = CallLimit(4), "not answered"
        async with anyio.create_task_group() as tasks:
            for _ in range(9):
                for each in greedy:
                    tasks.start_soon(room.run, each, wait)
            assert await anyio.to_thread.run_sync(lambda: all(begun.acquire(timeout=5) for _ in (*greedy, "further")))
            with anyio.move_on_after(5):
                answer = await room.run(other, lambda: "answered")
            waits.set()
        return answer

    assert apart(all_of_them) == "answered"


@pytest.mark.parametrize("held_by", ["a body that does not end", "an answer that nobody takes"])
@pytest.mark.parametrize("name", ["decode", "mcp"])
def test_calls_that_hold_memory_without_an_end_are_few(
    with_login: Door, monkeypatch: pytest.MonkeyPatch, held_by: str, name: str
) -> None:
    """Each holds its body or what it answers with: some thousands of one viewer took all memory of the server."""
    monkeypatch.setenv("IDCORE_CALLS_AT_ONCE", "3")

    async def status(role: str, slow: anyio.Event | None = None) -> int:
        statuses: list[int] = []
        waits, sent = [] if slow is None else [slow], [False]
        body = json.dumps({"text": ID} if name == "decode" else {"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()

        async def receive() -> Message:
            if held_by.startswith("a body"):
                for each in waits:
                    await each.wait()
            if sent[0]:
                await anyio.sleep_forever()
            sent[0] = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            statuses.extend([message["status"]] if message["type"] == "http.response.start" else [])
            if held_by.startswith("an answer") and message["type"] == "http.response.body":
                for each in waits:
                    await each.wait()

        said = {"x-user": PEOPLE[role], "host": "localhost:8640", "content-type": "application/json"}
        said["accept"] = "application/x-ndjson" if name == "decode" else "application/json, text/event-stream"
        headers = [(key.encode(), value.encode()) for key, value in said.items()]
        scope = {"type": "http", "method": "POST", "path": f"/api/v1/{name}", "query_string": b"", "headers": headers}
        scope |= {"client": ("127.0.0.1", 40_000), "server": ("127.0.0.1", 8640), "http_version": "1.1"}
        await with_login.app({**scope, "scheme": "http", "root_path": ""}, receive, send)
        return int(statuses[0])

    async def all_of_them() -> list[int]:
        slow, found = anyio.Event(), list[int]()
        assert await status("viewer") == 200  # what answers at this address is loaded
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(status, "viewer", slow)
            await anyio.sleep(1)
            with anyio.fail_after(20):
                found += [await status("viewer"), await status("triage")]
            slow.set()
        return [*found, await status("viewer")]

    assert apart(all_of_them) == [429, 200, 200]


def _unread(door: Door, count: int, seconds: float) -> tuple[int, int]:
    """Of so many long answers that their reader never takes: how many have begun by then, and how many have ended."""
    begun, ended = list[int](), list[int]()
    body = json.dumps({"text": ID}).encode()

    async def one() -> None:
        async def receive() -> Message:
            if not asked:
                await anyio.sleep_forever()
            return asked.pop()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.append(message["status"])
            else:
                await anyio.sleep_forever()

        asked: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        said = {"x-user": PEOPLE["viewer"], "host": "localhost:8640", "content-type": "application/json"}
        headers = [(key.encode(), value.encode()) for key, value in (said | {"accept": "application/x-ndjson"}).items()]
        scope = {"type": "http", "method": "POST", "path": "/api/v1/decode", "query_string": b"", "headers": headers}
        scope |= {"client": ("127.0.0.1", 40_000), "server": ("127.0.0.1", 8640), "http_version": "1.1"}
        await door.app({**scope, "scheme": "http", "root_path": ""}, receive, send)
        ended.append(1)

    async def all_of_them() -> tuple[int, int]:
        async with anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(one)
            await anyio.sleep(seconds)
            tasks.cancel_scope.cancel()
        return len(begun), len(ended)

    return apart(all_of_them)


def test_long_answers_that_nobody_reads_are_few_at_once(with_login: Door) -> None:
    assert with_login.post("decode", {"text": ID}, PEOPLE["viewer"]).status_code == 200  # what answers is loaded
    assert _unread(with_login, 12, 3) == (4, 0)  # of 32 one viewer held 600 MB, for ever


def test_an_answer_that_nobody_reads_ends(with_login: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcore.doors.http.UNREAD", 0.2)
    assert with_login.post("decode", {"text": ID}, PEOPLE["viewer"]).status_code == 200
    assert _unread(with_login, 12, 5) == (12, 12)


def test_room_for_one_call_is_room_for_a_person_too(with_login: Door) -> None:
    async def one() -> str:
        with anyio.fail_after(5):
            return await CallLimit(1).run(caller_of(with_login, PEOPLE["viewer"]), lambda: "answered")

    assert apart(one) == "answered"


def apart(do: Callable[[], Awaitable[Answer]]) -> Answer:
    """What it gives in a thread of its own: a browser of the tests before may keep a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, do).result()


def caller_of(door: Door, name: str) -> Caller:
    """Somebody who has logged in, at this door."""
    visitor = Visitor(name, frozenset({"viewer"}))
    return Caller(lambda: visitor, lambda: visitor, Actor(name), Ground(list, lambda: door.folder / "runs"))


def test_a_mistake_of_ours_has_a_reference_and_no_trace(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("idcore.intake.intake.rows_of", lambda *_: 1 / 0)
    answer = door.post("decode", {"text": ID})
    assert answer.status_code == 500 and "Traceback" not in answer.text and "ZeroDivision" not in answer.text
    (reference,) = [record.error_id for record in caplog.records if hasattr(record, "error_id")]
    assert reference in answer.json()["detail"]


# ---- who


GIVEN: dict[str, dict[str, Any]] = {
    "decode": {"text": ID},
    "explain_line": {"text": ID},
    "compare": {"first_text": ID, "second_text": ID},
    "start_scan": {"text": ID},
    "scan": {"run": "20260101-000000-" + "0" * 32},
    "cancel_scan": {"run": "20260101-000000-" + "0" * 32},
    "scans": {},
    "findings": {"run": "20260101-000000-" + "0" * 32},
    "finding_lines": {"run": "20260101-000000-" + "0" * 32},
    "find": {"text": "10.1.1.1"},
    "view": {"ids": [ID], "store": "STORE"},
    "journey": {"id": ID, "store": "STORE"},
    "groups": {"cluster": "one", "topic": "T"},
    "progress": {"cluster": "one", "topic": "T", "group": "G"},
    "dead_letters": {"group": "G", "store": "STORE"},
}
# What an operation needs besides its own permission, for these arguments.
ALSO = {"view": "folders", "journey": "folders", "dead_letters": "folders"}


def test_every_operation_is_tried_with_every_role() -> None:
    assert GIVEN.keys() == TABLE.keys()


@pytest.mark.parametrize("role", PEOPLE)
def test_each_role_has_what_the_table_of_permissions_says(role: str, with_login: Door) -> None:
    for name, operation in TABLE.items():
        needed = {operation.needs, ALSO.get(name, operation.needs)}
        may = all(role in PERMISSIONS[each].roles for each in needed)
        given = {key: str(with_login.open) if value == "STORE" else value for key, value in GIVEN[name].items()}
        answer = with_login.post(name, given, PEOPLE[role])
        assert (answer.status_code != 403) == may, (name, answer.text)


@pytest.mark.parametrize("name", TABLE)
def test_nobody_calls_anything_without_a_login(name: str, with_login: Door) -> None:
    for who in (None, "stranger@example.org"):
        answer = with_login.post(name, GIVEN[name], who)
        assert answer.status_code == (401 if who is None else 403), answer.text
    for address in ("/api/v1/", "/api/v1/openapi.json"):
        assert with_login.client.get(address).status_code == 401


def test_a_scan_whose_server_was_killed_says_so(door: Door) -> None:
    run = Runs(door.folder / "runs").create("half")
    run.set_state("failed")  # as it is shown when nobody wrote an end, and its server is gone
    (found,) = door.post("scan", {"run": run.name}).json()["items"]
    assert (found["state"], found["problem"]) == ("failed", "The server was stopped.")


@pytest.mark.parametrize("name", ["findings", "find"])
def test_a_damaged_table_is_named_and_is_no_mistake_of_ours(name: str, door: Door) -> None:
    run = Runs(door.folder / "runs").create("cut")
    (run.path / "findings").mkdir()
    (run.path / "findings" / "part-00000.parquet").write_bytes(b"PAR1")
    (run.path / "summary.json").write_text(json.dumps(SUMMARY))
    run.set_state("done")
    answer = door.post(name, {"run": run.name} | ({"text": "x"} if name == "find" else {}))
    assert (answer.status_code, answer.json()["code"]) == (422, "table_damaged"), answer.text


@pytest.mark.parametrize(("name", "column"), [("processes", "pid"), ("processes", "ids"), ("hosts", "ids")])
def test_a_table_with_nothing_where_a_number_must_be_is_damaged(name: str, column: str, door: Door) -> None:
    run = Run(make_run(door.folder / "runs"))
    (path,) = (run.path / name).glob("*.parquet")
    table = pq.read_table(path)
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.nulls(len(table), table.schema.field(place).type)), path)
    answer = door.post("find", {"run": run.name, "text": "10."})
    assert (answer.status_code, answer.json().get("code")) == (422, "table_damaged"), answer.text


def test_somebody_elses_scan_is_not_there(with_login: Door) -> None:
    own = Runs(with_login.folder / "runs", with_login.entrance.policy.visitor({"email": PEOPLE["viewer"]}))
    run = own.create("a scan", "api")
    assert with_login.call("scan", PEOPLE["viewer"], run=run.name)["items"][0]["run"] == run.name
    missing = with_login.post("scan", {"run": "20260101-000000-" + "0" * 32}, PEOPLE["triage"]).json()
    for name in ("scan", "cancel_scan", "findings", "finding_lines"):
        answer = with_login.post(name, {"run": run.name}, PEOPLE["triage"])
        assert answer.status_code == 404, answer.text
        assert answer.json()["code"] == missing["code"] == "no_run_here"
    assert with_login.call("scans", PEOPLE["triage"])["items"] == []
    assert [row["run"] for row in with_login.call("scans", PEOPLE["admin"])["items"]] == [run.name]


def test_what_is_not_open_is_the_same_as_what_is_not_there(with_login: Door, tmp_path: Path) -> None:
    (tmp_path / "secret.log").write_text(ID)
    (with_login.open / "link.log").symlink_to(tmp_path / "secret.log")
    for path in (tmp_path / "secret.log", tmp_path / "none.log", with_login.open / "link.log", "\0", "~nobody/x"):
        for name, argument in (("start_scan", "path"), ("start_scan", "store"), ("compare", "first_path")):
            given = {argument: str(path)} | ({"second_text": ID} if name == "compare" else {})
            answer = with_login.post(name, given, PEOPLE["triage"])
            assert answer.json()["code"] in ("not_open", "no_scans"), answer.text


# ---- personal tokens


def test_a_token_may_what_it_was_made_for_and_no_more(with_login: Door) -> None:
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["triage"]})
    token, text = with_login.tokens.make(visitor, {"email": PEOPLE["triage"]}, "runbook", {"decode"}, 30)
    bearer = {"authorization": f"Bearer {text}"}
    assert with_login.post("decode", {"text": ID}, headers=bearer).status_code == 200
    assert with_login.post("compare", GIVEN["compare"], headers=bearer).status_code == 403, "not its scope"
    folder = with_login.folder / "runs" / ".tokens"
    secret = text[-43:]  # which may have a "_" of its own
    assert not any(secret in path.read_text() for path in folder.iterdir()), "only its digest is kept"
    audit = (with_login.folder / "audit.jsonl").read_text()
    assert PEOPLE["triage"] in audit and secret not in audit and ID not in audit
    with_login.tokens.revoke(visitor, token.name)
    assert with_login.post("decode", {"text": ID}, headers=bearer).json()["code"] == "call_token"


def test_a_token_has_the_roles_of_now(with_login: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["triage"]})
    _, text = with_login.tokens.make(visitor, {"email": PEOPLE["triage"]}, "runbook", {"decode", "compare"}, 1)
    bearer = {"authorization": f"Bearer {text}"}
    assert with_login.post("compare", GIVEN["compare"], headers=bearer).status_code == 200
    with_login.entrance = replace(with_login.entrance, policy=Policy({}, {}))
    assert with_login.post("compare", GIVEN["compare"], headers=bearer).status_code == 403
    monkeypatch.setenv("IDCORE_TOKENS", "off")
    assert with_login.post("decode", {"text": ID}, headers=bearer).status_code == 401


def test_who_loses_a_token_during_a_call_gets_no_answer_of_it(
    with_login: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that had worked for six seconds was answered, although its token had been revoked at its beginning."""
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["triage"]})
    token, text = with_login.tokens.make(visitor, {"email": PEOPLE["triage"]}, "runbook", {"decode", "compare"}, 1)
    bearer, own = {"authorization": f"Bearer {text}"}, compared.compare

    def revoked(*given: Any, **more: Any) -> Any:
        with_login.tokens.revoke(visitor, token.name)
        return own(*given, **more)

    monkeypatch.setattr(compared, "compare", revoked)
    monkeypatch.setattr(calls, "LONG", -1.0)
    answer = with_login.post("compare", GIVEN["compare"], headers=bearer)
    assert (answer.status_code, answer.json()["code"]) == (403, "call_changed"), answer.text


@pytest.mark.parametrize("digest", ["é", "", None, 5, [1]])
def test_a_damaged_token_is_none(digest: Any, with_login: Door) -> None:
    """A digest with a letter that is not ASCII was a mistake of ours, with a stack in the log."""
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["viewer"]})
    token, text = with_login.tokens.make(visitor, {"email": PEOPLE["viewer"]}, "x", {"decode"}, 1)
    path = with_login.folder / "runs" / ".tokens" / token.name
    path.write_text(json.dumps(json.loads(path.read_text()) | {"digest": digest}))
    answer = with_login.post("decode", {"text": ID}, headers={"authorization": f"Bearer {text}"})
    assert (answer.status_code, answer.json()["code"]) == (401, "call_token"), answer.text


def test_a_token_ends(with_login: Door) -> None:
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["viewer"]})
    _, text = with_login.tokens.make(visitor, {"email": PEOPLE["viewer"]}, "short", {"decode"}, 1)
    assert with_login.tokens.of_text(text) is not None
    with_login.tokens._now = lambda: time.time() + 86_401
    assert with_login.tokens.of_text(text) is None


@pytest.mark.parametrize(
    ("scopes", "label", "days", "code"),
    [
        (["decode"], "", 1, "token_label"),
        (["decode"], "x" * 81, 1, "token_label"),
        ([], "x", 1, "token_scopes"),
        (["everything"], "x", 1, "token_scopes"),
        (["compare"], "x", 1, "not_allowed"),
        (["decode"], "x", 0, "token_days"),
        (["decode"], "x", 91, "token_days"),
    ],
)
def test_no_token_is_made_that_nobody_may_have(
    scopes: list[str], label: str, days: int, code: str, with_login: Door
) -> None:
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["viewer"]})
    with pytest.raises(ValueError) as refused:
        with_login.tokens.make(visitor, {"email": PEOPLE["viewer"]}, label, scopes, days)
    assert getattr(refused.value, "code", "") == code


def test_a_token_opens_nothing_where_there_is_no_login(door: Door) -> None:
    assert door.post("decode", {"text": ID}, headers={"authorization": "Bearer rmqids_x"}).status_code == 401


def test_what_a_proxy_puts_into_the_header_is_its_own(with_login: Door) -> None:
    for given in ("Basic YW5uOnNlY3JldA==", "Bearer eyJhbGciOiJub25lIn0.e30."):
        headers = {"authorization": given}
        assert with_login.post("decode", {"text": ID}, PEOPLE["viewer"], headers=headers).status_code == 200
        assert with_login.post("decode", {"text": ID}, headers=headers).status_code == 401


def test_of_two_headers_with_a_token_neither_is_believed(with_login: Door) -> None:
    """What is in front of the console may have read the other one: a token would pass as another person's log-in."""
    visitor = with_login.entrance.policy.visitor({"email": PEOPLE["triage"]})
    _, text = with_login.tokens.make(visitor, {"email": PEOPLE["triage"]}, "runbook", {"decode"}, 30)
    own, other = ("authorization", f"Bearer {text}"), ("Authorization", "Basic YW5uOnNlY3JldA==")
    for headers in ([own, other], [other, own], [own, own]):
        sent = [("content-type", "application/json"), ("x-user", PEOPLE["viewer"]), *headers]
        answer = with_login.client.post("/api/v1/decode", content=json.dumps({"text": ID}), headers=sent)
        assert answer.json()["code"] == "call_token", headers


def test_a_page_of_another_site_opens_no_stream_and_may_link_to_the_documents(door: Door) -> None:
    foreign = {"sec-fetch-site": "cross-site", "accept": "text/event-stream"}
    assert door.client.get("/api/v1/mcp", headers=foreign).json()["code"] == "call_foreign"
    assert door.client.get("/api/v1/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


# ---- the documents


def test_the_document_has_every_operation_and_is_openapi(door: Door) -> None:
    from openapi_spec_validator import validate

    document = door.client.get("/api/v1/openapi.json").json()
    validate(document)
    assert {path.strip("/") for path in document["paths"]} == TABLE.keys()


def test_the_page_loads_nothing_from_elsewhere(door: Door) -> None:
    page = door.client.get("/api/v1/").text
    assert (
        all(f'id="{name}"' in page for name in TABLE) and "src=" not in page and "//" not in page.replace("&#x27;", "")
    )


@pytest.mark.parametrize("text", ["0", "1001", "0000000019999999", "9" * 5_000, "²", "-1"])
def test_a_limit_is_a_whole_number_that_is_allowed(door: Door, text: str) -> None:
    problem = door.post(f"decode?limit={text}", {"text": ID})
    assert (problem.status_code, problem.json()["code"]) == (400, "argument_wrong")
    assert door.post("decode?limit=0001000", {"text": ID}).status_code == 200


# ---- what is lost while an answer is sent, or waits


def _token(door: Door, role: str) -> tuple[Any, str]:
    visitor = door.entrance.policy.visitor({"email": PEOPLE[role]})
    return door.tokens.make(visitor, {"email": PEOPLE[role]}, "runbook", {"decode"}, 30)


def _revoked(door: Door, token: Any) -> None:
    door.tokens.revoke(Visitor(token.owner), token.name)


def _ended(door: Door, token: Any) -> None:
    door.tokens._now = lambda: token.ends + 1


def _without_roles(door: Door, _: Any) -> None:
    door.entrance = replace(door.entrance, policy=Policy({}, {}))


@pytest.mark.parametrize("lost", [_revoked, _ended, _without_roles])
def test_a_stream_ends_when_its_token_or_its_roles_do(lost: Callable[[Door, Any], None], with_login: Door) -> None:
    """Who reads slowly had the rest of a long answer, hours after a token was revoked."""
    token, text = _token(with_login, "viewer")
    lines = _read_slowly(with_login, {"authorization": f"Bearer {text}"}, lambda: lost(with_login, token))
    assert json.loads(lines[-1])["problem"]["code"] == "call_changed"
    assert 200 <= len(lines) < 500, len(lines)


@pytest.mark.parametrize("key", ["run", "first_run", "second_run"])
def test_a_stream_ends_when_its_scan_is_not_shared_any_more(with_login: Door, key: str) -> None:
    own = Runs(with_login.folder / "runs", with_login.entrance.policy.visitor({"email": PEOPLE["admin"]}))
    run, viewer = own.create("a scan", "api"), caller_of(with_login, PEOPLE["admin"])
    ask = asking_again({key: run.name, "lang": "en"}, viewer)
    ask()
    run.remove()
    with pytest.raises(RunError):
        ask()


def test_a_stream_that_loses_nothing_is_sent_to_its_end(with_login: Door) -> None:
    _, text = _token(with_login, "viewer")
    assert len(_read_slowly(with_login, {"authorization": f"Bearer {text}"}, lambda: None)) == 1_000


def test_what_waits_of_a_revoked_token_does_not_begin_and_of_one_that_ended_does(with_login: Door) -> None:
    token, text = _token(with_login, "viewer")
    entry = with_login.entry
    headers = [(b"authorization", f"Bearer {text}".encode())]
    caller = entry.caller({"type": "http", "headers": headers, "client": ("127.0.0.1", 1)})
    _ended(with_login, token)
    assert not caller.visitor.name and caller.later().may("decode")
    _revoked(with_login, token)
    assert not caller.later().may("decode")


@pytest.mark.parametrize("first", ["path", "run"])
def test_an_input_that_is_too_large_to_be_compared_at_once_is_not_read(door: Door, first: str) -> None:
    """Of a scan any size was read: an upload may have gigabytes, and the IDs of both sides are in memory."""
    run = Runs(door.folder / "runs").create("a scan", "console", {"sources": ["large.log"]})
    large = {"path": door.open / "large.log", "run": run.input_folder / "000-large.log"}[first]
    with large.open("wb") as file:
        file.truncate(MOST_COMPARED + 1)
    named = {"path": str(large), "run": run.name}[first]
    answer = door.post("compare", {f"first_{first}": named, "second_text": ID})
    assert (answer.status_code, answer.json()["code"]) == (422, "file_large")
    assert "large.log" in answer.json()["detail"]


def _read_slowly(door: Door, headers: dict[str, str], then: Callable[[], None]) -> list[bytes]:
    """The lines of a long answer; `then` happens when the first of them have come."""
    body = json.dumps({"text": "\n".join(f"{ID[:-4]}{number:04X}" for number in range(1_000))}).encode()
    sent: list[bytes] = []
    asked = [{"type": "http.request", "body": body, "more_body": False}]
    pairs = headers | {"content-type": "application/json", "accept": "application/x-ndjson", "host": "localhost:8640"}

    async def receive() -> Any:
        if not asked:
            await anyio.sleep(30)
        return asked.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and message.get("body"):
            sent.append(message["body"])
            if len(sent) == 1:
                then()

    async def call() -> str:
        raw = [(name.encode(), value.encode()) for name, value in pairs.items()]
        scope = {"type": "http", "method": "POST", "path": "/api/v1/decode", "query_string": b"", "headers": raw}
        await door.app(scope | {"client": ("127.0.0.1", 40_000), "root_path": ""}, receive, send)
        return ""

    apart(call)
    return b"".join(sent).splitlines()

"""The MCP server with the SDK's own client: on standard input and output, and over HTTP with a log-in."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from idcore.__main__ import main
from idcore.doors.assistants import MOST_BYTES, NOTICE, _called, server_of, shortened
from idcore.doors.prompts import PROMPTS
from idcore.ids.delivery import DeliveryReader
from idcore.operations.model import Caller, Ground, Result
from idcore.operations.table import TABLE
from idcore.policy import metrics
from idcore.policy.access import PERMISSIONS, Visitor
from idcore.policy.audit import Actor
from idcore.runs.runs import Runs
from tests.doors.conftest import ID, PEOPLE, Door
from tests.doors.test_api import ALSO, GIVEN
from tests.source_code import ROOT

Talk = Callable[[Client], Awaitable[Any]]


def in_thread(work: Coroutine[Any, Any, Any]) -> Any:
    """A browser of another test may have left an event loop in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def problem(result: Any) -> str:
    """The code of a refusal."""
    assert result.is_error
    return str(json.loads(result.content[0].text)["code"])


def with_stdio(talk: Talk, *words: str) -> Any:
    """What a conversation with the command comes to."""

    async def run() -> Any:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "idcore", "mcp", *words], cwd=str(ROOT), env={"IDCORE_NO_SPARK": "1"}
        )
        async with Client(stdio_client(command)) as client:
            return await talk(client)

    return in_thread(run())


def in_process(talk: Talk, folder: Path, *roles: str) -> Any:
    """The same with the server of the command in this process, which takes no second to start."""
    visitor = Visitor("local", frozenset(roles))
    ground = Ground(lambda: [folder.resolve()], lambda: folder / "runs")
    caller = Caller(lambda: visitor, lambda: visitor, Actor("local", "mcp"), ground)

    async def run() -> Any:
        async with Client(server_of(lambda _: caller)) as client:
            return await talk(client)

    return in_thread(run())


@pytest.fixture(scope="module")
def served() -> Iterator[Callable[[Any], str]]:
    """A real server on loopback for an application; its address."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def serve(app: Any) -> str:
        config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        servers.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/api/v1"

    yield serve
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


def over_http(address: str, talk: Talk, **headers: str) -> Any:
    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            return await talk(client)

    return in_thread(run())


def answer(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content[0].text
    found: dict[str, Any] = result.structured_content
    assert json.loads(result.content[0].text) == found, "who reads the text reads the same"
    assert found["notice"] == NOTICE and "data" in NOTICE, "every answer says what its texts are"
    return found


def test_the_command_serves_text_files_and_stores_without_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"2026-11-10 23:37:24 send, msgId={ID}\n")
    (tmp_path / "secret").mkdir()

    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {name for name in TABLE if name not in ("groups", "progress")}, "no cluster is asked"
        assert all(f"{MOST_BYTES:,} bytes" in (tool.description or "") for tool in tools.values())
        writing = {name for name, tool in tools.items() if tool.annotations and not tool.annotations.read_only_hint}
        assert writing == {"start_scan", "cancel_scan"}, "scans of one's own"
        found = answer(await client.call_tool("decode", {"text": ID, "zone": "+08:00"}))
        (row,) = found["items"]
        assert (row["host"], row["certainty"]) == ("172.17.0.1", "certain") and row["disproof"] and found["notice"]
        explained = answer(await client.call_tool("explain_line", {"text": f"msgId={ID}"}))
        assert len(explained["items"][0]["fields"]) == 5
        compared = {"first_path": str(tmp_path / "a.log"), "second_text": ID}
        assert answer(await client.call_tool("compare", compared))["items"][0]["both"] == 1
        outside = await client.call_tool("compare", {"first_path": "/etc/hostname", "second_text": ID})
        assert problem(outside) == "not_open"
        refused = await client.call_tool("view", {"ids": [ID], "cluster": "one"})
        assert problem(refused) == "not_allowed"

    with_stdio(talk, str(tmp_path / "a.log"))


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_and_its_folder(number: signal.Signals, tmp_path: Path) -> None:
    """Nobody writes to its standard input any more, nor closes it."""
    environment = {**os.environ, "IDCORE_NO_SPARK": "1", "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-m", "idcore", "mcp"]
    with subprocess.Popen(
        words, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdin is not None and command.stdout is not None and command.stderr is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        command.stdin.write(json.dumps(asked).encode() + b"\n")
        command.stdin.flush()
        assert json.loads(command.stdout.readline())["id"] == 1 and list(tmp_path.iterdir())
        command.send_signal(number)
        try:
            assert command.wait(20) == 130
        finally:
            command.kill()
        assert command.stderr.read() == b""
    assert not list(tmp_path.iterdir())


def test_a_call_that_is_cancelled_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, looked, line = threading.Event(), list[int](), DeliveryReader.line

    def slowly(self: Any, number: int, text: str) -> Any:
        looked.append(number)
        begun.set()
        time.sleep(0.01)
        return line(self, number, text)

    monkeypatch.setattr(DeliveryReader, "line", slowly)
    text = "".join(f"sent {ID[:-4]}{number:04X}\n" for number in range(5_000))

    async def talk(client: Client) -> None:
        call = asyncio.create_task(client.call_tool("decode", {"text": text}))
        await asyncio.to_thread(begun.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    in_process(talk, tmp_path, "viewer")
    assert len(looked) < 4_000


def test_a_store_is_read_with_bodies_only_for_who_may_see_them(tmp_path: Path) -> None:
    assert main(["make", "store", "--messages", "30", "--groups", "3", "--out", str(tmp_path / "store")]) == 0
    truth = json.loads((tmp_path / "truth.json").read_text())
    one, store = truth["failed"][0], {"store": str(tmp_path / "store")}

    async def talk(client: Client) -> list[dict[str, Any]]:
        found = answer(await client.call_tool("view", {"ids": [one["msg_id"]], "verdicts": True} | store))
        (row,) = found["items"]
        verdicts = {verdict["verdict"] for verdict in row["fate"] if verdict["group"] == one["group"]}
        assert row["certainty"] == "certain" and one["verdict"] in verdicts
        made = answer(await client.call_tool("journey", {"id": one["msg_id"]} | store))["items"][0]
        assert made["events"] and made["disproof"]
        answer(await client.call_tool("dead_letters", {"group": one["group"]} | store))
        missed = answer(await client.call_tool("view", {"ids": [ID]} | store))["items"][0]
        assert missed["found"] is False and missed["said"] and missed["certainty"] != "certain"
        copies: list[dict[str, Any]] = row["copies"]
        return copies

    assert all(copy["body"] is None for copy in in_process(talk, tmp_path, "viewer", "triage"))
    assert all(copy["body"] for copy in in_process(talk, tmp_path, "viewer", "triage", "bodies"))


def test_it_answers_where_only_its_own_packages_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)  # of the console
    monkeypatch.setattr(metrics, "_can_count", metrics._can_count.__wrapped__)
    monkeypatch.setattr(metrics, "_counters", metrics._counters.__wrapped__)
    talk = partial(Client.call_tool, name="decode", arguments={"text": ID})
    assert answer(in_process(talk, tmp_path, "viewer"))["items"][0]["text"] == ID


def test_a_long_answer_is_cut_and_goes_on(door: Door, served: Callable[[Any], str]) -> None:
    text = "\n".join(f"{ID[:-4]}{number:04X}" for number in range(120))

    async def talk(client: Client) -> None:
        seen, cursor = list[str](), None
        while True:
            found = answer(await client.call_tool("decode", {"text": text} | ({"cursor": cursor} if cursor else {})))
            assert len(json.dumps(found["items"]).encode()) < 2 * MOST_BYTES
            seen += [row["text"] for row in found["items"]]
            assert found["remaining"] == 120 - len(seen)
            if (cursor := found["next"]) is None:
                break
        assert seen == text.splitlines()

    over_http(served(door.app), talk)


def test_an_item_that_is_too_large_alone_is_shortened() -> None:
    item = {"id": "x", "copies": [{"text": "a" * 5_000}] * 500, "disproof": "d"}
    made, cut = shortened(item)
    assert len(json.dumps(made)) <= MOST_BYTES and made["disproof"] == "d" and cut[0] == "copies"
    made, cut = shortened({"id": "x", "properties": {f"key{number}": "v" for number in range(9_000)}})
    assert len(json.dumps(made)) <= MOST_BYTES and cut == ["properties"] and made["properties"]["key0"] == "v"


def test_what_is_true_of_a_whole_answer_is_cut_too(door: Door) -> None:
    """No cursor leads to more of it."""
    caller = door.entry.caller({"headers": [], "client": ("127.0.0.1", 1)})
    items = [{"text": "x" * 900}] * 100
    operation = replace(
        TABLE["decode"], run=lambda *_: Result(iter(items), {"ids": 1, "traces": ["a" * 32] * 5_000}, 100)
    )
    found = answer(_called(operation, {"text": ID}, caller))
    assert len(json.dumps(found)) < 1.5 * MOST_BYTES and found["ids"] == 1
    assert found["traces"] == ["a" * 32] * 50 and found["cut"] == ["traces"]
    assert found["remaining"] == 100 - len(found["items"]) and found["next"] == str(len(found["items"]))


def test_no_sign_that_nobody_sees_reaches_an_assistant(tmp_path: Path) -> None:
    """A client takes the escapes of JSON out, and a model reads letters of tags and of variation selectors."""
    Runs(tmp_path / "runs").create("a\u200b\U000e0041\ufe01\u202e消息 é")

    async def talk(client: Client) -> Any:
        return await client.call_tool("scans", {})

    result = in_process(talk, tmp_path, "viewer", "admin")
    shown = "a\\u200b\\U000e0041\\ufe01\\u202e消息 é"
    assert answer(result)["items"][0]["title"] == shown
    assert json.loads(result.content[0].text)["items"][0]["title"] == shown


def test_every_answer_says_how_many_items_are_left(tmp_path: Path) -> None:
    """Also of a list whose items are counted as they come."""
    runs = Runs(tmp_path / "runs")
    for number in range(100):
        runs.create(f"a scan with a long name {number:03} {'x' * 200}")

    async def talk(client: Client) -> None:
        seen, cursor = 0, "0"
        while cursor is not None:
            found = answer(await client.call_tool("scans", {"cursor": cursor}))
            seen += len(found["items"])
            cursor = found["next"]
            assert found["items"] and found["remaining"] == 100 - seen
        assert seen == 100

    in_process(talk, tmp_path, "viewer", "admin")


def test_a_value_of_a_prompt_is_never_filled_in_itself() -> None:
    said = PROMPTS["charged_twice"].said({"ids": "A <input> B \\1", "input": "PATH"})
    assert "these IDs: A <input> B \\1." in said and "The input is PATH." in said


def test_each_prompt_is_whole_and_names_tools_that_exist(door: Door, served: Callable[[Any], str]) -> None:
    async def talk(client: Client) -> None:
        prompts = (await client.list_prompts()).prompts
        assert [one.name for one in prompts] == [*PROMPTS] and len(prompts) == 12
        for one in prompts:
            given = {argument.name: f"{{{argument.name}}}" for argument in one.arguments or []}
            said = (await client.get_prompt(one.name, given)).messages[0].content.text  # type: ignore[union-attr]
            assert all(value in said for value in given.values()) and any(name in said for name in TABLE)
            assert "ask the person" in (await client.get_prompt(one.name, {})).messages[0].content.text  # type: ignore[union-attr]

    over_http(served(door.app), talk)


@pytest.mark.parametrize("role", PEOPLE)
def test_each_role_has_its_tools_over_http(role: str, with_login: Door, served: Callable[[Any], str]) -> None:
    async def talk(client: Client) -> None:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert offered == {name for name, one in TABLE.items() if role in PERMISSIONS[one.needs].roles}
        for name, operation in TABLE.items():
            needed = {operation.needs, ALSO.get(name, operation.needs)}
            may = all(role in PERMISSIONS[each].roles for each in needed)
            given = {key: str(with_login.open) if value == "STORE" else value for key, value in GIVEN[name].items()}
            result = await client.call_tool(name, given)
            code = problem(result) if result.is_error else ""
            assert (code != "not_allowed") == may, (name, code)

    over_http(served(with_login.app), talk, **{"x-user": PEOPLE[role]})


def test_nobody_comes_in_without_a_login(with_login: Door) -> None:
    answer = with_login.post("mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401 and answer.json()["code"] == "call_no_login"


def test_no_request_stays_open_without_an_end(
    with_login: Door, served: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from idcore.doors import http

    monkeypatch.setattr(http, "SLOW", 0.2)
    headers = {"x-user": PEOPLE["viewer"], "accept": "application/json, text/event-stream"}
    headers["content-type"] = "application/json"

    def slowly() -> Iterator[bytes]:
        yield b"{"
        time.sleep(3)
        yield b"}"

    with httpx2.Client(headers=headers, timeout=2) as client:
        address = f"{served(with_login.app)}/mcp"
        for method in ("GET", "DELETE"):
            answer = client.request(method, address)
            assert answer.status_code == 405 and answer.json()["code"] == "call_method"
        answer = client.post(address, content=slowly())
        assert answer.status_code == 408 and answer.json()["code"] == "call_slow"


@pytest.mark.parametrize(
    "many", ["[{}1]", '{{"a":[{}1]}}', '{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{}1]}}}}']
)
@pytest.mark.parametrize("unit", ["1,", "1e308,", "{},", '"",', '"\\\\",', '{"a":1},'])
def test_many_values_are_refused_before_they_are_parsed(many: str, unit: str, with_login: Door) -> None:
    body = many.format(unit * 300_000).encode()
    began = time.process_time()
    for name in ("mcp", "decode"):
        answer = with_login.post(name, body, PEOPLE["viewer"])
        assert answer.status_code == 413 and answer.json()["code"] == "call_values"
    assert time.process_time() - began < 0.5  # 4 s of the validation that named the value at fault
    text = {"text": "a,b:{[" * 150_000}
    assert with_login.post("decode", text, PEOPLE["viewer"]).status_code == 200, "what is inside of a text counts not"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_json_of_another_encoding_hides_no_values(encoding: str, with_login: Door) -> None:
    """The letter ∀ has the byte of a quote in it (U+2200): what is behind it seemed to be inside of a text."""
    body = '{{"a":"\u2200","b":[{}1]}}'.format("[]," * 100_000).encode(encoding)
    for name in ("mcp", "decode"):
        answer = with_login.post(name, body, PEOPLE["viewer"])
        assert (answer.status_code, answer.json()["code"]) == (400, "call_json")

"""A caller who hangs up, with a real connection: what they asked for ends. And requests of MCP that call no tool."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import uvicorn

from idcore.__main__ import main
from idcore.answers.lookup import store_folder
from idcore.base import temporary
from idcore.base.errors import CoreError
from idcore.doors.calls import _rate
from idcore.ids import delivery
from idcore.operations import scans, texts
from idcore.operations.model import Caller
from idcore.operations.table import TABLE
from idcore.policy import audit, metrics
from idcore.rocketmq.store import StoreFolder
from idcore.runs import background_run
from idcore.runs.background_run import BackgroundRun
from idcore.runs.runs import Run, Runs
from tests.doors.conftest import ID, PEOPLE, Door
from tests.doors.test_assistants import over_http

LINES = "application/x-ndjson"


@contextmanager
def serving(door: Door, parser: str = "auto") -> Iterator[str]:
    """The address of its API, which one of the parsers of uvicorn serves on loopback."""
    config = uvicorn.Config(door.app, "127.0.0.1", 0, http=parser, log_level="warning", lifespan="off")  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/api/v1"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(params=["h11", "httptools"])
def served(request: pytest.FixtureRequest, door: Door) -> Iterator[str]:
    """The API on loopback, by each parser that uvicorn has."""
    with serving(door, request.param) as address:
        yield address


def by_api(address: str, name: str, given: dict[str, Any], accept: str = "application/json") -> socket.socket:
    """A call whose answer nobody has read yet."""
    place = urlsplit(address)
    body = json.dumps(given).encode()
    head = f"POST {place.path}/{name} HTTP/1.1\r\nhost: {place.netloc}\r\ncontent-type: application/json\r\n"
    client = socket.create_connection((place.hostname, place.port), 10)
    client.sendall(f"{head}accept: {accept}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    return client


def by_mcp(address: str, name: str, given: dict[str, Any]) -> socket.socket:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
    return by_api(address, "mcp", asked, "application/json, text/event-stream")


BY = pytest.mark.parametrize("by", [by_api, by_mcp])
By = Callable[[str, str, dict[str, Any]], socket.socket]


def outcomes(door: Door, name: str) -> list[str]:
    """How calls of an operation ended."""
    file = door.folder / "audit.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [line["outcome"] for line in lines if line.get("operation") == name]


def soon(holds: Callable[[], bool], seconds: float = 8) -> bool:
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)
    return holds()


class Endless(BackgroundRun[None]):
    """A scan that goes on until the test ends."""

    def __init__(self, run: Run, ends: threading.Event) -> None:
        super().__init__(run, audit.CONSOLE, "scan", None)
        self._thread = threading.Thread(target=ends.wait, args=(30,), daemon=True)
        self._thread.start()


@BY
def test_who_waits_for_a_scan_and_hangs_up_waits_no_more(by: By, served: str, door: Door) -> None:
    ends = threading.Event()
    run = Runs(door.folder / "runs").create("endless")
    background_run.keep(Endless(run, ends))
    try:
        with by(served, "scan", {"run": run.name, "wait": 20}):
            time.sleep(1)
            assert outcomes(door, "scan") == []
        assert soon(lambda: outcomes(door, "scan") == ["call_gone"])
    finally:
        ends.set()


@pytest.fixture
def store(door: Door) -> Path:
    folder = door.open / "store"
    assert main(["make", "store", "--messages", "30", "--groups", "1", "--out", str(folder)]) == 0
    return folder


@BY
def test_ids_of_who_hung_up_are_not_looked_up_any_more(
    by: By, served: str, door: Door, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[str]()
    one = store_folder.StoreLookup.one

    def slowly(self: Any, text: str, *given: Any) -> Any:
        begun.append(text)
        time.sleep(0.2)
        return one(self, text, *given)

    monkeypatch.setattr(store_folder.StoreLookup, "one", slowly)
    with by(served, "view", {"ids": [f"{ID[:-2]}{number:02X}" for number in range(50)], "store": str(store)}):
        assert soon(lambda: len(begun) > 1)
    assert soon(lambda: outcomes(door, "view") == ["call_gone"])
    assert len(begun) < 40


@BY
def test_a_search_through_a_store_ends(
    by: By, served: str, door: Door, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journey of a message that no index leads to reads the whole log."""
    read = list[int]()

    def slowly(self: Any, path: Path, at: int, size: int) -> bytes:
        time.sleep(0.01)
        read.append(at)
        return raw(self, path, at, size)

    kind = type(StoreFolder(store).log.reading)
    raw = kind.read
    monkeypatch.setattr(kind, "read", slowly)
    monkeypatch.setattr("idcore.rocketmq.store.commitlog._WINDOW", 16)  # a small store is as long as a large one
    with by(served, "journey", {"id": "no-such-key", "store": str(store)}):
        assert soon(lambda: len(read) > 20)
    assert soon(lambda: outcomes(door, "journey") == ["call_gone"])


def test_a_long_text_is_not_read_to_its_end(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    lines, looked = "".join(f"sent {ID[:-4]}{number:04X}\n" for number in range(500)), 0
    line = delivery.DeliveryReader.line

    def hangs_up(self: Any, number: int, text: str) -> Any:
        nonlocal looked
        looked = number
        return line(self, number, text)

    monkeypatch.setattr(delivery.DeliveryReader, "line", hangs_up)
    caller = replace(who(door), gone=lambda: looked > 20)
    for name in ("decode", "explain_line"):
        looked = 0
        with pytest.raises(CoreError) as ended:
            TABLE[name].call({"text": lines}, caller)
        assert (ended.value.code, looked) == ("call_gone", 21), name


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_comparison_ends_and_leaves_no_folder(door: Door, most: int) -> None:
    (door.open / "a.log").write_text("".join(f"sent {ID[:-4]}{number:04X}\n" for number in range(500)))
    asked = list[int]()

    def gone() -> bool:
        asked.append(1)
        return len(asked) >= most

    given = {"first_path": str(door.open / "a.log"), "second_text": ID}
    with pytest.raises(CoreError) as ended:
        TABLE["compare"].call(given, replace(who(door), gone=gone))
    assert ended.value.code == "call_gone" and len(asked) <= most + 1
    assert not list(Path(temporary.own()).glob("compare-*"))


def who(door: Door) -> Caller:
    """Everybody of this machine."""
    return door.entry.caller({"headers": [], "client": ("127.0.0.1", 1)})


def test_a_search_ends_where_it_was(store: Path) -> None:
    log = StoreFolder(store).log
    everything = log.search(b"no-such-key", 8 << 30)[1]
    asked = iter([False, True])
    assert everything and log.search(b"no-such-key", 8 << 30, lambda: True)[1] == 0
    assert log.search(b"no-such-key", 8 << 30, lambda: next(asked, True))[1] <= everything


@BY
def test_the_index_of_lines_is_not_waited_for(by: By, served: str, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    class Going:
        problem = None

        def wait(self, seconds: float) -> bool:
            time.sleep(seconds)
            return False

    run = Runs(door.folder / "runs").create("done")
    run.set_state("done")
    monkeypatch.setattr(scans, "finished", lambda *_: run)
    monkeypatch.setattr(scans.jobs, "locating", lambda *_: Going())
    with by(served, "finding_lines", {"run": run.name, "finding": 0}):
        time.sleep(0.5)
    assert soon(lambda: outcomes(door, "finding_lines") == ["call_gone"])


@pytest.mark.long(first=1)
def test_items_of_a_long_answer_are_not_made_any_more(served: str, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    made, item_of = list[int](), texts.item_of

    def slowly(*given: Any) -> dict[str, Any]:
        made.append(1)
        time.sleep(0.002)
        return item_of(*given)

    monkeypatch.setattr(texts, "item_of", slowly)
    text = "\n".join(f"{ID[:-4]}{number:04X}" for number in range(3_000))
    with by_api(served, "decode", {"text": text}, LINES) as client:
        assert client.recv(1_000).startswith(b"HTTP/1.1 200")
    before = len(made)
    assert not soon(lambda: len(made) > before + 1_000, 3)


def test_what_waits_for_its_turn_does_not_begin(served: str, door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    ends, called = threading.Event(), list[str]()
    read = texts._read

    def slowly(text: str, *given: Any) -> Any:
        called.append(text[-1])
        ends.wait(10)
        return read(text, *given)

    monkeypatch.setattr(texts, "_read", slowly)
    clients = [by_api(served, "decode", {"text": f"{ID}\n" * 40 + "first"}) for _ in range(8)]
    assert soon(lambda: len(called) == 8)
    late = by_api(served, "decode", {"text": f"{ID}\n" * 40 + "late, and gone!"})
    time.sleep(0.5)
    late.close()
    time.sleep(0.5)
    ends.set()
    assert soon(lambda: sorted(outcomes(door, "decode")) == ["call_gone", *["done"] * 8])
    assert "!" not in called
    for client in clients:
        client.close()


# ---- requests of MCP that call no tool


def counts(name: str) -> float:
    _, counters = metrics._counters()
    return float(counters["operations"].labels(operation=name, outcome="done")._value.get())


def test_lists_and_prompts_are_counted_like_calls(served: str, door: Door) -> None:
    names = ("tools/list", "prompts/list", "prompts/get")
    before = [counts(name) for name in names]

    async def talk(client: Any) -> None:
        await client.list_tools()
        await client.list_prompts()
        await client.get_prompt("lesson", {})
        with pytest.raises(Exception, match=r"(?i)method not found"):
            await client.list_resources()
        with pytest.raises(Exception, match="no_such_tool"):
            await client.call_tool("no_such_tool", {})

    over_http(served, talk)
    for name in (*names, "resources/list"):
        assert outcomes(door, name) == ["done"], name
    assert outcomes(door, metrics.OTHER).count("operation_unknown") == 1
    assert [counts(name) for name in names] == [one + 1 for one in before]


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "tools/list"},
        {"x": {"method": "tools/call"}, "method": "resources/list"},
        {"method": "tools/call", "METHOD": 1, "a": [], "method ": "x", "id": []} | {"method": "no/such"},
        {"method": ["tools/call"]},
        {"method": None},
        [{"method": "tools/call"}],
        "tools/call",
        {"method": "tools/call"},
        {"method": "tools/call", "params": {"arguments": {}}},
        {"method": "tools/call", "params": {"name": 5}},
        {"method": "tools/call", "params": {"name": "decode", "arguments": []}},
        {"method": "tools/call", "params": {"name": "decode", "_meta": 5}},
        {"method": "tools/call", "params": {"name": "decode", "_meta": {"progressToken": []}}},
        {"method": "tools/call", "params": {"name": "decode"}, "id": []},
        {"method": "tools/call", "params": {"name": "decode"}, "id": True},
        {"method": "tools/call", "params": {"name": "decode"}, "jsonrpc": "1.0"},
        {"method": "tools/call", "params": {"name": "decode"}, "id": None},
        {"method": "tools/call", "params": {"name": "decode", "arguments": {"text": ID}}, "accept": "text/plain"},
    ],
)
def test_requests_of_mcp_have_the_limit_of_calls(asked: Any, with_login: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_CALLS_VISITOR", "2")
    _rate.cache_clear()  # what other tests called does not count
    given = {"jsonrpc": "2.0", "id": 1} | asked if isinstance(asked, dict) else asked
    with serving(with_login, "httptools") as address:

        def post(name: str, given: Any, role: str) -> httpx2.Response:
            said = {"x-user": PEOPLE[role], "accept": "application/json, text/event-stream"}
            if isinstance(given, dict) and "accept" in given:
                said["accept"] = given["accept"]
            return httpx2.post(f"{address}/{name}", json=given, headers=said)

        assert all(post("mcp", given, "viewer").status_code < 500 for _ in range(2))
        late = post("mcp", given, "viewer")
        assert (late.status_code, late.json()["code"]) == (429, "too_many_calls"), late.text
        assert post("decode", {"text": ID}, "triage").status_code == 200, "of that person alone"

"""What stands between the server and Streamlit: the first page is filled in, everything else passes."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata

from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.policy.access import Visitor
from idcore.runs.runs import Run, RunError, Runs
from idcore.server import first_page, streamlit_private
from idcore.server.conversation import Asked, Conversations
from idcore.server.front_door import STRANGER
from idcore.server.gate import Gate
from idcore.server.logins import Entrance
from pages.parts import scans, serve
from tests.source_code import modules, nodes

DEBUGGING = ("clear_cache", "set_run_on_save", "load_git_info", "debug_disconnect_websocket", "debug_shutdown_runtime")
REPORT = (b"content-disposition", b'attachment; filename="findings.html"')


def test_a_click_that_ends_a_run_begins_the_next_next_to_it() -> None:
    """Streamlit gives each run a lock of its own. So the next may not fail while the one before still draws."""
    state = SessionState()
    widgets = [
        WidgetMetadata(f"$$ID-{place:032x}-w{place}", str, str, value_type="string_value") for place in range(60)
    ]

    class Ended(BaseException):
        pass

    def look_whether_ended() -> None:
        if clicked.is_set():
            raise Ended

    def draw(run: SafeSessionState) -> None:
        for place, widget in enumerate(widgets):
            run.register_widget(widget, f"w{place}" if place % 5 else None)
            run[f"kept-{place}"] = place
        drawn.set()

    def draw_until_clicked() -> None:
        run = SafeSessionState(state, look_whether_ended)
        with suppress(Ended):
            while True:
                draw(run)

    with ThreadPoolExecutor(1) as apart:
        for _ in range(100):
            clicked, drawn = threading.Event(), threading.Event()
            before = apart.submit(draw_until_clicked)
            assert drawn.wait(30)
            clicked.set()
            run = SafeSessionState(state, lambda: None)
            run.on_script_will_rerun(WidgetStates())
            draw(run)
            before.result(30)


def test_a_run_of_a_page_leaves_alone_where_python_looks_for_modules() -> None:
    before = list(sys.path)
    with modified_sys_path(str(Path(serve.__file__).parents[1] / "entry.py")):
        assert sys.path == before


def test_the_first_page_names_its_server_and_its_language() -> None:
    page = b'<!DOCTYPE html><html lang="en"><head><title>Streamlit</title></head></html>'
    made = first_page.with_base(page, "", "zh").decode()
    assert 'lang="zh-CN"' in made and 'BACKEND_BASE_URL:location.origin+"/"' in made and "Streamlit" not in made
    assert "</script><b>" not in first_page.with_base(page, "</script><b>", "en").decode()


@pytest.mark.parametrize(
    ("kind", "status", "more"),
    [
        ("text/html; charset=utf-8", 200, []),
        ("text/csv", 200, []),
        ("text/html; charset=utf-8", 200, [REPORT]),
        ("text/html; charset=utf-8", 206, []),
    ],
)
def test_only_pages_are_held_back_and_downloads_pass_as_they_come(kind: str, status: int, more: list[Any]) -> None:
    pieces, sent = [b"<html><head>", b"</head></html>"], []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", kind.encode()), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for place, piece in enumerate(pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": place == 0})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/media/x.csv", "headers": [(b"accept", b"text/html,*/*")]}
    with ThreadPoolExecutor(1) as apart:  # a browser of the tests before may keep a loop running in this thread
        apart.submit(asyncio.run, first_page.FirstPage(app, serve.base, serve.addresses)(scope, receive, send)).result()
    bodies = [message["body"] for message in sent[1:]]
    assert sent[0]["type"] == "http.response.start"
    if kind == "text/csv" or more or status != 200:
        assert bodies == pieces
    else:
        assert len(bodies) == 1 and b"BACKEND_BASE_URL" in bodies[0] and bodies[0].endswith(pieces[1])
        assert (b"content-length", str(len(bodies[0])).encode()) in sent[0]["headers"]


@pytest.mark.parametrize(
    ("path", "lost"),
    [
        ("/", None),
        ("/decode", None),
        ("/decode/", None),
        ("/no-such-page", "no-such-page"),
        ("/no/such/page", "no/such/page"),
        ("/decode/_stcore/health", None),
        ("/static/js/index.js", None),
    ],
)
def test_an_address_that_is_no_page_is_known_before_the_browser_asks(path: str, lost: str | None) -> None:
    assert first_page.stray(path, serve.base(), serve.addresses()) == lost


@pytest.mark.parametrize(("query", "to"), [(b"", b"/ids/"), (b"run=x&lang=zh", b"/ids/?run=x&lang=zh")])
def test_the_way_to_the_first_page_below_a_path_names_no_scheme_and_no_host(query: bytes, to: bytes) -> None:
    """A proxy in front has TLS and the name: the console sees http, and whatever Host the browser sent."""
    sent: list[Message] = []

    async def nothing(*_: Any) -> Any:
        raise AssertionError("Streamlit is not asked")

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"accept", b"text/html"), (b"host", b"evil.example")]
    scope = {"type": "http", "method": "GET", "path": "/ids", "query_string": query, "headers": headers}
    with ThreadPoolExecutor(1) as apart:
        page = first_page.FirstPage(nothing, lambda: "/ids/", serve.addresses)
        apart.submit(asyncio.run, page(scope, nothing, send)).result()
    assert sent[0]["status"] == 307 and (b"location", to) in sent[0]["headers"]


def test_nobody_empties_the_caches_of_everybody() -> None:
    """Streamlit does so for each websocket that asks, also before a login; limits of look-ups would begin again."""
    asked = iter([BackMsg(clear_cache=True), BackMsg(stop_script=True), BackMsg(clear_cache=True)])
    coming = [{"type": "websocket.receive", "bytes": one.SerializeToString()} for one in asked]
    coming += [{"type": "websocket.receive", "text": "no page sends text"}]
    coming += [{"type": "websocket.receive", "bytes": b"\xff"}, {"type": "websocket.disconnect"}]
    came: list[Any] = []

    async def app(_: Any, receive: Any, __: Any) -> None:
        while not came or came[-1]["type"] != "websocket.disconnect":
            came.append(await receive())

    async def receive() -> Any:
        return coming.pop(0)

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, Conversations(app, serve.read)({"type": "websocket"}, receive, app)).result()  # type: ignore[arg-type]
    assert [one.get("bytes") for one in came] == [BackMsg(stop_script=True).SerializeToString(), b"\xff", None]


def rerun(widgets: int) -> BackMsg:
    message = BackMsg()
    message.rerun_script.query_string = "ids=1"
    for _ in range(widgets):
        message.rerun_script.widget_states.widgets.add(id="w", trigger_value=True)
    return message


def uploads(names: int) -> BackMsg:
    """It has an address for each name: of 120 KB of them Streamlit made 16 MB, and nobody was served meanwhile."""
    message = BackMsg()
    message.file_urls_request.file_names.extend([""] * names)
    return message


def operation(request: str = "7", **fields: Any) -> BackMsg:
    message = BackMsg()
    message.backend_operation_request.request_id = request
    for name, value in fields.items():
        part = getattr(message.backend_operation_request, name)
        part.SetInParent()
        if value:
            part.file_id = value
    return message


@pytest.mark.parametrize(
    ("message", "of_person", "of_stranger"),
    [
        (rerun(9), True, True),
        (rerun(10_001), False, False),
        (BackMsg(stop_script=True), True, True),
        (BackMsg(app_heartbeat=True), True, True),
        (uploads(10_000), True, False),
        (uploads(10_001), False, False),
        (operation(deferred_file="0123456789abcdef" * 2), True, False),
        (operation("", deferred_file="0123456789abcdef" * 2), False, False),
        (operation("7" * 101, deferred_file="0123456789abcdef" * 2), False, False),
        (operation(deferred_file="A" * 32), False, False),
        (operation(deferred_file="a" * 100_000), False, False),
        (operation(install_skills=None), False, False),
        (operation(dismiss_skills_nudge=None), False, False),
        (operation(dataframe_chunk=None), False, False),
        *((BackMsg(**{name: True}), False, False) for name in DEBUGGING),  # type: ignore[arg-type]
    ],
)
def test_messages_that_no_page_sends_are_dropped(message: BackMsg, of_person: bool, of_stranger: bool) -> None:
    came = {"type": "websocket.receive", "bytes": message.SerializeToString()}
    assert (serve.read({}, came) is not None) == of_person
    assert (serve.read({STRANGER: True}, came) is not None) == of_stranger


MANY = 60_000


def clicked(message: Message, scope: Scope | None = None) -> bool:
    """Whether Streamlit has a message as a click."""
    asked = serve.read(scope or {}, message)
    return asked is not None and asked.is_click


def widget(**values: Any) -> bytes:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="w", **values)
    return message.SerializeToString()


def hashes() -> bytes:
    message = BackMsg()
    message.rerun_script.cached_message_hashes.extend([""] * MANY)
    return message.SerializeToString()


AMPLIFIED: dict[str, Callable[[], bytes]] = {
    "hashes": hashes,
    "texts": lambda: widget(string_array_value={"data": [""] * MANY}),
    "packed": lambda: widget(int_array_value={"data": [1] * MANY}),
    "packed numbers of eight bytes": lambda: widget(double_array_value={"data": [1.0] * MANY}),
    "widgets": lambda: rerun(MANY).SerializeToString(),
    "unknown numbers": lambda: b"\xf8\x3f\x01" * MANY,  # field 1023
    "behind a group": lambda: b"\xfb\x3f\xfc\x3f" + hashes(),
    "in a group": lambda: b"\xfb\x3f" + b"\xf8\x3f\x01" * MANY + b"\xfc\x3f",
    "files": lambda: uploads(5 << 20).SerializeToString(),
    "cut": lambda: hashes()[:-1],
}


@pytest.mark.parametrize("name", AMPLIFIED)
def test_a_message_of_many_small_values_is_dropped_unread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 17 MB of empty texts 410 MB were held, as long as the page was open, and 17 MB counted."""

    class Unread:
        DESCRIPTOR = BackMsg.DESCRIPTOR

        @staticmethod
        def FromString(_: bytes) -> None:
            pytest.fail("it was parsed")

    monkeypatch.setattr(streamlit_private, "find", lambda name: Unread)
    came = {"type": "websocket.receive", "bytes": AMPLIFIED[name]()}
    assert serve.read({}, came) is None
    if name == "files":
        assert serve.refusal({"headers": []}, came) is None


def test_a_message_of_few_large_values_is_taken() -> None:
    came = widget(string_value="a" * 3_000_000, string_array_value={"data": ["b" * 100] * 9_000})
    assert clicked({"bytes": came})
    many = rerun(10_000)
    many.rerun_script.query_string = "a" * 500_000
    assert clicked({"bytes": many.SerializeToString()})
    assert serve.read({}, {"bytes": b"\xff" * 20_000_000}) == Asked(
        b"\xff" * 20_000_000
    )  # Streamlit refuses what is none


@pytest.mark.parametrize("name", ["json_value", "json_trigger_value"])
def test_a_script_of_ours_says_a_word_and_no_tree(name: str) -> None:
    """Of 18 MB of empty lists, which are 20 KB when they are packed, a session held 450 MB for as long as it lived."""
    said, tree = '{"theme": "dark"}', f'{{"theme": [{"[]," * 30_000}0]}}'
    assert clicked({"bytes": widget(**{name: said})})
    assert serve.read({}, {"bytes": widget(**{name: tree})}) is None
    many = BackMsg()
    for place in range(100):
        many.rerun_script.widget_states.widgets.add(id=str(place), **{name: f"[{'[],' * 300}0]"})
    assert serve.read({}, {"bytes": many.SerializeToString()}) is None


def of_points(many: int, box: Any) -> str:
    points = [{"x": "2026-10-04 09:30", "y": place, "point_index": place} for place in range(many)]
    return json.dumps({"selection": {"points": points, "point_indices": [*range(many)], "box": box, "lasso": []}})


def taken(text: str, key: str) -> str:
    """What Streamlit has of a text in a widget with this key."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id="other", bool_value=True)
    message.rerun_script.widget_states.widgets.add(id=f"$$ID-{'0' * 32}-{key}", string_value=text)
    message.rerun_script.query_string = "ids=1"
    asked = serve.read({}, {"bytes": message.SerializeToString()})
    assert asked is not None
    other, box = BackMsg.FromString(asked.data).rerun_script.widget_states.widgets
    assert other.bool_value and box.id.endswith(key)
    place = BackMsg.FromString(asked.place).rerun_script
    assert place.query_string == "ids=1" and not place.widget_states.widgets
    return box.string_value


def test_of_a_box_around_many_points_the_box_is_kept() -> None:
    """20 MB of such points take 450 MB of memory as long as a page is open, and stop everybody for seconds."""
    box: Any = [{"x": ["2026-10-04 09:30", "2026-10-04 09:40"]}]
    few, large = (json.loads(taken(of_points(many, box), "hosts"))["selection"] for many in (3, 20_000))
    assert [len(few["points"]), few["box"], large["box"]] == [3, box, box]
    assert not large["points"] and not large["point_indices"] and not large["lasso"]
    hostile = [
        '{"selection"' + "[" * 70_000,
        '{"selection": ' + "1" * 70_000 + "}",
        '{"selection": {"box": ' + "9" * 70_000,
    ]
    hostile += [of_points(20_000, None), of_points(3, [[]] * 50_000), '{"selection": [' + "[]," * 600_000 + "0]}"]
    for text in hostile:
        assert json.loads(taken(text, "hosts")) == {
            "selection": {"points": [], "point_indices": [], "box": [], "lasso": []}
        }


@pytest.mark.parametrize("scope", [{}, {STRANGER: True}])
def test_the_name_of_a_fragment_is_none_of_a_visitors_own(scope: dict[str, Any]) -> None:
    """Streamlit logs one that it does not know: once 19 MB were a line of the log. A stranger may send it, too."""
    names = {"": True, "0" * 32: True, "a\nlines of a server": False, "a" * 100_000: False}
    for name, is_taken in names.items():
        message = BackMsg()
        message.rerun_script.fragment_id = name
        assert clicked({"bytes": message.SerializeToString()}, scope) == is_taken


def test_a_box_of_one_line_has_a_longest_text_and_one_of_many_has_not() -> None:
    """Of 19 MB in a box of the lab, which pages put into their address, everybody waited for five seconds."""
    long = "a" * 1_000_000
    assert taken("a" * streamlit_private.MOST_OF_LINE, "find_term-1") == "a" * streamlit_private.MOST_OF_LINE
    for key in ("find_term-1", "None", "text-1", "my-text", "compare-text-", "tags"):
        assert len(taken(long, key)) == streamlit_private.MOST_OF_LINE
    for key in ("text", "lookup_text", "store_id", "compare-text-before"):
        assert taken(long, key) == long


def test_the_boxes_of_many_lines_are_those_of_the_pages() -> None:
    """Whatever a page may hold of a large text comes through."""
    keys = {
        ast.unparse(next(each.value for each in node.keywords if each.arg == "key"))
        for path in modules("pages")
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".text_area")
    }
    assert keys == {"'text'", "'lookup_text'", "'store_id'", "f'compare-text-{side}'", "'tags'"}, "see _LARGE"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_too_many_files_at_once_have_an_answer(lang: str) -> None:
    asked = uploads(10_001)
    asked.file_urls_request.request_id = "7"
    came = [
        {"type": "websocket.receive", "bytes": one.SerializeToString()} for one in (asked, BackMsg(clear_cache=True))
    ]
    scope = {"type": "websocket", "headers": [(b"cookie", f"{serve.COOKIE}lang={lang}".encode())]}
    sent: list[Message] = []

    async def listens(_: Scope, receive: Receive, __: Send) -> None:
        assert (await receive())["type"] == "websocket.disconnect"

    async def receive() -> Message:
        return came.pop(0) if came else {"type": "websocket.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    with ThreadPoolExecutor(1) as apart:
        apart.submit(
            asyncio.run, Conversations(listens, serve.read, refusal=serve.refusal)(scope, receive, send)
        ).result()  # type: ignore[arg-type]
    (answer,) = [ForwardMsg.FromString(one["bytes"]).file_urls_response for one in sent]
    assert answer.response_id == "7" and not answer.file_urls
    assert answer.error_msg == catalogue.words(lang)("decode.too_many_files", most="10,000")
    assert serve.refusal({STRANGER: True}, {"bytes": asked.SerializeToString()}) is None


@pytest.mark.parametrize("later", [rerun(0), BackMsg(app_heartbeat=True), uploads(1), BackMsg(clear_cache=True)])
def test_what_a_session_keeps_counts_whatever_its_browser_sends_later(
    later: BackMsg, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit keeps a typed text also when a later click leaves it out."""
    monkeypatch.setenv("IDCORE_UPLOADS_VISITOR", "1M")
    typed, heard, sent, ended = rerun(1), Counter[str](), asyncio.Event(), asyncio.Event()
    typed.rerun_script.widget_states.widgets[0].string_value = "a" * 900_000

    async def listens(_: Scope, receive: Receive, __: Send) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            heard[message["type"]] += 1
        heard[str(message["code"])] += 1

    async def opens(door: Gate) -> None:
        coming = iter([typed, later])

        async def receive() -> Message:
            if (message := next(coming, None)) is None:
                sent.set()
                await ended.wait()  # the first one is open until the second one was refused
                return {"type": "websocket.disconnect", "code": 1000}
            return {"type": "websocket.receive", "bytes": message.SerializeToString()}

        await door({"type": "websocket", "path": "/_stcore/stream", "headers": []}, receive, receive)  # type: ignore[arg-type]
        ended.set()

    async def second(door: Gate) -> None:
        await sent.wait()
        await opens(door)

    async def two() -> None:
        ann = {"is_logged_in": True, "email": "ann@example.com", "iat": time.time()}
        door = Gate(Conversations(listens, serve.read), lambda: Entrance("login"), lambda _: ann, lambda: "/")
        await asyncio.wait_for(asyncio.gather(opens(door), second(door)), 5)

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, two()).result()
    assert heard["1009"] == 1 and heard["1000"] == 1


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ({}, "http://localhost:8501"),
        ({"server.baseUrlPath": "/desk/"}, "http://localhost:8501/desk"),
        ({"server.sslCertFile": "cert.pem", "browser.serverPort": 443}, "https://localhost:443"),
    ],
)
def test_the_address_that_is_said_is_the_one_that_a_browser_opens(
    options: dict[str, Any], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"browser.serverPort": 8501, **options}
    monkeypatch.setattr(serve.st, "get_option", known.get)
    assert serve.address("localhost") == address


def test_what_is_done_every_hour_goes_on_after_any_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[str] = []

    def fails(*_: Any) -> None:
        done.append("sweep")
        raise CoreError("run_damaged", {"name": "a"})

    monkeypatch.setattr(serve, "TIDY", 0)
    monkeypatch.setattr(serve, "runs_root", lambda: tmp_path)
    monkeypatch.setattr(serve.jobs, "ready", lambda: False)
    monkeypatch.setattr(serve.retention, "sweep", fails)
    monkeypatch.setattr(serve, "write_ends", lambda: done.append("ends"))
    monkeypatch.setattr(serve.background_run, "forget_deleted", lambda: done.append("deleted"))

    async def some() -> None:
        tidy = asyncio.create_task(serve._tidy())
        while not {"ends", "deleted"} <= set(done):
            assert not tidy.done()
            await asyncio.sleep(0.01)
        tidy.cancel()

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, asyncio.wait_for(some(), 20)).result()
    assert done[0] == "sweep"


def test_one_run_that_is_deleted_does_not_keep_others_from_being_followed_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = [Runs(tmp_path).create(title) for title in "ab"]
    for run in runs:
        run.set_state("running", plan={"follow": {}})
    went_on: list[str] = []

    def is_left(run: Run) -> bool:
        went_on.append(run.name)
        if len(went_on) == 1:
            raise RunError("no_run", {"name": run.name})
        return True

    monkeypatch.setattr(scans, "runs_root", lambda: tmp_path)
    monkeypatch.setattr(Run, "is_left", property(is_left))
    monkeypatch.setattr(scans, "_go_on", lambda run: went_on.append("on"))
    scans.go_on()
    assert {run.name for run in runs} | {"on"} == set(went_on)


def test_in_a_shared_folder_nobody_is_followed_on_for_whom_another_may_have_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named, nobodys = (
        Runs(tmp_path, visitor=Visitor("ann@example.com", frozenset({"triage"}))).create("of a person"),
        Runs(tmp_path).create("of nobody"),
    )
    for run in (named, nobodys):
        run.set_state("running", plan={"follow": {}})
    went_on: list[str] = []
    monkeypatch.setattr(scans, "runs_root", lambda: tmp_path)
    monkeypatch.setattr(Run, "is_left", True)
    monkeypatch.setattr(scans, "_go_on", lambda run: went_on.append(run.name))
    scans.go_on()
    assert sorted(went_on) == sorted([named.name, nobodys.name])
    went_on.clear()
    tmp_path.chmod(0o2770)
    scans.go_on()
    assert went_on == [nobodys.name]

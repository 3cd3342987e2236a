"""What a browser and Streamlit hear of each other: turns of parts and downloads, a page that is drawn again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Scope
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import runtime as server
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.runtime import RuntimeConfig
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from idcore.base.errors import refuse
from idcore.server import conversation, streamlit_private
from idcore.server.conversation import MOST_PARTS, Asked, Conversations
from idcore.server.download_turns import MOST_ASKED, MOST_OF_ONE, making
from pages.parts import serve, session

PAGE = """
import streamlit as st

st.fragment(lambda: st.write("tick"), run_every=0.4)()
for number in range(20):
    st.write("line", number)
"""
END: Message = {"type": "websocket.disconnect", "code": 1000}
FINISHED, EARLY = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
SESSION = "session-7"


def click(part: str = "", **more: Any) -> BackMsg:
    message = BackMsg()
    message.rerun_script.fragment_id = part
    for name, value in more.items():
        setattr(message.rerun_script, name, value)
    return message


def begun(page: str = "p1", *parts: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.new_session.initialize.session_id = SESSION
    message.metadata.run.fragment_ids.extend(parts)
    return message


def finished(how: Any = FINISHED) -> ForwardMsg:
    return ForwardMsg(script_finished=how)


class Tab:
    """A browser and what Streamlit would be: each says what a test has it say, and hears what is said."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[Message] = asyncio.Queue()
        self.heard: list[bytes] = []  # by Streamlit
        self.told: list[bytes] = []  # the browser
        self.send: Callable[[Message], Awaitable[None]]
        self.scope: Scope = {"type": "websocket", "headers": []}

    async def app(self, _: Any, receive: Any, send: Any) -> None:
        self.send = send
        while (message := await receive())["type"] != "websocket.disconnect":
            self.heard.append(message["bytes"])

    async def to_browser(self, message: Message) -> None:
        self.told.append(message["bytes"])

    async def says(self, *messages: BackMsg) -> None:
        for one in messages:
            self.said.put_nowait({"type": "websocket.receive", "bytes": one.SerializeToString()})
        await settled()

    async def draws(self, *messages: ForwardMsg) -> None:
        for one in messages:
            await self.send({"type": "websocket.send", "bytes": one.SerializeToString()})
        await settled()

    def parts(self) -> list[str]:
        """Of what Streamlit has heard since the last look: the parts that are to be drawn."""
        heard = [BackMsg.FromString(one).rerun_script.fragment_id for one in self.heard]
        self.heard.clear()
        return heard


async def settled() -> None:
    for _ in range(300):
        await asyncio.sleep(0)


def told_by(story: Callable[[], Awaitable[Any]]) -> Any:
    """What it gives, in a thread of its own: where a browser is open, this one has a loop that runs already."""

    async def run() -> Any:
        return await story()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, run()).result(60)


def played(story: Callable[[Tab], Awaitable[None]]) -> None:
    """A tab from its first click to its end."""

    async def whole() -> None:
        tab = Tab()
        app = Conversations(tab.app, serve.read, streamlit_private.told, busy=serve.busy)
        opened = asyncio.create_task(app(tab.scope, tab.said.get, tab.to_browser))
        await tab.says(click(page_script_hash="p1", query_string="run=x"))
        await story(tab)
        tab.said.put_nowait(END)
        await asyncio.wait_for(opened, 10)
        await settled()
        assert not conversation.is_open(SESSION)
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left, timeout=10)  # turns of downloads
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

    told_by(whole)


def test_a_part_has_its_turn_when_the_page_has_been_sent() -> None:
    async def story(tab: Tab) -> None:
        await tab.says(click("a"))
        assert tab.parts() == [""], "the page was asked for and has not begun"
        await tab.draws(finished(), begun())
        await tab.says(click("b"), click("c", is_auto_rerun=True), click("c", is_auto_rerun=True))
        assert tab.parts() == [], "what ended was the page before"
        await tab.draws(finished(EARLY))
        assert tab.parts() == [], "the page begins once more"
        await tab.draws(begun(), finished())
        assert tab.parts() == ["a", "b", "c"], "nobody waits twice for the same tick"
        await tab.says(click("a"))
        await tab.draws(begun("p1", "a"))
        await tab.says(click("b"))
        assert tab.parts() == ["a", "b"], "parts wait for no part"

    played(story)


def test_a_click_for_the_whole_page_and_a_stop_wait_for_nothing() -> None:
    async def story(tab: Tab) -> None:
        await tab.says(click("a"), click(), BackMsg(stop_script=True))
        assert len(tab.heard) == 3 and tab.parts() == ["", "", ""]
        await tab.draws(begun(), finished())
        assert tab.parts() == ["a"]

    played(story)


def test_few_parts_wait_and_none_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(tab: Tab) -> None:
        tab.parts()
        await tab.says(*(click(f"{number:x}") for number in range(MOST_PARTS + 3)))
        assert tab.parts() == ["0", "1", "2"], "the oldest go on as Streamlit has it"
        monkeypatch.setattr(conversation, "LONGEST_PART", 3)
        await tab.says(click("ff"))
        assert tab.parts() == ["ff"], "what is held counts nowhere: it is short"
        monkeypatch.setattr(conversation, "PATIENCE", 0.0)
        await tab.says(click(), click("b"))
        assert tab.parts()[-1] == "b", "Streamlit has dropped the click for the page"

    played(story)


def test_a_page_is_drawn_again_where_its_browser_is() -> None:
    async def story(tab: Tab) -> None:
        conversation.draw_again(SESSION)
        await tab.draws(begun(), finished())
        await tab.says(click("a", query_string="of a part"))
        moved = ForwardMsg()
        moved.page_info_changed.query_string = "run=y"
        await tab.draws(begun("p2"), moved, finished())
        tab.parts()
        assert conversation.is_open(SESSION)
        session.no_room(SESSION, refuse("text_large", held="1", most="0"))
        await settled()
        again = BackMsg.FromString(tab.heard.pop()).rerun_script
        assert (again.page_script_hash, again.query_string, again.fragment_id) == ("p2", "run=y", "")
        assert not again.HasField("widget_states"), "the session has them, and a button is not pressed again"
        session.UPLOADS.refusal(SESSION)

    played(story)


def download(number: int) -> BackMsg:
    message = BackMsg()
    message.backend_operation_request.request_id = str(number)
    message.backend_operation_request.deferred_file.file_id = "0" * 32
    return message


def made(number: int) -> ForwardMsg:
    message = ForwardMsg()
    message.backend_operation_response.request_id = str(number)
    return message


def test_downloads_are_made_in_turn_and_none_for_a_browser_that_has_gone() -> None:
    async def story(tab: Tab) -> None:
        tab.heard.clear()
        await tab.says(*map(download, range(MOST_ASKED + 1)), download(0))
        asked = lambda: [int(BackMsg.FromString(one).backend_operation_request.request_id) for one in tab.heard]  # noqa: E731
        assert asked() == [*range(MOST_OF_ONE)]
        (refused,) = [ForwardMsg.FromString(one).backend_operation_response for one in tab.told]
        assert refused.request_id == str(MOST_ASKED) and "Too many downloads" in refused.error_msg
        await tab.draws(made(0), made(77))
        assert asked() == [*range(MOST_OF_ONE + 1)]
        await tab.draws(made(2), made(1))
        assert asked() == [*range(MOST_OF_ONE + 3)]

    played(story)


def asked(tab: Tab) -> list[str]:
    return [BackMsg.FromString(one).backend_operation_request.request_id for one in tab.heard]


def test_a_download_whose_answer_is_lost_gives_back_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "PATIENCE", 0.0)
    monkeypatch.setattr(conversation, "LOOK", 0.01, raising=False)

    async def story(tab: Tab) -> None:
        await tab.draws(begun(), finished())
        tab.heard.clear()
        with making(SESSION):
            await tab.says(*map(download, range(MOST_OF_ONE + 1)))
            await asyncio.sleep(0.1)
            assert asked(tab) == ["0", "1"], "one is being made"
        await asyncio.wait_for(until(lambda: asked(tab) == ["0", "1", "2"]), 10)

    played(story)


def test_a_download_that_is_made_has_its_turn_also_when_its_browser_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "LOOK", 0.01, raising=False)

    async def story() -> None:
        first, second = Tab(), Tab()
        app = Conversations(
            lambda scope, *given: scope["tab"].app(scope, *given),
            serve.read,
            streamlit_private.told,
            busy=serve.busy,
            whose=lambda _: "ann",
        )
        opened = []
        for tab in (first, second):
            opened.append(asyncio.create_task(app({**tab.scope, "tab": tab}, tab.said.get, tab.to_browser)))
            await tab.says(click())
            await tab.draws(begun(), finished())
            tab.heard.clear()
            if tab is first:
                with_file = making(SESSION)
                with_file.__enter__()
                await tab.says(*map(download, range(MOST_OF_ONE)))
                tab.said.put_nowait(END)
                await asyncio.wait_for(opened[0], 10)
        await second.says(download(7))
        await asyncio.sleep(0.1)
        assert asked(first) == ["0", "1"] and asked(second) == []
        with_file.__exit__(None, None, None)
        await asyncio.wait_for(until(lambda: asked(second) == ["7"]), 10)
        second.said.put_nowait(END)
        await asyncio.wait_for(opened[1], 10)

    told_by(story)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def test_a_request_for_a_download_is_as_short_as_that_of_a_page() -> None:
    long = download(1)
    long.backend_operation_request.session_id = "s" * 10_000
    assert streamlit_private.read(long.SerializeToString()) is None


class Browser:
    """A browser that keeps what it is told, for a Streamlit that runs."""

    client_context = None

    def __init__(self) -> None:
        self.told: list[ForwardMsg] = []
        self.send: Callable[[Message], Awaitable[None]] | None = None
        self.going: set[asyncio.Task[None]] = set()

    def write_forward_msg(self, message: ForwardMsg) -> None:
        self.told.append(message)
        if self.send is not None:
            sending = self.send({"type": "websocket.send", "bytes": message.SerializeToString()})
            self.going.add(asyncio.ensure_future(sending))  # type: ignore[arg-type]

    def kinds(self) -> list[str | None]:
        return [message.WhichOneof("type") for message in self.told]


def taken_at_once(app: Any, *_: Any) -> Any:
    return app


def with_turns(app: Any) -> Any:
    return Conversations(app, serve.read, streamlit_private.told)


async def drawn(script: Path, door: Callable[[Any], Any]) -> list[str | None]:
    """What a browser is told of a page, where a fragment's turn comes as the page has been drawn and not yet sent."""
    config = RuntimeConfig(str(script), MemoryMediaFileStorage("/m"), MemoryUploadedFileManager("/u"))
    runtime, browser = server.Runtime(config), Browser()
    await runtime.start()
    clicks = says(runtime, browser)

    async def receive() -> Message:
        message = await anext(clicks, None)
        return END if message is None else {"type": "websocket.receive", "bytes": message.SerializeToString()}

    async def streamlit(_: Any, receive: Any, send: Any) -> None:
        browser.send = send
        browser.session = runtime.connect_session(browser, {})  # type: ignore[attr-defined, arg-type]
        while (message := await receive())["type"] == "websocket.receive":
            runtime.handle_backmsg(browser.session, BackMsg.FromString(message["bytes"]))  # type: ignore[attr-defined]

    async def nowhere(_: Message) -> None: ...

    await door(streamlit)({"type": "websocket", "headers": []}, receive, nowhere)
    runtime.stop()
    await runtime.stopped
    return browser.kinds()


async def says(runtime: server.Runtime, browser: Any) -> Any:
    yield click()
    while "script_finished" not in browser.kinds():
        await asyncio.sleep(0.01)
    fragment = next(one.auto_rerun.fragment_id for one in browser.told if one.HasField("auto_rerun"))
    browser.told.clear()
    yield click()
    found: Any = runtime.get_app_session(browser.session)
    while (runner := found._scriptrunner) is None or runner._requests._state is not ScriptRequestType.STOP:
        time.sleep(0.01)  # the loop that sends is at other work, until the page has been drawn
    yield click(fragment)
    for _ in range(200):
        await asyncio.sleep(0.01)
        if browser.kinds().count("script_finished") == 2:
            break


@pytest.fixture
def streamlit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a test before began the server."""
    monkeypatch.setattr(server.Runtime, "_instance", None)
    assert not hasattr(AppSession._create_scriptrunner, "__wrapped__")


@pytest.mark.usefixtures("streamlit_alone")
def test_a_page_reaches_its_browser_whole_although_a_turn_of_a_fragment_comes(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(PAGE)
    told = told_by(lambda: drawn(tmp_path / "page.py", taken_at_once))
    assert "auto_rerun" not in told, "Streamlit mended it: take this out"
    server.Runtime._instance = None
    told = told_by(lambda: drawn(tmp_path / "page.py", with_turns))
    assert "auto_rerun" in told and told.count("script_finished") == 2 and told.count("delta") > 20


def test_what_is_no_websocket_passes() -> None:
    heard: list[Any] = []

    async def app(scope: Scope, *_: Any) -> None:
        heard.append(scope["type"])

    door = Conversations(app, lambda *_: Asked(b""))
    told_by(lambda: door({"type": "http"}, None, None))  # type: ignore[arg-type]
    assert heard == ["http"]

"""What the console does with a version of Streamlit that lacks a name which its API reference does not promise."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import runtime as server
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.runtime import RuntimeConfig
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.common import WidgetMetadata

from idcore.server.front_door import KEPT, UPLOAD
from idcore.server.gate import MEDIA
from idcore.server.logins import Entrance
from idcore.server.memory import Visit
from pages.parts import serve, session, streamlit_private, visitor
from tests.source_code import ROOT, modules, name, nodes

ANN, FILE = "ann@example.org", "0" * 8
DOCUMENTED = {"streamlit.delta_generator", "streamlit.testing.v1"}


def has(dotted: str) -> bool:
    """Whether a module has the name, or a class of it sets it for each of its objects."""
    module, _, attribute = dotted.rpartition(".")
    owner: Any
    try:
        owner = import_module(module)
    except ImportError:
        module, _, kind = module.rpartition(".")
        owner = getattr(import_module(module), kind, None)
    return hasattr(owner, attribute) or (
        inspect.isclass(owner) and re.search(rf"\bself\.{attribute}\b.* = ", inspect.getsource(owner)) is not None
    )


def test_this_version_of_streamlit_has_every_name() -> None:
    lacking = {each: without for each, (_, without) in streamlit_private.NAMES.items() if not has(each)}
    assert not lacking, "the version has not what the console uses: each with what happens without it"
    assert not has("streamlit.runtime.app_session.AppSession.no_such_name")


def test_no_other_module_knows_names_that_the_reference_of_streamlit_lacks() -> None:
    private = {each.rpartition(".")[2] for each in streamlit_private.NAMES} - {"session_state", "get_instance"}
    wrong = []
    for path in [ROOT / "app.py", *modules("pages", "idcore")]:
        if name(path) == "pages/parts/streamlit_private.py":
            continue
        types_only = {
            id(node)
            for block in nodes(path)
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in block.body
        }
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streamlit."):
                if id(node) not in types_only and node.module not in DOCUMENTED:
                    wrong.append(f"{name(path)}: {node.module}")
            elif isinstance(node, ast.Attribute) and (
                node.attr in private or re.match(r"st\.(runtime|_[a-z])", ast.unparse(node))
            ):
                wrong.append(f"{name(path)}: {ast.unparse(node)}")
    assert not wrong, "it belongs into pages/parts/streamlit_private.py, with its reason and what happens without it"


def without(monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    """A version of Streamlit that lacks a name of the table."""
    module, _, attribute = next(each for each in streamlit_private.NAMES if each.endswith(lacking)).rpartition(".")
    monkeypatch.delattr(import_module(module), attribute)


def running(monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    monkeypatch.setattr(st.runtime, "get_instance", lambda: SimpleNamespace(**more))


def test_without_the_running_server_pages_have_no_scripts_and_nobody_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(monkeypatch, ".get_instance")
    assert streamlit_private.runtime() is None and session.connected() == 0 and session.uploaded("x") == (0, 0)


def test_without_a_way_to_sessions_none_is_counted_and_none_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(server.Runtime, "get_app_session")
    running(monkeypatch)
    visit = session._visits["s"] = Visit()
    assert session.connected() == 0
    session.draw_again("s")
    assert visit.left is None


def test_without_a_way_to_end_a_session_its_values_go_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    running(monkeypatch)
    values: dict[str, Any] = {"visit": Visit()}
    streamlit_private.close("s", SimpleNamespace(session_state=values))  # type: ignore[arg-type]
    assert not values


def test_a_session_goes_with_what_its_browser_sent_that_no_widget_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    running(monkeypatch)
    state = SessionState()
    state["visit"] = Visit()
    sent = WidgetStates(widgets=[WidgetState(id="keep", json_value="no JSON"), WidgetState(id="box", string_value="a")])
    state.set_widgets_from_proto(sent)
    for each in sent.widgets:
        state._new_widget_state.set_widget_metadata(WidgetMetadata(each.id, str, str, "json_value"))
    streamlit_private.close("s", SimpleNamespace(session_state=state))  # type: ignore[arg-type]
    assert not len(state) and not state._new_widget_state.states


def test_a_session_whose_values_cannot_be_reached_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    running(monkeypatch, close_session=closed.append)
    streamlit_private.close("s", SimpleNamespace())  # type: ignore[arg-type]
    assert closed == ["s"]


def test_a_page_is_drawn_again_as_its_browser_last_asked_for_it_or_at_the_next_click(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visit = Mock(spec=AppSession, _client_state="as it was")
    running(monkeypatch, get_app_session=lambda _: visit)
    session.draw_again("s")
    visit.request_rerun.assert_called_once_with("as it was")
    bare = Mock(spec=["request_rerun"])
    running(monkeypatch, get_app_session=lambda _: bare)
    session.draw_again("s")
    bare.request_rerun.assert_not_called()


PAGE = """
import streamlit as st

st.fragment(lambda: st.write("tick"), run_every=0.4)()
for number in range(20):
    st.write("line", number)
"""


class Browser:
    """A browser that keeps what it is told."""

    client_context = None

    def __init__(self) -> None:
        self.told: list[ForwardMsg] = []

    def write_forward_msg(self, message: ForwardMsg) -> None:
        self.told.append(message)

    def kinds(self) -> list[str | None]:
        return [message.WhichOneof("type") for message in self.told]


def click(fragment: str = "") -> BackMsg:
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    return message


async def drawn(script: Path, ended: bool) -> list[str | None]:
    """What a browser is told of a page, where a fragment's turn comes as the page has been drawn and not yet sent."""
    config = RuntimeConfig(str(script), MemoryMediaFileStorage("/m"), MemoryUploadedFileManager("/u"))
    runtime, browser = server.Runtime(config), Browser()
    await runtime.start()
    session = runtime.connect_session(browser, {})
    runtime.handle_backmsg(session, click())
    while "script_finished" not in browser.kinds():
        await asyncio.sleep(0.01)
    fragment = next(one.auto_rerun.fragment_id for one in browser.told if one.HasField("auto_rerun"))
    browser.told.clear()
    runtime.handle_backmsg(session, click())
    found = runtime.get_app_session(session)
    assert found is not None
    while (runner := found._scriptrunner) is not None and runner._requests._state is not ScriptRequestType.STOP:
        time.sleep(0.01)  # the loop that sends is at other work, until the page has been drawn
    runtime.handle_backmsg(session, click(fragment))
    if ended:
        runtime.close_session(session)
    for _ in range(200):
        await asyncio.sleep(0.01)
        if browser.kinds().count("script_finished") == 2:
            break
    runtime.stop()
    await runtime.stopped
    return browser.kinds()


def told_by(run: Coroutine[Any, Any, list[str | None]]) -> list[str | None]:
    """What it gives, in a thread of its own: where a browser is open, this one has a loop that runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, run).result()


@pytest.fixture
def as_streamlit_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a test before began the server; what a test replaces in Streamlit is put back."""
    begin = AppSession._create_scriptrunner
    monkeypatch.setattr(AppSession, "_create_scriptrunner", getattr(begin, "__wrapped__", begin))
    monkeypatch.setattr(server.Runtime, "_instance", None)


def test_a_page_reaches_its_browser_whole_although_a_turn_of_a_fragment_ends_it(
    tmp_path: Path, as_streamlit_has_it: None
) -> None:
    (tmp_path / "page.py").write_text(PAGE)
    assert "auto_rerun" not in told_by(drawn(tmp_path / "page.py", False)), "Streamlit mended it: take this out"
    server.Runtime._instance = None
    for _ in range(2):  # a second time changes nothing
        streamlit_private.draw_pages_whole()
    told = told_by(drawn(tmp_path / "page.py", False))
    assert "auto_rerun" in told and told.count("script_finished") == 2 and told.count("delta") > 20


def test_a_turn_of_a_fragment_whose_session_has_ended_draws_nothing(tmp_path: Path, as_streamlit_has_it: None) -> None:
    (tmp_path / "page.py").write_text(PAGE)
    streamlit_private.draw_pages_whole()
    assert told_by(drawn(tmp_path / "page.py", True)).count("script_finished") < 2


def test_a_version_that_begins_to_draw_in_another_way_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AppSession, "_create_scriptrunner")
    streamlit_private.draw_pages_whole()
    assert not hasattr(AppSession, "_create_scriptrunner")


def test_without_a_way_to_uploads_they_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    held = MemoryUploadedFileManager("/upload")
    del held.file_storage
    running(monkeypatch, uploaded_file_mgr=held)
    assert session.uploaded("s") == (0, 0) and session.UPLOADS.begin("s", 1)
    session.UPLOADS.end("s", 1)
    session.give_back([SimpleNamespace(file_id=FILE)])  # type: ignore[list-item]


def test_without_the_id_of_a_session_no_upload_is_anybodys(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, ".get_script_run_ctx")
    assert streamlit_private.session_id() is None and session.name() is None
    assert session.owners(f"{UPLOAD}s/{FILE}") == {}


def test_without_its_exception_a_page_is_ended_by_the_documented_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StopException):
        session.stop()
    without(monkeypatch, ".StopException")
    ended = RuntimeError("ended by st.stop")
    monkeypatch.setattr(st, "stop", Mock(side_effect=ended))
    with pytest.raises(RuntimeError, match="ended by"):
        session.stop()


def test_without_the_digest_of_a_download_it_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "._calculate_file_id")
    before = dict(session.OFFERED._pairs)
    session.offer(b"secret", "text/csv", "a.csv", ANN)
    assert session.OFFERED._pairs == before and session.owners(f"{MEDIA}{FILE}.csv") == {}


def test_without_a_check_of_signatures_nobody_is_logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor, "entrance", lambda: Entrance("login"))
    without(monkeypatch, "._get_signed_cookie_with_chunks")
    assert visitor.claims_of([(b"cookie", b"_streamlit_user=forged")]) == {}


def test_without_the_messages_of_a_browser_all_of_them_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"bytes": BackMsg(clear_cache=True).SerializeToString()}
    assert serve.kind_of({}, asked) is None
    without(monkeypatch, ".BackMsg")
    assert serve.kind_of({}, asked) == KEPT

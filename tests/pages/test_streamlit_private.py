"""What the console does with a version of Streamlit that lacks a name which its API reference does not promise."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from idcore.server import streamlit_private
from idcore.server.conversation import Asked, Told
from idcore.server.front_door import UPLOAD
from idcore.server.gate import MEDIA
from idcore.server.logins import Entrance
from pages.parts import serve, session, visitor
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
        if name(path) == "idcore/server/streamlit_private.py":
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
    assert not wrong, "it belongs into idcore/server/streamlit_private.py, with its reason and what happens without it"


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
    assert serve.read({}, asked) is None
    without(monkeypatch, ".BackMsg")
    assert serve.read({}, asked) == Asked(asked["bytes"], is_click=True)
    assert streamlit_private.told(ForwardMsg(script_finished=0).SerializeToString(), b"") == Told()  # type: ignore[arg-type]


def test_without_the_messages_to_a_browser_nothing_is_known_of_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY).SerializeToString()
    assert streamlit_private.told(ended, b"") == Told(ends=True)
    without(monkeypatch, ".ForwardMsg")
    assert streamlit_private.told(ended, b"") == Told() and serve.busy({"headers": []}, "7") is None
    many = BackMsg()
    many.file_urls_request.file_names.extend([""] * 10_001)
    assert serve.refusal({"headers": []}, {"bytes": many.SerializeToString()}) is None

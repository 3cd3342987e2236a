"""Memory goes back to the system after a visit, and only then."""

from __future__ import annotations

import inspect
import weakref
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from idcore import memory
from pages.parts import serve


def test_memory_goes_back_once_after_visits_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(memory, "_trim", lambda: given.append)
    monkeypatch.setattr(memory.Visit, "ended", 0)
    held = [memory.Visit(), memory.Visit()]
    assert not memory.tidy() and not given
    held.clear()
    assert memory.tidy() and not memory.tidy() and given == [0]


def test_a_system_without_the_function_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    memory._trim.cache_clear()
    try:
        memory.give_back()
        assert memory._trim()(0) == 0
    finally:
        memory._trim.cache_clear()


def test_sessions_of_visitors_who_left_are_dropped_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their store is Streamlit's own: a version that has it elsewhere is found here, not by memory that grows."""
    storage = MemorySessionStorage(ttl_seconds=0)
    manager = WebsocketSessionManager(storage, *[Mock()] * 3)
    monkeypatch.setattr(serve.st.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager))
    session: Any = memory.Visit()
    session.session = SimpleNamespace(id="left")
    storage.save(session)
    left = weakref.ref(session)
    del session
    assert left() is not None
    serve.forget_left()
    assert left() is None and "self._session_mgr =" in inspect.getsource(Runtime)

"""Memory goes back to the system after a visit, and only then."""

from __future__ import annotations

import inspect
import weakref
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.state import SessionState
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from idcore.ids import reasons
from idcore.ids.identify import identify
from idcore.ids.reasons import Reason, shared_reasons
from idcore.presentation import zones
from idcore.runs.runs import Runs
from idcore.server import memory
from idcore.spark import background
from pages.parts import cache, serve

UNIQ, OFFSET = "0A14030B1FA118B4AAC263F50D7E0045", "0A2A010100002A9F00000000804C4B40"  # made by hand


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
    runtime = SimpleNamespace(_session_mgr=manager)
    state = SessionState()
    state["visit"] = memory.Visit()
    session: Any = memory.Visit()
    session.session = SimpleNamespace(id="left", session_state=state, shutdown=Mock())
    storage.save(session)
    left = weakref.ref(session)
    shutdown = session.session.shutdown
    del session
    assert left() is not None
    assert memory.forget_left(runtime) and left() is None and "self._session_mgr =" in inspect.getsource(Runtime)
    assert shutdown.called and "visit" not in state, "Streamlit's main loop may have the last session for long"
    monkeypatch.setattr(manager, "list_sessions", lambda: ["here"])
    assert not memory.forget_left(runtime), "somebody is here"


def test_with_the_last_visitor_go_the_tables_and_the_jobs_that_have_ended(tmp_path: Path) -> None:
    ended, going = Mock(ended=True), Mock(ended=False)
    background._jobs |= {"ended": ended, "going": going}
    run = Runs(tmp_path).create("kept")
    try:
        assert cache.rows(run, "processes") == 0
        (run.path / "processes").mkdir()
        pq.write_table(pa.table({"host": ["10.0.0.1"]}), run.path / "processes" / "part.parquet")
        assert cache.rows(run, "processes") == 0, "it is kept"
        serve.forget_answers()
        assert cache.rows(run, "processes") == 1
        assert "ended" not in background._jobs and background.find("going") is going
    finally:
        background._jobs.pop("going", None)


def test_the_zones_of_two_visitors_are_the_same_texts() -> None:
    at = datetime(2026, 11, 22, 8, 31, tzinfo=UTC)
    one, other = (zones.label("Asia/Kolkata", moment) for moment in (at, at.replace(minute=44)))
    assert one is other


def test_ids_with_the_same_reasons_share_them() -> None:
    one, other, away = (identify(text).best for text in (UNIQ, UNIQ[:-1] + "7", OFFSET))
    assert one is not None and other is not None and away is not None
    assert one.why is other.why and one.id != other.id
    assert away.why != one.why


def test_reasons_that_no_other_id_has_do_not_pile_up() -> None:
    for number in range(5_000):
        assert shared_reasons([Reason("port_fits", {"port": number})])[0].values == {"port": number}
    assert len(reasons._SHARED) <= 4_096

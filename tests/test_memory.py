"""Memory goes back to the system after a visit, or when much was taken, and only then."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from idcore.ids import reasons
from idcore.ids.identify import identify
from idcore.ids.reasons import Reason, shared_reasons
from idcore.presentation import zones
from idcore.runs import background_run
from idcore.runs.runs import Runs
from idcore.server import memory
from pages.parts import cache, serve, session

ROOT = Path(__file__).resolve().parents[1]
UNIQ, OFFSET = "0A14030B1FA118B4AAC263F50D7E0045", "0A2A010100002A9F00000000804C4B40"  # made by hand


@pytest.mark.parametrize("soft", [256, 5_000])
def test_the_server_opens_as_many_files_as_the_system_lets_it(soft: int) -> None:
    """A console out of a shell had 1,024: 255 websockets, for which nobody has to log in, took them all."""
    code = f"import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({soft}, 5_000)); "
    code += "from idcore.server import memory; memory.open_more_files(); print(*r.getrlimit(r.RLIMIT_NOFILE))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert told.split() == ["5000", "5000"]


def test_memory_goes_back_once_after_visits_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    gc.collect()  # visits of the tests before
    monkeypatch.setattr(memory, "_trim", lambda: given.append)
    monkeypatch.setattr(memory.Visit, "ended", 0)
    monkeypatch.setattr(memory, "_resident", lambda: 0)
    monkeypatch.setattr(memory, "GROWTH", memory.Growth())
    held = [memory.Visit(), memory.Visit()]
    assert not memory.tidy() and not given
    held.clear()
    assert memory.tidy() and not memory.tidy() and given == [0]


def test_memory_goes_back_after_calls_of_programs_that_took_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no visits: what one look-up had taken stayed with the server."""
    given: list[int] = []
    gc.collect()
    monkeypatch.setattr(memory, "_trim", lambda: given.append)
    monkeypatch.setattr(memory.Visit, "ended", 0)
    monkeypatch.setattr(memory, "GROWTH", memory.Growth())
    least = 1 << 30
    now = [least]
    monkeypatch.setattr(memory, "_resident", lambda: now[0])
    assert not memory.tidy()
    now[0] = least + memory.MUCH - 1
    assert not memory.tidy() and not given
    now[0] += 1
    looks = [memory.tidy() for _ in range(7)]
    assert looks == [True, False, True, False, False, False, True], "what is in use stays, and is asked for more rarely"
    assert sum(memory.tidy() for _ in range(300)) == 11
    now[0] = least
    assert not memory.tidy()
    now[0] = least + memory.MUCH
    assert memory.tidy(), "what was taken anew is looked at at once"


def test_a_system_without_the_function_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    memory._trim.cache_clear()
    try:
        memory.give_back()
        assert memory._trim()(0) == 0
    finally:
        memory._trim.cache_clear()


def test_visits_of_those_who_left_are_ended_before_streamlit_drops_their_sessions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uploads, here = {"left": {"file": object()}, "other": {}}, {"left"}
    runtime = SimpleNamespace(uploaded_file_mgr=SimpleNamespace(file_storage=uploads))
    monkeypatch.setattr(session.st.runtime, "get_instance", lambda: runtime)
    monkeypatch.setattr(session, "_visits", visits := WeakValueDictionary[str, memory.Visit]())
    monkeypatch.setattr(session, "is_open", here.__contains__)
    visit = visits["left"] = memory.Visit()
    held = Mock()
    gone = weakref.ref(held)
    visit.kept["held"] = held
    del held
    assert not session.forget_left(0.0) and session.connected() == 1
    here.clear()
    assert not session.forget_left(1.0) and not session.forget_left(100.0) and session.connected() == 0
    here.add("left")  # the browser came back
    assert not session.forget_left(105.0)
    here.clear()
    assert not session.forget_left(110.0) and not session.forget_left(205.0) and gone() is not None
    memory.Visit.ended = 0
    assert session.forget_left(240.0) and gone() is None and uploads == {"other": {}} and memory.Visit.ended == 1
    assert visit.kept == {}, "Streamlit's main loop may have the last session for long"


def test_no_browser_comes_back_to_a_visit_that_was_ended() -> None:
    ttl = MemorySessionStorage()._cache.ttl  # type: ignore[attr-defined]
    assert ttl <= session.REMEMBERED, "Streamlit lets it come back for so long"


def test_with_the_last_visitor_go_the_tables_and_the_jobs_that_have_ended(tmp_path: Path) -> None:
    ended, going = Mock(ended=True), Mock(ended=False)
    background_run._begun |= {"ended": ended, "going": going}
    run = Runs(tmp_path).create("kept")
    try:
        assert cache.rows(run, "processes") == 0
        (run.path / "processes").mkdir()
        pq.write_table(pa.table({"host": ["10.0.0.1"]}), run.path / "processes" / "part.parquet")
        assert cache.rows(run, "processes") == 0, "it is kept"
        serve.forget_answers()
        assert cache.rows(run, "processes") == 1
        assert "ended" not in background_run._begun and background_run.find("going") is going
    finally:
        background_run._begun.pop("going", None)


def test_what_was_done_for_a_run_goes_with_it_also_while_others_are_there(tmp_path: Path) -> None:
    """A list of 10,000 IDs was kept, for each that somebody had begun and deleted, as long as any page was open."""
    gone, going, kept = (Runs(tmp_path).create(title) for title in ("gone", "going", "kept"))
    every = {run.name: Mock(ended=run != going, run=run) for run in (gone, going, kept)}
    background_run._begun |= every
    gone.remove()
    going.remove()
    try:
        background_run.forget_deleted()
        assert [run for run in (gone, going, kept) if background_run.find(run.name)] == [going, kept]
    finally:
        for name in every:
            background_run._begun.pop(name, None)


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

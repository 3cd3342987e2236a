"""Memory goes back to the system after a visit, and only then."""

from __future__ import annotations

import pytest

from idcore import memory


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

"""Answers that are remembered for a moment: what was forgotten is asked again, and what was found is not lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from idcore.answers.lookup import answer_cache as cache
from idcore.rocketmq.remoting.consumers import ConsumerOffset
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import Request

BROKER = Member("a", 0, "c", "10.0.0.1:10911", (), ())


def test_a_memory_that_is_full_forgets_without_losing_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST", 2)
    asked: list[Request[Any]] = []

    def ask(questions: Sequence[Request[Any]]) -> list[cache.Reply]:
        asked.extend(questions)
        return [cache.Reply(BROKER, len(asked), 1_000) for _ in questions]

    held, (one, two, three) = cache.AnswerCache(), (ConsumerOffset("g", "T", queue) for queue in range(3))
    assert [each.answer for each in held.ask("a", [one, two, one], 500, ask)] == [2, 2, 2]
    assert [each.answer for each in held.ask("a", [one, three], 500, ask)] == [2, 3]
    assert asked == [one, two, three]
    held.ask("a", [one], 500, ask)
    assert asked == [one, two, three, one], "it was forgotten"
    held.ask("a", [one], 500, ask, lambda: 1_000)
    assert len(asked) == 4
    held.ask("a", [one], 500, ask, lambda: 999)
    assert len(asked) == 5, "the clock was set back since: an answer of the future proves nothing"

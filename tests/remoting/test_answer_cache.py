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


LARGE = (b"x" * 3_000, ("y" * 3_000,), {"a": {at: at for at in range(60)}}, (ConsumerOffset("z" * 3_000, "", 0),))


@pytest.mark.parametrize("answer", LARGE, ids=["bytes", "a text in a tuple", "numbers in a map", "a text in a row"])
def test_what_is_large_is_not_remembered(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20,000 answers, each with a whole frame, every console of a cluster with a stranger's broker ran full."""
    monkeypatch.setattr(cache, "_MOST_OF_ONE", 3_000)
    asked: list[Request[Any]] = []

    def ask(questions: Sequence[Request[Any]]) -> list[cache.Reply]:
        asked.extend(questions)
        return [cache.Reply(BROKER, answer if each.fields()["queueId"] == "1" else 5, 1_000) for each in questions]

    held, (small, large) = cache.AnswerCache(), (ConsumerOffset("g", "T", queue) for queue in range(2))
    for _ in range(2):
        assert [each.answer for each in held.ask("a", [small, large], 500, ask)] == [5, answer]
    assert asked == [small, large, large]


def test_all_that_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_HELD", 10_000)
    held = cache.AnswerCache()
    for queue in range(100):
        held.ask("a", [ConsumerOffset("g", "T", queue)], 500, lambda _: [cache.Reply(BROKER, b"x" * 1_000, 1_000)])
        assert held._held <= 10_000 and len(held._replies) < 10

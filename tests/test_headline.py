"""The headline: who is in trouble first, each group once, a shared reason once, and never surer than its verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from idcore.answers.fate import Reason, Verdict
from idcore.answers.fate.levels import UNDELIVERED
from idcore.answers.fate.sentences import reason_text as fate_reason
from idcore.answers.lookup.model import Answer, Copy
from idcore.base import catalogue
from idcore.base.catalogue import words
from idcore.presentation.headline import TELLING, headline, others_text, to_read_and_folded
from idcore.presentation.html import answers
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import text_of
from idcore.presentation.terminal import messages
from idcore.presentation.times import UTC
from tests.journey.test_journey import HOME, MSG_ID, copies, record

pytestmark = pytest.mark.quick

DUE = 1_795_000_000_000
RECORD = str(HOME.offset_id)
READER = Reader(words("en"), UTC)


def verdict(code: str = "consumed", group: str = "a", certainty: str = "inferred", **values: object) -> Verdict:
    return Verdict(group, RECORD, code, certainty, values)  # type: ignore[arg-type]


def answer(*verdicts: Verdict, held: tuple[Copy, ...] | None = None) -> Answer:
    return Answer(MSG_ID, copies(HOME) if held is None else held, None, (), (), fate=verdicts)


WAITS = verdict("retry_waiting", "billing", "proved", tries=1, due=DUE)
DEAD = verdict("dead", "audit", "proved", tries=3, at=DUE)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ([], "No consumer group of its topic is known."),
        ([verdict()], "1 consumer group consumed it (inferred)."),
        ([verdict(certainty="proved")], "1 consumer group consumed it."),
        (
            [verdict(), verdict(certainty="proved"), verdict(group="b", certainty="uncertain")],
            "2 consumer groups consumed it (1 proved, 1 uncertain).",
        ),
        (
            [verdict(), WAITS, verdict(group="c")],
            "**billing** has not consumed it: retry 1 is due at 2026-11-18T11:06:40.000+00:00;"
            " 2 other groups consumed it (inferred).",
        ),
        (
            [WAITS, DEAD, verdict("no_verdict", "c", "none")],
            "**audit** has not consumed it: it has been a dead letter since 2026-11-18T11:06:40.000+00:00"
            " (failed attempts: 3);"
            " **billing** has not consumed it: retry 1 is due at 2026-11-18T11:06:40.000+00:00;"
            " for 1 consumer group this could not be determined.",
        ),
        ([verdict("offline"), verdict("consumed_on_retry")], "1 consumer group consumed it (inferred)."),
        ([verdict("filtered")], "1 consumer group filtered it out."),
        (
            [verdict("handed_out", certainty="uncertain")],
            "**a** may not have consumed it: it was pulled, but not acknowledged yet.",
        ),
    ],
)
def test_who_is_in_trouble_comes_first_and_each_group_once(found: list[Verdict], text: str) -> None:
    assert headline(answer(*found), words=catalogue.words()) == text


def test_a_reason_that_several_groups_have_is_said_once() -> None:
    many = [verdict("offline", f"g{number}") for number in range(5)]
    assert headline(answer(*many), words=catalogue.words()) == (
        "**g0**, **g1**, **g2** and 2 more groups have not consumed it: no client of the group is connected."
    )


def test_more_than_three_reasons_are_counted() -> None:
    many = [DEAD, WAITS, verdict("offline", "c"), verdict("stuck", "d", ahead=7), verdict("disabled", "e")]
    said = headline(answer(*many), words=catalogue.words())
    assert "2 more groups have not consumed it for other reasons" in said and "**audit**" in said


def test_the_reason_that_somebody_can_act_on_is_in_it() -> None:
    blocked = replace(verdict("handed_out"), why=(Reason("unfinished", {"msg_id": "X", "offset": 4, "age": 90}),))
    said = headline(answer(blocked), words=catalogue.words())
    assert "acknowledged yet (the oldest unfinished message of the queue is X at queue offset 4" in said
    unread = replace(verdict("never_read"), why=(Reason("not_subscribed", {"topic": "Orders"}),))
    assert "(the connected clients do not subscribe to Orders)" in headline(answer(unread), words=catalogue.words())


def test_a_group_that_consumed_it_in_one_topic_may_lack_it_in_another() -> None:
    other = record("Bills")
    two = replace(verdict("dead", "a", tries=3, at=DUE), record=str(replace(other, physical_offset=900).offset_id))
    held = (*copies(HOME), *copies(replace(other, physical_offset=900)))
    said = headline(answer(verdict(), two, verdict(group="b"), held=held), words=catalogue.words())
    assert said.startswith("**a (Bills)** has not consumed it: it has been a dead letter since")
    assert said.endswith("; 1 other group consumed it (inferred).")


def test_the_sentence_says_where_consumers_cannot_get_it() -> None:
    half = record("RMQ_SYS_TRANS_HALF_TOPIC", REAL_TOPIC="Orders")
    for held, text in (((half,), "only records that the broker holds back"), ((), "its record was not found")):
        assert text in headline(answer(held=copies(*held)), words=catalogue.words())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_verdict_has_its_words_in_the_headline(lang: str) -> None:
    said = words(lang)
    for code in said.table("fate.name."):
        keys = [f"headline.verdict.{code}", f"fate.why.{code}"] if code in UNDELIVERED else [_rest_key(code)]
        assert any(map(said.has, keys)), code
        assert "?" not in headline(answer(verdict(code, tries=1, at=DUE, due=DUE, queue=1, topic="T", ahead=2)), said)


def test_what_the_sentence_names_are_reasons_that_there_are() -> None:
    assert set(TELLING) <= set(words("en").table("fate.why."))


def _rest_key(code: str) -> str:
    return "headline.rest.consumed" if code == "consumed_on_retry" else f"headline.rest.{code}"


def test_chinese_says_the_same() -> None:
    assert headline(answer(verdict(), WAITS), words("zh")) == (
        "**billing** 未消费：第 1 次重试将在 2026-11-18T11:06:40.000+00:00 投递；其他 1 个消费组已消费（推断）。"
    )


def test_healthy_groups_are_folded_where_others_are_not() -> None:
    healthy = [verdict(group="c"), verdict("filtered", "d")]
    shown, folded = to_read_and_folded([*healthy, WAITS, DEAD])
    assert [each.group for each in shown] == ["audit", "billing"] and {each.group for each in folded} == {"c", "d"}
    assert (
        others_text(folded, words=catalogue.words())
        == "1 other group consumed it (inferred); 1 consumer group filtered it out"
    )
    shown, folded = to_read_and_folded(healthy)
    assert len(shown) == 2 and not folded


def test_page_and_command_line_say_the_same() -> None:
    reader, found = Reader(words("en"), UTC), answer(verdict(group="c"), WAITS)
    card = " ".join(text_of(part) for part in answers.card(found, reader, None, True))
    lines = list(messages.answer(found, None, reader))
    said = headline(found, words("en"), reader.instant).replace("**", "")
    assert said in card and any(said in line for line in lines)
    folded = "1 other group consumed it (inferred)"
    assert folded in card and any(f"{folded}: c" in line for line in lines)


def test_a_reason_that_all_results_of_a_certainty_share_is_said_once() -> None:
    """And one that some of them have stays with these; of two results nothing is taken out."""
    both = (Reason("copied_connection_unknown"), Reason("snapshot", {"at": DUE}))
    stuck = [replace(verdict("stuck", name, "uncertain", ahead=0), why=both) for name in "abc"]
    own = replace(verdict("disabled", "d", "inferred"), why=both[1:])
    said = [fate_reason(reason, words(), READER.instant) for reason in both]
    shown = text_of(answers.fates(answer(*stuck, own), RECORD, READER))
    assert [shown.lower().count(text.lower()) for text in said] == [1, 2]
    assert f"All uncertain results above: {said[0][0].upper()}" in shown
    few = text_of(answers.fates(answer(*stuck[:2], own), RECORD, READER))
    assert [few.lower().count(text.lower()) for text in said] == [2, 3] and "All uncertain" not in few
    assert "it is the next" not in few and few.count("and this message is the next") == 2

"""What a reader asked last: as addresses have it, and which earlier answers are still compared with."""

from __future__ import annotations

from datetime import UTC, datetime

from idcore.answers.lookup import Answer
from idcore.answers.lookup.groups import GroupAnswer
from idcore.answers.lookup.queries import WINDOW_MS, Answers, GroupQuery, GroupReadings, LookupQuery, texts_of

ID = "AC110001473C7D4991AD336AEA5703E0"


def seen(at_ms: int) -> GroupAnswer:
    return GroupAnswer(None, (), at_ms, True, (), ())


def test_a_box_holds_ids_keys_and_lines_with_ids() -> None:
    assert texts_of(f"order-1, order-2\nsent {ID} at last\norder-1") == ["order-1", "order-2", ID]


def test_a_question_is_in_the_address_without_what_is_not_asked_for() -> None:
    asked = LookupQuery([ID, "order-1"], None, "east", fate=True)
    assert asked.in_address == {"id": f"{ID},order-1", "cluster": "east", "fate": "1"}
    last = Answers([Answer(ID, (), None, (), ())], asked, datetime(2026, 11, 21, tzinfo=UTC))
    address = {"id": f"{ID},order-1", "fate": "1"}
    assert last.fits(address) and last.fits({}) and not last.fits({"id": ID}) and last.cluster == "east"
    assert not last.fits(address | {"trace": "1"}) and not last.fits(address | {"cluster": "west"})
    assert not last.is_journey(ID, {}), "it is of two messages, and without traces"


def test_the_progress_of_a_group_is_compared_over_the_last_minute() -> None:
    asked = GroupQuery("east", "orders", "billing")
    kept: GroupReadings | None = None
    for at in (0, 10_000, 20_000, WINDOW_MS, WINDOW_MS + 15_000):
        kept = GroupReadings.after(kept, asked, seen(at), 0)
    assert kept is not None and [one.at_ms for one in kept.seen] == [10_000, 20_000, WINDOW_MS, WINDOW_MS + 15_000]
    other = GroupReadings.after(kept, GroupQuery("east", "payments"), seen(WINDOW_MS + 20_000), 1)
    assert (len(other.seen), other.before, other.in_a_row) == (1, None, 1)

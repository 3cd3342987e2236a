"""The headline of a comparison names a time or a place only where chance did not choose it, and then the right one."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from idcore.base.catalogue import words
from idcore.ids.origins import BrokerAddress, Fingerprint
from idcore.presentation.html import compared as html
from idcore.presentation.reader import Reader
from idcore.presentation.times import UTC
from idcore.presentation.triage import compared
from idcore.presentation.triage.compared import Compared
from idcore.presentation.triage.compared_texts import compared_sentence, concentrated, densest, is_even
from idcore.scan.compare import Difference

pytestmark = pytest.mark.quick
FEW_AND_MANY = (1, 2, 3, 5, 8, 10, 12, 15, 20, 40, 100)


def by_time(missing: Counter[int], ids: list[int]) -> Compared:
    rates = (("before", at * 60_000, min(missing[at], of), of) for at, of in enumerate(ids))
    return Compared((), {}, (), rates=tuple(rates), rate_seconds=60)


def by_place(missing: Counter[int], ids: list[int], kind: str = "offset") -> Compared:
    origins = (BrokerAddress("10.0.0.7", 10_911 + place) for place in range(len(ids)))
    rows = (
        Difference(kind, of, n, n, n - missing[at], (), ()) for at, (of, n) in enumerate(zip(origins, ids, strict=True))
    )
    return Compared(tuple(rows), {}, ())


def test_an_example_is_no_record_of_a_message_that_both_sides_name() -> None:
    """A consumer logs `consumed msgId=…`, without the offsetMsgId that its producer logs besides."""
    own, record = "0A00000712674617C26403A3880B0040", "0A00000700002A9F00000000000E8580"
    of_records = Difference("offset", BrokerAddress("10.0.0.7", 10_911), 2, 1, 1, (record,), ())
    of_messages = Difference("uniq", Fingerprint("10.0.0.7", 4711, "4617C264"), 2, 1, 1, (own,), ())
    reader = Reader(words("en"), UTC)
    both = html.samples(Compared((of_records, of_messages), {}, ()), "before", reader)
    assert both is not None and own in both and record not in both
    alone = html.samples(Compared((of_records,), {}, ()), "before", reader)
    assert alone is not None and record in alone
    same = replace(of_messages, after=2, both=2, only_before=())
    assert html.samples(Compared((of_records, same), {}, ()), "before", reader) is None


def at_random(r: random.Random, number: int, ids: list[int]) -> Counter[int]:
    return Counter(r.choices(range(len(ids)), weights=ids, k=number))


@pytest.mark.parametrize("number", FEW_AND_MANY)
def test_chance_names_no_time_and_no_place(number: int) -> None:
    r, named = random.Random(number), 0
    for _ in range(100):
        ids = [r.choice((40, 200, 900)) for _ in range(r.choice((6, 20, 96)))]
        named += densest(by_time(at_random(r, number, ids), ids), "before") is not None
        places = [10_000 * weight for weight in r.choice(([1, 1], [6, 4], [3, 1], [3, 3, 4], [1] * 10))]
        named += concentrated(by_place(at_random(r, number, places), places), "before") is not None
    assert named <= 1


@pytest.mark.parametrize("number", FEW_AND_MANY)
def test_a_hole_and_a_place_are_found_among_chance(number: int) -> None:
    r = random.Random(number)
    for _ in range(20):
        ids = [r.choice((200, 900)) for _ in range(r.choice((20, 96)))]
        hole = r.randrange(len(ids))
        missing = at_random(r, number, ids) + Counter({hole: 2 * number + 20})
        found = densest(by_time(missing, ids), "before")
        assert found is not None and found[0] <= hole * 60_000 < found[1] and found[2] >= min(missing[hole], ids[hole])
        assert found[1] - found[0] <= 5 * 60_000  # chance may have more of them next to it
        places = [10_000] * 10
        missing = at_random(r, number, places) + Counter({hole % 10: 10 * number + 20})
        most = concentrated(by_place(missing, places), "before")
        assert most is not None and most[0].origin == BrokerAddress("10.0.0.7", 10_911 + hole % 10)
        assert most[1] == missing.total()


def test_equal_figures_of_both_kinds_are_said_once() -> None:
    stored = by_place(Counter({0: 2}), [5, 5]).rows
    messages = by_place(Counter({1: 2}), [5, 5], "uniq").rows
    for lang in ("en", "zh"):
        said = words(lang)
        both = compared_sentence(Compared((*stored, *messages), {}, ()), said)
        alone = compared_sentence(Compared(messages, {}, ()), said)
        assert both == said("compare.between").join([alone, said("compare.alike")])
        apart = compared_sentence(Compared((*stored, *messages[:1]), {}, ()), said)
        assert said("compare.alike") not in apart and apart.count("msgId") == apart.count("offsetMsgId") == 1
        assert compared_sentence(Compared((), {}, ()), said) == said("compare.none")


def test_only_what_is_missing_everywhere_alike_is_called_even() -> None:
    r = random.Random(7)
    alike = (Counter({at: sum(r.random() < 0.67 for _ in range(80)) for at in range(15)}) for _ in range(200))
    even = [is_even(by_time(missing, [80] * 15), "before") for missing in alike]
    assert sum(even) >= 190
    whole = [80] * 15
    for uneven in (
        Counter({**dict.fromkeys(range(15), 20), 7: 70}),
        Counter({at: 3 * at + 5 for at in range(15)}),
        Counter({at: 60 * (at % 2) + 5 for at in range(15)}),
    ):
        assert not is_even(by_time(uneven, whole), "before")
    assert not is_even(by_time(Counter(dict.fromkeys(range(15), 2)), whole), "before"), "too few to say"
    assert not is_even(by_time(Counter(dict.fromkeys(range(3), 40)), [80] * 3), "before"), "too few times"
    assert not is_even(Compared((), {}, ()), "before")


def test_ids_of_one_side_are_of_a_kind_that_both_sides_name() -> None:
    """Else 400 offsetMsgIds, which the other log never prints, stand among seven msgIds that are missing."""
    sent = [*by_place(Counter({0: 2}), [5, 5], "uniq").rows]
    stored = [*by_place(Counter({1: 2}), [5, 5]).rows]
    never = [replace(row, after=0, both=0) for row in stored]
    ids = {("before", row.kind, row.subject): [f"{row.kind}{n}" for n in range(row.missing)] for row in sent + stored}
    both, alone = (Compared((*sent, *rows), {}, (), ids) for rows in (stored, never))
    sent_alone = [("uniq0", "uniq"), ("uniq1", "uniq")]
    assert [*both.alone("before", "message")] == sent_alone == [*alone.alone("before", "message")]
    assert [text for text, _ in both.alone("before", "stored")] == ["offset0", "offset1"]
    assert [*alone.alone("before", "stored")] == []
    assert [one.group for one in (both, alone, Compared(tuple(stored), {}, ()))] == ["message", "message", "stored"]


def test_a_kind_that_one_side_never_names_has_neither_rows_nor_bars() -> None:
    sent, stored = (by_place(Counter({0: 2}), [5, 5], kind).rows for kind in ("uniq", "offset"))
    never = [replace(row, after=0, both=0) for row in stored]
    both, alone, none = (Compared(rows, {}, ()) for rows in ((*sent, *stored), (*sent, *never), tuple(never)))
    assert [row.kind for row in both.of_both] == ["uniq"] * 2 + ["offset"] * 2
    assert [row.kind for row in alone.of_both] == ["uniq"] * 2
    assert [*compared.by_place(alone)] == ["message"] and not none.of_both and not compared.by_place(none)


@pytest.mark.parametrize(("places", "named"), [(3, 3), (4, 4), (5, 3), (9, 3)])
def test_no_single_producer_is_summed_up_as_others(places: int, named: int) -> None:
    rows = by_place(Counter(dict.fromkeys(range(places), 2)), [5] * places).rows
    lines = {(row.kind, row.subject): row.subject for row in rows}
    text = str(html.missing((None, None), Compared(rows, {}, (), lines=lines), Reader(words("en"), UTC)))
    assert text.count("only in the first") == named + (places > named)
    assert ("Others" in text) == (places > named)

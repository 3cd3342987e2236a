"""IDs in groups of digits: joined where their digits are sure, in a text of the same length, and nothing else is."""

from __future__ import annotations

import random

import pytest

from idcore.ids.find import find
from idcore.ids.grouped_digits import joined_groups
from idcore.ids.identify import judge

pytestmark = pytest.mark.quick
UNIQ, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "C0A83AE400002A9F000000000002ECD2"
UNIQ_V6 = "FDE6CE25AA470000185BBACBDC06F282647B18B4AAC2368769320000"
CLIENT = "01005056C00001271004B8A3F200000000"


@pytest.mark.parametrize("one", [UNIQ, OFFSET, UNIQ_V6, CLIENT])
@pytest.mark.parametrize("sign", [" ", "-", "- ", "\u2011", "\u2013", "\u00a0", ":", "_"])
def test_an_id_in_groups_is_joined_and_marked(one: str, sign: str) -> None:
    r = random.Random(f"{one}{sign}")
    for front, behind in (("msgId=", ""), ("2026-11-10 10:00:00 sent ", " failed"), ("(", ")")):
        parts = [one]
        while {32, 34} & {*map(len, parts)} or len(parts) == 1:  # a part that may be an ID is not joined
            cuts = sorted(r.sample(range(1, len(one)), r.randrange(1, 6)))
            parts = [one[first:last] for first, last in zip([0, *cuts], [*cuts, len(one)], strict=True)]
        text = f"{front}{sign.join(parts)}{behind}"
        joined, found = joined_groups(text)
        assert found == {one} and len(joined) == len(text)
        (token,) = find(text)
        assert (token.text, token.column, token.whole) == (one, len(front) + 1, "grouped")
        best = judge(token).best
        assert best is not None and best.certainty == "likely" and best.why[-1].code == "id_grouped"


def test_numbers_in_front_or_behind_are_no_part_of_it() -> None:
    parts = " ".join(UNIQ[at : at + 4] for at in range(0, 32, 4))
    assert joined_groups(f"{parts} 200 OK")[1] == joined_groups(f"15 {parts}")[1] == {UNIQ}


@pytest.mark.parametrize(
    "text",
    [
        "550E8400-E29B-41D4-A716-446655440000",
        "1234 5678 9012 3456 7890 1234 5678 9012",
        f"{UNIQ} {UNIQ}",  # an ID beside another
        f"{UNIQ[:16]} {UNIQ[16:-1]}",
        f"{UNIQ[:16]},{UNIQ[16:]}",  # a list
        f"{UNIQ[:16]}\n{UNIQ[16:]}",
        " ".join(["0A"] * 200),
        f"{UNIQ[:8]}-{UNIQ[8:]}-{UNIQ[:8]}-{UNIQ[8:]}",  # two readings
    ],
)
def test_what_is_not_sure_stays_as_it_is(text: str) -> None:
    assert joined_groups(text) == (text, frozenset())


def test_no_uuid_in_capitals_is_an_id() -> None:
    r = random.Random(7)
    for _ in range(5_000):
        digits = f"{r.getrandbits(128):032X}"
        assert not joined_groups("-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))[1]

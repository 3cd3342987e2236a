"""What the ids of one input settle for one another, in any order; and what stays open."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcore.base.layout import UNIQ_V4_LE
from idcore.ids import ClientId, OffsetId, UniqId, identify
from idcore.ids.neighbours import settled

pytestmark = pytest.mark.quick

# Of the C++ client before 1.2.4 on a public host: the first two read as offset ids alone (their offsets are usual), the
# others do not.
SMALL = ["5FE4660B0000F13D000000A1FB5ED000", "5FE4660B0000F13D0000000AA440AC00"]
HUGE = ["5FE4660B0000F13D0000B2671B690100", "5FE4660B0000F13D000080811B697800"]
# An offset id above 16 TiB that reads as one of those clients too, and two of the same broker that do not.
FAR = "0C01020A0000C350000010000A000100"
NEAR = ["0C01020A0000C3500000000000001000", "0C01020A0000C3500000000000002000"]
# Seconds that give a year either way, and an id of the same client that gives it one way only.
EITHER = "0108719066FF9A1F2C08C1941D00000000"
BIG = "0108719066FF9A1F2C08C1501B00000005"
LITTLE = "0108719066FF9A1F2C1B50C10805000000"


def kinds(*texts: str) -> dict[str, tuple[str, str | None, str]]:
    verdicts = settled(identify(text) for text in texts)
    return {
        verdict.text: (best.id.layout.name, best.certainty, best.why[-1].code)
        for verdict in verdicts
        if (best := verdict.best) is not None
    }


def alone(text: str) -> tuple[str, str | None]:
    best = identify(text).best
    assert best is not None
    return best.id.layout.name, best.certainty


def test_alone_these_are_open() -> None:
    assert {alone(text) for text in SMALL} == {("offset_v4", "possible")}
    assert alone(FAR) == ("uniq_v4_le", "likely")
    assert alone(EITHER) == ("client_v1", "possible")


def test_ids_of_the_same_process_settle_that_it_is_one() -> None:
    found = kinds(*SMALL, HUGE[0])
    assert {found[text] for text in SMALL} == {("uniq_v4_le", "likely", "neighbour_process")}
    assert found[HUGE[0]] == ("uniq_v4_le", "certain", "neighbour_process")
    assert kinds(*HUGE)[HUGE[0]] == ("uniq_v4_le", "certain", "neighbour_process")


def test_offsets_that_end_in_00_and_are_terabytes_apart_are_one_process() -> None:
    # a host whose address turned round is private, so that no id alone is little-endian
    ids = ["0A0705080000F13D0000A1A1FB5ED000", "0A0705080000F13D0000020AA440AC00", "0A0705080000F13D0000B2671B690100"]
    assert {alone(text) for text in ids} == {("offset_v4", "possible")}
    assert {layout for layout, *_ in kinds(*ids).values()} == {"uniq_v4_le"}
    assert {layout for layout, *_ in kinds(*ids, *(text[:-2] + "01" for text in ids)).values()} == {"offset_v4"}


def test_a_broker_seen_elsewhere_settles_that_an_offset_is_huge() -> None:
    assert kinds(FAR, NEAR[0])[FAR] == ("offset_v4", "likely", "neighbour_broker")
    other = OffsetId.of("12.1.2.10", 50_001, 4096).text
    assert kinds(FAR, other)[FAR][0] == "uniq_v4_le", "another port is another broker"


def test_a_client_shows_which_way_round_its_seconds_are() -> None:
    for witness, maker in ((BIG, "grpc"), (LITTLE, "grpc_cpp_old")):
        first = settled([identify(EITHER), identify(witness)])[0].best
        assert first is not None and isinstance(first.id, ClientId)
        assert (first.made_by.code, first.certainty, first.why[-1].code) == (maker, "likely", "neighbour_client")
    both = settled([identify(text) for text in (EITHER, BIG, LITTLE)])[0]
    assert both == identify(EITHER), "witnesses that differ settle nothing"


def test_nothing_is_settled_by_itself_or_by_two_readings_at_once() -> None:
    for text in (*SMALL, FAR, EITHER):
        assert settled([identify(text)] * 3) == [identify(text)] * 3


def test_most_ids_settle_what_few_speak_against() -> None:
    process = UniqId.from_bytes(bytes.fromhex(FAR), UNIQ_V4_LE)
    siblings = [
        UniqId.of(process.host, process.pid, process.loader, process.elapsed + 512 * n, 7, UNIQ_V4_LE).text
        for n in range(1, 4)
    ]
    assert kinds(FAR, NEAR[0], *siblings)[FAR][0] == "uniq_v4_le"
    assert kinds(FAR, *NEAR, siblings[0])[FAR][0] == "offset_v4"


def test_what_is_clear_stays_as_it_was() -> None:
    clear = [identify(text) for text in (*NEAR, "no id")]
    assert settled(clear) == clear


def test_the_readings_that_did_not_win_are_kept() -> None:
    won, *others = settled(map(identify, (FAR, NEAR[0])))[0].readings
    assert won.id.layout.name == "offset_v4"
    assert [other.id for other in others] == [item.id for item in identify(FAR).readings if item.id != won.id] != []


ALL = [*SMALL, *HUGE, FAR, *NEAR, EITHER, BIG]


def test_the_order_does_not_count() -> None:
    for few in permutations((SMALL[0], HUGE[0], FAR, NEAR[0])):
        assert kinds(*few) == kinds(SMALL[0], HUGE[0], FAR, NEAR[0])


@settings(max_examples=60)
@given(st.permutations(ALL))
def test_the_order_of_many_does_not_count(texts: list[str]) -> None:
    assert kinds(*texts) == kinds(*ALL)

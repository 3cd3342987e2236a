"""Bodies that unpack to much more than they are stored as: all of an answer have a bound, for programs and pages."""

from __future__ import annotations

import base64
import resource
import zlib

import pytest

from idcore.answers.lookup import Answer, BodyRoom, Copy, Listing, Way, copy_row, listing_row, row_of
from idcore.answers.lookup import rows as lookup_rows
from idcore.base import catalogue
from idcore.rocketmq.message.flags import COMPRESSED, INNER_BATCH, NEED_UNWRAP
from idcore.rocketmq.message.model import Message
from idcore.rocketmq.remoting.bodies import BodyPolicy
from tests.message.wire_form import encode_message
from tests.remoting.fake import record

PLAIN = b"a" * 1_000_000
PACKED = zlib.compress(PLAIN, 9)  # some 1,000 bytes


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup_rows, "MOST_TOGETHER", 5 << 20)


def copies(number: int, body: bytes = PACKED, sys_flag: int = COMPRESSED) -> tuple[Copy, ...]:
    records = [
        record("T", f"0A42333A0DC818B4AAC246C290FD{at:04X}", at, body, sys_flag=sys_flag) for at in range(number)
    ]
    return tuple(Copy(one, "a", bodies=BodyPolicy()) for one in records)


def test_a_list_of_small_messages_fills_no_memory() -> None:
    """A thousand dead letters of some kilobytes became 10 GB, and whoever looked them up ended the server."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    room = BodyRoom(5 << 20)
    rows = listing_row(Listing(Way("dead_letters", group="g", limit=400), copies(400)), room)["copies"]
    whole = [row for row in rows if row["body_text"] is not None]
    assert [len(row["body_text"]) for row in whole] == [len(PLAIN)] * 5 and room.left < len(PLAIN)
    for row in rows[5:]:
        assert base64.b64decode(row["body"]) == PACKED
        assert "together" in row["body_problem"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # KiB


def test_answers_share_the_room_and_what_is_not_packed_takes_none_of_it() -> None:
    room = BodyRoom(3_500_000)
    answers = [Answer(str(at), copies(2), None, (), ()) for at in range(3)]
    texts = [copy["body_text"] for answer in answers for copy in row_of(answer, room)["copies"]]
    assert [text is not None for text in texts] == [True, True, True, False, False, False]
    assert copy_row(copies(1, PLAIN, 0)[0], room)["body_text"] == PLAIN.decode()
    assert copy_row(copies(1)[0])["body_text"] == PLAIN.decode(), "the command line prints every body whole"


def test_messages_inside_of_one_take_room_too() -> None:
    inner = b"".join(encode_message(Message("T", b"a" * 100_000)) for _ in range(10))
    batch = copies(3, zlib.compress(inner), COMPRESSED | INNER_BATCH | NEED_UNWRAP)
    room = BodyRoom(2_100_000)
    rows = [copy_row(copy, room) for copy in batch]
    assert [len(row["inner"]) for row in rows] == [10, 0, 0] and room.left < len(inner)
    assert rows[1]["body_problem"]["code"] == "bodies_many" and "inner_problem" in rows[1]


def test_one_body_that_is_too_large_alone_says_so() -> None:
    huge = copies(1, zlib.compress(bytes(65 << 20)))[0]
    assert copy_row(huge, BodyRoom(1 << 30))["body_problem"]["code"] == "body_huge"
    for lang in catalogue.languages():
        assert "5.0 MiB" in catalogue.words(lang).said(copy_row(huge, BodyRoom(1_000))["body_problem"])

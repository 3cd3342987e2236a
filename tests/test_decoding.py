"""An input that somebody decodes, without a page: read once, linked where it is few ids, exported for each zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from idcore.base.catalogue import words
from idcore.ids.clock import Clock
from idcore.intake.intake import PASTED, Source
from idcore.presentation.decoding import MOST_LINKED, Decoding

ID, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "AC11000100002A9F00000000000E8580"
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def pasted(text: str) -> Decoding:
    return Decoding([Source(PASTED, text.encode())], unread=True)


def test_an_input_is_read_once() -> None:
    here = pasted(ID)
    assert not here.holds_ids and here.read_now() and here.holds_ids and here.single
    assert not here.read_now() and here.where(words("en")) == "1 line"


def test_a_few_ids_alone_are_a_link_and_a_log_line_is_not() -> None:
    few, line = pasted(f"{ID}\n{OFFSET}"), pasted(f"sent msgId={ID}")
    many = pasted("\n".join(f"{ID[:-4]}{counter:04X}" for counter in range(MOST_LINKED + 1)))
    for here in (few, many, line):
        here.read_now()
    assert (few.link, many.link, line.link) == (f"{ID},{OFFSET}", None, None)


def test_a_file_is_no_link_and_lower_case_is_remembered() -> None:
    here = Decoding([Source("a.log", ID.encode())], unread=True)
    assert here.read_now() and here.files and here.link is None and here.text == ID
    lower = pasted(ID.lower())
    lower.read_now()
    assert (lower.case, lower.link) == ("any", ID.lower())


def test_files_to_take_away_are_made_once_for_each_zone() -> None:
    here = pasted(ID)
    here.read_now()
    utc, east = Clock(NOW, UTC), Clock(NOW, ZoneInfo("Asia/Shanghai"))
    table, lines = here.exports(here.dating(utc))
    assert here.exports(here.dating(utc))[0] is table and ID.encode() in lines
    assert here.exports(here.dating(east))[0] != table

"""What a terminal shows is what a page shows: labels, cells and sentences, without the markup."""

from __future__ import annotations

from datetime import UTC
from unicodedata import east_asian_width

import pytest

from idcore.base.catalogue import words
from idcore.presentation import terminal
from idcore.presentation.html import records
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Table, emphasised, join, link, tag, text_of, unbroken
from idcore.presentation.terminal import messages
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message.row import record_row

pytestmark = pytest.mark.quick

HOST = Host(bytes((10, 0, 0, 1)), 10911)


def width(text: str) -> int:
    return sum(1 + (east_asian_width(character) in "WF") for character in text)


def test_no_line_ends_inside_a_date_and_nothing_else_is_a_date() -> None:
    """Chromium breaks a line behind a hyphen between digits: on a phone `2026-11-` stood on a line of its own."""
    day = tag("span", "2026-11-29", class_="mq-day")
    assert emphasised("after **2026-11-29 10:04** on") == f"after <b>{day} 10:04</b> on"
    assert unbroken("<2026-11-29>") == f"&lt;{day}&gt;", "what is around it is escaped"
    for other in ("app-2026-11-29.log", "12026-11-29", "2026-11-291"):
        assert unbroken(other) == other


def test_the_text_of_markup_is_what_was_put_in_and_links_keep_their_addresses() -> None:
    assert text_of(tag("b", 'a < b & "c"')) == 'a < b & "c"'
    assert text_of(join(["<i>", tag("span", "x", class_="y")], " ")) == "<i> x"
    assert text_of(link("trace", "https://tempo/1?a=1&b=2", new=True)) == "trace https://tempo/1?a=1&b=2"
    assert text_of(link("anatomy", "")) == "anatomy", "a reader without a console has no addresses"
    assert (text_of("<b>"), text_of(None), text_of(7)) == ("<b>", "", "7")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_columns_are_as_wide_as_they_look(lang: str) -> None:
    columns = [Column("name", words(lang)("col.host")), Column("ids", words(lang)("col.ids"), right=True)]
    lines = list(terminal.table(Table("", columns, [["主机一", "7"], ["10.0.0.1", "12,345"]]), numbered=True))
    assert len({width(line) for line in lines}) == 1, "the last column is on the right"
    assert lines[1].split() == ["1", "主机一", "7"] and lines[2].split() == ["2", "10.0.0.1", "12,345"]


def test_a_terminal_is_sent_no_control_characters() -> None:
    (line,) = terminal.facts([("na\x1bme", tag("b", "\x1b[2J"))])
    assert line.split() == ["na\\x1bme", "\\x1b[2J"]


def test_no_text_of_a_stranger_is_a_line_of_its_own() -> None:
    (fact,) = terminal.facts([("KEYS", "a\nError: broker-a lost 9 messages")])
    _, row = terminal.table(Table("", [Column("name", "Name")], [["T\n  Orders"]]))
    assert "a\\nError" in fact and row.strip() == "T\\n  Orders" and "\n" not in fact + row


def test_a_record_has_the_facts_and_properties_of_its_card_on_a_page() -> None:
    reader = Reader(words("zh"), UTC)
    row = record_row(
        Record.of("T", b"body", "KEYS\x01a b\x02", queue_id=3, born_timestamp=1, born_host=HOST, store_host=HOST)
    )
    shown = "\n".join(messages.record(row, reader))
    for name, value in records.facts(row, reader):
        assert any(line.split() == [*text_of(name).split(), *text_of(value).split()] for line in shown.splitlines()), (
            name
        )
    assert "KEYS" in shown and "a b" in shown and "body" in shown

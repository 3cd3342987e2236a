"""Files to take away: what a spreadsheet must not run, what cannot be encoded, numbers as numbers."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile

import pandas as pd
import pytest

from idcore.base.safe_text import for_visitor, json_text
from idcore.ids.describe import KEYS
from idcore.presentation import export

pytestmark = pytest.mark.quick


def test_half_a_character_in_an_answer_or_a_name_can_be_taken_away() -> None:
    row = {"id": "k\udcff", "text": "\u4e2d\ud800"}
    assert json.loads("".join(export.json_lines([row]))) == row
    assert export.csv_table(["id"], [["k\udcff"]]) == b"\xef\xbb\xbfid\r\nk\\udcff\r\n"
    with zipfile.ZipFile(io.BytesIO(export.zip_frames([], row))) as whole:
        assert json.loads(whole.read("summary.json")) == row


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_spreadsheet_runs_an_exported_cell(start: str) -> None:
    row = export.csv_table(["name"], [[f"{start}cmd|' /C calc'!A0"]]).decode("utf-8-sig")
    cell = row.split("\r\n", 1)[1].lstrip('"')
    assert cell.startswith("'" + start)


@pytest.mark.parametrize(
    "blank",
    [
        "\v",
        "\f",
        "\x85",
        "\xa0",
        "\0",
        "\u2003",
        "\u200b",
        "\ufeff",
        " \v ",
        "\u2028",
        "\u3000",
        "\xad",
        "\u180e",
        "\u2066",
        "\u3164",
    ],
)
def test_nor_one_behind_what_a_spreadsheet_may_leave_out(blank: str) -> None:
    assert export.guarded(f"{blank}=cmd|' /C calc'!A0")[0] == "'"
    odd = blank.strip(" ")
    assert [export.guarded(f"a{end}{odd}=1") for end in ";\t\n"] == [f"a{end}'{odd}=1" for end in ";\t\n"]
    assert export.guarded(f"{blank}a = 1") == f"{blank}a = 1" and export.guarded(" - a") == " - a"


def test_an_offset_of_a_zone_is_exported_as_it_is() -> None:
    zones = ["+08:00", "-03:30", "+05:41:16", "-1+cmd", "+08:00=1", "+08:0٠", "+08:00\n=1"]
    assert [export.guarded(text) for text in zones] == [*zones[:3], "'-1+cmd", "'+08:00=1", "'+08:0٠", "'+08:00\n'=1"]


def test_nor_one_that_parts_cells_in_another_place() -> None:
    """Excel of many countries parts cells at a semicolon, whatever is quoted for commas."""
    for text in ("a;=cmd.log", "a\t@SUM(1)", "a\n+1", "a\r\n-1;＝1"):
        row = export.csv_table(["name"], [[text]]).decode("utf-8-sig")
        assert not re.search("[;\t\r\n][=+@＝-]", row), row
    assert export.guarded("a; b\n\nc;d\te=f") == "a; b\n\nc;d\te=f"


@pytest.mark.parametrize(
    "cells",
    [
        ("x", "a;\"=cmd|' /C calc'!A0;"),  # `"a;""=cmd…"`: the quotes of the second cell end before the formula
        ("x", 'a\t"@SUM(1)\t'),
        ("x", 'a;"""=1;'),
        ("a;-1", "0+cmd|' /C calc'!A0"),  # one cell `-1,0+cmd…` where a comma is of a number
        ("a\t-1.5", "0+cmd|' /C calc'!A0"),
        ("-1", "0+cmd|' /C calc'!A0"),
    ],
)
@pytest.mark.parametrize("parts", ";\t")
def test_nor_one_that_begins_behind_a_quote_or_in_two_cells(cells: tuple[str, str], parts: str) -> None:
    """Read as Excel of those countries reads it."""
    text = export.csv_table(["one", "two", "three"], [[*cells, "z"]]).decode("utf-8-sig")
    found = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=parts) for cell in row]
    assert not [cell for cell in found if cell.startswith(("=", "+", "-", "@"))], found


def test_a_line_end_in_a_cell_begins_no_row() -> None:
    """Python before 3.13 leaves a CR without quotes: what is behind it was a row of its own, with cells by choice."""
    for line in (export.csv_table(["a", "b"], [["x\rforged;row", 1]]).decode(), *export.csv_lines(["x\rforged"], [])):
        assert '"x\rforged' in line


@pytest.mark.parametrize("text", ["-5", "-0.25", "a;-5;+08:00;b", "2025-01-05\t+08:00", "x\n-1\r\n-2", "n;-03:30\n"])
def test_a_number_and_an_offset_stay_behind_each_separator(text: str) -> None:
    assert export.guarded(text) == text


@pytest.mark.parametrize("rest", ["-1+cmd", "-1,cmd", "-1\tcmd|x", "-Xmx2g", "+5", "+08:00 cmd", "-5.", "-٣", "--5"])
def test_what_only_begins_as_a_number_gets_its_apostrophe(rest: str) -> None:
    assert export.guarded(f"a;{rest}") == f"a;'{rest}" and export.guarded(rest) == f"'{rest}"


def test_a_terminal_gets_no_sign_that_it_obeys_and_a_file_gets_what_there_was() -> None:
    row = {"text": "\x1b[2J\x9b31m\x7f \u202e\U000e0041 消息 é"}
    lines = list(export.csv_of_rows([row], ["text"]))
    for is_terminal, shown in ((True, "\\x1b[2J\\x9b31m\\x7f \\u202e\\U000e0041 消息 é"), (False, row["text"])):
        out = io.StringIO()
        out.isatty = lambda it=is_terminal: it  # type: ignore[method-assign, misc]
        export.to_stream(lines, out)
        assert out.getvalue() == f"text\n{shown}\n"
    (line,) = export.json_lines([row])
    assert line.rstrip("\n").isprintable() and "消息 é" in line and json.loads(line) == row
    row = {"\x7f": "a\x7f"}
    assert json_text(row).isprintable() and json.loads(json_text(row)) == row


def test_json_has_no_sign_that_nobody_sees() -> None:
    """An assistant reads them: two variation selectors are enough to write it a letter."""
    signs = "\x9b\xad\u034f\u115f\u17b4\u180b\u200b\u202e\u2060\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff0"
    signs += "\U0001bca0\U0001d173\U000e0041\U000e0101\U000e0fff"
    text = json_text({"keys": f"é消😀 {signs}"})
    assert text.startswith('{"keys": "é消😀 \\u') and text.count("\\u") == len(signs.encode("utf-16-be")) // 2
    assert json.loads(text) == {"keys": f"é消😀 {signs}"}


def test_a_zone_is_the_same_in_every_file_of_decoded_ids_and_of_tables() -> None:
    table = pd.DataFrame({"zone": ["+08:00"], "subject": ["+08:00 cmd"]})
    assert export.csv_frame(table).decode("utf-8-sig") == "zone,subject\r\n+08:00,'+08:00 cmd\r\n"
    lines = list(
        export.csv_of_ids(
            [dict.fromkeys(KEYS) | {"why": [], "why_codes": [], "others": [], "assumed": [], "zone": "-03:30"}]
        )
    )
    assert "-03:30" in lines[1] and "'" not in lines[1]


def test_numbers_are_exported_as_numbers() -> None:
    frame = pd.DataFrame({"n": [-5], "at": pd.to_datetime(["2026-11-21T01:50:13Z"])})
    assert export.csv_frame(frame).decode("utf-8-sig") == "n,at\r\n-5,2026-11-21T01:50:13.000+00:00\r\n"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("cannot write /srv/desk/runs/a: full", "cannot write a: full"),
        ("没有权限读取 /srv/desk/a.log。", "没有权限读取 a.log。"),
        ("No module named x (/opt/venv/lib/python3/site-packages/x.py)", "No module named x (x.py)"),
        ("Java 17 is needed, 11.0.2-ea+1 is there", "Java 17 is needed, … is there"),
        ("/logs/today/a.log is empty, /logs2/b.log too", "/logs/today/a.log is empty, b.log too"),
        ("broker 10.1.2.3:10911 at 09:50:13.373", "broker 10.1.2.3:10911 at 09:50:13.373"),
        (
            "s3://bucket/logs/a.log and http://host/x/y and/or 1/2",
            "s3://bucket/logs/a.log and http://host/x/y and/or 1/2",
        ),
        ("/", "/"),
    ],
)
def test_a_visitor_reads_no_path_and_no_version_of_the_server(said: str, shown: str) -> None:
    assert for_visitor(said, ["/logs"]) == shown

"""Files to take away: what a spreadsheet must not run, what cannot be encoded, numbers as numbers."""

from __future__ import annotations

import io
import json
import zipfile

import pandas as pd
import pytest

from idcore import export


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


def test_an_offset_of_a_zone_is_exported_as_it_is() -> None:
    zones = ["+08:00", "-03:30", "+05:41:16", "-1+cmd", "+08:00=1"]
    assert [export.guarded(text) for text in zones] == [*zones[:3], "'-1+cmd", "'+08:00=1"]


def test_numbers_are_exported_as_numbers() -> None:
    frame = pd.DataFrame({"n": [-5], "at": pd.to_datetime(["2026-11-21T01:50:13Z"])})
    assert export.csv_frame(frame).decode("utf-8-sig") == "n,at\r\n-5,2026-11-21T01:50:13+00:00\r\n"

"""One writer: what the decode page gives to take away is, byte for byte, what the command line prints of the same."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import datetime
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.ids.seeds import first_rand_of
from idcore.simulate import example
from pages.parts.ids import decoded
from pages.parts.view import View
from tests.cli.test_decode import CLIENT, ID, LITTLE, MD5, OFFSET, run
from tests.ids.real_clients import rows, sent_line
from tests.pages.test_pages import press

Open = Callable[..., AppTest]
PUBLIC = Path(__file__).parents[1] / "vectors" / "public-lines.jsonl"
NOW = "2026-11-21T00:00:00+00:00"
STARTED = datetime.fromisoformat("2026-11-18T06:00:00+00:00")
CPP = f"0A2A0311FFFF{first_rand_of(int(STARTED.timestamp())):08X}{(17 * 24 + 7) * 3_600_000:08X}00FF"
INPUTS = {
    "one id": ID,
    "ids of every kind, one a line": "\n".join((ID, OFFSET, CLIENT, LITTLE, ID.lower())),
    "ids that are open, and neighbours that settle them": "\n".join(
        (f"msgId={LITTLE}", "5FE4660B0000F13D000000A1FB5ED000", "sent 5FE4660B0000F13D0000B2671B690100", CPP)
    ),
    "tokens that are rejected between ids": f"trace {MD5} {ID} {'0' * 32} {'f' * 34} id={OFFSET[:16]}{'F' * 16}",
    "what looks like a formula": f'=LINK("http://x")={ID}\n+{OFFSET}\n@SUM(A1)={CLIENT}\n"-1+1": "{LITTLE}"\n\t={MD5}',
    "lines of public logs": "\n".join(json.loads(line)["text"] for line in PUBLIC.read_text("utf-8").splitlines()),
    "lines of real clients": "\n".join(sent_line(row) for row in rows()[::9]),
    "the example": example.log(),
}


@cache
def said(name: str, zone: str, form: str) -> bytes:
    """What the command line prints of an input."""
    return run("decode", "--format", form, "--zone", zone, "--at", NOW, text=INPUTS[name]).stdout


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What the page gives to take away, by its name; it is made when it is asked for."""
    given: dict[str, Callable[[], bytes]] = {}

    def download(_: str, data: Callable[[], bytes], file: str, **__: str) -> None:
        given[file] = data

    monkeypatch.setattr(decoded, "download", download)
    return given


@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("name", "zone"), list(zip(INPUTS, cycle(["+08:00", "-03:30", "America/New_York"]), strict=False))
)
def test_the_page_and_the_command_line_give_the_same_bytes(
    name: str, zone: str, open_page: Open, files: dict[str, Callable[[], bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(View, "now", lambda _: datetime.fromisoformat(NOW))
    app = open_page("decode", zone=zone)
    app.text_area[0].set_value(INPUTS[name])
    press(app, "Decode")
    assert app.session_state["decode"].made == {}, "nobody waits for what nobody asked for"
    assert len(files["ids.csv"]().splitlines()) > 1
    for form, file in (("csv", "ids.csv"), ("json", "ids.jsonl")):
        assert files[file]() == said(name, zone, form), form


def test_the_inputs_hold_what_they_are_called_after() -> None:
    found = []
    for name in INPUTS:
        found += list(csv.DictReader(io.StringIO(said(name, "-03:30", "csv").decode())))
    assert {row["kind"] for row in found} == {"uniq", "offset", "client", ""}
    assert {row["certainty"] for row in found} == {"certain", "likely", "possible", ""}
    assert any(row["others"] for row in found) and len({row["error"] for row in found}) > 2
    assert any("rand_seed" in row["why_codes"] for row in found), "the search for the start of a process, too"
    assert "-03:30" in {row["zone"] for row in found}, "an offset is no formula"
    assert not any(cell[:1] in "=@" for row in found for cell in row.values() if cell)


def test_a_list_of_words_is_written_as_the_arguments_of_decode(
    open_page: Open, files: dict[str, Callable[[], bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(View, "now", lambda _: datetime.fromisoformat(NOW))
    words = [ID, "NotAnIdNotAnIdNotAnId", OFFSET[:-1], CLIENT]
    app = open_page("decode", zone="+08:00")
    app.text_area[0].set_value("\n".join(words))
    press(app, "Decode")
    done = run("decode", "--zone", "+08:00", "--at", NOW, *words)
    got = [json.loads(line) for line in files["ids.jsonl"]().splitlines()]
    assert [row["line"] for row in got] == [1, 2, 3, 4]  # the box has places, arguments have none
    placeless = {"line": None, "column": None}
    assert [row | placeless for row in got] == [json.loads(line) for line in done.stdout.splitlines()]

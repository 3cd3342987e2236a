"""What people really paste, at every door: decode, scan, page and journey say the same, and what is right.

Each case of `tests/vectors/wild` is a text and what is true of it, by the instants and addresses that its IDs were made
of (`tests/vectors/README.md`). No expected value comes from the program.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.__main__ import main
from idcore.answers.findings.all_rules import Finding
from idcore.answers.journey import Journey, Line, Sources, build, event_text, oddities
from idcore.answers.journey.sentences import gap_text
from idcore.base.catalogue import words
from idcore.ids.clock import Clock
from idcore.presentation.headline import answers_text
from idcore.scan import lines
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.tables import Tables
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all
from tests.pages.conftest import open_page as open_page  # a fixture
from tests.pages.conftest import quiet as quiet
from tests.pages.test_pages import press, shown

CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 11, 25, 12, tzinfo=CHINA)
CASES = Path(__file__).resolve().parent / "vectors" / "wild"
NAMES = sorted(path.stem for path in CASES.glob("*.json"))


@cache
def truth(name: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return made


def text_of(name: str) -> str:
    return (CASES / f"{name}.txt").read_text(encoding="utf-8")


def uniq_of(name: str) -> dict[str, dict[str, Any]]:
    return {text: row for text, row in truth(name)["ids"].items() if row["kind"] == "uniq"}


@dataclass
class _Pipe:
    buffer: io.BytesIO

    def isatty(self) -> bool:
        return False


Decode = Callable[..., str]


@pytest.fixture(scope="module")
def decode() -> Decode:
    """`python -m idcore decode -` of a case, each once."""

    @cache
    def decoded(name: str, form: str) -> str:
        with pytest.MonkeyPatch.context() as patched, redirect_stdout(out := io.StringIO()):
            patched.setattr(sys, "stdin", _Pipe(io.BytesIO(text_of(name).encode())))
            main(["decode", "-", "--format", form, "--zone", "+08:00", "--at", NOW.isoformat()])
        return out.getvalue()

    return decoded


@cache
def scanned(name: str) -> tuple[Tables, list[Finding]]:
    path = str(CASES / f"{name}.txt")
    tables = scan_local([path], month_rows(NOW, CHINA))
    said = lines.look(list_files([path]), tables["copies"]["msg_id"].to_pylist())
    return tables, find_all(tables, NOW, CHINA, line_evidence=said)


def journey(name: str, text: str) -> Journey:
    every = text_of(name).splitlines()
    own = [
        Line(
            "app.log", number, line, tuple(every[max(0, number - 40) : number - 1]), tuple(every[number : number + 40])
        )
        for number, line in enumerate(every, 1)
        if text in line
    ]
    return build(text, Sources(lines=own), Clock(NOW, CHINA, "given"), CHINA)


def told(made: Journey) -> str:
    """Everything that the page of a journey says in sentences."""
    odd = [text for heading, some in oddities(made, words()) for text in (heading, *some)]
    gaps = [gap_text(gap, made) for gap in made.gaps]
    return "\n".join([*map(event_text, made.events), *gaps, answers_text([], "", words(), made), *odd])


@pytest.mark.parametrize("name", NAMES)
def test_decode_reads_each_id_of_the_text_and_nothing_else(name: str, decode: Decode) -> None:
    rows = [json.loads(line) for line in decode(name, "json").splitlines()]
    wanted = truth(name)["ids"]
    whole = [row for row in rows if row["kind"] is not None and row["text"] not in truth(name).get("cut", {})]
    assert {row["text"] for row in whole} == set(wanted)
    assert not {row["text"] for row in whole} & set(truth(name).get("not_ids", ()))
    for row in whole:
        want = wanted[row["text"]]
        assert row["kind"] == want["kind"], row
        assert row["label"] == want.get("label", row["label"])
        assert row["certainty"] == want.get("certainty", row["certainty"])
        if row["kind"] == "uniq":
            assert row["host"] == want["host"], row
            if row["month_source"] == "assumed":  # a joined or repeated ID may be dated where it is whole
                assert want["month_source"] == "assumed", row
            if "time" in want:
                assert datetime.fromisoformat(row["sent_at"]) == datetime.fromisoformat(want["time"]), row
            if want.get("month_source") == "assumed":
                assert row["month_source"] == "assumed", row
        elif row["kind"] == "offset":
            assert f"{row['host']}:{row['port']}" == want["host"], row
        if truth(name).get("at_most_likely"):
            assert row["certainty"] != "certain"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_of_a_cut_id_is_shown(name: str, decode: Decode) -> None:
    rows = {row["text"]: row for row in map(json.loads, decode(name, "json").splitlines())}
    for text, want in truth(name).get("cut", {}).items():
        assert [said for said in want if said not in rows[text]["error"]["problem"]] == []


@pytest.mark.parametrize("name", [name for name in NAMES if "said" in truth(name)])
def test_a_line_says_of_a_delivery_what_it_does_and_no_more(name: str, decode: Decode) -> None:
    rows = [json.loads(line) for line in decode(name, "json").splitlines()]
    for text, want in truth(name)["said"].items():
        said = [row["delivery"]["text"] for row in rows if row["text"] == text and row["delivery"] is not None]
        assert bool(said) == bool(want), said
        assert [one for one in want if one not in " ".join(said)] == []


@pytest.mark.parametrize("name", NAMES)
def test_csv_says_what_json_says(name: str, decode: Decode) -> None:
    rows = [json.loads(line) for line in decode(name, "json").splitlines()]
    cells = list(csv.DictReader(io.StringIO(decode(name, "csv"))))
    assert len(cells) == len(rows)
    for row, cell in zip(rows, cells, strict=True):
        for key in ("text", "kind", "host", "sent_at", "month_source", "certainty", "zone_source"):
            assert cell[key] == ("" if row[key] is None else str(row[key]))
        assert cell["delivery"] == ("" if row["delivery"] is None else row["delivery"]["text"])


@pytest.mark.parametrize("name", NAMES)
def test_the_scan_has_the_hosts_times_and_brokers_that_decode_has(name: str) -> None:
    tables, _ = scanned(name)
    uniq = uniq_of(name)
    offsets = {row["host"] for row in truth(name)["ids"].values() if row["kind"] == "offset"}
    assert {row["host"] for row in tables["hosts"].to_pylist()} == {row["host"] for row in uniq.values()}
    assert {row["address"] for row in tables["brokers"].to_pylist()} == offsets
    assert sum(row["distinct"] for row in tables["processes"].to_pylist()) == len(uniq)
    dated = [datetime.fromisoformat(row["time"]) for row in uniq.values() if "time" in row]
    if dated and len(dated) == len(uniq):
        rows = tables["processes"].to_pylist()
        assert min(row["first_sent_at"] for row in rows) == min(dated)
        assert max(row["last_sent_at"] for row in rows) == max(dated)
    assumed = {row["host"] for row in uniq.values() if row.get("month_source") == "assumed"}
    assert {row["host"] for row in tables["processes"].to_pylist() if row["month"] is None} == assumed


@pytest.mark.parametrize("name", [name for name in NAMES if "look_alikes" in truth(name)])
def test_what_only_looks_like_an_id_is_counted(name: str, decode: Decode) -> None:
    tables, _ = scanned(name)
    rejected = [row for table in ("refused", "lookalikes") for row in tables[table].to_pylist()]
    assert sum(row["ids"] for row in rejected) == truth(name)["look_alikes"]
    rows = map(json.loads, decode(name, "json").splitlines())
    assert sum(row["error"] is not None for row in rows) == truth(name)["look_alikes"]


@pytest.mark.parametrize("name", NAMES)
def test_the_findings_are_the_right_ones(name: str) -> None:
    _, found = scanned(name)
    for code, want in truth(name)["findings"].items():
        some = [one for one in found if one.code == code]
        assert some, (code, [one.code for one in found])
        for one in some:
            assert one.severity == want.get("severity", one.severity)
            assert one.count == want.get("count", one.count)
            assert one.subject == want.get("subject", one.subject)
            said = f"{one.say('meaning')} {one.say('advice')}"
            assert want.get("says", "") in said and want.get("lacks", "\0") not in said
    known = {*truth(name)["findings"], *truth(name).get("any_findings", ())}
    assert {one.code for one in found if one.severity != "info"} <= known
    assert not {one.code for one in found} & set(truth(name).get("no_findings", ()))


@pytest.mark.parametrize("name", NAMES)
def test_a_table_says_what_the_lines_say_of_delivery(name: str, decode: Decode) -> None:
    printed = decode(name, "table")
    for text, some in truth(name).get("delivery", {}).items():
        _, _, own = printed.partition(f"\n{text}\n  ")
        for said in some:
            assert said in own


@pytest.mark.parametrize("name", NAMES)
def test_the_journey_says_it_too(name: str) -> None:
    for text, want in truth(name).get("journey", {}).items():
        said = told(journey(name, text))
        assert [one for one in want["has"] if one not in said] == [], said
        assert [one for one in want["lacks"] if one in said] == [], said


@pytest.mark.parametrize(("name", "lang"), [*((name, "en") for name in NAMES), *((name, "zh") for name in NAMES[::4])])
def test_the_page_shows_what_decode_prints(name: str, lang: str, open_page: Callable[..., AppTest]) -> None:
    app = open_page("decode", lang=lang, zone="+08:00")
    app.text_area[0].set_value(text_of(name))
    press(app, words(lang)("decode.button"))
    assert not app.exception
    page = shown(app)
    for text, want in truth(name)["ids"].items():
        assert text in page
        if want["kind"] == "uniq":
            assert want["host"] in page
    if lang == "en":
        for some in truth(name).get("delivery", {}).values():
            assert [said for said in some if said not in page] == []

"""A source made here and registered in one line: the command line and the pages answer from it as from any other.

The file is the module of the source as well: `SOURCES` names it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.lookup import (
    SOURCES,
    Answer,
    Copy,
    Evidence,
    Listing,
    Offer,
    Progress,
    Terms,
    Way,
    WrongTerms,
    reason_text,
)
from idcore.base.catalogue import upper, words
from idcore.base.errors import CoreError
from idcore.cli.parser import Usage, build_parser
from idcore.cli.view import run
from idcore.operations.found_messages import answer_item
from tests.pages.test_pages import press, shown
from tests.remoting.fake import UNIQ, record

Open = Callable[..., AppTest]
GONE = UNIQ[:-1] + "9"
OLDEST = "2026-01-02T03:04:05+00:00"


class Archive:
    """A source of one message: everything else has expired."""

    closed = 0

    def look_up(
        self,
        ids: Iterable[str],
        topic: str | None = None,
        user: str = "",
        progress: Progress | None = None,
        fate: bool = False,
        trace: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Answer]:
        for text in ids:
            found = (Copy(record("Orders", UNIQ, 64, b"kept for years"), "tape 7"),) if text == UNIQ else ()
            evidence = Evidence.of("earliest", broker="tape 7", earliest=OLDEST), Evidence.figure("index_files", 3)
            yield Answer(text, found, None if found else "expired", evidence, ("tape 7",), source="archive")

    def list_messages(
        self, way: Way, user: str = "", progress: Progress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> Listing:
        return Listing(way, (Copy(record("Orders", UNIQ, 64), "tape 7"),), asked=("tape 7",))

    def close(self) -> None:
        Archive.closed += 1


def open_source(option: str, at: str, terms: Terms) -> Archive:
    if at == "lost":
        raise CoreError("the tape is lost")
    if at != "2026":
        raise WrongTerms(f"no archive {at!r}")
    return Archive()


def offered(environment: Mapping[str, str]) -> dict[str, Offer]:
    return {"archive of 2026": Offer("2026", lambda moment: Archive())}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES, "archive", __name__)
    monkeypatch.delenv("IDCORE_NAMESRV", raising=False)
    monkeypatch.delenv("IDCORE_CLUSTERS", raising=False)


def view(form: str, at: str = "2026") -> int:
    options: Any = build_parser().parse_args(["view", "--store", "-", "--format", form, UNIQ, GONE])
    options.store, options.archive = None, at  # what the parser makes of an option `--archive`
    return run(options)


def test_the_command_line_prints_its_rows_and_closes_it(capsys: pytest.CaptureFixture[str]) -> None:
    before = Archive.closed
    assert view("json") == 1 and Archive.closed == before + 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [json.loads(json.dumps(answer_item(answer, words()))) for answer in Archive().look_up([UNIQ, GONE])]
    assert [(row["found"], row["reason"], row["asked"]) for row in rows] == [
        (True, None, ["tape 7"]),
        (False, "expired", ["tape 7"]),
    ]
    assert rows[0]["copies"][0]["broker"] == "tape 7" and rows[0]["copies"][0]["relation"] == "message"
    assert rows[1]["evidence"]["index_files"] == 3 and rows[1]["evidence"]["earliest"][0]["earliest"] == OLDEST


def test_the_command_line_says_why_in_the_words_of_every_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert view("table") == 1
    printed = capsys.readouterr().out
    for wanted in (
        f"{UNIQ}: Found\n",
        "kept for years",
        f"{GONE}: Not found (expired)\n",
        f"  {upper(words()('lookup.reason.expired'))}.\n",
        f"  Next: {words()('lookup.advice.expired')}.\n",
        "  Index files                 3\n",
        "tape 7 was stored at ",
        "  Asked: tape 7.\n",
    ):
        assert wanted in printed, wanted


def test_what_cannot_be_opened_is_wrong_usage_or_nobody_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Usage, match="no archive '1999'"):
        view("json", "1999")
    assert view("json", "lost") == 3
    assert capsys.readouterr() == ("", "idcore: the tape is lost\n")


@pytest.mark.parametrize(("lang", "button"), [("en", "Look up"), ("zh", "查询")])
def test_the_page_offers_it_and_shows_its_answers(open_page: Open, lang: str, button: str) -> None:
    app = open_page("lookup", id=f"{UNIQ},{GONE}", lang=lang, zone="UTC")
    assert list(app.selectbox[0].options) == ["archive of 2026"]
    press(app, button)
    assert not app.exception and not app.error
    page, said = shown(app), words(lang)
    for wanted in (
        "kept for years",
        said("lookup.reason.expired")[1:],
        said("lookup.advice.expired"),
        "tape 7",
        "2026-01-02 03:04:05",
    ):
        assert wanted in page, wanted


@pytest.mark.parametrize("source", ["archive", "store"])
def test_every_reason_has_a_sentence_whatever_the_source(source: str) -> None:
    """A source with sentences of its own has not one for each reason."""
    for code, sentence in words().table("lookup.reason.").items():
        text = reason_text(Answer("x", (), code, (), (), source=source))
        assert text and (source == "store" or text == sentence)


def test_no_fact_with_a_sentence_could_be_taken_for_a_figure() -> None:
    facts = words().table("lookup.fact.")
    assert [code for code in facts if words().placeholders(f"lookup.fact.{code}") == {code}] == []

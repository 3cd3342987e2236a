"""The page of lines: filters of the address, search, order, pages, downloads, and what it says without any."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from idcore.base.errors import CoreError
from idcore.presentation.triage import finding_texts, line_filter
from idcore.presentation.triage import lines as files
from idcore.presentation.triage.finding_rows import evidence_of
from idcore.presentation.triage.processes import process_key
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import NAME, VERSION, Filter, Index
from idcore.scan.occurrences.parts import PartWriter
from idcore.sources.inputs import list_files, split_files
from idcore.spark.locate import FOLDER, tables_for
from pages.parts import browser, cache
from pages.parts.triage import lines
from tests.pages.conftest import RUN, reader
from tests.pages.test_findings import PREFIX, judged, two_at_once
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]


def indexed(folder: Path, text: str) -> Run:
    """A run with its findings and with the index of its lines."""
    run = judged(folder, text)
    files = list_files([str(run.path / "input" / "000-app.log")])
    out = run.path / FOLDER
    out.mkdir()
    pieces = list(PartWriter(out, "0", tables_for(run.path)).write(split_files(files, 1 << 40), {0: "app.log"}))
    (out / NAME).write_text(json.dumps({"version": VERSION, "parts": pieces}))
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return indexed(tmp_path, two_at_once())


def index_of(run: Run) -> Index:
    index = Index.open(run.path / FOLDER)
    assert index is not None
    return index


def body(app: AppTest) -> str:
    return next(
        item.proto.body for item in app.get("html") if "mq-lines" in item.proto.body and "<li>" in item.proto.body
    )


def test_the_page_has_every_line_with_its_number_and_escapes_it(run: Run, open_page: Open) -> None:
    app = open_page("lines", run=RUN)
    assert not app.exception and not app.error
    assert "1,200 ID occurrences" in shown(app)
    rows = body(app)
    assert rows.count("<li>") == lines.PAGE
    assert "app.log:1<" in rows and "app.log:50<" in rows and "app.log:51<" not in rows
    assert "&lt;b&gt;sent&lt;/b&gt;" in rows and "<b>sent" not in rows
    app = open_page("lines", run=RUN, page="24")
    assert "app.log:1,200<" in body(app)
    assert "app.log:1<" in body(open_page("lines", run=RUN, page="99"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_filters_of_the_address_are_named_and_can_be_dropped(run: Run, open_page: Open, lang: str) -> None:
    row = run.table("processes").to_pylist()[0]
    start = row["first_sent_at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
    asked = {"process": process_key(row), "from": start, "kind": "uniq", "file": "app.log"}
    app = open_page("lines", run=RUN, lang=lang, **asked)
    assert not app.exception and not app.error
    assert any("10.0.0.7 · 3416 · 18B4AAC2" in button.label for button in app.button), "shared with other pages"
    text = shown(app)
    drop = "Remove this filter" if lang == "en" else "移除此筛选条件"
    assert text.count(f'aria-label="{drop}"') == 2
    dropped = re.findall(r'<a [^>]*href="lines\?([^"]*)"[^>]*aria-label', text)
    assert len(dropped) == 2 and all("process=10.0.0.7" in rest and "from=" in rest for rest in dropped)


def test_an_id_a_host_and_a_text_are_found_in_one_box(run: Run) -> None:
    index = index_of(run)
    first = index.page(index.select(Filter()).rows[:1])[0].id

    def found(text: str) -> Filter:
        return line_filter.filter_of({"find": text}, run, index)

    assert found(first.lower()).ids == (first.lower(),) and len(index.select(found(first.lower()))) == 1
    assert found("10.0.0.7").host == "10.0.0.7"
    assert found("SENT").text == "SENT" and len(index.select(found("SENT"))) == 1200
    assert found("10.0.0.99").text == "10.0.0.99"


def test_who_may_not_read_the_files_does_not_get_the_count_of_who_may(run: Run) -> None:
    def refused(path: str) -> None:
        raise PermissionError(path)

    asked = Filter(text="SENT")
    assert len(cache.selection(run, index_of(run), asked, "line", ("/open",), lambda _: None)) == 1200
    with pytest.raises(PermissionError):
        cache.selection(run, index_of(run), asked, "line", (), refused)


def test_a_text_that_was_sought_is_marked_in_its_lines(run: Run, open_page: Open) -> None:
    app = open_page("lines", run=RUN, find="SENT</b")
    assert not app.exception and body(app).count('<mark class="mq-sought">sent&lt;/b</mark>') == lines.PAGE
    assert "mq-sought" not in body(open_page("lines", run=RUN)) + body(open_page("lines", run=RUN, find="10.0.0.7"))


def test_a_finding_has_the_lines_of_its_evidence(run: Run, open_page: Open) -> None:
    table = run.table("findings")
    for number, row in enumerate(table.to_pylist()):
        ids = {text.upper() for text in evidence_of(row).get("ids") or ()}
        if ids:
            app = open_page("lines", run=RUN, finding=str(number))
            assert not app.exception and not app.error
            assert all(text in body(app).upper() for text in ids)
            return
    pytest.fail("no finding has ids")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"finding": "999"}, "link_value"),
        ({"finding": "x"}, "link_value"),
        ({"process": "10.0.0.7"}, "link_value"),
        ({"kind": "mail"}, "link_value"),
        ({"segment": "..."}, "link_value"),
        ({"ids": "0A0000070D5818B4AAC2"}, "link_value"),
        ({"ids": "zz"}, "digit"),
        ({"ids": ",".join(["0A" * 16] * 1001)}, "link_ids"),
        ({"from": "yesterday"}, "instant"),
        ({"from": "2026-11-21T02:00:00Z", "to": "2026-11-21T02:00:00Z"}, "range_reversed"),
    ],
)
def test_a_wrong_filter_is_named(run: Run, open_page: Open, asked: dict[str, str], code: str) -> None:
    with pytest.raises(CoreError) as caught:
        line_filter.filter_of(asked, run, index_of(run))
    assert caught.value.code == code
    app = open_page("lines", run=RUN, **asked)
    assert not app.exception and len(app.error) == 1


def test_nothing_fits_is_said_without_an_empty_list(run: Run, open_page: Open) -> None:
    app = open_page("lines", run=RUN, host="203.0.113.1")
    assert not app.exception and "No ID of this scan fits" in shown(app)
    assert not [item for item in app.get("html") if "<li>" in item.proto.body and "mq-lines" in item.proto.body]


def nobody_asks(_: str) -> None:
    """Every file may be read."""


def test_downloads_have_every_row_and_no_formula(run: Run) -> None:
    index = index_of(run)
    rows = index.select(Filter()).rows
    csv = files.as_csv(index, rows, nobody_asks, lambda _: {}).decode("utf-8-sig").splitlines()
    assert csv[0].split(",") == list(files.COLUMNS) and len(csv) == 1201
    told = [json.loads(line) for line in files.as_json(index, rows, nobody_asks, lambda _: {}).decode().splitlines()]
    assert [row["line"] for row in told] == list(range(1, 1201))
    assert told[0]["host"] == "10.0.0.7" and told[0]["text"].endswith("<b>sent</b>")


def test_without_an_index_and_without_a_scanner_the_page_says_so(tmp_path: Path, open_page: Open) -> None:
    judged(tmp_path, two_at_once())
    app = open_page("lines", run=RUN)
    assert not app.exception and "have not been found yet" in shown(app)


def test_between_the_ids_of_a_finding_are_the_lines_that_have_none(tmp_path: Path, open_page: Open) -> None:
    text = two_at_once().replace("\n", "\nnothing <i>here</i>\n", 700)
    indexed(tmp_path, text)
    rows = body(open_page("lines", run=RUN, finding="0"))
    assert 'class="mq-between"' in rows and "nothing &lt;i&gt;here" in rows and "1 line between" in rows
    assert "mq-between" not in body(open_page("lines", run=RUN))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_between_both_sides_of_a_gap_stands_what_is_missing(tmp_path: Path, open_page: Open, lang: str) -> None:
    made = [f"msgId={PREFIX}{1_000_000 + n * 1000:08X}{n:04X}" for n in range(90) if n not in range(40, 44)]
    run = indexed(tmp_path, "\n".join(made))
    number, row = next(one for one in enumerate(run.table("findings").to_pylist()) if one[1]["code"] == "missing_ids")
    said = f'<span class="mq-error">{finding_texts.between_sides(row, reader(lang=lang))}</span>'
    for order in ("line", "-time"):
        rows = body(open_page("lines", run=RUN, finding=str(number), order=order, lang=lang))
        ends = sorted(rows.index(f">{text.partition('=')[2]}<") for text in made[39:41])
        assert rows.count(said) == 1 and ends[0] < rows.index(said) < ends[1]
    assert "mq-error" not in body(open_page("lines", run=RUN, lang=lang)), "without the finding"


@pytest.mark.parametrize("page", ["lines", "findings"])
def test_a_copied_link_carries_the_zone_in_sight_and_the_address_does_not(
    run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    copied: dict[str, str] = {}
    monkeypatch.setattr(type(st.context), "url", f"https://console/ids/{page}")
    monkeypatch.setattr(type(st.context), "timezone", "Asia/Shanghai")
    monkeypatch.setattr(browser, "copy_button", lambda text, _, key, *__: copied.update({key: text}))
    app = open_page(page, run=run.name)
    assert not app.exception and parse_qs(urlsplit(copied["link"]).query)["zone"] == ["Asia/Shanghai"]
    assert "zone" not in app.query_params
    app = open_page(page, run=run.name, zone="Europe/Berlin")
    assert parse_qs(urlsplit(copied["link"]).query)["zone"] == ["Europe/Berlin"]
    monkeypatch.setattr(type(st.context), "timezone", None)
    open_page(page, run=run.name)
    assert parse_qs(urlsplit(copied["link"]).query)["zone"] == ["UTC"], "not known, so UTC is shown"


def test_the_time_of_a_row_is_the_one_of_its_process(run: Run) -> None:
    index = index_of(run)
    found = index.page(index.select(Filter(), "time").rows)
    row = run.table("processes").to_pylist()[0]
    times = [datetime.fromtimestamp((one.sent_ms or 0) / 1000, UTC) for one in (found[0], found[-1])]
    assert times == [row["first_sent_at"], row["last_sent_at"]]

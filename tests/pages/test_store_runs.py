"""A run over a broker's store on every page: records, not lines, and the ways to and from the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import unescape
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.intake import intake
from idcore.presentation.triage import finding_rows
from idcore.runs.runs import Run, Runs
from pages.parts.ids import decode_session
from pages.parts.runs import begin
from tests.pages import example_run
from tests.pages.conftest import RUN, make_run
from tests.pages.test_findings import judged, two_at_once
from tests.pages.test_messages import labels
from tests.pages.test_pages import press, shown
from tests.store.unpacked import real_store

Open = Callable[..., AppTest]
GONE = "20260101-000000-aaaaaa"


def of_store(path: Path, folder: Path) -> None:
    """Makes a run one over the records of a store folder: no input of its own, a plan that names the folder."""
    facts = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(facts | {"plan": {"paths": [], "store": str(folder)}}))
    for file in path.glob("input/*"):
        file.unlink()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that may be opened, and a finished run over it."""
    folder = tmp_path / "broker-a"
    (folder / "commitlog").mkdir(parents=True)
    (folder / "commitlog" / f"{0:020d}").write_bytes(bytes(64))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(folder))
    of_store(make_run(tmp_path / "runs"), folder)
    return folder


@pytest.mark.parametrize("page", ["findings", "producers", "counters", "brokers"])
def test_what_is_missing_may_lie_on_another_broker(open_page: Open, store: Path, page: str) -> None:
    for lang in ("en", "zh"):
        app = open_page(page, run=RUN, lang=lang)
        assert not app.exception and words(lang)("run.store_page") in labels(app)
        if page != "findings":  # the example has none
            assert words(lang)("run.store") in shown(app)
            assert words(lang)("counters.missing_note") not in shown(app)


def test_tags_of_groups_go_with_the_scan_and_a_wrong_line_is_named(
    open_page: Open, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[dict[tuple[str, str], str]] = []
    monkeypatch.setattr(begin, "begin_folder", lambda _, subscriptions: begun.append(subscriptions))
    app = open_page("store", store=str(store), tags="billing:OrderPaid=A||B\n\nstock=A", lang="en")
    press(app, words("en")("store.scan"))
    assert not begun and "line 3" in app.error[0].value.lower() and "GROUP:TOPIC=TAGS" in app.error[0].value
    app.text_area(key="tags").set_value("billing:OrderPaid=A||B\nstock:OrderPaid=*").run()
    press(app, words("en")("store.scan"))
    assert begun == [{("OrderPaid", "billing"): "A||B", ("OrderPaid", "stock"): "*"}] and not app.error


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_clock_of_records_is_not_called_that_of_lines(open_page: Open, store: Path, lang: str) -> None:
    path = Runs().open(RUN).path
    made = example_run.tables()
    made["processes"]["zone"], made["processes"]["zone_source"] = "+08:00", "born"
    example_run.write(path, made)
    summary = json.loads((path / "summary.json").read_text())
    assumed = {"zone": "+00:00", "zone_source": "assumed", "at": "2026-11-21T01:55:00+00:00"}
    (path / "summary.json").write_text(json.dumps(summary | {"assumed": assumed, "zone_sources": {"born": 5}}))
    page = unescape(shown(open_page("producers", run=RUN, lang=lang, zone="Asia/Shanghai")))
    assert words(lang)("run.zone_stored", zone="+08:00", here="") in page
    assert words(lang)("run.zone_born", zone="+08:00", here="", at="2026-11-21") not in page


def test_growth_and_files_are_told_of_records(open_page: Open, store: Path) -> None:
    said = shown(open_page("brokers", run=RUN))
    assert words("en")("brokers.growth_note_store") in said and words("en")("brokers.growth_note") not in said
    assert "own files are 29.8 MiB" in said


def test_a_log_run_says_nothing_of_stores(open_page: Open, run: str) -> None:
    app = open_page("brokers", run=run)
    assert words("en")("run.store") not in shown(app) and words("en")("run.store_page") not in labels(app)
    assert words("en")("brokers.growth_note") in shown(app)


def test_evidence_leads_to_the_records_of_its_ids(tmp_path: Path, open_page: Open) -> None:
    run = judged(tmp_path, two_at_once())
    of_store(run.path, tmp_path / "broker-a")
    app = open_page("findings", run=run.name)
    row = next(iter(Run(run.path).table("findings").to_pylist()))
    app.session_state["evidence-0"] = True
    first = finding_rows.evidence_of(row)["ids"][0]
    said = shown(app.run())
    assert urlencode({"store": str(tmp_path / "broker-a"), "id": first}).replace("&", "&amp;") in said
    assert words("en")("findings.no_lines") not in said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_decode_shows_a_run_whose_input_is_elsewhere(open_page: Open, store: Path, lang: str) -> None:
    app = open_page("decode", run=RUN, lang=lang)
    assert not app.exception and not app.error and app.get("plotly_chart")
    assert words(lang)("run.store") in shown(app) and RUN in app.query_params["run"]
    app.text_area[0].set_value("AC110001473C7D4991AD336AEA5703E0")
    press(app, words(lang)("decode.button"))
    assert "172.17.0.1" in shown(app) and words(lang)("run.store") not in shown(app)


def test_a_store_that_was_scanned_leads_to_its_findings(open_page: Open, store: Path) -> None:
    assert any(
        label.startswith("Findings of the scan of 2026-11-21") for label in labels(open_page("store", store=str(store)))
    )


def test_compare_says_that_records_are_no_text_and_which_run_is_chosen(
    open_page: Open, store: Path, tmp_path: Path
) -> None:
    other = make_run(tmp_path / "runs", GONE)
    facts = json.loads((other / "run.json").read_text())
    facts["options"]["sources"] = ["app.log"]
    (other / "run.json").write_text(json.dumps(facts))
    (other / "input").mkdir()
    (other / "input" / "000-app.log").write_text("msgId=AC110001473C7D4991AD336AEA5703E0\n")
    app = open_page("compare", first=GONE, second=RUN)
    assert not app.exception and "read a broker's store" in app.warning[0].value
    assert [box.value for box in app.selectbox if str(box.key).startswith("compare-run")] == [GONE, None]


@pytest.mark.parametrize("page", ["decode", "findings", "producers"])
def test_a_link_to_a_run_that_is_gone_says_why(open_page: Open, page: str) -> None:
    for lang, said in (("en", "it was deleted, or the link is from another console"), ("zh", "可能已被删除")):
        error = open_page(page, run=GONE, lang=lang).error[0].value
        assert said in error and GONE in error and "field" not in error and "字段" not in error


def test_a_run_without_ids_is_not_said_to_be_all_right(open_page: Open, tmp_path: Path) -> None:
    path = make_run(tmp_path / "runs")
    empty = judged(tmp_path / "other", "nothing\n").path
    (empty / "findings").rename(path / "findings")
    summary = json.loads((path / "summary.json").read_text())
    (path / "summary.json").write_text(json.dumps(summary | {"ids": 0, "processes": 0, "brokers": 0}))
    said = shown(open_page("findings", run=RUN))
    assert "nothing to check" in said and "No rule found" not in said and "things were checked" not in said


def test_deleting_a_run_never_sounds_like_deleting_the_store(open_page: Open, store: Path, tmp_path: Path) -> None:
    for lang, wanted in (("en", "stays as it is"), ("zh", "服务器目录不受影响")):
        said = shown(open_page("runs", lang=lang))
        assert wanted in said and words(lang)("runs.delete_sure") not in said


def test_a_scan_that_waits_speaks_of_a_table_only_where_one_is(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "runs", state="running")
    monkeypatch.setattr(Run, "state", "running")
    texts = [bar.proto.text for page in ("findings", "runs") for bar in open_page(page, run=RUN).get("progress")]
    assert texts == ["Waiting for Spark."]


def test_a_letter_that_is_no_digit_is_named_with_its_place(open_page: Open) -> None:
    asked = "AC110001473C7D4991AD336AEA5703EO"
    assert "Character 32, 'O'" in open_page("decode", ids=asked).error[0].value
    assert "Character 32, 'O'" in open_page("anatomy", id=asked).error[0].value
    app = open_page()
    app.text_area[0].set_value("hello world")
    assert "longest run" not in press(app, "Decode").error[0].value


def test_a_folder_that_is_not_there_is_said_to_be_none(open_page: Open, store: Path) -> None:
    app = open_page("store", store=str(store / "nothing"))
    assert not app.exception and app.error[0].value.startswith("There is no ")


@pytest.mark.parametrize(
    ("page", "name", "value"),
    [("producers", "sort", "missing"), ("producers", "measure", "distinct"), ("counters", "rank", "rate")],
)
def test_a_switch_in_a_link_is_the_same_in_every_language(
    open_page: Open, run: str, page: str, name: str, value: str
) -> None:
    for lang in ("en", "zh"):
        app = open_page(page, run=run, lang=lang, **{name: value})
        assert not app.exception and app.session_state[name] == value
    app = open_page(page, run=run, **{name: "no such"})
    assert not app.exception and app.session_state[name] != "no such"


def test_a_switch_writes_its_own_name_into_the_address(open_page: Open, run: str) -> None:
    app = open_page("producers", run=run, lang="zh")
    app.selectbox(key="sort").select("rate").run()
    assert app.query_params["sort"] == "rate"
    app.selectbox(key="sort").select("ids").run()
    assert "sort" not in app.query_params


def test_a_commit_log_is_not_read_as_text_and_the_page_says_where_it_is(open_page: Open, tmp_path: Path) -> None:
    records = (real_store(tmp_path) / "commitlog" / f"{0:020d}").read_bytes()[:20_000]
    sources = [intake.Source("piece.bin", BytesIO(records)), intake.Source("app.log", BytesIO(b"no record here"))]
    for lang in ("en", "zh"):
        app = open_page("decode", lang=lang)
        app.session_state["decode"] = decode_session.DecodeSession(sources, unread=True)
        app.run()
        assert not app.exception and "piece.bin" in app.warning[0].value and words(lang)("page.store") in labels(app)
        assert "not read as text" in app.warning[0].value or lang == "zh"
        app.session_state["decode"] = decode_session.DecodeSession(sources[1:], unread=True)
        assert not app.run().warning

"""Every page as a visitor has it: empty, with a run, in both languages, and when something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import make_run

Open = Callable[..., AppTest]
UNIQ, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "AC11000100002A9F00000000000E8580"
ALL = ("decode", "anatomy", "producers", "counters", "brokers", "runs")


def shown(app: AppTest) -> str:
    """Everything that stands on the page, as one text."""
    parts = [
        str(item.value)
        for kind in ("markdown", "title", "subheader", "caption", "error", "warning", "info", "code")
        for item in getattr(app, kind)
    ]
    html = [item.proto.body for item in app.get("html") if not item.proto.body.startswith("<style")]
    return "\n".join(parts + html)


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["", *ALL])
def test_every_page_opens_without_anything_there(open_page: Open, page: str, lang: str) -> None:
    app = open_page(page, lang=lang)
    assert not app.exception and not app.error
    assert app.title[0].value


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["producers", "counters", "brokers", "runs"])
def test_every_chart_page_shows_a_finished_run(open_page: Open, run: str, page: str, lang: str) -> None:
    app = open_page(page, run=run, lang=lang)
    assert not app.exception and not app.error
    assert "app.log, old.log.gz" in shown(app)
    if page != "runs":
        assert app.get("plotly_chart"), "no picture"
        assert 'class="mq-table"' in shown(app)


def test_the_decode_page_has_its_words(open_page: Open) -> None:
    english, chinese = open_page(), open_page(lang="zh")
    assert english.text_area[0].label == "IDs or log lines"
    assert [button.label for button in english.button][:2] == ["Decode", "Load an example"]
    assert english.get("file_uploader")[0].proto.label == "Log files"
    assert chinese.text_area[0].label != english.text_area[0].label
    assert [button.label for button in chinese.button][:2] == ["解码", "载入示例"]


def test_one_id_is_a_card(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(UNIQ)
    page = shown(press(app, "Decode"))
    for said in ("172.17.0.1", "18236", "7D4991AD", "certain", "Months it could be from"):
        assert said in page
    assert UNIQ in app.query_params["ids"]


def test_many_ids_are_a_table_and_refused_tokens_a_line(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(f"msgId={UNIQ} offsetMsgId={OFFSET} traceId=9f86d081884c7d659a2feaa0c55ad015")
    press(app, "Decode")
    page = shown(app)
    assert "2 ids" in page and "172.17.0.1:10911" in page and "00000000000000000000" in page
    assert app.expander[0].label == "1 token refused: all lower case"


def test_a_link_opens_with_its_ids_in_place(open_page: Open) -> None:
    app = open_page("decode", ids=f"{UNIQ},{OFFSET}")
    assert app.text_area[0].value == f"{UNIQ}\n{OFFSET}"
    assert "172.17.0.1:10911" in shown(app)


def test_what_is_no_id_is_told_why(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(UNIQ[:31])
    assert "31 digits" in press(app, "Decode").error[0].value
    app.text_area[0].set_value(f"see msgId={UNIQ[:31]} there")
    assert "the longest run here has 31 digits" in press(app, "Decode").error[0].value
    app.text_area[0].set_value("   ")
    assert press(app, "Decode").warning


def test_after_an_error_the_next_text_counts_not_the_address(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(UNIQ[:31])
    press(app, "Decode")
    app.text_area[0].set_value(f"{UNIQ} and {OFFSET}")
    assert "2 ids" in shown(press(app, "Decode")) and not app.error


@pytest.mark.parametrize("label", ["Load an example", "a SendResult line", "a MessageExt line", "an incident log"])
def test_every_example_decodes(open_page: Open, label: str) -> None:
    app = press(open_page(), label)
    assert not app.exception and not app.error
    assert 'class="mq-table"' in shown(app)


def test_input_is_never_html(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(f"<script>alert(1)</script>&msgId={UNIQ}<img src=x> {OFFSET}")
    page = shown(press(app, "Decode"))
    assert "<script" not in page and "<img" not in page


def test_times_follow_the_zone_of_the_address(open_page: Open) -> None:
    assert "2026" not in shown(open_page("decode"))
    page = shown(open_page("decode", ids=UNIQ, zone="Asia/Kolkata"))
    assert "+05:30" in page and "as chosen" in page
    assert "+00:00" in shown(open_page("decode", ids=UNIQ, zone="Mars/Olympus")), "what is no zone is not obeyed"


def test_the_anatomy_shows_bytes_bits_and_every_reading(open_page: Open) -> None:
    app = open_page("anatomy", id="0101007F0000A61200003CF1C4030100")
    page = shown(app)
    assert "10100110" not in page and "1010" in page and "0110" in page
    assert "127.0.1.1" in page and "1.1.0.127" in page
    assert len(app.tabs) >= 2


def test_the_anatomy_of_what_is_no_id_says_why(open_page: Open) -> None:
    assert "31 digits" in open_page("anatomy", id=UNIQ[:31]).error[0].value


def test_a_host_in_the_address_filters_the_processes(open_page: Open, run: str) -> None:
    page = shown(open_page("producers", run=run, host="172.17.0.2"))
    table = page[page.index("<tbody>") :]
    assert "172.17.0.2" in table and "10.42.3.18" not in table


def test_a_process_in_the_address_is_shown(open_page: Open, run: str) -> None:
    app = open_page("counters", run=run, process="10.42.3.18~9077~18B4AAC2")
    assert "pid 9077" in shown(app) and "1 restart" in shown(app)


def test_a_run_that_is_gone_is_a_message(open_page: Open) -> None:
    for name in ("20200101-000000-000000", "../../etc", "x"):
        app = open_page("producers", run=name)
        assert app.error and not app.exception


def test_a_link_to_a_run_that_is_gone_leaves_the_box(open_page: Open) -> None:
    app = open_page(run="20200101-000000-000000")
    assert app.error and app.text_area[0].label == "IDs or log lines"


def test_a_failed_run_says_why(open_page: Open, tmp_path: Path) -> None:
    make_run(tmp_path / "runs", state="failed", error="disk full")
    app = open_page("producers", run="20261121-015500-a1b2c3")
    assert "disk full" in app.error[0].value
    assert "disk full" in shown(open_page("runs"))


def test_a_file_that_failed_is_named(open_page: Open, run: str) -> None:
    assert "1 file of 2 could not be read: old.log.gz (not a gzip file)" in shown(open_page("producers", run=run))


def test_a_run_that_cannot_be_started_again_says_why(open_page: Open, tmp_path: Path) -> None:
    make_run(tmp_path / "runs", state="failed", error="disk full")
    assert "does not say what it scanned" in press(open_page("runs"), "Try again").error[0].value


def test_a_run_can_be_deleted(open_page: Open, run: str, tmp_path: Path) -> None:
    app = open_page("runs")
    press(app, "Delete this run")
    assert not (tmp_path / "runs" / run).exists()
    assert "1 run" not in shown(app)


def test_a_folder_of_the_server_is_off_unless_it_is_allowed(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Scanning folders of the server is off" in shown(open_page("runs"))
    (tmp_path / "logs").mkdir()
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path / "logs"))
    app = open_page("runs")
    app.text_input[0].set_value(str(tmp_path))
    [button for button in app.button if button.label == "Scan"][-1].click().run()
    assert "not inside the folders" in app.error[0].value


def test_the_menu_holds_only_pages_that_are_there(open_page: Open) -> None:
    labels = [link.proto.label for link in open_page().get("page_link")]
    assert labels == ["Decode", "Anatomy", "Producers", "Counters", "Brokers", "Runs"]

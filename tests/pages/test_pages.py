"""Every page as a visitor has it: empty, with a run, in both languages, and when something is wrong."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.base.catalogue import en
from idcore.base.catalogue.en import LENGTHS
from idcore.intake.intake import Source
from idcore.presentation import times
from idcore.scan.schemas import SCHEMAS
from idcore.server import first_page, jobs, setting_up
from idcore.spark.session import Status
from idcore.spark.start.jvm import GET_JAVA, no_java
from pages.parts import frame
from pages.parts.ids import decode_session, decoded
from tests.pages import example_run
from tests.pages.conftest import make_run

pytestmark = pytest.mark.quick

Open = Callable[..., AppTest]
UNIQ, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "AC11000100002A9F00000000000E8580"
ALL = [address for rows in frame.MENU.values() for address, _, _ in rows]


def shown(app: AppTest) -> str:
    """Everything that stands on the page, as one text."""
    parts = [
        str(item.value)
        for kind in ("markdown", "title", "header", "subheader", "caption", "error", "warning", "info", "code")
        for item in getattr(app, kind)
    ]
    html = [item.proto.body for item in app.get("html") if not item.proto.body.startswith("<style")]
    return as_read("\n".join(parts + html))


def as_read(html: str) -> str:
    """HTML without what only holds a date together."""
    return re.sub('<span class="mq-day">(.*?)</span>', r"\1", html)


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["", *ALL])
def test_every_page_opens_without_anything_there(open_page: Open, page: str, lang: str) -> None:
    app = open_page(page, lang=lang)
    assert not app.exception and not app.error
    assert app.title[0].value


@pytest.mark.long(first=2)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["producers", "counters", "brokers", "runs"])
def test_every_chart_page_shows_a_finished_run(open_page: Open, run: str, page: str, lang: str) -> None:
    app = open_page(page, run=run, lang=lang)
    assert not app.exception and not app.error
    assert "app.log, old.log.gz" in shown(app)
    if page != "runs":
        assert app.get("plotly_chart"), "no picture"
        assert 'class="mq-table"' in shown(app)


@pytest.mark.parametrize("page", ["", "findings", "producers", "counters", "brokers", "lines", "runs"])
def test_without_java_each_page_that_needs_a_scan_says_so_once(
    open_page: Open, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "engine", lambda: Status("no_java", no_java()))
    said, asked = catalogue.words("en")("scan.no_java"), [{}] if page else [{}, {"ids": f"{UNIQ},{OFFSET}"}]
    for query in asked:
        app = open_page(page, **query)
        assert [info.value for info in app.info] == [said] and [code.value for code in app.code] == [GET_JAVA]
        assert "appear" not in "".join(text.value for text in app.markdown) and "starts a scan" not in shown(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["", "findings", "brokers", "runs"])
def test_while_set_up_is_at_work_each_page_says_how_far_it_is(
    open_page: Open, page: str, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was decoded meanwhile is scanned when it is done."""
    monkeypatch.setattr(setting_up, "now", lambda: setting_up.SettingUp("kernels", 2, 3, 75.0))
    monkeypatch.delenv("IDCORE_NO_SPARK")
    query = {} if page else {"ids": f"{UNIQ},{OFFSET}"}
    app, words = open_page(page, lang=lang, **query), catalogue.words(lang)
    said = words("setup.at_work", step=words("setup.kernels"), n=2, of=3, time=words.duration(75))
    assert [info.value for info in app.info] == [said] and not app.exception
    assert jobs.engine() is None and not jobs.ready()
    assert page or app.session_state["decode"].waits


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
    for said in ("172.17.0.1", "18236", "7D4991AD", "certain", "Possible months"):
        assert said in page
    assert UNIQ in app.query_params["ids"]


def test_many_ids_are_a_table_and_refused_tokens_a_line(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(
        f"msgId={UNIQ} offsetMsgId={OFFSET} md5=9f86d081884c7d659a2feaa0c55ad015"
        " traceId=80f198ee56343ba864fe8b2a57d3eff7"
    )
    press(app, "Decode")
    page = shown(app)
    assert "1 trace ID (W3C, B3) in this text: no IDs of messages." in page
    assert "2 IDs" in page and "172.17.0.1:10911" in page and "00000000000000000000" in page
    assert app.expander[1].label == "1 string rejected: all lower case"


def test_a_link_opens_with_its_ids_in_place(open_page: Open) -> None:
    app = open_page("decode", ids=f"{UNIQ},{OFFSET}")
    assert app.text_area[0].value == f"{UNIQ}\n{OFFSET}"
    assert "172.17.0.1:10911" in shown(app)


def test_what_is_no_id_is_told_why(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(UNIQ[:31])
    said = f"IDs have {LENGTHS} hex digits; the longest hex string here has 31."
    assert said in press(app, "Decode").error[0].value
    app.text_area[0].set_value(f"see msgId={UNIQ[:31]} there")
    said = "31 digits of a msgId, the rest is masked or cut off: host 172.17.0.1, pid 18236"
    assert said in press(app, "Decode").error[0].value
    app.text_area[0].set_value("   ")
    assert press(app, "Decode").warning


@pytest.mark.parametrize("open_one", [True, False])
def test_a_key_is_sought_in_the_scan_in_sight_or_in_the_newest(open_page: Open, run: str, open_one: bool) -> None:
    app = open_page("findings", run=run) if open_one else open_page()
    app = app.switch_page("pages/ids/decode.py").run() if open_one else app
    app.text_area[0].set_value("order-860954509")
    press(app, "Decode")
    (link,) = (
        link.proto for link in app.get("page_link") if "Search the lines of the scan “app.log" in link.proto.label
    )
    assert f"run={run}" in link.query_string and "find=order-860954509" in link.query_string
    app.text_area[0].set_value("two\nlines")
    assert not [one for one in press(app, "Decode").get("page_link") if "Search the lines" in one.proto.label]


def test_a_key_has_no_way_to_a_scan_or_store_that_is_not_there(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value("order-860954509")
    assert not [link for link in press(app, "Decode").get("page_link") if "order-860954509" in link.proto.query_string]


def test_after_an_error_the_next_text_counts_not_the_address(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(UNIQ[:31])
    press(app, "Decode")
    app.text_area[0].set_value(f"{UNIQ} and {OFFSET}")
    assert "2 IDs" in shown(press(app, "Decode")) and not app.error


@pytest.mark.long(first=1)
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


def test_a_superscript_is_no_digit_of_a_zone() -> None:
    assert times.zone_of("+²²:00") is None  # to Python it is a digit, and no number


def test_times_follow_the_zone_of_the_address(open_page: Open) -> None:
    assert "2026" not in shown(open_page("decode"))
    page = shown(open_page("decode", ids=UNIQ, zone="Asia/Kolkata"))
    assert "+05:30" in page and "from your setting" in page
    assert "+00:00" in shown(open_page("decode", ids=UNIQ, zone="Mars/Olympus")), "what is no zone is not obeyed"


def test_the_anatomy_shows_bytes_bits_and_every_reading(open_page: Open) -> None:
    app = open_page("anatomy", id="0101007F0000A61200003CF1C4030100")
    page = shown(app)
    assert "10100110" not in page and "1010" in page and "0110" in page
    assert "127.0.1.1" in page and "1.1.0.127" in page
    assert len(app.tabs) >= 2


def test_the_anatomy_of_what_is_no_id_says_why(open_page: Open) -> None:
    assert "the longest hex string here has 31." in open_page("anatomy", id=UNIQ[:31]).error[0].value


def test_one_refusal_is_told_once(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value("9f86d081884c7d659a2feaa0c55ad015")
    page = shown(press(app, "Decode")).lower()
    assert page.count("all letters are lower case") == 1


@pytest.mark.parametrize("text", ["F" * 32, "0" * 32, "00" * 28])
def test_digits_that_are_all_the_same_are_called_a_filler(open_page: Open, text: str) -> None:
    app = open_page()
    app.text_area[0].set_value(text)
    assert "All digits are the same" in shown(press(app, "Decode"))
    assert "All digits are the same" in shown(open_page("anatomy", id=text))


def test_letters_that_are_all_the_same_are_no_filler(open_page: Open) -> None:
    page = shown(open_page("anatomy", id="zzz"))
    assert catalogue.words("en")("decode.no_id") in page and "All digits are the same" not in page, (
        "said once, and nothing below"
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_why_a_folder_is_not_opened_is_said_once(open_page: Open, lang: str) -> None:
    app = open_page("store", store="/nowhere", lang=lang)
    said = [item.value for item in (*app.error, *app.markdown) if catalogue.words(lang)("store.off") in item.value]
    assert len(said) == 1, said


def test_lower_case_ids_can_be_read_as_upper_case_and_refused_again(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(f"{UNIQ.lower()} {OFFSET} 9f86d081884c7d659a2feaa0c55ad015")
    press(app, "Decode")
    assert app.expander[1].label == "2 strings rejected: all lower case"
    press(app, "Decode 1 lower-case string as upper case")
    page = shown(app)
    assert "2 IDs" in page and UNIQ.lower() in page and "172.17.0.1" in page
    assert app.query_params["case"] == ["any"] or app.query_params["case"] == "any"
    press(app, "Ignore them again")
    assert app.expander[1].label == "2 strings rejected: all lower case"


def test_a_link_says_how_lower_case_is_read(open_page: Open) -> None:
    assert "172.17.0.1" in shown(open_page("decode", ids=UNIQ.lower(), case="any"))
    assert open_page("decode", ids=f"{UNIQ.lower()},{OFFSET.lower()}").error


@pytest.mark.parametrize(
    "text", [UNIQ.lower(), f"  {UNIQ.lower()},\n", "20010db885a3000000008a2e03707334473c7d4991ad336aea5703e0"]
)
def test_one_id_in_lower_case_is_decoded_with_a_note(open_page: Open, text: str) -> None:
    pasted = open_page()
    pasted.text_area[0].set_value(text)
    press(pasted, "Decode")
    alone = text.strip(" ,\n")
    for app in (pasted, open_page("decode", ids=alone), open_page("anatomy", id=alone)):
        page = shown(app)
        assert "18236" in page and "7D4991AD" in page and not app.error
        assert page.count("some other program may have changed them") == 1
        assert "as upper case" not in " ".join(button.label for button in app.button)
    assert pasted.query_params["case"] in ("any", ["any"]), "its scan reads it like the page"


def test_lower_case_that_is_called_something_else_is_not_offered_as_ids(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(f"msgId={OFFSET} traceId={UNIQ.lower()} request_id={UNIQ.lower()}")
    press(app, "Decode")
    assert app.expander[1].label == "2 strings rejected: all lower case"
    assert not [button.label for button in app.button if "upper case" in button.label]


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        (f"{UNIQ[:16]} {UNIQ[16:]}", 16),
        (f"{UNIQ[:20]} {UNIQ[20:31]}", 20),  # as long as an ID with its blank
    ],
)
def test_an_id_with_blanks_inside_gets_the_longest_run(open_page: Open, text: str, longest: int) -> None:
    app = open_page()
    app.text_area[0].set_value(text)
    said = f"No ID in this text. IDs have {LENGTHS} hex digits; the longest hex string here has {longest}."
    assert press(app, "Decode").error[0].value == said
    assert open_page("anatomy", id=text).error[0].value == said


def test_an_id_that_a_line_break_cuts_in_two_is_shown_whole(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value(f"msgId={UNIQ[:20]}\n{UNIQ[20:]}")
    assert UNIQ in shown(press(app, "Decode")) and not app.error


def test_a_list_is_asked_once_which_message_is_its_only_one(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(decoded, "message_of", lambda ids: asked.append(len(ids)))
    app = open_page()
    app.text_area[0].set_value("".join(f"{UNIQ[:-4]}{n:04X}\n" for n in range(40)))
    assert "40 IDs" in shown(press(app, "Decode"))
    assert asked == [40], "once for each of its IDs, a list of 5,000 takes seconds"


@pytest.mark.long
def test_what_is_cut_says_so_in_the_sentence_and_on_the_buttons(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value("".join(f"x {UNIQ[:-4]}{n:04X}\n" for n in range(5_200)))
    page = shown(press(app, "Decode"))
    assert "The first **5,000 IDs**" in page or "The first <b>5,000 IDs</b>" in page
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["CSV, first 5,000", "JSON Lines, first 5,000"]


@pytest.mark.long
def test_a_long_text_is_taken_out_of_the_box_and_stays_decoded(open_page: Open) -> None:
    app = open_page()
    app.text_area[0].set_value("".join(f"order 4711 was paid, msgId={UNIQ[:-4]}{n:04X}\n" for n in range(4_000)))
    assert "4,000 IDs" in shown(press(app, "Decode"))
    assert not app.text_area[0].value and "4,000 lines" in app.text_area[0].placeholder
    assert "4,000 IDs" in shown(press(app, "Decode")), "an empty box takes nothing away"
    app.text_area[0].set_value(UNIQ)
    assert 'class="mq-card"' in shown(press(app, "Decode")) and app.text_area[0].value == UNIQ


def test_an_address_that_is_no_page_is_said_calmly_once(open_page: Open) -> None:
    app = open_page(missing="findings")
    assert "There is no page /findings here" in app.info[0].value
    assert "missing" not in app.query_params
    app.text_area[0].set_value(UNIQ)
    assert not press(app, "Decode").info
    assert "script" not in open_page(missing="<script>x").info[0].value


def test_growth_answers_for_an_offset_and_for_an_offset_id(open_page: Open, run: str) -> None:
    page = shown(
        open_page("brokers", run=run, offset="446,000,000,000", broker="10.42.9.1:10911", zone="Asia/Shanghai")
    )
    assert "Offset 446,000,000,000 of 10.42.9.1:10911 was written in the minute of" in page
    assert "should exist" in page and "2026-11-20" in page and "2026-11-24 04:00" in page
    page = shown(
        open_page("brokers", run=run, offset="0A2A090100002A9F00000067C0000000", keep="24", zone="Asia/Shanghai")
    )
    assert "2026-11-22 04:00" in page
    assert "No dated line" in open_page("brokers", run=run, offset=OFFSET).info[0].value
    assert "neither a physical offset" in open_page("brokers", run=run, offset="soon").error[0].value


def test_a_title_is_told_in_the_reader_s_language(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    facts = json.loads((folder / "run.json").read_text())
    facts["options"] |= {"sources": ["pasted.txt"], "ids": 7, "lines": 3}
    (folder / "run.json").write_text(json.dumps(facts))
    ids = json.loads((folder / "summary.json").read_text())["ids"]
    assert f"{ids:,} IDs from 3 lines" in shown(open_page("runs")), "counted by the scan, not by what was read at once"
    assert f"3 行中的 {ids:,} 个 ID" in shown(open_page("runs", lang="zh"))
    assert f"3 行中的 {ids:,} 个 ID" in shown(open_page("producers", lang="zh", run=folder.name))


def test_processes_of_several_zones_are_shown_with_their_own(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    assert "Zone from" not in shown(open_page("producers", run=folder.name, columns="all"))
    made = example_run.tables()
    processes = made["processes"]
    processes["zone"] = ["+08:00", "-05:00", *[None] * (len(processes) - 2)]
    processes["zone_source"] = ["born", "prefix", *["assumed"] * (len(processes) - 2)]
    processes["month"] = "2026-11"
    other = tmp_path / "runs" / "20261121-015501-a1b2c4"
    shutil.copytree(folder, other)
    example_run.write(other, made)
    page = shown(open_page("producers", run=other.name, columns="all"))
    assert "The processes ran in 2 time zones (+08:00, -05:00)" in page and "The log's clock" not in page
    for said in ("Zone from", "bornTimestamp", "time in the line", "assumed", "2026-11"):
        assert said in page


def test_a_zone_that_all_lines_give_is_not_said_to_be_assumed(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    made = example_run.tables()
    made["processes"]["zone"], made["processes"]["zone_source"] = "+08:00", "born"
    example_run.write(folder, made)
    summary = json.loads((folder / "summary.json").read_text())
    summary["assumed"] = {"zone": "+00:00", "zone_source": "assumed", "at": "2026-11-21T01:55:00+00:00"}
    for sources, said in (
        (
            {"born": 5},
            "Times are in Asia/Kolkata. The log's clock is +08:00, as its lines show: "
            "for example, its 09:50 is 07:20 here.",
        ),
        ({"assumed": 5}, "The log's clock is assumed to be +00:00: for example, its 09:50 is 15:20 here."),
    ):
        (folder / "summary.json").write_text(json.dumps(summary | {"zone_sources": sources}))
        assert said in (page := unescape(shown(open_page("producers", run=folder.name, zone="Asia/Kolkata"))))
        assert page.count("<li>Times are in") == 1


def test_the_same_content_twice_is_noted_beside_the_figures(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    facts = json.loads((folder / "run.json").read_text())
    facts["options"]["same"] = [["a.log", "copy of a.log"]]
    (folder / "run.json").write_text(json.dumps(facts))
    assert "a.log and copy of a.log have identical content" in shown(open_page("counters", run=folder.name))


@pytest.mark.parametrize("state", ["cancelled", "running"])
def test_a_run_that_was_cancelled_or_whose_server_was_killed_is_offered_again_on_every_page(
    open_page: Open, tmp_path: Path, state: str
) -> None:
    folder = make_run(tmp_path / "runs", state=state)
    facts = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(facts | {"lease": "0" * 32}))  # of nobody any more
    for page in ("runs", "producers"):
        app = open_page(page, run=folder.name)
        assert "Try again" in [button.label for button in app.button]
        said = shown(app) + "".join(error.value for error in app.error)
        assert ("The scan failed: the server was stopped" in said) is (state == "running")


def test_a_host_in_the_address_filters_the_processes(open_page: Open, run: str) -> None:
    app = open_page("producers", run=run, host="![x](https://example.org/x.png)")
    assert not app.exception and [info.value for info in app.info if "example.org" in info.value] == [
        "This scan has no IDs of host `![x](https://example.org/x.png`)."
    ]
    page = shown(open_page("producers", run=run, host="172.17.0.2"))
    table = page[page.rindex("<tbody>") :]
    assert "172.17.0.2" in table and "10.42.3.18" not in table


def test_a_process_in_the_address_is_shown(open_page: Open, run: str) -> None:
    app = open_page("counters", run=run, process="10.42.3.18~9077~18B4AAC2")
    assert "pid 9077" in shown(app) and "1 restart" in shown(app)


def test_a_run_that_is_gone_is_a_message(open_page: Open) -> None:
    for name in ("20200101-000000-000000", "../../etc", "x"):
        app = open_page("producers", run=name)
        assert app.error and not app.exception
        assert [link.proto.label for link in app.main.get("page_link")][6:] == [
            "About this page",
            "Decode IDs or a log",
        ]


def test_a_link_to_a_run_that_is_gone_leaves_the_box(open_page: Open) -> None:
    app = open_page(run="20200101-000000-000000")
    assert app.error and app.text_area[0].label == "IDs or log lines"


def test_a_failed_run_says_why(open_page: Open, tmp_path: Path) -> None:
    make_run(tmp_path / "runs", state="failed", error="disk full")
    app = open_page("producers", run="20261121-015500-a1b2c3")
    assert "disk full" in app.error[0].value
    assert "disk full" in shown(open_page("runs"))


def test_a_file_that_failed_is_named(open_page: Open, run: str) -> None:
    assert "1 file out of 2 could not be read: old.log.gz (not a gzip file)" in shown(open_page("producers", run=run))


def test_a_file_that_was_read_up_to_a_place_is_not_called_unread(open_page: Open, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs")
    files = example_run.tables()["files"].assign(text_bytes=[31_200_118, 9_000])
    pq.write_table(pa.Table.from_pandas(files), next((folder / "files").glob("*.parquet")))
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(summary | {"failed_files": 1}))
    text = shown(open_page("producers", run=folder.name))
    assert "1 file out of 2 could be read only in part: old.log.gz" in text and "could not be read" not in text
    assert "1 file could not be read completely" in shown(open_page("runs"))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty, 0 bytes"), (bytes(2_000), "this is not text"), (b"hi", LENGTHS)],
)
def test_an_uploaded_file_without_ids_says_what_it_is(open_page: Open, content: bytes, said: str) -> None:
    app = open_page("decode")
    app.session_state["decode"] = decode_session.DecodeSession([Source("a.log", io.BytesIO(content))], unread=True)
    app.run()
    assert said in app.error[0].value and not app.exception


def test_a_run_that_cannot_be_started_again_says_why(open_page: Open, tmp_path: Path) -> None:
    make_run(tmp_path / "runs", state="failed", error="disk full")
    assert "did not record its input" in press(open_page("runs"), "Try again").error[0].value


def test_a_run_can_be_deleted(open_page: Open, run: str, tmp_path: Path) -> None:
    app = open_page("runs")
    press(app, "Delete this scan")
    assert not (tmp_path / "runs" / run).exists()
    assert "1 run" not in shown(app)


def test_a_folder_of_the_server_is_off_unless_it_is_allowed(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Scanning server folders is disabled" in shown(open_page("runs"))
    (tmp_path / "logs").mkdir()
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path / "logs"))
    app = open_page("runs")
    app.text_input[0].set_value(str(tmp_path))
    [button for button in app.button if button.label == "Scan"][-1].click().run()
    assert "outside the folders" in app.error[0].value


def test_the_menu_has_few_entries_and_tabs_have_the_rest(open_page: Open) -> None:
    app, menu = open_page("producers"), [*frame.MENU]
    labels = [link.proto.label for link in app.sidebar.get("page_link")]
    assert labels == ["Decode", "Incident", "Compare", "Message", "Consumer groups", "Store", "Scans", "Lab", "Help"]
    assert len(menu) == len(labels)
    for page, tabs in (
        ("", ["Decode", "Anatomy"]),
        ("counters", ["Findings", "Lines", "Producers", "Counters", "Brokers", "Delivery"]),
        ("message", ["Find message", "Message journey"]),
        ("lab", []),
    ):
        app = open_page(page)
        assert [link.proto.label for link in app.main.get("page_link")][: len(tabs)] == tabs


@pytest.mark.parametrize(("lang", "many", "few"), [("en", "all tags", "no tag"), ("zh", "全部 Tag", "无 Tag")])
def test_a_store_shows_its_messages_by_topic_queue_and_tag(
    run: str, open_page: Open, lang: str, many: str, few: str
) -> None:
    folder = Path(os.environ["IDCORE_RUNS"]) / run
    topics = {
        "topic": ["Orders"],
        "queue_id": [3],
        "messages": [4_100],
        "bytes": [900_000],
        "first_store_timestamp": [example_run.START],
        "last_store_timestamp": [example_run.START],
        "min_offset": [0],
        "max_offset": [899_000],
        "min_queue_offset": [7],
        "max_queue_offset": [4_106],
        "crc_failed": [2],
    }
    tags = {"topic": ["Orders"] * 2, "tag": ["", "<b>paid"], "messages": [100, 4_000], "bytes": [1, 2]}
    for wanted, not_there in ((few, many), (many, few)):
        for name, columns in (("topics", topics), ("tags", tags)):
            (folder / name).mkdir(exist_ok=True)
            pq.write_table(pa.table(columns, schema=SCHEMAS[name]), folder / name / "part-00000.parquet")
        os.utime(folder / "summary.json", (len(wanted), len(wanted)))  # the run was written again
        app = open_page("brokers", run=run, lang=lang)
        assert not app.exception
        text = shown(app)
        assert "Orders" in text and "4,100" in text and "7 – 4,106" in text
        assert wanted in text and not_there not in text
        assert ("&lt;b&gt;paid" in text) == (wanted == few)
        tags = {"topic": ["Orders"], "tag": [None], "messages": [4_100], "bytes": [900_000]}
    assert "1,000" in text


def test_a_further_language_is_one_file(open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(en.__file__).read_text(encoding="utf-8").replace('"lang.self": "English"', '"lang.self": "Deutsch"')
    (tmp_path / "de.py").write_text(
        text.replace('"page.decode": "Decode"', '"page.decode": "Dekodieren"'), encoding="utf-8"
    )
    monkeypatch.setattr(catalogue, "__path__", [*catalogue.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "idcore.base.catalogue.de", raising=False)
    catalogue.languages.cache_clear()
    catalogue.words.cache_clear()
    try:
        for page in ("decode", "runs"):
            app = open_page(page, lang="de")
            assert not app.exception and "Dekodieren" in [link.proto.label for link in app.get("page_link")]
        (chosen,) = (group for group in app.get("button_group") if group.key == "pick_lang")
        assert "Deutsch" in str(chosen.proto)
        assert first_page.with_base(b'<html lang="en">', "", "de") == b'<html lang="en">'
    finally:
        catalogue.languages.cache_clear()
        catalogue.words.cache_clear()
        sys.modules.pop("idcore.base.catalogue.de", None)

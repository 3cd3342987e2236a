"""Host, process, broker and topic of an incident: in the address, in every link, as chips that remove them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.findings import model
from idcore.base import catalogue
from idcore.presentation.triage import finding_texts, run_tables, scope
from idcore.presentation.triage.scope import Scope
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import Filter
from tests.pages.conftest import RUN
from tests.pages.test_pages import shown
from tests.pages.test_time_range import index_of, indexed_run, log

Open = Callable[..., AppTest]
BUSY, QUIET = "10.42.3.17", "10.42.3.18"
BROKERS = ("10.42.9.1:10911", "10.42.9.2:10911")
TOPICS = ("OrderPaid", "OrderPaidLater", "Sign-Up")


def stored_log() -> str:
    """The log of two processes; each second line also has the offsetMsgId of one of two brokers, and a topic."""
    lines = log(20).splitlines()
    for number in range(0, len(lines), 2):
        offset = f"0A2A090{1 + number // 2 % 2}00002A9F{number * 1000:016X}"
        lines[number] += f", offsetMsgId={offset}, messageQueue=[topic={TOPICS[number % 3]}, queueId=1]"
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return indexed_run(tmp_path / "runs", stored_log())


def test_a_scope_and_an_address_are_the_same() -> None:
    asked = {"host": BUSY, "topic": "OrderPaid", "run": RUN, "broker": " "}
    assert Scope.of_address(asked).params() == {"host": BUSY, "topic": "OrderPaid"}
    assert Scope.of_address(asked).on("producers") == Scope(host=BUSY)
    assert Scope.of_address(asked).idle("brokers") == ["host", "topic"] and not Scope()


def test_a_link_takes_along_what_does_not_contradict_it() -> None:
    here = {"host": BUSY, "process": f"{BUSY}~4000~18B4AAC2", "broker": BROKERS[0]}
    assert scope.agreed(here, {}) == here
    assert scope.agreed(here, {"host": QUIET}) == {"broker": BROKERS[0]}
    assert scope.agreed(here, {"process": f"{QUIET}~1~18B4AAC2"}) == {"broker": BROKERS[0]}
    assert scope.agreed({"host": BUSY}, {"process": f"{BUSY}~7~18B4AAC2"}) == {"host": BUSY}
    assert scope.agreed(here, {"broker": None}) == {"host": BUSY, "process": here["process"]}
    assert scope.agreed(here, {"ids": "0A"}) == {}, "an ID is looked for in the whole scan"


@pytest.mark.parametrize("topic", ["", "OrderPaid"])
def test_lines_of_a_host_and_a_broker_have_an_id_of_both(run: Run, topic: str) -> None:
    index = index_of(run)
    wanted = Filter(host=BUSY, broker=BROKERS[1], topic=topic)
    lines = {(one.file, one.line) for one in index.page(index.select(wanted).rows)}
    texts = Path(next(run.path.glob("input/*"))).read_text().splitlines()
    names = [("0A2A0311" in text, "0A2A090200002A9F" in text, text) for text in texts]
    slow = {n for n, (host, broker, text) in enumerate(names, 1) if host and broker and topic in text}
    if topic:
        slow = {n for n in slow if re.search(rf"topic={topic},", texts[n - 1])}
    assert slow and {line for _, line in lines} == slow
    only = index.select(replace(wanted, kind="offset"))
    assert len(only) == len(slow) and {one.kind for one in index.page(only.rows)} == {"offset"}


def test_the_strip_of_a_scope_counts_its_ids_alone(run: Run) -> None:
    index = index_of(run)
    for wanted in (Scope(host=QUIET), Scope(broker=BROKERS[0]), Scope(host=BUSY, broker=BROKERS[0])):
        found = run_tables.narrowed_activity(index, wanted)
        assert found is not None and found[0]["ids"].sum() == len(index.select(wanted.filter())) > 0
    assert run_tables.narrowed_activity(index, Scope()) is None


@pytest.mark.parametrize("seed", range(3))
def test_findings_of_a_scope_name_it(seed: int) -> None:
    """Of made-up evidence each finding is kept that has the host, the broker or the topic anywhere."""
    chance, rows, kept = random.Random(seed), [], []
    for number in range(30):
        host, broker, topic = chance.choice((BUSY, QUIET)), chance.choice(BROKERS), chance.choice(TOPICS)
        uniq = f"0A2A03{11 if host == BUSY else 12}0FA018B4AAC263F4FD4A{number:04X}"
        shape = number % 3
        if shape == 0:
            process = {"layout": "uniq_v4", "host": host, "pid": 4000, "loader": "18B4AAC2"}
            rows.append(("missing_ids", {"process": process, "gaps": []}))
            kept.append((host, "", ""))
        elif shape == 1:
            rows.append(("duplicate_send", {"ids": [uniq], "addresses": f"{broker}, 10.9.9.9:1", "topic": topic}))
            kept.append((host, broker, topic))
        else:
            rows.append(("broker_address_internal", {"broker": {"address": broker}}))
            kept.append(("", broker, ""))
    found = pd.DataFrame({"code": code, "evidence": model.json_text(value)} for code, value in rows)
    for place, names in enumerate((("host", BUSY), ("broker", BROKERS[0]), ("topic", "OrderPaid"))):
        name, value = names
        wanted = [row for row, known in enumerate(kept) if known[place] == value]
        assert scope.findings(found, Scope(**{name: value})).index.tolist() == wanted, name
    assert scope.findings(found, Scope()).equals(found)


def hrefs(app: AppTest, page: str) -> list[dict[str, list[str]]]:
    """What the links to a page ask for."""
    links = re.findall(rf'href="{page}\?([^"]*)"', shown(app).replace("&amp;", "&"))
    menu = [element.proto for element in app.get("page_link")]
    asked = [parse_qs(urlsplit(f"?{link}").query) for link in links]
    return asked + [parse_qs(proto.query_string) for proto in menu if proto.page.endswith(page)]


def test_a_host_travels_and_a_chip_removes_it(open_page: Open, run: Run) -> None:
    app = open_page("producers", run=run.name, host=BUSY)
    assert not app.exception
    for page in ("counters", "lines", "findings", "brokers"):
        asked = hrefs(app, page)
        assert asked and all(one.get("host") in ([BUSY], [QUIET]) for one in asked if "run" in one), page
    chip = next(button for button in app.button if button.label == f"Host {BUSY}")
    chip.click().run()
    assert "host" not in app.query_params and not [one for one in app.button if one.key == "filter-chip-host"]


@pytest.mark.parametrize("page", scope.APPLIES)
def test_a_page_with_nothing_to_show_keeps_filters_and_range(open_page: Open, tmp_path: Path, page: str) -> None:
    """A log of msgIds alone has no broker, and no store behind it has deliveries."""
    indexed_run(tmp_path / "runs", log(20))
    narrowed = {"host": BUSY, "topic": "OrderPaid", "from": "2026-11-20T01:50:00Z", "to": "2026-11-20T02:50:00Z"}
    app = open_page(page, run=RUN, **narrowed)
    assert not app.exception
    chips = [button.label for button in app.button if "filter-chip" in (button.key or "")]
    assert [label for label in chips if BUSY in label] and [label for label in chips if "OrderPaid" in label], chips
    assert "range-reset" in [button.key for button in app.button], "the time range too"


def test_the_figures_above_a_list_of_one_host_are_its_own(open_page: Open, run: Run) -> None:
    rows = run.table("processes").to_pandas()
    mine = rows[rows["host"] == QUIET]
    whole = {"from": "2026-11-01T00:00:00Z", "to": "2026-12-01T00:00:00Z"}
    app = open_page("producers", run=run.name, host=QUIET, **whole)
    counted = f"{len(mine)} process" + ("es" if len(mine) > 1 else "")
    said = re.sub(r"[*\\\\]|<[^>]*>", "", shown(app))
    assert f"In this time range: 1 host, {counted}, {mine['distinct'].sum():,} distinct msgIds" in said
    app = open_page("producers", run=run.name, host=QUIET)
    assert "All hosts: " in shown(app) and "All hosts: " not in shown(open_page("producers", run=run.name))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ["producers", "counters", "brokers", "findings", "lines"])
def test_each_page_says_what_does_not_narrow_it(open_page: Open, run: Run, page: str, lang: str) -> None:
    words = catalogue.words(lang)
    asked = {"host": BUSY, "broker": BROKERS[0], "topic": "OrderPaid"}
    app = open_page(page, run=run.name, lang=lang, **asked)
    assert not app.exception and not app.error
    idle = [name for name in asked if name not in scope.APPLIES[page]]
    assert [one.key for one in app.button if "filter-chip-idle" in str(one.key)] == [
        f"filter-chip-idle-{name}" for name in idle
    ]
    captions = [one.value for one in app.caption]
    if idle:
        names = words.listed([words(f"lines.by_{name}") for name in idle])
        assert words(f"scope.idle_{page}", names=names) in captions
    strip = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["title"]["text"]
    assert ("topic" in idle) == (words("range.every_topic") not in strip), "it counts all topics, and says so"
    assert words("range.whole_scan") not in strip


@pytest.mark.parametrize(
    ("page", "lang"), [("findings", "en"), ("lines", "zh"), ("producers", "en"), ("counters", "zh"), ("brokers", "en")]
)
def test_a_range_outside_of_the_scan_is_said_and_offered_on_the_clock_of_the_log(
    open_page: Open, run: Run, page: str, lang: str
) -> None:
    words, ends = catalogue.words(lang), ("09:55:05", "09:55:10")
    asked = dict(zip(("from", "to"), (f"2026-11-20T{end}.000Z" for end in ends), strict=True))
    app = open_page(page, run=run.name, lang=lang, zone="UTC", **asked)
    said = words("range.none", span="<b>2026-11-20 01:55 +00:00").replace("**", "")
    assert not app.exception and said.partition("</b>")[0].rstrip("。.") in shown(app)
    assert words("findings.none_range") not in shown(app) and "Compared: 0" not in shown(app)
    (link,) = [one.proto for one in app.get("page_link") if "09:55:05 – 09:55:10 +08:00" in one.proto.label]
    assert parse_qs(link.query_string)["from"] == ["2026-11-20T01:55:05.000Z"] and link.page.endswith(page)
    app = open_page(page, run=run.name, lang=lang, zone="Asia/Shanghai", **asked)
    assert not [one for one in app.get("page_link") if "+08:00" in one.proto.label], "it is the reader's zone"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_filter_that_no_finding_names_hides_them_and_says_so(open_page: Open, tmp_path: Path, lang: str) -> None:
    run, words = indexed_run(tmp_path / "runs"), catalogue.words(lang)
    found = run.table("findings").to_pandas()
    app = open_page("findings", run=run.name, lang=lang, broker="10.9.9.9:1")
    page = shown(app)
    bold = lambda text: re.sub(r"\*\*(.*?)\*\*", r"<b>\1</b>", text)  # noqa: E731
    names = words("scope.one", kind=words("scope.of_broker"), value="10.9.9.9:1")
    said = words("findings.unnamed_scan", count=len(found), n=len(found), names=names)
    hidden = words("findings.hidden", count=len(found), n=words.count("finding", len(found)))
    assert not app.exception and len(found) and bold(said + hidden) in page
    assert finding_texts.silent(found, words)[0] in page, "a check that found something elsewhere is not silent"
    (link,) = [one.proto for one in app.get("page_link") if one.proto.label == words("findings.unfiltered")]
    asked = parse_qs(link.query_string)
    assert asked["run"] == [run.name] and "broker" not in asked
    page = shown(open_page("findings", run=run.name, lang=lang, host=BUSY))
    named = scope.findings(found, Scope(host=BUSY))
    names = words("scope.one", kind=words("scope.of_host"), value=BUSY)
    assert len(named) and bold(finding_texts.filtered(named, len(found), names, words)) in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_brokers_in_a_short_range_or_filtered_say_what_is_true_of_them(open_page: Open, run: Run, lang: str) -> None:
    words = catalogue.words(lang)
    ends = {"from": "2026-11-20T01:55:10.000Z", "to": "2026-11-20T01:55:12.000Z"}
    page = shown(open_page("brokers", run=run.name, lang=lang, **ends))
    assert words("brokers.range_short") not in page and words("brokers.range_none") not in page
    assert re.search(r"\d [KM]iB/(s|秒)", page), "every record in the range is known, so its rate is"
    app = open_page("brokers", run=run.name, lang=lang, broker=BROKERS[1])
    said, *_ = [one.proto.body for one in app.get("html") if "mq-said" in one.proto.body]
    assert BROKERS[1] in said and BROKERS[0] not in said, "the headline is about the broker of the filter"
    assert words.count("broker", 1) in said and words.count("broker", 2) not in said


def test_counters_of_a_host_are_its_processes(open_page: Open, run: Run) -> None:
    pages = [open_page("counters", run=run.name, **asked) for asked in ({"host": QUIET}, {})]
    own, every = (next(box.options for box in app.selectbox if box.key == "pick_process") for app in pages)
    assert len(own) == 1 and QUIET in own[0] and len(every) == 2


@pytest.mark.parametrize("page", ["counters", "producers"])
def test_a_host_that_the_scan_does_not_have_is_named(open_page: Open, run: Run, page: str) -> None:
    app = open_page(page, run=run.name, host="10.9.9.9")
    assert catalogue.words("en")("filter.unknown_host", name="10.9.9.9") in [info.value for info in app.info]


def test_a_filter_is_chosen_in_a_box(open_page: Open, run: Run) -> None:
    app = open_page("findings", run=run.name, host=BUSY)
    next(box for box in app.selectbox if box.key == "scope-process").select(f"{QUIET}~4001~18B4AAC2").run()
    assert app.query_params["process"] == f"{QUIET}~4001~18B4AAC2" and "host" not in app.query_params


@pytest.mark.parametrize("page", ["producers", "counters", "brokers"])
def test_a_table_has_eight_columns_until_all_are_asked_for(open_page: Open, run: Run, page: str) -> None:
    def heads(app: AppTest) -> int:
        return shown(app).rpartition("<thead>")[2].partition("</thead>")[0].count("<th ") - (page != "brokers")  # "#"

    app = open_page(page, run=run.name, lang="en")
    assert heads(app) == 8
    next(one for one in app.toggle if one.key == "columns").set_value(True).run()
    assert heads(app) > 8 and app.query_params["columns"] == "all"
    assert heads(open_page(page, run=run.name, lang="en", columns="all")) == heads(app), "a link shows the same"


@pytest.mark.parametrize(
    ("page", "given"),
    [
        ("counters", {"process": "a~99999999999~b"}),
        ("producers", {"process": f"a~{'9' * 5_000}~b"}),
        ("findings", {"finding": "9" * 5_000}),
        ("lines", {"finding": "9" * 5_000}),
        ("lines", {"process": f"a~{'9' * 5_000}~b"}),
        ("lines", {"page": "9" * 5_000}),
        ("fate", {"page": "9" * 5_000, "rows": "inf"}),
    ],
)
def test_a_number_of_an_address_that_is_too_long_is_none(
    open_page: Callable[..., AppTest], run: Run, page: str, given: dict[str, str]
) -> None:
    app = open_page(page, run=run.name, **given)
    assert not app.exception and not any("error" in one.value for one in app.error)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_many_brokers_one_is_sought_and_they_are_ordered(open_page: Open, tmp_path: Path, lang: str) -> None:
    lines = log(20).splitlines()
    brokers = [f"10.42.9.{10 - place}:10911" for place in range(8)]
    offsets = [f"0A2A09{10 - place:02X}00002A9F{number:016X}" for number in range(200) for place in range(8)]
    text = "".join(f"{one}, offsetMsgId={offset}\n" for one, offset in zip(lines[:1_000], offsets, strict=False))
    run, words = indexed_run(tmp_path / "runs", text), catalogue.words(lang)

    def order(**asked: str) -> list[str]:
        page = shown(open_page("brokers", run=run.name, lang=lang, **asked))
        places = {address: page.find(f"broker={address.replace(':', '%3A')}") for address in brokers}
        return sorted((address for address, place in places.items() if place >= 0), key=places.__getitem__)

    assert order(by="address")[:8] == sorted(brokers, key=lambda one: int(one.split(":")[0].split(".")[3]))
    assert words("brokers.no_broker") in shown(open_page("brokers", run=run.name, lang=lang, q="nobody"))


@pytest.mark.long(first=1)
@pytest.mark.parametrize(
    ("lost", "title", "process"),
    [(30, "counter_of", f"{QUIET}~4001~18B4AAC2"), (0, "counters", f"{BUSY}~4000~18B4AAC2")],
)
def test_decode_shows_the_counter_of_the_process_that_misses_most(
    open_page: Open, tmp_path: Path, lost: int, title: str, process: str
) -> None:
    lines = log(180).splitlines(keepends=True)
    slow = [line for line in lines if "0A2A0312" in line][60 : 60 + lost]
    run = indexed_run(tmp_path / "runs", "".join(line for line in lines if line not in slow))
    app, label = (
        open_page("decode", run=run.name, lang="en"),
        catalogue.words("en")(f"pictures.{title}", host=process.split("~")[0]),
    )
    (link,) = [one.proto for one in app.get("page_link") if one.proto.label == label]
    assert parse_qs(link.query_string)["process"] == [process]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_decode_leads_from_an_id_to_its_lines_in_other_scans(open_page: Open, run: Run, lang: str) -> None:
    ids = re.findall(r"msgId=(\w+)", Path(next(run.path.glob("input/*"))).read_text())
    for text, there in ((ids[7], True), (ids[7][:-4] + "FFFF", False)):
        links = [parse_qs(one.proto.query_string) for one in open_page("decode", ids=text, lang=lang).get("page_link")]
        found = [one for one in links if one.get("ids") == [text] and one.get("run") == [run.name]]
        assert bool(found) is there

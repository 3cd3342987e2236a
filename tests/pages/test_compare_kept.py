"""Comparisons that are kept: when the missing ids were generated, the lines they lead to, links, deletions."""

from __future__ import annotations

import gc
import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from idcore.base.catalogue import words
from idcore.ids import Clock, identify
from idcore.ids.describe import describe
from idcore.ids.origins import BrokerAddress, Fingerprint
from idcore.ids.tokens import Token
from idcore.intake.intake import Dating, Source
from idcore.presentation.triage import compared, compared_texts
from idcore.runs.runs import COMPARE, Run, Runs
from idcore.server import jobs
from idcore.simulate.scenario import Scenario
from pages.parts import scans
from pages.parts.charts import compare as charts
from pages.parts.triage import compare
from tests.pages.conftest import reader
from tests.pages.test_compare import comparing, kept_run
from tests.pages.test_pages import press, shown
from tests.pages.test_runs import change, done_at_once

Open = Callable[..., AppTest]
NOW = datetime(2026, 11, 21, 2, tzinfo=UTC)
DATING = Dating(UTC, "given", NOW)
HOST = "0A000007"  # 10.0.0.7
ELAPSED = (datetime(2026, 11, 20, 9, 50, tzinfo=UTC) - datetime(2026, 11, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def ids(pid: int, seconds: range, counter: int = 0) -> list[str]:
    """One msgId a second from 2026-11-20 09:50 UTC on."""
    return [f"{HOST}{pid:04X}18B4AAC2{ELAPSED + 1000 * s:08X}{(counter + s) % 65_536:04X}" for s in seconds]


def asked(first: list[str], second: list[str]) -> compared.ComparisonQuery:
    one, other = (Source(f"{name}.log", "\n".join(part).encode()) for name, part in (("a", first), ("b", second)))
    return compared.ComparisonQuery((one,), (other,))


def test_what_is_missing_is_counted_by_time_and_producer(tmp_path: Path) -> None:
    first, second = ids(4711, range(720)) + ids(4712, range(10)), ids(4711, range(60)) + ids(4712, range(12))
    found = compared.compare(asked(first, second), DATING, Runs(tmp_path))
    (row,) = compared.largest(found, "before")
    assert (row.subject, row.missing) == ("10.0.0.7 pid 4711 loader 18B4AAC2", 660)
    start = NOW.replace(day=20, hour=9, minute=50).timestamp() * 1000
    made = found.generated["before", row.kind, row.subject]
    assert (made.first, made.last, made.dated) == (start + 60_000, start + 719_000, 660)
    bins = [one for one in found.bins if one[0] == "before"]
    assert sum(n for *_, n in bins) == 660 and found.bin_seconds == 10 and {one[3] % 10_000 for one in bins} == {0}
    assert [n for *_, n in bins] == [10] * 66
    assert [one[-1] for one in found.bins if one[0] == "after"] == [2]
    assert found.lines[row.kind, row.subject] == "10.0.0.7~4711~18B4AAC2"
    assert found.whose["before", row.kind, row.subject] == [one for one in first if one not in second][:660]


def test_times_are_those_that_the_scan_of_a_single_id_gives(tmp_path: Path) -> None:
    lines = list(Scenario(7, datetime(2026, 11, 20, 9, 50, tzinfo=UTC), UTC, 900).log(900))
    text = [Source("a.log", "\n".join(lines).encode())]
    found = compared.compare(
        compared.ComparisonQuery(tuple(text), (Source("b.log", lines[0].encode()),)), DATING, Runs(tmp_path)
    )
    clock = Clock(NOW, UTC, "given")
    seen = 0
    for name, texts in found.whose.items():
        made = found.generated.get(name)
        if name[:2] != ("before", "uniq") or made is None:
            continue
        for one in texts:
            sent = describe(identify(one), Token(one, 1, 1), clock)["sent_at"]
            if sent is not None:
                assert made.first <= datetime.fromisoformat(sent).timestamp() * 1000 <= made.last, (name, sent)
                seen += 1
    assert seen > 100


def test_the_span_of_all_decides_the_step_and_there_are_never_too_many_bins() -> None:
    def step(seconds: int) -> int:
        return compared.bin_seconds([compared.Generated(0, seconds * 1000, 1)])

    assert [step(n) for n in (0, 10, 95, 96, 3_600, 86_400, 30 * 86_400)] == [1, 1, 1, 2, 60, 1800, 43200]
    assert compared.bin_seconds([]) == 1 and step(10**9) == compared.STEPS[-1]
    assert compared.bin_seconds([compared.Generated(900, 95_999, 1)]) == 1, "in 96 bins"
    assert compared.bin_seconds([compared.Generated(900, 96_800, 1)]) == 2, "they would be 97"


def test_many_producers_have_one_series_for_the_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "MOST_SERIES", 2)
    first = [one for pid in range(5) for one in ids(100 + pid, range(10 - pid))]
    found = compared.compare(asked(first, ids(1, range(1))), DATING, Runs(tmp_path))
    sums: dict[str, int] = {}
    for _, _, subject, _, n in (one for one in found.bins if one[0] == "before"):
        sums[subject.partition(" loader")[0]] = sums.get(subject.partition(" loader")[0], 0) + n
    assert sums == {"10.0.0.7 pid 100": 10, "10.0.0.7 pid 101": 9, "": 8 + 7 + 6}
    frame = compared_texts.times(found)
    assert frame["ids"].sum() == 41 and set(frame["side"]) == {"before", "after"}


def test_what_is_kept_is_what_was_found(tmp_path: Path) -> None:
    first, second = ids(4711, range(50)), ids(4711, range(40)) + ids(4712, range(3))
    here = asked([*first, "20010DB800000000000000000000000100002A9F0000000000000001"], second)
    found = compared.compare(here, DATING, Runs(tmp_path))
    run = compared.make(here, DATING, Runs(tmp_path), "digest")
    read = compared.read(run)
    assert (run.state, run.kind, read.ids, read.whose) == ("done", COMPARE, found.ids, found.whose)
    assert (read.rows, read.generated, read.bins, read.bin_seconds) == (
        found.rows,
        found.generated,
        found.bins,
        found.bin_seconds,
    )
    assert run.summary is not None and (run.summary["only_first"], run.summary["only_second"]) == (10, 3)
    copies = [b"".join(source.pieces()) for side in compared.SIDES for source in compared.sources_of(run, side)]
    assert copies == [b"".join(source.pieces()) for source in (*here.before, *here.after)]


@pytest.mark.parametrize(("problem", "state"), [(RecursionError("deep"), "failed"), (KeyboardInterrupt(), "cancelled")])
def test_whatever_ends_a_comparison_its_run_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: BaseException, state: str
) -> None:
    def fails(*_: Any) -> None:
        raise problem

    monkeypatch.setattr(compared, "compare", fails)
    with pytest.raises(type(problem)):
        compared.make(asked(ids(1, range(2)), ids(1, range(1))), DATING, Runs(tmp_path), "digest")
    assert [run.state for run in Runs(tmp_path).list()] == [state]


def test_a_comparison_that_fails_says_so_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compared, "_write", broken)
    with pytest.raises(OSError, match="No space"):
        compared.make(asked(ids(1, range(2)), ids(1, range(1))), DATING, Runs(tmp_path), "digest")
    assert [run.state for run in Runs(tmp_path).list()] == ["failed"]


# ---- on the page


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    first, second = ids(4711, range(720)), ids(4711, range(60)) + ids(4712, range(3))
    names = ("20261121-015500-a1b2c3", "20261121-015600-a1b2c4")
    for name, part in zip(names, (first, second), strict=True):
        kept_run(tmp_path, name, "\n".join(part))
        shutil.rmtree(tmp_path / "runs" / name / "processes")  # of another input
    return names


def hrefs(page: str, text: str) -> list[dict[str, list[str]]]:
    return [
        parse_qs(urlsplit(found.replace("&amp;", "&")).query) for found in re.findall(rf'href="({text}\?[^"]*)"', page)
    ]


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", r"only in the first: generated [0-9-]{7}-20 09:51 to 10:01 \+08:00 \(month assumed\)\."),
        ("zh", r"生成于 [0-9-]{7}-20 09:51 至 10:01 \+08:00（月份为假定）"),
    ],
)
def test_the_sentence_says_what_is_missing_and_when(
    open_page: Open, pair: tuple[str, str], lang: str, said: str
) -> None:
    app = open_page("compare", a=pair[0], b=pair[1], lang=lang, zone="Asia/Shanghai")
    page = shown(app)
    assert not app.exception and not app.error and re.search(said, page)
    assert "10.0.0.7 pid 4711" in page and words(lang)("compare.over_time") in page
    assert len(app.get("plotly_chart")) == 4, (
        "the strip of times, the share and the number that are missing by time, the hosts"
    )


def test_lists_lead_to_lines_by_ids_or_by_producer_and_time(open_page: Open, pair: tuple[str, str]) -> None:
    ways = hrefs(shown(open_page("compare", a=pair[0], b=pair[1], zone="UTC")), "lines")
    many = [way for way in ways if "process" in way]
    few = [way for way in ways if "ids" in way]
    assert many and few
    for way in many:
        assert way["run"] == [pair[0]] and way["process"] == ["10.0.0.7~4711~18B4AAC2"]
        assert way["from"][0].endswith("-20T09:51:00.000Z") and way["to"][0].endswith("-20T10:01:59.001Z")
    for way in few:
        assert way["run"] == [pair[1]] and way["ids"] == [",".join(ids(4712, range(3)))]


def test_a_comparison_of_an_older_version_is_read_without_its_hosts(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    here = asked(
        [*ids(4711, range(50)), "20010DB800000000000000000000000100002A9F0000000000000001"], ids(4711, range(4))
    )
    run = compared.make(here, DATING, runs, "digest")
    assert {row.origin for row in compared.read(run).rows} == {
        Fingerprint("10.0.0.7", 4711, "18B4AAC2"),
        BrokerAddress("2001:db8::1", 10911),
    }
    older = run.table("differences").drop_columns(["host", "pid", "loader", "port"])
    pq.write_table(older, run.path / "differences" / "part-00000.parquet")
    old = compared.read(runs.open(run.name))
    assert [row.subject for row in old.rows] == [row.subject for row in compared.compare(here).rows]
    assert all(row.origin.place == row.origin.brief == row.subject for row in old.rows)


def test_a_link_to_a_comparison_that_is_gone_says_so_above_the_boxes(open_page: Open) -> None:
    app = open_page("compare", run="20260101-000000-aaaaaa")
    order = [element.type for element in app.main if element.type in ("error", "text_area", "button")]
    assert len(app.error) == 1 and order[0] == "error" and "text_area" in order and "run" not in app.query_params


def test_a_pasted_pair_has_a_run_of_its_own_that_a_link_opens(open_page: Open) -> None:
    app = comparing(open_page, "\n".join(ids(1, range(5))), "\n".join(ids(1, range(3))))
    (run,) = Runs().list()
    assert run.kind == COMPARE and app.query_params["run"] in (run.name, [run.name])
    assert not hrefs(shown(app), "lines"), "what was not scanned has no lines"
    page = shown(other := open_page("compare", run=run.name, zone="UTC"))
    assert "<b>2 msgIds</b> of 10.0.0.7 pid 1 only in the first" in page and not other.exception
    comparing(open_page, "\n".join(ids(1, range(5))), "\n".join(ids(1, range(3))))
    assert len(Runs().list()) == 1, "the same inputs again are the comparison that is kept"


def test_an_input_that_was_not_scanned_can_be(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str]
) -> None:
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(scans, "launch", done_at_once)
    app = comparing(open_page, "\n".join(ids(1, range(5))), "\n".join(ids(1, range(3))))
    press(app, "Scan the first input")
    (run,) = (run for run in Runs().list() if run.kind == COMPARE)
    (way, *_) = hrefs(shown(app), "lines")
    assert way["run"] == [run.options["of"][0]] and way["ids"] == [",".join(ids(1, range(3, 5)))]
    assert Run(run.path.parent / run.options["of"][0]).kind == "text" and not app.exception


def test_one_scan_of_a_link_waits_for_the_other(open_page: Open, pair: tuple[str, str]) -> None:
    for side, asked in (("before", {"run": pair[0]}), ("before", {"a": pair[0]}), ("after", {"b": pair[0]})):
        page = open_page("compare", **asked)
        assert page.selectbox(key=f"compare-run-{side}").value == pair[0] and not page.error
        page.selectbox(key=f"compare-run-{'after' if side == 'before' else 'before'}").set_value(pair[1])
        assert "Examples" in shown(press(page, "Compare")) and not page.exception


def test_what_a_link_names_and_is_not_a_comparison_is_said(open_page: Open, pair: tuple[str, str]) -> None:
    assert "There is no scan" in open_page("compare", run="20200101-000000-000000").error[0].value
    gone = "20200101-000000-000000"
    for asked in ({"run": "../../etc"}, {"a": pair[0], "b": gone}, {"a": gone}, {"b": "../../etc"}):
        page = open_page("compare", **asked)
        assert page.error and not page.exception and page.text_area, asked
    comparing(open_page, ids(1, range(1))[0], ids(1, range(2))[1])
    (run,) = (run for run in Runs().list() if run.kind == COMPARE)
    assert "is not a scan, but a comparison" in open_page("compare", a=run.name, b=pair[0]).error[0].value


def test_a_comparison_stays_when_its_scans_are_deleted_and_is_made_again_when_it_is(
    open_page: Open, pair: tuple[str, str]
) -> None:
    app = open_page("compare", a=pair[0], b=pair[1])
    (run,) = (run for run in Runs().list() if run.kind == COMPARE)
    Runs().delete(run.name)
    scans.cache.forget_runs()
    assert "<b>660 msgIds</b>" in shown(app.run()) and not app.exception
    (again,) = (run for run in Runs().list() if run.kind == COMPARE)
    for name in pair:
        Runs().delete(name)
    scans.cache.forget_runs()
    assert "<b>660 msgIds</b>" in shown(open_page("compare", run=again.name))


def test_an_input_that_was_scanned_has_the_lines_of_that_scan(
    open_page: Open, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans, "_known", lambda digest: Runs().open(pair[0]))
    app = comparing(open_page, "\n".join(ids(1, range(5))), "\n".join(ids(1, range(3))))
    (run,) = (run for run in Runs().list() if run.kind == COMPARE)
    assert run.options["of"] == [pair[0], pair[0]] and not app.exception


def test_what_is_not_kept_is_not_kept_as_a_comparison_either(
    open_page: Open, pair: tuple[str, str], tmp_path: Path
) -> None:
    change(tmp_path / "runs" / pair[0], kept=False)
    app = open_page("compare", a=pair[0], b=pair[1])
    (run,) = (run for run in Runs().list() if run.kind == COMPARE)
    assert not run.kept and run.name in app.session_state["visit"].kept["held"]
    assert app.query_params["run"] in (run.name, [run.name])
    app.session_state["visit"].kept["held"].clear()
    gc.collect()
    assert not run.path.exists()
    pasted = open_page("compare", keep="no")
    pasted.text_area[0].set_value(ids(1, range(1))[0])
    pasted.text_area[1].set_value(ids(1, range(2))[1])
    press(pasted, "Compare")
    assert [one.kept for one in Runs().list() if one.kind == COMPARE] == [False]


def test_a_sidebar_of_a_comparison_leads_to_the_latest_scan(open_page: Open, pair: tuple[str, str]) -> None:
    app = comparing(open_page, ids(1, range(1))[0], ids(1, range(2))[1])
    (run,) = (run for run in Runs().list() if run.kind == COMPARE)
    assert not [link for link in app.sidebar.get("page_link") if run.name in link.proto.query_string]


def test_ids_without_a_time_are_counted_in_the_small_print(open_page: Open) -> None:
    no_month = f"{HOST}000118B4AAC2FFFFFFF00001"  # more milliseconds than any month has
    page = shown(comparing(open_page, ids(1, range(2))[0], "\n".join([ids(1, range(2))[1], no_month])))
    assert "Without a known time" in page and "1 ID" in page


def test_the_picture_has_no_sign_and_says_which_way_is_which(tmp_path: Path) -> None:
    from pages.parts.view import View

    found = compared.compare(asked(ids(1, range(100)), ids(2, range(7))), DATING, Runs(tmp_path))
    view = View(words("en"), UTC, "UTC", "chosen", "light")
    rows = compared_texts.times(found)
    figure = charts.over_time(rows, found, view)
    ticks = json.loads(figure.to_json())["layout"]["yaxis"]["ticktext"]
    assert not [tick for tick in ticks if "-" in tick or "−" in tick]
    assert {note.text for note in figure.layout.annotations} == {"− only in the first", "+ only in the second"}
    assert sum(sum(bar.y) for bar in figure.data) == 93
    assert "100 IDs only in the first, 2026-11-20 09:50" in compared_texts.alt_over_time(rows, view)
    assert set(compared_texts.data_over_time(rows)["side"]) == {"first", "second"}


def test_the_first_lines_are_shown_in_place_once_they_are_asked_for(
    open_page: Open, pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_lines: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(
        compare.lines, "preview", lambda run, view, filters: shown_lines.append((run.name, dict(filters)))
    )
    app = open_page("compare", a=pair[0], b=pair[1], zone="UTC")
    assert not shown_lines and not app.exception
    app.session_state["compare-lines-before"] = True
    app.run()
    ((name, filters),) = shown_lines
    assert name == pair[0] and filters.keys() == {"process", "from", "to"} and not app.exception


@pytest.mark.parametrize("seed", range(2))
def test_what_is_missing_by_time_is_what_the_lines_say(tmp_path: Path, seed: int) -> None:
    """Of each bin the IDs of either log that the other one lacks, against a count of the texts by hand."""
    chance, every = random.Random(seed), ids(4711, range(3_000))
    first = [text for text in every if chance.random() > 0.02]
    second = [text for n, text in enumerate(every) if chance.random() > 0.02 and not 1_000 <= n < 1_500]
    found = compared.compare(asked(first, second), DATING, Runs(tmp_path))
    for side, own, other in (("before", first, set(second)), ("after", second, set(first))):
        by_hand: dict[int, list[int]] = {}
        for text in own:
            at = int(datetime(2026, 11, 1, tzinfo=UTC).timestamp()) + int(text[20:28], 16) // 1000
            place = by_hand.setdefault(at // found.rate_seconds * found.rate_seconds * 1000, [0, 0])
            place[0] += text not in other
            place[1] += 1
        assert {at: [missing, of] for name, at, missing, of in found.rates if name == side} == by_hand
    hole = compared_texts.densest(found, "before")
    assert hole is not None and 450 < hole[2] < 520 and (hole[1] - hole[0]) / 1000 < 600
    assert compared_texts.densest(found, "after") is None, "chance is no hole"


def test_names_of_files_are_text_in_the_picture(tmp_path: Path) -> None:
    found = compared.compare(asked(ids(4711, range(900)), ids(4711, range(60, 900))), DATING, Runs(tmp_path))
    names = ('<a href="https://example.invalid/">Log in</a>', "<b>b.log</b>")
    figure = charts.rates(compared_texts.rates(found), names, found.rate_seconds, reader())
    (series,) = figure.data
    assert series.name.startswith("&lt;a href=") and "&lt;b&gt;b.log" in series.name
    assert not any("<a" in text or "<b>b.log" in text for text in series.hovertext)


def test_the_headline_has_the_names_of_files_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = ids(4711, range(3_000))
    found = compared.compare(asked(every, every[:1_000]), DATING, Runs(tmp_path))
    monkeypatch.setattr(compared_texts, "names_of", lambda run, words: ("a<b>[1].log", "b\u202e.log"))
    said = compared_texts.headline(cast("Run", None), found, reader())
    assert "a<b>[1].log" in said and "\u202e" not in said and "\\u202e" in said, "a page escapes it"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_assumed_of_a_time_is_said_in_the_headline_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    every = ids(4711, range(3_000))
    found = compared.compare(asked(every, every[:1_000] + every[1_500:]), DATING, Runs(tmp_path))
    (span,) = found.generated.values()
    monkeypatch.setattr(compared_texts, "names_of", lambda run, words: ("a.log", "b.log"))
    for codes in ((), ("zone",), ("month", "zone")):
        dated = replace(found, generated={key: replace(span, assumed=codes) for key in found.generated})
        said = compared_texts.headline(cast("Run", None), dated, reader(lang=lang))
        marks = [words(lang).assumed(each) for each in (("zone",), ("month", "zone"))]
        assert [mark in said for mark in marks] == [codes == ("zone",), codes == ("month", "zone")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_headline_has_a_share_and_the_names_of_the_files(open_page: Open, pair: tuple[str, str], lang: str) -> None:
    app = open_page("compare", a=pair[0], b=pair[1], lang=lang, zone="Asia/Shanghai")
    page = shown(app)
    assert re.search(r"[\d.]+%</b>", page) and "mq-proportion" in page and "flex-grow:" in page
    names = [words(lang)(f"compare.the_{side}") for side in ("before", "after")]
    assert all(words(lang)("compare.bar_only", name=name) in page for name in names)

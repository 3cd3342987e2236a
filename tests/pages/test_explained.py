"""What is different in a time range, and in a list of IDs: against a count of every line by hand, and in words."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from math import sqrt
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers import differences
from idcore.answers.differences import Difference, Stretch
from idcore.base import catalogue
from idcore.ids.model import OffsetId, UniqId
from idcore.presentation.html import explained as html
from idcore.presentation.triage import explained, host_rows, run_tables
from idcore.presentation.triage.scope import Scope
from idcore.presentation.triage.time_range import ALL_TIMES, TimeRange
from idcore.runs.runs import Run
from tests.pages.conftest import RUN, reader
from tests.pages.test_pages import shown
from tests.pages.test_time_range import MONTH, START, after, index_of, indexed_run

Open = Callable[..., AppTest]
HOSTS = [f"0A2A03{number:02X}" for number in range(4)]
MINUTE = after(60, 60)
EVERYTHING = Scope()


def shifting_log(seed: int) -> str:
    """Two minutes of four hosts and two brokers. In the second one host sends ten times as much, and counters skip."""
    chance, lines, counters = random.Random(seed), [], Counter[str]()
    for number in range(3_000):
        late = number >= 1_500
        host = chance.choices(HOSTS, [1, 1, 10 if late else 1, 1])[0]
        counters[host] += 40 if late and chance.random() < 0.01 else 1
        elapsed = (START - MONTH) // timedelta(milliseconds=1) + number * 40
        uniq = f"{host}0FA018B4AAC2{elapsed:08X}{counters[host]:04X}"
        broker = "1" if late else chance.choice("12")
        lines.append(f"msgId={uniq}, offsetMsgId=0A2A090{broker}00002A9F{number * 1000:016X}\n")
    return "".join(lines)


def judged(run: Run) -> pd.DataFrame:
    points = run.table("counters").to_pandas()
    return host_rows.judged(run.table("processes").to_pandas(), lambda row: points[points["host"] == row["host"]])


def explained_in(run: Run, shown: TimeRange = MINUTE, wanted: Scope = EVERYTHING) -> explained.Explained:
    totals = run_tables.totals(run)
    found = run_tables.explained(run, index_of(run), shown, judged(run), totals, wanted, lambda _: None)
    assert found is not None
    return found


def sent_at(uniq: str) -> datetime:
    return MONTH + timedelta(milliseconds=UniqId.from_hex(uniq).elapsed)


def slow(text: str, begin: datetime, end: datetime) -> tuple[explained.Counted, explained.Counted]:
    """Each line read with the scalar codec: its host and broker, in the range or in the time before it."""
    sides: tuple[explained.Counted, ...] = tuple({"host": Counter(), "broker": Counter()} for _ in range(2))
    for line in text.splitlines():
        uniq, offset = (part.partition("=")[2] for part in line.split(", "))
        at = sent_at(uniq)
        if begin - (end - begin) <= at < end:
            side = sides[0 if at >= begin else 1]
            side["host"][UniqId.from_hex(uniq).host] += 1
            side["broker"][OffsetId.from_hex(offset).address] += 1
    return sides[0], sides[1]


def by_hand(one: Difference) -> bool:
    """The rule once more: at least 1 % and four standard deviations of two samples of one share."""
    pooled = (one.inside + one.outside) / (one.of_inside + one.of_outside)
    error = sqrt(pooled * (1 - pooled) / one.of_inside + pooled * (1 - pooled) / one.of_outside)
    apart = abs(one.inside / one.of_inside - one.outside / one.of_outside)
    return apart >= 0.01 and apart >= 4 * error and max(one.inside, one.outside) >= 5


def skipped(text: str, host: str, begin: datetime) -> int:
    """How many counters are skipped before the IDs of a host from `begin` on."""
    ids = [one for line in text.splitlines() if (one := UniqId.from_hex(line[6:38])).host == host]
    late = [MONTH + timedelta(milliseconds=one.elapsed) >= begin for one in ids]
    return sum(b.counter - a.counter - 1 for a, b, counts in zip(ids, ids[1:], late[1:], strict=False) if counts)


@pytest.mark.parametrize("seed", range(3))
def test_a_range_is_compared_as_every_line_of_it_by_hand(tmp_path: Path, seed: int) -> None:
    text = shifting_log(seed)
    run = indexed_run(tmp_path / "runs", text)
    found = explained_in(run)
    assert MINUTE.begin is not None and MINUTE.end is not None
    assert (found.base, found.begin, found.end) == ("before", START, MINUTE.begin)
    here, there = slow(text, MINUTE.begin, MINUTE.end)
    every = [
        Difference(by, value, here[by][value], here[by].total(), there[by][value], there[by].total())
        for by in here
        for value in here[by] | there[by]
    ]
    own = [one for one in found.differences if one.by in here]
    assert set(own) == {one for one in every if by_hand(one)} and len(own) > 4
    assert {one.value for one in own[:4]} >= {"10.42.3.2", "10.42.9.1:10911"}, "what the log was made with"
    missing = {one.value: one.inside for one in found.differences if one.by == "missing"}
    assert missing == {host: skipped(text, host, MINUTE.begin) for host in missing} and "10.42.3.2" in missing


def test_without_a_time_before_it_the_rest_of_the_scan_is_compared() -> None:
    base = partial(explained.base_of, first=START, last=START + timedelta(minutes=3))
    first = after(0, 60)
    assert base(first) == ("rest", [TimeRange(None, START), TimeRange(first.end, None)])
    assert base(TimeRange(None, START)) == ("rest", [TimeRange(START, None)])
    assert base(MINUTE) == ("before", [first])
    late = START + timedelta(minutes=2)
    assert base(TimeRange(late)) == ("before", [TimeRange(late - timedelta(minutes=1), late)]), "as long as to the last"


def test_a_range_is_compared_with_no_more_time_than_the_scan_has_before_it(tmp_path: Path) -> None:
    run, words = indexed_run(tmp_path / "runs", shifting_log(1)), catalogue.words("en")
    late = after(40, 80)
    found = explained_in(run, late)
    assert (found.base, found.begin, found.end) == ("before", START, late.begin), "and not from 40 s before the log"
    assert found.seconds == (80, 40) == found.uneven
    sizes = explained.headline(found, words, "09:55:00 – 09:55:40")[1]
    assert sizes.startswith("The scan has only 40 s before this range.")
    assert sizes.endswith(
        f"These are {found.ids * 60 / 80:,.0f} a minute in the range, {found.others * 60 / 40:,.0f} a minute before."
    )
    missing = next(one for one in found.differences if one.by == "missing")
    assert f"**{missing.inside * 60 / 80:,.0f} a minute**" in explained.sentence(missing, found, words)
    assert f"{missing.inside * 60 / 80:,.0f} a minute" in html.rows(found, RUN, late, reader(UTC))
    beyond = explained_in(run, after(60, 600))
    assert (beyond.begin, beyond.seconds, beyond.uneven) == (START, (60, 60), None), "the log ends after a minute of it"
    even = explained_in(run)
    assert even.uneven is None and "a minute" not in "".join(explained.headline(even, words, ""))
    past = TimeRange(START + timedelta(hours=1))
    assert explained.base_of(past, START, START + timedelta(minutes=2)) == ("rest", [TimeRange(None, past.begin)])


def test_an_empty_time_before_it_is_left_for_the_rest_of_the_scan_and_that_is_said(tmp_path: Path) -> None:
    words, text = catalogue.words("en"), shifting_log(1)
    kept = [line for line in text.splitlines(keepends=True) if not 40 <= (sent_at(line[6:38]) - START).seconds < 60]
    run = indexed_run(tmp_path / "runs", "".join(kept))
    late, everything = after(60, 20), after(0, 200)
    found = explained_in(run, late)
    here = sum(60 <= (sent_at(line[6:38]) - START).seconds < 80 for line in kept)
    assert (found.base, found.begin, found.end) == ("rest", START + timedelta(seconds=40), late.begin)
    assert (found.ids, found.others) == (2 * here, 2 * (len(kept) - here)) and found.differences
    said = explained.headline(found, words, "09:50:40 – 09:51")
    assert said[1].startswith("The time before, 09:50:40 – 09:51, has no IDs.")
    alone = explained_in(run, everything)
    assert alone.others == 0
    assert explained.headline(alone, words, "") == (words("explain.alone", base=words("explain.than_rest")), "")
    none = explained.of_list(explained._none(), explained._none() | {"host": Counter(a=9)})
    assert explained.headline(none, words, "x")[0] == words("explain.empty", where=words("explain.list"))


@pytest.mark.parametrize("wanted", [Scope(host="10.42.3.1"), Scope(broker="10.42.9.1:10911"), Scope(topic="T1")])
def test_a_filter_holds_on_both_sides(tmp_path: Path, wanted: Scope) -> None:
    lines = [f"{one} topic=T{at % 3}\n" for at, one in enumerate(shifting_log(1).splitlines())]
    run = indexed_run(tmp_path / "runs", "".join(lines))
    found = explained_in(run, MINUTE, wanted)

    def counted(first: int) -> int:
        some = [line for line in lines if first <= (sent_at(line[6:38]) - START).seconds < first + 60]
        if wanted.host:
            return sum(UniqId.from_hex(line[6:38]).host == wanted.host for line in some)
        if wanted.broker:
            return sum("=0A2A0901" in line for line in some)
        return 2 * sum("topic=T1" in line for line in some)

    assert (found.ids, found.others) == (counted(60), counted(0)) and found.others
    hosts = {one.value for one in found.differences if one.by in ("host", "missing")}
    assert hosts <= {wanted.host} if not wanted.topic else not any(one.by == "missing" for one in found.differences)
    whole = explained_in(run, MINUTE, Scope(process="10.42.3.2~4000~18B4AAC2"))
    assert whole.ids == explained_in(run, MINUTE, Scope(host="10.42.3.2")).ids > 0
    assert any(one.by == "missing" for one in whole.differences)
    process = explained_in(run, MINUTE, Scope(process="10.42.3.2~4001~18B4AAC2"))
    assert process.ids == 0 == process.others and not process.differences, "that process has no ID"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_a_host_its_total_its_missing_ids_and_its_silence_are_differences(tmp_path: Path, lang: str) -> None:
    """Host 1 is silent from 90 to 112 s, two seconds longer than the range; its counter goes on."""
    host, words, text = "10.42.3.1", catalogue.words(lang), shifting_log(1)

    def second(line: str) -> float:
        return (sent_at(line[6:38]) - START).total_seconds()

    own = [line for line in text.splitlines(keepends=True) if UniqId.from_hex(line[6:38]).host == host]
    lost = {line for line in own if 90 <= second(line) < 112}
    kept = [line for line in own if line not in lost]
    run = indexed_run(tmp_path / "runs", "".join(line for line in text.splitlines(keepends=True) if line not in lost))
    late = after(60, 50)
    found = explained_in(run, late, Scope(host=host))
    told = {one.by: one for one in found.differences}
    here, there = ([line for line in kept if begin <= second(line) < begin + 50] for begin in (60, 10))
    assert (told["total"].inside, told["total"].outside) == (len(here), len(there)) == (found.ids, found.others)
    assert told["total"].value == host and told["pause"].inside == round(1000 * (110 - max(map(second, here))))
    last, following = (UniqId.from_hex(line[6:38]).counter for line in (here[-1], kept[kept.index(here[-1]) + 1]))
    gap = following - last - 1
    assert gap >= len(lost) and told["missing"].inside >= gap, "it began in the range"
    assert found.reaches and words("explain.reaches") in explained.headline(found, words, "", host)[1]
    whole = explained_in(run, late)
    assert any((one.by, one.value) == ("missing", host) for one in whole.differences)
    assert not {"total", "pause"} & {one.by for one in whole.differences}
    silent = explained_in(run, after(92, 10), Scope(host=host))
    (total,) = (one for one in silent.differences if one.by == "total")
    assert total.inside == 0 == silent.ids and total.outside == silent.others > 0
    assert explained.headline(silent, words, "", host)[0] == explained.sentence(total, silent, words), (
        "not: nothing to compare"
    )
    assert explained.lines_of(total, MINUTE)[0] == "lines" and explained.figures(told["pause"], None, words)[0][:2] in (
        "19",
        "20",
    )
    busy = {one.by for one in explained_in(run, after(30, 30), Scope(host="10.42.3.0")).differences}
    assert not {"total", "pause", "missing"} & busy, "chance explains nothing"


def test_the_findings_of_a_host_explain_that_host_alone(open_page: Open, tmp_path: Path) -> None:
    run = indexed_run(tmp_path / "runs", shifting_log(1))
    asked = {"run": run.name, "lang": "en", "zone": "UTC", "host": "10.42.3.1"}
    app = open_page("findings", **asked, **MINUTE.params())
    own = explained_in(run, MINUTE, Scope(host="10.42.3.1"))
    assert not app.exception and f"{own.ids:,}" in shown(app)
    assert (
        "Both sides have only IDs of host" in shown(app)
        and "10.42.3.2" not in shown(app).split("What is different")[-1]
    )


def test_chance_explains_nothing() -> None:
    assert not Difference("host", "a", 52, 100, 48, 100).is_telling
    assert Difference("host", "a", 520, 1000, 100, 1000).is_telling
    assert not Difference("host", "a", 3, 3, 0, 900).is_telling, "three IDs are not a share"
    assert not Difference("host", "a", 10, 10, 0, 0).is_telling, "there is no other side"
    assert not differences.of_stretches("h", Stretch(920, 60_000, 700), Stretch(1_000, 60_000, 300))
    told = differences.of_stretches("h", Stretch(600, 60_000, 20_000), Stretch(1_000, 60_000, 300))
    assert [one.by for one in told] == ["total", "pause"]
    slow = differences.of_stretches("h", Stretch(10, 60_000, 20_000), Stretch(11, 60_000, 9_000))
    assert not slow, "of eleven IDs a minute two may be 20 s apart"
    half = differences.of_stretches("h", Stretch(1_000, 60_000, 300), Stretch(500, 30_000, 250))
    assert not half, "half as many in half the time"
    same = {"host": {"h": 50, "k": 50}, "process": {"h~1~L": 50, "k~1~L": 50}}
    other = {"host": {"h": 950, "k": 50}, "process": {"h~1~L": 950, "k~1~L": 50}}
    found = differences.ranked(same, other, dict.fromkeys(same, 100), dict.fromkeys(same, 1000))
    assert [(one.by, one.value) for one in found] == [("host", "k"), ("host", "h")], "processes differ as hosts do"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_findings_of_a_range_say_what_is_different_and_lead_to_its_lines(
    open_page: Open, tmp_path: Path, lang: str
) -> None:
    run, words = indexed_run(tmp_path / "runs", shifting_log(1)), catalogue.words(lang)
    title, asked = words("explain.title"), {"run": run.name, "lang": lang, "zone": "UTC"}
    app = open_page("findings", **asked, **MINUTE.params())
    assert not app.exception and title in [one.value for one in app.header]
    hrefs = [part.split('"')[0].replace("&amp;", "&") for part in shown(app).split('href="lines')[1:]]
    links = [parse_qs(urlsplit(href).query) for href in hrefs]
    assert any(one.get("host") == ["10.42.3.2"] and "from" in one for one in links)
    assert title not in [one.value for one in open_page("findings", **asked).header]
    labels = [link.proto.label for link in open_page("brokers", **asked, **MINUTE.params()).get("page_link")]
    assert words("explain.link") in labels, "one click from every page"


EVIL = "a`b www.evil.example"  # a topic out of a log


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("base", ["before", "rest", "scan"])
def test_every_kind_of_difference_has_its_words(lang: str, base: str) -> None:
    view, values = reader(UTC, lang), {"process": "10.0.0.7~3416~18B4AAC2", "maker": "java"}
    kinds = (*explained.SHARES, *explained.AMOUNTS)
    some = tuple(Difference(by, values.get(by, EVIL), 31, 100, 2, 100) for by in kinds)
    found = explained.Explained(some, 100, 100, base, START, START)
    said = explained.markdown(found, view.words, "09:50 – 09:51", "http://127.0.0.1/findings")
    assert said.count("\n- ") == explained.MOST - 1 and "31" in said and "{" not in said
    assert said.count(EVIL) == said.count(f"``{EVIL}``") > 0, "code, with a fence that the value does not close"
    table = html.rows(found, RUN, ALL_TIMES, view)
    assert table.count("<tr") == explained.MOST + 1 and "{" not in table


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_list_is_held_against_the_scan_that_is_open(open_page: Open, tmp_path: Path, lang: str) -> None:
    run, text = indexed_run(tmp_path / "runs", shifting_log(2)), shifting_log(2)
    some = [line[6:38] for line in text.splitlines() if HOSTS[3] in line][:40]
    words = catalogue.words(lang)
    app = open_page("decode", ids=",".join(some), lang=lang)
    assert words("explain.title_list") not in [one.value for one in app.header], "no scan is open"
    app.session_state["run"] = run.name
    app.run()
    assert not app.exception and words("explain.title_list") in [one.value for one in app.header]
    every = [UniqId.from_hex(line[6:38]).host for line in text.splitlines()]
    share = words.share(every.count("10.42.3.3"), len(every))
    figures = {"inside": "100%", "outside": share, "where": words("explain.list"), "base": words("explain.than_scan")}
    said = words("explain.host", value="10.42.3.3", **figures).replace("**", "")
    assert said in shown(app).replace("<b>", "").replace("</b>", "")


def test_a_list_is_held_against_the_topics_brokers_and_queues_that_lines_name(tmp_path: Path) -> None:
    lines = [
        f"{line.rstrip()}, messageQueue=MessageQueue [topic={'Paid' if at % 10 else 'Late'}, "
        f"brokerName=broker-{'ab'[at % 2]}, queueId={at % 4}]\n"
        for at, line in enumerate(shifting_log(4).splitlines())
    ]
    index = index_of(indexed_run(tmp_path / "runs", "".join(lines)))
    some = [line[6:38] for line in lines if "topic=Late" in line][:60]
    begun = time.perf_counter()
    own, every = explained.of_lines(index, some, lambda _: None)
    assert time.perf_counter() - begun < 5, "a second on a machine that is not busy"
    assert own["named_topic"] == {"Late": 60} and own["named_broker"] == {"broker-a": 60}
    assert own["named_queue"].keys() == {"Late / broker-a / 0", "Late / broker-a / 2"}
    assert every["named_topic"].total() == explained.MOST_LINES and every["named_topic"]["Paid"] > 300
    found = explained.of_list(own, every).differences
    assert {("named_topic", "Late"), ("named_broker", "broker-a")} <= {(one.by, one.value) for one in found}
    for one in found:
        assert explained.lines_of(one, ALL_TIMES)[1].keys() == {"find"}
        for lang in ("en", "zh"):
            assert "{" not in explained.sentence(one, explained.of_list(own, every), catalogue.words(lang))


def test_many_processes_are_ranked_at_once() -> None:
    side = {
        "process": Counter({f"10.0.{n >> 8}.{n & 255}~1~18B4AAC2": n for n in range(20_000)}),
        "host": Counter[str](),
    }
    whole, begun = dict.fromkeys(side, 10_000_000), time.perf_counter()
    assert differences.ranked(side, side, whole, whole) == []
    assert time.perf_counter() - begun < 1

"""The frame: what a visit begins with, what a tab is called, and the box that finds anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from idcore.policy.access import Visitor
from idcore.presentation.triage import run_tables
from idcore.runs.runs import Runs
from pages.parts import frame, visitor
from pages.parts.runs import sharing
from tests.pages.conftest import make_run
from tests.pages.test_pages import UNIQ, shown

Open = Callable[..., AppTest]


@pytest.fixture
def cookies(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the browser of an earlier visitor sends."""
    kept: dict[str, str] = {}
    monkeypatch.setattr(type(st.context), "cookies", kept)
    return kept


def settings(app: AppTest) -> tuple[Any, Any]:
    return app.session_state["lang"], app.session_state["view"].zone_name


def test_a_visit_begins_with_what_was_chosen_on_the_last_one(open_page: Open, cookies: dict[str, str]) -> None:
    cookies |= {"rocketmq-ids-lang": "zh", "rocketmq-ids-zone": "America%2FNew_York"}
    app = open_page("anatomy")
    assert settings(app) == ("zh", "America/New_York") and "逐字节剖析" in app.title[0].value
    assert settings(open_page("anatomy", lang="en", zone="UTC")) == ("en", "UTC"), "the address wins"


def test_who_is_logged_in_has_a_line_when_the_visit_begins(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "audit"
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(log))
    open_page("anatomy").run()
    assert not log.exists(), "without login nobody comes and goes"
    ann = Visitor("ann@example.org", frozenset({"viewer"}))
    monkeypatch.setattr(visitor, "current", lambda: ann)
    open_page("anatomy").run()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["what"], line["user"]) for line in lines] == [("login", ann.name)]
    open_page("findings", wall="1").run()
    assert log.read_text().count('"login"') == 2, "the wall display is a visit too"
    run = Runs(tmp_path / "runs", ann).create("of Ann")
    monkeypatch.setattr(sharing.st, "session_state", {"how": "link"})
    sharing._share(run.name, "how")
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["what"], last["run"], last["outcome"]) == ("run_shared", run.name, "link")


@pytest.mark.parametrize("kept", [{"rocketmq-ids-lang": "xx", "rocketmq-ids-zone": "../etc"}, {}])
def test_what_no_visitor_can_have_chosen_is_ignored(open_page: Open, cookies: dict[str, str], kept: Any) -> None:
    cookies |= kept
    assert settings(open_page("anatomy")) == ("en", "UTC")


def test_a_choice_is_kept_and_goes_into_the_address(open_page: Open, cookies: dict[str, str]) -> None:
    app = open_page("anatomy")
    app.selectbox(key="pick_zone").set_value("Asia/Tokyo").run()
    app.button_group(key="pick_theme").set_value("dark").run()
    assert not app.exception and dict(app.query_params) == {"zone": "Asia/Tokyo"}
    assert app.session_state["remembered"] == {"zone": "Asia/Tokyo", "theme": "dark"}
    assert app.session_state["pick_theme"] == "dark"


def test_the_browsers_own_zone_is_not_kept(
    open_page: Open, cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame, "browser_zone", lambda: "Europe/Berlin")
    app = open_page("anatomy")
    app.selectbox(key="pick_zone").set_value("Europe/Berlin").run()
    assert app.session_state["remembered"] == {"zone": ""}, "a traveller's next visit has the zone of that day"


def test_a_link_says_english_to_who_usually_reads_chinese(open_page: Open, cookies: dict[str, str], run: str) -> None:
    cookies["rocketmq-ids-lang"] = "zh"
    assert f'href="lines?lang=en&amp;run={run}' in shown(open_page("brokers", run=run, lang="en"))
    cookies.clear()
    assert f'href="lines?run={run}' in shown(open_page("brokers", run=run, lang="en"))


@pytest.fixture
def titles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the tab was called, in order."""
    called: list[str] = []
    original = st.set_page_config

    def spy(**config: Any) -> None:
        called.extend(filter(None, [config.get("page_title")]))
        original(**config)

    monkeypatch.setattr(st, "set_page_config", spy)
    return called


@pytest.mark.long(first=2)
@pytest.mark.parametrize(
    ("page", "query", "title"),
    [
        ("counters", {}, "Counters · app.log, old.log.gz · RocketMQ IDs"),
        ("brokers", {"broker": "10.42.9.1:10911"}, "Brokers · 10.42.9.1:10911 · app.log, old.log.gz · RocketMQ IDs"),
        ("brokers", {"lang": "zh"}, "Broker · app.log, old.log.gz · RocketMQ 消息 ID"),
        ("anatomy", {"id": UNIQ}, f"Anatomy · {UNIQ} · RocketMQ IDs"),
        ("decode", {"ids": ",".join([UNIQ] * 3)}, f"Decode · {UNIQ},{UNIQ[:6]}… · RocketMQ IDs"),
        ("runs", {}, "Scans · RocketMQ IDs"),
    ],
)
def test_a_tab_names_its_page_and_its_scan(
    open_page: Open, run: str, titles: list[str], page: str, query: dict[str, str], title: str
) -> None:
    assert not open_page(page, **({"run": run} if page in frame.TRIAGE else {}), **query).exception
    assert titles[-1] == title


def test_a_tab_of_a_scan_that_is_gone_has_the_name_of_its_page(open_page: Open, titles: list[str]) -> None:
    open_page("counters", run="20200101-000000-abcdef")
    assert titles[-1] == "Counters · RocketMQ IDs"


def find(app: AppTest, term: str) -> AppTest:
    """The box with a term in it. AppTest runs the whole page for a letter: the button is pressed for the next box."""
    opened = app.session_state["find-opened"]
    app.session_state[f"find_term-{opened + 1}"] = term
    return app.button(key="find-anything").click().run()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_box_finds_what_the_scan_has(open_page: Open, run: str, lang: str) -> None:
    app = find(open_page("brokers", run=run, lang=lang), "10.42.9.1")
    assert not app.exception
    words = frame.catalogue.words(lang)
    groups = [f'"mq-group">{words(f"find.group.{code}")}</div>' in shown(app) for code in ("broker", "host")]
    assert groups == [True, False]
    own = words("brokers.offsets_of", address="10.42.9.1:10911")  # of the headline
    named = (link.proto for link in app.get("page_link") if "10.42.9.1:10911" in link.proto.label)
    (hit,) = (link for link in named if link.label != own)
    assert f"run={run}" in hit.query_string and "broker=10.42.9.1%3A10911" in hit.query_string
    assert f"lang={lang}" in hit.query_string or lang == "en"


def test_the_box_says_when_nothing_matches_and_what_it_searched(open_page: Open, tmp_path: Path) -> None:
    app = find(open_page("decode"), "<b>nobody</b>")
    assert "Nothing here matches" in app.markdown[-1].value and "\\<b\\>nobody" in app.markdown[-1].value
    assert "Open a scan" in app.caption[-1].value
    make_run(tmp_path / "runs", title="*bold*.log")
    app = find(open_page("decode", run="20261121-015500-a1b2c3"), UNIQ[:-1])
    assert "not an ID that can be decoded" in app.markdown[-1].value
    assert "\\*bold\\*.log" in app.caption[-1].value


def test_the_box_opens_an_id(open_page: Open) -> None:
    app = find(open_page("runs"), UNIQ)
    labels = [link.proto.label for link in app.get("page_link")]
    assert f"Decode {UNIQ}" in labels and f"Anatomy of {UNIQ}" in labels


def test_what_a_large_scan_leaves_out_is_said_and_found_by_its_address(
    open_page: Open, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tables, "MOST_ROWS", 3)
    monkeypatch.setattr(run_tables, "FIRST_ROWS", 2)
    app = find(open_page("runs", run=run), "10.42.7.12")
    assert "the 2 largest of each kind" in app.caption[-1].value
    labels = [link.proto.label for link in app.get("page_link")]
    assert {"10.42.7.12 · 15 · 0C387F44 · 1 ID occurrence", "10.42.7.12 · 1 ID occurrence"} <= set(labels)
    assert not [
        link
        for link in find(open_page("runs", run=run), "10.42.7.1").get("page_link")
        if "0C387F44" in link.proto.label
    ]

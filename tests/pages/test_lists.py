"""Lists of messages on the page of look-ups: each way by its link, its boxes and its click. A real store answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.lookup import Copy, Listing, StoreLookup, Way, shared, ways
from idcore.base.catalogue import words
from idcore.ids import Clock
from idcore.rocketmq.remoting.errors import TooManyLookups
from idcore.rocketmq.store import StoreFolder
from pages.parts.messages import lists
from tests.pages.test_pages import press, shown
from tests.store.unpacked import real_store

Open = Callable[..., AppTest]


class Asked:
    """The real store as a source; it remembers what was asked of it."""

    def __init__(self, store: Path) -> None:
        self.source = StoreLookup(StoreFolder(store), Clock(datetime(2026, 11, 21, tzinfo=UTC), UTC))
        self.ways: list[Way] = []
        self.problem: Exception | None = None

    def list_messages(self, way: Way, user: str, progress: Any, stop: Callable[[], bool]) -> Listing:
        self.ways.append(way)
        if self.problem is not None:
            raise self.problem
        assert not stop()
        found = self.source.list_messages(replace(way, broker=None), user, progress, stop)
        queues = tuple(replace(queue, broker="a<b>") for queue in found.queues)
        return replace(found, way=way, queues=queues, copies=tuple(map(named, found.copies)))


def named(copy: Copy) -> Copy:
    return replace(copy, more={"broker_name": "a<b>"})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def source(store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    made = Asked(store)
    monkeypatch.setenv("IDCORE_NAMESRV", "127.0.0.1:1")
    monkeypatch.setattr(shared, "_source", lambda *_: made)
    yield made
    made.source.close()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_link_fills_the_boxes_and_a_click_lists_the_messages(open_page: Open, source: Asked, lang: str) -> None:
    said = words(lang)
    link = {"way": "time", "topic": "VectorTopic", "from": "2026-11-21T01:50:00Z", "limit": "3", "lang": lang}
    app = open_page("lookup", zone="Asia/Shanghai", **link)
    assert not app.exception and source.ways == []
    assert [box.value for box in app.text_input] == ["VectorTopic", "2026-11-21 09:50:00.000", ""]
    press(app, said("list.button"))
    assert not app.exception and not app.error
    way = source.ways[0]
    assert (way.kind, way.topic, way.limit) == ("time", "VectorTopic", 3)
    listing = source.source.list_messages(way)
    page = shown(app)
    for copy in listing.copies:
        row = ways.row(copy)
        assert row["msg_id"] is None or row["msg_id"] in page
        address = f"message?{'lang=zh&amp;' if lang == 'zh' else ''}zone=Asia%2FShanghai&amp;id={row['offset_msg_id']}"
        assert address in page, "each row leads to its message"
    assert "a&lt;b&gt;:" in page and "<b>:" not in page
    assert said.count("place", listing.left or 0) in app.warning[0].value
    link = {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
    assert (link["way"], link["topic"], link["cluster"]) == ("time", "VectorTopic", "default")
    again = open_page("lookup", **link)
    press(again, said("list.button"))
    assert source.ways[1] == way, "the address has the whole way"


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ({"way": "key", "key": "order-10017"}, None),
        ({"way": "key", "key": "nobody"}, "key_unknown"),
        ({"way": "queue", "topic": "VectorTopic", "queue": "a:0:1"}, None),
        ({"way": "queue", "topic": "VectorTopic", "queue": "0:99999"}, "behind_end"),
        ({"way": "dead_letters", "dead_letters": "<g>"}, "no_dead_letters"),
        ({"way": "time", "topic": "VectorTopic", "to": "2020-01-01"}, "none_in_range"),
    ],
)
def test_every_way_lists_or_says_why_not(
    open_page: Open, source: Asked, link: dict[str, str], reason: str | None
) -> None:
    app = open_page("lookup", zone="UTC", **link)
    press(app, "List messages")
    assert not app.exception and [way.kind for way in source.ways] == [link["way"]]
    page = shown(app)
    if reason is None:
        assert "mq-table" in page and not app.info
    else:
        assert words("en")(f"list.reason.{reason}")[1:] in app.info[0].value
    assert "<g>" not in page


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"way": "queue", "queue": "0:1"}, "also needs a topic"),
        ({"way": "queue", "topic": "T", "queue": "<b>x</b>"}, "is not a place in a queue"),
        ({"way": "time", "topic": "T"}, "Nothing to list"),
        ({"way": "dead_letters"}, "Nothing to list"),
        ({"way": "time", "topic": "T", "from": "2026-11-22", "to": "2026-11-21"}, "begins after its end"),
        ({"way": "time", "topic": "T", "from": "soon"}, "soon"),
    ],
)
def test_what_is_missing_in_the_boxes_is_said_and_nobody_is_asked(
    open_page: Open, source: Asked, link: dict[str, str], said: str
) -> None:
    app = open_page("lookup", zone="UTC", **link)
    press(app, "List messages")
    assert not app.exception and said in app.warning[0].value and "<b>" not in app.warning[0].value
    assert source.ways == []


def test_a_list_is_not_shown_under_another_link_and_ids_are_one_click_away(open_page: Open, source: Asked) -> None:
    app = open_page("lookup", way="key", key="order-10017", zone="UTC", trace="1")
    press(app, "List messages")
    assert "mq-table" in shown(app) and "trace" not in app.query_params
    app.query_params["key"] = "order-10018"
    assert "mq-table" not in shown(app.run())
    app.button_group[0].set_value("id").run()
    assert not app.exception and app.text_area and "way" not in app.query_params


def test_a_list_that_a_click_ended_is_waited_for_and_shown_as_far_as_it_came(open_page: Open, source: Asked) -> None:
    app = open_page("lookup", way="key", key="order-10017", cluster="default", zone="UTC")
    way = Way("key", key="order-10017")
    whole = source.source.list_messages(way)
    work = lists.Work(Future(), Event(), way, "default", datetime(2026, 11, 21, tzinfo=UTC))
    app.session_state["list_work"] = work
    later = Timer(0.3, work.listing.set_result, [replace(whole, copies=whole.copies[:1], cut="stopped")])
    later.start()
    app.run()
    assert not app.exception and "The search was cancelled" in app.warning[0].value
    assert str(whole.copies[0].record.offset_id) in shown(app)


def test_who_asks_too_often_is_told_so(open_page: Open, source: Asked) -> None:
    source.problem = TooManyLookups("too_many", {"seconds": 7, "count": 10})
    app = open_page("lookup", way="dead_letters", dead_letters="g", zone="UTC")
    press(app, "List messages")
    assert not app.exception and "in 7 s" in app.error[0].value


def test_a_long_list_is_cut_on_the_page_and_whole_in_its_files(
    open_page: Open, source: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "SHOWN", 2)
    app = open_page("lookup", way="time", topic="VectorTopic", **{"from": "2026-11-01"}, zone="UTC")
    press(app, "List messages")
    listing = source.source.list_messages(source.ways[0])
    page = shown(app)
    assert f"first 2 of {len(listing.copies):,} messages" in page
    assert str(listing.copies[1].record.offset_id) in page and str(listing.copies[2].record.offset_id) not in page
    assert [element.proto.label for element in app.get("download_button")] == ["CSV", "JSON Lines"]

"""The page of consumer groups and what of it is on others: a cluster of one listener, asked by clicks only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.lookup import LookupService, progress
from idcore.answers.lookup.queries import GroupQuery
from idcore.answers.lookup.store_groups import OfTopic
from idcore.answers.lookup.ways import USUAL_LIMIT
from idcore.presentation.html import groups as html
from idcore.rocketmq.remoting.errors import TooManyLookups
from pages.parts.messages import groups
from pages.parts.view import View
from tests.pages.conftest import reader
from tests.pages.test_pages import press, shown
from tests.remoting.fake import UNIQ
from tests.remoting.fake_progress import HOST, PID, Progressing, client

Open = Callable[..., AppTest]
ONE, TWO = "10.0.0.3@7#1", "10.0.0.4@9#2"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Progressing]:
    made = Progressing()
    monkeypatch.delenv("IDCORE_NAMESRV", raising=False)
    monkeypatch.setenv("IDCORE_CLUSTERS", str(tmp_path / "clusters.toml"))
    with made.server:
        allow(made, tmp_path)
        yield made


def allow(cluster: Progressing, folder: Path, *settings: str) -> None:
    """The profile, with more settings than it needs."""
    lines = ["[clusters.one]", f'name_servers = ["{cluster.server.address}"]', *(f"{name} = true" for name in settings)]
    (folder / "clusters.toml").write_text("\n".join(lines))


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def texts(app: AppTest) -> str:
    """What a reader sees, without the elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", shown(app)))


def test_a_link_fills_the_form_and_asks_nobody(cluster: Progressing, open_page: Open) -> None:
    app = open_page("groups", topic="Orders", group="billing", cluster="one")
    assert not app.exception and [box.value for box in app.text_input] == ["Orders", "billing"]
    assert cluster.server.callers == 0 and "Ask again" not in labels(app)


@pytest.mark.parametrize(
    ("lang", "show", "wanted"),
    [
        ("en", "Show", ("at most 1,204 messages behind on Orders", "1 client is connected", "14", "TAG *", "2 of 4")),
        ("zh", "查看", ("堆积不超过 1,204 条消息", "1 个客户端在线", "14", "TAG *", "4 个队列中有 2 个")),
    ],
)
def test_the_progress_of_a_group_begins_with_the_verdict(
    cluster: Progressing, open_page: Open, lang: str, show: str, wanted: tuple[str, ...]
) -> None:
    cluster.ends[3] = 4
    cluster.offsets["billing"].pop(0)
    app = press(open_page("groups", topic="Orders", group="billing", lang=lang), show)
    assert not app.exception and not app.error
    text = texts(app).replace(" ", "")
    assert all(part.replace(" ", "") in text for part in wanted), texts(app)
    assert app.query_params["cluster"] == "one" and app.query_params["group"] == "billing"


def test_what_a_group_is_behind_is_a_link_to_these_messages(cluster: Progressing, open_page: Open) -> None:
    cluster.sides["%DLQ%billing"] = 0, 3
    app = press(open_page("groups", topic="Orders", group="billing"), "Show")
    ways = [dict(parse_qsl(unescape(at))) for at in re.findall(r'href="lookup\?([^"]+)"', shown(app))]
    first = {way["queue"]: way for way in ways if way["way"] == "queue"}
    behind = {at: offset for at, offset in cluster.offsets["billing"].items() if offset < cluster.ends[at]}
    assert set(first) == {f"a:{at}:{offset}" for at, offset in behind.items()} != set()
    for at, offset in behind.items():
        way = first[f"a:{at}:{offset}"]
        assert (way["topic"], way["cluster"]) == ("Orders", "one")
        assert int(way.get("limit", "1")) == min(cluster.ends[at] - offset, USUAL_LIMIT)
    assert [way["dead_letters"] for way in ways if way["way"] == "dead_letters"] == ["billing"]
    app = open_page("lookup", **first[max(first)])
    assert not app.exception and first[max(first)]["queue"] in [box.value for box in app.text_input]


def test_asked_again_it_has_a_rate_and_says_both_times(
    cluster: Progressing, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LEAST_SECONDS", 0)
    app = press(open_page("groups", topic="Orders", group="billing"), "Show")
    assert "Ask again after 5 s" in texts(app)
    cluster.offsets["billing"][2] += 100
    app = press(app, "Ask again")
    assert not app.exception
    assert re.search(r"It consumes [\d,.]+ messages a second, while 0.0", texts(app))
    assert re.search(r"Asked one at \d.+ and at \d.+; the rates", texts(app))
    assert "did not advance within" in app.warning[0].value, "queue 1 did not"


def test_it_is_asked_again_by_itself_where_its_reader_wants_that(
    cluster: Progressing, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(groups, "MOST_IN_A_ROW", 2)
    app = press(open_page("groups", topic="Orders", group="billing"), "Show")

    def asked() -> int:
        return sum(frame.code == 208 for frame in cluster.server.seen)

    app.run()
    assert asked() == 1, "without the switch nobody is asked again"
    app = app.toggle[0].set_value(True).run()
    assert asked() == 2
    app.run().run().run()
    assert not app.exception and asked() == 3 and "Asked 2 times in a row" in texts(app)

    monkeypatch.setattr(groups, "EVERY_SECONDS", 60)
    monkeypatch.setattr(groups, "MOST_IN_A_ROW", 9)
    for hours, more in ((0, 0), (-1, 1)):  # set back by an hour: what was asked then is not of a moment ago
        monkeypatch.setattr(View, "now", lambda _, hours=hours: datetime.now(UTC) + timedelta(hours=hours))
        before = asked()
        app.run()
        assert asked() == before + more, hours
    monkeypatch.setattr(groups, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(groups, "MOST_IN_A_ROW", 2)

    app = press(app, "Ask again")
    failed: list[str] = []

    def fail(self: LookupService, subject: str, user: str, work: object) -> None:
        failed.append(subject)
        raise TooManyLookups("too_many", {"count": 1, "seconds": 1})

    monkeypatch.setattr(LookupService, "ask", fail)
    app.run().run().run()
    assert not app.exception and len(failed) <= 2, "what fails is not asked for ever"


def test_clients_are_asked_only_where_the_profile_permits_it_and_by_a_click(
    cluster: Progressing, open_page: Open, tmp_path: Path
) -> None:
    cluster.connected["billing"] = cluster.connection(client(ONE), client(TWO, "10.0.0.4:5"))
    cluster.states = {ONE: cluster.state({1: (900, 900, 930)}), TWO: cluster.state({2: (1_396, 1_396, 1_409)}, "TagA")}
    app = press(open_page("groups", topic="Orders", group="billing"), "Show")
    assert "Ask the clients" not in labels(app)
    allow(cluster, tmp_path, "reach_clients")
    app = press(open_page("groups", topic="Orders", group="billing", cluster="one", at="a:2:1400"), "Show")
    assert "Ask the clients" in labels(app) and 307 not in {frame.code for frame in cluster.server.seen}
    app = press(app, "Ask the clients")
    assert not app.exception and 307 in {frame.code for frame in cluster.server.seen}
    assert f"The message is in the memory of {TWO} now." in texts(app)
    assert "subscribe differently" in app.warning[0].value and "this message 1,400" in texts(app)


def test_the_groups_of_a_topic_are_links_and_the_rest_is_counted(cluster: Progressing, open_page: Open) -> None:
    cluster.connected |= {f"g{at:03}": cluster.connection(client(ONE)) for at in range(310)}
    cluster.connected["<b>odd</b>"] = cluster.connection(client("<i>@1"))
    app = press(open_page("groups", topic="Orders"), "Show")
    assert not app.exception and "300 consumer groups of Orders" in texts(app) and "12 more" in texts(app)
    assert "group=billing" in shown(app) and "<b>odd" not in shown(app) and "&lt;b&gt;odd" in shown(app)


def test_a_topic_that_is_not_there_and_a_cluster_that_is_silent(cluster: Progressing, open_page: Open) -> None:
    app = press(open_page("groups", topic="Nowhere"), "Show")
    assert "The cluster has no topic Nowhere." in texts(app) and not app.exception
    cluster.silent = {202, 203, 208, 14}
    app = press(open_page("groups", topic="Orders", group="billing"), "Show")
    assert "could not be determined" in texts(app) and "no time for this" in texts(app)
    cluster.silent = {106}
    app = press(open_page("groups", topic="Orders", group="other"), "Show")
    assert not app.exception
    empty = press(open_page("groups"), "Show")
    assert [warning.value for warning in empty.warning] == ["Enter a topic."]


def test_without_a_cluster_the_page_says_how_to_enable_it(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDCORE_CLUSTERS", raising=False)
    monkeypatch.delenv("IDCORE_NAMESRV", raising=False)
    app = open_page("groups")
    assert not app.exception and "IDCORE_CLUSTERS" in shown(app)


@pytest.mark.parametrize(("lang", "button"), [("en", "Look up"), ("zh", "查询")])
def test_a_verdict_leads_to_its_group_has_a_strip_and_who_it_is_now(
    cluster: Progressing, open_page: Open, tmp_path: Path, lang: str, button: str
) -> None:
    cluster.offsets["billing"][0] = 4  # the message is at 10
    cluster.connected.clear()
    cluster.connected["idle"] = cluster.connection(client(ONE))
    cluster.offsets["idle"] = {0: 1_000}
    cluster.producers = {
        "orders": [
            {"clientId": f"{HOST}@{PID}#{at}", "remoteIP": f"/192.168.7.{at}:4", "language": "GO", "version": 479}
            for at in (7, 8)
        ]
    }
    cluster.connected["billing"] = cluster.connection(client(ONE), topic="Notices")
    allow(cluster, tmp_path, "show_clients")
    app = press(open_page("lookup", id=UNIQ, topic="Orders", fate="1", lang=lang), button)
    assert not app.exception and not app.error
    html, text = shown(app), texts(app)
    assert "group=billing" in html and "at=a%3A0%3A10" in html
    assert html.count("mq-at-message") == 1, "only the group that did not pass it is drawn"
    for wanted in {
        "en": ("this message 10", "consumer offset 4", "192.168.7.8:4", "which contradicts the ID: Java client"),
        "zh": ("这条消息 10", "消费位点 4", "192.168.7.8:4", "与 ID 的推断矛盾：Java 客户端"),
    }[lang]:
        assert wanted in text, wanted


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_group_without_an_offset_in_a_queue_is_never_0_behind(lang: str) -> None:
    said, names = reader(lang=lang), ("both", "behind", "partly", "done")
    figures = {"done": (0, 0), "partly": (0, 2), "both": (7, 1), "behind": (7, 0)}
    rows = [progress.GroupRow(name, lag, unread, 1) for name, (lag, unread) in figures.items()]
    listed = str(html.groups(rows, GroupQuery("one", "Orders"), said))
    of_store = str(html.of_store([OfTopic("Orders", row, None, 0, False) for row in rows], lambda each: "x", 0, said))
    for table in (listed, of_store):
        row_of = {
            name: re.sub("<[^>]*>", " ", re.split("</tr|</li", table[table.index(f">{name}<") :])[0]) for name in names
        }
        assert re.search(r"\b0\b", row_of["done"]) and said.words("groups.state.done") in row_of["done"]
        assert not re.search(r"\b0\b", row_of["partly"]) and said.words("groups.not_known") in row_of["partly"]
        assert said.words("groups.state.unread", count=2, n="2") in row_of["partly"]
        assert said.words("groups.state.unread", count=1, n="1") in row_of["both"] and "7" in row_of["both"]
        assert row_of["behind"].rstrip().endswith(said.words("groups.state.behind"))
    places = [listed.index(f">{name}<") for name in names]
    assert places == sorted(places), "the furthest behind first"

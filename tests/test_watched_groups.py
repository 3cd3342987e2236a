"""Groups that the administrator names: their metrics, what is announced, and the files for Prometheus and Grafana."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from idcore.base.errors import CoreError
from idcore.policy import metrics
from idcore.rocketmq.remoting.frame import Frame
from idcore.server import watched_groups
from idcore.server.watched_groups import Group, Watch
from tests.remoting.fake import answers
from tests.remoting.fake_progress import NOW_MS, Progressing
from tests.remoting.servers import answer
from tests.source_code import ROOT
from tests.test_announcements import example

DEPLOY = ROOT / "docs" / "deploy"
BILLING = Group("one", "Orders", "billing")


class WithClock(Progressing):
    """Its clock is that of the year of its records."""

    @answers(28)
    def _state(self, frame: Frame) -> bytes:
        state = {"commitLogMinOffset": "0", "commitLogMaxOffset": "9", "brokerVersionDesc": self.version}
        state |= {"bootTimestamp": str(NOW_MS), "runtime": "[ 0 days, 0 hours, 0 minutes, 0 seconds ]"}
        return answer(frame, 0, json.dumps({"table": state}).encode())


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Progressing]:
    fake = WithClock()
    fake.sides = {"%RETRY%billing": (3, 9), "%DLQ%billing": (0, 2)}
    with fake.server:
        (tmp_path / "clusters.toml").write_text(f'[clusters.one]\nname_servers = ["{fake.server.address}"]\n')
        monkeypatch.setenv("IDCORE_CLUSTERS", str(tmp_path / "clusters.toml"))
        yield fake


def rendered(watch: Watch) -> dict[str, float]:
    """What Prometheus reads: values by name and labels."""
    text = metrics.exposition({}, {}, watch.samples())[0].decode()
    rows = re.findall(r"^(idcore_(?:group|broker)_\w+)\{([^}]*)\} (\S+)$", text, re.M)
    return {f"{name}{{{labels}}}": float(value) for name, labels, value in rows}


def test_a_group_is_in_the_metrics(cluster: Progressing) -> None:
    watch = Watch((BILLING,), lambda _: None)
    watch.look(BILLING)
    labels, found = '{cluster="one",group="billing",topic="Orders"}', rendered(watch)
    assert found[f"idcore_group_up{labels}"] == 1 and found[f"idcore_group_lag_messages{labels}"] == 1_204
    assert found[f"idcore_group_dead_letters{labels}"] == 2 and found[f"idcore_group_retries{labels}"] == 9
    assert found[f"idcore_group_clients{labels}"] == 1 and found[f"idcore_group_stalled_queues{labels}"] == 0
    ahead = found['idcore_broker_clock_seconds{broker="a",cluster="one"}']
    assert abs(NOW_MS / 1_000 - time.time() - ahead) < 60


def test_what_begins_and_what_ends_is_announced_once(cluster: Progressing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idcore.answers.lookup.progress.LEAST_SECONDS", -1)  # no test waits for a clock
    told: list[dict[str, Any]] = []
    watch = Watch((BILLING,), told.append)
    for _ in range(3):
        watch.look(BILLING)
    assert [(one["code"], one["state"]) for one in told] == [("stalled", "begun")], "two queues did not move"
    assert told[0].keys() == example("group").keys()
    assert told[0]["lag"] == 1_204 and {told[0][name] for name in ("cluster", "topic", "group")} == {*BILLING.labels}
    cluster.offsets["billing"] = dict(enumerate(cluster.ends))
    cluster.sides["%DLQ%billing"] = (0, 3)
    watch.look(BILLING)
    watch.look(BILLING)
    assert [(one["code"], one["state"]) for one in told[1:]] == [
        ("dead_letters", "begun"),
        ("stalled", "ended"),
        ("dead_letters", "ended"),
    ]


def test_a_cluster_that_is_not_there_is_said(cluster: Progressing) -> None:
    told: list[dict[str, Any]] = []
    watch = Watch((Group("two", "Orders", "billing"),), told.append)
    watch.look(watch.groups[0])
    assert [one["code"] for one in told] == ["unreachable"]
    assert rendered(watch) == {'idcore_group_up{cluster="two",group="billing",topic="Orders"}': 0.0}


def test_a_mistake_of_ours_ends_no_watch(cluster: Progressing, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("an answer that nobody thought of")

    watch = Watch((BILLING,), lambda _: None)
    watch.look(BILLING)
    monkeypatch.setattr("idcore.answers.lookup.groups.progress_of", fails)
    watch.look(BILLING)
    assert rendered(watch) == {'idcore_group_up{cluster="one",group="billing",topic="Orders"}': 0.0}


def test_the_setting_names_groups_or_says_what_it_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_WATCHED_GROUPS", " one/Orders/billing, one/Orders/mail ,one/Orders/billing")
    assert watched_groups.named() == (BILLING, Group("one", "Orders", "mail"))
    for wrong in ("billing", "a/b", "a/b/c/d", "a//c", ",".join(f"a/b/{n}" for n in range(51))):
        monkeypatch.setenv("IDCORE_WATCHED_GROUPS", wrong)
        with pytest.raises(CoreError, match="IDCORE_WATCHED_GROUPS"):
            watched_groups.named()


def known() -> set[str]:
    """The names of all metrics, as Prometheus has them."""
    counters = {f"idcore_{name}_total" for name in metrics.COUNTERS}
    return counters | {f"idcore_{name}" for name in (*metrics.GAUGES, *metrics.OF_GROUPS)} | {"idcore_memory_bytes"}


def named_in(text: str) -> set[str]:
    return set(re.findall(r"\bidcore_[a-z_]+\b", text))


def test_the_rules_name_metrics_and_labels_that_exist() -> None:
    (group,) = yaml.safe_load((DEPLOY / "prometheus-rules.yml").read_text())["groups"]
    rules = group["rules"]
    assert len(rules) == 5
    for rule in rules:
        (name,) = named_in(rule["expr"])
        assert name in known(), rule
        labels = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert labels <= set(metrics.OF_GROUPS[name.removeprefix("idcore_")][1]), rule
        assert rule["alert"] in (ROOT / "docs" / "alerts.md").read_text()


def test_the_dashboard_names_metrics_that_exist_and_a_page_of_the_console() -> None:
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    used = {name for panel in board["panels"] for target in panel["targets"] for name in named_in(target["expr"])}
    assert used <= known() and len(board["panels"]) == len({panel["id"] for panel in board["panels"]}) == 8
    link = board["panels"][0]["fieldConfig"]["defaults"]["links"][0]["url"]
    assert link.startswith("${console}/groups?") and {"cluster", "topic", "group"} <= set(re.findall(r"(\w+)=", link))


def test_the_page_has_every_metric_of_groups() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text()
    assert {f"idcore_{name}" for name in metrics.OF_GROUPS} <= named_in(page) <= known() | {"idcore_group"}

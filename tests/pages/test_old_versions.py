"""What version 0.1 wrote opens in this one: its scans on every page, its settings, its files of clusters and roles."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from idcore.policy import access, limits
from idcore.policy.settings import ROWS, Settings
from idcore.rocketmq.remoting import profile
from idcore.runs.runs import Runs
from tests.pages.conftest import ROOT
from tests.pages.test_pages import shown

OLD = ROOT / "tests" / "vectors" / "old"
FIRST = "20261126-082658-f23b2b"
SECOND = "20261126-082921-ea9df884825ce1a0e79c0bf6d1c4b069"
STORE = "20261126-083055-9904454af54ee7ebffeefd8ffcb8e332"
PAGES = ("findings", "lines", "producers", "counters", "brokers")


@pytest.fixture
def scans(tmp_path: Path) -> Runs:
    with tarfile.open(OLD / "scans-0.1.tar.gz") as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        tar.extractall(tmp_path)
    return Runs(tmp_path / "runs")


def test_scans_are_listed_with_what_they_say_of_themselves(scans: Runs, open_page: Callable[..., AppTest]) -> None:
    runs = {run.name: run for run in scans.list()}
    assert set(runs) == {FIRST, SECOND, STORE} and not scans.damaged()
    assert {run.state for run in runs.values()} == {"done"}
    for name, ids in ((FIRST, 589), (SECOND, 589), (STORE, 151)):
        summary = runs[name].summary
        assert summary is not None and summary["ids"] == ids
    app = open_page("runs")
    assert not app.exception and not app.error and "orders.log" in shown(app)


@pytest.mark.long(first=3)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", [FIRST, SECOND, STORE])
def test_each_page_shows_them(name: str, page: str, scans: Runs, open_page: Callable[..., AppTest]) -> None:
    app = open_page(page, run=name, lang="en")
    assert not app.exception and not app.error, [item.value for item in app.error]
    text, host = shown(app), str(scans.open(name).table("hosts")["host"][0])
    if page == "producers":
        assert host in text or any(host in frame.value.to_string() for frame in app.dataframe)
    elif page == "brokers":
        addresses = scans.open(name).table("brokers")["address"].to_pylist()
        assert addresses and all(address in text for address in addresses)
    elif page == "findings":
        assert ("Scan its input again" in text) == (name == FIRST), text


def test_settings_are_still_known() -> None:
    given = json.loads((OLD / "environment-0.1.json").read_text(encoding="utf-8"))
    told = Settings.of(given)
    assert {str(row["name"]) for name, row in ROWS.items() if getattr(told, name) != getattr(Settings(), name)} == {
        name for name in given if name not in {row.setting for row in limits.LIMITS.values()}
    }
    bounded = {row.setting: row for row in limits.LIMITS.values() if row.setting in given}
    assert len(bounded) == 18 and all(row.of(given[setting]) is not None for setting, row in bounded.items())


def test_files_of_clusters_and_roles_are_still_read() -> None:
    cluster = profile.from_file(OLD / "clusters-0.1.toml", {"PROD_ACCESS_KEY": "key", "PROD_SECRET_KEY": "secret"})[
        "prod"
    ]
    assert cluster.trace_topics == ("OrdersTrace",) and cluster.credentials is not None
    policy = access.read(OLD / "access-0.1.toml")
    assert policy.contact == "desk-admins@example.com" and set(policy.clusters) == {"production"}

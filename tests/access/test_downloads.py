"""Each page and each of its downloads, by role and owner: on the page, and by its own address at the gate."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage, _calculate_file_id
from streamlit.testing.v1 import AppTest

from idcore.answers.lookup import shared
from idcore.policy.access import NOBODY, OF_PAGE, PERMISSIONS, ROLES, Members, Policy, Visitor
from idcore.runs.runs import LINK, PRIVATE
from idcore.server import gate
from idcore.server.gate import MEDIA, DownloadOwners, Gate
from idcore.server.logins import Entrance
from pages.parts import frame, session, visitor
from tests.fate.test_tables import Messages
from tests.pages.conftest import ROOT, RUN
from tests.pages.test_compare import kept_run
from tests.pages.test_findings import two_at_once
from tests.pages.test_lines import indexed
from tests.pages.test_messages import SECOND
from tests.pages.test_pages import shown as text_of
from tests.remoting.fake import UNIQ, record
from tests.remoting.fake_progress import Progressing
from tests.store.unpacked import real_store

ANN, BOB = "ann@example.com", "bob@example.com"
OTHER = "20261121-015600-a1b2c4"


@dataclass(frozen=True)
class Shown:
    """How a page shows all it has: a query, and a button where it asks a cluster. `files`: whether it offers some.

    `of_run`: whether it shows a scan. `body`: what of a message it shows to who may see bodies.
    """

    query: Mapping[str, str] = field(default_factory=dict)
    press: str = ""
    files: bool = True
    of_run: bool = False
    body: str = ""


OF_SCAN = Shown({"run": RUN}, of_run=True)
PAGES = {
    "home": Shown(files=False),
    "decode": Shown({"ids": SECOND}),
    "anatomy": Shown({"id": SECOND}, files=False),
    "lab": Shown(),
    **dict.fromkeys(("findings", "lines", "producers", "counters", "brokers", "fate"), OF_SCAN),
    "compare": Shown({"a": RUN, "b": OTHER}, of_run=True),
    "runs": Shown(files=False),
    "tokens": Shown(files=False),
    "help": Shown(files=False),
    "message": Shown({"id": SECOND}),
    "store": Shown({"id": "246"}, files=False, body="plain message 1 of prodA"),
    "lookup": Shown({"id": UNIQ, "cluster": "one"}, "Look up", body="a secret"),
    "groups": Shown({"cluster": "one", "topic": "Orders", "group": "billing"}, "Show"),
}
# Each role alone, the two that need another one to see bodies, and who logged in without any.
VISITORS = ("", *ROLES, "triage bodies", "look-up bodies")
Taken = dict[tuple[str, str], bytes]


def visitor_of(roles: str, name: str = ANN) -> Visitor:
    return Visitor(name, frozenset(roles.split()), frozenset({"one"} if "look-up" in roles else ()))  # type: ignore[arg-type]


def login_of(roles: str, cluster: str = "one") -> Entrance:
    """A login in which everybody has these roles."""
    everybody = Members(everybody=True)
    clusters = {cluster: everybody} if "look-up" in roles else {}
    members = {role: everybody for role in roles.split() if role != "look-up"}
    return Entrance("login", Policy(members, clusters), ("default",))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scans of ann's with all tables, lines and messages."""
    folder = tmp_path_factory.mktemp("downloads")
    Messages(3).write(indexed(folder, two_at_once()).path)
    kept_run(folder, OTHER, two_at_once()[: 1 << 12])
    return folder / "runs"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A store folder that is open, and a cluster on loopback: the settings that name them."""
    folder, cluster = tmp_path_factory.mktemp("outside"), Progressing()
    cluster.records = [record("Orders", UNIQ, 0, b"a secret")]
    with cluster.server:
        (folder / "clusters.toml").write_text(f'[clusters.one]\nname_servers = ["{cluster.server.address}"]\n')
        yield {"IDCORE_ALLOWED_PATHS": str(real_store(folder)), "IDCORE_CLUSTERS": str(folder / "clusters.toml")}


def share(runs: Path, how: str) -> None:
    for name in (RUN, OTHER):
        file = runs / name / "run.json"
        held = json.loads(file.read_text()) | {"owner": ANN, "shared": how}
        file.write_text(json.dumps(held))


@pytest.fixture(autouse=True)
def desk(runs: Path, outside: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("IDCORE_NAMESRV", raising=False)
    for name, value in {**outside, "IDCORE_RUNS": str(runs), "IDCORE_NO_SPARK": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(type(st.context), "cookies", {})
    monkeypatch.setattr(session, "OFFERED", DownloadOwners())
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    shared.forget()


class Tab:
    """A visit of somebody; `take` gives the files that a page offers, by their names and kinds.

    What is made at a click is made where `clicks` says so, and else is b"".
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, who: Visitor, clicks: bool = False) -> None:
        self.clicks = clicks
        self.taken: Taken = {}
        monkeypatch.setattr(visitor, "current", lambda: who)
        monkeypatch.setattr(st, "download_button", self.button)
        self.app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        self.app.run()

    def button(self, _: str, data: bytes | Callable[[], bytes], file: str, mime: str, **__: Any) -> None:
        self.taken[file, mime] = data if isinstance(data, bytes) else data() if self.clicks else b""

    def take(self, page: str) -> Taken:
        scripts = {address: script for rows in frame.MENU.values() for address, script, _ in rows}
        self.taken, shown = {}, PAGES[page]
        self.app.switch_page(f"pages/{scripts.get(page, scripts['decode'])}")
        for name in {name for one in PAGES.values() for name in one.query} | {"store"}:
            self.app.query_params.pop(name, None)
        for name, value in shown.query.items():
            self.app.query_params[name] = value
        if page == "store":
            self.app.query_params["store"] = os.environ["IDCORE_ALLOWED_PATHS"]
        self.app.run()
        if shown.press and (buttons := [one for one in self.app.button if one.label == shown.press]):
            buttons[0].click().run()
        assert not self.app.exception, (page, self.app.exception)
        return self.taken


def test_every_page_is_here() -> None:
    assert PAGES.keys() == OF_PAGE.keys()


@pytest.mark.parametrize("roles", VISITORS)
def test_who_has_a_page_sees_it_with_its_files_and_who_lacks_it_reads_which_roles_have_it(
    roles: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is ann's own, and drawn for her in each role."""
    share(runs, PRIVATE)
    who = visitor_of(roles)
    tab = Tab(monkeypatch, who)
    for page, shown in PAGES.items():
        taken, wanted = tab.take(page), PERMISSIONS[OF_PAGE[page]].roles
        has = bool(who.roles.intersection(wanted))
        said = [one.value for one in tab.app.info if one.value.startswith("You are logged in as `ann@example.com`")]
        assert bool(taken) == (has and shown.files) and bool(said) != has, (page, roles, said)
        assert has or not who.roles or f"needs one of these roles: {', '.join(wanted)}." in said[0], (page, said)
        if shown.body:
            seen = has and "bodies" in who.roles
            assert (shown.body in text_of(tab.app)) == seen, (page, roles)
            assert any(shown.body.encode() in data for data in taken.values()) == (seen and shown.files), (page, roles)


# Who sees the least of whom: every role at the scans of another that it may not open, and at pages that it lacks.
@pytest.mark.parametrize("roles", [*VISITORS, "nobody"])
def test_who_may_not_open_a_scan_or_a_page_is_offered_no_file_of_it(
    roles: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = NOBODY if roles == "nobody" else visitor_of(roles, BOB)
    share(runs, PRIVATE if who.may("shared_runs") else LINK)
    tab = Tab(monkeypatch, who)
    for page, shown in PAGES.items():
        if not who.may_open(page) or (shown.of_run and not who.may("all_runs")):
            assert tab.take(page) == {}, (roles, page)


def test_a_file_of_two_visitors_is_of_both_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "MOST_OFFERED", 3)
    name = MEDIA + _calculate_file_id(b"same", "text/csv", "a.csv") + ".csv"
    for who in (ANN, None, BOB, ANN):  # None: a console without a login
        session.offer(b"same", "text/csv", "a.csv", who)
    assert list(session.owners(name) or ()) == [BOB, ANN] and session.owners("decode") is None
    for number in range(2):
        session.offer(b"%d" % number, "text/csv", "a.csv", ANN)
    assert list(session.owners(name) or ()) == [ANN]


def test_a_file_is_opened_by_whom_it_was_made_for_with_the_roles_of_then_and_by_nobody_else(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every download of every page is made once. Each visitor asks for its address, and its own after each loss."""
    every = "viewer triage look-up bodies"
    share(runs, LINK)
    tab, media = Tab(monkeypatch, visitor_of(every, BOB), clicks=True), MemoryMediaFileStorage("/media")
    for page in PAGES:
        for (file, mime), data in tab.take(page).items():
            path = media.get_url(media.load_and_get_id(data, mime, MediaFileKind.DOWNLOADABLE, file))
            for who in (ANN, BOB, "", None):  # the scans are ann's
                assert opens(who, path, every) == (who == BOB), (page, file)
            for lost in ("triage", "look-up", "bodies", "triage look-up bodies viewer"):
                left = " ".join(role for role in every.split() if role not in lost.split())
                assert not opens(BOB, path, left), (page, file, lost)
            assert opens(BOB, path, f"{every} admin") and not opens(BOB, path, every, "two"), (page, file)
    assert not opens(BOB, "/media/" + "0" * 56 + ".csv")  # made for nobody


def opens(who: str | None, path: str, roles: str = "viewer", cluster: str = "one") -> bool:
    """Whether the gate lets somebody with these roles to an address; who may look up, in one cluster.

    None has no login, "" is a name that no claim has.
    """
    reached: list[bool] = []

    async def app(*_: Any) -> None:
        reached.append(True)

    async def send(_: Any) -> None:
        return

    claims = {} if who is None else {"is_logged_in": True, "iat": time.time(), "email": who}
    door = Gate(app, lambda: login_of(roles, cluster), lambda _: claims, lambda: "/", tuple, session.owners)
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, app, send)).result()  # type: ignore[arg-type]
    return bool(reached)

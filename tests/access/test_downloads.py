"""Each download of each page, by role and owner: on the page, and by its own address at the gate."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage, _calculate_file_id
from streamlit.testing.v1 import AppTest

from idcore import gate
from idcore.access import NOBODY, OF_PAGE, PERMISSIONS, ROLES, VIEWERS, Visitor
from idcore.gate import MEDIA, Gate, Offered
from idcore.logins import Ended, Entrance
from idcore.runs import LINK, PRIVATE
from pages.parts import frame, session, visitor
from tests.fate.test_tables import Messages
from tests.pages.conftest import ROOT, RUN
from tests.pages.test_compare import kept_run
from tests.pages.test_findings import two_at_once
from tests.pages.test_lines import indexed
from tests.pages.test_messages import SECOND

ANN, BOB = "ann@example.com", "bob@example.com"
LOGIN = Entrance("login", VIEWERS, ("default",))
OTHER = "20261121-015600-a1b2c4"
# Of each page that has downloads: the query that shows them, and whether they are of the scan of another.
PAGES: dict[str, tuple[dict[str, str], bool]] = {
    "decode": ({"ids": SECOND}, False),
    "lab": ({}, False),
    **{page: ({"run": RUN}, True) for page in ("findings", "lines", "producers", "counters", "brokers", "fate")},
    "compare": ({"a": RUN, "b": OTHER}, True),
    "message": ({"id": SECOND}, False),
}
ELSEWHERE = {
    "anatomy": "none",
    "runs": "none",
    "store": "messages of a store folder, which the role opens or not",
    "lookup": "messages of a cluster, which is asked at a click",
    "groups": "queues of a cluster, which is asked at a click",
    "home": "the page decode",
}
Taken = dict[tuple[str, str], bytes]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scans of ann's with all tables, lines and messages."""
    folder = tmp_path_factory.mktemp("downloads")
    Messages(3).write(indexed(folder, two_at_once()).path)
    kept_run(folder, OTHER, two_at_once()[: 1 << 12])
    return folder / "runs"


def share(runs: Path, how: str) -> None:
    for name in (RUN, OTHER):
        file = runs / name / "run.json"
        held = json.loads(file.read_text()) | {"owner": ANN, "shared": how}
        file.write_text(json.dumps(held))


@pytest.fixture(autouse=True)
def desk(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("IDCORE_RUNS", str(runs))
    monkeypatch.setenv("IDCORE_NO_SPARK", "1")
    monkeypatch.delenv("IDCORE_ALLOWED_PATHS", raising=False)
    monkeypatch.setattr(type(st.context), "cookies", {})
    monkeypatch.setattr(session, "OFFERED", Offered())
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


class Tab:
    """A visit of somebody; `take` gives the files that a page offers, each taken, by their names and kinds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, who: Visitor) -> None:
        self.taken: Taken = {}
        monkeypatch.setattr(visitor, "current", lambda: who)
        monkeypatch.setattr(st, "download_button", self.button)
        self.app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        self.app.run()

    def button(self, _: str, data: bytes | Callable[[], bytes], file: str, mime: str, **__: Any) -> None:
        self.taken[file, mime] = data if isinstance(data, bytes) else data()

    def take(self, page: str) -> Taken:
        scripts = {address: script for rows in frame.GROUPS.values() for address, script, _ in rows}
        self.taken = {}
        self.app.switch_page(f"pages/{scripts[page]}")
        for name in ("ids", "run", "a", "b", "id"):
            self.app.query_params.pop(name, None)
        for name, value in PAGES[page][0].items():
            self.app.query_params[name] = value
        self.app.run()
        assert not self.app.exception, (page, self.app.exception)
        return self.taken


def test_every_page_with_a_download_is_here() -> None:
    """A page that gets its first one comes to PAGES or, with the reason, to ELSEWHERE."""
    assert not PAGES.keys() & ELSEWHERE.keys() and PAGES.keys() | ELSEWHERE.keys() == OF_PAGE.keys()


# Who sees the least of whom: every role at the scans of another that it may not open, and at pages that it lacks.
@pytest.mark.parametrize("role", [*ROLES, "", "nobody"])
def test_who_may_not_open_a_scan_or_a_page_is_offered_no_file_of_it(
    role: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_shared = role in PERMISSIONS["shared_runs"].roles
    share(runs, PRIVATE if may_shared else LINK)
    who = NOBODY if role == "nobody" else Visitor(BOB, frozenset({role} - {""}))
    tab = Tab(monkeypatch, who)
    for page, (_, of_run) in PAGES.items():
        if not who.may_open(page) or (of_run and not who.may("all_runs")):
            assert tab.take(page) == {}, (role, page)
        elif not of_run:
            assert tab.take(page), page


def test_a_file_is_opened_by_whom_it_was_made_for_and_by_nobody_else(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every download of every page, drawn for its owner, then asked for by its address as each visitor would."""
    share(runs, PRIVATE)
    tab = Tab(monkeypatch, Visitor(ANN, frozenset({"triage"})))
    media = MemoryMediaFileStorage("/media")
    for page in PAGES:
        taken = tab.take(page)
        assert taken, page
        for (file, mime), data in taken.items():
            name = media.load_and_get_id(data, mime, MediaFileKind.DOWNLOADABLE, file)
            path = media.get_url(name)
            assert [who for who in (ANN, BOB, "", None) if opens(who, path)] == [ANN], (page, file)
    assert not opens(ANN, "/media/" + "0" * 56 + ".csv")  # made for nobody


def test_a_file_of_two_visitors_is_of_both_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "MOST_OFFERED", 3)
    name = MEDIA + _calculate_file_id(b"same", "text/csv", "a.csv") + ".csv"
    for who in (ANN, None, BOB, ANN):  # None: a console without a login
        session.offer(b"same", "text/csv", "a.csv", who)
    assert session.owners(name) == [BOB, ANN] and session.owners("decode") is None
    for number in range(2):
        session.offer(b"%d" % number, "text/csv", "a.csv", ANN)
    assert session.owners(name) == [ANN]


def opens(who: str | None, path: str) -> bool:
    """Whether the gate lets somebody to an address; None has no login, "" is a name that no claim has."""
    reached: list[bool] = []

    async def app(*_: Any) -> None:
        reached.append(True)

    async def send(_: Any) -> None:
        return

    claims = {} if who is None else {"is_logged_in": True, "iat": time.time(), "email": who}
    door = Gate(
        app, lambda: LOGIN, lambda: Ended(Path(os.devnull)), lambda _: claims, lambda: "/", tuple, session.owners
    )
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, app, send)).result()  # type: ignore[arg-type]
    return bool(reached)

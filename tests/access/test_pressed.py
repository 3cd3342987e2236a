"""What a page drew with one role and is pressed with another: every button, and every function that does its work."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from idcore.answers.fate_list import background as lists
from idcore.answers.lookup import Answer, Copy
from idcore.answers.lookup.groups import GroupAnswer
from idcore.answers.lookup.queries import Answers, GroupQuery, GroupReadings, LookupQuery
from idcore.base.catalogue import words
from idcore.intake import allowed
from idcore.intake.intake import Source
from idcore.policy.access import NOBODY, OF_PAGE, PERMISSIONS, ROLES, AccessError, Visitor
from idcore.presentation.triage import compared
from idcore.runs import background_run
from idcore.runs.runs import EVERYBODY, PRIVATE, Run, Runs
from idcore.server import jobs
from idcore.simulate import example
from idcore.spark import background
from pages.parts import live, scans, visitor, widgets
from pages.parts.messages import groups, lookups, uploads
from pages.parts.runs import begin, fate_lists
from pages.parts.triage import compare, lines
from tests.access import test_downloads
from tests.access.test_downloads import ANN, BOB, OTHER, PAGES, Shown, Tab, desk, outside, runs, share, visitor_of
from tests.pages.conftest import RUN, reader
from tests.pages.test_pages import shown as text_of
from tests.remoting.fake import UNIQ, record

__all__ = ["desk", "outside", "runs"]  # fixtures
EVERYTHING = "viewer triage look-up bodies admin"
FOLDER_RUN = "20261121-015700-a1b2c5"
SECRETS = ("a secret", "plain message 1 of prodA", "ann's own title")


@dataclass
class Work:
    """What was begun: scans and lists, and how often a cluster was asked."""

    begun: list[str] = field(default_factory=list)

    def start(self, run: Run, paths: Any, options: Any, *_: Any) -> None:
        self.begun.append(f"scan of {options.store or paths}")
        run.set_state("done")

    def listed(self, store: Runs, service: Any, *_: Any, **__: Any) -> Any:
        self.begun.append(f"list for {service.cluster.name}")
        raise AccessError("not_allowed", {"name": "", "roles": "none: it is noted, and that is enough"})


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    """Nothing is scanned: what would be is noted. The example has 40 lines."""
    found = Work()
    monkeypatch.setattr(jobs, "ready", lambda: True)
    monkeypatch.setattr(background, "start", found.start)
    monkeypatch.setattr(lists, "start", found.listed)
    monkeypatch.setattr(visitor, "later", lambda: lambda: visitor.current())
    whole = example.text_of
    monkeypatch.setattr(example, "text_of", lambda name: ("\n".join(whole(name)[0].splitlines()[:40]), whole(name)[1]))
    return found


@pytest.fixture
def failed(runs: Path) -> Iterator[str]:
    """A scan of the open folder, ann's, which has failed."""
    folder = runs / FOLDER_RUN
    folder.mkdir()
    held = json.loads((runs / RUN / "run.json").read_text())
    plan: dict[str, Any] = {"paths": [os.environ["IDCORE_ALLOWED_PATHS"]], "names": None, "zone": None, "at": None}
    plan |= {"zone_source": "assumed", "split_size": 1 << 30, "case": "strict"}
    held |= {"plan": plan, "state": "failed", "title": "ann's own title", "owner": ANN, "shared": EVERYBODY}
    (folder / "run.json").write_text(json.dumps(held))
    yield FOLDER_RUN
    for name in {path.name for path in runs.iterdir()} - {RUN, OTHER}:
        Runs(runs).delete(name) if (runs / name / "run.json").exists() else None


def facts(runs: Path) -> dict[str, str]:
    """The scans of ann, as they are on disk."""
    found = {path.parent.name: path.read_text() for path in runs.glob("*/run.json")}
    return {name: text for name, text in found.items() if json.loads(text)["owner"] == ANN}


# ---- every button of every page

VIEWS: dict[str, tuple[str, Shown]] = {
    **{page: (page, shown) for page, shown in PAGES.items()},
    **{
        f"lookup by {way}": ("lookup", Shown({"cluster": "one", "way": way} | dict(query)))
        for way, query in {
            "key": {"key": "K1", "topic": "Orders"},
            "queue": {"topic": "Orders", "queue": "broker-a:0"},
            "dead_letters": {"dead_letters": "billing"},
        }.items()
    },
    "lines of a message": ("message", Shown({"id": UNIQ, "cluster": "one"}, "Ask the cluster one")),
}
# A button stands for all of its kind: one step of the lab, one process of a ranking.
KIND = re.compile(r"\d{8}-\d{6}-[0-9a-f]+|(?<=^lab-step-)\w+|(?<=^chip-)\w+|(?<=^rank-)\d+")


def kinds(tab: Tab) -> dict[str, Any]:
    """The buttons in sight, one of each kind; those of forms and of dialogs too."""
    return {KIND.sub("", str(one.key)) if one.key else one.label: one for one in tab.app.button}


def put(tab: Tab, page: str, view: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view as `Tab` draws it; of the list of scans with a folder that is offered, and a scan that is selected."""
    monkeypatch.setitem(test_downloads.PAGES, page, view)
    tab.app.query_params.pop("way", None)
    for name in {name for _, one in VIEWS.values() for name in one.query} - {*view.query}:
        tab.app.query_params.pop(name, None)
    if page == "runs":
        folder = os.environ["IDCORE_ALLOWED_PATHS"]
        place = allowed.Place(folder, os.path.realpath(folder), None, allowed.Contents(1, 1, "d"))
        tab.app.session_state["runs_offered"] = place
        tab.app.session_state["runs_picked"] = {RUN}
    tab.take(page)


@pytest.mark.parametrize("lost", ["nobody", "viewer"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_button_that_was_drawn_with_all_roles_does_nothing_for_whom_lost_them(
    view: str,
    lost: str,
    work: Work,
    runs: Path,
    failed: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, shown = VIEWS[view]
    share(runs, EVERYBODY)
    who = NOBODY if lost == "nobody" else visitor_of("viewer", BOB)
    drawn = visitor_of(EVERYTHING, BOB)
    tab = Tab(monkeypatch, drawn)
    put(tab, page, shown, monkeypatch)
    names = list(kinds(tab))
    assert names, view
    asked = _requests(monkeypatch)
    for name in names:
        monkeypatch.setattr(visitor, "current", lambda: drawn)
        put(tab, page, shown, monkeypatch)
        if (button := kinds(tab).get(name)) is None or button.disabled:
            continue
        before, begun, there = facts(runs), len(work.begun), len(asked)
        monkeypatch.setattr(visitor, "current", lambda: who)
        button.click().run()
        assert not tab.app.exception, (view, name, tab.app.exception)
        assert facts(runs) == before, (view, name)
        outside = [one for one in work.begun[begun:] if "input" not in one]
        assert not outside and len(asked) == there, (view, name, outside, asked[there:])
        assert lost != "nobody" or len(work.begun) == begun, (view, name)
        assert not [one for one in SECRETS if one in text_of(tab.app)], (view, name)


def _requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each question to a cluster, from now on."""
    from idcore.answers.lookup import LookupService

    asked: list[str] = []
    for name in ("look_up", "list_messages", "ask"):
        whole = getattr(LookupService, name)

        def noted(self: Any, *given: Any, whole: Any = whole, name: str = name, **more: Any) -> Any:
            asked.append(name)
            return whole(self, *given, **more)

        monkeypatch.setattr(LookupService, name, noted)
    return asked


def test_the_views_have_every_page_and_the_buttons_that_do_something(
    work: Work, runs: Path, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all roles the same buttons do their work: the matrix above presses what works."""
    assert {page for page, _ in VIEWS.values()} == set(OF_PAGE)
    share(runs, EVERYBODY)
    tab, asked = Tab(monkeypatch, visitor_of(EVERYTHING, BOB)), _requests(monkeypatch)
    put(tab, "runs", VIEWS["runs"][1], monkeypatch)
    for name in (words("en")("runs.scan_now"), "again-", "pin-"):
        put(tab, "runs", VIEWS["runs"][1], monkeypatch)
        before = facts(runs)
        kinds(tab)[name].click().run()
        assert work.begun or facts(runs) != before, name
    assert len(work.begun) == 2
    put(tab, "lookup", VIEWS["lookup by key"][1], monkeypatch)
    kinds(tab)["FormSubmitter:list-key-List messages"].click().run()
    assert asked == ["list_messages"]


# ---- every function that does the work, for each role


@dataclass
class Drawn:
    """What pages held when they were drawn, by somebody with all roles."""

    runs: Path
    folder: str
    place: allowed.Place
    failed: str
    offer: Callable[[], bytes] = bytes


def _answers() -> Answers:
    copy = Copy(record("Orders", UNIQ, 0, b"a secret"))
    return Answers([Answer(UNIQ, (copy,), None, (), ())], LookupQuery([UNIQ], None, "one"), datetime.now(UTC))


def _seen() -> GroupReadings:
    return GroupReadings(GroupQuery("one", "Orders"), (GroupAnswer(None, (), 0, True, (), ()),))


def _asked() -> compared.ComparisonQuery:
    both = (Source("a.log", f"msgId={UNIQ}\n".encode()),)
    return compared.ComparisonQuery(both, both)


def _scan_side(drawn: Drawn) -> None:
    st.session_state.pop("scan_problem", None)
    compare.scan_side(Runs(drawn.runs).open(RUN), "before")
    if "scan_problem" in st.session_state:
        raise PermissionError


# The function behind a button, and the permission that it needs at that moment.
DONE: dict[str, tuple[Callable[[Drawn], Any], str]] = {
    "scan a folder": (lambda drawn: begin._begin(drawn.place), "folders"),
    "scan a folder again": (lambda drawn: scans.again(drawn.failed), "folders"),
    "find the lines of a folder": (lambda drawn: lines.making(Runs(drawn.runs).open(drawn.failed)), "folders"),
    "read the lines of a folder": (
        lambda drawn: lines.allowed_for(Runs(drawn.runs).open(drawn.failed))(drawn.folder),
        "folders",
    ),
    "upload a store": (lambda _: uploads.folder([], reader().words), "folders"),
    "open an uploaded store": (lambda _: uploads.held("x") is None, "folders"),
    "compare": (lambda _: compare.made_of(_asked()), "compare"),
    "scan a side of a comparison": (_scan_side, "compare"),
    "look up, list, dead letters": (lambda _: live.source_of("one"), "look_up"),
    "progress of groups, reach clients": (lambda _: live.cluster("one") is not None, "look_up"),
    "what became of a list": (lambda _: fate_lists.start([UNIQ], None, "one"), "look_up"),
    "answers of this session": (lambda _: lookups.kept() is not None, "look_up"),
    "groups of this session": (lambda _: groups.latest() is not None, "look_up"),
    "a file of the page of stores": (lambda drawn: drawn.offer(), "folders"),
}


@pytest.fixture
def drawn(runs: Path, failed: str, work: Work, monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """What is on the pages of somebody with all roles, who owns the scans."""
    share(runs, PRIVATE)
    folder = os.environ["IDCORE_ALLOWED_PATHS"]
    for module in (begin, compare, fate_lists):
        monkeypatch.setattr(module, "view", reader)
    monkeypatch.setattr(st, "query_params", {"cluster": "one", "topic": "Orders", "group": "", "at": ""})
    monkeypatch.setattr(
        st, "session_state", {"lookup_answers": _answers(), "groups_kept": _seen(), "address": ("store",)}
    )
    monkeypatch.setattr(compared, "make", lambda here, dating, store, digest, who, **more: store.create("a with b"))
    monkeypatch.setattr(compared, "sources_of", lambda *_: [Source("a.log", b"x")])
    monkeypatch.setattr(jobs, "locating", lambda *_: True)
    monkeypatch.setattr(lists, "start", lambda store, *_, **__: type("J", (), {"run": store.create("a list")}))
    Runs(runs).open(RUN).set_options(of=[None, None], case="strict")
    place = allowed.Place(folder, os.path.realpath(folder), None, allowed.Contents(1, 1, "d"))
    made: list[Callable[[], bytes]] = []
    monkeypatch.setattr(st, "download_button", lambda _, data, *__, **___: made.append(data))
    monkeypatch.setattr(visitor, "current", lambda: replace(visitor_of(EVERYTHING), clusters=frozenset({"one"})))
    monkeypatch.setattr(widgets, "view", reader)
    widgets.download("CSV", lambda: b"of a store", "a.csv", key="a")
    return Drawn(runs, folder, place, failed, made[0])


@pytest.mark.parametrize("action", DONE)
@pytest.mark.parametrize("role", [*ROLES, "", "triage bodies", "look-up bodies"])
def test_what_is_pressed_needs_its_permission_at_that_moment(
    role: str, action: str, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    do, permission = DONE[action]
    who = visitor_of(role)
    monkeypatch.setattr(visitor, "current", lambda: who)
    try:
        done = do(drawn) is not False
    except IndexError:  # of an upload without a file: it was asked before
        done = True
    except (AccessError, PermissionError, ValueError):
        done = False
    has = who.may(permission) and "file of the page" not in action  # each of them lacks a role of then
    assert done == has, (action, role, PERMISSIONS[permission].roles)


@pytest.mark.parametrize("role", ["look-up", "look-up bodies"])
def test_answers_that_were_asked_with_the_role_for_bodies_have_none_without_it(
    role: str, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    from idcore.answers.lookup import copy_row

    monkeypatch.setattr(visitor, "current", lambda: visitor_of(role))
    found = lookups.kept()
    assert found is not None
    has = "bodies" in role
    assert (copy_row(found.found[0].copies[0])["body_text"] == "a secret") == has
    assert st.session_state["lookup_answers"].found[0].copies[0] is not found.found[0].copies[0] or has


# ---- what begins later


def _scans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is scanned, from now on."""
    scanned: list[Any] = []

    def scan(paths: Any, *_: Any) -> dict[str, int]:
        scanned.append(paths)
        return {"bytes": 0, "ids": 0}

    monkeypatch.setattr(background, "scan", scan)
    return scanned


def test_a_scan_that_waited_for_its_turn_asks_for_the_roles_of_then(
    runs: Path, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner was a triage when they pressed, and is a viewer when the turn of the scan comes."""
    scanned = _scans(monkeypatch)
    share(runs, PRIVATE)
    then = [visitor_of("triage")]
    monkeypatch.setattr(visitor, "current", lambda: visitor_of("triage"))
    monkeypatch.setattr(visitor, "later", lambda: lambda: then[0])
    for role, state in (("viewer", "failed"), ("triage", "done")):
        then[0] = visitor_of(role)
        scans.again(failed)
        job = background_run.find(failed)
        assert job is not None and job.wait(30).state == state
        assert bool(scanned) == (state == "done")
        error = Runs(runs).open(failed).error
        assert (error is not None and error.code == "not_allowed") == (state == "failed")


def test_a_place_that_was_closed_while_a_scan_waited_is_not_read(
    runs: Path, failed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned = _scans(monkeypatch)
    share(runs, PRIVATE)
    monkeypatch.setattr(visitor, "current", lambda: visitor_of("triage"))

    def later() -> Callable[[], Visitor]:
        monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
        return lambda: visitor_of("triage")

    monkeypatch.setattr(visitor, "later", later)
    scans.again(failed)
    job = background_run.find(failed)
    assert job is not None and job.wait(30).state == "failed" and not scanned


def test_a_folder_that_became_a_link_since_it_was_offered_is_not_scanned(
    runs: Path, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, closed = tmp_path / "open", tmp_path / "closed"
    for folder in (opened / "logs", closed):
        folder.mkdir(parents=True)
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(opened))
    monkeypatch.setattr(visitor, "current", lambda: visitor_of("triage"))
    monkeypatch.setattr(begin, "view", reader)
    place = allowed.Place(str(opened / "logs"), str(opened / "logs"), None, allowed.Contents(1, 1, "d"))
    (opened / "logs").rmdir()
    (opened / "logs").symlink_to(closed)
    before = sorted(path.name for path in runs.iterdir())
    with pytest.raises(PermissionError):
        begin._begin(place)
    assert not work.begun and sorted(path.name for path in runs.iterdir()) == before


def test_a_list_that_waited_for_its_turn_asks_for_the_roles_of_then(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, asked = visitor_of("look-up"), list[Any]()
    monkeypatch.setattr(lists, "ask", lambda *given: asked.append(given))
    monkeypatch.setattr(visitor, "current", lambda: who)
    monkeypatch.setattr(visitor, "later", lambda: lambda: visitor_of("viewer"))
    monkeypatch.setattr(fate_lists, "view", reader)
    run = fate_lists.start([UNIQ], None, "one")
    job = background_run.find(run.name)
    assert job is not None and job.wait(30) is not None
    assert not asked and run.state == "failed" and run.error is not None and run.error.code == "not_allowed"
    Runs(runs).delete(run.name)


def test_work_that_begins_later_has_the_roles_of_the_file_of_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a log-in does not end what it began; that somebody has left the team does."""
    found = [test_downloads.login_of("viewer triage")]
    claims = {"is_logged_in": True, "iat": time.time() - 1e9, "email": ANN}
    monkeypatch.setattr(visitor, "entrance", lambda: found[0])
    monkeypatch.setattr(type(st.user), "to_dict", lambda _: claims)
    later = visitor.later()
    assert later().name == ANN and later().may("folders")
    found[0] = test_downloads.login_of("viewer")
    assert later().name == ANN and not later().may("folders")

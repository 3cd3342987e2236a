"""Each role at each page, each list and each action, by direct calls: nothing but what the table allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.navigation.page import Page
from streamlit.testing.v1 import AppTest

from idcore.answers.lookup import Answer, Copy, copy_row, shared
from idcore.answers.lookup.without_bodies import withheld
from idcore.policy.access import NOBODY, OF_PAGE, PERMISSIONS, ROLES, AccessError, Visitor
from idcore.runs.runs import EVERYBODY, LINK, PRIVATE, RunError, Runs
from pages.parts import cache, live, scans, visitor
from tests.pages.conftest import ROOT, RUN, make_run
from tests.remoting.fake import record

CLUSTERS = '[clusters.one]\nname_servers = ["127.0.0.1:1"]\n[clusters.two]\nname_servers = ["127.0.0.1:2"]\n'


def of(role: str, name: str = "ann@example.com") -> Visitor:
    return Visitor(name, frozenset({role} - {""}), frozenset({"one"}) if role == "look-up" else frozenset())


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs of three people, an allowed folder and two clusters; nothing is dialled."""
    import streamlit as st

    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IDCORE_NO_SPARK", "1")
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path))
    (tmp_path / "clusters.toml").write_text(CLUSTERS, encoding="utf-8")
    monkeypatch.setenv("IDCORE_CLUSTERS", str(tmp_path / "clusters.toml"))
    monkeypatch.setattr(type(st.context), "cookies", {})
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    shared.forget()


def becomes(monkeypatch: pytest.MonkeyPatch, who: Visitor) -> None:
    monkeypatch.setattr(visitor, "current", lambda: who)


def works(action: Callable[[], Any]) -> bool:
    try:
        return action() is not False
    except (RunError, AccessError, PermissionError):
        return False


def run_of(owner: str | None, shared: str, root: Path) -> str:
    run = Runs(root, Visitor(owner, frozenset({"viewer"}))).create("app.log")
    run.share(shared)
    run.set_state("done")
    return run.name


# What a visitor does with a run: whether only its owner and an admin may.
ACTIONS: dict[str, tuple[Callable[[str], Any], bool]] = {
    "open": (lambda name: scans.visible_runs().open(name), False),
    "show": (lambda name: scans.visible_runs().open(name).facts, False),
    "rename": (lambda name: scans.visible_runs().own(name).rename("x"), True),
    "pin": (lambda name: scans.visible_runs().own(name).pin(True), True),
    "share": (lambda name: scans.visible_runs().own(name).share(PRIVATE), True),
    "stop": (scans.cancel, True),
    "delete": (lambda name: scans.visible_runs().delete(name), True),
}
OWNERS = ("ann@example.com", "bob@example.com", None)


@pytest.mark.parametrize("role", [*ROLES, ""])
@pytest.mark.parametrize("shared", [PRIVATE, LINK, EVERYBODY])
@pytest.mark.parametrize("owner", OWNERS)
def test_a_run_is_its_owners_and_others_have_what_the_table_says(
    role: str, shared: str, owner: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = of(role)
    own = owner == who.name and bool(role)
    may_all, may_shared = (role in PERMISSIONS[one].roles for one in ("all_runs", "shared_runs"))
    for action, (do, changes) in ACTIONS.items():
        name = run_of(owner, shared, tmp_path / "runs")
        becomes(monkeypatch, who)
        allowed = own or may_all or (not changes and may_shared and shared != PRIVATE)
        assert works(lambda: do(name)) == allowed, (action, role, shared, owner)  # noqa: B023
        there = (tmp_path / "runs" / name).exists()
        assert there != (allowed and action == "delete")
    cache.forget_runs()
    names = {row["owner"] for row in cache.all_runs()}
    listed = own or may_all or (may_shared and shared == EVERYBODY)
    assert names == ({owner} if listed else set())
    assert {run.facts["owner"] for run in scans.visible_runs().list()} == names


@pytest.mark.parametrize("role", [*ROLES, ""])
def test_an_action_needs_its_permission_where_it_is_done(
    role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    becomes(monkeypatch, of(role))

    def may(permission: str) -> bool:
        return role in PERMISSIONS[permission].roles

    (tmp_path / "logs").mkdir()
    assert works(lambda: scans.visible_runs().create("a")) == may("decode")
    assert works(lambda: scans.allowed(str(tmp_path / "logs"))) == may("folders")
    assert works(lambda: scans.store_in(tmp_path / "logs")) in (True, False)
    assert set(live.offers()) == ({"one"} if may("look_up") else set())
    assert (live.cluster("one") is not None) == may("look_up") and live.cluster("two") is None


@pytest.mark.parametrize("role", [*ROLES, "", "nobody"])
def test_a_page_of_another_role_says_so_and_is_in_no_list(
    role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each address is asked for with a link to another's run. What a page draws has its own tests."""
    from pages.parts import frame

    who, entrance = NOBODY if role == "nobody" else of(role), visitor.entrance()
    becomes(monkeypatch, who)
    monkeypatch.setattr(visitor, "entrance", lambda: replace(entrance, mode="login", providers=("default",)))
    drawn: list[str] = []
    whole = Page.run

    def draw(page: Page) -> None:
        if Path(str(page._page)).name == "app.py":  # AppTest runs it as a page
            whole(page)
        else:
            drawn.append(page.url_path)

    monkeypatch.setattr(Page, "run", draw)
    make_run(tmp_path / "runs", title="a secret of another")
    scripts = {address: script for rows in frame.MENU.values() for address, script, _ in rows}
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["run"] = RUN
    mine = {page for page in OF_PAGE if role in PERMISSIONS[OF_PAGE[page]].roles}
    app.run()
    assert not app.exception, app.exception
    for page, script in scripts.items():
        drawn.clear()
        app.switch_page(f"pages/{script}").run()
        assert not app.exception and [at or "decode" for at in drawn] == [page] * (page in mine)
        assert role == "admin" or "a secret of another" not in f"{app.main}{app.sidebar}{app.session_state}"
        if who.roles:
            assert set(app.session_state["pages"]) == mine
            assert page in mine or all(one in app.info[0].value for one in PERMISSIONS[OF_PAGE[page]].roles)
        else:
            assert not app.sidebar.children and "pages" not in app.session_state
            assert [button.label for button in app.button] == ["Log in" if role == "nobody" else "Log out"]


def test_every_page_of_the_console_is_in_the_table() -> None:
    from pages.parts import frame

    assert {address for rows in frame.MENU.values() for address, _, _ in rows} | {frame.HOME} == set(OF_PAGE)


def test_pages_open_runs_through_the_visitor_alone() -> None:
    """Of two modules that have `Runs(` one binds the visitor, and one filters by them; the server sweeps."""
    swept = re.compile(r"retention\.sweep, Runs\(runs_root\(\)\)")
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pages").rglob("*.py")
        if "Runs(" in swept.sub("", path.read_text(encoding="utf-8"))
    }
    assert found == {"pages/parts/scans.py", "pages/parts/cache.py"}


def test_the_body_of_a_message_is_withheld_without_the_role() -> None:
    copy = Copy(record("Orders", None, 0, b"a secret"))
    row = copy_row(withheld(Answer("x", (copy,), None, (), ())).copies[0])
    assert row["body"] is None and row["body_text"] is None and row["body_withheld"] == "switched_off"
    assert copy_row(copy)["body_text"] == "a secret"


def test_names_of_runs_cannot_be_guessed_and_old_ones_stay(tmp_path: Path) -> None:
    first, second = (Runs(tmp_path).create("a").name for _ in range(2))
    assert len(first) == 48 and first[16:] != second[16:]
    make_run(tmp_path)
    assert Runs(tmp_path).open(RUN).title == "app.log, old.log.gz"

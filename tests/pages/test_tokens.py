"""The page of personal tokens: made once, shown once, revoked by whose they are."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.policy import private
from idcore.policy.access import ROLES, Visitor
from idcore.policy.tokens import Tokens
from pages.parts import visitor
from tests.pages.test_pages import shown

ANN = Visitor("ann@example.org", frozenset({"viewer", "triage"}))
ROOT = Visitor("root@example.org", frozenset(ROLES))
Open = Callable[..., AppTest]


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    made = Tokens(tmp_path / "runs")
    monkeypatch.setattr(visitor, "tokens", lambda: made)
    monkeypatch.setattr(visitor, "claims", lambda: {"email": visitor.current().name})
    return made


def come(who: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor, "current", lambda: who)


def button(app: AppTest, key: str) -> Any:
    return next(one for one in app.button if one.key and one.key.startswith(key))


def test_a_token_is_made_shown_once_and_revoked(
    tokens: Tokens, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(ANN, monkeypatch)
    app = open_page("tokens")
    assert "no tokens" in shown(app)
    assert set(app.multiselect(key="token-scopes").options) == {
        "decode, scan, and open scans of your own",
        "compare inputs and scans",
        "open scans that others share",
        "read open folders of the server",
    }, "what ann may do"
    app.text_input(key="token-label").set_value("runbook")
    next(one for one in app.button if one.label == "Make a token").click()
    app.run()
    (text,) = [one.value for one in app.code if one.value.startswith("rmqids_")]
    found = tokens.of_text(text)
    assert found is not None and found.owner == ANN.name and found.scopes == {"decode"}
    app.run()
    assert "rmqids_" not in "".join(one.value for one in app.code), "shown once"
    assert "runbook" in shown(app)
    button(app, "revoke-").click().run()
    assert tokens.of_text(text) is None and not tokens.of(ANN.name)


def test_an_administrator_sees_and_revokes_everybodys(
    tokens: Tokens, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, text = tokens.make(ANN, {"email": ANN.name}, "runbook", {"decode"}, 30)
    come(Visitor("bob@example.org", frozenset({"viewer"})), monkeypatch)
    assert "runbook" not in shown(open_page("tokens"))
    come(ROOT, monkeypatch)
    app = open_page("tokens", lang="zh")
    assert "runbook" in shown(app) and "ann@example.org" in shown(app)
    button(app, f"revoke-{made.name}").click().run()
    assert tokens.of_text(text) is None


def test_a_name_is_needed(tokens: Tokens, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    come(ANN, monkeypatch)
    app = open_page("tokens")
    next(one for one in app.button if one.label == "Make a token").click()
    app.run()
    assert "name of 1 to 80 characters" in app.error[0].value and not tokens.of()


def test_the_name_of_a_token_is_text_and_no_markdown(
    tokens: Tokens, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(ANN, monkeypatch)
    app = open_page("tokens")
    app.text_input(key="token-label").set_value("**a** ![b](https://canary.invalid/c.png) <d>")
    next(one for one in app.button if one.label == "Make a token").click().run()
    assert r"“\*\*a\*\* `![b](https://canary.invalid/c.png`) \<d\>”" in app.success[0].value


def test_tokens_may_be_forbidden(tokens: Tokens, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDCORE_TOKENS", "off")
    come(ANN, monkeypatch)
    app = open_page("tokens")
    assert "switched personal tokens off" in app.info[0].value and not app.multiselect


def test_without_a_login_nobody_needs_one(open_page: Open) -> None:
    app = open_page("tokens")
    assert "no log-in" in shown(app) and not app.multiselect
    assert not [link for link in open_page("lab").get("page_link") if "tokens" in link.proto.page], "nor in the menu"


@pytest.mark.parametrize("wrong", [{"begun": "nan"}, {"ends": "inf"}, {"ends": 1e18}, {"begun": -1e18}, {"ends": 0}])
def test_a_token_with_times_that_are_none_is_none(
    wrong: dict[str, Any], tokens: Tokens, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file of them, and no administrator could revoke any token."""
    token, _ = tokens.make(ANN, {"email": ANN.name}, "runbook", {"decode"}, 1)
    held = json.loads((tokens.folder / token.name).read_text())
    (tokens.folder / "0123456789abcdef").write_text(json.dumps(held | wrong))
    come(ROOT, monkeypatch)
    app = open_page("tokens")
    assert not app.exception and not app.error and "runbook" in shown(app)
    assert [one.name for one in tokens.of()] == [token.name]


def _open_to_others(file: Path) -> None:
    file.chmod(0o644)


def _link(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


@pytest.mark.parametrize("change", [_open_to_others, _link, None])
def test_what_another_user_of_the_machine_made_is_no_token(
    change: Callable[[Path], None] | None, tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may write in a shared folder of scans would be anybody: also a copy of the console is a file of the group."""
    made, text = tokens.make(ANN, {"email": ANN.name}, "runbook", {"decode"}, 30)
    assert tokens.of_text(text) is not None and tokens.of(ANN.name)
    if change is None:
        monkeypatch.setattr(private, "_user_in", lambda _: os.geteuid() + 1)
    else:
        change(tokens.folder / made.name)
    assert tokens.of_text(text) is None and not tokens.of(ANN.name) and not tokens.has(made)


def test_the_user_of_a_folder_is_whose_its_new_files_are(tmp_path: Path) -> None:
    (tmp_path / "file").touch(0o600)
    assert private._user_in(tmp_path) == (tmp_path / "file").stat().st_uid and not list(tmp_path.glob("tmp*"))
    assert private._user_in(tmp_path / "none") == os.geteuid()

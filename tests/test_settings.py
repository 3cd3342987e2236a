"""The settings as one value: what an unset, an empty and a given variable mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from idcore.policy import settings
from idcore.policy.limits import LIMITS
from idcore.policy.settings import ROWS, Settings

pytestmark = pytest.mark.quick


def test_a_variable_that_is_not_set_or_is_empty_has_its_default() -> None:
    empty = {str(row["name"]): "" for row in ROWS.values() if not row["empty"]}
    assert Settings.of(empty) == Settings.of({}) == Settings()
    assert (Settings().spark_memory, Settings().runs, Settings().no_spark) == ("2g", None, False)


def test_an_empty_text_is_a_value_where_it_means_something() -> None:
    assert Settings.of({"FORWARDED_ALLOW_IPS": ""}).forwarded_allow_ips == ""
    assert [name for name, row in ROWS.items() if row["empty"]] == ["forwarded_allow_ips"]


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("1", True),
        ("TRUE", True),
        ("on", True),
        ("0", False),
        ("off", False),
        (" 1", True),
        ("tls", True),
        ("No ", False),
    ],
)
def test_encryption_is_asked_for_by_a_word(text: str, on: bool) -> None:
    """Also by one that is not known: otherwise requests and bodies would go over the network as they are."""
    assert Settings.of({"IDCORE_TLS": text}).tls is on


def test_settings_are_read_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path))
    monkeypatch.setenv("IDCORE_NO_SPARK", "0")
    assert settings.current().runs == tmp_path and settings.current().no_spark, "any value"


def test_no_key_is_in_the_text_of_the_settings() -> None:
    keys = {"ROCKETMQ_ACCESS_KEY": "canary", "ROCKETMQ_SECRET_KEY": "canary", "ROCKETMQ_SECURITY_TOKEN": "canary"}
    assert Settings.of(keys).secret_key == "canary" and "canary" not in repr(Settings.of(keys))


def test_one_setting_is_what_all_of_them_have(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("IDCORE_LOGIN_HOURS", "")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    now = settings.current()
    assert all(settings.one(name) == getattr(now, name) for name in ROWS)


def test_each_variable_has_one_row() -> None:
    names = [str(row["name"]) for row in ROWS.values()] + [row.setting for row in LIMITS.values()]
    assert len(names) == len(set(names))

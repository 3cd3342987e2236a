"""What invites others: forms of issues that GitHub takes, and licence texts that the package carries."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parent.parent
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_github_asks_of_it(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form) and isinstance(form["labels"], list)
    inputs = [part for part in form["body"] if part["type"] != "markdown"]
    assert inputs and len({part["id"] for part in inputs}) == len(inputs)
    for part in form["body"]:
        assert part["type"] in ("markdown", "textarea", "input") and set(part) <= {
            "type",
            "id",
            "attributes",
            "validations",
        }
        assert part["attributes"]["value" if part["type"] == "markdown" else "label"]
    assert any(part.get("validations") == {"required": True} for part in inputs)


def test_the_package_carries_its_licence_and_the_notice() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["license-files"] == ["LICENSE", "NOTICE"]
    assert all((ROOT / name).is_file() for name in project["project"]["license-files"])
    assert all(
        f"/{name}" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"] for name in ("LICENSE", "NOTICE")
    )


def test_make_targets_of_the_pull_request_form_are_there() -> None:
    text = (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text(encoding="utf-8")
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for words in ("quick", "format check", "docs"):
        assert f"make {words}" in text and all(f"\n{word}:" in targets for word in words.split())

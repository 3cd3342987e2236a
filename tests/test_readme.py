"""The README is held to the code: its commands run and print what it shows, its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from idcore.remoting import profile
from idcore.spark.session import java

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(page: str = README) -> list[tuple[str, list[str]]]:
    """Every `$ command` of a console block with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip():
                found[-1][1].append(line.rstrip())
    return found


def matches(shown: list[str], printed: list[str]) -> bool:
    """Line for line; `...` stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


def test_the_examples_print_what_the_readme_shows(tmp_path: Path) -> None:
    if java() is None and not os.environ.get("CI"):
        pytest.skip("the scan among the examples needs Java")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    assert len(examples()) >= 4
    for command, shown in examples():
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        printed = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
        assert done.returncode in (0, 1), f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr
        assert matches(shown, printed), f"{command} prints\n" + "\n".join(printed)


def test_the_chinese_readme_shows_examples_of_the_english_one_which_are_run() -> None:
    assert examples(CHINESE) and all(example in examples() for example in examples(CHINESE))
    for block in re.findall(r"```sh\n.*?```", CHINESE, re.DOTALL):
        assert block in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_every_make_target_named_in_the_docs_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))}
    assert named <= targets


def test_every_environment_variable_is_documented_and_used() -> None:
    code = "".join(
        path.read_text(encoding="utf-8") for folder in ("idcore", "pages") for path in (ROOT / folder).rglob("*.py")
    )
    used = set(re.findall(r"environ(?:\.get\(|\.setdefault\(|\[)\"(IDCORE_[A-Z_]+)\"", code))
    used |= {value for value in vars(profile).values() if isinstance(value, str) and value.startswith("IDCORE_")}
    documented = set(re.findall(r"`(IDCORE_[A-Z_]+)", (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")))
    assert used == documented

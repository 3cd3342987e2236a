"""The files of docs/deploy name settings, modules, files and options that are there."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest
import uvicorn

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "docs" / "deploy").iterdir())
CONTAINER = (ROOT / "docs/deploy/Containerfile").read_text(encoding="utf-8")
UNIT = ROOT / "docs/deploy/rocketmq-ids.service"
OF_THE_SYSTEM = {"HOME", "TMPDIR", "XDG_CACHE_HOME", "SITE", "CONSOLE"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_settings_and_modules_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    known = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b((?:IDCORE|NUMBA|FORWARDED|STREAMLIT)_[A-Z_]+)\b", text))
    guide = (ROOT / "docs/how-to/log-in.md").read_text(encoding="utf-8")
    assert {name for name in named if f"`{name}`" not in known and name not in guide} == set()
    for module in re.findall(r"-m (idcore[\w.]*)", text):
        assert importlib.util.find_spec(module) is not None, module
    for page in re.findall(r"docs/[\w/.-]+\w", text):
        assert (ROOT / page).exists(), page


def test_every_variable_that_the_image_sets_is_known() -> None:
    block = re.search(r"^ENV IDCORE_RUNS.*(?:\\\n.*)+", CONTAINER, re.M)
    assert block is not None
    named = set(re.findall(r"\b([A-Z_]{4,})=", block[0]))
    settings = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    assert {name for name in named - OF_THE_SYSTEM if f"`{name}`" not in settings} == set()
    assert all(place.startswith("/var/lib/rocketmq-ids") for place in re.findall(r"=(\S+)", block[0].replace("\\", "")))


def test_the_image_has_the_whole_console_and_nothing_else() -> None:
    """What is copied is not ignored, and everything that the console imports at its start is copied."""
    ignore = (ROOT / "docs/deploy/Containerfile.dockerignore").read_text(encoding="utf-8").split()
    let_in = [line[1:] for line in ignore if line.startswith("!")]
    copied = re.findall(r"^COPY (?!--from)(\S+) ", CONTAINER, re.M)
    assert ignore[0] == "*"
    for name in copied:
        assert (ROOT / name).exists(), name
        assert any(fnmatch(name, rule) or rule.startswith(f"{name}/") for rule in let_in), name
    assert {"app.py", "idcore", "pages", "docs", ".streamlit", "requirements.lock"} == set(copied)


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    """Where systemd is installed; else that it runs what the Makefile runs."""
    text = UNIT.read_text(encoding="utf-8")
    command = "-m streamlit run app.py"
    assert command in text and command in (ROOT / "Makefile").read_text(encoding="utf-8")
    if analyze := shutil.which("systemd-analyze"):
        own = tmp_path / UNIT.name  # with a program that this machine has
        own.write_text(text.replace("/opt/rocketmq-ids/.venv/bin/python", "/bin/true"), encoding="utf-8")
        done = subprocess.run([analyze, "verify", own], capture_output=True, text=True, timeout=60)
        assert "Unknown" not in done.stderr and own.name not in done.stderr, done.stderr


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Containerfile, continued lines joined."""
    text = re.sub(r"^#.*\n", "", CONTAINER, flags=re.M).replace("\\\n", " ")
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def test_the_image_is_built_in_stages_and_runs_without_what_built_it() -> None:
    """What a linter of Containerfiles asks for, as far as it is about this file."""
    known = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "VOLUME", "USER", "EXPOSE", "HEALTHCHECK", "CMD"}
    every = instructions()
    assert {name for name, _ in every} <= known
    first, build, last = [place for place, (name, _) in enumerate(every) if name == "FROM"]
    assert every[first][1].endswith(" AS base") and ":latest" not in every[first][1]
    assert (every[build][1], every[last][1]) == ("base AS build", "base")
    shipped = [*every[:build], *every[last:]]
    for tool in ("pip", "venv", "gcc", "maven", "jdk", "curl", "git"):
        assert not any(name == "RUN" and re.search(rf"\b{tool}\b|-{tool}", rest) for name, rest in shipped), tool
    for name, rest in every:
        if name == "RUN" and "apt-get install" in rest:
            assert "apt-get update" in rest and "--no-install-recommends" in rest and " -y " in rest
    assert all("rm -rf /var/lib/apt/lists/*" in rest for _, rest in shipped if "apt-get" in rest)
    assert [rest for name, rest in every if name == "COPY" and rest.startswith("--from")] == [
        "--from=build /opt/rocketmq-ids /opt/rocketmq-ids"
    ]
    names = [name for name, _ in every[last:]]
    assert ("USER", "10001") in every[last:] and names.index("USER") < names.index("CMD") and "HEALTHCHECK" in names


def test_each_proxy_ends_a_request_whose_headers_or_body_do_not_come() -> None:
    """uvicorn has no setting for that: a client that sends half of its headers would stay for ever."""
    nginx, caddy = ((ROOT / "docs/deploy" / name).read_text(encoding="utf-8") for name in ("nginx.conf", "Caddyfile"))
    assert all(re.search(rf"^ +{name} \d+s;", nginx, re.M) for name in ("client_header_timeout", "client_body_timeout"))
    assert re.search(r"servers \{\s+timeouts \{\s+(#.*\s+)?read_header \d+s\s", caddy)
    assert not [name for name in inspect.signature(uvicorn.Config).parameters if "header" in name and "time" in name]


def test_the_composition_keeps_the_console_small() -> None:
    text = (ROOT / "docs" / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    console = text.partition("\n  proxy:")[0]
    for line in ("read_only: true", "cap_drop: [ALL]", '"no-new-privileges:true"', "tmpfs: [/tmp]", "mem_limit:"):
        assert line in console, line
    assert "ports:" not in console, "only the proxy is reached from outside"

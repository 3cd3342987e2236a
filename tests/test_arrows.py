"""The arrows between modules: read from the imports of the tree, held against one table."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.source_code import ROOT, modules, nodes

# Who may import whom; the longest name that fits a module is its row. A name stands for the module and all below it
# that has no row of its own: `pages.parts` are the parts on top, not their folders.
IDS = {
    "idcore.base.catalogue",
    "idcore.base.errors",
    "idcore.base.safe_text",
    "idcore.base.layout",
    "idcore.ids",
    "idcore.base.loose_json",
}
IDS |= {"idcore.policy.limits"}
WATCH = {"idcore.policy.metrics", "idcore.policy.audit", "idcore.policy.logs"}
CORE = IDS | {
    "idcore.scan",
    "idcore.kernels",
    "idcore.rocketmq.message",
    "idcore.rocketmq.store",
    "idcore.rocketmq.remoting",
    "idcore.spark",
}
CORE |= {
    "idcore.sources",
    "idcore.simulate",
    "idcore.runs.runs",
    "idcore.runs.run_times",
    "idcore.presentation.lab",
    "idcore.answers.findings",
}
CORE |= {
    "idcore.answers.growth",
    "idcore.answers.fate",
    "idcore.answers.lookup",
    "idcore.presentation.times",
    "idcore.presentation.export",
    "idcore.presentation.triage",
}
CORE |= {
    "idcore.intake.allowed",
    "idcore.intake.intake",
    "idcore.scan.occurrences",
    "idcore.presentation.zones",
    "idcore.server.memory",
    "idcore.answers.journey",
}
CORE |= {
    "idcore.answers.fate_list",
    "idcore.presentation.intake_texts",
    "idcore.presentation.reader",
    "idcore.presentation.reports",
    "idcore.intake.store_uploads",
}
CORE |= {
    "idcore.presentation.decoding",
    "idcore.policy.page_turns",
    "idcore.presentation.html",
    "idcore.runs.lease",
    "idcore.server.front_door",
    "idcore.policy.access",
}
CORE |= {
    "idcore.server.logins",
    "idcore.server.gate",
    "idcore.policy.limits",
    "idcore.runs.room",
    "idcore.runs.retention",
} | WATCH
CORE |= {"idcore.server.first_page", "idcore.server.jobs", "idcore.server.login_cookie"}
PARTS = CORE | {"pages.parts"}
ARROWS: dict[str, set[str]] = {
    "idcore": set(),
    "idcore.base.catalogue": {"idcore.base.safe_text", "idcore.base.layout"},
    "idcore.base.errors": {"idcore.base.catalogue"},
    "idcore.base.safe_text": set(),
    "idcore.base.loose_json": set(),
    "idcore.base.layout": set(),
    "idcore.ids": IDS,
    "idcore.kernels": IDS,
    "idcore.sources": {
        "idcore.base.errors",
        "idcore.policy.limits",
        "idcore.base.safe_text",
        "idcore.base.layout",
        "idcore.kernels",
    },
    "idcore.scan": IDS | {"idcore.kernels", "idcore.sources"},
    "idcore.rocketmq.message": IDS,
    "idcore.rocketmq.store": IDS | {"idcore.rocketmq.message"},
    "idcore.intake.store_uploads": IDS | {"idcore.sources", "idcore.rocketmq.store"},
    "idcore.simulate": IDS | {"idcore.rocketmq.message", "idcore.rocketmq.store"},
    "idcore.presentation.lab": IDS
    | {"idcore.rocketmq.message", "idcore.rocketmq.store", "idcore.simulate", "idcore.presentation.times"},
    "idcore.rocketmq.remoting": IDS | {"idcore.rocketmq.message", "idcore.policy.audit"},
    "idcore.answers.fate": IDS,
    "idcore.answers.lookup": IDS
    | {
        "idcore.rocketmq.message",
        "idcore.policy.metrics",
        "idcore.rocketmq.remoting",
        "idcore.rocketmq.store",
        "idcore.answers.fate",
    },
    "idcore.answers.fate_list": IDS
    | {
        "idcore.answers.fate",
        "idcore.answers.lookup",
        "idcore.rocketmq.message",
        "idcore.rocketmq.remoting",
        "idcore.runs.runs",
        "idcore.scan.schemas",
    }
    | {"idcore.policy.audit"},
    "idcore.answers.journey": IDS | {"idcore.answers.fate", "idcore.answers.lookup", "idcore.rocketmq.message"},
    "idcore.runs.lease": set(),
    "idcore.policy.access": {"idcore.base.errors"},
    "idcore.server.logins": {"idcore.policy.access"},
    "idcore.policy.limits": {"idcore.base.errors", "idcore.base.safe_text"},
    "idcore.runs.room": {"idcore.base.errors", "idcore.policy.limits"},
    "idcore.policy.metrics": {"idcore.base.catalogue", "idcore.base.errors"},
    "idcore.policy.audit": {"idcore.policy.limits", "idcore.policy.metrics"},
    "idcore.policy.logs": {"idcore.base.errors"},
    "idcore.server.front_door": {"idcore.base.errors", "idcore.policy.limits", "idcore.runs.room"} | WATCH,
    "idcore.server.first_page": {"idcore.base.catalogue", "idcore.server.front_door"},
    "idcore.server.login_cookie": {"idcore.base.catalogue", "idcore.server.front_door", "idcore.server.logins"},
    "idcore.server.gate": {
        "idcore.policy.audit",
        "idcore.server.front_door",
        "idcore.server.logins",
        "idcore.policy.metrics",
    },
    "idcore.runs.runs": IDS | {"idcore.runs.lease", "idcore.policy.access", "idcore.runs.room"},
    "idcore.server.jobs": {
        "idcore.answers.fate_list",
        "idcore.policy.limits",
        "idcore.runs.room",
        "idcore.runs.runs",
        "idcore.spark",
    },
    "idcore.runs.retention": {
        "idcore.policy.audit",
        "idcore.policy.limits",
        "idcore.policy.metrics",
        "idcore.runs.runs",
    },
    "idcore.runs.run_times": IDS | {"idcore.runs.runs"},
    "idcore.answers.growth": set(),
    "idcore.policy.page_turns": set(),
    "idcore.presentation.times": {"idcore.base.errors", "idcore.ids"},
    "idcore.presentation.zones": {"idcore.presentation.times"},
    "idcore.presentation.reader": {"idcore.base.catalogue", "idcore.ids", "idcore.presentation.times"},
    "idcore.presentation.reports": {"idcore.base.catalogue", "idcore.base.safe_text"},
    "idcore.server.memory": set(),
    "idcore.presentation.html": CORE - {"idcore.spark", "idcore.rocketmq.remoting", "idcore.server.jobs"},
    "idcore.presentation.export": {"idcore.base.safe_text", "idcore.ids"},
    "idcore.intake.allowed": {"idcore.base.errors", "idcore.sources"},
    "idcore.intake.intake": IDS | {"idcore.rocketmq.message", "idcore.runs.runs", "idcore.sources"},
    "idcore.presentation.intake_texts": IDS
    | {"idcore.intake.intake", "idcore.presentation.reports", "idcore.presentation.times"},
    "idcore.presentation.decoding": IDS | {"idcore.presentation.export", "idcore.intake.intake", "idcore.runs.runs"},
    "idcore.answers.findings": IDS
    | {"idcore.answers.growth", "idcore.runs.runs", "idcore.scan.schemas", "idcore.scan.lines", "idcore.sources.inputs"}
    | {"idcore.rocketmq.message"},
    "idcore.scan.occurrences": IDS | {"idcore.scan", "idcore.kernels", "idcore.sources"},
    "idcore.presentation.triage": IDS
    | {"idcore.policy.audit"}
    | {
        "idcore.runs.runs",
        "idcore.answers.growth",
        "idcore.answers.findings",
        "idcore.intake.intake",
        "idcore.scan",
        "idcore.scan.occurrences",
    }
    | {
        "idcore.presentation.export",
        "idcore.answers.fate",
        "idcore.answers.fate_list",
        "idcore.presentation.reader",
        "idcore.presentation.reports",
        "idcore.presentation.times",
    }
    | {"idcore.presentation.intake_texts"},
    "idcore.spark": IDS
    | WATCH
    | {
        "idcore.policy.page_turns",
        "idcore.sources",
        "idcore.scan",
        "idcore.kernels",
        "idcore.runs.runs",
        "idcore.answers.findings",
        "idcore.scan.occurrences",
        "idcore.rocketmq.store",
        "idcore.rocketmq.message",
        "idcore.answers.fate",
        "idcore.answers.lookup",
    },
    "idcore.cli.resident": set(),
    "idcore.cli": CORE | {"idcore.cli.resident"},
    "idcore.__main__": CORE | {"idcore.cli", "idcore.cli.resident"},
    "app": {"pages.parts"},
    "pages.parts": PARTS,
    "pages.parts.charts": PARTS,
    "pages.parts.runs": PARTS,
    "pages.parts.triage": PARTS | {"pages.parts.charts", "pages.parts.runs"},
    "pages.parts.ids": PARTS | {"pages.parts.charts", "pages.parts.runs", "pages.parts.triage"},
    "pages.parts.messages": PARTS | {"pages.parts.runs", "pages.parts.triage", "pages.parts.charts"},
    "pages.entry": {"pages.parts"},
    "pages.ids": PARTS | {"pages.parts.ids", "pages.parts.runs", "pages.parts.triage"},
    "pages.triage": PARTS | {"pages.parts.triage", "pages.parts.charts"},
    "pages.messages": PARTS | {"pages.parts.messages"},
    "pages.runs": PARTS | {"pages.parts.runs"},
}

# Libraries that only some modules may know.
ONLY: dict[str, set[str]] = {
    "pyspark": {"idcore.spark"},
    "py4j": {"idcore.spark"},
    "numba": {"idcore.kernels"},
    "llvmlite": {"idcore.kernels"},
    "streamlit": {"app", "pages"},
    "plotly": {"pages"},
    "prometheus_client": {"idcore.policy.metrics"},
}
HEAVY = ("pyspark", "numba", "llvmlite", "pandas", "pyarrow", "streamlit", "plotly")


def sources() -> Iterator[tuple[str, Path]]:
    """Every module of the console and the core, by its dotted name."""
    for path in [ROOT / "app.py", *modules("pages", "idcore")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(sources())


def within(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def row_of(module: str, table: dict[str, set[str]]) -> str | None:
    return max((name for name in table if within(module, name)), key=len, default=None)


def allowed(module: str, name: str) -> bool:
    """Whether one module may import the other: of its own row, or of one that its row names."""
    mine, row = row_of(module, ARROWS) or "", row_of(name, ARROWS) or ""
    return row == mine or any(within(name, there) and len(there) >= len(row) for there in ARROWS[mine])


@cache
def imports(module: str, path: Path) -> list[tuple[str, int]]:
    """Full names of what a module imports, also inside functions; `from a import b` gives a.b if that is a module."""
    return list(_imports(module, path))


def _imports(module: str, path: Path) -> Iterator[tuple[str, int]]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, base]) if base else ".".join(parents)
            for alias in node.names:
                below = f"{base}.{alias.name}"
                yield (below if below in MODULES else base), node.lineno


def test_a_module_imports_only_what_its_row_allows() -> None:
    lost = [module for module in MODULES if row_of(module, ARROWS) in (None, "idcore") and module != "idcore"]
    assert not lost, "no row in ARROWS: give it one"
    wrong = [
        f"{module}, line {line}: {name}"
        for module, path in MODULES.items()
        for name, line in imports(module, path)
        if name.split(".")[0] in ("app", "pages", "idcore")
        and name != "idcore"  # the package itself is empty but for its version
        and not allowed(module, name)
    ]
    assert not wrong, "its row in ARROWS does not allow it"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also not inside functions, nor for types alone: such two are one module, or lack a third below both."""
    used = {module: {name for name, _ in imports(module, path)} & MODULES.keys() for module, path in MODULES.items()}
    for package in (name for name, path in MODULES.items() if path.name == "__init__.py"):
        used[package] = set()  # a package's face
    try:
        TopologicalSorter(used).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


@pytest.mark.parametrize("library", sorted(ONLY))
def test_a_library_is_known_in_its_place_only(library: str) -> None:
    wrong = [
        f"{module}, line {line}"
        for module, path in MODULES.items()
        for name, line in imports(module, path)
        if within(name, library) and not any(within(module, place) for place in ONLY[library])
    ]
    assert not wrong, f"{library} is for {sorted(ONLY[library])}, but is imported by {wrong}"


def test_figures_know_no_streamlit() -> None:
    places = ("pages.parts.figures", "pages.parts.charts")
    figures = {name: path for name, path in MODULES.items() if any(within(name, place) for place in places)}
    assert len(figures) > len(places)
    wrong = [name for name, path in figures.items() for used, _ in imports(name, path) if within(used, "streamlit")]
    assert not wrong, "a figure is a pure function from a table to a Figure"


LIGHT = ["idcore", *(name for name in sorted(MODULES) if row_of(name, ARROWS) in IDS), "idcore.__main__"]


@pytest.mark.parametrize("module", [name for name in LIGHT if name in MODULES])
def test_ids_can_be_read_without_the_heavy_libraries(module: str) -> None:
    code = f"import sys, {module}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [], f"import {module} brings these along"

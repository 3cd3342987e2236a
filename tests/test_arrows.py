"""The arrows between modules: read from the imports of the tree, held against one table."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.source_code import ROOT, modules, nodes

pytestmark = pytest.mark.quick

# The wings, from what a person sees down to the bytes, and who may import whom: docs/explanation/architecture.md has
# the same list in words. The longest name that fits a module is its row; every arrow goes down.
ARROWS: dict[str, set[str]] = {
    "app": {"pages.parts"},
    "pages": {"pages.parts", "presentation", "answers", "intake", "sources", "simulate", "rocketmq"}
    | {"runs", "ids", "policy"},
    "pages.parts": {
        "doors",
        "operations",
        "server",
        "presentation",
        "spark",
        "answers",
        "scan",
        "intake",
        "simulate",
        "rocketmq",
    }
    | {"runs", "ids", "policy"},
    "__main__": {"cli", "policy"},
    "cli": {
        "doors",
        "operations",
        "presentation",
        "spark",
        "answers",
        "scan",
        "sources",
        "simulate",
        "rocketmq",
        "ids",
        "policy",
    },
    "doors": {"operations", "server", "presentation", "intake", "rocketmq", "runs", "policy"},
    "operations": {"server", "presentation", "spark", "answers", "scan", "intake", "sources", "rocketmq"}
    | {"runs", "ids", "policy"},
    "server": {"spark", "answers", "runs", "policy"},
    "presentation": {"answers", "scan", "intake", "simulate", "rocketmq", "runs", "ids", "policy"},
    "spark": {"answers", "scan", "sources", "kernels", "rocketmq", "runs", "ids", "policy"},
    "answers": {"scan", "sources", "rocketmq", "runs", "ids", "policy"},
    "scan": {"sources", "kernels", "runs", "ids"},
    "intake": {"sources", "rocketmq", "runs", "ids", "policy"},
    "sources": {"kernels", "ids", "policy"},
    "simulate": {"rocketmq", "ids"},
    "kernels": {"ids"},
    "rocketmq": {"ids", "policy"},
    "runs": {"ids", "policy"},
    "ids": set(),
    "policy": set(),
    "base": set(),
}

# Libraries that only some modules may know.
ONLY: dict[str, set[str]] = {
    "pyspark": {"idcore.spark"},
    "py4j": {"idcore.spark"},
    "numba": {"idcore.kernels"},
    "llvmlite": {"idcore.kernels"},
    "streamlit": {"app", "pages"},
    "plotly": {"pages"},
    "mcp": {"idcore.doors", "idcore.cli.mcp"},
    "mcp_types": {"idcore.doors"},
    "prometheus_client": {"idcore.policy.metrics"},
}
# What reads an ID or a message needs the standard library alone: it also runs in a browser, and without a package.
HEAVY = {"idcore.ids.seeds"}  # tries millions of seeds with numpy, and is imported where one is asked for
LIGHT = ("idcore.base", "idcore.ids", "idcore.rocketmq.message", "idcore.__main__", "idcore.cli.decode")


def sources() -> Iterator[tuple[str, Path]]:
    """Every module of the console and the core, by its dotted name."""
    for path in [ROOT / "app.py", *modules("pages", "idcore")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(sources())


def within(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


def wing_of(module: str) -> str | None:
    """The row of a module: the longest name that fits it, without `idcore`."""
    short = module.removeprefix("idcore.")
    return max((name for name in ARROWS if within(short, name)), key=len, default=None)


def allowed(module: str, name: str) -> bool:
    """Whether one module may import the other: of its own wing, of `base`, or of one that its row names."""
    mine, other = wing_of(module), wing_of(name)
    return mine is not None and (other in (mine, "base") or other in ARROWS[mine])


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
    lost = [module for module in MODULES if wing_of(module) is None and module != "idcore"]
    assert not lost, "it is in no wing of ARROWS"
    wrong = [
        f"{module}, line {line}: {name}"
        for module, path in MODULES.items()
        for name, line in imports(module, path)
        if name.split(".")[0] in ("app", "pages", "idcore")
        and name != "idcore"  # the package itself is empty but for its version
        and not allowed(module, name)
    ]
    assert not wrong, "its row in ARROWS does not allow it"


def test_every_arrow_goes_down_and_is_used() -> None:
    rows = list(ARROWS)
    used = {(wing_of(module), wing_of(name)) for module, path in MODULES.items() for name, _ in imports(module, path)}
    for row, below in ARROWS.items():
        assert all(rows.index(other) > rows.index(row) for other in below), row
        assert not [other for other in below if (row, other) not in used], row


def module_of(path: str) -> str:
    return path.strip("/").removesuffix(".py").replace("/", ".").removeprefix("idcore.")


def test_the_architecture_has_the_same_wings_in_the_same_order() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("| wing |")[1].split("\n\n")[0]
    named = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    assert [name.strip("/").removesuffix(".py").replace("/", ".").removeprefix("idcore.") for name in named] == [
        *ARROWS
    ]


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


# Prints each module that brings a package along, and which: the first one that does.
BRINGS = """import importlib, sys
known = {name.split(".")[0] for name in sys.modules} | set(sys.stdlib_module_names) | {"idcore"}
for module in sys.argv[1:]:
    importlib.import_module(module)
    new = {name.split(".")[0] for name in sys.modules} - known
    known |= new
    brought = sorted(name for name in new if name[0] != "_")
    if brought:
        print(module, *brought)
"""


def test_what_reads_ids_and_messages_needs_the_standard_library_alone() -> None:
    names = [name for name in MODULES if any(within(name, light) for light in LIGHT) and name not in HEAVY]
    assert len(names) > 40
    command = [sys.executable, "-c", BRINGS, *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == []

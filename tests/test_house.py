"""House rules that a machine can hold: sizes, docstrings, pins with reasons, no paths of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.source_code import ROOT, name, nodes, tree

pytestmark = pytest.mark.quick

TEXT = {".py", ".md", ".toml", ".txt", ".sh", ".xml", ".java", ".yml", ".yaml", ".json", ".css", ".html", ".js", ""}
LONGEST_FUNCTION, LONGEST_KERNEL = 60, 90
LONGER = {"idcore/cli/parser.py: _view": 63}  # every option of a command with its help, one after the other
MOST_ARGUMENTS = 7
MORE_ARGUMENTS = {  # all have names: what is printed or stored has so many fields, or most of them are options
    "idcore/rocketmq/message/record.py: of": "the fields of a record",
    "idcore/simulate/printed.py: message_ext": "the fields of MessageExt.toString",
    "idcore/simulate/incidents/simulated_cluster.py: __init__": "options of a producer in a story",
    "pages/parts/charts/producers.py: bars": "options of a figure",
    "tests/scan/logs.py: live": "options of a made process",
}
# What a part of the console is made of. What needs none of these is not a part: it belongs to idcore.
SHOWN_WITH = ("streamlit", "plotly", "idcore.presentation.reports.markup", "idcore.presentation.reports.markdown")


def known_to_git() -> list[Path]:
    """What is committed or could be; none where there is no git, or no clone: an unpacked archive has no .git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return sorted(path for path in (ROOT / line for line in done.stdout.split("\0") if line) if path.is_file())


def found(folder: Path = ROOT) -> list[Path]:
    """The same without git: everything that the rules of .gitignore leave, as far as ours go."""
    rules = [rule.rstrip("/") for rule in (ROOT / ".gitignore").read_text(encoding="utf-8").split("\n") if rule]
    left: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name == ".git" or any(fnmatch(name(path) if "/" in r else path.name, r.strip("/")) for r in rules):
            continue
        left += found(path) if path.is_dir() else [path]
    return sorted(left)


FILES = known_to_git() or found()
PYTHON = [path for path in FILES if path.suffix == ".py"]
CODE = [path for path in PYTHON if not name(path).startswith("tests/")]
PARTS = [path for path in CODE if re.match(r"pages/parts/(?!words/)", name(path)) and path.stem != "__init__"]
PAGES = [path for path in CODE if name(path).startswith("pages/") and not name(path).startswith("pages/parts/")]


def test_without_git_the_rules_are_held_over_the_same_files() -> None:
    assert found() == FILES


def test_the_formatter_lays_out_every_line() -> None:
    """A table of data may be a block of its own; a line that is left out is laid out by nobody."""
    skipped = [name(path) for path in PYTHON if re.search(r"# fmt: " + "skip", path.read_text(encoding="utf-8"))]
    assert not skipped, "let the formatter have it, or make a table of data a block between `fmt: off` and `fmt: on`"


def test_functions_are_short_enough_to_read() -> None:
    long = {}
    for path in PYTHON:
        most = LONGEST_KERNEL if "kernel" in name(path) else LONGEST_FUNCTION
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno + 1
                if size > LONGER.get(f"{name(path)}: {node.name}", most):
                    long[f"{name(path)}: {node.name}"] = size
    assert not long, f"more than {LONGEST_FUNCTION} lines ({LONGEST_KERNEL} of a kernel): cut along a seam"


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller may give; `self` and `cls` come from no caller."""
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len(named) - (bool(named) and named[0].arg in ("self", "cls"))


def test_functions_take_so_many_arguments_that_one_can_remember_them() -> None:
    many = {}
    for path in PYTHON:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and arguments(node) > MOST_ARGUMENTS:
                many[f"{name(path)}: {node.name}"] = arguments(node)
    unknown = {where: count for where, count in many.items() if where not in MORE_ARGUMENTS}
    assert not unknown, f"more than {MOST_ARGUMENTS} arguments: those that belong together are one value with a name"


def shows(path: Path) -> bool:
    """Whether a module imports something that is shown, or makes it."""
    used = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            used |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return any(module == made or module.startswith(f"{made}.") for module in used for made in SHOWN_WITH)


def test_a_part_of_the_console_shows_something() -> None:
    idle = [name(path) for path in PARTS if not shows(path)]
    assert not idle, "it draws nothing and says nothing: it belongs to idcore"


def test_no_page_ends_as_streamlit_ends_it() -> None:
    """`st.stop` takes back each request of the browser that has come meanwhile: a text in a box is never answered."""
    pages = [path for path in PYTHON if path.is_relative_to(ROOT / "pages")]
    ending = [name(path) for path in pages if "st.stop(" in path.read_text(encoding="utf-8")]
    assert pages
    assert not ending, "session.stop ends a page"


def test_a_module_says_what_it_is() -> None:
    silent = [name(path) for path in PYTHON if tree(path).body and not ast.get_docstring(tree(path))]
    assert not silent, "a module opens with one sentence: what it is, what it refuses to know"


def test_no_error_is_swallowed_silently() -> None:
    unnamed, hidden = [], []
    for path in CODE:
        for node in nodes(path):
            if isinstance(node, ast.ExceptHandler):
                place = f"{name(path)}, line {node.lineno}"
                broad = isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
                unnamed += [place] if node.type is None else []
                hidden += [place] if broad and all(isinstance(step, ast.Pass) for step in node.body) else []
    assert not unnamed, "name the error"
    assert not hidden, "this hides every error"


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=name)
def test_every_requirement_is_pinned_and_says_why(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith(("#", "-r ")):
            assert re.fullmatch(r"[A-Za-z0-9._\[\]-]+==[0-9][A-Za-z0-9.]* +# \S.{5,}", line), f"{path.name}: {line}"


def test_nothing_names_the_paths_of_one_machine() -> None:
    paths = re.compile(
        "|".join(["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/[a-z]+/", r"\.\./sha" + "red", "/tmp/" + "spec"])
    )
    found = []
    for path in FILES:
        if path.suffix in TEXT and not name(path).startswith("tests/vectors/"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if paths.search(line):
                    found.append(f"{name(path)}, line {number}: {line.strip()[:100]}")
    assert not found, "a path of one machine, which is wrong on every other"


def test_the_top_level_holds_no_other_code_folder() -> None:
    known = {"pages", "idcore", "tests", "benchmarks", "scripts", "docs"}
    strangers = {name(path).split("/")[0] for path in PYTHON if "/" in name(path)} - known
    assert not strangers


def test_the_paths_that_the_contributors_page_names_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:idcore|pages|tests|docs|benchmarks|scripts)/[\w./-]*\w/?)`", page))
    assert len(named) > 30 and [path for path in sorted(named) if not (ROOT / path).exists()] == []

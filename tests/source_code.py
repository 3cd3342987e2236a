"""The project's own Python modules, each parsed once for all the rules that tests hold over them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def name(path: Path) -> str:
    """A path from the top of the project."""
    return path.relative_to(ROOT).as_posix()


def modules(*folders: str) -> list[Path]:
    """The modules below these folders of the project."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def tree(path: Path) -> ast.Module:
    """A module, parsed. No search for garbage looks at its nodes: of all modules there are a million."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        gc.freeze()
        gc.enable()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a module, in the order of `ast.walk`."""
    return tuple(ast.walk(tree(path)))

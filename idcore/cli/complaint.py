"""The one form of every error of the command line: a line on standard error. And what the program calls itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence

from idcore.base import colours
from idcore.base.errors import refuse
from idcore.base.safe_text import printable

INSTALLED, MODULE = "rocketmq-ids", "python -m idcore"  # as pip installs it; as a clone runs it
STANDARD_INPUT = "-"


def program() -> str:
    """What the user typed to begin this program."""
    return INSTALLED if os.path.basename(sys.argv[0]) == INSTALLED else MODULE


def named(text: str) -> str:
    """A text that has commands in it, with the program as its user calls it."""
    return text.replace(MODULE, program())


def complain(text: str) -> None:
    """One line, whatever the text has in it."""
    with colours.of(sys.stderr):
        line = printable(" ".join(named(text).split()))
        print(f"{colours.painted('idcore:', 'error')} {line}", file=sys.stderr)


def complain_of_missing(paths: Sequence[str], enough: Callable[[Iterable[bool]], bool]) -> bool:
    """Names the paths that nothing has, where these are `enough` (all or any of them) for the command not to begin."""
    absent = [_is_missing(path) for path in paths]
    if not enough(absent):
        return False
    for path, missing in zip(paths, absent, strict=True):
        if missing:
            complain(f"{path}: {refuse('ENOENT').problem}")
    return True


def _is_missing(path: str) -> bool:
    """Whether nothing has this name: no file, no folder, nothing that a pattern matches."""
    import glob  # `decode` does without it and urllib

    from idcore.sources.uris import is_uri, local_path

    here = local_path(path)
    return not (path == STANDARD_INPUT or is_uri(path) or os.path.lexists(here) or glob.glob(here, recursive=True))

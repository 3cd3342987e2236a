"""`completion`: a script for a shell, which shtab makes of the parser. Knows no option itself."""

from __future__ import annotations

import argparse

import shtab

from idcore.cli.complaint import INSTALLED
from idcore.cli.parser import build_parser, commands_of

_FILES = {"PATH", "DIR", "FILE", "ID", "FIRST", "SECOND"}  # what may be the name of a file, by its metavar


def run(options: argparse.Namespace) -> int:
    """Prints the script."""
    print(script(options.shell))
    return 0


def script(shell: str) -> str:
    """The script for `bash`, `zsh` or `tcsh`, which completes the installed command."""
    parser = build_parser(INSTALLED)
    for command in commands_of(parser):
        for action in command._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))

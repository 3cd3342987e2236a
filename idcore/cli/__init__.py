"""The command line's parts: the parser of every sub-command. Each command's work is in its own module."""

from __future__ import annotations

from idcore.cli.parser import Usage, build_parser, join_zone

__all__ = ["Usage", "build_parser", "join_zone"]

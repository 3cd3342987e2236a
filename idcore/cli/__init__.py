"""The command line's parts: the parser of every sub-command. Each command's work stands in a module of its own."""

from __future__ import annotations

from idcore.cli.parser import Usage, build_parser, join_zone

__all__ = ["Usage", "build_parser", "join_zone"]

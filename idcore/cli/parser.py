"""What may be written behind `python -m idcore`: options become typed values here. Does none of the work."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from idcore import __version__
from idcore.errors import CoreError
from idcore.ids.clock import machine_zone, parse_instant, parse_zone
from idcore.ids.line_time import FIRST_YEAR
from idcore.ids.model import refuse

_SIZE = re.compile(r"(\d+)\s*([kKmMgG]?)(?:i?[bB])?")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_ZONE_HELP = "IANA name or ±HH:MM, for lines that do not tell it (default: this machine's)"
TRUTH = "truth.json"  # written next to what `make` makes
_AT_HELP = 'ISO 8601 instant that counts as "now"'


class Usage(Exception):
    """Wrong usage: one sentence, exit status 2."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message} (see: {self.prog} --help)")


def join_zone(arguments: Sequence[str]) -> list[str]:
    """`--zone -03:30` as one argument, because argparse takes what begins with a minus as an option."""
    joined: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*joined, argument, *rest]
        if argument in ("--zone", "--at"):
            value = next(rest, None)
            joined += [argument] if value is None else [f"{argument}={value}"]
        else:
            joined.append(argument)
    return joined


def build_parser() -> argparse.ArgumentParser:
    """The parser; each command's namespace holds `run`, the function that does it."""
    parser = _Parser(prog="python -m idcore", description="RocketMQ message ids, from the command line.")
    parser.add_argument("--version", action="version", version=f"rocketmq-ids {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    _decode(commands)
    _scan(commands)
    _view(commands)
    _compare(commands)
    _make(commands)
    return parser


def _zone(text: str) -> tzinfo:
    try:
        return parse_zone(text)
    except CoreError as problem:
        raise argparse.ArgumentTypeError(problem.problem) from None


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write bytes, or a number with k, M or G")
    return size


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no count")
    return int(text)


def _name(text: str) -> str:
    if not text:  # as of a variable of the shell that is not set; it would be the folder at hand
        raise argparse.ArgumentTypeError("a name that is empty")
    return text


def _path(text: str) -> Path:
    return Path(_name(text))


def _made(text: str) -> Path:
    path = Path(os.path.abspath(_name(text)))  # "." has no name, so no file can be next to it
    if path.name == TRUTH:
        raise argparse.ArgumentTypeError(f"{TRUTH} is written beside it; name another file")
    return path


def _add_clock(command: argparse.ArgumentParser) -> None:
    command.add_argument("--zone", type=_zone, metavar="ZONE", help=_ZONE_HELP)
    command.add_argument("--at", metavar="INSTANT", help=_AT_HELP)


def read_clock(options: argparse.Namespace) -> tuple[datetime, tzinfo, str]:
    """Reference, zone and the zone's source of a command with --zone and --at; the only place that asks the machine."""
    zone = options.zone or machine_zone()
    source = "given" if options.zone else "assumed"
    reference = datetime.now(zone) if options.at is None else parse_instant(options.at, zone)
    if reference.year <= FIRST_YEAR:
        raise refuse("early", "instant", None, options.at, given=options.at, year=FIRST_YEAR + 1)
    return reference, zone, source


def _decode(commands: Any) -> None:
    command = commands.add_parser(
        "decode", help="what each id says", description="Reads ids from the arguments, or every id in lines of text."
    )
    command.add_argument("ids", nargs="*", metavar="ID", help="ids, also comma-joined; - reads standard input")
    command.add_argument(
        "--format", choices=("table", "json", "csv"), help="default: table on a terminal, json when piped"
    )
    _add_clock(command)
    command.add_argument("--all", action="store_true", help="every reading in full")
    command.add_argument(
        "--case",
        choices=("strict", "any"),
        default="strict",
        help="any: also ids whose letters are all lower case",
    )
    command.set_defaults(run=_later("decode"))


def _scan(commands: Any) -> None:
    command = commands.add_parser(
        "scan", help="tables of every id in files", description="Scans text on Spark; DIR gets one table a folder."
    )
    command.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, globs, URIs; - reads standard input")
    command.add_argument(
        "--store",
        type=_name,
        metavar="DIR",
        help="scan the commit log of a store folder; adds the tables topics and tags",
    )
    command.add_argument("--out", type=_path, required=True, metavar="DIR", help="where the tables go")
    command.add_argument("--overwrite", action="store_true", help="replace an existing DIR")
    where = command.add_mutually_exclusive_group()
    where.add_argument("--master", metavar="URL", help="Spark master (default: this machine)")
    where.add_argument("--remote", metavar="URL", help="Spark Connect server")
    _add_clock(command)
    command.add_argument("--split-size", type=_size, metavar="SIZE", help="bytes a task reads, or with k, M, G")
    command.add_argument("--format", choices=("table", "json"), default="table", help="how the summary is printed")
    command.add_argument("--lang", choices=("en", "zh"), default="en", help="the language of the findings' sentences")
    command.add_argument(
        "--case",
        choices=("strict", "any"),
        default="strict",
        help="any: also ids whose letters are all lower case",
    )
    command.set_defaults(run=_run_scan)


def _view(commands: Any) -> None:
    command = commands.add_parser(
        "view", help="the records behind ids", description="Looks up ids and keys, and says why one is not found."
    )
    command.add_argument("ids", nargs="*", metavar="ID", help="ids or keys; - reads standard input")
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument("--store", type=_path, metavar="DIR", help="a store folder, which is only read")
    where.add_argument("--namesrv", metavar="HOST:PORT[;…]", help="the name servers of a live cluster")
    where.add_argument("--cluster", metavar="NAME", help="a cluster of the profiles ($IDCORE_CLUSTERS)")
    command.add_argument("--tls", action="store_true", help="with --namesrv: encrypted connections")
    command.add_argument("--tls-ca", metavar="FILE", help="with --namesrv: TLS, and the certificates to trust")
    command.add_argument("--access-key", metavar="KEY", help="with --namesrv (default: $ROCKETMQ_ACCESS_KEY)")
    command.add_argument(
        "--secret-key", metavar="KEY", help="default: $ROCKETMQ_SECRET_KEY, which no process list shows"
    )
    command.add_argument("--topic", metavar="T", help="look under this topic only (default: under every one)")
    command.add_argument("--from", dest="begin", metavar="INSTANT", help="ISO 8601: entries stored from then on")
    command.add_argument("--to", dest="end", metavar="INSTANT", help="ISO 8601: entries stored up to then")
    command.add_argument("--format", choices=("table", "json"), help="default: table on a terminal, json when piped")
    _add_clock(command)
    command.set_defaults(run=_later("view"))


def _compare(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        help="ids of one input that are not in another",
        description="Says by producer and broker which ids of two inputs are in one only: sent and never received?",
    )
    command.add_argument("before", metavar="BEFORE", help="file, folder or glob; say, the producers' log")
    command.add_argument("after", metavar="AFTER", help="another; say, the consumers' log")
    command.add_argument("--out", type=_path, metavar="DIR", help="also write all ids that are in one input only")
    command.add_argument("--format", choices=("table", "json"), default="table", help="how the result is printed")
    command.add_argument(
        "--case",
        choices=("strict", "any"),
        default="strict",
        help="any: also ids whose letters are all lower case",
    )
    command.set_defaults(run=_later("compare"))


def _make(commands: Any) -> None:
    command = commands.add_parser(
        "make",
        help="ids and logs to try things with",
        description="Writes ids or logs, and beside them truth.json with what was put in.",
    )
    kinds = command.add_subparsers(title="what", required=True, metavar="WHAT", parser_class=_Parser)
    ids = kinds.add_parser("ids", help="ids as the Java client makes them")
    ids.add_argument("--count", type=_count, required=True, metavar="N", help="how many")
    ids.add_argument("--out", type=_made, metavar="FILE", help="default: standard output, without truth.json")
    log = kinds.add_parser("log", help="a log of producers and consumers")
    log.add_argument("--lines", type=_count, required=True, metavar="N", help="how many")
    log.add_argument("--out", type=_made, required=True, metavar="FILE", help="where the log goes")
    store = kinds.add_parser("store", help="a store folder, as a broker writes it")
    store.add_argument("--messages", type=_count, required=True, metavar="N", help="how many are sent")
    store.add_argument("--out", type=_made, required=True, metavar="DIR", help="where the store goes; new or empty")
    store.add_argument(
        "--broker-sizes",
        action="store_true",
        help="files as large as a broker's own defaults (sparse: 1 GiB and 401 MiB)",
    )
    store.add_argument(
        "--broker",
        choices=("4.9", "5.3", "5.5"),
        default="5.3",
        help="the brokers that write so: one of 4.9 cuts off what only 5.x can read, 5.5 keeps the ids of a batch apart"
        " (default: 5.3)",
    )
    incident = kinds.add_parser("incident", help="a log with one incident in it, and what has to be found")
    incident.add_argument("name", metavar="NAME", help="a code of the findings (clock_back, restart, ...), or healthy")
    incident.add_argument("--out", type=_made, required=True, metavar="FILE", help="where the log goes")
    incident.add_argument("--variant", metavar="NAME", help="how it happens (default: the seed chooses)")
    for kind in (ids, log, store, incident):
        kind.add_argument("--seed", type=_count, default=1, metavar="N", help="the same seed gives the same bytes")
        kind.add_argument("--start", metavar="INSTANT", help="ISO 8601 instant of the first id")
        kind.add_argument("--zone", type=_zone, metavar="ZONE", help="zone of the producers (default: +08:00)")
    ids.set_defaults(run=_later("make", "run_ids"))
    log.set_defaults(run=_later("make", "run_log"))
    store.set_defaults(run=_later("make", "run_store"))
    incident.set_defaults(run=_later("make", "run_incident"))


def _run_scan(options: argparse.Namespace) -> int:
    options.at, options.zone, options.zone_source = read_clock(options)  # before Spark is imported, which takes a while
    return _later("scan")(options)


def _later(module: str, function: str = "run") -> Callable[[argparse.Namespace], int]:
    """A command whose module is imported when it runs: the others need not wait for what it needs."""

    def run(options: argparse.Namespace) -> int:
        return int(getattr(import_module(f"idcore.cli.{module}"), function)(options))

    return run

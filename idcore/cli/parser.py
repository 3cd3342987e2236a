"""What may be written behind `python -m idcore`: options become typed values here. Does none of the work."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from idcore import __version__
from idcore.base.catalogue import languages
from idcore.base.errors import CoreError
from idcore.base.lazy_pattern import lazy_pattern
from idcore.cli import epilogs
from idcore.cli.complaint import program
from idcore.cli.worker_thread import interruptible
from idcore.ids.clock import machine_zone, parse_instant, parse_zone
from idcore.ids.line_time import FIRST_YEAR
from idcore.ids.model import refuse

_SIZE = lazy_pattern(r"(\d+)\s*([kKmMgG]?)(?:i?[bB])?")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_OWN_SIGNALS = ("mcp", "serve", "session")  # what they do about SIGTERM and SIGHUP, they say themselves
_SPAN = lazy_pattern(r"(\d{1,6})([smhd])")
_SPANS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_ZONE_HELP = "producers' time zone where a line does not reveal it: IANA name or ±HH:MM (default: this machine's)"
FORMS = ("table", "json", "jsonl", "csv")  # of every command that answers
TRUTH = "truth.json"  # written beside what `make` makes
_AT_HELP = "reference time in ISO 8601, which decides the month (default: now)"


class Usage(Exception):
    """Wrong usage: one sentence, exit status 2."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)  # what scripts write must not depend on other options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuses what it does not know itself, so that the error names this command's help."""
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return parsed, rest

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


def build_parser(name: str | None = None) -> argparse.ArgumentParser:
    """The parser; each command's namespace holds `run`, the function that does it. `name`: of the program."""
    parser = _Parser(
        prog=name or program(), description="Decode RocketMQ message IDs, scan logs for them, and find the messages."
    )
    parser.add_argument("-V", "--version", action="version", version=f"rocketmq-ids {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    _decode(commands)
    _scan(commands)
    _follow(commands)
    _view(commands)
    _compare(commands)
    _make(commands)
    _session(commands)
    _serve(commands)
    _about(commands)
    _mcp(commands)
    for command in commands_of(parser):
        epilogs.add(command)
    return parser


def commands_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands that do something, in their order: `make ids`, but not `make`."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for command in action.choices.values():
            yield from commands_of(command)


def _zone(text: str) -> tzinfo:
    try:
        return parse_zone(text)
    except CoreError as problem:
        raise argparse.ArgumentTypeError(problem.problem) from None


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write bytes, or a number with k, M or G")
    return size


def _span(text: str) -> timedelta:
    match = _SPAN.fullmatch(text.strip())
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a span of time; write a number with s, m, h or d")
    return int(match[1]) * _SPANS[match[2]]


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def _port(text: str) -> int:
    if (port := _count(text)) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: the last one is 65535")
    return port


def _name(text: str) -> str:
    if not text:  # as of a variable of the shell that is not set; it would be the folder at hand
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def _path(text: str) -> Path:
    return Path(_name(text))


def _made(text: str) -> Path:
    path = Path(os.path.abspath(_name(text)))  # "." has no name, so no file can be next to it
    if path.name == TRUTH:
        raise argparse.ArgumentTypeError(f"{TRUTH} is written next to it; choose another name")
    return path


def _subscription(text: str) -> tuple[str, str, str]:
    from idcore.rocketmq.store.config import subscription_of  # numpy, which `decode` does without

    try:
        return subscription_of(text)
    except CoreError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_subscription(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--subscription",
        action="append",
        type=_subscription,
        metavar="GROUP:TOPIC=TAGS",
        help="with --store: tags that a group subscribes to, as TagA||TagB (quote it); may be repeated",
    )


def subscriptions_of(options: argparse.Namespace) -> dict[tuple[str, str], str]:
    """The subscriptions of --subscription, by topic and group."""
    given = options.subscription or []
    if given and options.store is None:
        raise Usage("--subscription goes with --store")
    subscriptions = {(topic, group): tags for topic, group, tags in given}
    if len(subscriptions) < len(given):
        raise Usage("--subscription has the same group and topic twice")
    return subscriptions


def _add_clock(command: argparse.ArgumentParser) -> None:
    command.add_argument("--zone", type=_zone, metavar="ZONE", help=_ZONE_HELP)
    command.add_argument("--at", metavar="TIME", help=_AT_HELP)


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
        "decode",
        help="decode IDs: host, process and time, or broker and offset",
        description="Decodes IDs given as arguments, or every ID in a file or in lines of text, also packed ones.",
    )
    command.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="IDs, also separated by commas; lines of a log; or a file; - reads standard input",
    )
    command.add_argument(
        "--format", choices=FORMS, help="default: table on a terminal, json when piped; jsonl is the same as json"
    )
    _add_clock(command)
    command.add_argument("--all", action="store_true", help="show every interpretation in full")
    _add_case(command)
    command.set_defaults(run=_later("decode"))


def _add_case(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--lookalikes",
        choices=("ids",),
        help="accept as IDs what only looks like some, by its label or by all of the input",
    )
    command.add_argument(
        "--case",
        choices=("strict", "any"),
        default="strict",
        help="any: the same, and also accept IDs whose letters are all lower case",
    )


def _scan(commands: Any) -> None:
    command = commands.add_parser(
        "scan",
        help="scan files for IDs; writes Parquet tables and findings",
        description="Scans logs with Spark and writes one Parquet table per subfolder of DIR.",
    )
    command.add_argument("paths", nargs="*", metavar="PATH", help="files, folders, globs, URIs; - reads standard input")
    command.add_argument(
        "--store",
        type=_name,
        metavar="DIR",
        help="scan the commit log of a store folder; adds the tables "
        "topics, tags, fates, undelivered, attempts, retries and progress",
    )
    _add_subscription(command)
    command.add_argument("--out", type=_path, required=True, metavar="DIR", help="folder for the tables")
    command.add_argument("--overwrite", action="store_true", help="replace an existing DIR")
    where = command.add_mutually_exclusive_group()
    where.add_argument("--master", metavar="URL", help="Spark master (default: this machine)")
    where.add_argument("--remote", metavar="URL", help="Spark Connect server")
    _add_clock(command)
    ranged = command.add_argument_group("lines of a time range")
    ranged.add_argument("--from", dest="begin", metavar="TIME", help="ISO 8601: lines of this time or later")
    ranged.add_argument("--to", dest="end", metavar="TIME", help="ISO 8601: lines before this time")
    ranged.add_argument(
        "--since", type=_span, metavar="SPAN", help="lines of so long before --at, for example 30m, 12h or 7d"
    )
    command.add_argument("--split-size", type=_size, metavar="SIZE", help="input bytes per task, for example 256M")
    command.add_argument(
        "--format",
        choices=FORMS,
        default="table",
        help="form of the summary (default: table); json and jsonl: one object; csv: the findings",
    )
    command.add_argument(
        "--lang", choices=languages(), default="en", help="language of summary and findings (default: en)"
    )
    _add_case(command)
    command.set_defaults(run=_run_scan)


def _follow(commands: Any) -> None:
    command = commands.add_parser(
        "follow",
        help="a scan that goes on: tables and findings of files that grow",
        description="Follows files until Ctrl-C: new lines are in the tables within seconds, also of files that are"
        " rotated. The same command goes on where an earlier one ended.",
    )
    command.add_argument("paths", nargs="+", metavar="PATH", help="files, folders or globs; or kafka://HOST:PORT/TOPIC")
    command.add_argument("--out", type=_path, required=True, metavar="DIR", help="folder for the tables")
    command.add_argument(
        "--since",
        type=_since,
        default="beginning",
        metavar="WHEN",
        help="of files that are there: beginning (default), end, so long ago (30m, 2h, 1d), or a time in ISO 8601",
    )
    command.add_argument(
        "--kept", type=_count, metavar="N", help="most IDs that the tables are about, the latest (default: 16,000,000)"
    )
    command.add_argument("--master", metavar="URL", help="Spark master (default: this machine)")
    _add_clock(command)
    command.add_argument(
        "--format",
        choices=FORMS[:3],
        help="default: table on a terminal, json when piped: a line each refresh; jsonl is the same as json",
    )
    command.add_argument("--lang", choices=languages(), default="en", help="language of the findings (default: en)")
    _add_case(command)
    command.set_defaults(run=_run_follow)


def _since(text: str) -> str:
    """Checked here, and read when the zone is known."""
    if text in ("beginning", "end") or _SPAN.fullmatch(text):
        return text
    try:
        parse_instant(text, machine_zone())
    except CoreError as problem:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, nor beginning, end or 30m ({problem})") from None
    return text


def read_since(text: str, zone: tzinfo) -> str | datetime:
    """From when on files are followed: a word, or an instant."""
    if span := _SPAN.fullmatch(text):
        return datetime.now(zone) - int(span[1]) * _SPANS[span[2]]
    return text if text in ("beginning", "end") else parse_instant(text, zone)


def _view(commands: Any) -> None:
    command = commands.add_parser(
        "view",
        help="find messages by ID or key, in a store folder or a live cluster",
        description="Looks up IDs and keys, and gives the reason when one is not found."
        " Without an ID it lists messages: of a topic and a time, of a queue, with a key, or dead letters.",
    )
    command.add_argument("ids", nargs="*", metavar="ID", help="IDs or keys; - reads standard input")
    where = command.add_mutually_exclusive_group()  # one is needed: `idcore.cli.view` says what to do without
    where.add_argument("--store", type=_path, metavar="DIR", help="a broker's store folder (opened read-only)")
    where.add_argument("--namesrv", metavar="HOST:PORT[;…]", help="the name servers of a live cluster")
    where.add_argument("--cluster", metavar="NAME", help="a cluster from the profile file ($IDCORE_CLUSTERS)")
    command.add_argument("--tls", action="store_true", help="with --namesrv: encrypted connections")
    command.add_argument("--tls-ca", metavar="FILE", help="with --namesrv: TLS, with the certificates to trust")
    command.add_argument("--access-key", metavar="KEY", help="with --namesrv (default: $ROCKETMQ_ACCESS_KEY)")
    command.add_argument(
        "--secret-key",
        metavar="KEY",
        help="default: $ROCKETMQ_SECRET_KEY; safer, because options are visible in process lists",
    )
    command.add_argument(
        "--topic",
        metavar="T",
        help="search this topic only (default: all topics); with --from or --to list its messages",
    )
    _add_lists(command)
    _add_fate(command)
    _add_subscription(command)
    command.add_argument(
        "--journey", action="store_true", help="also show all of it as one timeline; implies --fate and --trace"
    )
    command.add_argument("--from", dest="begin", metavar="TIME", help="ISO 8601: records stored at this time or later")
    command.add_argument("--to", dest="end", metavar="TIME", help="ISO 8601: records stored at this time or earlier")
    command.add_argument(
        "--who", action="store_true", help="live cluster: also whether the process behind the ID is connected now"
    )
    command.add_argument(
        "--trace", action="store_true", help="also show sends and consumers' attempts from message traces"
    )
    command.add_argument(
        "--trace-topic",
        action="append",
        type=_name,
        metavar="T",
        help="with --trace: another topic with traces; may be repeated (default: RMQ_SYS_TRACE_TOPIC alone)",
    )
    command.add_argument(
        "--format",
        choices=FORMS,
        help="default: table on a terminal, json when piped; csv and jsonl: lists as rows, without bodies",
    )
    _add_clock(command)
    command.set_defaults(run=_later("view"))


def _add_fate(command: argparse.ArgumentParser) -> None:
    command.add_argument("--fate", action="store_true", help="also which consumer groups consumed it, and why not")
    command.add_argument(
        "--out",
        type=_path,
        metavar="DIR",
        help="with --fate and a live cluster: verdicts of up to 5,000 IDs as tables, like those of a store's scan",
    )


def _add_lists(command: argparse.ArgumentParser) -> None:
    listed = command.add_argument_group("lists of messages, without an ID")
    listed.add_argument(
        "--queue",
        type=_name,
        metavar="[BROKER:]QUEUE:OFFSET",
        help="with --topic: the message at this offset of a queue; --limit gives more behind it",
    )
    listed.add_argument("--key", type=_name, metavar="KEY", help="every message with this key or msgId, newest first")
    listed.add_argument(
        "--tag", type=_name, metavar="TAG", help="with --topic: every message with this tag, newest first"
    )
    listed.add_argument(
        "--dead-letters", type=_name, metavar="GROUP", help="the dead letters of a consumer group, newest first"
    )
    listed.add_argument("--limit", type=_name, metavar="N", help="most messages to list (default: 1000, for --queue 1)")


def _compare(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        help="list IDs that only one of two inputs contains",
        description="Lists, per producer and broker, the IDs that only one of two inputs contains,"
        " for example sent but never received.",
    )
    command.add_argument("before", metavar="FIRST", help="file, folder or glob, for example the producers' log")
    command.add_argument("after", metavar="SECOND", help="another input, for example the consumers' log")
    command.add_argument("--out", type=_path, metavar="DIR", help="also write all IDs that only one input contains")
    command.add_argument(
        "--format",
        choices=FORMS,
        default="table",
        help="form of the result (default: table); json, jsonl and csv: a row for each producer and broker",
    )
    command.add_argument(
        "--zone",
        type=_zone,
        metavar="ZONE",
        help="also say when the IDs that only one input contains were generated, in this zone: IANA name or ±HH:MM",
    )
    command.add_argument("--at", metavar="TIME", help="with --zone: " + _AT_HELP)
    command.add_argument(
        "--case",
        choices=("strict", "any"),
        default="strict",
        help="any: also accept what only looks like an ID: all in lower case, or named something else",
    )
    command.set_defaults(run=_later("compare"))


def _make(commands: Any) -> None:
    command = commands.add_parser(
        "make",
        help="generate sample IDs, logs, stores and incidents",
        description="Writes samples, and next to them truth.json, which lists their contents.",
    )
    kinds = command.add_subparsers(title="what", required=True, metavar="WHAT", parser_class=_Parser)
    ids = kinds.add_parser("ids", help="msgIds like those of the Java client")
    ids.add_argument("--count", type=_count, required=True, metavar="N", help="number of IDs")
    ids.add_argument("--out", type=_made, metavar="FILE", help="default: standard output, without truth.json")
    log = kinds.add_parser("log", help="a log of producers and consumers")
    log.add_argument("--lines", type=_count, required=True, metavar="N", help="number of lines")
    log.add_argument("--out", type=_made, required=True, metavar="FILE", help="file for the log")
    store = kinds.add_parser("store", help="a store folder in a broker's format")
    store.add_argument("--messages", type=_count, metavar="N", help="number of messages sent; not with --situation")
    store.add_argument("--out", type=_made, required=True, metavar="DIR", help="folder for the store; new or empty")
    store.add_argument("--groups", type=_count, default=0, metavar="N", help="consumer groups, each with its own fate")
    store.add_argument(
        "--situation",
        metavar="NAME",
        help="two hours with one known problem of consumer groups: a findings code (group_stalled, ...), or healthy",
    )
    store.add_argument("--variant", metavar="NAME", help="how the situation happens (default: chosen by the seed)")
    store.add_argument(
        "--broker-sizes",
        action="store_true",
        help="files in the default sizes of a broker (sparse: 1 GiB and 401 MiB)",
    )
    store.add_argument(
        "--broker",
        choices=("4.9", "5.3", "5.5"),
        default="5.3",
        help="RocketMQ version whose store format is written (default: 5.3)",
    )
    incident = kinds.add_parser("incident", help="a log with one known incident, and the expected findings")
    incident.add_argument("name", metavar="NAME", help="a findings code (clock_back, restart, ...), or healthy")
    incident.add_argument("--out", type=_made, required=True, metavar="FILE", help="file for the log")
    incident.add_argument("--variant", metavar="NAME", help="how the incident happens (default: chosen by the seed)")
    for kind in (ids, log, store, incident):
        kind.add_argument("--seed", type=_count, default=1, metavar="N", help="the same seed gives the same bytes")
        kind.add_argument("--start", metavar="TIME", help="time of the first ID in ISO 8601")
        kind.add_argument("--zone", type=_zone, metavar="ZONE", help="time zone of the producers (default: +08:00)")
    ids.set_defaults(run=_later("make", "run_ids"))
    log.set_defaults(run=_later("make", "run_log"))
    store.set_defaults(run=_later("make", "run_store"))
    incident.set_defaults(run=_later("make", "run_incident"))


def _session(commands: Any) -> None:
    command = commands.add_parser(
        "session",
        help="a Spark that stays: the next scan does not start one",
        description="Keeps Spark ready for scan and compare of this user on this machine.",
    )
    asked = command.add_subparsers(title="what", required=True, metavar="WHAT", parser_class=_Parser)
    start = asked.add_parser("start", help="starts the session and waits until it is ready")
    start.add_argument(
        "--idle", type=_count, default=600, metavar="SECONDS", help="end after so long without a command (default: 600)"
    )
    start.add_argument("--foreground", action="store_true", help="be the session, for a service manager")
    start.set_defaults(run=_later("session", "run_start"))
    asked.add_parser("stop", help="ends the session").set_defaults(run=_later("session", "run_stop"))
    asked.add_parser("status", help="says whether there is a session").set_defaults(run=_later("session", "run_status"))


def _serve(commands: Any) -> None:
    command = commands.add_parser(
        "serve", help="the console in a browser", description="Serves the console until Ctrl-C."
    )
    command.add_argument("--host", type=_name, default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    command.add_argument("--port", type=_port, default=8501, help="port to listen on (default: 8501)")
    command.set_defaults(run=_later("serve"))


def _about(commands: Any) -> None:
    """What tells of the commands themselves."""
    command = commands.add_parser(
        "help", help="the help of a command", description="Shows what COMMAND --help shows, or the list of commands."
    )
    command.add_argument("words", nargs="*", metavar="COMMAND", help="a command, for example make store")
    command.set_defaults(run=_run_help)
    command = commands.add_parser(
        "completion",
        help="completion of commands and options for a shell",
        description="Prints a script with which a shell completes the installed command.",
    )
    command.add_argument(
        "shell",
        nargs="?",
        metavar="SHELL",
        choices=("bash", "zsh", "tcsh"),
        default="bash",
        help="bash, zsh or tcsh (default: bash)",
    )
    command.set_defaults(run=_later("completion"))


def _run_help(options: argparse.Namespace) -> int:
    try:
        build_parser().parse_args([*options.words, "--help"])
    except SystemExit as shown:
        return int(shown.code or 0)
    raise Usage(f"{' '.join(options.words)!r} is no command")


def _mcp(commands: Any) -> None:
    command = commands.add_parser(
        "mcp",
        help="an MCP server for assistants, on standard input and output",
        description="Serves the operations as tools of the Model Context Protocol (MCP) until standard input ends."
        " It asks no cluster, and reads only below each PATH.",
    )
    command.add_argument("roots", nargs="*", type=_path, metavar="PATH", help="files and folders that tools may read")
    command.add_argument("--bodies", action="store_true", help="also show bodies of messages in store folders")
    command.add_argument("--zone", type=_zone, metavar="ZONE", help=_ZONE_HELP)
    command.set_defaults(run=_later("mcp"))


def _run_scan(options: argparse.Namespace) -> int:
    options.at, options.zone, options.zone_source = read_clock(options)  # before Spark is imported, which takes a while
    return _later("scan")(options)


def _run_follow(options: argparse.Namespace) -> int:
    options.as_of = options.at is not None
    options.at, options.zone, options.zone_source = read_clock(options)
    options.since = read_since(options.since, options.zone)
    return _later("follow")(options)


def _later(module: str, function: str = "run") -> Callable[[argparse.Namespace], int]:
    """A command whose module is imported when it runs: the others need not wait for what it needs.

    Signals end it as Ctrl-C does, so that no folder of it stays.
    """

    def run(options: argparse.Namespace) -> int:
        command = getattr(import_module(f"idcore.cli.{module}"), function)
        with nullcontext() if module in _OWN_SIGNALS else interruptible():
            return int(command(options))

    return run

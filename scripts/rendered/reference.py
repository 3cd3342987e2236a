"""docs/cli.md and docs/tables.md, rendered from the parser and from the columns of a scan. Only docs.py writes them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

import pyarrow as pa

from idcore.cli.epilogs import COMMON, EPILOGS
from idcore.cli.parser import build_parser, commands_of
from idcore.operations.model import Operation
from idcore.operations.table import TABLE
from idcore.scan.schemas import OF_LISTS, SCHEMAS

_CLI_HEAD = """\
# Command line

For everybody who runs `python -m idcore`: each command with its options, examples and exit statuses.

`make docs` renders this page from the parser; `python -m idcore COMMAND --help` shows the same. The examples use the
Python of `.venv` (`. .venv/bin/activate`). Results go to standard output. Errors are one line on standard error.
[tables.md](tables.md) has the columns and the keys of the output.

Sizes of `--split-size` are bytes, or a number with k, M or G. Times are ISO 8601. A time without a zone is in the zone
of `--zone`. `--format` means the same everywhere. `table` is for people, and `csv` for spreadsheets. `json` and
`jsonl` are JSON with an object on each line. Colours are only on a terminal, and not if `NO_COLOR` is set.

In `csv`, and in each CSV of the pages, a text that a spreadsheet would run gets an apostrophe in front. It begins with
`=`, `+`, `-`, `@`, the wide form of one of these, a tab or a line end. Inside a text the same holds behind a semicolon,
a tab or a line end: `k=v;-Xmx2g` becomes `k=v;'-Xmx2g`. UTC offsets (`+08:00`) and negative numbers stay as they are.
JSON changes no text.

## The shell

The installed command completes its commands, options and values:

```sh
rocketmq-ids completion bash > ~/.local/share/bash-completion/completions/rocketmq-ids
rocketmq-ids completion zsh > ~/.zfunc/_rocketmq-ids
```

## Lines of a time range

`scan --from`, `--to` and `--since` read only the lines of a time; the tables are those of a file with only these lines.
`--from` is in the range, `--to` is not. `--since 30m` is the half hour before `--at`, which is now by default.

A line has the time that it names: at its beginning, as a bornTimestamp, or in another style. Lines without a time that
follow it within 8 KiB belong to it, such as a stack trace. Elsewhere, as in a list of IDs, a line has the time of its
first msgId. A line with neither belongs to the line before it. The choice of lines reads some 55 MB a second and core.
[ADR 68](adr/0068-lines-of-a-time-range.md) has the reasons.

## Commands
"""

_TABLES_HEAD = """\
# Tables and JSON

For everybody who processes results further: every column that a scan writes, and the JSON of the commands.

`make docs` renders this page from `idcore/scan/schemas.py`. Names and types stay from release to release; further
columns may come. `scan --out DIR` writes each table as a folder with Parquet files. `summary.json` is written last: a
folder without it is an unfinished scan. The tables depend neither on the order of files and lines nor on the splits.
"""

_TABLES = {
    "processes": "One row for each fingerprint of msgIds",
    "hosts": "One row for each producing host",
    "brokers": "One row for each broker address in offsetMsgIds",
    "segments": "One row for each commit log file of a broker, if files have 1 GiB",
    "clients": "One row for each process with 5.x msgIds",
    "counters": "Points of the counter of each process, as many as a chart needs",
    "timeline": "IDs by minute and kind",
    "activity": "IDs by host and minute",
    "distribution": "Up to 128 equal ranges from the least to the greatest offset of a broker",
    "copies": "IDs that go with two or more different offsetMsgIds",
    "growth": "Offsets by broker and minute, from lines that have both IDs",
    "findings": "What the rules found ([findings.md](findings.md))",
    "deliveries": "What lines say of deliveries to consumers, as far as lines were read ([limits.md](limits.md))",
    "refused": "Strings that look like an ID and were rejected, by reason",
    "lookalikes": "Strings that only look like IDs, by reason and label; they are in no other table",
    "topics": "One row for each topic and queue; scan of a store only",
    "tags": "One row for each topic and tag; scan of a store only",
    "fates": "Messages by queue, consumer group, minute and verdict ([store.md](store.md)); scan of a store only",
    "undelivered": "Messages that a consumer group has not consumed; scan of a store only",
    "attempts": "Attempts of a consumer group with a message; scan of a store only",
    "retries": "Failed attempts of a consumer group by minute, as its copies show them; scan of a store only",
    "progress": "Where each consumer group is in each queue of its topics; scan of a store only",
    "files": "One row for each file, and for each member of an archive",
}
_COLUMNS = {
    "layout": "layout of the ID ([formats.md](formats.md))",
    "host": "address inside the ID, dotted or as in RFC 5952",
    "pid": "process ID inside the ID",
    "loader": "hash of the class loader, 8 hex digits",
    "maker": "code of the client that probably generated the IDs",
    "ids": "occurrences of IDs",
    "distinct": "different IDs; upper and lower case are equal",
    "first_elapsed_ms": "elapsed of the first ID",
    "last_elapsed_ms": "elapsed of the last ID",
    "first_sent_at": "when the first ID was generated; empty if unknown",
    "last_sent_at": "when the last ID was generated",
    "assumed": "what of these times no line shows: `month`, `zone`, or `month_part` and `zone_part` where not of all",
    "first_counter": "counter of the first ID",
    "last_counter": "counter of the last ID",
    "produced": "generated IDs: the range of the counter from the first to the last ID",
    "missing": "generated, but not in this input",
    "wraps": "how often the counter went from 65,535 to 0",
    "wraps_certain": "false if two neighbours are so far apart that the rate allows an unseen wrap",
    "out_of_order": "steps at which the counter falls as time rises",
    "tracks": "most counter segments that are alive at the same time",
    "rate_per_second": "generated IDs for each second between the first and the last",
    "chains": "counter segments",
    "loader_position": "number of the loader in HotSpot's stream of hashes",
    "loader_bits": "the mask, 31 or 25 bits, under which it was found",
    "last_possible_elapsed_ms": "elapsed of the last ID that its month can have",
    "zone": "offset from UTC in which the process counts",
    "zone_source": "where the zone is from: `born`, `prefix`, `given` or `assumed`",
    "month": "month of the last ID, if log lines show it",
    "months_mixed": "true if lines show several months that the IDs do not tell apart: times are of one of them",
    "clock_back": "true if the clock of the process was set back (finding `clock_back`): `produced` and `missing` do "
    "not count",
    "one_counter": "true if its segments are one counter, divided by a clock that was set back or a new month: neither "
    "several processes nor restarts",
    "processes": "different processes",
    "address": "host and port of the broker",
    "port": "port of the broker",
    "segments": "different commit log files, if files have 1 GiB",
    "min_offset": "least physical offset",
    "max_offset": "greatest physical offset",
    "bytes_per_second": "of lines with both IDs: bytes from the lowest to the highest offset, divided by the seconds "
    "between their times; null if the record with the highest offset is not the later one",
    "segment": "name of the commit log file: 20 digits",
    "mac": "MAC address inside the ID",
    "min_sequence": "least sequence",
    "max_sequence": "greatest sequence",
    "elapsed_ms": "elapsed of the ID",
    "sent_at": "when the ID was generated",
    "counter": "counter of the ID",
    "position": "counter without wraps, from the beginning of its segment",
    "track": "number of the parallel counter",
    "chain": "number of the counter segment",
    "missing_before": "missing IDs right below this one in its segment; of a thinned process for the 100 widest gaps",
    "minute": "the minute, in UTC",
    "kind": "`uniq` (msgId), `offset` (offsetMsgId) or `client` (5.x msgId)",
    "from_offset": "begin of the range",
    "to_offset": "end of the range",
    "msg_id": "the ID; in `copies` in upper case",
    "offset_msg_ids": "its offsetMsgIds, joined by commas, in the order of address and offset",
    "lines": "lines in which the ID goes with an offsetMsgId",
    "min_at": "time of the lowest offset of the minute; of equal offsets the earliest",
    "max_at": "time of the highest offset of the minute",
    "code": "code of the rule",
    "severity": "`error`, `warning` or `info`",
    "subject": "process, broker, ID or label that the finding is about",
    "count": "how many IDs, messages or processes",
    "evidence": "JSON: IDs, their places, figures",
    "values": "JSON: the values of the sentence",
    "certainty": "how certain the finding is",
    "try": "number of the delivery, 1 for the first; null if the line does not name it",
    "event": "`received`, `failed`, `acked`, `skipped` or `filtered`: a claim of the line; else `track`",
    "consumer_group": "consumer group, if the line names it",
    "line": "number of the line; null in an input of which only pieces were read",
    "at": "time that the line opens with",
    "physical_offset": "physical offset of the record, if the line names it",
    "stored_topic": "topic of the record: of retries, of dead letters, or where it waits",
    "thread": "thread that printed the line",
    "status": "code of an acknowledgement, or trackType of mqadmin",
    "reason": "why it was rejected",
    "sample": "the first such string",
    "file": "name of the file; `archive.zip!path/in/it` for a member",
    "byte": "where the string begins, in bytes of the unpacked text",
    "topic": "topic",
    "tag": "tag; empty for none; null in every row if there are more than 1,000 tags",
    "queue_id": "number of the queue",
    "messages": "records",
    "bytes": "size in bytes",
    "first_store_timestamp": "earliest store time",
    "last_store_timestamp": "latest store time",
    "min_queue_offset": "least queue offset",
    "max_queue_offset": "greatest queue offset",
    "crc_failed": "bodies whose CRC does not match",
    "group": "consumer group",
    "verdict": "code of the verdict ([lookup.md](lookup.md))",
    "first_queue_offset": "least queue offset",
    "last_queue_offset": "greatest queue offset",
    "queue_offset": "its offset in the queue",
    "commit_log_offset": "its physical offset",
    "store_timestamp": "when it was stored",
    "groups": "how many groups have not consumed it",
    "verdicts": "JSON: the verdict of each of these groups, of the first 1,000 by name",
    "retry_times": "number of the attempt, 0 for the first; null if the trace has only its end",
    "outcome": "code of how the attempt ended ([store.md](store.md)); null if unknown",
    "led_to": "copy that the failure led to: `retry` or `dead_letter`; null for none",
    "due_at": "when the retry copy was due",
    "began_at": "when the first call of the listener began, by the trace",
    "ended_at": "when the last call of the listener ended, by the trace",
    "calls": "calls of the listener in the trace",
    "client": "client of the call that `outcome` is of",
    "copy_offset": "physical offset of the copy that shows the outcome",
    "trace_offset": "physical offset of the trace record that shows the outcome",
    "tries": "attempts that failed; of `dead_letter` those after which the group gave up",
    "most_retry_times": "greatest retry number of their copies",
    "consumer_offset": "the next queue offset that the group reads; null if it has none in this queue",
    "earlier_offset": "the same in consumerOffset.json.bak, the broker's write before",
    "queue_begin": "least queue offset in the log",
    "queue_end": "the next queue offset",
    "text_bytes": "size of the text, unpacked",
    "refused": "rejected strings",
    "lookalikes": "strings that only look like IDs",
    "trace_ids": "trace IDs (W3C, B3), which are no IDs of messages",
    "label": "word of the label that names something else: `sign`, `md`, `trace`; null if no label says it",
    "broker": "name of the broker",
    "id": "the ID as it was given",
    "records": "messages in topics of producers that it leads to",
    "error": "code of what could not be read; null if all was read",
    "error_values": "JSON: the values of its sentence",
}
_OF_LISTS = {
    "fates": "As above, with the broker",
    "undelivered": "As above, with the broker; all messages",
    "asked_ids": "One row for each ID of the list, in its order",
}
# Where a column means something else than in other tables.
_ELSEWHERE = {
    ("asked_ids", "outcome"): "`judged`, `no_verdict`, `no_group`, `no_record`, `not_found` or `not_asked`",
    ("asked_ids", "reason"): "of a miss why ([lookup.md](lookup.md)); of `no_record` what its records are",
    ("asked_ids", "topic"): "topic of the first message",
    ("asked_ids", "groups"): "how many groups have not consumed it, of several messages the most",
}
_TYPES = {pa.int64(): "int64", pa.int32(): "int32", pa.string(): "text", pa.bool_(): "bool", pa.float64(): "double"}

_LISTS_HEAD = """\
## Fates of a list of IDs

`view --fate --out DIR` asks a live cluster what became of up to 5,000 messages. The console does the same from Compare
and Decode. The tables are `fates` and `undelivered` as a scan of a store writes them, with one more column, and
`asked_ids`. A message counts once, even if two IDs lead to it.
"""

_LISTS_TAIL = """\
| outcome | meaning |
|---|---|
| `judged` | a message was found, and at least one group has a verdict |
| `no_verdict` | somebody who would know did not answer, or did not permit it |
| `no_group` | a message was found, and no consumer group of its topic is known |
| `no_record` | no record in its topic was found, only for example a half message, a retry or a dead letter |
| `not_found` | the cluster does not have it; `reason` says why |
| `not_asked` | the list was stopped before |

`summary.json` counts the IDs of each outcome, and has these keys:

| key | meaning |
|---|---|
| `ids`, `given`, `doubles` | different IDs; IDs as given; those given again |
| `found`, `records`, `repeated` | IDs with a record; messages; IDs of a message that another ID has too |
| `groups`, `undelivered` | groups with a verdict; messages that a group has not consumed |
| `cut` | what is missing (groups or records over the limit, silent brokers), each with the number of IDs |
| `snapshot`, `snapshot_end`, `seconds` | time of the first question and of the last answer; how long it took |
| `stopped`, `problem` | whether it was stopped; the error that ended it |
| `cluster`, `topic` | name of the cluster; the topic, if one was given |

"""

_TABLES_TAIL = """\
## Which IDs `counters` keeps

Every ID of a process with up to 1,500. Of a larger process:

- the first and last of 256 time buckets and of each counter segment;
- the lowest and highest position;
- both sides of the 100 largest gaps, and of all wraps if there are at most 256.

## How lines pair two IDs

The i-th offsetMsgId of a line goes with its i-th msgId or 5.x msgId, then with the last. This applies to lines of at
most 1 MiB. `growth` dates the offset by that ID, to the millisecond. An ID that occurs once in all input and has one
offsetMsgId there is never in `copies`.

## summary.json

| key | meaning |
|---|---|
| `bytes`, `text_bytes`, `files`, `failed_files` | size as stored, size unpacked, files, files that could not be read |
| `ids`, `distinct` | occurrences, different IDs |
| `uniq`, `offset`, `client` | occurrences of msgIds, offsetMsgIds, 5.x msgIds |
| `refused`, `lookalikes`, `trace_ids` | rejected strings, strings that only look like IDs, trace IDs (W3C, B3) |
| `processes`, `clients`, `hosts`, `brokers`, `segments` | rows of these tables |
| `zone_sources` | processes by the source of their zone |
| `findings` | findings by severity |
| `undelivered`, `attempts` | of a store: rows of these tables; an older version wrote at most 50,000 of them |
| `traces_left_out` | of a store: trace records that were not read, because there are too many newer ones |
| `groups_left_out` | of a store: groups that were not judged: too many, at different offsets |
| `evidence` | of a store: codes and values of the age of its state and its config files ([store.md](store.md)) |
| `start_seconds`, `seconds` | until Spark was up; from then to the last table |
| `assumed` | zone, reference time, case and subscriptions that the scan was given |
| `versions` | of this project, Python and its libraries |
| `left_out` | folders below the input with tables of a scan, which were not read again |
| `deliveries_sampled` | where a part of the text was read for `deliveries`: its `bytes`, `of` so many; `lines` |
| `broker_names` | of the addresses of brokers the names that lines have beside their IDs, if there are such lines |
| `is_list` | true of an input of nothing but IDs, or of a table of them with named columns: none is missing from it |

## The JSON of `decode`

One object in each line, with all of these keys. Those that do not apply are null.

{decode}
[store.md](store.md) and [lookup.md](lookup.md) have the JSON of `view`.

## The JSON of `scan`

One object: the keys of `summary.json`, and `finding_list`, the findings with the worst first. Each has these keys.

{findings}
## The JSON of `compare`

One object in each line, for each producer, client and broker that differs.

{compare}"""


def commands() -> str:
    """The whole page of the command line."""
    parser = build_parser()
    below, helps = list(commands_of(parser)), dict(_helps(parser))
    rows = ((f"[`{_short(one)}`](#{_short(one).replace(' ', '-')})", helps[one.prog]) for one in below)
    common = table(("exit status", "of every command"), ((str(status), meaning) for status, meaning in COMMON))
    sections = (_command(one, one.description or helps[one.prog]) for one in below)
    return "\n".join([_CLI_HEAD, table(("command", "what it does"), rows), common, *sections])


def _helps(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """What the lists of commands say about each."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action._choices_actions:
                yield action.choices[one.dest].prog, one.help or ""
                yield from _helps(action.choices[one.dest])


def _short(command: argparse.ArgumentParser) -> str:
    return command.prog.removeprefix("python -m idcore ")


def _command(command: argparse.ArgumentParser, said: str) -> str:
    """The section of one command."""
    epilog = EPILOGS[command.prog.rpartition(" ")[2]]
    rows = ((_name(action), (action.help or "") + _default(action)) for action in _actions(command))
    return "\n".join(
        [
            f"## {_short(command)}\n",
            f"{said[0].upper()}{said[1:].removesuffix('.')}.\n",
            f"    {_usage(command)}\n",
            table(("argument", "meaning"), rows),
            "```sh",
            *epilog.examples,
            "```\n",
            table(("exit status", "meaning"), ((str(status), meaning) for status, meaning in epilog.statuses)),
        ]
    )


def _actions(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    yield from (action for action in command._actions if not isinstance(action, argparse._HelpAction))


def _name(action: argparse.Action) -> str:
    """An option with its value, or the name of an argument."""
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = action.metavar or "|".join(str(one) for one in action.choices or ())
    return f"`{action.option_strings[0]} {value}".strip() + "`"


def _default(action: argparse.Action) -> str:
    return f" (default: {action.default})" if "default" not in (action.help or "") and action.default else ""


def _usage(command: argparse.ArgumentParser) -> str:
    """The command with its arguments: brackets are around what may be left out, `|` is between alternatives."""
    shown, groups = [command.prog], command._mutually_exclusive_groups
    for action in _actions(command):
        group = next((one for one in groups if action in one._group_actions), None)
        if group is not None and action is not group._group_actions[0]:
            continue
        among = [action] if group is None else group._group_actions
        text = " | ".join(_plain(one) for one in among)
        needed = group.required if group is not None else action.required and action.nargs not in ("*", "?")
        shown.append(text if needed and len(among) == 1 else f"({text})" if needed else f"[{text}]")
    return " ".join(shown)


def _plain(action: argparse.Action) -> str:
    name = _name(action).strip("`")
    return f"{name}…" if action.nargs == "*" else name


def tables() -> str:
    """The whole page of the tables."""
    parts = [_TABLES_HEAD]
    for name, schema in SCHEMAS.items():
        parts += [f"## {name}\n", f"{_TABLES[name]}.\n", _columns(name, schema)]
    parts.append(_LISTS_HEAD)
    for name, schema in OF_LISTS.items():
        more = pa.schema([field for field in schema if field not in SCHEMAS.get(name, ())])
        parts += [f"### {name} of a list\n", f"{_OF_LISTS[name]}.\n", _columns(name, more)]
    keys = {name: _keys(TABLE[name]) for name in ("decode", "findings", "compare")}
    return "\n".join([*parts, _LISTS_TAIL, _TABLES_TAIL.format(**keys)])


def _keys(operation: Operation) -> str:
    """The keys of an item with their meanings."""
    return table(("key", "meaning"), ((f"`{one.name}`", one.meaning) for one in operation.fields))


def _columns(name: str, schema: pa.Schema) -> str:
    """The columns of a table with their meanings."""
    meant = ((field, _ELSEWHERE.get((name, field.name), _COLUMNS[field.name])) for field in schema)
    rows = ((f"`{field.name}`", _TYPES.get(field.type, "time"), meaning) for field, meaning in meant)
    return table(("column", "type", "meaning"), rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"

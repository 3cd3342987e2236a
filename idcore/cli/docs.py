"""docs/formats.md and docs/findings.md, rendered from layouts, rules and words: `python -m idcore.cli.docs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Formatter

from idcore import catalogue
from idcore.findings import RULES, Rule, limits
from idcore.ids import from_bytes, rules
from idcore.ids.makers import KNOWN_CONSTANTS, STREAM_LENGTH
from idcore.ids.scoring import CERTAIN_FROM, LIKELY_FROM
from idcore.layout import LAYOUTS, Layout

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
FORMATS, FINDINGS = DOCS / "formats.md", DOCS / "findings.md"

_TITLES = {
    "uniq_v4": "made by the producing client: `msgId`, `UNIQ_KEY`, `transactionId` (MessageClientIDSetter)",
    "uniq_v6": "the same on a host with IPv6",
    "client_v1": "made by the 5.x gRPC clients (MessageIdCodec)",
    "offset_v4": "made by the broker as it stores the message: `offsetMsgId`, and `msgId` in a printed MessageExt "
                 "(MessageDecoder)",
    "offset_v6": "the same of a broker with an IPv6 address",
    "uniq_v4_le": "made by the C++ client 1.2.0 to 1.2.3 and the Node.js and Python wrappers on it: each field's bytes "
                  "are turned round",
}  # fmt: skip
_EXAMPLES = {
    "uniq_v4": "AC110001473C7D4991AD336AEA5703E0",
    "uniq_v6": "FE8000000000000038ABE5FFFED4CBD2001518B4AAC219B9B5640000",
    "client_v1": "01EA2C235B8585B70D08C1575B00000015",
    "offset_v4": "AC11000100002A9F00000000000E8580",
    "offset_v6": "20010DB800000000000000000000001700002A9F0000010000000007",
    "uniq_v4_le": "0101007F0000A61200003CF1C4030100",
}
_NAMES_NOT_COUNTS = ("version", "pid", "port")
_REFUSED = ("lower_case", "version", "port", "elapsed")
_OF_ARGUMENTS = ("empty", "digit", "odd", "length")

_HEAD = """\
# Formats of message ids

Rendered from `idcore/layout.py` and the tables of words by `make docs`; a test holds this page to them.

A message has two ids. The producing client makes one before it sends (a *uniq* id, or a *client* id of the 5.x gRPC
clients); it survives retries. The broker makes the other as it stores a record (an *offset* id): each stored copy has
its own. Both are printed as hex digits, and neither says which it is.
"""

_RULE = """\
## What is an id, and which

A token is a maximal run of hex digits, less the digits of an escape right in front of it (`%22`, `\\x22`, `\\u0022`).
It is a candidate with {digits} digits; only candidates can be refused.

1. All letters lower case: refused (`lower_case`). No client prints a whole id so; trace ids, MD5 sums and UUIDs are.
   `--case any` takes such tokens, of every length.
2. 34 digits: a client id if it begins with 01, else refused (`version`).
3. Read the bytes where an offset id has its port. Above {port:,}: a uniq id, for certain. From 1 on, with an offset of
   at most 2^48: an offset id, unless a little-endian id is the better reading (below). Port 0, or an offset that cannot
   be: a uniq id of pid 0, or refused (`port`) when the loader is 0 too.
4. Little-endian ids (C++ 1.2.0 to 1.2.3, `idcore/ids/little_endian.py`) have bytes 5, 8, 9 and 15 at 0, a loader from
   1 to 65,534, a pid below 64 (the upper half of the process id) and an elapsed below 32 days and an hour. With a pid
   above 0 they look like a uniq id, and are little-endian unless that id's loader is known. With a pid of 0 they look
   like an offset id: they are little-endian above 2^44; above 2^40 if the port is not a usual one; above 2^32 if also
   only the reversed address is private or begins with 0. A private address that is public when reversed is a broker.
   Both readings are named.
5. A uniq id whose elapsed passes the longest month ({month:,} ms, and {slack:,} ms of slack) is refused (`elapsed`)
   unless it reads as less than a day before the month (a clock set back), its loader is known, or a name in front of
   it (`msgId`, `UNIQ_KEY`, ...) vouches for it.

Readings are ranked, never chosen in silence: the others stand beside the first, with their reasons. A label in front is
a hint, not the judge: a printed MessageExt shows the offset id as `msgId`.

## How certain

Each reason has a weight; {certain} points make a reading *certain*, {likely} *likely*, fewer *possible*. The loader
weighs most (+4 when it stands in HotSpot's stream of {stream:,} main-thread hashes or is a known constant, +3 for the
Go client's zero, -1 or -2 when unknown), then the label (+2 for, -1 against), letter case (+1, the Go client's +2,
mixed -1, lower -2), elapsed within a month (+1, beyond it down to -2), a possible host (+1 or -1), the pid where a
port cannot be (+1), a UUID's version digits (-3). An offset id gains from its usual port (+2; node ports +1), from
zeros in the right places (+2) and an offset below 2^44 (+1).

## Time

The month and the zone are not in a uniq id, only the milliseconds since the month began in the producer's own zone.
The default reading is the newest month in which the instant is not after "now" and elapsed is shorter than that month.
A line can tell more: `bornTimestamp - elapsed` is a local midnight on a first within one second, which fixes month and
zone (`zone_source` born); a time at the start of the line fixes the month, and the zone where it names one (prefix).
Otherwise the zone is the one given, or this machine's (assumed). A store timestamp dates nothing.

One id has one instant. What lines prove of a process holds for all its ids (`idcore/ids/dating.py`, and the scan's
`votes.py`). Processes that no line dates have the zone of at least 9 in 10 of the ids whose zone is proved (of all,
where a zone was given), and the newest month up to a day after the last dated id. `decode` reads standard input to its
end first; a pipe that pauses for two seconds is shown as it comes, dated by what came before the pause.

Where the time is not exact, `sent_at_earliest` and `sent_at_latest` hold it:

- the zone is assumed: all zones in use, and the next month where the id is just made in a zone further east;
- little-endian ids: their month begins on the last day of the month before, at midnight or an hour to either side, as
  chance sets `tm_isdst`. A bornTimestamp, or a dated line within ten seconds, settles the hour; no zone is derived;
- C++ 2.1.0 (`tm_isdst` 0): under daylight saving its month begins at 01:00;
- 5.x ids: Java clients up to 5.0.2 count in their local zone. Lines show it; seconds in the future do so alone.
"""

_TOLD_APART = """\
`python -m benchmarks.accuracy` gives labelled ids to families of makers: those of 21 releases of the Java classes,
public log lines, and ids as the sources of other clients write them. Of 2,206 ids 99.9 % go to the right family.
None goes to a wrong one with confidence; a test holds both.

- The Go client and messense/rocketmq-rs are not told apart: one id of either is the same.
- C++ 1.2.4 and later is not told from Java with an unusual loader, until the seed of rand() is found
  (`idcore/ids/seeds.py`, `decode --all`). A chance hit is one in 800.
- 5.x clients of most languages write ids alike. Rust shows (milliseconds of the month, lower case), and C++ before
  5.1.0 (seconds turned round). Java up to 5.0.2 shows where the line has a born time (seconds of the local 2021).
- Of the other 5.x clients a little can be ruled out. A sequence of 0 is not C#, and a MAC of zeros is C++ or
  Node.js. A MAC with the multicast bit is neither of these two, and a pid of 65,535 is not Node.js.
- Ids of one input settle one another where one alone is open (`idcore/ids/neighbours.py`). Two readings that are
  both spoken for stay open.
- Releases of the Java client differ in what they can write (`idcore/ids/generations.py`): pid 0, IPv6, link-local
  and loopback addresses, a time before the month.
"""

_FINDINGS_HEAD = """\
# Findings

Rendered from the rules in `idcore/findings` and their words by `make docs`; a test holds this page to them.

`python -m idcore scan` judges its own tables and writes the table `findings`. A row has code, severity, subject,
count, evidence, values, certainty, first_sent_at and last_sent_at. Evidence is JSON: ids, places, figures. A row
has no sentence: pages, reports and `scan --format json --lang en|zh` (`finding_list`) make these of code and
values.

No finding means that no rule found a problem. It does not prove that every message arrived. Missing ids alone do
not prove that messages were lost.

The worst findings come first. Of each code and severity {subjects:,} subjects are listed, and one row counts the
rest. What was counted and not looked at one by one has a row of its own ("not looked at"). What is looked at, the
largest first:

- {examined:,} processes with several counters, and the points of {suspects:,} processes in all;
- the copies of {copies:,} ids, and {brokers:,} brokers beside their neighbours;
- {loaders:,} loaders, tried against the seeds of C++.

These numbers and those of the rules are in `limits.py`, each with its reason.

- A month that ends is not a clock that was set back: elapsed that falls by more than 20 days is a new month.
- Where a clock was set back nothing is said of missing ids, because the order of the ids is not known.
- The little-endian C++ client cuts its counter to eight bits: nothing is said of its counters.
- The PHP, pyrocketmq and ErQing clients do not count from the month: nothing is said of their times.

## What is checked

{table}
Below, names in code type are figures of the evidence. A bold word is a variant, or what evidence names under `also`.
"""

_FINDINGS_TAIL = """\
## Missing ids: a hole, a sample, a loss

Generated (`produced`) is what the counter says, from the first to the last id seen. Missing is what was generated
and is not in the input. The rule (`gaps.py`) judges the gaps of each process by their widths:

- **A hole** is a gap that stands out of what the process usually misses. At least {side} ids of its chain are on
  either side. It is a warning at any share.
- What is usual: where gaps are rare, the chance of a gap bounds the width. They are rare where at most one id in
  {rare:.0f} has a gap below it, or fewer than {few} have one. Elsewhere the mean and the wider half of the gaps bound
  it. Chance passes the bound in fewer than one of a million processes.
- **A sample** is an even share: besides the holes more than a tenth is missing. A consumer of one of several topics
  has such a log.
- **A loss** is up to a tenth that is missing besides the holes.
- Holes in a sample are a warning that counts the holes alone. It says how much of the rest is in the input.

The evidence names the {gaps} widest gaps: the ids around each, the counters from and to, how many. Time does not
count: a pause makes no gap. A fall to 0 begins a new chain. Topics that come in runs of 20 messages and more look
like holes.

The table `counters` has all gaps of a process with up to 1,500 ids, of a larger one the 100 widest. The sentence
says how many ids the others miss.

**Batches.** A batch of n messages uses n counters for its items and one more, the UNIQ_KEY of its n records. The
log of a consumer has none of the n. So an id with n offset ids explains up to n missing counters right below it.
Each of these is at most {step} KiB behind the one before. The log of a producer has the n and not the one: that gap
of 1 for each batch is counted as missing.

## When, where, and how sure

`first_sent_at` and `last_sent_at` say when it happened, where that is known:

- of a clock when it was set back, of restarts the first ids after them, of wraps the ids at 0;
- of gaps the first ids behind them, of holes the ids on both sides;
- of shared fingerprints the time in which two processes lived, of copies the born times;
- of a new address its first and last minute;
- of everything else when the ids were made, and nothing of ids without a date.

Times in sentences are in the zone of the scan on the command line, in the reader's zone on pages and in reports.

`places` in the evidence names file, line and byte of the first occurrence of each id (`line_locations.py`). That is
one more look at the text, of inputs up to {placed} MiB. The worst findings come first, for as many ids as keep
bytes times ids below {searched} MiB. Ids of larger inputs have no place in the table; the findings page looks for
their lines when evidence is opened. The same look finds the host behind an address that names none (bornHost) and a
broker's name.

Some further sentences have a threshold:

- a failed send is between the last id of the process and the gap, within {front} KiB;
- a pause before a new broker address is {minutes} minutes or more, and {times} times what is usual;
- a crash loop is {starts} starts within {loop} s.

## What lines add

Tables count ids and know no words. For copies, and for the names in front of ids, the scan takes a second, bounded
look at the text (`idcore/scan/lines.py`). Inputs up to 64 MiB are read whole, of larger ones 16 pieces of 1 MiB
that are spread evenly. When no id has copies it is 8 MiB, and 16 pieces of 128 KiB.

- Of each copied id it reads the printed MessageExt: topic, born time and host, store time, body CRC, KEYS, marks of
  a copy.
- The marks are reconsumeTimes, DELAY, REAL_TOPIC, ORIGIN_MESSAGE_ID and the prepared offset. A record with one, or
  in a system topic, is a copy of the broker's.
- Of the other records a difference makes a collision, and no difference a send repeated.
- Records one right behind the other in one moment are a batch.
- What was not seen is not guessed: copies on one broker are then stored_copies. The counts of id_confusion are of
  what was looked at.

SendResult lines of copied ids are read as well: Java, Go and C++ print them, others write them as JSON. Two with
different offset ids in one normal topic are a send repeated. FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT and
SLAVE_NOT_AVAILABLE count too, because the broker has stored the message. A transaction prints `offsetMsgId=null`
and counts for nothing. The topics of retries
and delays do not count.

The application of a name is the logger of its line, else the file (`idcore/scan/printers.py`). A logger is a JSON
or logfmt field, or the name behind the level in the layouts of Spring Boot, logback, log4j and Python. A class name in
brackets counts too; the name of a thread does not. Up to 10,000
applications are counted apart, the rest together as `…`.

Not every such id is a mistake. The Node.js clients ali-ons and rocketmq and batches of the Go client 2.1.2 send no
UNIQ_KEY, so a consumer shows the offset id. The broker may make the UNIQ_KEY of a plain send without one. Host, pid
and loader in it are then usually those of the broker's JVM.

A line of more than 1 MiB is read in pieces; a record that such a cut parts is seen in part or not at all.

## How often they are right

`python -m benchmarks.findings --seeds 5 --first 501` makes every incident in every variant on a healthy background,
and scans it. Against the truth of the logs 975 findings were right, none was wrong and none was overlooked. In
healthy logs nothing above info was found.

Gaps were measured with further seeds (`--only missing_ids --seeds 60 --first 20001`). Of 922 warnings all were
found and none was wrong. Of 458 samples and logs of batches none was called a loss.

Chains were tried on the made logs of the scan's own tests (`tests/scan/logs.py`). Of 200 shared fingerprints all
were found, and none in 320 other processes. Of 288 clocks set back by 0.7 s to 3 days 258 were found, up to 30 % of
the ids missing.

The log of real clients (`tests/vectors/real.log.gz`) has only findings that are true of it; a test names them.
Readers who did not know the project named every cause from the texts of the page. What no page can say: Go from
rocketmq-rs, and why a process started again.
"""


def formats() -> str:
    """The whole page."""
    parts = [_HEAD, "## Layouts\n", _overview()]
    parts += [_layout(layout) for layout in LAYOUTS.values()]
    digits = sorted(rules.CANDIDATE_DIGITS)
    parts.append(_RULE.format(
        digits=f"{digits[0]}, {digits[1]} or {digits[2]}", port=rules.PORT_LIMIT, month=rules.LONGEST_MONTH_MS,
        slack=rules.ELAPSED_SLACK_MS, certain=CERTAIN_FROM, likely=LIKELY_FROM, stream=STREAM_LENGTH))  # fmt: skip
    parts.append("## Refusals\n")
    said = catalogue.words()
    parts.append(_words({code: said.table("error.")[code] for code in (*_REFUSED, *_OF_ARGUMENTS)}))
    parts.append(f"The last {len(_OF_ARGUMENTS)} occur for arguments of `decode` only.\n")
    parts += ["## Reasons\n", _words(said.table("reason."))]
    clients = said.table("client.")
    constants = ", ".join(f"`{loader:08X}` ({clients[code]})" for loader, code in KNOWN_CONSTANTS.items())
    parts += ["## Makers\n", f"Loaders outside the stream that are constants: {constants}.\n", _words(clients)]
    parts.append(_TOLD_APART)
    return "\n".join(parts)


def findings() -> str:
    """The whole page of findings."""
    table = _table(("code", "severity"), ((f"[{rule.code}](#{rule.code})", _severity(rule)) for rule in RULES.values()))
    head = _FINDINGS_HEAD.format(
        subjects=limits.MOST_SUBJECTS, examined=limits.MOST_EXAMINED, suspects=limits.MOST_SUSPECTS,
        copies=limits.MOST_COPIES, brokers=limits.MOST_BROKERS, loaders=limits.MOST_SEED_LOADERS, table=table,
    )  # fmt: skip
    tail = _FINDINGS_TAIL.format(
        side=limits.HOLE_SIDE_IDS, rare=1 / limits.RARE_GAPS, few=limits.FEW_GAPS, gaps=limits.MOST_GAPS,
        step=limits.BATCH_STEP_BYTES >> 10, placed=limits.MOST_PLACED >> 20, searched=limits.MOST_SEARCHED >> 20,
        front=limits.MOST_IN_FRONT >> 10, minutes=limits.SILENT_MINUTES, times=limits.SILENT_TIMES,
        starts=limits.LOOP_STARTS, loop=limits.LOOP_MS // 1000,
    )  # fmt: skip
    return "\n".join([head, *(_rule(rule) for rule in RULES.values()), tail])


def _severity(rule: Rule) -> str:
    lighter = ", ".join(f"`{variant}`" for variant in rule.lighter)
    return f"{rule.severity}; info: {lighter}" if lighter else rule.severity


def _rule(rule: Rule) -> str:
    """The section of one code."""
    name, _, variant = rule.incident.partition("/")
    made = f"python -m idcore make incident {name} --variant {variant} --out {name}.log"
    parts = {
        "What it says": [*_said(rule, "meaning"), *_further(rule)],
        "What to do": _said(rule, "advice"),
        "What would disprove it": _said(rule, "disproof"),
    }
    lines = [f"### {rule.code}", "", f"Severity: {_severity(rule)}. {rule.decided}", ""]
    for label, said in parts.items():
        lines += [f"{label}:", "", *(f"- {text}" for text in said), ""]
    return "\n".join([*lines, f"An incident of which it is true: `{made}`.", ""])


def _said(rule: Rule, part: str) -> Iterator[str]:
    """The sentences of a part: of the code, then of its variants."""
    for name in ("", *rule.variants, *rule.also):
        key = f"{part}.{rule.code}.{name}" if name else f"{part}.{rule.code}"
        if catalogue.words().has(key):
            yield (f"**{name}**: " if name else "") + _filled(catalogue.words().template(key))


def _further(rule: Rule) -> Iterator[str]:
    for name in rule.also:
        yield f"**{name}**, behind the others: " + _filled(
            catalogue.words().template(f"also.{name}").removeprefix(". ")
        )


def _filled(template: str) -> str:
    """A template with the names of its figures, in the plural."""
    return "".join(
        literal + ("" if name is None else f"`{name}`") for literal, name, _, _ in Formatter().parse(template)
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _overview() -> str:
    return _table(
        ("layout", "bytes", "digits", "fields (bytes)", "what it is"),
        ((f"`{layout.name}`", str(layout.size), str(layout.digits),
          ", ".join(f"{field.name} {field.size}" for field in layout.fields), _TITLES[layout.name])
         for layout in LAYOUTS.values()),
    )  # fmt: skip


def _layout(layout: Layout) -> str:
    text = _EXAMPLES[layout.name]
    made = from_bytes(bytes.fromhex(text), layout, text)
    rows = []
    for field, span in zip(layout.fields, layout.spans, strict=True):
        value = getattr(made, "physical_offset" if field.name == "offset" else field.name)
        if field.name == "ip":
            shown = made.host
        elif isinstance(value, bytes):
            shown = value.hex(":")
        elif field.name == "loader":
            shown = f"{value:08X}"
        else:
            shown = str(value) if field.name in _NAMES_NOT_COUNTS else f"{value:,}"
        places = f"{span.start}" if field.size == 1 else f"{span.start} to {span.stop - 1}"
        digits = f"{2 * span.start + 1} to {2 * span.stop}"
        rows.append((field.name, places, digits, f"`{text[2 * span.start : 2 * span.stop]}`", shown, field.meaning))
    order = "little-endian, field by field" if layout.byteorder == "little" else "big-endian"
    head = ("field", "bytes", "digits", "in the example", "value", "meaning")
    return f"### {layout.name}\n\n{order}; example `{text}`\n\n{_table(head, rows)}"


def _words(words: Mapping[str, str]) -> str:
    return _table(("code", "words"), ((f"`{code}`", template) for code, template in words.items()))


def main() -> None:
    """Writes the pages."""
    DOCS.mkdir(exist_ok=True)
    FORMATS.write_text(formats(), encoding="utf-8")
    FINDINGS.write_text(findings(), encoding="utf-8")


if __name__ == "__main__":
    main()

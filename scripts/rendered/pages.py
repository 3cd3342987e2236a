"""The documents that are rendered from layouts, rules, words, parser and schemas: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from idcore.answers.findings import limits
from idcore.answers.findings.all_rules import RULES, Rule
from idcore.base import catalogue
from idcore.base.catalogue import Words, en, zh
from idcore.base.layout import CLIENT_START, LAYOUTS, Layout
from idcore.ids import from_bytes, look_alikes, rules
from idcore.ids.makers import KNOWN_CONSTANTS, STREAM_LENGTH, USUAL_PLACES
from idcore.ids.scoring import CERTAIN_FROM, LIKELY_FROM
from idcore.policy import limits as console_limits
from idcore.policy.access import PERMISSIONS, ROLES
from idcore.policy.settings import ROWS
from idcore.presentation.documents import slug
from idcore.scan import line_clocks
from scripts.rendered import formats_zh, reference

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
FORMATS, CLIENTS, FINDINGS, CLI, TABLES, SETTINGS = (
    DOCS / f"{name}.md" for name in ("formats", "clients", "findings", "cli", "tables", "settings")
)
ACCESS = DOCS / "access.md"
FORMATS_ZH, CLIENTS_ZH, FINDINGS_ZH = (DOCS / f"{name}.zh-CN.md" for name in ("formats", "clients", "findings"))
DECIDED = DOCS / "explanation" / "findings.md"

# What the sentences of `decided.` name.
_FIGURES = {
    "minutes": limits.STILL_MS // 60_000,
    "messages": limits.STILL_MESSAGES,
    "retries": limits.POISON_RETRIES,
    "attempts": limits.STORM_TRIES,
    "times": limits.RISE_TIMES,
    "dead": limits.DEAD_LETTERS,
    "lines": line_clocks.MOST_LINES,
    "share": limits.SAME_KEY_SHARE,
}
_NAMES_NOT_COUNTS = ("version", "pid", "port")
_REFUSED = (
    "lower_case",
    "version",
    "port",
    "elapsed",
    "other_name",
    "look_alike",
    "look_alike_spread",
    "look_alike_uuid",
    "trace_id",
    "broken",
    "masked",
    "masked_timed",
    "masked_parts",
    "masked_parts_timed",
    "masked_known",
)
_OF_ARGUMENTS = ("empty", "digit", "odd", "length")

_HEAD = """\
# Formats of message IDs

For everybody who needs an ID byte by byte: its layouts, what is an ID, and the reasons of each interpretation.
[中文](formats.zh-CN.md)

`make docs` writes this page. Layouts come from `idcore/base/layout.py`, reasons from the tables of words, numbers from
the code. The sentences of the rules are text of `scripts/rendered/pages.py`, which a person keeps true.

A message has two IDs. The producing client generates a *msgId* (`uniq`) before it sends; the 5.x gRPC clients generate
a *5.x msgId* (`client`). It survives retries. The broker generates an *offsetMsgId* (`offset`) as it stores a record:
each stored copy has its own. Both are printed as hex digits, and neither shows which of the two it is.
"""

_RULE = """\
## What is an ID, and which

A token is a maximal run of hex digits, without the digits of an escape right in front of it (`%22`, `\\x22`,
`\\u0022`). It is a candidate with {digits} digits. Only candidates can be rejected.

1. All letters lower case: rejected (`lower_case`). Trace IDs, MD5 sums and UUIDs look like this. Some IDs do too:
   those with letters only in Go's last 12 or Rust's last 16 digits. `--case any` accepts all such tokens. The console
   decodes one that is pasted alone, with a note. The 32 digits of a W3C `traceparent`, and those that a label calls a
   trace (`traceId=`, and no known loader), are trace IDs (`trace_id`). They are counted by themselves, not as rejected.
{own}
3. Read the bytes that are the port of an offsetMsgId. Above {port:,}: a msgId. From 1 on, with an offset of at most
   2^48: an offsetMsgId, unless a little-endian msgId is the better interpretation (below). Port 0, or an impossible
   offset: a msgId of pid 0, or rejected (`port`) if the loader is 0 too.
4. Little-endian msgIds (C++ 1.2.0 to 1.2.3, `idcore/ids/little_endian.py`) have bytes 5, 8, 9 and 15 at 0. Their
   loader is from 1 to 65,534, their elapsed below 32 days and an hour. Their pid is below 64: it is the upper 16 bits
   of the process ID.
   - With a pid above 0 they look like a msgId. They are little-endian unless the loader of that msgId is known.
   - With a pid of 0 they look like an offsetMsgId. They are little-endian above 2^44. Above 2^40 they are if the port
     is not a usual one. Above 2^32 they are if also only the reversed address is private or begins with 0.
   - A private address that is public when reversed is a broker.

   All interpretations that hold are named.
5. A msgId is rejected (`elapsed`) if its elapsed passes the longest month ({month:,} ms, and {slack:,} ms of slack).
   It is accepted if it is less than a day before the month (a clock set back). It is also accepted if its loader is
   known, or if it has a label (`msgId`, `UNIQ_KEY`, ...).
6. A msgId is rejected (`other_name`) if its label is one of something else (`sign=`, `"fileMd5": "`,
   `<traceId>`). It is accepted all the same if its loader is a constant or among the first {usual:,} of the stream. The
   last word of the label counts. Signs around it may be escaped: `&quot;`, `%22`, `=3D`, backslashes.
   `OTHER_THINGS` in `idcore/ids/rules.py` is the list.
7. An input can show that many of its msgIds only look like some: they are rejected. The reason is `look_alike_uuid`
   for UUIDs, `look_alike` for one alone, and else `look_alike_spread`. Suspects have a
   loader of no usual launch. Marks count that {least} suspects or more have: no letter, a time in front, a UUID, one
   elapsed and counter, addresses as chance spreads them. Suspects with a label are judged apart. They are rejected
   only where one of eight counts longer than a month.
   [ADR 64](adr/0064-what-only-looks-like-an-id.md) has the rule. Those of 6 and 7 are in the table `lookalikes`.
   `--lookalikes ids` accepts them, and so do `--case any` and one click in the console.

An ID that the end of a line cuts is joined if it is certain then, else it is named (`broken`). Marks of a quoted mail
and an indent may be in front of its rest. Zero-width spaces and colours between digits are passed over. The scan joins
in texts up to 4 MiB, packed ones too. Of a larger one it reads a sample of 64 KiB: what line breaks cut there is in
the table `refused` (`broken_sample`). Behind a label that vouches, one digit too many is left off if the loader is
known. So are two where the first digits are not {version}. Of an ID that a mask or an ellipsis ends or parts, `decode`
and the pages name what is left (`masked`, `masked_parts`). Without a known loader it needs a label. More than 32
digits are of IPv6. So are fewer that begin as an address of IPv4 hardly does. What is in front of its mask is no ID.

Interpretations are ranked, never chosen in silence: the others are shown next to the first, with their reasons. A label
is only a hint, because a printed MessageExt shows the offsetMsgId as `msgId`.

## How certain

Each reason has a weight. {certain} points make an interpretation *certain*, {likely} *likely*, fewer *possible*.
Where two have {certain}, both are *likely*. These are the main weights; `idcore/ids/scoring.py` has all, those of 5.x
and little-endian msgIds included.

| reason | points |
|---|---|
| the loader is in HotSpot's stream of {stream:,} main-thread hashes, or a known constant | +4 |
| the loader is the Go client's zero | +3 |
| the loader is unknown | -1 or -2 |
| the label is for, or against | +2, or -1 |
| letter case; of the Go client; mixed; lower | +1; +2; -1; -2 |
| elapsed within a month; beyond it | +1; down to -2 |
| a possible host; an impossible one | +1; -1 |
| the bytes of the pid cannot be a port | +1 |
| a UUID's version digits | -3 |
| an offsetMsgId with a usual port; with a port of the node | +2; +1 |
| an offsetMsgId with zeros in the right places | +2 |
| an offsetMsgId with an offset below 2^44 | +1 |

## Time

A msgId contains the milliseconds since its month began in the producer's zone. It contains neither the month nor the
zone. [explanation/dating.md](explanation/dating.md) has how log lines prove both, and the range of a time that is not
exact.
"""


@dataclass(frozen=True, slots=True)
class _FormatsPage:
    """What the page of formats says around layouts, rules and the words of the catalogue, in one language."""

    head: str
    rule: str
    lengths: str
    layouts: str
    of_layouts: tuple[str, ...]
    of_fields: tuple[str, ...]
    to: str  # from one byte or digit to another
    orders: tuple[str, str]  # of bytes: big-endian, little-endian
    own_length: str
    own: str
    clause: str
    rejections: str
    reasons: str
    last: str
    columns: tuple[str, str]
    titles: Sequence[str]  # of the layouts, in their order
    meanings: Mapping[str, str]  # of fields; else as the layouts have them


_FORMATS = {
    "en": _FormatsPage(
        _HEAD,
        _RULE,
        en.LENGTHS,
        "Layouts",
        ("layout", "bytes", "digits", "fields (bytes)", "what it is"),
        ("field", "bytes", "digits", "in the example", "value", "meaning"),
        "{} to {}",
        ("big-endian; example `{example}`", "little-endian, field by field; example `{example}`"),
        "{digits} digits: `{layout}` if it begins with {start}",
        "2. {rules}; else rejected (`version`).",
        "; ",
        "Rejections",
        "Reasons",
        "The last {n} occur for arguments of `decode` only.\n",
        ("code", "words"),
        [layout.title for layout in LAYOUTS.values()],
        {},
    ),
    "zh": _FormatsPage(
        formats_zh.HEAD,
        formats_zh.RULE,
        zh.LENGTHS,
        "各种格式",
        ("格式", "字节数", "位数", "字段（字节数）", "是什么"),
        ("字段", "字节", "位", "例中", "值", "含义"),
        "{} 至 {}",
        ("大端序；例：`{example}`", "小端序，逐字段；例：`{example}`"),
        "{digits} 位：以 {start} 开头的是 `{layout}`",
        "2. {rules}；否则忽略（`version`）。",
        "；",
        "忽略的理由",
        "判断的理由",
        "最后 {n} 条只用于 `decode` 的参数。\n",
        ("代码", "文字"),
        formats_zh.TITLES,
        formats_zh.MEANINGS,
    ),
}


@dataclass(frozen=True, slots=True)
class _ClientsPage:
    """What the page of clients says around the words of the catalogue, in one language."""

    head: str
    constants: str
    constant: str
    comma: str
    columns: tuple[str, str]
    after: str


_CLIENTS = {
    "en": _ClientsPage(
        """\
# Clients

For readers of an ID: which client generated it, by which name, and which clients look the same.
[中文](clients.zh-CN.md)

`make docs` renders this page from the tables of words; a test holds it to them. The code is the column `maker` of the
tables. The loader of a Java client is a place in HotSpot's stream of hashes, which hints at JDK and launch.
""",
        "Constant loaders outside the stream: {loaders}.\n",
        "`{loader:08X}` ({name})",
        ", ",
        ("code", "words"),
        """\
## What cannot be distinguished

[accuracy.md](explanation/accuracy.md#clients) has how often the client is right.

- The Go client and messense/rocketmq-rs cannot be distinguished: one ID of either is the same.
- C++ 1.2.4 and later look like Java with an unusual loader, until the seed of rand() is found (`idcore/ids/seeds.py`,
  `decode --all`). A chance hit is one in 800.
- 5.x clients of most languages generate the same IDs. Rust differs (milliseconds of the month, lower case). So do C++
  before 5.1.0 (seconds reversed) and Java up to 5.0.2, if the line has a born time (seconds of the local 2021).
- Some of the other 5.x clients can be excluded. A sequence of 0 is not C#, and a MAC of zeros is C++ or Node.js. A MAC
  with the multicast bit is neither of these two, and a pid of 65,535 is not Node.js.
- The C# client from 5.2.0-rc1 to 5.2.0 writes a random MAC. One in two has no multicast bit and looks like a host's.
- The sequence of C++ before 5.1.0 begins at 0 each second. Nothing is counted as missing of it.
- Messages that came through rocketmq-mqtt have IDs of the MQTT server: host and pid are the gateway's.
- IDs of one input settle one another if one alone is open (`idcore/ids/neighbours.py`). If there is evidence for both
  interpretations, they stay open.
- Releases of the Java client differ in what they can write (`idcore/ids/generations.py`): pid 0, IPv6, link-local
  and loopback addresses, a time before the month.
""",
    ),
    "zh": _ClientsPage(
        """\
# 客户端

适用于解读 ID 的人：ID 由哪种客户端生成，各叫什么名称，哪些客户端无法区分。[English](clients.md)

`make docs` 按各语言的文字表生成本页，并有测试核对。代码即结果表中的 `maker` 列。Java 客户端的 loader 是 HotSpot
哈希序列中的一个位置，可由此推测 JDK 和启动方式。
""",
        "不在该序列中的固定 loader：{loaders}。\n",
        "`{loader:08X}`：{name}",
        "；",
        ("代码", "名称"),
        """\
## 哪些客户端无法区分

判断客户端类型的准确率见 [accuracy.md](explanation/accuracy.md#clients)（英文）。

- Go 客户端和 messense/rocketmq-rs 无法区分：单看一个 ID，两者相同。
- C++ 1.2.4 及以上版本看起来像 loader 少见的 Java 客户端，找出 rand() 的种子后才能区分（`idcore/ids/seeds.py`、
  `decode --all`）。偶然吻合的概率为 1/800。
- 多数语言的 5.x 客户端生成的 ID 相同。Rust 不同（自月初起的毫秒数，小写字母）。5.1.0 之前的 C++ 也不同
  （秒数的字节顺序相反）。Java 5.0.2 及以下版本也不同（从当地时间的 2021 年起算的秒数），
  前提是日志行中有产生时间（born）。
- 其余 5.x 客户端有的可以排除：序号为 0 的不是 C#；MAC 全为零的是 C++ 或 Node.js。带组播位的 MAC 不是这两者；进程号
  65,535 不是 Node.js。
- C# 客户端 5.2.0-rc1 至 5.2.0 写入随机的 MAC，其中一半没有组播位，看起来像真实主机。
- 5.1.0 之前的 C++ 客户端，序号每秒从 0 开始，因此不统计其缺失。
- 经 rocketmq-mqtt 转发的消息，ID 由 MQTT 服务器生成：主机和进程号是网关的。
- 同一输入中的 ID 可互相印证，前提是只有一方未定（`idcore/ids/neighbours.py`）。两种解读都有依据时，保持未定。
- Java 客户端各版本能写出的内容不同（`idcore/ids/generations.py`）：进程号 0、IPv6、链路本地地址和回环地址、
  早于月初的时间。
""",
    ),
}


@dataclass(frozen=True, slots=True)
class _FindingsPage:
    """What the page of findings says around the words of the catalogue, in one language."""

    head: str
    columns: tuple[str, str, str]
    severity: str
    info: str
    labels: tuple[str, str, str]  # of the meanings, of the advice, of what would disprove it
    after: str
    label: str
    example: str


_FINDINGS = {
    "en": _FindingsPage(
        """\
# Findings

For support engineers who got a finding: what it means, what to do, and when it is wrong.
[中文](findings.zh-CN.md)

[How they are decided](explanation/findings.md) and [how often they are right](explanation/accuracy.md) have their own
pages.

No finding means that no rule found a problem. It does not prove that every message arrived. Missing IDs alone do
not prove that messages were lost.

## What is checked

{table}
A note is `info` in tables and JSON. Below, names in code type are figures of the evidence. A bold word is a
variant, or a name under `also` in the evidence.
""",
        ("code", "finding", "severity"),
        "Severity: {severity}. {decided}",
        "{severity}; {note}: {variants}",
        ("What it says", "What to do", "It is wrong if"),
        "**{name}**, after the others: {text}",
        "**{name}**: {text}",
        "Generate an example: `{command}`.",
    ),
    "zh": _FindingsPage(
        """\
# 诊断

适用于收到一项诊断的技术支持人员：它是什么意思，应当怎么做，什么情况下它是误报。[English](findings.md)

[如何判定](explanation/findings.md)和[准确率](explanation/accuracy.md)另有专页（英文）。

“未查出问题”只说明没有规则查出问题，并不证明所有消息都已送达。仅有 ID 缺失，也不证明消息丢失。

## 检查哪些问题

{table}
“提示”在表格和 JSON 中写作 `info`。下文中代码字体的名称是证据中的数值；粗体词是诊断的变体，或证据中 `also` 下的名称。
""",
        ("代码", "诊断", "级别"),
        "级别：{severity}。{decided}",
        "{severity}；{note}：{variants}",
        ("含义", "怎么做", "何时是误报"),
        "**{name}**（在其他句子之后）：{text}",
        "**{name}**：{text}",
        "生成一个例子：`{command}`。",
    ),
}

_DECIDED = """\
# How findings are decided

For readers who doubt a finding: what the rules count, when they stay silent, and what they read in the lines.

`make docs` renders this page with the numbers of `idcore/answers/findings/limits.py`, which has the reason of each.
[findings.md](../findings.md) has every finding, [accuracy.md](accuracy.md) how often they are right.

## What is listed, and what is examined

`python -m idcore scan` judges its own tables and writes the table `findings`. A row has code, severity, subject,
count, evidence, values, certainty, first_sent_at and last_sent_at. Severity is error, warning or info; the pages call
info a note. Evidence is JSON: IDs, places, figures. A row has no sentence. Pages, reports and
`scan --format json --lang en|zh` (`finding_list`) make sentences of code and values.

The worst findings come first. Of each code and severity {subjects:,} subjects are listed, and one row counts the
rest. A row of variant `unseen` counts the subjects that were only counted, not examined. Of each kind the largest are
examined:

| what is examined | how many |
|---|---|
| processes with parallel counters | {examined:,} |
| processes whose points are read | {suspects:,} |
| IDs with copies | {copies:,} |
| brokers next to their neighbours | {brokers:,} |
| loaders, compared with the seeds of C++ | {loaders:,} |

- The end of a month is not a clock set back: elapsed that falls by more than 20 days is a new month.
- If a clock was set back, missing IDs are not judged, because the order of the IDs is unknown.
- The little-endian C++ client cuts its counter to eight bits: its counters are not judged.
- The PHP, pyrocketmq and ErQing clients do not count from the month: their times are not judged.

## Missing IDs: a hole, a sample, single gaps

Generated (`produced`) is the range of the counter, from the first to the last ID seen. Missing IDs were generated and
are not in the input. The rule (`gaps.py`) judges the gaps of each process by their widths:

- **A hole** is a gap that stands out among the usual gaps of the process. At least {side} IDs of its counter
  segment are on either side. It is a warning at any share. A gap with fewer IDs on one side is never a hole: it counts
  as the rest does, however wide it is.
- How wide is unusual? With few gaps, the bound follows from how often a gap occurs. Few means that at most one ID in
  {rare:.0f} has a gap below it, or fewer than {few} IDs have one. With many, it follows from their mean and their
  wider half. Chance passes the bound in fewer than one of a million processes.
- **A sample** is an even share: besides the holes more than a tenth is missing. A consumer of one of several topics
  has such a log.
- **Missing IDs**: at most a tenth is missing outside the holes. That is a warning too, and does not prove a loss.
- Holes in a sample are a warning that counts the holes alone. It says how much of the rest is in the input.

The evidence has the {gaps} widest gaps: the IDs around each, the counters from and to, how many. Only counters are
compared. A pause in sending is not a gap. A fall to 0 begins a new segment. Topics that come in runs of 20 messages and
more look like holes.

For a process with up to 1,500 IDs the table `counters` has every gap; above that, the 100 widest. The sentence of the
finding counts the missing IDs in the rest.

**Batches.** A batch of n messages uses n counters for its items and one more, the UNIQ_KEY of its n records. A
consumer's log shows only the batch's UNIQ_KEY. So an ID with n offsetMsgIds explains up to n missing counters right
below it. Each of these is at most {step} KiB behind the one before. A producer's log shows only the n item IDs: that
gap of 1 for each batch is counted as missing.

## When, where, and how sure

`first_sent_at` and `last_sent_at` are the time of the incident, if it is known:

| finding | its time |
|---|---|
| a clock set back | the moment of the change |
| restarts | the first IDs after them |
| wraps | the IDs at 0 |
| gaps | the first IDs after them |
| holes | the IDs on both sides |
| a shared fingerprint | the time in which two processes were alive |
| copies | their bornTimestamps |
| a new broker address | its first and last minute |
| a clock that is off | the born times of the records |
| consumer groups | the store times of the messages |
| everything else | the time of the IDs; empty if they have no date |

Times in sentences are in the zone of the scan on the command line, in the reader's zone on pages and in reports.

`places` in the evidence has file, line and byte of the first occurrence of each ID (`line_locations.py`). Inputs up
to {placed} MiB are read once more for this. The worst findings come first, until size times IDs reaches {searched}
MiB. IDs of larger inputs have no place in the table; the findings page looks for their lines when you open the
evidence. In front are the lines of deliveries that say it, without a byte. The same reading finds the host behind a
loopback or container address (bornHost) and a broker's name.

Some further sentences have a threshold:

- a failed send is between the last ID of the process and the gap, within {front} KiB;
- a pause before a new broker address is {minutes} minutes or more, and {times} times the usual pause;
- a crash loop is {starts} starts within {loop} s.

## What lines add

Tables count IDs and have no words. For copies and for labels in front of IDs, the scan takes a second, bounded look at
the text (`idcore/scan/lines.py`). Inputs up to 64 MiB are read whole, of larger ones 16 pieces of 1 MiB that are spread
evenly. If no ID has copies it is 8 MiB, and 16 pieces of 128 KiB.

- Of each copied ID it reads the printed MessageExt: topic, born time and host, store time, body CRC, KEYS, marks of
  a copy.
- The marks are reconsumeTimes, DELAY, REAL_TOPIC, ORIGIN_MESSAGE_ID and the prepared offset. A record with one, or
  in a system topic, is a copy of the broker's.
- Among the other records a difference makes a collision. Records without a difference are a repeated send.
- Records one right behind the other in one moment are a batch.
- Unseen lines are not guessed: copies on one broker are then stored_copies. The counts of id_confusion cover only the
  lines that were read.

SendResult lines of copied IDs are read as well: Java, Go and C++ print them, others write them as JSON. Two with
different offsetMsgIds in one normal topic are a repeated send. FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT and
SLAVE_NOT_AVAILABLE count too, because the broker has stored the message. A transaction prints `offsetMsgId=null`
and does not count. The topics of retries and delays do not count.

The application of a label is the logger of its line, else the file (`idcore/scan/printers.py`). A logger is a JSON or
logfmt field, or the name behind the level in the layouts of Spring Boot, logback, log4j and Python. A class name in
brackets counts too; the name of a thread does not. Up to 10,000 applications are counted separately, the rest together
as `…`.

Not every such ID is a mistake. The Node.js clients ali-ons and rocketmq and batches of the Go client 2.1.2 send no
UNIQ_KEY, so a consumer shows the offsetMsgId. If such a client sends a single message, the broker may generate its
UNIQ_KEY. Host, pid and loader in it are then usually those of the broker's JVM.

A line of more than 1 MiB is read in pieces. A record that is split by such a cut is seen in part or not at all.

The same look takes born and store times of up to 2,000 records in 8 MiB, whichever printer wrote them
(`idcore/scan/record_clocks.py`). Of a store folder it takes the first 120 records of 16 files. From these times
`broker_clocks.py` tells a constant shift from a step: a clock keeps a level, waiting does not. If some producers are
right by a broker, the others are off. If all of several are off alike, the broker is. For a single producer a
consumer's clock decides; without one both are named.

It also takes {line_times} lines that open with a time and print one msgId (`idcore/scan/line_clocks.py`).
`line_clocks.py` of the findings compares both times: a line is never written before its ID is generated. Lines that
report a send are judged apart from others, because their producer writes them.

A text of nothing but IDs, with commas between them, is a list and no log. So is a table of IDs below the names of its
columns: an export, not what a program logs. Nothing is missing from a list.

## Consumer groups of a store

These rules read the tables of a scanned store folder. `progress.py` reads `fates`, `progress`, `undelivered` and
`topics`; `retries.py` reads `retries` and `attempts`.
A folder shows one moment. A message waits if its group has not passed it.

- **A group no longer advances** if the topic went on for {still} minutes behind all that the group has passed. At least
  {fewest} messages wait. A slow group looks the same, so this is likely, not certain. If consumerOffset.json.bak has
  other offsets, the group advances, and the finding is info.
- **A message blocks a queue** if one queue waits that long, and the group passed later messages of other queues. A
  queue without a consumer looks the same.
- **An offset beyond the end** exceeds the queue by more than it gets in {skew} minutes, and by {ahead} messages.
  Offsets are copied after the commit log, so they may be ahead of it.
- **Messages are gone** if the offset is in front of the first message in the commit log. The broker deleted them, or
  the folder is a part of the commit log.
- **A topic that no group reads** has at least {fewest} messages, the first of them {still} minutes old. The store has
  offsets of groups in other topics.

The table `retries` has the failures of each group by minute; `retries.py` compares the minutes. A retry storm has
{storm} failed attempts, and {times_more} times as many for each message as other minutes. Dead letters rise if {dead}
messages are given up within some minutes, {times_more} times as many as in others. Chance makes such a window once in
a million. The log must have {least} minutes, of which a rise fills two thirds at most.

A message fails again and again if it has {retries} retries, 37 minutes by the default delays. If more than {poison} and
more than 1 % of a group's messages have so many, the messages are not the cause.

A broker keeps no earlier offsets. So a folder does not show that a group was reset to a place inside a queue, and no
rule guesses it.
"""


def _own_lengths(page: _FormatsPage) -> str:
    """The rule of the lengths that no msgId shares with an offsetMsgId: the version decides."""
    first = {layout: layout.fields[0] for layout in LAYOUTS.values() if layout.fields[0].always is not None}
    said = [
        page.own_length.format(digits=layout.digits, layout=layout, start=f"{field.always:0{2 * field.size}X}")
        for layout, field in first.items()
    ]
    return page.own.format(rules=page.clause.join(said))


def formats(lang: str = catalogue.ENGLISH) -> str:
    """The whole page."""
    page, said = _FORMATS[lang], catalogue.words(lang)
    parts = [page.head, f"## {page.layouts}\n", _overview(page)]
    parts += [_layout(layout, page) for layout in LAYOUTS.values()]
    parts.append(
        page.rule.format(
            digits=page.lengths,
            own=_own_lengths(page),
            version=CLIENT_START,
            port=rules.PORT_LIMIT,
            month=rules.LONGEST_MONTH_MS,
            slack=rules.ELAPSED_SLACK_MS,
            usual=USUAL_PLACES,
            least=look_alikes.LEAST,
            certain=CERTAIN_FROM,
            likely=LIKELY_FROM,
            stream=STREAM_LENGTH,
        )
    )
    parts.append(f"## {page.rejections}\n")
    parts.append(_words({code: said.table("error.")[code] for code in (*_REFUSED, *_OF_ARGUMENTS)}, page.columns))
    parts.append(page.last.format(n=len(_OF_ARGUMENTS)))
    parts += [f"## {page.reasons}\n", _words(said.table("reason."), page.columns)]
    return "\n".join(parts)


def clients(lang: str = catalogue.ENGLISH) -> str:
    """The whole page of clients."""
    page, names = _CLIENTS[lang], catalogue.words(lang).table("client.")
    known = (page.constant.format(loader=loader, name=names[code]) for loader, code in KNOWN_CONSTANTS.items())
    constants = page.constants.format(loaders=page.comma.join(known))
    return "\n".join([page.head, constants, _words(names, page.columns), page.after])


def findings(lang: str = catalogue.ENGLISH) -> str:
    """The whole page of findings."""
    page, words = _FINDINGS[lang], catalogue.words(lang)
    rows = (
        (f"[{rule.code}](#{slug(_title(rule, words))})", words(f"finding.{rule.code}"), _severity(rule, page, words))
        for rule in RULES.values()
    )
    table = reference.table(page.columns, rows)
    return "\n".join([page.head.format(table=table), *(_rule(rule, page, words) for rule in RULES.values())])


def decided() -> str:
    """The whole page of how findings are decided."""
    return _DECIDED.format(
        subjects=limits.MOST_SUBJECTS,
        examined=limits.MOST_EXAMINED,
        suspects=limits.MOST_SUSPECTS,
        copies=limits.MOST_COPIES,
        brokers=limits.MOST_BROKERS,
        line_times=line_clocks.MOST_LINES,
        loaders=limits.MOST_SEED_LOADERS,
        side=limits.HOLE_SIDE_IDS,
        rare=1 / limits.RARE_GAPS,
        few=limits.FEW_GAPS,
        gaps=limits.MOST_GAPS,
        step=limits.BATCH_STEP_BYTES >> 10,
        placed=limits.MOST_PLACED >> 20,
        searched=limits.MOST_SEARCHED >> 20,
        front=limits.MOST_IN_FRONT >> 10,
        minutes=limits.SILENT_MINUTES,
        times=limits.SILENT_TIMES,
        starts=limits.LOOP_STARTS,
        loop=limits.LOOP_MS // 1000,
        still=limits.STILL_MS // 60_000,
        fewest=limits.STILL_MESSAGES,
        skew=limits.COPY_SKEW_MS // 60_000,
        ahead=limits.COPY_SKEW_MESSAGES,
        storm=limits.STORM_TRIES,
        dead=limits.DEAD_LETTERS,
        times_more=limits.RISE_TIMES,
        least=limits.RISE_MINUTES,
        retries=limits.POISON_RETRIES,
        poison=limits.POISON_MESSAGES,
    )


def _severity(rule: Rule, page: _FindingsPage, words: Words) -> str:
    variants = ", ".join(f"`{variant}`" for variant in rule.info_variants)
    severity, note = (words(f"severity.{one}").lower() for one in (rule.severity, "info"))
    return page.info.format(severity=severity, note=note, variants=variants) if variants else severity


def _title(rule: Rule, words: Words) -> str:
    """What the pages call a finding, and its code."""
    return f"{words(f'finding.{rule.code}')} (`{rule.code}`)"


def _rule(rule: Rule, page: _FindingsPage, words: Words) -> str:
    """The section of one code."""
    name, _, variant = rule.incident.partition("/")
    command = f"python -m idcore make incident {name} --variant {variant} --out {name}.log"
    if rule.of_store:
        command = f"python -m idcore make store --situation {name} --variant {variant} --out {name}"
    meanings = (*_said(rule, "meaning", page, words), *_further(rule, page, words))
    said = (meanings, _said(rule, "advice", page, words), _said(rule, "disproof", page, words))
    decided = words.template(f"decided.{rule.code}").format(**_FIGURES)
    severity = page.severity.format(severity=_severity(rule, page, words), decided=decided)
    lines = [f"### {_title(rule, words)}", "", severity, ""]
    for label, texts in zip(page.labels, said, strict=True):
        lines += [words("colon", name=label).rstrip(), "", *(f"- {text}" for text in texts), ""]
    return "\n".join([*lines, page.example.format(command=command), ""])


def _said(rule: Rule, part: str, page: _FindingsPage, words: Words) -> Iterator[str]:
    """The sentences of a part: of the code, then of its variants."""
    for name in ("", *rule.variants, *rule.also):
        key = f"{part}.{rule.code}.{name}" if name else f"{part}.{rule.code}"
        if words.has(key):
            text = _filled(words.template(key))
            yield page.label.format(name=name, text=text) if name else text


def _further(rule: Rule, page: _FindingsPage, words: Words) -> Iterator[str]:
    for name in rule.also:
        text = _filled(words.template(f"also.{name}")).lstrip(". 。")
        yield page.after.format(name=name, text=text)


def _filled(template: str) -> str:
    """A template with the names of its figures, in the plural."""
    return "".join(
        literal + ("" if name is None else f"`{name}`") for literal, name, _, _ in Formatter().parse(template)
    )


def _overview(page: _FormatsPage) -> str:
    return reference.table(
        page.of_layouts,
        (
            (
                f"`{layout.name}`",
                str(layout.size),
                str(layout.digits),
                ", ".join(f"{field.name} {field.size}" for field in layout.fields),
                title,
            )
            for layout, title in zip(LAYOUTS.values(), page.titles, strict=True)
        ),
    )


def _layout(layout: Layout, page: _FormatsPage) -> str:
    text = layout.example
    message_id = from_bytes(bytes.fromhex(text), layout, text)
    rows = []
    for field, span in zip(layout.fields, layout.spans, strict=True):
        name = "physical_offset" if field.name == "offset" else field.name
        value = field.always if field.always is not None else getattr(message_id, name)
        if field.name == "ip":
            shown = message_id.host
        elif isinstance(value, bytes):
            shown = value.hex(":")
        elif field.name == "loader":
            shown = f"{value:08X}"
        else:
            shown = str(value) if field.name in _NAMES_NOT_COUNTS else f"{value:,}"
        places = f"{span.start}" if field.size == 1 else page.to.format(span.start, span.stop - 1)
        digits = page.to.format(2 * span.start + 1, 2 * span.stop)
        names = (f"{layout.byteorder}.{field.name}", f"{message_id.kind}.{field.name}", field.name)
        meaning = next((page.meanings[name] for name in names if name in page.meanings), field.meaning)
        rows.append((field.name, places, digits, f"`{text[2 * span.start : 2 * span.stop]}`", shown, meaning))
    order = page.orders[layout.byteorder == "little"].format(example=text)
    return f"### {layout.name}\n\n{order}\n\n{reference.table(page.of_fields, rows)}"


def _words(words: Mapping[str, str], columns: tuple[str, str] = ("code", "words")) -> str:
    return reference.table(columns, ((f"`{code}`", template) for code, template in words.items()))


def settings(page: str) -> str:
    """The page of settings with its two tables; the rest of it is written by hand."""
    variables = ((f"`{row['name']}`", row["shown"], row["meaning"]) for row in ROWS.values())
    page = _with_table(page, "settings", reference.table(("variable", "default", "meaning"), variables))
    rows = (
        (
            f"`{row.setting}`",
            row.usual,
            {"visitor": "each visitor", "all": "all together"}[row.whose],
            row.unit,
            row.meaning,
        )
        for row in console_limits.LIMITS.values()
    )
    limits_table = reference.table(("variable", "default", "of whom", "unit", "what is limited"), rows)
    return _with_table(page, "limits", limits_table)


def _with_table(page: str, name: str, table: str) -> str:
    """A page with the table between its two comments."""
    begin, end = f"<!-- {name}: make docs renders them -->", f"<!-- end of the {name} -->"
    (head, rest), tail = page.split(begin), page.partition(end)[2]
    assert end in rest
    return f"{head}{begin}\n\n{table}\n{end}{tail}"


_ACCESS = """\
# Roles and permissions

For administrators: which role may do what in a console with a log-in, and what nobody may do.

`make docs` renders this page from `idcore/policy/access.py`. Pages, lists, buttons and functions ask the same table.
A test tries each role at each page and each action. [Let people log in](how-to/log-in.md) has how people get roles.
Without a log-in there is one visitor, who has all roles.

| role | for people who |
|---|---|
{roles}

A person may have several roles. Who has none sees no page.

| permission | {names} | pages |
|---|{lines}---|
{rows}

Whose a scan is:

- A scan is its owner's. It is private until the owner shares it: with those who have its link, or with everybody.
- Only its owner and an admin can rename, pin, stop, share or delete a scan.
- A scan that was made without a log-in has no owner. With a log-in it is an admin's, who may share it.
- A comparison of two scans has an answer of its own. Who shares it shares the IDs and figures in it.
- A link to a scan that one may not open says the same as a link to one that does not exist.
"""


def access() -> str:
    """The page of roles and permissions."""
    rows = []
    for one in PERMISSIONS.values():
        marks = " | ".join("yes" if role in one.roles else "" for role in ROLES)
        pages = ", ".join(page for page in one.pages if page != "home")
        rows.append(f"| {one.covers} | {marks} | {pages} |")
    roles = "\n".join(f"| `{role}` | {what} |" for role, what in ROLES.items())
    names = " | ".join(f"`{role}`" for role in ROLES)
    return _ACCESS.format(roles=roles, names=names, lines="---|" * len(ROLES), rows="\n".join(rows))


def main() -> None:
    """Writes the pages."""
    pages = {
        FORMATS: formats(),
        FORMATS_ZH: formats("zh"),
        CLIENTS: clients(),
        CLIENTS_ZH: clients("zh"),
        FINDINGS: findings(),
        FINDINGS_ZH: findings("zh"),
        DECIDED: decided(),
        CLI: reference.commands(),
        TABLES: reference.tables(),
        SETTINGS: settings(SETTINGS.read_text(encoding="utf-8")),
        ACCESS: access(),
    }
    for path, page in pages.items():
        path.write_text(page, encoding="utf-8")

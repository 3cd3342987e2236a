"""docs/formats.md, rendered from the layouts and the tables of words: `python -m idcore.cli.docs`. Adds no fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from idcore.catalogue import words
from idcore.ids import from_bytes, rules
from idcore.ids.makers import KNOWN_CONSTANTS, STREAM_LENGTH
from idcore.ids.scoring import CERTAIN_FROM, LIKELY_FROM
from idcore.layout import LAYOUTS, Layout

FORMATS = Path(__file__).resolve().parent.parent.parent / "docs" / "formats.md"

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


def formats() -> str:
    """The whole page."""
    parts = [_HEAD, "## Layouts\n", _overview()]
    parts += [_layout(layout) for layout in LAYOUTS.values()]
    digits = sorted(rules.CANDIDATE_DIGITS)
    parts.append(_RULE.format(
        digits=f"{digits[0]}, {digits[1]} or {digits[2]}", port=rules.PORT_LIMIT, month=rules.LONGEST_MONTH_MS,
        slack=rules.ELAPSED_SLACK_MS, certain=CERTAIN_FROM, likely=LIKELY_FROM, stream=STREAM_LENGTH))  # fmt: skip
    parts.append("## Refusals\n")
    parts.append(_words({code: words().table("error.")[code] for code in (*_REFUSED, *_OF_ARGUMENTS)}))
    parts.append(f"The last {len(_OF_ARGUMENTS)} occur for arguments of `decode` only.\n")
    parts += ["## Reasons\n", _words(words().table("reason."))]
    clients = words().table("client.")
    constants = ", ".join(f"`{loader:08X}` ({clients[code]})" for loader, code in KNOWN_CONSTANTS.items())
    parts += ["## Makers\n", f"Loaders outside the stream that are constants: {constants}.\n", _words(clients)]
    return "\n".join(parts)


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
    """Writes the page."""
    FORMATS.parent.mkdir(exist_ok=True)
    FORMATS.write_text(formats(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""What printed lines show about ids: the record behind each copy, the names in front of offsetMsgIds. Guesses nothing.

The scan itself counts ids and reads no words. This second look reads small inputs whole, and of large ones pieces that
are spread evenly; what it does not see stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from idcore.base.layout import ID_DIGITS, OFFSET_DIGITS, UNIQ_V4_LE
from idcore.ids import rules
from idcore.ids.clock import is_time
from idcore.ids.delivery import STATUSES
from idcore.ids.identify import identify
from idcore.ids.lists import is_list_of_ids, is_table_of_ids
from idcore.scan import broker_names, line_clocks, message_keys, printers, record_clocks, send_failures
from idcore.scan.deliveries import DeliveryClaim, DeliveryLook
from idcore.scan.line_clocks import LineTime
from idcore.scan.message_keys import KeyedMessage, KeyLook
from idcore.scan.record_clocks import Stamp
from idcore.scan.send_failures import FailureLook, SendFailure
from idcore.sources.inputs import InputFile, shown, split_files, walk

# Inputs up to so many bytes are looked at whole, at some 80 MB a second: where ids have copies, and where only names
# are looked for. Of larger ones a scan of a gigabyte, which takes a second, can spare less.
MOST_BYTES, SAMPLED_BYTES = 64 << 20, 16 << 20
MOST_BYTES_FOR_NAMES, SAMPLED_BYTES_FOR_NAMES = 8 << 20, 2 << 20
MOST_IDS = 20_000
MOST_FILES = 256
MOST_BATCHES = 100_000
# So many applications are distinguished by the names that they print in front of ids; the rest is counted together.
MOST_APPLICATIONS = 10_000
_PIECES = 16
_LONGEST_LINE = 1 << 20

_HEX = rules.CANDIDATE.encode()
_KEY = re.compile(rb"UNIQ_KEY=(" + _HEX + rb")(?![0-9A-Fa-f])")
_START = b"MessageExt ["
_OFFSET = re.compile(rb"[, \[]msgId=([0-9A-F]{%d,%d}), ?(?:commitLogOffset|bodyCRC)=" % (ID_DIGITS[0], ID_DIGITS[-1]))
# A host name and a slash may be before the address (InetSocketAddress.toString). Every repeat is bounded: a line that
# is not a record must not cost more than its length.
BORN_HOST = re.compile(rb"bornHost=(?:[^/,\s]{0,255}/)?([^\s,]{1,64}?):\d{1,5},")
_FIELDS = {
    "topic": re.compile(rb"toString\(\)=Message ?[{\[]topic='?([^',]*)'?"),
    "born": re.compile(rb"bornTimestamp=(\d{1,15}),"),
    "born_host": BORN_HOST,
    "stored": re.compile(rb"storeTimestamp=(\d{1,15}),"),
    "size": re.compile(rb"storeSize=(\d{1,10}),"),
    "crc": re.compile(rb"bodyCRC=(\d{1,10}),"),
    "key": re.compile(rb"[{ ]KEYS=([^,}]*)"),
}
_NUMBERS = ("born", "stored", "size", "crc")
# Marks of a record that a broker or a consumer made from another one. A retry that waits is also a delay, and half a
# transaction has a real topic too: the clearest mark comes first.
_AGAIN = {
    "transaction": re.compile(rb"preparedTransactionOffset=[1-9]|[{ ]TRAN_MSG="),
    "retry": re.compile(rb"reconsumeTimes=[1-9]|[{ ](?:RECONSUME_TIME|ORIGIN_MESSAGE_ID|RETRY_TOPIC)="),
    "delay": re.compile(rb"[{ ](?:DELAY|TIMER_[A-Z_]+|REAL_TOPIC)="),
}
# The consumer group whose thread printed a line, and the host that syslog, a shipper of logs or kubectl put in front.
_THREAD = re.compile(rb"ConsumeMessageThread_([^\s\[\]]{1,99})_\d+\b")
_PRINTED_ON = re.compile(
    rb"^(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([A-Za-z0-9][\w.:-]{0,252}) "
    rb"|^<\d{1,3}>1 \S+ ([A-Za-z0-9][\w.:-]{0,252}) "
    rb"|^\[pod/([a-z0-9][a-z0-9.-]{0,252})/[a-z0-9-]+\] "
    rb"|\"(?:hostname|host|pod_name|_HOSTNAME)\"\s?:\s?(?:{\s?\"name\"\s?:\s?)?\"([A-Za-z0-9][\w.:-]{0,252})\""
    rb"|\b(?:hostname|pod_name|_HOSTNAME)=\"?([A-Za-z0-9][\w.:-]{0,252})"
)
_LONGEST_HEAD = 4 << 10
_HEAD = 1 << 16  # bytes of a text in which a table is told from a log
# What follows the msgId of a MessageExt; a program that builds the text itself may leave the first one out.
# In a MessageExt behind its msgId, and in front: of one field a line a mail, a comment or a table has a margin between.
_MARGIN = rb"[\s>*#/|]{0,80}"
_BEHIND_OFFSET = re.compile(rb"\\?\"?\s{0,2},?" + _MARGIN + rb"\\?\"?(?:commitLogOffset|bodyCRC)\\?\"?\s?[=:]")
_BEFORE_OFFSET = re.compile(rb"storeHost\\?\"?\s?[=:][^=,\n]{1,60}," + _MARGIN + rb"\\?\"?\Z")
# SendResult as Java, Go and C++ print it, or as JSON (in which quotes may be escaped). The ids of a batch are joined by
# commas; a transaction has no offsetMsgId.
_SENT_WORD = b"offsetMsgId"
_IS = rb"\\?[\"']?\s?[=:]\s?\\?[\"']?"
_SENT_OFFSETS = re.compile(rb"offsetMsgIds?" + _IS + rb"(" + _HEX + rb"(?:," + _HEX + rb")*)(?![0-9A-Fa-f])")
_SENT_IDS = re.compile(rb"\bmsgIds?" + _IS + rb"(" + _HEX + rb"(?:," + _HEX + rb")*)(?![0-9A-Fa-f])")
_JOINED_IDS = re.compile(rb"\bmsgIds?" + _IS + _HEX + rb"(?:," + _HEX + rb"){0,999},(" + _HEX + rb")(?![0-9A-Fa-f,])")
_SENT_STATUS = re.compile(rb"sendStatus" + _IS + rb"([A-Z_]{3,40}|\d)\b")
_SENT_TOPIC = re.compile(rb"\btopic" + _IS + rb"([^,\]\"'\\\s}]{1,255})")
# In these a broker has stored the record; the Go and C++ clients print the number (SendStatus of each client).
_SENT_BEFORE, _SENT_BEHIND = 1 << 16, 1 << 11
_BEFORE_NAME = 160  # bytes in front of a name in which the field before it may be
_NAMED = re.compile(
    rb"\b(msgIds?|messageId|UNIQ_KEY|__transactionId__|transactionId)[\"']?\s?[=:]\s?[\"']?"
    rb"((?:[0-9A-F]{24})?[0-9A-F]{8}0000[0-9A-F]{20})(?![0-9A-Fa-f])"
)


@dataclass(frozen=True, slots=True)
class Record:
    """What a printed MessageExt says of one stored record; None where it does not."""

    topic: str | None = None
    born: int | None = None
    born_host: str | None = None
    stored: int | None = None
    size: int | None = None
    crc: int | None = None
    key: str | None = None
    again: str = ""  # transaction, retry, delay: why a broker or a consumer made it from another record
    group: str | None = None  # of a retry: the consumer group whose thread printed it
    host: str | None = None  # of a retry: the host that its line names as its own
    status: str | None = None  # of a record that only a SendResult shows: its sendStatus

    def __post_init__(self) -> None:
        for name in ("born", "stored"):
            if not is_time(getattr(self, name) or 0):  # in any line or record, it is not a time
                object.__setattr__(self, name, None)


@dataclass(slots=True)
class Named:
    """The offsetMsgIds behind one name that one application prints: how many were seen, and the first of them."""

    label: str
    context: str
    ids: int
    sample: str
    file: str
    logger: str | None = None  # without one, the file is the application

    @property
    def application(self) -> str:
        """The logger that prints them, or else the file."""
        return self.logger or self.file


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of one text: how many bytes and lines of it are before them; -1 behind a cut."""

    file: str
    byte: int
    line: int
    text: bytes


@dataclass(slots=True)
class LineEvidence:
    """What the log lines contain: msgId -> offsetMsgId -> record, and offsetMsgIds behind names of msgIds."""

    records: dict[str, dict[str, Record]] = field(default_factory=dict)
    names: dict[tuple[str, str, str], Named] = field(default_factory=dict)
    last_items: set[str] = field(default_factory=set)  # the last msgId of each batch that was sent, upper case
    deliveries: list[DeliveryClaim] = field(default_factory=list)  # what lines say of deliveries
    delivery_bytes: int = 0  # of the text that was read for them
    is_full: bool = False  # so many of these lines were read that others were left out
    bytes: int = 0
    whole: bool = True
    stamps: dict[str, list[Stamp]] = field(default_factory=dict)  # of each broker, by its address
    line_times: dict[tuple[str, str], list[LineTime]] = field(default_factory=dict)  # of each file and host
    is_list: bool = False  # nothing but ids was seen: their order and their gaps show nothing
    broker_names: dict[str, set[str]] = field(default_factory=dict)  # of each address that a line names
    keys: dict[str, KeyedMessage] = field(default_factory=dict)  # of each msgId, upper case
    send_failures: list[SendFailure] = field(default_factory=list)
    is_part: bool = False  # for these two lines were left out

    def summary(self, text_bytes: int) -> dict[str, Any]:
        """What the summary of a scan says of its lines: a list of ids; what was not read; the names of brokers."""
        is_sample = bool(self.bytes) and (self.is_full or not self.whole)
        read = {"bytes": min(self.delivery_bytes, text_bytes), "of": text_bytes, "lines": len(self.deliveries)}
        names = {address: ", ".join(sorted(own)) for address, own in sorted(self.broker_names.items())}
        figures: dict[str, Any] = {"is_list": True} if self.is_list else {}
        figures |= {"deliveries_sampled": read} if is_sample else {}
        return figures | ({"broker_names": names} if names else {})


def look(files: Sequence[InputFile], ids: Collection[str], check: Callable[[], None] = lambda: None) -> LineEvidence:
    """Looks for the records of some ids, given in upper case, and for the names in front of offsetMsgIds.

    `check` is called with each piece of text, and may raise.
    """
    evidence = LineEvidence()
    wanted = {one.encode() for one in ids}
    whole, sampled = (MOST_BYTES, SAMPLED_BYTES) if wanted else (MOST_BYTES_FOR_NAMES, SAMPLED_BYTES_FOR_NAMES)
    size = sum(file.size for file in files)
    most, looked = whole if size <= whole else sampled, DeliveryLook(size <= whole)
    keyed, failures = KeyLook(), FailureLook()
    lists: list[bool] = []
    for piece in texts(files, most, evidence):
        check()
        if all(lists):  # of a log the first piece shows that it is none
            lists.append(_is_list(piece))
        _names(piece.text, piece.file, evidence)
        looked.take(piece.file, piece.line, piece.text)
        _stamps(piece.text, min(most, size), evidence)
        _line_times(piece, min(most, size), evidence)
        share = len(piece.text) / max(1, min(most, size))
        keyed.take(piece.file, piece.line, piece.text, ceil(message_keys.MOST_LINES * share))
        failures.take(piece.file, piece.line, piece.text, ceil(send_failures.MOST_LINES * share))
        broker_names.take(piece.text, evidence.broker_names)
        if len(evidence.last_items) < MOST_BATCHES:
            evidence.last_items.update(match[1].decode().upper() for match in _JOINED_IDS.finditer(piece.text))
        if wanted:
            _records(piece.text, wanted, evidence)
            _sends(piece.text, wanted, evidence)
    looked.end()
    evidence.deliveries, evidence.delivery_bytes, evidence.is_full = looked.told, looked.bytes, looked.is_full
    evidence.keys, evidence.send_failures = keyed.messages, failures.failures
    evidence.is_part = not evidence.whole or keyed.is_full or failures.is_full
    evidence.is_list = bool(lists) and all(lists)
    return evidence


def _is_list(piece: Piece) -> bool:
    """Whether lines have ids alone, or are rows of a table of them below the names of its columns.

    A log may be written as a table, too: a program that does so names no columns. The first rows tell most logs.
    """
    text = piece.text
    head = text[: text.rfind(b"\n", 0, _HEAD) + 1 or _HEAD].decode("utf-8", "replace")
    is_headed = piece.byte != 0 or not is_table_of_ids(head.partition("\n")[0])
    if not (is_headed and is_table_of_ids(head)):
        return is_list_of_ids(text.decode("utf-8", "replace")) or not text.strip()
    return len(text) <= _HEAD or is_table_of_ids(text.decode("utf-8", "replace"))


def _stamps(text: bytes, of_bytes: int, evidence: LineEvidence) -> None:
    """Born and store times; of more bytes than are looked at the beginning of each piece."""
    beginning = text[: len(text) * record_clocks.MOST_BYTES // max(of_bytes, record_clocks.MOST_BYTES) + 1]
    share = record_clocks.MOST_LOOKED_AT * len(text) // max(1, of_bytes) + 1
    for broker, stamp in record_clocks.stamps(beginning, share):
        if broker in evidence.stamps or len(evidence.stamps) < record_clocks.MOST_BROKERS:
            own = evidence.stamps.setdefault(broker, [])
            if len(own) < record_clocks.MOST_RECORDS:
                own.append(stamp)


def _line_times(piece: Piece, of_bytes: int, evidence: LineEvidence) -> None:
    share = line_clocks.MOST_LINES * len(piece.text) // max(1, of_bytes) + 1
    for one in line_clocks.line_times(piece.text, share):
        key = piece.file, one.host
        if key in evidence.line_times or len(evidence.line_times) < line_clocks.MOST_HOSTS:
            evidence.line_times.setdefault(key, []).append(one)


def texts(files: Sequence[InputFile], most: int, evidence: LineEvidence) -> Iterator[Piece]:
    """Whole lines, as long as there are bytes left: of small inputs all, of large ones pieces spread evenly."""
    evidence.whole = len(files) <= MOST_FILES
    if not evidence.whole:
        files = [files[k * len(files) // MOST_FILES] for k in range(MOST_FILES)]
    total = sum(file.size for file in files)
    evidence.whole = evidence.whole and total <= most
    piece = max(1 << 16, total if total <= most else most // _PIECES)
    splits = split_files(files, piece)
    if total > most and len(splits) > _PIECES:
        splits = [splits[k * len(splits) // _PIECES] for k in range(_PIECES)]
    for where, windows, _ in walk(splits):
        if windows is None:
            continue
        name = files[where.number].shown + shown(where.member)
        rest = b"" if windows.origin + windows.at <= 0 else None  # behind a cut the first line is not whole
        byte, line = (-1, -1) if rest is None else (0, 0)
        while evidence.bytes < most:
            limit = min(windows.slide(), windows.stop - windows.origin)
            text = bytes(windows.view[windows.at : limit])
            windows.at = limit
            evidence.bytes += len(text)
            head, feed, tail = text.rpartition(b"\n")
            if rest is None:
                head = head.partition(b"\n")[2]
            if feed or len(rest or b"") + len(text) > _LONGEST_LINE:
                lines = (rest or b"") + head + feed
                yield Piece(name, byte, line, lines)
                if byte >= 0:
                    byte, line = byte + len(lines), line + lines.count(b"\n")
                rest = tail
            elif rest is not None:
                rest += text
            if windows.origin + windows.at >= windows.stop or (windows.ended and windows.at >= windows.filled):
                break
        if rest:
            yield Piece(name, byte, line, rest)
        if evidence.bytes >= most:
            evidence.whole = False
            return


def _records(text: bytes, wanted: set[bytes], evidence: LineEvidence) -> None:
    """Each printed record up to its line's end or the next one: every byte is looked at once, however lines are cut."""
    start, seen, head = text.find(_START), 0, b""
    while start >= 0:
        line = text.rfind(b"\n", seen, start) + 1
        if line or not seen:  # of a line that prints several records the head is before the first
            head = text[line : min(start, line + _LONGEST_HEAD)]
        following = text.find(_START, start + 1)
        stop = following if following >= 0 else len(text)
        end = text.find(b"\n", start, stop)
        segment = text[start : end if end >= 0 else stop]
        keys = {match[1].upper() for match in _KEY.finditer(segment)} & wanted
        offset = _OFFSET.search(segment) if keys else None
        if offset is not None:
            record = _record(segment)
            if record.again == "retry":
                record = _read_by(head, record)
            for key in sorted(keys):
                evidence.records.setdefault(key.decode(), {})[offset[1].decode()] = record
        start, seen = following, start + 1


def _sends(text: bytes, wanted: set[bytes], evidence: LineEvidence) -> None:
    """Each printed SendResult, its parts looked for up to the results on either side: every byte a few times."""
    at, done, line, looked = text.find(_SENT_WORD), 0, 0, 0
    while at >= 0:
        following = text.find(_SENT_WORD, at + 1)
        line, looked = text.rfind(b"\n", looked, at) + 1 or line, at
        end = text.find(b"\n", at, following if following >= 0 else len(text))
        stop = end if end >= 0 else following if following >= 0 else len(text)
        offsets = _SENT_OFFSETS.match(text, at, stop)
        if offsets is not None:
            start = max(line, done, at - _SENT_BEFORE)
            done = offsets.end()
            _sent(text, (start, at), (done, min(stop, done + _SENT_BEHIND)), offsets[1].split(b","), wanted, evidence)
        at = following


def _sent(
    text: bytes,
    before: tuple[int, int],
    behind: tuple[int, int],
    offsets: list[bytes],
    wanted: set[bytes],
    evidence: LineEvidence,
) -> None:
    """Takes in one SendResult: what is in front of its offsetMsgIds, and what is behind them."""

    def near(pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        return next(iter(list(pattern.finditer(text, *before))[-1:]), None) or pattern.search(text, *behind)

    ids = near(_SENT_IDS)
    keys = [] if ids is None else ids[1].upper().split(b",")
    if len(keys) != len(offsets) or not wanted.intersection(keys):
        return
    status = near(_SENT_STATUS)
    status_text = "" if status is None else status[1].decode()
    stored = STATUSES[int(status_text)] if status_text.isdigit() and int(status_text) < len(STATUSES) else status_text
    if stored not in STATUSES:
        return
    as_json = text[before[1] - 1 : before[1]] == b'"'  # its fields are in any order, elsewhere the queue comes last
    topic = (None if as_json else _SENT_TOPIC.search(text, *behind)) or near(_SENT_TOPIC)
    record = Record(topic[1].decode("utf-8", "replace") if topic else None, status=stored)
    for key, offset in zip(keys, offsets, strict=True):
        if key in wanted:  # a printed MessageExt of the same record says more
            evidence.records.setdefault(key.decode(), {}).setdefault(offset.decode().upper(), record)


def _record(segment: bytes) -> Record:
    values: dict[str, str | int] = {}
    for name, pattern in _FIELDS.items():
        match = pattern.search(segment)
        if match is not None:
            values[name] = int(match[1]) if name in _NUMBERS else match[1].decode("utf-8", "replace")
    again = next((kind for kind, marks in _AGAIN.items() if marks.search(segment)), "")
    return Record(**values, again=again)  # type: ignore[arg-type]


def _read_by(head: bytes, record: Record) -> Record:
    """A record with the group and the host from the text in front of it in its line."""
    thread, host = _THREAD.search(head), _PRINTED_ON.search(head)
    return replace(
        record,
        group=thread[1].decode("utf-8", "replace") if thread else None,
        host=next(filter(None, host.groups())).decode("utf-8", "replace") if host else None,
    )


def _named(text: bytes) -> Iterator[re.Match[bytes]]:
    """What `_NAMED` finds, in its order; it is tried only where one of its words occurs, in a third of the time."""
    starts: set[int] = set()
    for word in (b"msgId", b"messageId", b"UNIQ_KEY", b"transactionId"):
        at = text.find(word)
        while at >= 0:
            starts.add(at - 2 if text.startswith(b"__", at - 2) and at >= 2 else at)
            at = text.find(word, at + 1)
    for start in sorted(starts):
        match = _NAMED.match(text, start)
        if match is not None:
            yield match


def _is_only_id(text: bytes, match: re.Match[bytes], context: str) -> bool:
    """Whether an offsetMsgId is all that its client has: a SendResult without a second ID, a record without UNIQ_KEY.

    Clients before 3.5.8 print these. A line that was cut, or that an application has put together, shows nothing.
    """
    start = max(text.rfind(b"\n", 0, match.start()), match.start() - _SENT_BEFORE, 0)
    end = text.find(b"\n", match.end(), match.end() + _SENT_BEFORE)
    end = end if end >= 0 else min(len(text), match.end() + _SENT_BEFORE)
    if context == "message_ext":
        following = text.find(_START, match.end(), end)
        record = text[match.end() : following if following >= 0 else end]
        return b"properties={" in record and b"UNIQ_KEY" not in record
    line = text[start:end]
    return b"sendStatus" in line and b"messageQueue" in line and b"offsetMsgId" not in line


def _names(text: bytes, file: str, evidence: LineEvidence) -> None:
    printer = printers.Printer(text)
    for match in _named(text):
        label, digits = match[1].decode(), match[2].decode()
        is_printed = _BEHIND_OFFSET.match(text, match.end()) or (
            _BEFORE_OFFSET.search(text, max(0, match.start() - _BEFORE_NAME), match.start())
        )
        context = "message_ext" if is_printed else "other"
        if _is_only_id(text, match, context):
            context = "only_id"
        # In a MessageExt the name's own place is proof, but of a C++ client's msgId, which as an offset is large.
        if context != "message_ext" or int(digits[-OFFSET_DIGITS:], 16) >= rules.LARGE_OFFSET:
            readings = identify(digits, label).readings
            if not readings or readings[0].kind != "offset" or any(o.id.layout is UNIQ_V4_LE for o in readings):
                continue
        logger = printer.logger(match.start())
        key = (label, context, f"logger {logger}" if logger else f"file {file}")
        if key not in evidence.names and len(evidence.names) >= MOST_APPLICATIONS:
            key, logger = (label, context, ""), printers.OTHERS
        known = evidence.names.setdefault(key, Named(label, context, 0, digits, file, logger))
        known.ids += 1
        if file < known.file:  # independent of the order of files
            known.file, known.sample = file, digits

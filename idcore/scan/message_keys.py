"""Message keys (KEYS) beside msgIds in lines: which message has which key, topic, tag and body. Judges none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from idcore.base.encodings import text_of
from idcore.ids import rules
from idcore.ids.delivery import DEAD_PREFIX, RETRY_PREFIX
from idcore.ids.line_moments import prefix_time
from idcore.scan.line_search import lines_with, place_of

MOST_LINES = 10_000  # that are read: each takes some 15 microseconds
_LONGEST_LINE, _HEAD = 1 << 16, 96
_WORDS = (b"KEYS", b"key", b"Key")
_IS = rb"\\?[\"']?\s?[=:]\s?\[?\\?[\"']?"
# KEYS of printed properties may be several with blanks between; elsewhere a blank ends them.
_KEYS = re.compile(
    rb"(?<![A-Za-z0-9_.-])(?:KEYS" + _IS + rb"([^,;{}\[\]\"'\\\n]{1,256})"
    rb"|(?:(?:msg_?|message_?)?keys?|(?:msg|message|Msg|Message)Keys?|Keys?)" + _IS + rb"([^\s,;{}\[\]\"'\\]{1,256}))"
)
_HEX = rules.CANDIDATE.encode()
_UNIQ_KEY = re.compile(rb"UNIQ_KEY" + _IS + rb"(" + _HEX + rb")(?![0-9A-Fa-f])")
_MSG_ID = re.compile(rb"(?<![A-Za-z0-9])(?i:msg_?id|message_?id)" + _IS + rb"(" + _HEX + rb")(?![0-9A-Fa-f])")
_ALONE = re.compile(rb"(?<![0-9A-Za-z])(?:" + _HEX + rb")(?![0-9A-Fa-f])")
_RECORD = re.compile(rb"MessageExt \[|(?<!toString\(\)=)Message ?\{topic=")
_TOPIC = re.compile(rb"(?<![A-Za-z])[tT]opic" + _IS + rb"([%A-Za-z0-9_|-]{1,255})")
_TAG = re.compile(rb"(?<![A-Za-z])(?:TAGS|[tT]ags?)" + _IS + rb"([^,;{}\[\]\"'\\\s]{1,255})")
_BODY = re.compile(rb"bodyCRC" + _IS + rb"(\d{1,10})")
# `mqadmin queryMsgByKey -t TOPIC -k KEY` and the rows of its answer: each has an id, its queue and its queue offset.
_COMMAND = re.compile(rb"queryMsgByKey(?=\s)(?:[^\n]{0,400}?\s)(?:-k|--msgKey)[\s=]+[\"']?([^\s\"'|;&]{1,256})")
_COMMAND_TOPIC = re.compile(rb"\s(?:-t|--topic)[\s=]+[\"']?([%A-Za-z0-9_|-]{1,255})")
_ROW = re.compile(rb"[ \t]*(" + _HEX + rb")[ \t]+\d{1,9}[ \t]+\d{1,19}[ \t\r]*\Z")
_MOST_IN_FRONT, _MOST_ROWS = 12, 256  # lines of an answer in front of its rows, and rows
_NO_KEY = re.compile(rb"(?i)null|none|nil|undefined|true|false|[0-9a-f]{32,}|\W*")
# Topics into which a broker or a consumer puts copies of a message; the first two end in the consumer group.
COPY_TOPICS = (RETRY_PREFIX, DEAD_PREFIX, "SCHEDULE_TOPIC", "rmq_sys_", "RMQ_SYS_", "TRANS_CHECK")


@dataclass(slots=True)
class KeyedMessage:
    """One message with its key, and what its lines say besides; None where none does."""

    msg_id: str
    key: str
    file: str
    line: int | None  # from 1, of the first line; None behind a cut
    head: bytes  # the begin of that line
    topic: str | None = None
    tag: str | None = None
    body_crc: int | None = None

    @property
    def time(self) -> datetime | None:
        """The time at the beginning of its line."""
        return prefix_time(text_of(self.head))

    @property
    def place(self) -> str:
        """As findings write it."""
        return place_of(self.file, self.line)


class KeyLook:
    """Takes in pieces of texts in their order; of each so many lines with a key, from its beginning."""

    def __init__(self) -> None:
        self.messages: dict[str, KeyedMessage] = {}
        self.is_full = False  # further lines were left out
        self._several: set[str] = set()  # messages that have several keys, by their lines

    def take(self, file: str, first: int, text: bytes, most: int) -> None:
        """Reads so many lines of a piece; `first` lines are before it, -1 where that is not known."""
        for line in lines_with(text, _WORDS):
            if most <= 0:
                self.is_full = True
                return
            most -= 1
            if line.end - line.start > _LONGEST_LINE:
                continue
            number, whole = first + line.number + 1 if first >= 0 else None, text[line.start : line.end]
            if b"queryMsgByKey" in whole:
                self._keep_rows(whole, text[line.end : line.end + _LONGEST_LINE], file, number)
                continue
            for part in _parts(whole):
                self._keep(part, file, number, whole[:_HEAD])

    def _keep_rows(self, command: bytes, behind: bytes, file: str, line: int | None) -> None:
        """The rows of an answer, each a message of the key that the command in front names."""
        asked = _COMMAND.search(command)
        if asked is None:
            return
        topic, rows = _COMMAND_TOPIC.search(command), 0
        fields = b"KEYS=" + asked[1] + (b"" if topic is None else b", topic=" + topic[1])
        for number, text in enumerate(behind.split(b"\n", _MOST_IN_FRONT + _MOST_ROWS)):
            row = _ROW.match(text)
            if row is None and (rows or number > _MOST_IN_FRONT):
                return
            if row is not None:
                rows += 1
                self._keep(b"UNIQ_KEY=" + row[1] + b", " + fields, file, None if line is None else line + number, text)

    def _keep(self, part: bytes, file: str, line: int | None, head: bytes) -> None:
        key, msg_id = _key_of(part), _id_of(part)
        if key is None or msg_id is None or msg_id in self._several:
            return
        told = self.messages.setdefault(msg_id, KeyedMessage(msg_id, key, file, line, head))
        if told.key != key:
            self._several.add(msg_id)
            del self.messages[msg_id]
            return
        topic, tag, body = (pattern.search(part) for pattern in (_TOPIC, _TAG, _BODY))
        if topic is not None and told.topic is None and not (name := topic[1].decode()).startswith(COPY_TOPICS):
            told.topic = name
        if tag is not None and told.tag is None:
            told.tag = tag[1].decode("utf-8", "replace")
        if body is not None and told.body_crc is None:
            told.body_crc = int(body[1])


def _parts(line: bytes) -> list[bytes]:
    """A line as one message, or the printed records in it; nothing where it is not known whose a key is."""
    starts = [match.start() for match in _RECORD.finditer(line)]
    if len(starts) < 2:
        return [line] if len({match[0] for match in _KEYS.finditer(line)}) == 1 else []
    return [line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]


def _key_of(part: bytes) -> str | None:
    match = _KEYS.search(part)
    if match is None:
        return None
    value = match[2] or match[1].strip()
    if b"=" in value:  # of an application's own line, the next name
        value = value.split(b" ", 1)[0]
    return None if _NO_KEY.fullmatch(value) else value.decode("utf-8", "replace")


def _id_of(part: bytes) -> str | None:
    """The msgId of a message: UNIQ_KEY, else what is labelled so, else the only one of its text."""
    for pattern in (_UNIQ_KEY, _MSG_ID):
        ids = {match[1].upper() for match in pattern.finditer(part)}
        if ids:
            break
    else:
        ids = {match.upper() for match in _ALONE.findall(part)}
    return ids.pop().decode() if len(ids) == 1 else None

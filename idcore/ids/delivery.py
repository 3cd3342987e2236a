"""What lines say of the delivery of a message: which try, how it ended, where it was. Judges nothing, dates nothing.

Everything here is a claim of the line, whichever client, application or tool printed it. A record may be printed on
one line or one field a line, and lines of mqadmin's MessageTrack belong to the last message in front of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from html import unescape
from itertools import pairwise
from string import hexdigits
from typing import NamedTuple
from zlib import crc32

from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.base.numbers import whole_number
from idcore.ids import broken_lines, rules
from idcore.ids.delivery_words import (
    COMMON,
    MARKS,
    clause_of,
    is_dead_letter,
    is_listener,
    phrase_of,
    says_two,
    transaction_of,
    tries_of,
    unescaped,
    word_of,
)
from idcore.ids.failed_sends import FailedSend, before_message, failed_send, may_fail, says_sent, without_failed_send
from idcore.ids.find import find
from idcore.ids.line_moments import line_time, moment_at_ms, prefix_time
from idcore.ids.receipts import Recall, Receipt
from idcore.ids.tokens import Token
from idcore.ids.tracks import Track, Tracks, may_be_track

RETRY_PREFIX, DEAD_PREFIX = "%RETRY%", "%DLQ%"
# Where brokers keep delayed messages and retries until they are due.
WAITING_TOPICS = ("SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer")
HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"  # where they keep messages of transactions until producers decide
SEND_OK, UNSENT = "SEND_OK", "unsent"
# Events of a consumer, as the table `deliveries` has them.
EVENTS = ("received", "failed", "acked", "skipped", "filtered")
ENDED = ("acked", "skipped")  # those after which it does not come again
# What is said of half messages: the broker or the producer, never a consumer.
TRANSACTIONS = ("committed", "rolled_back", "undecided", "unended", "checked", "given_up")
_LONGEST = 1 << 16  # characters of a line, or of a record of several, that are read
_MOST_LINES = 80  # of one record
# Between two messages of a line: signs that part them, and those that may part fields too.
_STRONG, _WEAK = ";；。|}\t\n", ",，、"
_NEXT_OBJECT = lazy_pattern(r"\}\s{0,20},\s{0,20}\{")
_ENTITY = lazy_pattern(r"&(?:quot|apos|lt|gt|amp|#(?:x27|39|34));")
_QUOTES = lazy_pattern(r'\\{0,16}"')
_JSON_SIGNS = lazy_pattern(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]')  # a string without its end is one to the end
# Lines of a log in one line: strings of a list, as JSON and Python have them, and lines that are escaped in a string.
_STRINGS = lazy_pattern(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)')
_PYTHON_STRINGS = lazy_pattern(r"""'(?:[^'\\]|\\.)*+(?:'|\\?\Z)|"(?:[^"\\]|\\.)*+(?:\"|\\?\Z)""")
_NEXT_LINE = lazy_pattern(
    r"(?:\\{1,8}n|<br ?/?>)(?=[\[(\" ]{0,3}(?:[A-Z]{4,5}\]?[ \t]{1,3}\[?)?"
    r"(?:(?:19|20)\d\d[-/]\d\d[-/]\d\d[ T]\d|\d\d:\d\d:\d\d[.,]\d{3}\b))"
)
_NEAR = 200  # characters around an id in which a word of an application counts
_FAR = 4 * _NEAR  # the same with the signs that escape them

_IS = r"""[\\"']{0,8}\s{0,24}[=:]\s{0,24}[\\"']{0,8}"""


# `name=value`, `"name": "value"`, `Name: value` (mqadmin has names of two words), in one pass: each name is a question.
_PAIR = lazy_pattern(
    r"""(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]{1,40}(?: [A-Z][A-Za-z]{1,20})?)"""
    r"""[\\"']{0,2}\s{0,24}[=:]\s{0,24}[\\"'\[]{0,3}"""
    r"""([^\s,;=\]\[(){}<"'\\]{1,255}+)(?!=)"""
)
_NULLS = ("null", "None")
_SPRING = lazy_pattern(r"\Arocket(?:mq)?_(?:mq_)?", re.IGNORECASE)  # headers of Spring messages
# The same as the Go client of 5.x and the C++ client print them.
_OTHER_FIELDS = (
    ("topic", "topic:{", lazy_pattern(r"\btopic:\{[^{}]{0,200}?name:\s{0,2}[\\\"]{1,8}([^\\\"]{1,255})[\\\"]")),
    ("group", "group:{", lazy_pattern(r"\bgroup:\{[^{}]{0,200}?name:\s{0,2}[\\\"]{1,8}([^\\\"]{1,255})[\\\"]")),
    ("topic", "Topic[", lazy_pattern(r"\bTopic\[([^\]]{1,255})\]")),
    ("topic", "主题", lazy_pattern(r"主题\s?[=:：]\s?([^\s,，;；]{1,255})")),
    ("group", "组", lazy_pattern(r"(?:消费者?|订阅)组(?: ?ID|名称)?\s?[=:：]\s?([^\s,，;；]{1,255})")),
    ("deliveryattempt", "投递次数", lazy_pattern(r"(?<!最大)(?<!最多)投递次数\s?[=:：]?\s?(\d{1,6})(?!\d)")),
    ("reconsumetimes", "RetryTimes[", lazy_pattern(r"RetryTimes\[(\d{1,6})\]")),
)
_LOCAL = r"[=:]\s{1,24}(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})"
# When it was consumed, as a field that is a time: `consumeTime=12` is how long it took.
_CONSUMED = lazy_pattern(
    r"(?:(?<![A-Za-z_])(?<!last )(?i:consum(?:e|ed|ption|ing)[_ ]?(?:start|begin|end|finish|done)?[_ ]?"
    r"(?:(?:date)?time(?:[_ ]?stamp)?|at|date))|(?<!上次)(?<!最后)(?<!最近)消费(?:开始|结束|完成)?(?:时间戳?|日期))"
    r"[\\\"']{0,2}\s{0,24}[=:：]\s{0,24}[\\\"'\[]{0,3}(?:(1\d{12})(?!\d)|(?=\d{4}[-/]\d))"
)
# When it was sent or stored, as a field that is a date: what happened to it later has another time.
_SENT_AT = lazy_pattern(
    r"(?i)(?:(?<![A-Za-z])(?:born|sen[dt]|produced?|publish(?:ed)?)[_ ]?(?:(?:date)?time(?:[_ ]?stamp)?|at|date)"
    r"|(?:发送|生产|投递|产生)(?:时间|日期))[\\\"']{0,2}\s{0,24}[=:：]\s{0,24}[\\\"'\[]{0,3}"
    r"(1\d{12}(?!\d)|\d{4}[-/]\d\d?[-/]\d\d?[ T]\d\d?:\d\d(?::\d\d)?)"
)
_BORN_TEXT, _STORED_TEXT = lazy_pattern(f"Born Timestamp{_LOCAL}"), lazy_pattern(f"Store Timestamp{_LOCAL}")
_UNSENT_STATUS = lazy_pattern(r"(?i)(?:send_?)?(?:fail|error|exception|time_?out)")
STATUSES = (SEND_OK, "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")
_RECEIPT = lazy_pattern(
    rf"(?i)(?:receipt_?\s?handle|POP_CK){_IS}(\d{{1,19}} \d{{12,14}} \d{{1,12}} \d{{1,6}} [0-2] \S{{1,200}} \d{{1,6}}"
    r"(?: \d{1,19}){0,2})(?![0-9])"
)
# base64url of "v1 " and more: no other word of a log begins so
_RECALL = lazy_pattern(r"(?<![A-Za-z0-9_-])(djEg[A-Za-z0-9_-]{20,2000})")
_CODE = lazy_pattern(r"\bcode:\s?([A-Z_]{2,60}|\d{1,6})\b")
_THREAD = lazy_pattern(r"[\[(\" ]((?:[\w.$%-]{0,200}(?:Thread|exec|pool|worker)[\w.$%-]{0,200}))[\])\"]")
_THREAD_GROUP = lazy_pattern(r"ConsumeMessageThread_(.{1,255})_\d+\Z")

_THREAD_WORDS = ("Thread", "exec", "pool", "worker")
_FIGURES = lazy_pattern(r"(?<!\w)\w*\d\w*")  # from the begin of a word: else each of its letters is tried
# The beginning of one of several messages of a line.
_START = lazy_pattern(
    r"Message(?:Client)?Ext ?[\[{(]|\[?Message=\[|MessageView(?:Impl)? ?[\[{(]|SendResult ?[\[{(]|\bmessage_id:"
)
_START_WORDS = ("Message", "SendResult", "message_id:")
_MESSAGE = lazy_pattern(r"Message(?:Client)?Ext ?[\[{(]|\[Message=\[|MessageView(?:Impl)? ?[\[{(]")

# What the ids of a printed record are, by their labels: of the message, of the record, of the record before it.
_KINDS = (
    {"uniq_key": "uniq", "uniqkey": "uniq", "msguniqkey": "uniq"}
    | dict.fromkeys(("origin_message_id", "originmsgid", "originmessageid"), "origin")
    | dict.fromkeys(("offsetmsgid", "offsetmsgids", "offsetid", "offset_msg_id"), "offset")
)
_LONGEST_HEAD = 1 << 10
_LONGEST_ANSWER = 500  # characters about one id
_KNOWN = (
    r"offset ?(?:msg)?id|msg ?id|topic|tags|keys|queue ?id|queue ?offset|commitlog ?offset|reconsume ?times|uniq_?key"
    r"|born ?timestamp|store ?timestamp|born ?host|store ?host|sys(?:tem)? ?flag|properties|message ?(?:body ?path|id)"
    r"|broker ?name|store ?size|send ?status|body ?crc|delivery ?attempt|toString\(\)|consumer ?group"
    r"|consumed? ?(?:time(?:stamp)?|at)|消费时间|retry ?(?:times|count)"
    r"|消息 ?(?:id|编号)|主题|(?:消费者?|订阅)组(?: ?id|名称)?|重试次数|重新消费次数"
    r"|投递(?:次数|状态|时间)|消费(?:状态|结果)"
)
_FIELD_LINE = lazy_pattern(rf"""(?i)\s{{0,60}}["'*`]{{0,2}}({_KNOWN})["'*`]{{0,2}}\s{{0,24}}[=:：]""")
# A field of any name below that of an ID: what says how its delivery ended may be behind others. A level is no name.
_BELOW = lazy_pattern(
    r"""\s{0,60}["'*`]{0,2}(?!(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE|Caused by)\b)"""
    r"""(?P<name>[^\W\d_][\w ()（）/.-]{1,30}?)["'*`]{0,2}\s{0,24}(?:[:：](?!/)|=)\s{0,24}\S"""
)
_NAMES_ID = lazy_pattern(r"(?i)\s{0,60}[\"'*`]{0,2}(?:msg|message|消息) ?(?:id|编号)")
_LONGEST_FIELD, _LONGEST_NAME = 120, 40
# What a message is about: its words say nothing of its delivery.
_BODY_FIELD = lazy_pattern(
    r"(?i)\s{0,60}[\"'*`]{0,2}(?!告警|报警|alarm|alert)(?:\w{1,20}[ _-]?)?(?:body|payload|title|subject|content"
    r"|description|summary|remark|comment"
    r"|note|question|消息体|内容|标题|描述|备注|说明|摘要|问题)[\"'*`]{0,2}\s{0,24}[:：=]"
)
# A row of two cells: a name and its value.
_ROW_OF_FIELD = lazy_pattern(r" {0,20}\|?([^|\t\n]{1,40})[|\t]([^|\t\n]{1,300})\|?\s{0,20}\Z")
# An alarm: a heading that says how a delivery ended, and fields of any name below it.
_LONGEST_HEADING, _FARTHEST = 100, 12
_HEADING_WORDS = {
    True: ("ail", "AIL", "rror", "RROR", "ucces", "kip", "OK"),
    False: ("失败", "异常", "成功", "超时", "跳过", "ail"),
}
_ANY_FIELD = lazy_pattern(r"[^\w\n]{0,8}\w[\w ()（）/-]{1,24}[^\w\n:：]{0,3}[:：]")
_INSIDE = lazy_pattern(r"""\s{0,60}(?:["']?[\w.()-][\w .()-]{0,60}["']?\s{0,24}[=:]|[\])}]|$)""")
# A field of JSON on a line of its own, of any name: one goes on where another was.
_JSON_FIELD = lazy_pattern(r"""\s{0,60}"[\w.-]{1,60}"\s?:""")
# How the classes and constants of orderly consumers are named; and a property of what was popped.
_ORDERLY = ("ListenerOrderly", "MessageOrderly", "ConsumeOrderly", "Message Orderly", "SUSPEND_CURRENT_QUEUE")
_FIRST_POP = "1ST_POP_TIME"
# What a row of a trace says, as the classic dashboard answers it: `Sucess` is how one of its releases spells it.
_TRACED = {("SubAfter", "suc"): "acked", ("SubAfter", "fai"): "failed"} | {
    ("SubBefore", status): "received" for status in ("suc", "fai", "")
}
_TRACE_KINDS = ("msgtype", "tracetype")
_TRACE_ROW = lazy_pattern(r"[|\t>,] {0,8}(SubBefore|SubAfter) {0,8}(?=[|\t<,]|\Z)")
_TRACE_STATUS = lazy_pattern(r"(?i)[|\t>,] {0,8}(suc|fai)[a-z]{0,6} {0,8}(?=[|\t<,]|\Z)")
# The contexts of a trace as its messages hold them (TraceDataEncoder), with the signs that show their separator.
_CUT, _PART = r"(?:\x01|\^A|\\u0001|#001)", r"[^\x01\x02^\\#]{0,255}"
_CONTEXT = lazy_pattern(
    rf"(?:(?<![A-Za-z])|(?<=\^B))(?:SubBefore{_CUT}\d{{13}}{_CUT}{_PART}{_CUT}(?P<reader>{_PART}){_CUT}{_PART}{_CUT}"
    rf"(?P<begun>{_PART}){_CUT}(?P<tries>\d{{1,5}})(?!\d)"
    rf"|SubAfter{_CUT}{_PART}{_CUT}(?P<ended>{_PART}){_CUT}\d{{1,10}}{_CUT}(?P<success>true|false)"
    rf"(?:{_CUT}{_PART}{_CUT}\d{{1,3}}{_CUT}\d{{13}}{_CUT}(?P<group>{_PART}))?)"
)
# Such a topic without a name in front: in a cell of a table, and as a broker writes that it stores a dead letter.
_DEAD = lazy_pattern(r"已(?:经)?(?:被)?(?:进入|转入|投递[到至]|发送[到至]|成为)死信|已死信")  # as consoles say it
_DEAD_WORDS = ("死信", "DLQ", "dlq", "Dlq", "ead letter", "ead-letter", "ead Letter", "eadletter", "eadLetter", "EAD")
_COPY_CELL = lazy_pattern(r"(?:\A|[\t,>]|\| ?|to DLQ )(\"?)(%(?:RETRY|DLQ)%[\w%.+-]{1,255})\1(?=\Z| ?\||[\t,<])")
# In front of a line: marks of a quoted mail or a comment; what kubectl, docker compose and grep put there.
_MARGIN = lazy_pattern(
    r"[ \t]{0,8}(?:(?:>|\*|//|#|-|•|·)[ \t]){1,3}|\[pod/[\w./-]{1,200}\] "
    r"|[\w.-]{1,60}+(?:(?<=[-_]\d)|(?<=[-_]\d\d)) {1,40}\| (?! {0,40}[A-Z_]{4,40} {0,40}(?:\||\Z))"
    r"|[\w./-]{1,200}+(?:(?<=[A-Za-z])|(?<=\.\d)):\d{1,7}:"
)
_COLOURS = lazy_pattern(r"\x1b\[[0-9;]{0,20}[A-Za-z]")  # between words, too
_BULLETS = ("-", "*", "•", "·")
_OPENING = ("[", "{", " ", "\t")
_DIGITS = lazy_pattern(rf"[0-9A-Fa-f]{{{ID_DIGITS[0]}}}")
# A line that a terminal cut behind an id, as `idcore.ids.broken_lines` puts such a break, and how it goes on.
_HEX_DIGITS = frozenset(hexdigits)
_ENDS_IN_ID = lazy_pattern(rf"[=:] ?{rules.CANDIDATE}\Z")
_BEHIND_ID = lazy_pattern(r" ?[,;] ?\w{1,40}[=:]")
_OK = lazy_pattern(rf"(?i)sendStatus{_IS}(?:SEND_OK|0)\b")
_OPENS = lazy_pattern(r"(?:Message(?:Client)?Ext|SendResult|MessageView(?:Impl)?) ?[\[{(]\s*\Z")


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one line, or one record of several, says of the delivery of one message; None where it does not.

    `event` is one of EVENTS; `sent` of a SendResult; UNSENT of a send that failed; `unacked` of an acknowledgement that
    failed; `track` of MessageTrack; one of `TRANSACTIONS` of a half message; else empty. `tries` counts the deliveries
    before this one. `line` of a send that failed may be one in front of the message.
    """

    msg_id: str
    line: int
    event: str = ""
    detail: str = ""
    tries: int | None = None
    topic: str | None = None  # of the business, if the record names it
    stored_topic: str | None = None  # where the record itself is: of a retry, that of the group
    group: str | None = None
    thread: str | None = None
    offset_id: str | None = None  # of the record
    origin: str | None = None  # offsetMsgId of the record that a retry was made from
    delay_level: int | None = None
    status: str | None = None  # sendStatus of a SendResult, trackType of a MessageTrack, code of an acknowledgement
    reason: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    physical_offset: int | None = None
    stored_ms: int | None = None
    receipt: Receipt | None = None
    recall: Recall | None = None
    born_ms: int | None = None
    time: datetime | None = None  # that the line opens with
    born: datetime | None = None  # as mqadmin prints them: local times of the machine that it ran on
    stored: datetime | None = None
    pace: str = ""  # what sets the wait for the next try: `orderly`, `pop`; else the delay levels
    form: int = 0  # of its line without figures: one statement of a program prints lines of one form
    begin: int = 0  # the first and the last line of the record
    end: int = 0
    column: int = 0  # where its part begins, of a line that holds several lines of a log or several objects
    is_sent: bool = False  # an application says that its send went well

    @property
    def says_much(self) -> bool:
        """Whether it says more than that a message was printed or sent."""
        said = (bool(self.event) and self.status != SEND_OK) or bool(self.tries or self.receipt or self.recall)
        return said or self.is_dead or self.stored_topic in (*WAITING_TOPICS, HALF_TOPIC)

    @property
    def is_dead(self) -> bool:
        """Whether its record is a dead letter."""
        return (self.stored_topic or "").startswith(DEAD_PREFIX)

    @property
    def shows_stored(self) -> bool:
        """Whether it shows that a broker stored the message: only what is stored is answered for or received."""
        is_named = self.offset_id is not None or self.stored_topic is not None or self.receipt is not None
        return is_named or self.is_sent or self.event not in ("", UNSENT)

    @property
    def place(self) -> str | None:
        """What tells its record from other records of the message, if it names one."""
        if self.receipt is not None and self.receipt.physical_offset is not None:
            return f"{self.broker} {self.physical_offset}"
        return self.offset_id


class DeliveryReader:
    """Reads the lines of one text in their order; what a record of several lines says comes when it has ended.

    Without `sends` a send that succeeded says nothing: of a producer's log that is every line.
    """

    def __init__(self, sends: bool = True) -> None:
        self._sends = sends
        self._record: list[tuple[int, str]] = []
        self._depth = 0  # of the brackets that are open in it
        self._before = (0, "")  # the line in front
        self._is_wrapped = False  # one line of a program, which a terminal's or a mail's line breaks cut
        self._is_read_again = False  # lines that looked like one that was cut, and were none
        self._is_item = False  # whether a line is the first of an item in a list
        self._is_open = False  # fields without brackets around them: no bracket ends it
        self._is_spaced = False  # each second line of it is blank, as mails and pages paste them
        self._last: tuple[str, ...] = ()  # of the message that tracks belong to
        self._passed = ""  # a later line with an id that says nothing else
        self._tracks = Tracks()
        self._heading: tuple[int, str] | None = None  # of an alarm, fields alone behind it
        self._failed_send = FailedSend()
        self._is_unsent = False  # whether a send failed: then it matters which ones went well

    def line(self, number: int, text: str) -> Iterator[Delivery]:
        """What a line says, or the record that ends in front of it."""
        text = text.rstrip("\r\n")
        if not text and not self._record and not self._tracks.in_table and not self._is_read_again:
            self._before = number, text  # of a text of empty lines nothing more is asked
            return
        if "\x1b" in text:
            text = _COLOURS.sub("", text)
        was_item, self._is_item = self._is_item, False
        if not text[:1].isdigit() and (margin := _MARGIN.match(text)) is not None:  # most lines begin with a date
            self._is_item = margin[0].strip() in _BULLETS
            text = text[margin.end() :]
        if len(text) > _LONGEST:
            yield from self.end()
            return
        if "&" in text and _ENTITY.search(text) is not None:
            text = unescape(text)
        tracks = self._tracks.of(text) if self._tracks.in_table or may_be_track(text) else None
        if tracks:
            yield from self.end()
            if _DIGITS.search(text) is not None:  # an answer of a dashboard on one line, its message in front
                yield from self._alone(number, text)
            yield from self._of_tracks(tracks, number)
            return
        if "|" in text[:_LONGEST_NAME] or "\t" in text[:_LONGEST_NAME]:
            text = self._field_of_row(text)
        if self._record and self._is_item and not was_item and any(_DIGITS.search(part) for _, part in self._record):
            yield from self.end()  # the next item of a list
        if self._record and self._is_gap(number, text):
            return
        if self._record and self._goes_on(number, text):
            self._record.append((number, text))
            self._depth += _depth(text)
            if not self._is_open and self._depth <= 0:
                yield from self.end()
            return
        yield from self.end()
        if self._is_read_again:
            yield from self._alone(number, text)
            return
        before, self._before = self._before, (number, text)
        lines = [(number, text)]
        # a line as wide as this one was cut, too: it has the time, and may end inside of the record's first word
        if len(before[1]) == len(text) and not _DIGITS.search(before[1]) and prefix_time(text) is None:
            lines.insert(0, before)
        joined = "".join(part for _, part in lines)
        if _is_cut(joined):
            self._record, self._depth, self._is_open, self._is_wrapped = lines, _open(joined), False, True
        elif text[-1:] in _HEX_DIGITS and _ENDS_IN_ID.search(text) is not None and _FIELD_LINE.match(text) is None:
            self._record, self._depth, self._is_open, self._is_wrapped = lines[-1:], 0, False, True
        else:
            yield from self._alone(number, text)

    def _field_of_row(self, text: str) -> str:
        """A row of a table of names and values as a field; other rows as they are."""
        row = _ROW_OF_FIELD.match(text)
        if row is None:
            return text
        field = f"{row[1].strip()}: {row[2].strip()}"
        is_field = _FIELD_LINE.match(field) is not None or (bool(self._record) and _DIGITS.search(text) is None)
        return field if is_field else text

    def _alone(self, number: int, text: str) -> Iterator[Delivery]:
        """A line that does not go on in the next, or the first of a record of one field a line."""
        opens = text.endswith(_OPENING) and _OPENS.search(text) is not None
        heading = self._heading
        may_be = len(text) <= _LONGEST_HEADING and any(word in text for word in _HEADING_WORDS[text.isascii()])
        if may_be or heading is not None:  # few lines
            self._heading = self._heading_at(number, text, may_be)
        if opens or _FIELD_LINE.match(text):
            self._record, self._depth, self._is_open = [(number, text)], _depth(text), not opens
            self._is_spaced = False
            if heading is not None and not opens and _JSON_FIELD.match(text) is None:
                self._record.insert(0, heading)
            return
        if _DIGITS.search(text) is None and "djEg" not in text:
            if self._sends and may_fail(text):
                self._failed_send.see(number, text)
            return
        if self._is_passed(text):
            self._passed = text
            return
        line = self._failed_send.of(number, text) if self._sends else 0
        for one in self._read(text, [(0, number)]):
            yield replace(one, event=UNSENT, line=line) if line and one.event in ("", UNSENT) else one

    def _heading_at(self, number: int, text: str, may_be: bool) -> tuple[int, str] | None:
        """The heading of an alarm, in this line or above the fields that end in it."""
        if _DIGITS.search(text) is not None:
            return None
        if may_be and prefix_time(text) is None and (word_of(text) in EVENTS[1:] or failed_send(text)):
            return number, text
        goes_on = self._heading is not None and number <= self._heading[0] + _FARTHEST
        return self._heading if goes_on and _ANY_FIELD.match(text) is not None else None

    def _is_passed(self, text: str) -> bool:
        """Whether a line that has an id says nothing of a delivery: most are told apart without a pattern."""
        if not self._sends and ("sendStatus=SEND_OK" in text or _OK.search(text) is not None):
            return True
        if self._sends and (
            may_fail(text) or (self._is_unsent and says_sent(text)) or self._failed_send.may_be_of(text)
        ):
            return False
        return not any(word in text for word in COMMON) and MARKS.search(text) is None

    def _is_gap(self, number: int, text: str) -> bool:
        """Whether a line is the blank one between two fields of a record whose each second line is blank."""
        if text or not self._is_open or self._is_wrapped or number != self._record[-1][0] + 1:
            return False
        self._is_spaced = self._is_spaced or len(self._record) == 1
        return self._is_spaced

    def _is_named_again(self, text: str) -> bool:
        """Whether a field has the name of an earlier one, and another value: mqadmin prints OffsetID twice."""
        name = _FIELD_LINE.match(text)
        own = (part for _, part in self._record if name is not None and part.strip() != text.strip())
        return any((one := _FIELD_LINE.match(part)) and one[1].lower() == name[1].lower() for part in own if name)

    def _goes_on(self, number: int, text: str) -> bool:
        """Whether a line belongs to the record that is open."""
        if len(self._record) == _MOST_LINES:
            return False
        as_wide = len(self._record) == 1 and self._depth > 0 and len(text) == len(self._record[0][1])
        if as_wide and not self._is_read_again:
            self._is_wrapped = True  # cut behind the bracket that opens it
        if self._is_wrapped:
            if self._depth <= 0:  # it was cut behind an id, and has no brackets
                return len(self._record) == 1 and _BEHIND_ID.match(text) is not None
            return bool(text.strip()) and _START.search(text) is None and prefix_time(text) is None
        if self._depth > 0:
            return _INSIDE.match(text) is not None
        if self._is_spaced:
            is_next = number == self._record[-1][0] + 2
            return is_next and _FIELD_LINE.match(text) is not None and not self._is_named_again(text)
        if _DIGITS.search(text) is not None and self._is_named_again(text):
            return False  # a list of messages, each on a line of its own
        if len(self._record) == 1 and _BEHIND_ID.match(text) is not None:
            return True  # a line that was cut behind its id
        if self._is_of_next(text):
            return False
        is_of_json = all(map(_JSON_FIELD.match, (text, self._record[0][1])))
        is_of_alarm = _FIELD_LINE.match(self._record[0][1]) is None and _ANY_FIELD.match(text) is not None
        return is_of_json or is_of_alarm or _FIELD_LINE.match(text) is not None or self._is_below(text)

    def _is_below(self, text: str) -> bool:
        """Whether a line is a short field of any name, below that of an ID: it has no ID and no time in front."""
        field = _BELOW.match(text) if len(text) <= _LONGEST_FIELD and len(self._record) < _FARTHEST else None
        if field is None or _DIGITS.search(text) is not None or prefix_time(text[:24]) is not None:
            return False
        return any(_NAMES_ID.match(part) is not None for _, part in self._record)

    def _is_of_next(self, text: str) -> bool:
        """Whether a field behind an ID is in front of the next one: it has the name, or the place, of the first."""
        first = self._record[0][1]
        if not any(_DIGITS.search(part) is not None for _, part in self._record[1:]):
            return False
        field, heading = _BELOW.match(text), _BELOW.match(first)
        if field is not None and heading is not None and field["name"] == heading["name"]:
            return True
        ends = [word_of(part) for part in (text, first)] if _FIELD_LINE.match(first) is None else [""]
        return ends[0] in EVENTS[1:] and ends[0] != ends[-1]

    def end(self) -> Iterator[Delivery]:
        """What the record says that is open at the end of a text."""
        record, self._record = self._record, []
        is_wrapped, self._is_wrapped = self._is_wrapped, False
        if is_wrapped and (self._depth > 0 or len(record) == 1):  # no bracket ends it: each line is one
            self._is_read_again = True
            yield from self._alone(*record[0])
            for number, text in record[1:]:
                yield from self.line(number, text)
            yield from self.end()
            self._is_read_again = False
        elif is_wrapped:
            pieces = [part for _, part in record]
            starts = [(sum(map(len, pieces[:place])), number) for place, (number, _) in enumerate(record)]
            yield from self._read("".join(pieces)[:_LONGEST], starts)
        elif record:
            text, starts = "", []
            below = [part for _, part in record[1:] if _DIGITS.search(part) is None]
            ends = {part: word for part in below if (word := word_of(part)) in ("acked", "failed")}
            unsaid = ends if len(set(ends.values())) > 1 else {}  # expected and actual, before and now
            for place, (number, part) in enumerate(record):
                starts.append((len(text), number))
                if part in unsaid or (place and _BODY_FIELD.match(part) is not None and _DIGITS.search(part) is None):
                    continue
                text += part.strip() + ("" if part.rstrip().endswith((",", "[", "{")) else ",") + " "
            yield from self._read(text[:_LONGEST], starts)

    def _of_tracks(self, tracks: Sequence[Track], line: int) -> Iterator[Delivery]:
        """What a line says of groups, for the last message in front of it."""
        if self._passed:
            named = [token.text for token in find(self._passed) if _is_of_message(token)]
            self._last, self._passed = tuple(dict.fromkeys(named)) or self._last, ""
        for track in tracks:
            for one in self._last:
                told = Delivery(one, line, track.event, group=track.group, status=track.status, reason=track.reason)
                yield replace(told, time=track.time, tries=track.tries)

    def _read(self, text: str, starts: Sequence[tuple[int, int]]) -> Iterator[Delivery]:
        tokens = [token for token in find(text) if _is_of_message(token)]
        tokens = [token for token in tokens if not _is_request(token)] or tokens
        if tokens:
            begin, end = starts[0][1], starts[-1][1]
            if begin != end:  # a time in a field is not that of the line
                opened = prefix_time(text[: starts[1][0]])
                tokens = [replace(token, prefix_time=opened) for token in tokens]
            parts = _lines_in(text, tokens) if begin == end and len(tokens) > 1 else []
            found = _of_lines(text, tokens, parts, begin) if parts else _of_tokens(text, tokens, starts)
            is_sent = self._is_unsent and says_sent(text)
            deliveries = [replace(one, begin=begin, end=end, is_sent=is_sent and not one.event) for one in found]
            self._is_unsent = self._is_unsent or any(one.event == UNSENT for one in deliveries)
            self._last, self._passed = tuple(dict.fromkeys(one.msg_id for one in deliveries)), ""
            yield from deliveries
        elif (recall := _recall(text)) is not None:
            yield Delivery(recall.msg_id, _line_of(starts, 0), recall=recall, topic=recall.topic, broker=recall.broker)


def deliveries(lines: Iterable[str]) -> Iterator[Delivery]:
    """What each line says, and each record of several; lines count from 1."""
    reader = DeliveryReader()
    for number, text in enumerate(lines, 1):
        yield from reader.line(number, text)
    yield from reader.end()


def _is_of_message(token: Token) -> bool:
    """Whether a string may be an ID of a message: no key of one, and nothing that its name says is something else.

    Brokers call the msgId uniqKey in the logs of transactions and dead letters.
    """
    label = (token.label or "").lower()
    return (not token.disowned or label in ("uniqkey", "msguniqkey")) and label != "keys"


def _is_request(token: Token) -> bool:
    """Whether its name says that it is the ID of a request: a trace has one of each attempt, made as msgIds are."""
    return (token.label or "").lower().replace("_", "") == "requestid"


class DeliveryText:
    """What a text says of deliveries, by line and id, as the text comes in pieces; so many claims are kept.

    `go_on` is called before each line: what it raises ends the work.
    """

    def __init__(self, most: int = 100_000, go_on: Callable[[], object] = bool) -> None:
        self.found: list[Delivery] = []
        self._most, self._go_on = most, go_on
        self._reader, self._rest, self._number = DeliveryReader(), "", 0
        self._left = broken_lines.MOST
        self._places: dict[tuple[int, str], list[Delivery]] = {}

    def feed(self, piece: str) -> None:
        """Takes in a piece, cut anywhere."""
        text, self._left = self._rest + piece, self._left - len(piece)
        if self._left > 0:  # a small text may be copied from a terminal, whose line breaks cut ids
            text = broken_lines.unbroken(text.encode("utf-8", "replace")).decode()
        *lines, self._rest = text.split("\n")
        self._rest = self._rest[: _LONGEST + 1]
        for text in lines:
            if len(self.found) >= self._most:
                return
            self._go_on()
            self._number += 1
            self._keep(self._reader.line(self._number, text))

    def close(self) -> None:
        """The end of the text."""
        self._keep(self._reader.line(self._number + 1, self._rest))
        self._keep(self._reader.end())
        self._rest = ""

    def _keep(self, claims: Iterator[Delivery]) -> None:
        for claim in claims:
            self.found.append(claim)
            for line in range(claim.begin, claim.end + 1):
                for text in filter(None, (claim.msg_id, claim.offset_id)):
                    self._places.setdefault((line, text), []).append(claim)

    def of(self, line: int, text: str, column: int = 0) -> Delivery | None:
        """What the line, or its record, says of an id in it; the lines of a log in one line by the column of the id."""
        claims = self._places.get((line, text), [])
        own = [one for one in claims if 0 < one.column <= column]
        return own[-1] if own else next(iter(claims), None)


def _starts(text: str) -> list[int]:
    """Where `_START` matches: tried only where a word of it is, which is found ten times as fast."""
    places = []
    for word in _START_WORDS:
        at = text.find(word)
        while at >= 0:
            places.append(at)
            at = text.find(word, at + 1)
    starts, behind = [], 0
    for at in sorted(places):
        first = at - 1 if at > behind and text.startswith("[Message=[", at - 1) else at
        if at >= behind and (match := _START.match(text, first)) is not None:
            starts.append(first)
            behind = match.end()
    return starts


def is_part(text: str) -> bool:
    """Whether a line is one of those that print a record one field a line, or that belong to such a record."""
    return _FIELD_LINE.match(text) is not None or bool(_INSIDE.match(text) and text[:1].isspace())


def _open(text: str) -> int:
    """How many brackets of the last printed message of a line are open at its end."""
    starts = _starts(text)
    return max(0, _depth(text[starts[-1] :])) if starts else 0


def _is_cut(text: str) -> bool:
    """Whether a line ends inside of a printed message. If it ends with the first bracket, each line has one field."""
    return _depth(text) > 0 and _open(text) > 0 and not (text.endswith(_OPENING) and _OPENS.search(text) is not None)


def _depth(text: str) -> int:
    """How many more brackets a line opens than it closes."""
    return sum(text.count(sign) for sign in "[{") - sum(text.count(sign) for sign in "]}")


def _line_of(starts: Sequence[tuple[int, int]], at: int) -> int:
    return starts[max(0, bisect_right(starts, (at, 1 << 62)) - 1)][1]


def _lines_in(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """From where to where the lines of a log are that one line holds, if several of them have IDs."""
    cuts: set[int] = set()
    if '"' in text or text.startswith("['"):
        strings = _PYTHON_STRINGS if text.startswith("['") else _STRINGS
        spans = [match.span() for match in strings.finditer(text)]
        own = {at for token in tokens if (at := bisect_right(spans, (token.column - 1, 0)) - 1) >= 0}
        spans = [spans[at] for at in sorted(own)]
        if len(spans) > 1 and all(_is_text(text[begin + 1 : end - 1]) for begin, end in spans):
            edges = _objects(text, tokens)  # each with fields beside the line
            are_apart = len({bisect_right(edges, begin) for begin, _ in spans}) == len(spans)
            cuts.update(edges if len(edges) > 1 and are_apart else (at for span in spans for at in span))
    if "\\n" in text or "<br" in text:
        cuts.update(match.start() for match in _NEXT_LINE.finditer(text))
    if not cuts:
        return []
    places = [token.column - 1 for token in tokens]
    parts = pairwise((0, *sorted(cuts), len(text)))
    found = [(begin, end) for begin, end in parts if bisect_right(places, end - 1) > bisect_right(places, begin - 1)]
    return found if len(found) > 1 else []


def _is_text(string: str) -> bool:
    """Whether a string is more than IDs and values: words with blanks between them."""
    return len(string) > 2 * ID_DIGITS[0] - 16 and string.count(" ") > 1


def _of_lines(text: str, tokens: Sequence[Token], parts: Sequence[tuple[int, int]], line: int) -> Iterator[Delivery]:
    """What the lines of a log say that one line holds: each for itself."""
    for begin, end in parts:
        own = [token for token in tokens if begin < token.column <= end]
        moved = [replace(token, column=token.column - begin) for token in own]
        first = {token.text: token.column for token in reversed(own)}
        for one in _of_tokens(text[begin:end], moved, [(0, line)]):
            yield replace(one, column=first[one.msg_id])


def _of_tokens(text: str, tokens: Sequence[Token], starts: Sequence[tuple[int, int]]) -> Iterator[Delivery]:
    """One for each message that a line names: of a printed record its ids are one message."""
    edges = _starts(text)
    is_json = not edges
    edges = edges or _objects(text, tokens)
    head = text[: edges[0]] if edges else text
    parts: dict[int, list[Token]] = {}
    for token in tokens:
        parts.setdefault(bisect_right(edges, token.column - 1), []).append(token)
    deliveries: dict[tuple[str, int], Delivery] = {}
    before = _fields(head) if edges else {}
    said = phrase_of(text)
    are_apart = said != "" and is_json and len(tokens) > 1 and says_two(text)
    for place, own in parts.items():
        begin = edges[place - 1] if place else 0
        part = text[begin : edges[place] if place < len(edges) else len(text)]
        messages = list(_messages(own))
        if len(messages) > 1 and (place == 0 or is_json):
            clauses = _clauses(part, [token.column - 1 - begin for token, _ in messages])
        else:
            word = None if place == 0 or not is_json else clause_of(part[:_NEAR]) or clause_of(head[-_NEAR:])
            clauses = [_Clause(part, _fields(part), word)] * len(messages)
        for (token, offset_id), clause in zip(messages, clauses, strict=True):
            line = _line_of(starts, token.column - 1)
            phrase = phrase_of(clause.text) if are_apart and clause.text != text else said
            around = _Around(text, head, clause.text, token.column - 1, clause.fields, before, phrase, clause.word)
            claim = _claim(around, token, line, offset_id)
            if is_json and len(edges) > 1:
                claim = replace(claim, column=begin + 1)
            key = (token.text, place if is_json else 0)  # an attempt that a trace shows is an object of its own
            deliveries[key] = _together(deliveries[key], claim) if key in deliveries else claim
    yield from deliveries.values()


def _objects(text: str, tokens: Sequence[Token]) -> list[int]:
    """Where the objects of a list of JSON begin, if several have IDs: each is a message."""
    if len(tokens) < 2 or _NEXT_OBJECT.search(text) is None:
        return []
    places = [token.column - 1 for token in tokens]
    found = _objects_of(text, places)
    return found if found or '\\"' not in text else _objects_of(_QUOTES.sub(_unquoted, text), places)


def _unquoted(quote: re.Match[str]) -> str:
    """The quotes of JSON in a string of JSON, as long as they were: one backslash; in its own strings it has more."""
    return {1: " ", 2: ' "'}.get(len(quote[0]), "_" * len(quote[0]))


def _objects_of(text: str, places: Sequence[int]) -> list[int]:
    open_at: list[int] = []  # the brackets around: below zero those of a list
    found: dict[int, list[int]] = {}  # by depth
    for match in _JSON_SIGNS.finditer(text):
        sign, at = match[0], match.start()
        if sign in "{[":
            open_at.append(at if sign == "{" else -1 - at)
        elif sign in "}]" and open_at:
            begin = open_at.pop()
            of_list = begin >= 0 and open_at and open_at[-1] < 0
            if of_list and bisect_right(places, at) > bisect_right(places, begin):
                found.setdefault(len(open_at), []).append(begin)
    return next((sorted(begins) for _, begins in sorted(found.items()) if len(begins) > 1), [])


class _Clause(NamedTuple):
    """What a line says of one of its messages alone: its text, its fields, and the event that its words say."""

    text: str
    fields: Mapping[str, str]
    word: str | None


def _clauses(part: str, places: Sequence[int]) -> list[_Clause]:
    """The clauses of several messages of a line, each with its own fields and those in front of all of them.

    Fields behind a list of nothing but IDs are of each of them, too.
    Of `consume failed: A, B` no words are B's own: it has those in front, as in such a list. In a clause that speaks of
    an end, but not of what ended, nothing is said.
    """
    begins = [0, *(_begin_of(part, before, at) for before, at in pairwise(places))]
    texts = [part[begin:end] for begin, end in pairwise((*begins, len(part)))]
    values: dict[str, set[str]] = {}
    for name, value in _named(part):
        values.setdefault(name, set()).add(value)
    is_list = not any(name for text in (part[places[0] : begins[1]], *texts[1:-1]) for name in _fields(text))
    own = part[: places[0]] + (texts[-1] if is_list else "")
    shared = {name: value for name, value in _fields(own).items() if len(values.get(name, {value})) == 1}
    said = [
        clause_of(text[max(0, at - begin - _NEAR) : at - begin + _NEAR])
        for text, begin, at in zip(texts, begins, places, strict=True)
    ]
    for order in (range(1, len(said)), range(len(said) - 2, -1, -1)):
        for place in order:
            if said[place] is None:
                said[place] = said[place - order.step]
    return [_Clause(text, shared | _fields(text), word) for text, word in zip(texts, said, strict=True)]


def _begin_of(part: str, before: int, at: int) -> int:
    """Where the clause of an ID begins, behind another: at a sign that parts messages, else fields, else at the ID."""
    cuts = (max(part.rfind(sign, before, at) for sign in signs) for signs in (_STRONG, _WEAK))
    return next((cut for cut in cuts if cut >= 0), at)


def _messages(tokens: Sequence[Token]) -> Iterator[tuple[Token, str | None]]:
    """The messages of a part, each with the offsetMsgId of its record: of a printed record its ids are one message."""
    named: dict[str, list[Token]] = {}
    for token in tokens:
        named.setdefault(_KINDS.get((token.label or "").lower(), "id"), []).append(token)
    uniq, ids, offsets = (named.get(name, []) for name in ("uniq", "id", "offset"))
    if len({token.text for token in uniq}) > 1:  # records that are cut
        yield from ((token, None) for token in {token.text: token for token in reversed(uniq)}.values())
        return
    if uniq:
        own = next((token.text for token in [*offsets, *ids] if token.text != uniq[0].text), None)
        yield uniq[0], own
        return
    different = list({token.text: token for token in reversed(ids or offsets or tokens)}.values())[::-1]
    pairs = [token.text for token in offsets] if ids and len(offsets) == len(different) else [None] * len(different)
    yield from zip(different, pairs, strict=True)


def _together(one: Delivery, other: Delivery) -> Delivery:
    """What two places of one line say of one message: a request and its answer."""
    more = {name: getattr(other, name) for name in _NAMES if not getattr(one, name) and getattr(other, name)}
    return replace(one, **more)


@dataclass(frozen=True, slots=True)
class _Around:
    """Where an id is: its line, what is in front of the first message of the line, and its own part of it."""

    text: str
    head: str
    part: str
    at: int  # of the id in the text
    fields: Mapping[str, str]  # of the part, by names in lower case without signs
    fields_before: Mapping[str, str]  # of the head, which all messages of a line share
    phrase: str  # what a class of RocketMQ says in the line, as `phrase_of` has it
    word: str | None = None  # what the line says of this one of its messages, where there are several

    def own(self, *names: str) -> str | None:
        """A field of the part."""
        return next((self.fields[name] for name in names if name in self.fields), None)

    def own_number(self, *names: str) -> int | None:
        """A field of the part, where it is a number."""
        return whole_number(self.own(*names))

    def any(self, *names: str) -> str | None:
        """A field of the part, else of the head."""
        every = (fields[name] for fields in (self.fields, self.fields_before) for name in names if name in fields)
        return next(every, None)

    @property
    def is_record(self) -> bool:
        """Whether the part is a printed message."""
        return _MESSAGE.match(self.part) is not None

    @property
    def is_printed(self) -> bool:
        """Whether a consumer printed the message, whose record may lack its beginning."""
        if "consumestarttime" in self.fields:
            return self.is_record or "toString()=Message" in self.part or "storetimestamp" in self.fields
        return self.part.startswith("MessageView") and self.is_record

    @property
    def near(self) -> str:
        """Where the words of an application say what happened."""
        if self.word is not None and not self.is_record:
            return self.part
        if self.is_record:
            return unescaped(self.head[-_FAR:])[-_NEAR:]
        front, behind = self.text[max(0, self.at - _FAR) : self.at], self.text[self.at : self.at + _FAR]
        return unescaped(front)[-_NEAR:] + unescaped(behind)[:_NEAR]


def _fields(text: str) -> dict[str, str]:
    """Every field of a text, the first of each name."""
    fields: dict[str, str] = {}
    for name, value in _named(text):
        fields.setdefault(name, value)
    for name, mark, pattern in _OTHER_FIELDS:
        if mark in text and (match := pattern.search(text)) is not None:
            fields[name] = match[1]
    return fields


@lru_cache(maxsize=4_096)  # the lines of a program have the same names
def _names(name: str) -> tuple[str, ...]:
    """The name of a field without signs, in lower case; of two words also the last alone."""
    both = (name, name.rpartition(" ")[2]) if " " in name else (name,)
    return tuple(_SPRING.sub("", each).replace("_", "").replace(" ", "").lower() for each in both)


def _named(text: str) -> Iterator[tuple[str, str]]:
    """Every name of a text with a value, as `_fields` has names."""
    for name, value in _PAIR.findall(text):
        if value not in _NULLS:
            for each in _names(name):
                yield each, value


def _tries(around: _Around, event: str) -> int | None:
    """How often the message was delivered before."""
    for less, text in (
        (0, around.any("reconsumetimes")),
        (1, around.any("deliveryattempt")),
        # 5.x clients: of the delivery only where they give up or redeliver, else of an acknowledgement
        (0, around.own("retrytimes", "retrycount") if event in EVENTS else None),  # of an application
        (1, around.own("attempt") if event == "failed" and "ttempt" in around.text else None),
    ):
        if (number := whole_number(text, 6)) is not None:
            return max(number - less, 0)
    return tries_of(around.near) if event else None


def _claim(around: _Around, token: Token, line: int, offset_id: str | None) -> Delivery:
    receipt, recall = _receipt(around.part), _recall(around.part)
    event, detail, status = _event(around, receipt)
    traced = _traced(around.text, token.text)
    if traced is not None:
        event = traced.event
    consumed = _consumed(around.part)
    if not event and consumed is not None:
        event = "received"
    is_of_field = consumed is not None and (event == "received" or (event in EVENTS and token.prefix_time is None))
    topic, stored, copied = _topics(around)
    head = around.head[:_LONGEST_HEAD]
    threads = _THREAD.search(head) if any(word in head for word in _THREAD_WORDS) else None
    thread = None if threads is None else threads[1]
    group = (
        _group_of(around, copied, topic) if copied else around.any("consumergroup", "group", *_names_of_trace(around))
    )
    if traced is not None:
        group = traced.group or group
    if thread is not None and group is None and (own_group := _THREAD_GROUP.match(thread)) is not None:
        group = own_group[1]
    return Delivery(
        token.text,
        line,
        event=event,
        detail=detail,
        tries=None if event in TRANSACTIONS else _tries(around, event) if traced is None else traced.tries,
        topic=topic,
        stored_topic=stored,
        group=group,
        thread=thread,
        offset_id=offset_id,
        origin=around.own("originmessageid", "originmsgid"),
        delay_level=around.own_number("delay"),
        status=status,
        broker=receipt.broker if receipt is not None else around.own("brokername"),
        queue_id=receipt.queue_id if receipt is not None else around.own_number("queueid"),
        queue_offset=receipt.queue_offset if receipt is not None else around.own_number("queueoffset"),
        physical_offset=receipt.physical_offset if receipt is not None else around.own_number("commitlogoffset"),
        stored_ms=around.own_number("storetimestamp"),
        receipt=receipt,
        recall=recall,
        pace=_pace(around, receipt),
        born_ms=token.born_ms,
        time=consumed if is_of_field else _time_of(around, token, event),
        born=_moment(_BORN_TEXT, around.part),
        stored=_moment(_STORED_TEXT, around.part),
        form=crc32(_FIGURES.sub("", around.head[-_NEAR:] if around.is_record else around.near).encode()),
    )


def _names_of_trace(around: _Around) -> tuple[str, ...]:
    """What else names a consumer group: in a trace groupName may be a producer's."""
    return ("groupname",) if (around.own(*_TRACE_KINDS) or "").startswith("Sub") else ()


def _ended_of_trace(around: _Around) -> str:
    """How an attempt ended, as `_TRACED` has it: by its status, a code (0 is success), or a field that says success."""
    if (code := around.own_number("consumestatus")) is not None:
        return "fai" if code else "suc"
    status = around.own("status")
    if status is None and (success := around.own("success")) is not None:
        return "suc" if success.lower() == "true" else "fai"
    return (status or "").lower()[:3]


def _topics(around: _Around) -> tuple[str | None, str | None, str | None]:
    """The topic of the business, the other one that a record is stored in, and the copy's that names its group."""
    named, real = around.any("topic"), around.own("realtopic")
    home = around.own("retrytopic", "origintopic", "originaltopic")
    copied = next((each for each in (named, real) if (each or "").startswith((RETRY_PREFIX, DEAD_PREFIX))), None)
    if copied is None and not around.is_record and (cell := _COPY_CELL.search(around.part)) is not None:
        copied = cell[2]
    if copied is not None and _ends_inside(around.part, copied):
        copied = None
    if copied is None and named not in WAITING_TOPICS and _is_dead(around):
        copied = DEAD_PREFIX + (around.any("consumergroup", "group") or "")
    waits = named if named in (*WAITING_TOPICS, HALF_TOPIC) else None
    if copied is None:
        return (named, None, None) if waits is None else (real, waits, None)
    own = None if named in (copied, waits) else named
    if copied.startswith(RETRY_PREFIX) and "+" in copied:  # of a POP consumer; no name of a group or topic has the sign
        home = home or copied.partition("+")[2]
    return home or own, waits or copied, copied


def _is_dead(around: _Around) -> bool:
    """Whether a line's words say that the message is a dead letter, whichever group it is of."""
    if not _names_dead(around.text):
        return False
    return _DEAD.search(around.part) is not None or is_dead_letter(around.near)


@lru_cache(maxsize=1)  # of one line
def _names_dead(text: str) -> bool:
    return any(word in text for word in _DEAD_WORDS)


def _ends_inside(part: str, value: str) -> bool:
    """Whether a text ends in the middle of a record with this value of a property, which may then go on."""
    return part.rstrip().endswith(f"={value}") and part.rfind("{") > part.rfind("}")


def _group_of(around: _Around, copied: str, home: str | None) -> str | None:
    """The group of a retry or a dead letter; None where a POP retry's name may be parted in several ways."""
    group = copied.split("%", 2)[2].partition("+")[0] or None
    if group is None:
        return None
    if "+" in copied or copied.startswith(DEAD_PREFIX) or _FIRST_POP not in around.part:
        return group
    if home is not None and group.endswith(f"_{home}"):
        return group.removesuffix(f"_{home}")
    return None if "_" in group else group


def _pace(around: _Around, receipt: Receipt | None) -> str:
    """What the next try waits for, where that is no delay level: a moment, or the end of an invisible time."""
    if any(word in around.text for word in _ORDERLY):
        return "orderly"
    popped = receipt is not None or _FIRST_POP in around.part or "deliveryattempt" in around.fields
    return "pop" if popped else ""


def _moment(pattern: re.Pattern[str], text: str) -> datetime | None:
    """A time as mqadmin prints it."""
    match = pattern.search(text) if " Timestamp:" in text else None
    return None if match is None else prefix_time(match[1])


class _Traced(NamedTuple):
    """What the contexts of a trace say of one message: how its last attempt ended, if it did."""

    event: str
    tries: int | None
    group: str | None


def _traced(text: str, msg_id: str) -> _Traced | None:
    """What the contexts of a trace in a text say of a message; None where none is of it."""
    return _traces_in(text).get(msg_id) if "SubBefore" in text or "SubAfter" in text else None


@lru_cache(maxsize=1)  # of one line
def _traces_in(text: str) -> dict[str, _Traced]:
    traces: dict[str, _Traced] = {}
    for context in _CONTEXT.finditer(text):
        if begun := context["begun"]:
            traces[begun] = _Traced("received", int(context["tries"]), context["reader"] or None)
        elif ended := context["ended"]:
            before = traces.get(ended, _Traced("", None, None))
            event = "acked" if context["success"] == "true" else "failed"
            traces[ended] = before._replace(event=event, group=context["group"] or before.group)
    return traces


def _time_of(around: _Around, token: Token, event: str) -> datetime | None:
    """When what a line says happened: not when it says that the message was sent, unless that is what happened."""
    opens = around.text[:5].lstrip('["{ ')[:2] in ("19", "20")  # with a year, as most lines do
    if opens or event in ("", "sent", UNSENT) or token.prefix_time is None:
        return token.prefix_time
    has_other, without = _time_without_sent_at(around.text)
    return without if has_other else token.prefix_time


@lru_cache(maxsize=1)  # of one line
def _time_without_sent_at(text: str) -> tuple[bool, datetime | None]:
    """Whether a line has fields that say when a message was sent, and then its time without them."""
    without = _SENT_AT.sub(lambda named: named[0][: named.start(1) - named.start()], text)
    return (False, None) if without == text else (True, line_time(without))


def _consumed(text: str) -> datetime | None:
    """The time of a field that says when a message was consumed."""
    match = _CONSUMED.search(text) if "onsum" in text or "消费" in text else None
    if match is None:
        return None
    return moment_at_ms(int(match[1])) if match[1] else prefix_time(text[match.end() :][:40])


def _event(around: _Around, receipt: Receipt | None) -> tuple[str, str, str | None]:
    """What the line says happened, a detail of it, and the status that it names."""
    status = around.own("sendstatus")
    if status is not None:
        if "SendStatus" in status:  # Arthas and debuggers print a type in front: @SendStatus[SEND_OK]
            status = next((one for one in STATUSES if one in around.part), None)
        number = None if status is None else whole_number(status)
        status = STATUSES[number] if number is not None and number < len(STATUSES) else status
        if status is not None and _UNSENT_STATUS.match(status) is not None:
            return UNSENT, "", None
        state = around.own("localtransactionstate") if status == SEND_OK else None  # a TransactionSendResult as JSON
        decided = "" if state is None else transaction_of(f"LocalTransactionState {state}")
        return (decided, "", None) if decided else ("sent", "", status)
    if (kind := around.own(*_TRACE_KINDS)) and (traced := _TRACED.get((kind, _ended_of_trace(around)))):
        return traced, "", None
    if "Sub" in around.part and (row := _TRACE_ROW.search(around.part)) is not None:
        ended = _TRACE_STATUS.search(around.part)
        return _TRACED.get((row[1], "" if ended is None else ended[1].lower()), "received"), "", None
    if around.phrase:
        event, _, detail = around.phrase.partition(":")
        return event, detail, None
    if transaction := transaction_of(around.part, around.head):
        return transaction, "", None
    if "ckMessage" in around.text and (code := _code_of(around)) is not None:
        return ("acked" if code == "OK" else "unacked"), "", code
    word = word_of(around.near) if around.word is None else around.word
    if word in ("", "failed") and may_fail(around.text) and _is_unsent(around):
        return UNSENT, "", None
    if word:
        return word, "", None
    if around.is_printed or receipt is not None or is_listener(around.head[:_LONGEST_HEAD], around.near):
        return "received", "", None
    return "", "", None


def _is_unsent(around: _Around) -> bool:
    """Whether a line says that the send of a message failed: of no consumer, whose own sends are of other messages."""
    printed = before_message(around.text, around.at)
    near = around.near if printed is None else unescaped(printed[-_FAR:])[-_NEAR:]
    if not failed_send(near):
        return False
    is_of_consumer = is_listener(around.head[:_LONGEST_HEAD], "") or word_of(without_failed_send(near)) != ""
    return printed is not None or not is_of_consumer


def _code_of(around: _Around) -> str | None:
    """The code of the answer about one id: behind its last place, else of the whole answer."""
    answer = around.text.find("response")
    digits = around.text[around.at : around.at + 34]
    own = around.text.rfind(digits[:32])
    behind = around.text.find("message_id", own + 1)
    until = min(behind if behind >= 0 else len(around.text), own + _LONGEST_ANSWER)
    match = _CODE.search(around.text, own, until) if own > answer else None
    return _code_of_all(around.text) if match is None else match[1]


@lru_cache(maxsize=1)  # of one line
def _code_of_all(text: str) -> str | None:
    match = _CODE.search(text, max(text.find("response"), 0))
    return None if match is None else match[1]


@lru_cache(maxsize=1)  # the ids of a record have one part
def _receipt(part: str) -> Receipt | None:
    """The receipt of the part: its first one."""
    match = _RECEIPT.search(part) if "eceipt" in part or "POP_CK" in part else None
    return None if match is None else Receipt.read(match[1])


def _recall(text: str) -> Recall | None:
    match = _RECALL.search(text) if "djEg" in text else None
    return None if match is None else Recall.read(match[1])


_NAMES = tuple(name for name in Delivery.__slots__ if name not in ("msg_id", "line"))

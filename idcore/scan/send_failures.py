"""Lines that report a failed send: why, to which topic and broker, of which message. Judges none, joins no lines."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from idcore.base.encodings import text_of
from idcore.ids import rules
from idcore.ids.failed_sends import failed_send
from idcore.ids.line_moments import prefix_time
from idcore.scan.line_search import lines_with, place_of

MOST_LINES = 2_000  # that are read: each takes some 100 microseconds
_LONGEST_LINE, _TRACE = 1 << 13, 1 << 13  # bytes of a line, and of the stack trace below it
_WORDS = (
    *(b"ail", b"AIL", b"xception", b"imed out", b"imeout", b"rror"),
    *(word.encode(name) for word in ("失败", "异常", "超时") for name in ("utf-8", "gbk")),
)
# What tells most of why: the word in brackets of a broker's answer, then the last exception of a chain.
_ANSWER = re.compile(r"\[(TIMEOUT_CLEAN_QUEUE|PC_SYNCHRONIZED|PCBUSY_CLEAN_QUEUE|REJECTREQUEST|OVERLOAD)\]")
_EXCEPTION = re.compile(r"\b(?:[a-z]\w{0,60}\.){0,12}([A-Z]\w{0,80}(?:Exception|Error|TooMuchRequest))\b")
_BELOW = re.compile(
    rb"(?:(?:[ \t][^\n]*|(?:Caused by|See http|For more information)[^\n]*|(?:[a-z]\w{0,60}\.){1,12}[A-Z][^\n]*)?"
    rb"\r?\n)*"
)
_NO_ROUTE = re.compile(r"\bNo (?:topic )?route info (?:of|in)")
_TOPIC = re.compile(r"(?i)\btopic(?: name)?(?:\"?'?\s?[=:]\s?[\"']?|: ?|\[)([%A-Za-z0-9_|-]{1,127})")
_ROUTE_TOPIC = re.compile(
    r"\bNo (?:topic )?route info (?:of|in) (?:this |name server for the )?topic: ?([%A-Za-z0-9_|-]{1,127})"
)
_CHANNEL = re.compile(r"(?:channel ?|connect to ?|address ?|addr ?[=:] ?)[<\[]?/?((?:\d{1,3}\.){3}\d{1,3}:\d{1,5})")
_BROKER = re.compile(r"\bbroker ?[nN]ame(?:\"?\s?[=:]\s?\"?)([A-Za-z0-9_.-]{1,100})")
_SENT_TO = re.compile(r"\bBrokersSent: ?\[([A-Za-z0-9_., :-]{1,300})\]")
# What else applications send, where nothing in the line or its stack trace is of RocketMQ.
_OF_OTHERS = re.compile(
    r"(?i)kafka|rabbit|pulsar|activemq|redis|mqtt|web ?socket|webhook|https?:|\b(?:requests?|packets?|frames?|metrics?"
    r"|telemetry|spans?|mails?|e-?mails?|sms|files?|slack|lark|dingtalk|wechat)\b|钉钉|微信|飞书|短信|邮件|请求"
)
_OF_ROCKETMQ = re.compile(
    r"rocketmq|MQ(?:Client|Broker)Exception|\bRemoting[A-Z]|send(?:Default|Kernel)Impl|route info|TIMEOUT_CLEAN|PC_SYN"
)
_ID = re.compile(rf"(?<![0-9A-Za-z]){rules.CANDIDATE}(?![0-9A-Fa-f])")


class SendFailure(NamedTuple):
    """One line: what it and the stack trace below it say; empty where they do not."""

    reason: str  # the broker's word, else the exception
    topic: str
    brokers: tuple[str, ...]  # names or addresses
    ids: tuple[str, ...]  # of messages in this line, upper case
    text: str
    time: datetime | None
    file: str
    line: int | None  # from 1; None behind a cut

    @property
    def place(self) -> str:
        """As findings write it."""
        return place_of(self.file, self.line)


class FailureLook:
    """Takes in pieces of texts in their order; of each so many lines with a word of a failure, from its beginning."""

    def __init__(self) -> None:
        self.failures: list[SendFailure] = []
        self.is_full = False  # further lines were left out

    def take(self, file: str, first: int, text: bytes, most: int) -> None:
        """Reads so many lines of a piece; `first` lines are before it, -1 where that is not known."""
        done = 0
        for line in lines_with(text, _WORDS):
            if line.start < done:
                continue
            if most <= 0:
                self.is_full = True
                return
            most -= 1
            told = text_of(text[line.start : min(line.end, line.start + _LONGEST_LINE)])
            if told[:1].isspace() or not failed_send(told):
                continue
            trace = _trace_below(text, line.end)
            if _OF_OTHERS.search(told) is not None and _OF_ROCKETMQ.search(told + text_of(trace)) is None:
                continue
            done = line.end + 1 + len(trace)
            number = first + line.number + 1 if first >= 0 else None
            self.failures.append(_failure(told, text_of(trace), file, number))


def _trace_below(text: bytes, at: int) -> bytes:
    """The lines below a place that belong to it: of a stack trace, and what RocketMQ's exceptions print in it."""
    match = _BELOW.match(text, at + 1, at + 1 + _TRACE)
    return b"" if match is None else match[0]


def _failure(line: str, trace: str, file: str, number: int | None) -> SendFailure:
    both = line + "\n" + trace
    route = _ROUTE_TOPIC.search(both)
    topic = route or _TOPIC.search(line) or _TOPIC.search(trace)
    sent_to = _SENT_TO.search(both)
    brokers = [] if sent_to is None else [name.strip() for name in sent_to[1].split(",")]
    brokers += _CHANNEL.findall(both) + _BROKER.findall(line)
    ids = tuple(dict.fromkeys(text.upper() for text in _ID.findall(line)))
    where = tuple(dict.fromkeys(filter(None, brokers)))
    return SendFailure(_reason(both), topic[1] if topic else "", where, ids, line, prefix_time(line), file, number)


def _reason(text: str) -> str:
    answer = _ANSWER.search(text)
    if answer is not None:
        return answer[1]
    if _NO_ROUTE.search(text) is not None:
        return "No route info"
    exceptions = _EXCEPTION.findall(text)
    return exceptions[-1] if exceptions else ""

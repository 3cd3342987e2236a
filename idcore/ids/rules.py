"""The numbers of the classification: what a token must keep to be an id. Contains no byte position and no message."""

from __future__ import annotations

import re
from string import hexdigits

from idcore.base.layout import ID_DIGITS
from idcore.base.lazy_pattern import lazy_pattern

# Digits of a candidate; only a token of one of these lengths can be rejected.
CANDIDATE_DIGITS = frozenset(ID_DIGITS)
_HEX = "[0-9A-Fa-f]"
# A pattern for them, the longest first, in which no group is kept.
CANDIDATE = (
    f"{_HEX}{{{ID_DIGITS[0]}}}"
    f"(?:{'|'.join(f'{_HEX}{{{digits - ID_DIGITS[0]}}}' for digits in reversed(ID_DIGITS[1:]))})?"
)

PORT_LIMIT = 65_535
OFFSET_LIMIT = 1 << 48

# C++ 1.2.0 to 1.2.3 (StringIdMaker.cpp): loader = rand() % 0xFFFF, counter & 0xFF, pid >> 16 of at most 4,194,303, and
# a month that begins on the last day of the month before, an hour early where chance sets tm_isdst.
LITTLE_ENDIAN_LOADER, LITTLE_ENDIAN_COUNTER, LITTLE_ENDIAN_PID = 0xFFFF, 0x100, 0x40
LITTLE_ENDIAN_ELAPSED_MS = 32 * 86_400_000 + 3_600_000
# Bytes 10 to 13 of such an id are its elapsed, low byte first. As an offsetMsgId, the offset is evenly spread below
# 2^48, and ends in 00; that of a broker is seldom above 2^44, and ends in 00 once in 256 records.
HUGE_OFFSET, LARGE_OFFSET, USUAL_OFFSET = 1 << 44, 1 << 40, 1 << 32

# Ports on which brokers listen (listenPort, haListenPort, name server, proxy), as far as set-ups keep to them.
BROKER_PORTS, OTHER_BROKER_PORTS = range(10_900, 11_000), (9_876, 10_811, 8_080, 8_081)
# Kubernetes gives node ports from this range by default (kube-apiserver --service-node-port-range).
NODE_PORTS = range(30_000, 32_768)
# What a line has that is written when a send has ended: a SendResult, or its status (0 in the Go and C++ clients).
SEND_REPORT = r"\bSendResult\b|\bsendStatus[\"']?\s?[=:]\s?[\"']?(?:SEND_OK|0\b)"

LONGEST_MONTH_MS = 31 * 86_400_000
# MessageClientIDSetter reads the clock twice (4.7.0 and later): elapsed can pass the month's end by a few ms.
ELAPSED_SLACK_MS = 1_000
# A clock set back by less than a day across the month's start gives an int just below zero.
CLOCK_BACK_MS = 86_400_000
# The Rust gRPC client (message_id.rs) takes a month to have 30 days: it counts on in a shorter one.
RUST_MONTH_MS = 30 * 86_400_000 + 1_000
SIGN_BIT = 1 << 31
ELAPSED_WRAP = 1 << 32
COUNTER_WRAP = 1 << 16

# Names that, directly in front of a token, vouch for an impossible elapsed; and how many signs may be between.
VOUCHING_LABELS = ("msgid", "msgids", "messageid", "uniq_key", "transactionid")
TRACEPARENT = "traceparent"  # what names the trace ID of one, besides a name in front
LABEL_SIGNS = " \"':=[,"
LABEL_SIGNS_MOST = 4
# A sign as it is, a quote behind backslashes (JSON in JSON), or escaped: `&quot;` of pages, `%22` and `%2522` of
# addresses, `=22` of mail, `\x22` and `\u0022` of JSON.
ENTITIES = {"&quot;": '"', "&apos;": "'", "&gt;": ">", "&#34;": '"', "&#39;": "'", "&#x22;": '"', "&#x27;": "'"}
BACKSLASHES_MOST = 7
_LONGEST_SIGN = BACKSLASHES_MOST + 1
_QUOTE = lazy_pattern(rf"\\{{0,{BACKSLASHES_MOST}}}[\"']\Z")
_BEFORE_PAIR = "%=x50"  # what may be in front of its two digits
_ESCAPED_SIGN = lazy_pattern(r"(?:%(?:25)?|=|\\x|\\u00)([0-9A-Fa-f]{2})\Z")

MASK_SIGNS_MOST = 28  # signs of a mask that are looked at

# What shows of a string without such a name that it may be an ID: a word of messages in so many bytes in front of it;
# else on each side, behind so many signs at most, its line ends or it is one value of several.
MESSAGE_WORDS = (b"msg", b"mess", b"mq", "消息".encode(), "消息".encode("gbk"))
MESSAGE_WITHIN = 32
BLANKS, SEPARATORS, CELL_SIGNS_MOST = b" \"'\r", b",;|\t", 4

# Words of names whose value is something else in as many hex digits: `sign`, `fileMd5`, `trace_id`, `<etag>`.
OTHER_THINGS = (
    *(
        "apikey",
        "checksum",
        "clsid",
        "correlation",
        "digest",
        "etag",
        "guid",
        "hash",
        "iv",
        "key",
        "mac",
        "md",
        "nonce",
    ),
    *("parent", "passwd", "password", "pwd", "req", "request", "secret", "sess", "session", "sha", "sign", "signature"),
    *("salt", "span", "tid", "token", "trace", "uuid"),
)
# Of them names of trace IDs, which W3C Trace Context, B3 and most tracers write as 32 digits in lower case.
TRACES = frozenset(("trace", "tid"))
KEYS = frozenset(f"{whose}key{s}" for whose in ("", "msg", "message") for s in ("", "s"))  # names of message keys
OTHER_SIGNS, OTHER_SIGNS_MOST, LONGEST_NAME = " \"':=[>", 4, 24
_NAME = lazy_pattern(r"[A-Za-z0-9_-]*\Z")
_CDATA = "<![CDATA["
_THING = lazy_pattern(rf"(?:{'|'.join(OTHER_THINGS)})\Z", re.IGNORECASE)
# What is around the trace ID of a W3C traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
_BEFORE_TRACE, _BEHIND_TRACE = lazy_pattern(r"[0-9A-Fa-f]{2}-\Z"), lazy_pattern(r"-[0-9A-Fa-f]{16}-")


def private_or_loopback(address: bytes) -> bool:
    """10/8, 172.16/12, 192.168/16 or 127/8, of four bytes."""
    first, second = address[0], address[1]
    return first in (10, 127) or (first == 172 and 16 <= second <= 31) or (first == 192 and second == 168)


def is_usual_port(port: int) -> bool:
    """Whether brokers usually listen on it."""
    return port in BROKER_PORTS or port in OTHER_BROKER_PORTS


def is_key(label: str | None) -> bool:
    """Whether a name is that of message keys, which may be anything: `KEYS`, `keys`, `msgKey`; never `UNIQ_KEY`."""
    return label is not None and label.lower() in KEYS


def sign_before(text: str, stop: int) -> tuple[str, int]:
    """The sign in front of a place, and where it begins; what is no escape is the last character itself.

    >>> [sign_before(text, len(text)) for text in ('a="', "a&quot;", "a%3A", "a%253D", '\\\\\\\\"', "ab", "")]
    [('"', 2), ('"', 1), (':', 1), ('=', 1), ('"', 0), ('b', 1), ('', 0)]
    """
    start = max(0, stop - 1)
    last = text[start:stop]
    if last in ("'", '"'):
        return last, stop - len(_QUOTE.search(text, max(0, stop - _LONGEST_SIGN), stop)[0])  # type: ignore[index]
    if last == ";":
        entity = text[max(0, text.rfind("&", max(0, stop - _LONGEST_SIGN), stop)) : stop]
        return (ENTITIES[entity], stop - len(entity)) if entity in ENTITIES else (last, start)
    # Most names end in letters that no escape has, or in front of which no escape begins: they cost one look.
    if last in hexdigits and text[max(0, stop - 3) : stop - 2] in _BEFORE_PAIR:
        escaped = _ESCAPED_SIGN.search(text, max(0, stop - _LONGEST_SIGN), stop)
        if escaped is not None:
            return chr(int(escaped[1], 16)), stop - len(escaped[0])
    return last, start


def vouches(label: str | None) -> bool:
    """Whether a name ends, in letters of any case, in one that vouches."""
    return label is not None and label.lower().endswith(VOUCHING_LABELS)


def shows_id(before: bytes, behind: bytes) -> bool:
    """Whether the place of a string shows that it may be an ID: words in front of it, or that its line has only such.

    >>> shows_id(b"sent message ", b" ok"), shows_id(b"", b""), shows_id(b"saved ", b" ok")
    (True, True, False)
    """
    near = before[-MESSAGE_WITHIN:].lower()
    return any(word in near for word in MESSAGE_WORDS) or (
        _is_edge(before[: -CELL_SIGNS_MOST - 2 : -1]) and _is_edge(behind)
    )


def _is_edge(side: bytes) -> bool:
    """Whether the line ends beside a string, or its cell does; `side` has the nearest byte first."""
    at, separated = 0, False
    while at < min(len(side), CELL_SIGNS_MOST) and side[at] in BLANKS + SEPARATORS:
        separated |= side[at] in SEPARATORS
        at += 1
    return separated or at == len(side) or side[at] == 0


def elapsed_possible(elapsed: int) -> bool:
    """Whether a month can hold it, the slack of the double clock read included."""
    return elapsed <= LONGEST_MONTH_MS + ELAPSED_SLACK_MS


def clock_set_back(elapsed: int) -> bool:
    """Whether it reads as less than a day before the month's start."""
    return elapsed >= ELAPSED_WRAP - CLOCK_BACK_MS


def is_of_traceparent(before: str, behind: str) -> bool:
    """Whether 32 digits between two texts are the trace ID of a W3C traceparent.

    >>> is_of_traceparent("traceparent: 00-", "-00f067aa0ba902b7-01")
    True
    """
    return _BEFORE_TRACE.search(before[-3:]) is not None and _BEHIND_TRACE.match(behind) is not None


def other_thing(before: str) -> str:
    """What the text in front of a string names that is no message: a signature, hash, key or trace; else nothing.

    >>> [other_thing(text) for text in ('"sign": "', "fileMd5=", "<traceId><![CDATA[", "sign&quot;:&quot;", "msgId=")]
    ['sign', 'md', 'trace', 'sign', '']
    """
    signs = ""
    if before.endswith(_CDATA):
        before = before[: -len(_CDATA)]
    while before and len(signs) < OTHER_SIGNS_MOST:
        sign, start = sign_before(before, len(before))
        if sign not in OTHER_SIGNS:
            break
        signs, before = signs + sign, before[:start]
    if not any(sign in signs for sign in ":=>"):
        return ""  # a word of a sentence
    name = _NAME.search(before[-LONGEST_NAME:])[0]  # type: ignore[index]
    name = behind_escape(name, before[: len(before) - len(name)])
    if vouches(name):
        return ""
    bare = name.rstrip("0123456789")
    if bare[-2:].lower() == "id":
        bare = bare[:-2].rstrip("_-")
    return _thing_at_end(name) or _thing_at_end(bare)


def behind_escape(name: str, before: str) -> str:
    """A name without the letter of an escaped line break or tab in front of it, which is none of its letters.

    >>> [behind_escape("nmsgId", before) for before in ("\\\\", "a")]
    ['msgId', 'nmsgId']
    """
    is_escaped = before.endswith("\\") and name[:1] in ("n", "r", "t")
    return name[1:].lstrip() or name if is_escaped else name


def _thing_at_end(name: str) -> str:
    """Which of these the last word of a name is: the whole name, behind a sign or digit, or `camelCase`."""
    for match in (_THING.search(name, at) for at in range(max(0, len(name) - 12), len(name))):
        if match is not None:
            first, before = name[match.start()], name[match.start() - 1 : match.start()]
            if not before.isalpha() or (first.isupper() and before.islower()):
                return match[0].lower()
    return ""

"""Times in a line that has none where most logs have it: other styles, epochs, and which of them is that of its ID.

An ID proves a style: the time of its line, less the milliseconds that the ID counts since its month began, is a local
midnight on the first of a month (MessageClientIDSetter.setStartTime), up to the moments between send and log. By
chance a wrong time of a second's resolution fits once in 30,000 times. What no ID proves still gives the month where
the order of its parts is known. Reads one line; knows no clock and no zone of the reader.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from idcore.base.layout import COUNTER_DIGITS, LAYOUTS, VALUE_DIGITS
from idcore.base.lazy_pattern import lazy_pattern
from idcore.base.line_cache import kept_by_length
from idcore.ids.clock import DAY_MS, IN_USE, QUARTER_MS
from idcore.ids.zone_names import NamedZone, zone_beside, zone_in_front

LONGEST = 1 << 16  # characters: a longer line dates nothing
_FEW_PAIRS = 4_096  # of an ID and a time: a line has thousands of both
_EARLY_MS, _LATE_MS = 2_000, 10_000  # a line is written so much before, and after, its message was generated
# A bornTimestamp that is so much later than the ID contradicts it, in whatever zone: it was sent again, or is another.
BORN_APART_MS = 28 * 3_600_000
_ZONES_EAST_MS = 14 * 3_600_000
_EPOCH = datetime(1970, 1, 1)
_FIRST, _LAST = 1_262_304_000, 4_102_444_800  # seconds: 2010 and 2100, for numbers that may be an epoch
# How the names of months begin: English, then French, Spanish, Portuguese, Italian, German, Dutch, Polish, Russian.
_NAMES_OF_MONTHS = (
    ("jan", "ene", "gen", "sty", "янв"),
    ("feb", "fév", "fev", "lut", "фев"),
    ("mar", "mär", "maa", "mrt", "мар"),
    ("apr", "avr", "abr", "kwi", "апр"),
    ("may", "mai", "mag", "mei", "maj", "май", "мая"),
    ("jun", "juin", "giu", "cze", "июн"),
    ("jul", "juil", "lug", "lip", "июл"),
    ("aug", "aoû", "ago", "sie", "авг"),
    ("sep", "set", "wrz", "сен"),
    ("oct", "out", "ott", "okt", "paź", "окт"),
    ("nov", "lis", "ноя"),
    ("dec", "déc", "dic", "dez", "gru", "дек"),
)
# Those that begin as other words do, and how they go on, unless that is all (`12 set 2025`, not `12 sets 2025`).
GO_ON = {
    "gen": "naio",
    "sty": "cz",
    "ene": "ro",
    "lut": "y|ego",
    "maa": "rt",
    "mag": "gio",
    "mai": "o",
    "mei": "$",
    "maj": "a",
    "lug": "lio",
    "lip": "ca|iec",
    "ago": "sto",
    "sie": "rp",
    "set": "tembre|embro|iembre",
    "out": "ubro",
    "ott": "obre",
    "lis": "topad",
    "dic": "embre|iembre",
    "dez": "ember|embro",
    "gru": "d",
}
MONTHS = {name: number for number, names in enumerate(_NAMES_OF_MONTHS, 1) for name in names}
_LEAP_YEAR = 2000
_UNITS = {10: 1_000, 13: 1, 16: 1e-3, 19: 1e-6}  # milliseconds of one, by the number of digits


class NamedDay(datetime):
    """A time whose line names no year: of 2000, which has each day, until `line_time.latest_year` chooses one."""


class StoredTime(NamedDay):
    """When a broker stored the message of an ID: the ID is not later, by how much is open."""


class BornTime(StoredTime):
    """When the record of an ID says that its message was born, where that is days after the ID, as text."""


class OpenTime(datetime):
    """A time whose zone has a name that several places have: `CST`. It is naive, and the zone one of `choices`."""

    zone_name = ""
    choices: tuple[int, ...] = ()  # minutes ahead of UTC


class Moment(NamedTuple):
    """A time of a line. `wall_ms`: its clock's, as if that were UTC. `ahead`: minutes, None where no zone is named.

    `sure`: whether the order of its parts is known, so that it dates a line that no ID proves. `open_zone`: whose name
    several places have.
    """

    wall_ms: int
    ahead: int | None
    resolution_ms: int
    sure: bool
    open_zone: NamedZone | None = None

    @property
    def time(self) -> datetime:
        """As a datetime, naive where no zone is named."""
        wall = _EPOCH + timedelta(milliseconds=self.wall_ms)
        if self.ahead is not None:
            return wall.replace(tzinfo=timezone(timedelta(minutes=self.ahead)))
        return wall if self.open_zone is None else _in_named(wall, self.open_zone)

    def is_proved_by(self, elapsed_ms: int) -> bool:
        """Whether the month of an ID that counts so many milliseconds begins at a midnight by this time."""
        early = _EARLY_MS + self.resolution_ms  # a time without seconds is before its own
        began, late = self.wall_ms - elapsed_ms + early, early + _LATE_MS + self.resolution_ms
        if self.ahead is None:
            return began % DAY_MS <= late and _day(began).day == 1
        began -= self.ahead * 60_000
        if began % QUARTER_MS > late:
            return False
        start = began // QUARTER_MS * QUARTER_MS
        local = _day(start + 14 * 3_600_000).replace(day=1)
        ahead = (date(local.year, local.month, 1) - date(1970, 1, 1)).days * 1_440 - start // 60_000
        return ahead in IN_USE

    def is_near(self, elapsed_ms: int) -> bool:
        """Whether an ID that counts so many milliseconds may be of this day or of the one before, in whatever zone."""
        latest = self.wall_ms - 60_000 * (self.ahead or 0) - elapsed_ms + _ZONES_EAST_MS
        since = latest - (_day(latest).replace(day=1) - date(1970, 1, 1)).days * DAY_MS
        return since <= _ZONES_EAST_MS + BORN_APART_MS


class ProvedMoments:
    """Times of a text, to find the first one that an ID proves without a look at each: a line may have thousands.

    All zones are whole quarters of an hour apart, so only those that fit within a quarter are tried, and so many.
    """

    _MOST = 64

    def __init__(self, moments: Sequence[Moment]) -> None:
        self._moments = moments
        self._early = _EARLY_MS + max((one.resolution_ms for one in moments), default=0)
        walls = (one.wall_ms - 60_000 * (one.ahead or 0) for one in moments)
        self._places = sorted((wall % QUARTER_MS, at) for at, wall in enumerate(walls))

    def first(self, elapsed_ms: int) -> Moment | None:
        """The first that an ID proves, which counts so many milliseconds since its month began."""
        low = (elapsed_ms - self._early) % QUARTER_MS
        high = low + self._early + _LATE_MS + self._early
        fitting = [*self._between(low, high), *self._between(low - QUARTER_MS, high - QUARTER_MS)]
        moments = (self._moments[at] for _, at in sorted(fitting[: self._MOST], key=itemgetter(1)))
        return next((one for one in moments if one.is_proved_by(elapsed_ms)), None)

    def _between(self, low: int, high: int) -> list[tuple[int, int]]:
        begin = bisect_left(self._places, (low, 0))
        return self._places[begin : min(bisect_right(self._places, (high, len(self._places))), begin + self._MOST)]


def _first_proved(moments: Sequence[Moment], elapsed: Sequence[int]) -> Moment | None:
    """The first time that one of some IDs proves. Of many IDs not each is held against each of many times."""
    if len(elapsed) * len(moments) <= _FEW_PAIRS:
        return next((one for one in moments if any(map(one.is_proved_by, elapsed))), None)
    known = ProvedMoments(moments)
    proved = {known.first(one) for one in set(elapsed)}
    return next((one for one in moments if one in proved), None)


def _day(wall_ms: int) -> date:
    return date(1970, 1, 1) + timedelta(days=wall_ms // DAY_MS)


# Years of other calendars: those of Thailand are 543 ahead, and begin with 25; those of Taiwan and Japan begin with an
# era, or those of Taiwan have three digits.
_BUDDHIST, _MINGUO, _REIWA = 543, 1_911, 2_018
_ERA = r"(?P<era>民國|民国|令和)"
_ENDS = {name: rf"(?={GO_ON[name]}|(?![^\W\d_]))" if name in GO_ON else "" for name in MONTHS}
_YEAR, _NAME = r"(?:(?:19|20)\d\d|25[5-9]\d)", rf"(?:{'|'.join(name + end for name, end in _ENDS.items())})"
_REST = r"[^\W\d_]{0,12}"  # of the name of a month
_ZONE = r"(?: ?(?P<zone>(?:UTC|GMT)[+-]\d{1,2}(?::?\d\d)?\b|Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b))?"
_GBK = "\ufffd{2}"  # a Chinese letter of GBK that was read as UTF-8
# Dates in front of a time, each by its order. Of the last four the order is open: day or month, and the century.
_TH = "(?:st|nd|rd|th)?"
_DATES = (
    rf"(?P<y1>{_YEAR})(?:[-/.年년]|{_GBK}) ?(?P<m1>\d{{1,2}})(?:[-/.月월]|{_GBK}) ?"
    rf"(?P<d1>\d{{1,2}})(?:[日일.]|{_GBK})?",
    rf"[IWEF]?(?P<y2>{_YEAR})(?P<m2>\d\d)(?P<d2>\d\d)",  # a letter in front as glog has it
    rf"(?P<y3>{_YEAR})[-/. ](?P<n3>{_NAME}){_REST}[-/. ](?P<d3>\d{{1,2}})",
    rf"(?P<d4>\d{{1,2}})(?:[-/. ]|\. | de )(?P<n4>{_NAME}){_REST}(?:[-/. ,]{{1,2}}| de )(?P<y4>{_YEAR})(?: г\.)?",
    rf"(?P<n9>{_NAME}){_REST}(?P<by>[-/.])(?P<d9>\d{{1,2}})(?P=by)(?P<y9>{_YEAR})",
    rf"(?P<n5>{_NAME}){_REST} {{1,2}}(?P<d5>\d{{1,2}}){_TH}(?:,? (?P<y5>{_YEAR}))?",
    rf"(?P<a6>\d{{1,2}})(?P<sign>[-/.])(?P<b6>\d{{1,2}})(?P=sign)(?P<y6>{_YEAR})",
    r"(?P<c7>\d{1,2})(?P<cut>[-/.])(?P<m7>\d{1,2})(?P=cut)(?P<e7>\d{1,2})",
    rf"(?P<c8>\d\d)-(?P<n8>{_NAME})-(?P<e8>\d\d)",
    r"(?P<c0>\d\d)(?P<m0>\d\d)(?P<e0>\d\d)(?= )",  # MySQL's
    rf"{_ERA} ?(?P<r1>\d{{1,3}}|元)[-/.年] ?(?P<m11>\d{{1,2}})[-/.月] ?(?P<d11>\d{{1,2}})日?",
    r"(?P<r2>1\d\d)[-/.年] ?(?P<m12>\d{1,2})[-/.月] ?(?P<d12>\d{1,2})日?",
)
# Between a date and its time: signs, the cells of a table, the name of a field, a weekday.
_JOIN = (  # a minute behind a plus or a hyphen is one of a zone
    r"(?:T|,? (?:at|à|às|um|om|alle|в) |[\"' ,;]{1,3}time[\"']? ?[:=] ?[\"']?|_"
    r"|[-+](?=\d\d[:.-]\d\d[:.-])|(?:</?[a-z]{1,8}>[ \t]?){1,4}"
    r"|[\"']?[ ,;:@\[\]\t|]{0,3}[\"']?(?<=[^0-9]))"
)
_WEEKDAY = r"(?:[(（]?(?:(?:星期|周)[一二三四五六日天]|[日月火水木金土](?:曜日)?|[월화수목금토일](?:요일)?)[)）]? ?)?"
# The halves of a day, in front of a time or behind it: `05:12:33 PM`, `5:12 p. m.`, `下午5:12`, `PM 05:12`.
_FORENOON = r"上午|凌晨|清晨|早晨|早上|午前|오전|a\.? ?m(?![a-z])\.?"
_AFTERNOON = r"下午|中午|傍晚|晚上|午後|오후|p\.? ?m(?![a-z])\.?"
_HALF_DAY = rf"(?:(?P<fore>{_FORENOON})|(?P<after>{_AFTERNOON}))? ?"
_HALF_BEHIND = rf"(?: ?(?:(?P<foreb>{_FORENOON})|(?P<afterb>{_AFTERNOON})))?"
# Days without a year: of syslog, of Docker and others, klog's, Chinese, and two numbers in any order.
_NAMED_DAYS = (
    rf"(?P<n1>{_NAME}){_REST} {{1,2}}(?P<d1>\d{{1,2}}){_TH}",
    rf"(?P<d2>\d{{1,2}})(?:[-/. ]|\. | de )?(?P<n2>{_NAME}){_REST}",
    r"[IWEF](?P<m3>\d\d)(?P<d3>\d\d)",
    r"(?P<m4>\d{1,2})[月월] ?(?P<d4>\d{1,2})[日일]",
    r"(?P<a5>\d{1,2})[-/.](?P<b5>\d{1,2})\.?",
)
_TIME = (  # the last of three is Oracle's and of names of files: 02.05.11.123000 PM, 2024-03-10_17-12-33
    rf"{_JOIN}{_WEEKDAY}{_HALF_DAY}"
    r"(?P<hour>\d{1,2})(?:[:：](?P<minute>\d\d)(?:[:：](?P<second>\d\d)(?:[.,:](?P<fraction>\d{1,9}))?)?(?![\d:：])"
    r"|[时時点시] ?(?P<minutes>\d{1,2})[分분](?: ?(?P<seconds>\d{1,2})[秒초])?"
    r"|(?<=\d[ T_-]\d\d)(?P<dot>[.-])(?P<minutep>\d\d)(?P=dot)(?P<secondp>\d\d)"
    r"(?:\.(?P<fractionp>\d{1,9}))?(?![\d-]|\.\d))"
    rf"{_HALF_BEHIND}"
)
_DATED = lazy_pattern(
    rf"(?<![0-9A-Za-z])(?:{'|'.join(_DATES)}){_TIME}{_ZONE}(?:(?P<word> [A-Z]{{3,5}})? (?P<later>{_YEAR})\b)?",
    re.IGNORECASE,
)
_TIME_FIRST = lazy_pattern(  # `8:57 PM · Feb 11, 2025`
    rf"(?<![\d:.,])(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{{1,9}}))?)?"
    rf"{_HALF_BEHIND}[ ,·|]{{1,3}}(?:on )?(?:{'|'.join(_DATES[:7])})(?![\d:]|[T ]\d\d:)",
    re.IGNORECASE,
)
_OF_A_DAY = lazy_pattern(rf"(?<![0-9A-Za-z])(?<![0-9][-/.])(?:{'|'.join(_NAMED_DAYS)}){_TIME}", re.IGNORECASE)
_COMPACT = lazy_pattern(
    r"(?<![0-9A-Za-z.])(?P<y1>(?:19|20)\d\d)(?P<m1>\d\d)(?P<d1>\d\d)[T_-]?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)"
    rf"(?:[.,]?(?P<fraction>\d{{3}}))?(?!\d){_ZONE}(?![0-9A-Za-z])"
)
# What every time has, at the least. That all of it begins with a digit makes the search fast.
_MAY_BE = lazy_pattern(
    r"\d(?:(?::|%(?:25)?3[Aa])\d\d(?!\d)|[：时時点시]|\d{9}|\d{7}[T_-]\d{6}"
    r"|(?:[ T_-]|%(?:25)?20)\d\d([.-])\d\d\1\d\d)"
)
# What every time has behind its date, or in front of it; one without is digits alone.
_CLOCK = lazy_pattern(r"\d(?:[:：]\d\d|[時时點시]|[.-]\d\d[.-]\d\d)")
_AROUND_CLOCK = 160  # characters: no time begins so far in front of it, nor ends so far behind it
_WIDE_DIGITS = lazy_pattern("[０-９]{2}")
# Signs that are escaped in links and JSON, full-width digits and blanks of other widths, each with what it stands for.
_ESCAPED = lazy_pattern(r"%(?:25)?(2[0-46-9A-Fa-f]|3[A-Fa-f]|5[B-Fb-f]|7[B-Eb-e])|\\(/)|&(nbsp);")
_WIDE = str.maketrans("０１２３４５６７８９：／－．\u00a0\u202f\u3000", "0123456789:/-.   ")
_NUMBER = lazy_pattern(r"(?<![\w.])(?:\d{10}(?:\.(?P<f>\d{1,9}))?|\d{13}|\d{16}|\d{19})(?![\w.])")
LONGEST_NAME = 40
_CELL_ENDS = tuple(",;|\t")
_NAMED = lazy_pattern(
    r"(?:(?:\b|_|@)(?:ts|time|timestamp|timemillis|epoch(?:second|millis)?|datetime|__time__"
    r"|(?:event|log)_?time|realtime_timestamp)[\"']?\s*[=:]\s*[\"']?)\Z",
    re.IGNORECASE,
)
# Names of times that are to come: a delivery, an expiry. Such a time is not that of its line. Each has one of these
# marks, of which the scan looks for the first three bytes. A mark alone says nothing: `OrderDeliveryService: `.
DUE = ("deliver", "delay", "expir", "schedul", "visible", "due", "投递", "延", "过期", "定时", "预")
# What is delivered or expired is past.
_TO_COME = "(?i:delivery?|delay(?:ed)?|expir(?:es?|y|ation)|scheduled?|(?:in)?visible|due)"
_OF_TIME = "(?i:(?:(?:date)?time(?:stamp)?|at|date|until)(?:[ _-]?(?:ms|millis))?|ms|millis)"
_DUE = lazy_pattern(
    rf"(?:(?:(?<![A-Za-z])|(?<![A-Z])(?=[A-Z])|(?<=START)){_TO_COME}[ _-]?{_OF_TIME}"  # a whole word of the name
    rf"|(?<![\w.-]){_TO_COME}|(?:投递|过期|延[迟时期])时间|延[迟时期][到至]|定时(?:投递|发送)?(?:时间|[到至于])"
    r"|预计\w{0,8}|预定\w{0,8}时间)\Z"
)
_AROUND = "\"' \\[("
# A field in front of a time, and how its name ends if it is one of times. Others have the time as their whole value.
_FIELD = lazy_pattern(
    r"(?:(?:\A|(?<=[\s\"'{\[(,;|&?<>]))(?P<before>[A-Za-z][a-z]{1,19}) )?"
    r"(?<![\w.@$-])(?P<name>[\w.@$-]+)(?P<quote>\\{0,7}[\"'])?(?: ?(?P<sign>[:：=])[ \"'\\\[({]*| ?)\Z"
)
_TAG = lazy_pattern(r"<(?:[\w-]+:)?(?P<name>[\w.-]+)>[ \"']*\Z")
# What a bracket has in front that holds a body: `"order":{`, `body=Order(`, `data=[`, `"body":"{`; not `INFO: [`.
_HOLDER = lazy_pattern(
    r"(?<![\w.@$-])(?P<name>[\w.@$-]+)(?:\\{0,7}[\"'] ?:|=|(?<=\w) ?:(?=[ \"'\\]{0,9}[\w.]{0,40}[{(]))"
    r" ?(?:\\{0,7}[\"'])?[\w.]{0,40}[{\[(]\Z"
)
_OWN_HOLDERS = frozenset(
    ("instant", "meta", "metadata", "log", "event", "source", "fields", "header", "headers", "message")
)
_BRACKET = lazy_pattern(r"[{}\[\]()]")
_HELD = 1_000  # characters on either side in which its brackets are looked for
_DAY_OF_WEEK = lazy_pattern(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? ?\Z", re.IGNORECASE)
_TIMELY = lazy_pattern(
    r"(?:(?i:time|date|birthday|stamp|_at|_on|gmt_?(?:create|modified)|created?|modified|updated)|[a-z](?:At|On)"
    r"|\A(?:at|on)|时间|日期|生日)\Z"
)
_WHOLE_VALUE = lazy_pattern(r"\\{0,7}[\"',;)}\]<|]|\s*\Z| ?(?:[~～—–至到-]|to) ?\d")
_RANGE = lazy_pattern(r"[ \t\"'\\,~～—–至到/-]{0,6}(?:to )?")
# What is in front of a time of something else in a sentence, a banner or a statement of SQL, and behind a parameter.
_ABOUT = lazy_pattern(
    r"(?:(?<![\w.-])(?i:for|of|since|until|till|from|before|after|by|than|planned|scheduled|due|build|built|version"
    r"|copyright|released?|generated|dated|completed) |(?:计划|自|从|至|截止|预计|[将定]于|有效期|版本|上线) ?)\Z"
)
_CAST = lazy_pattern(r"\((?:Timestamp|(?:Local|Offset|Zoned)?Date(?:Time)?|Time|Instant|String)\)")
_COMPARED = lazy_pattern(r"[\w)`\"'] ?(?: [<>]=?|<|[<>!]=) ?['\"]?\Z")
SQL = lazy_pattern(
    r"\b(?:(?:insert(?: ignore)?|replace) into\b|update \S+ set\b|values ?\(|select .{1,2000}? from\b|where\b)",
    re.IGNORECASE,
)
_HEADLINE = lazy_pattern(  # two words or more
    r"[ \t#*=~/;:!-]*(?!(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b)[^\W\d_]+(?:[ :：,.'-]+[^\W\d_]+)+ ?[:：]? ?\(?"
)
_TIME_FIELD = lazy_pattern(r"[\s*•-]*[\"']?(?P<name>[^\W\d_](?:[\w -]{0,38}\w)?)[\"']?\s*[:：|=]\s*[\"'(\[]?")
# Names of the time of a line, of an alarm, or of a message on its way; any other is of what a message is about.
_OWN_TIME = lazy_pattern(
    r"(?:born|sen[dt]|produced?|consumed?|consuming|receiv(?:e|ed|ing)|recv|pull(?:ed)?|ack(?:ed)?|fail(?:ed|ure)?"
    r"|retr(?:y|ied)|alarm|alert|trigger(?:ed)?|fired?|occur(?:red)?|error|exception|happen(?:ed)?|log(?:ged)?|event"
    r"|record(?:ed)?|print(?:ed)?|writ(?:e|ten)|current|sys(?:tem)?|local|server|client|msg|message|mq|trace|span"
    r"|access|report(?:ed)?|collect(?:ed)?|delivered)?"
    r"(?:(?:date)?time(?:stamp|millis)?|ts|date|at|on)|realtimetimestamp|epoch(?:second|millis)?|t|now|asctime|timelocal|timeiso8601"
    r"|log|message|msg|line|content"
    r"|(?:日志|打印|当前|告警|报警|触发|发生|异常|错误|失败|消费|接收|收到|发送|生产|记录|系统|上报|采集|重试|消息|首次"
    r"|最近|最后|本次)*(?:时间戳?|日期)"
)
_BORN = lazy_pattern(r"born_?timestamp[^0-9A-Za-z]{1,12}(\d{12,14})(?!\d)", re.IGNORECASE)
_STORED = lazy_pattern(r"store_?timestamp[^0-9A-Za-z]{1,12}(\d{12,14})(?!\d)", re.IGNORECASE)
_PREFIX = lazy_pattern(
    r"(?<!\d)((?:19|20)\d\d)[-/](\d\d)[-/](\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(?:[ \u00a0\u202f]?(?:([AaPp])\.?[ \u00a0]?[Mm](?![A-Za-z0-9_])\.?|(上午|午前|오전)|(下午|午後|오후)))?"
    r"(\s?(?:Z\b|[+-]\d\d:?\d\d\b|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?\b|\b(?![+-])))"
    r"|(?:\+(?:0\d|1[0-4])|-(?:0\d|1[0-2]))(?![\w:.,/+-]|[^\x00-\x7f]))?"  # as PostgreSQL has zones
)
_PREFIX_WITHIN = 160
_STORE_TIME = r"store[_ -]?(?:date)?time(?:stamp)?|存储时间|存儲時間"
_STORED_TIME = lazy_pattern(
    rf"(?:{_STORE_TIME})[\"']?\s{{0,9}}[:：=]?\s{{0,9}}[\"'\[]?(?:(\d{{13}})(?!\d)|(?=\d))", re.IGNORECASE
)
STORE_HEAD = lazy_pattern(rf"\s{{0,80}}(?:{_STORE_TIME})\s{{0,80}}", re.IGNORECASE)  # of a column
_SIZES = sorted({layout.digits for layout in LAYOUTS.values() if layout.kind == "uniq"})
_ID = lazy_pattern(rf"(?<![0-9A-Fa-f])(?:{'|'.join(f'[0-9A-Fa-f]{{{size}}}' for size in _SIZES)})(?![0-9A-Fa-f])")


def born_marks(text: str) -> list[tuple[int, int]]:
    """Each bornTimestamp of a text: where its name begins, and its ms."""
    return [(mark.start(), int(mark[1])) for mark in _BORN.finditer(text)]


def stored_marks(text: str) -> list[tuple[int, int]]:
    """Each storeTimestamp of a text, as `born_marks` has them."""
    return [(mark.start(), int(mark[1])) for mark in _STORED.finditer(text)]


def stored_time(line: str) -> StoredTime | None:
    """The time at which a broker stored a message, by its name.

    >>> str(stored_time("StoreTime: 2026-09-20 15:00:00"))
    '2026-09-20 15:00:00'
    """
    named = _STORED_TIME.search(line)
    if named is None:
        return None
    time = moment_at_ms(int(named[1])) if named[1] else prefix_time(line[named.end() :][:40])
    return None if time is None else StoredTime.fromisoformat(time.isoformat())


def moment_at_ms(ms: int) -> datetime:
    """An epoch as a datetime."""
    return (_EPOCH + timedelta(milliseconds=ms)).replace(tzinfo=UTC)


def prefix_time(line: str) -> datetime | None:
    """The time a log line opens with, if it does; naive where it names no zone."""
    match = _PREFIX.search(line, 0, _PREFIX_WITHIN)
    if match is None or is_due(line, match.start()) or is_of_body(line, *match.span()):
        return None
    *parts, fraction, letter, fore, after, zone = match.groups()
    numbers = [*map(int, parts), int((fraction or "0").ljust(6, "0")[:6])]
    if letter or fore or after:
        numbers[3] = _of_half_day(numbers[3], after or (letter or "").upper().replace("A", ""))
    try:
        time = datetime(*numbers)  # type: ignore[arg-type]
        if zone is not None:
            return time.replace(tzinfo=timezone(timedelta(minutes=_minutes(zone))))
    except ValueError:
        return None
    named = zone_beside(line, *match.span(), time)
    return time if named is None else _in_named(time, named)


def _in_named(wall: datetime, zone: NamedZone) -> datetime:
    """A time in the zone that its line names; naive, with the choices, where several places have that name."""
    if zone.ahead is not None:
        return wall.replace(tzinfo=timezone(timedelta(minutes=zone.ahead)))
    time = OpenTime.fromisoformat(wall.isoformat())
    time.zone_name, time.choices = zone
    return time


def is_due(line: str, start: int) -> bool:
    """Whether the name of a value says that it is a time to come.

    >>> is_due('{"deliverTime":"2027-03-20 10:10:10"}', 16)
    True
    """
    name = line[max(0, start - LONGEST_NAME) : start].rstrip(_AROUND)
    if not name.endswith((":", "：", "=")):
        return False
    lower = name.lower()
    return any(mark in lower for mark in DUE) and _DUE.search(name[:-1].rstrip(_AROUND)) is not None


def is_of_body(line: str, start: int, end: int) -> bool:
    """Whether the name of a time says that it is of what a message is about, and not of the line or of the message.

    >>> is_of_body('{"createTime":"2021-03-04 05:06:07"}', 15, 34), is_of_body("time=2021-03-04 05:06:07", 5, 24)
    (True, False)
    """
    if _is_held(line, start, end):
        return True
    before = line[max(0, start - LONGEST_NAME) : start]
    if not before.strip():
        return False
    before = _DAY_OF_WEEK.sub("", before)
    field = _TAG.search(before) or _FIELD.search(before)
    if _ABOUT.search(before) is not None or _CAST.match(line, end) is not None:
        return True
    if field is None:
        return _COMPARED.search(before) is not None or (before.endswith("'") and SQL.search(line, 0, start) is not None)
    name, part = field["name"].rpartition(".")[2], field.groupdict()
    is_word = part.get("sign") != "=" and part.get("quote") is None
    if part.get("before") and is_word and name.lower() in ("time", "date", "at", "on", "timestamp"):
        name = f"{part['before']}_{name}"
    if _OWN_TIME.fullmatch(name.replace("_", "").replace("-", "").lstrip("@").lower()) is not None:
        return False
    if _TIMELY.search(name) is not None:
        return zone_in_front(before, _EPOCH.replace(year=_LEAP_YEAR)) is None  # `Tokyo time: ` is of the line
    is_value = part.get("sign") == "=" or (part.get("quote") is not None and part.get("sign") is not None)
    return is_value and _WHOLE_VALUE.match(line, end) is not None


def _is_held(line: str, start: int, end: int) -> bool:
    """Whether a time is in brackets that a name of something else has, and that no ID is in."""
    closed = 0
    for bracket in reversed([*_BRACKET.finditer(line, max(0, start - _HELD), start)]):
        sign, at = bracket[0], bracket.start()
        if sign in "}])":
            closed += 1
        elif closed:
            closed -= 1
        elif (holder := _HOLDER.search(line, max(0, at - 90), at + 1)) is not None:
            name = holder["name"].rpartition(".")[2].strip("_@").lower()
            if name not in _OWN_HOLDERS and _OWN_TIME.fullmatch(name) is None and _ID.fullmatch(holder["name"]) is None:
                return _ID.search(line, at, _end_of(line, end)) is None
    return False


def _end_of(line: str, start: int) -> int:
    """Where the brackets around a place end."""
    depth, end = 0, min(len(line), start + _HELD)
    for bracket in _BRACKET.finditer(line, start, end):
        depth += 1 if bracket[0] in "{[(" else -1
        if depth < 0:
            return bracket.start()
    return end


def is_headline(line: str) -> bool:
    """Whether a line is of words with a time that is not called its own: a banner, the head of a report.

    >>> is_headline("=== Report of orders 2025-01-01 00:00:00 ==="), is_headline("Born Time: 2025-01-01 00:00:00")
    (True, False)
    """
    first = _PREFIX.search(line, 0, _PREFIX_WITHIN)
    if first is None or _HEADLINE.fullmatch(line, 0, first.start()) is None:
        return False
    field = _FIELD.search(line[: first.start()])
    return field is None or _OWN_TIME.fullmatch(f"{field['before'] or ''}{field['name']}".lower()) is None


def is_time_field(line: str) -> bool:
    """Whether a line is a field whose name is of its message's own time, and no more.

    >>> is_time_field("send_time: 2026-09-20 15:00:00"), is_time_field("time=2026-09-20 15:00:00 level=info")
    (True, False)
    """
    first = _PREFIX.search(line, 0, _PREFIX_WITHIN)
    if first is None or line[first.end() :].strip(" \t\r\"',;|)]"):
        return False
    field = _TIME_FIELD.fullmatch(line, 0, first.start())
    return field is not None and _OWN_TIME.fullmatch(re.sub("[ _-]", "", field["name"]).lower()) is not None


def line_time(line: str) -> datetime | None:
    """The time of a line that has no bornTimestamp: what the scan asks in Python.

    The one that it opens with, or else another (`moment_of`). Where no ID proves that one, and the line has a second
    (`createTime` in front of `@timestamp`), the first time that an ID proves. None where no ID proves any, but the day
    without a year that is in front: `Mar 11 20:57:47 host app: order of 2026-03-04 10:31:12`.
    """
    opening, elapsed = prefix_time(line), elapsed_of(line)
    if opening is None:
        found = moment_of(line)
        is_doubtful = found is not None and not any(map(found.is_proved_by, elapsed))
        return None if found is None or (is_doubtful and named_day(line, elapsed) is not None) else found.time
    first = _PREFIX.search(line, 0, _PREFIX_WITHIN)
    if first is None or len(line) > LONGEST or any(map(moment_at(opening).is_proved_by, elapsed)):
        return opening
    moments = tuple(moments_of(line)) if _PREFIX.search(line, first.end()) is not None else ()
    if (proved := _first_proved(moments, elapsed)) is not None:
        return proved.time
    return None if named_day(line[: first.start()], elapsed) is not None else opening


def moment_at(time: datetime) -> Moment:
    """A time that a line opens with."""
    ahead = time.utcoffset()
    wall_ms = (time.replace(tzinfo=None) - _EPOCH) // timedelta(milliseconds=1)
    named = NamedZone(time.zone_name, time.choices) if isinstance(time, OpenTime) else None
    return Moment(wall_ms, None if ahead is None else ahead // timedelta(minutes=1), 1_000, True, named)


def elapsed_of(line: str) -> list[int]:
    """The milliseconds since its month began of each string of a line that may be a msgId."""
    return [int(one[-VALUE_DIGITS:-COUNTER_DIGITS], 16) for one in _ID.findall(line)]


def may_be_dated(line: str) -> bool:
    """Whether a line may have a time at all; a long one dates nothing, and is kept nowhere."""
    return len(line) <= LONGEST and _may_be(line)


@lru_cache(maxsize=512)  # each line is looked at for itself and for each ID near it
def _may_be(line: str) -> bool:
    if _MAY_BE.search(line) is not None or "&nbsp;" in line:
        return True
    return not line.isascii() and _WIDE_DIGITS.search(line) is not None


def moment_of(line: str) -> Moment | None:
    """The time of a line: the first that an ID of it proves, else the first whose order is known.

    >>> moment_of("[2018-Mar-11 20:57:47.480](info): MsgId[0A2C0311378C18B4AAC237FF22CF0384]").time.isoformat()
    '2018-03-11T20:57:47.480000'
    """
    if not may_be_dated(line):
        return None
    elapsed, moments = elapsed_of(line), moments_of(line)
    seen = list(islice(moments, 1))  # most lines are read no further than their first time
    if (proved := _first_proved(seen, elapsed)) is not None:
        return proved
    seen += moments
    return _first_proved(seen, elapsed) or next((one for one in seen if one.sure), None)


def named_day(line: str, elapsed: Sequence[int] | None = None) -> NamedDay | None:
    """The first time without a year that an ID proves: the line's month, day and time of day are the ID's own.

    `elapsed`: the milliseconds since its month began of each ID that the line may date, by default of its own.

    >>> str(named_day("<134>Mar 11 20:57:47 host app: msgId=0A5C07010FA018B4AAC237FF22CF0000"))
    '2000-03-11 20:57:47'
    """
    if len(line) > LONGEST:
        return None
    if elapsed is None:
        elapsed = elapsed_of(line)
    proved = _first_proved(_named_days(line), elapsed)
    return None if proved is None else NamedDay.fromisoformat(proved.time.isoformat())


@kept_by_length(512)  # each line is asked for again by each ID near it
def _named_days(line: str) -> tuple[Moment, ...]:
    return tuple(_days_in(line)) if _may_be(line) else ()


def _days_in(line: str) -> Iterator[Moment]:
    line = _plain(line)
    for match in _matches(_OF_A_DAY, line):
        part = {name: text for name, text in match.groupdict().items() if text is not None}
        said = {name[0]: text for name, text in part.items() if name[-1].isdigit()}
        if "a" in said:
            first, second = int(said["a"]), int(said["b"])
            orders = [(first, second), (second, first)]
        else:
            orders = [(MONTHS[said["n"].lower()] if "n" in said else int(said["m"]), int(said["d"]))]
        for month, day in orders:
            if (moment := _moment(part, _LEAP_YEAR, month, day, False)) is not None:
                yield moment


def _plain(line: str) -> str:
    """A line with the signs of its times as most write them.

    >>> _plain("begin=2024-03-10%2017%3A12%3A33")
    'begin=2024-03-10 17:12:33'
    """
    if "%" in line or "\\/" in line or "&nbsp;" in line:
        line = _ESCAPED.sub(_unescaped, line)
    return line if line.isascii() else line.translate(_WIDE)


def _unescaped(sign: re.Match[str]) -> str:
    return chr(int(sign[1], 16)) if sign[1] else sign[2] or " "


def moments_of(line: str) -> Iterator[Moment]:
    """Every time of a line but those to come: with a date, then numbers that may be an epoch."""
    line = _plain(line)
    for pattern in (_DATED, _COMPACT, _TIME_FIRST):
        of_body = -1  # where the last time ends that is of what the message is about, not of the line
        for match in _COMPACT.finditer(line) if pattern is _COMPACT else _matches(pattern, line):
            if not is_due(line, match.start()):
                is_second = of_body >= 0 and _RANGE.fullmatch(line, of_body, match.start()) is not None
                if is_second or is_of_body(line, *match.span()):
                    of_body = match.end()
                may_be_order = match[0].isdigit() and not _opens_or_is_named(line, match)
                is_open = may_be_order or of_body == match.end()
                yield from (one._replace(sure=False) if is_open else one for one in _of_match(match))
    for number in _NUMBER.finditer(line):
        digits = number[0].partition(".")[0]
        ms = int(int(digits) * _UNITS[len(digits)])
        start = number.start()
        if _FIRST * 1_000 <= ms < _LAST * 1_000 and not is_due(line, start):
            fraction = int((number["f"] or "0")[:3].ljust(3, "0"))
            resolution = 1_000 if len(digits) == 10 and number["f"] is None else 0
            yield Moment(ms + fraction, 0, resolution, _is_time(line, start) and not is_of_body(line, *number.span()))


def _matches(pattern: re.Pattern[str], line: str) -> Iterator[re.Match[str]]:
    """The times of a pattern that has a clock: they are looked for around clocks alone, for most of a line has none."""
    start = stop = 0
    for clock in _CLOCK.finditer(line):
        if clock.start() - _AROUND_CLOCK > stop:
            yield from pattern.finditer(line, start, stop)
            start = clock.start() - _AROUND_CLOCK
        stop = clock.end() + _AROUND_CLOCK
    yield from pattern.finditer(line, start, stop)


def _opens_or_is_named(line: str, number: re.Match[str]) -> bool:
    """Whether a date without signs is a time and no number of an order: those are also first cells of a table."""
    return _is_time(line, number.start()) and (not line.startswith(_CELL_ENDS, number.end()) or number.start() > 0)


def _is_time(line: str, start: int) -> bool:
    """Whether a number has a name of times in front, or nothing: others may be numbers of orders.

    >>> _is_time("ts=20250311205747", 3), _is_time("KEYS=20250311000017", 5)
    (True, False)
    """
    before = line[max(0, start - LONGEST_NAME) : start]
    return _NAMED.search(before) is not None or not line[:start].strip(" \t[({\"'")


def _of_match(match: re.Match[str]) -> Iterator[Moment]:
    """The times that a match may mean: two where the order of day and month is open, none of an impossible date."""
    part = {name: text for name, text in match.groupdict().items() if text is not None}
    date_part = {name[0]: text for name, text in part.items() if name[-1].isdigit()}
    if "c" in date_part:
        yield from _of_short_year(part, date_part)
        return
    year = _year_of(part, date_part)
    if year is None:
        return  # `Mar 11 20:57:47` of syslog has no year
    sure = "r" not in date_part or "era" in part
    if "a" in date_part:  # 11/03 is of March or of November; where one of the two cannot be, the other is sure
        first, second = int(date_part["a"]), int(date_part["b"])
        orders = [order for order in dict.fromkeys([(second, first), (first, second)]) if order[0] <= 12]
        sure = len(orders) == 1
    else:
        month = MONTHS[date_part["n"].lower()] if "n" in date_part else int(date_part["m"])
        orders = [(month, int(date_part["d"]))]
    for month, day in orders:
        if (moment := _moment(part, year, month, day, sure)) is not None:
            yield _with_named_zone(moment, match)


def _with_named_zone(moment: Moment, match: re.Match[str]) -> Moment:
    """A time with the zone whose name is beside it, where it has none in figures."""
    if moment.ahead is not None:
        return moment
    end = match.start("word") if match.groupdict().get("word") else match.end()
    zone = zone_beside(match.string, match.start(), end, moment.time)
    if zone is None:
        return moment
    return moment._replace(open_zone=zone) if zone.ahead is None else moment._replace(ahead=zone.ahead)


def _year_of(part: dict[str, str], date_part: dict[str, str]) -> int | None:
    """The year of a date, whichever calendar has it."""
    if "r" in date_part:
        number = 1 if date_part["r"] == "元" else int(date_part["r"])
        return number + (_REIWA if part.get("era") == "令和" else _MINGUO)
    year = int(date_part.get("y") or part.get("later") or 0)
    return year - _BUDDHIST if year >= 2_500 else year or None


def _of_short_year(part: dict[str, str], date_part: dict[str, str]) -> Iterator[Moment]:
    """The times of a date whose year has two digits and may be in front or last: sure of none, the ID chooses.

    None where two of them are the same day of different months: no ID can choose.
    """
    first, last = int(date_part["c"]), int(date_part["e"])
    if "n" in date_part:
        month = MONTHS[date_part["n"].lower()]
        dates = [(first, month, last), (last, month, first)]
    else:
        middle = int(date_part["m"])
        dates = [(first, middle, last), (last, middle, first), (last, first, middle)]
    moments = {}
    for year, month, day in dict.fromkeys(dates):
        if (moment := _moment(part, 2000 + year, month, day, False)) is not None:
            moments[year, month, day] = moment
    if len({day for _, _, day in moments}) == len(moments):
        yield from moments.values()


def _moment(part: dict[str, str], year: int, month: int, day: int, sure: bool) -> Moment | None:
    hour, zone = int(part["hour"]), part.get("zone")
    fraction = part.get("fraction", part.get("fractionp"))
    if (half := next((name for name in ("fore", "after", "foreb", "afterb") if name in part), None)) is not None:
        hour = _of_half_day(hour, part[half] if half.startswith("after") else None)
    minute, second = (part.get(name, part.get(f"{name}s", part.get(f"{name}p"))) for name in ("minute", "second"))
    try:
        wall = datetime(year, month, day, hour, int(minute or 0), int(second or 0))
    except ValueError:
        return None
    ahead = None if zone is None else _minutes(zone)
    if ahead is not None and abs(ahead) >= 1_440:
        return None
    resolution = 60_000 if second is None else 1_000 if fraction is None else 0
    wall_ms = (wall - _EPOCH) // timedelta(milliseconds=1) + int((fraction or "0")[:3].ljust(3, "0"))
    return Moment(wall_ms, ahead, resolution, sure)


def _of_half_day(hour: int, after: str | None) -> int:
    """The hour of a day, of one with its half: `下午 20:57` has all of its hours, and 中午 begins at eleven."""
    if hour > 12 or (after == "中午" and hour == 11):
        return hour
    return hour % 12 + (12 if after else 0)


def _minutes(zone: str) -> int:
    sign, digits = zone.strip().lstrip("UTCGMutcgmZz")[:1], "".join(filter(str.isdigit, zone))
    if not sign:
        return 0
    minutes = int(digits[:-2]) * 60 + int(digits[-2:]) if len(digits) > 2 else int(digits) * 60
    return -minutes if sign == "-" else minutes

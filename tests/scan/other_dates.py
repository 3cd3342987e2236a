"""Times of a line in other styles, for the twin: a pattern for each style, one after the other. Knows no idcore."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

DAY = 86_400_000
EPOCH = datetime(1970, 1, 1)
ENGLISH = "jan feb mar apr may jun jul aug sep oct nov dec"
FRENCH, SPANISH = "jan fév mar avr mai juin juil aoû sep oct nov déc", "ene feb mar abr may jun jul ago sep oct nov dic"
PORTUGUESE, ITALIAN = (
    "jan fev mar abr mai jun jul ago set out nov dez",
    "gen feb mar apr mag giu lug ago set ott nov dic",
)
GERMAN, DUTCH = "jan feb mär apr mai jun jul aug sep okt nov dez", "jan feb mrt apr mei jun jul aug sep okt nov dec"
POLISH, RUSSIAN = "sty lut mar kwi maj cze lip sie wrz paź lis gru", "янв фев мар апр мая июн июл авг сен окт ноя дек"
LANGUAGES = (ENGLISH, FRENCH, SPANISH, PORTUGUESE, ITALIAN, GERMAN, DUTCH, POLISH, RUSSIAN)
MONTHS = {name: month for names in LANGUAGES for month, name in enumerate(names.split(), 1)} | {"maa": 3, "май": 5}
# What begins as other words do, and how it may go on.
RESTS = (
    "gen:naio sty:cz ene:ro lut:y lut:ego maa:rt mag:gio mai:o maj:a lug:lio lip:ca lip:iec ago:sto sie:rp set:tembre"
)
RESTS += " set:embro set:iembre out:ubro ott:obre lis:topad dic:embre dic:iembre dez:ember dez:embro gru:d mei:"
SHORT = {one.partition(":")[0] for one in RESTS.split()}
WORDS = [name if name not in SHORT else rf"{name}(?![^\W\d_])" for name in MONTHS]
WORDS += [rf"{short}(?={rest})" for short, _, rest in (one.partition(":") for one in RESTS.split()) if rest]
YEAR, NAME = r"((?:19|20)\d\d)", rf"({'|'.join(WORDS)})[^\W\d_]{{0,12}}"
TAGS, SIGNS = r"(?:</?[a-z]{1,8}>[ \t]?){1,4}", r"[\"']?[ ,;:@\[\]\t|]{0,3}[\"']?(?<=\D)"
DAY_OF_WEEK = (
    r"(?:[(（]?(?:(?:星期|周)[一二三四五六日天]|[日月火水木金土](?:曜日)?|[월화수목금토일](?:요일)?)[)）]? ?)?"
)
HALVES = {
    "上午": 0,
    "凌晨": 0,
    "早上": 0,
    "午前": 0,
    "오전": 0,
    "清晨": 0,
    "早晨": 0,
    "傍晚": 12,
    "下午": 12,
    "中午": 12,
    "晚上": 12,
    "午後": 12,
    "오후": 12,
}
HALF = rf"({'|'.join(HALVES)}|[ap]\.? ?m(?![a-z])\.?)"
OF_FIELD = r"[\"' ,;]{1,3}time[\"']? ?[:=] ?[\"']?"
TO_TIME = (
    rf"T|,? (?:at|à|às|um|om|alle|в) |{OF_FIELD}|_|\+(?=\d\d[:.-]\d\d[:.-])|-(?=\d\d[:.-]\d\d[:.-])|{TAGS}|{SIGNS}"
)
JOIN = rf"(?:{TO_TIME}){DAY_OF_WEEK}{HALF}? ?"
COLONS = r"(\d{1,2})[:：](\d\d)(?:[:：](\d\d)(?:[.,:](\d{1,9}))?)?(?![\d:：])"
LETTERS = r"(\d{1,2})[时時点시] ?(\d{1,2})[分분](?: ?(\d{1,2})[秒초])?"
OF_SIGN = r"(\d\d)(?<=\d[ T_-]\d\d){0}(\d\d){0}(\d\d)(?:\.(\d{{1,9}}))?(?![\d-]|\.\d)"
DOTS, HYPHENS = OF_SIGN.format(r"\."), OF_SIGN.format("-")
TIME = rf"(?:{COLONS}|{LETTERS}|{DOTS}|{HYPHENS})(?: ?{HALF})?"
ZONE = r"(?: ?((?:UTC|GMT)[+-]\d{1,2}(?::?\d\d)?\b|Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d\b))?"
LATER = rf"(?:(?: [A-Z]{{3,5}})? {YEAR}\b)?"
TH = "(?:st|nd|rd|th)?"
# Each with the order of its groups; the first that matches at a place counts.
STYLES = [
    (rf"{YEAR}(?:[-/.年년]|��) ?(\d{{1,2}})(?:[-/.月월]|��) ?(\d{{1,2}})(?:[日일.]|��)?", "ymd"),
    (rf"[IWEF]?{YEAR}(\d\d)(\d\d)", "ymd"),
    (rf"{YEAR}[-/. ]{NAME}[-/. ](\d{{1,2}})", "ynd"),
    (rf"(\d{{1,2}})(?:[-/. ]|\. | de ){NAME}(?:[-/. ,]{{1,2}}| de ){YEAR}(?: г\.)?", "dny"),
    *((rf"{NAME}{sign}(\d{{1,2}}){sign}{YEAR}", "ndy") for sign in ("-", "/", r"\.")),
    (rf"{NAME} {{1,2}}(\d{{1,2}}){TH},? {YEAR}", "ndy"),
    (rf"{NAME} {{1,2}}(\d{{1,2}}){TH}", "nd"),
    (rf"(\d{{1,2}})-(\d{{1,2}})-{YEAR}|(\d{{1,2}})/(\d{{1,2}})/{YEAR}|(\d{{1,2}})\.(\d{{1,2}})\.{YEAR}", "aby"),
    ("|".join(sign.join([r"(\d{1,2})"] * 3) for sign in ("-", "/", r"\.")), "cme"),
    (rf"(\d\d)-{NAME}-(\d\d)", "cne"),
    (r"(\d\d)(\d\d)(\d\d)(?= )", "cme"),
]
# Of a day without a year; each with the order of its groups, of two numbers in any.
DAYS = [
    (rf"{NAME} {{1,2}}(\d{{1,2}}){TH}", "nd"),
    (rf"(\d{{1,2}})(?:[-/. ]|\. | de )?{NAME}", "dn"),
    (r"[IWEF](\d\d)(\d\d)", "md"),
    (r"(\d{1,2})[月월] ?(\d{1,2})[日일]", "md"),
    (r"(\d{1,2})[-/.](\d{1,2})\.?", "ab"),
]
OF_DAYS = [
    (re.compile(rf"(?<![0-9A-Za-z])(?<!\d[-/.])(?:{day}){JOIN}{TIME}", re.IGNORECASE), order) for day, order in DAYS
]
OF_TIME = ["time", "timestamp", "timemillis", "datetime", "datetimestamp", "datetimemillis", "ts", "date", "at", "on"]
OF_MESSAGE = (
    "born send sent produce produced consume consumed consuming receive received receiving recv pull pulled ack"
)
OF_MESSAGE += " acked fail failed failure retry retried alarm alert trigger triggered fire fired occur occurred error"
OF_MESSAGE += (
    " exception happen happened log logged event record recorded print printed write written current sys system"
)
OF_MESSAGE += " local server client msg message mq trace span access report reported collect collected delivered"
OF_LINE = {"t", "now", "asctime", "timelocal", "timeiso8601", "log", "message", "msg", "line", "content"}
OF_LINE |= {
    "realtimetimestamp",
    "epoch",
    "epochsecond",
    "epochmillis",
    *(word + of for word in ["", *OF_MESSAGE.split()] for of in OF_TIME),
}
WORDS_OF_LINE = (
    "日志 打印 当前 告警 报警 触发 发生 异常 错误 失败 消费 接收 收到 发送 生产 记录 系统 上报 采集 重试 消息 首次"
)
CHINESE_OF_LINE = {*WORDS_OF_LINE.split(), "最近", "最后", "本次"}
ENDS = ["time", "date", "birthday", "stamp", "_at", "_on", "gmtcreate", "gmt_create", "gmtmodified", "gmt_modified"]
ENDS += ["create", "created", "modified", "updated", "时间", "日期", "生日"]
COMING = ["deliver", "delivery", "delay", "delayed", "expire", "expires", "expiry", "expiration", "schedule"]
COMING += ["scheduled", "visible", "invisible", "due"]
STAMPS = ["", "time", "timestamp", "datetime", "datetimestamp", "at", "date", "until"]
COMING_NAMES = {word + of + unit for word in COMING for of in STAMPS for unit in ("", "ms", "millis")} - {*COMING}
CHINESE = re.compile(
    r"(投递时间|过期时间|延[迟时期](时间|到|至)|定时(投递|发送|)(时间|到|至|于)|预计\w{0,8}|预定\w{0,8}时间)\Z"
)
REST = f"{JOIN}{TIME}{ZONE}{LATER}"
COMPILED = [(re.compile(rf"(?<![0-9A-Za-z])(?:{style}){REST}", re.IGNORECASE), order) for style, order in STYLES]
OF_REST = re.compile(REST).groups
BEHIND = rf"(?<![\d:.,])(\d{{1,2}}):(\d\d)(?::(\d\d)(?:[.,](\d{{1,9}}))?)?(?: ?{HALF})?[ ,·|]{{1,3}}(?:on )?"
TIME_FIRST = [
    (re.compile(rf"{BEHIND}(?:{style})(?![\d:]|[T ]\d\d:)", re.IGNORECASE), order)
    for style, order in STYLES
    if "c" not in order
]
COMPACT = re.compile(
    rf"(?<![0-9A-Za-z.]){YEAR}(\d\d)(\d\d)[T_-]?(\d\d)(\d\d)(\d\d)(?:[.,]?(\d{{3}}))?(?!\d){ZONE}(?![0-9A-Za-z])"
)
NUMBER = re.compile(r"(?<![\w.])(?:\d{10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19})(?![\w.])")
NAMED = re.compile(
    r"(?:\b|_|@)(ts|time|timestamp|timemillis|epoch|epochsecond|epochmillis|datetime|__time__|event_?time|log_?time"
    r"|realtime_timestamp)[\"']?\s*[=:]\s*[\"']?\Z",
    re.IGNORECASE,
)
ID = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{32}|[0-9A-Fa-f]{56})(?![0-9A-Fa-f])")
ZONES = {*range(-720, 841, 60), -570, -210, -150, 210, 270, 330, 345, 390, 510, 525, 570, 630, 765, 825}
Other = tuple[
    int, int | None, int, bool
]  # wall time in ms, minutes ahead, resolution in ms, whether its order is known


def other_of(line: str, ids: list[int] | None = None, by_name: bool = False) -> Other | None:
    """The first time that an ID proves, by default one of the line, else the first whose order is known."""
    if len(line) > 1 << 16:
        return None
    found = list(found_in(line))
    if by_name:
        found = [one for one in found if one[1] is None or one[3]]
    elapsed = [int(one[0][-12:-4], 16) for one in ID.finditer(line)] if ids is None else ids
    for one in found:
        if any(proves(one, ms) for ms in elapsed):
            return one
    return next((one for one in found if one[3]), None)


def proved_of(line: str, opening: tuple[int, int | None]) -> Other | None:
    """The first time of a line that an ID proves, where none proves the one that it opens with."""
    elapsed = [int(one[0][-12:-4], 16) for one in ID.finditer(line)]
    if any(proves((*opening, 1_000, True), ms) for ms in elapsed):
        return None
    return next((one for one in found_in(line) if any(proves(one, ms) for ms in elapsed)), None)


@lru_cache(maxsize=1 << 16)  # each line is asked for by some thirty others
def found_in(line: str) -> tuple[Other, ...]:
    line = plain(line)
    return (*_dated(line), *_compact(line), *_time_first(line), *_numbers(line))


def plain(line: str) -> str:
    """With the signs for what links and JSON have, and narrow digits."""
    for sign in " !\"#$&'()*+,-./:;<=>?[\\]^_{|}~" if "%" in line else "":
        line = re.sub(rf"%(?:25)?{ord(sign):02X}", lambda _, sign=sign: sign, line, flags=re.IGNORECASE)  # type: ignore[misc]
    line = line.replace("\\/", "/").replace("&nbsp;", " ")
    for wide in "" if line.isascii() else "０１２３４５６７８９：／－．\u00a0\u202f\u3000":
        line = line.replace(wide, " " if wide in "\u00a0\u202f\u3000" else chr(ord(wide) - 0xFEE0))
    return line


def day_of(line: str, elapsed: list[int]) -> datetime | None:
    """The first time without a year that an ID proves, in 2000."""
    for wall, resolution in _days_in(line):
        if any(proves((wall, None, resolution, False), ms) for ms in elapsed):
            return EPOCH + timedelta(milliseconds=wall)
    return None


def is_day_of(line: str, front: str, unproved: Other) -> bool:
    """Whether an ID of a line proves a day without a year in a part of it, but not this time."""
    elapsed = [int(one[0][-12:-4], 16) for one in ID.finditer(line)]
    return not any(proves(unproved, ms) for ms in elapsed) and day_of(front, elapsed) is not None


@lru_cache(maxsize=1 << 16)
def _days_in(line: str) -> tuple[tuple[int, int], ...]:
    """Times without a year, in 2000: wall time in ms, and its resolution."""
    found: list[tuple[int, int]] = []
    for _, _, match, order in _matches(plain(line), OF_DAYS) if len(line) <= 1 << 16 else ():
        half_day, *times, half = match.groups()[2:]
        told = dict(zip(order, match.groups()[:2], strict=True))
        days = [(told.get("a"), told.get("b")), (told.get("b"), told.get("a"))]
        if "d" in told:
            days = [(told.get("m") or str(MONTHS[told["n"].lower()]), told["d"])]
        read = (_time_of((2000, int(month or 0), int(day or 0)), half_day, times, half) for month, day in days)
        found += [one for one in read if one is not None]
    return tuple(found)


def _time_of(
    day: tuple[int, int, int], half_day: str | None, times: list[str | None], half: str | None
) -> tuple[int, int] | None:
    """Wall time in ms, and its resolution; None where it cannot be."""
    ways = times[:4], [*times[4:7], ""], times[7:11], times[11:]
    hour, minute, second, fraction = next(one for one in ways if one[0])
    clock = int(hour or 0)
    half = half_day or half
    if half and clock <= 12 and (half, clock) != ("中午", 11):
        clock = clock % 12 + HALVES.get(half, 12 * (half[0] in "pP"))
    wall = _wall(*day, clock, int(minute or 0), int(second or 0))
    resolution = 60_000 if second is None else 0 if fraction else 1_000
    return None if wall is None else (wall + int((fraction or "").ljust(3, "0")[:3]), resolution)


def proves(one: Other, elapsed: int) -> bool:
    """Whether some midnight of a first, in the zone or in a zone in use, is at most so much before or after."""
    wall, ahead, resolution, _ = one
    began = wall - elapsed
    days = range(began // DAY - 2, began // DAY + 3)
    firsts = [day * DAY for day in days if (EPOCH + timedelta(days=day)).day == 1]
    if ahead is None:
        return any(-2_000 - resolution <= began - first <= 10_000 + resolution for first in firsts)
    began -= ahead * 60_000
    starts = [first - zone * 60_000 for first in firsts for zone in ZONES]
    return any(-2_000 - resolution <= began - start <= 10_000 + resolution for start in starts)


Style = tuple[re.Pattern[str], str]
Match = tuple[int, int, re.Match[str], str]


def _matches(line: str, styles: list[Style]) -> list[Match]:
    """Where each style matches, the first of those that overlap: its place, its style, and the order of its groups."""
    matches: list[Match] = []
    for rank, (pattern, order) in enumerate(styles):
        at = 0
        while (match := pattern.search(line, at)) is not None:
            matches.append((match.start(), rank, match, order))
            at = match.start() + 1
    found: list[Match] = []
    for each in sorted(matches, key=lambda each: each[:2]):
        if not found or each[0] >= found[-1][2].end():
            found.append(each)
    return found


def _dated(line: str) -> list[Other]:
    found: list[Other] = []
    last = None
    for start, _, match, order in _matches(line, COMPILED):
        if not is_coming(line[:start]):
            own, last = _is_own(line, start, match.end(), last)
            found += _less_sure(_read(match, order), own)
    return found


def _is_own(line: str, start: int, end: int, last: int | None) -> tuple[bool, int | None]:
    """Whether a time is of the line or its message; and where one ends that is not, as the second of a range is not."""
    between = None if last is None else line[last:start]
    signs = None if between is None else [*re.sub("to $", "", between)]
    is_second = signs is not None and len(signs) <= 6 and {*signs} <= {*" \t\"'\\,~～—–至到/-"}
    if is_second or is_of_body(line[:start], line[end:]):
        return False, end
    return True, last


def _less_sure(found: list[Other], own: bool) -> list[Other]:
    return found if own else [(wall, ahead, resolution, False) for wall, ahead, resolution, _ in found]


def is_of_body(before: str, behind: str) -> bool:
    """Whether a time has a name in front that is neither of a line's own time nor of its message's."""
    if _is_held(before, behind):
        return True
    whole = before
    before = re.sub(r"(mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? ?$", "", before[-40:], flags=re.IGNORECASE)
    tag = re.search(r"<(?:[\w-]+:)?([\w.-]+)>[ \"']*$", before)
    if tag is not None:
        return _is_timely(tag[1].split(".")[-1]) and not _is_of_line(tag[1].split(".")[-1])
    if is_about(before) or re.match(rf"\((?:{'|'.join(CASTS)})\)", behind):
        return True
    if re.search(r"[\w)`\"'] ?(?: [<>]|<| ?[<>!]=) ?['\"]?$", before) and not re.search(
        r"[\w.@$-] ?= ?['\"]?$", before
    ):
        return True
    bare = before.rstrip(" \"'\\[({")
    sign = bare[-1:] if bare[-1:] in ("=", ":", "：") else ""
    rest = bare[:-1] if sign else before.removesuffix(" ")
    rest = rest.removesuffix(" ") if sign else rest
    unquoted = re.sub(r"\\{0,7}[\"']$", "", rest)
    is_quoted = unquoted != rest
    name = re.search(r"[\w.@$-]*$", unquoted)
    assert name is not None
    if not name[0]:
        return before.endswith("'") and is_sql(whole)
    own = name[0].split(".")[-1]
    word = re.search(r"(?:^|(?<=[\s\"'{\[(,;|&?<>]))([A-Za-z][a-z]{1,19}) $", unquoted[: name.start()])
    if word and sign != "=" and not is_quoted and own.lower() in ("time", "date", "at", "on", "timestamp"):
        own = f"{word[1]}_{own}"
    if _is_of_line(own):
        return False
    is_whole = re.match(r"\\{0,7}[\"',;)}\]<|]|\s*$| ?(?:[~～—–至到-]|to) ?\d", behind) is not None
    return _is_timely(own) or ((sign == "=" or (is_quoted and sign != "")) and is_whole)


CASTS = [
    *("Timestamp", "LocalDateTime", "OffsetDateTime", "ZonedDateTime", "DateTime", "LocalDate", "OffsetDate"),
    *("ZonedDate", "Date", "Time", "Instant", "String"),
]
ABOUT = {
    *("for", "of", "since", "until", "till", "from", "before", "after", "by", "than", "planned", "scheduled", "due"),
    *("build", "built", "version", "copyright", "release", "released", "generated", "dated", "completed"),
}
CHINESE_ABOUT = ("计划", "自", "从", "至", "截止", "预计", "将于", "定于", "有效期", "版本", "上线")
STATEMENTS = ("insert into", "insert ignore into", "replace into", "where")


def is_about(before: str) -> bool:
    """Whether a word says that the time behind it is of something else."""
    if before.removesuffix(" ").endswith(CHINESE_ABOUT):
        return True
    word = re.search(r"(?:^|[^\w.-])([A-Za-z]+) $", before)
    return word is not None and word[1].lower() in ABOUT


def is_sql(text: str) -> bool:
    """Whether a statement of SQL is in a text."""
    low = text.lower()
    words = any(re.search(rf"\b{one}\b", low) for one in STATEMENTS) or re.search(r"\bvalues ?\(", low)
    return bool(words or re.search(r"\bupdate \S+ set\b", low) or re.search(r"\bselect .{1,2000}? from\b", low))


def is_headline(line: str, place: int) -> bool:
    """Whether two words or more, and none that names the time of a line, are in front of a time."""
    before = line[:place]
    front = re.fullmatch(r"([^\d_]*?)[:：]? ?\(?", before)
    if front is None:
        return False
    front_words = front[1].lstrip(" \t#*=~/;:!-")
    words = re.split(r"[ :：,.'-]+", front_words.rstrip(" "))
    if len(words) < 2 or not all(word.isalpha() for word in words) or front_words.endswith("  "):
        return False
    if words[0] in ("TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL"):
        return False
    name = re.search(r"(?:(?:(?<=\s)|^)([A-Za-z][a-z]{1,19}) )?(?<![\w.@$-])([\w.@$-]+) ?[:：]? ?\(?$", before)
    return name is None or not _is_of_line(f"{name[1] or ''}{name[2]}".lower())


def is_time_field(before: str, behind: str) -> bool:
    """Whether all of a line is the name of its message's own time, and that."""
    bare = before.lstrip(" \t\r\f\v*•-").removeprefix('"').removeprefix("'")
    name = re.fullmatch(r"(\w(?:[\w -]*\w)?)[\"']?\s*[:：|=]\s*[\"'(\[]?", bare)
    if name is None or behind.strip(" \t\r\"',;|)]") or len(name[1]) > 40 or re.match(r"[\d_]", name[1]):
        return False
    return _is_of_line(name[1].replace(" ", ""))


HOLDERS = {"instant", "meta", "metadata", "log", "event", "source", "fields", "header", "headers", "message"}
HELD_BY = [
    re.compile(r"""([\w.@$-]+)\\{0,7}["'] ?: ?(?:\\{0,7}["'])?[\w.]{0,40}$"""),
    re.compile(r"""([\w.@$-]+)= ?(?:\\{0,7}["'])?[\w.]{0,40}$"""),
    re.compile(r"""([\w.@$-]*\w) ?: ?(?:\\{0,7}["'])?[\w.]{0,40}$"""),
]


def _is_held(before: str, behind: str) -> bool:
    """Whether brackets around a time have a name, and no ID is in them."""
    stack: list[int] = []
    near = before[-1_000:]
    for at, sign in enumerate(near):
        if sign in "{[(":
            stack.append(at)
        elif sign in "}])" and stack:
            stack.pop()
    for at in reversed(stack):
        ways = HELD_BY if near[at] in "{(" else HELD_BY[:2]
        names = [found[1] for way in ways if (found := way.search(near[max(0, at - 90) : at]))]
        if names:
            if ID.fullmatch(names[0]):
                continue
            name = names[0].split(".")[-1].strip("_@").lower()
            if name not in HOLDERS and name not in OF_LINE and not _is_of_line(name):
                depth, stop = 0, min(len(behind), 1_000)
                for place in range(stop):
                    depth += (behind[place] in "{[(") - (behind[place] in "}])")
                    if depth < 0:
                        stop = place
                        break
                return ID.search(f"{near[at:]} {behind[:stop]}") is None
    return False


def _is_of_line(name: str) -> bool:
    name = name.replace("_", "").replace("-", "").lstrip("@").lower()
    for end in ("时间戳", "时间", "日期"):
        if name.endswith(end):
            words = name.removesuffix(end)
            return len(words) % 2 == 0 and all(words[at : at + 2] in CHINESE_OF_LINE for at in range(0, len(words), 2))
    return name in OF_LINE


def _is_timely(name: str) -> bool:
    is_camel = re.search("[a-z](At|On)$", name) is not None or name in ("at", "on")
    return is_camel or any(name.lower().endswith(end) for end in ENDS)


def is_coming(before: str) -> bool:
    """Whether the name in front of a time says that it is to come."""
    found = re.fullmatch(r"(.*?)[\"' \\[(]*[:：=][\"' \\[(]*", before[-40:], re.DOTALL)
    if found is None:
        return False
    name = found[1]
    for at in range(len(name)):
        front, rest = name[:at], name[at:]
        begins = not re.search("[A-Za-z]$", front) or (rest[0].isupper() and not re.search("[A-Z]$", front))
        if (begins or front.endswith("START")) and re.sub("[ _-]", "", rest.lower()) in COMING_NAMES:
            return True
        if rest.lower() in COMING and not re.search(r"[\w.-]$", front):
            return True
    return CHINESE.search(name) is not None


def _time_first(line: str) -> list[Other]:
    found: list[Other] = []
    last = None
    for start, _, match, order in _matches(line, TIME_FIRST):
        if not is_coming(line[:start]):
            own, last = _is_own(line, start, match.end(), last)
            hour, minute, second, fraction, half, *date = match.groups()
            rest = [None, hour, minute, second, fraction, *[None] * 11, half, None, None]
            found += _less_sure(_told(date, rest, order), own)
    return found


def _read(match: re.Match[str], order: str) -> list[Other]:
    groups = list(match.groups())
    return _told(groups[:-OF_REST], groups[-OF_REST:], order)


def _told(date: list[str | None], rest: list[str | None], order: str) -> list[Other]:
    parts = [part for part in date if part is not None]
    half_day, *times, half, zone, later = rest
    told = dict(zip(order, parts, strict=True))
    sure = True
    if "c" in told:
        sure, days = False, _short_years(told)
    else:
        year = told.get("y") or later
        if year is None:
            return []
        if order == "aby":
            first, second_ = int(told["a"]), int(told["b"])
            days = [(int(year), month, day) for month, day in ((second_, first), (first, second_)) if month <= 12]
            days = days[:1] if first == second_ else days
            sure = len(days) == 1
        else:
            month = MONTHS[told["n"].lower()] if "n" in told else int(told["m"])
            days = [(int(year), month, int(told["d"]))]
    made = [(day, one) for day in days if (one := _time_of(day, half_day, times, half)) is not None and _fits(zone)]
    if "c" in told and any(one[2] == other[2] for one, _ in made for other, _ in made if one != other):
        return []  # the same day of two months
    return [(wall, ahead_of(zone), resolution, sure) for _, (wall, resolution) in made]


def _short_years(told: dict[str, str]) -> list[tuple[int, int, int]]:
    c, e = int(told["c"]), int(told["e"])
    if "n" in told:
        month = MONTHS[told["n"].lower()]
        days = [(c, month, e), (e, month, c)]
    else:
        m = int(told["m"])
        days = [(c, m, e), (e, m, c), (e, c, m)]
    return [(2000 + year, month, day) for year, month, day in dict.fromkeys(days)]


def _compact(line: str) -> list[Other]:
    found: list[Other] = []
    last = None
    for match in COMPACT.finditer(line):
        *numbers, fraction, zone = match.groups()
        if is_coming(line[: match.start()]):
            continue
        wall = _wall(*map(int, numbers))
        own, last = _is_own(line, match.start(), match.end(), last)
        if wall is not None and _fits(zone):
            is_first = match.start() == 0 and line[match.end() : match.end() + 1] in [*",;|\t"]
            sure = not match[0].isdigit() or (is_time(line[: match.start()]) and not is_first)
            found.append((wall + int(fraction or 0), ahead_of(zone), 0 if fraction else 1_000, sure and own))
    return found


def _numbers(line: str) -> list[Other]:
    found: list[Other] = []
    for match in NUMBER.finditer(line):
        whole, _, fraction = match[0].partition(".")
        ms = int(whole) * 1_000 if len(whole) == 10 else int(whole[:13])
        if datetime(2010, 1, 1) <= EPOCH + timedelta(milliseconds=ms) < datetime(2100, 1, 1):
            before = line[: match.start()]
            if is_coming(before):
                continue
            rest = int(fraction.ljust(3, "0")[:3]) if fraction else 0
            sure = is_time(before) and not is_of_body(before, line[match.end() :])
            found.append((ms + rest, 0, 1_000 if len(whole) == 10 and not fraction else 0, sure))
    return found


def is_time(before: str) -> bool:
    """Whether a number is called a time, or has nothing in front."""
    return NAMED.search(before[-40:]) is not None or not before.strip(" \t[({\"'")


def _wall(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int | None:
    try:
        return round((datetime(year, month, day, hour, minute, second) - EPOCH).total_seconds()) * 1_000
    except ValueError:
        return None


def ahead_of(zone: str | None) -> int | None:
    if zone is None:
        return None
    parts = re.fullmatch(r"[A-Z]*(?:([+-])(\d{1,2}?):?(\d\d)?)?", zone, re.IGNORECASE)
    assert parts is not None, zone
    sign, hours, minutes = parts.groups()
    ahead = int(hours or 0) * 60 + int(minutes or 0)
    return -ahead if sign == "-" else ahead


def _fits(zone: str | None) -> bool:
    return abs(ahead_of(zone) or 0) < 1_440

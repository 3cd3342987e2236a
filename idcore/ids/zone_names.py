"""Zones that a text names beside a time: `Asia/Tokyo`, `CST`, `+8:00`, `北京时间`. Reads no time.

An abbreviation or a place is the zone of every place that has it, by the IANA data of the year: `JST` is one zone.
`CST` is three, and then it is open which.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from idcore.base.lazy_pattern import lazy_pattern

# Where RocketMQ runs most, first. What is in an IANA name already is not here again. People type either language.
PLACES = {
    "Asia/Shanghai": "China Beijing CST PRC 中国 北京 上海",
    "Asia/Hong_Kong": "Hong Kong 香港",
    "Asia/Taipei": "Taiwan 台湾 台北",
    "Asia/Macau": "Macao 澳门",
    "Asia/Urumqi": "Xinjiang 新疆 乌鲁木齐",
    "Asia/Singapore": "SGT 新加坡",
    "Asia/Tokyo": "Japan JST 日本 东京",
    "Asia/Seoul": "Korea KST 韩国 首尔",
    "Asia/Kolkata": "India IST Mumbai Bangalore 印度 孟买",
    "Asia/Jakarta": "Indonesia 印度尼西亚 印尼 雅加达",
    "Asia/Bangkok": "Thailand ICT 泰国 曼谷",
    "Asia/Ho_Chi_Minh": "Vietnam ICT Ho Chi Minh Hanoi 越南 胡志明 河内",
    "Asia/Kuala_Lumpur": "Malaysia MYT Kuala Lumpur 马来西亚 吉隆坡",
    "Asia/Manila": "Philippines 菲律宾 马尼拉",
    "Asia/Dubai": "Emirates Abu Dhabi 阿联酋 迪拜",
    "Asia/Riyadh": "Saudi Arabia 沙特 利雅得",
    "Asia/Karachi": "Pakistan 巴基斯坦 卡拉奇",
    "Asia/Dhaka": "Bangladesh 孟加拉 达卡",
    "Asia/Almaty": "Kazakhstan 哈萨克斯坦 阿拉木图",
    "Europe/London": "United Kingdom England GMT BST 英国 伦敦",
    "Europe/Paris": "France CET 法国 巴黎",
    "Europe/Berlin": "Germany Frankfurt CET 德国 柏林 法兰克福",
    "Europe/Amsterdam": "Netherlands 荷兰 阿姆斯特丹",
    "Europe/Dublin": "Ireland 爱尔兰 都柏林",
    "Europe/Madrid": "Spain 西班牙 马德里",
    "Europe/Rome": "Italy 意大利 罗马",
    "Europe/Zurich": "Switzerland 瑞士 苏黎世",
    "Europe/Warsaw": "Poland 波兰 华沙",
    "Europe/Istanbul": "Turkey 土耳其 伊斯坦布尔",
    "Europe/Moscow": "Russia MSK 俄罗斯 莫斯科",
    "America/New_York": "New York USA US Eastern EST EDT Virginia 美国东部 纽约 弗吉尼亚",
    "America/Chicago": "USA US Central CST CDT 美国中部 芝加哥",
    "America/Denver": "USA US Mountain MST MDT 美国山地 丹佛",
    "America/Los_Angeles": "Los Angeles USA US Pacific PST PDT California Oregon 美国西部 洛杉矶 硅谷",
    "America/Toronto": "Canada 加拿大 多伦多",
    "America/Vancouver": "Canada 加拿大 温哥华",
    "America/Mexico_City": "Mexico City 墨西哥城",
    "America/Sao_Paulo": "Brazil BRT Sao Paulo 巴西 圣保罗",
    "America/Argentina/Buenos_Aires": "Buenos Aires 阿根廷 布宜诺斯艾利斯",
    "Africa/Johannesburg": "South Africa 南非 约翰内斯堡",
    "Africa/Lagos": "Nigeria 尼日利亚 拉各斯",
    "Africa/Cairo": "Egypt 埃及 开罗",
    "Africa/Nairobi": "Kenya 肯尼亚 内罗毕",
    "Australia/Sydney": "AEST AEDT 澳大利亚 悉尼",
    "Pacific/Auckland": "New Zealand 新西兰 奥克兰",
}

_UNIVERSAL = ("世界", "协调世界", "世界标准", "格林威治", "格林尼治", "格林威治标准", "utc", "gmt", "universal")
_CHINESE_HOURS = {sign: number for number, sign in enumerate("零一二三四五六七八九十")} | {"十一": 11, "十二": 12}
_AREA = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc|US"
_OFFSET = r"(?:UTC|GMT)?[+-]\d{1,2}:\d\d|(?:UTC|GMT)[+-]\d{1,4}|[+-]\d\d(?:\d\d)?"
_PLACE = r"[A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,9}){0,2}?"
_NAMES = (
    rf"(?P<area>(?:{_AREA})/[A-Z][A-Za-z_]{{2,30}}(?:/[A-Z][A-Za-z_]{{2,20}})?)"
    r"|东(?P<east>十[一二]|[一-九零二三四五六七八十])区(?:时间)?|西(?P<west>十[一二]|[一二三四五六七八九十])区(?:时间)?"
    r"|(?P<letters>UTC|GMT|[一-鿿]{2,6}?)(?:标准|夏令|当地)?时间"
    rf"|(?P<place>UTC|GMT|{_PLACE})(?: (?:[Ss]tandard|[Dd]aylight|[Ll]ocal|[Ss]ummer))? [Tt]ime"
)
# All that IANA has end so: a level of a log does not cost a look at the zones of the world.
_ABBREVIATION = "[A-Z]{2,3}T|UTC|MSK|WIB|WITA"
# Behind a time also an abbreviation alone, or an offset that is not as most logs have it.
_BEHIND = lazy_pattern(
    rf"[ \u00a0]?(?P<open>[(（\[【])?(?:{_NAMES}|(?P<offset>{_OFFSET})|(?P<abbr>{_ABBREVIATION}))(?![\w/])"
    r"(?(open)[)）\]】]|(?!:\S|[=.+-]\S))"
)
_LONE_OFFSET = lazy_pattern(r"(?:UTC|GMT)?[+-]\d{1,2}:\d\d\Z")  # in brackets the others are offsets, too
_BEFORE = lazy_pattern(rf"(?<!\w)[(（\[【]?(?:{_NAMES}|(?P<abbr>UTC|GMT))[)）\]】]?[ :：,，=\"']{{0,3}}\Z")
_IN_FRONT = ("ime", "间", "区", "/", "UTC", "GMT")  # each that may be in front has one of these
_LONGEST = 48  # characters of a name of a zone, with the signs around it
_FIRST_YEAR, _LAST_YEAR = 2010, 2099


class NamedZone(NamedTuple):
    """A zone of a text: its name there, and the minutes that it may be ahead of UTC: several where it is open which."""

    name: str
    choices: tuple[int, ...]

    @property
    def ahead(self) -> int | None:
        """Its minutes ahead of UTC, where only one place has the name."""
        return self.choices[0] if len(self.choices) == 1 else None


def zone_beside(text: str, start: int, end: int, wall: datetime) -> NamedZone | None:
    """The zone that stands behind a time of a text, or else in front of it; None where no name there is one.

    >>> [zone_beside(text, 0, 19, datetime(2026, 3, 4)).choices for text in
    ...  ("2026-03-04 10:31:12 JST sent", "2026-03-04 10:31:12（北京时间）", "2026-03-04 10:31:12 CST sent")]
    [(540,), (480,), (-360, -300, 480)]
    """
    if not _FIRST_YEAR <= wall.year <= _LAST_YEAR:
        return None
    behind = _BEHIND.match(text, end, end + _LONGEST) if end < len(text) else None
    if behind is not None and (zone := _zone_of(behind.groupdict(), wall)) is not None:
        return zone
    return zone_in_front(text[max(0, start - _LONGEST) : start], wall)


def zone_in_front(before: str, wall: datetime) -> NamedZone | None:
    """The zone that a text in front of a time names: `北京时间：`, `Tokyo time: `."""
    found = _BEFORE.search(before) if any(sign in before for sign in _IN_FRONT) else None
    return None if found is None else _zone_of(found.groupdict(), wall)


def _zone_of(part: dict[str, str | None], wall: datetime) -> NamedZone | None:
    if offset := part.get("offset"):
        if part["open"] is None and _LONE_OFFSET.match(offset) is None:
            return None  # `+0800` and `UTC+8` are read with the time
        return _of_minutes(offset, _minutes(offset))
    if hours := part["east"] or part["west"]:
        ahead = 60 * _CHINESE_HOURS[hours]
        return _of_minutes(f"{'东' if part['east'] else '西'}{hours}区", ahead if part["east"] else -ahead)
    if area := part["area"]:
        offset_there = _offset_of(area, wall)
        return None if offset_there is None else _of_minutes(area, offset_there)
    name = part["letters"] or part["place"] or part["abbr"] or ""
    if name.lower() in _UNIVERSAL:
        return NamedZone(name, (0,))
    if abbreviation := part["abbr"]:
        choices = _abbreviations(wall.year).get(abbreviation) or _offsets(_places().get(name, ()), wall)
    else:
        choices = _offsets(_places().get(name.lower(), ()), wall)
    return NamedZone(name, tuple(sorted(choices))) if choices else None


def _of_minutes(name: str, ahead: int) -> NamedZone | None:
    return NamedZone(name, (ahead,)) if -12 * 60 <= ahead <= 14 * 60 else None


def _minutes(offset: str) -> int:
    """`+8:00`, `UTC+8`, `-0330` in minutes."""
    sign, digits = offset.lstrip("UTCGM")[:1], "".join(filter(str.isdigit, offset))
    minutes = int(digits[:-2]) * 60 + int(digits[-2:]) if len(digits) > 2 else int(digits) * 60
    return -minutes if sign == "-" else minutes


@lru_cache(maxsize=1_024)
def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _offset_of(name: str, wall: datetime) -> int | None:
    zone = _zone(name)
    ahead = None if zone is None else wall.replace(tzinfo=zone).utcoffset()
    return None if ahead is None else ahead // timedelta(minutes=1)


def _offsets(names: Iterable[str], wall: datetime) -> frozenset[int]:
    """What some zones are ahead at a time of their own clocks."""
    return frozenset(ahead for name in names if (ahead := _offset_of(name, wall)) is not None)


@lru_cache(maxsize=1)
def _places() -> dict[str, tuple[str, ...]]:
    """The zones of each word for a place, in lower case, and of each abbreviation that PLACES has, as it is written."""
    found: dict[str, list[str]] = {}
    for name, words in PLACES.items():
        one_word = words.split()
        pairs = [f"{one} {other}" for one, other in pairwise(one_word)]
        city = name.rpartition("/")[2].replace("_", " ")
        for word in (*one_word, *pairs, city):
            found.setdefault(word if word.isupper() and word.isascii() else word.lower(), []).append(name)
    return {word: tuple(names) for word, names in found.items()}


@lru_cache(maxsize=8)
def _abbreviations(year: int) -> dict[str, frozenset[int]]:
    """The minutes ahead of UTC of all zones that have an abbreviation in a year, in winter or summer."""
    found: dict[str, set[int]] = {}
    for name in available_timezones():
        zone = _zone(name)
        for month in (1, 7) if zone is not None else ():
            local = datetime(year, month, 15, tzinfo=UTC).astimezone(zone)
            ahead = local.utcoffset() or timedelta()
            found.setdefault(local.tzname() or "", set()).add(ahead // timedelta(minutes=1))
    return {name: frozenset(minutes) for name, minutes in found.items() if name.isalpha()}

"""Time zones as people look for them: by place, by country, by offset, in English or Chinese. Has no clock."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from idcore.presentation.times import offset_text, zone_names, zone_of

# Where RocketMQ runs most, first. What is in an IANA name already is not here again. People type either language.
PLACES = {
    "Asia/Shanghai": "China Beijing CST PRC 中国 北京 上海",
    "Asia/Hong_Kong": "Hong Kong 香港",
    "Asia/Taipei": "Taiwan 台湾 台北",
    "Asia/Macau": "Macao 澳门",
    "Asia/Urumqi": "Xinjiang 新疆 乌鲁木齐",
    "Asia/Singapore": "新加坡",
    "Asia/Tokyo": "Japan JST 日本 东京",
    "Asia/Seoul": "Korea KST 韩国 首尔",
    "Asia/Kolkata": "India IST Mumbai Bangalore 印度 孟买",
    "Asia/Jakarta": "Indonesia 印度尼西亚 印尼 雅加达",
    "Asia/Bangkok": "Thailand 泰国 曼谷",
    "Asia/Ho_Chi_Minh": "Vietnam Ho Chi Minh Hanoi 越南 胡志明 河内",
    "Asia/Kuala_Lumpur": "Malaysia Kuala Lumpur 马来西亚 吉隆坡",
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
    "America/Sao_Paulo": "Brazil Sao Paulo 巴西 圣保罗",
    "America/Argentina/Buenos_Aires": "Buenos Aires 阿根廷 布宜诺斯艾利斯",
    "Africa/Johannesburg": "South Africa 南非 约翰内斯堡",
    "Africa/Lagos": "Nigeria 尼日利亚 拉各斯",
    "Africa/Cairo": "Egypt 埃及 开罗",
    "Africa/Nairobi": "Kenya 肯尼亚 内罗毕",
    "Australia/Sydney": "AEST AEDT 澳大利亚 悉尼",
    "Pacific/Auckland": "New Zealand 新西兰 奥克兰",
}


def ordered_names() -> tuple[str, ...]:
    """UTC, the zones of PLACES, then every other by its name."""
    return tuple(dict.fromkeys(("UTC", *PLACES, *zone_names())))


def options(*first: str | None) -> list[str]:
    """Some zones first, then every other."""
    return list(dict.fromkeys([*filter(None, first), *ordered_names()]))


def label(name: str, at: datetime, shown: str | None = None) -> str:
    """`+08:00 Asia/Shanghai · China … UTC+8 GMT+8`: the present offset, the name, and what else people type for it.

    `shown` takes the place of the name.
    """
    return _label(name, at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0), shown)


@lru_cache(maxsize=2048)
def _label(name: str, at: datetime, shown: str | None) -> str:
    """The label of a quarter of an hour, one text for all visitors: each has six hundred of them."""
    offset, words = _offset_and_words(name, at)
    if name == offset:
        return f"UTC{offset}"  # the other spellings would be the same once more
    head = f"{offset} {shown or name}"
    return f"{head} · {words}" if words else head


def _offset_and_words(name: str, at: datetime) -> tuple[str, str]:
    zone = zone_of(name)
    if zone is None:
        return "", ""
    own = "" if name in PLACES or "_" not in name else name.rpartition("/")[2].replace("_", " ")
    # `+8`, `-3:30`; nothing for UTC itself.
    offset = offset_text(at.astimezone(zone))
    hours, minutes = int(offset[1:3]), offset[4:6]
    short = f"{offset[0]}{hours}{'' if minutes == '00' else f':{minutes}'}" if offset != "+00:00" else ""
    words = (PLACES.get(name, own), *(f"{start}{short}" for start in ("UTC", "GMT") if f"{start}{short}" != name))
    return offset_text(at.astimezone(zone)), " ".join(filter(None, words))

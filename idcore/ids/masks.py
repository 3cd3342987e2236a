"""What a mask leaves of an ID: which digits are seen, of which kind, and what they say."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

from idcore.base.layout import CLIENT_START, CLIENT_V1, OFFSET_V4, OFFSET_V6, UNIQ_V4, UNIQ_V6, VALUE_DIGITS, Layout
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids import makers, rules
from idcore.ids.clock import CLIENT_EPOCH_S, from_ms
from idcore.ids.model import Kind

OFFSET_NAMES = frozenset({"offsetmsgid", "offsetid", "offset_msg_id", "origin_message_id"})
SIZE = UNIQ_V4.digits
SIZE_V6 = UNIQ_V6.digits
_UNIQS = {layout.digits: layout for layout in (UNIQ_V4, UNIQ_V6)}
_OFFSETS = {layout.digits: layout for layout in (OFFSET_V4, OFFSET_V6)}
HIDDEN = "?"
SIGNS = ("*", "…", "..", "xx", "XX", "•", "##")  # one of these is in every string with a mask
_LEAST = 8  # digits that are seen: fewer show too little
_HEX, _DOTS = "[0-9A-Fa-f]", r"(?:…{1,2}|\.{2,6})"
_MASK = rf"(?:[*•xX#]{{2,28}}|\*|{_DOTS})"
# Such a sign next to a digit: `topic=*` is none.
NEAR = lazy_pattern(rf"[*•…](?:(?<={_HEX}.)|(?={_HEX}))|(?:[*•xX#]{{2}}|\.\.)(?:(?<={_HEX}..)|(?={_HEX}))")
_PARTS = lazy_pattern(rf"({_HEX}{{1,{SIZE_V6 - 1}}})|({_DOTS})|[*•xX#]+")
_OF_V6 = lazy_pattern(r"[23]|F[C-E]", re.IGNORECASE)  # how an address of IPv6 begins, whose ids have 56 digits
_OF_V6_ALONE = lazy_pattern(r"2001|F[CD]|FE[89AB]", re.IGNORECASE)  # and how hardly one of IPv4 does
# The signs of masks, and how many of each there are at least.
_MASK_SIGNS = ((r"\*", 1), ("…", 1), ("•", 1), (r"\.", 2), ("#", 2), ("x", 2), ("X", 2))
# Behind the first 32 digits or more of such an id: a mask and the rest of it, or a mask that is no pair for bold type.
_BEHIND_V6 = lazy_pattern(
    rf"(?:{'|'.join(f'{sign}{{{least},{rules.MASK_SIGNS_MOST}}}' for sign, least in _MASK_SIGNS)})({_HEX}*)"
)
_ONLY_MASK = lazy_pattern(r"\*{3}|•{3}|#{3}")
_SEEN = lazy_pattern(rf"{_HEX}{{{SIZE - VALUE_DIGITS},{SIZE + 1}}}")
_LITTLE_ENDIAN = lazy_pattern(r"01..007F", re.IGNORECASE)  # of 127.0.x.1, which C++ clients turn round
_WHOLE_LOADER = lazy_pattern(rf"{_HEX}{{8}}")
_RUN = rf"{_HEX}{{1,{SIZE_V6 - 1}}}"
MASKED = lazy_pattern(rf"(?<![0-9A-Za-z*….•#])(?:{_MASK})?{_RUN}(?:{_MASK}{_RUN}){{0,3}}(?:{_MASK})?(?![0-9A-Za-z])")


def digits_of(text: str) -> str | None:
    """The 32 digits of a msgId with `?` for each that is hidden; None where too little is left, or nothing hidden.

    A decimal with only a mask behind it is none, unless its loader is known or each hidden digit has its sign.
    Digits in front are its first, those behind the last mask its last. What is between two masks has its place if the
    signs make 32 in all, or if it is then the loader of a known client.

    >>> digits_of("AC11…0001"), digits_of("7F000001****58644D46...")
    ('AC11????????????????????????0001', '7F000001????58644D46????????????')
    """
    parts = list(_PARTS.finditer(text))
    seen = [part for part in parts if part[1]]
    count = sum(len(part[0]) for part in seen)
    if count < _LEAST or count >= SIZE or len(seen) == len(parts):
        return None
    digits, has_tail = _placed(parts, SIZE)
    is_hex = has_tail or not all(part[0].isdecimal() for part in seen)  # else a decimal that goes on
    is_of_v4 = _is_whole(parts, SIZE) or _has_known_loader(digits) or (is_hex and _OF_V6.match(digits) is None)
    return digits if len(digits) == SIZE and is_of_v4 else None


def _placed(parts: list[re.Match[str]], size: int) -> tuple[str, bool]:
    """The digits of an ID of so many with `?` for each that is hidden, and whether its last are seen."""
    seen = [part for part in parts if part[1]]
    end = parts[-1].end()
    head = seen[0][0] if seen[0].start() == 0 else ""
    tail = seen[-1][0] if seen[-1].end() == end and seen[-1].start() > 0 else ""
    digits = head + HIDDEN * (size - len(head) - len(tail)) + tail
    dots = next((part.start() for part in parts if part[2]), end)
    for part in seen:
        put = digits[: part.start()] + part[0] + digits[part.end() :]
        if len(put) == size and part.start() < dots and (_is_whole(parts, size) or _has_known_loader(put)):
            digits = put
    return digits.upper(), tail != ""


def _is_whole(parts: list[re.Match[str]], size: int) -> bool:
    """Whether each hidden digit of an ID has its sign."""
    return parts[-1].end() == size and not any(part[2] for part in parts)


def _digits_of_v6(text: str) -> str | None:
    """The 56 digits of an ID with an address of IPv6, as `digits_of` those of IPv4.

    Fewer than 33 are those only if hardly an address of IPv4 begins so, or each hidden digit has its sign.
    """
    parts = list(_PARTS.finditer(text))
    seen = [part for part in parts if part[1]]
    count = sum(len(part[0]) for part in seen)
    if not _LEAST <= count < SIZE_V6 or "".join(part[0] for part in seen).islower():
        return None
    digits, has_tail = _placed(parts, SIZE_V6)
    if len(digits) != SIZE_V6 or _OF_V6.match(digits) is None:
        return None
    is_hex = has_tail or not all(part[0].isdecimal() for part in seen)
    is_alone = is_hex and _OF_V6_ALONE.match(digits) is not None
    return digits if count > SIZE or _is_whole(parts, SIZE_V6) or is_alone else None


def is_cut_v6(digits: str, behind: str) -> bool:
    """Whether digits in front of a text are the first of an ID with an address of IPv6, whose rest is masked.

    >>> is_cut_v6("20010DB885A3000000008A2E03707334", "****AD33"), is_cut_v6("20010DB885A3000000008A2E03707334", "** ")
    (True, False)
    """
    if not SIZE <= len(digits) < SIZE_V6 or _OF_V6.match(digits) is None:
        return False
    mask = _BEHIND_V6.match(behind)
    if mask is None or len(digits) > SIZE:
        return mask is not None
    return 0 < len(mask[1]) < SIZE_V6 - SIZE or (mask[1] == "" and _ONLY_MASK.match(behind) is not None)


def rest_of(text: str, label: str | None = None) -> tuple[Kind, str] | None:
    """The kind of a masked or cut ID, and its digits with `?` for each that is not seen; None where too little is.

    Its own digits come first: the loader of a known client, the usual port of a broker, the version of a 5.x msgId.
    Then the name in front of it.

    >>> rest_of("0A6400FC00002A9F00000000********", "offsetMsgId")
    ('offset', '0A6400FC00002A9F00000000????????')
    >>> rest_of("01087190669A0000073C********000003")
    ('client', '01087190669A0000073C????????000003')
    """
    digits = digits_of(text)
    if digits is None or not _has_known_loader(digits):
        digits = _digits_of_v6(text) or digits
    if digits is None and len(text) < SIZE and is_only_cut(text):
        digits = text.upper().ljust(SIZE, HIDDEN)
    if digits is not None and _has_known_loader(digits):
        return "uniq", digits
    if digits is not None and _is_of_broker(digits, label):
        return "offset", digits
    client = _client_digits(text, label is not None)
    if client is not None:
        return "client", client
    return None if digits is None else ("uniq", digits)


def _is_of_broker(digits: str, label: str | None) -> bool:
    """Whether the port is a usual one of brokers, or the name says so and the port may be one."""
    seen = digits[_OFFSETS[len(digits)].digits_of("port")]
    port = int(seen, 16) if HIDDEN not in seen else None
    if label is not None and label.lower() in OFFSET_NAMES:
        return port is None or 0 < port <= rules.PORT_LIMIT
    return port is not None and rules.is_usual_port(port)


def is_only_cut(text: str) -> bool:
    """Whether digits end without a sign."""
    return _SEEN.fullmatch(text) is not None


def _client_digits(text: str, is_named: bool) -> str | None:
    """The same of a 5.x msgId: its version is seen, it has 34 signs, or its number of signs says nothing.

    A decimal with a mask is a telephone number, unless a name is in front and its end is seen.
    """
    parts = list(_PARTS.finditer(text))
    seen = [part for part in parts if part[1]]
    count, size = sum(len(part[0]) for part in seen), CLIENT_V1.digits
    is_marked = text.startswith(CLIENT_START) and _LITTLE_ENDIAN.match(text) is None
    if not is_marked or not _LEAST <= count < size or len(text) == SIZE:
        return None
    if len(text) == size and not any(part[2] for part in parts):
        return "".join(part[0] if part[1] else HIDDEN * len(part[0]) for part in parts).upper()
    if len(seen) > 2 or (len(seen) == 2 and seen[-1].end() < len(text)):
        return None
    head, tail = seen[0][0], seen[-1][0] if len(seen) == 2 else ""
    if (head + tail).isdecimal() and not (is_named and tail):
        return None
    return (head + HIDDEN * (size - count) + tail).upper()


def is_process_seen(digits: str) -> bool:
    """Whether host, pid and loader of what is left of a msgId are seen."""
    return HIDDEN not in digits[: _UNIQS[len(digits)].digits_of("loader").stop]


def _has_known_loader(digits: str) -> bool:
    loader = digits[_UNIQS.get(len(digits), UNIQ_V4).digits_of("loader")]
    return _WHOLE_LOADER.fullmatch(loader) is not None and makers.is_known(int(loader, 16))


def is_only_ended(text: str) -> bool:
    """Whether all that is seen is one run of digits in front, with a known loader."""
    first = _PARTS.match(text)
    return first is not None and text[first.end() :].strip("*•xX#….") == "" and _has_known_loader(text)


def is_loader_known(text: str) -> bool:
    """Whether the loader of a known client is seen."""
    every = digits_of(text), _digits_of_v6(text)
    return any(digits is not None and _has_known_loader(digits) for digits in every)


def is_broker_seen(text: str) -> bool:
    """Whether the address of a broker, a usual port and the first zeros of an offset are seen: no hash has them.

    >>> is_broker_seen("0A6400FC00002A9F0000005312****"), is_broker_seen("4bf92f3500002a9f4da6a3ce929d****")
    (True, False)
    """
    rest = rest_of(text)
    if rest is None or rest[0] != "offset":
        return False
    layout = _OFFSETS[len(rest[1])]
    return HIDDEN not in rest[1][layout.digits_of("ip")] and rest[1][layout.digits_of("offset")].startswith("0000")


def values_of(kind: Kind, digits: str) -> dict[str, str]:
    """The fields of what is left of an ID, each `?` where it is hidden."""
    return {"uniq": seen_fields, "offset": _offset_fields, "client": _client_fields}[kind](digits)


def _offset_fields(digits: str) -> dict[str, str]:
    """Address, port and offset; of an offset that is seen in part its hex digits."""
    layout = _OFFSETS[len(digits)]
    offset = digits[layout.digits_of("offset")]
    shown = f"0x{offset}" if HIDDEN in offset else f"{int(offset, 16):,}"
    return {
        "host": _host(digits, layout),
        "port": _number(digits[layout.digits_of("port")]),
        "offset": shown if offset.strip(HIDDEN) else HIDDEN,
    }


def _client_fields(digits: str) -> dict[str, str]:
    """MAC, pid, time and sequence."""
    octets = (digits[at : at + 2] for at in range(2, 14, 2))
    values = {
        "mac": ":".join(HIDDEN if HIDDEN in octet else octet.lower() for octet in octets),
        "pid": _number(digits[14:18]),
        "time": HIDDEN,
        "sequence": _number(digits[26:]),
    }
    if HIDDEN not in digits[18:26] and makers.is_plausible(seconds := int(digits[18:26], 16)):
        values["time"] = f"{from_ms((CLIENT_EPOCH_S + seconds) * 1000):%Y-%m-%d %H:%M:%S} +00:00"
    return values


def _host(digits: str, layout: Layout) -> str:
    """An address, each octet of IPv4 or group of IPv6 `?` where a digit of it is hidden; that of a broker in brackets.

    >>> _host("20010DB8" + "?" * 24, UNIQ_V6)
    '2001:db8:?:?:?:?:?:?'
    """
    seen = digits[layout.digits_of("ip")]
    if layout.digits == SIZE:
        octets = (seen[at : at + 2] for at in range(0, len(seen), 2))
        return ".".join(HIDDEN if HIDDEN in octet else str(int(octet, 16)) for octet in octets)
    groups = (seen[at : at + 4] for at in range(0, len(seen), 4))
    parts = ":".join(HIDDEN if HIDDEN in group else f"{int(group, 16):x}" for group in groups)
    host = parts if HIDDEN in parts else str(IPv6Address(parts))
    return f"[{host}]" if layout is OFFSET_V6 else host


def seen_fields(digits: str) -> dict[str, str]:
    """Host, pid, loader, day of the month, time of day and counter, each `?` where it is hidden.

    >>> seen_fields("AC11????????????????????????0001")["host"]
    '172.17.?.?'
    """
    layout = _UNIQS[len(digits)]
    pid, loader, elapsed, counter = (digits[layout.digits_of(name)] for name in layout.names[1:])
    values = {
        "host": _host(digits, layout),
        "pid": _number(pid),
        "loader": HIDDEN if HIDDEN in loader else loader,
        "day": HIDDEN,
        "time": HIDDEN,
        "counter": _number(counter),
    }
    if HIDDEN not in elapsed and rules.elapsed_possible(int(elapsed, 16)):
        days, ms = divmod(int(elapsed, 16), 86_400_000)
        values["day"] = str(days + 1)
        values["time"] = f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms / 1000 % 60:06.3f}"
    return values


def _number(digits: str) -> str:
    return HIDDEN if HIDDEN in digits else str(int(digits, 16))

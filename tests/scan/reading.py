"""Reading one text for the twin: tokens, what each is, and when it was made. It refuses to know tables, and idcore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple

DAY = 86_400_000
LONGEST = 31 * DAY

# --- tokens -----------------------------------------------------------------------------------------------------------

RUN = re.compile(rb"[0-9A-Fa-f]{32,}")
NEAR = re.compile(rb"[ \"':=\[,]{0,4}\Z")
LABEL = re.compile(rb"(?:msgid|msgids|messageid|uniq_key|transactionid)\Z", re.IGNORECASE)
OTHERS = {
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
}
V6 = re.compile(rb"[23]|[Ff][C-Ec-e]")
MASK = re.compile(
    rb"(?:\*{1,28}|(?:\xe2\x80\xa6){1,28}|(?:\xe2\x80\xa2){1,28}|\.{2,28}|#{2,28}|x{2,28}|X{2,28})([0-9A-Fa-f]*)"
)
ONLY_MASK = re.compile(rb"\*{3}|#{3}|(?:\xe2\x80\xa2){3}")
TRACED = re.compile(rb"[0-9A-Fa-f]{2}-\Z"), re.compile(rb"-[0-9A-Fa-f]{16}-")
EDGE = re.compile(rb"(?P<signs>[ \"'\r,;|\t]{0,4})(?P<end>\Z|\0)?")
NOT_LETTERS, CAMEL_CASE = r"[^A-Za-z]", r"[^A-Za-z]|(?<=[a-z])(?=[A-Z])"


class Token(NamedTuple):
    """32, 34 or 56 hex digits that stand alone."""

    byte: int
    text: str
    labelled: bool
    disowned: str = ""  # what else it is called
    shown: bool = True  # whether its place shows that it may be an id


def tokens(data: bytes) -> Iterator[Token]:
    """Every candidate, in order; the digits of an escape in front of it are not its own."""
    for run in RUN.finditer(data):
        start = run.start()
        before = data[max(0, start - 2) : start]
        size = run.end() - start
        if is_masked(run[0], data[run.end() : run.end() + 112]):
            continue
        is_address = data[start - 1 : start + 4] == b"=2001" and LABEL.search(
            data[: start - 1][-16:].rstrip(b" \"':=[,")
        )
        for pattern in (
            rb"%25(?:3d|3a|22|5b|2c|20)",
            rb"=(?:3d|3a|22|5b|2c|20)",
            rb"[#\\][0-3][0-7]{2}",
            rb"\^(?-i:[A-F])",
        ):
            escape = re.match(pattern, data[start - 1 : start + 5], re.IGNORECASE) if start else None
            if (
                escape is not None
                and not is_address
                and before not in (rb"\x", rb"\u")
                and size + 1 - len(escape[0]) in (32, 34, 56)
            ):
                start += len(escape[0]) - 1
                break
        else:
            if before.endswith(b"%") or before == rb"\x":
                start += 2
            elif before == rb"\u":
                start += 4
        if start > run.start() and is_masked(data[start : run.end()], data[run.end() :][:112]):
            continue
        front = data[max(0, start - 64) : start]
        labelled = LABEL.search(front[: len(front) - len(longest_tail(front))]) is not None
        text = data[start : run.end()].decode("ascii")
        if labelled and (len(text) == 33 or (len(text) == 34 and not text.startswith("01"))):
            one = classify(text[:32], labelled)
            if isinstance(one, Uniq) and one.layout == "uniq_v4" and is_known(one.loader):
                yield Token(start, text[:32], labelled)
                continue
        if len(text) in (32, 34, 56):
            front = data[max(0, start - 64) : start].rpartition(b"\n")[2]
            behind = data[run.end() : run.end() + 64].partition(b"\n")[0]
            traced = len(text) == 32 and text == text.lower() and TRACED[0].search(front) and TRACED[1].match(behind)
            name = "traceparent" if traced else called(data[max(0, start - 64) : start].decode("latin-1"))
            yield Token(start, text, labelled, name, is_shown(front, behind))


def is_masked(digits: bytes, behind: bytes) -> bool:
    """Whether what is behind the digits of an IPv6 address hides the rest of an ID, and they are no ID of IPv4."""
    found, size = MASK.match(behind), len(digits)
    if found is None or not 32 <= size < 56 or V6.match(digits) is None:
        return False
    if size == 32 and is_known(int(digits[12:20], 16)):
        return False
    return size > 32 or 0 < len(found[1]) < 24 or (not found[1] and ONLY_MASK.match(behind) is not None)


def longest_tail(front: bytes) -> bytes:
    """Up to four characters between a label and its id."""
    found = NEAR.search(front)
    return found.group() if found else b""


def is_shown(front: bytes, behind: bytes) -> bool:
    """Whether a word of messages is near, or the line or its cell has nothing else."""
    if re.search(b"msg|mess|mq|" + "消息".encode() + b"|" + re.escape("消息".encode("gbk")), front[-32:].lower()):
        return True
    sides = [EDGE.match(front.removeprefix(b"\xef\xbb\xbf")[::-1]), EDGE.match(behind)]
    return all(found and (found["end"] is not None or set(found["signs"]) & set(b",;|\t")) for found in sides)


def called(front: str) -> str:
    """What a name in front, with one of : = > behind it, is of that is no message."""
    front = front.removesuffix("<![CDATA[")
    kept = front
    for _ in range(4):
        if front.endswith((" ", '"', ":", "=", "[", ">", "'")):
            front = front[:-1]
    if not set(kept[len(front) :]) & set(":=>"):
        return ""
    name = re.split(r"[^A-Za-z0-9_-]", re.sub(r"\\[nrt](?=[A-Za-z0-9_-]+\Z)", " ", front))[-1][-24:]
    if LABEL.search(name.encode()):
        return ""
    bare = re.sub(r"\d*\Z", "", name)
    bare = re.sub(r"[_-]*id\Z", "", bare, flags=re.IGNORECASE)
    words = [re.split(split, each)[-1].lower() for each in (name, bare) for split in (NOT_LETTERS, CAMEL_CASE)]
    return next((word for word in words if word in OTHERS), "")


# --- one token --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Uniq:
    layout: str
    host: str
    pid: int
    loader: int
    elapsed: int
    counter: int

    @property
    def process(self) -> tuple[str, str, int, int]:
        return self.layout, self.host, self.pid, self.loader


@dataclass(frozen=True)
class Offset:
    layout: str
    host: str
    port: int
    offset: int

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Client:
    mac: str
    pid: int
    seconds: int
    sequence: int
    letters: str = field(default="", compare=False)  # the last sixteen digits as they were written

    @property
    def way(self) -> tuple[str, bool]:
        """How its seconds are meant, and whether that is clear."""
        turned, sequence = (int.from_bytes(n.to_bytes(4, "big"), "little") for n in (self.seconds, self.sequence))
        big, little = (15_638_400 <= n <= 631_152_000 for n in (self.seconds, turned))
        lower, upper = any(c in "abcdef" for c in self.letters), any(c in "ABCDEF" for c in self.letters)
        if self.seconds % 1000 == 0 and self.seconds <= LONGEST + 1000:
            if lower:
                return "rust", True
            if not upper:
                return "rust", not (big or little)
            if not (big or little):
                return "rust", True
        if big:
            return ("little" if little and sequence < self.sequence else "big"), not little or sequence != self.sequence
        return ("little" if little else "big"), True


class Refused(NamedTuple):
    reason: str


PRIVATE = [ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8")]
MORE_LOADERS = {0xAC4C820C, 0xCEF51E0A, 0x7C84929B, 0x11524711}


def number(raw: bytes, start: int, size: int) -> int:
    return int.from_bytes(raw[start : start + size], "big")


def little(raw: bytes, start: int, size: int) -> int:
    return int.from_bytes(raw[start : start + size], "little")


@cache
def host(raw: bytes) -> str:
    return str(IPv4Address(raw) if len(raw) == 4 else IPv6Address(raw))


def is_known(loader: int) -> bool:
    """Whether a known client has this loader."""
    return loader in stream() or loader in MORE_LOADERS


def is_usual(loader: int) -> bool:
    """Whether a launch without an agent has it: chance has one of the later ones too."""
    return loader in MORE_LOADERS or stream().get(loader, (1_000, 0))[0] < 1_000


def private(raw: bytes) -> bool:
    return any(IPv4Address(raw) in network for network in PRIVATE)


@cache
def stream() -> dict[int, tuple[int, int]]:
    """HotSpot's identity hashes of the main thread: hash -> (place, bits)."""
    x = 16807 * 1234567 % (2**31 - 1)
    y, z, w = 842502087, 0x8767, 273326509
    under_31: dict[int, tuple[int, int]] = {}
    under_25: dict[int, tuple[int, int]] = {}
    for place in range(20_000):
        t = (x ^ (x << 11)) & 0xFFFFFFFF
        x, y, z = y, z, w
        w = (w ^ (w >> 19)) ^ (t ^ (t >> 8))
        under_31.setdefault(w & 0x7FFFFFFF, (place, 31))
        under_25.setdefault(w & 0x1FFFFFF, (place, 25))
    return under_25 | under_31


def classify(
    text: str, labelled: bool = False, case: str = "strict", disowned: str = ""
) -> Uniq | Offset | Client | Refused:
    """What one candidate is."""
    loader = int(text[12:20], 16)
    named = disowned == "traceparent" or (disowned in ("trace", "tid") and not is_usual(loader))
    if named and text != text.upper() and text == text.lower() and len(text) == 32:
        return Refused("trace_id")
    one = judged_alone(text, labelled or (disowned != "" and case != "strict"), case)
    if disowned and case == "strict":
        if isinstance(one, Uniq) and one.layout != "uniq_v4_le":
            return one if is_usual(one.loader) else Refused("other_name")
        if isinstance(one, Refused) and one.reason == "elapsed":  # of no known client
            return Refused("other_name")
    return one


def judged_alone(text: str, labelled: bool, case: str) -> Uniq | Offset | Client | Refused:
    raw = bytes.fromhex(text)
    if text != text.upper() and text == text.lower() and case != "any":
        return Refused("lower_case")
    if len(text) == 34:
        if raw[0] != 1:
            return Refused("version")
        mac = ":".join(f"{b:02x}" for b in raw[1:7])
        return Client(mac, number(raw, 7, 2), number(raw, 9, 4), number(raw, 13, 4), text[18:])
    h = 4 if len(text) == 32 else 16
    version = "v4" if h == 4 else "v6"
    port, offset = number(raw, h, 4), number(raw, h + 4, 8)
    if port < 65536:
        if port >= 1 and offset <= 2**48:
            if h == 4 and looks_little(raw, port, offset):
                return turned(raw)
            return Offset(f"offset_{version}", host(raw[:h]), port, offset)
        if number(raw, h + 2, 4) == 0:
            return Refused("port")
    elif h == 4 and shaped_little(raw) and not is_known(number(raw, 6, 4)):
        return turned(raw)
    loader, elapsed = number(raw, h + 2, 4), number(raw, h + 6, 4)
    if elapsed > LONGEST + 1000:
        set_back = elapsed >= 2**32 - DAY
        if not (set_back or is_known(loader) or labelled):
            return Refused("elapsed")
    return Uniq(f"uniq_{version}", host(raw[:h]), number(raw, h, 2), loader, elapsed, number(raw, h + 10, 2))


def turned(raw: bytes) -> Uniq:
    """The C++ clients 1.2.0 to 1.2.3, byte for byte the other way round."""
    return Uniq(
        "uniq_v4_le", host(raw[3::-1]), little(raw, 4, 2), little(raw, 6, 4), little(raw, 10, 4), little(raw, 14, 2)
    )


def shaped_little(raw: bytes) -> bool:
    one = turned(raw)
    small = one.pid < 64 and 0 < one.loader < 65_535 and one.counter < 256
    return small and raw[3] < 224 and one.elapsed < 32 * DAY + 3_600_000


def looks_little(raw: bytes, port: int, offset: int) -> bool:
    there, back = private(raw[:4]), private(raw[3::-1])
    if not shaped_little(raw) or (there and not back):
        return False
    usual = port in (*range(10_900, 11_000), 9_876, 10_811, 8_080, 8_081)
    if offset > 2**44:
        return raw[3] > 0 or not usual
    if usual or offset < 2**32:
        return False
    return offset >= 2**40 or (not there and (back or raw[3] == 0))


def settled(tokens: list[tuple[bytes, Uniq | Offset | Client]]) -> list[Uniq | Offset | Client]:
    """Little-endian ids and offset ids by all that begin with the same ten bytes; the tokens are their bytes."""
    groups: dict[bytes, list[bytes]] = {}
    for raw, one in tokens:
        if is_either(raw, one):
            groups.setdefault(raw[:10], []).append(raw)
    verdicts = {front: Together.of(own) for front, own in groups.items()}
    return [verdicts[raw[:10]].of_one(raw, one) if is_either(raw, one) else one for raw, one in tokens]


class Together(NamedTuple):
    """What all tokens with the same first ten bytes show: each is judged by it."""

    little: bool  # most are little-endian ids
    several: bool  # and differ
    big: bool  # some cannot be little-endian

    @classmethod
    def of(cls, own: list[bytes]) -> Together:
        shaped = [raw for raw in own if shaped_little(raw) and number(raw, 8, 8) >= 2**32]
        offsets = [number(raw, 8, 8) for raw in shaped]
        by_itself = any(looks_little(raw, number(raw, 4, 4), number(raw, 8, 8)) for raw in shaped)
        usual = number(own[0], 6, 2) in (*range(10_900, 11_000), 9_876, 10_811, 8_080, 8_081)
        apart = len(shaped) >= 3 and max(offsets) - min(offsets) >= 2**40 and not usual
        little = 2 * len(shaped) > len(own) and (by_itself or apart)
        return cls(little, len(set(offsets)) > 1, len(shaped) < len(own))

    def of_one(self, raw: bytes, one: Uniq | Offset | Client) -> Uniq | Offset | Client:
        if self.little:
            return turned(raw) if self.several and shaped_little(raw) else one
        return Offset("offset_v4", host(raw[:4]), number(raw, 4, 4), number(raw, 8, 8)) if self.big else one


def is_either(raw: bytes, one: Uniq | Offset | Client) -> bool:
    if isinstance(one, Offset):
        return one.layout == "offset_v4" and number(raw, 8, 2) == 0
    return isinstance(one, Uniq) and one.layout == "uniq_v4_le" and one.pid == 0


# --- time -------------------------------------------------------------------------------------------------------------

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BORN_2021 = datetime(2021, 1, 1, tzinfo=UTC)


def milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def instant(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def minute_of(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


class Calendar:
    """Months before a reference, newest first."""

    def __init__(self, zone: tzinfo, at: datetime) -> None:
        self.reference = milliseconds(at)
        self.zone = zone
        local = at.astimezone(zone)
        year, month = local.year, local.month
        self.months: list[tuple[int, int, int]] = []  # start, where little-endian ids begin to count, end
        end = milliseconds(datetime(year + month // 12, month % 12 + 1, 1, tzinfo=zone))
        for _ in range(13):
            start = milliseconds(datetime(year, month, 1, tzinfo=zone))
            day = (datetime(year, month, 1) - timedelta(days=1)).replace(tzinfo=zone)
            early = milliseconds(day) - (0 if day.dst() else 3_600_000)
            self.months.append((start, early, end))
            end = start
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)

    def start(self, layout: str, elapsed: int | None) -> int | None:
        """Where elapsed counts from (the epoch itself), in the newest month that fits, or None."""
        if elapsed is None:
            return None
        for own, early, end in self.months:
            start = early if layout == "uniq_v4_le" else own
            if start + elapsed < end and start + elapsed <= self.reference:
                return start
        return None

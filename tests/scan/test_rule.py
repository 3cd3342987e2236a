"""The kernel against `identify`: the same verdict, key and values for every token, over random and hostile bytes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from idcore.ids.find import find
from idcore.ids.identify import ALIKE, judge
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.neighbours import settled
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows

AT = datetime(2026, 11, 21, tzinfo=UTC)
ADDRESSES = (
    "0A000001",
    "7F000001",
    "C0A80165",
    "AC110002",
    "CB007107",
    "0101007F",
    "981FA8C0",
    "FFFFFFFF",
    "00000000",
    "0100FD00",
    "281E140A",
    "0714820A",
)
PORTS = ("00000000", "00000001", "00002A9F", "0000FFFF", "00010000", "0000A612")
OFFSETS = (
    0,
    1,
    1 << 30,
    (1 << 44) - 256,
    (1 << 44) + 256,
    0x3CF1C4030100,
    (1 << 48) - 256,
    1 << 48,
    (1 << 48) + 1,
    1 << 63,
)
LOADERS = ("18B4AAC2", "00B4AAC2", "00000000", "AC4C820C", "7C84929B", "11524711", "DEADBEEF", "00000001")
ELAPSED = (0, 1, 2_678_400_000, 2_678_401_000, 2_678_401_001, 2**31, 2**32 - 86_400_001, 2**32 - 86_400_000, 2**32 - 1)
FRONTS = (
    "",
    "msgId=",
    "msgIds: ",
    'UNIQ_KEY":"',
    "traceId=",
    "<sign><![CDATA[",
    '"fileMd5": "',
    "x-b3-SPAN_ID=  ",
    "design=",
    "sha256>",
    "Iv ",
    "guid:::::",
    "msgKey=",
    "messageId = '",
    "xmsgid  ====",
    "%22",
    "\\u0022",
    "\\x22",
    "%",
    "(",
)
NAMES = ("sign", "msgId", "UNIQ_KEY", "traceId", "orderId", "x-design", "md5")
SIGNS = (
    *('"', "'", ":", "=", "[", ",", " ", ">", ";", "&", "\\", '\\"', '\\\\\\"', f'{9 * chr(92)}"'),
    *("&quot;", "&apos;", "&gt;", "&lt;", "&#34;", "&#39;", "&#x22;", "&#x27;", "&quot", "quot;", "#34;"),
    *("%22", "%3A", "%3d", "%253D", "%2522", "%41", "%2", "=3D", "=22", "\\x22", "\\u0022", "\\u003a", "u0022"),
    "\\u0122",
)


def front(pick: random.Random) -> str:
    """What is in front of a token: a usual one, or a name between signs as they are and escaped."""
    if pick.random() < 0.5:
        return pick.choice(FRONTS)
    signs = ["".join(pick.choices(SIGNS, k=pick.randrange(4))) for _ in range(2)]
    return f"{signs[0]}{pick.choice(NAMES)}{signs[1]}"


def token(pick: random.Random) -> str:
    """One token: random digits, or the edges of the rule put together."""
    kind = pick.randrange(7)
    address = pick.choice(ADDRESSES)
    if kind == 0:
        digits = "".join(pick.choices("0123456789ABCDEF", k=pick.choice((31, 32, 33, 34, 36, 56, 57, 64))))
    elif kind == 1:
        digits = address + pick.choice(PORTS) + f"{pick.choice(OFFSETS):016X}"
    elif kind == 2:
        counter, pid = pick.choice(("0000", "0001", "FFFF")), pick.choice(("0000", "0001", "FFFF"))
        digits = address + pid + pick.choice(LOADERS) + f"{pick.choice(ELAPSED):08X}" + counter
    elif kind == 3:
        tail = token_tail(pick)
        digits = f"20010DB8{pick.getrandbits(96):024X}" + tail
    elif kind == 4:
        digits = pick.choice(("01", "00", "02")) + f"{pick.getrandbits(128):032X}"
    elif kind == 6:  # the edges of little-endian ids
        pid = pick.choice(("0000", "0100", "3F00", "4000", "0001"))
        rand = pick.choice(("A612", "2A9F", "1F90", "0000", "FFFF", "0001", "2AC1"))
        elapsed = pick.choice(
            (*ELAPSED[:6], 86_400_000, 65_536, 1 << 24, 32 * 86_400_000 + pick.choice((3_599_999, 3_600_000)))
        )
        digits = address + pid + rand + pick.choice(("0000", "0000", "0001"))
        digits += (elapsed % (1 << 32)).to_bytes(4, "little").hex().upper() + pick.choice(("0100", "FF00", "0001"))
    else:
        digits = f"{pick.getrandbits(32):08X}00000000{pick.getrandbits(16):04X}" + f"{pick.getrandbits(48):012X}"
    case = pick.randrange(8)
    return digits.lower() if case == 0 else digits[:20] + digits[20:].lower() if case == 1 else digits


def token_tail(pick: random.Random) -> str:
    if pick.random() < 0.5:
        return pick.choice(PORTS) + f"{pick.choice(OFFSETS):016X}"
    return f"{pick.getrandbits(16):04X}" + pick.choice(LOADERS) + f"{pick.choice(ELAPSED):08X}0001"


def read(text: str) -> Counter[tuple[object, ...]]:
    """What `find` and `identify` say, one entry an id: its key and its values, or the reason of its refusal."""
    found: Counter[tuple[object, ...]] = Counter()
    for verdict in settled(map(judge, find(text))):
        best = verdict.best
        if best is None:
            found["refused", verdict.reason] += 1
        elif isinstance(best.id, UniqId):
            one = best.id
            found[one.layout.name, one.host, one.pid, f"{one.loader:08X}", one.elapsed, one.counter] += 1
        elif isinstance(best.id, OffsetId):
            found["offset", best.id.address, best.id.physical_offset] += 1
        elif isinstance(best.id, ClientId):
            found["client", best.id.mac.hex(":"), best.id.pid, best.id.sequence] += 1
    return found


def unmasked(found: Counter[tuple[object, ...]]) -> dict[tuple[object, ...], int]:
    """Without what is left of masked IDs, which a scan counts apart."""
    return {key: count for key, count in found.items() if not str(key[1]).startswith("masked")}


def scanned(path: str) -> Counter[tuple[object, ...]]:
    """What a scan of a file says, in the same entries."""
    tables = scan_local([path], month_rows(AT, UTC))
    seen: Counter[tuple[object, ...]] = Counter()
    for row in tables["processes"].to_pylist():
        key = (row["layout"], row["host"], row["pid"], row["loader"], row["first_elapsed_ms"], row["first_counter"])
        seen[key] += row["ids"]
    for row in tables["brokers"].to_pylist():
        seen["offset", row["address"], row["min_offset"]] += row["ids"]
    for row in tables["clients"].to_pylist():
        seen["client", row["mac"], row["pid"], row["min_sequence"]] += row["ids"]
    for row in tables["refused"].to_pylist():
        seen["refused", row["reason"]] += row["ids"]
    for row in tables["lookalikes"].to_pylist():
        seen["refused", ALIKE[row["reason"]]] += row["ids"]
    return seen + Counter({("refused", "trace_id"): tables["files"]["trace_ids"].to_pylist()[0]})


@pytest.mark.long(first=1)
@pytest.mark.parametrize("seed", range(2))
def test_the_kernel_judges_every_token_as_identify_does(seed: int, on_disk: Callable[..., str]) -> None:
    pick = random.Random(seed)
    # A scan tells the values of single ids where a key has one id: so every line is a file of its own here.
    lines = [front(pick) + token(pick) + pick.choice(("", ",", "%22", "g", " ")) for _ in range(400)]
    for number, line in enumerate(lines):
        assert scanned(on_disk(line.encode(), f"{number}.log")) == unmasked(read(line)), line


@pytest.mark.long(first=1)
@pytest.mark.parametrize("seed", range(2))
def test_the_kernel_passes_over_what_a_mask_cuts_as_the_finder_does(seed: int, on_disk: Callable[..., str]) -> None:
    pick = random.Random(seed)
    for number in range(250):
        client = "2F010235001E18B4AAC2"  # of IPv4, with the loader of a known client
        head = pick.choice(("20010DB8", "2001", "FD00", "fe80", "2A02", "3FFF", "FF02", "AC110001", client, client))
        size, rest = pick.choice((32, 32, 33, 34, 36, 40, 55, 56)), pick.choice((0, 0, 1, 14, 20, 23, 24, 32))
        digits = head + f"{pick.getrandbits(240):060X}"
        mask = pick.choice("*…•.#xX") * pick.choice((1, 2, 3, 4, 28, 29))
        front = pick.choice((*FRONTS, "msgId=", "no=", "=3D", "msgId=20", "no=20"))
        line = f"{front}{digits[:size]}{mask}{digits[-rest:] if rest else ''}{pick.choice(('', ' ', ', ', 'g'))}"
        assert scanned(on_disk(line.encode(), f"{number}.log")) == unmasked(read(line)), line

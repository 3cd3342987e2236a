"""Who generated an id: HotSpot's stream of loader hashes, constants of other clients. Uses no log line and no clock."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from idcore.base.catalogue import words
from idcore.ids import rules
from idcore.ids.reasons import Maker

if TYPE_CHECKING:
    import numpy as np

MAKERS = tuple(words().table("client."))  # the codes of all clients
STREAM_LENGTH = 20_000
USUAL_PLACES = 1_000  # of a launch without an agent; beyond them a hash of 100,000 is in the stream by chance
MASK_64_BIT_JVM = 0x7FFFFFFF
MASK_32_BIT_JVM = 0x01FFFFFF

# Loaders outside the stream that are constants all the same: rocketmq-rust (hashCode of "MessageClientIDSetter"),
# the PHP client (crc32 of "RocketMQClient"), JDK 25's archived loader, mqadmin 5.3.2 and later in Docker.
KNOWN_CONSTANTS: dict[int, str] = {
    0xAC4C820C: "rust_mxsm",
    0xCEF51E0A: "php",
    0x7C84929B: "java_jdk25",
    0x11524711: "java_mqadmin",
}

# Which launch a place in the stream belongs to; ranges below catch the rest.
_PLACES: dict[int, str] = {
    0: "java_jdk11",
    6: "java_jdk17_agent",
    8: "java_jdk17",
    14: "java_jdk8_early",
    15: "java_jdk8",
    17: "java_jdk9",
    18: "java_jdk8_terminal",
    36: "java_jdk8_server",
    66: "java_jdk17",
    157: "java_jdk8_tools_cmd",
    292: "java_jdk11",
    295: "java_jdk17_no_cds",
    296: "java_jdk17_no_cds",
    307: "java_jdk17",
    320: "java_jdk11_25",
    348: "java_jdk21_no_cds",
    497: "java_jdk11",
    511: "java_jdk17",
    512: "java_jdk17_no_cds",
    521: "java_jdk11",
    566: "java_jdk21_no_cds",
    615: "java_jdk25",
    59: "java_main",
    892: "java_boot",
    895: "java_boot",
}
_RANGES: tuple[tuple[int, int, str], ...] = (
    (16, 31, "java_jdk8_server"),
    (80, 301, "java_boot"),
    (1000, STREAM_LENGTH, "java_agent"),
)


def _hashes(length: int = STREAM_LENGTH) -> list[int]:
    """The first identity hashes of HotSpot's main thread, as full 32-bit words.

    HotSpot (-XX:hashCode=5, the default; synchronizer.cpp, thread.cpp) gives each thread a Marsaglia xor-shift whose
    X is the next os::random() value; the main thread takes the first, 16807 * 1234567 mod (2^31 - 1).
    """
    x, y, z, w = 16807 * 1234567 % 0x7FFFFFFF, 842502087, 0x8767, 273326509
    words = []
    for _ in range(length):
        t = (x ^ (x << 11)) & 0xFFFFFFFF
        x, y, z = y, z, w
        w = (w ^ (w >> 19)) ^ (t ^ (t >> 8))
        words.append(w)
    return words


@cache
def _places(mask: int, length: int = STREAM_LENGTH) -> dict[int, int]:
    """hash under a mask -> its first place in the beginning of the stream."""
    hashes = [word & mask for word in _hashes(length)]
    return dict(zip(reversed(hashes), range(length - 1, -1, -1), strict=True))


def loader_place(loader: int) -> tuple[int, int] | None:
    """Place and bits of one loader hash, or None. A chance hit is 1 in 100,000 under the 31-bit mask.

    The 31-bit mask counts before the 25-bit one. The usual places are tried first: all take some milliseconds.
    """
    for mask, length in (
        (MASK_64_BIT_JVM, USUAL_PLACES),
        (MASK_64_BIT_JVM, STREAM_LENGTH),
        (MASK_32_BIT_JVM, STREAM_LENGTH),
    ):
        place = _places(mask, length).get(loader) if loader <= mask else None
        if place is not None:
            return place, mask.bit_length()
    return None


def _in_stream() -> set[int]:
    """All loaders that have a place."""
    return {*_places(MASK_64_BIT_JVM), *_places(MASK_32_BIT_JVM)}


def is_known(loader: int) -> bool:
    """Whether a loader is in the stream or is a known constant."""
    return loader in KNOWN_CONSTANTS or loader_place(loader) is not None


def is_usual(loader: int) -> bool:
    """Whether a loader is of a usual launch: a constant, or so early in the stream that chance does not make it."""
    place = loader_place(loader)
    return loader in KNOWN_CONSTANTS or (place is not None and place[0] < USUAL_PLACES)


@cache
def _table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import numpy as np

    rows = sorted((loader, *(loader_place(loader) or (-1, 0))) for loader in _in_stream())
    loaders, places, bits = (np.array(column) for column in zip(*rows, strict=True))
    return loaders.astype(np.uint32), places.astype(np.int32), bits.astype(np.int8)


def loader_positions(loaders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (int32, -1 for none) and bits (int8, 0 for none) of many loader hashes."""
    import numpy as np

    known, places, bits = _table()
    values = np.asarray(loaders, dtype=np.uint32)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    hit = known[at] == values
    return np.where(hit, places[at], np.int32(-1)), np.where(hit, bits[at], np.int8(0))


def known_loaders() -> np.ndarray:
    """Every loader that vouches for an impossible elapsed: stream and constants, sorted uint32."""
    import numpy as np

    return np.array(sorted(_in_stream() | set(KNOWN_CONSTANTS)), dtype=np.uint32)


def usual_loaders() -> np.ndarray:
    """Every loader for which `is_usual` is true, sorted uint32."""
    import numpy as np

    return np.array(sorted(filter(is_usual, {*_in_stream(), *KNOWN_CONSTANTS})), dtype=np.uint32)


def java_code(place: int, bits: int) -> str:
    """The code of the launch that a place in the stream belongs to."""
    if bits == 25:
        return "java_32_bit"
    return _PLACES.get(place) or next((name for low, high, name in _RANGES if low <= place < high), "java_main")


def _java(place: int, bits: int) -> Maker:
    code = java_code(place, bits)
    return Maker("java_main", {"position": place}) if code == "java_main" else _plain(code)


@lru_cache(maxsize=256)
def _plain(code: str) -> Maker:
    return Maker(code)


def uniq_maker(
    layout: str,
    loader: int,
    *,
    whole_seconds: bool,
    host_loopback: bool = False,
    elapsed_fits: bool = True,
    last_twelve: str = "",
) -> Maker:
    """The likeliest client of a msgId, from its layout, loader, time and letters."""
    if layout == "uniq_v4_le":
        return _plain("cpp_old")
    place = loader_place(loader)
    if place is not None:
        return _java(*place)
    if loader in KNOWN_CONSTANTS:
        return _plain(KNOWN_CONSTANTS[loader])
    if loader == 0 and whole_seconds:
        if last_twelve and last_twelve != last_twelve.upper():
            return _plain("go")
        return _plain("elixir" if last_twelve and last_twelve != last_twelve.lower() else "go_family")
    if loader < 0x10000 and whole_seconds:
        return _plain("python_tt67wq")
    if layout == "uniq_v4" and is_uuid_like(loader):
        return _plain("dotnet_uuid")
    if not elapsed_fits:
        return _plain("dotnet")
    if host_loopback:  # the first rand() of C++, or four random bytes
        return _plain("cpp_or_lua" if 0 < loader <= MASK_64_BIT_JVM else "lua")
    return _plain("cpp" if 0 < loader <= MASK_64_BIT_JVM else "unknown")


def is_uuid_like(loader: int) -> bool:
    """Whether a msgId of 32 digits is shaped as a UUID of version 4: digits 13 and 17, which are of the loader.

    One in 32 of the loaders that are the first rand() of a C++ process is it too.
    """
    return loader >> 28 == 4 and loader >> 14 & 3 == 2


# Seconds since 2021 that a living id can hold: July 2021 (the first 5.x client) to 2041.
FIRST_SECONDS, LAST_SECONDS = 15_638_400, 631_152_000


def _turned(number: int) -> int:
    return int.from_bytes(number.to_bytes(4, "big"), "little")


def is_plausible(seconds: int) -> bool:
    """Whether seconds since 2021 are in a year that a living id can have."""
    return FIRST_SECONDS <= seconds <= LAST_SECONDS


def can_be_rust(seconds: int) -> bool:
    """Whether the field holds milliseconds of a month in whole seconds; of other clients' seconds one in 1,000 does."""
    return seconds % 1000 == 0 and seconds <= rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS


def client_maker(seconds: int, last_sixteen: str = "", sequence: int = 0) -> Maker:
    """The likeliest client of a 5.x msgId, from its seconds, letters and sequence."""
    lower, upper = last_sixteen != last_sixteen.upper(), last_sixteen != last_sixteen.lower()
    turned = is_plausible(_turned(seconds))
    if can_be_rust(seconds) and (lower or not upper or not (turned or is_plausible(seconds))):
        return _plain("grpc_rust")
    if is_plausible(seconds):
        # Both ways give a year; a sequence is small, so the way in which it is smaller is the right one.
        return _plain("grpc_cpp_old" if turned and _turned(sequence) < sequence else "grpc")
    return _plain("grpc_cpp_old" if turned else "grpc")


def client_languages(mac: bytes, pid: int, sequence: int) -> tuple[str, ...]:
    """The 5.x clients that can have generated an id of the plain layout; little distinguishes them.

    apache/rocketmq-clients: C# counts from 1, and from 5.2.0-rc1 until 5.2.1 its MAC is random in all bits (3036b049 to
    d35c2c25); only C++ and Node.js write a MAC of zeros, and never a random one;
    Node.js takes the pid modulo 65,535. Everything else is written alike.
    """
    names = ["Java", "Go", "C#", "C++ 5.1.0 or later", "Node.js", "Python"]
    out = set()
    if sequence == 0:
        out.add("C#")
    if mac == bytes(6):
        out |= {"Java", "Go", "C#", "Python"}
    elif mac[0] & 1:
        out |= {"C++ 5.1.0 or later", "Node.js"}
    if pid == 0xFFFF:
        out.add("Node.js")
    return tuple(name for name in names if name not in out)


def seconds_open(seconds: int, last_sixteen: str, sequence: int) -> bool:
    """Whether the seconds of a 5.x msgId give a time in two ways, and neither letters nor sequence settle it."""
    ways = [is_plausible(seconds), is_plausible(_turned(seconds))]
    if can_be_rust(seconds) and last_sixteen == last_sixteen.upper():
        return any(ways) and last_sixteen == last_sixteen.lower()
    return all(ways) and _turned(sequence) == sequence


_LETTERS = ("", "A", "a", "Aa")  # by their case


def process_makers(
    layouts: Sequence[str] | np.ndarray,
    loaders: np.ndarray,
    whole_seconds: np.ndarray,
    loopback: np.ndarray | None = None,
    elapsed_fits: np.ndarray | None = None,
    letters: np.ndarray | None = None,
) -> np.ndarray:
    """The code of the likeliest client of each process.

    `whole_seconds`: every elapsed of it is a multiple of 1,000. `loopback`: its address is 127.0.0.1. `elapsed_fits`:
    none is longer than a month. `letters`: the case of those of its last twelve digits, 1 for upper and 2 for lower.

    Works on columns: only one row of each kind (layout, loader class, whole seconds) is put into words.
    """
    import numpy as np

    loader = np.asarray(loaders, dtype=np.uint32)
    whole = np.asarray(whole_seconds, dtype=bool)
    names = np.asarray(layouts)
    if not len(loader):
        return np.array([], dtype=object)
    place, bits = loader_positions(loader)
    # One number for each class of loaders that is worded alike; the stream's places come first.
    kind = np.where(bits == 25, STREAM_LENGTH, place.astype(np.int64))
    for number, constant in enumerate(sorted(KNOWN_CONSTANTS)):
        kind[(place < 0) & (loader == constant)] = STREAM_LENGTH + 1 + number
    rest = kind < 0
    after = STREAM_LENGTH + 1 + len(KNOWN_CONSTANTS)
    uuid_like = (loader[rest] >> 28 == 4) & (loader[rest] >> 14 & 3 == 2)
    kind[rest] = after + np.select(
        [loader[rest] == 0, loader[rest] < 0x10000, uuid_like, loader[rest] <= MASK_64_BIT_JVM], [0, 1, 2, 3], 4
    )
    old = np.char.equal(names, "uniq_v4_le") if names.dtype.kind == "U" else names == "uniq_v4_le"
    local = np.zeros(len(loader), bool) if loopback is None else np.asarray(loopback, bool)
    fits = np.ones(len(loader), bool) if elapsed_fits is None else np.asarray(elapsed_fits, bool)
    case = np.zeros(len(loader), np.int64) if letters is None else np.where(loader == 0, letters, 0).astype(np.int64)
    other = names != "uniq_v4"
    group = (((((kind * 2 + whole) * 2 + old) * 2 + local) * 2 + fits) * 2 + other) * 4 + case
    _, first, which = np.unique(group, return_index=True, return_inverse=True)
    codes = np.empty(len(first), dtype=object)
    for at, row in enumerate(first):
        codes[at] = uniq_maker(
            str(names[row]),
            int(loader[row]),
            whole_seconds=bool(whole[row]),
            host_loopback=bool(local[row]),
            elapsed_fits=bool(fits[row]),
            last_twelve=_LETTERS[case[row]],
        ).code
    return codes[which.reshape(-1)]


__all__ = [
    "KNOWN_CONSTANTS",
    "MAKERS",
    "Maker",
    "client_maker",
    "is_known",
    "is_usual",
    "known_loaders",
    "loader_place",
    "loader_positions",
    "process_makers",
    "uniq_maker",
    "usual_loaders",
]

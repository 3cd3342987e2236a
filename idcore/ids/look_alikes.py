"""Strings that only look like msgIds: what all of one input show together that one alone does not. Reads no text.

A hash, key or UUID of 32 hex digits is a msgId by its digits alone. Suspects are processes whose loader no usual launch
has. A sample of them gives the rule of the input, in decode and in the scan. Those that a label vouches for have a rule
of their own, because other products have a messageId, too. The numbers of a `Suspect` are numbers, or arrays of them:
the same functions judge one string and all of a scan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import sqrt
from operator import or_
from typing import Any, NamedTuple

from idcore.ids import rules
from idcore.ids.model import UniqId

# Why a string is a look-alike: nothing, what many of the input show, marks of UUIDs, a public address alone.
REASONS = ("", "spread", "uuid", "single")
LEAST, MOST = 8, 1024  # strings of one kind that show anything, and processes that are compared
_SHARE = 8  # of chance, 1 in 64 has the marks of a UUID of one version, and 1 in 256 a time in its first bytes
_SAME, _SAME_SHARE = 4, 16  # of chance, no two processes have one elapsed and counter
_FIRST_BYTES, _SPREAD = 256, 0.75  # values of an address's first byte; of those that chance would show
_RESERVED, _FEW = 32, 32  # of chance, 1 in 8 addresses is no host's: from so many on, 1 in 32 has to be
_PRIVATE, _ENOUGH = 240, 75  # of chance, 1 in 240 is private, which so many can show; of real producers most are
_NETWORK, _LARGE = 3, 256  # addresses of one /16 that chance does not give so many processes; one more from so many on
_BEGUN = 1  # the greatest counter of a process that has just begun
_SMALL_LOADER = 1 << 16  # Go and Python have such, and chance does not
_WRITTEN = 3  # of chance, 1 address in 1,000 is seconds in decimal digits
_LONG = 3  # of chance, 3 in 8 have counted more than a month, and of real IDs none
_DAWN_SECONDS = 1_262_304_000  # 2010: no ID is older
_DAWN_MS, _DUSK_MS = 1_000_000_000_000, 2_100_000_000_000  # 2001 to 2036, as the first 48 bits of UUIDv7 are
_MASK = (1 << 64) - 1
_DECIMAL_MASK = 0x1111111111111111


class Suspect(NamedTuple):
    """Processes of unknown clients, and the only ID of each where it has one; numbers, or arrays of them.

    `high`: the first 32 bits of the address. `value`: elapsed and counter. `decimal`: no ID has a digit above 9.
    `known`: the loader is in the stream, but so late that chance finds it too. `early`: little-endian. `shown`: a place
    of an ID shows that it may be one.
    """

    wide: Any
    early: Any
    high: Any
    pid: Any
    loader: Any
    value: Any
    several: Any
    decimal: Any
    known: Any
    shown: Any


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes a suspect of one input a look-alike: the marks that so many have that chance does not give them.

    `spread`: addresses as chance spreads them. `versions`: of UUIDs. `tails`: one elapsed and counter of many.
    `clock`: a time in front. `written`: one in decimal digits. `networks`: those of several addresses, which chance
    does not give. `everywhere`: so few addresses are private that these are of chance. `named`: a label vouches for
    all: none is a look-alike alone.
    """

    spread: bool = False
    versions: frozenset[int] = frozenset()
    tails: frozenset[int] = frozenset()
    networks: frozenset[int] = frozenset()
    clock: bool = False
    written: bool = False
    everywhere: bool = False
    named: bool = False

    def __bool__(self) -> bool:
        return bool(self.spread or self.versions or self.tails or self.clock or self.written)

    def holds(self, one: Suspect) -> Any:
        """Whether suspects only look like msgIds, as 0 or a place in `REASONS`. Of a process with several IDs only its
        first bytes can show it.

        Alone, one without a letter does so (of chance, 1 real ID in 3 million has none), and one of a public address
        whose only ID nothing shows to be one.
        """
        real = is_private(one) & ((one.value & 0xFFFF <= _BEGUN) | one.known | (not self.everywhere))
        real = real | _is_in(one.high >> 16, self.networks)
        of_uuids = _is_in(version_of(one), self.versions)
        alone = _is_in(one.value, self.tails) | ((of_uuids | self.spread) & (real ^ True))
        alone = alone & (one.several ^ True) & (one.early ^ True)
        lone = (is_private(one) | one.known | one.shown | one.several | (one.loader < _SMALL_LOADER) | one.wide) ^ True
        lone = lone & (_is_in(one.high >> 16, self.networks) ^ True) & (one.early ^ True) & (not self.named)
        many = self.has_mark(one) | alone
        return 1 * (many & (of_uuids ^ True)) + 2 * (many & of_uuids) + 3 * (lone & (many ^ True))

    def has_mark(self, one: Suspect) -> Any:
        """Whether the bytes of suspects show it, however many IDs of a process there are."""
        timed = (is_clock(one) & self.clock) | (is_written(one) & self.written)
        return one.decimal | (timed & (one.early ^ True))


def order_of(first: Any, second: Any, third: Any) -> Any:
    """A number that orders processes as chance does, by the words of their keys: a sample is the first of them."""
    mixed = (first * 0x9E3779B97F4A7C15 & _MASK) ^ (second * 0xC2B2AE3D27D4EB4F & _MASK)
    mixed = mixed ^ (third * 0xFF51AFD7ED558CCD & _MASK)
    mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93 & _MASK
    return mixed ^ (mixed >> 29)


def rule_of(suspects: Sequence[Suspect]) -> Rule:
    """The rule that a sample of an input gives. Suspects with a label are not in it (`rule_of_named`).

    >>> word = 0x12345678
    >>> ids = [Suspect(False, False, 16_843_009 * 16 * n, 5, word, 77 * n, *4 * [False]) for n in range(12)]
    >>> rule_of(ids).spread
    True
    """
    clock = _is_kind(sum(is_clock(one) and not one.early for one in suspects), len(suspects))
    times = sum(is_written(one) and not one.early for one in suspects)
    marked = Rule(clock=clock, written=times >= _WRITTEN and _SHARE * times >= len(suspects))
    single = [one for one in suspects if not (one.several or one.early or marked.has_mark(one))]
    if len(single) < LEAST:
        return replace(marked, networks=_networks(single))
    versions = Counter(map(version_of, single))
    uuids = frozenset(each for each, times in versions.items() if each and _is_kind(times, len(single)))
    tails = _tails([one for one in single if version_of(one) not in uuids])
    rest = [one for one in single if version_of(one) not in uuids and one.value not in tails]
    networks = _networks(rest)
    public = [one for one in rest if not is_private(one) and one.high >> 16 not in networks]
    chance = len(single) / _PRIVATE
    everywhere = len(single) >= _ENOUGH and sum(map(is_private, single)) <= chance + 4 * sqrt(chance)
    return Rule(_is_spread(public), uuids, tails, networks, clock, marked.written, everywhere)


def rule_of_named(suspects: Sequence[Suspect]) -> Rule | None:
    """The rule of those that a label vouches for: the same, but only where they count as no client does, else none."""
    long = sum(is_long(one) and not (one.several or one.early or one.known) for one in suspects)
    if long < _LONG or _SHARE * long < len(suspects):
        return None
    return replace(rule_of(suspects), named=True)


def is_long(one: Suspect) -> Any:
    """Whether elapsed is longer than a month, and no clock that was set back explains it."""
    elapsed = one.value >> 16
    longest, back = rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS, rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS
    return (elapsed > longest) & (elapsed < back)


def _networks(some: Sequence[Suspect]) -> frozenset[int]:
    """The /16 of several addresses, which chance does not give so many processes."""
    times = Counter(one.high >> 16 for one in some)
    return frozenset(each for each, n in times.items() if n >= _NETWORK + (len(some) >= _LARGE))


def _is_kind(times: int, number: int) -> bool:
    return times >= LEAST and _SHARE * times >= number


def _tails(single: Sequence[Suspect]) -> frozenset[int]:
    """Elapsed and counter that many processes share, and not those of one private network."""
    inside = Counter(one.value for one in single if is_private(one))
    times = Counter(one.value for one in single)
    same = {
        tail: n for tail, n in times.items() if n >= _SAME and n * _SAME_SHARE >= len(single) and 2 * inside[tail] < n
    }
    return frozenset(same) if sum(same.values()) >= LEAST else frozenset()


def _is_spread(public: Sequence[Suspect]) -> bool:
    """Whether addresses are of all networks, and of those that no host has."""
    number = len(public)
    chance = _FIRST_BYTES * (1 - (1 - 1 / _FIRST_BYTES) ** number)
    reserved = sum(one.high >> 24 >= 224 or one.high >> 24 == 0 for one in public)
    different = len({one.high >> 24 for one in public})
    return number >= LEAST and different >= _SPREAD * chance and _RESERVED * reserved >= number - _FEW


def is_private(one: Suspect) -> Any:
    """Whether an address is private or of the machine itself: RFC 1918, 127.0.x.x; fd00::/8, fe80::/12, ::/32."""
    top = one.high >> 24
    inside = (top == 10) | (one.high >> 20 == 0xAC1) | (one.high >> 16 == 0xC0A8) | (one.high >> 16 == 0x7F00)
    of_six = (top == 0xFD) | (one.high >> 20 == 0xFE8) | (one.high == 0)
    return (inside & (one.wide ^ True)) | (of_six & one.wide)


def version_of(one: Suspect) -> Any:
    """The version of a UUID (RFC 9562) of 32 digits; 0 where the digits have no marks of one."""
    return (one.loader >> 28) * ((one.loader >> 14 & 3 == 2) & (one.wide ^ True))


def is_clock(one: Suspect) -> Any:
    """Whether the first bytes are a time: six are milliseconds of these years, or eight, and no host has 0.x.x.x."""
    ms = (one.high << 16) | one.pid
    return (((ms >= _DAWN_MS) & (ms < _DUSK_MS)) | (one.high >> 24 == 0)) & (one.wide ^ True)


def is_written(one: Suspect) -> Any:
    """Whether the first digits are a time in decimal: seconds of these years, or a date with its hour and minute."""
    high, low, first = one.high, one.pid & 0xFF, one.pid >> 8
    seconds = _decimal(high, 8) * 100 + _decimal(first, 2)
    epoch = (seconds >= _DAWN_SECONDS) & (seconds < _DUSK_MS // 1_000)
    year, month, day = _decimal(high >> 16, 4), _decimal(high >> 8 & 0xFF, 2), _decimal(high & 0xFF, 2)
    date = (year >= 2010) & (year < 2037) & (month > 0) & (month < 13) & (day > 0) & (day < 32)
    date = date & is_decimal(one.pid) & (_decimal(first, 2) < 24) & (_decimal(low, 2) < 60)
    return (epoch | date) & is_decimal(high) & is_decimal(first) & (one.wide ^ True)


def _decimal(word: Any, digits: int) -> Any:
    """A number by its decimal digits, of which each is a hex digit of a word."""
    return sum((word >> 4 * place & 15) * 10**place for place in range(digits))


def is_decimal(word: Any) -> Any:
    """Whether no hex digit of a word is a letter."""
    return (word >> 3) & ((word >> 2) | (word >> 1)) & _DECIMAL_MASK == 0


def _is_in(number: Any, some: Iterable[int]) -> Any:
    return reduce(or_, (number == each for each in some), number < 0)


@dataclass(slots=True)
class _Process:
    words: tuple[int, int, int]
    value: int
    wide: bool
    early: bool
    known: bool
    labelled: bool = False
    several: bool = False
    decimal: bool = True
    shown: bool = False

    @property
    def suspect(self) -> Suspect:
        first, second, third = self.words
        high = first >> 32 if self.wide else second
        own = third >> 32, third & 0xFFFFFFFF, self.value, self.several, self.decimal, self.known, self.shown
        return Suspect(self.wide, self.early, high, *own)


class Suspects:
    """The processes of unknown clients of one input, and the rule that they give."""

    def __init__(self) -> None:
        self._processes: dict[Hashable, _Process] = {}
        self._rules: dict[bool, Rule | None] = {}  # of those without a label, and of those with one

    def see(self, one: UniqId, labelled: bool, known: bool, shown: bool) -> None:
        """Takes an ID of an unknown client; of the other three as `Verdict` and `Suspect` have it."""
        value = one.elapsed << 16 | one.counter
        process = self._processes.get(_key(one))
        if process is None:
            address = int.from_bytes(one.ip, "big")
            words = address >> 64, address & _MASK, one.pid << 32 | one.loader
            process = self._processes[_key(one)] = _Process(words, value, len(one.ip) > 4, one.layout.early, known)
        process.labelled |= labelled
        process.shown |= shown
        process.several |= value != process.value
        process.decimal &= all(map(is_decimal, (*process.words, value)))

    def look_alike(self, one: UniqId) -> str:
        """Why an ID that was seen only looks like one, by all of them: one of `REASONS`."""
        process = self._processes.get(_key(one))
        if process is None:
            return ""
        if not self._rules:
            sample = sorted(self._processes.values(), key=lambda each: order_of(*each.words))[:MOST]
            self._rules[False] = rule_of([each.suspect for each in sample if not each.labelled])
            self._rules[True] = rule_of_named([each.suspect for each in sample if each.labelled])
        rule = self._rules[process.labelled]
        return "" if rule is None else REASONS[rule.holds(process.suspect)]


def _key(one: UniqId) -> Hashable:
    return one.layout.name, one.ip, one.pid, one.loader

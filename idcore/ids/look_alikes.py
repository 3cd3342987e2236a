"""Strings that only look like msgIds: what all of one input show together that one alone does not. Reads no text.

A hash, signature or key of 32 hex digits is a msgId by its digits alone. Of a real producer the first ten bytes come
again, its address is one of a network, and its counter counts. Suspects are msgIds of processes with one ID, whose
loader no known client has, and that no label vouches for. The scan counts them in its tasks, and judges the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from idcore.ids import rules

LEAST = 8  # suspects of one input that show anything
_FIRST_BYTES = 256
_PRIVATE_SHARE, _CHANCE_SHARE = 10, 50  # of chance, 1 in 240 is private; of real producers most are
_SPREAD = 0.5  # of the first bytes that chance would show
_UUID_SHARE, _SAME_SHARE = 0.9, 0.5  # chance makes 1 in 64 a version 4 UUID, and never the same last six bytes


@dataclass(slots=True)
class Suspects:
    """How many there are, and what they have in common."""

    number: int = 0
    private: int = 0
    uuids: int = 0
    first_bytes: set[int] = field(default_factory=set)
    tails: Counter[int] = field(default_factory=Counter)  # elapsed and counter, as one number

    def see(self, raw: bytes) -> None:
        """Takes the bytes of one suspect."""
        self.number += 1
        self.private += is_private(raw)
        self.uuids += is_uuid(raw)
        self.first_bytes.add(raw[0])
        self.tails[int.from_bytes(raw[-6:], "big")] += 1

    def rule(self) -> Rule:
        """Which suspects only look like msgIds."""
        if self.number < LEAST:
            return Rule()
        chance = _FIRST_BYTES * (1 - (1 - 1 / _FIRST_BYTES) ** self.number)
        spread = _PRIVATE_SHARE * self.private <= self.number and len(self.first_bytes) >= _SPREAD * chance
        tail, times = max(self.tails.items(), key=lambda one: (one[1], one[0]))
        return Rule(
            spread=spread,
            everywhere=spread and _CHANCE_SHARE * max(1, self.private) <= self.number,
            uuid=self.uuids >= _UUID_SHARE * self.number,
            tail=tail if times >= max(LEAST, _SAME_SHARE * self.number) else None,
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes a suspect a look-alike: an address as chance has it, the marks of a UUID, the tail of most.

    `everywhere`: so few addresses are private that these are of chance too.
    """

    spread: bool = False
    everywhere: bool = False
    uuid: bool = False
    tail: int | None = None

    def __bool__(self) -> bool:
        return self.spread or self.uuid or self.tail is not None

    def holds(self, raw: bytes) -> bool:
        """Whether the bytes of a suspect only look like a msgId."""
        return (
            (self.spread and (self.everywhere or not is_private(raw)))
            or (self.uuid and is_uuid(raw))
            or int.from_bytes(raw[-6:], "big") == self.tail
        )


def rule_of(suspects: Iterable[bytes]) -> Rule:
    """The rule that all suspects of an input give.

    >>> rule_of(bytes.fromhex(f"{17 * n:02X}A896A540A6FC5DF3616B1C0000{n:04X}") for n in range(12)).spread
    True
    """
    seen = Suspects()
    for raw in suspects:
        seen.see(raw)
    return seen.rule()


def is_private(raw: bytes) -> bool:
    """Whether the address of a msgId is one of a private network; of IPv6, any but a global one."""
    return rules.private_or_loopback(raw[:4]) if len(raw) == 16 else raw[0] & 0xE0 != 0x20


def is_uuid(raw: bytes) -> bool:
    """Whether the bytes have the marks of a version 4 UUID (RFC 9562)."""
    return len(raw) == 16 and raw[6] >> 4 == 4 and raw[8] >> 6 == 2

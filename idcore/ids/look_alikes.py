"""Strings that only look like msgIds: what all of one input show together that one alone does not. Reads no text.

A hash, signature or key of 32 hex digits is a msgId by its digits alone. Of a real producer the first ten bytes come
again, its address is one of a network, and its counter counts. Suspects are msgIds of processes with one ID, whose
loader no known client has, and that no label vouches for. A sample of them decides, in decode and in the scan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from idcore.ids import rules

LEAST, MOST = 8, 256  # suspects of one input that show anything, and processes that are compared
MOST_TIMES = 16  # that a suspect is in the input
TAIL = 6  # bytes of elapsed and counter, behind those of the process
_FIRST_BYTES = 256
_PRIVATE_SHARE, _CHANCE_SHARE = 10, 50  # of chance, 1 in 240 is private; of real producers most are
_SPREAD = 0.5  # of the first bytes that chance would show
_UUID_SHARE, _SAME_SHARE = 0.9, 0.5  # chance makes 1 in 64 a version 4 UUID, and never the same last six bytes


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes a suspect a look-alike: an address as chance has it, the marks of a UUID, the tail of most.

    `everywhere`: so few addresses are private that these are of chance too.
    """

    spread: bool = False
    everywhere: bool = False
    uuid: bool = False
    tail: bytes | None = None

    def __bool__(self) -> bool:
        return self.spread or self.uuid or self.tail is not None

    def holds(self, raw: bytes) -> bool:
        """Whether the bytes of a suspect only look like a msgId."""
        return (
            (self.spread and (self.everywhere or not is_private(raw)))
            or (self.uuid and is_uuid(raw))
            or raw[-TAIL:] == self.tail
        )


def sample(processes: Iterable[bytes]) -> set[bytes]:
    """Of the first bytes of msgIds some that are the same however an input is cut."""
    return set(sorted(set(processes), key=lambda one: blake2b(one, digest_size=8).digest())[:MOST])


def rule_of(processes: Mapping[bytes, bytes | None]) -> Rule:
    """The rule that an input gives, by a sample of its processes of unknown clients.

    `processes`: by the first bytes of its msgIds the only one, None of a process that is no suspect.

    >>> ids = [bytes.fromhex(f"{17 * n:02X}A896A540A6FC5DF3616B1C0000{n:04X}") for n in range(12)]
    >>> rule_of({one[:-6]: one for one in ids}).spread
    True
    """
    single = [raw for process in sample(processes) if (raw := processes[process]) is not None]
    number = len(single)
    if number < LEAST:
        return Rule()
    chance = _FIRST_BYTES * (1 - (1 - 1 / _FIRST_BYTES) ** number)
    private = sum(map(is_private, single))
    spread = _PRIVATE_SHARE * private <= number and len({raw[0] for raw in single}) >= _SPREAD * chance
    tails = Counter(raw[-TAIL:] for raw in single)
    tail, times = max(tails.items(), key=lambda one: (one[1], one[0]))
    return Rule(
        spread=spread,
        everywhere=spread and _CHANCE_SHARE * max(1, private) <= number,
        uuid=sum(map(is_uuid, single)) >= _UUID_SHARE * number,
        tail=tail if times >= max(LEAST, _SAME_SHARE * number) else None,
    )


def only_of(ids: Mapping[bytes, int]) -> bytes | None:
    """The only ID of a process, and how often it is; None where there are more, or where it is no suspect."""
    ((raw, times),) = ids.items() if len(ids) == 1 else [(None, 0)]
    return raw if times <= MOST_TIMES else None


def is_private(raw: bytes) -> bool:
    """Whether the address of a msgId is one of a private network; of IPv6, any but a global one."""
    return rules.private_or_loopback(raw[:4]) if len(raw) == 16 else raw[0] & 0xE0 != 0x20


def is_uuid(raw: bytes) -> bool:
    """Whether the bytes have the marks of a version 4 UUID (RFC 9562)."""
    return len(raw) == 16 and raw[6] >> 4 == 4 and raw[8] >> 6 == 2

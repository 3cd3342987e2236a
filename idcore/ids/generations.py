"""Which releases of the official Java client can have generated an id: its generator changed, and ids show how.

From MessageClientIDSetter and UtilAll.getIP at each tag; the tests hold it against ids of 21 releases. Reads no clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from idcore.ids import makers, rules
from idcore.ids.model import UniqId

# MessageClientIDSetter of 4.9.3 and later: a clock set back by less than this across the month's start gives 0.
CLAMP_MS = 1_000_000
_NEWER_JVMS = ("java_jdk17", "java_jdk21", "java_jdk25")  # than any client up to 4.0.0 by years
FIRST, LAST = "3.5.0", "5.5.1"  # 5.5.1 is the newest that was looked at


@dataclass(frozen=True, slots=True)
class Releases:
    """From the oldest to the newest release that generates such ids."""

    oldest: str
    newest: str

    def holds(self, version: str) -> bool:
        """Whether a release is between them."""
        return _order(self.oldest) <= _order(version) <= _order(self.newest)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split("."))


def java_releases(uniq: UniqId, noon: bool = False) -> Releases:
    """The releases that can have generated a Java client's id. `noon`: its line shows a month that began at noon."""
    oldest, newest = FIRST, LAST

    def since(version: str) -> None:
        nonlocal oldest
        oldest = max(oldest, version, key=_order)

    def until(version: str) -> None:
        nonlocal newest
        newest = min(newest, version, key=_order)

    if noon:
        until("4.0.0")  # Calendar.HOUR until d545f86f66
    if len(uniq.ip) == 16:
        since("4.6.0")  # RIP-15
        if (uniq.ip[0] == 0xFE and uniq.ip[1] & 0xC0 == 0x80) or uniq.ip == bytes(15) + b"\x01":
            until("4.6.0")  # 4.6.1 takes global and ULA addresses only
    elif uniq.ip[0] == 127:
        since("4.8.0")  # the ipCheck before it rejected 127.*
    if uniq.elapsed >= rules.ELAPSED_WRAP - CLAMP_MS:
        until("4.9.2")  # later ones write 0 for less than 1,000 s before the month
    return Releases(oldest, newest)


def may_begin_at_noon(ip: bytes, loader: int) -> bool:
    """Whether a client up to 4.0.0 may have an id with this address and loader: none wrote IPv6 or a loopback address,
    and no other client has the bug."""
    place = makers.loader_place(loader)
    newer = place is not None and makers.java_code(*place).startswith(_NEWER_JVMS)
    return len(ip) == 4 and ip[0] != 127 and loader != 0 and loader not in makers.KNOWN_CONSTANTS and not newer


def is_narrow(releases: Releases) -> bool:
    """Whether an id shows anything about its release."""
    return (releases.oldest, releases.newest) != (FIRST, LAST)

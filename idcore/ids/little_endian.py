"""Little-endian ids of C++ 1.2.0 to 1.2.3, which look like offsetMsgIds or msgIds. Uses no other ids, no clock.

The kernel of the scan (`idcore.kernels.find`) is the twin of this rule.
"""

from __future__ import annotations

from idcore.base.layout import UNIQ_V4_LE
from idcore.ids import rules
from idcore.ids.clock import DAY_MS
from idcore.ids.model import OffsetId, UniqId
from idcore.ids.rules import private_or_loopback


def shaped(raw: bytes, text: str) -> UniqId | None:
    """The little-endian interpretation of 16 bytes, where every field fits; by chance each does once in 256 or less."""
    ip, pid, loader, elapsed, counter = UNIQ_V4_LE.struct.unpack(raw)
    holds = (
        0 < loader < rules.LITTLE_ENDIAN_LOADER
        and counter < rules.LITTLE_ENDIAN_COUNTER
        and pid < rules.LITTLE_ENDIAN_PID
        and elapsed < rules.LITTLE_ENDIAN_ELAPSED_MS
        and ip[-1] < 224  # the first octet
    )
    return UniqId.from_bytes(raw, UNIQ_V4_LE, text) if holds else None


def beats_offset(little: UniqId, offset: OffsetId) -> bool:
    """Whether one id alone is rather little-endian than an offsetMsgId of a broker."""
    private, turned = private_or_loopback(offset.ip), private_or_loopback(little.ip)
    if private and not turned:
        return False
    nowhere = little.ip[0] == 0  # the host's name resolves to nothing, or to an IPv6 address
    usual = rules.is_usual_port(offset.port)
    if offset.physical_offset > rules.HUGE_OFFSET:
        return not (nowhere and usual)
    if usual:
        return False
    if offset.physical_offset >= rules.LARGE_OFFSET:
        return True
    return offset.physical_offset >= rules.USUAL_OFFSET and not private and (turned or nowhere)


def rivals_offset(little: UniqId, offset: OffsetId) -> bool:
    """Whether it has to be named next to an offsetMsgId that is the better interpretation."""
    private, turned = private_or_loopback(offset.ip), private_or_loopback(little.ip)
    if rules.is_usual_port(offset.port) and offset.physical_offset < rules.HUGE_OFFSET:
        return False
    return offset.physical_offset >= rules.USUAL_OFFSET or (turned and not private and little.elapsed >= DAY_MS)


def process_ids(little: UniqId) -> tuple[int, int]:
    """The least and the greatest process id that the field pid, its upper half, leaves open."""
    return little.pid << 16, (little.pid << 16) + 0xFFFF

"""Little-endian ids of the C++ client 1.2.0 to 1.2.3: `idcore.ids.little_endian` in machine words. Reads no text."""

from __future__ import annotations

import numpy as np

from idcore.base.layout import UNIQ_V4
from idcore.ids import rules
from idcore.kernels import inlined, inner, kernel

U = np.uint64
WORD = U(0xFFFFFFFF)
COUNTER_SHIFT = U(8 * (UNIQ_V4.size - UNIQ_V4.span("elapsed").stop))
HUGE_OFFSET, LARGE_OFFSET, USUAL_OFFSET = U(rules.HUGE_OFFSET), U(rules.LARGE_OFFSET), U(rules.USUAL_OFFSET)
LITTLE_ELAPSED = U(rules.LITTLE_ENDIAN_ELAPSED_MS)
LITTLE_PID = U(rules.LITTLE_ENDIAN_PID)
FIRST_BROKER_PORT, LAST_BROKER_PORT = U(rules.BROKER_PORTS[0]), U(rules.BROKER_PORTS[-1])
OTHER_BROKER_PORTS = tuple(U(port) for port in rules.OTHER_BROKER_PORTS)
LITTLE_ZEROS = U(0xFFFF0000000000FF)
assert (rules.LITTLE_ENDIAN_LOADER, rules.LITTLE_ENDIAN_COUNTER) == (0xFFFF, 0x100), "bytes that are 0 are masked"


@inlined
def swap_32(word):
    return ((word & U(0xFF)) << U(24)) | ((word & U(0xFF00)) << U(8)) | ((word >> U(8)) & U(0xFF00)) | (word >> U(24))


@inlined
def swap_16(word):
    return ((word & U(0xFF)) << U(8)) | (word >> U(8))


@kernel
def is_private(ip):
    return ip >> U(24) == U(10) or ip >> U(24) == U(127) or ip >> U(20) == U(0xAC1) or ip >> U(16) == U(0xC0A8)


@inlined
def may_be_little_endian(lo):
    """Bytes 8, 9 and 15 are 0, as those of a little-endian id: of other ids one in 16 million is like that."""
    return lo & LITTLE_ZEROS == U(0)


@inner
def shaped_little_endian(hi, lo):
    """`idcore.ids.little_endian.shaped`, of ids with zeros where the C++ client 1.2.0 to 1.2.3 has them."""
    loader = hi & U(0xFFFF)
    if (
        loader == U(0)
        or loader == U(0xFFFF)
        or (hi >> U(16)) & U(0xFF) != U(0)
        or (hi >> U(24)) & U(0xFF) >= LITTLE_PID
    ):
        return False
    return (hi >> U(32)) & U(0xFF) < U(224) and swap_32((lo >> COUNTER_SHIFT) & WORD) < LITTLE_ELAPSED


@kernel
def is_usual_port(port):
    if FIRST_BROKER_PORT <= port and port <= LAST_BROKER_PORT:
        return True
    for other in OTHER_BROKER_PORTS:
        if port == other:
            return True
    return False


@inner
def looks_little_endian(hi, lo):
    """Whether an id with a port and an offset is rather little-endian (`idcore.ids.little_endian`)."""
    if not may_be_little_endian(lo) or not shaped_little_endian(hi, lo):
        return False
    forward = hi >> U(32)
    backward = swap_32(forward)
    private, turned = is_private(forward), is_private(backward)
    if private and not turned:
        return False
    nowhere = backward >> U(24) == U(0)
    usual = is_usual_port(hi & WORD)
    if lo > HUGE_OFFSET:
        return not (nowhere and usual)
    if usual:
        return False
    return lo >= LARGE_OFFSET or (lo >= USUAL_OFFSET and not private and (turned or nowhere))

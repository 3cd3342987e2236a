"""The code of a layout in a key, what it says of the id, and where the key has each byte. Reads no text.

A key has three words: two for the address, then the layout's code with pid and loader, port, or pid. The value of an id
is a fourth. Everything here follows from the table of layouts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from idcore.base.layout import LAYOUTS, Layout

_U = np.uint64
CODE_SHIFT = _U(56)
CODES = {name: number for number, name in enumerate(LAYOUTS, 1)}
CODE_PLACE, WORDS_SIZE = 16, 32
# Field: (end byte in the four words, room in bytes); byte 16 is the code, 17 is free.
_PLACES: dict[str, dict[str, tuple[int, int]]] = {
    "uniq": {"ip": (16, 16), "pid": (20, 2), "loader": (24, 4), "elapsed": (30, 4), "counter": (32, 2)},
    "offset": {"ip": (16, 16), "port": (24, 4), "offset": (32, 8)},
    "client": {"mac": (16, 8), "pid": (24, 2), "seconds": (28, 4), "sequence": (32, 4)},
}


def bits_of(holds: Callable[[Layout], bool]) -> np.uint64:
    """The codes of some layouts, as the bits of a word."""
    return _U(sum(1 << CODES[layout.name] for layout in LAYOUTS.values() if holds(layout)))


OFFSETS = bits_of(lambda layout: layout.kind == "offset")
CLIENTS = bits_of(lambda layout: layout.kind == "client")
IPV6 = bits_of(lambda layout: layout.has_ipv6)
EARLY = bits_of(lambda layout: layout.early)
UNIQS = bits_of(lambda layout: layout.kind == "uniq")
DIGITS = np.array([0, *(layout.digits for layout in LAYOUTS.values())])


def codes_of(keys: np.ndarray) -> np.ndarray:
    """The layout code of each key."""
    return (keys[:, 2] >> CODE_SHIFT).astype(np.int64)


def are(keys: np.ndarray, bits: np.uint64) -> np.ndarray:
    """Whether the layout of each key is one of these."""
    return bits >> (keys[:, 2] >> CODE_SHIFT) & _U(1) != 0


def places_of(layout: Layout) -> list[int]:
    """Of each byte of an id its place in the four words; of one that is always the same, its value above these."""
    places: list[int] = []
    for field in layout.fields:
        if field.always is None:
            stop, room = _PLACES[layout.kind][field.name]
            assert field.size <= room, f"a key has no room for {field.name} of {layout}"
            own = list(range(stop - field.size, stop))
        else:
            own = [WORDS_SIZE + byte for byte in field.always.to_bytes(field.size, "big")]
        places += own if layout.byteorder == "big" else own[::-1]
    return places


def rows_of(layouts: dict[int, Layout]) -> np.ndarray:
    """By code, as kernels take them: the digits, the code, then the place of each byte."""
    rows = np.zeros((len(layouts), 2 + int(DIGITS.max()) // 2), np.int16)
    for row, (code, layout) in zip(rows, layouts.items(), strict=True):
        row[: 2 + layout.size] = [layout.digits, code, *places_of(layout)]
    return rows

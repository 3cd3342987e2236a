"""Keys, values and times as the columns of tables show them. Knows no table."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.ids.clock import zone_text
from idcore.ids.model import host_text

from .kernels import find
from .schemas import TEXT, TIME

_BYTE_TEXT = pa.array([str(n) for n in range(256)])
_HEX_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)
_HEX_TEXT = pa.array([f"{n:04X}" for n in range(1 << 16)])


def hosts(words: np.ndarray) -> pa.Array:
    """Address text of each key: dotted, or RFC 5952."""
    code = words[:, 2] >> find.CODE_SHIFT
    wide = (code == find.CODE_V6) | (code == find.CODE_OFFSET_V6)
    parts = [
        _BYTE_TEXT.take(pa.array(((words[:, 1] >> np.uint64(shift)) & np.uint64(255)).astype(np.int64)))
        for shift in (24, 16, 8, 0)
    ]
    text = pc.binary_join_element_wise(*parts, ".")
    if wide.any():
        long = [host_text(address.tobytes()) for address in words[wide, :2].astype(">u8")]
        text = pc.replace_with_mask(text, pa.array(wide), pa.array(long, TEXT))
    return text


def addresses(words: np.ndarray, hosts: pa.Array) -> pa.Array:
    ports = pa.array((words[:, 2] & find.WORD).astype(np.int64)).cast(TEXT)
    wide = pa.array(words[:, 2] >> find.CODE_SHIFT == find.CODE_OFFSET_V6)
    bracketed = pc.binary_join_element_wise("[", hosts, "]", "")
    return pc.binary_join_element_wise(pc.if_else(wide, bracketed, hosts), ports, ":")


def digits(words: np.ndarray, values: np.ndarray) -> pa.Array:
    """The digits of ids, upper case, from the words of their keys and their values."""
    rows = len(words)
    code = (words[:, 2] >> find.CODE_SHIFT).astype(np.int64)
    raw = np.zeros((rows, 28), np.uint8)  # v6 from its 4 words; the others from the right, where their bytes end
    raw[:, :8], raw[:, 8:16] = (words[:, column, None].astype(">u8").view(np.uint8) for column in (0, 1))
    third = words[:, 2, None].astype(">u8").view(np.uint8)
    last = values[:, None].astype(">u8").view(np.uint8)
    offset = (code == int(find.CODE_OFFSET_V4)) | (code == int(find.CODE_OFFSET_V6))
    raw[:, 16:22], raw[:, 22:] = third[:, 2:], last[:, 2:]
    raw[offset, 16:20], raw[offset, 20:] = third[offset, 4:], last[offset]
    client = code == int(find.CODE_CLIENT)
    raw[client, 11], raw[client, 12:18], raw[client, 18:20] = 1, raw[client, 10:16], third[client, 6:]
    raw[client, 20:] = last[client]
    little = code == int(find.CODE_LE)
    for start, stop in ((12, 16), (16, 18), (18, 22), (22, 26), (26, 28)):
        raw[little, start:stop] = raw[little, start:stop][:, ::-1]
    wide = np.isin(code, [int(find.CODE_V6), int(find.CODE_OFFSET_V6)])
    sizes = np.select([wide, client], [28, 17], 16)
    text = _HEX_DIGITS[np.stack([raw >> 4, raw & 15], axis=2)].reshape(rows, 56)
    kept = text[np.arange(56) >= 56 - 2 * sizes[:, None]]
    edges = np.concatenate([[0], np.cumsum(2 * sizes)]).astype(np.int32)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(edges), pa.py_buffer(kept))


def loaders(loaders: np.ndarray) -> pa.Array:
    high, low = (_HEX_TEXT.take(pa.array(half.astype(np.int64))) for half in (loaders >> 16, loaders & 0xFFFF))
    return pc.binary_join_element_wise(high, low, "")


def instants(milliseconds: np.ndarray, known: np.ndarray) -> pa.Array:
    return pa.array(np.where(known, milliseconds, 0) * 1000, mask=~known).cast(pa.timestamp("us")).cast(TIME)


def minutes(minutes: np.ndarray) -> pa.Array:
    return pa.array(minutes * 60_000_000).cast(pa.timestamp("us")).cast(TIME)


def zones(minutes: np.ndarray) -> pa.Array:
    """UTC offsets as `+08:00`."""
    found, place = np.unique(minutes, return_inverse=True)
    return pa.array([zone_text(timedelta(minutes=int(one))) for one in found], TEXT).take(pa.array(place))


def months(numbers: np.ndarray) -> pa.Array:
    """Months from year 0 as `YYYY-MM`."""
    found, place = np.unique(numbers, return_inverse=True)
    return pa.array([f"{one // 12:04d}-{one % 12 + 1:02d}" for one in found], TEXT).take(pa.array(place))

"""Keys, values and times as the columns of tables show them. Reads no table."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.base.layout import LAYOUTS
from idcore.ids.clock import zone_text
from idcore.ids.model import host_text
from idcore.kernels import codes, find
from idcore.kernels import keys as kernel
from idcore.scan.schemas import TEXT, TIME

_BYTE_TEXT = pa.array([str(n) for n in range(256)])
_BYTE_ORDER = np.argsort(np.argsort([f"{n}." for n in range(256)])).astype(np.uint64)
_LAYOUT_ORDER = np.argsort(np.argsort(["", *LAYOUTS])).astype(np.uint64)
_LAYOUTS = codes.rows_of(dict(enumerate(LAYOUTS.values(), 1)))
_HEX_TEXT = pa.array([f"{n:04X}" for n in range(1 << 16)])


def hosts(words: np.ndarray) -> pa.Array:
    """Address text of each key: dotted, or RFC 5952."""
    wide = codes.are(words, codes.IPV6)
    parts = [
        _BYTE_TEXT.take(pa.array(((words[:, 1] >> np.uint64(shift)) & np.uint64(255)).astype(np.int64)))
        for shift in (24, 16, 8, 0)
    ]
    text = pc.binary_join_element_wise(*parts, ".")
    if wide.any():
        long = [host_text(address.tobytes()) for address in words[wide, :2].astype(">u8")]
        text = pc.replace_with_mask(text, pa.array(wide), pa.array(long, TEXT))
    return text


def order_of_hosts(words: np.ndarray) -> np.ndarray:
    """A number below 2^32 for the host of each key. The numbers have the order of the texts."""
    if codes.are(words, codes.IPV6).any():
        return pc.rank(hosts(words), tiebreaker="dense").to_numpy()  # type: ignore[no-any-return]
    numbers = np.zeros(len(words), np.uint64)
    for shift in map(np.uint64, (24, 16, 8, 0)):
        numbers |= _BYTE_ORDER[(words[:, 1] >> shift & np.uint64(255)).astype(np.int64)] << shift
    return numbers


def order_of_processes(words: np.ndarray, hosts: np.ndarray) -> np.ndarray:
    """Keys of processes in the order of their table; `hosts`: the numbers of their hosts."""
    pids = words[:, 2] >> find.PID_SHIFT & np.uint64(0xFFFF)
    first = _LAYOUT_ORDER[codes.codes_of(words)] << np.uint64(48) | hosts << np.uint64(16) | pids
    return np.lexsort((words[:, 2] & find.WORD, first))


def addresses(words: np.ndarray, hosts: pa.Array) -> pa.Array:
    """`host:port` of each key of an offsetMsgId, given the texts of its hosts; IPv6 in brackets."""
    ports = pa.array((words[:, 2] & find.WORD).astype(np.int64)).cast(TEXT)
    wide = pa.array(codes.are(words, codes.IPV6))
    bracketed = pc.binary_join_element_wise("[", hosts, "]", "")
    return pc.binary_join_element_wise(pc.if_else(wide, bracketed, hosts), ports, ":")


def digits(words: np.ndarray, values: np.ndarray, rows: np.ndarray | None = None) -> pa.Array:
    """The digits of ids, upper case, from the words of their keys and their values.

    One text for each id; with `rows`, one for each of the rows into which they cut the ids, with commas between.
    """
    room = codes.DIGITS[codes.codes_of(words)]
    if rows is not None:
        room = room + 1
        room[rows[1:] - 1] -= 1  # no comma behind the last of a row
    edges = np.zeros(len(words) + 1, np.int32)
    np.cumsum(room, out=edges[1:])
    out = np.empty(int(edges[-1]) + kernel.SLACK, np.uint8)
    kernel.put_ids(
        np.ascontiguousarray(words, np.uint64),
        np.ascontiguousarray(values, np.uint64),
        _LAYOUTS,
        edges,
        out,
    )
    text = pa.py_buffer(out[: edges[-1]])
    edges = edges if rows is None else edges[rows]
    return pa.StringArray.from_buffers(len(edges) - 1, pa.py_buffer(edges), text)


def loaders(loaders: np.ndarray) -> pa.Array:
    """Loader hashes as eight upper-case digits."""
    high, low = (_HEX_TEXT.take(pa.array(half.astype(np.int64))) for half in (loaders >> 16, loaders & 0xFFFF))
    return pc.binary_join_element_wise(high, low, "")


def instants(milliseconds: np.ndarray, known: np.ndarray) -> pa.Array:
    """Times from milliseconds since 1970; null where not `known`."""
    return pa.array(np.where(known, milliseconds, 0) * 1000, mask=~known).cast(pa.timestamp("us")).cast(TIME)


def minutes(minutes: np.ndarray) -> pa.Array:
    """Times from minutes since 1970."""
    return pa.array(minutes * 60_000_000).cast(pa.timestamp("us")).cast(TIME)


def zones(minutes: np.ndarray) -> pa.Array:
    """UTC offsets as `+08:00`."""
    different, place = np.unique(minutes, return_inverse=True)
    return pa.array([zone_text(timedelta(minutes=int(one))) for one in different], TEXT).take(pa.array(place))


def months(numbers: np.ndarray) -> pa.Array:
    """Months from year 0 as `YYYY-MM`."""
    different, place = np.unique(numbers, return_inverse=True)
    return pa.array([f"{one // 12:04d}-{one % 12 + 1:02d}" for one in different], TEXT).take(pa.array(place))

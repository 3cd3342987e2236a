"""The key that the scan gave each id in the end: all ids of one origin settle what is a little-endian msgId."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.kernels import codes, find, little_endian
from idcore.scan import column_texts, finder
from idcore.scan.occurrences.dating import process_columns
from idcore.scan.settle import shaped_as_little_endian, turned

_U = np.uint64


def settle(
    keys: np.ndarray, slots: np.ndarray, values: np.ndarray, tables: dict[str, pa.Table]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys, slots and values as the tables `processes` and `brokers` count them."""
    code = codes.codes_of(keys)
    for slot in np.flatnonzero(code == int(find.CODE_OFFSET_V4)).tolist():
        address, port = origin = int(keys[slot, 1]), int(keys[slot, 2] & find.WORD)
        third = int(find.CODE_LE) << 56 | int(little_endian.swap_16(_U(port)))
        process = np.array([0, int(little_endian.swap_32(_U(address))), third], _U)
        if not _is_little(tables["processes"], process):
            continue
        mine = np.flatnonzero(slots == slot)
        mine = mine[shaped_as_little_endian(origin, values[mine])]
        keys, slots, values = _moved(keys, slots, values, mine, process)
    for slot in np.flatnonzero(code == int(find.CODE_LE)).tolist():
        third = int(keys[slot, 2])
        broker = _broker(int(keys[slot, 1]), third)
        if third >> 32 & 0xFFFF or _is_little(tables["processes"], keys[slot]) or broker is None:
            continue
        address = column_texts.addresses(broker[None, :], column_texts.hosts(broker[None, :]))[0]
        if bool(pc.any(pc.equal(tables["brokers"]["address"], address)).as_py()):
            keys, slots, values = _moved(keys, slots, values, np.flatnonzero(slots == slot), broker)
    return keys, slots, values


def counted(keys: np.ndarray, tables: dict[str, pa.Table]) -> np.ndarray:
    """Whether the scan counts the ids of each key: it left out processes that only look like some."""
    loaders = (keys[:, 2] & find.WORD).astype(np.uint32)
    asked = np.flatnonzero(codes.are(keys, codes.UNIQS) & ~np.isin(loaders, finder.usual()))
    processes = process_columns(keys[asked])
    names = processes.column_names
    known = tables["processes"].select(names).cast(processes.schema)
    left_out = processes.append_column("key", pa.array(asked)).join(known, names, join_type="left anti")
    out = np.ones(len(keys), np.bool_)
    out[left_out["key"].to_numpy()] = False
    return out


def _broker(address: int, third: int) -> np.ndarray | None:
    port = int(little_endian.swap_16(_U(third & 0xFFFF)))
    there = int(little_endian.swap_32(_U(address)))
    return np.array([0, there, int(find.CODE_OFFSET_V4) << 56 | port], _U) if third & 0xFFFFFFFF < 1 << 16 else None


def _moved(
    keys: np.ndarray, slots: np.ndarray, values: np.ndarray, rows: np.ndarray, key: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """These ids under another key, the bytes of their values turned."""
    if not len(rows):
        return keys, slots, values
    slots, values = slots.copy(), values.copy()
    slots[rows], values[rows] = len(keys), turned(values[rows])
    return np.vstack([keys, key]), slots, values


def _is_little(processes: pa.Table, key: np.ndarray) -> bool:
    """Whether the scan has this little-endian process."""
    little = processes.filter(pc.equal(processes["layout"], "uniq_v4_le"))
    if not little.num_rows:
        return False
    wanted = process_columns(key[None, :]).to_pylist()[0]
    return any(all(row[name] == wanted[name] for name in wanted) for row in little.to_pylist())

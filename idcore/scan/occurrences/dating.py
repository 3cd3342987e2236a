"""When each id of a piece was generated, by what the scan's tables say of its process. Reads no line and no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.base.layout import LAYOUTS
from idcore.ids.clock import CLIENT_EPOCH_S, NO_TIME, parse_zone
from idcore.ids.origins import PROCESS_KEY
from idcore.ids.rules import RUST_MONTH_MS
from idcore.kernels import codes, find
from idcore.scan import column_texts

_SENT = ["first_sent_at", "last_sent_at"]
_OF_PROCESSES = [*PROCESS_KEY, *_SENT, "first_elapsed_ms", "last_elapsed_ms", "last_possible_elapsed_ms"]
_OF_CLIENTS = ["mac", "pid", *_SENT, "maker", "zone"]
# What is used of the tables of a scan: of `counters` the rows of processes of several months, of brokers all.
COLUMNS = {"processes": _OF_PROCESSES, "clients": _OF_CLIENTS, "brokers": ["address"]}
POINTS = [*PROCESS_KEY, "elapsed_ms", "sent_at"]
_LITTLE, _RUST = "grpc_cpp_old", "grpc_rust"


def process_columns(keys: np.ndarray) -> pa.Table:
    """Keys of msgIds of 4.x as the columns of the table `processes`."""
    third = keys[:, 2]
    return pa.table(
        {
            "layout": pa.array(list(LAYOUTS)).take(pa.array(codes.codes_of(keys) - 1)),
            "host": column_texts.hosts(keys),
            "pid": pa.array(((third >> find.PID_SHIFT) & np.uint64(0xFFFF)).astype(np.int32)),
            "loader": column_texts.loaders((third & find.WORD).astype(np.int64)),
        }
    )


def client_columns(keys: np.ndarray) -> pa.Table:
    """Keys of msgIds of 5.x as the columns of the table `clients`."""
    macs = [":".join(f"{int(word):012x}"[i : i + 2] for i in range(0, 12, 2)) for word in keys[:, 1]]
    return pa.table({"mac": macs, "pid": pa.array((keys[:, 2] & np.uint64(0xFFFF)).astype(np.int32))})


def broker_columns(keys: np.ndarray) -> pa.Table:
    """Keys of offsetMsgIds as columns of the table `brokers`."""
    return pa.table({"host": column_texts.hosts(keys), "port": (keys[:, 2] & find.WORD).astype(np.int32)})


def names_of(keys: np.ndarray) -> pa.Table:
    """What the tables of a scan call each key, as text: kind, layout, digits and, where it has them, the names of its
    process, client or broker."""
    offset, client = codes.are(keys, codes.OFFSETS), codes.are(keys, codes.CLIENTS)
    processes = process_columns(keys)
    clients = client_columns(keys)
    addresses = column_texts.addresses(keys, processes["host"].combine_chunks())
    uniq = pa.array(~offset & ~client)

    def only(which: pa.Array, column: pa.ChunkedArray) -> pa.ChunkedArray:
        return pc.if_else(which, column.cast(pa.string()), None)

    return pa.table(
        {
            "kind": np.select([offset, client], ["offset", "client"], "uniq"),
            "layout": processes["layout"],
            "digits": codes.DIGITS[codes.codes_of(keys)].astype(str),
            "host": only(uniq, processes["host"]),
            "pid": pc.if_else(uniq, processes["pid"].cast(pa.string()), only(pa.array(client), clients["pid"])),
            "loader": only(uniq, processes["loader"]),
            "mac": only(pa.array(client), clients["mac"]),
            "address": only(pa.array(offset), pa.chunked_array([addresses])),
        }
    )


def times(keys: np.ndarray, slots: np.ndarray, values: np.ndarray, tables: dict[str, pa.Table]) -> np.ndarray:
    """Milliseconds since 1970 of each id; NO_TIME where the scan could not date it, and of an offsetMsgId."""
    client = codes.are(keys, codes.CLIENTS)
    raw = np.where(client[slots], (values >> find.SEQUENCE_SHIFT) * np.uint64(1000), values >> find.COUNTER_SHIFT)
    raw = raw.astype(np.int64)
    starts = np.full(len(keys), NO_TIME, np.int64)
    most = np.full(len(keys), 1 << 62, np.int64)
    out = np.full(len(values), NO_TIME, np.int64)
    for slot, row in _rows(
        keys, np.flatnonzero(~client & ~codes.are(keys, codes.OFFSETS)), process_columns, tables["processes"]
    ):
        first, last = (_ms(row[f"{end}_sent_at"]) - row[f"{end}_elapsed_ms"] for end in ("first", "last"))
        if first == last:
            starts[slot], most[slot] = first, row["last_possible_elapsed_ms"] or 0
        else:
            mine = slots == slot
            out[mine] = _by_points(raw[mine], row, tables["counters"])
    for slot, row in _rows(keys, np.flatnonzero(client), client_columns, tables["clients"]):
        mine = slots == slot
        if row["maker"] == _RUST:
            out[mine] = _in_months((values[mine] >> find.SEQUENCE_SHIFT).astype(np.int64), row)
        elif row["maker"] == _LITTLE:
            seconds = (values[mine] >> find.SEQUENCE_SHIFT).astype(np.uint32).byteswap()  # their low byte comes first
            out[mine] = (CLIENT_EPOCH_S + seconds.astype(np.int64)) * 1000
        else:
            ahead = parse_zone(row["zone"]).utcoffset(None) if row["zone"] else None
            starts[slot] = CLIENT_EPOCH_S * 1000 - (ahead or timedelta(0)) // timedelta(milliseconds=1)
    start = starts[slots]
    return np.where((start != NO_TIME) & (raw <= most[slots]), start + raw, out)


def of_several_months(processes: pa.Table) -> pa.Table:
    """The processes whose ids no single instant dates: for these the points of `counters` do."""
    sent = [
        pc.cast(processes[f"{end}_sent_at"], pa.int64()).to_numpy(zero_copy_only=False) for end in ("first", "last")
    ]
    spent = [processes[f"{end}_elapsed_ms"].to_numpy() for end in ("first", "last")]
    apart = (sent[1] - sent[0]) // 1000 != spent[1] - spent[0]
    return processes.filter(pa.array(apart & (sent[0] == sent[0])))


def _rows(
    keys: np.ndarray, places: np.ndarray, columns: Callable[[np.ndarray], pa.Table], table: pa.Table
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Slots of keys and the dated row of each in a table of the scan."""
    if not len(places) or not table.num_rows:
        return
    key_columns = columns(keys[places])
    names = key_columns.column_names
    fields = [*(table.schema.field(name) for name in names), pa.field("slot", pa.int64())]
    numbered = key_columns.append_column("slot", pa.array(places)).cast(pa.schema(fields))
    dated = table.filter(pc.is_valid(table["first_sent_at"]))
    for row in numbered.join(dated, names, join_type="inner").to_pylist():
        yield row.pop("slot"), row


def _by_points(elapsed: np.ndarray, row: dict[str, Any], counters: pa.Table) -> np.ndarray:
    """Ids of a process that ran in several months, dated as the nearest of its points is."""
    mask = pc.and_(pc.equal(counters["host"], row["host"]), pc.equal(counters["loader"], row["loader"]))
    mask = pc.and_(mask, pc.and_(pc.equal(counters["pid"], row["pid"]), pc.equal(counters["layout"], row["layout"])))
    points = counters.filter(mask).sort_by("elapsed_ms")
    at = points["elapsed_ms"].to_numpy()
    if not len(at):
        return np.full(len(elapsed), NO_TIME, np.int64)
    sent = pc.fill_null(pc.cast(points["sent_at"], pa.int64()), NO_TIME).to_numpy()
    start = np.where(sent == NO_TIME, NO_TIME, sent // 1000 - at)
    behind = np.minimum(np.searchsorted(at, elapsed), len(at) - 1)
    before = np.maximum(behind - 1, 0)
    nearest = start[np.where(np.abs(at[behind] - elapsed) <= np.abs(at[before] - elapsed), behind, before)]
    return np.where(nearest == NO_TIME, NO_TIME, nearest + elapsed)


def _in_months(spent: np.ndarray, row: dict[str, Any]) -> np.ndarray:
    """Milliseconds of a month in UTC: of the newest month that makes none later than the last id of the client."""
    first, last = row["first_sent_at"], row["last_sent_at"]
    out = np.full(len(spent), NO_TIME, np.int64)
    for month in range(12 * first.year + first.month - 2, 12 * last.year + last.month):
        start, after = (_ms(datetime(at // 12, at % 12 + 1, 1, tzinfo=UTC)) for at in (month, month + 1))
        fits = (start + spent <= _ms(last)) & (spent < max(after - start, RUST_MONTH_MS))
        out = np.where(fits, start + spent, out)
    return out


def _ms(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)

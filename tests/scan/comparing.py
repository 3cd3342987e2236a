"""Tables of the scan beside those of the twin: the same rows, whatever their order. Knows no rule of either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

Row = dict[str, Any]
NOT_TWINNED = {"maker"}  # words, made by idcore.ids.makers and tested there


def value(cell: Any) -> Any:
    return f"{cell:.12g}" if isinstance(cell, float) else cell


def rows(table: Sequence[Row], columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(value(row[c]) for c in columns) for row in table)


def differences(got: Mapping[str, pa.Table], want: Mapping[str, Sequence[Row]]) -> list[str]:
    """One line for each row that only one of them has."""
    out = []
    for name, wanted in want.items():
        found = got[name].to_pylist()
        columns = [c for c in (wanted or found or [{}])[0] if c not in NOT_TWINNED]
        if name == "refused":
            columns = ["reason", "ids"]
        if name == "files":
            columns = ["file", "bytes", "text_bytes", "ids", "refused", "lookalikes", "trace_ids"]
        if name == "lookalikes":
            columns = ["reason", "label", "ids", "distinct"]
        scan, twin = rows(found, columns), rows(wanted, columns)
        for who, more in (("scan", scan - twin), ("twin", twin - scan)):
            told = (f"{name}: only the {who} has {dict(zip(columns, row, strict=True))}" for row in more)
            out += sorted(told)
    return out


def same(a: Mapping[str, pa.Table], b: Mapping[str, pa.Table], but: Sequence[str] = ()) -> list[str]:
    """The names of tables that differ between two scans, all columns counted."""
    return [
        name
        for name in a
        if name not in but
        and not a[name].equals(b[name])
        and rows(a[name].to_pylist(), a[name].column_names) != rows(b[name].to_pylist(), b[name].column_names)
    ]

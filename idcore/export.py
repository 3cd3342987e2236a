"""Tables as files to take away: CSV that no spreadsheet runs as a formula, JSON Lines, a zip of all. Knows no page."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from idcore.safe_text import encodable, json_text

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def guarded(value: Any) -> Any:
    """A text that a spreadsheet would run gets an apostrophe in front; numbers stay numbers."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def csv_rows(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows as CSV with a byte order mark, which is how Excel knows UTF-8."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([guarded(name) for name in header])
    for row in rows:
        writer.writerow(["" if value is None else guarded(value) for value in row])
    return encodable(out.getvalue()).encode("utf-8-sig")


def csv_frame(frame: pd.DataFrame) -> bytes:
    """A table as CSV; instants in ISO 8601."""
    import pandas as pd

    plain = frame.copy()
    for name in plain.columns:
        if isinstance(plain[name].dtype, pd.DatetimeTZDtype):
            plain[name] = plain[name].map(lambda moment: "" if moment is pd.NaT else moment.isoformat())
    values = plain.astype(object).where(plain.notna(), None)
    return csv_rows([str(name) for name in plain.columns], values.itertuples(index=False, name=None))


def csv_dicts(rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> bytes:
    """Decoded ids as CSV: the keys of the contract; lists as JSON text."""

    def cell(value: Any) -> Any:
        return json_text(value) if isinstance(value, (list, dict)) else value

    return csv_rows(keys, ([cell(row[key]) for key in keys] for row in rows))


def json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Decoded ids or answers as JSON Lines, as the command line prints them."""
    return "".join(json_text(row) + "\n" for row in rows).encode()


def zip_frames(frames: Iterable[tuple[str, pd.DataFrame]], summary: Mapping[str, Any]) -> bytes:
    """All tables of a run as CSV in one zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("summary.json", json_text(summary, indent=1, default=str))
        for name, frame in frames:
            archive.writestr(f"{name}.csv", csv_frame(frame))
    return out.getvalue()

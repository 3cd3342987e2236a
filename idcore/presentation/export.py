"""Rows and tables as files to take away: CSV that no spreadsheet runs as a formula, JSON Lines, a zip. Opens no file.

The command line and the console write with these functions alone, so that both give the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from idcore.base.lazy_pattern import lazy_pattern
from idcore.base.safe_text import NO_SHAPE, encodable, json_text, printable
from idcore.ids.describe import KEYS

if TYPE_CHECKING:
    import pandas as pd

# Of a run, those that a reader takes away.
TABLES = (
    "findings",
    "copies",
    "deliveries",
    "processes",
    "hosts",
    "brokers",
    "segments",
    "clients",
    "counters",
    "timeline",
    "activity",
    "distribution",
    "growth",
    "refused",
    "lookalikes",
    "files",
    "topics",
    "tags",
    "fates",
    "undelivered",
    "asked_ids",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last four: Excel in East Asia
# Controls and spaces, and what has no shape: spreadsheets may leave it out in front of a formula.
_BLANK = f"\0-\x08\v\f\x0e-\x1f\x85\xa0\u1680\u2000-\u200a\u202f\u205f\u3000{NO_SHAPE}"
_BEHIND_BLANK = lazy_pattern(rf" *[{_BLANK}][ {_BLANK}]*")
# The offset of a zone and a number are nothing that a spreadsheet could run.
_OFFSET, _NUMBER = r"[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?", r"-[0-9]+(?:\.[0-9]+)?"
_PLAIN = rf"(?:{_OFFSET}|{_NUMBER})"
_IS_PLAIN, _IS_NUMBER = lazy_pattern(_PLAIN), lazy_pattern(_NUMBER)
# A formula inside a text, behind what parts cells elsewhere: a semicolon in Excel of many countries, a tab, a line.
# There a quote may begin a cell that ends at once, and what is behind it is the cell. And our next cell goes on in
# theirs: a number at the end of a text may become `-1,0+…`.
_AT_END = rf"(?!{_OFFSET}\Z)(?!(?<=[\r\n]){_NUMBER}\Z)"
_INSIDE = lazy_pattern(rf"(?<=([;\t\r\n]))(?=[\"{_BLANK}]*[=+\-@＝＋－＠])(?!{_PLAIN}(?:\1|[\r\n])){_AT_END}")


class _Line:
    """What csv.writer writes to, so that it gives each line back."""

    def write(self, line: str) -> str:
        return line


def guarded(value: Any) -> Any:
    """A text that a spreadsheet would run gets an apostrophe in front, behind each separator inside it too.

    Negative numbers and UTC offsets stay as they are.

    >>> guarded("=1;-2;-x")
    "'=1;-2;'-x"
    """
    if not isinstance(value, str):
        return value
    text = _INSIDE.sub("'", value)
    begin = _BEHIND_BLANK.match(value)
    is_formula = value.startswith(_FORMULA, begin.end() if begin else 0)
    return f"'{text}" if is_formula and not _IS_PLAIN.fullmatch(value) else text


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]], end: str = "\n") -> Iterator[str]:
    """Rows as lines of CSV, one by one as they come."""
    # Before Python 3.13 only what is of its own line end gets quotes: a CR alone would begin a row of strangers.
    write = csv.writer(_Line(), lineterminator="\r\n").writerow
    for row in chain([header], rows):
        cells = ["" if value is None else guarded(value) for value in row]
        if isinstance(cells[0], str) and _IS_NUMBER.fullmatch(cells[0]):  # it may become `-1,0+…`, too
            cells[0] = f"'{cells[0]}"
        line: Any = write(cells)  # what _Line.write gives
        yield encodable(line.removesuffix("\r\n")) + end


def csv_of_ids(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Decoded ids as lines of CSV: the keys of the contract; lists joined, other interpretations named by layout."""
    return csv_lines(KEYS, ([_cell(key, row[key]) for key in KEYS] for row in rows))


def csv_of_rows(rows: Iterable[Mapping[str, Any]], keys: Sequence[str]) -> Iterator[str]:
    """Rows that are JSON elsewhere as lines of CSV; the values of a list are joined."""
    return csv_lines(keys, ([_joined(row[key]) for key in keys] for row in rows))


def _joined(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _cell(key: str, value: Any) -> Any:
    if key == "why":
        return "; ".join(value)
    if key in ("why_codes", "assumed"):
        return " ".join(value)
    if key == "others":
        return " ".join(other["layout"] for other in value)
    if key == "delivery":
        return "" if value is None else value["text"]
    if key == "error":
        return "" if value is None else value["problem"]
    return value


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Decoded ids or answers as JSON Lines, one by one as they come."""
    for row in rows:
        yield json_text(row) + "\n"


def to_stream(lines: Iterable[str], out: IO[str]) -> None:
    """Lines of CSV to standard output. A terminal would obey some characters, so there they are written out."""
    out.writelines(map(printable, lines) if out.isatty() else lines)


def file_of(lines: Iterable[str]) -> bytes:
    """All lines as the bytes of one file."""
    return "".join(lines).encode()


def csv_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table as a file that Excel opens: with its ends of line and a byte order mark, which marks UTF-8."""
    return "".join(csv_lines(header, rows, "\r\n")).encode("utf-8-sig")


def csv_frame(frame: pd.DataFrame) -> bytes:
    """A table as CSV; instants in ISO 8601."""
    plain = _with_texts(frame)
    values = plain.astype(object).where(plain.notna(), None)
    return csv_table([str(name) for name in plain.columns], values.itertuples(index=False, name=None))


def _with_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with its instants in ISO 8601, to the millisecond, as all files have them."""
    import pandas as pd

    plain = frame.copy()
    for name in plain.columns:
        if isinstance(plain[name].dtype, pd.DatetimeTZDtype):
            plain[name] = plain[name].map(lambda at: None if at is pd.NaT else at.isoformat(timespec="milliseconds"))
    return plain


def json_frame(frame: pd.DataFrame) -> bytes:
    """A table as JSON Lines; instants in ISO 8601."""
    return _with_texts(frame).to_json(orient="records", lines=True, date_format="iso").encode()


def zip_frames(
    frames: Iterable[tuple[str, pd.DataFrame]], summary: Mapping[str, Any], texts: Mapping[str, str] | None = None
) -> bytes:
    """All tables of a scan as CSV in one zip, and texts by the names of their files."""
    import zipfile  # the command line writes none

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("summary.json", json_text(summary, indent=1, default=str))
        for name, frame in frames:
            archive.writestr(f"{name}.csv", csv_frame(frame))
        for name, text in (texts or {}).items():
            archive.writestr(name, encodable(text))
    return out.getvalue()

"""Rows of `decode` for people: aligned columns for many ids, a card for one. Depends on the row's keys alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

from idcore.base import catalogue, colours
from idcore.base.safe_text import printable
from idcore.ids.assumptions import assumed
from idcore.ids.describe import DOUBTS

_Row = dict[str, Any]
# Rows that are measured together: wide enough for steady columns, few enough to show a stream as it comes.
_BATCH = 500


def _time(row: _Row) -> str:
    if row["sent_at"] is None:
        return ""
    codes = assumed(row["month_source"] != "assumed", row["zone_source"])
    return f"{row['sent_at'].replace('T', ' ')}{catalogue.words().assumed(codes)}"


def _host(row: _Row) -> str:
    if row["kind"] == "offset":
        host = f"[{row['host']}]" if ":" in row["host"] else row["host"]
        return f"{host}:{row['port']}"
    return row["host"] or row["mac"] or ""


def _last(row: _Row) -> str:
    if row["kind"] == "offset":
        place = "" if row["segment"] is None else f" file {row['segment']} +{row['position']:,}"
        return f"offset {row['offset']:,}{place}"
    if row["kind"] == "client":
        return f"sequence {row['sequence']:,}"
    return "" if row["counter"] is None else f"counter {row['counter']:,}"


def _verdict(row: _Row) -> str:
    return f"rejected: {row['error']['problem']}" if row["error"] else row["maker"] or ""


def _doubt(row: _Row) -> str:
    reasons = zip(row["why_codes"], row["why"], strict=True)
    return "; ".join(reason for code, reason in reasons if code in DOUBTS)


_COLUMNS: tuple[tuple[str, Callable[[_Row], str]], ...] = (
    ("place", lambda row: "" if row["line"] is None else f"{row['line']}:{row['column']}"),
    ("label", lambda row: row["label"] or ""),
    ("id", lambda row: printable(row["text"])),
    ("kind", lambda row: row["layout"] or ""),
    ("certainty", lambda row: row["certainty"] or ""),
    ("host or broker", _host),
    ("pid", lambda row: "" if row["pid"] is None else str(row["pid"])),
    ("loader", lambda row: row["loader"] or ""),
    ("generated at", _time),
    ("counter or offset", _last),
    ("doubt", _doubt),
    ("delivery", lambda row: row["delivery"]["text"] if row["delivery"] else ""),
    ("maker", _verdict),
)


class Table:
    """Lines of aligned columns, written batch by batch."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._waiting: list[list[str]] = []
        self._widths = [len(name) for name, _ in _COLUMNS]
        self._headed = False

    def add(self, row: _Row) -> None:
        """One more row."""
        self._waiting.append([cell(row) for _, cell in _COLUMNS])
        if len(self._waiting) >= _BATCH:
            self._write()

    def close(self) -> None:
        """Writes what still waits."""
        self._write()

    def _write(self) -> None:
        lines = self._waiting
        if not self._headed:
            # A column that is empty throughout the first batch is left out.
            self._shown = [at for at in range(len(_COLUMNS)) if any(line[at] for line in lines)]
        for line in lines:
            self._widths = [max(width, len(cell)) for width, cell in zip(self._widths, line, strict=True)]
        if not self._headed:
            self._out.write(colours.painted(self._aligned([name for name, _ in _COLUMNS]), "heading") + "\n")
            self._headed = True
        self._out.writelines(self._aligned(line) + "\n" for line in lines)
        self._out.flush()
        self._waiting = []

    def _aligned(self, line: list[str]) -> str:
        return "  ".join(line[at].ljust(self._widths[at]) for at in self._shown).rstrip()


_CARD = (
    "label",
    "kind",
    "layout",
    "certainty",
    "host",
    "pid",
    "loader",
    "elapsed_ms",
    "counter",
    "port",
    "offset",
    "segment",
    "position",
    "mac",
    "seconds",
    "sequence",
    "sent_at",
    "month",
    "maker",
)


def card(row: _Row) -> str:
    """One interpretation, a line for each value, reasons below."""
    lines = [colours.painted(printable(row["text"]) or "(empty)", "heading")]
    if row["error"]:
        error = row["error"]
        place = "".join(f", {name} {error[name]}" for name in ("field", "byte") if error[name] is not None)
        lines.append(f"  {colours.painted('rejected', 'error')}    {error['problem']}{place}")
    for key in _CARD:
        value = row[key]
        if value is None:
            continue
        text = f"{value:,}" if key in ("elapsed_ms", "offset", "position", "counter", "sequence") else str(value)
        if key == "loader" and row["loader_position"] is not None:
            text += f" (number {row['loader_position']} of HotSpot's stream, {row['loader_bits']} bits)"
        if key == "sent_at" and row["zone_source"] is not None:
            month = f"; month from {row['month_source']}" if row["month_source"] not in (None, "assumed") else ""
            assumed = "; month assumed" if row["month_source"] == "assumed" else month
            text += f" (zone {row['zone']}, {row['zone_source']}{assumed})"
        lines.append(_named(key, text))
    if row["delivery"]:
        lines.append(_named("delivery", printable(row["delivery"]["text"])))
    lines += [_named("" if number else "why", reason) for number, reason in enumerate(row["why"])]
    if row["others"]:
        named = ", ".join(other["layout"] + (" (impossible)" if other["error"] else "") for other in row["others"])
        lines.append(_named("others", named))
    return "\n".join(lines) + "\n"


def _named(name: str, value: str) -> str:
    return f"  {colours.painted(name, 'name')}{' ' * (12 - len(name))}{value}"

"""When an id was generated, as a finished scan dates its process: a link then agrees with the scan's pages. No page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from idcore.base.errors import CoreError
from idcore.base.layout import Layout
from idcore.ids import assumptions
from idcore.ids.client_time import client_sent
from idcore.ids.clock import Clock, epochs, parse_instant, parse_zone, to_ms
from idcore.ids.identify import Reading
from idcore.ids.model import ClientId, UniqId
from idcore.ids.tokens import Token
from idcore.runs.runs import Run, Runs


def sent_ms(run: Run, reading: Reading) -> tuple[int, tuple[str, ...]] | None:
    """Milliseconds since 1970, and what of them the scan assumed; None where it does not date the process of an id."""
    message_id = reading.id
    if isinstance(message_id, UniqId):
        key = {
            "layout": message_id.layout.name,
            "host": message_id.host,
            "pid": message_id.pid,
            "loader": message_id.loader_text,
        }
        row = _row(run, "processes", key)
        return None if row is None else _marked(_of_process(message_id.elapsed, row, message_id.layout), row)
    if isinstance(message_id, ClientId):
        row = _row(run, "clients", {"mac": message_id.mac_text, "pid": message_id.pid})
        return None if row is None else _marked(_of_client(reading, message_id, row), row)
    return None


def _marked(at_ms: int | None, row: dict[str, Any]) -> tuple[int, tuple[str, ...]] | None:
    """With what the row says that it assumed; scans of older versions do not say it."""
    if at_ms is None:
        return None
    return at_ms, assumptions.assumed("month" not in row or row["month"] is not None, row.get("zone_source"))


def linked_token(text: str, best: Reading | None, query: Mapping[str, str], runs: Runs) -> Token:
    """The id of a link, with the time that the link or its scan gives it; what cannot be read is left out.

    `query` is of the address: `sent_at` with `assumed`, or `run`.
    """
    sent_at, run = query.get("sent_at", ""), query.get("run", "")
    known = None
    try:
        if sent_at:
            known = to_ms(parse_instant(sent_at.replace(" ", "+"))), tuple(query.get("assumed", "").split(","))
        elif run and best is not None:
            known = sent_ms(runs.open(run), best)
    except (CoreError, OSError):
        pass
    if known is None:
        return Token(text, 1, 1)
    return Token(text, 1, 1, born_ms=known[0], linked=True, assumed=known[1])


def _row(run: Run, table: str, key: dict[str, Any]) -> dict[str, Any] | None:
    import pyarrow.parquet as pq  # only where a scan is asked

    if not run.has(table):
        return None
    filters = [(name, "=", value) for name, value in key.items()]
    rows: list[dict[str, Any]] = pq.read_table(run.path / table, filters=filters).to_pylist()
    return rows[0] if len(rows) == 1 else None


def _of_process(elapsed: int, row: dict[str, Any], layout: Layout) -> int | None:
    """The last id of a process has its month; one with more elapsed is of the month before."""
    last, possible = row["last_sent_at"], row.get("last_possible_elapsed_ms")
    if last is None or possible is None:
        return None
    start = to_ms(last) - int(possible)
    if elapsed <= possible:
        return start + elapsed
    zone = parse_zone(row["zone"]) if row.get("zone") else None
    if zone is None:
        return None
    this, before = epochs(last, zone, layout, 2)
    begun = start - this.start_ms + before.start_ms  # what a client begins early or late, it does each month
    return begun + elapsed if elapsed < before.length_ms else None


def _of_client(reading: Reading, client_id: ClientId, row: dict[str, Any]) -> int | None:
    if row["last_sent_at"] is None:
        return None
    until = row["last_sent_at"] + timedelta(seconds=1)
    if row.get("zone"):
        ahead = parse_zone(row["zone"]).utcoffset(until)
        sent, _ = client_sent(client_id, Clock(until + timedelta(days=1), parse_zone("UTC"), "given"))
        return None if sent is None or ahead is None else to_ms(sent.at - ahead)
    maker = row.get("maker") or reading.made_by.code  # older scans do not have it
    sent, _ = client_sent(client_id, Clock(until, parse_zone("UTC"), "given"), maker)
    return None if sent is None else to_ms(sent.at)

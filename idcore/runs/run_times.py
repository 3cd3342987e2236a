"""When an id was generated, as a finished scan dates its process: a link then agrees with the scan's pages. No page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from idcore.base.errors import CoreError
from idcore.base.layout import Layout
from idcore.ids import assumptions
from idcore.ids.client_time import client_sent
from idcore.ids.clock import Clock, epochs, parse_instant, parse_zone, to_ms
from idcore.ids.identify import AROUND, Reading, Verdict, identify, identify_alone
from idcore.ids.model import ClientId, MessageId, UniqId
from idcore.ids.origins import PROCESS_KEY
from idcore.ids.tokens import Token
from idcore.runs.runs import Run, Runs
from idcore.runs.table_sizes import fits


def sent_ms(run: Run, reading: Reading) -> tuple[int, tuple[str, ...]] | None:
    """Milliseconds since 1970, and what of them the scan assumed; None where it does not date the process of an id."""
    return sent_ms_of_many(run, [reading]).get(0)


def sent_ms_of_many(run: Run, readings: Sequence[Reading]) -> dict[int, tuple[int, tuple[str, ...]]]:
    """The same of many ids, by their place; each table is read once."""
    rows = {table: _rows(run, table, keys, readings) for table, keys in _KEYS.items()}
    sent = {}
    for place, reading in enumerate(readings):
        message_id = reading.id
        if isinstance(message_id, UniqId) and (row := rows["processes"].get(_key(message_id))):
            known = _marked(_of_process(message_id.elapsed, row, message_id.layout), row)
        elif isinstance(message_id, ClientId) and (row := rows["clients"].get(_key(message_id))):
            known = _marked(_of_client(reading, message_id, row), row)
        else:
            continue
        if known is not None:
            sent[place] = known
    return sent


def _marked(at_ms: int | None, row: dict[str, Any]) -> tuple[int, tuple[str, ...]] | None:
    """With what the row says that it assumed; scans of older versions do not say it."""
    if at_ms is None:
        return None
    return at_ms, assumptions.assumed("month" not in row or row["month"] is not None, row.get("zone_source"))


def linked(text: str, query: Mapping[str, str], runs: Runs) -> tuple[Verdict, Token]:
    """The id of a link, read as where the link was made, with the time that the link or its scan gives it.

    `query` is of the address: the name that stood in front of it (`label`), its `layout`, its time (`sent_at` with
    `assumed`), or the scan that has it (`run`).
    """
    label, layout = query.get("label") or None, query.get("layout")
    verdict = identify_alone(text, label=label)
    if verdict.best is None and label is None and query.get("run"):
        named = identify(text.strip(AROUND), None, "any", vouched=True)
        if named.best is not None and _has(query["run"], named.best, runs):
            verdict = named
    if layout is not None:
        ordered = sorted(verdict.readings, key=lambda reading: reading.id.layout.name != layout)
        verdict = replace(verdict, readings=tuple(ordered))
    token = _linked_token(text, verdict.best, query, runs)
    return verdict, replace(token, label=label, vouched=verdict.vouched)


def _has(name: str, reading: Reading, runs: Runs) -> bool:
    """Whether a scan has the process of an id."""
    try:
        run = runs.open(name)
        return any(_rows(run, table, keys, [reading]) for table, keys in _KEYS.items())
    except (CoreError, OSError):
        return False


def _linked_token(text: str, best: Reading | None, query: Mapping[str, str], runs: Runs) -> Token:
    """The id with the time of a link; what cannot be read is left out."""
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


_KEYS = {"processes": PROCESS_KEY, "clients": ["mac", "pid"]}


def _key(message_id: MessageId) -> tuple[Any, ...]:
    """The values of `_KEYS` that an id has; none of an offsetMsgId."""
    if isinstance(message_id, UniqId):
        return message_id.layout.name, message_id.host, message_id.pid, message_id.loader_text
    return (message_id.mac_text, message_id.pid) if isinstance(message_id, ClientId) else ()


def _rows(run: Run, table: str, names: Sequence[str], readings: Sequence[Reading]) -> dict[tuple[Any, ...], Any]:
    """The rows of a table for these ids, by their keys; one that comes twice says nothing."""
    import pyarrow as pa  # only where a scan is asked
    import pyarrow.parquet as pq

    wanted = {key for reading in readings if len(key := _key(reading.id)) == len(names)}
    if not wanted or not run.has(table) or not fits(run.path / table, whole=False):
        return {}
    filters = [(name, "in", {key[at] for key in wanted}) for at, name in enumerate(names)]
    rows_of_key: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    try:
        rows = pq.read_table(run.path / table, filters=filters).to_pylist()
    except (OSError, pa.ArrowException):
        return {}  # the pages of that scan say that it is damaged; an ID is decoded without it
    for row in rows:
        rows_of_key.setdefault(tuple(row[name] for name in names), []).append(row)
    return {key: rows[0] for key, rows in rows_of_key.items() if len(rows) == 1}


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

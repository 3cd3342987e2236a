"""The trace and the journey of a message as lines for people: aligned columns, then what is odd or not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from idcore.answers import journey
from idcore.answers.fate.sentences import utc
from idcore.answers.lookup import evidence_text
from idcore.answers.lookup.model import Traced
from idcore.base.safe_text import printable
from idcore.rocketmq.message.attempts import Attempt, Send

_SENDS = ("sent", "began at", "cost", "result", "to broker", "from client", "group")
_LONGEST = 40  # of who did something
_ATTEMPTS = ("consumed", "began at", "duration", "outcome", "retry", "host", "pid", "group")


def trace_lines(traced: Traced | None) -> Iterator[str]:
    """Nothing where nobody asked for a trace."""
    if traced is None:
        return
    found = traced.found
    counts = f"{_count(len(found.sends), 'send')}, {_count(len(found.attempts), 'attempt')}"
    yield printable(f"  trace       {counts} ({', '.join(traced.topics) or 'no topic'})")
    if found.sends:
        yield from aligned([_SENDS, *map(_send, found.sends)])
    if found.attempts:
        yield from aligned([_ATTEMPTS, *map(_attempt, found.attempts)])
    for decision in found.decisions:
        asked = ", in answer to a check" if decision.from_check else ""
        yield printable(f"    decision  {_time(decision.time_ms)} {decision.state}{asked}")
    for recall in found.recalls:
        yield f"    recall    {_time(recall.time_ms)} {'accepted' if recall.success else 'refused'}"
    for item in traced.evidence:
        yield printable(f"    note      {evidence_text(item)}")


def journey_lines(made: journey.Journey | None) -> Iterator[str]:
    """Nothing where nobody asked for a journey."""
    if made is None:
        return
    yield printable(f"  journey     {_count(len(made.events), 'event')}. {journey.found_text(made)}")
    rows = [
        ("", f"{number}.", journey.when_text(event), step, _short(event.who), journey.event_text(event))
        for number, (event, step) in enumerate(zip(made.events, journey.steps(made), strict=True), 1)
    ]
    yield from aligned(rows) if rows else ()
    for heading, found in journey.oddities(made):
        yield from (printable(f"    {heading.lower()}: {text}") for text in found)


def _short(who: str) -> str:
    return who if len(who) <= _LONGEST else f"{who[: _LONGEST - 1]}…"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _send(send: Send) -> tuple[str, ...]:
    result = "" if send.success is None else "stored" if send.success else "not SEND_OK"
    return (
        "",
        _time(send.began_ms),
        f"{send.cost_ms:,} ms",
        result,
        send.broker or "",
        send.client or "",
        send.group or "",
    )


def _attempt(attempt: Attempt) -> tuple[str, ...]:
    return (
        "",
        _time(attempt.began_ms),
        "" if attempt.duration_ms is None else f"{attempt.duration_ms:,} ms",
        attempt.outcome or "no end",
        "" if attempt.retry_times is None else str(attempt.retry_times),
        attempt.host or attempt.client or "",
        "" if attempt.pid is None else str(attempt.pid),
        attempt.group or "",
    )


def _time(milliseconds: int | None) -> str:
    return "" if milliseconds is None else utc(milliseconds)


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Rows as lines, each column as wide as its widest cell."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield ("    " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()

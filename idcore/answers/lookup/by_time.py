"""What an id's own time says about its being missed, held against the clocks and the oldest messages of the brokers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from idcore.answers.fate.sentences import utc
from idcore.answers.lookup.notes import Notes
from idcore.ids.clock import Clock, to_ms, zone_text
from idcore.ids.span import CLOCK_SLACK_MS, Span
from idcore.rocketmq.remoting.requests import BrokerState

_BEHIND_MS = 30_000
# maxRocksDBIndexQueryDays of the release that has the index first.
INDEX_DAYS_MS, ROCKSDB_INDEX = 7 * 86_400_000, (5, 4, 0)
MOST_WINDOWS = 8  # of seven days, in which a key without a time is looked for


def why(span: Span | None, clock: Clock, notes: Notes) -> str:
    """clock_behind, window or expired, where that is so in every zone; else unknown. Asks every master its state."""
    slow = slow_clocks(clock, notes)
    if notes.failed:
        return notes.failure
    if span is not None and clock.zone_source == "given":
        zone = zone_text(clock.reference.astimezone(clock.zone).utcoffset())
        notes.add("id_time", sent=utc(span.latest), zone=zone)
    elif span is not None:
        notes.add("id_time_open", sent=utc(span.latest))
    for member, state in notes.states.values():
        if state.dispatch_behind:
            notes.add("dispatch_behind", broker=str(member), bytes=state.dispatch_behind)
        if str(member) in slow:
            tell_slow({str(member): slow[str(member)]}, clock, notes)
            if span is None or span.earliest > to_ms(clock.reference) - slow[str(member)]:
                return "clock_behind"
    if not notes.cluster.profile.search_whole_log:
        return "window"
    return _age(span, notes)


def slow_clocks(clock: Clock, notes: Notes) -> dict[str, int]:
    """The masters whose clock is behind ours, and by how many ms. Asks each its state, once."""
    notes.learn_states([members[0] for members in notes.cluster.topology().brokers().values()])
    now, states = to_ms(clock.reference), notes.states.values()
    behind = {str(member): now - state.clock_ms for member, state in states if state.clock_ms is not None}
    return {member: ms for member, ms in behind.items() if ms > _BEHIND_MS}


def oldest_of_days(clock: Clock, notes: Notes) -> int | None:
    """The oldest store time of brokers whose index may answer for seven days only; None where there is none.

    A RocksDB index (5.4.0) shows nothing of a wider window, and what is open at its end are the last seven days
    (IndexRocksDBStore.queryOffset). No request says which index a broker has.
    """
    oldest = min((state.earliest_ms for state in indexing_days(notes) if state.earliest_ms), default=None)
    return None if oldest is None or oldest > to_ms(clock.reference) - INDEX_DAYS_MS else oldest


def indexing_days(notes: Notes) -> list[BrokerState]:
    """The masters whose index may answer for seven days only. Asks each its state, once."""
    notes.learn_states([members[0] for members in notes.cluster.topology().brokers().values()])
    return [state for _, state in notes.states.values() if version_of(state.version) >= ROCKSDB_INDEX]


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version as brokers have it: V5_4_0."""
    return tuple(int(part) for part in re.findall(r"\d{1,9}", text, re.ASCII)[:3])


def tell_slow(slow: Mapping[str, int], clock: Clock, notes: Notes) -> None:
    """Notes what these clocks showed."""
    now = to_ms(clock.reference)
    for member, ms in slow.items():
        notes.add("clock", broker=member, clock=utc(now - ms), here=utc(now))


def _age(span: Span | None, notes: Notes) -> str:
    earliest = [(state.earliest_ms, member) for member, state in notes.states.values() if state.earliest_ms]
    for oldest, member in earliest:
        notes.add("earliest", broker=str(member), earliest=utc(oldest))
    if span is None or not earliest:
        return "unknown"
    first = min(oldest for oldest, _ in earliest)
    if span.limit + CLOCK_SLACK_MS < first:
        return "expired"
    if span.earliest + CLOCK_SLACK_MS < first:
        notes.add("expired_open", first=utc(span.earliest), sent=utc(span.latest))
    return "unknown"

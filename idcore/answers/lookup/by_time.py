"""What an id's own time says about its being missed, held against the clocks and the oldest messages of the brokers."""

from __future__ import annotations

from idcore.answers.fate.sentences import utc
from idcore.answers.lookup.notes import Notes
from idcore.ids.clock import Clock, to_ms, zone_text
from idcore.ids.span import CLOCK_SLACK_MS, Span

_BEHIND_MS = 30_000


def why(span: Span | None, clock: Clock, notes: Notes) -> str:
    """clock_behind, window or expired, where that is so in every zone; else unknown. Asks every master its state."""
    masters = [members[0] for members in notes.cluster.topology().brokers().values()]
    notes.learn_states(masters)
    if notes.failed:
        return notes.failure
    if span is not None and clock.zone_source == "given":
        zone = zone_text(clock.reference.astimezone(clock.zone).utcoffset())
        notes.add("id_time", sent=utc(span.latest), zone=zone)
    elif span is not None:
        notes.add("id_time_open", sent=utc(span.latest))
    now = to_ms(clock.reference)
    for member, state in notes.states.values():
        if state.dispatch_behind:
            notes.add("dispatch_behind", broker=str(member), bytes=state.dispatch_behind)
        behind = 0 if state.clock_ms is None else now - state.clock_ms
        if behind > _BEHIND_MS and state.clock_ms is not None:
            notes.add("clock", broker=str(member), clock=utc(state.clock_ms), here=utc(now))
            if span is None or span.earliest > state.clock_ms:
                return "clock_behind"
    if not notes.cluster.profile.search_whole_log:
        return "window"
    return _age(span, notes)


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

"""From each source to its events: an id, log lines, records, verdicts, trace contexts. Orders and judges nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from idcore.answers.fate import Verdict
from idcore.answers.journey.model import Event, Line, Role
from idcore.answers.lookup.clients import host_of
from idcore.answers.lookup.model import Copy
from idcore.ids.assumptions import assumed
from idcore.ids.clock import Clock, SentAt, is_time, to_ms, wall_ms
from idcore.ids.dating import Dates
from idcore.ids.delivery import TRANSACTIONS, UNSENT, Delivery, DeliveryReader
from idcore.ids.describe import month_source, when
from idcore.ids.find import find
from idcore.ids.identify import identify
from idcore.ids.model import ClientId, UniqId
from idcore.ids.origins import Fingerprint
from idcore.ids.tokens import Token
from idcore.rocketmq.message import Host, Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.attempts import Attempt, MessageTrace, Send

# Copies that a broker keeps back until their time comes, or until a producer decides.
WAITING = frozenset({"delayed", "timer", "retry_waiting", "dead_letter_waiting", "half"})
# What consumers never get: these, and what is left of a transaction or of a recall.
HELD = WAITING | {"undecided", "operation", "recall"}

# What a line says that one of RocketMQ's own classes wrote, and who writes it; the first that fits.
_WRITERS: tuple[tuple[str, str, Role], ...] = (
    ("SendResult [sendStatus=", "logged_send", "producer"),
    ("sendKernelImpl exception, resend at once", "logged_resend", "producer"),
    ("send msg to DLQ", "logged_dead", "broker"),
    ("hecked too many times", "logged_given_up", "broker"),
    ("checked-too-many-time", "logged_given_up", "broker"),
    ("Check transaction.", "logged_check", "broker"),
    ("BROADCASTING, the message consume failed", "logged_dropped", "consumer"),
    ("consumeMessage exception", "logged_failed", "consumer"),
    ("send expire msg back", "logged_expired", "consumer"),
    ("MessageExt [", "logged_message", "consumer"),
)
_STORE_HOST = re.compile(r"(?i)store ?host(?:=|:\s{1,20})/?([^\s,]{1,80})")
_BORN_HOST = re.compile(r"(?i)born ?host(?:=|:\s{1,20})/?([^\s,]{1,80})")
_MESSAGE = "MessageExt ["


@dataclass(frozen=True, slots=True)
class OwnTime:
    """When an id was generated: with everything that is known of it, and as it would be read without."""

    event: Event
    dated: SentAt
    plain: SentAt | None


def own_time(text: str, clock: Clock, token: Token | None, dates: Dates | None = None) -> OwnTime | None:
    """The id's own time; None for a text without one. `token` is the id with the hints of a record, line or scan.

    `dates`: what all of its lines prove together.
    """
    named = {} if token is None else {"label": token.label, "vouched": token.vouched or None}
    reading = identify(text, case="any", **named).best  # type: ignore[arg-type]
    if reading is None or not isinstance(reading.id, (UniqId, ClientId)):
        return None
    dated_clock = clock if dates is None else replace(clock, dates=dates)
    (dated, reason), plain = when(reading, token, dated_clock), when(reading, None, clock)[0]
    if dated is None:
        return None
    codes = assumed(month_source(reading, reason) != "assumed", dated.zone_source)
    early, late = (None if each is None else to_ms(each) for each in (dated.earliest, dated.latest))
    values = {"zone": dated.zone, "zone_source": dated.zone_source, "assumed": list(codes)}
    process = reading.id.process
    who, at_ms = process.host_and_pid, to_ms(dated.at)
    event = Event("generated", "id", "producer", who, at_ms, None, early, late, text, values, process.host)
    return OwnTime(event, dated, plain)


# ---- records


def of_copies(copies: Iterable[Copy]) -> Iterator[Event]:
    """When a message was born, once for each time and host, and when each record was stored."""
    born: set[tuple[int, Host]] = set()
    for copy in sorted(copies, key=lambda each: (each.record.store_timestamp, each.record.physical_offset)):
        record = copy.record
        if copy.relation == "trace":
            continue
        place, host, at = str(record.offset_id), record.born_host, record.born_timestamp
        if is_time(at) and (at, host) not in born:
            born.add((at, host))
            yield Event("born", "record", "producer", str(host), at, evidence=place, clock=host.host)
        yield _stored(copy, record, place)
        due = names.number(record.properties.get(names.TIMER_OUT))
        if copy.relation in WAITING and due is not None and is_time(due):
            broker = record.store_host
            yield Event("due", "record", "broker", str(broker), due, evidence=place, clock=broker.host)


def _stored(copy: Copy, record: Record, place: str) -> Event:
    values = {
        "relation": copy.relation or "message",
        "group": copy.group,
        "tries": record.reconsume_times,
        "topic": record.topic,
        "queue": record.queue_id,
        "offset": record.queue_offset,
        "born_ms": record.born_timestamp,
    }
    at = record.store_timestamp if is_time(record.store_timestamp) else None
    who, clock = str(record.store_host), record.store_host.host
    return Event("stored", "record", "broker", who, at, evidence=place, values=values, clock=clock)


# ---- groups


def of_verdicts(verdicts: Iterable[Verdict], live: bool) -> Iterator[Event]:
    """What became of the record in each group, when that was asked or copied; and when a retry is due."""
    for verdict in verdicts:
        known = {"verdict": verdict.code, "certainty": verdict.certainty, "verdict_values": dict(verdict.values)}
        values = {**known, "live": live}
        yield Event(
            "judged", "verdict", "consumer", verdict.group, verdict.asked_at_ms, evidence=verdict.record, values=values
        )
        due = verdict.values.get("due")
        if isinstance(due, int):
            yield Event("due", "verdict", "broker", verdict.group, due, evidence=verdict.record)


# ---- trace


def of_trace(trace: MessageTrace) -> Iterator[Event]:
    """Sends, attempts with their ends, decisions on a half message, recalls."""
    yield from map(_sent, trace.sends)
    yield from map(_attempt, trace.attempts)
    for decision in trace.decisions:
        values = {"state": decision.state, "from_check": decision.from_check}
        who = decision.group or ""
        yield Event("decided", "trace", "producer", who, decision.time_ms, evidence=decision.msg_id, values=values)
    for recall in trace.recalls:
        values = {"success": recall.success}
        who = recall.group or ""
        yield Event("recalled", "trace", "producer", who, recall.time_ms, evidence=recall.msg_id, values=values)


def _sent(send: Send) -> Event:
    values = {"success": send.success, "broker": send.broker, "group": send.group, "cost_ms": send.cost_ms}
    who, end = send.client or send.group or "", send.began_ms + send.cost_ms
    return Event("sent", "trace", "producer", who, send.began_ms, end, evidence=send.msg_id, values=values)


def _attempt(attempt: Attempt) -> Event:
    who = clock = attempt.client or ""
    if attempt.host is not None and attempt.pid is not None:
        who, clock = Fingerprint(attempt.host, attempt.pid).host_and_pid, attempt.host
    values = {
        "group": attempt.group,
        "tries": attempt.retry_times,
        "outcome": attempt.outcome,
        "duration_ms": attempt.duration_ms,
        "client": attempt.client,
    }
    began = attempt.ended_ms if attempt.began_ms is None else attempt.began_ms
    place = attempt.request_id
    return Event("attempt", "trace", "consumer", who, began, attempt.ended_ms, None, None, place, values, clock)


# ---- log lines


def tokens_of(line: Line, ids: Sequence[str]) -> Iterator[Token]:
    """The places of the message's own ids in a line."""
    return (token for token in find(line.text) if token.text.upper() in ids)


def dated_tokens(line: Line, ids: Sequence[str]) -> Iterator[Token]:
    """The same, each with the times of its record: a line without one is dated by those around it."""
    text = "\n".join((*line.before, line.text, *line.behind))
    own = len(line.before) + 1
    return (token for token in find(text) if token.line == own and token.text.upper() in ids)


def linked_ids(line: Line, ids: Sequence[str]) -> list[str]:
    """The other id of the same message, where a line has one msgId and one offsetMsgId, and one of them is known."""
    linked = {token.text.upper() for token in find(line.text)}
    kinds = [reading.id.kind for text in linked if (reading := identify(text).best) is not None]
    pair = sorted(kinds) in (["offset", "uniq"], ["client", "offset"]) and len(linked) == len(kinds)
    return sorted(linked - set(ids)) if pair and linked & set(ids) else []


def claims_of(line: Line, ids: Sequence[str]) -> list[Delivery]:
    """What a line, and the record of several lines around it, says of the delivery of the message."""
    reader = DeliveryReader()
    texts = enumerate((*line.before, line.text, *line.behind), line.number - len(line.before))
    claims = [claim for number, text in texts for claim in reader.line(number, text)]
    claims += reader.end()
    own = {claim.msg_id for claim in claims if (claim.offset_id or "").upper() in ids}
    return [claim for claim in claims if claim.msg_id.upper() in ids or claim.msg_id in own]


def of_lines(lines: Iterable[Line], ids: Sequence[str], zone: tzinfo) -> Iterator[Event]:
    """What each line shows, at the time it opens with; one without a zone is read in `zone`.

    A printed message also has its own times: these are events too, once for each instant. A record of several lines is
    one event, and each of mqadmin's tracks is one.
    """
    seen: set[tuple[str, int]] = set()
    event_places: set[tuple[str, int, str]] = set()  # places of which an event was made
    for line in sorted(lines, key=lambda each: (each.file, each.number)):
        claims = claims_of(line, ids)
        for track in (each for each in claims if each.event in ("track", "filtered")):
            if (key := (line.file, track.line, track.group or "")) not in event_places:
                event_places.add(key)
                yield _claimed(track, line.file, "consumer", f"logged_{track.event}")
        own = next((each for each in claims if each.begin <= line.number <= each.end), Delivery("", line.number))
        is_record = own.begin != own.end
        if (line.file, own.begin or line.number, "") in event_places:
            continue
        event_places.add((line.file, own.begin or line.number, ""))
        token = next(tokens_of(line, ids), None)
        opened = own.time if is_record or own.time is not None or token is None else token.prefix_time
        code, role = _writer(line.text, own)
        logged = _claimed(
            own, line.file, role, code, _instant(opened, zone), opened is not None and opened.tzinfo is not None
        )
        yield logged
        part = "\n".join((*line.before, line.text, *line.behind)) if is_record else _part(line.text, token)
        for event in _printed(part, token, own, logged.evidence, zone):
            if (event.code, event.at_ms or 0) not in seen:
                seen.add((event.code, event.at_ms or 0))
                yield event


def _instant(at: datetime | None, zone: tzinfo) -> int | None:
    if at is None:
        return None
    return to_ms(at) if at.tzinfo is not None else wall_ms(at, zone)


def _writer(text: str, claim: Delivery) -> tuple[str, Role]:
    """What one of RocketMQ's own classes wrote, else what the line says of a delivery."""
    code, role = next(((code, role) for mark, code, role in _WRITERS if mark in text), ("logged", "log"))
    if code not in ("logged", "logged_message") or (code == "logged_message" and claim.event == "received"):
        return code, role
    return _CLAIMED.get(claim.event, (code, role))


_CLAIMED: dict[str, tuple[str, Role]] = {
    "sent": ("logged_send", "producer"),
    UNSENT: ("logged_unsent", "producer"),
    **{event: (f"logged_{event}", "producer") for event in TRANSACTIONS},
    "given_up": ("logged_given_up", "broker"),
    **{event: (f"logged_{event}", "consumer") for event in ("received", "failed", "acked", "unacked", "skipped")},
}


def _claimed(
    claim: Delivery, file: str, role: Role, code: str, at: int | None = None, zone_known: bool = False
) -> Event:
    """One claim of a line as an event; its values are what the line says."""
    values = {
        "zone_known": zone_known,
        "status": claim.status,
        "tries": claim.tries,
        "group": claim.group,
        "topic": claim.topic,
        "stored_topic": claim.stored_topic,
        "thread": claim.thread,
        "reason": claim.reason,
        "pace": claim.pace,
    }
    if claim.event == "sent":
        values |= {"broker": claim.broker, "queue": claim.queue_id, "offset": claim.queue_offset}
    if claim.receipt is not None:
        values |= {"receipt": str(claim.receipt), "invisible_until_ms": claim.receipt.ends_ms}
    place = f"{file}:{claim.line}"
    return Event(code, "line", role, place, at, evidence=place, values=values, clock=file)


def _part(text: str, token: Token | None) -> str:
    """Of a line that prints several messages the one with the id."""
    if token is None:
        return text
    start = text.rfind(_MESSAGE, 0, token.column)
    end = text.find(_MESSAGE, token.column)
    return text[max(start, 0) : end if end >= 0 else len(text)]


def _printed(part: str, token: Token | None, claim: Delivery, place: str, zone: tzinfo) -> Iterator[Event]:
    """The times of a printed message: of its birth, and of the record that it was stored in."""
    if token is None or not (_MESSAGE in part or claim.begin != claim.end):
        return
    born, host = _BORN_HOST.search(part), _STORE_HOST.search(part)
    born_ms = claim.born_ms or token.born_ms or _instant(claim.born, zone)
    if born_ms is not None and is_time(born_ms):
        who = born[1] if born else ""
        is_local = claim.born is not None and not (claim.born_ms or token.born_ms)
        local = {"local": True} if is_local else {}
        yield Event("born", "line", "producer", who, born_ms, evidence=place, values=local, clock=host_of(who))
    at = claim.stored_ms or _instant(claim.stored, zone)
    if at is not None and is_time(at):
        values = {
            "relation": "printed",
            "topic": claim.stored_topic or claim.topic or "?",
            "home": claim.topic,
            "group": claim.group if claim.stored_topic else None,
            "tries": claim.tries or 0,
            "level": claim.delay_level,
            "born_ms": born_ms,
            "local": claim.stored_ms is None,
        }
        who = host[1] if host else ""
        yield Event("stored", "line", "broker", who, at, evidence=place, values=values, clock=host_of(who))

"""One message in sentences, of its IDs and lines: who sent it, when, where it is stored, what happened last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta, tzinfo
from typing import TYPE_CHECKING

from idcore.answers.journey.sentences import event_text, when_text
from idcore.base.catalogue import Words
from idcore.ids.assumptions import assumed
from idcore.ids.clock import Clock
from idcore.ids.delivery import TRANSACTIONS, UNSENT, Delivery
from idcore.ids.delivery_sentences import short_text, stored
from idcore.ids.describe import doubts, month_source, remarks, when
from idcore.ids.identify import Reading
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.record_fields import fields_of
from idcore.intake.intake import FoundId, Intake
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, fact_list, tag

if TYPE_CHECKING:
    from idcore.answers.journey import Event, Journey

_WHERE = ("topic", "queueId", "queueOffset")  # of a line, in the order in which they are said
_MOST_GROUPS = 3  # of one answer of mqadmin that are named: those that have not consumed it are the first
_MOST_PLACES = 5  # of lines that are named
_NOT_LAST = ("generated", "born", "due", "judged")  # of a journey: the begin, what is to come, what was asked
_SHOW_STORED = ("stored", "judged", "attempt")  # of a journey: only what a broker stored has such an event
_SAID = {*_WHERE, "brokerName", "commitLogOffset", "storeHost"}


def of_one(intake: Intake) -> list[FoundId]:
    """The IDs of the only message of an input, one of each kind; empty where it has several, or may have more."""
    found = intake.found
    if intake.cut or not found or (intake.is_list and len(found) > 1):
        return []
    ids = {item.token.text.upper(): item for item in sorted(found, key=_dated, reverse=True)}
    kinds = Counter(_kind(item) for item in ids.values())
    senders = [item for item in ids.values() if _kind(item) != "offset"]
    if len(senders) > 1 or not (senders or kinds["offset"] == 1):
        return []
    if senders:  # what has another line alone may be of another message
        named = senders[0].token.text.upper()
        with_it = {(item.source, item.token.line) for item in found if item.token.text.upper() == named}
        claims = (claim for said in intake.said.values() for claim in said.found if claim.msg_id.upper() == named)
        records = {(claim.offset_id or "").upper() for claim in claims}
        records |= {item.token.text.upper() for item in found if (item.source, item.token.line) in with_it}
        if not ids.keys() <= records | {named}:
            return []
    return [item for item in ids.values() if kinds[_kind(item)] == 1]


def _dated(item: FoundId) -> tuple[bool, bool, int]:
    """The place of an ID that says least of its time first."""
    return item.token.born_ms is not None, item.token.prefix_time is not None, -item.token.line


def _kind(item: FoundId) -> str:
    return "" if item.verdict.best is None else item.verdict.best.id.kind


def sentences(
    items: Sequence[FoundId],
    fields: Mapping[str, str],
    clock: Clock,
    reader: Reader,
    claims: Sequence[tuple[str, Delivery]] = (),
    is_stored: bool = False,
) -> str:
    """`Sent on … by process 18236 on 172.17.0.1.` `Stored on broker itcast (172.17.0.1:10911), topic …`

    A record that a transaction is spoken of with, by the `claims`, is a half message: topic and queue are to come.
    Of a message whose send failed, by lines at these places, and that none shows stored, the ID was made and no more.
    """
    readings = [(item, best) for item in items if (best := item.verdict.best) is not None]
    offsets = [best.id for _, best in readings if isinstance(best.id, OffsetId) and best.id.physical_offset >= 0]
    is_stored = is_stored or bool(offsets) or stored(one for _, one in claims) is not None
    failed = [] if is_stored else list(dict.fromkeys(place for place, one in claims if one.event == UNSENT))
    said = [_sent(item, best, clock, reader, failed) for item, best in readings]
    halves = {
        str(text).upper() for _, one in claims if one.event in TRANSACTIONS for text in (one.msg_id, one.offset_id)
    }
    said += [_stored(offset_id, fields, reader, offset_id.text.upper() in halves) for offset_id in offsets]
    return reader.words("compare.between").join(filter(None, said))


def maybe_none(items: Iterable[FoundId], clock: Clock, reader: Reader) -> str:
    """That the only ID may be none, where its bytes alone speak for it, or look made up; else empty."""
    readings = [(item, best) for item in items if (best := item.verdict.best) is not None]
    if len(readings) != 1 or readings[0][1].certainty != "possible":
        return ""
    item, best = readings[0]
    if any(why.code == "made_up" for why in best.why):
        return reader.words("one.made_up")
    is_said = doubts(when(best, item.token, clock)[0], item.token, clock)
    return "" if is_said else reader.words("one.possible")


def claimed_fields(claims: Iterable[Delivery]) -> dict[str, str]:
    """What lines name of the record that a SendResult or a consumer printed, each from the first that has it."""
    known: dict[str, str] = {}
    for claim in claims:
        for name, attribute in zip(
            (*_WHERE, "brokerName"), ("topic", "queue_id", "queue_offset", "broker"), strict=True
        ):
            if (value := getattr(claim, attribute)) is not None and claim.stored_topic is None:
                known.setdefault(name, str(value))
    return known


def last_said(
    claims: Sequence[tuple[str, Delivery]], zone: tzinfo, reader: Reader, moved: Mapping[str, int] | None = None
) -> str:
    """What happened last by the lines, each claim with its place; empty where none says more than that it was sent.

    By the times that the lines open with, where all have one: those without a zone are of `zone`. `moved`: by how
    many milliseconds lines at some places are, which are of another.
    """
    telling = [(place, claim) for place, claim in claims if short_text(claim)]
    if not telling:
        return ""
    times = [
        claim.time
        and (claim.time if claim.time.tzinfo else claim.time.replace(tzinfo=zone))
        + timedelta(milliseconds=(moved or {}).get(place, 0))
        for place, claim in telling
    ]
    at = len(telling) - 1 if None in times else max(range(len(times)), key=lambda place: (times[place], place))
    last, moment, words = [telling[at]], times[at], reader.words
    if last[0][1].event == "track":  # one answer of mqadmin has a line for each group, in no order of time
        of_groups = {claim.group: (said_at, claim) for said_at, claim in telling if claim.event == "track"}
        last = sorted(of_groups.values(), key=lambda each: each[1].status == "CONSUMED")[:_MOST_GROUPS]
    texts = dict.fromkeys(_of_group(claim, words) for _, claim in last)
    of_last = {place for place, _ in last}
    places = words("comma").join(dict.fromkeys(place for place, _ in telling if place in of_last))
    known = {"what": words("semicolon").join(texts), "place": places}
    said = words("one.last", at=reader.full(moment), **known) if moment else words("one.last_undated", **known)
    dated = sorted((time, place) for place, time in enumerate(times) if time is not None)
    order = range(len(telling)) if None in times else [place for _, place in dated]
    open_ = _failed_elsewhere((telling[place] for place in order), last[0][1])
    what = words("semicolon").join(_of_group(claim, words) for _, claim in open_[:_MOST_GROUPS])
    places = words("comma").join(place for place, _ in open_[:_MOST_GROUPS])
    failed = words("one.failed_elsewhere", what=what, place=places) if open_ else ""
    return words("compare.between").join(filter(None, [said, failed]))


def _failed_elsewhere(claims: Iterable[tuple[str, Delivery]], last: Delivery) -> list[tuple[str, Delivery]]:
    """The last claim of each other group that is named, where that is a failure or a dead letter."""
    if last.group is None or last.event == "track":
        return []
    of_groups = {claim.group: (place, claim) for place, claim in claims if claim.group not in (None, last.group)}
    return [each for each in of_groups.values() if each[1].event == "failed" or each[1].is_dead]


def _of_group(claim: Delivery, words: Words) -> str:
    """A claim in a few words, with the group that it is of."""
    group = words("one.group", name=claim.group) if claim.group else ""
    return words("comma").join(filter(None, (short_text(claim, words), group)))


def of_journey(items: Sequence[FoundId], journey: Journey, zone: tzinfo, clock: Clock, reader: Reader) -> str:
    """The same of a message of which several sources tell, and what happened last by any of them."""
    claims = [claim for _, claim in journey.claims]
    fields = claimed_fields(claims)
    moved = {event.evidence: event.values["moved_ms"] for event in journey.events if "moved_ms" in event.values}
    last = last_said(journey.claims, zone, reader, moved)
    is_stored = any(event.code in _SHOW_STORED or _was_sent(event) for event in journey.events)
    events = [event for event in journey.events if event.at_ms is not None and event.code not in _NOT_LAST]
    if events and not last:
        event = max(events, key=lambda event: event.end_ms or 0)
        what, at = event_text(event, reader.words, reader.instant), when_text(event, reader.words, reader.instant)
        last = reader.words("one.last_event", what=what, at=at)
    said = sentences(items, fields, clock, reader, journey.claims, is_stored)
    return reader.words("compare.between").join(filter(None, [said, last]))


def _was_sent(event: Event) -> bool:
    return event.code == "sent" and bool(event.values.get("success"))


def rest_of_line(line: str) -> Html | None:
    """The fields that the sentences do not say, by their own names."""
    pairs = [(name, value) for name, value in fields_of(line).items() if name not in _SAID]
    return fact_list(
        (tag("span", name, class_="mq-mono"), tag("span", value, class_="mq-mono")) for name, value in pairs
    )


def _sent(item: FoundId, reading: Reading, clock: Clock, reader: Reader, failed: Sequence[str]) -> str:
    """Who sent it and when; nothing of an offsetMsgId. What of the time is assumed stands in it.

    `failed`: lines that report that its send failed, where nothing shows that it was sent.
    """
    words, message_id = reader.words, reading.id
    if isinstance(message_id, OffsetId):
        return ""
    code, known = ("made", {"places": words.first(failed, _MOST_PLACES)}) if failed else ("sent", {})
    sent, reason = when(reading, item.token, clock)
    host = message_id.mac_text if isinstance(message_id, ClientId) else message_id.host
    who = words("one.process", pid=str(message_id.pid), host=host)
    if sent is None:
        said = words("one.made_undated" if failed else "one.undated", who=who, **known)
    else:
        mark = words.assumed(assumed(month_source(reading, reason) != "assumed", sent.zone_source))
        said = words(f"one.{code}", at=reader.full(sent.at), mark=mark, who=who, **known)
        of_line = remarks(sent, item.token, clock) if isinstance(message_id, UniqId) else []
        doubtful = [*doubts(sent, item.token, clock), *of_line]
        wrong = (words.fill(f"one.{doubt.code}", doubt.values) for doubt in doubtful)
        said = words("compare.between").join([said, *wrong])
    docker = any(why.code == "host_docker" for why in reading.why)
    return words("compare.between").join([said, words("one.docker")]) if docker else said


def _stored(offset_id: OffsetId, fields: Mapping[str, str], reader: Reader, is_half: bool) -> str:
    """Where it is stored, with the names that its line has."""
    words, name = reader.words, fields.get("brokerName")
    key = "one.broker_named" if name else "one.broker"
    parts = [words(key, name=name, address=offset_id.address)]
    if is_half:
        parts.append(words("one.half_of", topic=fields["topic"]) if "topic" in fields else words("one.half"))
    else:
        parts += [words(f"one.{field}", value=fields[field]) for field in _WHERE if field in fields]
    at = words("one.at", file=offset_id.segment(), position=f"{offset_id.position():,}")
    return words("one.stored", where=words("comma").join(parts), at=at)

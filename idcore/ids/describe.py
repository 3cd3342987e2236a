"""A verdict in words and plain values: the keys of the command line's JSON, in their order. Prints nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from idcore.base.catalogue import Words
from idcore.ids import clock as clocks
from idcore.ids import makers
from idcore.ids.assumptions import assumed
from idcore.ids.client_time import client_sent
from idcore.ids.clock import Clock, SentAt, zone_text
from idcore.ids.delivery_sentences import row_of as delivery_row
from idcore.ids.identify import ALIKE, Certainty, Reading, Verdict
from idcore.ids.line_moments import BORN_APART_MS, NamedDay, OpenTime
from idcore.ids.line_time import hints, is_of_other_clock, line_apart_ms, uniq_sent
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.reasons import Maker, Reason, bare_reason
from idcore.ids.tokens import Token

if TYPE_CHECKING:
    from idcore.ids.delivery import Delivery
    from idcore.ids.seeds import Search, SeedSearch

# The contract of `decode --format json` and csv: these names, this order.
KEYS = (
    "text",
    "line",
    "column",
    "label",
    "kind",
    "layout",
    "certainty",
    "host",
    "pid",
    "loader",
    "loader_position",
    "loader_bits",
    "elapsed_ms",
    "counter",
    "sent_at",
    "sent_at_earliest",
    "sent_at_latest",
    "month",
    "zone",
    "zone_source",
    "port",
    "offset",
    "segment",
    "position",
    "mac",
    "seconds",
    "sequence",
    "maker",
    "maker_code",
    "why",
    "why_codes",
    "others",
    "error",
    "month_source",
    "delivery",
    "assumed",
    "joined",
    "cut",
    "lookalike",
)
# Where the month of a msgId is from, by the reason that its time has; without one of these it is assumed.
_MONTHS_OF = {
    "line": ("zone_born", "noon", "hour_born", "zone_prefix", "hour_prefix", "month_born", "month_prefix"),
    "linked": ("linked",),
    "record": ("zone_record", "month_record"),
    "process": ("month_process", "zone_process"),
    "input": ("zone_input", "year_input"),
}
_MONTH_SOURCES = {code: source for source, codes in _MONTHS_OF.items() for code in codes}
_OF_RECORD = {
    "zone_born": bare_reason("zone_record"),
    "zone_prefix": bare_reason("zone_record"),
    "month_born": bare_reason("month_record"),
    "month_prefix": bare_reason("month_record"),
}
_LOOK_ALIKES = {code: reason for reason, code in ALIKE.items()}
_OTHER_ZONES = timedelta(hours=28)  # zones in use are 26 hours apart
DOUBTS = frozenset({"time_to_come", "time_before_rocketmq", "born_apart", "stored_apart"})  # what `doubts` says
_RECORD_APART = timedelta(milliseconds=BORN_APART_MS)
_CLOCKS_APART, _FIRST_RELEASE = timedelta(days=1), datetime(2012, 1, 1, tzinfo=UTC)
_LESS: dict[Certainty | None, Certainty] = {"certain": "likely", "likely": "possible", "possible": "possible"}
_NOTHING: dict[str, Any] = dict.fromkeys(KEYS)


def item_of(row: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """A row as JSON has it, of the command line, pages and programs: with what would show that it is wrong."""
    return dict(row) | {"disproof": words(f"wrong_if.reading.{row['kind'] or 'none'}")}


def describe(
    verdict: Verdict,
    token: Token | None,
    clock: Clock,
    seeds: Search | None = None,
    delivery: Delivery | None = None,
) -> dict[str, Any]:
    """One object for one token: its best interpretation, or its error, with the other interpretations below.

    `seeds` looks for the start of a C++ process, which takes a while. `delivery` is what its line says of one.
    """
    row = _head(verdict, token)
    row["delivery"] = delivery_row(delivery) if delivery is not None and delivery.says_much else None
    if verdict.best is not None:
        _put_reading(row, verdict.best, token, clock, seeds)
    else:
        row["why"] = row["why_codes"] = []
    if verdict.error is not None:
        row["error"] = verdict.error.as_dict()
    others = []
    for reading in verdict.others:
        other = _head(verdict, token)
        _put_reading(other, reading, token, clock)
        other["others"] = []
        if reading.error is not None:
            other["error"] = reading.error.as_dict()
        others.append(other)
    row["others"] = others
    return row


class Seeds:
    """The search for the start of a C++ process, loaded when an id asks for it: it needs numpy, a decode does not.

    `before` is called before a search, which takes a while: what it raises ends the work.
    """

    def __init__(self, every: bool = False, before: Callable[[], object] = bool) -> None:
        self._before = before
        self._search: SeedSearch | None = None
        self._is_there = True
        self.makers = frozenset({"cpp", "cpp_or_lua", "dotnet_uuid"} if every else {"cpp_or_lua"})

    def start(self, loader: int, sent_second: int) -> int | None:
        """As SeedSearch.start; None without numpy."""
        self._before()
        if self._search is None and self._is_there:
            try:
                from idcore.ids.seeds import SeedSearch
            except ModuleNotFoundError:
                self._is_there = False
            else:
                self._search = SeedSearch()
        return None if self._search is None else self._search.start(loader, sent_second)


def why(reading: Reading, token: Token | None, clock: Clock) -> tuple[Reason, ...]:
    """The reasons of an interpretation, with those that its line adds about month and zone."""
    return _with_line(reading, token, *when(reading, token, clock), clock)


def certainty(reading: Reading, sent: SentAt | None, token: Token | None, clock: Clock) -> Certainty | None:
    """How certain an interpretation is by now; one whose time is in doubt is less so."""
    is_odd = isinstance(reading.id, UniqId) and not reading.id.has_time
    return _LESS.get(reading.certainty) if is_odd or doubts(sent, token, clock) else reading.certainty


def doubts(sent: SentAt | None, token: Token | None, clock: Clock) -> list[Reason]:
    """What is wrong with a time: no right clock has shown it, or the times of its record contradict it.

    The first is more than a day after now, whatever the zone, or before RocketMQ. Times of a record do so by days.
    One that was stored late may have waited, if it was born then.
    """
    if sent is None:
        return []
    first, last = sent.earliest or sent.at, sent.latest or sent.at
    said = []
    if first - clock.reference > _CLOCKS_APART:
        said.append(bare_reason("time_to_come"))
    elif last < _FIRST_RELEASE:
        said.append(bare_reason("time_before_rocketmq"))
    if token is None or token.linked or not (token.born_ms or token.stored_ms):
        return said
    marks = {code: ms for code, ms in (("born_apart", token.born_ms), ("stored_apart", token.stored_ms)) if ms}
    for code, ms in marks.items():
        if not clocks.is_time(ms):
            continue
        at = clocks.from_ms(ms, sent.at.tzinfo or UTC)
        apart = max(first - at, at - last)
        if apart > _RECORD_APART and (code == "born_apart" or at < first or "born_apart" not in marks):
            values = {"at": at.isoformat(timespec="seconds"), "days": abs(at - sent.at) / timedelta(days=1)}
            said.append(Reason(code, values))
    return said


def _with_line(
    reading: Reading, token: Token | None, sent: SentAt | None, extra: Reason | None, clock: Clock
) -> tuple[Reason, ...]:
    """The reasons of an interpretation, and what its line adds: of its time, and of an MQTT server as its maker."""
    more = [] if extra is None or extra in reading.why else [extra]
    if token is not None and token.gateway and isinstance(reading.id, UniqId):
        more.append(bare_reason("mqtt_gateway"))
    of_line = remarks(sent, token, clock) if isinstance(reading.id, UniqId) else ()
    return (*reading.why, *more, *doubts(sent, token, clock), *of_line)


def remarks(sent: SentAt | None, token: Token | None, clock: Clock) -> list[Reason]:
    """What there is to say of the time in the line of a msgId: of its clock, and of its zone."""
    return [one for one in (_line_apart(sent, token, clock), _zone_open(sent, token)) if one is not None]


def _zone_open(sent: SentAt | None, token: Token | None) -> Reason | None:
    """That a line names its zone by a name that several places have, and which of them was taken, if any."""
    written = None if token is None else token.prefix_time
    if sent is None or not isinstance(written, OpenTime) or sent.zone_source in ("born", "prefix", "linked"):
        return None
    zones = ", ".join(zone_text(timedelta(minutes=ahead)) for ahead in written.choices)
    values = {"name": written.zone_name, "zones": zones, "zone": sent.zone}
    return Reason("zone_open" if is_choice(written, sent) else "zone_other", values)


def is_choice(written: OpenTime, sent: SentAt) -> bool:
    """Whether the zone that a time was read in is one of those that its line may name."""
    return (sent.at.utcoffset() or timedelta()) // timedelta(minutes=1) in written.choices


def _line_apart(sent: SentAt | None, token: Token | None, clock: Clock) -> Reason | None:
    """That a line was written before its ID was generated, or long after though it reports a send: two clocks."""
    apart_ms = line_apart_ms(token, sent, clock.zone) if sent is not None and token is not None else None
    if apart_ms is None or token is None or not is_of_other_clock(apart_ms, token.reports_send):
        return None
    return Reason("line_early" if apart_ms < 0 else "line_late", {"apart_seconds": abs(apart_ms) / 1000})


def when(reading: Reading, token: Token | None, clock: Clock) -> tuple[SentAt | None, Reason | None]:
    """When an interpretation's id was generated, after the hints of its line; the reason names the hint."""
    message_id = reading.id
    born, prefix = hints(token, clock) if token is not None else (None, None)
    if isinstance(message_id, UniqId):
        sent, reason = uniq_sent(message_id, clock, born, prefix, reading.made_by.code)
        if not message_id.has_time and not _agrees(sent, born, prefix):
            return None, None
        if sent is not None and sent.latest is not None and reason is None:
            if sent.latest - sent.at > _OTHER_ZONES:
                reason = bare_reason("zone_newer")
            elif sent.zone_source != "assumed":
                reason = bare_reason("hour_open")
        if isinstance(prefix, OpenTime) and sent is not None and sent.zone_source == "given":
            sent = sent if is_choice(prefix, sent) else clocks.in_any_zone(sent, clock.reference)
    elif isinstance(message_id, ClientId):
        own = None if isinstance(prefix, NamedDay) else prefix
        sent, reason = client_sent(message_id, clock, reading.made_by.code, born, own)
    else:
        return None, None
    if token is not None and token.of_record and reason is not None:
        reason = _OF_RECORD.get(reason.code, reason)
    if token is not None and token.linked and sent is not None and reason is not None:
        return _of_link(sent, token, clock)
    return sent, reason


def _agrees(sent: SentAt | None, born_ms: int | None, prefix: datetime | None) -> bool:
    """Whether a line's own time is within a day of what an ID says, whatever its zone is."""
    if sent is None or isinstance(prefix, NamedDay) or (born_ms is None and prefix is None):
        return False
    zone = sent.at.tzinfo or UTC
    said = clocks.from_ms(born_ms, zone) if born_ms is not None else prefix or sent.at
    return abs((said if said.tzinfo is not None else said.replace(tzinfo=zone)) - sent.at) <= _CLOCKS_APART


def _of_link(sent: SentAt, token: Token, clock: Clock) -> tuple[SentAt, Reason]:
    """The time of a link: what was assumed where it was made is assumed here."""
    if sent.zone_source is not None and "zone" in token.assumed:
        sent = clocks.in_any_zone(sent, clock.reference)
    elif sent.zone_source is not None:
        sent = replace(sent, zone_source="linked")
    return sent, bare_reason("linked_assumed" if "month" in token.assumed else "linked")


def month_source(reading: Reading, extra: Reason | None) -> str | None:
    """Where the month of a msgId is from: `line`, `record`, `process`, `input`, `linked`, `assumed`.

    IDs of other kinds contain their month.
    `extra` is the reason of `when`.
    """
    if not isinstance(reading.id, UniqId):
        return None
    return _MONTH_SOURCES.get(extra.code, "assumed") if extra is not None else "assumed"


def made_by(reading: Reading, extra: Reason | None) -> Maker:
    """The interpretation's client, or the one that the line's hint (the reason of `when`) reveals."""
    local = extra is not None and extra.code in ("seconds_local", "seconds_future")
    return Maker("grpc_java_old") if local else reading.made_by


def _head(verdict: Verdict, token: Token | None) -> dict[str, Any]:
    row = _NOTHING.copy()
    row["assumed"], row["joined"] = [], token is not None and token.whole in ("joined", "grouped")
    if verdict.error is not None and (verdict.reason or "").startswith("masked"):
        row["cut"] = verdict.error.values["hidden"]
    row["lookalike"] = _LOOK_ALIKES.get(verdict.reason or "")
    row["text"] = verdict.text
    if token is not None:
        row["line"], row["column"] = token.line, token.column
    row["label"] = verdict.label
    return row


def started(reading: Reading, sent: SentAt | None, seeds: Search) -> Reason | None:
    """Why an interpretation is of the C++ client: its loader is the first rand() of a process that started before."""
    if not isinstance(reading.id, UniqId) or reading.made_by.code not in seeds.makers or sent is None:
        return None
    second = seeds.start(reading.id.loader, int(sent.at.timestamp()))
    if second is None:
        return None
    return Reason(
        "rand_seed", {"loader": reading.id.loader_text, "started_at": clocks.from_ms(second * 1000).isoformat()}
    )


def _put_reading(
    row: dict[str, Any], reading: Reading, token: Token | None, clock: Clock, seeds: Search | None = None
) -> None:
    message_id = reading.id
    row["kind"], row["layout"] = message_id.kind, message_id.layout.name
    sent, extra = when(reading, token, clock)
    row["certainty"] = certainty(reading, sent, token, clock)
    maker, reasons = made_by(reading, extra), list(_with_line(reading, token, sent, extra, clock))
    start = started(reading, sent, seeds) if seeds is not None else None
    if start is not None:
        reasons.append(start)
    row["maker"], row["maker_code"] = str(maker), maker.code
    row["why"], row["why_codes"] = [str(reason) for reason in reasons], [reason.code for reason in reasons]
    if sent is not None:
        row["sent_at"] = sent.at.isoformat(timespec="milliseconds")
        if sent.earliest is not None and sent.latest is not None:
            row["sent_at_earliest"] = sent.earliest.isoformat(timespec="milliseconds")
            row["sent_at_latest"] = sent.latest.isoformat(timespec="milliseconds")
        row["month"], row["zone"], row["zone_source"] = sent.month, sent.zone, sent.zone_source
        row["month_source"] = month_source(reading, extra)
        row["assumed"] = list(assumed(row["month_source"] != "assumed", sent.zone_source))
    if isinstance(message_id, UniqId):
        row["host"], row["pid"], row["loader"] = message_id.host, message_id.pid, message_id.loader_text
        place = makers.loader_place(message_id.loader)
        if place is not None:
            row["loader_position"], row["loader_bits"] = place
        row["elapsed_ms"], row["counter"] = message_id.elapsed, message_id.counter
    elif isinstance(message_id, OffsetId):
        row["host"], row["port"], row["offset"] = message_id.host, message_id.port, message_id.physical_offset
        if message_id.physical_offset >= 0:
            row["segment"], row["position"] = message_id.segment(), message_id.position()
    else:
        row["mac"], row["pid"] = message_id.mac_text, message_id.pid
        row["seconds"], row["sequence"] = message_id.seconds, message_id.sequence

"""One id as a card, many as a table, rejected tokens as a line that opens. Static HTML from verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta
from itertools import chain

from idcore.base.catalogue import Words
from idcore.base.layout import ID_DIGITS
from idcore.ids import clock as clocks
from idcore.ids import fields
from idcore.ids.assumptions import assumed
from idcore.ids.clock import Clock, SentAt
from idcore.ids.describe import certainty, made_by, month_source, when, why
from idcore.ids.identify import Reading, Verdict, identify_alone
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.reasons import side_of
from idcore.ids.scoring import Certainty
from idcore.intake.intake import FoundId, Intake
from idcore.presentation import intake_texts
from idcore.presentation.html import ruler
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Column, Html, Table, fact_list, fold, join, link, listed, tag

# Reasons that say more of an ID than why it is one, and are not those of a whole day: they stand below it.
SPECIAL = frozenset(
    f"{field}_{what}"
    for field, several in {
        "host": "docker fake link_local loopback not_ipv4 odd unresolved",
        "mac": "made_up zero",
        "pid": "shifted unknown upper_half",
        "label": "against key",
        "case": "lower mixed",
        "elapsed": "known_maker label slack",
        "seconds": "future maybe_local odd",
        "time": "to_come before_rocketmq",
        "born": "apart",
        "line": "early late",
        "stored": "apart",
        "id": "joined grouped longer",
    }.items()
    for what in several.split()
) | {"port_node", "uuid_v4", "made_up", "clock_back", "noon", "mqtt_gateway", "sequence_per_second", "lost_version"}


MOST_LINES = 10  # of one ID of a list


def _mono(text: str) -> Html:
    return tag("span", text, class_="mq-mono")


def _faint(text: str) -> Html:
    return tag("span", text, class_="mq-faint")


def kind_mark(reading: Reading, words: Words) -> Html:
    """The kind with its colour."""
    kind = reading.id.kind
    return tag("span", words(f"kind.{kind}"), class_=f"mq-kind mq-{kind}")


def open_span(sent: SentAt, reader: Reader) -> str | None:
    """From when to when it can have been generated, where its line or client leaves that open, and not only a zone."""
    if sent.earliest is None or sent.latest is None or sent.zone_source == "assumed":
        return None
    return f"{reader.full(sent.earliest)} – {reader.full(sent.latest)}"


def kind_params(text: str, kind: str | None = None) -> dict[str, str | None]:
    """What a link to an id carries where only its kind is known: nothing if the id alone shows it, else what names it.

    Without a kind it is what the id alone shows, else a msgId: only that needs a name to be one.
    """
    best = identify_alone(text).best
    if best is not None and kind in (None, best.kind):
        return {}
    kind = kind or "uniq"
    label = "offsetMsgId" if kind == "offset" else "msgId"
    readings = identify_alone(text, label=label).readings
    layout = next((reading.id.layout.name for reading in readings if reading.kind == kind), None)
    return {"label": label, "layout": layout if readings and readings[0].kind != kind else None}


def message_link(text: str | None, reader: Reader, **place: str | None) -> Html | None:
    """A link to the journey of an id of a list; None without one."""
    return link(text, reader.href("message", id=text, **kind_params(text), **place)) if text else None


def anatomy_params(item: FoundId, clock: Clock) -> dict[str, str | None]:
    """What a link to an id's anatomy carries: the id, the time that the lines gave it, and what of it is assumed.

    Where its input shows what the id alone does not, also its name and layout.
    """
    best = item.verdict.best
    sent, reason = when(best, item.token, clock) if best is not None else (None, None)
    named = reading_params(item)
    if best is None or sent is None:
        return {"id": item.token.text, "sent_at": None, **named}
    codes = assumed(month_source(best, reason) != "assumed", sent.zone_source)
    moment = sent.at.astimezone(UTC).isoformat(timespec="milliseconds")
    return {"id": item.token.text, "sent_at": moment, "assumed": ",".join(codes) or None, **named}


def reading_params(item: FoundId) -> dict[str, str | None]:
    """What an address carries so that it is read as here: its name, and its layout where others come first without."""
    best, label = item.verdict.best, item.token.label
    alone = identify_alone(item.token.text).best
    if best is None or (alone is not None and (alone.id, alone.certainty) == (best.id, best.certainty)):
        return {}
    named = identify_alone(item.token.text, label=label).best
    return {"label": label, "layout": None if named is not None and named.id == best.id else best.id.layout.name}


def card(found: FoundId, reader: Reader, clock: Clock, *, alone: bool = False) -> Html:
    """Everything about one id."""
    words = reader.words
    best = found.verdict.best
    assert best is not None
    title = tag(
        "div",
        tag("strong", words(f"kind_long.{best.id.kind}"), class_=f"mq-{best.id.kind}"),
        tag(
            "span",
            words(f"certainty.{certainty(best, when(best, found.token, clock)[0], found.token, clock)}"),
            class_="mq-sure",
        ),
        tag("span", best.id.layout.name, class_="mq-mono mq-faint"),
        class_="mq-title",
    )
    others = found.verdict.others

    def told_of(reading: Reading) -> Html:
        return other(reading, certainty(reading, when(reading, found.token, clock)[0], found.token, clock), words)

    return tag(
        "div",
        title,
        tag("p", words(f"kind_lead.{best.id.kind}"), class_="mq-lead"),
        filler(found.token.text, words),
        lower_case(found.verdict, words) if alone else None,
        tag("div", ruler.ruler(best, words, large=True), ruler.key(best, words), class_="mq-anatomy"),
        facts(found, best, reader, clock),
        fold(words("card.why", n=len(why(best, found.token, clock))), reasons(found, best, words, clock)),
        months(best, reader, clock, found),
        fold(words.count("other_reading", len(others)), *(told_of(item) for item in others)) if others else None,
        class_="mq-card",
    )


def facts(item: FoundId, reading: Reading, reader: Reader, clock: Clock) -> Html:
    """By whom, when, where."""
    words, message_id = reader.words, reading.id
    sent, reason = when(reading, item.token, clock)

    def value(text: str, more: str = "") -> Html:
        return join([_mono(text), *([" ", _faint(more)] if more else [])])

    rows: list[tuple[str, object]] = [(words("card.maker"), words.coded(made_by(reading, reason)))]
    if sent is not None:
        source = f"zone.source_{sent.zone_source}" if sent.zone_source else "zone.source_utc"
        month = month_source(reading, reason)
        said = [words(source, zone=sent.zone), *([words(f"month.source_{month}")] if month is not None else [])]
        rows.append((words("card.when"), value(reader.full(sent.at), words("semicolon").join(said))))
        if (span := open_span(sent, reader)) is not None:
            rows.append((words("card.between"), value(span)))
    if isinstance(message_id, OffsetId) and message_id.physical_offset >= 0:
        rows.append((words("card.broker"), value(message_id.address)))
        position = words("card.position", position=f"{message_id.position():,}")
        rows.append((words("card.file"), value(message_id.segment(), position)))
    if item.token.label:
        rows.append((words("card.label"), value(item.token.label)))
    return fact_list(rows) or Html("")


def reasons(item: FoundId, reading: Reading, words: Words, clock: Clock) -> Html:
    """What supports an interpretation, what contradicts it, then remarks; each with its side."""
    by_side: dict[str, list[Html]] = {"for": [], "against": [], "": []}
    for reason in why(reading, item.token, clock):
        side = "against" if reading.error is not None and reason.code == reading.error.code else side_of(reason)
        mark = tag("b", words("colon", name=words(f"anatomy.{side}"))) if side else ""
        by_side[side].append(tag("li", mark, words.coded(reason), class_="mq-against" if side == "against" else None))
    return tag("ul", *chain.from_iterable(by_side.values()), class_="mq-why")


def filler(text: str, words: Words) -> Html | None:
    """A word on an id whose digits are all the same: no client generated it."""
    is_filler = len(text) in ID_DIGITS and len(digits := set(text.upper())) == 1 and digits <= set("0123456789ABCDEF")
    return tag("p", words("card.filler"), class_="mq-warning mq-note") if is_filler else None


def lower_case(verdict: Verdict, words: Words) -> Html | None:
    """A word on an id that was given alone, in lower case."""
    return tag("p", words("card.lower_case"), class_="mq-warning mq-note") if verdict.in_lower_case else None


def other(reading: Reading, is_sure: Certainty | None, words: Words, told: str | None = None) -> Html:
    """Another interpretation in a line, and its reasons without the one that was shown already."""
    sure = words(f"certainty.{is_sure or 'none'}")
    said = (told, "case_lower" if told == "lower_case" else None)  # one fact, two codes: as error and as reason
    values = words("comma").join(
        f"{fields.field_name(reading, span.name, words)} {fields.value_of(reading, span.name)}"
        for span in reading.id.layout.spans
    )
    return tag(
        "p",
        kind_mark(reading, words),
        " ",
        _faint(sure),
        tag("br"),
        tag("span", values),
        tag("br"),
        _faint(words("semicolon").join(words.coded(why) for why in reading.why if why.code not in said)),
    )


def months(reading: Reading, reader: Reader, clock: Clock, found: FoundId) -> Html | None:
    """Every month the id could be from, in the zone of its time; the id alone does not decide between them."""
    message_id, words = reading.id, reader.words
    if not isinstance(message_id, UniqId) or not message_id.has_time:
        return None
    chosen, reason = when(reading, found.token, clock)
    elapsed, known = message_id.signed_elapsed, month_source(reading, reason) != "assumed"
    if chosen is not None and chosen.at.tzinfo is not None:
        clock = replace(clock, zone=chosen.at.tzinfo, zone_source=chosen.zone_source or clock.zone_source)
        begun = chosen.at - timedelta(milliseconds=elapsed)
        elapsed += clocks.DAY_MS // 2 if (begun.day, begun.hour) == (1, 12) else 0  # of clients whose months do
    choice = list(clocks.all_months(elapsed, clock, message_id.layout))
    if chosen is not None and all(item.at != chosen.at for item in choice):
        choice = sorted([*choice, chosen], key=lambda item: item.at, reverse=True)
    if not choice:
        return None
    shown = {chosen.at: words("card.month_shown")} if chosen is not None else {}
    items = (tag("li", _mono(reader.full(item.at)), shown.get(item.at)) for item in choice)
    zone = words("card.months_zone", zone=(chosen or choice[0]).zone)
    lead = tag("p", words("card.months_lead"), words("compare.between"), zone, class_="mq-faint")
    return fold(
        words("card.months_known" if known else "card.months", n=len(choice)), lead, tag("ul", *items, class_="mq-why")
    )


def of_ids(
    items: Sequence[FoundId],
    reader: Reader,
    clock: Clock,
    *,
    files: bool = False,
    run: str | None = None,
) -> Table:
    """A page of decoded ids as a table; each leads to its bytes and, with the lines of `run`, to its journey."""
    words = reader.words
    columns = [
        Column("kind", words("col.kind")),
        Column("text", words("col.id"), mono=True),
        Column("sent_at", words("col.sent_at"), mono=True, role="time"),
        Column("host", words("col.host_or_broker"), mono=True, role="host"),
        Column("pid", words("col.pid"), right=True, mono=True, role="pid"),
        Column("loader", words("col.loader"), mono=True, role="loader"),
        Column("counter", words("col.counter"), right=True, mono=True, role="counter"),
        Column("segment", words("col.segment"), mono=True, role="offset"),
        Column("position", words("col.position"), right=True, mono=True, role="offset"),
        Column("line", words("col.line"), right=True, mono=True),
        *([Column("file", words("col.file_name"))] if files else []),
        Column("message", words("message.journey")),
        Column("maker", words("col.maker")),
        Column("why", words("col.why"), wide=True),
    ]
    return Table(words("table.ids"), columns, [_row(item, reader, clock, files, run) for item in items])


def repeated(intake: Intake, reader: Reader) -> Html | None:
    """All IDs of a list or a table that come more than once, with their lines; None where a sentence names them."""
    words, again = reader.words, intake_texts.repeated(intake)
    if len(again) <= intake_texts.NAMED or not (intake.is_list or intake.is_table):
        return None
    columns = [
        Column("text", words("col.id"), mono=True),
        Column("ids", words("col.ids"), right=True),
        Column("lines", words("col.lines"), mono=True, wide=True),
    ]
    rows = [
        [text, f"{len(items):,}", words.first([f"{item.token.line:,}" for item in items], MOST_LINES)]
        for text, items in again.items()
    ]
    label = words("list.again_all", n=words.count("id", len(again)))
    return tag("div", fold(label, Table(label, columns, rows).html()), class_="mq-plain")


def _row(item: FoundId, reader: Reader, clock: Clock, files: bool, run: str | None) -> list[object]:
    words = reader.words
    best = item.verdict.best
    assert best is not None
    message_id = best.id
    sent, reason = when(best, item.token, clock)
    is_sure = certainty(best, sent, item.token, clock)
    sure = "" if is_sure == "certain" else words(f"certainty_short.{is_sure}")
    asked, reasons = anatomy_params(item, clock), why(best, item.token, clock)
    special = words("semicolon").join(words.coded(reason) for reason in reasons if reason.code in SPECIAL)
    text = link(item.token.text, reader.href("anatomy", **asked), new=True)
    at = None if sent is None else dated(reader.full(sent.at), sent, month_source(best, reason), words)
    cells: list[object] = [
        join([kind_mark(best, words), tag("span", f" {sure}", class_="mq-faint")]),
        join([text, tag("span", special, class_="mq-under")]) if special else text,
        at,
    ]
    if isinstance(message_id, OffsetId):
        broker = tag("span", message_id.address, class_="mq-broker")
        cells += [broker, None, None, None, message_id.segment(), f"{message_id.position():,}"]
    elif isinstance(message_id, ClientId):
        cells += [message_id.mac_text, message_id.pid, None, f"{message_id.sequence:,}", None, None]
    else:
        cells += [message_id.host, message_id.pid, message_id.loader_text, f"{message_id.counter:,}", None, None]
    place: list[object] = [f"{item.token.line:,}", *([item.source] if files else [])]
    journey = link(words("card.journey"), reader.href("message", **asked, run=run), new=True)
    reason_text = words("semicolon").join(words.coded(reason) for reason in reasons)
    return [*cells, *place, journey, words.coded(made_by(best, reason)), reason_text]


def dated(text: str, sent: SentAt, month: str | None, words: Words) -> Html:
    """A time, and on a line of its own what of it is assumed: so the column stays in sight."""
    mark = words.assumed(assumed(month != "assumed", sent.zone_source)).strip()
    return join([text, *([tag("br"), _faint(mark)] if mark else [])])


def refused(items: Sequence[FoundId], reader: Reader, *, files: bool = False) -> Html:
    """Rejected tokens: what was where, and why it is not an id."""
    words = reader.words

    def reason(item: FoundId) -> str:
        return words.error(item.verdict.error) if item.verdict.error is not None else ""

    columns = [
        Column("text", words("col.token"), mono=True, cell=lambda item: item.token.text),
        Column("why", words("col.refused_why"), wide=True, cell=reason),
        Column("label", words("col.label"), mono=True, cell=lambda item: item.token.label),
        Column("line", words("col.line"), right=True, mono=True, cell=lambda item: f"{item.token.line:,}"),
        *([Column("source", words("col.file_name"))] if files else []),
    ]
    return listed(columns, items, words("table.refused"))

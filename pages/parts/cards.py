"""One id as a card, many as a table, rejected tokens as a line that opens. Static HTML from verdicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import streamlit as st

from idcore import times
from idcore.catalogue import Words
from idcore.ids import clock as clocks
from idcore.ids import fields
from idcore.ids.clock import Clock, SentAt
from idcore.ids.describe import made_by, when, why
from idcore.ids.identify import Reading, Verdict, identify_alone
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.intake import Found
from idcore.remoting.profile import FILE, NAMESRV
from idcore.reports.markup import Column, Html, join, link, table, tag
from pages.parts import ruler, scans
from pages.parts.view import View, link_params
from pages.parts.widgets import href, page_link

MOST_IDS = 20  # that an address can carry


def clock_of(view: View, reference: datetime | None = None) -> Clock:
    """The reader's clock: "now", and the zone that is assumed where no line shows it."""
    return Clock(reference or view.now(), view.zone, "given" if view.zone_from == "chosen" else "assumed")


def kind_mark(reading: Reading, words: Words) -> Html:
    """The kind with its colour."""
    kind = reading.id.kind
    return tag("span", words(f"kind.{kind}"), class_=f"mq-kind mq-{kind}")


def sent_text(sent: SentAt | None, zone: tzinfo) -> str:
    """When it was generated, in the reader's zone."""
    return "" if sent is None else times.full(sent.at, zone)


def open_span(sent: SentAt, view: View) -> str | None:
    """From when to when it can have been generated, where its line or client leaves that open, and not only a zone."""
    if sent.earliest is None or sent.latest is None or sent.zone_source == "assumed":
        return None
    return f"{times.full(sent.earliest, view.zone)} – {times.full(sent.latest, view.zone)}"


def anatomy_params(found: Found, clock: Clock) -> dict[str, str | None]:
    """What a link to an id's anatomy carries: the id, and the time that the lines gave it."""
    best = found.verdict.best
    sent = when(best, found.token, clock)[0] if best is not None else None
    moment = sent.at.astimezone(UTC).isoformat(timespec="milliseconds") if sent is not None else None
    return {"id": found.token.text, "sent_at": moment}


def card(found: Found, view: View, clock: Clock, *, alone: bool = False) -> Html:
    """Everything about one id."""
    words = view.words
    best = found.verdict.best
    assert best is not None
    title = tag(
        "div",
        tag("strong", words(f"kind_long.{best.id.kind}"), class_=f"mq-{best.id.kind}"),
        tag("span", words(f"certainty.{best.certainty}"), class_="mq-sure"),
        tag("span", best.id.layout.name, class_="mq-mono mq-faint"),
        class_="mq-title",
    )
    others = found.verdict.others
    return tag(
        "div",
        title,
        tag("p", words(f"kind_lead.{best.id.kind}"), class_="mq-lead"),
        filler(found.token.text, words),
        lower_case(found.verdict, words) if alone else None,
        tag("div", ruler.ruler(best, words, large=True), ruler.key(best, words), class_="mq-anatomy"),
        facts(found, best, view, clock),
        tag(
            "details",
            tag("summary", words("card.why", n=len(why(best, found.token, clock)))),
            reasons(found, best, words, clock),
        ),
        months(best, view, clock, found),
        tag(
            "details",
            tag("summary", words.count("other_reading", len(others))),
            *(other(item, words) for item in others),
        )
        if others
        else None,
        class_="mq-card",
    )


def facts(found: Found, reading: Reading, view: View, clock: Clock) -> Html:
    """By whom, when, where."""
    words = view.words
    sent, reason = when(reading, found.token, clock)
    rows: list[tuple[str, object]] = [(words("card.maker"), words.coded(made_by(reading, reason)))]
    if sent is not None:
        source = (
            words(f"zone.source_{sent.zone_source}", zone=sent.zone) if sent.zone_source else words("zone.source_utc")
        )
        rows.append(
            (
                words("card.when"),
                join(
                    [
                        tag("span", times.full(sent.at, view.zone), class_="mq-mono"),
                        " ",
                        tag("span", source, class_="mq-faint"),
                    ]
                ),
            )
        )
        if (span := open_span(sent, view)) is not None:
            rows.append((words("card.between"), tag("span", span, class_="mq-mono")))
    made = reading.id
    if isinstance(made, OffsetId) and made.physical_offset >= 0:
        rows.append((words("card.broker"), tag("span", made.address, class_="mq-mono")))
        rows.append(
            (
                words("card.file"),
                join(
                    [
                        tag("span", made.segment(), class_="mq-mono"),
                        " ",
                        tag("span", words("card.position", position=f"{made.position():,}"), class_="mq-faint"),
                    ]
                ),
            )
        )
    if found.token.label:
        rows.append((words("card.label"), tag("span", found.token.label, class_="mq-mono")))
    pairs = [piece for name, value in rows for piece in (tag("dt", name), tag("dd", value))]
    return tag("dl", *pairs, class_="mq-facts")


def reasons(found: Found, reading: Reading, words: Words, clock: Clock) -> Html:
    """What supports an interpretation, or contradicts it."""
    against = reading.error.code if reading.error is not None else None
    items = [
        tag("li", words.coded(reason), class_="mq-against" if reason.code == against else None)
        for reason in why(reading, found.token, clock)
    ]
    return tag("ul", *items, class_="mq-why")


def filler(text: str, words: Words) -> Html | None:
    """A word on an id whose digits are all the same: no client generated it."""
    return tag("p", words("card.filler"), class_="mq-warning mq-note") if len(set(text.upper())) == 1 else None


def lower_case(verdict: Verdict, words: Words) -> Html | None:
    """A word on an id that was given alone, in lower case."""
    return tag("p", words("card.lower_case"), class_="mq-warning mq-note") if verdict.in_lower_case else None


def other(reading: Reading, words: Words, told: str | None = None) -> Html:
    """Another interpretation in a line, and its reasons without the one that was shown already."""
    sure = words(f"certainty.{reading.certainty}" if reading.certainty else "certainty.none")
    said = (told, "case_lower" if told == "lower_case" else None)  # one fact, two codes: as error and as reason
    values = words("comma").join(
        f"{fields.field_name(reading, span.name, words)} {fields.value_of(reading, span.name)}"
        for span in reading.id.layout.spans
    )
    return tag(
        "p",
        kind_mark(reading, words),
        " ",
        tag("span", sure, class_="mq-faint"),
        tag("br"),
        tag("span", values),
        tag("br"),
        tag(
            "span",
            words("semicolon").join(words.coded(why) for why in reading.why if why.code not in said),
            class_="mq-faint",
        ),
    )


def months(reading: Reading, view: View, clock: Clock, found: Found) -> Html | None:
    """Every month the id could be from; the id alone does not decide between them."""
    made, words = reading.id, view.words
    if not isinstance(made, UniqId):
        return None
    chosen, _ = when(reading, found.token, clock)
    choice = clocks.all_months(made.signed_elapsed, clock, made.layout)
    if not choice:
        return None
    items = [
        tag(
            "li",
            tag("span", times.full(item.at, view.zone), class_="mq-mono"),
            words("card.month_shown") if chosen is not None and item.at == chosen.at else None,
        )
        for item in choice
    ]
    return tag(
        "details",
        tag("summary", words("card.months", n=len(choice))),
        tag("p", words("card.months_lead"), class_="mq-faint"),
        tag("ul", *items, class_="mq-why"),
    )


def many(items: Sequence[Found], view: View, clock: Clock, *, first: int = 1, files: bool = False) -> Html:
    """A page of decoded ids as a table."""
    words = view.words
    columns = [
        Column("kind", words("col.kind")),
        Column("text", words("col.id"), mono=True),
        Column("message", words("message.journey")),
        Column("host", words("col.host_or_broker"), mono=True, role="host"),
        Column("pid", words("col.pid"), right=True, mono=True, role="pid"),
        Column("loader", words("col.loader"), mono=True, role="loader"),
        Column("sent_at", words("col.sent_at"), mono=True, role="time"),
        Column("counter", words("col.counter"), right=True, mono=True, role="counter"),
        Column("segment", words("col.segment"), mono=True, role="offset"),
        Column("position", words("col.position"), right=True, mono=True, role="offset"),
        Column("line", words("col.line"), right=True, mono=True),
        *([Column("file", words("col.file_name"))] if files else []),
        Column("maker", words("col.maker")),
        Column("why", words("col.why"), wide=True),
    ]
    return table(
        columns, (_row(item, view, clock, files) for item in items), words("table.ids"), first=first, numbered=True
    )


def _row(item: Found, view: View, clock: Clock, files: bool) -> list[object]:
    words = view.words
    best = item.verdict.best
    assert best is not None
    made = best.id
    sent, reason = when(best, item.token, clock)
    cells: list[object] = [
        join(
            [kind_mark(best, words), tag("span", " " + words(f"certainty_short.{best.certainty}"), class_="mq-faint")]
        ),
        link(item.token.text, href("anatomy", **anatomy_params(item, clock)), new=True),
        link(words("card.journey"), href("message", **anatomy_params(item, clock), run=scans.current_name()), new=True),
    ]
    if isinstance(made, OffsetId):
        broker = tag("span", made.address, class_="mq-broker")
        cells += [broker, None, None, None, None, made.segment(), f"{made.position():,}"]
    elif isinstance(made, ClientId):
        cells += [made.mac_text, made.pid, None, sent_text(sent, view.zone), f"{made.sequence:,}", None, None]
    else:
        cells += [made.host, made.pid, made.loader_text, sent_text(sent, view.zone), f"{made.counter:,}", None, None]
    reasons = words("semicolon").join(words.coded(reason) for reason in why(best, item.token, clock))
    place: list[object] = [f"{item.token.line:,}", *([item.source] if files else [])]
    return [*cells, *place, words.coded(made_by(best, reason)), reasons]


def refused(items: Sequence[Found], view: View, *, files: bool = False) -> Html:
    """Rejected tokens: what was where, and why it is not an id."""
    words = view.words
    columns = [
        Column("text", words("col.token"), mono=True),
        Column("why", words("col.refused_why"), wide=True),
        Column("label", words("col.label"), mono=True),
        Column("line", words("col.line"), right=True, mono=True),
    ]
    if files:
        columns.append(Column("file", words("col.file_name")))
    rows = []
    for item in items:
        error = item.verdict.error
        row = [
            item.token.text,
            words.error(error) if error is not None else "",
            item.token.label,
            f"{item.token.line:,}",
        ]
        rows.append([*row, item.source] if files else row)
    return table(columns, rows, words("table.refused"))


def message_link(text: str, words: Words) -> None:
    """To the journey of a message. A click here, unlike an address, may ask the only cluster that is configured."""
    asks = bool(os.environ.get(FILE) or os.environ.get(NAMESRV))
    label = words("card.consumed" if asks else "card.message")
    if st.button(label, key=f"message-{text}", icon=":material/conversion_path:", type="tertiary"):
        st.session_state["message_clicked"] = text
        params = link_params(id=text, run=scans.current_name())
        st.switch_page(st.session_state["pages"]["message"], query_params=params)


def _one_message(ids: Sequence[str]) -> str | None:
    """The id of the only message: of a line with a msgId and an offsetMsgId the first, which all its copies have."""
    if len(ids) == 1:
        return ids[0]
    readings = [(identify_alone(text).best, text) for text in ids[:3]]
    others = [text for reading, text in readings if reading is not None and reading.id.kind != "offset"]
    pair = len(ids) == 2 and None not in [reading for reading, _ in readings]
    return others[0] if pair and len(others) == 1 else None


def message_links(ids: Sequence[str], words: Words) -> None:
    """Links that take ids along: one to its journey, to a cluster where one is configured, to an open store folder."""
    if (text := _one_message(ids)) is not None:
        message_link(text, words)
    if 0 < len(ids) <= MOST_IDS and (os.environ.get(FILE) or os.environ.get(NAMESRV)):
        page_link("lookup", words("card.lookup"), icon=":material/search:", id=",".join(ids))
    if len(ids) == 1 and any(isinstance(root, Path) for root in scans.allowed_roots()):
        page_link("store", words("card.store"), icon=":material/folder_open:", id=ids[0])

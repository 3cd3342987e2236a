"""What the decode page shows of its input: a card, a table, files to take away. Reads and scans nothing."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from idcore.answers.differences import LEAST
from idcore.answers.fate_list import MOST_IDS
from idcore.ids.clock import Clock
from idcore.ids.delivery_sentences import line_text
from idcore.ids.identify import identify_alone
from idcore.ids.record_fields import fields_of
from idcore.intake.intake import message_of
from idcore.policy.page_turns import TURNS
from idcore.presentation import intake_texts, message_sentence
from idcore.presentation.html import cards, ruler
from idcore.presentation.html import deliveries as delivery_html
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import emphasised, tag
from idcore.presentation.triage import run_texts
from idcore.presentation.triage.find_anything import LONGEST_SOUGHT
from idcore.server import setting_up
from idcore.simulate import example
from pages.parts import browser, cache, refusals, scans, session
from pages.parts.ids import id_links
from pages.parts.ids.decode_session import DecodeSession
from pages.parts.runs import fate_lists, watch
from pages.parts.triage import shared
from pages.parts.view import view
from pages.parts.widgets import columns, download, page_link, page_of, pager, said, show_html, small_print

USUAL = ("kind", "text", "sent_at", "host", "pid", "line", "file", "message")


def samples() -> None:
    """What an ID holds, where nothing is decoded yet: one that a client generates and one of a broker."""
    words = view().words
    with st.container(key="samples", gap="small"):
        st.header(words("decode.samples"), anchor=False)
        for kind in ("uniq", "offset"):
            best = identify_alone(example.SAMPLES[kind]).best
            assert best is not None
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.html(tag("span", emphasised(words(f"decode.sample_{kind}")), class_="mq-sample"), width="content")
                page_link("anatomy", words("card.anatomy"), id=example.SAMPLES[kind])
            show_html(ruler.ruler(best, words, large=True))


def one(here: DecodeSession) -> tuple[DeltaGenerator, DeltaGenerator]:
    """A single id as a card; gives the place above it and the row below it."""
    words, item = view().words, here.intake.found[0]
    message(here)
    without_ids(here)
    above = st.container()
    show_html(cards.card(item, view(), clock := here.clock(), alone=here.intake.alone))
    deliveries(here)
    id_links.trace_links(here.intake.traces, words)
    below = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    with below:
        page_link("anatomy", words("card.anatomy"), icon=":material/view_week:", **cards.anatomy_params(item, clock))
        id_links.message_links([item.token.text], words, here.run, **cards.reading_params(item))
        _of_scans(here, item.token.text)
    return above, below


def _of_scans(here: DecodeSession, text: str) -> None:
    """Links to the lines of an ID in the newest scans that have it."""
    from pages.parts.triage import lines  # with it Arrow

    words = view().words
    for run in lines.scans_with(text, here.run):
        title = escaped(run_texts.title_of(run.title, run.options, words, run.summary))
        page_link("lines", words("decode.lines_of", scan=title), icon=":material/segment:", run=run.name, ids=text)


def many(here: DecodeSession) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The table, at once; gives the place above it and the row below it. What was cut is counted by the scan."""
    words, items, run = view().words, here.intake.found, here.open_run()
    summary = run.summary if run and run.state == "done" else None
    message(here, intake_texts.intake_sentence(here.intake, here.where(words), words, summary))
    for sentence in intake_texts.common_sentences(here.intake, here.clock(), view(), summary):
        said(sentence)
    if (again := cards.repeated(here.intake, view())) is not None:
        show_html(again)
    without_ids(here)
    above = st.container()
    common(here)
    if items:
        page, first = page_of(items, "ids_page")
        run_name = scans.current_name()
        several = here.files and len({item.source for item in items}) > 1
        table = cards.of_ids(page, view(), here.clock(), files=several, run=run_name)
        show_html(columns(table, USUAL).html(first=first, numbered=True))
        pager(items, "ids_page")
    deliveries(here)
    id_links.trace_links(here.intake.traces, words)
    below = st.container(horizontal=True, gap="medium", vertical_alignment="center")
    ids = list(dict.fromkeys(item.token.text for item in items))
    with below:
        only = message_of(ids)
        named = next((cards.reading_params(item) for item in items if item.token.text == only), {})
        id_links.message_links(ids, words, here.run, **named)
    fate_lists.offer({} if here.intake.cut or len(ids) > MOST_IDS else {"fates.ask": ids})
    return above, below


def message(here: DecodeSession, aside: str = "") -> None:
    """One message in sentences, then the `aside`, and what else its line says; of several messages the aside alone."""
    items = message_sentence.of_one(here.intake)
    if not items or (here.files and here.single):  # of a single ID in a file the table has all
        if aside:
            said(aside)
        return
    shown, clock, is_line = view(), here.clock(), not here.files and here.intake.lines == 1
    claims = [
        (f"{source}:{claim.line}" if source else line_text(claim, shown.words), claim)
        for source, of in here.intake.said.items()
        for claim in of.found
    ]
    fields = fields_of(here.text) if is_line else message_sentence.claimed_fields(claim for _, claim in claims)
    parts = [
        message_sentence.sentences(items, fields, clock, shown, claims),
        message_sentence.maybe_none(items, clock, shown),
    ]
    if not is_line or delivery_html.told(here.intake.said, shown) is None:  # else below the card
        parts.append(message_sentence.last_said(claims, clock.zone, shown))
    said(shown.words("compare.between").join(filter(None, parts)), aside)
    if is_line and (rest := message_sentence.rest_of_line(here.text)) is not None:
        show_html(tag("div", rest, class_="mq-rest"))


def common(here: DecodeSession) -> None:
    """What differs between a list of IDs and the scan of a log that is open besides it."""
    run = scans.log_behind(here.run) if here.intake.is_list and len(here.intake.found) >= LEAST else None
    if run is not None:
        from pages.parts.triage import explaining  # with it pandas

        explaining.of_list(here.intake.found, here.clock(), run, view())


def deliveries(here: DecodeSession) -> None:
    """What the lines say of the delivery of each message."""
    if (delivery := delivery_html.told(here.intake.said, view(), here.intake.cut)) is not None:
        show_html(delivery)


def elsewhere(here: DecodeSession) -> None:
    """Where a short text without an ID may be: in lines of the scan in sight, or of the newest; as a message's key."""
    text = "" if here.files else here.text.strip()
    if not 0 < len(text) <= LONGEST_SOUGHT or "\n" in text:
        return
    words, run = view().words, scans.at_hand()
    if run is None or run.state != "done":
        logs = (row["name"] for row in cache.finished() if not (row["store"] or (row["summary"] or {}).get("is_list")))
        run = next((scans.visible_runs().open(name) for name in logs), None)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        if run is not None and run.store is None:
            title = escaped(run_texts.title_of(run.title, run.options, words, run.summary))
            page_link("lines", words("decode.in_scan", scan=title), icon=":material/segment:", run=run.name, find=text)
        id_links.look_up_links([text], words)


def without_ids(here: DecodeSession) -> None:
    """A line on the files that have no id."""
    if text := refusals.without_ids(here.open_run(), view().words, here.intake):
        show_html(tag("p", text, class_="mq-faint mq-note"))


def of_server(here: DecodeSession) -> None:
    """A scan of a folder of the server: what it counted, and the way to each page of it."""
    words, run = view().words, here.open_run()
    assert run is not None
    from pages.parts.triage import opened  # with it Plotly

    opened.line(run, "decode", words)
    if watch.scan_state(run, again=here.scan):
        from pages.parts.ids import pictures

        said(words("decode.elsewhere", ids=words.count("occurrence", (run.summary or {}).get("ids", 0))))
        pictures.verdict(run, view())
        pictures.three(run, view())
        small_print(shared.notes(run, view()))


def takeaway(here: DecodeSession, below: DeltaGenerator) -> None:
    """Copy, CSV, JSON: everything that was read at once, not only what is in sight; a cut is named on the button."""
    words, items, clock = view().words, here.intake.found, here.clock()

    def named(kind: str) -> str:
        return words("decode.part", kind=kind, n=f"{len(items):,}") if here.intake.cut else kind

    with below:
        text = "\n".join(item.token.text for item in items)
        browser.copy_button(text, words, "ids", named(words("copy")))
        is_drawn_again = here.state == "scanning" or setting_up.now() is not None  # what a click makes would be dropped
        later = (partial(_export, here, clock, kind, session.who()) for kind in (0, 1))
        made = here.exports(clock) if is_drawn_again else tuple(later)
        download(named("CSV"), made[0], "ids.csv", key="ids-csv")
        download(named("JSON Lines"), made[1], "ids.jsonl", key="ids-json", mime="application/x-ndjson")


def _export(here: DecodeSession, clock: Clock, kind: int, who: str) -> bytes:
    """At the click, in a thread of its own."""
    with TURNS.below(here.is_long, who):
        return here.exports(clock)[kind]

"""Message: one message from its producer to each consumer, and whether it was consumed. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from idcore.answers.journey import found_text
from idcore.presentation import intake_texts
from idcore.presentation.headline import Asked, answers_text
from idcore.presentation.html import cards, ruler
from idcore.presentation.html import journeys as html
from idcore.presentation.reports.markup import tag
from pages.parts import live, problems, session
from pages.parts.messages import journey_report, journeys, lookups, stores
from pages.parts.view import in_sight, view
from pages.parts.widgets import heading, page_link, said, show_html, small_print, zone_note


def into_link() -> None:
    """The address follows the box; the time of a link is that of its own id."""
    st.query_params["id"] = (st.session_state.get("message_id") or "").strip()
    for name in ("sent_at", "assumed", "label", "layout"):
        st.query_params.pop(name, None)


shown = view()
words = shown.words
heading("page.message")

# load
text, trace = (st.query_params.get(name, "").strip() for name in ("id", "trace"))
if trace and not text:  # a link of a tracer
    with problems.caught():
        text = journeys.of_trace(trace, journeys.run_at_hand(), shown) or ""
    if not text:
        session.stop()
    st.query_params["id"] = text
folder = stores.linked(words)
st.session_state["message_id"] = text
st.text_input(
    words("message.box"), key="message_id", on_change=in_sight(into_link), placeholder=words("message.placeholder")
)
if not text:
    said(words("message.lead"))
    stores.offer_example(words, message=True)
    session.stop()
with problems.caught():
    offers = live.offers()
    run = journeys.run_at_hand()
    found = journeys.found_of(text, run)
    best = found.verdict.best
    if best is None:  # first: what follows is of a text that may be a key
        said(intake_texts.why_not(found.verdict, words))
    told = journeys.ask(text, offers, shown)
    with journeys.store_answer(text, folder, shown) as stored:
        known = [answer for answer in (told.found[0] if told else None, stored) if answer is not None]
        lines, of_lines = journeys.lines_of(text, known, run, shown)
        made = journeys.build(found, known, lines, run, shown)

        # show
        whom: Asked = "cluster" if offers else "store" if stores.to_open() else ""
        sentence = answers_text(known, whom, words, made, shown.instant)
        sums = journeys.summed_up(found, known, lines, made, run, shown)
        is_judged = any(answer.fate for answer in known)  # whether it was consumed is the answer, where that is known
        parts = [part for part in ((sentence, sums) if is_judged else (sums, sentence)) if part]
        said(*parts)
        for each in html.fates(known, shown, st.query_params.get("cluster")):
            show_html(each)
        if made.events:
            st.header(words("message.journey"), anchor=False)
            is_alone = len(made.events) == 1  # a picture of one point says nothing
            left, right = (st.container(), st.container()) if is_alone else st.columns([3, 2], gap="large")
            if not is_alone:
                with left:
                    journeys.picture(made, shown)
            with right:
                for odd in html.oddities(made, shown):
                    show_html(odd)
            show_html(html.events(made, shown, run.name if run else None).blocks(numbered=True))
            journey_report.takeaway(made, known, words("compare.between").join(parts), shown)
        elif best is not None:
            st.info(words("message.nothing"), icon=":material/info:")
        journeys.tries(text, known, run, shown)
        if known:
            st.header(words("message.records"), anchor=False)
        for answer in known:
            lookups.answer_card(answer, shown, fates=False)
if best is not None:
    st.header(words("message.anatomy"), anchor=False)
    show_html(tag("div", ruler.ruler(best, words), class_="mq-anatomy"))
    dated = journeys.dated(found, known)
    show_html(cards.facts(dated, best, shown, shown.clock()))
    place = {"run": run.name if run else None} | cards.anatomy_params(dated, shown.clock())
    page_link("anatomy", words("card.anatomy"), icon=":material/view_week:", **place)
asked_at = words("lookup.asked", cluster=told.cluster, at=shown.full(told.at)) if told else ""
cut = words("message.lines_cut", n=f"{journeys.MOST_LINES:,}", of=f"{of_lines:,}")
small_print(
    [
        found_text(made, words),
        cut if of_lines > journeys.MOST_LINES else "",
        asked_at,
        words("lookup.guard") if offers else "",
        zone_note(shown),
    ]
)

"""Anatomy: one id byte by byte, every interpretation of it, and what each field proves. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from idcore.ids.describe import certainty, when
from idcore.ids.identify import Certainty, Reading, identify_alone
from idcore.intake.intake import FoundId
from idcore.presentation import intake_texts
from idcore.presentation.html import cards, ruler
from idcore.presentation.reports.markup import tag
from idcore.runs.run_times import linked
from idcore.simulate import example
from pages.parts import problems, scans, session
from pages.parts.ids import id_links
from pages.parts.view import in_sight, into_address, view
from pages.parts.widgets import heading, said, show_html, small_print, zone_note


def into_link() -> None:
    """The address follows the box; the time of a link is that of its own id."""
    st.query_params["id"] = (st.session_state.get("anatomy_id") or "").strip()
    for name in ("sent_at", "assumed", "run", "label", "layout"):
        st.query_params.pop(name, None)


def compared(one: Reading) -> None:
    """A box for a second ID; with one in it, both byte by byte."""
    state, other = st.session_state, st.query_params.get("with", "").strip()
    state["anatomy_with"] = other
    into = lambda: into_address({"with": (state.get("anatomy_with") or "").strip()})  # noqa: E731
    st.text_input(
        words("pair.box"), key="anatomy_with", on_change=in_sight(into), placeholder=words("anatomy.placeholder")
    )
    if not other:
        return
    with problems.caught():
        second = identify_alone(other)
    if second.best is None:
        st.error(intake_texts.why_not(second, words), icon=":material/block:")
    elif second.best.id.layout != one.id.layout:
        kinds = {name: words(f"kind.{item.id.kind}") for name, item in (("one", one), ("other", second.best))}
        said(words("pair.kinds" if kinds["one"] != kinds["other"] else "pair.layouts", **kinds))
    else:
        same, apart = ruler.differing(one, second.best, words)
        parts = {"same": words.listed(same), "apart": words.listed(apart)}
        said(words("pair.said" if same and apart else "pair.equal" if same else "pair.nothing", **parts))
        show_html(ruler.pair(one, second.best, words))


def reading(item: FoundId, shown: Reading) -> None:
    """One interpretation: ruler with bits, key, reasons, lessons."""
    with st.container(key=f"reading-{shown.id.layout.name}-{shown.id.kind}"):
        show_html(
            tag("div", ruler.ruler(shown, words, large=True, bits=True), ruler.key(shown, words), class_="mq-anatomy")
        )
        show_html(cards.facts(item, shown, view(), clock))
        left, right = st.columns([3, 2], gap="large")
        with left:
            st.header(words("anatomy.lessons"), anchor=False)
            show_html(ruler.lessons(shown, words))
        with right:
            st.header(words("anatomy.why"), anchor=False)
            show_html(cards.reasons(item, shown, words, clock))
            months = cards.months(shown, view(), clock, item)
            if months is not None:
                show_html(tag("div", months, class_="mq-plain"))


def sureness(shown: Reading) -> Certainty | None:
    """How certain an interpretation is by now."""
    return certainty(shown, when(shown, token, clock)[0], token, clock)


words = view().words
heading("page.anatomy")

# load
text = st.query_params.get("id", "").strip()
st.session_state["anatomy_id"] = text
st.text_input(
    words("anatomy.box"), key="anatomy_id", on_change=in_sight(into_link), placeholder=words("anatomy.placeholder")
)
if not text:
    said(words("anatomy.lead"))
    with st.container(horizontal=True, gap="small"):
        for kind, sample in example.SAMPLES.items():
            st.button(
                words(f"kind_long.{kind}"),
                key=f"sample-{kind}",
                icon=":material/arrow_forward:",
                on_click=lambda sample=sample: st.query_params.update(id=sample),
            )
    session.stop()
clock = view().clock()
with problems.caught():
    verdict, token = linked(text, st.query_params.to_dict(), scans.visible_runs())
found = FoundId(token, verdict)

# show
if verdict.best is None:
    st.error(intake_texts.why_not(verdict, words), icon=":material/block:")
for note in (cards.filler(text, words), cards.lower_case(verdict, words)):
    if note is not None:
        show_html(note)
every = [*verdict.readings, *verdict.rejected]
if not every:
    session.stop()
if verdict.best is not None:
    key = "anatomy.said" if len(every) > 1 else "anatomy.said_one"
    said(
        words(
            key,
            kind=words(f"kind_long.{verdict.best.id.kind}"),
            sure=words(f"certainty.{sureness(verdict.best)}"),
            n=words.count("other_reading", len(every) - 1),
        )
    )
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        id_links.message_links([text], words, **cards.reading_params(found))
pair = bool(st.query_params.get("with", "").strip())
if verdict.best is not None and pair:
    compared(verdict.best)
names = [
    f"{words(f'kind.{item.id.kind}')} · {words('certainty_short.' + (sureness(item) or 'none'))}"
    + (f" · {item.id.layout.name}" if item.id.layout.name.endswith("_le") else "")
    for item in every
]
for tab, item in zip(st.tabs(names) if len(every) > 1 else [st.container()], every, strict=True):
    with tab:
        reading(found, item)
if verdict.best is not None and not pair:  # its box alone stands below the answer
    compared(verdict.best)
small_print([zone_note(view())])

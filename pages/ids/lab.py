"""Lab: watch ids being generated, stored, retried and found; the story is in the address. Computes nothing itself."""

from __future__ import annotations

import streamlit as st

from idcore.presentation.html import lab
from idcore.presentation.lab import Story, packed, texts
from idcore.presentation.lab.world import SIZES
from pages.parts import browser, problems
from pages.parts.ids import lab_controls
from pages.parts.view import view
from pages.parts.widgets import heading, said, show_html, small_print

words = view().words
heading("page.lab")
show_html(lab.lead(words))

# load
asked = lab_controls.given()
at = lab_controls.presented()
if at is None:
    lab_controls.ready(asked, words)
    left, right = st.columns([5, 14], gap="large")
    with left, st.container(key="lab-controls"):
        lab_controls.settings(asked, words)
        steps = st.container(gap="xsmall")
else:  # for a room: the story alone, and larger
    steps, right = st.container(), st.container(key="lab-presented")
with right, problems.caught():
    whole = Story.read(asked)
    story = whole if at is None else whole.first(at)
    told = packed.played(story)
with steps:
    if at is None:
        lab_controls.steps(story, words)
    else:
        lab_controls.turn_page(whole, at, words)

# show
with right:
    said(texts.story_sentence(told, words))
    if at is None:
        lab_controls.takeaway(story, words)
    show_html(lab.bars(told, words))
    show_html(lab.story(told, view()))
    small_print(
        [
            words("lab.note_clock", zone=story.made_in),
            words("lab.note_real", size=words.bytes(SIZES.commit_log_file)),
        ]
    )
browser.reveal(
    ".mq-step-last", lab_controls.turn() if at is None else at, wide=900
)  # where the buttons stay in sight next to it

"""What was rejected of an input, which of its files have no id, which could not be read. Judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from idcore.base.catalogue import Words
from idcore.intake.intake import Intake, Source
from idcore.presentation import intake_texts
from idcore.presentation.html import cards
from idcore.presentation.triage import run_notes
from idcore.runs.runs import Run
from pages.parts import cache
from pages.parts.view import View
from pages.parts.widgets import page_link, show_html

SHOWN = 200


def line(intake: Intake, view: View, files: bool, run: Run | None = None) -> None:
    """Rejected tokens: one line with their count, which opens. What was cut is counted by the scan."""
    words = view.words
    counted = intake.cut and run is not None and run.state == "done"
    if counted and run is not None:
        reasons, traced = run_notes.reasons_of(cache.rejected(run)), run_notes.trace_ids_of(cache.frame(run, "files"))
    else:
        reasons, traced = dict(Counter(item.verdict.reason or "" for item in intake.refused)), intake.trace_ids
    if traced:
        st.caption(run_notes.trace_ids(traced, words))
    if not reasons:
        return
    total, shown = sum(reasons.values()), intake.refused[:SHOWN]
    key = "refused.line_first" if intake.cut and not counted else "refused.line"
    with st.expander(words(key, n=words.count("token", total), reasons=intake_texts.reasons_text(reasons, words))):
        if shown:
            show_html(cards.refused(shown, view, files=files))
        if total > len(shown):
            st.caption(words("refused.more", n=f"{total - len(shown):,}"))


def without_ids(run: Run | None, words: Words, intake: Intake | None = None) -> str:
    """Which files have no id, while others have some: of a scan, or of what was read at once."""
    names, total = (intake.without_ids, len(intake.texts)) if intake is not None else ([], 0)
    if run is not None and run.state == "done" and len(files := cache.frame(run, "files")):
        names, total = run_notes.files_without_ids(files)
    return run_notes.without_ids(names, total, words)


def of_files(intake: Intake, sources: Sequence[Source], words: Words) -> None:
    """Files that could not be read at all, and those read only in part, by name and reason; commit logs have a page."""
    if any(problem.code == "commit_log" for _, problem in intake.failed):
        page_link("store", words("page.store"), icon=":material/folder_open:")
    for text in intake_texts.unread(intake, len(sources), words):
        st.warning(text, icon=":material/warning:")


def no_id(intake: Intake, view: View, files: bool = False, text: str = "") -> None:
    """Nothing that is an id: say what is wrong with the text, and which IDs it has with digits for letters."""
    words = view.words
    if files and not intake.size:
        if not (intake.failed or intake.partly):
            st.error(words("decode.empty_files"), icon=":material/block:")
    elif len(intake.refused) == 1:
        verdict = intake.refused[0].verdict
        st.error(intake_texts.why_not(verdict, words), icon=":material/block:")
        if note := cards.filler(verdict.text, words):
            show_html(note)
        if verdict.others and verdict.reason not in intake_texts.WRONG_SHAPE:
            show_html(cards.other(verdict.others[0], verdict.others[0].certainty, words, told=verdict.reason))
    elif intake.refused and not all(item.verdict.reason in intake_texts.WRONG_SHAPE for item in intake.refused):
        st.error(words("decode.all_refused", n=words.count("token", len(intake.refused))), icon=":material/block:")
        show_html(cards.refused(intake.refused[:SHOWN], view))
    elif files and intake.binary:
        st.error(words("decode.binary"), icon=":material/block:")
        page_link("store", words("page.store"), icon=":material/folder_open:")
    else:
        st.error(intake_texts.no_run(intake.longest, words), icon=":material/block:")
    for message_id, label in intake_texts.offers(text, words):
        page_link("decode", label, icon=":material/spellcheck:", ids=message_id)

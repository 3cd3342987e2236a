"""The one place where an error becomes a message. Depends on no page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError, coded
from idcore.base.safe_text import for_visitor
from idcore.intake import allowed
from idcore.policy import metrics
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.triage import run_texts
from idcore.scan import run_damage
from pages.parts import scans, session
from pages.parts.view import view


def message(error: BaseException, words: Words) -> str:
    """What went wrong, for a callout: in the reader's language, without a traceback, without markup of a stranger."""
    error = run_damage.blamed(error, lambda: scans.current(("compare", "fates")))
    metrics.error(coded(error).code if isinstance(error, CoreError | OSError) else "")
    return escaped(public(run_texts.problem_text(error, words)))


def said(problem: Any, words: Words) -> str:
    """Why a run failed or Spark is not there, for a callout: an error, what a run keeps of it, or a text."""
    return escaped(public(words.said(problem)))


def public(text: str) -> str:
    """Without what only the administrator is to see: the server's log and run.json have it."""
    return for_visitor(text, allowed.shown(scans.configured_roots()))


def show_error(error: BaseException, reference: str | None = None) -> None:
    """The message as a callout; `reference` is what finds it in the server's log."""
    words = view().words
    more = " " + words("problem.reference", reference=reference) if reference else ""
    st.error(message(error, words) + more, icon=":material/error:")


def tried(*steps: Callable[[], Any]) -> None:
    """What a click does to runs, step by step; the error of a step waits for the page, and the others go on."""
    st.session_state.pop("runs_problem", None)
    for step in steps:
        try:
            step()
        except (CoreError, OSError) as error:
            st.session_state["runs_problem"] = message(error, view().words)
    scans.cache.forget_runs()


@contextmanager
def caught() -> Iterator[None]:
    """Errors of the core inside become a message, and the page ends here."""
    try:
        yield
    except (CoreError, OSError) as error:
        show_error(error)
        session.stop()

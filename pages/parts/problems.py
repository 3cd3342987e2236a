"""The one place where an error becomes a message. Depends on no page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from idcore.catalogue import Words
from idcore.errors import CoreError, coded
from idcore.reports.markdown import escaped
from idcore.runs import RunError
from idcore.safe_text import for_visitor
from pages.parts import scans
from pages.parts.view import view


def message(error: BaseException, words: Words) -> str:
    """What went wrong, for a callout: in the reader's language, without a traceback, without markup of a stranger."""
    return escaped(public(_said(error, words)))


def said(problem: Any, words: Words) -> str:
    """Why a run failed or Spark is not there, for a callout: an error, what a run keeps of it, or a text."""
    return escaped(public(words.said(problem)))


def public(text: str) -> str:
    """Without what only the administrator is to see: the server's log and run.json have it."""
    return for_visitor(text, [str(root) for root in scans.allowed_roots()])


def _said(error: BaseException, words: Words) -> str:
    if isinstance(error, RunError) and error.field == "run":
        return words("problem.comparison" if error.code == "not_a_scan" else "problem.run", name=error.text)
    if isinstance(error, CoreError):
        return words.error(error)
    if isinstance(error, MemoryError):
        return words("problem.memory")
    if isinstance(error, PermissionError):
        return words("problem.permission", name=error.filename or "")
    if isinstance(error, FileNotFoundError):
        return words("problem.missing", name=error.filename or "")
    if isinstance(error, OSError):
        return words("problem.disk", reason=coded(error))
    return words("problem.other", name=type(error).__name__)


def show_error(error: BaseException) -> None:
    """The message as a callout."""
    st.error(message(error, view().words), icon=":material/error:")


@contextmanager
def caught() -> Iterator[None]:
    """Errors of the core inside become a message, and the page ends here."""
    try:
        yield
    except (CoreError, OSError) as error:
        show_error(error)
        st.stop()

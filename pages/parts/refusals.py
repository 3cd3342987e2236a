"""What was read at once, in sentences: how many of which kind, what was refused and why, what dates it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from idcore.ids.clock import Clock
from idcore.ids.describe import KEYS, describe, when
from pages.parts import cards
from pages.parts.intake import Found, Intake
from pages.parts.text import Words
from pages.parts.view import View
from pages.parts.widgets import show

SHOWN = 200

__all__ = ["KEYS", "dated_note", "line", "no_id", "rows_of", "sentence"]


def sentence(intake: Intake, where: str, words: Words) -> str:
    """`2,000 ids in 1,000 lines: 1,000 uniq ids and 1,000 offset ids.`"""
    kinds = [words.count(f"kind_{kind}", n) for kind, n in sorted(intake.kinds.items(), key=lambda item: -item[1])]
    different = len({item.token.text.upper() for item in intake.found})
    total = len(intake.found)
    key = "decode.said_repeated" if different != total else "decode.said"
    return words(
        key,
        ids=words.count("id", total),
        different=words.count("different", different),
        lines=where,
        kinds=words.listed(kinds),
    )


def rows_of(found: Sequence[Found], clock: Clock) -> Callable[[], Iterator[dict[str, Any]]]:
    """The ids as the command line prints them, made when they are asked for."""

    def rows() -> Iterator[dict[str, Any]]:
        for item in found:
            yield describe(item.verdict, item.token, clock)

    return rows


def line(intake: Intake, view: View, files: bool) -> None:
    """Refused tokens: one line with their count, which opens."""
    if not intake.refused:
        return
    words = view.words
    reasons: dict[str, int] = {}
    for item in intake.refused:
        code = item.verdict.reason or ""
        reasons[code] = reasons.get(code, 0) + 1
    said = reasons_text(reasons, words)
    with st.expander(words("refused.line", n=words.count("token", len(intake.refused)), reasons=said)):
        show(cards.refused(intake.refused[:SHOWN], view, files=files))
        if len(intake.refused) > SHOWN:
            st.caption(words("refused.more", n=f"{len(intake.refused) - SHOWN:,}"))


def reasons_text(reasons: Mapping[str, int], words: Words) -> str:
    """Reasons with their counts, the most frequent first; a single one needs no count."""
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    if len(ordered) == 1:
        return words(f"refusal.{ordered[0][0]}")
    return words("clause").join(f"{words(f'refusal.{code}')} ({n:,})" for code, n in ordered)


def no_id(intake: Intake, view: View) -> None:
    """Nothing that is an id: say what is wrong with what stands there."""
    words = view.words
    if len(intake.refused) == 1:
        item = intake.refused[0]
        error = item.verdict.error
        st.error(words.error(error) if error is not None else words("decode.no_id"), icon=":material/block:")
        if item.verdict.others:
            show(cards.other(item.verdict.others[0], words))
    elif intake.refused:
        st.error(words("decode.all_refused", n=words.count("token", len(intake.refused))), icon=":material/block:")
        show(cards.refused(intake.refused[:SHOWN], view))
    else:
        key = "decode.no_id_run" if intake.longest else "decode.no_id"
        st.error(words(key, n=words.count("digit", intake.longest)), icon=":material/block:")


def dated_note(found: Sequence[Found], clock: Clock, words: Words) -> list[str]:
    """Where month and zone of the times shown come from, each source with its count."""
    sources: dict[str, int] = {}
    zones: dict[str, str] = {}
    for item in found:
        best = item.verdict.best
        if best is None or best.id.kind != "uniq":
            continue
        sent, reason = when(best, item.token, clock)
        if sent is None or sent.zone_source is None:
            continue
        name = sent.zone_source if reason is None or sent.zone_source in ("born", "prefix") else "line"
        sources[name] = sources.get(name, 0) + 1
        zones.setdefault(name, sent.zone)
    return [words(f"dated.{name}", n=words.count("time", n), zone=zones[name]) for name, n in sources.items()]

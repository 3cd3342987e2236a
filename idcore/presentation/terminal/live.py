"""A scan that goes on as lines for a terminal, drawn again with each refresh. Counts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from idcore.base.catalogue import Words
from idcore.base.safe_text import printable
from idcore.presentation.terminal import scans
from idcore.presentation.triage import follow_texts


def lines(summary: Mapping[str, Any] | None, out: Path, words: Words) -> Iterator[str]:
    """How far it is, then what a finished scan says."""
    if summary is None:
        yield words("follow.starting")
        return
    yield printable(follow_texts.standing(summary["follow"], words))
    yield from (printable(text) for text in follow_texts.left_out(summary["follow"], words))
    yield from scans.summary(summary, out, words.lang)

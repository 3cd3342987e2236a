"""A queue as a strip: its ends, where groups are in it, and where the message is. Static HTML; asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from idcore.answers.fate import Verdict
from idcore.answers.fate.places import NEEDS_NO_PLACE, places_of, positions
from idcore.base.catalogue import Words
from idcore.presentation.reports.markup import Column, Html, join, table, tag, wrapped

# What may be in a strip, in the order of its words; each has a sign of its own, because colour alone tells nothing.
SIGNS = {"begin": "├", "offset": "▼", "pulled": "▽", "blocker": "■", "message": "◆", "end": "┤"}
MOST_DRAWN = 12


def strip(places: Mapping[str, int], words: Words) -> Html:
    """Offsets by what they are, drawn in their order; the words below have the numbers."""
    known = {name: places[name] for name in SIGNS if name in places}
    at = positions(list(known.values()))
    signs = [
        tag("i", SIGNS[name], class_=f"mq-at mq-at-{name}", style=f"left:{at[offset]:.2f}%")
        for name, offset in known.items()
    ]
    said = [tag("span", f"{SIGNS[name]} {words(f'strip.{name}')} {offset:,}") for name, offset in known.items()]
    return tag(
        "div",
        tag("div", *signs, class_="mq-queue", aria_hidden="true"),
        tag("div", *said, class_="mq-queue-words"),
        class_="mq-strip",
    )


def strips(verdicts: Sequence[Verdict], words: Words) -> Html | None:
    """The strips of the groups that did not get past the record; None where there is none to draw."""
    drawn = [(verdict.group, places_of(verdict)) for verdict in verdicts if verdict.code not in NEEDS_NO_PLACE]
    drawn = [(group, places) for group, places in drawn if len(places) > 1]
    if not drawn:
        return None
    columns = [Column("group", words("fate.group"), True), Column("strip", words("strip.table"))]
    rows = [[wrapped(group), strip(places, words)] for group, places in drawn[:MOST_DRAWN]]
    more = len(drawn) - MOST_DRAWN
    notes = [words("strip.scale"), *([words("strip.more", n=f"{more:,}")] if more > 0 else [])]
    noted = tag("p", join(notes, " "), class_="mq-faint mq-note")
    return tag("div", table(columns, rows, words("strip.table")), noted, class_="mq-strips")

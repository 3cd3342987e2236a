"""The bytes of one id as coloured spans, as bits, and as a table that is their key. Every place comes from a Layout."""

from __future__ import annotations

from typing import Any

from idcore.base.catalogue import Words
from idcore.ids import fields
from idcore.ids.identify import Reading
from idcore.presentation.reports.markup import Html, join, tag


def ruler(reading: Reading, words: Words, *, large: bool = False, bits: bool = False) -> Html:
    """The spans with their names below. Screen readers get one sentence instead."""
    raw = bytes(reading.id)
    pieces = []
    for span in reading.id.layout.spans:
        digits = fields.digits_of(reading, span)
        label = tag("span", fields.field_name(reading, span.name, words), class_="mq-label")
        if bits:
            cells = [
                tag(
                    "span",
                    tag("span", digits[2 * place : 2 * place + 2], class_="mq-hex mq-mono"),
                    tag("span", f"{raw[span.start + place]:08b}"[:4], class_="mq-bits mq-mono"),
                    tag("span", f"{raw[span.start + place]:08b}"[4:], class_="mq-bits mq-mono"),
                    tag("span", span.start + place, class_="mq-place"),
                    class_="mq-byte",
                )
                for place in range(span.stop - span.start)
            ]
            inside: Any = tag("span", *cells, class_="mq-bytes")
        else:
            inside = tag("span", digits, class_="mq-hex mq-mono")
        pieces.append(
            tag(
                "span",
                inside,
                label,
                class_="mq-span",
                data_field=fields.drawn_as(reading, span.name),
                title=words("ruler.bytes", first=span.start, last=span.stop - 1),
            )
        )
    spoken = tag("p", fields.spoken_text(reading, words), class_="mq-hidden")
    return join([tag("div", *pieces, class_=f"mq-ruler{' mq-large' if large else ''}", aria_hidden="true"), spoken])


def key(reading: Reading, words: Words) -> Html:
    """The value table, which is the ruler's key: name, raw digits, value, meaning."""
    rows = [
        tag(
            "div",
            tag("span", fields.field_name(reading, span.name, words), class_="mq-fieldname", role="rowheader"),
            tag("span", fields.digits_of(reading, span), class_="mq-raw mq-mono mq-faint", role="cell"),
            tag("span", fields.value_of(reading, span.name), class_="mq-value mq-mono", role="cell"),
            tag("span", fields.meaning_of(reading, span.name, words), class_="mq-means", role="cell"),
            data_field=fields.drawn_as(reading, span.name),
            role="row",
        )
        for span in reading.id.layout.spans
    ]
    return tag("div", *rows, class_="mq-key", role="table", aria_label=words("ruler.key"))


def pair(one: Reading, other: Reading, words: Words) -> Html:
    """Two IDs of one layout, byte by byte under each other: the fields and the digits that differ are marked."""
    rows = []
    for span in one.id.layout.spans:
        digits = [fields.digits_of(reading, span) for reading in (one, other)]
        values = [fields.value_of(reading, span.name) for reading in (one, other)]
        differs = digits[0].upper() != digits[1].upper()
        cells = [
            tag("span", _marked(own, others), tag("br"), tag("b", value), class_="mq-mono", role="cell")
            for own, others, value in zip(digits, reversed(digits), values, strict=True)
        ]
        said = words("pair.differs") if differs else words("pair.same")
        rows.append(
            tag(
                "div",
                tag("span", fields.field_name(one, span.name, words), class_="mq-fieldname", role="rowheader"),
                *cells,
                tag("span", said, class_="mq-warning" if differs else "mq-faint", role="cell"),
                data_field=fields.drawn_as(one, span.name),
                role="row",
                class_="mq-differs" if differs else None,
            )
        )
    return tag("div", *rows, class_="mq-pair", role="table", aria_label=words("pair.table"))


def _marked(digits: str, others: str) -> Html:
    """Digits in pairs, those of bytes that differ from the others' marked."""
    pairs = [(digits[at : at + 2], others[at : at + 2]) for at in range(0, len(digits), 2)]
    return join([tag("mark", own) if own.upper() != other.upper() else own for own, other in pairs])


def differing(one: Reading, other: Reading, words: Words) -> tuple[list[str], list[str]]:
    """The names of the fields of two IDs of one layout that are the same, and of those that differ."""
    alike: tuple[list[str], list[str]] = ([], [])
    for span in one.id.layout.spans:
        same = fields.digits_of(one, span).upper() == fields.digits_of(other, span).upper()
        alike[0 if same else 1].append(fields.field_name(one, span.name, words))
    return alike


def lessons(reading: Reading, words: Words) -> Html:
    """A short lesson for each field: how it is filled, what it proves, what it does not."""
    boxes = []
    for span in reading.id.layout.spans:
        lesson = fields.lesson_of(reading, span.name, words)
        entries = [part for name, said in lesson for part in (tag("dt", name), tag("dd", said))]
        boxes.append(
            tag(
                "details",
                tag(
                    "summary",
                    fields.field_name(reading, span.name, words),
                    " ",
                    tag("span", words("ruler.bytes", first=span.start, last=span.stop - 1), class_="mq-faint"),
                ),
                tag("dl", *entries),
                data_field=fields.drawn_as(reading, span.name),
            )
        )
    return tag("div", *boxes, class_="mq-lessons")

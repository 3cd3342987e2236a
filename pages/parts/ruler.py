"""The bytes of one id as coloured spans, as bits, and as a table that is their key. Every place comes from a Layout."""

from __future__ import annotations

from typing import Any

from idcore.catalogue import Words
from idcore.ids.clock import CLIENT_EPOCH_S, from_ms
from idcore.ids.identify import Reading
from idcore.ids.makers import loader_place
from idcore.ids.model import OffsetId, UniqId
from idcore.layout import Span
from pages.parts.markup import Html, join, tag


def raw_bytes(reading: Reading) -> bytes:
    """The bytes of an interpretation."""
    return bytes(reading.id)


def digits_of(reading: Reading, span: Span) -> str:
    """The digits of one field as they are in the text, letter case kept."""
    return reading.id.text[2 * span.start : 2 * span.stop]


def value_of(reading: Reading, name: str, words: Words) -> str:
    """A field's value as people read it."""
    found = reading.id
    if isinstance(found, UniqId):
        plain = {
            "ip": found.host,
            "pid": f"{found.pid}",
            "loader": found.loader_text,
            "elapsed": f"{found.elapsed:,}",
            "counter": f"{found.counter:,}",
        }
    elif isinstance(found, OffsetId):
        plain = {"ip": found.host, "port": f"{found.port}", "offset": f"{found.physical_offset:,}"}
    else:
        plain = {
            "version": f"{found.version}",
            "mac": found.mac_text,
            "pid": f"{found.pid}",
            "seconds": f"{found.seconds:,}",
            "sequence": f"{found.sequence:,}",
        }
    return plain[name]


def meaning_of(reading: Reading, name: str, words: Words) -> str:
    """What a field's value says, in one line."""
    found = reading.id
    if isinstance(found, UniqId):
        if name == "loader":
            place = loader_place(found.loader)
            if place is not None:
                return words("means.loader_stream", place=f"{place[0]:,}", bits=place[1])
            return words("means.loader_zero") if found.loader == 0 else words("means.loader_other")
        if name == "elapsed":
            key = "means.elapsed_le" if found.layout.early else "means.elapsed"
            key = "means.elapsed_back" if found.signed_elapsed < 0 else key
            return words(key, span=words.duration(abs(found.signed_elapsed) / 1000))
        return words(f"means.uniq_{name}")
    if isinstance(found, OffsetId):
        if name == "offset" and found.physical_offset >= 0:
            return words("means.offset", position=f"{found.position():,}", segment=found.segment())
        return words(f"means.offset_{name}")
    if name == "seconds":
        if reading.made_by.code in ("grpc_rust", "grpc_cpp_old"):
            return words(f"means.seconds_{reading.made_by.code}")
        moment = from_ms((CLIENT_EPOCH_S + found.seconds) * 1000)
        return words("means.seconds", moment=f"{moment:%Y-%m-%d %H:%M:%S} +00:00")
    return words(f"means.client_{name}")


def field_name(reading: Reading, name: str, words: Words) -> str:
    """What a field is called here: an ip is a host's or a broker's."""
    key = f"field.{reading.id.kind}_{name}"
    return words(key) if words.has(key) else words.field(name)


def drawn_as(reading: Reading, name: str) -> str:
    """A field's name in roles: an ip is a host's, or the broker's in an offsetMsgId."""
    return "broker" if name == "ip" and reading.id.kind == "offset" else name


def ruler(reading: Reading, words: Words, *, large: bool = False, bits: bool = False) -> Html:
    """The spans with their names below. Screen readers get one sentence instead."""
    raw = raw_bytes(reading)
    pieces = []
    for span in reading.id.layout.spans:
        digits = digits_of(reading, span)
        label = tag("span", field_name(reading, span.name, words), class_="mq-label")
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
                data_field=drawn_as(reading, span.name),
                title=words("ruler.bytes", first=span.start, last=span.stop - 1),
            )
        )
    spoken = tag("p", spoken_text(reading, words), class_="mq-hidden")
    return join([tag("div", *pieces, class_=f"mq-ruler{' mq-large' if large else ''}", aria_hidden="true"), spoken])


def spoken_text(reading: Reading, words: Words) -> str:
    """The ruler in words."""
    parts = [
        words(
            "ruler.spoken",
            name=field_name(reading, span.name, words),
            first=span.start,
            last=span.stop - 1,
            digits=digits_of(reading, span),
            value=value_of(reading, span.name, words),
        )
        for span in reading.id.layout.spans
    ]
    return words("ruler.spoken_head", text=reading.id.text) + " " + words("semicolon").join(parts) + words("stop")


def key(reading: Reading, words: Words) -> Html:
    """The value table, which is the ruler's key: name, raw digits, value, meaning."""
    rows = [
        tag(
            "div",
            tag("span", field_name(reading, span.name, words), class_="mq-fieldname", role="rowheader"),
            tag("span", digits_of(reading, span), class_="mq-raw mq-mono mq-faint", role="cell"),
            tag("span", value_of(reading, span.name, words), class_="mq-value mq-mono", role="cell"),
            tag("span", meaning_of(reading, span.name, words), class_="mq-means", role="cell"),
            data_field=drawn_as(reading, span.name),
            role="row",
        )
        for span in reading.id.layout.spans
    ]
    return tag("div", *rows, class_="mq-key", role="table", aria_label=words("ruler.key"))


def lessons(reading: Reading, words: Words) -> Html:
    """A short lesson for each field: how it is filled, what it proves, what it does not."""
    boxes = []
    for span in reading.id.layout.spans:
        base = f"lesson.{reading.id.kind}_{span.name}"
        entries = []
        for part in ("how", "proves", "not"):
            if words.has(f"{base}.{part}"):
                entries += [tag("dt", words(f"lesson.{part}")), tag("dd", words(f"{base}.{part}"))]
        boxes.append(
            tag(
                "details",
                tag(
                    "summary",
                    field_name(reading, span.name, words),
                    " ",
                    tag("span", words("ruler.bytes", first=span.start, last=span.stop - 1), class_="mq-faint"),
                ),
                tag("dl", *entries),
                data_field=drawn_as(reading, span.name),
            )
        )
    return tag("div", *boxes, class_="mq-lessons")

"""The fields of an id in words: their digits, values and meaning, in the places that its Layout has. Draws nothing."""

from __future__ import annotations

from idcore.base.catalogue import Words
from idcore.base.layout import Span
from idcore.ids.clock import CLIENT_EPOCH_S, from_ms
from idcore.ids.identify import Reading
from idcore.ids.makers import loader_place
from idcore.ids.model import OffsetId, UniqId


def digits_of(reading: Reading, span: Span) -> str:
    """The digits of one field as they are in the text, letter case kept."""
    return reading.id.text[2 * span.start : 2 * span.stop]


def value_of(reading: Reading, name: str) -> str:
    """A field's value as people read it."""
    message_id = reading.id
    if (always := message_id.layout.field(name).always) is not None:
        return f"{always}"
    if isinstance(message_id, UniqId):
        plain = {
            "ip": message_id.host,
            "pid": f"{message_id.pid}",
            "loader": message_id.loader_text,
            "elapsed": f"{message_id.elapsed:,}",
            "counter": f"{message_id.counter:,}",
        }
    elif isinstance(message_id, OffsetId):
        plain = {"ip": message_id.host, "port": f"{message_id.port}", "offset": f"{message_id.physical_offset:,}"}
    else:
        plain = {
            "mac": message_id.mac_text,
            "pid": f"{message_id.pid}",
            "seconds": f"{message_id.seconds:,}",
            "sequence": f"{message_id.sequence:,}",
        }
    return plain[name]


def meaning_of(reading: Reading, name: str, words: Words) -> str:
    """What a field's value says, in one line."""
    message_id = reading.id
    if (always := message_id.layout.field(name).always) is not None:
        return words("means.always", value=always)
    if isinstance(message_id, UniqId):
        if name == "loader":
            place = loader_place(message_id.loader)
            if place is not None:
                return words("means.loader_stream", place=f"{place[0]:,}", bits=place[1])
            return words("means.loader_zero") if message_id.loader == 0 else words("means.loader_other")
        if name == "elapsed":
            key = "means.elapsed_le" if message_id.layout.early else "means.elapsed"
            if not message_id.has_time:
                back, span = abs(message_id.signed_elapsed) / 1000, message_id.elapsed / 1000
                return words("means.elapsed_never", span=words.duration(span), back=words.duration(back))
            key = "means.elapsed_back" if message_id.signed_elapsed < 0 else key
            return words(key, span=words.duration(abs(message_id.signed_elapsed) / 1000))
        return words(f"means.uniq_{name}")
    if isinstance(message_id, OffsetId):
        if name == "offset" and message_id.physical_offset >= 0:
            return words("means.offset", position=f"{message_id.position():,}", segment=message_id.segment())
        return words(f"means.offset_{name}")
    if name == "seconds":
        if reading.made_by.code in ("grpc_rust", "grpc_cpp_old"):
            return words(f"means.seconds_{reading.made_by.code}")
        moment = from_ms((CLIENT_EPOCH_S + message_id.seconds) * 1000)
        return words("means.seconds", moment=f"{moment:%Y-%m-%d %H:%M:%S} +00:00")
    if name == "sequence" and reading.made_by.code == "grpc_cpp_old":
        return words("means.sequence_grpc_cpp_old")
    return words(f"means.client_{name}")


def lesson_of(reading: Reading, name: str, words: Words) -> list[tuple[str, str]]:
    """The lesson of a field: the name of each part and its sentence. A version needs none of its own."""
    base = f"lesson.{reading.id.kind}_{name}"
    if words.has(f"lesson.{name}_{reading.made_by.code}.how"):
        base = f"lesson.{name}_{reading.made_by.code}"
    if reading.id.layout.field(name).always is not None and not words.has(f"{base}.how"):
        base = "lesson.always"
    parts = [part for part in ("how", "proves", "not") if words.has(f"{base}.{part}")]
    return [(words(f"lesson.{part}"), words(f"{base}.{part}")) for part in parts]


def field_name(reading: Reading, name: str, words: Words) -> str:
    """What a field is called here: an ip is a host's or a broker's."""
    key = f"field.{reading.id.kind}_{name}"
    return words(key) if words.has(key) else words.field(name)


def drawn_as(reading: Reading, name: str) -> str:
    """A field's name in roles: an ip is a host's, or the broker's in an offsetMsgId."""
    return "broker" if name == "ip" and reading.id.kind == "offset" else name


def spoken_text(reading: Reading, words: Words) -> str:
    """The ruler in words."""
    parts = [
        words(
            "ruler.spoken",
            name=field_name(reading, span.name, words),
            first=span.start,
            last=span.stop - 1,
            digits=digits_of(reading, span),
            value=value_of(reading, span.name),
        )
        for span in reading.id.layout.spans
    ]
    return words("ruler.spoken_head", text=reading.id.text) + words("semicolon").join(parts) + words("stop")

"""Trace ids that other tracers put into properties, each checked by its own format. Opens no link."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

LINK_PLACE = "{trace_id}"
_HEX = r"[0-9a-f]"
_TRACEPARENT = re.compile(rf"(?!ff)({_HEX}{{2}})-(?!0{{32}})({_HEX}{{32}})-(?!0{{16}}){_HEX}{{16}}-{_HEX}{{2}}(-.*)?")
_B3_ID = re.compile(rf"(?!0+$)(?:{_HEX}{{32}}|{_HEX}{{16}})")
_JAEGER_ID = re.compile(rf"(?!0+$){_HEX}{{1,32}}")
_SKYWALKING_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z.\-]{0,127}")
_IN_TEXT = re.compile(rf"(?<![0-9A-Za-z-]){_TRACEPARENT.pattern.removesuffix('(-.*)?')}(?![0-9A-Za-z])")
_LONGEST = 2_000
MOST_IN_TEXT = 100


@dataclass(frozen=True, slots=True)
class TracerId:
    """A property of a tracer, and the trace id in it."""

    name: str
    trace_id: str

    def link(self, template: str) -> str:
        """The address of this trace, by the administrator's template."""
        return template.replace(LINK_PLACE, quote(self.trace_id, safe=""))


def _w3c(text: str) -> str | None:
    """W3C traceparent; of a version after 00 more may follow."""
    match = _TRACEPARENT.fullmatch(text)
    return None if match is None or (match[1] == "00" and match[3]) else match[2]


def _b3(text: str) -> str | None:
    """`TraceId-SpanId[-Sampled[-ParentSpanId]]`; a decision alone has no trace id."""
    first, mark, _ = text.partition("-")
    return _b3_id(first) if mark else None


def _b3_id(text: str) -> str | None:
    return text if _B3_ID.fullmatch(text) else None


def _jaeger(text: str) -> str | None:
    """`trace-id:span-id:parent-span-id:flags`, its colons also as %3A."""
    parts = unquote(text).split(":")
    return parts[0] if len(parts) == 4 and _JAEGER_ID.fullmatch(parts[0]) else None


def _skywalking(text: str) -> str | None:
    """`sample-traceId-segmentId-…`, eight parts, the ids in Base64."""
    parts = text.split("-")
    if len(parts) != 8 or parts[0] not in ("0", "1"):
        return None
    try:
        decoded = b64decode(parts[1], validate=True).decode("ascii")
    except (Error, ValueError):
        return None
    return decoded if _SKYWALKING_ID.fullmatch(decoded) else None


# By the lower case of the property: HTTP headers, after which they are named, have any.
_READERS: dict[str, Callable[[str], str | None]] = {
    "traceparent": _w3c,
    "trace_context": _w3c,  # 5.x gRPC clients, and the proxy's own name of it
    "b3": _b3,
    "x-b3-traceid": _b3_id,
    "uber-trace-id": _jaeger,
    "sw8": _skywalking,
}


def traces_in(text: str) -> tuple[str, ...]:
    """The trace ids of the W3C traceparents in a text, in their order, each once; so many at the most."""
    traces: dict[str, None] = {}
    for match in _IN_TEXT.finditer(text):
        traces[match[2]] = None
        if len(traces) == MOST_IN_TEXT:
            break
    return tuple(traces)


def trace_of(text: str) -> str | None:
    """The trace id of a link: of a traceparent, or as tracers show it; None of what is neither."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    return _w3c(text.lower()) or (text if _SKYWALKING_ID.fullmatch(text) and len(text) >= 16 else None)


def tracer_ids(properties: Mapping[str, str]) -> tuple[TracerId, ...]:
    """Every trace id in the properties of a record, in their order; a value that is not of its format is none."""
    ids = []
    for name, value in properties.items():
        reader = _READERS.get(name.lower())
        trace_id = reader(value) if reader is not None and len(value) <= _LONGEST else None
        if trace_id is not None:
            ids.append(TracerId(name, trace_id))
    return tuple(ids)

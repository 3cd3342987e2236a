"""Remoting frames: bytes go in as they come, whole frames come out. No sockets, no clocks, no opinion on codes.

A frame is: length 4 (of all that follows), serialisation 1, header length 3, header, body (RemotingCommand.java).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any, Literal, cast

from idcore.base import loose_json
from idcore.rocketmq.remoting.errors import FrameError

Serialisation = Literal["JSON", "ROCKETMQ"]

SERIALISATIONS: tuple[Serialisation, ...] = ("JSON", "ROCKETMQ")
# NettyRemotingAbstract's default, com.rocketmq.remoting.frameMaxLength.
LONGEST_FRAME = 16 * 1024 * 1024
# Its length has 24 bits, as large as a whole frame. A broker's own has at most 32 KiB of properties next to short
# fields. In memory JSON becomes up to 64 times as large, so that what a stranger sends is bounded before it is parsed.
LONGEST_HEADER = 256 * 1024
# LanguageCode.java; a number that is not in it becomes "#17".
LANGUAGES = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
    "NODE_JS",
)

RESPONSE = 1
_PREFIX = 8
_HEAD = Struct(">hBhiii")
_INT = range(-(1 << 31), 1 << 31)
_SHORT = range(-(1 << 15), 1 << 15)


@dataclass(frozen=True, slots=True)
class Frame:
    """One command on the wire. `fields` are the extFields: None where the sender wrote none at all."""

    code: int
    opaque: int
    flag: int = 0
    language: str = "JAVA"
    version: int = 0
    remark: str | None = None
    fields: Mapping[str, str] | None = None
    body: bytes = b""
    serialisation: Serialisation = "JSON"

    @property
    def is_response(self) -> bool:
        """Whether this answers a request."""
        return bool(self.flag & RESPONSE)

    def field(self, name: str) -> str | None:
        """One of the extFields, None when it is absent."""
        return None if self.fields is None else self.fields.get(name)


def encode(frame: Frame) -> bytes:
    """The bytes of a frame, as Java writes them."""
    header = _json_header(frame) if frame.serialisation == "JSON" else _binary_header(frame)
    if len(header) > 0xFFFFFF:
        raise FrameError.wrong("frame_header_long", "header", size=len(header))
    kind = SERIALISATIONS.index(frame.serialisation)
    total = 4 + len(header) + len(frame.body)
    return total.to_bytes(4, "big") + bytes([kind]) + len(header).to_bytes(3, "big") + header + frame.body


class FrameReader:
    """Takes bytes in any portions and gives whole frames; after an error it gives the same error for ever."""

    def __init__(self, longest: int = LONGEST_FRAME) -> None:
        self._longest = longest
        self._bytes = bytearray()
        self._error: FrameError | None = None

    def feed(self, portion: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete, in order."""
        if self._error is not None:
            raise self._error
        self._bytes += portion
        try:
            while (frame := self._next()) is not None:
                yield frame
        except FrameError as problem:
            self._error = problem
            self._bytes.clear()
            raise

    def end(self) -> None:
        """The stream has ended; an error when that was inside a frame."""
        if self._error is not None:
            raise self._error
        if self._bytes:
            held = len(self._bytes)
            needed = 4 + int.from_bytes(self._bytes[:4], "big") if held >= 4 else 4
            raise FrameError.short("length" if held < 4 else "frame", 0, needed, held)

    def _next(self) -> Frame | None:
        held = len(self._bytes)
        if held < 4:
            return None
        # The length is judged before anything is kept for it: a stranger's four bytes do not reserve memory.
        length = int.from_bytes(self._bytes[:4], "big")
        if length < 4:
            raise FrameError.short("header length", 0, 4, length)
        if length > self._longest:
            raise FrameError.wrong("frame_long", "length", 0, length=length, most=self._longest)
        if held >= _PREFIX:
            kind = self._bytes[4]
            header = int.from_bytes(self._bytes[5:8], "big")
            if kind >= len(SERIALISATIONS):
                raise FrameError.wrong("frame_serialisation", "serialisation", 4, kind=kind)
            if header > length - 4:
                raise FrameError.short("header", _PREFIX, header, length - 4)
            if header > LONGEST_HEADER:
                raise FrameError.wrong("frame_header_most", "header", 5, size=header, most=LONGEST_HEADER)
        if held < 4 + length:
            return None
        raw = bytes(self._bytes[: 4 + length])
        del self._bytes[: 4 + length]
        stop = _PREFIX + int.from_bytes(raw[5:8], "big")
        read = _read_json if SERIALISATIONS[raw[4]] == "JSON" else _read_binary
        return read(raw[_PREFIX:stop], raw[stop:])


# ---- JSON


def _json_header(frame: Frame) -> bytes:
    # Keys in fastjson's order, absent ones left out, so that a recorded frame comes out byte for byte.
    header: dict[str, Any] = {"code": frame.code}
    if frame.fields is not None:
        header["extFields"] = dict(frame.fields)
    header |= {"flag": frame.flag, "language": frame.language, "opaque": frame.opaque}
    if frame.remark is not None:
        header["remark"] = frame.remark
    header |= {"serializeTypeCurrentRPC": "JSON", "version": frame.version}
    return json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _read_json(header: bytes, body: bytes) -> Frame:
    try:
        values = loose_json.loads(header)
    except ValueError as problem:
        raise FrameError.wrong("frame_json", "header", _PREFIX, why=str(problem)) from None
    if not isinstance(values, dict):
        raise FrameError.wrong("frame_not_object", "header", _PREFIX, name="header")
    language, remark = values.get("language", "JAVA"), values.get("remark")
    if not isinstance(language, str):
        raise FrameError.wrong("frame_not_text", "language", name="language", kind=type(language).__name__)
    if remark is not None and not isinstance(remark, str):
        raise FrameError.wrong("frame_not_text", "remark", name="remark", kind=type(remark).__name__)
    return Frame(
        _number(values, "code"),
        _number(values, "opaque", 0),
        _number(values, "flag", 0),
        language,
        _number(values, "version", 0),
        remark,
        _fields(values.get("extFields")),
        body,
        "JSON",
    )


def _number(values: dict[str, Any], name: str, default: int | None = None) -> int:
    value = values.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INT:
        raise FrameError.wrong("frame_not_int", name, name=name)
    return value


def _fields(values: Any) -> dict[str, str] | None:
    if values is None:
        return None
    if not isinstance(values, dict):
        raise FrameError.wrong("frame_not_object", "extFields", name="extFields")
    for name, value in values.items():
        if not isinstance(value, str):
            kind = type(value).__name__
            raise FrameError.wrong("frame_not_text", "extFields", name=f"extFields.{name[:60]}", kind=kind)
    return cast("dict[str, str]", values)


# ---- ROCKETMQ


def _binary_header(frame: Frame) -> bytes:
    # RocketMQSerializable.java: code and version are shorts, keys have two bytes of length, values four.
    for name, value, allowed in (("code", frame.code, _SHORT), ("version", frame.version, _SHORT)):
        if value not in allowed:
            raise FrameError.wrong("frame_two_bytes", name, name=name, value=value)
    remark = (frame.remark or "").encode()
    pairs = b"".join(_sized(name, 2) + _sized(value, 4) for name, value in (frame.fields or {}).items())
    head = _HEAD.pack(frame.code, _language_code(frame.language), frame.version, frame.opaque, frame.flag, len(remark))
    return head + remark + len(pairs).to_bytes(4, "big") + pairs


def _sized(text: str, size: int) -> bytes:
    raw = text.encode()
    if len(raw) >= 1 << (8 * size - 1):
        raise FrameError.wrong("frame_field_long", "extFields", length=len(raw), size=size)
    return len(raw).to_bytes(size, "big") + raw


def _language_code(language: str) -> int:
    if language in LANGUAGES:
        return LANGUAGES.index(language)
    number = int(language[1:]) if language.startswith("#") and language[1:].isdecimal() else 256
    if number > 255:
        raise FrameError.wrong("frame_language", "language", language=language)
    return number


def _read_binary(header: bytes, body: bytes) -> Frame:
    walk = _Walk(header)
    code, language, version, opaque, flag, remark_length = _HEAD.unpack(walk.take(_HEAD.size, "header"))
    remark = walk.text(remark_length, "remark")
    length = walk.number(4, "extFields length")
    fields: dict[str, str] = {}
    stop = walk.at + walk.room(length, "extFields")
    while walk.at < stop:
        name = walk.text(walk.number(2, "name length"), "name of an extField")
        fields[name] = walk.text(walk.number(4, "value length"), f"extFields.{name[:60]}")
    if walk.at != stop or stop != len(header):
        raise FrameError.wrong("frame_fields_end", "extFields", _PREFIX + walk.at, at=walk.at, length=len(header))
    name = LANGUAGES[language] if language < len(LANGUAGES) else f"#{language}"
    return Frame(code, opaque, flag, name, version, remark or None, fields or None, body, "ROCKETMQ")


class _Walk:
    """A header read from left to right; each step says what it needs and what remains."""

    def __init__(self, header: bytes) -> None:
        self._header = header
        self.at = 0

    def room(self, size: int, field: str) -> int:
        """The size, when so many bytes remain."""
        remaining = len(self._header) - self.at
        if not 0 <= size <= remaining:
            raise FrameError.short(field, _PREFIX + self.at, size, remaining)
        return size

    def take(self, size: int, field: str) -> bytes:
        start = self.at
        self.at += self.room(size, field)
        return self._header[start : self.at]

    def number(self, size: int, field: str) -> int:
        """The next bytes as a signed number, which Java's lengths are."""
        return int.from_bytes(self.take(size, field), "big", signed=True)

    def text(self, size: int, field: str) -> str:
        start = self.at
        try:
            return self.take(size, field).decode("utf-8")
        except UnicodeDecodeError as problem:
            place = _PREFIX + start + problem.start
            raise FrameError.wrong("frame_utf8", field, place, name=field, why=problem.reason) from None

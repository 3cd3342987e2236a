"""Bodies: zlib, LZ4 frames and zstd both ways, and the CRC of a stored body. A bound on what may come out, always."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable

from idcore.base.errors import refuse
from idcore.base.plain_json import MOST_VALUES, most_values
from idcore.base.safe_text import json_text
from idcore.rocketmq.message import flags
from idcore.rocketmq.message.flags import Compression

# A broker takes 4 MiB (maxMessageSize) by default; what unpacks to more than this is not a message.
LARGEST_BODY = 64 << 20
_LEVEL = 5  # DefaultMQProducerImpl
_STEP = 1 << 10


def crc32(body: bytes) -> int:
    """UtilAll.crc32: without the highest bit, so that it is never negative."""
    return zlib.crc32(body) & 0x7FFFFFFF


def compress(kind: Compression, body: bytes) -> bytes:
    """A body as a producer packs it; the bits to set are flags.compression_bits(kind)."""
    if kind == "zlib":
        return zlib.compress(body, _LEVEL)
    if kind == "lz4":
        import lz4.frame

        return bytes(lz4.frame.compress(body, block_size=lz4.frame.BLOCKSIZE_MAX4MB, store_size=False))
    import zstandard

    return zstandard.ZstdCompressor(level=_LEVEL).compress(body)


def unpack(body: bytes, sys_flag: int, most: int = LARGEST_BODY) -> bytes:
    """The body that the application sent; as it is where sysFlag says it is not compressed."""
    if not sys_flag & flags.COMPRESSED or not body:
        return body
    number = flags.compression_type(sys_flag)
    kind = flags.COMPRESSIONS.get(number)
    if kind is None:
        raise refuse("compression", "sys_flag", None, kind=number)
    return _UNPACK[kind](body, most)


def _zlib(body: bytes, most: int) -> bytes:
    machine = zlib.decompressobj()
    try:
        plain = machine.decompress(body, most + 1)
    except zlib.error as problem:
        raise refuse("body_broken", "body", None, kind="zlib", reason=str(problem)) from None
    return _whole("zlib", plain, machine.eof, most)


def _lz4(body: bytes, most: int) -> bytes:
    import lz4.frame

    plain = bytearray()
    at = 0
    while at < len(body):  # lz4-java reads frame after frame
        machine = lz4.frame.LZ4FrameDecompressor()
        # Small steps: behind its frame the machine copies what is left of a step.
        while not machine.eof and at < len(body) and len(plain) <= most:
            step = body[at : at + _STEP]
            try:
                plain += machine.decompress(step, most + 1 - len(plain))
            except RuntimeError as problem:
                raise refuse("body_broken", "body", None, kind="LZ4", reason=str(problem)) from None
            at += len(step) - len(machine.unused_data or b"")
        if len(plain) > most or not machine.eof:
            return _whole("LZ4", bytes(plain), machine.eof, most)
    return bytes(plain)


def _zstd(body: bytes, most: int) -> bytes:
    import zstandard

    machine = zstandard.ZstdDecompressor().decompressobj()
    plain = bytearray()
    # Small steps: a few bytes can unpack to a block of 128 KiB, and this decompressor takes no bound.
    for at in range(0, len(body), _STEP):
        if machine.eof or len(plain) > most:
            break
        try:
            plain += machine.decompress(body[at : at + _STEP])
        except zstandard.ZstdError as problem:
            raise refuse("body_broken", "body", None, kind="zstd", reason=str(problem)) from None
    return _whole("zstd", bytes(plain), machine.eof, most)


_UNPACK: dict[Compression, Callable[[bytes, int], bytes]] = {"zlib": _zlib, "lz4": _lz4, "zstd": _zstd}


def _whole(kind: str, plain: bytes, ended: bool, most: int) -> bytes:
    if len(plain) > most:
        raise refuse("body_huge", "body", None, most=most)
    if not ended:
        raise refuse("body_cut", "body", None, kind=kind)
    return plain


def text_of(body: bytes) -> str | None:
    """The body as text, when it is UTF-8 without control characters other than white space."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(char.isprintable() or char in "\t\n\r\u00a0\u3000" for char in text) else None


def as_json(text: str) -> str | None:
    """JSON set out in lines; None where the text is not JSON, or has more values than a person reads."""
    if text[:1] not in "{[" or most_values(text) > MOST_VALUES:
        return None
    try:
        return json_text(json.loads(text), indent=2)
    except (ValueError, RecursionError):
        return None


def hex_dump(raw: bytes, most: int) -> str:
    """Sixteen bytes a line with their place and their characters; how many are left out beyond `most`."""
    lines = []
    for start in range(0, min(len(raw), most), 16):
        part = raw[start : start + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{start:08x}  {part.hex(' '):<47}  {shown}")
    if len(raw) > most:
        lines.append(f"{most:08x}  … {len(raw) - most:,}")
    return "\n".join(lines)

"""Every text in an archive or a packed file, as a stream read forward. Writes nothing; holds no member whole."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from tarfile import (
    BLOCKSIZE,
    GNUTYPE_LONGLINK,
    GNUTYPE_LONGNAME,
    SOLARIS_XHDTYPE,
    XGLTYPE,
    XHDTYPE,
    HeaderError,
    TarInfo,
)
from typing import Any, BinaryIO, NamedTuple, cast

from idcore.base.errors import CoreError, coded, refuse
from idcore.sources import kinds
from idcore.sources.kinds import HEAD, PACKINGS, PLAIN, WIDE
from idcore.sources.packings import DICTIONARY
from idcore.sources.unpack import READ_ERRORS, ByteStream, Peeked, Unpacked, opened, read_exactly

MARK = "!"  # between the name of an archive and that of a member
_DEEPEST = 8
_LONGEST_HEADER = 1 << 16
_LONGEST_MEMBER = 1 << 62  # bytes: no file is longer, and no system seeks so far
_MOST_RECORDS, _DIGITS = 1_000, 20  # of a pax header, and of the length of one
_LONGEST_OF_ALL = 1 << 10  # bytes of the pax headers that are about all entries; that of git has 52
_ROW_OF_DIGITS = re.compile(rb"[0-9]{65}")
_PAX = (XHDTYPE, SOLARIS_XHDTYPE, XGLTYPE)
_ABOUT_NEXT = (*_PAX, GNUTYPE_LONGNAME, GNUTYPE_LONGLINK)  # too long a name, or other things about the next entry
_HELD = 64 << 20  # a Parquet file in an archive is held whole: it can only be read from its end
_DIRECTORY = 32 << 20  # bytes of that of a zip, as of 300,000 files with names of 60 letters; ten times that in memory
_PIECE = 1 << 16
_TEXT_TYPES, _LINK_TYPES = b"\x00" + b"07S", b"123456"
_LOCAL = struct.Struct("<4s5H3L2H")  # ZIP application note, 4.3.7


class Text(NamedTuple):
    """One text: the names and numbers of the members that lead to it, and its bytes or why they cannot be read."""

    member: str
    place: tuple[int, ...]
    stream: BinaryIO | None
    error: CoreError | None = None
    kind: str = "plain"
    is_table: bool = False  # each line is a row: no line goes on in the next


class _Part(ByteStream):
    """The next `size` bytes of a stream; `rest` reads what nobody wanted."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        if size < 0:  # the fields of an archive can say so, and would lead back to where its reader has been
            raise refuse("member_negative")
        self.stream, self.left = stream, size

    def read(self, size: int = -1) -> bytes:
        wanted = self.left if size < 0 else min(size, self.left)
        data = self.stream.read(wanted) if wanted else b""
        if wanted and not data:
            raise refuse("member_cut")
        self.left -= len(data)
        return data

    def rest(self) -> None:
        if self.left >= _LONGEST_MEMBER:
            raise refuse("member_cut")
        if self.stream.seekable():
            self.stream.seek(self.left, os.SEEK_CUR)
            return
        while self.left:
            self.read(_PIECE)


class Headers:
    """An archive whose headers are read as far as there is `room`: how long they are is their own claim (zip bomb)."""

    def __init__(self, file: Any, room: int, refused: CoreError) -> None:
        self.file, self.room, self.refused = file, room, refused

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.file.read(size if 0 <= size <= self.room else self.room + 1)
        self.room -= len(data)
        if self.room < 0:
            raise self.refused
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def kind_of(head: bytes) -> str:
    """The kind of what begins like this; CoreError says why it cannot be read."""
    for name, archive in ARCHIVES.items():
        if archive.is_one(head) if archive.is_one else head.startswith(archive.marks):
            return name
    for mark, tool in _NOT_READ.items():
        if head.startswith(mark):
            raise refuse("archive_kind", tool=tool)
    return kinds.kind_of(head)


def texts(
    stream: BinaryIO, unpacked: Unpacked, member: str = "", place: tuple[int, ...] = (), depth: int = 0
) -> Iterator[Text]:
    """What a stream holds: itself, if it is text, or all that can be unpacked from it. Take one before the next.

    `unpacked` counts the bytes that are unpacked on the way, and bounds them.
    """
    try:
        peeked = Peeked(stream)
        kind = kind_of(peeked.head)
        if depth > _DEEPEST:
            raise refuse("packed_deep", most=_DEEPEST)
        source = cast(BinaryIO, peeked)
        if kind in PACKINGS:
            yield from texts(unpacked.counted(opened(source, kind)), unpacked, member, place, depth + 1)
        elif kind in ARCHIVES and (members := ARCHIVES[kind].members):
            for name, at, part in members(source, unpacked):
                yield from texts(part, unpacked, f"{member}{MARK}{name}", (*place, at), depth + 1)
        elif kind == _PARQUET:
            for rows in _rows_of_parquet(source):
                yield Text(member, place, unpacked.counted(rows), is_table=True)
        elif kind == PLAIN or kind in WIDE:
            yield Text(member, place, source, None, kind)
        else:  # a mistake of ours, and no problem of the input: it is not in READ_ERRORS
            raise AssertionError(f"{kind} has no reader here")
    except READ_ERRORS as error:
        yield Text(member, place, None, coded(error))


def _texts_of_tar(file: BinaryIO, unpacked: Unpacked, start: int, stop: int) -> Iterator[Text]:
    """The texts of the members of a tar whose headers begin from `start` up to `stop`."""
    whole = stop >= file.seek(0, os.SEEK_END)
    file.seek(0)
    for name, at, part in _tar_members(file, unpacked, 1 << 62 if whole else stop):
        if at >= start:
            yield from texts(part, unpacked, MARK + name, (at,), 1)


def _texts_of_zip(file: BinaryIO, unpacked: Unpacked, start: int, stop: int) -> Iterator[Text]:
    """The texts of the members of a zip whose headers begin from `start` up to `stop`."""
    try:
        # Python's reader holds the whole directory.
        archive = zipfile.ZipFile(cast(BinaryIO, Headers(file, _DIRECTORY, refuse("header_long"))))
    except (*READ_ERRORS, struct.error, LookupError):  # what it says to one that is damaged, or too large
        if start == 0:  # without its directory it can only be read from its beginning
            file.seek(0)
            yield from texts(file, unpacked)
        return
    with archive:
        for info in archive.infolist():
            if not start <= info.header_offset < stop or info.filename.endswith("/"):
                continue
            name, place = MARK + info.filename, (info.header_offset,)
            try:
                member = zip_member(archive, file, info)
            except READ_ERRORS as error:
                yield Text(name, place, None, coded(error))
            else:
                yield from texts(unpacked.counted(member), unpacked, name, place, 1)


def _texts_of_parquet(file: BinaryIO, unpacked: Unpacked, start: int, stop: int) -> Iterator[Text]:
    """The rows of the row groups that begin from `start` up to `stop`."""
    from idcore.sources.columns import rows_as_text  # Arrow, which the bare package does without

    for group, rows in rows_as_text(file, start, stop):
        yield Text("", (group,), unpacked.counted(rows), is_table=True)


def _rows_of_parquet(source: BinaryIO) -> Iterator[BinaryIO]:
    from idcore.sources.columns import rows_as_text

    held = io.BytesIO()  # a stream may give a byte at a time: of bytes each would copy all before it
    while held.tell() <= _HELD and (more := source.read(_PIECE)):
        held.write(more)
    if held.tell() > _HELD:
        raise refuse("parquet_in_archive")
    return (rows for _, rows in rows_as_text(held))


def _is_tar(head: bytes) -> bool:
    if len(head) < HEAD or not head[0]:
        return False
    try:
        TarInfo.frombuf(head[:HEAD], "utf-8", "surrogateescape")
    except HeaderError:
        return False
    return True


def zip_member(archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo) -> BinaryIO:
    """A member of a zip. Python's own reader drops the last bytes of one whose checksum is wrong; here they count.

    It also unpacks 4 KiB of bzip2 or LZMA at once, whatever comes out: gigabytes of a bomb. CoreError of one that is
    encrypted.
    """
    if info.flag_bits & 1:
        raise refuse("member_encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, *_BOUNDED):
        return cast(BinaryIO, archive.open(info))
    file.seek(info.header_offset)
    raw = read_exactly(file, _LOCAL.size)
    if raw[:4] != b"PK\x03\x04" or len(raw) < _LOCAL.size:
        raise refuse("archive_damaged", place=info.header_offset)
    file.seek(sum(_LOCAL.unpack(raw)[-2:]), os.SEEK_CUR)
    if info.compress_type == zipfile.ZIP_STORED:
        return cast(BinaryIO, _Checked(_Part(file, info.compress_size), info.CRC))
    if info.compress_type in _BOUNDED:
        packed = cast(BinaryIO, _Part(file, info.compress_size))
        return cast(BinaryIO, _Checked(_Bounded(packed, _BOUNDED[info.compress_type](packed, info)), info.CRC))
    return cast(BinaryIO, _Checked(_Inflated(_Pushed(file)), info.CRC))


def _lzma(packed: BinaryIO, info: zipfile.ZipInfo) -> Any:
    """What unpacks LZMA in a zip (its application note, 5.8.8), as that of a file .lzma with the same two fields."""
    version_and_size = read_exactly(packed, 4)
    properties = read_exactly(packed, int.from_bytes(version_and_size[2:], "little"))
    ends_itself = info.flag_bits & 2
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=DICTIONARY)
    unpacker.decompress(properties + (b"\xff" * 8 if ends_itself else info.file_size.to_bytes(8, "little")), 0)
    return unpacker


_BOUNDED: dict[int, Callable[[BinaryIO, zipfile.ZipInfo], Any]] = {
    zipfile.ZIP_BZIP2: lambda _, __: bz2.BZ2Decompressor(),
    zipfile.ZIP_LZMA: _lzma,
}


class _Bounded(io.RawIOBase):
    """A member whose unpacker gives as much as is asked for; bytes behind its end are not read."""

    def __init__(self, packed: BinaryIO, unpacker: Any) -> None:
        self.packed, self.unpacker = packed, unpacker

    def read(self, size: int = -1) -> bytes:
        most = size if size > 0 else _PIECE
        while not self.unpacker.eof:
            raw = self.packed.read(_PIECE) if self.unpacker.needs_input else b""
            if self.unpacker.needs_input and not raw:
                raise refuse("member_cut")
            if data := self.unpacker.decompress(raw, most):
                return cast(bytes, data)
        return b""


def _tar_members(stream: BinaryIO, _: Unpacked, stop: int = 1 << 62) -> Iterator[tuple[str, int, BinaryIO]]:
    """Name, place of the header and bytes of each regular file. Folders and links hold no text of their own.

    Nothing is unpacked here: the members are no longer than the archive.
    """
    at = 0
    name, size = "", -1
    while at < stop:
        header = at
        block = read_exactly(stream, BLOCKSIZE)
        at += BLOCKSIZE
        if len(block) < BLOCKSIZE:
            raise refuse("archive_no_end")
        if not any(block):
            return
        try:
            info = TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except HeaderError as error:
            raise refuse("archive_damaged_why", place=header, why=str(error)) from error
        length = info.size
        if info.type in _ABOUT_NEXT:
            if not 0 <= length <= _LONGEST_HEADER:
                raise refuse("header_long")
            data = read_exactly(stream, _padded(length))[:length]
            at += _padded(length)
            if info.type == b"L":
                name = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
            elif info.type in b"xX":
                records = _pax(data)
                name = records.get("GNU.sparse.name") or records.get("path") or name
                size = int(records.get("size", size))
            continue
        if info.type == b"S" and block[482]:  # more of its map of holes
            while (more := read_exactly(stream, BLOCKSIZE)) and len(more) == BLOCKSIZE:
                at += BLOCKSIZE
                if not more[504]:
                    break
        length = 0 if info.type in _LINK_TYPES else length if size < 0 else size
        part = _Part(stream, length)
        if info.type in _TEXT_TYPES and not (name or info.name).endswith("/"):
            yield name or info.name, header, cast(BinaryIO, part)
        name, size = "", -1
        part.rest()
        read_exactly(stream, _padded(length) - length)
        at += _padded(length)


def _padded(size: int) -> int:
    return -(-size // BLOCKSIZE) * BLOCKSIZE


def _pax(data: bytes, most: int = _MOST_RECORDS) -> dict[str, str]:
    """Records of a pax header: `length name=value` and a newline each. CoreError of what is not."""
    records: dict[str, str] = {}
    at = number = 0
    while at < len(data) and data[at]:
        number += 1
        if number > most:
            raise refuse("header_long")
        length, blank, _ = data[at : at + _DIGITS].partition(b" ")
        end = at + int(length) if blank and length.isdigit() else at
        name, is_pair, value = data[at + len(length) + 1 : end - 1].partition(b"=")
        if end <= at or not is_pair:
            raise refuse("pax_damaged")
        records[name.decode("utf-8", "surrogateescape")] = value.decode("utf-8", "surrogateescape")
        at = end
    return records


class TarHeaders(Headers):
    """Those of a tar, for Python's own reader, which is slow with some pax headers: each is read here first.

    4 MB of digits, or of records whose equals sign is not their own, would take it a day (CVE-2024-6232). And every
    entry gets a copy of what is said of all. Entries of its own `kind` say when a pax header is what is read next.
    """

    _next = b""  # the type of the pax header that is read next
    _room_of_all = _LONGEST_OF_ALL

    def read(self, size: int = -1) -> bytes:
        data = super().read(size)
        if self._next:
            self._room_of_all -= len(data) if self._next == XGLTYPE else 0
            if self._room_of_all < 0:
                raise refuse("header_long")
            if _ROW_OF_DIGITS.search(data):
                raise refuse("pax_damaged")
            _pax(data, len(data))
            self._next = b""
        return data

    @property
    def kind(self) -> type[TarInfo]:
        """The class of entries: a subclass may replace `_proc_member`, which reads what is behind a header."""
        headers = self

        class Entry(TarInfo):
            def _proc_member(self, tar: Any) -> Any:
                headers._next = self.type if self.type in _PAX else b""
                return super()._proc_member(tar)  # type: ignore[misc]

        return Entry


def _zip_forward(stream: BinaryIO, unpacked: Unpacked) -> Iterator[tuple[str, int, BinaryIO]]:
    """The members of a zip without its directory, which is at its end: cut off, or inside another archive."""
    source = _Pushed(stream)
    while True:
        header = source.at
        raw = source.take(4)
        if raw[:2] == b"PK" and raw[2:] in (b"\x01\x02", b"\x05\x06", b"\x06\x06"):
            return  # the directory
        raw += source.take(_LOCAL.size - 4)
        if len(raw) < _LOCAL.size:
            raise refuse("archive_no_directory")
        mark, _, flags, method, _, _, _, packed, size, name_size, extra_size = _LOCAL.unpack(raw)
        if mark != b"PK\x03\x04":
            raise refuse("archive_damaged", place=header)
        name = source.take(name_size).decode("utf-8" if flags & 0x800 else "cp437", "backslashreplace")
        packed, size = _zip64(source.take(extra_size), packed, size)
        if flags & 1:
            raise refuse("encrypted", name=name)
        if method == 8:
            inflated = unpacked.counted(cast(BinaryIO, _Inflated(source)))
            if not name.endswith("/"):
                yield name, header, inflated
            while inflated.read(_PIECE):
                continue
        elif method == 0 and not flags & 8:
            part = _Part(cast(BinaryIO, source), packed)
            if not name.endswith("/"):
                yield name, header, cast(BinaryIO, part)
            part.rest()
        else:
            raise refuse("needs_directory", name=name)
        if flags & 8:
            source.to_next_header()


def _zip64(extra: bytes, packed: int, size: int) -> tuple[int, int]:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1 and length >= 16 and at + 20 <= len(extra) and size == packed == 0xFFFFFFFF:
            size, packed = struct.unpack_from("<2Q", extra, at + 4)
        at += 4 + length
    return packed, size


class _Pushed(io.RawIOBase):
    """A stream that takes back what was read too much."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.back = b""
        self.at = 0

    def read(self, size: int = -1) -> bytes:
        if self.back:
            data, self.back = self.back[:size], self.back[size:]
        else:
            data = self.stream.read(size)
        self.at += len(data)
        return data

    def take(self, size: int) -> bytes:
        return read_exactly(cast(BinaryIO, self), size)

    def push(self, data: bytes) -> None:
        self.back = data + self.back
        self.at -= len(data)

    def to_next_header(self) -> None:
        """Behind the sizes that follow a member whose header does not contain them: marked or not, 32 or 64 bit."""
        near = self.take(64)
        nearest = min((at for at in (near.find(b"PK\x03\x04"), near.find(b"PK\x01\x02")) if at >= 0), default=0)
        self.push(near[nearest:])


class _Checked(ByteStream):
    """A stream that raises at its end when its checksum is not the announced one."""

    def __init__(self, stream: io.RawIOBase, size: int) -> None:
        self.stream, self.told = stream, size
        self.found = 0

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size) or b""
        self.found = zlib.crc32(data, self.found)
        if not data and size and self.found != self.told:
            raise refuse("member_crc")
        return data


class _Inflated(ByteStream):
    """A deflated member up to its own end, wherever that is."""

    def __init__(self, source: _Pushed) -> None:
        self.source = source
        self.inflate = zlib.decompressobj(-zlib.MAX_WBITS)

    def read(self, size: int = -1) -> bytes:
        most = size if size > 0 else _PIECE
        while not self.inflate.eof:
            raw = self.inflate.unconsumed_tail or self.source.read(_PIECE)
            if not raw:
                raise refuse("member_cut")
            data = self.inflate.decompress(raw, most)
            if self.inflate.eof:
                self.source.push(self.inflate.unused_data)
            if data:
                return data
        return b""


class Archive(NamedTuple):
    """What an archive begins with, or what finds out; its members from the front: name, place of the header, bytes.

    `between`: the texts between two places, where its parts are found without reading what is before them.
    """

    marks: tuple[bytes, ...] = ()
    is_one: Callable[[bytes], bool] | None = None
    members: Callable[[BinaryIO, Unpacked], Iterator[tuple[str, int, BinaryIO]]] | None = None
    between: Callable[[BinaryIO, Unpacked, int, int], Iterator[Text]] | None = None


# A further archive has a row here, one of its kind in tests/scan/packing.py and a row in docs/inputs.md. One that needs
# seeking has a case of its own in `texts`, like Parquet, and no `members`.
_PARQUET = "parquet"
ARCHIVES = {
    "zip": Archive((b"PK\x03\x04", b"PK\x05\x06"), None, _zip_forward, _texts_of_zip),
    _PARQUET: Archive((b"PAR1",), None, None, _texts_of_parquet),
    "tar": Archive((), _is_tar, _tar_members, _texts_of_tar),
}
BETWEEN = {name: archive.between for name, archive in ARCHIVES.items() if archive.between}
_NOT_READ = {b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "RAR"}

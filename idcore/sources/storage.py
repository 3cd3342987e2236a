"""Where files are: this machine, object stores, web servers. Opens them for ranged reads; keeps no credentials."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import pyarrow as pa

from idcore.base.errors import CoreError, coded, refuse
from idcore.base.open_folders import Roots, opener
from idcore.sources.unpack import READ_ERRORS
from idcore.sources.uris import is_uri, is_web

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem  # what it loads costs every start, and few scans need it

_SAFE = "/:@!$&'()*+,;=~[]"  # of a path in a URI, without ? # and %
_FIRST, _MOST = 1 << 16, 8 << 20  # bytes of one request: few for a look, many for a scan
Listed = tuple[str, int, CoreError | None]  # path, size, error


class Ranged(io.RawIOBase):
    """A file read by ranges, a few larger requests instead of many small ones."""

    def __init__(
        self, size: int, fetch: Callable[[int, int], bytes], head: bytes = b"", done: Callable[[], object] = bool
    ) -> None:
        self.size, self.fetch, self.done = size, fetch, done
        self.at = self.held_at = 0
        self.held = memoryview(head)
        self.ask = _FIRST

    def close(self) -> None:
        """Closes the file behind it as well."""
        if not self.closed:
            self.done()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.size}[whence]
        if at < 0:
            raise refuse("before_start")
        self.at = at
        return at

    def readinto(self, view: Any) -> int:
        if self.at >= self.size or not len(view):
            return 0
        if not self.held_at <= self.at < self.held_at + len(self.held):
            follows = self.at == self.held_at + len(self.held)
            self.ask = min(_MOST, 4 * self.ask) if follows else max(_FIRST, min(len(view), _MOST))
            self.held = memoryview(self.fetch(self.at, min(self.ask, self.size - self.at)))
            self.held_at = self.at
        piece = self.held[self.at - self.held_at :][: len(view)]
        view[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)


def opened(path: str, roots: Roots = None) -> BinaryIO:
    """A file at its first byte, of this machine or of a store. One that cannot be sought has to be read forward.

    With `roots` it is in one of them; PermissionError otherwise.
    """
    if not is_uri(path):
        return open(path, "rb", buffering=0, opener=opener(roots))  # type: ignore[return-value]
    if is_web(path):
        from idcore.sources import web

        size, fetch, head, stream = web.opened(path, roots)
        return stream or cast(BinaryIO, Ranged(size, fetch, head))
    filesystem, name = _found(path)
    file = filesystem.open_input_file(name)

    def fetch_range(at: int, size: int) -> bytes:
        return file.read_at(size, at)  # type: ignore[no-any-return]

    return cast(BinaryIO, Ranged(file.size(), fetch_range, done=file.close))


def listed(uri: str, roots: Roots = None) -> list[Listed]:
    """The files that a URI names: itself, all below it, or what its pattern matches. Never raises."""
    from pyarrow.fs import FileType

    try:
        if is_web(uri):
            from idcore.sources import web

            return [(uri, web.size_of(uri, roots), None)]
        filesystem, name = _found(uri)
        info = filesystem.get_file_info(name)
        if info.type == FileType.File:
            return [(uri, info.size, None)]
        if info.type == FileType.Directory:
            return list(_below(filesystem, uri, name, ".*"))
        if re.search(r"[*?\[]", name):
            folder = re.split(r"[*?\[]", name, maxsplit=1)[0].rpartition("/")[0]
            return list(_below(filesystem, uri, folder, _pattern(name))) or [(uri, 0, refuse("ENOENT"))]
        return [(uri, 0, refuse("ENOENT"))]
    except READ_ERRORS as error:
        return [(uri, 0, coded(error))]


def _below(filesystem: FileSystem, uri: str, folder: str, wanted: str) -> Iterator[Listed]:
    from pyarrow.fs import FileSelector, FileType

    infos = filesystem.get_file_info(FileSelector(folder, recursive=True))
    files = sorted((info for info in infos if info.type == FileType.File), key=lambda info: info.path)
    # Which paths a pattern fits as a whole: by RE2, whose time does not run away with a visitor's pattern
    # (ReDoS).
    from pyarrow.compute import match_substring_regex

    try:
        matches = match_substring_regex(pa.array([info.path for info in files], pa.string()), rf"(?s)\A(?:{wanted})\z")
    except pa.ArrowInvalid as error:
        raise refuse("pattern", why=str(error).partition(": ")[2]) from None
    for info, is_wanted in zip(files, matches.to_pylist(), strict=True):
        if is_wanted:
            yield _uri_of(uri, info.path), info.size, None


def _pattern(glob: str) -> str:
    """A glob as a regular expression: * and ? stay within a folder, ** crosses them."""
    out = ""
    for piece in re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", glob, re.DOTALL):
        if piece[0] == "[" and len(piece) > 1:
            inside = re.escape(piece[1:-1].removeprefix("!")).replace(r"\-", "-")
            out += f"[^{inside}]" if piece[1] == "!" else f"[{inside}]"
        else:
            out += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece)
    return out


def _found(uri: str) -> tuple[FileSystem, str]:
    """The file system of a URI, and the path in it."""
    scheme, place, path, query, fragment = urlsplit(uri)
    filesystem, base = _filesystem(f"{scheme.lower()}://{place}" + (f"/?{query}" if query else ""))
    path = unquote(path + (f"#{fragment}" if fragment else ""))
    return filesystem, base.rstrip("/") + path.rstrip("/")


@cache
def _filesystem(base: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    if base.startswith("gs://") and "retry_limit_seconds=" not in base:  # Google's own patience is a quarter of an hour
        base += f"{'&' if '?' in base else '/?'}retry_limit_seconds=60"
    try:
        return FileSystem.from_uri(base)  # type: ignore[no-any-return]
    except pa.ArrowInvalid as error:
        raise refuse("storage_scheme", scheme=base.partition("://")[0] + "://", why=coded(error)) from error


def _uri_of(uri: str, path: str) -> str:
    """The URI of a path of the same file system."""
    scheme, place, _, query, _ = urlsplit(uri)
    _, base = _found(uri)[0], _filesystem(f"{scheme.lower()}://{place}" + (f"/?{query}" if query else ""))[1]
    inside = path[len(base.rstrip("/")) :]
    return urlunsplit((scheme, place, quote(inside, safe=_SAFE), query, ""))

"""What of a server a visitor may scan: paths and URIs inside those its administrator opens, and what is in them.

Reads no environment, and opens no file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from idcore.base.errors import CoreError
from idcore.sources.uris import is_uri, local_path

_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/:]*(?::\d+)?[^:]*|[^:]+")  # a URI, or a path; colons between


BYTES_A_SECOND = 500_000_000  # an estimate for text that is not packed, on a disk that is not busy
LARGE = 10  # seconds of estimated work from which a reader is asked first


@dataclass(frozen=True, slots=True)
class Contents:
    """The files below a path before they are read: how many, their bytes as stored, and a digest of what they are."""

    files: int
    bytes: int
    digest: str

    @property
    def seconds(self) -> float:
        """How long a scan may take: an estimate."""
        return self.bytes / BYTES_A_SECOND

    @property
    def large(self) -> bool:
        """Whether the estimate is said, and agreed to, before the scan begins."""
        return self.seconds >= LARGE


@dataclass(frozen=True, slots=True)
class Place:
    """A path of the server that may be scanned, the store in it, and what is there."""

    path: str
    real: str
    store: str | None
    contents: Contents


def contents(path: str, store: str | None = None) -> Contents:
    """What a scan of a path, or of a store folder, would read. Names, sizes and times of change make the digest."""
    from idcore.sources.inputs import list_files, list_store

    files = [file for file in (list_files([path]) if store is None else list_store(store)) if file.error is None]
    made = hashlib.sha256(b"store" if store else b"text")
    for file in files:
        changed = 0 if is_uri(file.path) else os.stat(file.path).st_mtime_ns
        made.update(f"{file.shown}\0{file.size}\0{changed}\n".encode(errors="backslashreplace"))
    return Contents(len(files), sum(file.size for file in files), made.hexdigest())


def roots_of(configured: str | Sequence[str]) -> list[Path | str]:
    """Folders and URIs as they are configured: a list, or one text with colons between them."""
    parts = _PLACE.findall(configured) if isinstance(configured, str) else map(str, configured)
    return [part if is_uri(part) else Path(local_path(part)).resolve() for part in parts if part.strip()]


def store_in(path: Path, roots: Sequence[Path | str]) -> str | None:
    """An allowed folder, where it is a broker's store; its log and that log's files are allowed too, or it is rejected.

    As text a commit log gives the ids that messages print, and not one id of a record.
    """
    from idcore.sources.inputs import list_store

    try:
        files = list_store(str(path)) if path.is_dir() else []
    except CoreError:
        return None
    for file in files:
        inside(file.path, roots)
    return str(path) if files else None


def inside(path: str, roots: Sequence[Path | str]) -> Path | str:
    """A path inside an allowed folder after every symbolic link, or a URI inside an allowed one.

    PermissionError otherwise, also where nothing is.
    """
    refused = PermissionError(13, "not allowed", path)
    if is_uri(path):
        if any(isinstance(root, str) and _is_inside(path, root) for root in roots):
            return path
        raise refused
    try:
        real = Path(local_path(path)).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, no such user, a zero byte
        raise refused from None
    for root in roots:
        if isinstance(root, Path) and (real == root or root in real.parents):
            return real
    raise refused


def _is_inside(uri: str, root: str) -> bool:
    """Whether a URI names the root or something below it, however it is written; one with a login or a query never."""
    asked, opened = urlsplit(uri), urlsplit(root)
    path, above = unquote(asked.path), unquote(opened.path).rstrip("/")
    if asked.query or asked.fragment or ":" in asked.netloc.rpartition("@")[0] or not uri.isprintable():
        return False
    if "\\" in path or {".", ".."} & set(path.split("/")):
        return False
    same = (asked.scheme.lower(), asked.netloc.lower()) == (opened.scheme.lower(), opened.netloc.lower())
    return same and (path.rstrip("/") == above or path.startswith(above + "/"))

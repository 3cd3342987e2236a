"""What of a server a visitor may scan: paths and URIs inside those its administrator opens, and what is in them.

Reads no environment, and opens no file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from idcore.base.errors import CoreError, refuse
from idcore.base.open_folders import Roots, entries, file_status, is_in
from idcore.base.safe_text import encodable
from idcore.policy.access import Visitor
from idcore.sources.uris import LONGEST, is_below, is_topic, is_uri, local_path, topics, without_secrets

# Topics of Kafka; a URI, with a log-in, a host or [an IPv6 address], and a port; or a path. Colons are between them.
_PLACE = re.compile(
    r"kafka://[^/]*/[^:]*|[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?(?:\[[^\]/]*\]|[^/:]*)(?::\d+)?[^:]*|[^:]+"
)

BYTES_A_SECOND = 500_000_000  # an estimate for text that is not packed, on a disk that is not busy
# Of stores that are offered: levels, folders, entries of a folder, stores.
DEPTH, MOST_LOOKED, MOST_ENTRIES, MOST_OFFERED = 3, 200, 2_000, 8
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

    @property
    def may_grow(self) -> bool:
        """Whether it can be followed: text on this machine, or topics of Kafka."""
        return self.store is None and (is_topic(self.real) or not is_uri(self.real))

    @property
    def only_grows(self) -> bool:
        """Whether it can only be followed, not scanned."""
        return is_topic(self.real)


def contents(path: str, store: str | None = None, roots: Roots = None) -> Contents:
    """What a scan of a path, or of a store folder, would read. Names, sizes and times of change make the digest."""
    from idcore.sources.inputs import list_files, list_store

    if is_topic(path):
        return Contents(1, 0, hashlib.sha256(path.encode()).hexdigest())
    listed = list_files([path], roots) if store is None else list_store(store, roots)
    files = [file for file in listed if file.error is None]
    digest = hashlib.sha256(b"store" if store else b"text")
    for file in files:
        changed = 0 if is_uri(file.path) else file_status(file.path, roots).st_mtime_ns
        digest.update(f"{file.shown}\0{file.size}\0{changed}\n".encode(errors="backslashreplace"))
    return Contents(len(files), sum(file.size for file in files), digest.hexdigest())


def roots_of(configured: str | Sequence[str]) -> list[Path | str]:
    """Folders and URIs as they are configured: a list, or one text with colons between them."""
    parts = [part for part in _entries(configured) if not _is_wrong(part)]
    return [part if is_uri(part) else Path(local_path(part)).resolve() for part in parts]


def check(configured: str | Sequence[str]) -> None:
    """CoreError names the first entry that opens nothing, without its secret: a URI with a log-in or a query."""
    for part in filter(_is_wrong, _entries(configured)):
        scheme, _, rest = part.partition("://")
        raise refuse("start_places", entry=f"{scheme}://{re.split('[?#]', rest.rpartition('@')[2])[0]}")


def check_apart(roots: Sequence[Path | str], own: Mapping[str, Path | None]) -> None:
    """CoreError names an open folder with files of the console in it: who may scan it reads the scans of others there.

    `own` are folders and files of the console by their settings; None of what is not set.
    """
    folders = [str(root) for root in roots if isinstance(root, Path)]
    for setting, path in own.items():
        real = os.path.realpath(path) if path is not None else None
        for folder in folders if real is not None else ():
            if is_in(str(real), (folder,)) or is_in(folder, (str(real),)):
                raise refuse("start_places_own", entry=folder, setting=setting, path=str(real))


def _entries(configured: str | Sequence[str]) -> list[str]:
    """What is configured, part by part. Behind a URI, what begins as no path is still of it: a log-in or a port."""
    if not isinstance(configured, str):
        return [part for part in map(str, configured) if part.strip()]
    entries: list[str] = []
    for part in filter(str.strip, _PLACE.findall(configured)):
        if entries and is_uri(entries[-1]) and not is_uri(part) and not part.startswith(("/", "~", "file:")):
            entries[-1] += f":{part}"
        else:
            entries.append(part)
    return entries


def _is_wrong(part: str) -> bool:
    """Whether a URI has more than a server and a path: people would read it, and it would open what nobody meant."""
    if not is_uri(part):
        return False
    try:
        topics(part) if is_topic(part) else urlsplit(part).port  # ValueError of a port that is no number
    except (CoreError, ValueError):
        return True
    return ":" in part.partition("://")[2].rpartition("@")[0] or not {"?", "#"}.isdisjoint(part)


def shown(roots: Sequence[Path | str]) -> list[str]:
    """Open folders and URIs for people."""
    return [without_secrets(str(root)) for root in roots]


def guard_of(roots: Sequence[Path | str]) -> Roots:
    """Open folders and URIs for what opens files."""
    return tuple(map(str, roots))


def is_copy(run: Path, path: str) -> bool:
    """Whether a path is in the folder of a run, by its name: what a link leads to may change."""
    return not is_uri(path) and Path(os.path.abspath(run)) in Path(os.path.abspath(path)).parents


def own_of(run: Path) -> Roots:
    """The folder of a run as the only place of what it keeps: who else may write there may have put a link there."""
    return (os.path.join(os.path.realpath(run.parent), run.name),)


def roots_for(
    run: Path, paths: Sequence[str], folder: str | None, visitor: Visitor, roots: Sequence[Path | str]
) -> Roots:
    """In which places all that a scan reads has to be.

    AccessError or PermissionError where this visitor may not scan these paths, or the records of this folder.
    """
    visitor.require("decode")
    outside = [path for path in paths if not is_copy(run, path)]
    if not outside and folder is None:
        return own_of(run)
    visitor.require("folders")
    for path in outside:
        inside(path, roots)
    if folder is None and all(map(is_topic, outside)):
        return own_of(run)  # their records are copied there
    if folder is not None:
        store_in(Path(inside(folder, roots)), roots)
    return guard_of(roots)


def store_in(path: Path, roots: Sequence[Path | str]) -> str | None:
    """An allowed folder, where it is a broker's store; its log and that log's files are allowed too, or it is rejected.

    As text a commit log gives the ids that messages print, and not one id of a record.
    """
    from idcore.sources.inputs import list_store

    try:
        files = list_store(str(path), guard_of(roots)) if path.is_dir() else []
    except CoreError:
        return None
    for file in files:
        inside(file.path, roots)
    return str(path) if files else None


def stores_below(roots: Sequence[Path | str]) -> list[str]:
    """Folders that look like a broker's store: those that are open, and what is up to two levels below them.

    A name that is not UTF-8 is left out: no page and no address can have it.
    """
    guard, found, looked = guard_of(roots), list[str](), 0
    level = [str(root) for root in roots if isinstance(root, Path)]
    for _ in range(DEPTH):
        following: list[str] = []
        for folder in level:
            looked += 1
            if looked > MOST_LOOKED or len(found) >= MOST_OFFERED:
                return found
            with suppress(OSError), entries(folder, guard) as listed:
                some = islice(listed, MOST_ENTRIES)
                folders = (entry.name for entry in some if entry.is_dir(follow_symlinks=False))
                names = sorted(name for name in folders if encodable(name) == name)
                if any(name == "commitlog" or name.startswith("dledger-") for name in names):
                    found.append(folder)
                else:
                    following += [os.path.join(folder, name) for name in names]
        level = following
    return found


def inside(path: str, roots: Sequence[Path | str]) -> Path | str:
    """A path inside an allowed folder after every symbolic link, or a URI inside an allowed one.

    PermissionError otherwise, also where nothing is. So is one with `..`: by what is taken of `~user/../../open`, or of
    `/link/../open`, it would say whether there is such a user or link.
    """
    refused = PermissionError(13, "not allowed", path)
    if len(path) > LONGEST:
        raise refused
    if is_uri(path):
        if any(isinstance(root, str) and is_below(path, root) for root in roots):
            return path
        raise refused
    try:
        if ".." in (given := Path(local_path(path))).parts:
            raise refused
        real = given.expanduser().resolve()
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            real.stat()  # from Python 3.13 on, `resolve` leaves links in a circle as they are
    except (OSError, RuntimeError, ValueError):  # links in a circle, no such user, a zero byte
        raise refused from None
    if is_in(str(real), guard_of(roots)):
        return real
    raise refused

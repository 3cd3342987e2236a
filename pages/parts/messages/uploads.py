"""Uploads laid out as store folders: commit log files, pieces of one, or whole stores packed into a zip or tar file.

They are in a folder that goes with the session. What is unpacked stays below it, is bounded, and takes no room where it
is zeros. Reads no record.
"""

from __future__ import annotations

import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import SEEK_CUR
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import streamlit as st

from idcore.catalogue import Words
from idcore.errors import CoreError, coded
from idcore.sources.unpack import READ_ERRORS
from idcore.store.commitlog import LOOKED_FOR_RECORDS, place_of
from pages.parts.markdown import escaped

LARGEST = 8 << 30  # bytes of all that is unpacked
MOST_FILES = 100_000
DEEPEST = 64  # folders in one another; a store has a few
_PACKED = re.compile(r".+\.(zip|tar|tgz|tar\.[a-z0-9]+)", re.IGNORECASE)
_LOG_NAME = re.compile(r"[0-9]{20}")
_OF_A_STORE = {"commitlog", "consumequeue", "index", "config", "checkpoint", "abort"}
_STEP = 1 << 20
_BROKEN = (*READ_ERRORS, tarfile.TarError, RuntimeError)  # RuntimeError: a zip that is encrypted


class _Member(NamedTuple):
    path: PurePosixPath
    open: Callable[[], IO[bytes] | None]


def folder(uploaded: Sequence[Any], words: Words) -> Path | None:
    """The store folder that the uploads come to; of several, the one that is chosen."""
    key = sorted(file.file_id for file in uploaded)
    known, kept, stores, problems = st.session_state.get("store_kept", ([], None, {}, []))
    if kept is None or known != key:
        kept = tempfile.TemporaryDirectory(prefix="idcore-store-", ignore_cleanup_errors=True)
        stores, problems = _laid_out(uploaded, Path(kept.name), words)
        st.session_state["store_kept"] = (key, kept, stores, problems)  # it goes with the session, or the next upload
    for problem in problems:
        st.error(problem, icon=":material/error:")
    if len(stores) < 2:
        return next(iter(stores.values()), None)
    return stores[st.selectbox(words("store.which"), list(stores), key="store_which")]


def _laid_out(uploaded: Iterable[Any], root: Path, words: Words) -> tuple[dict[str, Path], list[str]]:
    """The stores by a name each, and what is wrong with uploads that are not stores."""
    stores: dict[str, Path] = {}
    pieces: dict[str, Any] = {}
    problems = []
    for file in uploaded:
        try:
            if _PACKED.fullmatch(file.name):
                stores |= _unpacked(file, root / f"packed-{len(stores)}", words)
            else:
                _add_piece(file, pieces, words)
        except CoreError as problem:
            problems.append(escaped(words.error(problem)))  # names and reasons are from strangers
    if pieces:
        log = root / "pieces" / "commitlog"
        log.mkdir(parents=True)
        for name, file in pieces.items():
            file.seek(0)
            with (log / name).open("wb") as place:
                shutil.copyfileobj(file, place, _STEP)
        stores[words("store.pieces")] = log.parent
    return stores, problems


def _add_piece(file: Any, pieces: dict[str, Any], words: Words) -> None:
    """A commit log file by its name, or by where its first record belongs."""
    name = Path(file.name).name
    if not _LOG_NAME.fullmatch(name):
        file.seek(0)
        start = place_of(file.read(LOOKED_FOR_RECORDS))
        if start is None:
            raise CoreError("odd_name", {"name": name})
        name = f"{start:020d}"
    if name in pieces:
        raise CoreError("upload_twice", {"name": file.name, "first": pieces[name].name})
    pieces[name] = file


def _unpacked(file: Any, root: Path, words: Words) -> dict[str, Path]:
    """Every store of a packed file, by where it is in it."""
    try:
        with _members(file, words) as members:
            places = {place: root / str(number) for number, place in enumerate(_places(members))}
            for member in members:
                place = next((parent for parent in member.path.parents if parent in places), None)
                if place is not None and (inside := _inside(member.path, place)) is not None:
                    _copy(member, places[place] / inside)
    except CoreError:
        raise
    except _BROKEN as problem:
        raise CoreError("pack_broken", {"name": file.name, "why": coded(problem)}) from None
    if not places:
        raise CoreError("pack_empty", {"name": file.name})
    return {f"{file.name}: {place}" if place.parts else file.name: path for place, path in places.items()}


@contextmanager
def _members(file: Any, words: Words) -> Iterator[list[_Member]]:
    """The files of a packed file, in its order; no folder, link, device, nothing outside. Too many are rejected first.

    A file gives no more bytes than its entry says, in both formats.
    """
    made: list[_Member] = []
    size = 0

    def add(name: str, more: int, is_file: bool, opened: Callable[[], IO[bytes] | None]) -> None:
        nonlocal size
        if name.count("/") > DEEPEST:
            deep = CoreError("pack_deep", {"most": DEEPEST})
            raise CoreError("pack_broken", {"name": file.name, "why": deep})
        size += more
        if size > LARGEST or len(made) == MOST_FILES:
            most = words.bytes(LARGEST) if size > LARGEST else words.count("file", MOST_FILES)
            raise CoreError("pack_large", {"name": file.name, "most": most})
        path = PurePosixPath(name)
        if is_file and ".." not in path.parts:
            made.append(_Member(path, opened))

    file.seek(0)
    if file.name.lower().endswith(".zip"):
        with zipfile.ZipFile(file) as zipped:
            for entry in zipped.infolist():
                add(entry.filename, entry.file_size, not entry.is_dir(), partial(zipped.open, entry))
            yield made
    else:
        with tarfile.open(fileobj=file, mode="r:*") as tar:
            for item in tar:
                add(item.name, item.size, item.isreg(), partial(tar.extractfile, item))
            yield made


def _places(members: Sequence[_Member]) -> list[PurePosixPath]:
    """Where stores are: folders with a folder commitlog that holds files of a log, else folders with such files."""
    paths = (member.path for member in members if _LOG_NAME.fullmatch(member.path.name))
    logs = {path.parent for path in paths if "consumequeue" not in path.parts}
    return sorted({log.parent for log in logs if log.name == "commitlog"} or logs)


def _inside(path: PurePosixPath, place: PurePosixPath) -> PurePosixPath | None:
    """The path of a file in its store; None for what does not belong there."""
    inside = path.relative_to(place)
    return inside if inside.parts[0] in _OF_A_STORE or _LOG_NAME.fullmatch(str(inside)) else None


def _copy(member: _Member, target: Path) -> None:
    """A file; what is zeros takes no room."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = member.open()
    assert source is not None  # a regular file
    with source, target.open("wb") as place:
        while piece := source.read(_STEP):
            if piece.count(0) == len(piece):
                place.seek(len(piece), SEEK_CUR)
            else:
                place.write(piece)
        place.truncate()

"""Whether there is room for one more run: on the disk, and within what may be kept. Creates and deletes nothing."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

from idcore.base.errors import CoreError
from idcore.policy import limits

_Stamp = tuple[int, int]
_lock = threading.Lock()
_known: dict[Path, tuple[_Stamp, int]] = {}


def _there(root: Path) -> Path:
    """The folder, or the one that it will be made in."""
    return next(folder for folder in (root, *root.absolute().parents) if folder.exists())


def is_writable(root: Path) -> bool:
    """Whether a run can be made in this folder."""
    return os.access(_there(root), os.W_OK)


def free(root: Path) -> int:
    """Bytes that are free on its disk."""
    return shutil.disk_usage(_there(root)).free


def is_full(root: Path) -> bool:
    """Whether less is free than the administrator wants."""
    return free(root) < limits.figure("free_disk")


def refuse_without_disk(root: Path) -> None:
    """CoreError where nothing can be written: a full disk takes no new work, so that what is finished stays whole."""
    if not is_writable(root):
        raise CoreError("runs_read_only")
    if is_full(root):
        raise limits.limit_error("free_disk", free(root))


def sizes(root: Path, only: Collection[str] | None = None) -> Mapping[str, int]:
    """Bytes of each run on the disk, by its name, or of some. A run is read again when its folder has changed."""
    if not root.is_dir():
        return {}
    known: dict[Path, tuple[_Stamp, int]] = {}
    every = (path for path in root.iterdir() if not path.name.startswith("."))
    for run in every if only is None else [root / name for name in only]:
        try:
            stamp = run.stat().st_mtime_ns, (run / "run.json").stat().st_mtime_ns
        except OSError:  # deleted meanwhile, or not a run
            continue
        held = _known.get(run)
        known[run] = held if held is not None and held[0] == stamp else (stamp, _size(run))
    with _lock:
        for gone in [run for run in _known if only is None and run.parent == root and run not in known]:
            del _known[gone]
        _known.update(known)
    return {run.name: size for run, (_, size) in known.items()}


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue  # it was deleted meanwhile
    return total


def refuse_too_much(root: Path, more: int, mine: Collection[str], expected: Mapping[str, int]) -> None:
    """CoreError where a further run of `more` bytes is beyond what may be kept; `mine` are runs of who asks.

    `expected`: what runs at work are going to take.
    """
    if limits.value("kept") is None and limits.value("kept_of_one") is None:
        return
    there = sizes(root, mine if limits.value("kept") is None else None)
    held = {name: max(size, expected.get(name, 0)) for name, size in there.items()}
    own = sum(held.get(name, 0) for name in mine)
    for name, taken in (("kept_of_one", own), ("kept", sum(held.values()))):
        if limits.exceeds(name, taken + more):
            raise limits.limit_error(name, taken + more)

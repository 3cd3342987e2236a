"""What people did, one line of JSON each: who, when, what, how it ended. Has no body, no pasted text, no token.

Lines of several processes do not mix and none is lost: each is one write under a lock, and a full file is renamed.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from idcore.policy import limits, metrics, settings

LOG = logging.getLogger(__name__)
LONGEST = 300  # characters of one value


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it: the login or the address, and what names the session."""

    user: str
    session: str = "none"


CONSOLE = Actor("console")


def path() -> Path | None:
    """The file that the administrator names."""
    file: Path | None = settings.one("audit_log")
    return file


def append(file: Path, line: dict[str, Any]) -> None:
    """Writes one line, all of it or nothing; OSError where that fails. A file that would be too large is renamed."""
    raw = (json.dumps(line, ensure_ascii=True) + "\n").encode()
    descriptor = _locked(file)
    try:
        size = os.fstat(descriptor).st_size
        if size and size + len(raw) > limits.figure("audit"):
            # The file becomes .1, that one .2, and so on; the oldest goes.
            names = [file, *(file.with_name(f"{file.name}.{n}") for n in range(1, limits.figure("audit_files")))]
            if len(names) == 1:
                file.unlink()
            for older, newer in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
                if newer.exists():
                    newer.replace(older)
            full, descriptor = descriptor, _locked(file)
            os.close(full)
            size = os.fstat(descriptor).st_size
        if os.write(descriptor, raw) != len(raw):  # the disk is full: no half line stays
            os.ftruncate(descriptor, size)
            raise OSError(28, os.strerror(28))
    finally:
        os.close(descriptor)  # and with it the lock


def _locked(file: Path) -> int:
    """The file of this name, locked; one that was renamed while this waited is not it."""
    while True:
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            there = os.stat(file)
        except FileNotFoundError:
            os.close(descriptor)
            continue
        except OSError:
            os.close(descriptor)
            raise
        if os.path.samestat(os.fstat(descriptor), there):
            return descriptor
        os.close(descriptor)


def note(what: str, who: Actor, **facts: Any) -> None:
    """One line of something that has happened. A line that cannot be written is counted and in the server's log.

    Look-ups do not come this way: they are not shown without their line.
    """
    file = path()
    if file is None:
        return
    line: dict[str, Any] = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "what": what}
    line |= {"user": who.user[:LONGEST], "session": who.session}
    line |= {name: value[:LONGEST] if isinstance(value, str) else value for name, value in facts.items()}
    try:
        append(file, line)
    except OSError as error:
        metrics.count("audit_failed")
        LOG.error("the audit log cannot be written: %s", error.strerror)


def is_writable() -> bool:
    """Whether its folder takes a line; True where there is no audit log."""
    file = path()
    return file is None or os.access(file if file.exists() else file.parent, os.W_OK)


def scan_ended(who: Actor, run: str, kind: str, outcome: str, **figures: Any) -> None:
    """A run has ended: its line, its counts. `figures` are seconds, bytes, ids, error."""
    metrics.count("scans", kind=kind, outcome=outcome)
    metrics.count("scan_seconds", figures.get("seconds") or 0, kind=kind)
    if outcome == "done":
        metrics.count("scan_bytes", figures.get("bytes") or 0, kind=kind)
    if figures.get("error"):
        metrics.error(figures["error"])
    known = {name: value for name, value in figures.items() if value is not None}
    level = logging.WARNING if outcome == "failed" else logging.INFO
    LOG.log(level, "%s %s %s %s", kind, run, outcome, known.get("error", ""), extra={"run": run})
    note("scan_ended", who, run=run, kind=kind, outcome=outcome, **known)

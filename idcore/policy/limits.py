"""What the console bounds: one row for each limit, with its setting, its default and its sentence. Applies none.

A setting is read when it is asked for, so that a test and a supervisor may change it. `check` reads all of them once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from idcore.base.errors import CoreError, refuse
from idcore.base.safe_text import size
from idcore.policy import settings

Unit = Literal["scans", "calls", "bytes", "files", "a minute", "rows", "verdicts", "days"]
OFF = "off"
MOST_INDEXED = 64 << 30  # bytes of text whose lines are indexed: of more a scan keeps its tables alone
_SIZE = re.compile(r"([0-9]+) ?(?:([KMGT])i?B?)?", re.IGNORECASE)
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_MOST = 1 << 60


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit. `whose` is one visitor, or all together; None as default: there is no limit unless somebody sets it.

    `error` is the code of the sentence that a visitor sees when it is met; without one nothing is refused.
    """

    name: str
    setting: str
    default: int | None
    unit: Unit
    whose: Literal["visitor", "all"]
    error: str
    meaning: str
    may_be_off: bool = True

    def of(self, text: str) -> int | None:
        """What a setting says: a number, of bytes also with a unit (`512M`, `8G`), or `off`. CoreError names it."""
        text = text.strip()
        if text.lower() == OFF and self.may_be_off:
            return None
        match = _SIZE.fullmatch(text) if self.unit == "bytes" else re.fullmatch(r"([0-9]+)()", text)
        value = int(match[1]) << _POWERS[(match[2] or "").upper()] if match and len(match[1]) < 19 else 0
        if not 0 < value <= _MOST:
            raise refuse("setting_wrong", setting=self.setting, value=text[:100], wanted=self.wanted)
        return value

    @property
    def wanted(self) -> str:
        """What may be written."""
        number = "a size such as 512M or 8G" if self.unit == "bytes" else "a whole number from 1 on"
        return f"{number}, or {OFF}" if self.may_be_off else number

    @property
    def usual(self) -> str:
        """Its default as people read it."""
        if self.default is None:
            return OFF
        return size(self.default) if self.unit == "bytes" else f"{self.default:,}"


# fmt: off
_ROWS = (
    Limit("scans", "IDCORE_SCANS", 2, "scans", "all", "",
          "scans of 8 MiB or more that run at once; the others wait and show their place in the queue", False),
    Limit("scans_of_one", "IDCORE_SCANS_VISITOR", 12, "scans", "visitor", "limit_scans_of_one",
          "scans and lists of IDs that run or wait"),
    Limit("queue", "IDCORE_QUEUE", 100, "scans", "all", "limit_queue", "scans that wait"),
    Limit("follows", "IDCORE_FOLLOWS", 4, "scans", "all", "limit_follows",
          "scans that follow files until they are stopped"),
    Limit("uploads_of_one", "IDCORE_UPLOADS_VISITOR", 2 << 30, "bytes", "visitor", "limit_uploads_of_one",
          "uploads and pasted texts in the memory of the server"),
    Limit("uploads", "IDCORE_UPLOADS", 8 << 30, "bytes", "all", "limit_uploads",
          "uploads and pasted texts in the memory of the server"),
    Limit("runs_of_one", "IDCORE_RUNS_VISITOR", 2_000, "scans", "visitor", "limit_runs_of_one",
          "scans that are kept: each list of scans reads a file of every one"),
    Limit("kept_of_one", "IDCORE_KEPT_VISITOR", 64 << 30, "bytes", "visitor", "limit_kept_of_one",
          "folders of scans, with their inputs"),
    Limit("kept", "IDCORE_KEPT", None, "bytes", "all", "limit_kept",
          "folders of scans, with their inputs; without it the free disk is the limit"),
    Limit("free_disk", "IDCORE_FREE_DISK", 256 << 20, "bytes", "all", "limit_disk",
          "disk that must be free before a scan begins, and while an upload is unpacked", False),
    Limit("unpacked", "IDCORE_UNPACKED", 8 << 30, "bytes", "visitor", "pack_large",
          "what uploads of stores are unpacked to, in all tabs together", False),
    Limit("unpacked_files", "IDCORE_UNPACKED_FILES", 100_000, "files", "visitor", "pack_large",
          "files in uploads of stores, in all tabs together", False),
    Limit("unpacked_log", "IDCORE_UNPACKED_LOG", 256 << 30, "bytes", "visitor", "unpacked_large",
          "what one packed log or archive is unpacked to by a scan; workers of a cluster need the setting too"),
    Limit("members", "IDCORE_MEMBERS", 1_000_000, "files", "visitor", "members_many",
          "files in one archive that a scan reads; workers of a cluster need the setting too", False),
    Limit("lookups_of_one", "IDCORE_LOOKUPS_VISITOR", 600, "a minute", "visitor", "too_many",
          "look-ups in one cluster; `lookups_per_minute` of a profile replaces it", False),
    Limit("lookups", "IDCORE_LOOKUPS", 6_000, "a minute", "all", "too_many_of_all", "look-ups in one cluster", False),
    Limit("calls_of_one", "IDCORE_CALLS_VISITOR", 6_000, "a minute", "visitor", "too_many_calls",
          "calls of operations by programs"),
    Limit("calls_at_once", "IDCORE_CALLS_AT_ONCE", 32, "calls", "visitor", "limit_calls_at_once",
          "calls of operations that come, wait, are at work or are being answered", False),
    Limit("call_bytes", "IDCORE_CALL_BYTES", 4 << 20, "bytes", "visitor", "call_large",
          "what one call of a program sends", False),
    Limit("verdicts", "IDCORE_VERDICTS", 50_000, "verdicts", "visitor", "limit_verdicts",
          "verdicts of one look-up: each record in each group, of all its IDs together"),
    Limit("announcements", "IDCORE_WEBHOOK_MINUTE", 60, "a minute", "all", "",
          "announcements to the webhook; the others wait", False),
    Limit("audit", "IDCORE_AUDIT_BYTES", 64 << 20, "bytes", "all", "",
          "one file of the audit log; a full one gets .1 behind its name, the one before it .2", False),
    Limit("audit_files", "IDCORE_AUDIT_FILES", 10, "files", "all", "",
          "files of the audit log; the oldest is deleted", False),
    Limit("download_rows", "IDCORE_DOWNLOAD_ROWS", 100_000, "rows", "visitor", "lines.taken_cut",
          "rows in one download of a list; the page says when it is cut", False),
    Limit(
        "days",
        "IDCORE_KEPT_DAYS",
        None,
        "days",
        "all",
        "",
        "age at which scans are deleted; pinned ones stay, and the page Scans warns before",
    ),
)
# fmt: on
LIMITS: Mapping[str, Limit] = {row.name: row for row in _ROWS}


def value(name: str) -> int | None:
    """What the administrator says, or the default; None: no limit."""
    return _said(name, settings.text(LIMITS[name].setting))


@lru_cache(maxsize=256)
def _said(name: str, text: str) -> int | None:
    row = LIMITS[name]
    return row.of(text) if text.strip() else row.default


def figure(name: str) -> int:
    """The value of a limit that cannot be off."""
    number = value(name)
    assert number is not None, f"{name} may be off"
    return number


def exceeds(name: str, count: float) -> bool:
    """Whether so much is beyond a limit."""
    most = value(name)
    return most is not None and count > most


def limit_error(name: str, held: float) -> CoreError:
    """The sentence of a limit that was met: what one has or would have, and the most."""
    row, most = LIMITS[name], value(name)
    format_value = size if row.unit == "bytes" else "{:,.0f}".format
    return refuse(row.error, held=format_value(held), most=format_value(most or 0))


def check() -> None:
    """Reads every setting; CoreError names the first that is wrong."""
    for name in LIMITS:
        value(name)

"""Folders of scans: what was scanned, its tables, how it ended. Depends on no Spark and no page."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import subprocess
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idcore.base.errors import CoreError
from idcore.base.open_folders import own_file
from idcore.base.plain_json import read
from idcore.policy import settings
from idcore.policy.access import WITHOUT_LOGIN, Visitor
from idcore.runs import lease, room
from idcore.runs.run_facts import (
    COMPARE,
    EVERYBODY,
    FATES,
    KINDS,
    LINK,
    PRIVATE,
    SHARED,
    STORE,
    TEXT,
    UNENDED,
    error_of,
    is_summary,
    is_whole,
    kind_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

from idcore.runs.table_sizes import fits

__all__ = ["COMPARE", "EVERYBODY", "FATES", "KINDS", "LINK", "PRIVATE", "SHARED", "STORE", "TEXT"]
__all__ += ["FOLLOWED", "PAGES", "SCANS", "Run", "RunError", "Runs", "error_of", "kind_of", "runs_root"]
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(?:[0-9a-f]{26})?")  # the short ones are of older versions
SCANS = (TEXT, STORE)
PAGES = {COMPARE: "compare", FATES: "fate"}  # of the others, each with tables of its own
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ends: dict[Path, dict[str, Any]] = {}  # how runs of this process ended, while their folder cannot be written
_PLANNED = {"paths", "names", "zone", "zone_source", "at", "split_size", "case"}
TOPICS_BYTES = 4 << 30  # of them, at the most
TOPICS = "kafka"  # in the folder of a run that follows topics of Kafka: their records as files
FOLLOWED = ".follow"  # in the folder of a run that goes on: what Spark and the driver need to go on
DELETED = ".deleted-"  # in front of the name of a run that is being deleted
LONGEST_NAME = 120  # characters that a reader may call a scan


class RunError(CoreError):
    """The scan does not exist, or does not have this table."""


def runs_root() -> Path:
    """Where scans are kept: what the administrator says, or a folder of this user."""
    return settings.current().runs or (Path.home() / ".local" / "share" / "rocketmq-ids" / "runs")


def write_text(path: Path, text: str) -> None:
    """All of it or nothing: a reader never sees half a file."""
    spare = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        spare.write_text(text, encoding="utf-8")
        spare.replace(path)
    except OSError:
        spare.unlink(missing_ok=True)
        raise


def _write_in_place(path: Path, text: str) -> bool:
    """Writes over a file within the room that it has: a full disk has none for another. Whether it fits.

    Who reads it in that instant may see half of it, as of a run that is being deleted.
    """
    raw = text.encode()
    with open(path, "r+b", buffering=0, opener=own_file) as file:
        if os.fstat(file.fileno()).st_blocks * 512 < len(raw):
            return False
        file.write(raw)
        file.truncate(len(raw))
    return True


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """All of them or none, each a folder: a disk that becomes full leaves no half of one."""
    import pyarrow.parquet as pq

    aside = {name: folder / f".{name}" for name in tables}
    try:
        for name, table in tables.items():
            aside[name].mkdir()
            with open(aside[name] / "part-00000.parquet", "wb", opener=own_file) as file:
                pq.write_table(table, file, compression="zstd")
    except OSError:
        for place in aside.values():
            shutil.rmtree(place, ignore_errors=True)
        raise
    for name, place in aside.items():
        place.rename(folder / name)


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of one scan. What it says is read from disk each time: another process may be writing it."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def facts(self) -> dict[str, Any]:
        """All of run.json, read once; RunError where the scan is gone, or where a fact of it is not of its kind."""
        facts = read(self.path / "run.json")
        if facts is None or not is_whole(facts):
            there = (self.path / "run.json").exists()
            raise RunError("run_damaged" if there else "no_run", {"name": self.name}, "run", None, self.name)
        return facts | _ends.get(self.path, {})

    @property
    def title(self) -> str:
        return self.facts["title"]

    @property
    def source(self) -> str:
        return self.facts["source"]

    @property
    def created(self) -> datetime:
        return datetime.fromisoformat(self.facts["created"])

    @property
    def options(self) -> dict[str, Any]:
        return self.facts["options"]

    @property
    def error(self) -> CoreError | None:
        return error_of(self.facts)

    @property
    def state(self) -> str:
        """new, running, done, failed or cancelled; a scan whose server has gone is failed."""
        return state_of(self.facts, self.path.parent)

    @property
    def is_left(self) -> bool:
        """Whether its server has gone before it had ended."""
        return self.facts["state"] in UNENDED and self.state == "failed"

    @property
    def kind(self) -> str:
        """text, store (records of a store folder were read), compare (two inputs, side by side) or fates.

        The last is of a list of IDs: what became of them in a live cluster.
        """
        return kind_of(self.facts)

    @property
    def kept(self) -> bool:
        """Whether it stays until somebody deletes it; else it goes with the session that made it."""
        return is_kept(self.facts)

    @property
    def pinned(self) -> bool:
        """Whether it is first in the list and no deletion of several takes it."""
        return bool(self.facts.get("pinned"))

    @property
    def plan(self) -> dict[str, Any] | None:
        """What its scan was asked for, so that it can be asked again; None for one that never began."""
        return self.facts.get("plan")

    @property
    def planned(self) -> dict[str, Any]:
        """The same of a scan that can be asked again; CoreError of one that never began, or does not say all of it."""
        plan = self.plan or {}
        if plan.get("paths") is None or not plan.keys() >= _PLANNED:
            raise CoreError("scan_no_plan")
        return plan

    @property
    def store(self) -> str | None:
        """The store folder whose records a scan read; None where it read text."""
        return (self.plan or {}).get("store")

    @property
    def summary(self) -> dict[str, Any] | None:
        """The scan's own figures, once it is finished; RunError where one of them is not of its kind."""
        return summary_of(self.path, self.kind)

    @property
    def lines_behind(self) -> float:
        """By how many seconds its tables are newer than the index of its lines, of a scan that goes on, or went on."""
        if (self.plan or {}).get("follow") is None:
            return 0.0
        written = (self.path / name for name in ("summary.json", "occurrences/index.json"))
        try:
            tables, lines = (path.stat().st_mtime for path in written)
        except OSError:  # one of them is not there
            return 0.0
        return tables - lines

    @property
    def input_folder(self) -> Path:
        """Where the files dropped on the page are; created when needed."""
        folder = self.path / "input"
        folder.mkdir(exist_ok=True)
        return folder

    def set_state(self, state: str, error: CoreError | None = None, **more: Any) -> None:
        """Writes run.json again, with this process as the owner; facts not named stay."""
        self._write({"state": state, "error": error and error.coded(), **_owner(self.path.parent), **more})

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Work at it begins; CoreError where it has begun meanwhile, by another click or another console."""
        self._write({"state": "running", "error": None, "plan": plan, **_owner(self.path.parent)}, begins=True)

    def remove_rest(self) -> None:
        """Of a run that was deleted meanwhile, by any console: what was written since, which no list has."""
        if not (self.path / "run.json").exists():
            shutil.rmtree(self.path, ignore_errors=True)

    def remove(self) -> None:
        """Deletes the folder for good; OSError where it cannot, or is not there.

        It leaves every list first, by its name. So a server that is killed meanwhile leaves no half of a scan, and
        `Runs.sweep` deletes what is left.
        """
        gone = self.path.with_name(f"{DELETED}{self.name}-{secrets.token_hex(4)}")
        self.path.rename(gone)
        with suppress(FileNotFoundError):  # another console of the folder sweeps it already
            shutil.rmtree(gone)

    @contextmanager
    def removed_unless_begun(self) -> Iterator[None]:
        """The run goes where its work cannot begin: half an input, or what was refused, is no scan."""
        try:
            yield
        except BaseException:
            with suppress(OSError):  # deleted meanwhile
                self.remove()
            raise

    def end(self, state: str, error: CoreError | None = None) -> CoreError | OSError | None:
        """How its work ended; why that was not written. Of a folder that is read-only `write_ends` writes it later."""
        try:
            self.set_state(state, error)
        except RunError as gone:
            return gone
        except OSError as problem:
            _ends[self.path] = {"state": state, "error": error and error.coded()}
            return problem
        return None

    def rename(self, name: str) -> None:
        """What its reader calls it, next to the made title; an empty name gives the title back."""
        self._write({}, {"named": " ".join(name.split())[:LONGEST_NAME] or None})

    def set_options(self, **options: Any) -> None:
        """Further options; those not named stay."""
        self._write({}, options)

    def pin(self, pinned: bool) -> None:
        """Puts it first in the list, or back into its order."""
        self._write({"pinned": pinned})

    def share(self, with_whom: str) -> None:
        """Who else may open it: nobody (private), who has its link, or everybody."""
        if with_whom not in SHARED:
            raise RunError("said", {"why": f"shared is one of {', '.join(SHARED)}"})
        self._write({"shared": with_whom})

    def _write(self, facts: dict[str, Any], options: dict[str, Any] | None = None, begins: bool = False) -> None:
        """Facts and options over those that are there. One writer at a time, or one would undo another's change."""
        with _alone(self.path):
            held = self.facts
            if begins and held["state"] == "running" and has_owner(held, self.path.parent):
                raise CoreError("scan_not_ended")
            held |= facts | {"options": held["options"] | (options or {})}
            text = json.dumps(held)
            try:
                write_text(self.path / "run.json", text)
            except FileNotFoundError:  # another console deletes it at this moment
                raise RunError("no_run", {"name": self.name}, "run", None, self.name) from None
            except OSError as error:
                if error.errno not in _FULL or not _write_in_place(self.path / "run.json", text):
                    raise
            _ends.pop(self.path, None)

    def has(self, table: str) -> bool:
        """Whether the scan wrote this table."""
        return (self.path / table).is_dir()

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """One table, or some of its columns."""
        import pyarrow.parquet as pq

        if not self.has(name):
            raise RunError("no_table", {"name": self.name, "table": name}, "table", None, name)
        if not fits(self.path / name, columns):
            raise RunError("table_damaged", {"name": self.name, "table": name}, "table", None, name)
        # Metadata of pandas are JSON that anybody may have written, and say what becomes of the columns.
        return pq.read_table(self.path / name, columns=columns).replace_schema_metadata()


def write_ends() -> None:
    """Writes what could not be written when runs ended; without it they have failed without a reason later."""
    for path in list(_ends):
        try:
            Run(path)._write({})
        except RunError:
            _ends.pop(path, None)
        except OSError:
            continue


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds the folder's own lock: threads and processes that write its run.json take turns. Readers do not wait."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        raise RunError("no_run", {"name": folder.name}, "run", None, folder.name) from None
    try:
        with suppress(OSError):  # some network file systems have no locks; the write itself is whole on any
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def summary_of(path: Path, kind: str) -> dict[str, Any] | None:
    """The figures of a run of this kind; None of one that has not finished. RunError of those that are damaged."""
    summary = read(path / "summary.json")
    if summary is None and not (path / "summary.json").exists():
        return None
    if summary and is_summary(summary, kind):
        return summary
    raise RunError("run_damaged", {"name": path.name}, "run", None, path.name)


def is_kept(facts: Mapping[str, Any]) -> bool:
    """Whether a run stays until somebody deletes it; one that does not say so does."""
    return facts.get("kept") is not False


def state_of(facts: dict[str, Any], root: Path) -> str:
    """The state that run.json gives, or failed where the process that wrote it has gone before the end."""
    if facts["state"] in UNENDED and not has_owner(facts, root):
        return "failed"
    return str(facts["state"])


def has_owner(facts: dict[str, Any], root: Path) -> bool:
    """Whether the process that a run belongs to lives; a run of older versions has a process of this machine."""
    if (held := facts.get("lease")) is not None:
        return lease.is_held(root, held)
    return is_alive(facts["pid"], facts.get("started"))


def may_see(visitor: Visitor, facts: Mapping[str, Any], listed: bool = False) -> bool:
    """Whether a visitor may open a run of these facts: their own, one that is shared, or any as an admin.

    `listed`: whether it is in their list; what is shared by link is not. A run without an owner is an admin's.
    """
    if visitor.may("all_runs"):
        return True
    if facts.get("owner") is not None and facts["owner"] == visitor.name:
        return visitor.may("decode")
    shared = facts.get("shared") or PRIVATE
    return visitor.may("shared_runs") and (shared == EVERYBODY or (shared == LINK and not listed))


def may_change(visitor: Visitor, facts: Mapping[str, Any]) -> bool:
    """Whether a visitor may rename, pin, share, stop and delete a run of these facts: its owner, or an admin."""
    own = facts.get("owner") is not None and facts["owner"] == visitor.name
    return visitor.may("all_runs") or (own and visitor.may("decode"))


def _owner(root: Path) -> dict[str, Any]:
    """Which process a scan belongs to; its pid is for people."""
    return {"pid": os.getpid(), "lease": lease.mine(root)}


def started(pid: int) -> str | None:
    """When a process began, in a form to compare: a pid alone comes back, in a container at once. None: not known."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {text.rpartition(')')[2].split()[19]}"  # field 22; the name before it may hold anything
    except OSError:
        # Without /proc.
        try:
            answer = subprocess.run(
                ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, env={"LC_ALL": "C"}
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return answer.stdout.strip() or None


def is_alive(pid: int, began: str | None) -> bool:
    """Whether the process lives that had this pid and began then; of an old scan, which does not say when, the pid."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, and is someone else's
    now = started(pid)
    return began is None or now is None or now == began


def is_damaged(path: Path) -> bool:
    """Whether a run is there whose files cannot be trusted. One without run.json is being made, or deleted."""
    try:
        summary_of(path, kind_of(Run(path).facts))
    except RunError as problem:
        return problem.code == "run_damaged"
    return False


def _owned(path: Path) -> dict[str, Any]:
    """Whose a damaged run is, as far as its file says; without an owner it is an admin's."""
    owner = (read(path / "run.json") or {}).get("owner")
    return {"owner": owner if isinstance(owner, str) else None}


class Runs:
    """All scans under one folder that a visitor may see; each way to one begins here."""

    def __init__(self, root: Path | None = None, visitor: Visitor = WITHOUT_LOGIN) -> None:
        self.root, self.visitor = root or runs_root(), visitor

    def create(self, title: str, source: str = "", options: dict[str, Any] | None = None, **more: Any) -> Run:
        """A new, empty scan of this visitor; `more` are further facts: its kind, whether it is kept.

        Its name sorts by time, and cannot be guessed: who has it may open what is shared by link. CoreError where the
        disk is full.
        """
        self.visitor.require("decode")
        room.refuse_without_disk(self.root)
        now = datetime.now(UTC)
        run = Run(self.root / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(16)}")
        run.path.mkdir(parents=True)
        facts = {
            "title": title,
            "source": source,
            "created": now.isoformat(),
            "options": options or {},
            "state": "new",
            "error": None,
            "owner": self.visitor.name,
            "shared": PRIVATE,
            **_owner(self.root),
            **more,
        }
        write_text(run.path / "run.json", json.dumps(facts))
        return run

    def list(self) -> list[Run]:
        """Every scan that this visitor's list has, newest first."""
        return [run for run, _ in self.with_facts()]

    def with_facts(self) -> Sequence[tuple[Run, dict[str, Any]]]:
        """The same, each with its facts: any of them may be deleted before they are read a second time."""
        if not self.root.is_dir():
            return []
        listed = []
        for path in self.root.iterdir():
            run = Run(path)
            with suppress(RunError):  # one that is being deleted, or that is damaged: `damaged` has it
                if _NAME.fullmatch(path.name) and may_see(self.visitor, facts := run.facts, listed=True):
                    listed.append((run, facts))
        return sorted(listed, key=lambda one: datetime.fromisoformat(one[1]["created"]), reverse=True)

    def open(self, name: str, kinds: Collection[str] | None = None) -> Run:
        """A run by its name; RunError where there is none of these kinds, or this visitor may not see it.

        A name is never a path.
        """
        run = Run(self.root / name)
        if not _NAME.fullmatch(name) or not (run.path / "run.json").exists():
            raise self._none(name)
        try:
            facts = run.facts
            summary_of(run.path, kind_of(facts))
        except RunError as problem:
            raise problem if may_change(self.visitor, _owned(run.path)) else self._none(name) from None
        if not may_see(self.visitor, facts):
            raise self._none(name)
        if kinds is not None and kind_of(facts) not in kinds:
            raise RunError("not_a_scan", {"name": name}, "run", None, name)
        return run

    def _none(self, name: str) -> RunError:
        """Of somebody who may not see it, the same as of one that is not there: it says nothing of others' runs."""
        return RunError("no_run" if self.visitor.name is None else "no_run_here", {"name": name}, "run", None, name)

    def damaged(self, whole: Collection[str] = ()) -> tuple[str, ...]:
        """The runs whose files are damaged and that this visitor may delete: an admin, or the owner that is named.

        `whole` are names of those that are known not to be.
        """
        if not self.root.is_dir():
            return ()
        paths = (path for path in self.root.iterdir() if _NAME.fullmatch(path.name) and path.name not in whole)
        return tuple(sorted(path.name for path in paths if is_damaged(path) and may_change(self.visitor, _owned(path))))

    def delete_damaged(self, name: str) -> None:
        """Deletes one of them for good; RunError of any other."""
        if name not in self.damaged():
            raise self._none(name)
        Run(self.root / name).remove()

    def own(self, name: str) -> Run:
        """A scan that this visitor may change; RunError otherwise."""
        run = self.open(name)
        if not may_change(self.visitor, run.facts):
            raise RunError("not_owner", {"name": name}, "run", None, name)
        return run

    def delete(self, name: str) -> None:
        """The scan, its tables and its input, for good."""
        try:
            self.own(name).remove()
        except FileNotFoundError:  # another console was first
            raise self._none(name) from None

    def sweep(self) -> int:
        """Deletes scans that were not to be kept and whose server has gone; how many. And what was half deleted."""
        left = [run for run, facts in self.with_facts() if not is_kept(facts) and not has_owner(facts, self.root)]
        for run in left:
            with suppress(OSError):
                run.remove()
        for half in self.root.glob(f"{DELETED}*"):
            shutil.rmtree(half, ignore_errors=True)
        return len(left)

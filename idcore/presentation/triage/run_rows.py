"""The list of runs: which come first, which fit a filter, which are small pastes. Deletes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from idcore.intake.intake import PASTED
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import KINDS, PRIVATE, SCANS, Run, RunError, error_of, is_kept, kind_of, state_of, summary_of
from idcore.runs.table_sizes import fits

MOST_SMALL = 20  # IDs of a pasted text that is listed apart
MOST_FILES = 2_000  # names of one run that are searched
STATES = ("done", "running", "failed", "cancelled")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Filter:
    """What a reader asked for; an empty value asks for nothing."""

    find: str = ""
    state: str = ""
    kind: str = ""
    pinned: bool = False

    @property
    def any(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.find.strip() or self.state in STATES or self.kind in KINDS or self.pinned)

    def fits(self, row: Row) -> bool:
        """Whether a run is of this state and kind, and pinned where that is asked for. Names are not looked at."""
        state = "running" if row["state"] in UNENDED else row["state"]
        return (
            (self.state not in STATES or state == self.state)
            and (self.kind not in KINDS or row["kind"] == self.kind)
            and (not self.pinned or row["pinned"])
        )


def rows_of(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Runs as the list shows them; one that is deleted meanwhile is left out."""
    rows = []
    for run in runs:
        try:
            rows.append(row_of(run))
        except RunError:
            continue
    return rows


def row_of(run: Run) -> dict[str, Any]:
    """A run as the list shows it; its run.json is read once."""
    facts = run.facts
    return {
        "name": run.name,
        "title": facts["title"],
        "options": facts["options"],
        "created": datetime.fromisoformat(facts["created"]),
        "state": state_of(facts, run.path.parent),
        "error": error_of(facts),
        "summary": summary_of(run.path, kind_of(facts)),
        "store": (facts.get("plan") or {}).get("store"),
        "kind": kind_of(facts),
        "pinned": bool(facts.get("pinned")),
        "kept": is_kept(facts),
        "owner": facts.get("owner"),
        "shared": facts.get("shared") or PRIVATE,
    }


def file_names(run: Run) -> list[str]:
    """The files that a run read, as its table names them; of one without a table, as it was asked for them."""
    if run.has("files") and fits(run.path / "files", ["file"], whole=False):
        import pyarrow as pa  # only where somebody searches
        from pyarrow import dataset

        try:
            names = dataset.dataset(run.path / "files").head(MOST_FILES, columns=["file"])["file"]
            return [str(name) for name in names.to_pylist()]
        except (pa.ArrowException, OSError):  # damaged: the pages of the run say so, and a search goes on
            pass
    return [str(name) for name in run.options.get("sources") or ()]


def chosen(
    rows: Iterable[Row], wanted: Filter, title: Callable[[Row], str], files: Callable[[Row], Sequence[str]]
) -> list[Row]:
    """The runs that fit, pinned ones first, else in their order. Every word of the search is in the title or a file."""
    parts = wanted.find.casefold().split()
    fitting = []
    for row in rows:
        if not wanted.fits(row):
            continue
        if parts:
            text = f"{title(row)} {row['name']}".casefold()
            if not all(part in text for part in parts):
                text = " ".join([text, *files(row)]).casefold()
                if not all(part in text for part in parts):
                    continue
        fitting.append(row)
    return sorted(fitting, key=lambda row: not row["pinned"])


def of_contents(rows: Iterable[Row], digest: str) -> Row | None:
    """The latest finished or running scan of the very same files, of rows that begin with the newest."""
    same = (row for row in rows if row["options"].get("contents") == digest)
    return next((row for row in same if row["state"] in (*UNENDED, "done")), None)


def before_deletion(row: Row) -> str:
    """The message that asks whether a run is to be deleted: whether its input goes with it."""
    if row["options"].get("sources"):
        return "runs.delete_sure"
    return "runs.delete_sure_folder" if row["kind"] in SCANS else f"runs.delete_sure_{row['kind']}"


def is_small_paste(row: Row) -> bool:
    """A finished scan of a few pasted IDs that nobody named or pinned."""
    options = row["options"]
    if list(options.get("sources") or ()) != [PASTED] or row["pinned"] or options.get("named"):
        return False
    return row["state"] == "done" and 0 < (row["summary"] or options).get("ids", 0) <= MOST_SMALL


def apart(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """The runs of the list, and the small pastes."""
    small = [row for row in rows if is_small_paste(row)]
    return [row for row in rows if not is_small_paste(row)], small

"""Scans of this console: start one in the background, watch it, remember the session's latest. Knows no picture."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote, urlsplit

import streamlit as st

from idcore.catalogue import Words
from idcore.errors import CoreError
from idcore.ids.clock import Clock
from idcore.ids.identify import Case
from idcore.runs import Run, Runs, runs_root
from idcore.sources.uris import is_uri, local_path
from pages.parts import cache
from pages.parts.view import View

if TYPE_CHECKING:
    from idcore.spark.background import Job
    from idcore.spark.session import Status

_ALLOWED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/:]*(?::\d+)?[^:]*|[^:]+")  # a URI, or a path; colons between
OLD = 400  # digests of inputs remembered, so that a reload does not scan again
PASTED = "pasted.txt"


@dataclass(frozen=True, slots=True)
class Dating:
    """How a scan dates ids: the zone, where it is known from, and "now"."""

    zone: tzinfo
    source: str
    at: datetime

    @classmethod
    def of(cls, clock: Clock) -> Dating:
        """As the reader's clock has it; what the lines prove, the scan finds by itself."""
        return cls(clock.zone, clock.zone_source, clock.reference)


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to scan: the name people know it by, and its bytes."""

    name: str
    data: bytes | BinaryIO | Path

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, piece by piece."""
        if isinstance(self.data, bytes):
            yield self.data
        elif isinstance(self.data, Path):
            with self.data.open("rb") as file:
                yield from iter(lambda: file.read(1 << 20), b"")
        else:
            self.data.seek(0)
            yield from iter(partial(self.data.read, 1 << 20), b"")

    def digest(self) -> bytes:
        """What tells its content from any other."""
        made = hashlib.sha256()
        for piece in self.pieces():
            made.update(piece)
        return made.digest()


def twins(names: Sequence[str], digests: Sequence[bytes]) -> list[list[str]]:
    """Names of sources with the same content: their ids count more than once."""
    groups: dict[bytes, list[str]] = {}
    for name, digest in zip(names, digests, strict=True):
        groups.setdefault(digest, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def title_of(title: str, options: Mapping[str, Any], words: Words, summary: Mapping[str, Any] | None = None) -> str:
    """What a run is called, in the reader's language: made of what was scanned where the run says so.

    Once the scan has counted the ids, its figure counts: what was read at once may have been cut.
    """
    names = options.get("sources")
    if not names:
        return title
    if list(names) == [PASTED]:
        if options.get("only"):
            return str(options["only"])
        ids = words.count("id", (summary or options).get("ids", 0))
        lines = words.count("line", options.get("lines", 0))
        return words("decode.pasted_title", ids=ids, lines=lines)
    shown = [words("decode.pasted") if name == PASTED else name for name in names[:3]]
    more = len(names) - len(shown)
    return words("comma").join(shown) + (words("decode.more_files", n=more) if more else "")


def labels(rows: Sequence[Mapping[str, Any]], view: View) -> dict[str, str]:
    """What a chooser calls each run: title and minute, and where runs share these, the end of its name as well."""
    made = {}
    for row in rows:
        title = title_of(row["title"], row["options"], view.words, row["summary"])
        made[row["name"]] = f"{title} · {view.minute(row['created'])}"
    often = Counter(made.values())
    return {name: f"{label} · {name[-6:]}" if often[label] > 1 else label for name, label in made.items()}


def engine() -> Status | None:
    """How far Spark is; None where this installation has no Spark at all."""
    if importlib.util.find_spec("pyspark") is None:
        return None
    from idcore.spark import session

    return session.status()


def warm_up() -> None:
    """Begins to start Spark, once; without Java or without Spark nothing happens."""
    if os.environ.get("IDCORE_NO_SPARK") or importlib.util.find_spec("pyspark") is None:
        return
    from idcore.spark import session

    session.start_in_background()


def ready() -> bool:
    """Whether a scan can begin (it waits for Spark by itself)."""
    found = engine()
    return not os.environ.get("IDCORE_NO_SPARK") and found is not None and found.state in ("idle", "starting", "ready")


def store() -> Runs:
    """All runs of this server."""
    return Runs(runs_root())


def current_name() -> str | None:
    """The run a page shows: the address first, then the session's latest."""
    name = st.query_params.get("run") or st.session_state.get("run")
    return name if isinstance(name, str) and name else None


def remember(name: str) -> None:
    """From now on the chart pages show this run."""
    st.session_state["run"] = name


def current() -> Run | None:
    """The run a page shows, opened; RunError when the address names one that is gone."""
    name = current_name()
    if name is None:
        return None
    run = store().open(name)
    remember(name)
    return run


def job_of(run: Run) -> Job | None:
    """The running or finished job of this server for a run."""
    if importlib.util.find_spec("pyspark") is None:
        return None
    from idcore.spark import background

    return background.find(run.name)


@st.cache_resource(max_entries=1, show_spinner=False)
def _digests() -> dict[str, str]:
    return {}


def begin(sources: Sequence[Source], dated: Dating, case: Case = "strict", **facts: Any) -> Run:
    """Keeps the input in a new run and starts its scan; the same input again gives the run it had.

    `facts` (ids, lines, only) are what the run is called by.
    """
    names, digests = [source.name for source in sources], [source.digest() for source in sources]
    digest = _digest(names, digests, dated, case)
    known = _digests().get(digest)
    if known is not None:
        try:
            run = store().open(known)
            if run.state in ("running", "done"):
                remember(run.name)
                return run
        except CoreError:
            _digests().pop(digest, None)
    options: dict[str, Any] = {
        "zone": str(dated.zone),
        "zone_source": dated.source,
        "at": dated.at.isoformat(),
        "case": case,
    }
    options |= {"sources": names, "same": twins(names, digests), **facts}
    run = store().create(facts.get("only") or ", ".join(names[:3]), "console", options)
    named = {}
    for place, source in enumerate(sources):
        path = run.input_folder / f"{place:03d}-{safe_name(source.name)}"
        with path.open("wb") as file:
            for piece in source.pieces():
                file.write(piece)
        named[str(path)] = source.name
    launch(run, list(named), dated, named, case)
    if len(_digests()) >= OLD:
        _digests().clear()
    _digests()[digest] = run.name
    return run


def kept(run: Run) -> list[Source]:
    """What a run scanned, from its own folder."""
    files = sorted(run.input_folder.iterdir(), key=lambda path: int(path.name.partition("-")[0]))
    names = run.options.get("sources") or [path.name.partition("-")[2] for path in files]
    return [Source(name, path) for name, path in zip(names, files, strict=False)]


def store_of(run: Run) -> str | None:
    """The store folder whose records a run scanned; None where it scanned text."""
    return (run.plan or {}).get("store")


def launch(
    run: Run,
    paths: list[str],
    dated: Dating,
    names: dict[str, str] | None = None,
    case: Case = "strict",
    store: str | None = None,
) -> None:
    """Starts the scan of a run in a thread of the server: of paths, or of a store folder."""
    from idcore.spark import background
    from idcore.spark.job import SHARED_SPLIT_SIZE, ScanOptions

    options = ScanOptions(dated.zone, dated.source, dated.at, SHARED_SPLIT_SIZE, case, store=store)
    background.start(run, paths, options, names)
    remember(run.name)
    cache.forget_runs()


def again(name: str) -> None:
    """Begins the scan of a run that failed or was cancelled anew; a folder of the server must still be allowed."""
    from idcore.spark import background

    run = store().open(name)
    for path in (run.plan or {}).get("paths", ()):
        if run.path.resolve() not in Path(path).resolve().parents:
            allowed(path)
    if (folder := store_of(run)) is not None:
        store_in(Path(allowed(folder)))
    background.again(run)
    remember(name)
    cache.forget_runs()


def _digest(names: Sequence[str], digests: Sequence[bytes], dated: Dating, case: Case) -> str:
    made = hashlib.sha256(f"{dated.zone} {dated.at:%Y-%m-%d} {case}".encode())
    for name, digest in zip(names, digests, strict=True):
        made.update(hashlib.sha256(name.encode()).digest() + digest)  # of fixed length: the cut is never in doubt
    return made.hexdigest()


def safe_name(name: str) -> str:
    """A file name that stays in its folder whatever an upload calls itself."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(name).name).strip("._")
    return plain[-80:] or "input"


def allowed_roots() -> list[Path | str]:
    """Folders of the server and URIs of stores that the operator opens for scans; none by default."""
    configured = os.environ.get("IDCORE_ALLOWED_PATHS", "")
    if not configured:
        try:
            configured = st.secrets.get("allowed_paths", "")
        except (FileNotFoundError, st.errors.StreamlitAPIException):
            configured = ""
    parts = _ALLOWED.findall(configured) if isinstance(configured, str) else map(str, configured)
    return [part if is_uri(part) else Path(local_path(part)).resolve() for part in parts if part.strip()]


def store_in(path: Path) -> str | None:
    """An allowed folder, where it is a broker's store; its log and each file of that are allowed too, or it is refused.

    As text a commit log gives the ids that messages print, and not one id of a record.
    """
    from idcore.sources.inputs import list_store

    try:
        files = list_store(str(path)) if path.is_dir() else []
    except CoreError:
        return None
    for file in files:
        allowed(file.path)
    return str(path) if files else None


def allowed(path: str) -> Path | str:
    """A path inside an allowed folder after every symbolic link, or a URI inside an allowed one.

    PermissionError otherwise, also where nothing is.
    """
    refused = PermissionError(13, "not allowed", path)
    roots = allowed_roots()
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
    """Whether a URI names the root or what lies below it, however it is written; one with a login or a query never."""
    asked, opened = urlsplit(uri), urlsplit(root)
    path, above = unquote(asked.path), unquote(opened.path).rstrip("/")
    if asked.query or asked.fragment or ":" in asked.netloc.rpartition("@")[0] or not uri.isprintable():
        return False
    if "\\" in path or {".", ".."} & set(path.split("/")):
        return False
    same = (asked.scheme.lower(), asked.netloc.lower()) == (opened.scheme.lower(), opened.netloc.lower())
    return same and (path.rstrip("/") == above or path.startswith(above + "/"))

"""Scans of this console: start one in the background, watch it, remember the session's latest. Draws no picture."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.base import temporary
from idcore.base.errors import CoreError, coded
from idcore.base.open_folders import Roots
from idcore.ids.identify import Case
from idcore.intake import allowed as places
from idcore.intake.intake import Dating, Source, asked_of, keep
from idcore.operations import starting
from idcore.operations.model import Caller, Ground
from idcore.policy import audit, private, settings
from idcore.runs.runs import SCANS, Run, RunError, Runs, is_kept, may_change, may_see, runs_root
from idcore.server import jobs
from idcore.server.download_access import DownloadAccess
from pages.parts import cache, session, visitor

LOG = logging.getLogger(__name__)
Subscriptions = Mapping[tuple[str, str], str]
NOT_KEPT: dict[str, Any] = {"kept": False}
OLD = 400  # digests of inputs remembered, so that a reload does not scan again


def visible_runs() -> Runs:
    """The scans of this server that this visitor may see: every page opens, lists and changes runs with it."""
    return Runs(runs_root(), visitor.current())


def current_name() -> str | None:
    """The scan a page shows: the address first, then the session's latest. A comparison is not a scan."""
    asked, latest = st.query_params.get("run"), st.session_state.get("run")
    try:
        is_scan = not asked or visible_runs().open(asked).kind in SCANS
    except RunError:
        is_scan = True  # the page that opens it says so
    name = asked if asked and is_scan else latest
    return name if isinstance(name, str) and name else None


def remember(name: str) -> None:
    """From now on the chart pages show this scan. One that is not kept stays while this session does."""
    before = st.session_state.get("run")
    if before is not None and before != name and _is_log(before):
        st.session_state["log"] = before  # a list of IDs is compared with it
    st.session_state["run"] = name
    keep_while_here(name)


def _is_log(name: str) -> bool:
    """Whether a run is a scan that is done, and more than a list of IDs."""
    try:
        run = visible_runs().open(name, SCANS)
    except RunError:
        return False
    return run.state == "done" and not (run.summary or {}).get("is_list")


def log_behind(name: str | None) -> Run | None:
    """The scan of a log that this session had open besides a list of IDs, which is the run `name`; None without one."""
    state = st.session_state
    known = (other for other in (state.get("run"), state.get("log")) if other and other != name and _is_log(other))
    return next((visible_runs().open(other, SCANS) for other in known), None)


def begun_here(run: Run) -> None:
    """To see what one has begun is not to open it."""
    st.session_state.setdefault("opened", set()).add(run.name)


def keep_while_here(name: str) -> None:
    """A run that is not kept stays while this session does."""
    # A run that a visitor has opened has one line in the audit log, for each session.
    opened = st.session_state.setdefault("opened", set())
    if name not in opened:
        opened.add(name)
        audit.note("run_opened", session.someone(), run=name)
    try:
        if name not in session.kept().get("held", ()) and not visible_runs().open(name).kept:
            hold(name)
    except RunError:
        return  # deleted meanwhile: the page that opens it says so


def current(more: Sequence[str] = ()) -> Run | None:
    """The scan a page shows, opened; RunError when the address names one that is gone, or of another kind.

    `more` are further kinds that the page can show.
    """
    name = st.query_params.get("run") or st.session_state.get("run")
    if not isinstance(name, str) or not name:
        return None
    run = visible_runs().open(name, (*SCANS, *more))
    if run.kind in SCANS:
        remember(name)
    else:
        keep_while_here(name)
    return run


def at_hand() -> Run | None:
    """The scan in sight; None without one, or where it is gone: the page that opens it says so."""
    try:
        return current()
    except (CoreError, OSError):
        return None


# ---- what one visitor may begin


def admit(more: int = 0) -> None:
    """CoreError where this visitor, or the server, has no room for one more run of so many bytes."""
    who = session.who()
    owned = {row["name"] for row in cache.all_runs() if row.get("owner") == who}
    jobs.admit(runs_root(), jobs.begun_by(who), owned, more)


def create(title: str, options: dict[str, Any], read: int, copied: int = 0, **facts: Any) -> Run:
    """A new run of this visitor, where there is room for it: so many bytes are read, and copied."""
    run = jobs.admitted(lambda: visible_runs().create(title, "console", options, **facts), admit, copied, read)
    mine(run)
    return run


def mine(run: Run) -> None:
    """From now on this run counts for this visitor."""
    jobs.mine(session.who(), run)


# ---- scans that are not kept


def wants_kept() -> bool:
    """Whether what is decoded here is kept; the address of the page says where it is not."""
    return st.query_params.get("keep") != "no"


def hold(name: str) -> None:
    """This session has a run that is not kept."""
    session.kept().setdefault("held", {})[name] = jobs.hold(name)


def shown() -> DownloadAccess:
    """What this page shows now: who may have its files, later."""
    page, state = st.session_state.get("address", ("home",))[0], st.session_state
    name = st.query_params.get("run") or state.get("run")
    if page == "compare":
        name = state.get("compare_run")
    elif page in ("home", "decode"):  # it may show another input than that of the latest scan
        name = getattr(state.get("decode"), "run", None)
    return DownloadAccess.to(visitor.current(), page, name)


def is_own(run: Run) -> bool:
    """Whether this visitor may change a run."""
    return may_change(visitor.current(), run.facts)


def in_sight(run: Run) -> bool:
    """Whether a run that a page has drawn is still there, and this visitor's to see."""
    try:
        return may_see(visitor.current(), run.facts)
    except RunError:
        return False


def cancel(name: str) -> None:
    """Stops a scan or a list of IDs of this visitor's own."""
    jobs.cancel(visible_runs().own(name))


@st.cache_resource(max_entries=1, show_spinner=False)
def _digests() -> dict[str, str]:
    return {}


def _own(digest: str) -> str:
    """Nobody gets another's scan for the same input."""
    return f"{visitor.current().name} {digest}"


def _known(digest: str) -> Run | None:
    name = _digests().get(_own(digest))
    try:
        run = None if name is None else visible_runs().open(name)
    except CoreError:
        _digests().pop(_own(digest), None)
        return None
    return run if run is not None and run.state in ("running", "done") else None


def scanned(sources: Sequence[Source], dated: Dating, case: Case) -> str | None:
    """The finished scan of this very input, if this server made it and keeps it."""
    run = _known(asked_of(sources, dated, case)[0]) if sources else None
    return run.name if run is not None and run.state == "done" else None


def begin(sources: Sequence[Source], dated: Dating, case: Case = "strict", **facts: Any) -> Run:
    """Copies the input into a new scan and starts it; the same input again gives the scan it had, if that is kept.

    `facts` (ids, lines, only) are what the scan is called by.
    """
    (digest, options), kept = asked_of(sources, dated, case), wants_kept()
    if kept and (known := _known(digest)) is not None:
        remember(known.name)
        return known
    title, size = facts.get("only") or ", ".join(options["sources"][:3]), sum(source.size for source in sources)
    run = create(title, options | facts, size, size, **({} if kept else NOT_KEPT))
    with run.removed_unless_begun():
        named = keep(run, sources)
    launch(run, list(named), dated, named, case)
    if not kept:
        return run
    if len(_digests()) >= OLD:
        _digests().clear()
    _digests()[_own(digest)] = run.name
    return run


def launch(
    run: Run,
    paths: list[str],
    dated: Dating,
    names: dict[str, str] | None = None,
    case: Case = "strict",
    store: str | None = None,
    subscriptions: Subscriptions | None = None,
) -> None:
    """Starts a scan in a thread of the server: of paths, or of a store folder, with the tags of topics and groups."""
    begun_here(run)
    caller = Caller(visitor.current, visitor.later(), session.someone(), Ground(configured_roots, runs_root))
    starting.begin(run, starting.Input(paths, names, case, store, subscriptions or {}), dated, caller)
    remember(run.name)
    cache.forget_runs()


def follow(run: Run, paths: list[str], dated: Dating, since: str | datetime) -> None:
    """Follows paths of the server in a thread of it, until it is stopped."""
    from idcore.spark.job import FollowOptions, ScanOptions

    ask, later = starting.asking(run, paths, None, configured_roots), visitor.later()
    with run.removed_unless_begun():
        options = FollowOptions(ScanOptions(dated.zone, dated.source, roots=ask(visitor.current())), since)
        jobs.follow(run, paths, options, session.someone(), lambda: ask(later()))
    begun_here(run)
    remember(run.name)
    cache.forget_runs()


def again(name: str) -> None:
    """Begins a failed or cancelled scan again; a folder of the server must still be allowed."""
    run = visible_runs().own(name)
    ask = starting.asking(run, (run.plan or {}).get("paths") or (), run.store, configured_roots)
    roots, later = ask(visitor.current()), visitor.later()
    admit()
    begun_here(run)
    jobs.again(run, roots, session.someone(), lambda: ask(later()))
    mine(run)
    remember(name)
    cache.forget_runs()


def go_on() -> None:
    """Follows on what an earlier server followed when it ended, with the roles that the owner of each has by name.

    Roles of groups are known with a log-in only: there the owner presses the button of the page. So they do where the
    folder of scans is shared: who may write in it may name any owner.
    """
    is_shared = private.is_shared(runs_root())
    for run, facts in Runs(runs_root()).with_facts():
        if is_kept(facts) and (facts.get("plan") or {}).get("follow") is not None:
            try:
                if is_shared and facts.get("owner") is not None:
                    LOG.warning("not followed on: the folder of scans is shared", extra={"run": run.name})
                elif run.is_left:
                    _go_on(run)
            except (CoreError, OSError) as refused:
                LOG.warning("not followed on: %s", coded(refused), extra={"run": run.name})
            except Exception:  # what is wrong with one must not stop the others, nor what the server does hourly
                LOG.exception("not followed on", extra={"run": run.name})


def _go_on(run: Run) -> None:
    owner = run.facts.get("owner")
    ask, later = starting.asking(run, run.planned["paths"], None, configured_roots), visitor.by_name(owner)
    jobs.again(run, ask(later()), audit.Actor(owner or audit.CONSOLE.user), lambda: ask(later()))
    jobs.mine(owner or audit.CONSOLE.user, run)


def roots_of(run: Run) -> Roots:
    """In which places the input of a run has to be, to be read once more now; as for a scan."""
    plan = run.plan or {}
    return places.roots_for(run.path, plan.get("paths", ()), run.store, visitor.current(), configured_roots())


def allowed_roots() -> list[Path | str]:
    """Folders of the server and URIs of stores that this visitor may scan; none by default."""
    return configured_roots() if visitor.current().may("folders") else []


def allowed_folders() -> list[Path]:
    """The folders among them."""
    return [root for root in allowed_roots() if isinstance(root, Path)]


def stores_to_open() -> list[str]:
    """Store folders that are found in the places of this visitor."""
    return places.stores_below(allowed_roots())


def configured_roots() -> list[Path | str]:
    """Folders of the server and URIs of stores that the administrator opens for those who may scan them."""
    return places.roots_of(_configured())


def check_places() -> None:
    """CoreError names an entry of them that has a secret, without it, or with a log-in what is not everybody's."""
    places.check(_configured())
    if visitor.entrance().mode != "open":
        told = settings.current()
        own = {"runs": runs_root(), "audit_log": audit.path()}
        own |= {"clusters": told.clusters, "kafka_properties": told.kafka_properties}  # they have keys
        named = {settings.name_of(name): path for name, path in own.items()}
        # What others upload is unpacked there, and what they compare is copied there.
        places.check_apart(configured_roots(), {**named, "TMPDIR": Path(temporary.own())})
        for path in filter(os.path.exists, st.get_option("secrets.files")):
            places.check_apart(configured_roots(), {"secrets.files": Path(path)})


def guard() -> Roots:
    """The places of this visitor, for what opens files in them."""
    return places.guard_of(allowed_roots())


def shown_roots() -> list[str]:
    """The places of this visitor for people."""
    return places.shown(allowed_roots())


def _configured() -> str | Sequence[str]:
    configured: str | Sequence[str] = settings.current().allowed_paths
    if not configured:
        with suppress(FileNotFoundError, st.errors.StreamlitAPIException):
            configured = st.secrets.get("allowed_paths", "")
    return configured


def allowed(path: str) -> Path | str:
    """A path or URI inside what the administrator opens; PermissionError otherwise, also where nothing is."""
    return places.inside(path, allowed_roots())


def store_in(path: Path) -> str | None:
    """An allowed folder, where it is a broker's store; PermissionError where a file of it is not allowed."""
    return places.store_in(path, allowed_roots())

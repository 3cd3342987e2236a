"""Operations on scans: begin one, watch it, stop it, its findings and their lines. The work is that of the pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

from idcore.base.catalogue import Words, upper
from idcore.base.errors import refuse
from idcore.base.open_folders import Roots
from idcore.ids.identify import case_of
from idcore.intake import allowed as places
from idcore.intake.intake import PASTED, Source, asked_of, keep
from idcore.operations.model import (
    AT,
    CASE,
    CERTAINTY,
    DISPROOF,
    EVIDENCE,
    LANG,
    LOOKALIKES,
    RUN,
    ZONE,
    Argument,
    CallArguments,
    Caller,
    Field,
    Operation,
    Result,
)
from idcore.operations.starting import Input, begin
from idcore.operations.texts import TEXT
from idcore.policy import limits
from idcore.presentation.reader import Reader
from idcore.presentation.triage import (
    find_anything,
    finding_rows,
    finding_texts,
    host_rows,
    line_filter,
    run_notes,
    run_rows,
    run_tables,
)
from idcore.presentation.triage import lines as line_texts
from idcore.presentation.triage.find_anything import Known
from idcore.runs.background_run import BackgroundRun
from idcore.runs.run_facts import UNENDED
from idcore.runs.runs import SCANS, Run
from idcore.scan.occurrences.index import Allowed, Index, Occurrence
from idcore.server import jobs

MOMENT = 0.25  # seconds after which who waits is asked whether they are still there
WAITS = 20  # seconds at most for a scan that is asked for with `wait`, and for the index of its lines
_STATE = Field("state", "string", "new, running, done, failed or cancelled")
_RUN = Field("run", "string", "the name of the scan")


def _start(asked: CallArguments, caller: Caller) -> Result:
    given = [name for name in ("text", "path", "store") if asked[name]]
    if len(given) != 1:
        raise refuse("argument_one_of", names="text, path, store")
    if not jobs.ready():
        raise refuse("no_scans")
    dating, case = asked.dating(caller.ground), case_of(asked["case"], asked["lookalikes"])
    if given[0] == "text":
        sources = [Source(PASTED, asked["text"].encode())]
        options, size = asked_of(sources, dating, case)[1], sources[0].size
        run = _made(caller, PASTED, options, size, size)
        with run.removed_unless_begun():
            named = keep(run, sources)
        begin(run, Input(list(named), named, case), dating, caller)
    else:
        real = caller.inside(asked[given[0]])
        store = _store(caller, real) if given[0] == "store" else None
        contents = places.contents(str(real), store, caller.guard)
        if not contents.files:
            raise refuse("no_file_there", path=asked[given[0]])
        options = dating.options | {"contents": contents.digest}
        run = _made(caller, asked[given[0]], options, contents.bytes)
        paths = [] if store else [str(real)]
        begin(run, Input(paths, None, case, store), dating, caller)
    jobs.mine(caller.counted, run)
    return _watched(run, asked, caller)


def _store(caller: Caller, real: Path | str) -> str:
    store = places.store_in(real, caller.roots) if isinstance(real, Path) else None
    if store is None:
        raise refuse("no_store", folder=str(real))
    return store


def _made(caller: Caller, title: str, options: dict[str, Any], read: int, copied: int = 0) -> Run:
    """A new scan of this caller, where there is room for one more."""
    root, name = caller.ground.runs(), caller.counted

    def ask(more: int) -> None:
        owned = {run.name for run, facts in caller.runs.with_facts() if facts.get("owner") == name}
        jobs.admit(root, jobs.begun_by(name), owned, more)

    return jobs.admitted(lambda: caller.runs.create(title, "api", options), ask, copied, read)


def _watched(run: Run, asked: CallArguments, caller: Caller) -> Result:
    """How far a scan is, after so many seconds of waiting at the most."""
    if (job := jobs.of(run)) is not None and asked["wait"]:
        _wait(partial(_ended, job), asked["wait"], caller)
    facts = run_rows.row_of(run)
    now: dict[str, Any] = {}
    if job is not None and facts["state"] in UNENDED:
        progress: Any = job.progress()
        now = {name: getattr(progress, name) for name in ("bytes_done", "bytes_total", "ids", "seconds_left", "place")}
    item = {
        "run": run.name,
        "state": facts["state"],
        "progress": now or None,
        "problem": _problem(facts, asked.words) if facts["state"] == "failed" else None,
        "summary": facts["summary"],
        "certainty": "certain" if facts["state"] == "done" else "possible",
        "disproof": asked.words("wrong_if.scan"),
    }
    return Result([item])


def _ended(job: BackgroundRun[Any], seconds: float) -> bool:
    job.wait(seconds)
    return job.ended


def _wait(ends: Callable[[float], bool], seconds: float, caller: Caller) -> bool:
    """Whether something has ended, after so many seconds at the most. `ends` waits for it itself."""
    until = time.monotonic() + seconds
    while not (ended := ends(max(0.0, min(MOMENT, until - time.monotonic())))) and time.monotonic() < until:
        caller.go_on()
    return ended


def _problem(facts: Mapping[str, Any], words: Words) -> str:
    """Why a scan failed. Of a server that was killed in the middle nobody wrote it down."""
    return words.error(facts["error"]) if facts["error"] else upper(words("scan.gone")) + words("stop")


def _scan(asked: CallArguments, caller: Caller) -> Result:
    return _watched(caller.runs.open(asked["run"]), asked, caller)


def _cancel(asked: CallArguments, caller: Caller) -> Result:
    run = caller.runs.own(asked["run"])
    if jobs.of(run) is None and run.state in UNENDED:  # its state would stay, and nothing would say why
        raise refuse("scan_elsewhere", name=run.name)
    jobs.cancel(run)
    return _watched(run, asked, caller)


def _scans(asked: CallArguments, caller: Caller) -> Result:
    return Result(_listed(asked, caller))


def _listed(asked: CallArguments, caller: Caller) -> Iterator[dict[str, Any]]:
    for row in run_rows.rows_of(caller.runs.list()):
        if asked["state"] and row["state"] != asked["state"]:
            continue
        summary = row["summary"] or {}
        yield {
            "run": row["name"],
            "title": row["options"].get("named") or row["title"],
            "kind": row["kind"],
            "state": row["state"],
            "created": row["created"].isoformat(),
            "shared": row["shared"],
            "ids": summary.get("ids"),
            "findings": summary.get("findings"),
            "certainty": "certain",
            "disproof": asked.words("wrong_if.scan"),
        }


def finished(asked: CallArguments, caller: Caller) -> Run:
    """The scan of a call; CoreError where it is none, or has not finished."""
    run = caller.runs.open(asked["run"], SCANS)
    if run.state != "done":
        raise refuse("scan_unfinished", name=run.name, state=run.state)
    return run


def _findings(asked: CallArguments, caller: Caller) -> Result:
    run = finished(asked, caller)
    if not run.has("findings"):
        finished(asked, caller)  # it says so if the run was deleted meanwhile
        raise refuse("no_table", name=run.name, table="findings")
    findings = run_tables.frame(run, "findings", cut=False)
    chosen = finding_rows.select(findings, asked["severity"], asked["code"]) if not findings.empty else findings
    said = finding_texts.findings_sentence(findings, run.summary or {}, asked.words)
    unknown = run_notes.unknown_findings(run, asked.words)
    said = " ".join(filter(None, (said + host_rows.changes_in(run, Reader(asked.words, UTC)), unknown)))
    head = {"said": said.replace("**", "")}
    lang = asked.words.lang
    items = (
        finding_texts.item_of(int(number), row, lang)
        for number, row in zip(chosen.index, chosen.to_dict("records"), strict=True)
    )
    return Result(items, head, len(chosen))


def allowed_for(run: Run, caller: Caller) -> Allowed:
    """Asked before a file is opened: what a run has itself, and what is still open, may be read. Ends with its call."""

    def allowed(path: str) -> Roots:
        caller.go_on()
        if places.is_copy(run.path, path):
            return places.own_of(run.path)
        places.inside(path, caller.roots)
        return caller.guard

    return allowed


def lines_index(run: Run, caller: Caller) -> Index:
    """The index of a scan's lines, made where there is none yet; CoreError where it cannot be made, or not so soon."""
    folder = run.path / "occurrences"
    if (index := Index.open(folder)) is not None and not jobs.lines_are_old(run):
        return index
    plan = run.plan or {}
    roots = places.roots_for(run.path, plan.get("paths", ()), run.store, caller.visitor, caller.ground.roots())
    going = jobs.locating(run, roots)
    if going is None:
        raise refuse("no_scans")
    if not _wait(going.wait, WAITS, caller):
        raise refuse("lines_later")
    if going.problem is not None:
        raise going.problem.without_stack()  # each who asks would add the own stack to it
    if (index := Index.open(folder)) is None:
        raise refuse("lines_later")
    return index


def _lines(asked: CallArguments, caller: Caller) -> Result:
    run = finished(asked, caller)
    index, allowed = lines_index(run, caller), allowed_for(run, caller)
    given: dict[str, str] = {}
    if asked["finding"] is not None:
        given["finding"] = str(asked["finding"])
    for name in ("find", "ids", "host", "broker", "process", "from", "to"):
        if asked[name]:
            given[name] = asked[name]
    chosen = index.select(line_filter.filter_of(line_filter.asked(given), run, index), "line", allowed)

    def assumed(page: Sequence[Occurrence]) -> dict[str, tuple[str, ...]]:
        return line_texts.assumed_of(page, lambda hosts: run_tables.where(run, "processes", {"host": hosts}))

    rows = line_texts.taken(index, chosen.rows, allowed, assumed)
    items = (row | {"certainty": "certain", "disproof": asked.words("wrong_if.line")} for row in rows)
    return Result(items, {"lines": len(chosen)}, min(len(chosen), limits.figure("download_rows")))


def _find(asked: CallArguments, caller: Caller) -> Result:
    run = finished(asked, caller) if asked["run"] else None
    words, known = asked.words, Known({})
    runs = {row["name"]: str(row["title"]) for row in run_rows.rows_of(caller.runs.list())[:1_000]}
    if run is not None:
        tables = {
            name: run_tables.frame(run, name, run_tables.is_large(name, run_tables.rows(run, name)))
            for name in find_anything.TABLES
        }
        names = find_anything.finding_names(run_tables.frame(run, "findings", cut=False), words)
        known = Known({}, runs, run.name, **tables, findings=names)
    else:
        known = Known({}, runs)
    groups = find_anything.search(asked["text"], known)
    items = [
        {
            "kind": group.code,
            "name": hit.name,
            "page": hit.page,
            "parameters": dict(hit.params),
            "ids": hit.ids,
            "certainty": "certain",
            "disproof": words("wrong_if.line"),
        }
        for group in groups
        for hit in group.hits
    ]
    return Result(items)


_WAIT = Argument("wait", "number", "seconds to wait for its end", most=WAITS, default=0)
_WATCHED = (
    _RUN,
    _STATE,
    Field(
        "progress", ("object", "null"), "while it runs: bytes_done, bytes_total, ids, seconds_left, place in the queue"
    ),
    Field("problem", ("string", "null"), "why it failed"),
    Field("summary", ("object", "null"), "its figures, as summary.json has them; null before its end"),
    CERTAINTY,
    DISPROOF,
)
_SEVERITIES = ("error", "warning", "info")
# fmt: off
OPERATIONS = (
    Operation(
        "start_scan",
        "Begins a scan of a text, of a path of the server that is open, or of a broker's store folder.",
        (
            Argument("text", "text", TEXT.meaning, most=TEXT.most),
            Argument("path", "text", "or a file or folder that is open", most=4_096),
            Argument("store", "text", "or a store folder that is open: its records are read", most=4_096),
            ZONE, AT, CASE, LOOKALIKES, _WAIT, LANG,
        ),
        "decode", _start, _WATCHED, begins=True,
    ),
    Operation("scan", "Shows how far a scan is, then its summary.", (RUN, _WAIT, LANG), "decode", _scan, _WATCHED),
    Operation(
        "cancel_scan", "Stops a scan of one's own.", (RUN, _WAIT, LANG), "decode", _cancel, _WATCHED, begins=True
    ),
    Operation(
        "scans",
        "Lists the scans that the caller may see, the newest first.",
        (Argument("state", "text", "only those in this state", choices=run_rows.STATES), LANG),
        "decode",
        _scans,
        (
            _RUN, Field("title", "string", "what was scanned"),
            Field("kind", "string", "text, store, compare or fates"),
            _STATE, Field("created", "string", "when it was begun"), Field("shared", "string", "who else may open it"),
            Field("ids", ("integer", "null"), "IDs in its input"),
            Field("findings", ("object", "null"), "findings by severity"),
            CERTAINTY, DISPROOF,
        ),
    ),
    Operation(
        "findings",
        "Lists what a finished scan found, the worst first: meaning, evidence, advice, certainty, disproof.",
        (
            RUN,
            Argument("severity", "text", "only of this severity", choices=_SEVERITIES),
            Argument("code", "text", "only of this code, such as missing_ids", most=60),
            LANG,
        ),
        "decode",
        _findings,
        (
            Field("finding", "integer", "its number, for finding_lines"), Field("code", "string", "what kind it is"),
            Field("severity", "string", "error, warning or info"), Field("subject", "string", "whom it is about"),
            Field("count", "integer", "how many"), Field("meaning", "string", "what is wrong"),
            Field("number", "integer", "how many findings this row is: one, or those that are not listed"),
            Field("assumed", "array", "what of its times nothing proves: month, zone"),
            Field("advice", "string", "what to do"), Field("first_sent_at", ("string", "null"), "from when"),
            Field("last_sent_at", ("string", "null"), "until when"), EVIDENCE, CERTAINTY, DISPROOF,
        ),
        (Field("said", "string", "all of it in a sentence"),),
        command="scan",
    ),
    Operation(
        "finding_lines",
        "Gives the log lines of a finding, or those with an ID, a host, a process or a text.",
        (
            RUN,
            Argument("finding", "number", "the number of a finding", most=1 << 31),
            Argument("find", "text", "a text or an ID that the lines contain"),
            Argument("ids", "text", "IDs, separated by commas", most=10_000),
            Argument("host", "text", "of this host"),
            Argument("broker", "text", "of this broker, as host:port"),
            Argument("process", "text", "of this process, as host~pid~loader"),
            Argument("from", "text", "sent at this time or later, in ISO 8601", most=40),
            Argument("to", "text", "sent before this time, in ISO 8601", most=40),
            LANG,
        ),
        "decode",
        _lines,
        (
            Field("file", "string", "the file"), Field("line", ("integer", "null"), "its line, from 1"),
            Field("byte", "integer", "where the ID begins in the unpacked file, in bytes"),
            Field("id", "string", "the ID"), Field("kind", "string", "uniq, client or offset"),
            Field("sent_at", ("string", "null"), "when it was generated, in UTC"),
            Field("assumed", ("string", "null"), "what of that time nothing proves: month, zone"),
            Field("host", ("string", "null"), "the producer's address"), Field("pid", (), "its process ID"),
            Field("loader", ("string", "null"), "the hash of its class loader"),
            Field("mac", ("string", "null"), "the MAC address of a 5.x client"),
            Field("address", ("string", "null"), "the broker's address"), Field("text", ("string", "null"), "the line"),
            CERTAINTY, DISPROOF,
        ),
        (Field("lines", "integer", "how many there are"),),
    ),
    Operation(
        "find",
        "Finds an ID, host, process, broker, finding or scan by what somebody typed.",
        (
            Argument("text", "text", "what to look for", required=True, least=1, most=500),
            Argument("run", "text", "a scan whose tables are searched too", most=60),
            LANG,
        ),
        "decode",
        _find,
        (
            Field("kind", "string", "id, process, host, broker, finding or run"),
            Field("name", "string", "what it is called"), Field("page", "string", "the page that shows it"),
            Field("parameters", "object", "and those of its address"),
            Field("ids", ("integer", "null"), "how many IDs it has"), CERTAINTY, DISPROOF,
        ),
    ),
)
# fmt: on

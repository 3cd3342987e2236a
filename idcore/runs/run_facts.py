"""What the files of a run hold: each field of its kind, or the run is damaged. Reads no file.

No field is trusted: who can write one file of one run must not stop the pages of everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from idcore.base.errors import CoreError, from_coded
from idcore.base.plain_json import MOST_NUMBER

TEXT, STORE, COMPARE, FATES = KINDS = ("text", "store", "compare", "fates")
UNENDED = ("new", "running")
STATES = (*UNENDED, "done", "failed", "cancelled")
PRIVATE, LINK, EVERYBODY = SHARED = ("private", "link", "everybody")
MOST_TITLE = 20_000  # characters
YEARS = range(1990, 2200)  # outside, a zone or a number of days leads out of the calendar

Check = Callable[[Any], bool]


# ---- of which kind a value is; what older versions lack may be missing, and null where it is no figure


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST_NUMBER


def _day(value: Any) -> bool:
    """A date and time whose zone is known: without one it has no order."""
    try:
        day = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return day.tzinfo is not None and day.year in YEARS


def _moment(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).year in YEARS
    except (TypeError, ValueError):
        return False


def _path(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _one_of(*values: str) -> Check:
    return lambda value: isinstance(value, str) and value in values


def _all(check: Check, count: int | None = None) -> Check:
    return lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(check, value))


def _each(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _table(checks: Mapping[str, Check], needed: tuple[str, ...] = ()) -> Check:
    """An object with these fields, the `needed` ones at least; nothing else in it is looked at."""

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or not all(value.get(name) is not None for name in needed):
            return False
        there = ((check, value[name]) for name, check in checks.items() if name in value)
        return all(check(each) if each is not None else check not in (_count, _figure) for check, each in there)

    return fits


_ERROR = _table({"code": _text, "values": _each(lambda _: True)}, ("code",))


def _problem_of(value: Any) -> bool:
    """The name of an input, and why it was not read."""
    return _all(lambda _: True, 2)(value) and _text(value[0]) and (not value[1] or _ERROR(value[1]))


_OPTIONS = _table(
    {
        **dict.fromkeys(("zone", "zone_source", "case", "named", "contents"), _text),
        **dict.fromkeys(("only", "digest", "cluster", "topic"), _text),
        **dict.fromkeys(("ids", "lines", "asked_ids"), _count),
        "at": _moment,
        "sources": _all(_text),
        "same": _all(_all(_text)),
        "sides": _all(_all(_text), 2),
        "of": _all(_or_none(_text), 2),
        "copied": _all(_count, 2),
    }
)
_PLAN = _table(
    {
        **dict.fromkeys(("zone", "zone_source", "case", "subscriptions"), _text),
        "store": _path,
        "at": _moment,
        "split_size": _or_none(_count),
        "paths": _all(_path),
        "names": _each(_text),
    }
)
_FACTS = _table(
    {
        "title": lambda value: _text(value) and len(value) <= MOST_TITLE,
        "created": _day,
        "state": _one_of(*STATES),
        "shared": _one_of(*SHARED),
        "kind": _one_of(*KINDS),
        "pid": lambda value: _count(value) and 0 < value < 1 << 31,
        "error": lambda value: _text(value) or not value or _ERROR(value),
        "options": _OPTIONS,
        "plan": _PLAN,
        **dict.fromkeys(("source", "owner", "started", "lease"), _text),
        **dict.fromkeys(("pinned", "kept"), lambda value: isinstance(value, bool)),
    },
    ("title", "source", "created", "options", "state", "pid"),
)
# What became of each ID of a list of fates; the last is of those that nobody was asked about.
OUTCOMES = ("judged", "no_verdict", "no_group", "no_record", "not_found", "not_asked")
_FIGURES: tuple[str, ...] = (
    "files",
    "failed_files",
    "text_bytes",
    "ids",
    "distinct",
    "uniq",
    "offset",
    "refused",
    "lookalikes",
    "trace_ids",
    "processes",
    "hosts",
    "clients",
)
_FIGURES += ("brokers", "segments", "traces_left_out", "groups_left_out", "only_first", "only_second", *OUTCOMES)
_FIGURES += ("found", "records", "repeated", "groups", "undelivered", "doubles")
_SUMMARY = {
    **dict.fromkeys(_FIGURES, _count),
    **dict.fromkeys(("seconds", "start_seconds", "bin_seconds"), _figure),
    **dict.fromkeys(("snapshot", "snapshot_end"), _day),
    **dict.fromkeys(("cluster", "topic"), _text),
    "assumed": _table({"zone": _text, "zone_source": _text, "case": _text, "at": _moment}),
    "zone_sources": _each(_count),
    "deliveries_sampled": _each(_count),
    "broker_names": _each(_text),
    "versions": _each(_text),
    "cut": _each(_count),
    "problem": _ERROR,
    "problems": _all(_problem_of),
    "evidence": _all(_table({"code": _text, "values": _each(lambda _: True)}, ("code", "values"))),
}
_OF_SCANS = ("files", "text_bytes", "ids", "refused", "seconds")
_NEEDED = {
    COMPARE: ("text_bytes", "only_first", "only_second"),
    FATES: ("ids", "seconds", "doubles", "repeated", "cut", *OUTCOMES),
}
_SUMMARIES = {kind: _table(_SUMMARY, _NEEDED.get(kind, _OF_SCANS)) for kind in KINDS}


def is_whole(facts: Any) -> bool:
    """Whether these are the facts of a run: one whose run.json was lost, cut or changed is damaged."""
    if not (_FACTS(facts) and "error" in facts):
        return False
    options = facts["options"]
    return not options.get("asked_ids") or options.get("cluster") is not None


def is_summary(summary: Any, kind: str) -> bool:
    """Whether these are the figures of a finished run of this kind."""
    return _SUMMARIES[kind](summary)


def kind_of(facts: Mapping[str, Any]) -> str:
    """The kind that run.json gives; scans of older versions show it by their plan."""
    return str(facts.get("kind") or (STORE if (facts.get("plan") or {}).get("store") else TEXT))


def error_of(facts: Mapping[str, Any]) -> CoreError | None:
    """Why a run failed; scans of older versions contain a sentence. What its words do not fit is a code."""
    held = facts["error"]
    if not held or isinstance(held, str):
        return CoreError("said", {"why": held}) if held else None
    error = from_coded(held)
    try:
        assert error is not None
        error.problem  # noqa: B018  it is said once: values may be missing, or of a kind that has no such form
    except (KeyError, ValueError, TypeError, AttributeError, IndexError):
        return CoreError("said", {"why": held["code"]})
    return error

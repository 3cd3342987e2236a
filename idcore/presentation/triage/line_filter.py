"""Which lines of a run are wanted: from the parameters of an address to a filter of its index. Reads no text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from idcore.answers.findings.evidence import FindingEvidence
from idcore.base.errors import refuse
from idcore.base.numbers import whole_number
from idcore.ids import rules
from idcore.ids.clock import parse_instant
from idcore.presentation.triage.finding_rows import evidence_of
from idcore.presentation.triage.processes import PID_DIGITS
from idcore.presentation.triage.run_tables import finding
from idcore.runs.runs import Run
from idcore.scan.occurrences.index import KINDS, Filter, Index
from idcore.scan.occurrences.key_words import words_of

# In the order in which a page names them.
NAMES = (
    *("finding", "kind", "host", "process", "client", "broker", "topic"),
    *("segment", "file", "ids", "find", "from", "to"),
)
ORDERS = ("line", "time", "-time")
MOST_IDS = 1_000
_ID = re.compile(rules.CANDIDATE)
_SEPARATORS = re.compile(r"[,\s]+")


def asked(params: Mapping[str, str]) -> dict[str, str]:
    """The filters that an address contains, without empty ones, in their order."""
    return {name: params[name].strip() for name in NAMES if params.get(name, "").strip()}


def filter_of(given: Mapping[str, str], run: Run, index: Index) -> Filter:
    """The filter that these parameters mean; CoreError names the parameter that means none."""
    wanted: dict[str, Any] = {name: given[name] for name in ("host", "broker", "topic", "file") if name in given}
    if "kind" in given:
        text = given["kind"]
        if text not in KINDS:
            raise refuse("link_value", "kind", None, text, name="kind", given=text)
        wanted["kind"] = text
    for name, least in (("process", 3), ("client", 2)):
        if name in given:
            wanted[name] = _parts(given[name], least, name)
    if "segment" in given:
        if not given["segment"].isdecimal():
            raise refuse("link_value", "segment", None, given["segment"], name="segment", given=given["segment"])
        wanted["segment"] = given["segment"]
    ids = [*_ids(given.get("ids", ""))]
    if "finding" in given:
        ids += ids_of_finding(run, given["finding"])
    if "find" in given:
        ids += _sought(given["find"], index, wanted)
    if ids:
        wanted["ids"] = tuple(dict.fromkeys(ids))
    for name, field in (("from", "start"), ("to", "stop")):
        if name in given:
            wanted[field] = round(parse_instant(given[name].replace(" ", "+")).timestamp() * 1000)
    if "start" in wanted and "stop" in wanted and wanted["start"] >= wanted["stop"]:
        raise refuse("range_reversed", "from", None, given["from"], start=given["from"], stop=given["to"])
    return Filter(**wanted)


def _sought(text: str, index: Index, wanted: dict[str, Any]) -> list[str]:
    """What a reader typed: ids, else a host or broker of this run, else text of its lines."""
    if all(_ID.fullmatch(word) for word in _SEPARATORS.split(text)):
        return list(_ids(text))
    if "host" not in wanted and (index.has("host", text) or index.has("mac", text)):
        wanted["host"] = text
    elif "broker" not in wanted and index.has("address", text):
        wanted["broker"] = text
    else:
        wanted["text"] = text
    return []


def ids_of_finding(run: Run, number: str) -> list[str]:
    """The ids that prove a finding, by its row in the table `findings`."""
    if (row := finding(run, number)) is None:
        raise refuse("link_value", "finding", None, number, name="finding", given=number)
    ids = ids_of(evidence_of(row))
    if not ids:
        raise refuse("finding_no_ids", "finding", None, number)
    return ids


def ids_of(evidence: FindingEvidence) -> list[str]:
    """The ids in the evidence, each once."""
    named = [
        *evidence.ids,
        *evidence.after_ids,
        *(text for text in evidence.offset_msg_ids if isinstance(text, str)),
        evidence.gap_after,
        evidence.gap_before,
    ]
    texts = dict.fromkeys(str(text).upper() for text in named if text and _ID.fullmatch(str(text)))
    return list(texts)[:MOST_IDS]


def _ids(text: str) -> Iterator[str]:
    words = [word for word in _SEPARATORS.split(text) if word]
    if len(words) > MOST_IDS:
        raise refuse("link_ids", "ids", None, None, most=MOST_IDS, n=len(words))
    for word in words:
        list(words_of(word))  # says what is not hex
        if not _ID.fullmatch(word):
            raise refuse("link_value", "ids", None, word, name="ids", given=word)
        yield word


def _parts(text: str, least: int, name: str) -> tuple[str, ...]:
    parts = tuple(text.split("~"))
    if len(parts) < least or whole_number(parts[1], PID_DIGITS) is None:
        raise refuse("link_value", name, None, text, name=name, given=text)
    return parts


def pick(**filters: str) -> str:
    """The filters of lines that a click on a mark asks for, as one text."""
    return urlencode(filters)


def picked(text: str) -> dict[str, str]:
    """The same back from the text."""
    return dict(parse_qsl(text))


def clicked(state: Any) -> list[str]:
    """What the marks that are picked in a chart ask for."""
    values = [point.get("customdata") for point in (state or {}).get("selection", {}).get("points", [])]
    return [str((value[0] if value else "") if isinstance(value, list | tuple) else value or "") for value in values]


def last_clicked(state: Any) -> dict[str, str]:
    """The filters of the mark that was clicked last; nothing where none was, or where a box was drawn."""
    points = [] if (state or {}).get("selection", {}).get("box") else clicked(state)
    return picked(points[-1]) if points else {}

"""Answers of a look-up as the tables `fates`, `undelivered` and `asked_ids`, and their summary. Asks nobody."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import pyarrow as pa

import idcore
from idcore.answers.fate.levels import UNDELIVERED
from idcore.answers.fate.places import queue_of
from idcore.answers.lookup import NO_VERDICT, Answer
from idcore.answers.lookup.copies import is_special
from idcore.base.errors import CoreError, refuse
from idcore.base.safe_text import size
from idcore.ids.clock import MINUTE_MS, from_ms, is_time
from idcore.rocketmq.message import Record
from idcore.runs.run_facts import OUTCOMES
from idcore.runs.runs import write_tables, write_text
from idcore.scan.schemas import OF_LISTS

# Bytes of all rows in memory. A list of 5,000 IDs with 200 groups each takes 0.8 GB; a stranger's broker has eight
# records of each ID, in queues and minutes of their own.
MOST_HELD = 1 << 30
_OF_CELL = 700  # bytes in memory of a queue, minute and group
# Evidence that something is not among the verdicts, and evidence that somebody was silent.
_CUT = ("groups_incomplete", "groups_left_out", "records_left_out", "topics_left_out")
_SILENCE = frozenset({"groups_incomplete", "no_answer", "error_answer", "denied"})
_Row = dict[str, Any]
_Queue = tuple[str, int, int]  # topic, number, and the offset there


class Tally:
    """What was answered so far. A record that two IDs lead to counts once."""

    def __init__(self, ids: Sequence[str], begun_ms: int) -> None:
        self.ids = ids
        self.begun_ms = self.ended_ms = begun_ms
        self.seconds = 0.0
        self.problem: CoreError | None = None
        self.found = 0  # IDs with any record
        self.repeated = 0
        self.groups: set[str] = set()
        self.cut: Counter[str] = Counter()
        self._of_id: dict[str, _Row] = {}
        self._seen: set[tuple[str, str]] = set()  # records: broker and offsetMsgId
        self._records: dict[tuple[str, str, _Queue], int] = {}  # in each queue by which they were judged
        self._cells: dict[tuple[Any, ...], _Row] = {}
        self._undelivered: list[_Row] = []
        self._left = MOST_HELD

    @property
    def asked(self) -> int:
        """How many IDs have an answer."""
        return len(self._of_id)

    @property
    def undelivered(self) -> int:
        """How many messages a group has not consumed."""
        return len(self._undelivered)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many IDs came to what."""
        counts = Counter(row["outcome"] for row in self._of_id.values())
        return {name: counts[name] for name in OUTCOMES[:-1]} | {"not_asked": len(self.ids) - self.asked}

    def take(self, answer: Answer, brokers: Mapping[str, str]) -> None:
        """One answer with its verdicts; `brokers` has the name of the broker at each address.

        CoreError where there is no room for it: what was taken before stays.
        """
        consumable = (copy for copy in answer.copies if copy.relation != "trace" and not is_special(copy.record.topic))
        homes = {str(copy.record.offset_id): copy for copy in consumable}
        verdicts: dict[tuple[str, _Queue], dict[str, str]] = {}
        for verdict in answer.fate or ():
            record = homes[verdict.record].record
            queue = queue_of(verdict) or (record.topic, record.queue_id, record.queue_offset)
            verdicts.setdefault((verdict.record, queue), {})[verdict.group] = verdict.code
        self.cut.update({item.code for item in answer.evidence} & set(_CUT))
        missed = 0
        named = {(brokers.get(homes[name].broker, homes[name].broker), name) for name, _ in verdicts}
        self.repeated += len(named & self._seen)
        self._seen |= named
        for (name, queue), of_groups in verdicts.items():
            copy = homes[name]
            place = (brokers.get(copy.broker, copy.broker), name, queue)
            missed = max(missed, self._judged(place, copy.record, of_groups))
        outcome, reason = _outcome(answer, bool(homes))
        topics = dict.fromkeys(copy.record.topic for copy in homes.values())
        self.found += answer.found
        self._of_id[answer.id] = {
            "id": answer.id,
            "outcome": outcome,
            "reason": reason,
            "topic": next(iter(topics), None),
            "records": len(homes),
            "groups": missed,
        }

    def _judged(self, place: tuple[str, str, _Queue], record: Record, verdicts: Mapping[str, str]) -> int:
        """Counts a record in a queue, once; gives how many groups have not consumed it."""
        if place in self._records:
            return self._records[place]
        (topic, number, offset), broker = place[2], place[0]
        stored = record.store_timestamp if is_time(record.store_timestamp) else None
        minute = None if stored is None else stored // MINUTE_MS * MINUTE_MS
        self.groups |= verdicts.keys()
        missed = {group: verdict for group, verdict in sorted(verdicts.items()) if verdict in UNDELIVERED}
        listed = json.dumps(missed, ensure_ascii=False)
        keys = [(topic, number, group, minute, verdict, broker) for group, verdict in verdicts.items()]
        self._left -= len(listed) + sum(_OF_CELL + len(key[2]) for key in keys if key not in self._cells)
        if self._left < 0:
            raise refuse("answers_large", most=size(MOST_HELD))
        for key in keys:
            cell = self._cells.setdefault(key, {"offsets": [], "times": []})
            cell["offsets"].append(offset)
            cell["times"] += [] if stored is None else [stored]
            cell["bytes"] = cell.get("bytes", 0) + record.size
        if missed:
            self._undelivered.append(
                {
                    "topic": topic,
                    "queue_id": number,
                    "queue_offset": offset,
                    "commit_log_offset": record.physical_offset,
                    "bytes": record.size,
                    "store_timestamp": _time(stored),
                    "msg_id": record.uniq_id,
                    "groups": len(missed),
                    "verdicts": listed,
                    "broker": broker,
                }
            )
        self._records[place] = len(missed)
        return len(missed)

    def end(self, now_ms: int, seconds: float) -> None:
        """Called after the last answer."""
        self.ended_ms, self.seconds = now_ms, seconds

    # ---- what it came to

    def tables(self) -> dict[str, pa.Table]:
        """The tables, in the order that those of a store have."""
        fates = []
        for (topic, queue, group, minute, verdict, broker), cell in self._cells.items():
            offsets, times = cell["offsets"], cell["times"]
            fates.append(
                {
                    "topic": topic,
                    "queue_id": queue,
                    "group": group,
                    "minute": _time(minute),
                    "verdict": verdict,
                    "messages": len(offsets),
                    "bytes": cell["bytes"],
                    "first_queue_offset": min(offsets),
                    "last_queue_offset": max(offsets),
                    "first_store_timestamp": _time(min(times, default=None)),
                    "last_store_timestamp": _time(max(times, default=None)),
                    "broker": broker,
                }
            )
        unasked = {"outcome": "not_asked", "records": 0, "groups": 0}
        rows = {
            "fates": fates,
            "undelivered": self._undelivered,
            "asked_ids": [self._of_id.get(text, unasked | {"id": text}) for text in self.ids],
        }
        tables = {name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in OF_LISTS.items()}
        return tables | {
            name: tables[name].sort_by([(each, "ascending") for each in by]) for name, by in _ORDER.items()
        }

    def summary(self) -> dict[str, Any]:
        """The figures. The verdicts are of the time from `snapshot` to `snapshot_end`."""
        return {
            "ids": len(self.ids),
            **self.outcomes,
            "found": self.found,
            "records": len(self._seen),
            "repeated": self.repeated,
            "groups": len(self.groups),
            "undelivered": self.undelivered,
            "cut": dict(sorted(self.cut.items())),
            "problem": self.problem and self.problem.coded(),
            "snapshot": _iso(self.begun_ms),
            "snapshot_end": _iso(self.ended_ms),
            "seconds": round(self.seconds, 3),
            "versions": {"idcore": idcore.__version__, "python": platform.python_version(), "pyarrow": pa.__version__},
        }


_ORDER = {
    "fates": ("topic", "broker", "queue_id", "group", "minute", "verdict"),
    "undelivered": ("commit_log_offset", "broker"),
}


def write(folder: Path, tally: Tally, **more: Any) -> dict[str, Any]:
    """The tables into a folder, the summary last, with `more` in it. A folder without it is unfinished."""
    write_tables(folder, tally.tables())
    summary = tally.summary() | more
    write_text(folder / "summary.json", json.dumps(summary, indent=1))
    return summary


def _outcome(answer: Answer, is_home: bool) -> tuple[str, str | None]:
    """What an ID came to, and why."""
    if not answer.found:
        return "no_verdict" if answer.reason in NO_VERDICT else "not_found", answer.reason
    if not is_home:
        return "no_record", next((copy.relation for copy in answer.copies if copy.relation != "trace"), "trace")
    codes = {verdict.code for verdict in answer.fate or ()}
    if codes - {"no_verdict"}:
        return "judged", answer.reason
    silent = codes or {item.code for item in answer.evidence} & _SILENCE
    return "no_verdict" if silent else "no_group", answer.reason


def _time(milliseconds: int | None) -> Any:
    return None if milliseconds is None else from_ms(milliseconds, UTC)


def _iso(milliseconds: int) -> str:
    return from_ms(milliseconds, UTC).isoformat(timespec="milliseconds")

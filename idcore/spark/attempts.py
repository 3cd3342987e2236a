"""The table `attempts`: one row for each message, group and attempt, out of its copies and traces. Judges nothing.

A retry copy with the number n shows that the attempt before retry n failed, and that there is a retry n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from idcore.kernels.fates import UNKNOWN
from idcore.rocketmq.message.attempts import outcome_of
from idcore.scan.growing import kept_once, times
from idcore.scan.ordering import numbered, order_of
from idcore.scan.schemas import SCHEMAS
from idcore.spark.traces import Attempts

DEAD, QUEUED, WAITING = range(3)
# How the last attempt is going, where the rule says so from its copy or its trace.
_OF_COPY = frozenset({"retry_waiting", "retry_queued", "consumed_on_retry"})
_RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages, in the order of the log. `of_queue` has the topic and number of each queue."""

    queue: np.ndarray
    of_queue: Sequence[tuple[str, int]]
    place: np.ndarray
    offset: np.ndarray
    time: np.ndarray
    msg_id: pa.Array


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies with their messages and groups. `due` gives the due times of those at these places."""

    home: np.ndarray
    group: np.ndarray
    kind: np.ndarray
    tries: np.ndarray
    offset: np.ndarray
    time: np.ndarray
    due: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class TracedAttempts:
    """Messages and groups with the number of an attempt that the traces have of them."""

    home: np.ndarray
    group: np.ndarray
    attempt: np.ndarray


@dataclass(frozen=True, slots=True)
class JudgedGroups:
    """Messages that have copies, by their place, with the group of the copies and its verdict."""

    home: np.ndarray
    group: np.ndarray
    verdict: np.ndarray


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the rows are made of."""

    messages: Messages
    groups: Sequence[str]
    copies: Copies
    attempts: Attempts
    called: TracedAttempts
    judged: JudgedGroups
    verdicts: Sequence[str]


def table(situation: Situation) -> pa.Table:
    """The rows by message, group and attempt."""
    copies = situation.copies
    # a dead letter that nobody counted is of the first attempt
    shows_end = (copies.tries > 0) | (copies.kind == DEAD)
    begins = copies.kind != DEAD
    before = np.maximum(copies.tries - 1, 0)
    traced = np.maximum(situation.attempts.retry_times[situation.called.attempt], -1)
    rank = np.empty(len(situation.groups), np.int64)
    rank[np.array(sorted(range(len(rank)), key=situation.groups.__getitem__), np.int64)] = np.arange(len(rank))
    of_copy = rank[copies.group]
    homes = [copies.home[shows_end], copies.home[begins], situation.called.home]
    ranks = [of_copy[shows_end], of_copy[begins], rank[situation.called.group]]
    numbers = [before[shows_end], copies.tries[begins], traced]
    (home, ranked, number), which = numbered([np.concatenate(parts) for parts in (homes, ranks, numbers)])
    is_last = np.ones(len(home), bool)
    is_last[:-1] = (home[1:] != home[:-1]) | (ranked[1:] != ranked[:-1])
    ended, own, calls = np.split(which, np.cumsum([len(homes[0]), len(homes[1])]))
    rows = _Rows(situation, home, np.argsort(rank)[ranked], number, is_last)
    rows.by_copies(np.flatnonzero(shows_end), ended, np.flatnonzero(begins), own)
    rows.by_traces(calls)
    return rows.table()


class _Rows:
    """Rows of message, group and attempt, and what is known of each; UNKNOWN or -1 for what is not."""

    def __init__(
        self, situation: Situation, home: np.ndarray, group: np.ndarray, number: np.ndarray, is_last: np.ndarray
    ) -> None:
        self.situation, self.home, self.group, self.number, self._is_last = situation, home, group, number, is_last
        self._copy_of_end, self._copy, self._waiting, self._call, self._begun = np.full((5, len(home)), -1, np.int64)
        self._calls = np.zeros(len(home), np.int64)
        self._began, self._ended = np.full((2, len(home)), UNKNOWN)

    def by_copies(self, ends: np.ndarray, of_end: np.ndarray, begins: np.ndarray, of_begin: np.ndarray) -> None:
        """The copies that end the attempts, and those that are of them: the one that waits, and the newest."""
        copies = self.situation.copies
        self._choose(self._copy_of_end, of_end, ends, [copies.kind == DEAD, -copies.time, -copies.offset])
        self._choose(self._copy, of_begin, begins, [copies.kind == QUEUED, copies.time, copies.offset])
        waits = copies.kind[begins] == WAITING
        self._choose(self._waiting, of_begin[waits], begins[waits], [copies.time, copies.offset])

    def by_traces(self, of_call: np.ndarray) -> None:
        """Of several calls in one attempt that which succeeded, or else the last that ended."""
        attempts, calls = self.situation.attempts, self.situation.called.attempt
        success, ended, began = attempts.success[calls], attempts.ended[calls], attempts.began[calls]
        every = np.arange(len(calls))
        self._choose(self._call, of_call, every, [success, ended, began, attempts.place[calls]])
        is_open = success < 0
        self._choose(self._begun, of_call[is_open], every[is_open], [began, attempts.place[calls]])
        np.add.at(self._calls, of_call, 1)
        np.maximum.at(self._ended, of_call, ended)
        earliest = np.full(len(self.home), -UNKNOWN)
        np.minimum.at(earliest, of_call, np.where(began == UNKNOWN, -UNKNOWN, began))
        self._began = np.where(earliest == -UNKNOWN, UNKNOWN, earliest)
        self._call = np.append(calls, -1)[self._call]

    def _choose(self, into: np.ndarray, row: np.ndarray, each: np.ndarray, by: Sequence[np.ndarray]) -> None:
        """Of each row the last in this order."""
        order = order_of([key[each] for key in by])
        into[row[order]] = each[order]

    def table(self) -> pa.Table:
        """The columns of `attempts`; of texts that recur most are kept once."""
        home, group, number = self.home, self.group, self.number
        messages, copies, attempts = self.situation.messages, self.situation.copies, self.situation.attempts
        queue = messages.queue[home]
        is_dead = _at((copies.kind == DEAD).astype(np.int64), self._copy_of_end)
        copy = np.where(self._copy_of_end < 0, self._copy, self._copy_of_end)
        stored = np.where(number == 0, messages.time[home], _at(copies.time, self._copy))
        due, known = np.full(len(self.home), UNKNOWN), self._waiting >= 0
        due[known] = self.situation.copies.due(self._waiting[known])
        columns = [
            kept_once([topic for topic, _ in messages.of_queue], queue),
            np.array([number for _, number in messages.of_queue], np.int64)[queue],
            *(column[home] for column in (messages.place, messages.offset)),
            messages.msg_id.take(pa.array(home)),
            kept_once(self.situation.groups, group),
            pa.array(number, mask=number < 0).cast(pa.int32()),
            self._outcomes(is_dead),
            kept_once(["retry", "dead_letter"], np.where(self._copy_of_end < 0, -1, is_dead)),
            *(times(each) for each in (stored, due, self._began, self._ended)),
            self._calls,
            attempts.client.take(pa.array(self._call, mask=self._call < 0)),
            _known(_at(copies.offset, copy)),
            _known(_at(attempts.place, self._call)),
        ]
        return pa.table(columns, SCHEMAS["attempts"].names)

    def _outcomes(self, is_dead: np.ndarray) -> pa.Array:
        """What the trace says; else what followed; else what the rule says of the last attempt."""
        verdict, outcome_names = self._verdicts(), [*self.situation.verdicts, "retried", "dead"]
        retried, dead = len(outcome_names) - 2, len(outcome_names) - 1
        of_copy = np.array([name in _OF_COPY for name in outcome_names], bool)[verdict] & (self._copy >= 0)
        running = np.array([name == _RUNNING for name in outcome_names], bool)[verdict] & (self._begun >= 0)
        outcomes = np.where(of_copy | running, verdict, -1)
        outcomes[(self.number >= 0) & ~self._is_last] = retried
        outcomes = np.where(self._copy_of_end < 0, outcomes, np.where(is_dead == 1, dead, retried))
        traced = np.flatnonzero(self._call >= 0)
        calls, attempts = self._call[traced], self.situation.attempts
        traced, calls = (each[attempts.success[calls] >= 0] for each in (traced, calls))
        (success, codes), which = numbered([attempts.success[calls], attempts.code[calls]])
        outcomes[traced] = len(outcome_names) + which
        ends = zip(success.tolist(), codes.tolist(), strict=True)
        outcome_names += [outcome_of(bool(ended), None if code == UNKNOWN else code) for ended, code in ends]
        return kept_once(outcome_names, outcomes)

    def _verdicts(self) -> np.ndarray:
        """Of each row what the rule says of its message and group."""
        count, judged = len(self.situation.groups), self.situation.judged
        known = judged.home * count + judged.group
        order = order_of([known])
        places = order[np.searchsorted(known[order], self.home * count + self.group)]
        return judged.verdict[places]  # type: ignore[no-any-return]


def _at(column: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The values at these places; UNKNOWN at -1."""
    return np.append(column, UNKNOWN)[places]


def _known(values: np.ndarray) -> pa.Array:
    return pa.array(values, mask=values == UNKNOWN)

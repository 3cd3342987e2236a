"""The rule: from the evidence of one record and one group to a verdict, the strongest evidence first. Asks nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from idcore.answers.fate.model import (
    PULL,
    Attempt,
    Blocker,
    Certainty,
    Consumers,
    Fact,
    Filter,
    Group,
    GroupCopy,
    JudgedRecord,
    Reason,
    Verdict,
)
from idcore.rocketmq.store.pop_records import PopRecord

# Clients report their offsets every 5 s, and the second question comes 5 s after the first.
YOUNG_MS = 15_000
# How long a broker suspends a pull that finds no message: it keeps the subscription that it had when it came
# (BROKER_SUSPEND_MAX_TIME_MILLIS of DefaultMQPushConsumerImpl).
LONG_POLLING_MS = 15_000
# How long after its time a broker may deliver a retry that is not late: it looks every 100 ms (DELAY_FOR_A_WHILE of
# ScheduleMessageService), and a timer wheel every second.
LATE_MS = 1_000
# The invisible time of a popped message, unless the consumer asks for another, and how long a broker may then take to
# give it out again: it waits for what else becomes due, and for its disk (PopReviveService).
INVISIBLE_MS = 60_000 + 15_000
# Verdicts that mean that the group has consumed the record.
CONSUMED = frozenset({"consumed", "consumed_on_retry"})
# What keeps a group from getting a record; where a broker says it, the verdict is proved.
_PROVED_HINDRANCES = frozenset({"unreadable_queue", "not_dispatched", "disabled"})
# A verdict with one of these reasons is uncertain, whatever else speaks for it.
_MAKES_UNCERTAIN = frozenset(
    {
        "acknowledged_late",
        "acknowledged_retry",
        "connection_unknown",
        "copies_unknown",
        "end_not_traced",
        "expression",
        "filter_of_last_request",
        "filter_unknown",
        "filters_differ",
        "in_order",
        "invisible",
        "kind_unknown",
        "no_retry_queue",
        "no_thread",
        "pulled",
        "shared_copy",
        "slave",
        "subscribed_just_before",
        "subscribed_later",
        "young",
    }
)
# Verdicts on a record that its group is past, which only an offset speaks for.
_BY_OFFSET = frozenset({"consumed", "taken"})
# Verdicts that the next minutes may change. From a copied store folder they are not proved: it shows one moment.
_TRANSIENT = frozenset(
    {
        "retry_waiting",
        "retry_queued",
        "running",
        "handed_out",
        "behind",
        "never_read",
        "unreadable_queue",
        "not_dispatched",
        "disabled",
    }
)
# Reasons of a live cluster, which a copied store folder has under another name: nobody was asked.
_OF_STORE_FOLDER = {
    name: f"copied_{name}"
    for name in (
        "connection_unknown",
        "copies_unknown",
        "offset_unknown",
        "retry_offset_unknown",
        "just_delivered",
        "delay_unknown",
        "young",
        "late",
    )
}


def judge(judged: JudgedRecord, group: Group, now_ms: int) -> Verdict:
    """What became of one record in one group. A missing answer never makes a verdict of "not consumed"."""
    return _Case(judged, group, now_ms).verdict()


def rests_on_offset(judged: JudgedRecord, group: Group, now_ms: int) -> bool:
    """Whether the group has the record only as its offset says so, and nothing is known that speaks against it."""
    verdict = judge(judged, group, now_ms)
    return verdict.code in _BY_OFFSET and verdict.certainty == "inferred" and group.held is None


def mark_doubles(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Verdicts of one group on records of one message: a producer's retry stores it twice.

    The group has the message when it consumed either record. When it consumed both it processed the message twice.
    """
    done = [verdict for verdict in verdicts if verdict.code in CONSUMED]
    if not done or len(verdicts) < 2:
        return list(verdicts)
    marked = []
    for verdict in verdicts:
        others = [each.record for each in done if each.record != verdict.record]
        code = "twice" if verdict.code in CONSUMED else "other_record"
        more = (Reason(code, {"record": others[0]}),) if others else ()
        marked.append(replace(verdict, why=verdict.why + more))
    return marked


class _Case:
    """One record and one group."""

    def __init__(self, judged: JudgedRecord, group: Group, now_ms: int) -> None:
        self.judged = judged
        self.group = group
        self.now_ms = now_ms
        self.offset = group.again if group.again.answered else group.offset
        self.consumers = group.consumers.value or Consumers()
        self.online = group.consumers.answered and (self.consumers.clients > 0 or self.consumers.proxied)
        copies = self._copies("waiting", "queued")
        copies.sort(key=lambda copy: (copy.tries, copy.kind == "queued", copy.stored_ms))
        self.newest = copies[-1] if copies else None

    def verdict(self) -> Verdict:
        """By the strongest evidence there is: trace, copies, broadcast, an attempt that runs, POP record, offset."""
        verdict = self._by_trace() or self._by_copies() or self._by_broadcast()
        if verdict is not None:
            return verdict
        if self.group.held is not None:
            return self._held(self.group.held)
        running = self._running()
        if running is not None and (self.consumers.pops or not self._is_past()):
            return running
        return self._by_offset()

    def _copies(self, *kinds: str) -> list[GroupCopy]:
        return [copy for copy in self.group.copies if copy.kind in kinds]

    def _is_past(self) -> bool:
        return self.offset.value is not None and self.offset.value > self.judged.offset

    # ---- evidence of the record itself

    def _by_trace(self) -> Verdict | None:
        why = self._traced_success()
        if not why or self._broadcasts():
            return None
        if self.online and self.consumers.consume_type == PULL and not self.consumers.pops:
            return self._verdict("taken", "proved", replace(why[0], code="trace_polled"))
        pushed = self.group.pushed.value or self.group.copies or self.group.held is not None
        if not self.online and not pushed:
            why.append(Reason("kind_unknown"))
        return self._verdict("consumed", "proved", *why)

    def _traced_success(self) -> list[Reason]:
        """The first attempt with success, if no copy shows that the message failed in it or later.

        Of a call with several messages all are traced as a success, also those that it did not acknowledge.
        """
        succeeded = [attempt for attempt in self.group.attempts if attempt.success]
        if not succeeded or any(all(_is_after(copy, each) for each in succeeded) for copy in self.group.copies):
            return []
        first = min(succeeded, key=lambda attempt: attempt.began_ms or 0)
        at = first.began_ms if first.ended_ms is None else first.ended_ms
        known = {"client": first.client, "at": at, "tries": first.retry_times}
        return [Reason("trace_success", {name: value for name, value in known.items() if value is not None})]

    def _running(self) -> Verdict | None:
        begun = [each for each in self.group.attempts if each.success is None and each.began_ms is not None]
        last: Attempt | None = max(begun, key=lambda attempt: attempt.began_ms or 0, default=None)
        if last is None or last.began_ms is None:
            return None
        if self.newest is not None and last.began_ms < self.newest.stored_ms:
            return None
        if self.group.consumers.answered and not self.online:  # nobody of the group is there to finish it
            return None
        doubts = [] if self.group.consumers.answered else [Reason("connection_unknown")]
        if all(holder.orderly for holder in self.group.holders.value or ()):  # or no client says that it has it
            doubts.append(Reason("end_not_traced"))
        chosen = self.consumers.filter
        if (
            chosen is not None and chosen.since_ms > last.began_ms
        ):  # a client began after it, perhaps in place of this one
            doubts.append(Reason("subscribed_later", {"since": chosen.since_ms}))
        return self._verdict("running", "inferred", *doubts, since=last.began_ms, client=last.client)

    def _by_copies(self) -> Verdict | None:
        dead = max(self._copies("dead"), key=lambda copy: copy.stored_ms, default=None)
        if dead is not None:
            return self._verdict("dead", "proved", *_shared_copy(dead), tries=dead.tries, at=dead.stored_ms)
        copy = self.newest
        if copy is None:
            return None
        if copy.held is not None:
            return self._held(copy.held, copy)
        if copy.passed.value:
            if not self.group.copies_complete:
                return self._no_verdict("copies_unknown")
            if copy.popped or self.consumers.pops:  # handed over again: after the last retry a failure leaves no copy
                held = self._invisible_or("renewed", copy.stored_ms)
                taken = self._verdict("taken", "uncertain", held, *_shared_copy(copy), tries=copy.tries)
                return self._running() or taken
            why = [*self._dropped(), *_shared_copy(copy)]
            return self._verdict("consumed_on_retry", "inferred", *why, tries=copy.tries)
        running = self._running()
        if running is not None:
            return running
        return self._queued(copy) if copy.kind == "queued" else self._waiting(copy)

    def _held(self, record: PopRecord, copy: GroupCopy | None = None) -> Verdict:
        """The broker has a record that the group was handed it, or its copy, and acknowledged it or did not."""
        if record.left_out:
            return self._left_out(record)
        if record.acked_ms is not None:
            return self._acknowledged(record, copy)
        running = self._running()
        if running is not None:
            return running
        code = "visible_again" if record.visible_ms > self.now_ms else "visible_now"
        why = [Reason("pop_record", {"at": record.popped_ms}), Reason(code, {"until": record.visible_ms})]
        doubts, tries = ([], None) if copy is None else (_shared_copy(copy), copy.tries)
        return self._verdict("handed_out", "proved", *why, *doubts, *self._incomplete(), tries=tries)

    def _left_out(self, record: PopRecord) -> Verdict:
        """A filter dropped the message. It was the present filter only if that excludes the message too."""
        kept, values = self.group.kept_filter, {"tag": self.judged.tag or "–", "expression": "–"}
        excludes = kept is not None and kept.excludes(self.judged.tag, self.judged.properties)
        if kept is not None and excludes:
            values = self._filter_values(kept)
        certainty: Certainty = "uncertain" if kept is not None and excludes is False else "inferred"
        return self._verdict("filtered", certainty, Reason("left_out", {"at": record.popped_ms}), **values)

    def _acknowledged(self, record: PopRecord, copy: GroupCopy | None) -> Verdict:
        """A consumer acknowledged it. Of a copy, it may have given up: its client then calls no listener."""
        kept = self.group.kept_filter
        if copy is None and kept is not None and kept.excludes(self.judged.tag, self.judged.properties):
            return self._verdict("filtered", "inferred", Reason("subscription_given"), **self._filter_values(kept))
        why = [Reason("acknowledged", {"at": record.acked_ms, "offset": record.acked_at})]
        if record.acked_ms is not None and record.acked_ms >= record.visible_ms:
            why.append(Reason("acknowledged_late", {"until": record.visible_ms}))
        why += self._incomplete()  # a message that was put off for a second is acknowledged, and given out again
        if copy is None:
            return self._verdict("consumed", "inferred", *why)
        why += [Reason("acknowledged_retry"), *_shared_copy(copy)]
        return self._verdict("consumed_on_retry", "inferred", *why, tries=copy.tries)

    def _queued(self, copy: GroupCopy) -> Verdict:
        if not copy.passed.answered:
            return self._no_verdict("retry_offset_unknown")
        why = [*_shared_copy(copy), *self._incomplete(), *self._nobody()]
        return self._verdict("retry_queued", "inferred", *why, tries=copy.tries)

    def _waiting(self, copy: GroupCopy) -> Verdict:
        is_due = copy.due_ms is not None and copy.due_ms <= self.now_ms
        if copy.delivered.value:
            return self._no_verdict("just_delivered")
        if not copy.delivered.answered and (copy.due_ms is None or is_due):
            return self._no_verdict("delay_unknown")
        is_late = copy.due_ms is not None and self.now_ms - copy.due_ms >= LATE_MS
        why = [*([Reason("late")] if is_late else []), *_shared_copy(copy)]
        return self._verdict("retry_waiting", "proved", *why, tries=copy.tries, due=copy.due_ms)

    def _by_broadcast(self) -> Verdict | None:
        if not self._broadcasts():
            return None
        if self.group.can_broadcast.value is False:
            return self._verdict("disabled", "proved")
        reached = self.group.broadcast_offset.value
        traced = self._traced_success()
        if reached is None:
            return self._verdict("broadcast", "uncertain", Reason("broadcast_unknown"), *traced)
        code = "broadcast_reached" if reached > self.judged.offset else "broadcast_not_reached"
        return self._verdict("broadcast", "inferred", Reason(code), *traced)

    def _broadcasts(self) -> bool:
        """Whether each client of the group gets the message: what one of them did says nothing of the others."""
        kept = self.judged.snapshot_ms is not None and self.group.broadcast_offset.answered
        return kept or (self.online and self.consumers.broadcast)

    # ---- evidence of the consumer offset

    def _by_offset(self) -> Verdict:
        if self.judged.static:
            return self._no_verdict("static_topic")
        if not self.offset.answered:
            return self._no_verdict("offset_unknown")
        if self._is_past():
            return self._passed()
        hindered = self._hindrance()
        return self._with_clients(hindered) or (
            self._never_read(hindered)
            if self.offset.value is None
            else self._not_passed(hindered, self.judged.offset - self.offset.value)
        )

    def _passed(self) -> Verdict:
        if not self.group.copies_complete:
            return self._no_verdict("copies_unknown")
        if not self.group.consumers.answered:
            return self._passed_unseen()
        if not self.online and not self.consumers.pops:
            return self._verdict("consumed", "uncertain", Reason("nobody_connected"), Reason("filter_unknown"))
        own = self.group.own_offset.value  # a client is never behind what it told the broker
        if own is not None and own <= self.judged.offset:
            behind = Reason("client_behind", {"offset": own})
            return self._by_clients() or self._verdict("passed_maybe_skipped", "uncertain", behind)
        kind, chosen = self.consumers.consume_type, self.consumers.filter
        proxied = [Reason("proxied")] if self.consumers.proxied else self._nobody()
        if chosen is not None and chosen.excludes(self.judged.tag, self.judged.properties):
            return self._passed_with(chosen)
        fewer = self.group.fewer_handed
        if fewer is not None:
            counted = {"handed": fewer.handed, "passed": fewer.passed, "since": fewer.since_ms}
            return self._verdict("passed_maybe_skipped", "uncertain", Reason("fewer_handed", counted))
        if self.consumers.pops and self.group.no_checkpoint:
            return self._verdict("passed_maybe_skipped", "uncertain", Reason("no_checkpoint"))
        if self.consumers.pops:
            why = [self._invisible_or("popped", self.judged.stored_ms), *proxied]
            return self._verdict("taken", "inferred", *why, *self._doubts_of(chosen), *self._just_changed(chosen))
        if kind == PULL:
            why = [Reason("pulled"), *self._doubts_of(chosen), *self._just_changed(chosen)]
            return self._verdict("taken", "inferred", *why)
        if chosen is None:
            return self._verdict("consumed", "uncertain", Reason("not_subscribed", {"topic": self.judged.topic}))
        return self._passed_with(chosen)

    def _passed_unseen(self) -> Verdict:
        """Nobody says who was connected, nor with which filter, unless that was kept."""
        kept = self.group.kept_filter
        if kept is None:
            return self._verdict("consumed", "inferred", Reason("connection_unknown"))
        drops = kept.excludes(self.judged.tag, self.judged.properties)
        if drops is None:
            known = Reason("expression", self._filter_values(kept))
            return self._verdict("consumed", "inferred", known, Reason("connection_unknown"))
        if drops:
            return self._verdict("filtered", "inferred", Reason("subscription_given"), **self._filter_values(kept))
        return self._verdict("consumed", "inferred", Reason("subscription_given"), *self._dropped())

    def _passed_with(self, chosen: Filter) -> Verdict:
        doubts = self._doubts_of(chosen)
        if chosen.excludes(self.judged.tag, self.judged.properties):
            return self._verdict("filtered", "inferred", *doubts, **self._filter_values(chosen))
        if self.consumers.from_last and self._is_later(chosen):
            return self._verdict("passed_maybe_skipped", "uncertain", *doubts)
        return self._verdict("consumed", "inferred", *doubts, *self._just_changed(chosen), *self._dropped())

    def _by_clients(self) -> Verdict | None:
        """What the clients say of their memory; one that has no older message of the queue works on this one."""
        holders = self.group.holders.value or ()
        if not holders:
            return None
        first = min(holders, key=lambda holder: not holder.oldest)
        if not first.oldest:  # between its oldest and its newest: what a filter drops is not
            doubts = [*self._doubts_of(self.consumers.filter), *self._incomplete()]
            why = [Reason("in_memory", {"client": first.client}), *self._oldest(), *doubts]
            return self._verdict("handed_out", "inferred", *why)
        known = {"client": first.client, "since": max(first.finished_ms, self.judged.stored_ms)}
        doubtful = {"no_thread": first.waits, "in_order": first.orderly}
        why = [Reason("in_memory_first", known), *(Reason(code) for code, holds in doubtful.items() if holds)]
        why += self._incomplete()
        return self._verdict("running", "inferred", *why, **known)

    def _with_clients(self, hindered: tuple[str, dict[str, Any]] | None) -> Verdict | None:
        """What holds for a record that the group did not pass, because clients have it, had it or were handed it."""
        code = None if hindered is None else hindered[0]
        by_clients = self._by_clients()
        named = any(holder.oldest for holder in self.group.holders.value or ())
        if by_clients is not None and (named or code != "filtered_ahead"):
            return by_clients
        pulled = self.group.pull_offset.value  # what the group's filter drops may be counted too
        if pulled is None or pulled <= self.judged.offset or code == "filtered_ahead":
            return None
        if self.online or not self.group.consumers.answered:
            doubts = self._doubts_of(self.consumers.filter) if self.group.consumers.answered else []
            why = [*self._oldest(), *doubts, *self._incomplete(), *self._young()]
            return self._verdict("handed_out", "inferred", *why)
        if code == "offline":  # its clients are gone; no offset shows what they processed, and it is given out again
            why = [Reason("pulled_before"), *self._incomplete(), *self._why_hindered(code)]
            return self._verdict("unacknowledged", "inferred", *why)
        return None

    def _not_passed(self, hindered: tuple[str, dict[str, Any]] | None, ahead: int) -> Verdict:
        if hindered is not None:
            code, values = hindered
            at_best: Certainty = "proved" if code in _PROVED_HINDRANCES else "inferred"
            why = [*self._incomplete(), *self._why_hindered(code), *self._earlier_filter(code)]
            return self._verdict(code, at_best, *why, **{"ahead": ahead} | values)
        if self.group.consumers.answered:
            return self._moving(ahead)
        if self.judged.snapshot_ms is None:
            return self._no_verdict("connection_unknown")
        doubts = [Reason("connection_unknown"), *self._incomplete(), *self._young()]
        return self._verdict("behind", "inferred", *doubts, ahead=ahead)

    def _invisible_or(self, later: str, stored_ms: int) -> Reason:
        """`invisible` while the invisible time of what a POP consumer got may still run, else the reason `later`."""
        if self.now_ms - stored_ms >= INVISIBLE_MS:
            return Reason(later)
        return Reason("invisible", {"seconds": INVISIBLE_MS // 1_000, "until": self.now_ms + INVISIBLE_MS})

    def _oldest(self) -> list[Reason]:
        """The oldest message of the queue that the group has not finished: later ones were handed out behind it."""
        blocker, until = self.group.blocker, self.group.visible_ms
        reasons = []
        if blocker is not None and blocker.record == self.judged.record:
            reasons.append(Reason("unfinished_itself"))
        elif blocker is not None:
            reasons.append(Reason("unfinished", self._named(blocker)))
        return reasons + ([Reason("visible_again", {"until": until})] if until is not None else [])

    def _named(self, blocker: Blocker) -> dict[str, Any]:
        age = max(0, round((self.now_ms - blocker.stored_ms) / 1_000))
        msg_id = blocker.msg_id or blocker.record
        return {"msg_id": msg_id, "offset": blocker.offset, "stored": blocker.stored_ms, "age": age}

    def _moving(self, ahead: int) -> Verdict:
        first, second = self.group.offset, self.group.again
        doubts = [*self._shared_client(), *self._incomplete(), *self._young()]
        if None in (first.value, first.at_ms, second.value, second.at_ms):
            return self._verdict("behind", "uncertain", Reason("asked_once"), *doubts, ahead=ahead)
        assert first.value is not None and first.at_ms is not None
        assert second.value is not None and second.at_ms is not None
        moved, seconds = second.value - first.value, max(1, second.at_ms - first.at_ms) / 1_000
        if moved > 0:
            rate = moved / seconds
            why = Reason("moving", {"rate": round(rate, 1), "seconds": round((ahead + 1) / rate)})
            return self._verdict("behind", "inferred", why, *doubts, ahead=ahead)
        blocker = self.group.blocker
        why = Reason("still", {"seconds": round(seconds)})
        if self.group.holders.answered:
            doubts.insert(0, Reason("in_no_memory"))
        if blocker is not None and blocker.record == self.judged.record:
            doubts.append(Reason("blocker_itself"))
        elif blocker is not None:
            doubts.append(Reason("blocker", self._named(blocker)))
        return self._verdict("stuck", "inferred", why, *doubts, ahead=ahead)

    def _never_read(self, hindered: tuple[str, dict[str, Any]] | None) -> Verdict:
        if hindered is not None:
            code, values = hindered
            why = [*self._why_hindered(code), *self._earlier_filter(code)]
            return self._verdict("never_read", "inferred", Reason(code, values), *why)
        if not self.group.consumers.answered:
            return self._verdict("never_read", "inferred", Reason("connection_unknown"))
        # before 5.1.0 no broker notes what was pulled
        certainty: Certainty = "inferred" if self.group.pull_offset.value else "uncertain"
        return self._verdict("never_read", certainty, Reason("no_offset_yet"), *self._shared_client(), *self._young())

    def _hindrance(self) -> tuple[str, dict[str, Any]] | None:
        """The first known obstacle between the group and the record, as the code and the values of a verdict."""
        judged, end = self.judged, self.judged.end.value
        if judged.readable is False:
            return "unreadable_queue", {"queue": judged.queue}
        if end is not None and end <= judged.offset:
            return "not_dispatched", {"end": end}
        if self.group.can_consume.value is False:
            return "disabled", {}
        kept = self.group.kept_filter
        if not self.group.consumers.answered:
            drops = kept is not None and kept.excludes(judged.tag, judged.properties)
            return ("filtered_ahead", self._filter_values(kept)) if kept is not None and drops else None
        if not self.online:
            return "offline", {}
        if self.consumers.filter is None:
            # a pull consumer may assign itself queues without a subscription
            assigns = self.consumers.consume_type == PULL and not self.consumers.pops
            return None if assigns else ("not_subscribed", {"topic": judged.topic})
        if self.consumers.filter.excludes(judged.tag, judged.properties):
            return "filtered_ahead", self._filter_values(self.consumers.filter)
        return None

    # ---- building the verdict

    def _filter_values(self, chosen: Filter) -> dict[str, Any]:
        return {"expression": chosen.expression or "*", "tag": self.judged.tag or "–"}

    def _is_later(self, chosen: Filter) -> bool:
        return chosen.since_ms > self.judged.stored_ms

    def _doubts_of(self, chosen: Filter | None) -> list[Reason]:
        """Why it is not known whether the filter let this record through when the group came to it."""
        if chosen is None or self._says_all(chosen):  # None: it assigned itself queues, or subscribes other topics now
            return [Reason("filter_unknown")]
        by_expression = (
            [Reason("expression", self._filter_values(chosen))]
            if chosen.excludes(self.judged.tag, self.judged.properties) is None
            else []
        )
        code = "filter_of_last_request" if chosen.of_last_request else "subscribed_later"
        later = chosen.of_last_request or self._is_later(chosen)
        others = [Reason("filters_differ", {"expression": self.consumers.other_filter})]
        return [
            *by_expression,
            *([Reason(code, {"since": chosen.since_ms})] if later else []),
            *(others if self.consumers.other_filter is not None else []),
        ]

    def _says_all(self, chosen: Filter) -> bool:
        """Whether it is that of an old pull consumer, which says that it wants everything, whatever it pulls.

        Its version is 0 then (subscriptions() of DefaultMQPullConsumerImpl).
        """
        return self.consumers.consume_type == PULL and chosen.since_ms == 0 and not chosen.is_narrow

    def _earlier_filter(self, code: str) -> list[Reason]:
        """Why an earlier filter may have let a record through that the present one excludes; it is in process then."""
        chosen, pulled = self.consumers.filter, self.group.pull_offset.value
        if code != "filtered_ahead" or chosen is None or not self.group.consumers.answered:
            return []
        is_ahead = pulled is not None and (self.offset.value or 1) <= pulled <= self.judged.offset
        return [] if is_ahead else self._doubts_of(chosen)

    def _just_changed(self, chosen: Filter | None) -> list[Reason]:
        """A suspended pull still uses the subscription that it came with, from before the change."""
        held = (
            chosen is not None and chosen.is_narrow and 0 <= self.judged.stored_ms - chosen.since_ms < LONG_POLLING_MS
        )
        return [Reason("subscribed_just_before", {"since": chosen.since_ms})] if chosen is not None and held else []

    def _incomplete(self) -> list[Reason]:
        return [] if self.group.copies_complete else [Reason("copies_unknown")]

    def _dropped(self) -> list[Reason]:
        """A group without retry queues: its broker answers that a failed message was sent back, and stores nothing."""
        return [Reason("no_retry_queue")] if self.group.can_retry.value is False else []

    def _nobody(self) -> list[Reason]:
        return [Reason("nobody_connected")] if self.group.consumers.answered and not self.online else []

    def _shared_client(self) -> list[Reason]:
        client = self.consumers.shared
        return [] if client is None else [Reason("shared_client_id", {"client": client})]

    def _why_hindered(self, code: str) -> list[Reason]:
        """What goes with a hindrance: a filter that was kept, or that a proxy may hide clients."""
        if code == "offline":
            return [Reason("proxy")]
        is_kept = code == "filtered_ahead" and not self.group.consumers.answered
        return [Reason("subscription_given")] if is_kept else []

    def _young(self) -> list[Reason]:
        return [Reason("young")] if self.now_ms - self.judged.stored_ms < YOUNG_MS else []

    def _no_verdict(self, why: str) -> Verdict:
        return self._verdict("no_verdict", "none", Reason(why))

    def _verdict(self, code: str, at_best: Certainty, *why: Reason, **values: Any) -> Verdict:
        """Here certainty is decided: `at_best`, or less by a reason for doubt or by a folder that shows one moment."""
        reasons, certainty = list(why), at_best
        if self.judged.from_slave and certainty != "none":
            reasons.append(Reason("slave"))
        if certainty != "none" and {reason.code for reason in reasons} & _MAKES_UNCERTAIN:
            certainty = "uncertain"
        if self.judged.snapshot_ms is not None:
            reasons = [replace(each, code=_OF_STORE_FOLDER.get(each.code, each.code)) for each in reasons]
            if code in _TRANSIENT:
                reasons.append(Reason("snapshot", {"at": self.judged.snapshot_ms}))
                certainty = "inferred" if certainty == "proved" else certainty
        known = {name: value for name, value in values.items() if value is not None}
        return Verdict(
            self.group.name, self.judged.record, code, certainty, known, tuple(reasons), tuple(self._facts())
        )

    def _facts(self) -> Iterator[Fact]:
        judged, group = self.judged, self.group
        yield Fact("queue", f"{judged.broker} {judged.topic} {judged.queue}")
        yield Fact("queue_offset", judged.offset)
        for name, heard in (
            ("consumer_offset", self.offset),
            ("pull_offset", group.pull_offset),
            ("queue_begin", judged.begin),
            ("queue_end", judged.end),
            ("broadcast_offset", group.broadcast_offset),
            ("can_consume", group.can_consume),
        ):
            if heard.answered:
                yield Fact(name, heard.value, heard.at_ms)
        if group.consumers.answered:
            yield Fact("clients", self.consumers.clients, group.consumers.at_ms)
        if self.online:
            if not self.consumers.proxied:
                yield Fact("consume_type", self.consumers.consume_type, group.consumers.at_ms)
            chosen = self.consumers.filter
            yield Fact("subscription", chosen.expression or "*" if chosen else None, group.consumers.at_ms)
        if group.holders.answered:
            yield Fact("in_memory", len(group.holders.value or ()), group.holders.at_ms)
        for copy in group.copies:
            heard = copy.passed if copy.passed.answered else copy.delivered
            yield Fact(f"copy_{copy.kind}", copy.tries, heard.at_ms)


def _is_after(copy: GroupCopy, attempt: Attempt) -> bool:
    """Whether a copy was stored because of this attempt or a later one."""
    if attempt.retry_times is not None:
        return copy.tries > attempt.retry_times
    return copy.stored_ms >= (attempt.ended_ms or attempt.began_ms or 0)


def _shared_copy(copy: GroupCopy) -> list[Reason]:
    return [Reason("shared_copy")] if copy.shared else []

"""Findings from what lines say of deliveries: received twice, failed, sends that are not SEND_OK. Reads no line.

A consumer's own line is a claim: a finding says what the lines say, for each group, topic or file that names itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.model import Finding
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.answers.findings.times import logged
from idcore.ids.delivery import ENDED, SEND_OK, Delivery
from idcore.ids.delivery_sentences import apart, by_message, is_of_records, twice
from idcore.scan.deliveries import DeliveryClaim


@dataclass(frozen=True, slots=True)
class _Messages:
    """What lines say of each message of a scan, and where each line is."""

    of_each: list[list[Delivery]]
    places: dict[int, DeliveryClaim]  # by the identity of the value: two lines may say the same

    def at(self, deliveries: Iterable[Delivery]) -> list[str]:
        return list(dict.fromkeys(self.places[id(one)].place for one in deliveries))[: limits.MOST_IDS]

    def told(self, messages: Iterable[Sequence[Delivery]]) -> list[dict[str, Any]]:
        """The lines of the first messages that say it: the first line of an ID may be that of its send."""
        first = list(messages)[: limits.MOST_IDS]
        claims = [(some[0].msg_id, self.places[id(one)]) for some in first for one in some]
        return [{"id": text, "file": one.file, "line": one.line} for text, one in claims if one.line is not None]

    def lines(self, deliveries: Sequence[Delivery]) -> int:
        """How many lines they are: one line may tell of several messages."""
        known = [(self.places[id(one)], one) for one in deliveries]
        return len({(claim.file, id(one) if claim.line is None else one.line) for claim, one in known})

    def who(self, deliveries: Sequence[Delivery]) -> str:
        """Whose lines they are: the group, else the topic, else the file."""
        named = (one.group or one.topic for one in deliveries)
        return next(filter(None, named), "") or self.places[id(deliveries[0])].file


def _messages(scan: Scan) -> _Messages:
    deliveries = [] if scan.line_evidence is None else scan.line_evidence.deliveries
    places = {id(one.delivery): one for one in deliveries}
    return _Messages(by_message(one.delivery for one in deliveries), places)


def _by_subject(
    known: _Messages, deliveries: Iterable[Sequence[Delivery]], name: Callable[[Sequence[Delivery]], str]
) -> list[tuple[str, list[Sequence[Delivery]]]]:
    """Lines of messages by whose they are, in the order of names."""
    groups: dict[str, list[Sequence[Delivery]]] = {}
    for some in deliveries:
        groups.setdefault(name(some), []).append(some)
    return sorted(groups.items())


def _when(scan: Scan, deliveries: Iterable[Delivery]) -> dict[str, Any]:
    return logged(scan, (one.time for one in deliveries))


def _ids(messages: Sequence[Sequence[Delivery]]) -> list[str]:
    return [some[0].msg_id for some in messages][: limits.MOST_IDS]


def received_twice(scan: Scan) -> Iterator[Finding]:
    """received_twice: messages that lines of one form say were received, at the same attempt, on several lines."""
    known = scan.once(_messages)
    records = {} if scan.line_evidence is None else scan.line_evidence.records
    pairs: dict[bool | None, list[list[Delivery]]] = {True: [], False: [], None: []}
    for message in known.of_each:
        several = max(twice(message), key=len, default=[])
        # What printed records of a message are, the rules of copies say: sent twice, a retry, a batch.
        if several and several[0].msg_id.upper() not in records:
            pairs[is_of_records(several)].append(several)
    for differ, messages in pairs.items():
        for name, some in _by_subject(known, messages, known.who):
            evidence: dict[str, Any] = {
                "ids": _ids(some),
                "received": max(map(len, some)),
                "lines": ", ".join(known.at(some[0])),
                "places": known.told(some),
            }
            also = []
            spans = [span for each in some if (span := apart(each)) is not None]
            if spans:
                evidence |= {"apart_seconds": max(spans)}
                also.append("received_apart")
            threads = list(dict.fromkeys(one.thread for one in some[0] if one.thread))
            if threads:
                evidence |= {"threads": ", ".join(threads[: limits.MOST_IDS])}
                also.append("threads")
            evidence["also"] = also
            if not differ:
                evidence["variant"] = "on_lines" if differ is None else "one_record"
            lines = [one for each in some for one in each]
            yield Finding.of("received_twice", name, len(some), evidence, **_when(scan, lines))


def _failed_in_groups(message: Sequence[Delivery]) -> Iterator[tuple[list[Delivery], bool]]:
    """The attempts of each group that failed, and whether a line says that it consumed the message in the end.

    A line that names no group may be of any.
    """
    ended = {one.group for one in message if one.event in ENDED}
    failed = [one for one in message if one.event == "failed"]
    for group in dict.fromkeys(one.group for one in failed):
        yield [one for one in failed if one.group == group], bool(ended & {group, None} or (group is None and ended))


def consume_failed(scan: Scan) -> Iterator[Finding]:
    """consume_failed: what consumers' own lines say of attempts that failed."""
    known = scan.once(_messages)
    every = [own for message in known.of_each for own in _failed_in_groups(message)]
    unfinished = {id(lines) for lines, is_over in every if not is_over}
    for name, some in _by_subject(known, (lines for lines, _ in every), known.who):
        worst = max(some, key=lambda lines: (len(lines), max(one.tries or 0 for one in lines)))
        lines = [one for each in some for one in each]
        when = _when(scan, lines)
        evidence: dict[str, Any] = {
            "ids": list(dict.fromkeys([worst[0].msg_id, *_ids(some)]))[: limits.MOST_IDS],
            "messages": len(some),
            "most": worst[0].msg_id,
            "most_times": len(worst),
            "lines": ", ".join(known.at(worst)),
            "places": known.told([worst, *(each for each in some if each is not worst)]),
            "unfinished": sum(id(each) in unfinished for each in some),
        }
        topics = sorted({one.topic for one in lines if one.topic})[: limits.MOST_IDS]
        evidence |= {"topics": ", ".join(topics)} if topics else {}
        also = []
        if tries := [one.tries for one in lines if one.tries is not None]:  # a line without one is of any
            evidence |= {"retries": max(tries)}
            also.append("failed_retries")
        if when and when["until"] > when["since"]:
            evidence |= {"over_seconds": (when["until"] - when["since"]).total_seconds()}
            also.append("failed_over")
        evidence["also"] = also
        yield Finding.of("consume_failed", name, known.lines(lines), evidence, **when)


def send_not_ok(scan: Scan) -> Iterator[Finding]:
    """send_not_ok: answers to sends that the broker stored without being sure of them."""
    known = scan.once(_messages)
    odd = [[one] for message in known.of_each for one in message if one.event == "sent" and one.status != SEND_OK]
    for name, some in _by_subject(known, odd, lambda each: str(each[0].broker or known.places[id(each[0])].file)):
        lines = [one for each in some for one in each]
        statuses = Counter(str(one.status) for one in lines)
        evidence: dict[str, Any] = {
            "ids": _ids(some),
            "statuses": ", ".join(sorted(statuses)),
            "lines": ", ".join(known.at(lines)),
            "places": known.told(some),
        }
        if set(statuses) == {"SLAVE_NOT_AVAILABLE"}:
            evidence["variant"] = "slave"
        topics = sorted({one.topic for one in lines if one.topic})[: limits.MOST_IDS]
        evidence |= {"topics": ", ".join(topics)} if topics else {}
        yield Finding.of("send_not_ok", name, len(lines), evidence, **_when(scan, lines))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReceivedTwiceEvidence(FindingEvidence):
    """Of messages that were received on several lines."""

    variant: str | None = None
    ids: Sequence[str] = ()
    received: int | None = None  # the most lines of one message
    lines: str | None = None  # of the first message, with commas between
    apart_seconds: float | None = None  # at most
    threads: str | None = None  # of the first message, with commas between
    also: Sequence[str] = ()
    places: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailedTriesEvidence(FindingEvidence):
    """Of attempts that failed, by consumers' own lines."""

    ids: Sequence[str] = ()
    messages: int | None = None
    most: str | None = None  # the message with the most failures
    most_times: int | None = None
    retries: int | None = None  # the highest that a line names
    lines: str | None = None  # of that message, with commas between
    unfinished: int | None = None  # messages of which no line says that they were consumed
    topics: str | None = None  # with commas between
    over_seconds: float | None = None
    also: Sequence[str] = ()
    places: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SendStatusEvidence(FindingEvidence):
    """Of sends whose status is not SEND_OK."""

    variant: str | None = None
    ids: Sequence[str] = ()
    statuses: str | None = None  # with commas between
    lines: str | None = None  # with commas between
    topics: str | None = None  # with commas between
    places: Sequence[Any] = ()


register(
    Rule(
        "consume_failed",
        WARNING,
        11,
        "consume_failed/spring",
        evidence=FailedTriesEvidence,
        of_scan=consume_failed,
        also=("failed_retries", "failed_over"),
        subject="name",
    ),
    Rule(
        "send_not_ok",
        WARNING,
        12,
        "send_not_ok/slave",
        evidence=SendStatusEvidence,
        of_scan=send_not_ok,
        variants=("slave",),
        subject="name",
    ),
    Rule(
        "received_twice",
        WARNING,
        31,
        "received_twice/other_record",
        evidence=ReceivedTwiceEvidence,
        of_scan=received_twice,
        variants=("on_lines", "one_record"),
        also=("received_apart", "threads"),
        info_variants=("on_lines", "one_record"),
        subject="name",
    ),
)

"""Findings from sends around their messages: lines that report failed sends, one message key with several msgIds.

An application that sends again after a failure makes a new msgId: nothing but the key joins the two. Reads no line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from idcore.answers.findings import limits
from idcore.answers.findings.evidence import FindingEvidence
from idcore.answers.findings.failed_sends import quoted
from idcore.answers.findings.model import Finding
from idcore.answers.findings.registry import WARNING, Rule, Scan, register
from idcore.answers.findings.times import logged
from idcore.ids.identify import identify
from idcore.ids.model import UniqId
from idcore.scan.lines import LineEvidence
from idcore.scan.message_keys import KeyedMessage
from idcore.scan.send_failures import SendFailure


def _first(texts: Iterable[str]) -> str:
    return ", ".join(list(dict.fromkeys(filter(None, texts)))[: limits.MOST_IDS])


def send_failed(scan: Scan) -> Iterator[Finding]:
    """send_failed: lines that report failed sends, by their reason."""
    evidence = scan.line_evidence or LineEvidence()
    by_reason: dict[str, list[SendFailure]] = defaultdict(list)
    for failure in evidence.send_failures:
        by_reason[failure.reason or failure.file].append(failure)
    for reason, failures in sorted(by_reason.items()):
        when = logged(scan, (one.time for one in failures))
        ids = dict.fromkeys(one for failure in failures for one in failure.ids if _is_msg_id(one))
        figures: dict[str, Any] = {
            "ids": list(ids)[: limits.MOST_IDS],
            "failed_line": quoted(failures[0].text),
            "failed_at": failures[0].place,
            "lines": _first(one.place for one in failures),
        }
        also = []
        for name, values in (
            ("topics", (one.topic for one in failures)),
            ("brokers", (broker for one in failures for broker in one.brokers)),
        ):
            if told := _first(values):
                figures[name] = told
                also.append(f"failed_{name}")
        if when and when["until"] > when["since"]:
            figures["over_seconds"] = (when["until"] - when["since"]).total_seconds()
            also.append("failed_over")
        figures["also"] = [*also, "part_read"] if evidence.is_part else also
        if not failures[0].reason:
            figures["variant"] = "unnamed"
        yield Finding.of("send_failed", reason, len(failures), figures, "likely", **when)


def same_key(scan: Scan) -> Iterator[Finding]:
    """same_key: message keys with several msgIds, where the other keys of the topic have one each."""
    evidence = scan.line_evidence or LineEvidence()
    topics: dict[str, dict[tuple[str, str | None], list[KeyedMessage]]] = defaultdict(lambda: defaultdict(list))
    for message in evidence.keys.values():
        topics[message.topic or ""][message.key, message.tag].append(message)
    failed = {text: failure for failure in evidence.send_failures for text in failure.ids}
    for topic, keys in sorted(topics.items()):
        several = [messages for messages in keys.values() if len(messages) > 1]
        few = [messages for messages in several if _may_be_one(messages)]
        # A body that stands under other keys, too, shows no more than none: it may be empty, or say only "refresh".
        usual = {body for body, times in Counter(chain(*map(_bodies, keys.values()))).items() if times > 1} | {None}
        alike = [messages for messages in few if len(bodies := _bodies(messages)) == 1 and not bodies & usual]
        # Where many keys stand on several messages, a key is no name of one: an order, a customer, a lock.
        named = [messages for messages in few if None in (bodies := _bodies(messages)) and len(bodies) <= 2]
        is_name = len(several) <= max(limits.SAME_KEYS, limits.SAME_KEY_SHARE * len(keys))
        for variant, some in ((None, alike), ("bodies_unknown", named if is_name else [])):
            if some:
                yield _same_key(scan, evidence, topic, variant, (some, len(keys)), failed)


def _same_key(
    scan: Scan,
    evidence: LineEvidence,
    topic: str,
    variant: str | None,
    keys: tuple[Sequence[Sequence[KeyedMessage]], int],
    failed: dict[str, SendFailure],
) -> Finding:
    told, of_keys = keys
    lines = [message for messages in told for message in messages]
    figures: dict[str, Any] = {
        "ids": [message.msg_id for message in lines][: limits.MOST_IDS],
        "key": quoted(told[0][0].key),
        "key_ids": ", ".join(message.msg_id for message in told[0][: limits.MOST_IDS]),
        "of_keys": of_keys,
        "lines": _first(message.place for message in told[0]),
        "places": [
            {"id": message.msg_id, "file": message.file, "line": message.line}
            for message in lines[: limits.MOST_IDS]
            if message.line is not None
        ],
    }
    also = []
    if spans := [span for messages in told if (span := _apart(messages)) is not None]:
        figures["apart_seconds"] = max(spans)
        also.append("keys_apart")
    if producers := {str(one.process) for message in lines if (one := _uniq(message.msg_id)) is not None}:
        figures["producers"] = _first(sorted(producers))
        also.append("keys_producers")
    if failures := [failed[message.msg_id] for message in lines if message.msg_id in failed]:
        figures |= {"failed_at": failures[0].place, "failed": len(failures)}
        also.append("keys_failed")
    figures["also"] = [*also, "part_read"] if evidence.is_part else also
    if variant:
        figures["variant"] = variant
    subject = topic or told[0][0].file
    when = logged(scan, (message.time for message in lines))
    return Finding.of("same_key", subject, len(told), figures, "likely" if variant is None else "possible", **when)


def _bodies(messages: Sequence[KeyedMessage]) -> set[int | None]:
    return {message.body_crc for message in messages}


def _may_be_one(messages: Sequence[KeyedMessage]) -> bool:
    """Whether they may be one message that was sent again: they are few, of one day, and have msgIds of their own."""
    if len(messages) > limits.SAME_KEY_IDS or not all(_is_msg_id(message.msg_id) for message in messages):
        return False
    elapsed = [one.elapsed for message in messages if (one := _uniq(message.msg_id)) is not None]
    return max(elapsed, default=0) - min(elapsed, default=0) <= limits.SAME_KEY_APART_MS


def _apart(messages: Sequence[KeyedMessage]) -> float | None:
    """Seconds between the first and the last ID of one process, by the IDs themselves."""
    own = [one for message in messages if (one := _uniq(message.msg_id)) is not None and one.has_time]
    if len(own) < len(messages) or len({one.process for one in own}) > 1:
        return None
    elapsed = [one.signed_elapsed for one in own]
    return (max(elapsed) - min(elapsed)) / 1000


def _uniq(text: str) -> UniqId | None:
    best = identify(text, "msgId", "any").best
    return best.id if best is not None and isinstance(best.id, UniqId) else None


def _is_msg_id(text: str) -> bool:
    best = identify(text, "msgId", "any").best
    return best is not None and best.id.kind != "offset"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SendFailedEvidence(FindingEvidence):
    """Of lines that report failed sends."""

    variant: str | None = None
    ids: Sequence[str] = ()  # that these lines name
    failed_line: str | None = None  # the first
    failed_at: str | None = None  # its place
    lines: str | None = None  # with commas between
    topics: str | None = None  # with commas between
    brokers: str | None = None  # names and addresses, with commas between
    over_seconds: float | None = None
    also: Sequence[str] = ()
    places: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SameKeyEvidence(FindingEvidence):
    """Of message keys that have several msgIds."""

    variant: str | None = None
    ids: Sequence[str] = ()
    key: str | None = None  # the first
    key_ids: str | None = None  # its msgIds, with commas between
    of_keys: int | None = None  # different keys of the topic
    lines: str | None = None  # of the first key, with commas between
    apart_seconds: float | None = None  # at most, by the IDs of one process
    producers: str | None = None  # with commas between
    failed: int | None = None  # messages of which a line says that their send failed
    failed_at: str | None = None
    also: Sequence[str] = ()
    places: Sequence[Any] = ()


register(
    Rule(
        "same_key",
        WARNING,
        11,
        "same_key/after_a_timeout",
        evidence=SameKeyEvidence,
        of_scan=same_key,
        variants=("bodies_unknown",),
        also=("keys_apart", "keys_producers", "keys_failed", "part_read"),
        info_variants=("bodies_unknown",),
        subject="name",
    ),
    Rule(
        "send_failed",
        WARNING,
        21,
        "send_failed/broker_busy",
        evidence=SendFailedEvidence,
        of_scan=send_failed,
        variants=("unnamed",),
        also=("failed_topics", "failed_brokers", "failed_over", "part_read"),
        subject="name",
    ),
)

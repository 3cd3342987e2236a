"""The sentences of answers in one language: which messages of the catalogue they are. Decides nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from idcore.answers.fate import Reason
from idcore.answers.fate.sentences import utc
from idcore.answers.lookup.clients import ProducerMatch
from idcore.answers.lookup.groups import GroupAnswer
from idcore.answers.lookup.model import Answer, Copy, Evidence
from idcore.answers.lookup.progress import Progress, kinds, pace
from idcore.answers.lookup.ways import MOST_BYTES, Listing
from idcore.base import catalogue
from idcore.base.catalogue import Words, upper
from idcore.rocketmq.store.consistency import Doubt

# Values of the evidence that are instants, as ISO 8601.
INSTANTS = frozenset({"first", "stored", "sent", "begin", "earliest", "clock", "here", "shown", "written"})

# Kinds of sources that have sentences of their own; their reasons contain the figures.
_OWN = {"store": "store"}
_ENGLISH = catalogue.words()


def has_own(source: str) -> bool:
    """Whether the sentences of this kind of source contain its figures: then they are not listed."""
    return source in _OWN


def reason_of(code: str, values: Mapping[str, Any], source: str, words: Words) -> str:
    """The sentence of a reason: of the kind of source where it has one of its own, else of all."""
    key = "store.entry_head" if "entry_offset" in values else _key("reason", code, source, words)
    return words.fill_known(key, values)


def _key(part: str, code: str, source: str, words: Words) -> str:
    own_key = f"{_OWN.get(source, 'lookup')}.{part}.{code}"
    return own_key if words.has(own_key) else f"lookup.{part}.{code}"


def reason_text(answer: Answer, words: Words = _ENGLISH, figures: Mapping[str, Any] | None = None) -> str:
    """Why a record was not found, or what is odd about the way to it; empty where there is nothing to say.

    `figures` are those of the answer as a reader has them.
    """
    if answer.reason is None:
        return ""
    shown = answer.figures if figures is None else figures
    return reason_of(answer.reason, {"id": answer.id, **shown}, answer.source, words)


def advice_text(answer: Answer, words: Words) -> str:
    """What to try next, at a source of this kind; empty without a reason."""
    return "" if answer.reason is None else words(_key("advice", answer.reason, answer.source, words))


def evidence_text(item: Evidence, words: Words = _ENGLISH, time: Callable[[datetime], str] | None = None) -> str:
    """A fact as a sentence; `time` is how its reader has instants."""
    shown = item.values if time is None else {name: _local(name, value, time) for name, value in item.values.items()}
    return words.fill(f"lookup.fact.{item.code}", shown)


def evidence_sentences(evidence: Iterable[Evidence], words: Words, time: Callable[[datetime], str]) -> list[str]:
    """The facts that have sentences of their own."""
    items = (item for item in evidence if not item.is_figure)
    return [upper(evidence_text(item, words, time)) + words("stop") for item in items]


def _local(name: str, value: Any, time: Callable[[datetime], str]) -> Any:
    try:
        return time(datetime.fromisoformat(value)) if name in INSTANTS else value
    except ValueError:
        return value  # what a broker says need not be a time that there is


def list_text(listing: Listing, words: Words, time: Callable[[int], str] = utc) -> str:
    """How many messages were listed, of how many, by which way."""
    way = listing.way
    values = {
        "topic": way.topic,
        "key": way.key,
        "tag": way.tag,
        "group": way.group,
        "queue": way.queue,
        "offset": f"{way.offset:,}",
    }
    kind = "topic" if way.kind == "time" else way.kind
    parts = [words.fill(f"list.of.{kind}", values)]
    if way.topic is not None and way.kind == "key":
        parts.append(words("list.of.topic", topic=way.topic))
    if way.begin_ms is not None:
        parts.append(words("list.from", at=time(way.begin_ms)))
    if way.end_ms is not None:
        parts.append(words("list.to", at=time(way.end_ms)))
    messages, total = words.count("message", len(listing.copies)), sum(queue.count for queue in listing.queues)
    what = words("comma").join(parts)
    if total > len(listing.copies):
        return words("list.said_of", messages=messages, total=f"{total:,}", what=what)
    return words("list.said", messages=messages, what=what)


def cut_text(listing: Listing, words: Words) -> str:
    """What ended a list early, and how much of it is missing; empty for a whole list."""
    if listing.cut is None:
        return ""
    values = {"limit": f"{listing.way.limit:,}", "size": words.bytes(MOST_BYTES)}
    missing = words("list.left_open") if listing.left is None else words.count("place", listing.left)
    return words.fill(f"list.cut.{listing.cut}", values | {"missing": missing})


def list_reason(listing: Listing, words: Words) -> str:
    """Why a list is empty; empty for a list with messages."""
    return "" if listing.reason is None else words(f"list.reason.{listing.reason}")


def relation_text(copy: Copy, words: Words = _ENGLISH) -> str:
    """What a copy is among the others; empty for a record that was not related to any."""
    return (
        ""
        if copy.relation is None
        else words(f"lookup.relation.{copy.relation}", group=copy.group, tries=f"{copy.record.reconsume_times:,}")
    )


def issue_text(reason: Reason, words: Words) -> str:
    """What does not fit together in a group."""
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in reason.values.items()}
    return words.fill_known(f"groups.issue.{reason.code}", shown)


def groups_text(seen: GroupAnswer, topic: str, words: Words) -> str:
    """How many groups a topic has, and how they are."""
    if not seen.routed:
        return words("groups.unknown_topic", topic=topic)
    if not seen.rows:
        return words("groups.none", topic=topic)
    counts = kinds(seen.rows)
    shown = {state: f"{counts[state]:,}" for state in ("behind", "offline", "done")}
    return words("groups.said_list", topic=topic, groups=words.count("group", len(seen.rows)), **shown)


def progress_texts(seen: GroupAnswer, before: Progress | None, words: Words) -> list[str]:
    """How far a group is, the verdict first; with an earlier answer also its pace, and the time left."""
    progress = seen.progress
    if progress is None or not seen.routed:
        key = "store.no_topic" if progress is not None and progress.snapshot else "groups.unknown_topic"
        return [words(key, topic="" if progress is None else progress.topic)]
    known = any(queue.lag is not None for queue in progress.queues)
    if progress.broadcasts:
        key = "_broadcast"
    elif not known:
        key = "_silent" if progress.silent else "_nothing"
    else:
        key = "" if progress.lag else "_silent" if progress.silent else "_unread" if progress.unread else "_done"
    named = {"group": progress.group, "topic": progress.topic}
    clients = words("groups.proxied") if progress.proxied else words.count("connected", len(progress.members))
    clients = words("groups.snapshot") if progress.snapshot else clients
    messages = words.count("message", progress.lag)
    texts = [words(f"groups.said{key}", clients=clients, messages=messages, **named)]
    if progress.silent:
        texts.append(words("groups.silent", brokers=words("comma").join(progress.silent)))
    if known and progress.unread:
        count, of = len(progress.unread), len(progress.queues)
        texts.append(words("groups.unread", count=count, n=f"{count:,}", of=f"{of:,}"))
    moved = None if before is None else pace(before, progress)
    if before is None or moved is None:
        return texts if progress.snapshot else [*texts, words("groups.asked_once")]
    if not known:
        return texts
    rates = {"consumed": f"{moved.consumed:,.1f}", "stored": f"{moved.stored:,.1f}"}
    texts.append(words("groups.pace", **rates))
    if moved.consumed < 0:
        return [*texts, words("groups.pace_back")]
    if moved.lag and moved.left is None:
        return [*texts, words("groups.pace_never")]
    return [*texts, words("groups.pace_left", left=words.duration(moved.left or 0))] if moved.lag else texts


def who_texts(who: ProducerMatch, words: Words, time: Callable[[int], str] | None = None) -> list[str]:
    """Whether the process behind an id is connected, what supports it, and who listed the clients."""
    match, live = who.match, who.live
    comma = words("comma").join
    addresses = comma(dict.fromkeys(address for client in match.clients for address in client.addresses))
    names = comma(dict.fromkeys(client.client_id for client in match.clients))
    texts = [words(f"who.{match.code}", client=names, host=match.host, pid=match.pid, addresses=addresses)]
    if match.same_connection is not None:
        texts.append(words("who.same_connection", client=match.same_connection))
    if match.language:
        languages = comma(sorted({client.language for client in match.clients}))
        maker = re.split("[,，]", words.template(f"client.{match.maker}"))[0]
        texts.append(words(f"who.{match.language}", languages=languages, maker=maker))
    if live.older:
        texts.append(words("who.older", brokers=comma(live.older)))
    if live.silent:
        texts.append(words("who.silent", brokers=comma(dict.fromkeys(broker for broker, _ in live.silent))))
    listed, at = words.count("live_client", len(live.clients)), (time or utc)(live.at_ms)
    texts = [upper(text) + words("stop") for text in texts]
    return [*texts, words("who.asked", brokers=comma(live.asked) or "–", clients=listed, at=at)]


def doubt_text(doubt: Doubt, words: Words = _ENGLISH, time: Callable[[int], str] = utc) -> str:
    """What does not agree with a record; `time` is how a reader has times."""
    timed = doubt.code.endswith("_time")
    values = {name: time(value) if timed else value for name, value in doubt.values.items()}
    return words.fill_known(f"store.doubt.{doubt.code}", values)

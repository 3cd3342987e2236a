"""What the lines about one message say of its delivery, together and in words. Reads no line and asks nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from idcore.base import catalogue
from idcore.base.catalogue import Words
from idcore.ids.delivery import (
    DEAD_PREFIX,
    ENDED,
    EVENTS,
    HALF_TOPIC,
    RETRY_PREFIX,
    SEND_OK,
    TRANSACTIONS,
    UNSENT,
    WAITING_TOPICS,
    Delivery,
)

Time = Callable[[int], str]
Place = Callable[[Delivery], str]

# MessageStoreConfig.messageDelayLevel as brokers come; the first retry waits at level 3.
DELAY_SECONDS = (1, 5, 10, 30, *range(60, 601, 60), 1_200, 1_800, 3_600, 7_200)
FIRST_RETRY_LEVEL = 3
MOST_RETRIES = 16  # of a group as it comes (maxReconsumeTimes)
_BROKER = 16  # digits of an offsetMsgId in front of its offset
_MOST = 5  # receipts, places and threads that a sentence names
_ENGLISH = catalogue.words()


def delay_of(tries: int) -> int | None:
    """How many seconds a retry waits by the default levels; None behind the last."""
    level = FIRST_RETRY_LEVEL - 1 + tries
    return DELAY_SECONDS[level - 1] if 1 <= tries <= MOST_RETRIES else None


def by_message(deliveries: Iterable[Delivery]) -> list[list[Delivery]]:
    """What is said of each message: the msgId and the offsetMsgIds of one record are one message.

    So are copies that one broker made from one record: one that is cut before its msgId has its offsetMsgId only.
    """
    known = list(deliveries)
    named = {one.offset_id: one.msg_id for one in known if one.offset_id is not None}
    named |= {one.origin: one.msg_id for one in known if one.origin is not None and not _is_beside(one)}
    for one in known:
        if one.origin is not None and _is_beside(one):
            named.setdefault(one.msg_id, named.setdefault(one.origin, one.origin))
    groups: dict[str, list[Delivery]] = {}
    for one in known:
        groups.setdefault(named.get(one.msg_id, one.msg_id), []).append(one)
    return list(groups.values())


def _is_beside(one: Delivery) -> bool:
    """Whether it is named by the offsetMsgId of a retry, on the broker that has the record it was made from."""
    return one.offset_id is None and (one.origin or "")[:_BROKER] == one.msg_id[:_BROKER]


def short_text(one: Delivery, words: Words = _ENGLISH) -> str:
    """One line in a few words: `failed, retry 2`; empty where it says nothing of a delivery."""
    if not one.says_much:
        return ""
    parts = [words(f"delivery.event.{one.event}")] if one.event in _NAMED else []
    parts += [one.status] if one.status is not None else []
    parts += [words("delivery.short.dead")] if one.is_dead else []
    parts += [words("delivery.short.waits")] if one.stored_topic in WAITING_TOPICS else []
    parts += [words("delivery.short.half")] if one.stored_topic == HALF_TOPIC else []
    parts += [try_text(one.tries, words)] if one.tries is not None and one.event != "sent" else []
    if one.receipt is not None:
        parts.append(words("delivery.short.receipt", broker=one.receipt.broker, queue=one.receipt.queue_id))
    if one.recall is not None:
        parts.append(words("delivery.short.recall"))
    return words("comma").join(parts)


_NAMED = ("received", "failed", "acked", "unacked", "skipped", "filtered", "track", "sent", UNSENT, *TRANSACTIONS)


def try_text(tries: int, words: Words) -> str:
    """The name of a try, by the deliveries before it."""
    return words("delivery.retry", n=f"{tries:,}") if tries else words("delivery.first")


def tries_text(tries: Iterable[int | None], words: Words) -> str:
    """`first attempt, retries 1 to 3`; what names no try is named last."""
    distinct = set(tries)
    numbers = sorted(each for each in distinct if each)
    parts = [words("delivery.first")] if 0 in distinct else []
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        parts.append(words.numbers("delivery.retries", first=numbers[0], last=numbers[-1]))
    else:
        parts += [try_text(each, words) for each in numbers]
    if None in distinct:
        parts.append(words("delivery.unnamed"))
    return words("comma").join(parts)


def line_text(one: Delivery, words: Words) -> str:
    """Where a line is, if there is one text only."""
    return words("delivery.line", line=f"{one.line:,}")


def sentences(
    deliveries: Sequence[Delivery], words: Words, time: Time | None = None, place: Place | None = None
) -> list[str]:
    """Everything that the lines say of one message; empty where they say nothing of its delivery."""
    at = place or (lambda one: line_text(one, words))
    texts = [
        *_transaction(deliveries, words, at),
        *_of_groups(deliveries, words, at),
        *_ends(deliveries, words, at),
        *_copies(deliveries, words, at),
        *_twice(deliveries, words, at),
        *(_receipts(deliveries, words, time) if time is not None else ()),
        *_tracks(deliveries, words),
        *_sends(deliveries, words, at),
    ]
    recalls = dict.fromkeys(one.recall for one in deliveries if one.recall is not None)
    if time is not None:
        texts += [
            words("delivery.said.recall", topic=each.topic, broker=each.broker, due=time(each.due_ms))
            for each in recalls
        ]
    return texts


def _of(deliveries: Iterable[Delivery], *events: str) -> list[Delivery]:
    """The lines with these events, each once."""
    return list({(one.line, one.group): one for one in deliveries if one.event in events}.values())


def _transaction(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    """What producers and brokers say of its transaction, each kind once."""
    for event in TRANSACTIONS:
        if some := _of(deliveries, event):
            yield words(f"delivery.said.{event}", places=words("comma").join(at(one) for one in some[:_MOST]))


def _of_groups(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    """The tries of each group for itself, if lines name several: each group gets and retries a message on its own.

    An end that names no group may be of any, and any may be that of a line which names none.
    """
    told = [one for one in deliveries if one.event in EVENTS or one.tries]
    groups = dict.fromkeys(one.group for one in told)
    if len([group for group in groups if group is not None]) < 2:
        yield from (*_tries(deliveries, words, at), *_again(deliveries, words, at))
        return
    for group in groups:
        own = [one for one in deliveries if one.group == group or _may_end(one, group)]
        for text in (*_tries(own, words, at), *_again(own, words, at)):
            yield text if group is None else words("delivery.said.of_group", group=group, said=text)


def _may_end(one: Delivery, group: str | None) -> bool:
    """Whether a line may say how it ended in a group, of which it has not the name."""
    return None in (one.group, group) and (one.event in ENDED or one.is_dead)


def _tries(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    """How often it was received, which tries failed, and what comes next."""
    failed, received, acked = (
        _of(deliveries, "failed"),
        _of(deliveries, "received"),
        _of(deliveries, *ENDED),
    )
    most = max((one.tries for one in deliveries if one.tries is not None and one.event), default=None)
    for code, some in (("failed", failed), ("received", received)):
        if some and (code == "failed" or len({one.tries for one in some}) > 1 or some[0].tries):
            tries = tries_text((one.tries for one in some), words)
            yield words(f"delivery.said.{code}", count=len(some), tries=tries)
    counted = max(
        (one.tries or 0 for one in deliveries if not one.is_dead), default=0
    )  # by records that are only shown
    if counted and (counted > (most or 0) or not failed):
        yield words("delivery.said.retried", n=f"{counted:,}")
    if failed and not acked:
        behind = deliveries[max(place for place, one in enumerate(deliveries) if one.event == "failed") :]
        later = _of(behind, "received")
        yield words("delivery.said.open_again", place=at(later[-1])) if later else words("delivery.said.not_consumed")
    elif most and not acked and counted <= most and not any(one.is_dead for one in deliveries):
        yield words("delivery.said.last_open")
    last = failed[-1].tries if failed else most or None
    pace = next((one.pace for one in reversed(deliveries) if one.pace and one.event), "")
    after = None if last is None else delay_of(last + 1)
    groups = {one.group for one in failed or deliveries}
    is_over = acked or any(one.is_dead and (one.group in groups or None in {one.group, *groups}) for one in deliveries)
    if is_over or (last is not None and counted > last):  # it ended, or what comes next is in the lines
        return
    if (failed or last) and pace and (pace == "orderly" or last is None or after is not None):
        yield words(f"delivery.said.next_{pace}")
    elif last is not None:
        if after is None:
            yield words("delivery.said.dead_next", most=MOST_RETRIES)
        else:
            values = {"n": last + 1, "after_seconds": after, "level": FIRST_RETRY_LEVEL + last, "most": MOST_RETRIES}
            yield words.fill("delivery.said.next", values)


def _again(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    """Why it came again: the first attempt that failed and whose next one is in the lines, and the time between."""
    later = {one.tries: one for one in reversed(_of(deliveries, "received", "failed", "acked")) if one.tries}
    for one in _of(deliveries, "failed"):
        then = later.get((one.tries or 0) + 1)
        if one.tries is None or then is None or len({one.group, then.group} - {None}) > 1:
            continue
        names = {"failed": try_text(one.tries, words), "then": try_text(one.tries + 1, words)}
        places = {"place": at(one), "there": at(then)}
        apart, usual = _seconds_between(one, then), delay_of(one.tries + 1)
        if apart is None or usual is None or one.pace or then.pace:
            yield words("delivery.said.again", **names, **places)
        else:
            times = {"apart_seconds": apart, "usual_seconds": usual}
            yield words.fill("delivery.said.again_after", names | places | times)
        return


def _seconds_between(one: Delivery, then: Delivery) -> float | None:
    """From one line's time to the other's; None where one has none, or a zone and the other not, or it is earlier."""
    if one.time is None or then.time is None or (one.time.tzinfo is None) != (then.time.tzinfo is None):
        return None
    apart = (then.time - one.time).total_seconds()
    return apart if apart >= 0 else None


def _ends(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    for event in ("acked", "unacked", "skipped"):
        for detail in dict.fromkeys(one.detail for one in _of(deliveries, event)):
            some = [one for one in _of(deliveries, event) if one.detail == detail]
            key = f"delivery.said.{event}_{detail}"
            groups = ", ".join(dict.fromkeys(one.group for one in some if one.group)) or words("delivery.some_consumer")
            codes = ", ".join(dict.fromkeys(one.status for one in some if one.status)) or "?"
            values = {"who": groups, "codes": codes, "places": words("comma").join(at(one) for one in some[:_MOST])}
            yield words.fill(key if words.has(key) else f"delivery.said.{event}", values)


def _copies(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    """Where retries and dead letters are, and which topic the message is of."""
    for stored in dict.fromkeys(one.stored_topic for one in deliveries if one.stored_topic):
        some = [one for one in deliveries if one.stored_topic == stored]
        topic = next((one.topic for one in (*some, *deliveries) if one.topic), None)
        code = (
            "dead"
            if some[0].is_dead
            else "waits"
            if stored in WAITING_TOPICS
            else "half"
            if stored == HALF_TOPIC
            else "copies"
        )
        if stored == DEAD_PREFIX:  # of a group that no line names
            if not any(one.is_dead and one.stored_topic != DEAD_PREFIX for one in deliveries):
                yield words("delivery.said.dead_unnamed", places=words("comma").join(at(one) for one in some[:_MOST]))
            continue
        retry = next((one for one in some if one.tries and one.group), None) if code == "waits" else None
        known = {"n": f"{retry.tries:,}", "group": retry.group} if retry is not None else {}
        key = f"delivery.said.{code}{'_retry' if known else ''}{'' if topic else '_only'}"
        yield words(key, stored=stored, **known, **({"topic": topic} if topic else {}))


def twice(deliveries: Sequence[Delivery]) -> list[list[Delivery]]:
    """Lines of one form that each say that a group received a message, at the same try: two or more of them.

    A program that says it of each message in two ways has lines of two forms.
    """
    groups: dict[tuple[int, int | None, str | None], list[Delivery]] = {}
    for one in deliveries:
        if one.event in ("received", "acked", "") and (one.event or one.thread):
            groups.setdefault((one.form, one.tries, one.group), []).append(one)
    return [some for some in groups.values() if len({one.line for one in some}) > 1]


def is_of_records(some: Sequence[Delivery]) -> bool | None:
    """Whether lines are of different records of the message; None where they do not name them."""
    places = {one.place for one in some}
    return None if None in places else len(places) > 1


def apart(some: Sequence[Delivery]) -> float | None:
    """Seconds from the first to the last of some lines, if they open with comparable times."""
    times = [one.time for one in some]
    if None in times or len({each.tzinfo is not None for each in times if each is not None}) != 1:
        return None
    known = [each for each in times if each is not None]
    return (max(known) - min(known)).total_seconds()


def _twice(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    for some in twice(deliveries):
        places = words("comma").join(at(one) for one in some[:_MOST])
        key = "delivery.said.twice" if some[0].tries is None else "delivery.said.same_try"
        yield words(key, count=len(some), places=places)
        between = apart(some)
        if between is not None:
            yield words.fill("delivery.said.apart", {"between_seconds": between})
        threads = list(dict.fromkeys(one.thread for one in some if one.thread))
        if threads:
            yield words("delivery.said.threads", threads=words.first(threads, _MOST))
        records = is_of_records(some)
        yield words(f"delivery.said.{'records' if records else 'one_record' if records is False else 'maybe_printed'}")


def _receipts(deliveries: Sequence[Delivery], words: Words, time: Time) -> Iterator[str]:
    """Each pop, and why there are several."""
    pops = {str(one.receipt): one.receipt for one in deliveries if one.receipt is not None}
    ordered = sorted(pops.values(), key=lambda each: each.popped_ms)
    for each in ordered[:_MOST]:
        known = {"popped": time(each.popped_ms), "ends": time(each.ends_ms), "broker": each.broker}
        yield words("delivery.said.pop", queue=each.queue_id, **known)
        if each.physical_offset is not None:
            values = {"offset": each.queue_offset or 0, "physical": each.physical_offset}
            yield words.numbers("delivery.said.pop_place", **values)
    places = {(each.broker, each.queue_id, each.queue_offset) for each in ordered}
    if len(places) > 1:
        yield words("delivery.said.pops_records", n=f"{len(places):,}")
    elif len(ordered) > 1:
        one, later = ordered[:2]
        yield words("delivery.said.pops_again" if later.popped_ms >= one.ends_ms else "delivery.said.pops_early")


def _tracks(deliveries: Sequence[Delivery], words: Words) -> Iterator[str]:
    """What mqadmin says of each group, and what that means."""
    tracks = {one.group: one for one in deliveries if one.event in ("track", "filtered") and one.status is not None}
    for group, one in tracks.items():
        yield words("delivery.said.track", group=group, status=one.status)
        if one.reason:
            yield words("delivery.said.reason", reason=one.reason)
    for status in dict.fromkeys(one.status for one in tracks.values()):
        if words.has(f"delivery.track.{status}"):
            yield words(f"delivery.track.{status}")


def sent_again(deliveries: Sequence[Delivery]) -> list[list[Delivery]]:
    """SendResults of one topic that name different records, each record once: two or more of them, all SEND_OK."""
    records: dict[str | None, dict[str, Delivery]] = {}
    for one in deliveries:
        is_copy = (one.topic or "").startswith((RETRY_PREFIX, DEAD_PREFIX))
        if one.event == "sent" and one.status == SEND_OK and one.offset_id and not is_copy:
            records.setdefault(one.topic, {}).setdefault(one.offset_id.upper(), one)
    return [list(some.values()) for some in records.values() if len(some) > 1]


def record_text(one: Delivery, words: Words) -> str:
    """Where a line says that its record is: broker, queue and queue offset, else the offsetMsgId."""
    if one.broker is None or one.queue_id is None or one.queue_offset is None:
        return one.offset_id or ""
    return words("delivery.record", broker=one.broker, queue=one.queue_id, offset=f"{one.queue_offset:,}")


def unsent(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """The lines that report that a send of the message failed."""
    return _of(deliveries, UNSENT)


def stored(deliveries: Iterable[Delivery]) -> Delivery | None:
    """The first line that shows that a broker stored the message."""
    return next((one for one in deliveries if one.shows_stored), None)


def _sends(deliveries: Sequence[Delivery], words: Words, at: Place) -> Iterator[str]:
    if failed := unsent(deliveries):
        places, shown = words("comma").join(at(one) for one in failed[:_MOST]), stored(deliveries)
        there = {} if shown is None else {"there": at(shown)}
        yield words(f"delivery.said.unsent{'_once' if there else ''}", places=places, **there)
    for some in sent_again(deliveries):
        records = words.first([record_text(one, words) for one in some], _MOST)
        places = words("comma").join(at(one) for one in some[:_MOST])
        yield words("delivery.said.sent_again", count=len(some), records=records, places=places)
        if (between := apart(some)) is not None:
            yield words.fill("delivery.said.apart", {"between_seconds": between})
    counts = Counter(one.status for one in _of(deliveries, "sent") if one.status not in (None, SEND_OK))
    for status in counts:
        yield words("delivery.said.status", status=status)
        if words.has(f"delivery.status.{status}"):
            yield words(f"delivery.status.{status}")


_MOST_TOLD = 20  # messages


def told(
    deliveries: Iterable[Delivery], words: Words = _ENGLISH, time: Time | None = None
) -> tuple[list[tuple[str, list[str]]], int]:
    """The sentences about each message, as many messages as people read; and how many messages more there are."""
    every = [(some[0].msg_id, sentences(some, words, time)) for some in by_message(deliveries)]
    every = [(name, texts) for name, texts in every if texts]
    return every[:_MOST_TOLD], max(0, len(every) - _MOST_TOLD)


def row_of(one: Delivery) -> Mapping[str, object]:
    """What a line says as JSON has it: what it does not say is left out."""
    row: dict[str, object] = {
        "text": short_text(one),
        "event": one.event or None,
        "try": None if one.tries is None else one.tries + 1,
    }
    names = (
        "detail",
        "topic",
        "stored_topic",
        "group",
        "thread",
        "origin",
        "delay_level",
        "status",
        "reason",
        "broker",
    )
    row |= {name: getattr(one, name) for name in (*names, "queue_id", "queue_offset", "physical_offset")}
    if one.receipt is not None:
        row |= {
            "receipt": str(one.receipt),
            "popped_ms": one.receipt.popped_ms,
            "invisible_until_ms": one.receipt.ends_ms,
        }
    if one.recall is not None:
        row |= {"recall_due_ms": one.recall.due_ms}
    return {name: value for name, value in row.items() if value not in (None, "", DEAD_PREFIX)}

"""Consumer groups as tables: all groups of a topic, and of one group its queues, its clients, its own topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from idcore.answers.fate import Reason
from idcore.answers.lookup import issue_text
from idcore.answers.lookup.clients import version_text
from idcore.answers.lookup.progress import (
    WRONG,
    GroupClient,
    GroupRow,
    Progress,
    QueueState,
    SideTopic,
    in_memory,
    pace,
    state_of,
)
from idcore.answers.lookup.queries import GroupQuery
from idcore.answers.lookup.store_groups import OfTopic
from idcore.base.catalogue import Words, upper
from idcore.base.numbers import whole_number
from idcore.presentation.html.strips import strip
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import Column, Html, fact_list, link, listed, number, tag, wrapped

MOST_ROWS = 300
MOST_ISSUES = 8
LEAST_WAIT_MS = 60_000  # of the oldest message that waits, to be named


def _column(name: str, words: Words, cell: Callable[[Any], Any], *, mono: bool = False, right: bool = False) -> Column:
    return Column(name, words(f"groups.col.{name}"), mono or right, right, cell=cell)


def _lag(row: GroupRow, words: Words) -> str:
    """How many messages, where that is known: 0 next to queues without an offset would say that nothing waits."""
    return words("groups.not_known") if row.lag is None or (not row.lag and row.unread) else f"{row.lag:,}"


def _state(row: GroupRow, words: Words) -> str:
    state = state_of(row)
    if state == "behind" and row.unread:
        return words("groups.state.unread", count=row.unread, n=f"{row.unread:,}")
    return words(f"groups.state.{state}")


def groups(rows: Sequence[GroupRow], asked: GroupQuery, reader: Reader) -> Html:
    """All groups of a topic, those furthest behind first; each leads to its progress."""
    words, unknown = reader.words, reader.words("groups.not_known")

    def name(row: GroupRow) -> Html:
        return link(row.group, reader.href("groups", **replace(asked, group=row.group).query))

    columns = [
        _column("group", words, name, mono=True),
        _column("lag", words, lambda row: _lag(row, words), right=True),
        _column("clients", words, lambda row: unknown if row.clients is None else f"{row.clients:,}", right=True),
        _column("kind", words, lambda row: _kind(row.consume_type, row.message_model, words)),
        _column("state", words, lambda row: _state(row, words)),
    ]
    ordered = sorted(rows, key=lambda row: (-(row.lag or 0), -row.unread, row.group))
    return listed(columns, ordered, words("groups.list"))


def of_store(rows: Sequence[OfTopic], href: Callable[[OfTopic], str], snapshot_ms: int, reader: Reader) -> Html:
    """The groups of all topics of a store folder; each leads to its queues."""
    words, unknown = reader.words, reader.words("groups.not_known")
    name = lambda each: wrapped(each.row.group)  # noqa: E731

    def own(each: OfTopic, count: int | None) -> str:
        return "" if not each.first else unknown if count is None else f"{count:,}"

    columns = [
        _column("group", words, lambda each: link(name(each), href(each)) if each.topic else name(each), mono=True),
        _column("topic", words, lambda each: wrapped(each.topic) if each.topic else unknown, mono=True),
        _column("lag", words, lambda each: _lag(each.row, words), right=True),
        _column("oldest", words, lambda each: waits(each, snapshot_ms, reader)),
        _column("retries", words, lambda each: own(each, each.waiting), right=True),
        _column("dead", words, lambda each: own(each, each.dead), right=True),
        _column("state", words, lambda each: _state(each.row, words)),
    ]
    return listed(columns, rows, words("groups.of_store"))


def waits(each: OfTopic, snapshot_ms: int, reader: Reader) -> str:
    """For how long the oldest message waits that a group has not passed; empty where none does."""
    if each.oldest_ms is None or each.oldest_ms > snapshot_ms:
        return ""
    return reader.words.duration((snapshot_ms - each.oldest_ms) / 1_000)


def longest(rows: Sequence[OfTopic], snapshot_ms: int, reader: Reader) -> str:
    """The group whose oldest message waits longest, in a sentence; empty where none waits for a minute."""
    dated = [each for each in rows if each.oldest_ms is not None and snapshot_ms - each.oldest_ms >= LEAST_WAIT_MS]
    if not dated:
        return ""
    worst = min(dated, key=lambda each: each.oldest_ms or 0)
    at, lasting = reader.stamp(worst.oldest_ms, "–"), waits(worst, snapshot_ms, reader)
    return reader.words(
        "groups.store_longest", group=escaped(worst.row.group), topic=escaped(worst.topic), at=at, lasting=lasting
    )


def position(at: str, progress: Progress, words: Words) -> Html | None:
    """The queue of the message that a link leads from, as a strip. `at`: broker, queue and offset, by colons."""
    place, _, offset = at.rpartition(":")
    broker, _, rest = place.rpartition(":")
    message = whole_number(offset, 18)
    if whole_number(rest) is None or message is None:
        return None
    queue = next((each for each in progress.queues if (each.broker, str(each.queue)) == (broker, rest)), None)
    if queue is None:
        return None
    places = {"begin": queue.begin, "offset": queue.offset, "end": queue.end, "message": message}
    if queue.in_flight:
        places["pulled"] = queue.pulled
    title = tag("b", words("groups.position", queue=f"{queue.queue:,}", broker=broker))
    held = None
    if any(member.state is not None for member in progress.members):
        clients = words("comma").join(in_memory(progress, broker, queue.queue, int(offset)))
        memory = words("groups.memory", clients=clients) if clients else words("groups.no_memory")
        held = tag("p", memory, class_="mq-advice")
    return tag(
        "div",
        tag("p", title, class_="mq-meaning"),
        strip({name: value for name, value in places.items() if value is not None}, words),
        held,
        tag("p", words("strip.scale"), class_="mq-faint mq-note"),
    )


def issues(reasons: Sequence[Reason], words: Words) -> tuple[str, str]:
    """What does not fit together, as lists in Markdown: what is wrong now, and what is a remark."""

    def listed(wrong: bool) -> str:
        texts = [upper(issue_text(each, words)) + words("stop") for each in reasons if (each.code in WRONG) == wrong]
        more = len(texts) - MOST_ISSUES
        lines = [f"- {escaped(text)}" for text in texts[:MOST_ISSUES]]
        return "\n".join([*lines, *([f"- {words('groups.issues_more', n=f'{more:,}')}"] if more > 0 else [])])

    return listed(True), listed(False)


def asked_text(asked: GroupQuery, now: Progress, before: Progress | None, reader: Reader) -> str:
    """When the cluster was asked, and with which earlier answer this one is compared."""
    at = reader.stamp(now.at_ms)
    if before is None:
        return reader.words("groups.asked_at", cluster=asked.cluster, at=at)
    return reader.words("groups.asked_twice", cluster=asked.cluster, first=reader.stamp(before.at_ms), last=at)


def furthest_behind(progress: Progress) -> list[QueueState]:
    """The queues, those furthest behind first."""
    return sorted(progress.queues, key=lambda queue: (-(queue.lag or 0), queue.broker, queue.queue))


def queues(
    shown: Sequence[QueueState],
    progress: Progress,
    before: Progress | None,
    waiting: Callable[[QueueState], str],
    reader: Reader,
) -> Html:
    """The queues: how far behind, where, since when; with an earlier answer also how fast.

    `waiting`: the address of the messages that a group has not consumed in a queue.
    """
    words, unknown = reader.words, reader.words("groups.not_known")

    def none(queue: QueueState) -> str:
        return words("groups.none_yet") if queue.known else unknown

    def name(queue: QueueState) -> str:
        return number(queue.queue) if queue.readable else words("groups.not_read", queue=number(queue.queue))

    def rate(queue: QueueState) -> str:
        moved = pace(before, progress, queue) if before is not None else None
        return "" if moved is None or queue.lag is None else f"{moved.consumed:,.1f}"

    def left(queue: QueueState) -> str:
        moved = pace(before, progress, queue) if before is not None else None
        if moved is None or not queue.lag:
            return ""
        return words("groups.never") if moved.left is None else words.duration(moved.left)

    def owner(queue: QueueState) -> str:
        return unknown if queue.owners is None else words("comma").join(queue.owners) or none(queue)

    def lag(queue: QueueState) -> Html | str:
        text = number(queue.lag)
        return link(text, waiting(queue)) if queue.lag and queue.offset is not None and not progress.static else text

    def offset(queue: QueueState) -> str:
        return none(queue) if queue.offset is None else f"{queue.offset:,}"

    seen_twice = [_column("rate", words, rate, right=True), _column("left", words, left, right=True)]
    columns = [
        _column("broker", words, lambda queue: queue.broker, mono=True),
        _column("queue", words, name, right=True),
        _column("lag", words, lag, right=True),
        *(seen_twice if before is not None else []),
        _column("in_flight", words, lambda queue: number(queue.in_flight), right=True),
        _column("offset", words, offset, right=True),
        _column("begin", words, lambda queue: number(queue.begin), right=True),
        _column("end", words, lambda queue: number(queue.end), right=True),
        *([_column("owner", words, owner, mono=True)] if progress.clients_asked else []),
        _column("passed", words, lambda queue: reader.stamp(queue.passed_ms), mono=True),
    ]
    return listed(columns, shown, words("groups.queues"))


def consumption(progress: Progress, reader: Reader) -> Html | None:
    """How a group consumes, as its brokers have it; None without a client."""
    words, online, wanted = reader.words, progress.online, progress.subscription
    if online is None:
        return None
    known = [(words("groups.consumes"), _kind(online.consume_type, online.message_model, words))]
    known.append((words("groups.from_where"), online.from_where))
    if wanted is not None:
        text, at = f"{wanted.kind} {wanted.expression or '*'}", reader.stamp(wanted.version) or "–"
        known.append((words("groups.subscription"), words("groups.subscribed", expression=text, at=at)))
    return fact_list(known)


def clients(progress: Progress, reader: Reader) -> Html:
    """Each client of a group; of those that were asked since when they run and what they own."""
    words, comma = reader.words, reader.words("comma").join

    def began(member: GroupClient) -> str:
        return words("groups.no_answer") if member.state is None else reader.stamp(member.state.began_ms)

    def owns(member: GroupClient) -> str:
        if member.state is None:
            return ""
        return f"{sum(own.topic == progress.topic for own in member.state.queues):,}"

    asked = [_column("began", words, began, mono=True), _column("owns", words, owns, right=True)]
    columns = [
        _column("client", words, lambda member: member.client.client_id, mono=True),
        _column("address", words, lambda member: comma(member.client.addresses), mono=True),
        _column("language", words, lambda member: member.client.language),
        _column("version", words, lambda member: version_text(member.client.version)),
        _column("brokers", words, lambda member: comma(member.client.brokers), mono=True),
        *(asked if progress.clients_asked else []),
    ]
    return listed(columns, progress.members[:MOST_ROWS], words("groups.clients"))


def sides(progress: Progress, held: Callable[[SideTopic], str], reader: Reader) -> Html | None:
    """The group's own topics; None without any. `held`: the address of the messages of one; empty without one."""
    words = reader.words

    def messages(side: SideTopic) -> Html | str:
        way = held(side) if side.held else ""
        return link(number(side.held), way) if way else number(side.held)

    def waiting(side: SideTopic) -> str:
        if side.kind == "dead":
            return ""
        return words("groups.not_known") if side.waiting is None else f"{side.waiting:,}"

    columns = [
        _column("topic", words, lambda side: side.topic, mono=True),
        _column("kind", words, lambda side: words(f"groups.{side.kind}")),
        _column("held", words, messages, right=True),
        _column("waiting", words, waiting, right=True),
        _column("last", words, lambda side: reader.stamp(side.last_ms), mono=True),
    ]
    return listed(columns, progress.side_topics, words("groups.side")) if progress.side_topics else None


def _kind(consume_type: str, model: str, words: Words) -> str:
    """How a group consumes; what is not known yet as the broker writes it."""
    texts = (
        words(f"groups.kind.{text}") if words.has(f"groups.kind.{text}") else text for text in (consume_type, model)
    )
    return words("comma").join(filter(None, texts))

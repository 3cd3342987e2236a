"""Operations on messages of a cluster or a store folder: view, journey, groups, progress, dead letters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Any

from idcore.answers import journey as journeys
from idcore.answers.fate.sentences import utc
from idcore.answers.journey import Line, Sources
from idcore.answers.lookup import Answer, BodyRoom, Source, StoreLookup, Way, WrongWay, shared
from idcore.answers.lookup.groups import GroupAnswer, groups_of, progress_of
from idcore.answers.lookup.progress import QUEUE_COLUMNS, Progress, state_of
from idcore.answers.lookup.sentences import groups_text, issue_text, progress_texts
from idcore.answers.lookup.without_bodies import WithoutBodies
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError, refuse
from idcore.ids.clock import parse_instant, to_ms
from idcore.operations.found_messages import answer_item, journey_item, listing_item
from idcore.operations.model import (
    AT,
    CERTAINTY,
    DISPROOF,
    EVIDENCE,
    LANG,
    ZONE,
    Argument,
    CallArguments,
    Caller,
    Field,
    Operation,
    Result,
)
from idcore.operations.scans import allowed_for, finished, lines_index
from idcore.rocketmq.store import StoreFolder
from idcore.scan.occurrences.index import Filter

MOST_IDS, MOST_DEAD, MOST_LINES = 50, 1_000, 200


@contextmanager
def source_of(asked: CallArguments, caller: Caller) -> Iterator[Source]:
    """The cluster or the store folder of a call, opened; without bodies for who may not see them."""
    given = [name for name in ("cluster", "store") if asked[name]]
    if len(given) != 1:
        raise refuse("argument_one_of", names="cluster, store")
    if given[0] == "cluster":
        caller.visitor.require_cluster(asked["cluster"])
        yield shared.source_of(asked["cluster"], caller.now)
        return
    folder = caller.inside(asked["store"])
    if not isinstance(folder, Path):
        raise refuse("no_store", folder=asked["store"])
    with closing(StoreLookup(StoreFolder(folder, roots=caller.guard), asked.clock(caller.ground))) as store:
        yield store if caller.visitor.may("bodies") else WithoutBodies(store)


def _view(asked: CallArguments, caller: Caller) -> Result:
    def items() -> Iterator[dict[str, Any]]:
        room = BodyRoom()
        with source_of(asked, caller) as source:
            answers = source.look_up(
                asked["ids"],
                asked["topic"],
                caller.who.user,
                None,
                bool(asked["verdicts"]),
                bool(asked["trace"]),
                caller.gone,
            )
            for answer in answers:
                caller.go_on()
                yield answer_item(answer, asked.words, room)

    return Result(list(items()))  # of at most so many: an error comes before the first of them


def _journey(asked: CallArguments, caller: Caller) -> Result:
    text, known, lines = asked["id"], list[Answer](), None
    if asked["cluster"] or asked["store"]:
        with source_of(asked, caller) as source:
            known = list(source.look_up([text], asked["topic"], caller.who.user, None, True, True, caller.gone))
            caller.go_on()
    elif not asked["run"]:
        raise refuse("argument_one_of", names="cluster, store, run")
    if asked["run"]:
        lines = _lines(text, known, asked, caller)
    clock = asked.clock(caller.ground)
    journey = journeys.build(text, Sources.of(*known, lines=lines), clock, clock.zone)
    room = BodyRoom()
    answers = [answer_item(answer, asked.words, room) for answer in known]
    return Result([journey_item(text, journey, asked.words) | {"answers": answers}])


def _lines(text: str, known: list[Answer], asked: CallArguments, caller: Caller) -> list[Line]:
    """The lines of a scan that name the message, by each of its ids."""
    run = finished(asked, caller)
    index, allowed = lines_index(run, caller), allowed_for(run, caller)

    def select(ids: tuple[str, ...]) -> tuple[list[Line], int]:
        rows = index.first_of_lines(index.select(Filter(ids=ids), "line", allowed).rows)
        shown = [one for one in index.page(rows[:MOST_LINES], allowed) if one.problem is None]
        return [Line(one.file, one.line, one.text) for one in shown], len(rows)

    return journeys.lines_of(text, known, select)[0]


def _asked_of_groups(asked: CallArguments, caller: Caller, group: str) -> GroupAnswer:
    caller.visitor.require_cluster(asked["cluster"])
    service = shared.cluster(asked["cluster"], caller.visitor)
    if service is None:
        known = ", ".join(shared.offers(caller.visitor))
        raise CoreError("terms_cluster", {"name": asked["cluster"], "known": known})
    topic = asked["topic"]
    subject = f"topic:{topic}" + (f" group:{group}" if group else "")
    work = partial(progress_of, topic, group) if group else partial(groups_of, topic)
    return service.ask(subject, caller.who.user, work)


def _groups(asked: CallArguments, caller: Caller) -> Result:
    seen = _asked_of_groups(asked, caller, "")
    items = [
        {
            "group": row.group,
            "state": state_of(row),
            "lag": row.lag,
            "unread_queues": row.unread,
            "clients": row.clients,
            "certainty": "possible" if row.lag is None else "likely",
            "disproof": asked.words("wrong_if.progress"),
        }
        for row in seen.rows
    ]
    return Result(items, _of_seen(seen) | {"said": groups_text(seen, asked["topic"], asked.words)})


def _of_seen(seen: GroupAnswer) -> dict[str, Any]:
    return {"at": utc(seen.at_ms), "asked": list(seen.asked)}


def _progress(asked: CallArguments, caller: Caller) -> Result:
    seen, words = _asked_of_groups(asked, caller, asked["group"]), asked.words
    progress = seen.progress
    assert progress is not None, "a group was asked for"
    sure = "possible" if progress.silent or not seen.routed else "likely"
    items = [
        dict(zip(QUEUE_COLUMNS, queue.row, strict=True)) | {"certainty": sure, "disproof": words("wrong_if.progress")}
        for queue in progress.queues
    ]
    return Result(items, _of_seen(seen) | _of_group(progress, seen, words))


def _of_group(progress: Progress, seen: GroupAnswer, words: Words) -> dict[str, Any]:
    return {
        "said": " ".join(text.replace("**", "") for text in progress_texts(seen, None, words)),
        "lag": progress.lag,
        "clients": len(progress.members),
        "silent_brokers": list(progress.silent),
        "sides": [
            {"topic": side.topic, "kind": side.kind, "held": side.held, "waiting": side.waiting}
            for side in progress.side_topics
        ],
        "issues": [{"code": reason.code, "text": issue_text(reason, words)} for reason in progress.contradictions()],
    }


def _dead_letters(asked: CallArguments, caller: Caller) -> Result:
    begin, end = _bounds(asked, asked.clock(caller.ground).zone)
    way = Way("dead_letters", group=asked["group"], limit=asked["most"], begin_ms=begin, end_ms=end)
    with source_of(asked, caller) as source:
        listing = source.list_messages(way, caller.who.user, None, caller.gone)
    head = listing_item(listing, asked.words, BodyRoom())
    return Result(head.pop("copies"), head)


def _bounds(asked: CallArguments, zone: tzinfo) -> tuple[int | None, int | None]:
    begin, end = (to_ms(parse_instant(asked[name], zone)) if asked[name] else None for name in ("from", "to"))
    if begin is not None and end is not None and begin > end:
        raise WrongWay("way_times")
    return begin, end


_CLUSTER = Argument("cluster", "text", "name of a cluster that the administrator configured", most=100)
_STORE = Argument("store", "text", "or a store folder that is open", most=4_096)
_TOPIC = Argument("topic", "text", "search this topic only", most=255)
_NEED_CLUSTER = Argument("cluster", "text", _CLUSTER.meaning, required=True, least=1, most=100)
_NEED_TOPIC = Argument("topic", "text", "the topic", required=True, least=1, most=255)
_NEED_GROUP = Argument("group", "text", "the consumer group", required=True, least=1, most=255)
_NUMBER = ("integer", "null")
_SAID = Field("said", ("string", "null"), "the answer in a sentence")
_ASKED = (Field("at", "string", "when it was asked"), Field("asked", "array", "the addresses that were asked"), _SAID)
_FOUND = (
    Field("id", "string", "the ID or key"),
    Field("found", "boolean", "whether a record was found"),
    Field("copies", "array", "its records; bodies only for who may see them"),
    Field("reason", ("string", "null"), "why none was found"),
    EVIDENCE,
    Field("asked", "array", "the addresses that were asked"),
    Field("fate", "array", "with verdicts: what became of each record in each group"),
    Field("trace", "object", "with trace: its message trace"),
    _SAID,
    CERTAINTY,
    DISPROOF,
)

# fmt: off
OPERATIONS = (
    Operation(
        "view",
        "Finds messages by ID or key in a cluster or a store folder; with verdicts, what became of them in each group.",
        (
            Argument("ids", "texts", "IDs or keys", required=True, least=1, most=1_000, items=MOST_IDS),
            _CLUSTER, _STORE, _TOPIC,
            Argument("verdicts", "flag", "also which groups consumed each message, or why not", default=False),
            Argument("trace", "flag", "also its message trace", default=False),
            ZONE, AT, LANG,
        ),
        "decode", _view, _FOUND, command="view",
    ),
    Operation(
        "journey",
        "Shows all that is known of one message as a timeline, with contradictions and gaps.",
        (
            Argument("id", "text", "its ID", required=True, least=1, most=1_000),
            _CLUSTER, _STORE,
            Argument("run", "text", "a scan whose lines are read too", most=60),
            _TOPIC, ZONE, AT, LANG,
        ),
        "decode",
        _journey,
        (
            Field("id", "string", "its ID"), Field("events", "array", "what happened, in order"),
            Field("conflicts", "array", "events that contradict each other"), Field("gaps", "array", "what is missing"),
            Field("found", "object", "how many records, lines and so on it rests on"),
            Field("answers", "array", "its records, as view gives them"), _SAID, CERTAINTY, DISPROOF,
        ),
        command="view --journey",
    ),
    Operation(
        "groups",
        "Lists the consumer groups of a topic: how far behind each is.",
        (_NEED_CLUSTER, _NEED_TOPIC, LANG),
        "look_up",
        _groups,
        (
            Field("group", "string", "its name"), Field("state", "string", "behind, done, offline or unknown"),
            Field("lag", ("integer", "null"), "messages behind"),
            Field("unread_queues", "integer", "queues in which it has no offset"),
            Field("clients", ("integer", "null"), "connected clients"), CERTAINTY, DISPROOF,
        ),
        _ASKED,
    ),
    Operation(
        "progress",
        "Shows how far a consumer group is in each queue of a topic, its retries and dead letters, what is wrong.",
        (_NEED_CLUSTER, _NEED_TOPIC, _NEED_GROUP, LANG),
        "look_up",
        _progress,
        (
            Field("broker", "string", "the name of the broker"), Field("queue", "integer", "the number of the queue"),
            Field("begin", _NUMBER, "the first offset that it has"),
            Field("end", _NUMBER, "the offset that the next message gets"),
            Field("offset", _NUMBER, "the next that the group consumes; null where it has none"),
            Field("lag", _NUMBER, "messages between both, at most"),
            Field("in_flight", _NUMBER, "messages that clients have and did not confirm"),
            Field("passed_ms", _NUMBER, "when the last message that was passed was stored, in milliseconds"),
            Field("readable", "boolean", "whether it may be read"),
            Field("owners", ("array", "null"), "the clients that have it"), CERTAINTY, DISPROOF,
        ),
        (
            *_ASKED, Field("lag", "integer", "messages behind"), Field("clients", "integer", "connected clients"),
            Field("silent_brokers", "array", "brokers that did not answer"),
            Field("sides", "array", "its topics of retries and dead letters"),
            Field("issues", "array", "what does not fit together, the worst first"),
        ),
    ),
    Operation(
        "dead_letters",
        "Lists the dead letters of a consumer group, the newest first.",
        (
            _NEED_GROUP, _CLUSTER, _STORE,
            Argument("from", "text", "stored at this time or later, in ISO 8601", most=40),
            Argument("to", "text", "stored at this time or earlier, in ISO 8601", most=40),
            Argument("most", "number", "messages to list", least=1, most=MOST_DEAD, default=100),
            ZONE, AT, LANG,
        ),
        "decode",
        _dead_letters,
        (
            Field("msg_id", ("string", "null"), "its msgId"), Field("offset_msg_id", "string", "its offsetMsgId"),
            Field("topic", "string", "the topic of dead letters"), CERTAINTY, DISPROOF,
        ),
        (
            _SAID, Field("found", "boolean", "whether there are any"), Field("reason", ("string", "null"), "why not"),
            Field("cut", ("string", "null"), "what ended the list early"), EVIDENCE,
            Field("way", "object", "what was asked for"), Field("limit", "integer", "messages to list at most"),
            Field("queues", "array", "of each queue: its offsets, how many were listed, what was left"),
            Field("left", _NUMBER, "how many more there are"),
            Field("asked", "array", "the addresses that were asked"),
        ),
        command="view --dead-letters",
    ),
)
# fmt: on

"""One message in sentences, of its ID or of the one line that names it: who sent it, when, where it is stored."""

from __future__ import annotations

from collections.abc import Sequence

from idcore.ids.assumptions import assumed
from idcore.ids.clock import Clock
from idcore.ids.describe import doubts, month_source, when
from idcore.ids.identify import Reading
from idcore.ids.model import ClientId, OffsetId
from idcore.ids.record_fields import fields_of
from idcore.intake.intake import FoundId
from idcore.presentation.reader import Reader
from idcore.presentation.reports.markup import Html, fact_list, tag

_WHERE = ("topic", "queueId", "queueOffset")  # of a line, in the order in which they are said
_SAID = {*_WHERE, "brokerName", "commitLogOffset", "storeHost"}


def is_one_message(items: Sequence[FoundId], lines: int) -> bool:
    """Whether an input is one ID, or one line with at most one of each kind."""
    kinds = [item.verdict.best.id.kind for item in items if item.verdict.best is not None]
    return len(items) == 1 or (lines == 1 and 0 < len(kinds) == len(set(kinds)))


def sentences(items: Sequence[FoundId], line: str, clock: Clock, reader: Reader) -> str:
    """`Sent on … by process 18236 on 172.17.0.1.` `Stored on broker itcast (172.17.0.1:10911), topic …`"""
    fields = fields_of(line)
    readings = [(item, best) for item in items if (best := item.verdict.best) is not None]
    said = [_sent(item, best, clock, reader) for item, best in readings]
    offsets = [best.id for _, best in readings if isinstance(best.id, OffsetId) and best.id.physical_offset >= 0]
    said += [_stored(offset_id, fields, reader) for offset_id in offsets]
    return reader.words("compare.between").join(filter(None, said))


def rest_of_line(line: str) -> Html | None:
    """The fields that the sentences do not say, by their own names."""
    pairs = [(name, value) for name, value in fields_of(line).items() if name not in _SAID]
    return fact_list(
        (tag("span", name, class_="mq-mono"), tag("span", value, class_="mq-mono")) for name, value in pairs
    )


def _sent(item: FoundId, reading: Reading, clock: Clock, reader: Reader) -> str:
    """Who sent it and when; nothing of an offsetMsgId. What of the time is assumed stands in it."""
    words, message_id = reader.words, reading.id
    if isinstance(message_id, OffsetId):
        return ""
    sent, reason = when(reading, item.token, clock)
    host = message_id.mac_text if isinstance(message_id, ClientId) else message_id.host
    who = words("one.process", pid=str(message_id.pid), host=host)
    if sent is None:
        said = words("one.undated", who=who)
    else:
        mark = words.assumed(assumed(month_source(reading, reason) != "assumed", sent.zone_source))
        said = words("one.sent", at=reader.full(sent.at), mark=mark, who=who)
        wrong = (words.fill(f"one.{doubt.code}", doubt.values) for doubt in doubts(sent, item.token, clock))
        said = words("compare.between").join([said, *wrong])
    docker = any(why.code == "host_docker" for why in reading.why)
    return words("compare.between").join([said, words("one.docker")]) if docker else said


def _stored(offset_id: OffsetId, fields: dict[str, str], reader: Reader) -> str:
    """Where it is stored, with the names that its line has."""
    words, name = reader.words, fields.get("brokerName")
    key = "one.broker_named" if name else "one.broker"
    parts = [words(key, name=name, address=offset_id.address)]
    parts += [words(f"one.{field}", value=fields[field]) for field in _WHERE if field in fields]
    at = words("one.at", file=offset_id.segment(), position=f"{offset_id.position():,}")
    return words("one.stored", where=words("comma").join(parts), at=at)

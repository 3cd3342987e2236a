"""Message ids: values, interpretations, times, their search in text, their generation. No files, no Spark."""

from idcore.base.errors import CoreError
from idcore.ids.clock import (
    Clock,
    Month,
    SentAt,
    all_months,
    machine_zone,
    months,
    parse_instant,
    parse_zone,
    sent_at,
    zone_text,
)
from idcore.ids.dating import Dates, Voting, dates_of
from idcore.ids.describe import KEYS, describe, made_by, when, why
from idcore.ids.find import find
from idcore.ids.identify import Reading, Verdict, decode, identify, judge
from idcore.ids.makers import (
    client_maker,
    known_loaders,
    loader_place,
    loader_positions,
    process_makers,
    stream,
    uniq_maker,
)
from idcore.ids.model import ClientId, MessageId, OffsetId, UniqId, from_bytes
from idcore.ids.neighbours import Neighbours, settled
from idcore.ids.reasons import Maker, Reason
from idcore.ids.tokens import Token

__all__ = [
    "KEYS",
    "ClientId",
    "Clock",
    "CoreError",
    "Dates",
    "Maker",
    "MessageId",
    "Month",
    "Neighbours",
    "OffsetId",
    "Reading",
    "Reason",
    "SentAt",
    "Token",
    "UniqId",
    "Verdict",
    "Voting",
    "all_months",
    "client_maker",
    "dates_of",
    "decode",
    "describe",
    "find",
    "from_bytes",
    "identify",
    "judge",
    "known_loaders",
    "loader_place",
    "loader_positions",
    "machine_zone",
    "made_by",
    "months",
    "parse_instant",
    "parse_zone",
    "process_makers",
    "sent_at",
    "settled",
    "stream",
    "uniq_maker",
    "when",
    "why",
    "zone_text",
]

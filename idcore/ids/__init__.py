"""Message ids: values, interpretations, times, their search in text, their generation. No files, no Spark."""

from idcore.ids.clock import Clock, sent_at
from idcore.ids.dating import Voting
from idcore.ids.describe import describe, when
from idcore.ids.find import find
from idcore.ids.identify import Verdict, identify, judge
from idcore.ids.model import ClientId, OffsetId, UniqId, from_bytes
from idcore.ids.neighbours import Neighbours
from idcore.ids.tokens import Token

__all__ = [
    "ClientId",
    "Clock",
    "Neighbours",
    "OffsetId",
    "Token",
    "UniqId",
    "Verdict",
    "Voting",
    "describe",
    "find",
    "from_bytes",
    "identify",
    "judge",
    "sent_at",
    "when",
]

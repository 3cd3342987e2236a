"""Handles of deliveries as clients print them: receipt handles, POP_CK, recall handles. Finds none in text.

ReceiptHandle.encode has nine fields with spaces between; ExtraInfoUtil.buildExtraInfo (POP_CK) has its first seven or
eight.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode
from dataclasses import dataclass

from idcore.base.numbers import whole_number
from idcore.ids.clock import is_time

_SIZES = (7, 8, 9)
_MOST = 1 << 63
_FIRST_MS = 1_262_304_000_000  # 2010: no client is older
_RECALLS = "v1"
RETRY_TOPICS = (0, 1, 2)  # of no retry topic, of %RETRY%GROUP_TOPIC, of %RETRY%GROUP+TOPIC


@dataclass(frozen=True, slots=True)
class Receipt:
    """One pop: when, by which queue, and how long nobody else gets the message. Times in ms since 1970.

    >>> Receipt.read("194 1722325671049 600000 0 0 broker-b 1 194 5228468").ends_ms
    1722326271049
    """

    start_offset: int
    popped_ms: int
    invisible_ms: int
    revive_queue: int
    retry: int  # one of RETRY_TOPICS
    broker: str
    queue_id: int
    queue_offset: int | None = None  # POP_CK of some versions ends before it
    physical_offset: int | None = None  # of a receipt handle only

    @property
    def ends_ms(self) -> int:
        """When it becomes visible again, unless it is acknowledged before or the time is changed."""
        return self.popped_ms + self.invisible_ms

    @classmethod
    def read(cls, text: str) -> Receipt | None:
        """From the text of a handle; None for any other text."""
        words = text.split(" ")
        numbers = [word for place, word in enumerate(words) if place != 5]
        values = [value for word in numbers if (value := whole_number(word)) is not None]
        if len(words) not in _SIZES or not words[5] or len(values) < len(numbers):
            return None
        start, popped, invisible, revive, retry, queue, *offsets = values
        if max(values) >= _MOST or popped < _FIRST_MS or not is_time(popped) or retry not in RETRY_TOPICS:
            return None
        return cls(start, popped, invisible, revive, retry, words[5], queue, *offsets)

    def __str__(self) -> str:
        values = [self.start_offset, self.popped_ms, self.invisible_ms, self.revive_queue, self.retry, self.broker]
        rest = [self.queue_id, self.queue_offset, self.physical_offset]
        return " ".join(str(value) for value in [*values, *rest] if value is not None)


@dataclass(frozen=True, slots=True)
class Recall:
    """What a producer needs to recall a delayed message (RecallMessageHandle.HandleV1)."""

    topic: str
    broker: str
    due_ms: int
    msg_id: str

    @classmethod
    def read(cls, text: str) -> Recall | None:
        """From base64url, with or without its padding; None for any other text."""
        try:
            plain = urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)).decode()
        except (binascii.Error, ValueError):
            return None
        words = plain.split(" ")
        if len(words) != 5 or words[0] != _RECALLS or (due := whole_number(words[3])) is None:
            return None
        return cls(words[1], words[2], due, words[4]) if is_time(due) else None

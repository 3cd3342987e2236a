"""The recallHandle of a SendResult (5.3.2): which delayed message it takes back. Looks nothing up."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from idcore.rocketmq.message import properties as names

_VERSION, _PARTS = "v1", 5


@dataclass(frozen=True, slots=True)
class RecallHandle:
    """Where a delayed message was sent, when it is due, and its msgId."""

    topic: str
    broker: str
    due_ms: int
    msg_id: str


def recall_handle(text: str) -> RecallHandle | None:
    """What a handle says (RecallMessageHandle.HandleV1: base64url of five words); None of any other text."""
    try:
        words = base64.b64decode(text, b"-_", validate=True).decode("utf-8").split(" ")
    except (binascii.Error, ValueError):
        return None
    if len(words) != _PARTS or words[0] != _VERSION or (due := names.number(words[3])) is None:
        return None
    return RecallHandle(words[1], words[2], due, words[4])

"""How a put ends (PutMessageStatus), by the names the broker has for it."""

from __future__ import annotations

from enum import Enum


class PutStatus(Enum):
    """The results that a store can come to without a network."""

    PUT_OK = "PUT_OK"
    MESSAGE_ILLEGAL = "MESSAGE_ILLEGAL"
    PROPERTIES_SIZE_EXCEEDED = "PROPERTIES_SIZE_EXCEEDED"
    SERVICE_NOT_AVAILABLE = "SERVICE_NOT_AVAILABLE"

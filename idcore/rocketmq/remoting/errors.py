"""What can go wrong between this machine and a cluster, one class each. Opens no socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from idcore.base.errors import CoreError
from idcore.base.safe_text import encodable

_SHOWN = 300


class RemotingError(CoreError):
    """Anything that kept a question from being answered."""


class FrameError(RemotingError):
    """Bytes that are not a frame: the field, how many bytes it needs, how many are left."""

    @classmethod
    def short(cls, field: str, byte: int, needed: int, remaining: int) -> FrameError:
        """A field that needs more bytes than there are."""
        return cls("frame_short", {"name": field, "needed": needed, "remaining": remaining}, field, byte)

    @classmethod
    def wrong(cls, code: str, field: str, byte: int | None = None, **values: Any) -> FrameError:
        """A field whose bytes are there and make no sense."""
        return cls(code, values, field, byte)


class ProfileError(RemotingError):
    """A cluster profile that cannot be used; `field` is the key in the file or the name in the environment."""


class Unreachable(RemotingError):
    """An address that did not answer: refused, timed out, closed early, or did not speak a TLS that we accept."""

    @classmethod
    def at(cls, address: str, why: CoreError | Sequence[CoreError]) -> Unreachable:
        """The address and what happened there."""
        return cls("unreachable", {"address": address, "why": why})

    @property
    def address(self) -> str:
        """The address that did not answer."""
        return str(self.values.get("address", ""))


class Closed(Unreachable):
    """A connection that the other side closed; one that had been idle is opened again."""


class NotInTopology(RemotingError):
    """An address that the configured cluster does not list; nobody was asked."""

    @classmethod
    def refuse(cls, address: str, cluster: str) -> NotInTopology:
        """The sentence a reader gets."""
        return cls("not_in_topology", {"address": address, "cluster": cluster})


class AnswerError(RemotingError):
    """An answer with an error code, in the server's own words."""

    @classmethod
    def of(cls, address: str, code: int, remark: str | None) -> AnswerError:
        """What the server at this address said."""
        # the remark is JSON from outside: what is half a character there could not be shown
        shown_remark = encodable(" ".join((remark or "no remark").split())[:_SHOWN])
        return cls("answer", {"address": address, "answer": code, "remark": shown_remark})

    @property
    def answer(self) -> int:
        """The code of the answer (ResponseCode.java)."""
        return int(self.values.get("answer", -1))

    @property
    def remark(self) -> str:
        """The server's words, on one line."""
        return str(self.values.get("remark", ""))


class NotPermitted(AnswerError):
    """An answer that says: these credentials, or none, may not ask this."""


class TopicMismatch(AnswerError):
    """An answer of 5.5.1 to a view: the record at the offset is not of the topic that travelled with the question."""


class NotRecorded(RemotingError):
    """The audit log cannot be written, so what was found is not shown."""


class TooManyLookups(RemotingError):
    """A user's rate limit is used up; `values["seconds"]` says for how long."""

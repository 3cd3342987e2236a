"""A source of messages whose answers have no bodies, for who may not see them. Asks another source, shows nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from idcore.answers.lookup.listing import never
from idcore.answers.lookup.model import Answer
from idcore.answers.lookup.source import Progress, Source
from idcore.answers.lookup.ways import Listing, Stop, Way
from idcore.rocketmq.remoting.bodies import BodyPolicy

NO_BODY = BodyPolicy(show=False)


Copies = TypeVar("Copies", Answer, Listing)


def withheld(answer: Copies) -> Copies:
    """The same answer, whose rows have no body."""
    return replace(answer, copies=tuple(replace(copy, bodies=NO_BODY) for copy in answer.copies))


class WithoutBodies:
    """Another source; the bodies of its messages do not get out."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def look_up(
        self,
        ids: Iterable[str],
        topic: str | None = None,
        user: str = "",
        progress: Progress | None = None,
        fate: bool = False,
        trace: bool = False,
        stop: Stop = never,
    ) -> Iterator[Answer]:
        return map(withheld, self.source.look_up(ids, topic, user, progress, fate, trace, stop))

    def list_messages(self, way: Way, user: str = "", progress: Progress | None = None, stop: Stop = never) -> Listing:
        return withheld(self.source.list_messages(way, user, progress, stop))

    def close(self) -> None:
        self.source.close()

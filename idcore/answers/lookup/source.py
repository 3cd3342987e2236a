"""Sources of messages: one interface, and the table of all sources. Looks nothing up itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from importlib import import_module
from typing import Any, Protocol

from idcore.answers.lookup.listing import never
from idcore.answers.lookup.model import Answer
from idcore.answers.lookup.ways import Listing, Stop, Way
from idcore.base.errors import CoreError
from idcore.ids import Clock

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, and the zone that producers are thought to be in; no part of a look-up asks a clock itself."""

    now: datetime
    zone: tzinfo
    zone_known: bool = False

    @property
    def clock(self) -> Clock:
        """What the ids' own times are read with."""
        return Clock(self.now, self.zone, "given" if self.zone_known else "assumed")


class Source(Protocol):
    """Where messages are looked for."""

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
        """One answer for each id, in their order, as they come; a CoreError where none can be given.

        `fate`: also what became of each message in each consumer group, where the source can say so. `trace`: also its
        message trace. Once `stop` is true no further id is looked up.
        """
        ...

    def list_messages(self, way: Way, user: str = "", progress: Progress | None = None, stop: Stop = never) -> Listing:
        """Lists the messages of a way, or gives the reason why the list is empty. Raises CoreError if it cannot list.

        `stop` is asked again and again; once it is true, what was found so far is the list.
        """
        ...

    def close(self) -> None:
        """Ends connections, closes files."""
        ...


class WrongTerms(CoreError):
    """What somebody asks for does not go with this source, or names none."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a source is opened: now, store times from and to (ms), the environment, the other options by name."""

    moment: Moment
    begin: int | None
    end: int | None
    environment: Mapping[str, str]
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """A source that the administrator configured. `key` differs from that of the same name with other settings."""

    key: str
    open: Callable[[Callable[[], Moment]], Source]


# The options that name a source, each with the module that opens it. A module here has two functions:
#   open_source(option, at, terms) -> Source      WrongTerms for wrong usage, another CoreError without a source
#   offered(environment) -> dict[str, Offer]      what the administrator configured for the pages, by name
SOURCES: dict[str, str] = {
    "store": "idcore.answers.lookup.store_folder",
    "namesrv": "idcore.answers.lookup.cluster",
    "cluster": "idcore.answers.lookup.cluster",
}


def open_source(option: str, at: Any, terms: Terms) -> Source:
    """The source that an option names."""
    source: Source = import_module(SOURCES[option]).open_source(option, at, terms)
    return source


def offered(environment: Mapping[str, str]) -> dict[str, Offer]:
    """Every source that the administrator configured, by name."""
    offers: dict[str, Offer] = {}
    for module in dict.fromkeys(SOURCES.values()):
        offers |= import_module(module).offered(environment)
    return offers

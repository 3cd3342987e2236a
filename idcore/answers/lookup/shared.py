"""One source of each cluster for all who ask: with its connections, its limit and its audit log. Dials nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime

from idcore.answers.lookup.cluster import LookupService
from idcore.answers.lookup.source import Moment, Offer, Source, offered
from idcore.answers.lookup.without_bodies import WithoutBodies
from idcore.base.errors import CoreError
from idcore.policy import private
from idcore.policy.access import Visitor

MOST = 8
_sources: dict[str, Source] = {}
_lock = threading.Lock()


def offers(visitor: Visitor) -> dict[str, Offer]:
    """The sources that the administrator configured and this visitor's roles have; none by default."""
    return {name: offer for name, offer in offered(private.environment()).items() if visitor.may_ask(name)}


def _source(offer: Offer) -> Source:
    with _lock:
        if offer.key not in _sources:
            while len(_sources) >= MOST:  # of settings that were changed; who still asks it has it
                del _sources[next(iter(_sources))]
            _sources[offer.key] = offer.open(lambda: Moment(datetime.now(UTC), UTC))
        return _sources[offer.key]


def forget() -> None:
    """Drops all sources: who asks next opens its own."""
    with _lock:
        _sources.clear()


def cluster(name: str, visitor: Visitor) -> LookupService | None:
    """The live cluster of this name; None where there is none, or it is another kind of source."""
    offer = offers(visitor).get(name)
    source = None if offer is None else _source(offer)
    return source if isinstance(source, LookupService) else None


def source_of(name: str, now: Callable[[], Visitor]) -> Source:
    """The source of this name, opened once; without bodies for a visitor who may not see them.

    CoreError where the visitor of now may not ask it.
    """
    known = offers(now())
    if name not in known:
        raise CoreError("terms_cluster", {"name": name, "known": ", ".join(known)})
    source = _source(known[name])
    return source if now().may("bodies") else WithoutBodies(source)

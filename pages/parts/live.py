"""The clusters that a reader may ask: one source of each for all readers. Dials nobody."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from idcore.answers.lookup import Answer, Listing, LookupService, Moment, Offer, Source, offered
from idcore.answers.lookup.withheld import WithoutBodies, list_withheld, withheld
from idcore.base.errors import CoreError
from idcore.policy import private
from pages.parts import visitor


def offers() -> dict[str, Offer]:
    """The sources that the administrator configured and this reader's roles have; none by default."""
    here = visitor.current()
    return {name: offer for name, offer in offered(private.environment()).items() if here.may_ask(name)}


@st.cache_resource(max_entries=8, show_spinner=False)
def _source(key: str, _offer: Offer) -> Source:
    """One of each, with its connections, limit and audit log, shared by all readers."""
    return _offer.open(lambda: Moment(datetime.now(UTC), UTC))


def cluster(name: str) -> LookupService | None:
    """The live cluster of this name; None where there is none, or it is another kind of source."""
    offer = offers().get(name)
    source = None if offer is None else _source(offer.key, offer)
    return source if isinstance(source, LookupService) else None


def source_of(name: str) -> Source:
    """The source of this name, opened once; without bodies for a reader who may not see them.

    CoreError where this reader may not ask it, now.
    """
    known = offers()
    if name not in known:
        raise CoreError("terms_cluster", {"name": name, "known": ", ".join(known)})
    source = _source(known[name].key, known[name])
    return source if visitor.current().may("bodies") else WithoutBodies(source)


def answer_seen(answer: Answer) -> Answer:
    """An answer as this reader may see it now: the session may have it from before the role for bodies was taken."""
    return answer if visitor.current().may("bodies") else withheld(answer)


def list_seen(listing: Listing) -> Listing:
    """The same of a list."""
    return listing if visitor.current().may("bodies") else list_withheld(listing)

"""The clusters that a reader may ask: one source of each for all readers. Dials nobody."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from idcore.answers.lookup import LookupService, Moment, Offer, Source, offered
from idcore.answers.lookup.withheld import WithoutBodies
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


def source_of(offer: Offer) -> Source:
    """The source of an offer, opened once; without bodies for a reader who may not see them."""
    source = _source(offer.key, offer)
    return source if visitor.current().may("bodies") else WithoutBodies(source)

"""The clusters that the administrator configured: one source of each for all readers, and who asks. Dials nobody."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import streamlit as st

from idcore.lookup import LookupService, Moment, Offer, Source, offered


def offers() -> dict[str, Offer]:
    """The sources that the administrator configured; none by default."""
    return offered(os.environ)


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
    """The source of an offer, opened once."""
    return _source(offer.key, offer)


def user() -> str:
    """Who asks, for the limit and the audit log: the login if there is one, else the address."""
    name = st.user.get("email") if st.user.get("is_logged_in") else None
    return str(name or st.context.ip_address or "local")

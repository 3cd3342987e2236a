"""The clusters that a reader may ask, with the roles of now; what to do where there is none. Dials nobody."""

from __future__ import annotations

import streamlit as st

from idcore.answers.lookup import Answer, Listing, LookupService, Offer, Source, shared
from idcore.answers.lookup.without_bodies import withheld
from idcore.base.catalogue import Words
from idcore.rocketmq.remoting import profile
from pages.parts import visitor
from pages.parts.widgets import page_link, said


def offers() -> dict[str, Offer]:
    """The sources that the administrator configured and this reader's roles have; none by default."""
    return shared.offers(visitor.current())


def cluster(name: str) -> LookupService | None:
    """The live cluster of this name; None where there is none, or it is another kind of source."""
    return shared.cluster(name, visitor.current())


def source_of(name: str) -> Source:
    """The source of this name, without bodies for a reader who may not see them; CoreError without the role, now."""
    return shared.source_of(name, visitor.current)


def answer_seen(answer: Answer) -> Answer:
    """An answer as this reader may see it now: the session may have it from before the role for bodies was taken."""
    return answer if visitor.current().may("bodies") else withheld(answer)


def list_seen(listing: Listing) -> Listing:
    """The same of a list."""
    return listing if visitor.current().may("bodies") else withheld(listing)


def say_off(words: Words) -> None:
    """No cluster is configured: what answers without one, and how to connect one."""
    said(words("lookup.off"))
    asked = st.query_params.get("id")
    page_link("store", words("card.store" if asked else "lookup.store"), icon=":material/folder_open:", id=asked)
    with st.expander(words("lookup.connect"), icon=":material/settings:"):
        st.markdown(words("lookup.how"))
        st.code(profile.EXAMPLE, language=None, wrap_lines=True)

"""Look-ups: ids in, messages out, or the reason why a message was not found. Prints nothing."""

from idcore.answers.lookup.cluster import LookupService
from idcore.answers.lookup.model import NO_VERDICT, Answer, Copy, Evidence
from idcore.answers.lookup.rows import BodyRoom, copy_row, listing_row, row_of
from idcore.answers.lookup.sentences import (
    advice_text,
    cut_text,
    doubt_text,
    evidence_text,
    has_own,
    issue_text,
    list_reason,
    list_text,
    reason_text,
    relation_text,
    who_texts,
)
from idcore.answers.lookup.source import (
    SOURCES,
    Moment,
    Offer,
    Progress,
    Source,
    Terms,
    WrongTerms,
    offered,
    open_source,
)
from idcore.answers.lookup.store_folder import StoreLookup
from idcore.answers.lookup.ways import Listing, Way, WrongWay

__all__ = [
    "NO_VERDICT",
    "SOURCES",
    "Answer",
    "BodyRoom",
    "Copy",
    "Evidence",
    "Listing",
    "LookupService",
    "Moment",
    "Offer",
    "Progress",
    "Source",
    "StoreLookup",
    "Terms",
    "Way",
    "WrongTerms",
    "WrongWay",
    "advice_text",
    "copy_row",
    "cut_text",
    "doubt_text",
    "evidence_text",
    "has_own",
    "issue_text",
    "list_reason",
    "list_text",
    "listing_row",
    "offered",
    "open_source",
    "reason_text",
    "relation_text",
    "row_of",
    "who_texts",
]

"""Look-ups: ids in, messages out, or the reason why there is none. Knows no socket, no page, no file."""

from idcore.lookup.by_key import Progress
from idcore.lookup.model import NO_VERDICT, Answer, Copy, Evidence
from idcore.lookup.service import LookupService, Moment

__all__ = [
    "NO_VERDICT",
    "Answer",
    "Copy",
    "Evidence",
    "LookupService",
    "Moment",
    "Progress",
]

"""Was a message consumed, by which group, and if not, why not: evidence in, a verdict out. Asks nobody."""

from idcore.answers.fate.model import Blocker, Group, GroupCopy, JudgedRecord, Observation, Reason, Verdict
from idcore.answers.fate.rule import judge, mark_doubles
from idcore.answers.fate.sentences import row_of

__all__ = [
    "Blocker",
    "Group",
    "GroupCopy",
    "JudgedRecord",
    "Observation",
    "Reason",
    "Verdict",
    "judge",
    "mark_doubles",
    "row_of",
]

"""The lab: stories of messages, by the client's generator and a broker that stores real records. Reads no clock."""

from idcore.presentation.lab.differences import changed, differences, moves
from idcore.presentation.lab.played import LogFile, Piece, PlayedStory, Row
from idcore.presentation.lab.story import GROUPS, READY, STEPS_MOST, Story

__all__ = [
    "GROUPS",
    "READY",
    "STEPS_MOST",
    "LogFile",
    "Piece",
    "PlayedStory",
    "Row",
    "Story",
    "changed",
    "differences",
    "moves",
]

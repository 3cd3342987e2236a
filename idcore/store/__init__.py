"""Store folders: the commit log, consume queues and index files of a broker, read and written. No sockets."""

from idcore.store.commitlog import Blank, CommitLog, Miss, Skipped, Stored
from idcore.store.folder import StoreFolder
from idcore.store.lookup import Answer, Lookup, row_of, sentence
from idcore.store.words import say

__all__ = [
    "Answer",
    "Blank",
    "CommitLog",
    "Lookup",
    "Miss",
    "Skipped",
    "StoreFolder",
    "Stored",
    "row_of",
    "say",
    "sentence",
]

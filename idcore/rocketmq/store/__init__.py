"""Store folders: the commit log, consume queues and index files of a broker, read and written. No sockets."""

from idcore.rocketmq.store.commitlog import Blank, CommitLog, Miss, Skipped, Stored
from idcore.rocketmq.store.folder import StoreFolder

__all__ = [
    "Blank",
    "CommitLog",
    "Miss",
    "Skipped",
    "StoreFolder",
    "Stored",
]

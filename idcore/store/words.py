"""The words of a look-up in a store: why a record is not there, and what is odd about one that is. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The codes are a contract (`reason` of `view`); each sentence is filled from the evidence.
REASONS: dict[str, str] = {
    "before_minimum": "offset {offset} is below {minimum}, where the commit log begins now: the file was deleted",
    "beyond_end": "offset {offset} is past the end of the commit log, {end}",
    "mid_record": "offset {offset} is byte {byte} (field {field}) of the record that begins at {record_offset}",
    "blank": "offset {offset} is in the blank record that fills its file from {blank_offset} on",
    "hole": "bytes {first} to {last} of the commit log are not in this copy",
    "damaged": "the bytes from {first} on are no record: {problem}",
    "expired": "the id is of {sent_at}; the store begins at {first_store_time}",
    "wrong_topic": "there is no {id} under {topic}; it is under {found_under}",
    "topic_unknown": "this store has no topic {topic}",
    "index_lost": "no index file leads to it; the record was found by searching the commit log",
    "window": "there are entries, but none from {begin} to {end}",
    "not_an_id": "{id!r} is no id, and no message has it as a key ({topics_asked} topics asked)",
    "unknown": "no record has this id ({topics_asked} topics asked, {searched} of {log_bytes} bytes searched)",
    # of the folder as a whole
    "no_folder": "{folder} is not a folder that can be read",
    "no_log": "{folder} has no commit log: a store has a folder commitlog with files of 20 digits",
    "dump": "{folder} has no commit log, but {file} holds records: name it {name}, the offset of its first byte",
}

# Why a record is doubted though its body agrees with its CRC: what else a store holds says otherwise.
DOUBTS: dict[str, str] = {
    "queue_place": "its place in the queue points at offset {other}: one of the two was damaged, or the topic was made"
    " anew",
    "queue_none": "its queue has no place for it, though the topic's queues go on behind it",
    "queue_transaction": "its queue has a place for it, and a prepared or rolled-back message gets none",
    "queue_tag": "its queue has the tags code {other}, its tag gives {own}",
    "index_none": "the index file that spans it does not lead to it by {key}",
    "index_time": "the index has it stored at {other}, it says {own}",
    "store_time": "it says that it was stored at {own}; the records beside it were stored from {first} to {last}",
    "store_host": "it says that {own} stored it; the records beside it were stored by {other}",
    "no_text": "its {name} is no UTF-8 from byte {byte} on",
    "unlikely": "no broker writes {own} as {name}",
}


def say(reason: str, evidence: Mapping[str, Any], sentences: Mapping[str, str] = REASONS) -> str:
    """The sentence of a reason; what the evidence does not hold is a question mark."""
    return sentences[reason].format_map(_Known(evidence))


class _Known(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "?"

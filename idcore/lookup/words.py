"""The words of look-ups: codes and English templates of reasons, evidence and relations. Asks nobody."""

from __future__ import annotations

# Why nothing was found, as one sentence; the evidence stands beside it.
REASONS: dict[str, str] = {
    "before_minimum": "the record is older than the oldest one that the broker still has",
    "beyond_end": "the offset lies past the end of the broker's log",
    "mid_record": "no record begins at this offset: it lies inside one",
    "blank": "at this offset stands the filler at the end of a file, not a record",
    "hole": "at this offset the log holds nothing",
    "damaged": "a record stands there, but its bytes are damaged",
    "expired": "the id is older than the oldest message that the brokers still have",
    "wrong_topic": "the message is not in this topic, but in another one",
    "topic_unknown": "the name server knows no such topic",
    "index_lost": "the index does not lead to the message by this id, though records of that time are there",
    "window": "nothing in the time around the id, and the operator allows no wider search",
    "clock_behind": "a broker's clock is behind: it has not reached the time of the id",
    "not_in_topology": "the address in the id belongs to no broker of this cluster, so nobody was asked there",
    "unreachable": "not everybody who could have the message answered, so it may well be there",
    "not_permitted": "the cluster does not let these credentials ask",
    "not_an_id": "this is no message id, and no message has it as a key",
    "unknown": "nobody who was asked has it",
}

# What to try next.
ADVICE: dict[str, str] = {
    "before_minimum": "look for it in a backup of the store, or for a copy in another topic by its msgId",
    "beyond_end": "check that the id belongs to this cluster, and that no digit was lost",
    "mid_record": "take the offsetMsgId from the send result again; a digit may have changed",
    "blank": "take the offsetMsgId from the send result again; a digit may have changed",
    "hole": "look at the store folder itself",
    "damaged": "look at the store folder itself, or ask another replica of the broker",
    "expired": "look for it in a backup of the store",
    "wrong_topic": "look it up in the topic named in the evidence",
    "topic_unknown": "check the name of the topic, or leave it out: every topic is asked then",
    "index_lost": "look it up by its offsetMsgId, which needs no index",
    "window": "ask the operator for a search of the whole log",
    "clock_behind": "set the broker's clock, or look it up by its offsetMsgId",
    "not_in_topology": "look it up by its msgId, or have the operator add the address to the profile's map",
    "unreachable": "try again when the servers named in the evidence are up",
    "not_permitted": "check access key and secret key, and what they may read",
    "not_an_id": "a msgId has 32, 34 or 56 digits; check that none was lost",
    "unknown": "check cluster, topic and spelling (the index tells upper from lower case), and look into its trace",
}

EVIDENCE: dict[str, str] = {
    "log_range": "{broker} holds offsets from {min_offset} up to {max_offset}, where its log ends; asked for {offset}",
    "answered_nothing": "{broker} has no message at offset {offset}",
    "answered_rubbish": "{broker} answered with {size} bytes that are no record: {problem}",
    "answered_empty": "{broker} answered with no bytes at all, as it does inside a record",
    "answered_other": "{broker} answered with the record of offset {other} instead",
    "next_record": "in what it answered the next record begins at offset {next_offset}",
    "store_host": "the record was stored by {store_host}, the id says {address}",
    "replica": "{broker} was asked instead of {instead}",
    "refused": "{address} is no broker of {cluster}; an address in an id is data from a stranger and was not contacted",
    "unresolved": "a registered address cannot be used: {problem}",
    "no_answer": "{problem}",
    "error_answer": "{problem}",
    "denied": "{problem}",
    "bad_record": "{broker} answered with something that is no record: {problem}",
    "topics_asked": "topics asked: {count} ({names}), brokers asked: {brokers}",
    "topics_left_out": "topics not asked: {count} more, the limit being {limit}",
    "topic_route": "the name server has no route for topic {topic}",
    "topic_gone": "the topic {topic} is on no broker that has it now, it was found on {broker}",
    "found_in_topic": "it is in topic {topic}, offsetMsgId {offset_msg_id}",
    "found_by_keys": "the text is not its UNIQ_KEY, it stands among its KEYS",
    "found_outside_window": "it was stored at {stored}, more than the allowed error away from the id's own time {sent}",
    "found_without_index": "the index does not know it; it was found through queue {queue} of {topic}",
    "index_silent": "the index does not know a message stored next to it either: {neighbour}",
    "index_missed": "the index does not find this record's own UNIQ_KEY",
    "id_time": "the id was made at {sent} at the latest, {zone} being the producer's zone",
    "id_time_open": "the id was made at {sent} at the latest; the time zone of its producer is not known",
    "expired_open": "in some time zones the id is from {first}, which is too old, in others from up to {sent}, which "
    "is not: whether it has expired depends on its producer's zone",
    "batch_item": "it is item {place} of {count} of a batch, which its broker stored and indexed under the batch's own "
    "id {batch_id} (5.x before 5.3.4)",
    "batch_item_open": "it is an item of a large batch, which its broker stored and indexed under the batch's own id "
    "{batch_id} (5.x before 5.3.4)",
    "window": "only messages stored after {begin} were asked for",
    "messages": "{topic} holds {count} messages in {queues} queues on {broker}",
    "earliest": "the oldest message of {broker} was stored at {earliest}",
    "clock": "{broker} has {clock}, this machine {here}",
    "key_tried": "it was asked for as a key, exactly as it stands",
    "empty": "there is nothing to look for",
    "too_long": "it has {length} characters, more than any key",
    "unreadable": "it holds characters that no key has",
    "offset_reading": "as an offset id it is {address}, offset {offset}",
    "uniq_reading": "as a msgId it was asked for too, and not found",
    "found_in_capitals": "in capital letters it is there: {msg_id} in topic {topic}",
    "zeros": "at least {size} bytes of zero stand there: never written, a file's filler, or a body of zeros",
    "more_copies": "{broker} returned {count} messages for this key, as many as it may: there can be more",
    "topic_differs": "it is in topic {topic}, not in {asked}",
    "only_half": "only the half message is there: the transaction was rolled back or never decided",
    "body_broken": "the body cannot be unpacked: {problem}",
}

# Figures of the evidence that are instants, as ISO 8601.
INSTANTS = frozenset({"first", "stored", "sent", "begin", "earliest", "clock", "here"})

# What a copy is among the copies of one message.
RELATIONS: dict[str, str] = {
    "message": "the message",
    "resent": "the same message stored again: a producer's retry, or sent twice",
    "differs": "another body under the same id",
    "batch": "one message of a batch, which share one id",
    "half": "the half message of a transaction, invisible to consumers",
    "operation": "the broker's note that the transaction is decided",
    "committed": "the message of a committed transaction",
    "undecided": "a half message given up after too many checks",
    "delayed": "waiting copy (delay or retry)",
    "delivered": "the delayed message, delivered",
    "retry": "a copy for consumer group {group} to try again",
    "dead_letter": "the dead letter of consumer group {group}",
    "timer": "waiting copy on the timer wheel",
}

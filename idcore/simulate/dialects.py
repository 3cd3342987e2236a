"""The lines of brokers whose stores differ in the contents of a record. Opens no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.javatext import hash_map_order
from idcore.rocketmq.message.properties import Dialect
from idcore.rocketmq.message.validators import RETRY_TOPIC_MOST, TOPIC_MOST


@dataclass(frozen=True, slots=True)
class Line:
    """What a broker of one line does its own way; seen of 4.9.7, 5.3.3 and 5.5.0."""

    name: str
    retry_topic_most: int  # the older line reads records of version 1 alone, and cuts its log at the first other one
    properties_capacity: int  # of the HashMap that a broker reads properties into: their order in the record
    dialect: Dialect
    names_region: bool
    keeps_wait: bool
    names_transaction: bool  # __transactionId__ in a half message
    note_end: str  # what follows the queue offset in an op message (RMQ_SYS_TRANS_OP_HALF_TOPIC)
    topic_attributes: bool
    indexes_tags: bool
    keeps_real_topic: bool  # REAL_TOPIC and REAL_QID in the committed copy of a half message
    adds_to_batches: bool  # behind the own properties of each item: what a batch was sent with, a 5.x client's id too

    def added(self, properties: Mapping[str, str], cluster: str) -> dict[str, str]:
        """What the broker adds to what was sent, in the order in which it puts them into its HashMap."""
        own = {names.REGION: "DefaultRegion", names.TRACE: "true"} if self.names_region else {}
        added = {**properties, **own, names.CLUSTER: cluster}
        if not self.keeps_wait and names.WAIT in added:
            added[names.WAIT] = added.pop(names.WAIT)  # taken out, and put in again behind the others
        return added

    def text(self, properties: Mapping[str, str]) -> str:
        """Properties in the order in which the broker's HashMap hands them out."""
        order = hash_map_order(properties, self.properties_capacity)
        return names.encode({name: properties[name] for name in order}, self.dialect)

    def text_of_sent(self, properties: Mapping[str, str]) -> str:
        """The same for a message that is stored as it was sent, without a delay and a transaction."""
        order = hash_map_order(properties, self.properties_capacity)
        return names.encode(
            {name: properties[name] for name in order if self.keeps_wait or name != names.WAIT}, self.dialect
        )


CURRENT = Line("5.3", RETRY_TOPIC_MOST, 128, "current", True, True, True, ",", True, False, True, True)
# from 5.3.4 on each item of a batch is found by the id that its producer printed
NEWEST = replace(CURRENT, name="5.5", indexes_tags=True, keeps_real_topic=False, adds_to_batches=False)
OLDER = Line("4.9", TOPIC_MOST, 16, "bare", False, False, False, "", False, False, True, True)
LINES = {line.name: line for line in (OLDER, CURRENT, NEWEST)}

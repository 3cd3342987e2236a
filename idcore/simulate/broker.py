"""What a broker makes of what clients do: send, batch, delay, transaction, send back. Has no clock of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from idcore.rocketmq.message import Host, Message, MessageBatch, Record
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.flags import COMMIT, PREPARED, ROLLBACK
from idcore.rocketmq.message.javatext import hash_map_order
from idcore.rocketmq.message.model import DLQ_PREFIX, RETRY_PREFIX
from idcore.rocketmq.message.record import version_of
from idcore.rocketmq.message.validators import HALF_TOPIC, OP_HALF_TOPIC, SCHEDULE_TOPIC
from idcore.rocketmq.message.wire import wire_size
from idcore.simulate.status import PutStatus
from idcore.simulate.writer import PutResult, StoreWriter

_CLUSTER = "DefaultCluster"
_RETRY_LEVEL = 3  # a message sent back waits at level 3 first (AbstractSendMessageProcessor.consumerSendMsgBack)
_CONSUME_MOST = 16
_CLIENT_CAPACITY = 16


class Broker:
    """One broker and its store. `now` is ms since 1970, given with each call."""

    def __init__(self, writer: StoreWriter, host: Host) -> None:
        self.writer = writer
        self.line = writer.line
        self.host = host
        self._delivered: dict[int, int] = {}
        self._halves = self._notes = 0

    def _record(
        self, message: Message, topic: str, queue_id: int, born: int, client: Host, properties: str, sys_flag: int = 0
    ) -> Record:
        return Record.of(
            topic,
            message.body or b"",
            properties,
            queue_id=queue_id,
            born_timestamp=born,
            born_host=client,
            store_host=self.host,
            flag=message.flag,
            sys_flag=sys_flag,
        )

    def send(self, message: Message, queue_id: int, born: int, client: Host, now: int, sys_flag: int = 0) -> PutResult:
        """A message as its producer sent it, packed or not. A delayed one goes to SCHEDULE_TOPIC_XXXX."""
        if message.body is None:
            return PutResult(PutStatus.MESSAGE_ILLEGAL)
        properties = self.line.added(message.properties, _CLUSTER)
        topic, text = message.topic, self.line.text_of_sent(properties)
        if message.delay_level > 0 and sys_flag & ROLLBACK in (0, COMMIT):
            topic, queue_id = self._delay(properties, topic, queue_id, message.delay_level)
            text = self.line.text(properties)
        return self.writer.put(self._record(message, topic, queue_id, born, client, text, sys_flag), now)

    def _delay(self, properties: dict[str, str], topic: str, queue_id: int, level: int) -> tuple[str, int]:
        level = min(level, len(self.writer.settings.delay_seconds))
        properties.update({names.REAL_TOPIC: topic, names.REAL_QUEUE_ID: str(queue_id), names.DELAY: str(level)})
        return SCHEDULE_TOPIC, level - 1

    def due(self, delayed: Record) -> int:
        """When a record of SCHEDULE_TOPIC_XXXX is to be delivered."""
        level = int(delayed.properties[names.DELAY])
        return delayed.store_timestamp + 1000 * self.writer.settings.delay_seconds[level - 1]

    def deliver(self, delayed: Record, now: int) -> PutResult:
        """A delayed record under its own topic: the same properties, a new place."""
        properties = delayed.properties
        level = delayed.queue_id + 1
        self._delivered[level] = max(self._delivered.get(level, 0), delayed.queue_offset + 1)
        record = replace(
            delayed,
            topic_bytes=properties[names.REAL_TOPIC].encode(),
            queue_id=int(properties[names.REAL_QUEUE_ID]),
            properties_bytes=self.line.text(properties).encode(),
        )
        return self.writer.put(replace(record, magic=_version(record)), now)

    def send_batch(
        self, batch: MessageBatch, batch_id: str | None, queue_id: int, born: int, client: Host, now: int
    ) -> PutResult:
        """One record each; up to 5.3.3 with what the batch was sent with behind the item's own, its 5.x id too."""
        properties = dict(batch.properties) if batch_id is None else {**batch.properties, names.UNIQ_KEY: batch_id}
        common = self.line.text(self.line.added(properties, _CLUSTER)) if self.line.adds_to_batches else ""
        records, size = [], 0
        for item in batch.messages:
            own = {name: item.properties[name] for name in hash_map_order(item.properties, _CLIENT_CAPACITY)}
            size += wire_size(item)
            records.append(
                Record.of(
                    batch.topic,
                    item.body or b"",
                    names.encode(own) + common,
                    queue_id=queue_id,
                    born_timestamp=born,
                    born_host=client,
                    store_host=self.host,
                    flag=item.flag,
                )
            )
        if size > self.writer.settings.message_most:  # MessageExtEncoder: a batch as it travels, not each of its items
            return PutResult(PutStatus.MESSAGE_ILLEGAL)
        return self.writer.put_all(records, now)

    # transactions

    def send_half(self, message: Message, group: str, queue_id: int, born: int, client: Host, now: int) -> PutResult:
        """A half message: sysFlag 0, under RMQ_SYS_TRANS_HALF_TOPIC, so that nobody consumes it."""
        sent = {**message.properties, names.PREPARED: "true", names.PRODUCER_GROUP: group}
        properties = self.line.added(sent, _CLUSTER)
        properties.update({names.REAL_TOPIC: message.topic, names.REAL_QUEUE_ID: str(queue_id)})
        if self.line.names_transaction:
            properties[names.TRANSACTION_ID] = message.uniq_id or ""
        return self.writer.put(self._record(message, HALF_TOPIC, 0, born, client, self.line.text(properties)), now)

    def end_transaction(self, half: Record, commit: bool, now: int) -> tuple[PutResult | None, PutResult]:
        """The committed copy, if it is committed, and the op message that closes the half message."""
        return self.commit(half, now) if commit else None, self.note(half, now, now)

    def commit(self, half: Record, now: int) -> PutResult:
        """A half message under its own topic: the record says where the half is."""
        properties = half.properties
        kept = dict(properties)
        if not self.line.keeps_real_topic:
            del kept[names.REAL_TOPIC], kept[names.REAL_QUEUE_ID]
        record = replace(
            half,
            topic_bytes=properties[names.REAL_TOPIC].encode(),
            queue_id=int(properties[names.REAL_QUEUE_ID]),
            properties_bytes=self.line.text(kept).encode(),
            sys_flag=half.sys_flag & ~PREPARED | COMMIT,
            prepared_transaction_offset=half.physical_offset,
        )
        return self.writer.put(record, now)

    def note(self, half: Record, born: int, now: int) -> PutResult:
        """The op message: the broker's own record that a half message is closed."""
        note = Record.of(
            OP_HALF_TOPIC,
            f"{half.queue_offset}{self.line.note_end}".encode(),
            names.encode({names.WAIT: "true", names.TAGS: "d"}, self.line.dialect),
            queue_id=0,
            born_timestamp=born,
            born_host=self.host,
            store_host=self.host,
        )
        self._halves, self._notes = self._halves + 1, self._notes + 1
        return self.writer.put(note, now)

    def write_offsets(self, of_groups: Mapping[str, Mapping[int, int]] | None = None) -> None:
        """How far the schedule, the transaction check and groups have come: a broker that boots on it goes on there."""
        config = self.writer.root / "config"
        config.mkdir(exist_ok=True)
        version = {"counter": 1, "stateVersion": 0, "timestamp": 0}
        group = "CID_RMQ_SYS_TRANS"
        done: dict[str, Mapping[int, int]] = {f"{HALF_TOPIC}@{group}": {0: self._halves}}
        done |= {f"{OP_HALF_TOPIC}@{group}": {0: self._notes}, **(of_groups or {})}
        for name, table in (("delayOffset.json", self._delivered), ("consumerOffset.json", done)):
            text = json.dumps({"dataVersion": version, "offsetTable": table}, indent=1)
            (config / name).write_text(text + "\n", encoding="utf-8")

    # what a consumer sends back

    def send_back(self, record: Record, group: str, now: int, level: int = 0) -> PutResult:
        """A consumer failed: a copy for %RETRY%group by way of the schedule, or for %DLQ%group after too many."""
        properties = dict(record.properties)
        properties.setdefault(names.RETRY_TOPIC, record.topic)
        properties[names.WAIT] = "false"
        properties.setdefault(names.ORIGIN_MESSAGE_ID, str(record.offset_id))
        times = record.reconsume_times + 1
        copy = replace(
            record, reconsume_times=times, sys_flag=record.sys_flag, prepared_transaction_offset=0, store_host=self.host
        )
        if times > _CONSUME_MOST or level < 0:
            properties[names.DELAY] = "0"
            topic, queue_id = DLQ_PREFIX + group, 0
        else:
            level = level or _RETRY_LEVEL + record.reconsume_times
            topic, queue_id = self._delay(properties, RETRY_PREFIX + group, 0, level)
        copy = replace(
            copy, topic_bytes=topic.encode(), queue_id=queue_id, properties_bytes=self.line.text(properties).encode()
        )
        return self.writer.put(replace(copy, magic=_version(copy)), now)


def _version(record: Record) -> int:
    return version_of(record.topic)

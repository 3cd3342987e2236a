"""A store of our own: what a broker does with one prepared record, from the checks to the index. Invents no message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path

from idcore.base.errors import CoreError
from idcore.rocketmq.message import Record, check_broker_topic, flags
from idcore.rocketmq.message.model import RETRY_PREFIX
from idcore.rocketmq.message.validators import PROPERTIES_MOST, TOPIC_MOST
from idcore.rocketmq.store.folder import StoreFolder
from idcore.rocketmq.store.index import Header
from idcore.simulate.append import CommitLogWriter, IndexWriter, QueueWriter, Settings, write_checkpoint
from idcore.simulate.dialects import CURRENT, Line
from idcore.simulate.status import PutStatus


@dataclass(frozen=True, slots=True)
class PutResult:
    """What a producer gets back: the status, and an offsetMsgId for each record that was stored."""

    status: PutStatus
    records: tuple[Record, ...] = ()
    rolled_at: int | None = None

    @property
    def offset_msg_id(self) -> str:
        """As SendResult prints it: the ids of a batch are joined by commas."""
        return ",".join(str(record.offset_id) for record in self.records)


class StoreWriter:
    """Appends to a folder, new or written by this class. `abort` is there meanwhile, as with a running broker."""

    def __init__(self, root: Path, settings: Settings | None = None, zone: tzinfo = UTC, line: Line = CURRENT) -> None:
        self.root = root
        self.line = line
        self.settings = settings or Settings()
        self._next: dict[tuple[str, int], int] = {}
        self._queues_of: dict[str, int] = {}
        self._last_timestamp = 0
        self._closed = False
        if (root / "abort").exists():
            raise CoreError("in_use", {"folder": str(root)})
        root.mkdir(parents=True, exist_ok=True)
        end, last_index = self._resume()
        (root / "abort").touch()
        self._log = CommitLogWriter(root / "commitlog", self.settings, end)
        self._queues = QueueWriter(root / "consumequeue", self.settings)
        self._index = IndexWriter(root / "index", self.settings, zone, line.indexes_tags)
        if last_index is not None:
            self._index.resume(*last_index)

    def _resume(self) -> tuple[int, tuple[Path, Header] | None]:
        if not (self.root / "commitlog").is_dir():
            return 0, None
        with StoreFolder(self.root, self.settings.slots) as store:
            for topic in store.queues.topics:
                for queue in store.queues.of(topic):
                    if queue.span:
                        self._place(topic, queue.queue_id, queue.span[1])
            self._last_timestamp = store.last.record.store_timestamp if store.last else 0
            files = [file for file in store.index.files if file.header]
            header = files[-1].header if files else None
            return store.log.end or 0, (files[-1].path, header) if header else None

    def _place(self, topic: str, queue_id: int, place: int) -> None:
        self._next[topic, queue_id] = place
        self._queues_of[topic] = max(self._queues_of.get(topic, 0), queue_id + 1)

    def put(self, record: Record, store_timestamp: int) -> PutResult:
        """One record (putMessage)."""
        return self.put_all((record,), store_timestamp)

    def put_all(self, records: Sequence[Record], store_timestamp: int) -> PutResult:
        """One record, or a batch: one record each, at neighbouring offsets (putMessages)."""
        if self._closed:
            return PutResult(PutStatus.SERVICE_NOT_AVAILABLE)
        refused = next((status for record in records if (status := self._refusal(record))), None)
        if refused:
            return PutResult(refused)
        first = records[0]
        key = first.topic, first.queue_id
        place = self._next.get(key, 0)
        done = self._log.append(records, place, store_timestamp)
        if done.status is not PutStatus.PUT_OK:
            return PutResult(done.status)
        if flags.in_queue(first.sys_flag):
            self._place(*key, place + len(records))
        for record in done.records:
            self._queues.put(record)
            self._index.put(record)
        self._last_timestamp = max(self._last_timestamp, store_timestamp)
        return PutResult(PutStatus.PUT_OK, done.records, done.rolled_at)

    def _refusal(self, record: Record) -> PutStatus | None:
        """HookUtils.checkBeforePutMessage and MessageExtEncoder.encode."""
        try:
            check_broker_topic(record.topic)
        except CoreError:
            return PutStatus.MESSAGE_ILLEGAL
        most = self.line.retry_topic_most if record.topic.startswith(RETRY_PREFIX) else TOPIC_MOST
        if len(record.topic_bytes) > most:
            return PutStatus.MESSAGE_ILLEGAL
        if len(record.properties_bytes) > PROPERTIES_MOST:
            return PutStatus.PROPERTIES_SIZE_EXCEEDED
        if len(record.body) > self.settings.message_most:
            return PutStatus.MESSAGE_ILLEGAL
        return None

    @property
    def queue_ends(self) -> dict[tuple[str, int], int]:
        """The next offset of each queue."""
        return dict(self._next)

    @property
    def end(self) -> int:
        """Where the next record goes."""
        return self._log.end

    def close(self) -> None:
        """A clean stop: checkpoint and topics are written, `abort` goes. A second one changes nothing."""
        if self._closed:
            return
        self._closed = True
        for part in (self._log, self._queues, self._index):
            part.close()
        write_checkpoint(self.root / "checkpoint", self._last_timestamp, self._index.full_timestamp)
        self._write_topics()
        (self.root / "abort").unlink()

    def _write_topics(self) -> None:
        config = self.root / "config"
        config.mkdir(exist_ok=True)
        more: dict[str, dict[str, str]] = {"attributes": {}} if self.line.topic_attributes else {}
        table = {
            topic: {
                **more,
                "order": False,
                "perm": 6,
                "readQueueNums": count,
                "topicFilterType": "SINGLE_TAG",
                "topicName": topic,
                "topicSysFlag": 0,
                "writeQueueNums": count,
            }
            for topic, count in sorted(self._queues_of.items())
        }
        text = json.dumps(
            {
                "dataVersion": {"counter": 1, "stateVersion": 0, "timestamp": self._last_timestamp},
                "topicConfigTable": table,
            },
            indent=1,
        )
        (config / "topics.json").write_text(text + "\n", encoding="utf-8")

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

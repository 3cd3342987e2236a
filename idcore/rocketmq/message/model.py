"""Messages as the client holds them: Message, MessageBatch, MessageExt. No bytes of a format, no broker, no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from idcore.base.errors import refuse
from idcore.ids.model import OffsetId, host_text
from idcore.ids.origins import BrokerAddress
from idcore.rocketmq.message import javatext
from idcore.rocketmq.message import properties as names

RETRY_PREFIX, DLQ_PREFIX = "%RETRY%", "%DLQ%"
LIGHT_PREFIX = "%LMQ%"
_LITE_PREFIX, _LITE_SEPARATOR = "%LMQ%$", "$"


def parent_of(topic: str) -> str | None:
    """The topic that has the records of a lite topic's queue, `%LMQ%$parent$lite` (LiteUtil); None for any other."""
    parent, mark, _ = topic.removeprefix(_LITE_PREFIX).partition(_LITE_SEPARATOR)
    return parent if topic.startswith(_LITE_PREFIX) and mark and parent else None


def lite_of(topic: str) -> str:
    """The name of a lite topic without that of its parent."""
    return topic.removeprefix(_LITE_PREFIX).partition(_LITE_SEPARATOR)[2]


@dataclass(frozen=True, slots=True)
class Host:
    """An address and a port, as records carry them."""

    ip: bytes
    port: int

    def __str__(self) -> str:
        return str(BrokerAddress(self.host, self.port))

    @property
    def host(self) -> str:
        """The address without its port."""
        return host_text(self.ip)

    @property
    def is_v6(self) -> bool:
        """Whether it takes sixteen bytes."""
        return len(self.ip) == 16

    @property
    def java_text(self) -> str:
        """InetSocketAddress.toString of Java 14 and later."""
        return f"/{self.java_host}:{self.port}"

    @property
    def java_host(self) -> str:
        """The host in it: sixteen bytes in brackets, without the shortest form's double colon."""
        if not self.is_v6:
            return self.host
        return f"[{':'.join(f'{self.ip[at] << 8 | self.ip[at + 1]:x}' for at in range(0, 16, 2))}]"


@dataclass(frozen=True, slots=True)
class Message:
    """What an application sends."""

    topic: str
    body: bytes | None = None
    flag: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)
    transaction_id: str | None = None

    @classmethod
    def of(
        cls,
        topic: str,
        body: bytes | None,
        tags: str | None = None,
        keys: str | Iterable[str] | None = None,
        flag: int = 0,
        wait_store_ok: bool = True,
    ) -> Message:
        """A message as its constructor makes it: empty tags and keys are left out, WAIT is always there."""
        properties: dict[str, str] = {}
        joined = keys if isinstance(keys, str) or keys is None else names.KEY_SEPARATOR.join(keys)
        for name, value in ((names.TAGS, tags), (names.KEYS, joined)):
            if value:
                properties[name] = value
        properties[names.WAIT] = "true" if wait_store_ok else "false"
        return cls(topic, body, flag, properties)

    def with_property(self, name: str, value: str) -> Self:
        """The same with one property put, under any name."""
        return replace(self, properties={**self.properties, name: value})

    def with_uniq_id(self, uniq_id: str) -> Self:
        """setUniqID: only a message without one gets one, so a retry keeps it."""
        return self if names.UNIQ_KEY in self.properties else self.with_property(names.UNIQ_KEY, uniq_id)

    def with_delay_level(self, level: int) -> Self:
        """Message.setDelayTimeLevel of the Java client."""
        return self.with_property(names.DELAY, str(level))

    @property
    def tags(self) -> str | None:
        """The property TAGS."""
        return self.properties.get(names.TAGS)

    @property
    def keys(self) -> str | None:
        """The words of the property KEYS."""
        return self.properties.get(names.KEYS)

    @property
    def uniq_id(self) -> str | None:
        """UNIQ_KEY: the id that its producer gave it."""
        return self.properties.get(names.UNIQ_KEY)

    @property
    def delay_level(self) -> int:
        """The property DELAY; 0 without one."""
        text = self.properties.get(names.DELAY)
        if text is None:
            return 0
        digits = text[1:] if text[:1] in "+-" else text
        if not digits.isdecimal() or not -(1 << 31) <= int(text) < 1 << 31:
            raise refuse("delay_number", "properties", None, value=text)
        return int(text)

    @property
    def wait_store_ok(self) -> bool:
        """WAIT, true when it is not there."""
        return self.properties.get(names.WAIT, "true").lower() == "true"

    @property
    def tags_code(self) -> int:
        """tagsString2tagsCode: the Java hash of the tag, 0 for none."""
        return tags_code(self.tags)

    def __str__(self) -> str:
        properties = "null"
        if self.properties:
            order = javatext.hash_map_order(self.properties, 128)
            properties = "{" + ", ".join(f"{name}={self.properties[name]}" for name in order) + "}"
        body = "null" if self.body is None else f"[{', '.join(str(byte - (byte >> 7 << 8)) for byte in self.body)}]"
        return (
            f"Message{{topic='{self.topic}', flag={self.flag}, properties={properties}, body={body},"
            f" transactionId='{'null' if self.transaction_id is None else self.transaction_id}'}}"
        )


def tags_code(tags: str | None) -> int:
    """What the broker puts into the consume queue for a tag."""
    return javatext.hash_code(tags) if tags else 0


@dataclass(frozen=True, slots=True)
class MessageBatch(Message):
    """Several messages of one topic that travel as one."""

    messages: tuple[Message, ...] = ()

    @classmethod
    def of_messages(cls, messages: Iterable[Message]) -> MessageBatch:
        """generateFromList: each restriction has its own error, whose `byte` is the place of the message."""
        given = tuple(messages)
        if not given:
            raise refuse("batch_empty")
        first = given[0]
        for place, message in enumerate(given):
            if message.delay_level > 0:
                raise refuse("batch_delay", "properties", None, message=place)
            if message.topic.startswith(RETRY_PREFIX):
                raise refuse("batch_retry", "topic", None, message=place)
            if message.topic != first.topic:
                raise refuse("batch_topic", "topic", None, message=place)
            if message.wait_store_ok != first.wait_store_ok:
                raise refuse("batch_wait", "properties", None, message=place)
        wait = {names.WAIT: "true" if first.wait_store_ok else "false"}
        return cls(first.topic, None, 0, wait, None, given)


@dataclass(frozen=True, slots=True)
class MessageExt(Message):
    """What a consumer or a look-up gets: the message and where, when and by whom it was stored."""

    broker_name: str | None = None
    queue_id: int = 0
    store_size: int = 0
    queue_offset: int = 0
    sys_flag: int = 0
    born_timestamp: int = 0
    born_host: Host = Host(b"\0\0\0\0", 0)
    store_timestamp: int = 0
    store_host: Host = Host(b"\0\0\0\0", 0)
    commit_log_offset: int = 0
    body_crc: int = 0
    reconsume_times: int = 0
    prepared_transaction_offset: int = 0

    @property
    def offset_msg_id(self) -> str:
        """The broker's id. MessageExt.toString prints it as msgId, because MessageClientExt does not override that."""
        return str(OffsetId.of(self.store_host.ip, self.store_host.port, self.commit_log_offset))

    @property
    def msg_id(self) -> str:
        """MessageClientExt.getMsgId: UNIQ_KEY when there is one, else the offsetMsgId."""
        return self.offset_msg_id if self.uniq_id is None else self.uniq_id

    def __str__(self) -> str:
        # super() without arguments does not work in a slotted dataclass
        inner = Message.__str__(self)
        return (
            f"MessageExt [brokerName={'null' if self.broker_name is None else self.broker_name},"
            f" queueId={self.queue_id}, storeSize={self.store_size}, queueOffset={self.queue_offset},"
            f" sysFlag={self.sys_flag}, bornTimestamp={self.born_timestamp}, bornHost={self.born_host.java_text},"
            f" storeTimestamp={self.store_timestamp}, storeHost={self.store_host.java_text},"
            f" msgId={self.offset_msg_id}, commitLogOffset={self.commit_log_offset}, bodyCRC={self.body_crc},"
            f" reconsumeTimes={self.reconsume_times},"
            f" preparedTransactionOffset={self.prepared_transaction_offset}, toString()={inner}]"
        )

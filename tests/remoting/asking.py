"""How the tests of the real cluster ask it: profiles, services, and a copy's fields as the Java program prints them."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from idcore.answers.lookup import Answer, Copy, LookupService, Moment, evidence_text
from idcore.ids import OffsetId
from idcore.rocketmq.remoting.acl import Credentials
from idcore.rocketmq.remoting.cluster import Cluster
from idcore.rocketmq.remoting.profile import Profile, TlsSettings, name_servers
from tests.remoting.boot import ACCESS, SECRET
from tests.remoting.conftest import Filled


def profile(real: Filled, **changes: Any) -> Profile:
    made = Profile(
        "test", name_servers(real.cluster.names), Credentials(ACCESS, SECRET), TlsSettings(str(real.cluster.ca))
    )
    return replace(made, **changes)


def desk_of(found: Profile, ahead: timedelta = timedelta()) -> LookupService:
    return LookupService(Cluster(found), lambda: Moment(datetime.now(UTC) + ahead, UTC))


def as_mqadmin(copy: Copy) -> dict[str, Any]:
    """A copy's fields under the names and in the forms of Sender.java."""
    message = copy.record.message()
    return {
        "topic": message.topic,
        "queue_id": message.queue_id,
        "queue_offset": message.queue_offset,
        "commit_log_offset": message.commit_log_offset,
        "store_size": message.store_size,
        "sys_flag": message.sys_flag,
        "flag": message.flag,
        "born_timestamp": message.born_timestamp,
        "born_host": message.born_host.java_text,
        "store_timestamp": message.store_timestamp,
        "store_host": message.store_host.java_text,
        "body_crc": message.body_crc,
        "reconsume_times": message.reconsume_times,
        "prepared_transaction_offset": message.prepared_transaction_offset,
        "properties": dict(message.properties),
        "msg_id": message.msg_id,
        "offset_msg_id": message.offset_msg_id,
        "body": None if len(message.body or b"") > 9_000 else base64.b64encode(message.body or b"").decode(),
    }


def texts(answer: Answer) -> str:
    return "\n".join(evidence_text(item) for item in answer.evidence)


def codes(answer: Answer) -> set[str]:
    return {item.code for item in answer.evidence}


def at(line: dict[str, Any], offset: int) -> str:
    """An id of the same broker at another offset."""
    made = OffsetId.from_hex(line["offset_msg_id"])
    return str(OffsetId.of(made.ip, made.port, offset))

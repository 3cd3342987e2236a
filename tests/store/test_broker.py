"""Real brokers of three lines on stores that we wrote: they boot, serve every message by both ids, append as we do."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from idcore.rocketmq.message import Host, decode_record, decode_records
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.simulate.append import Settings
from idcore.simulate.broker import Broker
from idcore.simulate.dialects import LINES
from idcore.simulate.writer import StoreWriter
from tests.java import jars
from tests.store import played
from tests.store.real_broker import LONG_MOST, MAX_OFFSET, QUERY, VIEW, RealBroker

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(300)]
_LOOPBACK = bytes((127, 0, 0, 1))
# Newest: 5.3.4 is not whole on Maven Central (its client, common, tools and remoting are missing), 5.5.0 is.
BROKERS = {"5.5": jars.NEW_SERVER, "5.3": jars.SERVER, "4.9": jars.OLD_SERVER}


@dataclass
class Made:
    """A store of `make store`, the truth about it, a copy that stays as it was, and the broker that runs on it."""

    line: str
    folder: Path
    truth: dict[str, Any]
    broker: RealBroker

    @property
    def store(self) -> Path:
        return self.folder / "store"


@pytest.fixture(scope="module", params=list(BROKERS), ids=list(BROKERS))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, loopback_agent: Path
) -> Iterator[Made]:
    line, server = request.param, BROKERS[request.param]
    folder = tmp_path_factory.mktemp("broker")
    command = [sys.executable, "-m", "idcore", "make", "store", "--messages", "500", "--broker", line, "--out"]
    subprocess.run([*command, str(folder / "store")], check=True, cwd=ROOT, timeout=120)
    shutil.copytree(folder / "store", folder / "copy")
    truth = json.loads((folder / "truth.json").read_text())
    running = RealBroker(folder / "work", folder / "store", loopback_agent, server)
    try:
        yield Made(line, folder, truth, running)
    finally:
        running.kill()


def test_it_listens_on_loopback_alone(made: Made) -> None:
    for port in (made.broker.port - 2, made.broker.port, made.broker.port + 1):
        with socket.socket() as other, socket.socket() as same:
            other.bind(("127.0.0.2", port))  # refused where somebody listens on every address
            with pytest.raises(OSError, match="in use"):
                same.bind(("127.0.0.1", port))


def test_every_message_is_served_by_its_offset_id(made: Made) -> None:
    served = 0
    for sent in made.truth["sent"]:
        for copy in sent["copies"]:
            head, raw = made.broker.ask(VIEW, offset=copy["commit_log_offset"])
            assert head["code"] == 0, head
            assert str(decode_record(raw).offset_id) == copy["offset_msg_id"]
            served += 1
    assert served > 500


def test_every_message_is_served_by_its_msg_id_and_keys(made: Made) -> None:
    for sent in made.truth["sent"]:
        uniq_id = sent.get("batch_id") or sent["msg_id"]
        unique: dict[str, Any] = {"_UNIQUE_KEY_QUERY": "true"}
        for key, extra in ((uniq_id, unique), (sent["keys"].split(" ")[0], {})):
            for topic in sorted({copy["topic"] for copy in sent["copies"]}):
                head, raw = made.broker.ask(
                    QUERY, topic=topic, key=key, maxNum=64, beginTimestamp=0, endTimestamp=LONG_MOST, **extra
                )
                assert head["code"] == 0, (head, sent)
                found = {str(record.offset_id) for record in decode_records(raw)}
                assert {copy["offset_msg_id"] for copy in sent["copies"] if copy["topic"] == topic} <= found


def test_it_goes_on_where_we_ended_and_our_broker_writes_the_same_bytes(made: Made) -> None:
    queue = next(row for row in made.truth["queues"] if (row["topic"], row["queue_id"]) == (played.TOPIC, played.QUEUE))
    head, _ = made.broker.ask(MAX_OFFSET, topic=played.TOPIC, queueId=played.QUEUE)
    assert head["extFields"]["offset"] == str(queue["messages"])
    script = played.Played(made.broker, made.store, made.truth["end"])
    assert script.sent["queueOffset"] == str(queue["messages"])
    offset = int(script.sent["msgId"][16:], 16)
    assert offset == made.truth["end"]  # nothing was delivered or checked a second time
    with StoreFolder(made.store) as store:  # a broker is running on it: we only read
        found = store.log.look(offset)
        assert isinstance(found, Stored)
        assert (found.record.body, found.record.uniq_id) == (played.PLAIN.body, played.PLAIN.uniq_id)
        assert store.aborted
    wanted = script.records()
    with StoreWriter(made.folder / "copy", Settings(), line=LINES[made.line]) as writer:
        ours = Broker(writer, Host(_LOOPBACK, made.broker.port))
        written = played.replay(ours, Host(_LOOPBACK, made.broker.client_port), wanted)
    different = [(mine, real) for mine, real in zip(written, wanted, strict=True) if bytes(mine) != bytes(real)]
    assert different == []


@pytest.mark.long(first=1)
def test_after_a_clean_stop_both_stores_are_the_same(made: Made) -> None:
    made.broker.stop()
    with StoreFolder(made.store) as store:
        assert not store.aborted
    for part in ("commitlog", "consumequeue", "index"):
        assert _contents(made.store / part) == _contents(made.folder / "copy" / part), part


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

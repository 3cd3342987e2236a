"""What a broker is asked about a transaction: a server of queues on loopback."""

from __future__ import annotations

from unittest.mock import Mock

from idcore.answers.fate import Observation
from idcore.answers.lookup.notes import Notes
from idcore.answers.lookup.topic_brokers import Pace
from idcore.rocketmq.remoting.consumers import AllDelayOffsets
from idcore.rocketmq.remoting.errors import Unreachable
from tests.remoting.fake import UNIQ, record
from tests.remoting.fake_queues import START, Queues

HALF, NOTES = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"


def test_a_note_is_found_where_the_notes_before_it_were_deleted() -> None:
    queues = Queues({HALF: 1, NOTES: 1, "Orders": 1})
    queues.put(HALF, 0, 5_000, UNIQ, REAL_TOPIC="Orders", PGROUP="payers")
    note = record(NOTES, None, 0, b"0,").placed(100, 50_000, START + 6_000)
    queues.first[NOTES, 0], queues.held[NOTES, 0] = 100, [note]
    queues.records.append(note)
    queues.refused = {14: (22, "none"), 204: (1, "not exist")}
    with queues.server, (service := queues.service()).cluster:
        answer = service.one(UNIQ)
    assert {item.code for item in answer.evidence if "half" in item.code} == {"half_rolled_back"}
    slices = [frame.field("index") for frame in queues.server.seen if frame.code == 321]
    assert slices == ["100"], "an index before the first is answered with nothing, as one behind the last"


def test_a_transaction_that_the_broker_checks_at_that_moment_is_open() -> None:
    """The check stored the half message again and moved on; the index has the new one a moment later."""
    queues = Queues({HALF: 1, NOTES: 1, "Orders": 1})
    named = {"REAL_TOPIC": "Orders", "PGROUP": "payers"}
    queues.put(HALF, 0, 5_000, UNIQ, **named)
    queues.refused = {204: (1, "not exist")}
    pauses: list[float] = []

    def index(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 1:
            queues.put(HALF, 0, 9_000, UNIQ, TRANSACTION_CHECK_TIMES="1", **named)

    with queues.server:
        said = []
        for swept in (1, 9):  # the second time nothing newer comes: it has an end that nobody noted
            queues.swept = swept
            with (service := queues.service(pace=Pace(lambda: START, index))).cluster:
                answer = service.one(UNIQ)
            said.append(next(item.code for item in answer.evidence if "half" in item.code))
    assert said == ["half_undecided", "half_swept"] and pauses == [1.0, 1.0]


def test_a_name_server_that_goes_away_meanwhile_costs_only_the_answer() -> None:
    cluster = Mock()
    cluster.topology.side_effect = Unreachable("no_broker", {"cluster": "c", "address": ""})
    notes = Notes(cluster)
    assert notes.heard("10.0.0.1:10911", [AllDelayOffsets()]) == [Observation()]
    assert notes.failure == "unreachable" and [item.code for item in notes.evidence] == ["no_answer"]

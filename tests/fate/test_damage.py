"""Damaged evidence: connections (203), progress (208) and traces that are not as they were written give no verdict."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace

from idcore.answers.fate import Group, JudgedRecord, Observation, Verdict, judge
from idcore.answers.fate.model import Attempt
from idcore.answers.lookup.fates import _merge_connections, _pulled
from idcore.base.errors import CoreError
from idcore.ids.model import UniqId
from idcore.rocketmq.message.attempts import Written, paired
from idcore.rocketmq.message.trace import read_trace
from idcore.rocketmq.remoting.consumers import Connection, ConsumerConnections, ConsumeStats, QueueProgress
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.frame import Frame
from tests.remoting.test_consumers import CONNECTION, PIECES

STORED = 1_795_000_000_000
NOW = STORED + 600_000
MSG = "0A42333A0DC818B4AAC246C290FD0000"
REQUEST = str(UniqId.of("10.0.0.3", 4_464, 0x18B4AAC2, 1_000_000, 9))
HOME = JudgedRecord("7F000001", "a", "T", 1, 10, STORED, "A", readable=True, end=Observation(50, NOW))
CONNECTED = json.dumps(CONNECTION).encode()
PROGRESS = (
    b'{"consumeTps":0.0,"offsetTable":{{"brokerName":"a","queueId":1,"topic":"T"}:{"brokerOffset":120,'
    b'"consumerOffset":8,"lastTimestamp":17,"pullOffset":12}}}'
)
TRACE = (
    f"SubBefore\1{STORED + 10}\1r\1G\1{REQUEST}\1{MSG}\0010\1key\2"
    f"SubAfter\1{REQUEST}\1{MSG}\00112\1true\1key\0010\1{STORED + 22}\1G\2"
).encode()
PICK = random.Random(20_261_123)


def damaged(raw: bytes, pieces: list[bytes]) -> bytes:
    for _ in range(PICK.randrange(1, 4)):
        start = PICK.randrange(len(raw) + 1)
        raw = raw[:start] + PICK.choice(pieces) + raw[start + PICK.choice((0, 0, 1, 1, 2, 5, 20)) :]
    return raw


def connections(raw: bytes) -> Observation[Connection]:
    try:
        return Observation(ConsumerConnections("G").result(Frame(0, 1, 1, "JAVA", 479, None, None, raw), ""), NOW)
    except RemotingError:
        return Observation()


def progress(raw: bytes) -> Observation[Sequence[QueueProgress]]:
    try:
        return Observation(ConsumeStats("G", "T").result(Frame(0, 1, 1, "JAVA", 479, None, None, raw), ""), NOW)
    except RemotingError:
        return Observation()


def attempts(raw: bytes) -> tuple[Attempt, ...]:
    contexts: list[Written] = [(item, "10.0.0.3:5") for item in read_trace(raw) if not isinstance(item, CoreError)]
    return tuple(each for each in paired(contexts, {MSG}).attempts if each.group == "G")


def verdict(offset: int, **known: object) -> Verdict:
    group = Group("G", Observation(offset, NOW), copies_complete=True, can_consume=Observation(True, NOW))
    return judge(HOME, replace(group, **known), NOW)  # type: ignore[arg-type]


def test_whole_evidence_gives_verdicts() -> None:
    connected = _merge_connections([connections(CONNECTED)], "T", False)
    assert verdict(11, consumers=connected).code == "consumed"
    pulled = _pulled(progress(PROGRESS), "T", 1)
    assert verdict(8, consumers=connected, pull_offset=pulled).code == "handed_out"
    pushed = Observation(True, NOW)
    assert verdict(8, attempts=attempts(TRACE), pushed=pushed).certainty == "proved"


def test_damaged_connections_are_silence_and_never_a_reason() -> None:
    silent = {offset: verdict(offset, consumers=_merge_connections([Observation()], "T", False)) for offset in (8, 11)}
    assert silent[8].code == "no_verdict" and silent[11].certainty == "uncertain"
    read = 0
    for number in range(3_400):
        offset = (8, 11)[number % 2]
        heard = connections(damaged(CONNECTED, PIECES))
        found = verdict(offset, consumers=_merge_connections([heard], "T", False))
        if not heard.answered:
            assert found == silent[offset]
            continue
        read += 1  # a name, a version or a tag may still be one
        assert found.code not in {"offline", "disabled", "stuck"} and found.certainty != "proved"
    assert 20 < read < 1_500


def test_damaged_progress_hands_nothing_out() -> None:
    connected = _merge_connections([connections(CONNECTED)], "T", False)
    silent = verdict(8, consumers=connected)
    refused = 0
    for _ in range(3_300):
        heard = progress(damaged(PROGRESS, PIECES))
        found = verdict(8, consumers=connected, pull_offset=_pulled(heard, "T", 1))
        if not heard.answered:
            refused += 1
            assert (found.code, found.facts) == (silent.code, silent.facts)
        elif found.code == "handed_out":
            assert any(each.pull_offset > HOME.offset for each in heard.value or ())
    assert refused > 2_000


def test_damaged_traces_prove_nothing() -> None:
    silent = verdict(8)
    pieces = [*PIECES, b"\1", b"\2", b"true", b"false", b"G", b"SubAfter"]
    refused = whole = 0
    for _ in range(3_300):
        raw = damaged(TRACE, pieces)
        items = list(read_trace(raw))
        found = verdict(8, attempts=attempts(raw))
        ends = [part.split(b"\1") for part in raw.split(b"\2")[:-1]]
        ended = [part for part in ends if part[0] == b"SubAfter" and part[2:5:2] == [MSG.encode(), b"true"]]
        if found.code == "consumed":
            whole += 1
            assert ended  # it is there, whole, with success
        if items and all(isinstance(item, CoreError) for item in items):
            refused += 1
            assert found == silent
    assert refused > 100 and whole > 100

"""The console's example: its lines are as clients print them, and each finding about it is true."""

from __future__ import annotations

import gzip
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from idcore.scan.lines import look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate import example
from idcore.simulate.incidents import HEALTHY, Incident
from idcore.simulate.scenario import Scenario
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all

pytestmark = pytest.mark.quick

# Printed by a client 4.9 and up (tests/vectors/real.log.gz, and a public log for `consumed`); older ones leave out
# brokerName and print the length of the body.
_HEX = "[0-9A-F]{32}(?:[0-9A-F]{24})?"
MESSAGE_EXT = re.compile(
    r"\[MessageExt \[brokerName=[\w-]+, queueId=\d+, storeSize=\d+, queueOffset=\d+, sysFlag=\d+, "
    r"bornTimestamp=\d{13}, bornHost=/(?:[\d.]+|\[[0-9a-f:]+\]):\d+, storeTimestamp=\d{13}, storeHost=/[\d.]+:\d+, "
    rf"msgId={_HEX}, commitLogOffset=\d+, bodyCRC=\d+, reconsumeTimes=\d+, preparedTransactionOffset=\d+, "
    r"toString\(\)=Message\{topic='[^']+', flag=0, properties=\{(?:\w+=[^,}]*(?:, )?)+\}, "
    r"body=\[(?:-?\d+(?:, )?)+\], transactionId='[^']*'\}\]\]"
)
JAVA_SEND = re.compile(
    rf"SendResult \[sendStatus=SEND_OK, msgId={_HEX}(?:,{_HEX})*, offsetMsgId={_HEX}(?:,{_HEX})*, "
    r"messageQueue=MessageQueue \[topic=\w+, brokerName=[\w-]+, queueId=\d+\], queueOffset=\d+\]"
)
GO_SEND = re.compile(
    r"SendResult \[sendStatus=0, msgIds=[0-9A-F]{20}[0-9a-f]{12}, offsetMsgId=[0-9A-F]{32}, queueOffset=\d+, "
    r"messageQueue=MessageQueue \[topic=\w+, brokerName=[\w-]+, queueId=\d+\]\]"
)


def held(lines: list[str]) -> None:
    printed = {"MessageExt [": [MESSAGE_EXT], "SendResult": [JAVA_SEND, GO_SEND]}
    for word, shapes in printed.items():
        of_word = [line for line in lines if word in line]
        assert of_word
        assert [line for line in of_word if not any(shape.search(line) for shape in shapes)] == []


def test_made_lines_are_as_clients_print_them() -> None:
    held(list(example.lines()))
    held(list(Incident(HEALTHY, None, 1, example.START, example.ZONE).lines()))
    held(list(Scenario(1, example.START, example.ZONE, 3_000).log(3_000)))
    assert MESSAGE_EXT.search(example.consumed()) and JAVA_SEND.search(example.send_result())


def test_real_lines_have_the_shape_that_is_asked_for() -> None:
    real = gzip.decompress(Path("tests/vectors/real.log.gz").read_bytes()).decode().splitlines()
    received = [line for line in real if "MessageExt [" in line and "brokerName=null" not in line]
    hits = [line for line in received if MESSAGE_EXT.search(line)]
    assert len(hits) > 800 and len([line for line in received if "%" not in line]) - len(hits) < 30


def test_every_finding_about_the_example_is_true(tmp_path: Path) -> None:
    path = tmp_path / example.NAME
    path.write_text(example.log())
    tables = scan_local([str(path)], month_rows(example.now(), example.ZONE))
    told = look(list_files([str(path)]), tables["copies"]["msg_id"].to_pylist())
    found = find_all(tables, example.now(), example.ZONE, line_evidence=told)
    loud = [(item.code, item.subject, item.count) for item in found if item.severity != "info"]
    pairs = zip(example.lines(), example.lines()[1:], strict=False)
    resent = [line.split("msgId=")[1][:32] for before, line in pairs if "sent again" in before]
    assert {row[1:] for row in loud if row[0] == "duplicate_send"} == {(text, 2) for text in resent} and resent
    for item in (item for item in found if item.code == "duplicate_send"):  # no line has a bornTimestamp
        line = next(line for line in example.lines() if item.subject in line)
        written = datetime.strptime(line[:29], "%Y-%m-%d %H:%M:%S.%f %z")
        assert item.since is not None and item.since == item.until
        assert timedelta(0) <= written - item.since < timedelta(seconds=5)
    assert not [item for item in found if "explained" in item.evidence], "no batch is in it"
    assert [row for row in loud if row[0] != "duplicate_send"] == [
        ("shared_fingerprint", "172.17.0.2 pid 1 loader 251A69D7", 2),  # two containers
        ("missing_ids", "10.42.3.18 pid 9077 loader 14DAD5DC", 61),  # gap=61
        ("missing_ids", "172.17.0.2 pid 1 loader 251A69D7", 5),  # gap=5
    ]
    assert {(item.code, item.subject.partition(" (")[0]) for item in found if item.severity == "info"} == {
        ("missing_ids", "10.42.3.17 pid 27515 loader 18B4AAC2"),  # most of its ids go to other logs
        ("restart", "10.42.3.18 pid 9077 loader 14DAD5DC"),
        ("counter_wrap", "10.42.3.17 pid 27515 loader 18B4AAC2"),
        ("container_host", "172.17.0.2 pid 1 loader 251A69D7"),
        ("foreign_maker", "10.42.7.9 pid 8 loader 00000000"),
        ("id_confusion", "msgId"),
    }

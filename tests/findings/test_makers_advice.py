"""Advice that names a client: it has to fit the release, the address and the text that the IDs came from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.answers import finding_words as words
from idcore.answers.findings.all_rules import Finding
from idcore.ids import identify
from tests.findings.every_rule import find_in
from tests.scan.logs import JAVA, uniq

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def found_in(lines: Sequence[str], tmp_path: Path, code: str) -> list[Finding]:
    """The findings of one code in some lines."""
    found, _ = find_in("".join(line + "\n" for line in lines), tmp_path, AT)
    return [one for one in found if one.code == code]


@pytest.mark.parametrize(
    ("address", "variant"),
    [("A9FE4514", "ipv4"), ("FE80000000000000AEDE48FFFE001122", None)],
)
def test_only_an_ipv6_link_local_address_is_blamed_on_client_4_6_0(
    address: str, variant: str | None, tmp_path: Path
) -> None:
    (finding,) = found_in([f"{address}23CC18B4AAC29514FA31000{n}" for n in range(3)], tmp_path, "link_local_host")
    assert finding.evidence.variant == variant
    said = words.say("advice", finding.code, finding.evidence)
    assert ("4.6.0" in said) == (variant is None)
    assert ("clientIP" in said) == (variant == "ipv4")


def test_months_in_utc_do_not_tell_go_from_its_relatives(tmp_path: Path) -> None:
    """A container is in UTC by default, and the Go client counts months in its host's zone."""
    line = "properties=map[UNIQ_KEY:0A1F203E0001000000002bd062880001] BornTimestamp=1744200677396"
    (finding,) = found_in([line], tmp_path, "foreign_maker")
    assert finding.evidence.maker_code == "go"
    (finding,) = found_in([line.replace("2bd062880001", "000013880001")], tmp_path, "foreign_maker")
    assert finding.evidence.maker_code == "go_family"
    said = words.say("advice", finding.code, finding.evidence)
    assert "else the Go client" not in said
    assert "may be in UTC too" in said


BROKER = "0A08051E00002A9F0000000000003A26"
SEND_3X = f"SendResult [sendStatus=SEND_OK, msgId={BROKER}, messageQueue=MessageQueue [topic=T, queueId=1]]"
SEND_JSON_3X = (
    f'{{"messageQueue":{{"queueId":1,"topic":"T"}},"msgId":"{BROKER}","queueOffset":0,"sendStatus":"SEND_OK"}}'
)
RECORD = (
    f"MessageExt [queueId=1, storeSize=166, msgId={BROKER}, commitLogOffset=14886, bodyCRC=1, "
    "toString()=Message [topic=T, flag=0, properties={MIN_OFFSET=0, %sWAIT=true}, body=35]]"
)


@pytest.mark.parametrize("line", [SEND_3X, SEND_JSON_3X, RECORD % ""])
def test_the_only_id_of_a_3x_client_is_no_fault_of_the_program(line: str, tmp_path: Path) -> None:
    (finding,) = found_in([line] * 4, tmp_path, "id_confusion")
    assert (finding.severity, finding.evidence.variant, finding.count) == ("info", "only_id", 4)
    assert "getMsgId() or" not in words.say("advice", finding.code, finding.evidence)


@pytest.mark.parametrize(
    ("line", "severity", "variant"),
    [
        (f"saved order 7 msgId={BROKER}", "warning", None),
        (f"send ok, sendStatus=SEND_OK, msgId={BROKER}", "warning", None),  # an application's own words
        (
            f"SendResult [sendStatus=SEND_OK, msgId={BROKER}, offsetMsgId={BROKER}, messageQueue=MessageQueue []]",
            "warning",
            None,
        ),
        (RECORD % f"UNIQ_KEY={uniq(0x0A000001, 7, JAVA, 1000, 1)}, ", "info", "message_ext"),
        (RECORD.partition("toString")[0], "info", "message_ext"),  # cut: what was behind is not known
    ],
)
def test_what_has_a_second_id_is_still_a_confusion(
    line: str, severity: str, variant: str | None, tmp_path: Path
) -> None:
    (finding,) = found_in([line], tmp_path, "id_confusion")
    assert (finding.severity, finding.evidence.variant) == (severity, variant)


def test_a_cpp_id_in_the_form_of_a_uuid_names_both() -> None:
    best = identify(uniq(0x0A64F892, 7, 0x4B1A9871, 3_600_001, 5)).best
    assert best is not None
    assert "C++" in best.maker and "UUID" in best.maker

"""The names of brokers that lines have beside offsetMsgIds: what counts, what does not, and where they are shown."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from idcore.ids.origins import BrokerAddress
from idcore.presentation.triage import broker_rows
from idcore.scan import broker_names
from idcore.scan.lines import look
from idcore.sources.inputs import list_files

A, B = "0A00000500002A9F0000000000000010", "0A00000600002A9F0000000000000020"
V6 = "20010DB800000000000000000000000500002A9F0000000000000010"


def names_of(*lines: str) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    broker_names.take("".join(f"{line}\n" for line in lines).encode(), names)
    return names


@pytest.mark.parametrize(
    "line",
    [
        f"SendResult [msgId=x, offsetMsgId={A}, messageQueue=MessageQueue [topic=T, brokerName=b-1, queueId=0]]",
        f"MessageExt [brokerName=b-1, queueId=0, storeHost=/10.0.0.5:10911, msgId={A}, commitLogOffset=16, bodyCRC=1]",
        f'{{"brokerName":"b-1","offsetMsgId":"{A}"}}',
        f'{{\\"brokerName\\": \\"b-1\\", \\"offsetMsgId\\": \\"{A}\\"}}',
        f"stored offsetMsgId={A} brokerName=b-1",
        f"offsetMsgId={A},0A00000500002A9F0000000000000099 brokerName=b-1, again brokerName=b-1",
    ],
)
def test_a_name_beside_an_offset_id_is_that_of_its_broker(line: str) -> None:
    assert names_of(line, "brokerName=alone", f"offsetMsgId={B}") == {"10.0.0.5:10911": {"b-1"}}


@pytest.mark.parametrize(
    "line",
    [
        f"offsetMsgId={A} brokerName=b-1 and then brokerName=b-2",  # whose?
        f"offsetMsgId={A} and offsetMsgId={B} brokerName=b-1",
        f"MessageExt [brokerName=null, queueId=0, msgId={A}, commitLogOffset=16, bodyCRC=1]",
        f"msgId={A} brokerName=b-1",  # the name of a producer's ID
        f"offsetMsgId={A}\nbrokerName=b-1",
        f"offsetMsgId={A}0 brokerName=b-1",
        f"offsetMsgId={A} brokerName=<b>",
        f"offsetMsgId={A} brokerName=b\u202e1",
        f"offsetMsgId={A} brokerName={'b' * 200}",
    ],
)
def test_a_line_that_does_not_say_which_counts_for_none(line: str) -> None:
    assert names_of(line) == {}


def test_a_name_that_a_piece_of_text_cuts_is_none() -> None:
    names: dict[str, set[str]] = {}
    broker_names.take(f"offsetMsgId={A} brokerName=bro".encode(), names)
    assert names == {}


def test_an_address_may_have_several_names_and_be_of_ipv6() -> None:
    lines = [f"offsetMsgId={V6} brokerName=b-{number}" for number in (2, 1)]
    assert names_of(*lines) == {"[2001:db8::5]:10911": {"b-1", "b-2"}}


def test_random_lines_name_what_a_slow_reader_finds() -> None:
    chance = random.Random(5)
    parts = [A, B, "brokerName=", "offsetMsgId=", "b-1", "b-2", " ", "\n", ",", "=", "null", "]"]
    for _ in range(3_000):
        text = "".join(chance.choices(parts, k=chance.randrange(4, 18)))
        wanted: dict[str, set[str]] = {}
        for line in text.splitlines(keepends=True):
            named = set(re.findall(r"brokerName ?= ?([\w.+@%-]{1,127})(?=[\s,;\]})])", line)) - {"null"}
            hosts = {one[:16] for one in re.findall(rf"offsetMsgId ?= ?({A}|{B})(?!\w)", line)}
            if len(named) == len(hosts) == 1:
                address = str(BrokerAddress("10.0.0.5" if A[:16] in hosts else "10.0.0.6", 10911))
                wanted.setdefault(address, set()).update(named)
        names: dict[str, set[str]] = {}
        broker_names.take(text.encode(), names)
        assert names == wanted, text


def test_a_text_of_nothing_but_names_costs_no_more_than_its_length() -> None:
    text = b"brokerName=" * 200_000  # one line of 2 MB, of which only so much is a line
    names: dict[str, set[str]] = {}
    broker_names.take(text, names)
    assert names == {}


def test_the_summary_of_a_scan_has_them_and_the_brokers_are_called_by_them(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(
        "".join(f"INFO sent ok offsetMsgId={one} brokerName={name}\n" for one, name in ((A, "b-1"), (B, "b-2"))),
        "utf-8",
    )
    summary = look(list_files([str(tmp_path)], None, []), set()).summary(100)
    assert summary["broker_names"] == {"10.0.0.5:10911": "b-1", "10.0.0.6:10911": "b-2"}
    assert broker_rows.titled("10.0.0.5:10911", "b-1") == "b-1 (10.0.0.5:10911)"

"""The second look at lines: what a printed record says of its born host, and what a line that is none may cost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from idcore.scan.lines import BORN_HOST, Record, look
from idcore.sources.inputs import list_files

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("printed", "host"),
    [
        (b"/10.0.0.7:51234", b"10.0.0.7"),
        (b"orders-1.shop/10.0.0.7:51234", b"10.0.0.7"),
        (b"10.0.0.7:51234", b"10.0.0.7"),  # as the Go client prints it
        (b"/[fd00:42::1]:51234", b"[fd00:42::1]"),
        (b"/fd00:42:0:0:0:0:0:1:51234", b"fd00:42:0:0:0:0:0:1"),
    ],
)
def test_the_born_host_is_the_address(printed: bytes, host: bytes) -> None:
    found = BORN_HOST.search(b"sysFlag=0, bornHost=" + printed + b", storeTimestamp=1")
    assert found is not None
    assert found[1] == host


@pytest.mark.parametrize("text", [b"bornHost=" * 50_000, b"bornHost=" + b"a" * 400_000, b"bornHost=/" + b"1:" * 99_000])
def test_a_line_that_is_no_record_costs_no_more_than_its_length(text: bytes) -> None:
    began = time.process_time()
    assert BORN_HOST.search(text) is None
    assert time.process_time() - began < 5


@pytest.mark.parametrize("printed", [-1, 1 << 45, 999_999_999_999_999, 1 << 62])
def test_a_number_that_is_no_time_is_none(printed: int) -> None:
    record = Record("Paid", printed, "10.0.0.7", printed, 300)
    assert (record.born, record.stored, record.size) == (None, None, 300)
    assert Record(born=1_795_000_000_000, stored=0).born == 1_795_000_000_000


def _retry(number: int) -> str:
    return (
        f"MessageExt [queueId=1, bornTimestamp=1763690000000, msgId=0A00000200002A9F{number:016X}, "
        f"commitLogOffset={number}, reconsumeTimes=1, properties={{UNIQ_KEY=0A000001000118B4AAC2{number:012X}}}]"
    )


def test_a_line_with_many_records_costs_its_length_and_its_head_is_read_once(tmp_path: Path) -> None:
    head, other = (f"Nov 21 09:00:0{n} host-{n} [ConsumeMessageThread_group-{n}_1] got " for n in (1, 2))
    many = 4000
    listed = ", ".join(map(_retry, range(many)))
    log = tmp_path / "consumer.log"
    log.write_text(f"no record\n{head}[{listed}]\n{other}{_retry(many)}\n{_retry(many + 1)}\n", encoding="utf-8")
    ids = [f"0A000001000118B4AAC2{number:012X}" for number in range(many + 2)]
    began = time.process_time()
    told = look(list_files([str(log)]), ids)
    assert time.process_time() - began < 20  # as much for each record as stands in front of it was minutes
    records = [next(iter(told.records[one].values())) for one in ids]
    assert {(one.group, one.host) for one in records[:many]} == {("group-1", "host-1")}
    assert [(one.group, one.host) for one in records[many:]] == [("group-2", "host-2"), (None, None)]

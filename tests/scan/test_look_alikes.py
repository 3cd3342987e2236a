"""Strings that only look like msgIds: none becomes a host, and no real ID is lost with them, in decode and in scan."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import BytesIO, StringIO, TextIOWrapper
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from idcore.__main__ import main
from idcore.ids import Clock, describe, find, judge
from idcore.ids.identify import ALIKE, Case
from idcore.ids.neighbours import settled
from idcore.intake import intake
from idcore.scan.compare import compare
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.ids.real_clients import rows
from tests.scan import twin
from tests.scan.comparing import differences
from tests.scan.logs import JAVA, offset, uniq
from tests.scan.packing import tar_of, written, zip_of

pytestmark = pytest.mark.quick
MONTHS = month_rows(datetime(2026, 11, 25, tzinfo=UTC), UTC)
CLOCK = Clock(datetime(2026, 11, 25, tzinfo=UTC), UTC)
VECTORS = Path(__file__).parents[1] / "vectors"
Write = Callable[..., str]
ARCHIVES: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "zip": zip_of,
    "tar": tar_of,
    "tar.gz": lambda parts: tar_of(parts, "w:gz"),
}


def md5(number: int) -> str:
    return hashlib.md5(f"order {number}".encode()).hexdigest().upper()


def uuid4(number: int) -> str:
    return uuid.UUID(bytes=random.Random(number).randbytes(16), version=4).hex.upper()


def uuid1(number: int) -> str:
    """Of one machine, seven milliseconds apart."""
    ticks = 0x1F0C9D2A3B4C5D6 + 70_000 * number
    return f"{ticks & 0xFFFFFFFF:08X}{ticks >> 32 & 0xFFFF:04X}1{ticks >> 48:03X}9C4A02420A0B0C0D"


def uuid7(number: int) -> str:
    """Thirty in each millisecond."""
    digits = random.Random(number).randbytes(10).hex().upper()
    return f"{1_764_000_000_000 + number // 30:012X}7{digits[1:4]}{'89AB'[number % 4]}{digits[5:]}"


def payment(number: int) -> str:
    """An order number of 32 digits: the time to the millisecond, and a counter."""
    return f"20261120{10_00_00_000 + number // 3:09d}{number:015d}"


def sys_guid(number: int) -> str:
    """Oracle's: a counter in the middle, the host and process behind it."""
    return f"7CD5B776{0x9DF75CEF + number:08X}E0340800208C5A31"


KINDS: dict[str, Callable[[int], str]] = {
    "sign= of a gateway": lambda n: f"pay notify out_trade_no={n} sign={md5(n)} result_code=SUCCESS",
    "XML of a gateway": lambda n: f"<xml><sign><![CDATA[{md5(n)}]]></sign></xml>",
    "ETag": lambda n: f'PUT /bucket/{n} 200 ETag: "{md5(n)}"',
    "a digest that no name tells": lambda n: f"saved {md5(n)} ok",
    "a column of digests": md5,
    "trace ID": lambda n: f"2026-11-20 10:00:00.123 [{md5(n)}] INFO order {n}",
    "traceparent": lambda n: f"traceparent: 00-{md5(n)}-{md5(-n)[:16]}-01",
    "X-B3-TraceId": lambda n: f"X-B3-TraceId: {md5(n)}",
    "UUID without dashes": lambda n: (
        f"task {uuid.UUID(bytes=random.Random(n).randbytes(16), version=4).hex.upper()} done"
    ),
    "UUID of version 1": lambda n: f"task {uuid1(n)} done",
    "UUID of version 7": lambda n: f"task {uuid7(n)} done",
    "SHA-1 cut to 32 digits": lambda n: f"saved {hashlib.sha1(b'%d' % n).hexdigest()[:32].upper()} ok",
    "SHA-224": lambda n: f"saved {hashlib.sha224(b'%d' % n).hexdigest().upper()} ok",
    "payment of 32 digits": lambda n: f"paid {payment(n)}",
    "milliseconds and a counter": lambda n: f"row {1_764_000_000_000 + n // 9:012X}{n:020X}",
    "a long millisecond and a counter": lambda n: f"row {1_764_000_000_000 + n // 9:016X}{n:016X}",
    "trace ID of twenty lines": lambda n: f"[{md5(n // 20)}] INFO step {n}",
    "seconds and random digits": lambda n: f"order {1_480_145_809 + 7 * n}{md5(n)[:22]}",
    "milliseconds and random digits": lambda n: f"order {1_480_145_809_942 + 7_001 * n}{md5(n)[:19]}",
    "a date and random digits": lambda n: f"paid 20250520{10 + n % 10}{10 + n % 50}{md5(n)[:20]}",
    "SYS_GUID": lambda n: f"insert into t values ('{sys_guid(n)}')",
    "IV that counts": lambda n: f"iv={n:032X}",
    "messageId of another product": lambda n: f"mail accepted messageId={md5(n)} to=a@b",
    "messageId that is a UUID": lambda n: f'{{"messageId":"{uuid4(n)}"}}',
    "password hash": lambda n: f"password={md5(n)}",
}


def mixed(kind: str, count: int) -> Iterator[str]:
    """Strings of a kind, and among them lines of five producers."""
    for number in range(count):
        yield KINDS[kind](number)
        if number % 7 == 0:
            pid = 1 + number % 5
            one = uniq(0x0A000001 + pid, pid, JAVA, 1_600_000_000 + number * 1_000, number)
            yield f"sent msgId={one}, offsetMsgId={offset(0x0A000009, 10911, number * 300)}"


@pytest.mark.parametrize("kind", KINDS)
def test_what_only_looks_like_an_id_is_no_host_and_no_process(kind: str, on_disk: Write) -> None:
    for split in (1 << 30, 3_000):
        tables = scan_local([on_disk("\n".join(map(KINDS[kind], range(1, 400))).encode())], MONTHS, split)
        assert tables["processes"].num_rows == tables["hosts"].num_rows == 0
        assert sum(tables["files"]["ids"].to_pylist()) == 0
        rejected = [*tables["refused"].to_pylist(), *tables["lookalikes"].to_pylist()]
        assert sum(row["ids"] for row in rejected) >= 390
        for row in rejected:
            text = "\n".join(map(KINDS[kind], range(1, 400)))
            assert text[row["byte"] :].startswith(row["sample"])


@pytest.mark.long(first=6)
@pytest.mark.parametrize("kind", KINDS)
def test_real_ids_among_them_are_kept_and_decode_says_the_same(kind: str, on_disk: Write) -> None:
    text = "\n".join(mixed(kind, 300))
    tokens = list(find(text))
    verdicts = settled(map(judge, tokens))
    ids = [verdict for verdict in verdicts if verdict.best is not None]
    assert {verdict.best.id.host for verdict in ids if verdict.best} == {f"10.0.0.{n}" for n in (2, 3, 4, 5, 6, 9)}
    tables = scan_local([on_disk(text.encode())], MONTHS)
    assert set(tables["hosts"]["host"].to_pylist()) == {f"10.0.0.{n}" for n in range(2, 7)}
    assert sum(tables["files"]["ids"].to_pylist()) == len(ids)
    alike = tables["lookalikes"].to_pylist()
    for row in [*tables["refused"].to_pylist(), *alike]:
        assert row["ids"] == sum(verdict.reason == ALIKE.get(row["reason"], row["reason"]) for verdict in verdicts)
    told = [describe(verdict, token, CLOCK) for verdict, token in zip(verdicts, tokens, strict=True)]
    some = [(row["lookalike"], row["text"]) for row in told if row["lookalike"]]
    assert {row["reason"] for row in alike} == {reason for reason, _ in some}
    assert sum(row["distinct"] for row in alike) == len(set(some))


@pytest.mark.parametrize("kind", KINDS)
def test_on_request_they_are_ids(kind: str, on_disk: Write) -> None:
    text = "\n".join(map(KINDS[kind], range(1, 60)))
    reasons = {judge(token, "lookalikes").reason for token in find(text)}
    assert reasons <= {None, "elapsed", "port"}
    tables = scan_local([on_disk(text.encode())], MONTHS, case="lookalikes")
    assert tables["lookalikes"].num_rows == 0


def test_a_name_of_something_else_takes_no_id_of_a_known_client() -> None:
    one = uniq(0x0A000001, 7, JAVA, 1_600_000_000, 1)
    for name in ("traceId=", "key=", "uuid: ", "KEY_SIGN="):
        (token,) = find(f"{name}{one}")
        assert token.disowned and judge(token).best is not None


@pytest.mark.long(first=3)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if "sign" not in kind])
def test_it_is_the_same_however_an_input_is_cut_packed_or_sorted(kind: str, tmp_path: Path) -> None:
    lines = [f"{line}\n" for line in mixed(kind, 300)]
    one = _told(written(tmp_path, "a.log", "".join(lines).encode()))
    assert one == _told(tmp_path / "a.log", 1_999)
    random.Random(1).shuffle(lines)
    halves = {"a.log": "".join(lines[:90]).encode(), "b.log": "".join(lines[90:]).encode()}
    packed = {name: written(tmp_path, f"x.{name}", pack(halves)) for name, pack in ARCHIVES.items()}
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, data in halves.items():
        written(folder, name, data)
    written(folder, "c.log.gz", gzip.compress(b"nothing here\n"))
    for path in (folder, *packed.values()):
        for together in (1, 9):
            assert one == _told(path, together=together), path


def _told(path: Path, split: int = 1 << 30, together: int = 1) -> list[object]:
    """What a scan says, but for the files and places."""
    tables = scan_local([str(path)], MONTHS, split, together=together)
    counted = [sum(tables["files"][name].to_pylist()) for name in ("ids", "refused", "lookalikes")]
    refused = [(row["reason"], row["ids"]) for row in tables["refused"].to_pylist()]
    alike = [(row["reason"], row["label"], row["ids"], row["distinct"]) for row in tables["lookalikes"].to_pylist()]
    return [
        counted,
        refused,
        alike,
        *(tables[name].to_pylist() for name in ("processes", "hosts", "brokers", "activity")),
    ]


def test_each_member_has_its_own_count(tmp_path: Path) -> None:
    texts = [
        "\n".join(KINDS["a digest that no name tells"](n) for n in range(first, first + 50)) for first in (1, 11, 101)
    ]
    members = {f"{number}.log": text.encode() for number, text in enumerate(texts)}
    every = [token for text in texts for token in find(text)]
    alone = [judge(token).reason for token in every]
    different = {token.text for token, reason in zip(every, alone, strict=True) if reason is None}
    for pack in ARCHIVES.values():
        tables = scan_local([str(written(tmp_path, "some", pack(members)))], MONTHS)
        rows = [row for row in tables["files"].to_pylist() if row["text_bytes"]]
        assert [(row["ids"], row["refused"] + row["lookalikes"]) for row in rows] == [(0, 50)] * 3
        (alike,) = tables["lookalikes"].to_pylist()
        assert (alike["ids"], alike["distinct"]) == (alone.count(None), len(different))
        assert texts[0][alike["byte"] :].startswith(alike["sample"])


def test_an_order_number_without_a_letter_is_no_id_even_alone(on_disk: Write) -> None:
    one = "14801458099424821739012846550173"
    for text in (f"order {one} paid", f"orderNo={one}, sent msgId={uniq(0x0A000001, 7, JAVA, 1_600_000_000, 1)}"):
        assert [verdict.reason for verdict in settled(map(judge, find(text))) if verdict.text == one] == [
            "look_alike_spread"
        ]
        tables = scan_local([on_disk(text.encode())], MONTHS)
        assert set(tables["hosts"]["host"].to_pylist()) <= {"10.0.0.1"}
    (verdict,) = settled(map(judge, find(f"msgId={one}")))
    assert verdict.best is not None  # its name says what it is


def test_three_times_with_random_digits_are_none_and_public_hosts_of_few_are() -> None:
    some = [f"148014{5809 + n}{md5(n)[:10]}5{md5(n)[:11]}" for n in range(3)]
    assert {verdict.reason for verdict in settled(map(judge, find(" ".join(some))))} == {"look_alike_spread"}
    hosts = [uniq(0x14253610 + n, 4_000 + n, 0x5A5A0000 + n, 1_600_000_000, n) for n in range(40)]  # 20.37.54.16
    assert all(verdict.best for verdict in settled(map(judge, find(" ".join(hosts)))))


@pytest.mark.parametrize("count", [1, 7])
def test_a_few_strings_that_no_word_calls_messages_are_none(count: int, on_disk: Write) -> None:
    text = "\n".join(f"saved {md5(n)} ok" for n in range(count))
    assert {verdict.reason for verdict in settled(map(judge, find(text)))} <= {"look_alike", "elapsed"}
    assert scan_local([on_disk(text.encode())], MONTHS)["hosts"].num_rows == 0


TRACED = """begin traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ok
{"trace_id":"80f198ee56343ba864fe8b2a57d3eff7","span":"e457b5a2e4d86bd1"} md5=d41d8cd98f00b204e9800998ecf8427e
X-B3-TraceId: 80f198ee56343ba864fe8b2a57d3eff7
"""  # the samples of W3C Trace Context and of B3


def test_trace_ids_are_no_rejected_ids_and_are_said(
    on_disk: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = scan_local([on_disk(TRACED.encode())], MONTHS)
    (file,) = tables["files"].to_pylist()
    assert (file["ids"], file["refused"], file["lookalikes"], file["trace_ids"]) == (0, 1, 0, 3)
    assert [row["reason"] for row in tables["refused"].to_pylist()] == ["lower_case"]
    pasted = intake.read([("", TRACED)])
    assert (len(pasted.refused), pasted.trace_ids, pasted.lower, pasted.look_alikes) == (1, 3, 0, 0)
    any_case = scan_local([on_disk(TRACED.encode())], MONTHS, case="any")["files"].to_pylist()[0]
    assert (any_case["ids"], any_case["trace_ids"]) == (1, 3)
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(TRACED.splitlines()[0].encode())))
    assert main(["decode", "-", "--format", "json"]) == 0
    printed = capsys.readouterr()
    row = json.loads(printed.out)
    assert row["lookalike"] is None and "trace ID" in row["error"]["problem"] and row["label"] == "traceparent"
    assert "1 trace IDs" in printed.err and "rejected" not in printed.err


NAMES = [
    "trace",
    "traceId",
    "trace_id",
    "trace-id",
    "TraceId",
    "xtraceid",
    "b3TraceId",
    "tid",
    "TID",
    "md5",
    "sign",
    "spanId",
    "id",
    "trace1",
    "trace_1",
    "mytrace",
    "myTrace",
    "<traceId><![CDATA[",
    "<tid><![CDATA[",
    "saved",
    "msgId",
    "parent",
    "atid",
    "a_tid",
    "traceparent",
]
SIGNS = [
    "=",
    " ",
    "",
    ':"',
    ": ",
    "->",
    ">",
    "=(",
    "={",
    "=[",
    "='",
    "=  ",
    "    =",
    "= : ",
    "==",
    "=\"'[",
    "-",
    "=00-",
]


@pytest.mark.long(first=1)
@pytest.mark.parametrize("case", ["strict", "lookalikes", "any"])
def test_kernel_decode_and_twin_say_the_same_of_every_name(case: Case, on_disk: Write) -> None:
    r = random.Random(5)
    digits = [f"{r.getrandbits(128):032x}" for _ in range(2_000)]
    digits = [one.upper() if r.random() < 0.3 else one for one in digits]
    digits = [f"{one[:12]}18b4aac2{one[20:]}" if r.random() < 0.1 else one for one in digits]
    ends = ["", " ok", "-00f067aa0ba902b7-01", "-00f067aa0ba902b", "}"]
    escapes = ["", "", "", r"\n", r"\t", r"\r\n", r"\\n", "n", "\\"]
    text = "\n".join(f"{r.choice(escapes)}{r.choice(NAMES)}{r.choice(SIGNS)}{one}{r.choice(ends)}" for one in digits)
    tokens = list(find(text))
    verdicts = [judge(token, case) for token in tokens]
    names = Counter(token.disowned for token, one in zip(tokens, verdicts, strict=True) if one.reason == "other_name")
    tables = scan_local([on_disk(text.encode())], MONTHS, case=case)
    slow = twin.tables([("a.log", text.encode())], UTC, CLOCK.reference, case)
    assert names == {row["label"]: row["ids"] for row in tables["lookalikes"].to_pylist() if row["label"]}
    assert differences({name: tables[name] for name in ("lookalikes", "refused")}, _only(slow)) == []
    assert tables["files"]["trace_ids"].to_pylist() == [row["trace_ids"] for row in slow["files"]]
    assert slow["files"][0]["trace_ids"] == sum(one.reason == "trace_id" for one in verdicts) > 200


def _only(tables: dict[str, list[twin.Row]]) -> dict[str, list[twin.Row]]:
    return {name: tables[name] for name in ("lookalikes", "refused")}


SHOWN = {
    "{}": True,
    '"{}",': True,
    "1,{},2026-11-20": True,
    "| 12 | {} | ok |": True,
    "sent message {} ok": True,
    "消息 {} 已发送": True,
    "MQ: {} ok": True,
    "{}  file.txt": False,
    "saved {} ok": False,
    "orderId={} ok": False,
    "message of yesterday, which is far away: {} ok": False,
}


@pytest.mark.parametrize("line", SHOWN)
def test_a_lone_string_of_a_public_address_is_an_id_where_its_place_shows_it(line: str, on_disk: Write) -> None:
    public, private = uniq(0x2F5E0001, 77, 0x5A5A5A5A, 1_600_000_000, 9), uniq(0x0A000001, 77, 0x5A5A5A5A, 1, 9)
    for one, is_id in ((public, SHOWN[line]), (private, True), (uniq(0x2F5E0001, 77, JAVA, 1_600_000_000, 9), True)):
        text = f"begin\n{line.format(one)}\nend\n"
        (verdict,) = settled(map(judge, find(text)))
        assert (verdict.best is not None) == is_id
        assert scan_local([on_disk(text.encode())], MONTHS)["hosts"].num_rows == is_id


def test_five_labelled_ids_of_unknown_clients_are_shown() -> None:
    """Of a hundred three of eight count longer than a month has, which no client does."""
    for kind in ("messageId of another product", "messageId that is a UUID"):
        verdicts = settled(map(judge, find("\n".join(map(KINDS[kind], range(5))))))
        assert all(verdict.best is not None for verdict in verdicts)


def test_labelled_ids_of_unknown_clients_stay(on_disk: Write) -> None:
    """Each of another public host, none of which counts longer than a month."""
    source = random.Random(7)
    ids = [uniq(source.getrandbits(32), 9, 0x5EED0000 + n, source.randrange(10**9), n) for n in range(60)]
    text = "\n".join(f"2026-11-20 10:00:00 sent msgId={one}" for one in ids)
    assert scan_local([on_disk(text.encode())], MONTHS)["processes"].num_rows == 60
    assert all(verdict.best is not None for verdict in settled(map(judge, find(text))))


def test_producers_of_unknown_clients_in_one_network_stay(on_disk: Write) -> None:
    """Forty hosts that sent one message each: chance does not give them one network."""
    r = random.Random(1)
    for network in (0x0A2A0000, 0x2F5E0000):
        fields = ((n, r.randrange(1, 99), r.getrandbits(31), r.randrange(2**31)) for n in range(40))
        text = "\n".join(f"sent {uniq(network + n, pid, loader, ms, n)}" for n, pid, loader, ms in fields)
        assert scan_local([on_disk(text.encode())], MONTHS)["processes"].num_rows == 40
        assert all(verdict.best for verdict in settled(map(judge, find(text))))


def test_real_ids_of_unknown_clients_stay_among_nine_times_as_many_uuids(on_disk: Write) -> None:
    """Each of a process of its own, without a label: in one network they are more than chance gives it."""
    for network in (0x0A2A0000, 0x2F5E0000):
        r = random.Random(network)
        real = [
            uniq(network + n, r.randrange(1, 32_768), r.getrandbits(31), 1_700_000_000 + n * 977, r.randrange(9))
            for n in range(60)
        ]
        for other in (uuid4, uuid7, md5):
            lines = [*real, *map(other, range(540))]
            r.shuffle(lines)
            tables = scan_local([on_disk("\n".join(lines).encode())], MONTHS)
            hosts = set(tables["hosts"]["host"].to_pylist())
            assert {str(IPv4Address(network + n)) for n in range(60)} <= hosts and len(hosts) < 66
            verdicts = settled(map(judge, find("\n".join(lines))))
            assert set(real) <= {verdict.text for verdict in verdicts if verdict.best}


def test_five_ids_of_five_unknown_clients_are_shown() -> None:
    r = random.Random(3)
    five = [uniq(r.getrandbits(32), r.getrandbits(16), r.getrandbits(31), r.randrange(2**31), n) for n in range(5)]
    verdicts = settled(map(judge, find("\n".join(five))))
    assert len(verdicts) == 5 and all(verdict.best for verdict in verdicts)


def test_no_id_of_a_real_client_or_of_a_public_line_is_lost() -> None:
    """Bare, without the labels that they have in their logs."""
    public = [json.loads(line)["text"] for line in (VECTORS / "public-lines.jsonl").read_text("utf-8").splitlines()]
    for texts in ([row["msg_id"] for row in rows()], [token.text for line in public for token in find(line)]):
        verdicts = [judge(token) for token in find("\n".join(texts))]
        assert len(verdicts) > 100
        for alone, beside in zip(verdicts, settled(verdicts), strict=True):
            assert (alone.best is None) == (beside.best is None)


def test_a_single_send_of_a_private_host_stays_among_hashes() -> None:
    one = uniq(0x0A000001, 7, 0x18B4AAC2, 1_600_000_000, 0)
    verdicts = settled(map(judge, find("\n".join([one, *map(md5, range(2_000))]))))
    assert [verdict.text for verdict in verdicts if verdict.best] == [one]


def test_a_comparison_leaves_out_what_each_input_shows_to_be_none(tmp_path: Path) -> None:
    lines = [f"{line}\n" for line in mixed("a digest that no name tells", 300)]
    before, after = written(tmp_path, "a.log", "".join(lines).encode()), tmp_path / "b.log"
    after.write_text("".join(lines[:-1]) + "".join(map("saved {}\n".format, map(md5, range(500, 600)))))
    rows = compare([str(before)], [str(after)])
    assert {row.kind for row in rows} == {"uniq", "offset"} and len(rows) == 6
    assert not any(row.new for row in rows)
    assert any(row.new for row in compare([str(before)], [str(after)], any_case=True))


@pytest.mark.long(first=3)
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_and_the_command_say_the_same_and_take_it_back_on_request(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\n".join(mixed(kind, 200))
    real = {token.text for token in find(text) if token.text.startswith("0A0000")}
    pasted = intake.read([("", text)])
    assert {item.verdict.text for item in pasted.found} == real
    assert pasted.look_alikes == sum(item.verdict.reason in ALIKE.values() for item in pasted.items)
    again = intake.read([("", text)], case="lookalikes")
    assert len(again.found) == len(pasted.found) + pasted.look_alikes
    for case, found in (("strict", pasted.found), ("lookalikes", again.found)):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
        main(["decode", "-", "--format", "csv", *(["--lookalikes", "ids"] if case == "lookalikes" else [])])
        rows_of_ids = [row for row in csv.DictReader(StringIO(capsys.readouterr().out)) if row["kind"]]
        assert [row["text"] for row in rows_of_ids] == [item.verdict.text for item in found]

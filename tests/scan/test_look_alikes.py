"""Strings that only look like msgIds: none becomes a host, and no real ID is lost with them, in decode and in scan."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from idcore.ids import find, judge, settled
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from tests.scan.logs import JAVA, offset, uniq

pytestmark = pytest.mark.quick
MONTHS = month_rows(datetime(2026, 11, 25, tzinfo=UTC), UTC)
Write = Callable[..., str]


def md5(number: int) -> str:
    return hashlib.md5(f"order {number}".encode()).hexdigest().upper()


def uuid4(number: int) -> str:
    return uuid.UUID(bytes=random.Random(number).randbytes(16), version=4).hex.upper()


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
    "SYS_GUID": lambda n: f"insert into t values ('{sys_guid(n)}')",
    "IV that counts": lambda n: f"iv={n:032X}",
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
        assert sum(tables["refused"]["ids"].to_pylist()) >= 390
        for row in tables["refused"].to_pylist():
            text = "\n".join(map(KINDS[kind], range(1, 400)))
            assert text[row["byte"] :].startswith(row["sample"])


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
    refused = {row["reason"]: row["ids"] for row in tables["refused"].to_pylist()}
    for reason, count in refused.items():
        assert count == sum(verdict.reason == reason for verdict in verdicts)


@pytest.mark.parametrize("kind", KINDS)
def test_on_request_they_are_ids(kind: str, on_disk: Write) -> None:
    text = "\n".join(map(KINDS[kind], range(1, 60)))
    reasons = {judge(token, "any").reason for token in find(text)}
    assert reasons <= {None, "elapsed", "port"}
    tables = scan_local([on_disk(text.encode())], MONTHS, any_case=True)
    assert not {"other_name", "look_alike"} & set(tables["refused"]["reason"].to_pylist())


def test_a_name_of_something_else_takes_no_id_of_a_known_client() -> None:
    one = uniq(0x0A000001, 7, JAVA, 1_600_000_000, 1)
    for name in ("traceId=", "key=", "uuid: ", "KEY_SIGN="):
        (token,) = find(f"{name}{one}")
        assert token.disowned and judge(token).best is not None


@pytest.mark.parametrize("count", [1, 7])
def test_a_few_strings_alone_show_nothing(count: int) -> None:
    verdicts = settled(map(judge, find("\n".join(f"saved {md5(n)} ok" for n in range(count)))))
    assert {verdict.reason for verdict in verdicts} <= {None, "elapsed"}


def test_producers_of_unknown_clients_in_one_network_stay(on_disk: Write) -> None:
    """Forty hosts that sent one message each: chance does not give them one network."""
    r = random.Random(1)
    for network in (0x0A2A0000, 0x2F5E0000):
        fields = ((n, r.randrange(1, 99), r.getrandbits(31), r.randrange(2**31)) for n in range(40))
        text = "\n".join(f"sent {uniq(network + n, pid, loader, ms, n)}" for n, pid, loader, ms in fields)
        assert scan_local([on_disk(text.encode())], MONTHS)["processes"].num_rows == 40
        assert all(verdict.best for verdict in settled(map(judge, find(text))))

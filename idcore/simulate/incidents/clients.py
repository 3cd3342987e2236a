"""Ids as clients other than the official Java one generate them. Sources: the clients' own code, named with each."""

from __future__ import annotations

from collections.abc import Callable

from idcore.base.layout import UNIQ_V4_LE
from idcore.ids import clock as clocks
from idcore.ids.model import UniqId
from idcore.simulate.incidents.simulated_cluster import Producer, Stage

_SHORT, _INT = 1 << 16, 1 << 32


def _text(producer: Producer, elapsed: int) -> str:
    return UniqId.of(
        producer.host, producer.pid % _SHORT, producer.loader, elapsed % _INT, producer.counter % _SHORT
    ).text


def _utc_elapsed(producer: Producer) -> int:
    utc = clocks.from_ms(producer.now)
    return producer.now - clocks.month_start(utc.year, utc.month, clocks.UTC)


def go(producer: Producer) -> str:
    """apache/rocketmq-client-go, primitive/message.go: whole seconds of the local month, last 12 digits lower case."""
    text = _text(producer, producer.elapsed // 1000 * 1000)
    return text[:-12] + text[-12:].lower()


def rust_messense(producer: Producer) -> str:
    """messense/rocketmq-rs, src/message.rs: as Go, but of the UTC month."""
    text = _text(producer, _utc_elapsed(producer) // 1000 * 1000)
    return text[:-12] + text[-12:].lower()


def elixir(producer: Producer) -> str:
    """ex_rocketmq, util/uniq_id.ex: whole seconds of the UTC month, all upper case."""
    return _text(producer, _utc_elapsed(producer) // 1000 * 1000)


def month(producer: Producer) -> str:
    """Milliseconds of the local month, upper case: C++ 1.2.4 and later, mxsm/rocketmq-rust."""
    return _text(producer, producer.elapsed)


def day(producer: Producer) -> str:
    """zhaohai666 PHP, InnerIdGenerator.php: milliseconds since midnight."""
    local = clocks.from_ms(producer.now, producer.zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return _text(producer, producer.now - clocks.to_ms(midnight))


def cpp_old(producer: Producer) -> str:
    """C++ 1.2.0 to 1.2.3, StringIdMaker.cpp: little-endian, from the last day of the month before, counter & 0xFF."""
    return UniqId.of(
        producer.host, 0, producer.loader, producer.elapsed + clocks.DAY_MS, producer.counter & 0xFF, UNIQ_V4_LE
    ).text


def since_start(producer: Producer) -> str:
    """pyrocketmq, model/utils.py: whole seconds since the process started, last 12 digits lower case."""
    text = _text(producer, (producer.now - producer.began) // 1000 * 1000)
    return text[:-12] + text[-12:].lower()


def dotnet(producer: Producer) -> str:
    """ErQing RocketMQ.Client, MessageClientIDSetter.cs: the low 32 bits of the time in ms."""
    return _text(producer, producer.now % _INT)


# name: how it generates ids, its loader (None: from rand() and the second it started in), the first counter
MAKERS: dict[str, tuple[Callable[[Producer], str], int | None, int]] = {
    "go": (go, 0, 1),
    "rust_messense": (rust_messense, 0, 1),
    "elixir": (elixir, 0, 1),
    "cpp": (month, None, 0),
    "cpp_old": (cpp_old, 0x3DF1, 1),
    "rust_mxsm": (month, 0xAC4C820C, 0),
    "php": (day, 0xCEF51E0A, 1),
    "python": (since_start, 0x0000A7C3, 1),
}


def producer(stage: Stage, name: str, host: str, pid: int) -> Producer:
    """A process of another client."""
    if name == "dotnet":
        return Producer(stage, host, pid, 0x02B89EAA, make=dotnet)
    make, loader, counter = MAKERS[name]
    if loader is None:
        from idcore.ids import seeds  # numpy, which the other incidents do without

        loader = seeds.first_rand_of(stage.now // 1000)
    return Producer(stage, host, 0 if name == "cpp_old" else pid, loader, counter, make=make)

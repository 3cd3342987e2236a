"""Stories of addresses that cannot be right, of producers and brokers, and of other clients. Judges none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from idcore.simulate.incidents import clients
from idcore.simulate.incidents.incident import Incident, Story, variant
from idcore.simulate.incidents.simulated_cluster import LOADERS, Producer
from idcore.simulate.scenario import Broker


def _at(stage: Incident, host: str | None, pid: int, loader: int = LOADERS[0], **more: Any) -> Iterator[str]:
    producer = Producer(stage, host, pid, loader, **more)
    producer.born_host = stage.host()
    stage.expect(producer.name)
    yield from stage.between([producer], 120)


@variant("pid_erased", "v4")
def _pid_erased(stage: Incident) -> Iterator[str]:
    yield from _at(stage, stage.host(), 0)


@variant("pid_erased", "v6")
def _pid_erased_v6(stage: Incident) -> Iterator[str]:
    yield from _at(stage, f"2001:db8:{stage.random.randrange(1, 9999):x}::17", 0)


@variant("loopback_host", "client_4_8")
def _loopback(stage: Incident) -> Iterator[str]:
    yield from _at(stage, "127.0.0.1", stage.pid())


@variant("loopback_host", "debian_name")
def _loopback_name(stage: Incident) -> Iterator[str]:
    yield from _at(stage, "127.0.1.1", stage.pid())


@variant("link_local_host", "v6")
def _link_local(stage: Incident) -> Iterator[str]:
    yield from _at(stage, f"fe80::aede:48ff:fe00:{stage.random.randrange(1, 9999):x}", stage.pid())


@variant("link_local_host", "v4")
def _link_local_v4(stage: Incident) -> Iterator[str]:
    yield from _at(stage, f"169.254.{stage.random.randrange(1, 255)}.{stage.random.randrange(1, 255)}", stage.pid())


@variant("container_host", "pid_1")
def _container(stage: Incident) -> Iterator[str]:
    yield from _at(stage, f"172.17.0.{stage.random.randrange(2, 9)}", 1, 0x5674CD4D)


@variant("container_host", "gateway")
def _gateway(stage: Incident) -> Iterator[str]:
    yield from _at(stage, "172.17.0.1", stage.pid())


@variant("fake_host", "java")
def _fake(stage: Incident) -> Iterator[str]:
    yield from _at(stage, None, stage.pid())


@variant("fake_host", "java_after_an_hour")
def _fake_later(stage: Incident) -> Iterator[str]:
    producer = Producer(stage, None, stage.pid())
    producer.born_host = stage.host()
    stage.expect(producer.name)
    for _ in range(500):
        producer.next_id()
    stage.now += 3_600_000
    yield from stage.between([producer], 120)


@variant("fake_host", "go")
def _fake_go(stage: Incident) -> Iterator[str]:
    host = ".".join(str(0x30 + stage.random.randrange(10)) for _ in range(4))
    # A pid with a letter in it: an id without an upper-case one would pass for a trace id.
    producer = Producer(stage, host, 0x3A00 + stage.random.randrange(256), 0, 1, make=clients.go)
    stage.expect(producer.name)
    stage.expect(producer.name, "foreign_maker")
    yield from stage.between([producer], 120)


def _foreign(name: str) -> Story:
    def story(stage: Incident) -> Iterator[str]:
        producer = clients.producer(stage, name, stage.host(), stage.pid())
        stage.expect(producer.name)
        yield from stage.between([producer], 120)

    return story


for _name in clients.MAKERS:
    variant("foreign_maker", _name)(_foreign(_name))


@variant("elapsed_impossible", "dotnet")
def _dotnet(stage: Incident) -> Iterator[str]:
    producer = clients.producer(stage, "dotnet", stage.host(), stage.pid())
    stage.expect(producer.name)
    yield from stage.between([producer], 120)


@variant("elapsed_impossible", "a_key_of_the_application")
def _own_key(stage: Incident) -> Iterator[str]:
    text = "C0A80101000718B4AAC2F0000000" + f"{stage.random.randrange(1 << 16):04X}"
    stage.expect("192.168.1.1 pid 7 loader 18B4AAC2")
    for _ in range(12):
        yield from stage.background(10)
        yield stage.prefix("main") + f"paid msgId={text} amount=12.50"


def _broker(stage: Incident, host: str, port: int) -> Iterator[str]:
    broker = Broker("broker-x", host, port, stage.random.randrange(1, 50) * 1_073_741_824)
    stage.brokers.append(broker)
    stage.expect(f"{host}:{port}")
    yield from stage.background(500)


@variant("broker_address_internal", "loopback")
def _broker_loopback(stage: Incident) -> Iterator[str]:
    yield from _broker(stage, "127.0.0.1", 10911)


@variant("broker_address_internal", "docker")
def _broker_docker(stage: Incident) -> Iterator[str]:
    yield from _broker(stage, f"172.{stage.random.randrange(17, 20)}.0.5", 10911)


@variant("broker_address_internal", "node_port")
def _broker_node_port(stage: Incident) -> Iterator[str]:
    yield from _broker(stage, f"{stage.net}.9.9", stage.random.randrange(30_000, 32_768))


def _moves(stage: Incident, pause_ms: int) -> Iterator[str]:
    yield from stage.background(500, 200)
    old = stage.brokers[0]
    stage.now += pause_ms
    new = Broker(old.name, f"{stage.net}.2.{stage.random.randrange(30, 200)}", old.port, old.offset)
    stage.brokers[0] = new
    stage.expect(f"{new.host}:{new.port}")
    yield from stage.background(500, 200)


@variant("broker_moved", "restarted")
def _restarted(stage: Incident) -> Iterator[str]:
    yield from _moves(stage, 30_000)


@variant("broker_moved", "after_an_hour")
def _after_an_hour(stage: Incident) -> Iterator[str]:
    yield from _moves(stage, 3_600_000)

"""Counts of what the console does, for Prometheus, and who may read them. Names nobody.

A label has few values: kinds, outcomes, codes of messages, clusters of the administrator. No user, no run, no path.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from idcore.base.catalogue import words
from idcore.base.errors import refuse
from idcore.policy import settings

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter

_GROUP = ("cluster", "topic", "group")
PATH = "_idcore/metrics"
OTHER = "other"
# name: what it is, its labels
COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "scans": ("scans, comparisons and lists that ended", ("kind", "outcome")),
    "scan_seconds": ("seconds that they took, with the time in the queue", ("kind",)),
    "scan_bytes": ("bytes of input of scans that are done", ("kind",)),
    "errors": ("errors that visitors saw, and those that ended scans", ("code",)),
    "lookups": ("IDs and lists looked up in clusters", ("cluster", "outcome")),
    "runs_expired": ("runs deleted because of their age", ()),
    "operations": ("operations that programs called", ("operation", "outcome")),
    "webhook": ("what was sent to the webhook, by how it ended", ("outcome",)),
    "audit_failed": ("lines of the audit log that could not be written", ()),
}
GAUGES: Mapping[str, str] = {
    "scans_running": "scans at work",
    "scans_waiting": "scans in the queue",
    "sessions": "sessions of browsers that are connected",
    "spark_up": "1 if Spark is ready",
    "runs_kept": "runs in the folder",
    "runs_bytes": "bytes of the runs in the folder",
    "uploads_bytes": "bytes of uploads in memory",
    "disk_free_bytes": "bytes free on the disk of the runs",
    "ready": "1 if health says ready",
}
# Of consumer groups that the administrator names: name, what it is, labels.
OF_GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "group_up": ("1 if all brokers of the topic answered about the group", _GROUP),
    "group_lag_messages": ("messages that the group has not consumed", _GROUP),
    "group_oldest_seconds": ("at most so old is the oldest message that was not consumed", _GROUP),
    "group_stalled_queues": ("queues with messages whose offset did not move for a minute", _GROUP),
    "group_retries": ("messages that were ever sent to the retry topics; its rate is that of retries", _GROUP),
    "group_retries_waiting": ("messages in the retry topics that wait", _GROUP),
    "group_dead_letters": ("dead letters that are there", _GROUP),
    "group_clients": ("connected clients", _GROUP),
    "broker_clock_seconds": ("how far the clock of a broker is ahead of the console's", ("cluster", "broker")),
}
Sample = tuple[str, tuple[str, ...], float]  # a name of these, the values of its labels, its value
_FORWARDED = (b"forwarded", b"x-forwarded-", b"x-real-ip", b"via", b"cf-connecting-ip", b"true-client-ip")


@cache
def _counters() -> tuple[CollectorRegistry, dict[str, Counter]]:
    """What this process counts, made with the first count: the library takes longer to load than to count."""
    from prometheus_client import CollectorRegistry, Counter, disable_created_metrics

    disable_created_metrics()
    registry = CollectorRegistry()
    every = COUNTERS.items()
    return registry, {
        name: Counter(f"idcore_{name}", meaning, labels, registry=registry) for name, (meaning, labels) in every
    }


@cache
def _can_count() -> bool:
    """Whether the library is installed: only the console needs it, and only the console shows the counts."""
    return find_spec("prometheus_client") is not None


def count(name: str, value: float = 1, **labels: str) -> None:
    """Adds to a counter, where there are any."""
    if not _can_count():
        return
    counter = _counters()[1][name]
    (counter.labels(**labels) if labels else counter).inc(value)


def error(code: str) -> None:
    """Counts an error by its code; what is not in the catalogue is another."""
    count("errors", code=code if words().has(f"error.{code}") else OTHER)


def allowed_networks() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Who may read: this machine, and the addresses of the setting; nobody where it is `off`. CoreError if it is wrong.

    It is asked for at the start too.
    """
    setting = settings.current().metrics.strip()
    if setting.lower() == "off":
        return []
    networks = ["127.0.0.0/8", "::1/128"]
    try:
        return [ipaddress.ip_network(part.strip()) for part in (*networks, *filter(str.strip, setting.split(",")))]
    except ValueError:
        wanted = "addresses or networks with commas between them, or off"
        raise refuse("setting_wrong", setting=settings.name_of("metrics"), value=setting[:100], wanted=wanted) from None


def is_proxied(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a proxy says that it passed a request on."""
    return any(name.lower().startswith(_FORWARDED) for name, _ in headers)


def may_read(peer: str | None, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request may read them. One that a proxy passed on comes from elsewhere, whatever its peer is."""
    if is_proxied(headers):
        return False
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(mapped in network for network in allowed_networks())


def exposition(
    gauges: Mapping[str, float], memory: Mapping[str, int], groups: Iterable[Sample] = ()
) -> tuple[bytes, str]:
    """The text, and its content type. A counter that nothing was added to is 0 where it has no label."""
    from prometheus_client import CollectorRegistry, Gauge
    from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

    now = CollectorRegistry()
    for name in filter(gauges.__contains__, GAUGES):
        Gauge(f"idcore_{name}", GAUGES[name], registry=now).set(gauges[name])
    held = Gauge("idcore_memory_bytes", "memory of processes", ("process",), registry=now)
    for process, size in memory.items():
        held.labels(process).set(size)
    group_gauges: dict[str, Gauge] = {}
    for name, labels, value in groups:
        if name not in group_gauges:
            group_gauges[name] = Gauge(f"idcore_{name}", *OF_GROUPS[name], registry=now)
        group_gauges[name].labels(*labels).set(value)
    return generate_latest(_counters()[0]) + generate_latest(now), CONTENT_TYPE_PLAIN_0_0_4


def memory_of(pid: int, proc: Path = Path("/proc")) -> dict[str, int]:
    """Resident bytes of a server, of its Java and of its workers; empty where the system has no /proc."""
    parents: dict[int, tuple[int, str, int]] = {}
    for folder in proc.glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:  # it ended meanwhile
            continue
        fields = rest.split()
        parents[int(folder.name)] = (
            int(fields[1]),
            name.partition("(")[2],
            int(fields[21]) * os.sysconf("SC_PAGESIZE"),
        )
    if pid not in parents:
        return {}
    sizes = {"server": parents[pid][2], "java": 0, "workers": 0}
    for child, (_, name, size) in parents.items():
        if child != pid and _is_below(child, pid, parents):
            sizes["java" if name == "java" else "workers"] += size
    return sizes


def _is_below(child: int, pid: int, parents: Mapping[int, tuple[int, str, int]]) -> bool:
    seen = 0
    while child in parents and child != pid and seen < len(parents):
        child, seen = parents[child][0], seen + 1
    return child == pid


Gauges = Callable[[], tuple[Mapping[str, float], Mapping[str, int]]]

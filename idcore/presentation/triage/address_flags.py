"""Marks that hosts, processes and brokers carry when something about them is odd. Tables in, codes out; no words."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pandas as pd

from idcore.answers.findings.limits import CUT_COUNTER
from idcore.ids import rules
from idcore.presentation.triage.processes import is_countable, is_followed, is_several, several

DOCKER = ipaddress.ip_network("172.17.0.0/16")
INTERNAL = ipaddress.ip_network("172.16.0.0/12")


@lru_cache(maxsize=4096)
def host_codes(host: str) -> tuple[str, ...]:
    """loopback, docker, link_local: what an address alone shows."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ()
    if address.is_loopback:
        return ("loopback",)
    if address.is_link_local:
        return ("link_local",)
    return ("docker",) if address.version == 4 and address in DOCKER else ()


NEEDED = (
    "layout",
    "host",
    "pid",
    "loader",
    "tracks",
    "months_mixed",
    "one_counter",
)  # columns of processes for the marks of hosts


def of_hosts(processes: pd.DataFrame) -> dict[str, list[str]]:
    """The marks of each host: its address, two fingerprints of one pid, a fingerprint that two processes share."""
    marks: dict[str, list[str]] = {host: list(host_codes(host)) for host in processes["host"].unique()}
    loaders = processes.groupby(["host", "pid"])["loader"].nunique()
    for host in loaders[loaders > 1].index.get_level_values("host").unique():
        marks[host].append("two_loaders")
    for host in processes.loc[several(processes), "host"].unique():
        marks[host].append("shared")
    return {host: codes for host, codes in marks.items() if codes}


def of_process(row: Mapping[str, Any]) -> list[str]:
    """The marks of one process."""
    codes = list(host_codes(row["host"]))
    if is_several(row):
        codes.append("shared")
    if row["layout"] == CUT_COUNTER:
        codes.append("cut")
    elif not is_followed(row):
        codes.append("mixed")
    elif not is_countable(row):
        codes.append("clock_back")
    elif not row["wraps_certain"]:
        codes.append("uncertain")
    return codes


@lru_cache(maxsize=4096)
def of_broker(host: str, port: int) -> tuple[str, ...]:
    """Addresses that a client elsewhere could hardly reach."""
    codes = []
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ()
    if address.is_loopback:
        codes.append("loopback")
    elif address.version == 4 and address in INTERNAL:
        codes.append("internal")
    if port in rules.NODE_PORTS:
        codes.append("node_port")
    return tuple(codes)

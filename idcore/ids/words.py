"""The words of the ids: a code and an English template for every reason, maker and refusal. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# Why a token is refused, or why a reading cannot hold. The codes are a contract (column `reason` of `refused`).
ERRORS: dict[str, str] = {
    "empty": "nothing stands here",
    "digit": "{char!r} at place {place} is not a hex digit",
    "odd": "{digits} digits are an odd number; two digits make a byte",
    "length": "{digits} digits; ids have 32, 34 or 56",
    "lower_case": "all letters are lower case, as in trace ids, MD5 sums and UUIDs; ids have upper-case letters",
    "version": "version is {version:02X}; a client id of 34 digits begins with 01",
    "port": "port {port} is outside 1 to 65,535",
    "offset": "physical offset {offset} is {how}",
    "elapsed": "elapsed {elapsed_ms} ms is longer than the longest month ({longest_ms} ms)",
    "size": "{size} bytes; {layout} has {wanted}",
    "value": "{name} {value} does not fit into {bits} bits",
    "address": "{address!r} is not an address of {wanted} bytes",
    "zone": "{given!r} is not a zone; write a name like Asia/Shanghai or an offset like +08:00",
    "instant": "{given!r} is not an instant; write ISO 8601 like 2026-11-21T09:50:13+08:00",
    "early": "{given!r} is before {year}; RocketMQ has no older ids",
}

# What speaks for or against a reading.
REASONS: dict[str, str] = {
    # the shape
    "port_bytes": "bytes {start} and {stop} are not zero, so they are a pid: a port never exceeds 65,535",
    "port_fits": "a port ({port}) and an offset below 2^48 stand where an offset id has them",
    "port_known": "port {port} is a usual port of a broker",
    "port_node": "port {port} lies in the range of Kubernetes node ports",
    "pid_zero": "the pid is 0; the same bytes read as a port are {port} with offset {offset}, which cannot be",
    "pid_zero_too": "read as a uniq id the pid is 0 and the loader {loader}",
    "little_endian": "turned round, the bytes give a sane address ({host}) and time; an offset of {offset} is huge",
    "little_endian_shape": "read as little-endian, every field fits: address {host}, loader, elapsed, counter",
    "little_endian_not": "the offset {offset} ends in 00, and a little-endian msgId reads like this too",
    "pid_upper_half": "the pid field is the upper half of the process id, which is {least} to {greatest}",
    "pid_below_65536": "the pid field is the upper half of the process id, which is below 65,536",
    "host_unresolved": "0.0.0.0: a C++ client whose host name does not resolve to an address",
    "host_not_ipv4": "{host} is not a host: a C++ client whose host name resolves to an IPv6 address",
    "little_endian_maybe": "turned round, the bytes give a sane address ({host}) and time too",
    "version_01": "34 digits that begin with 01",
    "lost_version": "with the missing 01 in front, seconds and sequence are plausible",
    "uuid_v4": "digit 13 is 4 and digit 17 is {digit}, as in a UUID; the EventHorizon .NET client makes ids so",
    # the label
    "label_client": "the name in front, {label}, says so",
    "label_offset": "the name in front, {label}, says so",
    "label_against": "the name in front, {label}, usually stands before another kind",
    "label_key": "an offset id under {label}: a message without an id of its own that passed a proxy, or a mix-up",
    # the loader
    "loader_stream": "loader {loader} is number {position} of HotSpot's main-thread hashes",
    "loader_stream_25": "loader {loader} is number {position} of HotSpot's main-thread hashes on a 32-bit JVM",
    "loader_known": "loader {loader} is a known constant",
    "loader_zero": "loader 00000000 and whole seconds, as the Go client and its relatives write",
    "loader_unknown": "loader {loader} is none that is known",
    # letters
    "case_upper": "all letters are upper case",
    "case_go": "the last twelve digits are lower case, as the Go client prints them",
    "case_mixed": "upper and lower case are mixed in no known way",
    "case_lower": "all letters are lower case, which no client prints",
    # the time
    "elapsed_fits": "elapsed is shorter than a month",
    "elapsed_slack": "elapsed is {over_ms} ms over the longest month: the clock is read twice as the month changes",
    "elapsed_signed": "elapsed is above 2^31: a decoder that reads it as a signed number gets the date wrong",
    "clock_back": "elapsed is {back_ms} ms before zero: the clock was set back across the start of the month",
    "elapsed_known_maker": "elapsed is longer than a month, but the loader is known",
    "elapsed_label": "elapsed is longer than a month; only the name in front speaks for an id",
    "hour_born": "bornTimestamp of the line fixes the hour at which the month of this C++ client began",
    "hour_prefix": "the time at the start of the line fixes the hour at which the month of this C++ client began",
    "zone_newer": "the zone is assumed: in a zone further east the id was generated within the last hours",
    "hour_open": "the month of this C++ client can have begun an hour later",
    "zone_process": "other lines with ids of the same process fix month and zone",
    "month_process": "other lines with ids of the same process fix the month",
    "zone_input": "other lines of this input fix the zone",
    "month_input": "other lines of this input fix the month",
    "linked": "the link gives the time at which the id was generated",
    "zone_born": "bornTimestamp of the line fixes month and zone",
    "month_born": "bornTimestamp of the line fixes the month",
    "month_prefix": "the time at the start of the line fixes the month",
    "zone_prefix": "the time at the start of the line fixes month and zone",
    "noon": "bornTimestamp shows a month that began at noon: a client up to 4.0.0-incubating",
    "seconds_fit": "seconds since 2021 are plausible",
    "seconds_open": "turned round, the seconds are plausible too, and the sequence does not tell",
    "seconds_rust_open": "the digits have no letters: they can be seconds since 2021 of another client as well",
    "seconds_local": "bornTimestamp shows seconds counted from the local 2021-01-01: the Java client up to 5.0.2",
    "seconds_future": "the seconds are in the future: the Java client up to 5.0.2 counts them in its local zone, "
    "which is ahead of UTC",
    "seconds_maybe_local": "if a Java client up to 5.0.2 in zone {zone} made it, it was made at {other}",
    "seconds_le": "turned round, the seconds are plausible: the C++ client before 5.1.0",
    "seconds_rust": "seconds hold milliseconds of the UTC month: the Rust client",
    "seconds_odd": "the seconds lie in no plausible year",
    # the host
    "host_odd": "{host} is not an address that a host can have",
    "host_loopback": "loopback address: the client found no other address of its host, or did not use it",
    "host_link_local": "link-local IPv6 address: Java client 4.6.0",
    "host_docker": "an address of Docker's default bridge",
    "host_fake": "four ASCII digits as address: a Go client that could not read its own",
    "pid_shifted": "pid 0 with a Java loader: clients 4.6.0 and 4.6.1 write the upper half of the process id; "
    "later ones write 0 for a multiple of 65,536",
    "releases_range": "of the Java client, only {oldest} to {newest} make such ids",
    "releases_since": "of the Java client, only {oldest} and later make such ids",
    "releases_until": "of the Java client, only releases up to {newest} make such ids",
    "mac_zero": "the MAC is zero: a Node.js client before it knew its own, or a C++ client without one",
    "mac_made_up": "the MAC has the multicast bit, which no interface has: a random one",
    "language_open": "{names} write these fields alike: the language of a 5.x client is not in its id",
    "neighbour_broker": "other offset ids of this input are of {address} for certain",
    "neighbour_process": "other ids of this input are of the same process on {host} for certain",
    "neighbour_client": "other ids of {mac} pid {pid} in this input show which way round its seconds are",
    "rand_seed": "loader {loader} is the first rand() of a process that started at {started_at}: the C++ client",
    "pid_unknown": "pid FFFF: the client could not read its pid",
}

# Who most likely made an id.
MAKERS: dict[str, str] = {
    "java_jdk8": "Java client, JDK 8, class path launch",
    "java_jdk8_early": "Java client, early JDK 8 (or JDK 25 with an agent)",
    "java_jdk8_server": "Java client, JDK 8, server, shell or java -jar",
    "java_jdk8_terminal": "Java client, JDK 8 from a terminal, or JDK 17 with a GC other than G1",
    "java_jdk8_tools_cmd": "Java client, JDK 8, tools.cmd on Windows",
    "java_jdk9": "Java client, JDK 8 or 9 and later",
    "java_jdk11": "Java client, JDK 11 or later",
    "java_jdk17": "Java client, JDK 17",
    "java_jdk17_agent": "Java client, JDK 17 with an agent, or started from a source file",
    "java_jdk17_no_cds": "Java client, JDK 17 without class-data sharing",
    "java_jdk21_no_cds": "Java client, JDK 21 without class-data sharing",
    "java_jdk11_25": "Java client, JDK 11, or JDK 25 without class-data sharing",
    "java_jdk25": "Java client, JDK 25",
    "java_32_bit": "Java client, 32-bit JVM",
    "java_boot": "Java client, probably a Spring Boot fat jar",
    "java_main": "Java client, loader {position} of the main thread",
    "java_agent": "Java client, probably a fat jar with an agent",
    "java_mqadmin": "mqadmin 5.3.2 or later in Docker",
    "go": "Go client 2.x",
    "go_family": "Go client 2.x, or a relative",
    "elixir": "ex_rocketmq (Elixir)",
    "cpp_old": "C++ client 1.2.0 to 1.2.3, or a wrapper of it",
    "cpp": "C++ client 1.2.4 or later, .NET client (ErQing), or Java with an unusual loader",
    "cpp_or_lua": "C++ client 1.2.4 or later, or lua-resty-rocketmq",
    "cpp_seed": "C++ client 1.2.4 or later",
    "rust_mxsm": "rocketmq-rust (mxsm)",
    "php": "PHP client (zhaohai666)",
    "lua": "lua-resty-rocketmq",
    "python_tt67wq": "pyrocketmq (Python)",
    "dotnet": ".NET client (ErQing)",
    "dotnet_uuid": "EventHorizon .NET client, or a UUID",
    "unknown": "unknown maker",
    "broker": "broker",
    "grpc": "5.x gRPC client",
    "grpc_java_old": "Java gRPC client up to 5.0.2",
    "grpc_cpp_old": "C++ gRPC client before 5.1.0",
    "grpc_rust": "Rust gRPC client",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: a code of REASONS or ERRORS with the values of its template."""

    code: str
    values: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return say(REASONS.get(self.code) or ERRORS[self.code], self.values)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who most likely made an id: a code of MAKERS with the values of its template."""

    code: str
    values: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return say(MAKERS[self.code], self.values)


def say(template: str, values: Mapping[str, Any] | None) -> str:
    """A template filled in; pages call it with the Chinese template of the same code."""
    return template.format_map(values) if values else template


@lru_cache(maxsize=512)
def plain(code: str) -> Reason:
    """The reason of a code without values, made once."""
    return Reason(code)

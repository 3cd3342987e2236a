"""What a finding means, what to do, and what would disprove it, in English; words_zh says the same. Decides nothing.

Keys are a code, or a code and its variant; values are the figures of the finding's evidence, `{s}` is a plural.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MEANINGS: dict[str, str] = {
    "more": "{more:,} more findings of the same kind, {count:,} in all; the largest are listed one by one",
    "collision": "{subject} is the id of different messages: its {messages} records differ in {differs}",
    "shared_fingerprint": "at least {tracks} processes alive at once make ids as {subject}: their counters run side by "
    "side, and the same id can be made twice",
    "clock_back": "the clock of {subject} was set back by {back_seconds:,.3f} s: its counter went on as the time fell",
    "clock_back.before_month": "the clock of {subject} was set back across the start of the month: {count:,} id{s} "
    "with a time before it",
    "clock_back.zero": "the clock of {subject} stood before the start of the month: {count:,} ids with the time 0",
    "duplicate_send": "{subject} was sent more than once: its copies were stored under one id by brokers "
    "{addresses}, which no broker does by itself",
    "duplicate_send.same_broker": "{subject} was sent more than once: {count:,} copies under one id in topic {topic}, "
    "none of them a retry or a delay of the broker",
    "missing_ids": "{count:,} of {produced:,} ids that {subject} made are not in this input ({share:.2%})",
    "missing_ids.sample": "the input holds {distinct:,} of about {produced:,} ids that {subject} made: it is a sample, "
    "or other logs hold the rest",
    "missing_ids.uncertain": "{count:,} ids of {subject} are missing, and maybe some multiples of 65,536 more: between "
    "two neighbours the counter could wrap unseen",
    "id_confusion": "{count:,} offset id{s} stand{verb} where a msgId belongs, behind {subject}",
    "id_confusion.message_ext": "{count:,} offset id{s} stand{verb} behind msgId= of a printed MessageExt, whose "
    "toString shows the offset id under that name",
    "broker_address_internal.loopback": "the broker calls itself {subject}: other machines cannot reach a loopback "
    "address",
    "broker_address_internal.bridge": "the broker calls itself {subject}, an address of Docker's bridges (172.16/12): "
    "other machines can hardly reach it there",
    "broker_address_internal.link_local": "the broker calls itself {subject}, a link-local address: nothing beyond its "
    "own network can reach it there",
    "broker_address_internal.nowhere": "the broker calls itself {subject}, which is no address of a host",
    "broker_address_internal.node_port": "the broker calls itself {subject}: the port is one that Kubernetes gives to "
    "services on its nodes",
    "broker_moved": "{subject} goes on where {from_address} stopped, {gap:,} bytes later: one broker under a new "
    "address",
    "broker_moved.both": "{subject} and {from_address} take turns at one rising offset: one broker under two addresses",
    "pid_erased": "{subject} has pid 0: the client writes the upper half of its process id, and all processes of the "
    "host look like one",
    "fake_host": "the address of {subject} is no address: it is the time at which the process started, written by a "
    "client that could not read its own address",
    "fake_host.go": "the address of {subject} is no address but four digits of the time, written by a Go client that "
    "could not read its own",
    "fake_host.odd": "no host can have the address of {subject}; read as a time, it lies {age_hours:,.1f} h before the "
    "first id, when the process may have started",
    "loopback_host": "{subject} writes a loopback address: its ids do not say which host made them",
    "link_local_host": "{subject} writes a link-local address, which is unique on one network only",
    "zone_mismatch": "the clock of {subject} is in zone {zone}, that of most others in {usual_zone}",
    "zone_mismatch.given": "the clock of {subject} is in zone {zone}, not in {usual_zone} as was given",
    "elapsed_impossible": "{count:,} id{s} of {subject} with more milliseconds than a month has: no RocketMQ client "
    "that is known to count from the month makes them",
    "restart": "{subject} started again {count:,} time{s}: its counter fell to near 0 sooner than it could wrap",
    "counter_wrap": "the counter of {subject} passed 65,535 and began again at 0, {count:,} time{s}",
    "counter_wrap.uncertain": "the counter of {subject} passed 65,535 at least {count:,} time{s}; more wraps may lie "
    "between ids that are far apart",
    "stored_copies": "{count:,} message{s} of {subject} were stored more than once under one id",
    "container_host": "{subject} is a container on Docker's default bridge: hosts without number have the same address",
    "container_host.gateway": "{subject} writes the address of Docker's bridge itself, which every Docker host has",
    "foreign_maker": "{subject} is not the official Java client: {maker}",
    "foreign_maker.seed": "{subject} is the C++ client: its loader is the first rand() of a process that started at "
    "{started_at}",
    "foreign_maker.no_hash": "{subject} is not the official Java client ({maker}): its loader has the top bit set, "
    "which no hash of a JVM has",
    "expired": "{count:,} id{s} of {subject} are older than brokers keep messages by default (made before {cutoff})",
}

ADVICE: dict[str, str] = {
    "more": "Filter the input to one host, or read the tables of the run.",
    "collision": "Give the producing processes fingerprints of their own and look messages up by offset id until then.",
    "shared_fingerprint": "Give each container its own address (pod network) or pid, then start the producers again.",
    "clock_back": "Let the host slew its clock (chrony, or ntpd -x) and check for equal ids around that time.",
    "duplicate_send": "Make the consumer ignore an id it has handled, and look for send time-outs around that time.",
    "missing_ids": "Look for failed sends at these gaps, and count what else the process sends: other topics, traces.",
    "missing_ids.sample": "Scan the logs of all consumers and topics of this producer to judge its losses.",
    "id_confusion": "Look these up as offset ids, and log SendResult.msgId or getMsgId() of the consumed message.",
    "id_confusion.message_ext": "Read UNIQ_KEY of the same line to get the msgId.",
    "broker_address_internal": "Set brokerIP1 to an address that clients can reach and start the broker again.",
    "broker_moved": "Look old offset ids up at the new address; the address in them is the old one.",
    "pid_erased": "Move the producer from client 4.6.0 or 4.6.1 to 4.7.0 or later.",
    "fake_host": "Let the host's name resolve to an address, or give the container a network interface.",
    "loopback_host": "Move a Java client to 5.1.0 or later, or give the host an address besides 127.0.0.1.",
    "link_local_host": "Move the producer off client 4.6.0, or give the host a routed address.",
    "zone_mismatch": "Set TZ (or -Duser.timezone) alike for all producers, and read these ids in their own zone.",
    "elapsed_impossible": "Look at the line: an application's own key, a foreign client, or two ids run together.",
    "restart": "Compare with deployments; unplanned restarts at regular times are crashes.",
    "counter_wrap": "Nothing to do: count wraps when you compare counters.",
    "stored_copies": "Nothing to do when retries, delays, transactions or batches are in use; look at the topics.",
    "container_host": "Read the container's log for the host, or give containers a routed network.",
    "foreign_maker": "Read its ids by the rules of that client; the fields differ in meaning.",
    "expired": "Do not look for them in the cluster; ask the consumers' logs or an archive.",
}

DISPROOF: dict[str, str] = {
    "more": "See the findings that are listed.",
    "collision": "The copies turn out to be one message: equal keys, body and born time in the store.",
    "shared_fingerprint": "The host, pid and start time of the log lines name one process only.",
    "clock_back": "The host's clock log shows no step, or two processes share the fingerprint.",
    "duplicate_send": "The copies are one record, read at the old and the new address of a broker that moved.",
    "missing_ids": "The ids stand in another log, or were made for trace messages and request ids, which share the "
    "counter.",
    "id_confusion": "The message had no id of its own and passed a proxy 5.1.1 or later, which writes the offset id "
    "into UNIQ_KEY.",
    "broker_address_internal": "Clients connect to exactly this address: everything runs on one host or one bridge, or "
    "your own network uses this range.",
    "broker_moved": "Both addresses answer now and hold different records at the same offset.",
    "pid_erased": "The process id is a multiple of 65,536, or the client is not 4.6.0 or 4.6.1.",
    "fake_host": "A host with this address exists and runs the producer.",
    "loopback_host": "All producers run on the machine whose log this is.",
    "link_local_host": "All producers and consumers stand on one network segment.",
    "zone_mismatch": "The hosts' clocks show one zone; then the born timestamps of the lines are wrong.",
    "elapsed_impossible": "The text is not an id: look at what stands around it.",
    "restart": "The process has run without a break: then two processes share the fingerprint.",
    "counter_wrap": "The process started again just then.",
    "stored_copies": "The copies lie in one normal topic with different born times: then it is a collision.",
    "container_host": "A machine of your network has this address.",
    "foreign_maker": "The process is a JVM with an unusual class loader.",
    "expired": "The brokers keep messages longer than 72 hours (fileReservedTime), or the month was read wrongly.",
}

PARTS = {"meaning": MEANINGS, "advice": ADVICE, "disproof": DISPROOF}


def find(table: Mapping[str, str], code: str, variant: str | None) -> str:
    """The words of a variant, or of its code."""
    return table["more"] if variant == "more" else table.get(f"{code}.{variant}") or table[code]


def say(part: str, code: str, values: Mapping[str, Any], tables: Mapping[str, Mapping[str, str]] = PARTS) -> str:
    """One sentence of a finding; pages call it with the Chinese tables. `values`: subject, count and the evidence."""
    one = values.get("count") == 1
    text = find(tables[part], code, values.get("variant"))
    return text.format_map({**values, "s": "" if one else "s", "verb": "s" if one else ""})

"""What a finding means, what to do, and what would disprove it, in English; words_zh says the same. Decides nothing.

Keys are a code, or a code and its variant; values are the figures of the finding's evidence, `{s}` is a plural. What
evidence names under `also` is told in further sentences behind the meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

Tables = Mapping[str, Mapping[str, str]]

MEANINGS: dict[str, str] = {
    "more": "{more:,} more findings of the same kind, {count:,} in all; the largest are listed one by one",
    "shared_fingerprint.unseen": "{more:,} more processes are {count:,} counters side by side; they were counted and "
    "not looked at point by point, so clocks that were set back may be among them",
    "restart.unseen": "{more:,} more processes started again, {count:,} times in all; they were counted and not looked "
    "at point by point, so clocks that were set back may be among them",
    "clock_back.unseen": "{count:,} more processes have ids out of order; they were counted and not looked at point by "
    "point, so clocks that were set back may be among them",
    "stored_copies.unseen": "{count:,} more messages were stored more than once; they were counted and not looked at "
    "one by one, so messages that were sent again may be among them",
    "broker_moved.unseen": "{count:,} more broker addresses were not compared with their neighbours; those with the "
    "most ids were",
    "foreign_maker.unseen": "{more:,} more processes with {count:,} ids may be C++ clients: only the loaders of the "
    "largest were tried against the seeds of rand()",
    "collision": "{subject} is the id of different messages: its {messages} records differ in {differs}",
    "collision.another_month": "{subject} was made twice, {apart_days:,.1f} days apart, for {messages} different "
    "messages: an id holds its time in the month but no month, so a process with the same address and pid repeats it",
    "collision.hosts": "{subject} was made on different hosts ({hosts}) for {messages} different messages: processes "
    "there have one fingerprint and count alike",
    "collision.topics": "{subject} stands on {messages} messages of one moment in different topics ({topics}): a "
    "program that sends a message on with its old properties sends its id too",
    "collision.sent_again": "{subject} was sent as {messages} messages with one key and body, {apart_seconds} "
    "apart: an application sent one Message object again, and the client keeps the id it has",
    "shared_fingerprint": "at least {tracks} processes alive at once make ids as {subject}: their counters run side by "
    "side, and one id can be made twice",
    "clock_back": "the clock of {subject} was set back by {back_seconds}: its counter went on as the time fell",
    "clock_back.held": "the clock of {subject} was set back by {back_seconds} or more, to before the start of "
    "the month: its counter went on while its time stayed 0",
    "clock_back.before_month": "the clock of {subject} was set back across the start of the month: {count:,} id{s} "
    "with a time before it",
    "clock_back.zero": "the clock of {subject} stood before the start of the month: {count:,} ids with the time 0",
    "duplicate_send": "{subject} was sent more than once: its copies were stored under one id by brokers "
    "{addresses}, which no broker does by itself",
    "duplicate_send.same_broker": "{subject} was sent more than once: {count:,} copies under one id in topic {topic}, "
    "none of them a retry or a delay of the broker",
    "missing_ids": "{count:,} of {produced:,} ids that {subject} made are not in this input ({share:.2%})",
    "missing_ids.one": "1 id that {subject} made is not in this input ({share:.2%} of {produced:,})",
    "missing_ids.one_gap": "{count:,} id{s} in a row that {subject} made {are} not in this input ({share:.2%} of "
    "{produced:,})",
    "missing_ids.gaps": "{count:,} of {produced:,} ids that {subject} made are not in this input ({share:.2%}): "
    "{in_gaps:,} gaps of up to {widest:,}",
    "missing_ids.sample": "the input holds {distinct:,} of about {produced:,} ids that {subject} made: it is a sample, "
    "or other logs hold the rest",
    "missing_ids.uncertain": "{count:,} ids of {subject} are missing, and maybe some multiples of 65,536 more: between "
    "two neighbours the counter could wrap unseen",
    "id_confusion": "{count:,} offset id{s} stand{verb} where a msgId belongs, behind {subject}",
    "id_confusion.message_ext": "MessageExt prints its offset id under the name msgId ({count:,} here): that is how "
    "its toString is written, and no mistake of anybody",
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
    "fake_host": "the address of {subject} is no address: it is the time at which its process started ({started_at}), "
    "written by a client that could not read its own address",
    "fake_host.go": "the address of {subject} is no address but four digits of the time, written by a Go client that "
    "could not read its own",
    "fake_host.odd": "no host can have the address of {subject}; read as a time, it lies {age_hours:,.1f} h before the "
    "first id, when the process may have started",
    "loopback_host": "{subject} writes a loopback address: its ids do not say which host made them",
    "loopback_host.own_name": "{subject} writes 127.0.1.1, which Debian's /etc/hosts gives the host's own name: its "
    "ids do not say which host made them",
    "link_local_host": "{subject} writes a link-local address, which is unique on one network only",
    "zone_mismatch": "the clock of {subject} is in zone {zone}, that of most others in {usual_zone}",
    "zone_mismatch.given": "the clock of {subject} is in zone {zone}, not in {usual_zone} as was given",
    "elapsed_impossible": "{count:,} id{s} of {subject} with more milliseconds than a month has: no RocketMQ client "
    "that is known to count from the month makes them",
    "elapsed_impossible.one_text": "one text that looks like an id of {subject} stands here {count:,} time{s}, with "
    "more milliseconds than a month has: no RocketMQ client that is known to count from the month makes it",
    "elapsed_impossible.java": "{count:,} id{s} of {subject} with more milliseconds than a month has, which the Java "
    "client of that loader never writes",
    "elapsed_impossible.clock": "{count:,} id{s} of {subject} do not count from the month: read as the low 32 bits of "
    "the clock they were made from {first_at} to {last_at}, as the ErQing .NET client writes them",
    "restart": "{subject} started again {count:,} time{s}: its counter fell to near 0 sooner than it could wrap",
    "restart.loop": "{subject} started again {count:,} times within {loop_seconds}, as in a crash loop: each "
    "time its counter fell to near 0, sooner than it could wrap",
    "restart.loop_among": "{subject} started again {count:,} times, {loop:,} of them within {loop_seconds}, as "
    "in a crash loop: each time its counter fell to near 0, sooner than it could wrap",
    "counter_wrap": "the counter of {subject} passed 65,535 and began again at 0, {count:,} time{s}",
    "counter_wrap.uncertain": "the counter of {subject} passed 65,535 at least {count:,} time{s}; more wraps may lie "
    "between ids that are far apart",
    "stored_copies": "{count:,} message{s} of {subject} {were} stored more than once under one id",
    "stored_copies.retry": "{count:,} message{s} of {subject} {were} stored again because a consumer failed and asked "
    "for {them} once more (retries)",
    "stored_copies.delay": "{count:,} message{s} of {subject} {were} stored twice because {they} {were} sent with a "
    "delay: first to wait, then in {their} own topic",
    "stored_copies.transaction": "{count:,} message{s} of {subject} {were} stored twice because {they} {were} sent in "
    "a transaction: the half message, then the committed one",
    "stored_copies.batch": "{count:,} id{s} of {subject} stand{verb} for many messages each: those of a batch have "
    "one id",
    "container_host": "{subject} is a container on Docker's default bridge: containers of every other Docker host have "
    "the same addresses",
    "container_host.gateway": "{subject} writes the address of Docker's bridge itself, which every Docker host has",
    "foreign_maker": "{subject} is not the official Java client: {maker}",
    "foreign_maker.seed": "{subject} is the C++ client: its loader is the first rand() of a process that started at "
    "{started_at}",
    "foreign_maker.no_hash": "{subject} is not the official Java client ({maker}): its loader has the top bit set, "
    "which no hash of a JVM has",
    "expired": "{count:,} id{s} of {subject} {are} older than brokers keep messages by default (made before {cutoff})",
}

ADVICE: dict[str, str] = {
    "more": "Filter the input to one host, or read the tables of the run.",
    "unseen": "Scan the logs of fewer hosts at once: then each of them is looked at.",
    "collision": "Give the producing processes fingerprints of their own and look messages up by offset id until then.",
    "collision.another_month": "Look it up by offset id or with a time window; never use a msgId alone as a key that "
    "outlives the month.",
    "collision.hosts": "Give each of these hosts its own address or pid (pod network), start the producers again, and "
    "look messages up by offset id until then.",
    "collision.topics": "Let that program build a new Message without UNIQ_KEY, and look the copies up by offset id.",
    "collision.sent_again": "Build a new Message for each send, or treat the id as a key of the business event and "
    "make consumers ignore repeats.",
    "shared_fingerprint": "Give each container its own address (pod network) or pid, then start the producers again.",
    "clock_back": "Let the host slew its clock (chrony, or ntpd -x) instead of setting it back, and order these ids "
    "by their counter: their times overlap.",
    "clock_back.twice_open": "Let the host slew its clock (chrony, or ntpd -x), and look for ids that were made twice "
    "in the time that came again.",
    "clock_back.twice_seen": "Let the host slew its clock (chrony, or ntpd -x), and look the ids that were made "
    "twice up by offset id.",
    "duplicate_send": "Make the consumer ignore an id it has handled, and look for a send time-out (3 s by default) in "
    "the producer's log at that time.",
    "missing_ids": "Read the producer's log just before the ids below, where the gaps end: look for failed sends, then "
    "count what else the process sends (other topics, traces).",
    "missing_ids.failed": "Find out why these sends failed (broker busy, time-out, no route): a send that failed has "
    "used its id. Ids that are still missing then may be of other topics or traces.",
    "missing_ids.sample": "Scan the logs of all consumers and topics of this producer to judge its losses.",
    "id_confusion": "Look these up as offset ids, and log SendResult.msgId or getMsgId() of the consumed message.",
    "id_confusion.message_ext": "Read UNIQ_KEY of the same line to get the msgId.",
    "broker_address_internal": "Set brokerIP1 to an address that clients can reach and start the broker again.",
    "broker_address_internal.send_ok": "If clients on other machines or networks use this broker, set brokerIP1 to an "
    "address that they can reach and start it again; else leave it as it is.",
    "broker_address_internal.node_port": "Check that clients reach the broker there from where they stand; else set "
    "brokerIP1 and the port that clients can reach (host network, or one service for each broker).",
    "broker_moved": "Look old offset ids up at the new address; the address in them is the old one.",
    "pid_erased": "Move the producer from client 4.6.0 or 4.6.1 to 4.7.0 or later.",
    "fake_host": "Let the host's name resolve to an address, or give the container a network interface.",
    "loopback_host": "Move a Java client to 5.1.0 or later, or give the host an address besides 127.0.0.1.",
    "loopback_host.own_name": "Give the host's name its real address in /etc/hosts (or DNS) instead of 127.0.1.1, and "
    "start the producer again.",
    "link_local_host": "Move the producer off client 4.6.0, or give the host a routed address.",
    "zone_mismatch": "Set TZ (or -Duser.timezone) alike for all producers, and read these ids in their own zone.",
    "elapsed_impossible": "Look at the line: an application's own key, a foreign client, or two ids run together.",
    "elapsed_impossible.one_text": "Look at the line: an application's own key, or two ids run together.",
    "elapsed_impossible.java": "Look at the lines: an application's own keys that copy the shape of an id.",
    "elapsed_impossible.clock": "Read their time as the low 32 bits of the milliseconds since 1970 (it repeats after "
    "49.7 days), and compare it with the time of the line.",
    "restart": "Compare with deployments; unplanned restarts at regular times are crashes.",
    "restart.loop": "Look at why the process ended just before each of these times: its own log, its exit code, the "
    "kernel's out-of-memory lines, kubectl describe pod.",
    "counter_wrap": "Nothing to do: count wraps when you compare counters.",
    "stored_copies": "Nothing to do when retries, delays, transactions or batches are in use; look at the topics.",
    "stored_copies.retry": "Look for exceptions in the consumers' log at these times; retries go on until the 16th "
    "(maxReconsumeTimes), then the message lies in %DLQ%.",
    "stored_copies.delay": "Nothing to do: the offset id that the producer printed is that of the waiting record.",
    "stored_copies.transaction": "Nothing to do: the offset id that the producer printed is that of the half message.",
    "stored_copies.batch": "Nothing to do: tell the messages of a batch apart by offset id or KEYS.",
    "container_host": "Read the container's log for the host, or give containers a routed network.",
    "foreign_maker": "Read its ids by the rules of that client; the fields differ in meaning.",
    "foreign_maker.go": "Read its time in whole seconds; it has no loader (zeros), and its counter begins at 1.",
    "foreign_maker.go_family": "Read its time in whole seconds; it has no loader (zeros), and its counter begins at 1. "
    "Where months begin in UTC it is rocketmq-rs (Rust) or ex_rocketmq (Elixir), else the Go client.",
    "foreign_maker.elixir": "Read its time in whole seconds of the UTC month; it has no loader (zeros), and its "
    "counter begins at 1.",
    "foreign_maker.cpp_old": "Read its bytes from right to left; its pid is cut to the upper half and its counter to 8 "
    "bits. Release 1.2.4 and later write whole ones.",
    "foreign_maker.seed": "Read its ids as those of Java; only the loader means something else, the start of the "
    "process.",
    "foreign_maker.rust_mxsm": "Read its ids as those of Java; only the loader says nothing, it is the same "
    "everywhere.",
    "foreign_maker.php": "Read its time as milliseconds since midnight: the day is not in the id.",
    "foreign_maker.python_tt67wq": "Read its time as seconds since the process started: no date is in the id.",
    "foreign_maker.dotnet_uuid": "Do not read its fields: it is a random UUID.",
    "expired": "Do not look for them in the cluster; ask the consumers' logs or an archive.",
}

DISPROOF: dict[str, str] = {
    "more": "See the findings that are listed.",
    "unseen": "A scan of fewer hosts at once looks at each of them and finds nothing.",
    "collision": "The copies turn out to be one message: equal keys, body and born time in the store.",
    "shared_fingerprint": "The host, pid and start time of the log lines name one process only.",
    "clock_back": "The host's clock log shows no step, or two processes share the fingerprint.",
    "duplicate_send": "The copies are one record, read at the old and the new address of a broker that moved.",
    "missing_ids": "The ids stand in another log, or were made for trace messages and request ids, which share the "
    "counter.",
    "id_confusion": "The message had no id of its own and passed a proxy 5.1.1 or later, which writes the offset id "
    "into UNIQ_KEY.",
    "id_confusion.message_ext": "The line is not a printed MessageExt.",
    "broker_address_internal": "Clients connect to exactly this address: everything runs on one host or one bridge, or "
    "your own network uses this range.",
    "broker_moved": "Both addresses answer now and hold different records at the same offset.",
    "pid_erased": "The process id is a multiple of 65,536, or the client is not 4.6.0 or 4.6.1.",
    "fake_host": "A host with this address exists and runs the producer.",
    "loopback_host": "All producers run on the machine whose log this is.",
    "link_local_host": "All producers and consumers stand on one network segment.",
    "zone_mismatch": "The hosts' clocks show one zone; then the born timestamps of the lines are wrong.",
    "elapsed_impossible": "The text is not an id: look at what stands around it.",
    "elapsed_impossible.clock": "The lines were written at other times than these.",
    "restart": "The process has run without a break: then two processes share the fingerprint.",
    "counter_wrap": "The process started again just then.",
    "stored_copies": "The copies lie in one normal topic with different born times: then it is a collision.",
    "container_host": "A machine of your network has this address.",
    "foreign_maker": "The program behind this host and pid is known, and it is another client.",
    "foreign_maker.seed": "The process is a JVM with an unusual class loader.",
    "foreign_maker.no_hash": "The program behind this host and pid runs on a JVM that is not HotSpot.",
    "expired": "The brokers keep messages longer than 72 hours (fileReservedTime), or the month was read wrongly.",
}

# Further sentences of a meaning; each begins with the stop that parts it from what stands in front of it.
ALSO: dict[str, str] = {
    "producer": ". The id names its producer: {producer}",
    "producer_born": ". The id names its producer: {producer}; bornHost of the lines names {born_hosts}",
    "born_hosts": ". Its host, as bornHost of the lines names it: {born_hosts}",
    "apart": ". They were stored {apart_seconds} apart",
    "twice_none": ". No id of it was made twice: the counter did not come round ({span:,} of its 65,536 values)",
    "twice_open": ". Ids may have been made twice, since its counter may have come round; none that was is known here",
    "twice_seen": ". Ids of it that stand for different messages: {twice:,}; each has a finding of its own",
    "began": ". It began again on {began_at}",
    "began_first": ". It began again on {began_at} and later",
    "silent": ". In between no id of either address was seen for at least {silent_minutes:,} min (otherwise one comes "
    "within {usual_minutes:,} min); no other broker was seen then either",
    "silent_alone": ". In between no id of either address was seen for at least {silent_minutes:,} min (otherwise one "
    "comes within {usual_minutes:,} min); other brokers were seen meanwhile",
    "failed": ". Just before it the log has a failed send: “{failed_line}” ({failed_at})",
    "failed_gaps": ". Just before {failed:,} of the {looked:,} widest gaps the log has a failed send, first "
    "“{failed_line}” ({failed_at})",
    "send_ok": ". Yet this log shows sends to it that succeeded (SEND_OK): the client that wrote it reaches the broker "
    "from where it stands, and only clients elsewhere may not",
    "group": ". Asked for again by consumer group {group}",
    "consumer_hosts": ". The host that read them, as their lines name it: {consumer_hosts}",
}

UNITS = {"d": "d", "h": "h", "min": "min", "s": "s"}

PARTS = {"meaning": MEANINGS, "advice": ADVICE, "disproof": DISPROOF, "also": ALSO, "units": UNITS}

# Figures that are instants, and those that are several, as ISO 8601.
INSTANTS = frozenset({"cutoff", "started_at", "first_at", "last_at"})
MOMENTS = frozenset({"began_at"})


def find(table: Mapping[str, str], code: str, *variants: str | None) -> str:
    """The words of the first variant that has some, or of its code; what holds of `loop` holds of `loop_among` too."""
    if "more" in variants:
        return table["more"]
    for variant in filter(None, variants):
        for name in (variant, variant.partition("_")[0]):
            if text := table.get(f"{code}.{name}") or (name == "unseen" and table.get(name)):
                return text
    return table[code]


def templates(part: str, code: str, values: Mapping[str, Any], tables: Tables) -> Iterator[str]:
    """The sentences of a part: its own and, of a meaning, the further ones."""
    also = values.get("also") or ()
    yield find(tables[part], code, values.get("variant"), *also)
    if part == "meaning":
        yield from (tables["also"][name] for name in also if name in tables["also"])


def names(part: str, code: str, values: Mapping[str, Any]) -> frozenset[str]:
    """The figures that the sentences of a part tell."""
    texts = "".join(templates(part, code, values, PARTS))
    return frozenset(name for _, name, _, _ in Formatter().parse(texts) if name)


# English words that go with the count: of one, and of many.
_NUMBER = {
    True: {"s": "", "verb": "s", "are": "is", "were": "was", "they": "it", "them": "it", "their": "its"},
    False: {"s": "s", "verb": "", "are": "are", "were": "were", "they": "they", "them": "them", "their": "their"},
}


def lasting(seconds: float, units: Mapping[str, str]) -> str:
    """A time span to the millisecond: 3599.932 is 59 min 59.932 s."""
    milliseconds = round(seconds * 1000)
    days, rest = divmod(milliseconds, 86_400_000)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    figures = {"d": f"{days:,}" if days else "", "h": hours or "", "min": minutes or ""}
    figures["s"] = f"{rest / 1000:.3f}".rstrip("0").rstrip(".") if rest or not milliseconds else ""
    return " ".join(f"{figure} {units[unit]}" for unit, figure in figures.items() if figure)


def say(part: str, code: str, values: Mapping[str, Any], tables: Tables = PARTS) -> str:
    """A part of a finding; pages call it with the Chinese tables. `values`: subject, count and the evidence."""
    spans = {name: lasting(value, tables["units"]) for name, value in values.items() if name.endswith("_seconds")}
    filled = {**values, **spans, **_NUMBER[values.get("count") == 1]}
    return "".join(text.format_map(filled) for text in templates(part, code, values, tables))

"""Trace records behind the end of a store's log: attempts of groups, by chance and by hand. Judges nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from idcore.rocketmq.message import Host, Record, compress
from idcore.rocketmq.message.flags import compression_bits
from idcore.rocketmq.store import Stored, StoreFolder

CLIENT, STORE = Host(bytes([10, 20, 9, 1]), 40_000), Host(bytes((10, 20, 0, 5)), 10911)
GROUPS = ("fails-0", "lags-2", "skips_a_queue-3", "disabled-4", "broadcasts-5", "only-traced")
TOPICS = ("RMQ_SYS_TRACE_TOPIC", "RMQ_SYS_TRACE_TOPIC", "rmq_sys_TRACE_DATA_north", "OwnTrace")
_LARGEST = 20


def with_traces(root: Path, seed: int) -> Path:
    """The same store with the traces of one message in three."""
    rng = random.Random(seed)
    with StoreFolder(root) as store:
        records = [step.record for step in store.log.walk() if isinstance(step, Stored)]
    contexts = [context for record in records for context in _contexts(record, rng)]
    rng.shuffle(contexts)  # an end may come before its begin, and in another record
    append(root, [contexts[at : at + _LARGEST] for at in range(0, len(contexts), _LARGEST)], rng)
    return root


def _contexts(record: Record, rng: random.Random) -> Iterator[str]:
    key = record.uniq_id
    if key is None or rng.random() > 0.3:
        return
    for call in range(rng.randrange(1, 4)):
        group, number = rng.choice(GROUPS), rng.choice((0, 0, 0, 1, 2))
        began = record.store_timestamp + rng.choice((5, 500, 10_000_000))
        request, success, code = f"0A140901{call:02X}{key[10:]}", rng.random() < 0.5, rng.randrange(5)
        before = f"SubBefore\1{began}\1null\1{group}\1{request}\1{key}\1{number}\1a key"
        after = f"SubAfter\1{request}\1{key}\x013\1{str(success).lower()}\1a key\1{code}\1{began + 70}\1{group}"
        yield from rng.choice(((before,), (after,), (before, after), (before, after), (before, before, after)))
    yield f"Pub\1{record.born_timestamp}\1null\1producer\1{record.topic}\1{key}\1\1\1b:1\x019\x012\x010\1id\1true"
    if rng.random() < 0.05:
        yield rng.choice(("SubBefore\1none", "Unheard\1of", f"SubBefore\1x\1null\1g\1r\1{key}\x010\1"))


def append(root: Path, bodies: list[list[str]], rng: random.Random) -> None:
    """Records with these contexts behind the last record of the log, some of them packed."""
    with StoreFolder(root) as store:
        last = [step for step in store.log.walk() if isinstance(step, Stored)][-1]
    path = root / "commitlog" / last.file
    raw, at = bytearray(path.read_bytes()), last.end
    for number, contexts in enumerate(bodies):
        body = "".join(f"{context}\2" for context in contexts).encode()
        kind = rng.choice((None, None, "zlib", "zstd"))
        record = Record.of(
            rng.choice(TOPICS),
            body if kind is None else compress(kind, body),  # type: ignore[arg-type]
            "WAIT\1true\2",
            queue_id=0,
            born_timestamp=last.record.store_timestamp,
            born_host=CLIENT,
            store_host=STORE,
            flag=0,
            sys_flag=0 if kind is None else compression_bits(kind),  # type: ignore[arg-type]
        ).placed(number, at, last.record.store_timestamp)
        start = at - int(path.name)
        raw[start : start + record.size] = bytes(record)
        at += record.size
    path.write_bytes(raw)

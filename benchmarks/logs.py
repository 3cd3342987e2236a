"""Texts of every awkward kind for the benchmarks, made once, the same bytes each time. Measures nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .make_log import HEX, ROOT, Bytes

WORDS = (
    b"the quick producer sends another message through some topic while its broker stores it on disk every night and "
    b"nothing strange happens here today with logging at level info"
).split()
PIECE = 1 << 20


def _random_hex(rng: np.random.Generator, rows: int, digits: int, alphabet: bytes = b"0123456789ABCDEF") -> Bytes:
    return np.frombuffer(alphabet, np.uint8)[rng.integers(0, 16, (rows, digits))]


def _english(rng: np.random.Generator) -> bytes:
    words = rng.choice(len(WORDS), PIECE // 6)
    return b"".join(WORDS[word] + (b"\n" if place % 18 == 17 else b" ") for place, word in enumerate(words))


def _uuids(rng: np.random.Generator) -> bytes:
    digits = _random_hex(rng, 4_000, 32, b"0123456789abcdef").tobytes().decode()
    rows = (digits[at : at + 32] for at in range(0, len(digits), 32))
    return "".join(
        f"10:00:00 INFO trace={r[:8]}-{r[8:12]}-{r[12:16]}-{r[16:20]}-{r[20:]} order placed\n" for r in rows
    ).encode()


def _sums(rng: np.random.Generator) -> bytes:
    digits = _random_hex(rng, 4_000, 32, b"0123456789abcdef").tobytes()
    return b"".join(b"etag=" + digits[at : at + 32] + b" stored with status 200\n" for at in range(0, len(digits), 32))


def _long_runs(rng: np.random.Generator) -> bytes:
    return _random_hex(rng, 1, PIECE).tobytes() + b"\n"


def _no_lines(rng: np.random.Generator) -> bytes:
    return b" ".join([b"10:00:00 INFO SendResult [sendStatus=SEND_OK, msgId=0A2A80220FD218B4AAC23B9ACA000000]"] * 9_000)


def _sparse(rng: np.random.Generator) -> bytes:
    """SendResult lines of which every msgId is of a process of its own."""
    head = b"2026-11-20 10:00:00,000 INFO [send-1] o.a.r.c.p.DefaultMQProducer - SendResult [sendStatus=SEND_OK, msgId="
    tail = b", messageQueue=MessageQueue [topic=OrderPaid, brokerName=broker-07, queueId=3], queueOffset=7345612]\n"
    return _of_ids(rng, head, b", offsetMsgId=0A2A010700002A9F0000000000001000" + tail)


def _dense(rng: np.random.Generator) -> bytes:
    """Nothing but ids, each of a process of its own."""
    return _of_ids(rng, b"", b"\n")


def _of_ids(rng: np.random.Generator, head: bytes, tail: bytes) -> bytes:
    rows = PIECE // (len(head) + 32 + len(tail)) + 1
    raw = rng.integers(0, 256, (rows, 16), np.uint8)
    raw[:, 0], raw[:, 10] = 10, rng.integers(0, 0x60, rows)
    text = np.empty((rows, len(head) + 32 + len(tail)), np.uint8)
    text[:, : len(head)] = np.frombuffer(head, np.uint8)
    text[:, len(head) : len(head) + 32 : 2] = HEX[raw >> 4]
    text[:, len(head) + 1 : len(head) + 32 : 2] = HEX[raw & 15]
    text[:, len(head) + 32 :] = np.frombuffer(tail, np.uint8)
    return text.tobytes()


KINDS: dict[str, tuple[str, Callable[[np.random.Generator], bytes]]] = {
    "english": ("English, no hex", _english),
    "uuids": ("dashed UUIDs", _uuids),
    "sums": ("lower-case MD5 sums, rejected and counted", _sums),
    "long-runs": ("runs of a million hex digits", _long_runs),
    "no-lines": ("one line without an end", _no_lines),
    "sparse": ("every ID its own process, in log lines", _sparse),
    "dense": ("every ID its own process, nothing else", _dense),
}
FRESH = {"sparse", "dense"}  # every piece is new; of the others the same 16 pieces come again


def cached_text(kind: str, size: int) -> Path:
    """A text of that kind, of at least `size` bytes."""
    path = ROOT / ".cache" / "bench" / f"{kind}-{size}.log"
    if path.is_file():
        return path
    rng = np.random.default_rng(7)
    make = KINDS[kind][1]
    pieces = [] if kind in FRESH else [make(rng) for _ in range(16)]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        while file.tell() < size:
            file.write(pieces[file.tell() // PIECE % 16] if pieces else make(rng))
    unfinished.rename(path)
    return path

"""A large producer log, written at the speed of the disk: the input of the benchmarks. Judges and measures nothing.

    python -m benchmarks.make_log --lines 4000000 --out FILE

4,000,000 SendResult lines are 1.15 GB and hold 8,000,000 ids of 400 processes and 40 brokers. The same arguments give
the same bytes. Counters start anywhere and wrap; ids of one millisecond are in the order of their counters.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
BATCH = 200_000
START_MS = 19 * 86_400_000 + 10 * 3_600_000  # the 20th, 10:00, since the month began
PACE = 50  # lines a millisecond
LOADERS = (0x18B4AAC2, 0x14DAD5DC, 0x73D16E93, 0x63947C6B, 0x251A69D7)
HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)
LINE = (
    b"2026-11-DD HH:MM:SS,TTT INFO [send-NN] o.a.r.c.p.DefaultMQProducer - SendResult [sendStatus=SEND_OK, "
    b"msgId=UUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUU, offsetMsgId=OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO, "
    b"messageQueue=MessageQueue [topic=OrderPaid, brokerName=broker-BB, queueId=Q], queueOffset=FFFFFFFFFF]\n"
)
UNIQ = np.dtype([("ip", "u1", 4), ("pid", ">u2"), ("loader", ">u4"), ("elapsed", ">u4"), ("counter", ">u2")])
OFFSET = np.dtype([("ip", "u1", 4), ("port", ">u4"), ("offset", ">u8")])

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


def hex_digits(ids: NDArray[np.void]) -> Bytes:
    raw = ids.view(np.uint8).reshape(len(ids), ids.dtype.itemsize)
    digits = np.empty((len(ids), raw.shape[1] * 2), np.uint8)
    digits[:, 0::2] = HEX[raw >> 4]
    digits[:, 1::2] = HEX[raw & 15]
    return digits


def decimal(values: Ints, width: int) -> Bytes:
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return (values[:, None] // powers % 10 + ord("0")).astype(np.uint8)


def put(lines: Bytes, mark: bytes, digits: Bytes) -> None:
    at = LINE.index(mark)
    lines[:, at : at + len(mark)] = digits


def rank_in_group(group: Ints) -> Ints:
    """0, 1, 2 ... within each group, in the order of appearance."""
    order = np.argsort(group, kind="stable")
    sorted_group = group[order]
    starts = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]])
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.r_[starts, len(group)]))
    return rank


def write_log(path: Path, lines: int, processes: int = 400, brokers: int = 40, seed: int = 7) -> None:
    """The log, whole or not at all: it gets its name when the last line is written."""
    rng = np.random.default_rng(seed)
    ip = rng.integers(0, 256, (processes, 2))
    pid = rng.integers(2, 60_000, processes)
    loader = rng.choice(LOADERS, processes)
    counter = rng.integers(0, 65_536, processes)
    end_of_log = rng.integers(0, 10**12, brokers)
    begun = START_MS
    unfinished = path.with_suffix(".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with unfinished.open("wb") as file:
        for first in range(0, lines, BATCH):
            size = min(BATCH, lines - first)
            number = np.arange(first, first + size)
            process = rng.integers(0, processes, size)
            uniq = np.zeros(size, UNIQ)
            uniq["ip"][:, :2] = 10, 42
            uniq["ip"][:, 2:] = ip[process]
            uniq["pid"], uniq["loader"] = pid[process], loader[process]
            elapsed = begun + np.sort(rng.integers(0, BATCH // PACE, size))
            begun += BATCH // PACE
            uniq["elapsed"] = elapsed
            uniq["counter"] = (counter[process] + rank_in_group(process)) % 65_536
            counter += np.bincount(process, minlength=processes)
            broker = rng.integers(0, brokers, size)
            grown = rng.integers(200, 2000, size)
            offset = np.zeros(size, OFFSET)
            offset["ip"][:, :3] = 10, 42, 1
            offset["ip"][:, 3] = broker
            offset["port"] = 10_911
            offset["offset"] = physical = end_of_log[broker] + np.cumsum(grown)
            end_of_log += grown.sum()
            text = np.tile(np.frombuffer(LINE, np.uint8), (size, 1))
            put(text, b"U" * 32, hex_digits(uniq))
            put(text, b"O" * 32, hex_digits(offset))
            put(text, b"DD", decimal(elapsed // 86_400_000 + 1, 2))
            put(text, b"HH", decimal(elapsed // 3_600_000 % 24, 2))
            put(text, b"MM", decimal(elapsed // 60_000 % 60, 2))
            put(text, b"SS", decimal(elapsed // 1000 % 60, 2))
            put(text, b"TTT", decimal(elapsed % 1000, 3))
            put(text, b"NN", decimal(number % 16, 2))
            put(text, b"BB", decimal(broker, 2))
            put(text, b"Q]", np.c_[decimal(number % 8, 1), np.full(size, ord("]"), np.uint8)])
            put(text, b"F" * 10, decimal(1_000_000_000 + physical // 700, 10))
            file.write(text.tobytes())
    unfinished.rename(path)


def cached_log(lines: int) -> Path:
    """The log of that many lines, made once and kept beside the tools' caches."""
    path = ROOT / ".cache" / "bench" / f"log-{lines}.log"
    if not path.is_file():
        write_log(path, lines)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument("--processes", type=int, default=400)
    parser.add_argument("--brokers", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write_log(options.out, options.lines, options.processes, options.brokers, options.seed)
    print(f"{options.out}: {options.lines:,} lines, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

"""A scan of a large store, with a check of every CRC: medians of warm rounds in one Spark session.

    python -m benchmarks.store                       1 GiB of commit log in 4 files, 5 rounds
    python -m benchmarks.store --files 1 --rounds 3
    python -m benchmarks.store --groups 20           also the fates of all messages in 20 groups, and the ratio

The store is made once: the traffic of `make store`, laid one behind the other with places and process ids of its own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.make_log import ROOT

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
FILE = 256 << 20
QUEUE = 1_200  # messages of a queue in the traffic that is laid
_KEY = b"UNIQ_KEY\x010A1403"
_PID = len(b"UNIQ_KEY\x01") + 8  # where its digits stand behind the name
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)


def traffic(messages: int) -> tuple[bytes, list[int]]:
    """Records of a store, from offset 0 on, and where each begins."""
    from idcore.rocketmq.message import Host
    from idcore.rocketmq.store import CommitLog, Stored
    from idcore.simulate.append import Settings
    from idcore.simulate.broker import Broker
    from idcore.simulate.traffic import Traffic
    from idcore.simulate.writer import StoreWriter

    folder = ROOT / ".cache" / "bench" / "store-base"
    shutil.rmtree(folder, ignore_errors=True)
    with StoreWriter(folder, Settings(FILE, 600_000, 50_000, 200_000)) as writer:
        Traffic(Broker(writer, Host(bytes((10, 20, 0, 5)), 10911)), 1, AT, UTC).play(messages)
        end = writer.end
    starts = [step.offset for step in CommitLog(folder / "commitlog").walk() if isinstance(step, Stored)]
    raw = (folder / "commitlog" / ("0" * 20)).read_bytes()[:end]
    shutil.rmtree(folder)
    return raw, starts


def cached_store(files: int) -> Path:
    """The store, made when it is not there yet."""
    from idcore.base.layout import RECORD_HEADS
    from idcore.rocketmq.message import blank_record

    folder = ROOT / ".cache" / "bench" / f"store-{files}"
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "commitlog").mkdir(parents=True)
    raw, starts = traffic(20_000)
    places = np.array(starts, np.int64)
    span = RECORD_HEADS[False, False].span("physical_offset")
    keys = []
    at = raw.find(_KEY)
    while at >= 0:
        keys.append(at + _PID)
        at = raw.find(_KEY, at + 1)
    pids = np.array(keys, np.int64)
    copy = 0
    for number in range(files):
        with (folder / "commitlog" / f"{number * FILE:020d}").open("wb") as file:
            filled = 0
            while filled + len(raw) + 8 <= FILE:
                part = np.frombuffer(raw, np.uint8).copy()
                offsets = (places + number * FILE + filled).astype(">i8").view(np.uint8).reshape(-1, 8)
                part[places[:, None] + span.start + np.arange(8)] = offsets
                digits = np.array([copy >> shift & 15 for shift in (8, 4, 0)])
                part[pids[:, None] + 1 + np.arange(3)] = _HEX[digits]
                file.write(part.tobytes())
                filled += len(part)
                copy += 1
            file.write(blank_record(FILE - filled))
            file.truncate(FILE)
    (folder / "done").touch()
    return folder


def plant(store: Path, groups: int, anywhere: bool) -> None:
    """Offsets of so many groups in the queues of every topic: near the end, or anywhere."""
    from idcore.simulate.traffic import TOPICS

    table = {
        f"{topic}@group-{group}": {
            str(queue): (group * 97 + queue * 31) % QUEUE if anywhere else QUEUE - (group + queue) % 20
            for queue in range(4)
        }
        for topic in TOPICS
        for group in range(groups)
    }
    (store / "config").mkdir(exist_ok=True)
    (store / "config" / "consumerOffset.json").write_text(json.dumps({"offsetTable": table}))
    (store / "config" / "delayOffset.json").write_text('{"offsetTable":{1:800,2:800,3:800}}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--groups", type=int, default=0)
    asked = parser.parse_args()
    store = cached_store(asked.files)
    size = 0
    for path in sorted((store / "commitlog").iterdir()):
        size += len(path.read_bytes())  # into the page cache: nobody pays for the disk
    kinds = (None, False, True) if asked.groups else (None,)
    took: dict[bool | None, list[float]] = {kind: [] for kind in kinds}
    lacking: dict[bool | None, int] = {}
    summary: dict[str, Any] = {}
    for number in range(asked.rounds + 1):
        for kind in kinds:  # one beside the other: the machine may be busy
            if kind is not None:
                plant(store, asked.groups, kind)
            summary, seconds = timed(store, kind is not None)
            lacking[kind] = summary.get("undelivered", 0)
            if number:  # the first one starts Spark
                took[kind].append(seconds)
    middle = statistics.median(took[None])
    print(
        f"{size / 1e9:.2f} GB, {summary['offset']:,} records, {summary['ids']:,} IDs: {middle:.2f} s,"
        f" {size / middle / 1e9:.2f} GB/s (fastest {size / min(took[None]) / 1e9:.2f})"
    )
    for kind in kinds[1:]:
        times = [fates / alone for alone, fates in zip(took[None], took[kind], strict=True)]
        print(
            f"with the fates in {asked.groups} groups, {'anywhere' if kind else 'at the end'}:"
            f" {statistics.median(took[kind]):.2f} s, {statistics.median(times):.2f} times"
            f" ({min(times):.2f} to {max(times):.2f}); {lacking[kind]:,} messages that a group has not consumed"
        )


def timed(store: Path, with_fates: bool) -> tuple[dict[str, Any], float]:
    """The summary of a scan, and its seconds."""
    from idcore.spark import job

    wanted = job.wants_fates
    job.wants_fates = lambda options: with_fates and wanted(options)
    out = ROOT / ".cache" / "bench" / "store-out"
    shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    summary = job.scan([], out, job.ScanOptions(at=AT, store=str(store)))
    seconds = time.monotonic() - began
    job.wants_fates = wanted
    return summary, seconds


if __name__ == "__main__":
    main()

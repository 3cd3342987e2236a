"""Packed logs: a scan of each, Spark up, next to its own tool piped into ripgrep (or grep where there is none).

python -m benchmarks.packed                     1,000,000 lines in each packing, 3 rounds, medians
"""

from __future__ import annotations

import argparse
import gzip
import shlex
import shutil
import statistics
import struct
import subprocess
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import zstandard

from .make_log import ROOT, cached_log
from .scan import options

MEMBER = 1 << 20  # bytes of text in a member or frame of a file of many
BLOCK = 65_280  # and in a block of bgzf


def bgzf(text: bytes) -> bytes:
    """A block of the SAM specification, 4.1: a member of gzip that has its size in its header."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = packer.compress(text) + packer.flush()
    head = struct.pack("<4BL2BH2s2H", 31, 139, 8, 4, 0, 0, 255, 6, b"BC", 2, len(packed) + 25)
    return head + packed + struct.pack("<2L", zlib.crc32(text), len(text))


# Packing: the command that packs to standard output, or what packs a piece of so many bytes here; the one that unpacks.
PACKINGS: dict[str, tuple[str | tuple[Callable[[bytes], bytes], int], str]] = {
    "gzip": ("gzip -c", "zcat"),
    "gzip, many members": ((lambda text: gzip.compress(text, 6), MEMBER), "zcat"),
    "bgzf": ((bgzf, BLOCK), "zcat"),
    "zstd": ("zstd -q -c", "zstd -q -dc"),
    "zstd, many frames": ((zstandard.ZstdCompressor().compress, MEMBER), "zstd -q -dc"),
    "lz4": ("lz4 -q -c", "lz4 -q -dc"),
    "lz4, many frames": ((lz4.frame.compress, MEMBER), "lz4 -q -dc"),
    "bzip2": ("bzip2 -c", "bzip2 -dc"),
    "xz": ("xz -1 -c", "xz -dc"),
}
ENDINGS = {
    "gzip": "gz",
    "gzip, many members": "members.gz",
    "bgzf": "bgzf.gz",
    "zstd": "zst",
    "zstd, many frames": "frames.zst",
    "lz4": "lz4",
    "lz4, many frames": "frames.lz4",
    "bzip2": "bz2",
    "xz": "xz",
}


def cached(log: Path, packing: str) -> Path:
    """The packed log, made when it is not there yet."""
    path, pack = log.with_name(f"{log.name}.{ENDINGS[packing]}"), PACKINGS[packing][0]
    if path.exists():
        return path
    made = path.with_name(f"{path.name}.part")
    with made.open("wb") as out, log.open("rb") as text:
        if isinstance(pack, str):
            subprocess.run(pack.split(), stdin=text, stdout=out, check=True)
        else:
            while piece := text.read(pack[1]):
                out.write(pack[0](piece))
    return made.rename(path)


def scanned(path: Path) -> float:
    """Seconds of a scan."""
    from idcore.spark.job import scan

    out = ROOT / ".cache" / "bench" / "packed"
    shutil.rmtree(out, ignore_errors=True)
    begun = time.perf_counter()
    scan([str(path)], out, options(None))
    return time.perf_counter() - begun


def piped(path: Path, unpack: str) -> float:
    """Seconds of the packing's own tool and a search for runs of 32 hex digits."""
    rg = "rg --no-config --text --threads=1 --only-matching" if shutil.which("rg") else "grep --text -oE"
    begun = time.perf_counter()
    # grep stops at the first match where its output is /dev/null
    command = f"{unpack} {shlex.quote(str(path))} | LC_ALL=C {rg} '[0-9A-Fa-f]{{32}}' | cat > /dev/null"
    subprocess.run(["sh", "-c", command], check=True)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    log = cached_log(asked.lines)
    size = log.stat().st_size
    search = "ripgrep" if shutil.which("rg") else "grep"
    files = {"not packed": (log, "cat")} | {
        name: (cached(log, name), unpack) for name, (_, unpack) in PACKINGS.items() if shutil.which(unpack.split()[0])
    }
    for path, _ in files.values():
        scanned(path)  # starts Spark, and reads the file once
    print(f"{size / 1e9:.2f} GB of text in each, medians of {asked.rounds} rounds; GB/s of text\n")
    print(f"| packing | MB | scan, s | GB/s | its own tool and {search}, s | time, if the scan is 1 |")
    print("|---|---|---|---|---|---|")
    for name, (path, unpack) in files.items():
        rounds = [(scanned(path), piped(path, unpack)) for _ in range(asked.rounds)]
        ours, theirs = (statistics.median(each) for each in zip(*rounds, strict=True))
        megabytes = path.stat().st_size / 1e6
        print(
            f"| {name} | {megabytes:.0f} | {ours:.2f} | {size / ours / 1e9:.2f} | {theirs:.2f} | {theirs / ours:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

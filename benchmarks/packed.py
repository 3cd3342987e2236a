"""Packed logs: a scan of each, Spark up, next to its own tool piped into ripgrep (or grep where there is none).

python -m benchmarks.packed                     1,000,000 lines in each packing, 3 rounds, medians
"""

from __future__ import annotations

import argparse
import gzip
import shlex
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from .make_log import ROOT, cached_log
from .scan import options

MEMBER = 1 << 20  # bytes of text in a member of the file of many
# Packing: the command that packs to standard output, and the one that unpacks. None: this module packs it.
PACKINGS: dict[str, tuple[str | None, str]] = {
    "gzip": ("gzip -c", "zcat"),
    "gzip, many members": (None, "zcat"),
    "zstd": ("zstd -q -c", "zstd -q -dc"),
    "lz4": ("lz4 -q -c", "lz4 -q -dc"),
    "bzip2": ("bzip2 -c", "bzip2 -dc"),
    "xz": ("xz -1 -c", "xz -dc"),
}
ENDINGS = {"gzip": "gz", "gzip, many members": "members.gz", "zstd": "zst", "lz4": "lz4", "bzip2": "bz2", "xz": "xz"}


def cached(log: Path, packing: str) -> Path:
    """The packed log, made when it is not there yet."""
    path, command = log.with_name(f"{log.name}.{ENDINGS[packing]}"), PACKINGS[packing][0]
    if path.exists():
        return path
    made = path.with_name(f"{path.name}.part")
    with made.open("wb") as out, log.open("rb") as text:
        if command is None:
            while piece := text.read(MEMBER):
                out.write(gzip.compress(piece, 6))
        else:
            subprocess.run(command.split(), stdin=text, stdout=out, check=True)
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

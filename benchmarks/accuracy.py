"""How often ids are given to the right family of clients: `python -m benchmarks.accuracy`.

Labelled ids: those of 21 releases of the Java classes (`tests/vectors/reference-ids.jsonl`), public log lines whose
makers are known by hand, and ids as the sources of other clients write them (`idcore.simulate.incidents.clients`). Of
strings that only look like ids, and of single sends beside them, what a scan takes for an id is counted by kind.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from idcore.ids import find, identify
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate.incidents import clients
from idcore.simulate.incidents.simulated_cluster import Stage
from tests.findings.every_rule import find_all

VECTORS = Path(__file__).resolve().parents[1] / "tests" / "vectors"
# Codes of makers by family; a verdict that names two families is right for both, and never confident.
FAMILIES = {
    "go": {"go", "go_family"},
    "rust_messense": {"go", "go_family"},
    "elixir": {"elixir", "go_family"},
    "cpp": {"cpp", "cpp_or_lua"},
    "cpp_old": {"cpp_old"},
    "rust_mxsm": {"rust_mxsm"},
    "php": {"php"},
    "python": {"python_tt67wq"},
    "lua": {"lua", "cpp", "cpp_or_lua", "unknown"},
    "dotnet": {"dotnet", "cpp"},
    "uuid": {"dotnet_uuid"},
    "broker": {"broker"},
    "grpc": {"grpc", "grpc_java_old"},
    "grpc_cpp_old": {"grpc_cpp_old"},
    "grpc_rust": {"grpc_rust"},
}
# Lines of public-lines.jsonl whose ids are not Java's, and that which its author invented.
_PUBLIC = {
    25: "grpc",
    26: "grpc",
    32: "go",
    33: "go",
    34: "go",
    53: "cpp_old",
    54: "cpp_old",
    66: "cpp_old",
    67: "cpp_old",
    68: "cpp",
}
_INVENTED = {17}


class Labelled(NamedTuple):
    """An id, its label, and the family that made it."""

    text: str
    label: str | None
    family: str
    source: str


def reference() -> Iterator[Labelled]:
    """Ids of the official classes; offsetMsgIds with a port and an offset that a record can have."""
    for line in (VECTORS / "reference-ids.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == "uniq":
            yield Labelled(row["id"], None, "java", "reference")
        elif row["kind"] == "client_v1":
            yield Labelled(row["id"], None, "grpc", "reference")
        elif row["kind"] == "offset" and row["id"].isalnum() and row["port"] and 0 <= row["offset"] <= 1 << 44:
            yield Labelled(row["id"], None, "broker", "reference")


def public() -> Iterator[Labelled]:
    """Ids of public log lines, with the names in front of them."""
    lines = (VECTORS / "public-lines.jsonl").read_text(encoding="utf-8").splitlines()
    wanted = (VECTORS / "public-lines.expected.jsonl").read_text(encoding="utf-8").splitlines()
    for number, (line, known) in enumerate(zip(lines, wanted, strict=True), 1):
        kinds = {item["text"]: item["layout"] for item in json.loads(known)["ids"] if "layout" in item}
        for token in find(json.loads(line)["text"]):
            layout = kinds.get(token.text)
            if layout is None or number in _INVENTED:
                continue
            family = "broker" if layout.startswith("offset") else _PUBLIC.get(number, "java")
            yield Labelled(token.text, token.label, family, "public")


def made(count: int = 60) -> Iterator[Labelled]:
    """Ids as other clients' sources write them, each process with `count` ids."""
    dice = random.Random(5)
    zone = timezone(timedelta(hours=8))
    start = datetime(2026, 11, 20, 9, 50, tzinfo=zone)
    for name in (*clients.MAKERS, "dotnet"):
        for seed in range(10):
            stage = Stage(seed, start, zone)
            process = clients.producer(
                stage, name, f"10.{seed + 3}.7.{dice.randrange(1, 250)}", dice.randrange(2, 65_000)
            )
            for _ in range(count // 10):
                stage.step(4_000)
                yield Labelled(process.next_id(), "msgId", name, "made")
    for _ in range(count):
        loader = dice.randrange(1 << 32)
        tail = f"{dice.randrange(2_600_000_000):08X}{dice.randrange(999):04X}"
        lua = f"7F000001{dice.randrange(2, 60_000):04X}{loader:08X}{tail}"
        yield Labelled(lua, "msgId", "lua", "made")
        digits = f"{dice.randrange(1 << 128):032X}"
        yield Labelled(f"{digits[:12]}4{digits[13:16]}{dice.choice('89AB')}{digits[17:]}", "msgId", "uuid", "made")
        body = f"02FC00{dice.randrange(1 << 24):06X}{dice.randrange(1 << 16):04X}"
        seconds, sequence = 185_000_000 + dice.randrange(999_999), dice.randrange(1, 200)
        yield Labelled(f"01{body}{seconds:08X}{sequence:08X}", "messageId", "grpc", "made")
        turned = seconds.to_bytes(4, "little") + sequence.to_bytes(4, "little")
        yield Labelled(f"01{body}{turned.hex().upper()}", "messageId", "grpc_cpp_old", "made")
        rust = dice.randrange(2_592_000) * 1_000 % (1 << 32)
        text = f"01{body}{rust:08X}{sequence:08X}"
        yield Labelled(text[:-16] + text[-16:].lower(), "messageId", "grpc_rust", "made")


ZONE = timezone(timedelta(hours=8))
AT = datetime(2026, 11, 20, 12, tzinfo=ZONE)


def look_alike(kind: str, dice: random.Random, number: int) -> str:
    """A line with a string of one kind that has the digits of an id and is none."""
    digits = f"{dice.randrange(1 << 128):032X}"
    marks = f"{digits[13:16]}{dice.choice('89AB')}{digits[17:]}"
    ticks, ms = 0x1F0C9D2A3B4C5D6 + 70_000 * number, 1_764_000_000_000 + number // 30
    version_1 = f"{ticks & 0xFFFFFFFF:08X}{ticks >> 32 & 0xFFFF:04X}1{ticks >> 48:03X}9C4A02420A0B0C0D"
    return {
        "sign": f"pay notify sign={digits} ok",
        "md5, bare": f"stored {digits} ok",
        "etag": f'ETag: "{digits}"',
        "traceId": f"traceId={digits} GET /",
        "UUID without dashes": f"task {digits[:12]}4{marks} done",
        "UUID of version 1": f"task {version_1} done",
        "UUID of version 7": f"task {ms:012X}7{marks} done",
        "payment of 32 digits": f"paid 20261120{100_000_000 + number:09d}{number:015d}",
        "milliseconds and a counter": f"row {ms:012X}{number:020X}",
        "Oracle SYS_GUID": f"row {dice.randrange(1 << 40):010X}{number:06X}E0530100007F1A2B",
        "IV that counts": f"iv={number:032X}",
    }[kind]


LOOK_ALIKES = (
    "sign",
    "md5, bare",
    "etag",
    "traceId",
    "UUID without dashes",
    "UUID of version 1",
    "UUID of version 7",
    "payment of 32 digits",
    "milliseconds and a counter",
    "Oracle SYS_GUID",
    "IV that counts",
)


def look_alikes(kind: str, count: int, folder: Path) -> tuple[int, int, int, int]:
    """Of one input with ten single sends: false hosts, false processes, findings above info, sends that are lost."""
    dice = random.Random(kind)
    sent = [(AT - timedelta(hours=n + 1), f"10.61.{n}.7") for n in range(10)]
    lines = [look_alike(kind, dice, number) for number in range(count)]
    for number, (time, host) in enumerate(sent):
        elapsed = (time - time.replace(day=1, hour=0)) // timedelta(milliseconds=1)
        address = "".join(f"{int(part):02X}" for part in host.split("."))
        lines.insert(dice.randrange(len(lines)), f"sent msgId={address}{number + 2:04X}18B4AAC2{elapsed:08X}0000")
    path = folder / "log"
    path.write_text("\n".join(lines), encoding="utf-8")
    tables = scan_local([str(path)], month_rows(AT, ZONE))
    hosts = set(tables["hosts"]["host"].to_pylist())
    true = {host for _, host in sent}
    wrong = sum(host not in true for host in tables["processes"]["host"].to_pylist())
    told = sum(each.severity != "info" for each in find_all(tables, AT, ZONE))
    return len(hosts - true), wrong, told, len(true - hosts)


def verdict(item: Labelled) -> tuple[str, bool, bool]:
    """The client of the best interpretation; whether it is of the right family; whether it was confident."""
    best = identify(item.text, item.label).best
    if best is None:
        return "refused", False, False
    code = best.made_by.code
    right = code.startswith("java") if item.family == "java" else code in FAMILIES[item.family]
    open_to_doubt = code in ("cpp", "cpp_or_lua", "unknown", "go_family", "lua", "dotnet_uuid")
    return code, right, best.certainty == "certain" and not open_to_doubt


def measure() -> tuple[Counter[tuple[str, str, str]], list[str]]:
    """Counts of (source, family, right | wrong), and verdicts that were confident and wrong."""
    counts: Counter[tuple[str, str, str]] = Counter()
    confident = []
    for item in (*reference(), *public(), *made()):
        code, right, sure = verdict(item)
        counts[item.source, item.family, "right" if right else "wrong"] += 1
        if sure and not right:
            confident.append(f"{item.source} {item.family}: {item.text} is called {code}")
    return counts, confident


def table(counts: Counter[tuple[str, str, str]]) -> str:
    """The counts as a Markdown table."""
    lines = ["| IDs | family | right | of |", "|---|---|---|---|"]
    for source, family in sorted({(source, family) for source, family, _ in counts}):
        right, wrong = counts[source, family, "right"], counts[source, family, "wrong"]
        lines.append(f"| {source} | {family} | {right} | {right + wrong} |")
    return "\n".join(lines)


def share(counts: Counter[tuple[str, str, str]]) -> float:
    """The right ones among all."""
    return sum(n for key, n in counts.items() if key[2] == "right") / counts.total()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strings", type=int, default=100_000, help="strings of each kind that only look like ids")
    options = parser.parse_args()
    counts, confident = measure()
    print(table(counts))
    print(f"\nright family: {share(counts):.1%} of {counts.total():,}; confident and wrong: {len(confident)}")
    for line in confident[:20]:
        print(f"  {line}")
    print("\n| only looks like an id | strings | hosts | processes | findings above info | single sends lost of 10 |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in LOOK_ALIKES:
            figures = look_alikes(kind, options.strings, Path(folder))
            print(f"| {kind} | {options.strings:,} | {' | '.join(map(str, figures))} |")


if __name__ == "__main__":
    main()

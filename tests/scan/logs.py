"""Hostile logs with a seed and, where there is one, the truth planted in them. Refuses to know how they are read."""

from __future__ import annotations

import gzip
import hashlib
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

AT = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)  # "now" of every log here: 28 days of February behind it
Ids = list[tuple[int, int]]  # (elapsed, counter)
JAVA, GO = 0x18B4AAC2, 0
NOON = 9 * 86_400_000 + 36_000_000  # the 10th, 10:00


@dataclass(frozen=True)
class Log:
    """A log and what was planted: tracks or chains of a process by its pid."""

    name: str
    data: bytes
    tracks: dict[int, int] = field(default_factory=dict)
    chains: dict[int, int] = field(default_factory=dict)


# --- ids as text ------------------------------------------------------------------------------------------------------


def uniq(ip: int, pid: int, loader: int, elapsed: int, counter: int, go: bool = False) -> str:
    text = f"{ip:08X}{pid:04X}{loader:08X}{elapsed & 0xFFFFFFFF:08X}{counter & 0xFFFF:04X}"
    return text[:20] + text[20:].lower() if go else text


def uniq6(ip: int, pid: int, loader: int, elapsed: int, counter: int) -> str:
    return f"{ip:032X}{pid:04X}{loader:08X}{elapsed:08X}{counter & 0xFFFF:04X}"


def uniq_le(ip: int, loader: int, elapsed: int, counter: int) -> str:
    """The C++ clients 1.2.0 to 1.2.3: each field byte for byte reversed; pid >> 16 is 0, the counter one byte."""
    fields = (ip, 4), (0, 2), (loader, 4), (elapsed, 4), (counter & 0xFF, 2)
    return "".join(value.to_bytes(size, "little").hex().upper() for value, size in fields)


def offset(ip: int, port: int, place: int) -> str:
    return f"{ip:08X}{port:08X}{place:016X}"


def offset6(ip: int, port: int, place: int) -> str:
    return f"{ip:032X}{port:08X}{place:016X}"


def client(mac: int, pid: int, seconds: int, sequence: int) -> str:
    return f"01{mac:012X}{pid:04X}{seconds:08X}{sequence:08X}"


def send_result(unique: str, place: str) -> str:
    return (
        f"2026-03-10 10:00:00.000 INFO  [main] SendResult [sendStatus=SEND_OK, msgId={unique}, offsetMsgId={place}, "
        "messageQueue=MessageQueue [topic=Orders, brokerName=broker-a, queueId=3], queueOffset=0]"
    )


# --- the life of processes: (elapsed, counter) ------------------------------------------------------------------------


def live(
    r: random.Random,
    rate: float,
    count: int,
    start: int | None = None,
    elapsed: int = NOON,
    lost: float = 0.0,
    sampled: int = 0,
    late: int = 0,
) -> Ids:
    """One process: `count` logged ids at `rate` a second; messages lost or sampled, threads late by up to `late` ms."""
    now, counter = float(elapsed), r.randrange(65536) if start is None else start
    out = [(elapsed, counter & 0xFFFF)]
    while len(out) < count:
        ahead = 1
        if sampled:
            ahead += int(r.expovariate(1 / sampled))
        while lost and r.random() < lost:
            ahead += 1
        counter += ahead
        now += r.gammavariate(ahead, 1000 / rate)
        out.append((int(now - (r.random() * late if late else 0)), counter & 0xFFFF))
    return out


def after(ids: Ids, seconds: float) -> int:
    return int(max(e for e, _ in ids) + seconds * 1000)


def text_of(r: random.Random, ip: int, pid: int, loader: int, ids: Ids, go: bool = False) -> list[str]:
    return [f"{r.choice(('msgId=', 'UNIQ_KEY=', 'id ', ''))}{uniq(ip, pid, loader, e, c, go)}" for e, c in ids]


def joined(lines: list[str], end: str = "\n") -> bytes:
    return (end.join(lines) + end).encode()


# --- logs with planted chains and tracks ------------------------------------------------------------------------------


def honest(seed: int) -> Log:
    """Processes alone with their fingerprint: complete, gappy, sampled, late threads, wrapping. tracks 1, chains 1."""
    r = random.Random(seed)
    lives = {
        1: live(r, 100, 700, start=65400),
        2: live(r, 100, 700, lost=0.5),
        3: live(r, 1000, 700, lost=0.9),
        4: live(r, 20, 400, sampled=1000),
        5: live(r, 20, 400, sampled=300),
        6: live(r, 5000, 700, late=50),
        7: live(r, 20000, 700, late=50, lost=0.5),
        8: live(r, 1000, 700, late=5, start=65300),
        9: [(e // 1000 * 1000, c) for e, c in live(r, 300, 2000, lost=0.9)],
        10: live(r, 10, 300, sampled=20000),
    }
    lines = [line for pid, ids in lives.items() for line in text_of(r, 0x0A000001, pid, GO if pid == 9 else JAVA, ids)]
    return Log(f"honest {seed}", joined(lines), dict.fromkeys(lives, 1), dict.fromkeys(lives, 1))


def restarts(seed: int) -> Log:
    """Processes that came back under the same fingerprint, after a pause or at once."""
    r = random.Random(seed)
    lines, chains = [], {}
    for pid, (runs, count, pause, rate) in enumerate(
        [(2, 500, 30, 10), (4, 500, 30, 10), (3, 300, 2, 100), (2, 900, 0.02, 50), (4, 40, 60, 5), (7, 300, 600, 5)], 1
    ):
        ids: Ids = []
        for _ in range(runs):
            ids += live(r, rate, count, start=0, elapsed=after(ids, pause) if ids else NOON)
        lines += text_of(r, 0x0A000002, pid, JAVA, ids)
        chains[pid] = runs
    return Log(f"restarts {seed}", joined(lines), dict.fromkeys(chains, 1), chains)


def shared(seed: int) -> Log:
    """Two to four living processes under one fingerprint: interleaved, bursty, crossing, born together."""
    r = random.Random(seed)

    def lives(*several: Ids) -> Ids:
        return [one for ids in several for one in ids]

    def bursts(several: int, times: int) -> Ids:
        ids: Ids = []
        counters = [8192 * eighth + 99 for eighth in r.sample(range(8), several)]
        for turn in range(several * times):
            part = live(r, 20, 60, start=counters[turn % several], elapsed=after(ids, 1) if ids else NOON)
            counters[turn % several] = part[-1][1] + 1
            ids += part
        return ids

    planted = {
        1: (2, lives(live(r, 10, 400, start=1000), live(r, 10, 400, start=40000))),
        2: (3, lives(*(live(r, 50, 400, start=20000 * k) for k in range(3)))),
        3: (2, lives(live(r, 100, 900, start=5000), live(r, 10, 90, start=60000))),
        4: (2, bursts(2, 4)),
        5: (3, bursts(3, 4)),
        6: (2, lives(live(r, 10, 700, start=0), live(r, 10, 700, start=0))),
        7: (2, lives(live(r, 40, 1200, start=1000), live(r, 10, 300, start=1500))),
        8: (2, lives(live(r, 50, 500, start=300, lost=0.5), live(r, 50, 500, start=30000, lost=0.5))),
        9: (2, lives(live(r, 100, 900, start=65000), live(r, 90, 900, start=20000))),
        10: (4, lives(*(live(r, 20, 300, start=15000 * k + 7) for k in range(4)))),
    }
    lines = [line for pid, (_, ids) in planted.items() for line in text_of(r, 0xAC110002, pid, JAVA, ids)]
    return Log(f"shared {seed}", joined(lines), {pid: n for pid, (n, _) in planted.items()})


def any_counters(seed: int, count: int = 60) -> Log:
    """Processes whose counters do what they like: the rule must be followed to the letter even there."""
    r = random.Random(seed)

    def noise() -> Ids:
        n = r.choice((3, 20, 300))
        return [(r.randrange(r.choice((50, 5000, 2_000_000))), r.randrange(r.choice((200, 65536)))) for _ in range(n)]

    def walks() -> Ids:
        counters, now, out = [r.randrange(65536) for _ in range(r.randrange(1, 90))], 0, []
        for _ in range(r.choice((60, 600))):
            one = r.randrange(len(counters))
            counters[one] += r.choice((0, 1, 1, 1, 2, -1, -64, -65, 1024, 1025, 5))
            now += r.choice((0, 0, 1, 10, 999, 1000, 1001, 5000))
            out.append((now, counters[one] % 65536))
        return out

    def comings_and_goings() -> Ids:
        out: Ids = []
        starts = [r.choice((0, 1, 500, r.randrange(65536))) for _ in range(r.randrange(1, 5))]
        for turn in range(r.randrange(2, 40)):
            pause = r.choice((0, 0.5, 1.1, 30))
            begin = after(out, pause) if out else 0
            part = live(r, r.choice((1, 20, 500)), r.randrange(1, 60), starts[turn % len(starts)], begin)
            if r.random() < 0.7:
                starts[turn % len(starts)] = part[-1][1] + 1 + r.choice((0, 0, 0, 2000))
            out += part
        return out

    def together() -> Ids:
        out: Ids = []
        for _ in range(r.randrange(2, 6)):
            start = r.choice((0, 0, r.randrange(65536)))
            rate, lost, sampled = r.choice((10, 100, 1000)), r.choice((0.0, 0.5, 0.9)), r.choice((0, 0, 100, 300))
            out += live(r, rate, r.choice((5, 50, 300)), start, r.randrange(3000), lost, sampled)
        return out

    def many_restarts() -> Ids:
        out = live(r, 20, 3000, 30_000, 0)
        while after(out, 0) > 10_000 and len(out) < 5000:
            out += live(r, 5, r.randrange(3, 8), 0, r.randrange(150_000))
        return out

    kinds = (noise, walks, comings_and_goings, together, many_restarts)
    lines = []
    for pid in range(1, count + 1):
        ids = r.choice(kinds[: 5 if pid == 1 else 4])()
        if r.random() < 0.2:
            ids = [(e // 1000 * 1000, c) for e, c in ids]
        lines += text_of(r, 0x0A00000B, pid, JAVA, ids)
    r.shuffle(lines)
    return Log(f"any counters {seed}", joined(lines))


# --- logs with everything else ----------------------------------------------------------------------------------------


def other_hex(kind: float, r: random.Random) -> str:
    """A line with hex that is no id of a client, or that only nearly is one."""
    if kind < 0.66:
        digest = hashlib.md5(r.randbytes(8)).hexdigest()
        return f"md5 {digest} {digest.upper()} {uuid.UUID(bytes=r.randbytes(16))} {r.randbytes(16).hex()}"
    if kind < 0.7:
        run = "".join(r.choice("0123456789ABCDEF") for _ in range(r.randrange(31, 66)))
        return f"run {run} {run.lower()} x{run[:32]} {run[:32]}g"
    if kind < 0.74:
        label = r.choice(("msgId=", "UNIQ_KEY: '", 'MessageID":"', "keys=", "transactionId = ", "msgIds:    ", "id="))
        late = r.choice((2_678_400_000, 2_678_400_001, 2_678_401_000, 2_678_401_001, 3_000_000_000, 2**32 - 5))
        return label + uniq(0x0A000007, r.randrange(1, 9), r.choice((JAVA, 0x7FFF0001)), late, r.randrange(9))
    if kind < 0.78:
        return f"{'0' * 32} {'F' * 32} {offset(10, 0, 77)} {offset(10, 65535, (1 << 48) + r.randrange(2))}"
    if kind < 0.8:
        return f"02{client(1, 2, 3, 4)[2:]} {client(1, 2, 3, 4).lower()} {'a' * 32} {'1' * 32} {'A' * 56}"
    return r.choice(("the quick brown fox", "added face cafe deadbeef", "", "订单 已发送", "\t"))


def mixed(seed: int, lines: int = 1200) -> Log:
    """Lines as clients, consumers and brokers write them, and the hex of others between them."""
    r = random.Random(seed)
    place = 3 * (1 << 30) - 40_000
    counters: dict[int, int] = {}
    made: list[str] = []

    def fresh() -> str:
        pid = r.randrange(1, 7)
        counters[pid] = counters.get(pid, 65400 + pid) + r.choice((1, 1, 1, 1, 2, 3, 900))
        elapsed = NOON + len(made) * 37 + r.randrange(-6, 7)
        kind = r.random()
        if kind < 0.6:
            return uniq(0x0A000001 + pid % 3, pid, JAVA, elapsed, counters[pid])
        if kind < 0.7:
            return uniq(0xC0A80101, pid, GO, elapsed // 1000 * 1000, counters[pid], go=True)
        if kind < 0.8:
            return uniq6(0x20010DB8 << 96 | pid % 2, pid, 0x14DAD5DC, elapsed, counters[pid])
        if kind < 0.85:
            return uniq_le(0x7F000101, 0x12A6, elapsed, counters[pid])
        if kind < 0.95:
            return client(0x087190669A00 + pid, pid, 160_000_000 + len(made), len(made) * 3)
        return uniq(0x0A000009, 0, r.choice((0x1234, JAVA)), elapsed, counters[pid])

    def stored() -> str:
        nonlocal place
        place += r.randrange(200, 900)
        if r.random() < 0.1:
            return offset6(0xFE80 << 112 | 0xA, 10911, place)
        return offset(0x0B000001 + r.randrange(3), r.choice((10911, 10911, 30001)), place)

    for _ in range(lines):
        kind = r.random()
        if kind < 0.35:
            made.append(send_result(fresh(), stored()))
        elif kind < 0.42:
            n = r.choice((2, 3, 5, 70))
            made.append(send_result(",".join(fresh() for _ in range(n)), ",".join(stored() for _ in range(n))))
        elif kind < 0.5:
            properties = f"{{UNIQ_KEY={fresh()}, ORIGIN_MESSAGE_ID={fresh()}, WAIT=true}}"
            made.append(f"MessageExt [queueId=1, storeSize=213, msgId={stored()}, properties={properties}]")
        elif kind < 0.56:
            escape = r.choice(("%22", r"\u0022", r"\x22", r"\u003D", "%", r"\U0022", r"\x2", "%252", "x22", "u0022"))
            made.append(f"GET /q?id={escape}{fresh()}{r.choice(('%22', '', escape))} {escape}{stored()}")
        elif kind < 0.6:
            made.append(f"ids {fresh()},{stored()},{fresh()} {r.choice(made) if made else ''}"[:4000])
        else:
            made.append(other_hex(kind, r))
    return Log(f"mixed {seed}", joined(made))


def clock_and_month(seed: int) -> Log:
    """Ends of months of 28 to 31 days, a clock set back, elapsed that no month has."""
    r = random.Random(seed)
    day = 86_400_000
    lines = []
    for pid, days in enumerate(
        (0, 0.001, 9.4, 9.5, 27.99, 28.0, 28.5, 29.9, 30.0, 30.99, 31.0, 31.0 + 500 / day, 40), 1
    ):
        for k in range(5):
            elapsed = int(days * day) + k * 60_000
            lines.append(f"msgId={uniq(0x0A000003, pid, JAVA, elapsed, k)}")
            if r.random() < 0.3:
                lines.append(f"msgId={uniq(0x0A000003, pid, JAVA, 2**32 - 5 * (k + 1), 100 + k)}")
            lines.append(f"x {uniq_le(0xC0A80101 + pid, 0x12A6, elapsed, k)}")
            lines.append(f"x {uniq6(pid << 120 | 5, pid, 0x1234567, elapsed, k)} {offset(9, 9, k + pid * 99)}")
    r.shuffle(lines)
    return Log(f"clock {seed}", joined(lines))


def sparse(seed: int, count: int = 1500) -> Log:
    """Every id its own process."""
    r = random.Random(seed)
    return Log(
        f"sparse {seed}",
        joined(
            [
                uniq(r.getrandbits(32), r.randrange(1, 65536), r.getrandbits(31), r.getrandbits(31), r.getrandbits(16))
                for _ in range(count)
            ]
        ),
    )


def garbage(seed: int, size: int = 40_000) -> Log:
    """Random bytes with an id now and then; NUL, GBK and UTF-8 among them."""
    r = random.Random(seed)
    parts = [b"\x00" * 70, "消息".encode("gbk"), "é消息".encode()]
    while sum(map(len, parts)) < size:
        parts.append(r.randbytes(r.randrange(200)))
        parts.append(uniq(0x0A000005, 5, JAVA, NOON + len(parts), len(parts)).encode())
        parts.append(r.choice((b"\x00", "消".encode("gbk"), "é".encode(), b"\xff", b"\n", b"\r\n")))
    return Log(f"garbage {seed}", b"".join(parts))


def runs_of_hex(seed: int, size: int = 100_000) -> Log:
    """A run of hex digits as long as asked, ids right before and after it; then digits of both cases."""
    r = random.Random(seed)
    one = uniq(0x0A000006, 6, JAVA, NOON, 1)
    run = bytes(r.choice(b"0123456789ABCDEF") for _ in range(257)) * (size // 257 + 1)
    return Log(
        f"hex runs {seed}",
        one.encode() + b"\n" + run + b" " + one.encode() + b" zz " + run.lower()[:5000] + b"z" + one.encode(),
    )


def reshaped(log: Log) -> list[Log]:
    """The same ids in another dress."""
    lines = log.data.split(b"\n")
    dresses: list[tuple[str, Callable[[], bytes]]] = [
        ("crlf", lambda: log.data.replace(b"\n", b"\r\n")),
        ("no final newline", lambda: log.data.rstrip(b"\n")),
        ("no newline", lambda: b" | ".join(lines[: len(lines) // 3])),
        ("shuffled", lambda: b"\n".join(random.Random(1).sample(lines, len(lines)))),
        ("gzip", lambda: gzip.compress(log.data, mtime=0)),
    ]
    return [Log(f"{log.name}, {name}", make(), log.tracks, log.chains) for name, make in dresses]


def everything(seed: int) -> list[Log]:
    """One of each, small enough for the twin."""
    base = [mixed(seed), honest(seed), restarts(seed), shared(seed), clock_and_month(seed), sparse(seed), garbage(seed)]
    return [*base, runs_of_hex(seed), *reshaped(mixed(seed, 400)), Log("empty", b""), Log("one newline", b"\n")]

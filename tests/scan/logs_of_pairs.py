"""Made logs in which ids stand beside offset ids: once, again, with others. Imports nothing of what it tests."""

from __future__ import annotations

import random

from tests.scan.logs import JAVA, NOON, Log, client, joined, offset, offset6, send_result, uniq, uniq6, uniq_le


def copied(seed: int, lines: int = 700) -> Log:
    """Ids with one offset id, said by many; retries, batches, and whatever a line may hold of both kinds."""
    r = random.Random(seed)
    place = 5 << 30
    once: list[tuple[str, str]] = []
    made: list[str] = []

    def stored() -> str:
        nonlocal place
        place += r.randrange(200, 900)
        return r.choice(
            (
                offset(0x0B000001 + r.randrange(5), 10911, place),
                offset6(0xFE80 << 112 | r.randrange(2), 10911, place),
                offset(0x0A000001, 10911, r.choice((0, 1, 1 << 48, (1 << 48) - 1, r.getrandbits(48)))),
            )
        )

    def fresh() -> str:
        number = len(made)
        return r.choice(
            (
                uniq(0x0A000001 + r.randrange(3), r.randrange(1, 4), JAVA, NOON + number * 7, number),
                uniq6(0x20010DB8 << 96 | r.randrange(2), 3, 0x14DAD5DC, NOON + number, number),
                uniq_le(0x7F000101, 0x12A6, NOON + number, number),
                client(0x087190669A00 + r.randrange(3), 5, 160_000_000 + number, r.getrandbits(32)),
            )
        )

    for _ in range(lines):
        kind = r.random()
        if kind < 0.4 or not once:
            once.append((fresh(), stored()))
            made.append(send_result(*once[-1]))
        elif kind < 0.6:  # said again, by whom it was stored once
            one, where = r.choice(once)
            made.append(f"MessageExt [queueId=1, msgId={where}, properties={{UNIQ_KEY={one}, WAIT=true}}]")
        elif kind < 0.7:
            made.append(f"consumed {r.choice(once)[0]} {r.choice(('', r.choice(once)[0]))}")
        elif kind < 0.8:  # a retry
            one, where = r.choice(once)
            again = f"ORIGIN_MESSAGE_ID={where}, " if r.random() < 0.5 else ""
            made.append(f"MessageExt [msgId={stored()}, properties={{{again}UNIQ_KEY={one}, RECONSUME_TIME=2}}]")
        elif kind < 0.9:
            n, m = r.choice((1, 2, 3, 40)), r.choice((1, 2, 3, 40))
            ids = [r.choice((fresh, lambda: r.choice(once)[0]))() for _ in range(n)]
            made.append(send_result(",".join(ids), ",".join(stored() for _ in range(m))))
        else:
            one, where = fresh(), stored()
            made.append(" ".join(r.choice((one, where, r.choice(once)[r.randrange(2)])) for _ in range(r.randrange(9))))
    return Log(f"copied {seed}", joined(made))

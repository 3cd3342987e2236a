"""Made logs whose lines say when they were written, in every dress; months end in them. Imports nothing it tests."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

from tests.scan.logs import JAVA, Log, joined, offset, uniq, uniq6, uniq_le

HOUR = 3_600_000


def elapsed_in(sent: datetime, minutes_ahead: int) -> int:
    """Milliseconds since the month began in a producer's zone."""
    local = sent.astimezone(timezone(timedelta(minutes=minutes_ahead)))
    return int((local - local.replace(day=1, hour=0, minute=0, second=0, microsecond=0)) / timedelta(milliseconds=1))


def prefix(r: random.Random, at: datetime) -> str:
    """What a line opens with: a time of any kind, or what only looks like one."""
    kind = r.randrange(19)
    local = at.astimezone(timezone(timedelta(hours=8)))
    ms = f"{at.microsecond // 1000:03d}"
    return [
        f"{local:%Y-%m-%d %H:%M:%S},{ms} INFO ",
        f"{local:%Y-%m-%d %H:%M:%S}.{ms} [main] ",
        f"[{local:%Y/%m/%d %H:%M:%S}] ",
        f"{at:%Y-%m-%dT%H:%M:%S}.{ms}Z ",
        f"{at:%Y-%m-%dT%H:%M:%S}.{ms}456789Z stdout F {local:%Y-%m-%d %H:%M:%S},{ms} ",
        f"{local:%Y-%m-%dT%H:%M:%S}.{ms}+08:00 ",
        f"{local:%Y-%m-%d %H:%M:%S},{ms} +0800 ",
        f"{local:%Y-%m-%d %H:%M:%S} ",
        f"{'x' * r.choice((1, 17, 139, 140, 141, 142, 150))}{local:%Y-%m-%d %H:%M:%S}+08:00 ",
        f"12{local:%Y-%m-%d %H:%M:%S} {local:%Y-%m-%d %H:%M}:x {local:%Y-%m-%d %H:%M:%S}.1234567890 ",
        f"{r.choice(('2026-02-30', '2026-13-01', '2026-00-10'))} 10:00:00 ",
        f"{local:%Y-%m-%d %H:%M}:{r.choice(('61', '5x', ''))} ",
        f"{local:%Y-%m-%d %H:%M:%S},{ms}{r.choice(('Zulu', '+08', '+0860 ', '-9900', ' Z', '-03:30', '+99:00'))} ",
        "\x00" * 20,
        r.choice((f"<13>{local:%b %d %H:%M:%S} host ", f"I{local:%m%d %H:%M:%S}.{ms}456 7 x.go:1] ")),
        r.choice((f"{local:%d/%m %H:%M} ", f"{local.month}月{local.day}日 {local:%H:%M:%S} ")),
        f"{r.choice(('deliverTime=', '投递时间：', 'time='))}{local + timedelta(days=31):%Y-%m-%d %H:%M:%S} "
        if r.random() < 0.7
        else f"{r.choice(('OrderDeliveryService: ', '预发环境：', 'deliveredTime='))}{local:%Y-%m-%d %H:%M:%S} ",
        f"{local + timedelta(days=r.choice((400, 365))):%Y-%m-%d %H:%M:%S} ",
        f"{local:%Y-%m-%d} {half_day(r, local, ms)} ",
    ][kind]


def half_day(r: random.Random, local: datetime, ms: str) -> str:
    """A time of twelve hours, in every dress; a word that only begins as one; a zone behind it."""
    blank, latin, chinese = (
        r.choice(("", " ", "\u00a0", "\u202f")),
        f"{local:%p}",
        "上午" if local.hour < 12 else "下午",
    )
    half = r.choice((latin, latin.lower(), f"{latin[0].lower()}.m.", f"{latin[0].lower()}. m.", chinese, "PMS", "午前"))
    return f"{local:%I:%M:%S}{r.choice(('', f',{ms}'))}{blank}{half}{r.choice(('', ' +0800', 'Z'))}"


def dated(seed: int, lines: int = 500) -> Log:
    """Processes of several zones over the end of a month; prefixes of all kinds, born timestamps, traps."""
    r = random.Random(seed)
    zones = {pid: r.choice((0, 480, 480, -210, 345, 60, -720, 840, 495)) for pid in range(1, 12)}
    begun = datetime(2026, 1, 31, 12, tzinfo=UTC) + timedelta(hours=r.randrange(-3, 30))
    counters: dict[int, int] = {}
    made = []

    def fresh(sent: datetime, pid: int) -> str:
        counters[pid] = counters.get(pid, 60_000) + 1
        elapsed = elapsed_in(sent, zones[pid])
        if pid == 9:
            return uniq_le(0x7F000101, 0x12A6, min(elapsed + 86_400_000, 32 * 86_400_000), counters[pid])
        if pid == 10:
            return uniq6(0x20010DB8 << 96, 7, JAVA, elapsed, counters[pid])
        return uniq(0x0A000001 + pid % 2, pid, JAVA, elapsed, counters[pid])

    for number in range(lines):
        sent = begun + timedelta(seconds=number * 173, milliseconds=r.randrange(1000))
        pid = r.randrange(1, 12)
        one, where = fresh(sent, pid), offset(0x0B000001 + pid % 2, 10911, number * 1000)
        late = sent + timedelta(seconds=r.choice((0, 0, 0, 0.05, 3, 4000, 9e5)))
        front = r.choice(
            (
                prefix(r, late),
                prefix(r, late),
                f"{late.astimezone(timezone(timedelta(hours=8))):%Y-%m-%d %H:%M:%S},000 ",
                "",
            )
        )
        born = int(sent.timestamp() * 1000) + r.choice((0, 0, 0, 1, -3, 999, 1001, 40_000_000, 700_000_000))
        kind = r.randrange(8)
        if kind < 3:
            other = sent.astimezone(timezone(timedelta(minutes=zones[pid]))) + timedelta(days=r.choice((0, 0, 0, 31)))
            due = r.choice(("", "", f" at {other:%Y-%m-%d %H:%M:%S}", f" at {sent:%Y/%m/%dT%H:%M:%S}.000Z ok"))
            made.append(f"{front}SendResult [msgId={one}, offsetMsgId={where}]{due}")
        elif kind < 5:
            mark = r.choice(
                ("bornTimestamp=", "bornTimestamp=", '"born_timestamp": ', "BORNTIMESTAMP :", "bornTimestamp")
            )
            made.append(f"{front}MessageExt [{mark}{born}, msgId={where}, properties={{UNIQ_KEY={one}}}]")
        elif kind == 5:
            again = r.choice((born, born + 1))
            made.append(f"{front}turn {one} return bornTimestamp={born} bornTimestamp={again}{r.choice(('', '12'))}")
        elif kind == 6:
            signs = "born" * r.randrange(40), "rn" * r.randrange(99)
            made.append(f"{front}{signs[0]} {fresh(sent, r.randrange(1, 12))} and {one} {signs[1]}")
        else:
            filler = "-" * r.choice((0, 10, 65_300, 65_600) if r.random() < 0.1 else (0, 9))
            made.append(f"{front}{filler} {one} {where}")
    return Log(f"dated {seed}", joined(made))


STYLES = (
    "[%d/%b/%Y:%H:%M:%S +0800]",
    '10.0.0.9 - - [%d/%b/%Y:%H:%M:%S +0800] "GET /x HTTP/1.1" 200 ',
    "%b %d %H:%M:%S host app[12]:",
    "<134>%b %d %H:%M:%S",
    "%b %d %H:%M:%S host app: 10:20:30.123 [main]",
    "%b %d %H:%M:%S PM",
    "%a %b %d %H:%M:%S CST %Y",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%b %d %H:%M:%S +0800 %Y",
    "%d-%b-%Y %H:%M:%S.123",
    "%Y%m%d %H:%M:%S.123",
    "x_%Y%m%d %H:%M:%S",
    "%Y%m%d%H%M%S",
    "%Y%m%d%H%M%S123",
    "%m-%d %H:%M:%S.123",
    "%d/%m %H:%M:%S",
    "%d.%m. %H:%M:%S",
    "I%m%d %H:%M:%S.123456 12 a.cc:1]",
    "[%m/%d/%y %H:%M:%S:123 CST]",
    "%b %d, %Y %I:%M:%S %p com.x.Y send",
    "%b %d, %I:%M:%S %p",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%Y.%m.%d %H:%M:%S",
    "%Y年%m月%d日 %H:%M:%S",
    "%I:%M %p · %b %d, %Y",
    "%H:%M:%S,%d/%m/%Y",
    "%H:%M:%S.123 [main]",
    "[thread-12] %H:%M:%S",
    "deliverTime=%Y%m%d %H:%M:%S",
    "createTime=%b %d %H:%M:%S",
    '{"ts":%s.123,"level":"info"}',
    '{"time":%s123,',
    "%s",
    "INFO",
)
BEHIND = (
    " at 2026-03-04 10:31:12",
    ' {"createTime":"2025-01-02 03:04:05"}',
    " 10:00:01",
    " ts=1772620272123",
    " 12/03/2026 10:11",
    " Mar 4 10:31:12",
    " id 20260304103112",
    " bornTimestamp=1772620272123",
    " · Mar 11, 2026",
    " 2026",
    " x CST 2026",
)


def stamped(seed: int, lines: int = 60) -> Log:
    """Lines of one to three styles, over the end of a month or within it, written at once or later; traps behind."""
    r = random.Random(seed)
    styles = r.sample(STYLES, r.choice((1, 1, 2, 3)))
    minutes, late = r.choice((0, 480, -300)), r.choice((0, 0, 5, 40, 65, 300, 90_000))
    sent = datetime(*r.choice(((2025, 12), (2026, 1), (2026, 2))), 1, tzinfo=UTC) + timedelta(
        seconds=r.choice((r.randrange(2_000_000), r.randrange(-40, 40)))
    )
    made = []
    for number in range(lines):
        sent += timedelta(milliseconds=r.randrange(1, r.choice((50, 5_000, 600_000))))
        zone = timezone(timedelta(minutes=minutes))
        local = sent.astimezone(zone) + timedelta(seconds=r.random() * late)
        front = local.strftime(r.choice(styles).replace("%s", str(int(local.timestamp()))))
        one = uniq(0x0A000001, r.randrange(1, 4), JAVA, elapsed_in(sent, minutes), number)
        trap, kind = r.choice(("", "", *BEHIND)), r.randrange(20)
        if kind < 16:
            more = r.choice(("", "", f", {offset(0x0B000001, 10911, number * 1000)}", f", {one[:-4]}FFFF"))
            made.append(f"{front} msgId={one}{more}{trap}")
        elif kind == 16:
            made += [f"{front} consume failed", "    at a.b.C(D.java:12)", f"  msgId={one}"]
        elif kind == 17:
            made.append(f"{front} nothing here")
        elif kind == 18:
            made += [f"msgId: {one}", f"  time: {front}", "  n: 1"]
        else:
            made.append(one)
    return Log(f"stamped {seed}", joined(made))


def of_wrong_clocks(seed: int, processes: int = 40) -> Log:
    """Processes whose clocks are hours or days off from those of who writes the lines, also over month ends."""
    r = random.Random(seed)
    lines = []
    for pid in range(1, processes + 1):
        begun = datetime(2026, r.choice((1, 2)), r.choice((1, 2, 12, 27, 28)), r.randrange(24), tzinfo=UTC)
        off = timedelta(hours=r.choice((-80, -24, 13.9, 14.1, 24, 71.9, 72.1, r.uniform(-100, 100))))
        style = r.choice(("%Y-%m-%d %H:%M:%S,000 got", "%Y-%m-%dT%H:%M:%SZ", "%d/%b/%Y:%H:%M:%S"))
        for number in range(r.randrange(1, 5)):
            sent = begun + timedelta(seconds=r.randrange(4_000))
            one = uniq(0x0A000000 + pid, pid, JAVA, elapsed_in(sent, 0), number)
            lines.append(f"{sent - off:{style}} msgId={one}")
    r.shuffle(lines)
    return Log(f"of wrong clocks {seed}", ("\n".join(lines) + "\n").encode())


def over_month_ends(seed: int, processes: int = 60) -> Log:
    """Processes of which lines date the end of a month only: other IDs are of its beginning, or of the morning after,
    with counters that go on from either side, or from none."""
    r = random.Random(seed)
    ahead, lines = timezone(timedelta(hours=8)), []
    for pid in range(1, processes + 1):
        begun = datetime(2026, r.choice((1, 1, 2)), 1, tzinfo=ahead)
        length = (31 if begun.month == 1 else 28) * 24 * HOUR
        first = length - r.choice((3, 30, 60, 300, 500)) * HOUR
        counter = r.randrange(1 << 16)
        made = [(min(first + r.randrange(2 * HOUR), length - 1), counter + n, True) for n in range(r.randrange(1, 4))]
        near = r.choice((9 * HOUR, 60 * HOUR, 250 * HOUR, length))
        side = r.choice((5, 9000, -20, -9000))
        made += [
            (r.randrange(near), counter + r.choice((side, side, 1 << 15)) + n, False) for n in range(r.randrange(4))
        ]
        for elapsed, number, is_dated in made:
            one = uniq(0x0A000000 + pid, pid, JAVA, elapsed, number)
            born = int(begun.timestamp() * 1000) + elapsed
            at = datetime.fromtimestamp(born / 1000, ahead)
            dress = r.choice(("{at:%Y-%m-%d %H:%M:%S} got msgId={one}", "UNIQ_KEY={one}, bornTimestamp={born}"))
            lines.append((dress if is_dated else "{one} 2 0").format(at=at, one=one, born=born))
    r.shuffle(lines)
    return Log(f"over month ends {seed}", ("\n".join(lines) + "\n").encode())

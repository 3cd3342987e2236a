"""Java as referee: the real MessageClientIDSetter and MessageDecoder of three releases on random input."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest

from idcore.ids import Clock, OffsetId, UniqId, identify
from idcore.ids.clock import DAY_MS, from_ms, month_start, months, to_ms
from idcore.ids.line_time import uniq_sent
from idcore.ids.model import host_text
from idcore.simulate.generate import Generator
from tests.java import jars
from tests.java.referee import Referee

ZONES = ("UTC", "Asia/Shanghai", "America/New_York", "Asia/Kolkata")
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="session", params=[(r, z) for r in jars.RELEASES for z in ZONES], ids="-".join)
def referee(
    request: pytest.FixtureRequest, classes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Referee]:
    release, zone = request.param
    asked = Referee(release, zone, tmp_path_factory.mktemp("home"), classes[release])
    yield asked
    asked.close()


def random_host(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return host_text(rng.randbytes(4))
    # not a mapped IPv4 address: Java turns those into four bytes
    return host_text(b"\x20\x01" + rng.randbytes(14))


def test_ids_that_java_makes_are_ours_byte_for_byte(referee: Referee) -> None:
    (pid_text, loader, zone), *made = referee.ask(["process"] + ["make"] * 200)
    assert zone == str(referee.zone)
    first = identify(made[0][0]).best
    assert first is not None
    assert isinstance(first.id, UniqId)
    now = [0]
    ours = Generator(lambda: now[0], referee.zone, first.id.ip, int(pid_text), int(loader, 16))
    assert made[0][0].startswith(ours.prefix)
    generator: Generator | None = None
    for text, before, after in made:
        reading = identify(text).best
        assert reading is not None
        found = reading.id
        assert isinstance(found, UniqId)
        assert found.pid == int(pid_text) & 0xFFFF
        assert found.loader_text == loader
        sent, _ = uniq_sent(found, Clock(from_ms(int(after)), referee.zone, "given"))
        assert sent is not None
        instant = to_ms(sent.at)
        assert int(before) <= instant <= int(after)
        now[0] = instant
        generator = generator or Generator(lambda: now[0], referee.zone, found.ip, int(pid_text), int(loader, 16))
        assert generator.create_uniq_id() == text


def test_java_reads_the_ids_that_we_make(referee: Referee) -> None:
    rng = random.Random(f"{referee.release}{referee.zone}")
    ((_, _, at),) = referee.ask(["uniq " + "7F000001" * 4])
    expected, questions = [], []
    for _ in range(400):
        # at least a minute from now: Java's own clock runs on while it answers
        instant = int(at) - rng.randrange(60_000, 27 * DAY_MS)
        host = host_text(rng.randbytes(4))
        pid, loader, counter = rng.randrange(65_536), rng.randrange(1 << 32), rng.randrange(65_536)
        made = Generator(lambda: instant, referee.zone, host, pid, loader, counter=counter)  # noqa: B023
        questions.append("uniq " + made.create_uniq_id())
        expected.append((host, instant))
    overshot = 0
    for question, (host, instant), answer in zip(questions, expected, referee.ask(questions), strict=True):
        assert answer[0] == host
        now = from_ms(int(answer[2]))
        found = UniqId.from_hex(question.split()[1])
        sent, _ = uniq_sent(found, Clock(now, referee.zone, "given"))
        assert sent is not None
        if to_ms(sent.at) != int(answer[1]):
            # Java steps back one month at most, and runs past the end of a short one
            last = months(now, referee.zone, 2)[1]
            assert found.elapsed >= last.length_ms
            overshot += 1
            continue
        assert to_ms(sent.at) == instant
    assert overshot < 400


def test_offset_ids_both_ways(referee: Referee) -> None:
    rng = random.Random(f"offset{referee.release}{referee.zone}")
    cases = []
    for _ in range(400):
        host = random_host(rng)
        if ":" in host and referee.release == "4.5.2":
            continue  # IPv4 only
        offset = rng.choice([0, 1, (1 << 30) - 1, 1 << 30, -1, (1 << 63) - 1, rng.randrange(1 << 48)])
        cases.append((host, rng.choice([0, 1, 10911, 65535, rng.randrange(65536)]), offset))
    ours = [str(OffsetId.of(*case)) for case in cases]
    theirs = referee.ask([f"create {host} {port} {offset}" for host, port, offset in cases])
    assert [answer[0] for answer in theirs] == ours
    for text, (host, port, offset), answer in zip(
        ours, cases, referee.ask([f"offset {text}" for text in ours]), strict=True
    ):
        found = OffsetId.from_hex(text)
        assert (found.host, found.port, found.physical_offset) == (host, port, offset)
        # Java writes sixteen bytes without the shortest form's double colon
        spelled = host if ":" not in host else host_text(found.ip)
        assert answer[1:] == [str(port), str(offset)]
        assert host_text(bytes(found.ip)) == spelled


def test_what_java_refuses_as_an_offset_id_is_refused(referee: Referee) -> None:
    rng = random.Random(f"bad{referee.release}{referee.zone}")
    texts = [rng.randbytes(16).hex().upper() for _ in range(100)]
    texts += ["7F0000010001555D0000000000000000", "7F0000010000555D00000000000000", "00"]
    for text, answer in zip(texts, referee.ask([f"offset {text}" for text in texts]), strict=True):
        reading = identify(text).best
        if answer[0] == "!":
            assert reading is None or reading.kind != "offset"
        elif reading is not None and reading.kind == "offset":
            assert answer[1] == str(OffsetId.from_hex(text).port)


def test_months_begin_where_javas_calendar_says(classes: dict[str, Path], tmp_path: Path) -> None:
    referee = Referee(jars.RELEASES[-1], "UTC", tmp_path, classes[jars.RELEASES[-1]])
    rng = random.Random("months")
    # Midnights that come twice or never, and a sample of all; up to 2021, where every zone data set agrees.
    cases = [
        ("America/Havana", 2020, 11),
        ("America/Havana", 2015, 11),
        ("America/Goose_Bay", 2009, 11),
        ("America/Managua", 2006, 10),
        ("Asia/Gaza", 2004, 10),
        ("America/St_Johns", 2009, 11),
        ("Africa/Cairo", 2014, 8),
        ("Africa/Casablanca", 2008, 6),
        ("America/Asuncion", 1995, 10),
        ("Antarctica/Vostok", 1994, 11),
        ("Pacific/Apia", 2011, 12),
    ]
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    cases += [(rng.choice(names), rng.randrange(1995, 2022), rng.randrange(1, 13)) for _ in range(3_000)]
    answers = referee.ask([f"month {zone} {year} {month}" for zone, year, month in cases])
    referee.close()
    wrong = [
        (case, answer)
        for case, answer in zip(cases, answers, strict=True)
        if answer[0] != "?" and int(answer[0]) != month_start(case[1], case[2], ZoneInfo(case[0]))
    ]
    assert not wrong
    assert sum(answer[0] != "?" for answer in answers) > 2_500

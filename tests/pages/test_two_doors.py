"""What two places say of one id or process is the same: overview and findings, lists and links, cards and exports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idcore.answers import finding_words
from idcore.answers.findings import all_rules, clocks
from idcore.base import catalogue
from idcore.ids import Clock, describe, find, identify, judge
from idcore.ids.clock import parse_zone
from idcore.ids.dating import dates_of
from idcore.ids.describe import DOUBTS, when
from idcore.ids.identify import identify_alone
from idcore.ids.origins import BrokerAddress, Fingerprint
from idcore.intake import intake
from idcore.presentation.decoding import Decoding
from idcore.presentation.html import cards, compared, fates
from idcore.presentation.offline import OfflineReader, answer
from idcore.presentation.triage import largest, processes, sentences
from idcore.presentation.triage.compared import Compared
from idcore.runs.run_times import linked
from idcore.runs.runs import Run, Runs
from idcore.scan.compare import Difference
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.scan.schemas import CLOCK_MARKS
from idcore.simulate.incidents import Incident
from pages.parts.view import View
from tests.pages.conftest import reader
from tests.scan import logs
from tests.test_run_times import scanned

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
CHINA = parse_zone("+08:00")
IMPOSSIBLE = "0A0A0A0A30391B9871B4F00000000001"  # only a name in front makes it a msgId
CLIENT = "01087190669A000007%08X00000003"


# ---- overview and findings


def judged(path: Path, zone: Any = UTC) -> tuple[pa.Table, list[all_rules.Finding]]:
    """The processes of a log with their marks, as a scan writes them, and its findings."""
    tables = scan_local([str(path)], month_rows(AT, zone))
    scan = all_rules.Scan(all_rules.Rows(tables, {}, lambda: None), AT, zone)
    found = all_rules.of_groups(scan, all_rules.of_ids(scan))
    return clocks.marked(tables["processes"], scan.clocks), found


@pytest.mark.parametrize("name", ["clock_back/two_seconds", "clock_back/an_hour", "shared_fingerprint/two_containers"])
def test_the_overview_counts_what_findings_say(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(
        "\n".join(
            Incident(name.split("/")[0], name.split("/")[1], 1, datetime(2026, 11, 20, 9, tzinfo=CHINA), CHINA).lines()
        )
    )
    table, found = judged(tmp_path / "x.log", CHINA)
    rows, totals = table.to_pandas(), largest.Totals()
    totals.add(table)
    subjects = {
        code: {one.subject for one in found if one.code == code} for code in ("clock_back", "shared_fingerprint")
    }
    assert sum(map(len, subjects.values())) > 0
    assert totals.shared == processes.several(rows).sum() == len(subjects["shared_fingerprint"])
    assert totals.uncounted == (~processes.countable(rows)).sum() == len(subjects["clock_back"])
    for row in rows.to_dict("records"):
        said = sentences.process(row, reader())
        assert ("clock was set back" in said) == (not processes.is_countable(row))
        assert ("several processes share this fingerprint" in said) == processes.is_several(row)
    pq.write_table(table, tmp_path / "part-00000.parquet")
    assert vars(largest.totals(tmp_path)) == vars(totals)


def test_marks_of_clocks_are_put_into_the_files_of_large_scans(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(logs.shared(1).data)
    table, _ = judged(tmp_path / "x.log")
    whole, other = tmp_path / "0.parquet", tmp_path / "1.parquet"
    for path in (whole, other):
        pq.write_table(table if path is whole else table.slice(0, 0), path, row_group_size=2)
    mine = table.select(["layout", "host", "pid", "loader"]).slice(1, 1)
    for name in CLOCK_MARKS:
        mine = mine.append_column(name, pa.array([name == "clock_back"]))
    before = other.stat().st_mtime_ns
    clocks.mark_files([whole, other], [mine])
    marked = pq.read_table(whole)
    assert marked["clock_back"].to_pylist() == [at == 1 for at in range(len(table))]
    assert marked.drop(list(CLOCK_MARKS)).equals(table.drop(list(CLOCK_MARKS)))
    assert other.stat().st_mtime_ns == before, "a file without such a process stays as it is"


def test_marks_of_clocks_end_between_groups_when_asked(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(logs.shared(1).data)
    table, _ = judged(tmp_path / "x.log")
    marks = table.select(["layout", "host", "pid", "loader", *CLOCK_MARKS])
    pq.write_table(table, path := tmp_path / "0.parquet", row_group_size=1)
    checks: list[int] = []

    def check() -> None:
        checks.append(1)
        if len(checks) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        clocks.mark_files([path], [marks.slice(0, 1), marks.slice(1)], check)
    assert len(table) >= 2 and pq.read_table(path).equals(table), "and no file is marked in part"


def test_a_new_month_that_no_line_shows_is_neither_a_second_process_nor_a_restart(tmp_path: Path) -> None:
    row = {"layout": "uniq_v4", "tracks": 2, "chains": 2, "one_counter": True, "months_mixed": False}
    assert processes.is_countable(row) and not processes.is_several(row)
    assert processes.is_several(row | {"one_counter": False})
    assert processes.is_several({"layout": "uniq_v4", "tracks": 2}), "of a scan of an older version"


def test_producers_say_which_clients_they_leave_out() -> None:
    summary = {"clients": 3, "client": 40}
    for lang, said in (("en", "Besides, **3 processes** with 5.x msgIds"), ("zh", "另有 **3 个进程** 使用 5.x msgId")):
        assert said in sentences.producers(largest.Totals(), 0, reader(UTC, lang), None, summary)
        assert said[:4] not in sentences.producers(largest.Totals(), 0, reader(UTC, lang), None, {"clients": 0})


# ---- lists and links


@pytest.mark.parametrize(
    "text", [f"msgId={IMPOSSIBLE}", f"msgId={IMPOSSIBLE.lower()}", "offsetMsgId=0A0A0A0A0000000700000000000004D2"]
)
def test_a_link_reads_an_id_as_the_list_that_it_is_in(text: str) -> None:
    (item,) = intake.read([("x.log", text)], case="any").found
    carried = cards.anatomy_params(item, Clock(AT, UTC))
    verdict, token = linked(str(carried["id"]), {key: one for key, one in carried.items() if one}, Runs())
    assert verdict.best is not None and item.verdict.best is not None
    assert (verdict.best.id, verdict.best.certainty) == (item.verdict.best.id, item.verdict.best.certainty)
    assert token.label == text.partition("=")[0]


def test_a_link_from_a_scan_reads_an_id_that_the_scan_has(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert identify(IMPOSSIBLE).best is None and linked(IMPOSSIBLE, {}, Runs())[0].best is None
    monkeypatch.setattr(Runs, "open", lambda *_: run)
    runs = Runs(run.path.parent)
    other = IMPOSSIBLE.replace("0A0A0A0A", "0A0A0A0B")
    assert linked(IMPOSSIBLE, {"run": run.name}, runs)[0].best is not None
    assert linked(other, {"run": run.name}, runs)[0].best is None, "nor is every text an ID because a scan is open"


def test_the_page_without_a_server_carries_the_name_along() -> None:
    view = OfflineReader(catalogue.words("en"), UTC)
    (item,) = intake.read([("", f"a msgId={IMPOSSIBLE} b")]).found
    address = urlsplit(view.href("anatomy", **cards.anatomy_params(item, Clock(AT, UTC)))).fragment
    (text,) = parse_qs(address)["id"]
    assert IMPOSSIBLE in answer(text, "en", "UTC", int(AT.timestamp() * 1000))["csv"]
    assert view.href("anatomy", id=IMPOSSIBLE) == f"#id={IMPOSSIBLE}"


# ---- one id and an open scan


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A scan of a log whose process is at +08:00, and of an id whose elapsed no month has."""
    line = f"2026-11-20 09:00:00,216 SendResult [sendStatus=SEND_OK, msgId={IMPOSSIBLE}]\n"
    return scanned(f"bornTimestamp=1793376000216 UNIQ_KEY=AC110001473C7D4991AD9A7EC8D80001\n{line}", tmp_path)


def test_an_id_alone_has_the_time_of_the_open_scan(run: Run) -> None:
    text = "AC110001473C7D4991AD9A7EC8D80007"  # another one of that process
    here = Decoding([intake.Source(intake.PASTED, text.encode())], unread=True)
    here.read_now()
    clock = Clock(datetime(2026, 11, 23, tzinfo=UTC), parse_zone("-03:30"), "given")

    def shown() -> tuple[str, str | None]:
        (item,) = here.intake.found
        assert item.verdict.best is not None
        sent, _ = when(item.verdict.best, item.token, here.dating(clock))
        assert sent is not None
        return sent.at.astimezone(UTC).isoformat(timespec="milliseconds"), sent.zone_source

    plain = shown()
    assert plain[1] == "given"
    here.agree(run)
    assert shown() == ("2026-10-30T16:00:00.216+00:00", "linked") and set(here.dated_by(clock)) == {"linked"}
    here.agree(None)
    assert shown() == plain, "the scan is closed"


# ---- what is certain


@pytest.mark.parametrize(
    ("seconds", "certainty", "reason"),
    [(185_000_000, "certain", None), (400_000_000, "likely", "time_to_come"), (185_870_000, "certain", None)],
)
def test_a_time_to_come_is_not_certain(seconds: int, certainty: str, reason: str | None) -> None:
    clock = Clock(AT, UTC)
    row = describe(identify(CLIENT % seconds, "msgId"), None, clock)
    assert row["certainty"] == certainty and (reason is None or reason in row["why_codes"])
    (item,) = intake.read([("", f"msgId={CLIENT % seconds}")]).found
    assert reader().words(f"certainty.{certainty}") in cards.card(item, reader(), clock)


def test_a_time_before_rocketmq_is_not_certain() -> None:
    born = 1_293_811_200_000  # 2011-01-01 in +08:00
    (token,) = find(f"bornTimestamp={born + 5_000} UNIQ_KEY=0A0A0A0A303918B4AAC2{5_000:08X}0001")
    row = describe(judge(token), token, Clock(AT, UTC))
    assert row["sent_at"].startswith("2011-01-01T00:00:05") and row["certainty"] == "likely"
    assert "time_before_rocketmq" in row["why_codes"]


AT_MS = 1_792_000_000_000  # 2026-10-14T17:46:40Z
OF_AT = f"0A0A0A0A303918B4AAC2{(13 * 24 * 60 + 17 * 60 + 46) * 60_000 + 40_000:08X}0001"


@pytest.mark.parametrize(
    ("times", "certainty", "codes"),
    [
        ({"bornTimestamp": 0, "storeTimestamp": 2}, "certain", []),
        ({"bornTimestamp": 0, "storeTimestamp": 40 * 86_400_000}, "certain", []),  # it waited
        ({"bornTimestamp": 0, "storeTimestamp": -44 * 86_400_000}, "likely", ["stored_apart"]),  # before it was born
        ({"bornTimestamp": 3 * 86_400_000}, "likely", ["born_apart"]),
        ({"BORN_TIMESTAMP": -3 * 86_400_000}, "likely", ["born_apart"]),
        ({"storeTimestamp": 3 * 86_400_000}, "likely", ["stored_apart"]),
        ({"storeTimestamp": 30 * 3_600_000}, "likely", ["stored_apart"]),
        ({"storeTimestamp": 26 * 3_600_000}, "certain", []),  # the zone may be another
    ],
)
def test_a_time_of_a_record_that_contradicts_the_id_is_said(
    times: dict[str, int], certainty: str, codes: list[str]
) -> None:
    clock = Clock(datetime(2026, 10, 31, tzinfo=UTC), UTC, "given")
    fields = ", ".join(f"{name}={AT_MS + late}" for name, late in times.items())
    (token,) = find(f"{fields}, UNIQ_KEY={OF_AT}")
    row = describe(judge(token), token, clock)
    assert row["certainty"] == certainty
    assert [code for code in row["why_codes"] if code in DOUBTS] == codes
    intaken = intake.read([("", f"{fields}, UNIQ_KEY={OF_AT}")])
    page = str(cards.card(intaken.found[0], reader(), clock))
    assert reader().words(f"certainty.{certainty}") in page and ("days away from this time" in page) == bool(codes)
    at = datetime.fromisoformat(row["sent_at"])
    said = (datetime.fromtimestamp((AT_MS + late) / 1000, UTC) for late in times.values())
    assert any(f" {abs(at - one) / timedelta(days=1):.1f} days away" in page for one in said) == bool(codes)


# ---- where a zone comes from


@pytest.mark.parametrize(("zone", "source"), [("+08:00", "given"), ("+01:00", "assumed")])
def test_a_zone_that_was_computed_is_not_of_your_setting(zone: str, source: str, tmp_path: Path) -> None:
    seconds = int((AT - datetime(2021, 1, 1, tzinfo=UTC)).total_seconds()) + 7 * 3_600 + 600  # ahead of now
    (token,) = find(text := f"msgId={CLIENT % seconds}")
    clock = Clock(AT, parse_zone(zone), "given")
    for dates in (None, dates_of([(judge(token), token)], clock)):
        row = describe(judge(token), token, Clock(AT, clock.zone, "given", dates=dates))
        assert (row["zone"], row["zone_source"]) == ("+08:00", source)
    (tmp_path / "x.log").write_text(text)
    table = scan_local([str(tmp_path / "x.log")], month_rows(AT, clock.zone, "given"))["clients"]
    assert (table["zone"].to_pylist(), table["zone_source"].to_pylist()) == (["+08:00"], [source])


def test_a_line_that_names_no_zone_shows_none(tmp_path: Path) -> None:
    """Its time and the seconds of a 5.x msgId agree: both are of the zone that is assumed, or both of UTC."""
    at = datetime(2026, 11, 20, 9)
    seconds = int((at - datetime(2021, 1, 1)).total_seconds())
    (token,) = find(text := f"{at:%Y-%m-%d %H:%M:%S},000 sent msgId={CLIENT % seconds}")
    clock = Clock(AT, CHINA)
    for dates in (None, dates_of([(judge(token), token)], clock)):
        row = describe(judge(token), token, Clock(AT, CHINA, dates=dates))
        assert (row["zone_source"], row["why_codes"][-1]) == ("assumed", "seconds_local")
    (tmp_path / "x.log").write_text(text)
    table = scan_local([str(tmp_path / "x.log")], month_rows(AT, CHINA))["clients"]
    assert table["zone_source"].to_pylist() == ["assumed"]


def test_possible_months_are_in_the_zone_of_the_line() -> None:
    (item,) = intake.read([("", "bornTimestamp=1793376000216 UNIQ_KEY=AC110001473C7D4991AD9A7EC8D80001")]).found
    assert item.verdict.best is not None
    clock = Clock(datetime(2026, 11, 23, tzinfo=UTC), parse_zone("-03:30"))
    view = reader(timezone(timedelta(hours=8)))
    told = str(cards.months(item.verdict.best, view, clock, item))
    assert "2026-10-31 00:00:00.216" in told and "2026-08-31 00:00:00.216" in told and "zone +08:00" in told
    assert told.count("shown above") == 1 and "Months that the ID alone may be of" in told


# ---- the year of a log


YEARLESS = "Mar 11 20:57:47 web1 app: sent msgId=0A0A0A0B303918B4AAC2{:08X}0001"
OF_2024 = "2024-03-11 08:00:00.000+00:00 sent msgId=0A0A0A0A303918B4AAC2{:08X}0001"


def elapsed(day: int, hour: int, minute: int, second: int) -> int:
    return ((((day - 1) * 24 + hour) * 60 + minute) * 60 + second) * 1000


@pytest.mark.parametrize(
    ("others", "year", "month"),
    [
        ([OF_2024], 2024, "input"),
        ([], 2026, "assumed"),
        ([OF_2024.replace("2024-03", "2024-09")], 2026, "assumed"),  # not a day of that log
        ([OF_2024, OF_2024.replace("2024", "2022").replace("0A0A0A0A", "0A0A0A0C")], 2026, "assumed"),  # of some years
    ],
)
def test_the_other_lines_of_a_log_show_the_year(others: list[str], year: int, month: str, tmp_path: Path) -> None:
    lines = [YEARLESS.format(elapsed(11, 20, 57, 46)), *(line.format(elapsed(11, 8, 0, 0) - 5) for line in others)]
    tokens = list(find("\n".join(lines)))
    items = [(judge(token), token) for token in tokens]
    clock = Clock(AT, UTC, "given")
    row = describe(*items[0], Clock(AT, UTC, "given", dates=dates_of(items, clock)))
    assert (row["sent_at"][:10], row["month_source"]) == (f"{year}-03-11", month)
    assert ("month" in row["assumed"]) == (month == "assumed")
    (tmp_path / "x.log").write_text("\n".join(lines))
    table = scan_local([str(tmp_path / "x.log")], month_rows(AT, UTC, "given"))["processes"]
    (scanned,) = [one for one in table.to_pylist() if one["host"] == "10.10.10.11"]
    assert scanned["first_sent_at"].year == year and (scanned["month"] is None) == (month == "assumed")


OTHER = YEARLESS.replace("0A0A0A0B", "0A0A0A0C")


@pytest.mark.parametrize(
    ("texts", "known"),
    [
        (["{of_2024}", "{yearless}"], {}),  # the year of one log is not that of another
        (["{of_2024}\n{yearless}", "{other}"], {"10.10.10.11"}),
        (["{of_2024}\n\n{yearless}"], {}),  # two logs that were pasted one below the other
        (["{of_2024}\r\n{yearless}\r\n \r\n{other}"], {"10.10.10.11"}),
        (["{yearless}", "{yearless}\n{of_2024}", "{other}"], {"10.10.10.11"}),  # a process has one year
        (["nothing\n" * 9_000 + "\n{of_2024}\n\n{yearless}"], {"10.10.10.11"}),  # so much was not pasted
    ],
)
@pytest.mark.parametrize("split_size", [1 << 28, 1 << 16])
def test_the_year_of_another_log_stays_assumed(
    texts: list[str], known: set[str], split_size: int, tmp_path: Path
) -> None:
    """It is taken all the same, and marked, in decode and scan alike."""
    late = elapsed(11, 20, 57, 46)
    lines = {
        "of_2024": OF_2024.format(elapsed(11, 8, 0, 0) - 5),
        "yearless": YEARLESS.format(late),
        "other": OTHER.format(late),
    }
    texts = [text.format(**lines) + "\n" for text in texts]
    found = intake.read([(f"{number}.log", text) for number, text in enumerate(texts)]).found
    clock = Clock(AT, UTC, "given")
    clock = Clock(AT, UTC, "given", dates=intake.dates_of_found(found, clock))
    rows = [describe(item.verdict, item.token, clock) for item in found]
    want = {row["host"]: (row["sent_at"][:10], "month" in row["assumed"]) for row in rows}
    hosts = {"10.10.10.11", "10.10.10.12"} & want.keys()
    assert {host: want[host] for host in hosts} == {host: ("2024-03-11", host not in known) for host in hosts}
    assert {row["why_codes"][-1] for row in rows if "month" in row["assumed"]} <= {"year_elsewhere"}
    paths = [str(tmp_path / f"{number}.log") for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        Path(path).write_bytes(text.encode())
    table = scan_local(paths, month_rows(AT, UTC, "given"), split_size=split_size)["processes"].to_pylist()
    assert {row["host"]: (f"{row['first_sent_at']:%Y-%m-%d}", row["month"] is None) for row in table} == want


@pytest.mark.parametrize(
    ("year_line", "day", "shown"),
    [
        ("2024-03-10", "Mar 12", "2024-03-12"),  # days behind all that names a year
        ("2024-03-10", "Mar  1", "2024-03-01"),
        ("2024-02-28", "Mar  2", "2024-03-02"),
        ("2024-01-01", "Dec 30", "2023-12-30"),
        ("2023-12-31", "Jan  2", "2024-01-02"),
        ("2026-11-01", "Oct 31", "2026-10-31"),
        ("2026-11-21", "Jan  2", "2026-01-02"),  # never in the future
    ],
)
@pytest.mark.parametrize("between", ["\n", "\n\n", "\n" * 70])
def test_a_line_without_a_year_is_of_the_day_that_it_names(
    year_line: str, day: str, shown: str, between: str, tmp_path: Path
) -> None:
    """Its process has a line with a year: it was put into the month before, as if it were later than the log."""
    at, named = datetime.fromisoformat(f"{year_line}T08:00:00"), datetime.fromisoformat(f"{shown}T20:57:46")
    dated = OF_2024.replace("2024-03-11", year_line).format(elapsed(at.day, 8, 0, 0) - 5)
    bare = YEARLESS.replace("Mar 11", day).replace("0A0A0A0B", "0A0A0A0A").format(elapsed(named.day, 20, 57, 46))
    found = intake.read([("", text := f"{dated}{between}{bare}\n")]).found
    clock = Clock(AT, UTC, "given")
    clock = Clock(AT, UTC, "given", dates=intake.dates_of_found(found, clock))
    row = describe(found[1].verdict, found[1].token, clock)
    assert (row["sent_at"][:10], row["assumed"]) == (shown, [])
    (tmp_path / "x.log").write_text(text)
    (process,) = scan_local([str(tmp_path / "x.log")], month_rows(AT, UTC, "given"))["processes"].to_pylist()
    assert {f"{process[name]:%Y-%m-%d}" for name in ("first_sent_at", "last_sent_at")} == {year_line, shown}


@pytest.mark.parametrize(
    ("mark", "alone"),
    [("storeTimestamp=1711000000000", "2024-03-09"), ("bornTimestamp=1713000000000", "2024-04-09")],  # days behind
)
@pytest.mark.parametrize("is_alone", [True, False])
def test_lines_of_a_process_correct_a_month_that_one_of_them_assumes(
    mark: str, alone: str, is_alone: bool, tmp_path: Path
) -> None:
    line = f"msgId=0A0A0A0A303918B4AAC2{elapsed(9, 3, 2, 1):08X}0002 {mark}"
    dated = OF_2024.replace("-03-", "-02-").format(elapsed(11, 8, 0, 0) - 5)
    text = line if is_alone else f"{dated}\n\n\n{line}"
    found = intake.read([("", text)]).found
    clock = Clock(AT, UTC, "given")
    clock = Clock(AT, UTC, "given", dates=intake.dates_of_found(found, clock))
    row = describe(found[-1].verdict, found[-1].token, clock)
    want = alone if is_alone else "2024-02-09"
    assert (row["sent_at"][:10], row["assumed"]) == (want, ["month"] if is_alone else [])
    (tmp_path / "x.log").write_text(f"{text}\n")
    (process,) = scan_local([str(tmp_path / "x.log")], month_rows(AT, UTC, "given"))["processes"].to_pylist()
    assert (f"{process['first_sent_at']:%Y-%m-%d}", process["month"] is None) == (want, is_alone)


def test_a_month_that_no_line_of_an_id_shows_is_assumed_in_decode_and_scan(tmp_path: Path) -> None:
    dated, bare = OF_2024.format(elapsed(11, 8, 0, 0) - 5), f"msgId=0A0A0A0D303918B4AAC2{elapsed(9, 3, 2, 1):08X}0001"
    found = intake.read([("a.log", dated), ("b.log", bare)]).found
    clock = Clock(AT, UTC, "given")
    row = describe(found[1].verdict, found[1].token, Clock(AT, UTC, dates=intake.dates_of_found(found, clock)))
    assert (row["sent_at"], row["assumed"]) == ("2024-03-09T03:02:01.000+00:00", ["month"])
    (tmp_path / "a.log").write_text(dated)
    (tmp_path / "b.log").write_text(bare)
    tables = scan_local([str(tmp_path / name) for name in ("a.log", "b.log")], month_rows(AT, UTC, "given"))
    scanned = {one["host"]: one for one in tables["processes"].to_pylist()}["10.10.10.13"]
    assert scanned["month"] is None and scanned["first_sent_at"].isoformat() == "2024-03-09T03:02:01+00:00"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (IMPOSSIBLE, "uniq"),
        (IMPOSSIBLE, None),
        ("0A0A0A0500002A9F0000000000001234", "offset"),
        ("0A0A0A0500002A9F0000000000001234", None),
        (CLIENT % 185_000_000, "client"),
        ("F688360A0000F13D0000D6A1ED680100", "uniq"),  # little-endian
        ("0A0A0A0500002A9F0000000000001234", "uniq"),  # so says its scan, of all of its broker
    ],
)
def test_a_link_from_a_list_shows_the_id_as_the_list_has_it(text: str, kind: str | None) -> None:
    """Compare and the lists of messages know the kind alone; without a name an impossible elapsed is no msgId."""
    carried = {key: one for key, one in cards.kind_params(text, kind).items() if one is not None}
    verdict, _ = linked(text, carried, Runs())
    shown = verdict.best
    assert shown is not None and shown.kind == (kind or identify(text, "msgId").best.kind)  # type: ignore[union-attr]
    alone = identify_alone(text).best
    is_enough = alone is not None and alone.kind == shown.kind
    assert carried.get("label") == (None if is_enough else "offsetMsgId" if shown.kind == "offset" else "msgId")


class Asked(View):
    """A reader who keeps what links ask for."""

    asked: ClassVar[list[dict[str, Any]]] = []

    def href(self, page: str, **more: Any) -> str:
        self.asked.append(more)
        return page


def test_links_of_comparisons_and_fate_lists_carry_what_they_lead_to() -> None:
    view = Asked(catalogue.words(), UTC, "UTC", "chosen", "light")
    fates.unanswered([{"id": IMPOSSIBLE, "outcome": "no_record", "reason": "mid_record"}], None, view)
    stored = "0A0A0A0500002A9F0000000000001234"
    rows = (
        Difference("uniq", Fingerprint("10.10.10.10", 12345, "1B9871B4"), 2, 1, 1, (IMPOSSIBLE,), ()),
        Difference("offset", BrokerAddress("10.10.10.5", 10911), 2, 1, 1, (stored,), ()),
    )
    for sides in (rows, rows[1:]):  # records stand for messages where nothing else does
        assert compared.samples(Compared(sides, {}, ()), "before", view) is not None
    assert [(more["id"], more.get("label")) for more in view.asked] == [
        (IMPOSSIBLE, "msgId"),
        *2 * [(IMPOSSIBLE, "msgId")],  # to Anatomy, and to Message
        *2 * [(stored, None)],
    ]


def test_a_finding_calls_the_maker_of_a_process_as_its_table_does(tmp_path: Path) -> None:
    story = Incident("foreign_maker", "cpp", 1, datetime(2026, 11, 20, 9, tzinfo=CHINA), CHINA)
    (tmp_path / "x.log").write_text("\n".join(story.lines()))
    table, found = judged(tmp_path / "x.log", CHINA)
    (seed,) = [one for one in found if one.code == "foreign_maker" and one.evidence.variant == "seed"]
    makers = {row["maker"] for row in table.to_pylist() if row["host"] in seed.subject}
    assert {seed.evidence["maker_code"]} == makers
    for lang in ("en", "zh"):
        values = {"subject": seed.subject, "count": seed.count, **dict(seed.evidence.items())}
        assert "C++" in finding_words.say("meaning", seed.code, values, lang)


def test_half_a_letter_on_the_page_without_a_server_is_no_mistake() -> None:
    made = answer("\ud800 msgId=AC110001473C7D4991AD336AEA5703E0", "en", "UTC", 1_795_000_000_000)
    assert "AC110001473C7D4991AD336AEA5703E0" in made["csv"]

"""A list of IDs is not a log: what is one, and what is said of it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.answers.findings.all_rules import Finding
from idcore.base import catalogue
from idcore.ids import Clock
from idcore.ids.identify import identify_alone
from idcore.ids.lists import is_list_of_ids, is_table_of_ids
from idcore.intake.intake import PASTED, Source, ids_of, read_sources
from idcore.presentation.intake_texts import common_sentences
from idcore.presentation.reader import Reader
from idcore.presentation.triage.largest import Totals
from idcore.presentation.triage.sentences import producers
from idcore.scan.lines import look
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all
from tests.scan.logs import JAVA, offset, uniq

pytestmark = pytest.mark.quick

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY_20 = 20 * 86_400_000
IDS = [uniq(0x0A000007, 4711, JAVA, DAY_20 + 40 * n, 3 * n) for n in range(40)]  # two of three are not here
LISTS = {
    "lines": "\n".join(IDS),
    "commas": ",".join(IDS),
    "commas at the ends of lines": ",\r\n".join(IDS) + "\r\n",
    "values of SQL": "(" + ",\n".join(f"'{one}'" for one in IDS) + ");\n",
    "a column of CSV with its name": "msg_id\n" + "\n".join(f'"{one}"' for one in IDS),
    "a JSON array": "[" + ", ".join(f'"{one}"' for one in IDS) + "]",
    "blank lines": "\n\n".join(IDS) + "\n\n",
}
LOGS = {
    "times": "\n".join(f"09:50:13.373 {one}" for one in IDS),
    "labels": "\n".join(f"msgId={one}" for one in IDS),
    "one line with a word": "\n".join(IDS) + "\nERROR no stock " + IDS[0],
    "a first line that is of a log": f"sent {IDS[0]}\n" + "\n".join(IDS[1:]),
}


ROWS = [(str(n), one, "12.50", "order paid") for n, one in enumerate([*IDS, IDS[3], IDS[5], IDS[3]])]
QUOTED = [",".join(f'"{cell}"' for cell in row) for row in ROWS]
TABLES = {
    "commas": "\n".join(map(",".join, ROWS)),
    "commas and names": "order,msg_id,amount,what\r\n" + "\r\n".join(map(",".join, ROWS)) + "\r\n",
    "tabs of a spreadsheet": "order\tmsg_id\tamount\twhat\n" + "\n".join(map("\t".join, ROWS)),
    "semicolons": "\n".join(map(";".join, ROWS)),
    "quotes with a comma in them": "\n".join(QUOTED).replace("order paid", "order, paid"),
    "text of Excel": "\n".join(",".join((number, f'="{one}"', rest)) for number, one, rest, _ in ROWS),
    "an empty cell": "\n".join(map(",".join, ROWS)) + "\n99,,1.00,none",
}


@pytest.mark.parametrize("name", TABLES)
def test_ids_that_come_more_than_once_in_a_table_are_named(name: str) -> None:
    intake = read_sources([Source(PASTED, TABLES[name].encode())])
    assert intake.is_table and not intake.is_list
    said = " ".join(common_sentences(intake, Clock(AT, UTC, "given"), Reader(catalogue.words("en"), UTC)))
    assert f"2 IDs more than once: {IDS[3]} (3), {IDS[5]} (2)." in said


@pytest.mark.parametrize("text", [*LOGS.values(), "order,msg_id\n1,2", "", "a,b", f"1,{IDS[0]}\n2,{IDS[1]},3"])
def test_a_log_is_no_table(text: str) -> None:
    assert not is_table_of_ids(text)


def found_in(text: str, tmp_path: Path) -> list[Finding]:
    path = tmp_path / "x.log"
    path.write_text(text)
    tables = scan_local([str(path)], month_rows(AT, UTC))
    told = look(list_files([str(path)]), tables["copies"]["msg_id"].to_pylist())
    return find_all(tables, AT, UTC, line_evidence=told)


@pytest.mark.parametrize("name", LISTS)
def test_nothing_is_missing_from_a_list(name: str, tmp_path: Path) -> None:
    assert is_list_of_ids(LISTS[name])
    assert "missing_ids" not in {one.code for one in found_in(LISTS[name], tmp_path)}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_still_has_its_gaps(name: str, tmp_path: Path) -> None:
    assert not is_list_of_ids(LOGS[name])
    assert "missing_ids" in {one.code for one in found_in(LOGS[name], tmp_path)}


@pytest.mark.parametrize("text", ["", "\n", "12, 15", "msg_id\n", "no id"])
def test_a_text_without_ids_is_no_list_of_them(text: str) -> None:
    assert not is_list_of_ids(text)


def common(text: str, lang: str = "en") -> str:
    intake = read_sources([Source(PASTED, text.encode())])
    return " ".join(common_sentences(intake, Clock(AT, UTC, "given"), Reader(catalogue.words(lang), UTC)))


def test_what_a_list_has_in_common_is_said() -> None:
    ids = [uniq(0x0A000007, 4711, JAVA, DAY_20 + 40 * n, n) for n in range(3)]
    said = common("\n".join(ids))
    assert "process 10.0.0.7 pid 4711 loader 18B4AAC2" in said
    assert "the minute 2026-11-21 00:00" in said
    assert "Java client" in said
    assert "more than once" not in said


def test_what_nearly_all_of_a_list_are_of_is_said() -> None:
    many = [uniq(0x0A000007, 4711, JAVA, DAY_20 + 40 * n, n) for n in range(48)]
    other = [uniq(0x0A000009, 4711, JAVA, DAY_20 + 40 * n, n) for n in range(2)]
    whose = "10.0.0.7 pid 4711 loader 18B4AAC2"
    assert f"48 of 50 (96%) are of process {whose}." in common("\n".join([*many, *other]))
    assert f"50 个中有 48 个（96%）属于进程 {whose}。" in common("\n".join([*many, *other]), "zh")
    assert "are of process" not in common("\n".join([*many[:7], *other])), "seven of nine"
    twin = [uniq(0x0A000007, 4712, JAVA, DAY_20 + 40 * n, n) for n in range(12)]
    said = common("\n".join([*many, *twin, *other]))
    assert "60 of 62 (96.8%) are of host 10.0.0.7." in said and "are of process" not in said


def test_what_the_other_lines_of_a_list_are_is_said() -> None:
    ids = [uniq(0x0A000007, 4711, JAVA, DAY_20 + 40 * n, n) for n in range(20)]
    text = "\n".join(["msg_id", *ids, "", "0" * 32, "9dd4e461268c8034f5c8564e155c67a6", ids[0]])
    rejected = "2 lines with nothing but rejected strings (impossible port (1), all lower case (1))"
    said = common(text)
    assert said.startswith(f"Besides: 2 lines without an ID, {rejected}. "), said
    assert common(text, "zh").startswith("此外：2 行没有 ID"), common(text, "zh")
    assert "Besides" not in common("\n".join(ids)), "each line has one"


def test_in_what_a_list_differs_is_said() -> None:
    ids = [uniq(0x0A000007 + n, 4711, JAVA, DAY_20 + 600_000 * n, n) for n in range(3)]
    said = common(",".join([*ids, ids[0]]))
    assert (
        "They are of 3 hosts and 3 processes. They were generated between 2026-11-21 00:00 +00:00 "
        "and 2026-11-21 00:20 +00:00 (month assumed)." in said
    )
    assert f"1 ID more than once: {ids[0]} (2)." in said
    assert "3 台主机" in common(",".join(ids), "zh")


def test_brokers_of_a_list_of_offset_msg_ids_are_said() -> None:
    said = common("\n".join(offset(0x0A000001, 10911, n << 10) for n in range(1, 4)))
    assert said.startswith("All have broker 10.0.0.1:10911 in common.")


SENT = "2026-11-21 00:00:01.000 SendResult [sendStatus=SEND_OK, msgId={}, offsetMsgId={}]"


@pytest.mark.parametrize("text", [IDS[0], "no id", SENT.format(IDS[0], offset(0x0A000001, 10911, 1024))])
def test_of_one_message_nothing_is_common(text: str) -> None:
    assert common(text) == ""


def test_what_the_messages_and_the_records_of_a_log_have_in_common_is_said() -> None:
    ids = [uniq(0x0A000007 + n % 2, 4711, JAVA, DAY_20 + 40_000 * n, n) for n in range(4)]
    text = "\n".join(SENT.format(one, offset(0x0A000001, 10911, n << 10)) for n, one in enumerate(ids))
    said = common(text)
    assert "broker 10.0.0.1:10911 in common." in said
    assert (
        "They are of 2 hosts and 2 processes. They were generated between 2026-11-21 00:00 +00:00 and 2026-11-21 00:02"
        in said
    )
    assert "assumed" not in said, "the lines show the month"


def test_of_a_log_that_is_not_read_whole_the_scan_counts() -> None:
    lines = [SENT.format(one, offset(0x0A000001, 10911, n << 10)) for n, one in enumerate(IDS[:3])]
    intake = replace(read_sources([Source(PASTED, "\n".join(lines).encode())]), cut=True)
    reader, clock = Reader(catalogue.words("en"), UTC), Clock(AT, UTC, "given")
    assert common_sentences(intake, clock, reader) == []
    counted = {"hosts": 1, "processes": 1, "clients": 0, "brokers": 12}
    assert common_sentences(intake, clock, reader, counted) == [
        "They are of process 10.0.0.7 pid 4711 loader 18B4AAC2 and 12 brokers."
    ]


def test_one_message_on_seven_lines_is_one_message(tmp_path: Path) -> None:
    """Wild case 05: the lines of a consumer that failed, of a message of last year."""
    line = "2025-05-20 15:36:13.157 WARN consume message failed. messageId:0A141E28126418B4AAC26531F659001F"
    (finding,) = (one for one in found_in(f"{line}\n" * 7, tmp_path) if one.code == "expired")
    assert finding.count == 1


def test_one_message_of_a_5x_client_on_seven_lines_is_one_message(tmp_path: Path) -> None:
    line = "2025-05-20 15:36:13.157 INFO ack message_id:01087190669A000007083CA9AD00000003"
    (finding,) = (one for one in found_in(f"{line}\n" * 7, tmp_path) if one.code == "expired")
    assert finding.count == 1


@pytest.mark.parametrize("is_list", [True, False])
def test_producers_of_a_list_are_said_without_what_is_missing(is_list: bool) -> None:
    totals = Totals(processes=1, ids=40, distinct=40, produced=118, missing=78, in_part=1, is_list=is_list)
    said = producers(totals, 1, Reader(catalogue.words("en"), UTC))
    assert ("78" in said) != is_list
    assert ("a list of IDs and no log" in said) == is_list


LOW, HIGH = "C0A80105473C7D4991AD337F98000001", "C0A80105473C7D4991AD80BEFC000002"  # of one process, days apart


AS_OF = [sys.executable, "-m", "idcore", "decode", "--zone", "UTC", "--at", "2026-11-15T00:00:00Z", "--format", "json"]


def rows_of(*arguments: str, text: str = "") -> list[dict[str, str]]:
    done = subprocess.run(
        [*AS_OF, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_arguments_are_dated_together_as_a_text_is() -> None:
    told = rows_of(LOW, HIGH)
    assert [row["sent_at"] for row in told] == [row["sent_at"] for row in rows_of("-", text=f"{LOW}\n{HIGH}\n")]
    assert [row["sent_at"][:10] for row in told] == ["2026-10-11", "2026-10-26"]
    assert [row["text"] for row in rows_of(f"{LOW}, {HIGH}")] == [LOW, HIGH]


def test_an_id_that_no_line_dates_is_not_later_than_the_input() -> None:
    """The thirtieth of a month, before a line of March: February has no such day."""
    text = (
        "C0A80105473C7D4991AD9A7EC8050002\nC0A8010511117D4991AD9A7EC8050003\n"
        "2026-03-05T00:00:01.000+00:00 SEND msgId=C0A80105473C7D4991AD149970000001\n"
    )
    assert [row["sent_at"][:10] for row in rows_of("-", text=text)] == ["2026-01-31", "2026-01-31", "2026-03-05"]


def test_a_link_to_a_list_has_each_id_as_often_as_the_list() -> None:
    intake = read_sources([Source(PASTED, f"{LOW}\n{LOW}\n{HIGH}".encode())])
    assert ids_of(intake, 10) == [LOW, LOW, HIGH] and ids_of(intake, 2) is None


@pytest.mark.parametrize("around", ["{},", '"{}"', "\ufeff{}", "{}\0", " {} ;"])
def test_what_is_copied_with_an_id_is_no_part_of_it(around: str) -> None:
    assert identify_alone(around.format(LOW)).best is not None


def test_what_repeated_ids_have_in_common_is_said_where_not_all_have_it() -> None:
    """ "Charged twice": 40 IDs of two processes, and all that are there twice are of one of them."""
    ids = [uniq(0x0A000001, pid, JAVA, DAY_20 + 40 * n, n) for pid in (1, 2) for n in range(20)]
    said = common("\n".join(ids + ids[20:25]))
    assert "5 IDs more than once" in said
    assert "Those that are there more than once are all of process 10.0.0.1 pid 2" in said
    assert "are all of" not in common("\n".join(ids + ids[18:22]))
    assert "are all of" not in common("\n".join(ids[:20] + ids[:2])), "all of the list are of that process"

"""`python -m idcore decode` from the outside: formats, standard input, zones, exit status, quiet ends."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from idcore.__main__ import BUG, main
from idcore.base.catalogue.en import LENGTHS
from idcore.ids.describe import KEYS
from tests.cli.in_process import command

ROOT = Path(__file__).resolve().parent.parent.parent
VECTORS = ROOT / "tests" / "vectors"
ID = "AC110001473C7D4991AD336AEA5703E0"
OFFSET = "AC11000100002A9F00000000000E8580"
CLIENT = "01EA2C235B8585B70D08C1575B00000015"
LITTLE = "0101007F0000A61200003CF1C4030100"
MD5 = "9e107d9d372bb6826bd81d3542a419d6"
AT = ("--at", "2026-11-21T00:00:00Z")


def run(*arguments: str, text: str | bytes | None = None, **extra: str) -> subprocess.CompletedProcess[bytes]:
    given = text.encode() if isinstance(text, str) else text or b""
    return command(*arguments, given=given, env={**os.environ, "TZ": "UTC", **extra})


def process(*arguments: str, **extra: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    words, env = [sys.executable, "-m", "idcore", *arguments], {**os.environ, "TZ": "UTC", **extra}
    none = subprocess.DEVNULL
    return subprocess.run(words, cwd=ROOT, stdin=none, capture_output=True, timeout=60, check=False, env=env)


def rows(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def one_line(done: subprocess.CompletedProcess[bytes]) -> str:
    text = done.stderr.decode()
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    return text.strip()


def test_json_is_the_default_of_a_pipe_and_holds_the_contracts_keys() -> None:
    done = process("decode", ID, OFFSET, CLIENT, *AT)
    assert done.returncode == 0
    assert done.stderr == b""
    found = rows(done)
    assert [row["kind"] for row in found] == ["uniq", "offset", "client"]
    for row in found:
        assert tuple(row) == (*KEYS, "disproof")
        assert (row["line"], row["column"], row["label"], row["error"]) == (None, None, None, None)
    assert found[0]["sent_at"] == "2026-11-10T23:37:24.823+00:00"
    assert (found[0]["zone"], found[0]["zone_source"]) == ("+00:00", "assumed")


@pytest.mark.parametrize(
    ("zone", "sent", "offset"),
    [
        ("-03:30", "2026-11-10T23:37:24.823-03:30", "-03:30"),
        ("+08:00", "2026-11-10T23:37:24.823+08:00", "+08:00"),
        ("Asia/Shanghai", "2026-11-10T23:37:24.823+08:00", "+08:00"),
    ],
)
def test_a_zone_that_is_given(zone: str, sent: str, offset: str) -> None:
    for arguments in (("--zone", zone), (f"--zone={zone}",)):
        row = rows(run("decode", *arguments, *AT, ID))[0]
        assert (row["sent_at"], row["zone"], row["zone_source"]) == (sent, offset, "given")


def test_the_machines_zone_is_assumed_and_at_is_now() -> None:
    row = rows(run("decode", ID, "--at", "2026-11-05T00:00:00", TZ="Asia/Kolkata"))[0]
    assert (row["sent_at"], row["zone_source"]) == ("2026-10-10T23:37:24.823+05:30", "assumed")


def test_comma_joined_arguments_are_several_ids_and_an_empty_one_is_refused() -> None:
    done = run("decode", f"{ID},{OFFSET},,{CLIENT}", "")
    assert done.returncode == 1
    found = rows(done)
    assert [row["text"] for row in found] == [ID, OFFSET, "", CLIENT, ""]
    assert [row["error"] is None for row in found] == [True, True, False, True, False]
    assert found[2]["error"] == {"problem": "empty", "field": None, "byte": None}
    assert "2 of 5 rejected" in one_line(done)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("zz", "hex digit"),
        ("abc", "odd"),
        ("abcd", LENGTHS),
        (MD5, "lower case"),
        (ID + "0", "odd"),
        ("AC100A64000000000000000000000001", "port 0"),
        ("AC11000147-C7D4991AD336AEA5703E0", "'-'"),
    ],
)
def test_what_is_no_id_is_refused_in_one_line(text: str, word: str) -> None:
    done = run("decode", text)
    assert done.returncode == 1
    assert word in one_line(done)
    row = rows(done)[0]
    assert (row["text"], row["kind"]) == (text, None)
    assert word in row["error"]["problem"]
    assert set(row["error"]) == {"problem", "field", "byte"}


def test_a_lower_case_id_is_refused_with_the_way_out() -> None:
    way_out = "to decode it anyway: --case any"
    assert one_line(run("decode", MD5)).endswith(f"; {way_out}")
    several = one_line(run("decode", f"{MD5},{MD5[::-1]},zz"))
    assert several.endswith("; to decode the 2 that look like IDs anyway: --case any")
    assert "--case" not in one_line(run("decode", "zz")), "this way out leads nowhere"


def test_one_id_in_lower_case_also_has_the_card_of_what_it_would_be() -> None:
    card = run("decode", "c0a8832a3c1c18b4aac2146e2f4f03e7", "--format", "table").stdout.decode()
    taken = run("decode", "c0a8832a3c1c18b4aac2146e2f4f03e7", "--format", "table", "--case", "any").stdout.decode()
    values = [line for line in taken.splitlines() if line.split()[0] in ("host", "pid", "loader", "counter", "maker")]
    assert "rejected" in card and len(values) == 6 and all(line in card for line in values)


def test_lower_case_is_taken_when_asked() -> None:
    done = run("decode", "c0a8832a3c1c18b4aac2146e2f4f03e7", "--case", "any")
    assert done.returncode == 0
    assert rows(done)[0]["text"] == "c0a8832a3c1c18b4aac2146e2f4f03e7"


LINES = f"first msgId={ID}\nsecond {MD5} offsetMsgId={OFFSET}\n\nlast {CLIENT}"
PLACES = [(ID, 1, 13), (MD5, 2, 8), (OFFSET, 2, 53), (CLIENT, 4, 6)]


@pytest.mark.parametrize("text", [LINES, LINES + "\n", LINES.replace("\n", "\r\n")], ids=["open", "closed", "crlf"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("arguments", [("-",), ()], ids=["dash", "pipe"])
def test_every_id_of_standard_input_in_order(text: str, encoding: str, arguments: tuple[str, ...]) -> None:
    done = run("decode", *arguments, text=text.encode(encoding))
    assert done.returncode == 0, "a look-alike in a text is no failure"
    assert [(row["text"], row["line"], row["column"]) for row in rows(done)] == PLACES
    assert "line 2, column 8" in one_line(done)


def test_utf_16_of_the_other_order() -> None:
    done = run("decode", "-", text=b"\xfe\xff" + LINES.encode("utf-16-be"))
    assert [(row["text"], row["line"], row["column"]) for row in rows(done)] == PLACES


def test_bytes_that_are_no_text_hide_no_id() -> None:
    done = run("decode", text="消息ID: ".encode("gbk") + ID.encode() + b"\xff\n")
    assert [row["text"] for row in rows(done)] == [ID]
    assert done.returncode == 0


def test_arguments_and_standard_input_keep_their_order() -> None:
    done = run("decode", OFFSET, "-", CLIENT, text=f"msgId={ID}")
    assert [row["text"] for row in rows(done)] == [OFFSET, ID, CLIENT]


@pytest.mark.parametrize(
    ("text", "status"),
    [("SendResult [sendStatus=SEND_OK, msgId=2408845202900028B10ADF0D6...", 1), ("\n", 1), ("", 0)],
)
def test_a_text_without_an_id_is_a_failure_unless_it_is_empty(text: str, status: int) -> None:
    done = run("decode", text=text)
    assert (done.returncode, done.stdout) == (status, b"")
    assert "no ID in this text" in one_line(done)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (f"sent ok, msgId={ID}, queue=3", "1:16"),
        (f"msgId={ID}", "1:7"),
        (f"MessageExt [\n\n  queueId=2,\n\n  msgId={ID}\n]", "5:9"),
        (f"消息 {ID}；", "1:4"),
    ],
)
def test_an_argument_that_is_a_line_of_a_log_is_read_as_one(line: str, place: str) -> None:
    """Alone, or beside IDs; several lines are one text, in which an ID of a process dates another."""
    (row,) = rows(done := run("decode", line))
    assert row["text"] == ID and f"{row['line']}:{row['column']}" == place and done.returncode == 0
    assert row == rows(run("decode", text=line))[0]
    two = run("decode", OFFSET, line, CLIENT)
    assert [row["text"] for row in rows(two)] == [OFFSET, ID, CLIENT] and two.returncode == 0
    again = run("decode", line, f"msgId={OFFSET}")
    assert [row["text"] for row in rows(again)] == [ID, OFFSET] and again.returncode == 0


def test_an_argument_that_is_no_line_with_an_id_is_refused_as_before() -> None:
    for line in ("msgId=zz", f"{ID}, zz", f"{ID}0"):
        assert run("decode", line).returncode == 1, line
    done = run("decode", f"msgId={ID}", "-", text=ID)
    assert done.returncode == 2 and "decode reads one text" in one_line(done)


def test_a_text_whose_ids_are_read_from_a_picture_is_offered_them() -> None:
    done = run("decode", text=f"sent msgId={ID.replace('0', 'O')} ok\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"Decode {ID}: with digits for the letters" in done.stderr.decode()


def test_every_public_line() -> None:
    lines = [json.loads(line)["text"] for line in (VECTORS / "public-lines.jsonl").read_text("utf-8").splitlines()]
    hand = (VECTORS / "public-lines.expected.jsonl").read_text("utf-8").splitlines()
    expected = [(number, one) for number, text in enumerate(hand, 1) for one in json.loads(text)["ids"]]
    done = run("decode", "-", *AT, text="\n".join(lines))
    assert done.returncode == 0 and b"rejected" in done.stderr  # lines 17 and 18 hold what is no id
    found = rows(done)
    assert [(row["line"], row["text"]) for row in found] == [(number, one["text"]) for number, one in expected]
    for row, (_, one) in zip(found, expected, strict=True):
        assert row["layout"] == one.get("layout")
        assert (row["error"] is not None) == ("refused" in one)


def test_csv_has_the_same_columns() -> None:
    done = run("decode", "--format", "csv", *AT, ID, LITTLE, "=1+1")
    found = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert list(found[0]) == list(KEYS)
    assert found[0]["host"] == "172.17.0.1"
    assert found[1]["others"] == "offset_v4 uniq_v4"
    assert found[2]["text"] == "'=1+1"  # no formula for a spreadsheet
    everything = run("decode", "--format", "csv", "--all", LITTLE)
    assert [row["layout"] for row in csv.DictReader(io.StringIO(everything.stdout.decode()))] == [
        "uniq_v4_le",
        "offset_v4",
        "uniq_v4",
    ]


def test_the_table_of_many_and_the_card_of_one() -> None:
    many = run("decode", "--format", "table", *AT, ID, OFFSET, "zz").stdout.decode().splitlines()
    assert len(many) == 4
    assert many[0].split()[:3] == ["id", "kind", "certainty"]
    assert "172.17.0.1:10911" in many[2]
    assert "rejected" in many[3]
    card = run("decode", "--format", "table", *AT, ID).stdout.decode()
    assert card.splitlines()[0] == ID
    assert "number 36 of HotSpot's stream" in card
    every = run("decode", "--format", "table", "--all", LITTLE).stdout.decode()
    assert every.splitlines().count(LITTLE) == 3
    assert "offset_v4" in every


@pytest.mark.parametrize(
    "arguments",
    [
        ("decode", "--zone", "nowhere", ID),
        ("decode", "--zone"),
        ("decode", "--at", "never", ID),
        ("decode", "--bad"),
        ("decode", "--at", "", ID),
        ("decode", "--at", "2005-01-01", ID),
        ("decode", "--format", "xml", ID),
        (),
        ("nothing",),
        ("make",),
        ("scan",),
        ("scan", "x"),
        ("scan", "x", "--out", "y", "--split-size", "0"),
        ("scan", "--out", "y"),
        ("scan", "x", "--out", "y", "--master", "a", "--remote", "b"),
    ],
)
def test_wrong_usage_is_status_two_and_one_line(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    one_line(done)


def test_help_is_no_error() -> None:
    for arguments in (("--help",), ("decode", "--help"), ("scan", "--help"), ("make", "--help"), ("make", "log", "-h")):
        done = process(*arguments)
        assert done.returncode == 0
        assert done.stdout.startswith(b"usage:")


@pytest.fixture
def reading() -> Iterator[subprocess.Popen[bytes]]:
    """A decode of standard input that goes on until the test ends it."""
    command = [sys.executable, "-m", "idcore", "decode", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process
        process.kill()


def test_a_reader_that_goes_away_is_quiet(reading: subprocess.Popen[bytes]) -> None:
    process = reading
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(f"{ID}\n".encode() * 100)
    process.stdin.flush()
    process.stdout.close()
    try:
        process.stdin.write(f"{ID}\n".encode() * 20_000)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.wait(30) == 141
    assert process.stderr.read() == b""


def test_ctrl_c_is_quiet(reading: subprocess.Popen[bytes]) -> None:
    process = reading
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(f"{ID}\n".encode() * 20)
    process.stdin.flush()
    process.stdout.read(10)  # it runs
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(30) == 130
    assert process.stderr.read() == b""


def test_ids_show_while_the_input_is_still_open() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "idcore", "decode", "-"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{ID}\n".encode())
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["text"] == ID
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()


def test_it_loads_nothing_large() -> None:
    """How long a decode takes as a whole process is a row of benchmarks/fixed.py."""
    code = "import sys; from idcore.__main__ import main; main(['decode', sys.argv[1]]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, ID], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"numpy", "numba", "pyspark", "pandas", "pyarrow", "streamlit"}


def test_a_mistake_of_ours_is_one_line_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> None:
        raise OverflowError("date value out of range")

    monkeypatch.setattr("idcore.cli.decode.run", broken)
    assert main(["decode", ID]) == BUG
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "OverflowError: date value out of range (test_decode.py:" in told


def test_a_closed_standard_input_is_said() -> None:
    command = f'"{sys.executable}" -m idcore decode - <&-'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "closed" in one_line(done)


def test_a_terminal_is_sent_nothing_that_it_would_obey() -> None:
    for ids in (("\x1b]0;x\x07",), ("\x1b]0;x\x07", ID)):
        done = run("decode", "--format", "table", *ids)
        assert b"\\x1b]0;x\\x07" in done.stdout
        assert not {0x1B, 0x07} & set(done.stdout + done.stderr)


def test_letters_that_a_terminal_lacks_are_no_traceback() -> None:
    done = process("decode", "消息", PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert rows(done)[0]["text"] == "消息"
    one_line(done)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "gbk"])
def test_json_stays_json_in_every_encoding_of_standard_output(encoding: str) -> None:
    odd = b"\xff\xc3\xa9\xf0\x9f\x98\x80"  # no UTF-8, then two characters that some encodings lack
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"idcore", b"decode", odd, b"--format", b"json"],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 1 and b"Traceback" not in done.stderr
    assert json.loads(done.stdout.decode(encoding))["text"] == odd.decode("utf-8", "surrogateescape")


# Of the old C++ client: the first reads as an offset id alone, the second shows whose process it is.
OPEN, CLEAR = "5FE4660B0000F13D000000A1FB5ED000", "5FE4660B0000F13D0000B2671B690100"


def test_ids_settle_one_another_wherever_they_stand(tmp_path: Path) -> None:
    (alone,) = rows(run("decode", OPEN))
    assert (alone["kind"], alone["certainty"]) == ("offset", "possible")
    log = tmp_path / "x.log"
    log.write_text(f"{OPEN}\n{CLEAR}\n")
    command = [sys.executable, "-m", "idcore", "decode", "-"]
    with log.open("rb") as file:
        from_file = subprocess.run(command, cwd=ROOT, stdin=file, capture_output=True, timeout=60, check=False)
    piped = run("decode", "-", text=f"{OPEN}\n{CLEAR}\n")
    for done in (run("decode", OPEN, CLEAR), run("decode", f"{CLEAR},{OPEN}"), from_file, piped):
        found = {row["text"]: row for row in rows(done)}
        assert found[OPEN]["layout"] == "uniq_v4_le" and found[OPEN]["host"] == "11.102.228.95"
        assert "same process on 11.102.228.95" in found[OPEN]["why"][-1]
        assert found[OPEN]["others"][0]["kind"] == "offset"


JAVA = "AC110001473C7D4991AD9A7EC8D803E0"
LOG = f"""2026-10-31 00:00:00,217 SendResult [sendStatus=SEND_OK, msgId={JAVA}, offsetMsgId=null]
2026-10-31 00:00:01,000 MessageExt [bornTimestamp=1793376000216, properties={{UNIQ_KEY={JAVA}}}]
no time {JAVA}
2026-10-31 00:00:02,000 msgId=AC110001473D7D4991AD9A7EC8D803E0
"""


@pytest.mark.parametrize("zone", ["+00:00", "+08:00", "-05:00"])
def test_what_one_line_proves_holds_for_every_line_of_the_input(zone: str) -> None:
    found = rows(run("decode", "-", "--zone", zone, "--at", "2026-11-22T00:00:00Z", text=LOG))
    assert {row["sent_at"] for row in found} == {"2026-10-31T00:00:00.216+08:00"}
    assert {(row["zone"], row["zone_source"]) for row in found} == {("+08:00", "born")}
    assert [row["why_codes"][-1] for row in found] == ["zone_process", "zone_born", "zone_record", "zone_input"]


def test_a_pipe_that_pauses_is_shown_by_what_came_before() -> None:
    command = [sys.executable, "-m", "idcore", "decode", "-", "--zone", "+00:00", "--at", "2026-11-22T00:00:00Z"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(LOG.encode())
        process.stdin.flush()
        first = [json.loads(process.stdout.readline()) for _ in range(4)]
        process.stdin.write(f"{JAVA}\n".encode())
        process.stdin.close()
        last = json.loads(process.stdout.readline())
    assert {row["sent_at"] for row in (*first, last)} == {"2026-10-31T00:00:00.216+08:00"}


# ---- files


def packed(name: str, raw: bytes) -> bytes:
    packers: dict[str, Callable[[bytes], bytes]] = {
        "plain": bytes,
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
    }
    return packers[name](raw)


@pytest.mark.parametrize("form", ["plain", "gz", "bz2", "xz"])
def test_a_file_and_a_packed_pipe_are_read_as_the_text_in_them(tmp_path: Path, form: str) -> None:
    path = tmp_path / "orders.log"
    path.write_bytes(packed(form, LINES.encode()))
    for done in (run("decode", str(path)), run("decode", "-", text=path.read_bytes())):
        assert done.returncode == 0, done.stderr
        assert [(row["text"], row["line"], row["column"]) for row in rows(done)] == PLACES
    beside = run("decode", OFFSET, str(path))
    assert [row["text"] for row in rows(beside)] == [OFFSET, *(text for text, _, _ in PLACES)]


def test_an_id_is_an_id_also_where_a_file_has_its_name(tmp_path: Path) -> None:
    (tmp_path / ID).write_text("no ID")
    words = [sys.executable, "-m", "idcore", "decode", ID]
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    assert json.loads(done.stdout)["kind"] == "uniq"


def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path) -> None:
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a.log", LINES)
    tar = tmp_path / "logs.tar"
    with tarfile.open(tar, "w") as out_tar:
        out_tar.add(archive, "a.zip")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(LINES.encode() * 900)[:-20])
    for words, said in (
        (("decode", str(archive)), "idcore scan reads what is in it"),
        (("decode", str(tar)), "idcore scan reads what is in it"),
        (("decode", str(cut)), "cut"),
        (("decode", "orders.log"), "no such file, and no ID"),
        (("decode", "./nothing/here"), "no such file, and no ID"),
        (("decode", str(cut), str(tar)), "reads one text"),
        (("decode", str(cut), "-"), "reads one text"),
    ):
        done = run(*words)
        assert done.returncode == 2 and said in one_line(done), done.stderr

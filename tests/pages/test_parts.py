"""The parts without a page: escaping, exports, times, sentences, intake, what may be scanned."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tarfile
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from idcore import export, intake, times
from idcore.ids.clock import Clock
from idcore.ids.dating import dates_of
from idcore.ids.find import Token
from idcore.ids.identify import identify
from idcore.layout import LAYOUTS
from idcore.simulate import example
from idcore.triage import address_flags
from idcore.triage.processes import find_process, process_key, process_name
from pages.parts import cards, markdown, markup, refusals, roles, ruler, scans, text
from pages.parts.messages import records
from pages.parts.triage import sentences
from pages.parts.view import View
from tests.pages import example_run

SHANGHAI = ZoneInfo("Asia/Shanghai")
UNIQ, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "AC11000100002A9F00000000000E8580"


def reader(lang: text.Lang = "en") -> View:
    return View(text.words(lang), SHANGHAI, "Asia/Shanghai", "chosen", "light")


# ---- markup and export


def test_half_a_character_from_a_strangers_json_can_be_sent() -> None:
    shown = records.as_json('{"a": "\\ud800 \\u4e2d"}')
    assert shown is not None and '"\\ud800 \u4e2d"' in shown and shown.encode()
    made = markup.tag("p", "\ud800 \u4e2d", title="\ud800")
    assert made.encode() == '<p title="\\ud800">\\ud800 \u4e2d</p>'.encode()


def test_half_a_character_in_an_answer_or_a_name_can_be_taken_away() -> None:
    row = {"id": "k\udcff", "text": "\u4e2d\ud800"}
    assert json.loads("".join(export.json_lines([row]))) == row
    assert export.csv_table(["id"], [["k\udcff"]]) == b"\xef\xbb\xbfid\r\nk\\udcff\r\n"
    with zipfile.ZipFile(io.BytesIO(export.zip_frames([], row))) as whole:
        assert json.loads(whole.read("summary.json")) == row


def test_whatever_stands_in_the_input_is_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>\"'"
    made = markup.table([markup.Column("a", evil, wide=True)], [[evil]], evil)
    assert "<img" not in made and made.count("&lt;img") >= 4
    assert 'href="javascript' not in markup.link("x", "decode?ids=A")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app_2026_11-20.log", "app_2026_11-20.log"),
        ("10.0.0.7 pid 3416, 9 % of it", "10.0.0.7 pid 3416, 9 % of it"),
        ("a*b*|c`<d>", "a\\*b\\*\\|c\\`\\<d\\>"),
        ("_a_ [x](http://e) &amp; a&b", "\\_a\\_ \\[x\\](http://e) \\&amp; a&b"),
        ("a\n\n# b\r\n    c\u2028d", "a \\# b c d"),
        ("- a", "\\- a"),
        ("12. a", "12\\. a"),
        ("---", "\\---"),
        ("k\udcff\\", "k\\\\udcff\\\\"),
    ],
)
def test_markdown_says_the_text_and_nothing_else(text: str, said: str) -> None:
    assert markdown.plain(text) == said


@pytest.mark.parametrize(
    ("text", "said"), [("a b", "`a b`"), ("a`b", "``a`b``"), ("`` a", "``` `` a ```"), ("a\nb", "`a b`"), ("", "`  `")]
)
def test_code_in_markdown_ends_where_the_text_ends(text: str, said: str) -> None:
    assert markdown.code(text) == said


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_spreadsheet_runs_an_exported_cell(start: str) -> None:
    row = export.csv_table(["name"], [[f"{start}cmd|' /C calc'!A0"]]).decode("utf-8-sig")
    cell = row.split("\r\n", 1)[1].lstrip('"')
    assert cell.startswith("'" + start)


def test_an_offset_of_a_zone_is_exported_as_it_is() -> None:
    zones = ["+08:00", "-03:30", "+05:41:16", "-1+cmd", "+08:00=1"]
    assert [export.guarded(text) for text in zones] == [*zones[:3], "'-1+cmd", "'+08:00=1"]


def test_numbers_are_exported_as_numbers() -> None:
    frame = pd.DataFrame({"n": [-5], "at": pd.to_datetime(["2026-11-21T01:50:13Z"])})
    assert export.csv_frame(frame).decode("utf-8-sig") == "n,at\r\n-5,2026-11-21T01:50:13+00:00\r\n"


# ---- times


@pytest.mark.parametrize(
    ("name", "offset"), [("UTC", "+00:00"), ("+08:00", "+08:00"), ("-03:30", "-03:30"), ("Asia/Kolkata", "+05:30")]
)
def test_a_zone_is_a_name_or_an_offset(name: str, offset: str) -> None:
    zone = times.zone_of(name)
    assert zone is not None and times.full(datetime(2026, 11, 21, tzinfo=UTC), zone).endswith(offset)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "+25:00", "+08:60", "../../etc/passwd", "8"])
def test_what_is_no_zone_is_none(name: str) -> None:
    assert times.zone_of(name) is None


def test_a_span_is_as_short_as_its_ends_can_be_told_apart() -> None:
    start = datetime(2026, 11, 21, 1, 50, 13, tzinfo=UTC)
    assert times.between(start, start + timedelta(minutes=22), SHANGHAI) == ("2026-11-21 09:50", "10:12 +08:00")
    assert times.between(start, start + timedelta(seconds=4), SHANGHAI) == ("2026-11-21 09:50:13", "09:50:17 +08:00")
    assert times.between(start, start + timedelta(seconds=60), SHANGHAI, True) == ("2026-11-21 09:50", "09:51 +08:00")
    assert times.between(start, start + timedelta(days=1), SHANGHAI)[1] == "2026-11-22 09:50 +08:00"


# ---- ruler and card


@pytest.mark.parametrize(
    "token",
    [
        UNIQ,
        OFFSET,
        "0101007F0000A61200003CF1C4030100",
        "0108719066FF9A12670AC62EB100000007",
        "20010DB8001200000000000000000042026330946E09" + "096403F49223",
    ],
)
@pytest.mark.parametrize("lang", text.LANGS)
def test_the_ruler_shows_every_byte_once_and_in_order(token: str, lang: text.Lang) -> None:
    best = identify(token).best
    assert best is not None
    layout = LAYOUTS[best.id.layout.name]
    shown = "".join(ruler.digits_of(best, span) for span in layout.spans)
    assert shown == token
    words = text.words(lang)
    for part in (ruler.ruler(best, words, bits=True), ruler.key(best, words), ruler.lessons(best, words)):
        assert part.count("data-field=") == len(layout.fields)
    assert all(value in ruler.spoken_text(best, words) for value in (token, ruler.digits_of(best, layout.spans[0])))


def test_every_field_of_every_layout_has_a_role_and_a_lesson() -> None:
    kinds = {"uniq": "uniq", "offs": "offset", "clie": "client"}
    for layout in LAYOUTS.values():
        for field in layout.fields:
            assert field.name in roles.FIELD_ROLES
            for table in text.TABLES.values():
                assert f"lesson.{kinds[layout.name[:4]]}_{field.name}.how" in table


@pytest.mark.parametrize("lang", text.LANGS)
def test_a_card_says_kind_values_time_and_the_months_it_could_be_from(lang: text.Lang) -> None:
    found = intake.Found(Token(UNIQ, 1, 1, "msgId"), identify(UNIQ, "msgId"))
    view = reader(lang)
    made = cards.card(found, view, Clock(datetime(2026, 11, 21, tzinfo=UTC), SHANGHAI, "given"))
    for said in ("172.17.0.1", "18236", "7D4991AD", "992", "2026-11-10 23:37:24.823 +08:00", "2026-10-10", "msgId"):
        assert said in made


# ---- intake


def test_pasted_lines_give_ids_in_order_with_their_places() -> None:
    made = intake.read([("", f"x msgId={UNIQ}, offsetMsgId={OFFSET}\n9f86d081884c7d659a2feaa0c55ad015\n")])
    assert [(item.token.text, item.token.line, item.token.label) for item in made.found] == [
        (UNIQ, 1, "msgId"),
        (OFFSET, 1, "offsetMsgId"),
    ]
    assert [item.verdict.reason for item in made.refused] == ["lower_case"]
    assert made.kinds == {"uniq": 1, "offset": 1} and not made.cut


def test_a_list_of_words_is_judged_word_by_word() -> None:
    made = intake.read([("", f"{UNIQ},{UNIQ[:-1]}\n{OFFSET}")])
    assert [item.token.text for item in made.found] == [UNIQ, OFFSET]
    assert [item.verdict.reason for item in made.refused] == ["odd"]


def test_where_nothing_is_found_the_longest_run_is_told() -> None:
    assert intake.read([("", f"nothing but msgId={UNIQ[:31]} here")]).longest == 31


def test_what_is_beyond_the_limit_is_said_to_be_cut() -> None:
    made = intake.read([("", f"x {UNIQ}\n" * 50)], limit=10)
    assert len(made.found) == 10 and made.cut


def packed(kind: str, text: bytes) -> bytes:
    if kind == "gzip":
        return gzip.compress(text)
    if kind in ("bz2", "xz"):
        return bz2.compress(text) if kind == "bz2" else lzma.compress(text)
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("logs/a.log", text)
            archive.writestr("logs/b.log", b"nothing")
    else:
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            info = tarfile.TarInfo("logs/a.log")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return out.getvalue()


@pytest.mark.parametrize("kind", ["gzip", "bz2", "xz", "zip", "tar.gz"])
def test_an_upload_is_unpacked_as_a_scan_would(kind: str) -> None:
    heads = intake.heads_of(io.BytesIO(packed(kind, f"msgId={UNIQ}".encode())), "logs")
    assert not heads.more and not heads.failed
    name, text = heads.texts[0]
    assert text == f"msgId={UNIQ}" and name == ("logs!logs/a.log" if kind in ("zip", "tar.gz") else "logs")


def test_what_is_packed_is_read_up_to_the_limit_only() -> None:
    heads = intake.heads_of(io.BytesIO(packed("gzip", b"x" * 5_000_000)), "big", 1_000)
    assert heads.more and [len(text) for _, text in heads.texts] == [1_000]


def test_of_an_archive_of_crumbs_the_first_are_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(intake.MEMBERS + 5):
            archive.writestr(f"{number}.log", b"")
    heads = intake.heads_of(io.BytesIO(out.getvalue()), "crumbs")
    assert heads.more and len(heads.texts) == intake.MEMBERS


def test_what_cannot_be_unpacked_is_named_with_its_reason() -> None:
    heads = intake.heads_of(io.BytesIO(b"7z\xbc\xaf\x27\x1c" + bytes(600)), "logs.7z")
    assert heads.failed[0][0] == "logs.7z" and "unpack it first" in heads.failed[0][1]
    cut = intake.heads_of(io.BytesIO(packed("gzip", os.urandom(4_000))[:-900]), "cut.gz")
    assert [name for name, _ in cut.partly] == ["cut.gz"] and not cut.failed  # its beginning was read


@pytest.mark.parametrize("raw", [UNIQ.encode(), b"\xef\xbb\xbf" + UNIQ.encode(), UNIQ.encode("utf-16")])
def test_a_file_is_read_whatever_its_mark(raw: bytes) -> None:
    heads = intake.heads_of(io.BytesIO(raw), "a.log")
    assert heads.texts == [("a.log", UNIQ)] and not heads.more


def test_the_example_is_the_same_every_time_and_holds_its_story() -> None:
    made = intake.read([("", example.log())])
    assert set(made.kinds) == {"uniq", "offset"} and made.refused and not made.cut
    assert {item.verdict.reason for item in made.refused} == {"lower_case"}
    dates = dates_of(((item.verdict, item.token) for item in made.found), Clock(example.now(), UTC, "assumed"))
    assert dates.zone is not None and dates.zone[0].utcoffset(None) == timedelta(hours=8) and dates.zone[1] == "born"
    assert "msgId=" in example.incident()


# ---- sentences and marks


def test_a_process_is_told_with_wraps_missing_restarts_and_tracks() -> None:
    rows = [row.to_dict() for _, row in example_run.tables()["processes"].iterrows()]
    assert "3 wraps, 426 IDs missing (0.3%), 141,000 in this input" in sentences.process(rows[0], reader())
    assert "1 restart" in sentences.process(rows[2], reader())
    assert "**2 counters** rise at the same time" in sentences.process(rows[3], reader())
    assert "generated **1 id** at 2026" in sentences.process(rows[7], reader())
    assert "at least 3 wraps" in sentences.process(rows[0] | {"wraps_certain": False}, reader())


def test_odd_hosts_and_brokers_carry_their_marks() -> None:
    found = address_flags.of_hosts(example_run.tables()["processes"])
    assert found == {"172.17.0.2": ["docker", "shared"], "127.0.0.1": ["loopback"]}
    assert address_flags.of_broker("172.18.0.4", 30911) == ("internal", "node_port")
    assert address_flags.of_broker("10.1.2.3", 10911) == ()


def test_a_process_in_a_link_is_found_again() -> None:
    processes = example_run.tables()["processes"]
    for place, row in processes.iterrows():
        assert find_process(processes, process_key(row)) == place
    for key in (None, "", "10.0.0.1", "a~b~c", "10.42.3.17~99999999999~18B4AAC2"):
        assert find_process(processes, key) is None


def test_an_average_says_that_it_spans_a_standstill() -> None:
    row = example_run.tables()["processes"].iloc[0].to_dict()
    seconds = [0, 1, 2, 60, 61]
    points = pd.DataFrame({"elapsed_ms": [1000 * second for second in seconds]})
    said = sentences.process(row, reader(), points)
    assert "ids/s over the whole span, though it stood still for 58 s of 1 min 1 s." in said
    steady = pd.DataFrame({"elapsed_ms": range(0, 100_000, 1000)})
    assert sentences.process(row, reader(), steady).endswith("ids/s over the whole span.")


# ---- what the server lets in


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b\\c.log", "..", "", "x" * 300, "日志.log", ".hidden"])
def test_an_upload_stays_in_its_folder_whatever_it_is_called(name: str) -> None:
    safe = intake.safe_name(name)
    assert safe and "/" not in safe and "\\" not in safe and not safe.startswith(".") and len(safe) <= 80


def test_files_with_the_same_content_are_known_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"x" * 3_000_000)
    made = [
        intake.Source("a.log", b"x" * 3_000_000),
        intake.Source("b.log", io.BytesIO(b"x" * 3_000_000)),
        intake.Source("c.log", tmp_path / "c"),
        intake.Source("d.log", b"y"),
    ]
    names, digests = [source.name for source in made], [source.digest() for source in made]
    assert intake.twins(names, digests) == [["a.log", "b.log", "c.log"]]
    assert intake.twins(names[2:], digests[2:]) == []


def test_an_upload_whose_content_was_compared_is_still_read_from_its_beginning() -> None:
    source = intake.Source("a.log", io.BytesIO(f"msgId={UNIQ}\n".encode()))
    for _ in range(2):
        assert source.digest() == intake.Source("b", f"msgId={UNIQ}\n".encode()).digest()
        assert intake.heads_of(source.data, "a.log").texts == [("a.log", f"msgId={UNIQ}\n")]


def test_a_title_names_what_was_scanned_in_either_language() -> None:
    many = {"sources": ["pasted.txt", "a", "b", "c", "d"]}
    assert scans.title_of("", many, text.words("en")) == "pasted text, a, b and 2 more"
    assert scans.title_of("", many, text.words("zh")).startswith("粘贴的文本、a、b")
    assert scans.title_of("old", {}, text.words("zh")) == "old"
    assert scans.title_of("", {"sources": ["pasted.txt"], "only": UNIQ}, text.words("zh")) == UNIQ


def test_choosers_tell_runs_of_one_title_apart() -> None:
    def row(name: str, minute: int, title: str = "app.log") -> dict[str, object]:
        return {"name": name, "title": title, "options": {}, "summary": None,
                "created": datetime(2026, 11, 21, 1, minute, 7, tzinfo=UTC)}  # fmt: skip

    rows = [row("20261121-015507-a1b2c3", 55), row("20261121-015507-0d4e5f", 55), row("20261121-015607-777777", 56)]
    rows.append(row("20261121-015507-888888", 55, "old.log"))
    assert list(scans.labels(rows, reader()).values()) == [
        "app.log · 2026-11-21 09:55 +08:00 · a1b2c3",
        "app.log · 2026-11-21 09:55 +08:00 · 0d4e5f",
        "app.log · 2026-11-21 09:56 +08:00",
        "old.log · 2026-11-21 09:55 +08:00",
    ]
    assert process_name({"host": "1.1.1.1", "pid": 1, "loader": "0A", "layout": "uniq_v4"}) != process_name(
        {"host": "1.1.1.1", "pid": 1, "loader": "0A", "layout": "uniq_v4_le"}
    )


def test_the_scan_counts_what_was_cut() -> None:
    made = intake.read([("", f"x {UNIQ} {OFFSET}\n" * 50)], limit=10)
    first = refusals.sentence(made, "50 lines", text.words("en"))
    assert first.startswith("The first **10 ids** of 50 lines")
    summary = {"ids": 100, "distinct": 2, "uniq": 50, "offset": 50, "client": 0}
    said = refusals.sentence(made, "50 lines", text.words("en"), summary)
    assert said.startswith("**100 ids** in 50 lines, 2 of them different: 50 msgIds and 50 offsetMsgIds")

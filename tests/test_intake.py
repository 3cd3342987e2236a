"""What was pasted or uploaded, read at once: tokens, archives, names, and what ids settle for one another."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import os
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from idcore.base import catalogue
from idcore.ids.clock import Clock
from idcore.ids.dating import dates_of
from idcore.ids.describe import when
from idcore.intake import intake
from idcore.presentation import intake_texts
from idcore.simulate import example
from idcore.sources.unpack import _Members

pytestmark = pytest.mark.quick

UNIQ, OFFSET = "AC110001473C7D4991AD336AEA5703E0", "AC11000100002A9F00000000000E8580"


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


def test_one_string_alone_is_read_in_any_case_and_a_list_is_not() -> None:
    lower = UNIQ.lower()
    alone = intake.read([("", f' "{lower}"\n')])
    assert alone.read_in_lower_case and [item.token.text for item in alone.found] == [lower]
    for text in (f"{lower} {OFFSET}", f"{lower}\n{lower}", f"msgId={lower}", f"got {lower}"):
        made = intake.read([("", text)])
        assert not made.read_in_lower_case and "lower_case" in [item.verdict.reason for item in made.refused]
    assert not intake.read([("a.log", lower)]).found, "a file is read like a scan reads it"
    assert not intake.read([("", UNIQ)]).read_in_lower_case


def test_labels_decide_whether_lower_case_may_be_ids() -> None:
    lower = UNIQ.lower()
    assert intake.read([("", f"a traceId={lower} md5={lower}")]).lower == 0
    assert intake.read([("", f"a traceId={lower} msgId={lower}")]).lower == 2, "all are read if any is"
    assert intake.read([("", f"a traceId={lower}")], case="any").lower == 1


def test_files_without_ids_are_named_where_others_have_some() -> None:
    texts = [("a.log", "nothing"), ("b.log", f"x {UNIQ}"), ("c.log", UNIQ.lower())]
    assert intake.read(texts).without_ids == ["a.log", "c.log"]
    assert intake.read(texts[:1]).without_ids == [], "no file has one: the page says that of all"
    assert intake.read([*texts, ("d.log", f"x {UNIQ}\n" * 9)], limit=3).without_ids == [], "not all was read"


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
    assert heads.failed[0][0] == "logs.7z" and "unpack it first" in str(heads.failed[0][1])
    cut = intake.heads_of(io.BytesIO(packed("gzip", os.urandom(4_000))[:-900]), "cut.gz")
    assert [name for name, _ in cut.partly] == ["cut.gz"] and not cut.failed  # its beginning was read


@pytest.mark.parametrize("raw", [UNIQ.encode(), b"\xef\xbb\xbf" + UNIQ.encode(), UNIQ.encode("utf-16")])
def test_a_file_is_read_whatever_its_mark(raw: bytes) -> None:
    heads = intake.heads_of(io.BytesIO(raw), "a.log")
    assert heads.texts == [("a.log", UNIQ)] and not heads.more


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


def test_sources_that_prove_different_zones_are_named_with_their_ids() -> None:
    ids = [f"0A00000{host}0D5818B4AAC2{9 * 3_600_000 + 50 * n:08X}{n:04X}" for host in (7, 8) for n in range(20)]
    lines = [f"2026-11-01T09:00:00.{50 * (n % 20):03d}{{}} msgId={one}\n" for n, one in enumerate(ids)]
    clock = Clock(datetime(2026, 11, 20, tzinfo=UTC), UTC, "assumed")

    def zones(first: str, second: str) -> dict[str, tuple[timedelta | None, int]]:
        halves = ("".join(lines[:20]).replace("{}", first), "".join(lines[20:]).replace("{}", second))
        found = intake.zones_of(intake.read([("pasted.txt", halves[0]), ("b.log", halves[1])]), clock)
        return {name: (zone.utcoffset(None), n) for name, (zone, n) in found.items()}

    assert zones("+08:00", "+00:00") == {"pasted.txt": (timedelta(hours=8), 20), "b.log": (timedelta(0), 20)}
    assert zones("+08:00", "+08:00") == {}


def test_the_example_is_the_same_every_time_and_holds_its_story() -> None:
    made = intake.read([("", example.log())])
    assert set(made.kinds) == {"uniq", "offset"} and not made.refused and not made.cut
    assert made.trace_ids == 77
    dates = dates_of(((item.verdict, item.token) for item in made.found), Clock(example.now(), UTC, "assumed"))
    assert dates.zone is not None and dates.zone[0].utcoffset(None) == timedelta(hours=8) and dates.zone[1] == "born"
    assert "msgId=" in example.incident()


def test_ids_of_several_files_settle_one_another() -> None:
    alone, clear = "5FE4660B0000F13D000000A1FB5ED000", "5FE4660B0000F13D0000B2671B690100"
    assert intake.read([("a.log", alone)]).kinds == {"offset": 1}
    made = intake.read([("a.log", alone), ("b.log", f"sent {clear}")])
    assert made.kinds == {"uniq": 2}
    assert [item.source for item in made.found] == ["a.log", "b.log"]


def test_a_file_that_is_called_as_what_is_pasted_is_a_file() -> None:
    file = io.BytesIO(UNIQ.lower().encode())
    file.name = intake.PASTED
    (source,) = intake.sources_of_input("", [file])
    made = intake.read_sources([source])
    assert (made.alone, [item.source for item in made.items]) == (False, [source.name]) and source.name != intake.PASTED


def test_a_zone_that_is_given_is_another_question_than_one_that_is_assumed() -> None:
    at, sources = datetime(2026, 11, 26, tzinfo=UTC), [intake.Source("a.log", UNIQ.encode())]
    asked = {intake.asked_of(sources, intake.Dating(UTC, source, at), "strict")[0] for source in ("assumed", "given")}
    assert len(asked) == 2


@pytest.mark.parametrize("lang", catalogue.languages())
def test_the_lines_that_prove_a_zone_are_counted_apart_from_those_that_it_dates(lang: str) -> None:
    java = "AC110001473C7D4991AD9A7EC8D8"
    born = f"MessageExt [bornTimestamp=1793376000216, properties={{UNIQ_KEY={java}0001}}]"
    texts = [("a.log", "\n".join(f"done {java}{n:04X}" for n in range(2, 5))), ("b.log", born)]
    made = intake.read(texts)
    clock = Clock(datetime(2026, 11, 20, tzinfo=UTC), UTC, "assumed")
    dated = replace(clock, dates=dates_of(((item.verdict, item.token) for item in made.found), clock))
    sources, said = intake.dated_by(made.found, dated), catalogue.words(lang)
    assert [*sources.items()] == [("born", (1, "+08:00")), ("others", (3, "+08:00"))]
    assert intake_texts.dated_note(sources, said) == [
        said("dated.born", n=said.count("time", 1), zone="+08:00"),
        said("dated.others", n=said.count("time", 3), zone="+08:00"),
    ]


def test_a_month_that_other_lines_prove_is_told_from_that_of_the_own_line() -> None:
    java = "AC110001473C7D4991AD9A7EC8D8"
    made = intake.read([("a.log", f"2026-10-31 00:00:00,217 sent {java}0001"), ("b.log", f"done {java}0002")])
    clock = Clock(datetime(2026, 11, 20, tzinfo=UTC), UTC, "given")
    dated = replace(clock, dates=dates_of(((item.verdict, item.token) for item in made.found), clock))
    assert intake.dated_by(made.found, dated) == {"line": (1, "+00:00"), "line_others": (1, "+00:00")}


def test_ids_of_one_time_of_two_months_are_each_of_the_month_of_their_line() -> None:
    """A job of each month: the same elapsed, but another counter."""
    java = "AC110001473C7D4991AD336AEA57"
    lines = [f"2026-{month}-10 23:37:25 sent {java}{number:04X}" for number, month in enumerate(("09", "10", "11"), 1)]
    made = intake.read([("a.log", "\n".join(lines))])
    clock = Clock(datetime(2026, 11, 20, tzinfo=UTC), UTC, "given")
    dated = replace(clock, dates=dates_of(((item.verdict, item.token) for item in made.found), clock))
    told = [when(item.verdict.best, item.token, dated) for item in made.found if item.verdict.best is not None]
    assert [sent and (sent.at.month, reason and reason.code) for sent, reason in told] == [
        (month, "month_prefix") for month in (9, 10, 11)
    ]


def test_reasons_that_read_alike_are_one() -> None:
    reasons = {"masked": 2, "masked_offset": 3, "masked_client": 1}
    assert intake_texts.reasons_text(reasons, catalogue.words()) == "masked or cut off"
    assert intake_texts.reasons_text(reasons | {"digit": 1}, catalogue.words()).startswith("masked or cut off (6), ")


def test_files_of_one_name_are_told_apart() -> None:
    """Two hosts name their log alike: each place in them has to be of one file."""
    files = [io.BytesIO(b"x") for _ in range(4)]
    for file, name in zip(files, ("app.log.gz", "app.log.gz", "app (2).log.gz", "app.log.gz"), strict=True):
        file.name = name  # type: ignore[attr-defined]
    named = [source.name for source in intake.sources_of_input("", files)]
    assert named == ["app.log.gz", "app (2).log.gz", "app (2) (2).log.gz", "app (3).log.gz"]


class Piece(bytes):
    """Bytes that may not be put behind many others one by one: each time all of them would be copied."""

    def __radd__(self, before: bytes) -> bytes:
        assert isinstance(before, bytearray) or len(before) < 1 << 11, "copied"
        return NotImplemented if isinstance(before, bytearray) else before + bytes(self)


@pytest.mark.parametrize("head", [b"PAR1" + bytes(9_000), b"some text " * 900])
def test_a_stream_that_gives_a_byte_at_a_time_is_not_copied_for_each(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A packed file of 69 KB, 60 MB of zeros and 500 members of a byte, kept a page busy for minutes."""
    read, sizes = _Members.read, list[int]()

    def piece(self: _Members, size: int = -1) -> Piece:
        sizes.append(size)
        return Piece(read(self, size))

    monkeypatch.setattr(_Members, "read", piece)
    packed = b"".join(gzip.compress(part) for part in (head, *[b"a"] * 50))
    heads = intake.heads_of(io.BytesIO(packed), "a.gz")
    assert [text for _, text in heads.texts] == ([] if head[:4] == b"PAR1" else [head.decode() + "a" * 50])
    assert len(sizes) > 50 and max(sizes) <= 1 << 20


def test_each_number_of_files_of_one_name_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A visitor uploads 10,000 files of one name, and each click takes them anew."""
    tried = 0

    def numbers(start: int) -> Iterator[int]:
        nonlocal tried
        for number in itertools.count(start):
            tried += 1
            yield number

    monkeypatch.setattr(intake, "count", numbers)
    files = [SimpleNamespace(name="a.log") for _ in range(300)]
    named = [source.name for source in intake.sources_of_input("", files)]
    assert named[::100] == ["a.log", "a (101).log", "a (201).log"] and tried == 299

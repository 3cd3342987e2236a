"""The words: both languages say everything, with the same values, and count none, one and many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from idcore import safe_text
from idcore.cli import scan as cli
from idcore.errors import CoreError
from idcore.ids import words as core
from idcore.ids import words_zh as zh_core
from idcore.ids.identify import identify
from pages.parts import text

ENGLISH, CHINESE = text.TABLES["en"], text.TABLES["zh"]
PAGES = Path(__file__).resolve().parents[2] / "pages"
NAMES = re.compile(r"{(\w+)")


def test_every_english_text_has_a_chinese_one_and_the_other_way_round() -> None:
    assert set(ENGLISH) == set(CHINESE)


@pytest.mark.parametrize("key", sorted(ENGLISH))
def test_both_languages_are_given_the_same_values(key: str) -> None:
    assert set(NAMES.findall(ENGLISH[key])) == set(NAMES.findall(CHINESE[key]))


@pytest.mark.parametrize("table", ["ERRORS", "REASONS", "MAKERS"])
def test_every_code_of_the_core_has_chinese(table: str) -> None:
    english, chinese = getattr(core, table), getattr(zh_core, table)
    assert set(english) == set(chinese)
    for code in english:
        assert set(NAMES.findall(chinese[code])) <= set(NAMES.findall(english[code])), code


def test_no_exclamation_mark_is_shown() -> None:
    shouted = [key for table in (ENGLISH, CHINESE) for key, value in table.items() if "!" in value or "！" in value]
    assert not shouted


def test_every_key_that_a_page_names_is_there() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in PAGES.rglob("*.py"))
    keys = set(re.findall(r'words\(\s*"([\w.]+)"', source))
    nouns = {f"n.{noun}" for noun in re.findall(r'\.count\(\s*"(\w+)"', source)}
    assert keys | nouns <= set(ENGLISH)


def test_counts_are_right_for_none_one_and_many() -> None:
    english, chinese = text.words("en"), text.words("zh")
    assert [english.count("id", n) for n in (0, 1, 2, 9_999)] == ["no ids", "1 id", "2 ids", "9,999 ids"]
    assert [chinese.count("id", n) for n in (0, 1, 9_999)] == ["没有 ID", "1 个 ID", "9,999 个 ID"]


def test_sizes_spans_and_shares_are_never_rounded_to_a_lie() -> None:
    words = text.words("en")
    assert [words.bytes(n) for n in (0, 1023, 1024, 1_500_000)] == ["0 B", "1,023 B", "1.0 KiB", "1.4 MiB"]
    assert [words.duration(n) for n in (0.25, 5, 90, 4000, 100_000)] == [
        "250 ms",
        "5 s",
        "1 min 30 s",
        "1 h 6 min",
        "1 d 3 h",
    ]
    assert [words.share(*pair) for pair in ((0, 9), (1, 9_999), (9_998, 9_999), (1, 2), (0, 0))] == [
        "0%",
        "< 0.1%",
        "> 99.9%",
        "50%",
        "–",
    ]


@pytest.mark.parametrize("lang", text.LANGS)
@pytest.mark.parametrize(
    "token",
    [
        "AC11",
        "XC110001473C7D4991AD336AEA5703E0",
        "9f86d081884c7d659a2feaa0c55ad015",
        "0208719066FF9A12670AC62EB100000007",
        "0123456789ABCDEF0123DF00000089AB",
    ],
)
def test_an_error_is_one_sentence_in_either_language(lang: text.Lang, token: str) -> None:
    error = identify(token).error
    assert isinstance(error, CoreError)
    said = text.words(lang).error(error)
    assert "{" not in said and said.endswith("." if lang == "en" else "。")


@pytest.mark.parametrize("english", [*core.MAKERS.values(), "Java client, loader 4711 of the main thread", "who knows"])
def test_a_maker_of_a_table_is_said_in_chinese_where_it_is_known(english: str) -> None:
    said = text.words("zh").maker(english)
    assert (said == english) == (english == "who knows" or english in zh_core.MAKERS.values())


def test_sizes_have_one_system_of_units_on_the_command_line_and_in_the_console() -> None:
    sizes = {0: "0 B", 0.4: "0.4 B", 100: "100 B", 1023: "1,023 B", 1024: "1.0 KiB", 6_690_000: "6.4 MiB"}
    sizes |= {420 << 20: "420 MiB", 1 << 30: "1.0 GiB", 5 << 50: "5,120 TiB"}
    for number, said in sizes.items():
        assert safe_text.size(number) == said and {text.words(lang).bytes(number) for lang in text.LANGS} == {said}
    assert cli.size is safe_text.size, "the command line has no other"
    words_ = [*ENGLISH.values(), *CHINESE.values()]
    assert not [one for one in words_ if re.search(r"(?<![A-Za-z])[kMGT]B\b", one)]


def test_a_kind_of_id_has_one_name_in_both_languages() -> None:
    names = {"uniq": "msgId", "offset": "offsetMsgId", "client": "5.x msgId"}
    for kind, name in names.items():
        for lang in text.LANGS:
            said = text.words(lang)
            assert said(f"kind.{kind}") == name and said(f"kind_long.{kind}").startswith(name)
            assert name in said.count(f"kind_{kind}", 1) and name in said.count(f"kind_{kind}", 2)


def test_a_timestamp_is_not_an_occasion() -> None:
    assert text.words("en").count("time", 1) == "1 timestamp" and text.words("en").count("time", 0) == "No timestamps"


def test_no_reason_of_a_loopback_address_is_java_alone() -> None:
    assert "Java" not in core.REASONS["host_loopback"] + zh_core.REASONS["host_loopback"]

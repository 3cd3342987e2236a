"""The catalogue: every code has its message in every language, with the same values; counts and spans are right."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel import Locale

from idcore.answers import finding_words
from idcore.answers.findings.all_rules import RULES
from idcore.base import catalogue, safe_text
from idcore.base.catalogue import Words
from idcore.base.errors import CoreError, coded, from_coded, refuse
from idcore.ids.identify import identify
from tests import source_code
from tests.source_code import ROOT, modules, nodes

pytestmark = pytest.mark.quick

LANGUAGES = catalogue.languages()
ENGLISH = catalogue.words("en")
CODE = modules("idcore", "pages")
# Every class of the family by the source, whatever module it is in, and what makes one.
CLASSES = re.compile(r"^class (\w+)\((?:CoreError|RemotingError|WebError|Unreachable|AnswerError)\)", re.MULTILINE)
RAISED = {"refuse", "CoreError", "kind", "wrong", "cls"}
RAISED |= {name for path in CODE for name in CLASSES.findall(path.read_text(encoding="utf-8"))}
HERE = {"code": 0, "field": 1, "byte": 2, "text": 3}  # parameters of refuse() that fill no message


def messages(lang: str) -> dict[str, Any]:
    return dict(catalogue.words(lang)._messages)


def forms(message: str | dict[str, str]) -> list[str]:
    return [message] if isinstance(message, str) else list(message.values())


def raised() -> Iterator[tuple[str, str, set[str] | None]]:
    """File and line, code, and names of values where they are written there, of every error with a literal code."""
    for path in CODE:
        for node in nodes(path):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            code = node.args[0]
            if name not in RAISED or not isinstance(code, ast.Constant) or not isinstance(code.value, str):
                continue
            place = f"{source_code.name(path)}:{node.lineno}"
            if name in ("refuse", "wrong"):
                given = {word.arg for word in node.keywords}
                yield place, code.value, None if None in given else {str(one) for one in given - HERE.keys()}
            else:
                values = node.args[1] if len(node.args) > 1 else None
                named = isinstance(values, ast.Dict) and all(isinstance(key, ast.Constant) for key in values.keys)
                yield place, code.value, {key.value for key in values.keys} if named else None  # type: ignore[union-attr]


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_every_language_has_every_message_and_the_same_values(lang: str) -> None:
    english, other = messages("en"), messages(lang)
    assert english.keys() == other.keys()
    words = catalogue.words(lang)
    # the form for one may leave out what is 1
    wrong = [key for key in english if words.placeholders(key) != ENGLISH.placeholders(key)]
    assert not wrong


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_form_is_one_that_cldr_has(lang: str) -> None:
    rule = Locale.parse(lang).plural_form
    categories = set(rule.tags) | {"other", "=0", "=1"}
    for key, message in messages(lang).items():
        if not isinstance(message, str):
            assert "other" in message and message.keys() <= categories, key
    plural = catalogue.words(lang)._plural
    assert [plural(number) for number in range(1_000)] == [rule(number) for number in range(1_000)]


def test_every_code_that_can_be_raised_has_a_message() -> None:
    found = list(raised())
    assert len(found) > 150
    unknown = [(place, code) for place, code, _ in found if not ENGLISH.has(f"error.{code}")]
    assert not unknown


def test_every_error_is_raised_with_the_values_of_its_message() -> None:
    wrong = [
        (place, code, sorted(ENGLISH.placeholders(f"error.{code}") - given))
        for place, code, given in raised()
        if given is not None and ENGLISH.placeholders(f"error.{code}") - given
    ]
    assert not wrong


def test_no_sentence_is_raised() -> None:
    """An error is a code; what Java's classes say in their own words is quoted by them alone."""
    spoken = [(place, code) for place, code, _ in raised() if " " in code]
    assert not spoken


def test_every_key_that_a_module_names_is_there() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in CODE)
    keys = set(re.findall(r'\b(?:words|self)\(\s*"([\w.]+)"(?! \+)', source))
    nouns = {f"n.{noun}" for noun in re.findall(r'\bwords\.count\(\s*"(\w+)"', source)}
    assert keys | nouns <= messages("en").keys()


@pytest.mark.parametrize("code", RULES)
def test_every_finding_says_what_it_means_what_to_do_and_what_would_disprove_it(code: str) -> None:
    meanings = messages("en")
    assert any(key == f"meaning.{code}" or key.startswith(f"meaning.{code}.") for key in meanings)
    for part in ("advice", "disproof"):
        assert all(text.endswith(".") for text in forms(meanings[f"{part}.{code}"]))


def test_counts_are_right_for_none_one_and_many() -> None:
    english, chinese = catalogue.words("en"), catalogue.words("zh")
    assert [english.count("id", n) for n in (0, 1, 2, 9_999)] == ["no IDs", "1 ID", "2 IDs", "9,999 IDs"]
    assert [chinese.count("id", n) for n in (0, 1, 9_999)] == ["没有 ID", "1 个 ID", "9,999 个 ID"]
    assert english.count("time", 1) == "1 timestamp" and english.count("time", 0) == "No timestamps"


def test_sizes_spans_and_shares_are_never_rounded_to_a_lie() -> None:
    words = catalogue.words("en")
    assert [words.bytes(n) for n in (0, 1023, 1024, 1_500_000)] == ["0 B", "1,023 B", "1.0 KiB", "1.4 MiB"]
    spans = {0.25: "250 ms", 5: "5 s", 90: "1 min 30 s", 120: "2 min", 4000: "1 h 6 min", 100_000: "1 d 3 h"}
    spans |= {3_600: "1 h", 2 * 86_400: "2 d", 86_400_000: "1,000 d"}
    assert {n: words.duration(n) for n in spans} == spans
    shares = {(0, 9): "0%", (1, 2_000): "0.05%", (1, 10_001): "< 0.01%", (1, 2): "50%", (0, 0): "–"}
    shares |= {(9_998, 9_999): "99.99%", (10_000, 10_001): "> 99.99%"}
    assert {pair: words.share(*pair) for pair in shares} == shares
    column = [words.share_cell(*pair) for pair in ((251, 1000), (1, 4), (1, 1), (0, 4), (1, 100_000), (0, 0))]
    assert column == ["25.1%", "25.0%", "100.0%", "0.0%", "< 0.01%", "–"], "digits stand below each other"


def test_a_span_of_time_is_exact_to_the_millisecond() -> None:
    assert ENGLISH.lasting(3599.932) == "59 min 59.932 s" and catalogue.words("zh").lasting(86_400) == "1 天"
    assert ENGLISH.lasting(0) == "0 s"


@pytest.mark.parametrize("lang", LANGUAGES)
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
def test_an_error_is_one_sentence_in_every_language(lang: str, token: str) -> None:
    error = identify(token).error
    assert isinstance(error, CoreError)
    said = catalogue.words(lang).error(error)
    assert "{" not in said and said.endswith(catalogue.words(lang)("stop"))


def test_values_that_are_several_are_joined_as_the_language_does() -> None:
    error = refuse("in_batch", ids="A1, A2")
    assert ENGLISH.said(error).endswith("that ID: A1, A2") and catalogue.words("zh").said(error).endswith("A1、A2")
    evidence = {"subject": "p", "count": 2, "variant": "hosts", "hosts": "10.0.0.7, 10.0.0.8", "messages": 2}
    said = {lang: finding_words.say("meaning", "collision", evidence, lang) for lang in ("en", "zh")}
    assert "(10.0.0.7, 10.0.0.8)" in said["en"] and "10.0.0.7、10.0.0.8" in said["zh"]
    assert "a, b.log" in catalogue.words("zh")("run.failed_files", n="1", of="2", names="a, b.log"), "a file's own name"


def test_errors_inside_errors_are_said_in_the_same_language() -> None:
    inside = refuse("archive_damaged_why", place=1024, why=refuse("header_long"))
    assert ENGLISH.said(inside) == "damaged at byte 1,024 of the archive: a header of the archive is too long"
    assert catalogue.words("zh").said(inside) == "压缩包在第 1,024 字节损坏：压缩包的某个文件头过长"
    several = refuse("unreachable", address="a:1", why=[refuse("no_answer", limit="3"), refuse("connection_closed")])
    assert ENGLISH.said(several) == "a:1 did not answer: no answer within 3 s; it closed the connection"
    for error in (inside, several):
        kept = error.coded()
        for lang in LANGUAGES:
            words = catalogue.words(lang)
            assert words.said(kept) == words.said(error) == words.said(from_coded(kept))


def test_what_the_system_says_has_the_name_of_its_errno() -> None:
    assert coded(OSError(28, "No space left on device")).code == "ENOSPC"
    assert catalogue.words("zh").said(coded(FileNotFoundError(2, "No such file or directory"))) == "文件或目录不存在"
    strange = coded(ValueError("something  nobody\nhas heard of"))
    assert (strange.code, ENGLISH.said(strange)) == ("said", "something nobody has heard of")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_client_of_a_table_is_named_by_its_code_and_older_runs_by_their_words(lang: str) -> None:
    words = catalogue.words(lang)
    assert words.client("java_main", {"position": 4711}) != "java_main" and "4711" in words.client(
        "java_main", {"position": 4711}
    )
    assert words.client("Java client, JDK 8") == "Java client, JDK 8"


def test_sizes_have_one_system_of_units_on_the_command_line_and_in_the_console() -> None:
    sizes = {0: "0 B", 0.4: "0.4 B", 100: "100 B", 1023: "1,023 B", 1024: "1.0 KiB", 6_690_000: "6.4 MiB"}
    sizes |= {420 << 20: "420 MiB", 1 << 30: "1.0 GiB", 5 << 50: "5,120 TiB"}
    for number, said in sizes.items():
        assert {safe_text.size(number), *(catalogue.words(lang).bytes(number) for lang in LANGUAGES)} == {said}
    texts = [text for lang in LANGUAGES for message in messages(lang).values() for text in forms(message)]
    assert not [one for one in texts if re.search(r"(?<![A-Za-z])[kMGT]B\b", one)]


@pytest.mark.parametrize("kind", ["uniq", "offset", "client"])
def test_a_kind_of_id_has_one_name_in_every_language(kind: str) -> None:
    name = {"uniq": "msgId", "offset": "offsetMsgId", "client": "5.x msgId"}[kind]
    for said in map(catalogue.words, LANGUAGES):
        assert said(f"kind.{kind}") == name and said(f"kind_long.{kind}").startswith(name)
        assert name in said.count(f"kind_{kind}", 1) and name in said.count(f"kind_{kind}", 2)


def test_no_reason_of_a_loopback_address_is_java_alone() -> None:
    assert "Java" not in "".join(catalogue.words(lang)("reason.host_loopback") for lang in LANGUAGES)


def test_the_words_of_a_further_language_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "idcore" / "base" / "catalogue" / "en.py").read_text(encoding="utf-8").replace('"1 ID"', '"ein ID"')
    (tmp_path / "de.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(catalogue, "__path__", [*catalogue.__path__, str(tmp_path)])
    try:
        assert Words("de").count("id", 1) == "ein ID"
    finally:
        sys.modules.pop("idcore.base.catalogue.de", None)


def test_an_error_without_a_message_is_shown_whole() -> None:
    assert str(CoreError("later.code of a newer version")) == "later.code of a newer version"


@pytest.mark.parametrize("key", ["findings.headline_gap", "counters.said_gap", "producers.worst_one"])
def test_one_missing_id_is_not_in_a_row(key: str) -> None:
    one, two = (ENGLISH.fill_known(key, {"count": n, "n": ENGLISH.count("id", n), "more": ""}) for n in (1, 2))
    assert " in a row" in two and " in a row" not in one and " are " not in one


def test_what_is_assumed_has_a_space_before_it_in_english_alone() -> None:
    assert catalogue.words("en").assumed(["month"]) == " (month assumed)"
    assert catalogue.words("zh").assumed(["month"]) == "（月份为假定）"
    values: dict[str, Any] = dict.fromkeys(finding_words.names("meaning", "dead_letters", {}), 7)
    said = finding_words.say("meaning", "dead_letters", values | {"first_at": "09:50", "assumed": ["month"]}, "zh")
    assert "从 09:50（月份为假定）起" in said
    assert catalogue.words("en").assumed([]) == catalogue.words("zh").assumed([]) == ""


def test_a_sentence_begins_with_a_capital_unless_a_name_begins_it() -> None:
    texts = ("pulled, not acknowledged yet", "no IDs", "orders.log has none", "10.0.0.1: closed", "iOS", "")
    wanted = ("Pulled, not acknowledged yet", "No IDs", "orders.log has none", "10.0.0.1: closed", "iOS", "")
    assert tuple(map(catalogue.upper, texts)) == wanted


def test_chinese_has_no_space_between_two_of_its_signs_where_a_value_is_filled_in() -> None:
    chinese = catalogue.words("zh")
    assert chinese("delivery.said.acked", who="某个消费者", places="第 3 行") == "某个消费者已确认（第 3 行）。"
    assert chinese("delivery.said.acked", who="**某个消费者**", places="第 3 行") == "**某个消费者**已确认（第 3 行）。"
    assert chinese("delivery.said.acked", who="billing", places="第 3 行") == "billing 已确认（第 3 行）。"
    assert chinese("delivery.said.reason", reason="订单 日志") == "附带说明：订单 日志", "a value stays as it is"
    between = chinese("message.between", first="10:00（时区为假定）", last="12:00 +08:00（时区为假定）")
    assert between == "在 10:00（时区为假定）与 12:00 +08:00（时区为假定）之间"
    said = chinese.fill(
        "delivery.said.again_after",
        {
            "failed": "首次投递",
            "place": "第 2 行",
            "apart_seconds": 10.308,
            "then": "第 1 次重试",
            "there": "第 3 行",
            "usual_seconds": 10,
        },
    )
    assert "10.308 秒后是第 1 次重试" in said, "the end of a span"

"""The words of findings: every code and variant has meaning, advice and disproof in both languages."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from idcore.answers import finding_words as words
from idcore.answers.findings.all_rules import Finding
from idcore.base import catalogue
from idcore.base.safe_text import json_text
from idcore.scan import lines
from idcore.scan.local import scan_local
from idcore.scan.months import month_rows
from idcore.simulate import example
from idcore.sources.inputs import list_files
from tests.findings.every_rule import find_all

pytestmark = pytest.mark.quick

REAL = Path(__file__).parents[1] / "vectors" / "real.log.gz"
AT = datetime(2026, 11, 22, tzinfo=UTC)

ENGLISH, CHINESE = catalogue.words("en"), catalogue.words("zh")


def test_further_sentences_bring_their_stop() -> None:
    assert all(text.startswith(". ") and not text.endswith(".") for text in ENGLISH.table("also.").values())
    assert all(text.startswith("。") and not text.endswith("。") for text in CHINESE.table("also.").values())
    values = {"subject": "p", "count": 1, "also": ["group", "told by a later version"], "group": "pay"}
    assert words.say("meaning", "restart", values).endswith("wrap. Consumer groups that retried: pay")
    assert words.names("meaning", "restart", values) >= {"group", "subject"}
    assert words.say("advice", "restart", values) == ENGLISH("advice.restart")


def test_one_and_many() -> None:
    values = {"subject": "p", "count": 1}
    assert words.say("meaning", "restart", values).startswith("p restarted once:")
    assert words.say("meaning", "restart", {**values, "count": 2000}).startswith("p restarted 2,000 times:")
    assert "1 次" in words.say("meaning", "restart", values, "zh")
    assert "at least once;" in words.say("meaning", "counter_wrap", {**values, "variant": "uncertain"})
    clock = {**values, "variant": "clock", "first_at": "A", "last_at": "B"}
    assert words.say("meaning", "elapsed_impossible", clock).startswith("1 ID of p is not counted")
    assert ", it was generated from" in words.say("meaning", "elapsed_impossible", clock)
    assert "2 IDs of p are not counted" in words.say("meaning", "elapsed_impossible", {**clock, "count": 2})


def test_no_meaning_says_one_of_many() -> None:
    for key, text in ENGLISH.table("meaning.").items():
        if not isinstance(ENGLISH._messages[f"meaning.{key}"], str):
            continue  # it has a form for one
        bare = re.search(r"{count:,} (ids|IDs|times|messages|texts)", text)
        # Of these there are two at least: rows that stand for many, and what one alone would not show.
        assert (
            not bare
            or key.endswith((".unseen", ".zero", ".loop", ".loop_among"))
            or key
            in (
                "duplicate_send.same_broker",
                "missing_ids",
                "missing_ids.gaps",
                "missing_ids.holes",
                "more",
                "group_stalled",
                "group_stalled.disabled",
                "group_stalled.moving",
                "poison_message",
                "group_skipped.never_read",
                "topic_unread",
                "dead_letters",
                "several_months",
            )
        ), key


MISSING = sorted(key for key in ENGLISH.table("meaning.") if key.startswith("missing_ids"))


@pytest.mark.parametrize("code", [key for key in MISSING if key != "missing_ids.batch"])  # there nothing is missing
def test_a_missing_id_is_never_said_to_be_a_lost_message(code: str) -> None:
    for table, caveat, sample in (
        (ENGLISH, "not prove that", "is a sample, or"),
        (CHINESE, "不能断定消息丢失", "要么是抽样"),
    ):
        assert (sample if code.endswith(".sample") else caveat) in table.table("meaning.")[code]


def test_advice_says_a_guess_as_a_guess() -> None:
    english, chinese = ENGLISH.table("advice."), CHINESE.table("advice.")
    assert "usually crashes" in english["restart"] and "通常" in chinese["restart"]
    assert "Probably" in english["expired"] and "72 h" in english["expired"] and "Do not look" not in english["expired"]
    assert "很可能" in chinese["expired"] and "72 小时" in chinese["expired"] and "不必" not in chinese["expired"]


def test_only_a_java_client_is_told_to_upgrade_java() -> None:
    for lang in ("en", "zh"):
        variants = (None, "not_java", "own_name")
        java, other, name = (words.say("advice", "loopback_host", {"variant": one}, lang) for one in variants)
        assert "Java" in java and "5.1.0" in java
        assert "Java" not in other + name and "/etc/hosts" in other and "DNS" in other
        # 0.0.0.0 is what msgIds of an old C++ client look like: first it has to be a broker's address at all.
        nowhere = words.say("advice", "broker_address_internal", {"variant": "nowhere"}, lang)
        assert nowhere.index("offsetMsgId") < nowhere.index("brokerIP1") and "C++" in nowhere


def test_the_values_of_a_finding_fill_its_sentences_in_both_languages() -> None:
    found = findings_of_everything()
    assert len({finding.code for finding in found}) > 10
    for finding in found:
        values = json.loads(json_text(finding.told))
        assert not {"ids", "places", "records"} & values.keys(), "what only proves it is evidence"
        for lang in ("en", "zh"):
            for part in words.SENTENCES:
                assert words.say(part, finding.code, values, lang) == finding.say(part, lang), finding.code


def findings_of_everything() -> list[Finding]:
    """Findings of many codes, as the example and the real log have them."""
    found: list[Finding] = []
    for text, at in ((example.log(), example.now()), (gzip.decompress(REAL.read_bytes()).decode(), AT)):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
            file.write(text)
            file.flush()
            tables = scan_local([file.name], month_rows(at, UTC))
            told = lines.look(list_files([file.name]), tables["copies"]["msg_id"].to_pylist())
            found += find_all(tables, at, UTC, line_evidence=told)
    return found

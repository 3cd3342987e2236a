"""The words of findings: every code and variant has meaning, advice and disproof in both languages."""

from __future__ import annotations

import re

import pytest

from idcore.findings import CODES, words, words_zh

NAMES = re.compile(r"{(\w+)")


@pytest.mark.parametrize("part", sorted(words.PARTS))
def test_both_languages_have_the_same_words(part: str) -> None:
    english, chinese = words.PARTS[part], words_zh.PARTS[part]
    assert set(english) == set(chinese)
    for key in english:
        # A plural, and the verb that goes with it, are English matters.
        assert set(NAMES.findall(english[key])) - set(words._NUMBER[True]) == set(NAMES.findall(chinese[key])), key


@pytest.mark.parametrize("code", CODES)
def test_every_code_says_what_to_do_and_what_would_disprove_it(code: str) -> None:
    assert any(key == code or key.startswith(f"{code}.") for key in words.MEANINGS)
    for part, table in words.PARTS.items():
        if part in ("advice", "disproof"):
            assert table[code].endswith(".")


def test_no_word_shouts_and_no_meaning_ends_in_a_stop() -> None:
    for tables in (words.PARTS, words_zh.PARTS):
        for table in tables.values():
            assert not [text for text in table.values() if "!" in text or "！" in text]
    assert not [text for text in words.MEANINGS.values() if text.endswith(".")]


def test_further_sentences_bring_their_stop() -> None:
    assert all(text.startswith(". ") and not text.endswith(".") for text in words.ALSO.values())
    assert all(text.startswith("。") and not text.endswith("。") for text in words_zh.ALSO.values())
    values = {"subject": "p", "count": 1, "also": ["group", "told by a later version"], "group": "pay"}
    assert words.say("meaning", "restart", values).endswith("wrap. Asked for again by consumer group pay")
    assert words.names("meaning", "restart", values) >= {"group", "subject"}
    assert words.say("advice", "restart", values) == words.ADVICE["restart"]


def test_one_and_many() -> None:
    values = {"subject": "p", "count": 1}
    assert "1 time:" in words.say("meaning", "restart", values)
    assert "2 times:" in words.say("meaning", "restart", {**values, "count": 2})
    assert "1 次" in words.say("meaning", "restart", values, words_zh.PARTS)

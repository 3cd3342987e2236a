"""What a machine can hold of the words: terms of the glossary and sentences that are short enough."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from idcore.base.catalogue import en, zh
from idcore.cli import build_parser
from tests.source_code import ROOT, name

pytestmark = pytest.mark.quick

MOST_WORDS = 25
CHINESE = ".zh-CN."
ENTRANCE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
MEASURED = "performance.md"  # its figures and notes are written by the benchmarks

# Terms of docs/glossary.md: one word for one thing.
RULES = {
    "RocketMQ's names of its IDs": r"\b(?:uniq|offset|client) ids?\b",
    "ID in capitals": r"\b(?-i:ids?)\b",
    "terms of the glossary": r"\b(?:names? in front|turned round|kept back|filler|blank records?|replica|operator"
    r"|switched off|ha(?:s|ve) not received|no longer moves?|failed tries)\b",
}
CHINESE_RULES = {
    "请 or 你们": r"贵司|你(?!们)",
    "缺口, 回拨, 忽略": r"空缺|拨回|剔除",
    "再次存储的记录; 从节点": r"副本",
    "offsetMsgId, msgId, 5.x msgId": r"偏移量 ?ID|客户端 ID",
    "Key": r"(?<![一向])键(?!盘)",
    "物理偏移量; 队列位点": r"队列偏移|物理偏移(?!量)",
    "文件尾填充; 场景": r"空白记录|故事",
    "响应; 消费结果; 停滞": r"应答|消费结论|停滞不前",
}
ZH_PAGES = {text for key, text in zh.MESSAGES.items() if re.fullmatch(r"page\.\w+", key)}
# The sections of findings.md that show sentences of the catalogue, which has figures in place of words.
SHOWN_SENTENCES = re.compile(r"\n### .*?(?=\n## |\Z)", re.DOTALL)
NOT_PROSE = re.compile(
    r"```.*?```|^ {4}python [^\n]*\n(?: {8}[^\n]*\n)*|^## make \w+$", re.DOTALL | re.MULTILINE
)  # blocks of code, and headings that are a command


def documents() -> Iterator[Path]:
    yield from (ROOT / page for page in ENTRANCE)
    yield from (
        path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != MEASURED and CHINESE not in path.name
    )


def messages() -> Iterator[tuple[str, str]]:
    """Every message of the catalogue, by its key, without the names of its values."""
    for key, message in en.MESSAGES.items():
        for text in (message,) if isinstance(message, str) else message.values():
            yield f"en.py {key}", re.sub(r"\{[^{}]*\}", "X", text)


def helps(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """What `--help` of a command and of those below it shows."""
    yield parser.prog, parser.description or ""
    for action in parser._actions:
        yield f"{parser.prog} {action.metavar or action.dest}", action.help or ""
        if isinstance(action, argparse._SubParsersAction):
            for one in action._choices_actions:
                yield f"{parser.prog} {one.dest}", one.help or ""
            for command in action.choices.values():
                yield from helps(command)


def blocks(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Paragraphs, items and rows of a document. Code is an X, a link is its text."""
    text = re.sub(r"`[^`]*`", "X", NOT_PROSE.sub("\n", text))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.)\s?)", text):
        if block.strip():
            yield name(path), " ".join(block.split())


def texts() -> Iterator[tuple[str, str]]:
    """Every text that the rules hold, each with its place."""
    yield from messages()
    yield from helps(build_parser())
    for path in documents():
        yield from blocks(path, path.read_text(encoding="utf-8"))


def long_sentences(block: str) -> list[str]:
    """A row of a table has no sentences. What is joined by hyphens, stops or slashes is one word."""
    if block.startswith("|"):
        return []
    sentences = re.split(r"(?<=[.!?])[)*\"]*\s+", re.sub(r"^(?:[-*#>]+|\d+\.)\s+", "", block))
    return [one for one in sentences if len(re.findall(r"[\w'’]+(?:[-/.,]\w+)*", one)) > MOST_WORDS]


@pytest.mark.parametrize("rule", RULES)
def test_no_text_breaks_the_rule(rule: str) -> None:
    pattern = re.compile(RULES[rule], re.IGNORECASE)
    broken = [f"{place}: {text}" for place, text in texts() if pattern.search(text)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("rule", CHINESE_RULES)
def test_no_chinese_text_breaks_the_rule(rule: str) -> None:
    pattern = re.compile(CHINESE_RULES[rule])
    pages = [*ROOT.glob(f"*{CHINESE}md"), *(ROOT / "docs").rglob(f"*{CHINESE}md"), ROOT / "docs" / "glossary.md"]
    texts = [(page.name, line) for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    texts += [
        (key, text)
        for key, said in zh.MESSAGES.items()
        for text in ([said] if isinstance(said, str) else said.values())
    ]
    broken = [f"{place}: {text}" for place, text in texts if pattern.search(text)]
    assert len(pages) > 4 and not broken, "\n".join(broken)


def test_a_page_or_a_button_that_a_message_names_is_called_so() -> None:
    """What is quoted and no figure is a text of the console, in both languages; a page that is quoted is a page."""
    plain = {key: text.rstrip(":") for key, text in en.MESSAGES.items() if isinstance(text, str)}
    wrong = []
    for key, message in en.MESSAGES.items():
        said = zh.MESSAGES[key]
        chinese = said if isinstance(said, str) else " ".join(said.values())
        for text in (message,) if isinstance(message, str) else message.values():
            for quoted in re.findall(r"“([^”{}]+)”", text):
                named = [str(zh.MESSAGES[one]).rstrip("：") for one, own in plain.items() if own == quoted]
                if not any(f"“{name}”" in chinese for name in named):
                    wrong.append((key, quoted))
        wrong += [(key, page) for page in re.findall(r"“([^”{}]+)”页", chinese) if page not in ZH_PAGES]
    assert not wrong


@pytest.mark.parametrize("source", [[*messages()], [*helps(build_parser())]], ids=["messages", "helps"])
def test_a_sentence_of_the_messages_has_at_most_25_words(source: list[tuple[str, str]]) -> None:
    long = [f"{place}: {one}" for place, text in source for one in long_sentences(text)]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("path", [*documents()], ids=name)
def test_a_sentence_of_the_documents_has_at_most_25_words(path: Path) -> None:
    text = SHOWN_SENTENCES.sub("\n", path.read_text(encoding="utf-8"))
    long = [one for _, block in blocks(path, text) for one in long_sentences(block)]
    assert not long, "\n".join(long)


@pytest.mark.parametrize(
    ("rule", "broken", "kept"),
    [
        ("RocketMQ's names of its IDs", "an Offset ID, a uniq id", "an offsetMsgId, a msgId"),
        ("ID in capitals", "two ids", "two IDs, msgId"),
        ("terms of the glossary", "ask a replica", "ask a slave"),
    ],
)
def test_a_rule_finds_what_it_is_for(rule: str, broken: str, kept: str) -> None:
    pattern = re.compile(RULES[rule], re.IGNORECASE)
    assert pattern.search(broken) and not pattern.search(kept)


def test_what_stands_behind_a_command_is_prose() -> None:
    shown = "```sh\nmake\n```\n    python -m idcore scan\n        --out DIR\n\nSome prose.\n"
    assert NOT_PROSE.sub("", shown) == "\n\nSome prose.\n"


def test_every_source_of_texts_is_read() -> None:
    places = " ".join(place for place, _ in texts())
    assert all(one in places for one in ("en.py decode.box", "idcore make incident NAME", "docs/adr/README.md"))


def test_a_long_sentence_is_found_and_a_row_is_not() -> None:
    sentence = " ".join(["word"] * (MOST_WORDS + 1)) + "."
    assert long_sentences(f"- Short one. {sentence}") == [sentence]
    assert not long_sentences(f"| {sentence} |") and not long_sentences(sentence.removeprefix("word "))

"""README and documents are held to the code: commands that are shown are there, links lead to what is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from idcore.base.catalogue import en, zh
from idcore.cli import build_parser
from idcore.cli.parser import commands_of
from idcore.policy.limits import LIMITS
from idcore.policy.settings import ROWS
from idcore.rocketmq.remoting import profile

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
ENTRANCE = [ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
ENTRANCE += [ROOT / "CODE_OF_CONDUCT.md"]
DOCUMENTS = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not path.name[0].isdigit()]  # without decisions
PAGES = [*ENTRANCE, *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = [*(ROOT / "docs" / "tutorials").glob("*.md"), *(ROOT / "docs" / "how-to").glob("answer-a-ticket*.md")]
GUIDES += [*(ROOT / "docs" / "how-to").glob("follow*.md"), *(ROOT / "docs" / "how-to").glob("troubleshoot*.md")]
CHINESE_PAGES = [page for page in DOCUMENTS if ".zh-CN." in page.name]
RENDERED = (
    "cli.md",
    "findings.md",
    "findings.zh-CN.md",
    "formats.md",
    "formats.zh-CN.md",
    "tables.md",
)  # as long as the code has rows
MOST_WORDS = 2_000


def examples(page: str = README) -> list[tuple[str, list[str]]]:
    """Every `$ command` of a console block with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip():
                found[-1][1].append(line.rstrip())
    return found


def matches(shown: list[str], printed: list[str]) -> bool:
    """Line for line; `...` stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


def test_the_chinese_readme_shows_examples_of_the_english_one_which_are_run() -> None:
    assert examples(CHINESE) and all(example in examples() for example in examples(CHINESE))
    for block in re.findall(r"```sh\n.*?```", CHINESE, re.DOTALL):
        assert block in README


def anchors(page: Path) -> set[str]:
    """The addresses that GitHub gives the headings of a page: lower case, hyphens for spaces, no marks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8"))
    for path, heading in links:
        if "://" not in path:
            target = page.parent / path if path else page
            assert target.exists(), path
            assert not heading or heading in anchors(target), f"{path}#{heading}"


def test_the_index_leads_to_every_document() -> None:
    linked = set(re.findall(r"\]\(([^)#]+\.md)", (ROOT / "docs" / "README.md").read_text(encoding="utf-8")))
    assert {(ROOT / "docs" / link).resolve() for link in linked} == {*DOCUMENTS} - {ROOT / "docs" / "README.md"}


def test_the_chinese_readme_leads_to_every_document_in_chinese_if_there_is_one() -> None:
    linked = {(ROOT / link).resolve() for link in re.findall(r"\]\((docs/[^)#]+\.md)", CHINESE)}
    assert linked == {*DOCUMENTS} - {english(page) for page in CHINESE_PAGES}


def english(page: Path) -> Path:
    return page.with_name(page.name.replace(".zh-CN", ""))


def outline(page: Path) -> list[tuple[int, list[str], int, list[list[str]], set[str], list[str]]]:
    """What each section of a page has in any language.

    The level of its heading, the codes in heading and prose, how many paragraphs and items, the codes of each row of
    its tables, the documents that it links to, and its pictures and blocks of code.
    """
    text = page.read_text(encoding="utf-8").replace(" --lang zh`", "`")
    code = re.compile(r"^```.*?^```|(?:^ {4}\S[^\n]*\n(?: {8}[^\n]*\n)*)+", re.DOTALL | re.MULTILINE)
    marks = iter(code.findall(text))
    found = []
    for part in re.split(r"^(?=#+ )", code.sub("BLOCK", text), flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        rows = [sorted(re.findall(r"`[^`]*`", row)) for row in body.splitlines() if row.startswith("|")]
        links = {re.sub(r"(\.zh-CN)?\.md$", "", path) for path in re.findall(r"\]\(([^)#:]+\.md)", body)}
        shown = [re.sub(r"-(en-light|zh-dark)-", "-", path) for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", body)]
        shown += [next(marks) for _ in range(part.count("BLOCK"))]
        blocks = len(re.findall(r"\n\n|^ *(?:-|\d+\.) ", body.strip(), re.MULTILINE))
        links -= {english(page).stem}
        found.append((head.index(" "), sorted(re.findall(r"`[^`\n]*`", part)), blocks, rows, links, shown))
    return found


def figures(page: Path) -> list[set[str]]:
    """The figures of each section."""
    text = re.sub(r"\]\([^)]*\)", "]", page.read_text(encoding="utf-8"))
    return [{*re.findall(r"\d+(?:[.,:]\d+)*", part)} for part in re.split(r"^#+ ", text, flags=re.MULTILINE)]


@pytest.mark.parametrize("page", CHINESE_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_translation_has_all_that_its_original_has(page: Path) -> None:
    """So it does not go stale in silence. Chinese may have figures where English has a word."""
    for number, (own, other) in enumerate(zip(outline(english(page)), outline(page), strict=True)):
        assert own == other, f"section {number}"
    for number, (one, another) in enumerate(zip(figures(english(page)), figures(page), strict=True)):
        assert one <= another, f"section {number}"


@pytest.mark.parametrize("page", CHINESE_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_chinese_page_leads_to_chinese_pages_and_to_its_original(page: Path) -> None:
    linked = re.findall(r"\]\(([^)#:]+\.md)", page.read_text(encoding="utf-8"))
    in_english = {(page.parent / path).resolve() for path in linked if ".zh-CN." not in path}
    assert in_english & {english(one) for one in CHINESE_PAGES} == {english(page)}
    assert f"]({page.name})" in english(page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_document_begins_with_whom_it_is_for_and_is_short(page: Path) -> None:
    title, empty, first = page.read_text(encoding="utf-8").splitlines()[:3]
    assert title.startswith("# ") and not empty and re.match(r"For [^:]+(?:: |\.)|适用于.+：", first)
    words = [one for one in page.read_text(encoding="utf-8").split() if re.search(r"\w", one)]  # no signs of tables
    assert page.name in RENDERED or len(words) <= MOST_WORDS


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_what_a_guide_says_to_click_is_written_on_a_page(page: Path) -> None:
    """In bold: a button, a box, a page or a heading, in the language of the guide; it may go on with a figure."""
    messages = (zh if ".zh-CN." in page.name else en).MESSAGES.values()
    texts = [text for message in messages for text in ([message] if isinstance(message, str) else message.values())]
    named = set(re.findall(r"\*\*([^*]+)\*\*", page.read_text(encoding="utf-8")))
    assert named and not {
        name for name in named if not any(re.match(rf"{re.escape(name)}(?!\w)", text) for text in texts)
    }


def test_what_the_chinese_page_of_problems_quotes_is_said_by_the_console() -> None:
    texts = [text for said in zh.MESSAGES.values() for text in ([said] if isinstance(said, str) else said.values())]
    page = (ROOT / "docs" / "how-to" / "troubleshoot.zh-CN.md").read_text(encoding="utf-8")
    quoted = [re.sub(r"\\? ?…+\\? ?", ".*", re.escape(one)) for one in re.findall(r"(?<!显示 )“([^”]+)”", page)]
    assert len(quoted) > 6 and not [one for one in quoted if not any(re.search(one, text) for text in texts)]


def test_the_modules_of_the_architecture_are_there() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    folder, named = "", 0
    for row in page.split("| folder | modules | subject |")[1].strip().splitlines()[1:]:
        _, first, modules, *_ = row.split("|")
        folder = first.strip(" `") or folder
        for name in re.findall(r"`([\w.]+\.py)`", modules):
            named += 1
            assert (ROOT / "idcore" / folder / name).exists(), f"{folder}/{name}"
    assert named > 40


def test_documents_that_the_code_names_are_there() -> None:
    for folder in ("idcore", "pages", "benchmarks", "scripts"):
        for path in (ROOT / folder).rglob("*.py"):
            for name in re.findall(r"\bdocs/[\w./-]+\.md\b", path.read_text(encoding="utf-8")):
                assert (ROOT / name).exists(), f"{path}: {name}"


def test_every_make_target_named_in_the_docs_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))}
    assert named - {command.prog.split()[-1] for command in commands_of(build_parser())} <= targets


def test_every_command_that_a_document_shows_can_be_parsed() -> None:
    """The name of a command alone, and a usage with brackets or an ellipsis, are not commands."""
    parsed, names = 0, {command.prog.removeprefix("python -m idcore ") for command in commands_of(build_parser())}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for shown in re.findall(r"(?:^(?:    |\$ )?|`)python -m idcore ([^`\n]*)", text, re.MULTILINE):
            if shown not in names and not re.search(r"[…\[]|COMMAND", shown):
                build_parser().parse_args(shlex.split(re.split(r" [<>|] ", shown)[0], comments=True))
                parsed += 1
    assert parsed > 30


def test_the_profile_that_is_shown_can_be_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "connect-a-cluster.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    for name in ("ca.pem", "client.pem", "client.key"):
        (tmp_path / name).write_text("")
    (tmp_path / "clusters.toml").write_text(shown, encoding="utf-8")
    variables = {"PROD_ACCESS_KEY": "a", "PROD_SECRET_KEY": "b"}
    (prod,) = profile.from_file(tmp_path / "clusters.toml", variables).values()
    assert prod.trace_topics == ("OrdersTrace",) and prod.tls is not None


def test_every_environment_variable_is_documented_and_used() -> None:
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("idcore", "pages")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "settings.py"
    )
    theirs = {"spark_settings"}  # Spark reads it
    assert {name for name in ROWS if not re.search(rf"\.{name}\b", code)} == theirs
    assert not re.findall(r"environ(?:ment)?(?:\.get\(|\.setdefault\(|\[)\"(IDCORE_[A-Z_]+)\"", code), "read settings"
    named = {str(row["name"]) for row in ROWS.values()} | {row.setting for row in LIMITS.values()}
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)) == named


def test_each_line_of_the_threat_model_names_tests_that_are_there() -> None:
    text = (ROOT / "docs/explanation/threat-model.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if " | " in line]
    named = [re.findall(r"`(\S+\.py)`", row[-1]) for row in rows[1:]]
    assert len(named) > 20 and all(named)
    gone = [file for files in named for file in files if not (ROOT / "tests" / file).exists()]
    assert not gone

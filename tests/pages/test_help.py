"""The page Help: each document, in the reader's language, its links inside the console; a finding's own section."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from idcore.answers.findings.all_rules import RULES
from idcore.base.catalogue import languages
from idcore.policy.access import OF_PAGE
from idcore.presentation import documents
from idcore.presentation.lab import READY, Story
from tests.pages.test_pages import shown

pytestmark = pytest.mark.quick

Open = Callable[..., AppTest]
TRANSLATED = sorted(name for name in documents.names() if (one := documents.document(name, "zh")) and one.lang == "zh")


def test_every_page_of_the_console_leads_to_a_document() -> None:
    assert {page for page in OF_PAGE if documents.OF_PAGE.get(page, page) not in documents.names()} == set()
    assert documents.document("../README", "en") is None and documents.document("/etc/passwd", "en") is None


def test_every_finding_has_its_section() -> None:
    found = documents.document("findings", "en")
    assert found is not None
    for code in RULES:
        text = documents.section(found, code)
        assert text is not None and text.startswith("### ") and text.count("\n### ") == 0 and "What to do" in text, code


@pytest.mark.parametrize("lang", languages())
def test_links_of_every_document_lead_to_documents_and_their_sections(lang: str) -> None:
    """And no bare dollar sign is left in prose, which Streamlit would read as a formula."""
    asked: list[tuple[str, str | None, str]] = []

    def href(doc: str, part: str | None, lang: str = lang) -> str:
        asked.append((doc, part, lang))
        return f"help?doc={doc}"

    for name in documents.names():
        found = documents.document(name, lang)
        assert found is not None
        made = documents.linked(found, found.text, href, lambda page, **asked: f"help?page={page}")
        assert not re.search(r"\]\((?!help\?|https?://)", re.sub(r"```.*?```|`[^`\n]*`", "", made, flags=re.DOTALL)), (
            name
        )
    assert len(asked) > 250
    for name, part, of in asked:
        target = documents.document(name, of)
        assert target is not None and (not part or documents.section(target, part)), (name, part)


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_link_to_a_heading_leads_to_it_in_each_language(name: str) -> None:
    """The console and other pages have anchors of one language: a reader of another is at the same place."""
    english, chinese = (documents.document(name, lang) for lang in ("en", "zh"))
    assert english is not None and chinese is not None and (english.lang, chinese.lang) == ("en", "zh")
    pairs = zip(documents.headings(english.text), documents.headings(chinese.text), strict=True)
    for one, other in pairs:
        for anchor in (documents.slug(one[2]), documents.slug(other[2])):
            for found, heading in ((english, one), (chinese, other)):
                part = documents.section(found, anchor)
                assert part is not None and part.startswith(heading[0]), anchor


def test_no_space_is_left_where_a_line_of_chinese_was_wrapped() -> None:
    found = documents.Document("lab", "", "zh")
    text = "- 消息，\n  记录\n- `x`\n  和 msgId\n  一样。\n\n```\n甲\n乙\n```\n"
    made = documents.linked(found, text, str, str)
    assert made == "- 消息，记录\n- `x`\n  和 msgId\n  一样。\n\n```\n甲\n乙\n```\n"


def test_a_link_to_the_other_language_of_a_page_keeps_it() -> None:
    """On the page itself and in the index; a link to what is there in one language alone asks for none."""

    def links(name: str, lang: str) -> list[str]:
        found = documents.document(name, lang)
        assert found is not None
        made = documents.linked(found, found.text, lambda **asked: "&".join(map(str, asked.values())), str)
        return re.findall(r"\]\(([^)]*)\)", made)

    assert "journey&None&zh" in links("journey", "en") and "journey&None&en" in links("journey", "zh")
    assert {"journey&None", "journey&None&zh"} <= {*links(documents.INDEX, "en")}
    assert {"journey&None", "limits&None"} <= {*links(documents.INDEX, "zh")}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_shows_a_document_in_the_readers_language(lang: str, open_page: Open) -> None:
    app = open_page("help", doc="tutorials/support", lang=lang)
    assert not app.exception and ("The first five minutes" if lang == "en" else "最初五分钟") in shown(app)
    assert not [text.value for text in app.caption if "English" in text.value]
    app = open_page("help", doc="limits", lang=lang)
    assert bool([text.value for text in app.caption if "英文" in text.value]) == (lang == "zh")


def test_a_section_alone_is_shown_and_an_unknown_document_is_said(open_page: Open) -> None:
    app = open_page("help", doc="findings", part="missing_ids", lang="en")
    text = "".join(item.value for item in app.markdown)
    assert "`missing_ids`" in app.title[0].value and "What to do" in text and "counter_wrap" not in text
    app = open_page("help", doc="no/such", lang="en")
    assert not app.exception and "There is no such document here." in shown(app)
    assert open_page("help").title[0].value == "Documents"
    app = open_page("help", lang="zh")
    assert app.title[0].value == "文档" and not [text.value for text in app.caption if "英文" in text.value]
    app = open_page("help", doc="lookup", part="reasons", lang="zh")
    assert app.title[0].value == "原因" and "before_minimum" in "".join(item.value for item in app.markdown)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_stories_of_the_lab_are_links_to_this_console(lang: str, open_page: Open) -> None:
    text = "".join(item.value for item in open_page("help", doc="tutorials/teaching", lang=lang).markdown)
    stories = re.findall(r"\[`\?story=([\w.-]+)`\]\(lab\?[^)]*story=([\w.-]+)[^)]*\)", text)
    assert len(stories) >= 9 and all(said == leads_to for said, leads_to in stories)
    assert all(Story.read({"story": said}) for said, _ in stories)
    assert "127.0.0.1" not in text and "[lab](lab" in text


def test_the_tutorial_of_the_lab_counts_its_experiments_and_the_ready_stories() -> None:
    names = {
        "en": ("seven experiments", f"{len(READY)} ready stories"),
        "zh": ("七个实验", f"{len(READY)} 个现成的实验"),
    }
    for lang, said in names.items():
        found = documents.document("tutorials/teaching", lang)
        assert found is not None and found.lang == lang and all(one in found.text for one in said)
        assert len(re.findall(r"^## \d", found.text, re.MULTILINE)) == 7

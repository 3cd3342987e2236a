"""The documents that the console shows: one of `docs`, or a section of it, in the reader's language. Draws nothing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from idcore.base.catalogue import ENGLISH, languages

PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (PACKAGE / "_console" / "docs", PACKAGE.parent / "docs")  # of a wheel, and of a clone
INDEX = "README"
# What each page of the console is about; `findings` and others have a document of their name.
OF_PAGE = {
    "home": "tutorials/support",
    "decode": "tutorials/support",
    "anatomy": "formats",
    "lines": "how-to/answer-a-ticket",
    "compare": "how-to/answer-a-ticket",
    "producers": "clients",
    "counters": "explanation/counters",
    "brokers": "formats",
    "message": "journey",
    "runs": "how-to/run-the-console",
    "tokens": "api",
    "help": INDEX,
}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
_STORY = re.compile(r"`\?story=([\w.-]+)`")
_PAGE = re.compile(r"<http://127\.0\.0\.1:8501/(\w+)>")
_WRAPPED = re.compile(r"(?<=[\u3001-\u9fff\uff00-\uffef])\n *(?=[\u3001-\u9fff\uff00-\uffef])")  # a line of Chinese
_OF_LANG = re.compile(r"\.(\w+)-CN\.md$")
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """A document's name, its Markdown, and its language, which is English where it was not translated."""

    name: str
    text: str
    lang: str


@cache
def names() -> frozenset[str]:
    """The documents that are there, by their path without language and suffix; none where docs was not installed."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    pages = [] if folder is None else folder.rglob("*.md")
    every = (path.relative_to(folder).as_posix() for path in pages if folder is not None)
    return frozenset(name.removesuffix(".md") for name in every if ".zh-CN." not in name)


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading: lower case, hyphens for spaces, no marks."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def document(name: str, lang: str) -> Document | None:
    """A document by its name; None if there is none of that name."""
    if name not in names():
        return None
    path, own = _file(name, lang)
    return Document(name, path.read_text(encoding="utf-8"), own)


def _file(name: str, lang: str) -> tuple[Path, str]:
    """Where a document is for a reader of a language, and the language that it is in."""
    folder = next(folder for folder in FOLDERS if folder.is_dir())
    own = folder / f"{name}.{lang}-CN.md"
    return (own, lang) if lang != ENGLISH and own.is_file() else (folder / f"{name}.md", ENGLISH)


def headings(text: str) -> list[re.Match[str]]:
    """The headings of a document, each with its marks and its words."""
    plain = _CODE.sub(lambda match: re.sub("^#", " ", match[0], flags=re.MULTILINE), text)  # no heading is in code
    return [*_HEADING.finditer(plain)]


def section(found: Document, part: str) -> str | None:
    """The section under a heading, by its anchor or by the code that ends it, as `findings#missing_ids`; or None.

    A link may have the anchor of another language: a translation has the same headings in the same order.
    """
    own = headings(found.text)
    versions = (document(found.name, lang) for lang in languages())
    for named in (own, *(headings(one.text) for one in versions if one is not None and one.lang != found.lang)):
        for place, (heading, begin) in enumerate(zip(named, own, strict=False)):
            if part in (slug(heading[2]), *re.findall(r"\(`(\w+)`\)$", heading[2])):
                after = (one.start() for one in own[place + 1 :] if len(one[1]) <= len(begin[1]))
                return found.text[begin.start() : next(after, len(found.text))]
    return None


def linked(document: Document, text: str, href: Callable[..., str], page: Callable[..., str]) -> str:
    """The Markdown of a document for a page. `href` has the address of a document, by `doc` and `part`.

    It is asked for a `lang` too where a link leads to the other language of a page. `page` has the address of a page:
    pages of the console and stories of the lab become links to this console.

    A link to what no document is becomes its text, and a picture goes. A dollar sign is one: pages read formulas.
    """

    def link(match: re.Match[str]) -> str:
        mark, said, path, part = match[1], match[2], match[3], match[4] or ""
        if mark:
            return ""
        if "://" in path:
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document.name), path)) if path else document.name
        name = re.sub(r"(\.\w+-CN)?\.md$", "", target)
        if name not in names():
            return said
        own = _OF_LANG.search(path)
        lang = own[1] if own else ENGLISH
        asked = {"lang": lang} if path and lang != _file(name, document.lang)[1] else {}
        return f"[{said}]({href(doc=name, part=part or None, **asked)})"

    # Links hold code, so they are found first; what is left of code and of prose is told apart afterwards.
    blocks = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    made = "".join(block if block.startswith("```") else _LINK.sub(link, block) for block in blocks)
    return "".join(_in_console(one, page) for one in _CODE.split(made))


def _in_console(text: str, page: Callable[..., str]) -> str:
    """Code, of which a story is a link to the lab; or prose, whose pages are links. Wrapped Chinese has no space."""
    if text.startswith("`"):
        story = _STORY.fullmatch(text)
        return text if story is None else f"[{text}]({page('lab', story=story[1])})"
    return _PAGE.sub(lambda at: f"[{at[1]}]({page(at[1])})", _WRAPPED.sub("", text)).replace("$", r"\$")

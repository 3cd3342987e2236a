"""Two IDs byte by byte on Anatomy: which fields differ, marked in their digits."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from idcore.ids import scoring
from idcore.ids.model import UniqId
from idcore.ids.reasons import Reason, side_of
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
ONE, OTHER = "AC110001473C7D4991AD336AEA5703E0", "AC110002473C7D4991AD336AEA6003E1"
LABELS, OWN = ("msgId", "offsetMsgId"), (scoring._CLIENT_LABELS, scoring._OFFSET_LABELS)
LOADERS = ("18B4AAC2", "7FFF1234", "F0001234")
OFFSET = "AC11000100002A9F00000000000E8580"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_fields_and_bytes_that_differ_are_marked(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    app = open_page("anatomy", lang=lang, **{"id": ONE, "with": OTHER})
    assert not app.exception and not app.error
    table = shown(app).split('class="mq-pair"')[1].split('class="mq-ruler')[0]
    assert re.findall(r"<mark>([0-9A-F]{2})</mark>", table) == ["01", "02", "57", "60", "E0", "E1"]
    assert table.count('class="mq-differs"') == 3 and table.count(words("pair.same")) == 2
    assert "172.17.0.2" in table and app.query_params["with"] == OTHER


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_kinds_that_differ_and_what_is_no_id_are_said(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    page = unescape(
        shown(open_page("anatomy", lang=lang, **{"id": ONE, "with": OFFSET})).replace("<b>", "").replace("</b>", "")
    )
    kinds = {"one": words("kind.uniq"), "other": words("kind.offset")}
    assert words("pair.kinds", **kinds).replace("**", "") in page and "mq-pair" not in page
    app = open_page("anatomy", lang=lang, **{"id": ONE, "with": "<b>nonsense"})
    assert app.error and not app.exception and "mq-pair" not in shown(app)
    same = shown(open_page("anatomy", lang=lang, **{"id": ONE, "with": ONE.lower()}))
    assert words("pair.equal") in same and "<mark>" not in same.split('class="mq-pair"')[1]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_empty_box_asks_for_an_id_and_shows_none(open_page: Open, lang: str) -> None:
    app = open_page("anatomy", lang=lang)
    assert [box.placeholder for box in app.text_input if box.key == "anatomy_id"] == [
        catalogue.words(lang)("anatomy.placeholder")
    ]
    app = open_page("anatomy", lang=lang, id=ONE)
    assert not any(re.search("[0-9A-F]{8}", box.placeholder) for box in app.text_input)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_reason_says_whether_it_is_for_or_against(open_page: Open, lang: str) -> None:
    words = catalogue.words(lang)
    marks = {side: f"<b>{words('colon', name=words(f'anatomy.{side}'))}</b>" for side in ("for", "against")}
    page = shown(open_page("anatomy", lang=lang, id=ONE[:16] + "7FFF1234" + ONE[24:]))
    assert marks["for"] + words("reason.case_upper") in page
    assert f'<li class="mq-against">{marks["against"]}' in page and page.index(marks["for"]) < page.index(
        marks["against"]
    )
    lower = shown(open_page("anatomy", lang=lang, id=ONE.lower()))
    assert f'<li class="mq-against">{marks["against"]}{words("reason.case_lower")}' in lower


@pytest.mark.parametrize(
    ("weigh", "given"),
    [
        *((scoring._weigh_label, (label, own)) for label in LABELS for own in OWN),
        *((scoring._weigh_letters, (text,)) for text in (ONE, ONE.lower(), ONE[:-2] + "ae")),
        *((scoring._weigh_loader, (UniqId.from_hex(ONE[:12] + loader + ONE[20:]),)) for loader in LOADERS),
    ],
)
def test_a_reason_has_the_side_of_its_points(weigh: Callable[..., int], given: tuple[Any, ...]) -> None:
    why: list[Reason] = []
    points = weigh(*given, why)
    assert [side_of(reason) for reason in why] == ["for" if points > 0 else "against"] * bool(points)

"""Two IDs byte by byte on Anatomy: which fields differ, marked in their digits."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from idcore.base import catalogue
from tests.pages.test_pages import shown

Open = Callable[..., AppTest]
ONE, OTHER = "AC110001473C7D4991AD336AEA5703E0", "AC110002473C7D4991AD336AEA6003E1"
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

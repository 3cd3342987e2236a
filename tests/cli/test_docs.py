"""docs/formats.md says what the code says."""

from __future__ import annotations

from idcore import catalogue
from idcore.cli.docs import FORMATS, formats
from idcore.ids import identify
from idcore.layout import LAYOUTS


def test_the_page_is_rendered_from_the_layouts() -> None:
    assert FORMATS.read_text(encoding="utf-8") == formats(), "make docs"


def test_every_layout_field_reason_and_maker_is_there() -> None:
    page = formats()
    for layout in LAYOUTS.values():
        assert f"### {layout.name}\n" in page
        for field in layout.fields:
            assert field.meaning in page
    said = catalogue.words()
    refused = {code: said.table("error.")[code] for code in ("lower_case", "version", "port", "elapsed")}
    for words in (said.table("reason."), said.table("client."), refused):
        for code, template in words.items():
            assert f"| `{code}` | {template.replace('|', chr(92) + '|')} |" in page


def test_the_examples_are_what_they_are_said_to_be() -> None:
    page = formats()
    for layout in LAYOUTS.values():
        text = page.split(f"### {layout.name}\n")[1].split("example `")[1].split("`")[0]
        reading = identify(text).best
        assert reading is not None
        assert reading.id.layout == layout

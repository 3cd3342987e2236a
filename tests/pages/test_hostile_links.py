"""Links that somebody wrote by hand: whatever stands where a number belongs, every page opens."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]
NUMBERS = ("page", "rows", "keep", "delete_at", "offset", "at", "queue", "finding", "limit")
HOSTILE = ("inf", "-inf", "nan", "1e400", "-1", "0", "9" * 5_000, "1.5", "²", "", " 7", "x")


@pytest.mark.long(first=1)
@pytest.mark.parametrize("page", ["brokers", "fate", "lines", "findings", "runs"])
def test_no_number_of_a_link_fails_a_page(open_page: Open, run: str, page: str) -> None:
    for value in HOSTILE:
        app = open_page(page, run=run, **dict.fromkeys(NUMBERS, value))
        assert not app.exception and not any("reference" in box.value for box in app.error), value


def test_a_number_of_a_link_fills_its_box_and_the_box_the_link(open_page: Open, run: str) -> None:
    app = open_page("brokers", run=run, keep="48", delete_at="inf")
    keep, hour = (app.number_input(key=name) for name in ("keep", "delete_at"))
    assert (keep.value, hour.value) == (48, 4)
    hour.set_value(0).run()
    assert app.query_params["delete_at"] in ("0", ["0"]) and app.query_params["keep"] in ("48", ["48"])
    keep.set_value(72).run()
    assert "keep" not in app.query_params, "the usual value needs no place in the address"
    app.query_params["keep"] = "24"  # the browser goes back
    assert app.run().number_input(key="keep").value == 24


@pytest.mark.parametrize("page", ["decode", "findings"])
def test_a_huge_value_of_a_link_goes_into_no_other_link(open_page: Open, run: str, page: str) -> None:
    for name in ("from", "to", "host", "process", "broker", "topic"):
        huge = {name: "1," * 5_000}  # a browser may send half a megabyte, and a page has hundreds of links
        app = open_page(page, run=run, **huge)
        links = [one.proto.query_string for one in app.get("page_link")] + [one.proto.body for one in app.get("html")]
        assert links and not any(urlencode(huge) in text for text in links), name

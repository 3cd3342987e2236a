"""A list of IDs on the decode page: what they share is said, in both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import shown

pytestmark = pytest.mark.quick

IDS = "0A42333A0DC818B4AAC246C290FD0000,0A42333A0DC818B4AAC246C290FD0001"


@pytest.mark.parametrize(("lang", "said"), [("en", "All have process 10.66.51.58 pid 3528"), ("zh", "共同点：进程 ")])
def test_what_a_list_has_in_common_is_said_above_its_table(
    lang: str, said: str, open_page: Callable[..., AppTest]
) -> None:
    app = open_page("decode", ids=IDS, lang=lang)
    assert not app.exception
    assert said in shown(app)


def test_what_is_true_of_every_id_of_a_late_day_stands_below_none(open_page: Callable[..., AppTest]) -> None:
    late = IDS.replace("46C290FD", "9C000000")  # day 30: elapsed is above 2^31
    page = shown(open_page("decode", ids=late))
    assert "mq-under" not in page and "9C0000000001" in page
    assert "mq-under" in shown(open_page("decode", ids=late.replace("0A42333A", "AC110002"))), "of Docker's bridge"


def test_all_ids_that_come_more_than_once_are_listed_with_their_lines(open_page: Callable[..., AppTest]) -> None:
    """The sentence names five of them: who was charged twice needs every one."""
    ids = [IDS.split(",")[0][:-4] + f"{n:04X}" for n in range(7)]
    page = shown(open_page("decode", ids=",".join([*ids, *ids])))
    assert "and 2 more" in page and "All 7 IDs, with their lines" in page
    assert page.count(f">{ids[6]}<") >= 1 and "mq-plain" in page
    few = shown(open_page("decode", ids=",".join([*ids, *ids[:5]])))
    assert "5 IDs more than once" in few and "with their lines" not in few, "the sentence has them"

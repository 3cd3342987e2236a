"""SQL92 filters as brokers evaluate them: what is certain is decided, what a release may see otherwise is not."""

from __future__ import annotations

import pytest

from idcore.answers.fate.sql92 import matches

pytestmark = pytest.mark.quick
PROPERTIES = {"price": "5", "rate": "1.5", "region": "eu", "name": "it's", "flag": "true", "TAGS": "TagA"}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("price > 3", True),
        ("price > 3 and price <= 4", False),
        ("price between 3 AND 5", True),
        ("price NOT BETWEEN 3 AND 5", False),
        ("region = 'eu'", True),
        ("region <> 'eu'", False),
        ("region IN ('us', 'eu')", True),
        ("region not in ('us', 'eu')", False),
        ("name = 'it''s'", True),
        ("nothing = 'eu'", False),
        ("NOT nothing = 'eu'", False),  # as the SqlFilter of 4.9.7 to 5.5.1 has all of these
        ("nothing <> 'eu'", False),
        ("NOT (nothing > 3 AND region = 'eu')", False),
        ("NOT (nothing > 3 AND region = 'us')", True),
        ("nothing NOT IN ('eu')", False),
        ("nothing NOT BETWEEN 3 AND 5", False),
        ("nothing = nobody", True),
        ("nothing <> nobody", False),
        ("region = nothing", False),
        ("region <> nothing", True),
        ("1.5 <> nothing", True),
        ("TRUE = flag", None),
        ("nothing IS NULL", True),
        ("region is not null", True),
        ("nothing = 1 OR region = 'eu'", True),
        ("(TAGS is not null and TAGS in ('TagA', 'TagB')) and (price is not null and price between 0 and 3)", False),
        ("flag = TRUE", True),
        ("rate >= 1.2", True),
        ("price > -1", True),
        ("5 = price", True),
        ("rate > 1", None),  # an integer is compared with a text that is none
        ("region > 'a'", None),
        ("region > 3", None),
        ("region CONTAINS 'e'", None),
        ("region", None),
        ("price > 3 price", None),
        ("price >", None),
        ("(price > 3", None),
        ("price = 3abc", None),
        ("price + 1 > 3", None),
        ("price < " + "9" * 5_000, None),
        ("", None),
        ("(" * 100_000, None),
    ],
)
def test_a_filter_is_decided_or_left_open(expression: str, found: bool | None) -> None:
    assert matches(expression, PROPERTIES) is found

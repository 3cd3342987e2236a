"""Releases of the Java client: ids of 21 releases lie in the range that is read from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from idcore.base.layout import LAYOUTS
from idcore.ids.generations import FIRST, LAST, Releases, java_releases
from idcore.ids.model import UniqId

pytestmark = pytest.mark.quick

REFERENCE = Path(__file__).parents[1] / "vectors" / "reference-ids.jsonl"
ROWS = [row for row in map(json.loads, REFERENCE.read_text().splitlines()) if row["kind"] == "uniq"]


def test_no_release_is_ruled_out_that_made_the_id() -> None:
    assert len({row["version"] for row in ROWS}) == 21
    wrong = [
        (row["version"], row["id"])
        for row in ROWS
        if not java_releases(UniqId.from_bytes(bytes.fromhex(row["id"]), LAYOUTS[row["layout"]])).holds(row["version"])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "oldest", "newest"),
    [
        ("C0A879ED000018B4AAC236FDB13F0000", FIRST, LAST),  # pid 0: 4.6.0 and 4.6.1, or a process id of 65,536
        ("7F00000100062D38EDFD5F81D311921A", "4.8.0", LAST),  # loopback
        ("FE8000000000000038ABE5FFFED4CBD2001518B4AAC219B9B5640000", "4.6.0", "4.6.0"),  # link-local
        ("00000000000000000000000000000001001518B4AAC219B9B5640000", "4.6.0", "4.6.0"),  # loopback of IPv6
        ("2400DD02100800152B2B7D0419D6DD5E9EFC18B4AAC246212A7D0000", "4.6.0", LAST),  # IPv6
        ("0A42333A0DC818B4AAC2FFFFFF000000", FIRST, "4.9.2"),  # before the month
        ("0A42333A0DC818B4AAC246C290FD0000", FIRST, LAST),
    ],
)
def test_what_an_id_says_of_its_release(text: str, oldest: str, newest: str) -> None:
    assert java_releases(UniqId.from_hex(text)) == Releases(oldest, newest)


def test_a_month_from_noon_is_of_the_first_releases() -> None:
    assert java_releases(UniqId.from_hex("C0A8FAAB05D073D16E93818580160039"), noon=True) == Releases(FIRST, "4.0.0")

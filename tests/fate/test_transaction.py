"""What became of a transaction: one table of what the broker said, and the codes of the end it comes to."""

from __future__ import annotations

from typing import Any

import pytest

from idcore.answers.fate import Heard
from idcore.answers.fate.transaction import Transaction, decide

NONE: Heard[Any] = Heard(None, 1)


def half(**known: Any) -> Transaction:
    """Half message 10, asked of everything: nothing was decided and one producer is connected."""
    usual: dict[str, Any] = {
        "swept": Heard(10, 1),
        "noted": Heard(False, 1),
        "committed": NONE,
        "producers": Heard(1, 1),
    }
    return Transaction("Orders", "payers", 10, **usual | known)


@pytest.mark.parametrize(
    ("known", "codes"),
    [
        ({"committed": Heard("7F00", 1), "given_up": True}, ["half_committed"]),
        ({"noted": Heard(True, 1), "given_up": True}, ["half_rolled_back"]),
        ({"given_up": True, "swept": Heard()}, ["half_given_up"]),
        ({"swept": Heard(11, 1)}, ["half_swept"]),
        ({"swept": Heard(11, 1), "noted": Heard()}, ["half_swept"]),
        ({"checks": 4}, ["half_undecided", "half_producers"]),
        ({"producers": Heard(0, 1)}, ["half_undecided", "half_no_producer"]),
        ({"producers": Heard()}, ["half_undecided"]),
        ({"in_rocksdb": True, "swept": Heard(), "noted": Heard(True, 1)}, ["half_rolled_back"]),
        ({"in_rocksdb": True, "swept": Heard()}, ["half_open"]),
        ({"in_rocksdb": True, "swept": Heard(), "noted": Heard()}, ["only_half"]),
        ({"in_rocksdb": True, "swept": Heard(), "kept": Heard(3, 1)}, ["half_undecided"]),
        ({"in_rocksdb": True, "swept": Heard(), "kept": Heard(-1, 1)}, ["half_dropped"]),
        ({"in_rocksdb": True, "swept": Heard(), "kept": Heard(-1, 1), "noted": Heard(True, 1)}, ["half_rolled_back"]),
        # silence
        ({"committed": Heard()}, ["only_half"]),
        ({"committed": Heard(), "noted": Heard(True, 1)}, ["only_half"]),
        ({"committed": Heard(), "swept": Heard(11, 1)}, ["only_half"]),
        ({"noted": Heard()}, ["only_half"]),
        ({"swept": Heard()}, ["only_half"]),
        ({"swept": NONE}, ["half_undecided", "half_producers"]),
    ],
)
def test_the_end_of_a_transaction(known: dict[str, Any], codes: list[str]) -> None:
    assert [reason.code for reason in decide(half(**known))] == codes

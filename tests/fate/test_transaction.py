"""What became of a transaction: one table of what the broker said, and the codes of the end it comes to."""

from __future__ import annotations

from typing import Any

import pytest

from idcore.answers.fate import Observation
from idcore.answers.fate.transaction import Transaction, decide

NONE: Observation[Any] = Observation(None, 1)


def half(**known: Any) -> Transaction:
    """Half message 10, asked of everything: nothing was decided and one producer is connected."""
    usual: dict[str, Any] = {
        "swept": Observation(10, 1),
        "noted": Observation(False, 1),
        "committed": NONE,
        "producers": Observation(1, 1),
    }
    return Transaction("Orders", "payers", 10, **usual | known)


@pytest.mark.parametrize(
    ("known", "codes"),
    [
        ({"committed": Observation("7F00", 1), "given_up": True}, ["half_committed"]),
        ({"noted": Observation(True, 1), "given_up": True}, ["half_rolled_back"]),
        ({"given_up": True, "swept": Observation()}, ["half_given_up"]),
        ({"swept": Observation(11, 1)}, ["half_swept"]),
        ({"swept": Observation(11, 1), "noted": Observation()}, ["half_swept"]),
        ({"checks": 4}, ["half_undecided", "half_producers"]),
        ({"producers": Observation(0, 1)}, ["half_undecided", "half_no_producer"]),
        ({"producers": Observation()}, ["half_undecided"]),
        ({"in_rocksdb": True, "swept": Observation(), "noted": Observation(True, 1)}, ["half_rolled_back"]),
        ({"in_rocksdb": True, "swept": Observation()}, ["half_open"]),
        ({"in_rocksdb": True, "swept": Observation(), "noted": Observation()}, ["only_half"]),
        ({"in_rocksdb": True, "swept": Observation(), "kept": Observation(3, 1)}, ["half_undecided"]),
        ({"in_rocksdb": True, "swept": Observation(), "kept": Observation(-1, 1)}, ["half_dropped"]),
        (
            {"in_rocksdb": True, "swept": Observation(), "kept": Observation(-1, 1), "noted": Observation(True, 1)},
            ["half_rolled_back"],
        ),
        # silence
        ({"committed": Observation()}, ["only_half"]),
        ({"committed": Observation(), "noted": Observation(True, 1)}, ["only_half"]),
        ({"committed": Observation(), "swept": Observation(11, 1)}, ["only_half"]),
        ({"noted": Observation()}, ["only_half"]),
        ({"swept": Observation()}, ["only_half"]),
        ({"swept": NONE}, ["half_undecided", "half_producers"]),
    ],
)
def test_the_end_of_a_transaction(known: dict[str, Any], codes: list[str]) -> None:
    assert [reason.code for reason in decide(half(**known))] == codes

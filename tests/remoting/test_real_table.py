"""Which test had each verdict, reason and fact from a real broker: the table of the document, held to the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from idcore.base.catalogue.en import MESSAGES

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "fate-tests.md"
HEAD = "| verdict, reason or fact | from a real broker in |\n|---|---|"
BY_HAND = "by hand: gRPC clients behind a proxy of 5.3.3"
# Codes of a test: of these the first part is the file, the second the function.
PRODUCED = {
    "test_real_fate.py::test_each_verdict_is_what_the_consumer_did": (
        "consumed",
        "dead",
        "retry_waiting",
        "consumed_on_retry",
        "broadcast",
        "filtered",
        "passed_maybe_skipped",
        "taken",
        "handed_out",
        "nobody_connected",
        "broadcast_reached",
        "broadcast_unknown",
        "pulled",
        "subscribed_later",
        "filter_unknown",
        "unfinished",
        "popped",
        "invisible",
    ),
    "test_real_fate.py::test_a_group_without_clients_is_offline_not_behind": ("offline", "proxy"),
    "test_real_trace.py::test_the_trace_proves_a_verdict_and_shows_what_still_runs": (
        "running",
        "trace_success",
        "end_not_traced",
    ),
    "test_real_reasons.py::test_each_reason_is_why_the_group_did_not_get_it": (
        "retry_queued",
        "disabled",
        "not_subscribed",
        "filtered_ahead",
        "stuck",
        "never_read",
        "still",
        "blocker",
        "no_offset_yet",
        "shared_client_id",
    ),
    "test_real_reasons.py::test_a_queue_that_nobody_may_read_and_a_group_that_is_only_behind": (
        "unreadable_queue",
        "behind",
        "moving",
    ),
    "test_real_reasons.py::test_a_transaction_has_the_end_that_its_producer_chose": (
        "half_rolled_back",
        "half_given_up",
        "half_undecided",
        "half_producers",
        "half_no_producer",
    ),
    "test_real_reasons.py::test_a_message_for_later_is_due_recalled_or_there": ("later_due", "later_recalled"),
    "test_real_delays.py::test_what_is_late_and_what_no_queue_has_yet": (
        "not_dispatched",
        "late",
        "just_delivered",
        "delay_unknown",
        "young",
        "broadcast_not_reached",
        "later_late",
        "later_passed",
    ),
    "test_real_delays.py::test_what_a_broker_refuses_is_no_verdict": (
        "no_verdict",
        "offset_unknown",
        "copies_unknown",
        "connection_unknown",
        "retry_offset_unknown",
        "asked_once",
        "blocker_itself",
    ),
    "test_real_delays.py::test_clients_say_which_of_them_has_the_message_in_memory": (
        "in_memory",
        "in_memory_first",
        "in_no_memory",
    ),
    "test_real_delays.py::test_records_of_one_message_are_each_judged": ("twice", "other_record"),
    "test_real_delays.py::test_a_transaction_that_was_committed_is_found_from_its_half_message": ("half_committed",),
    "test_real_delays.py::test_behind_more_notes_than_are_read_the_progress_shows_that_nobody_gets_it": (
        "half_swept",
        "only_half",
    ),
}
ELSEWHERE = {
    BY_HAND: ("proxied",),
    "`benchmarks.witnesses`: consumers of 5.3.3 that log what they do": (
        "subscribed_just_before",
        "pulled_before",
        "unacknowledged",
        "renewed",
        "filter_of_last_request",
        "no_thread",
        "no_retry_queue",
        "in_order",
        "fewer_handed",
        "no_checkpoint",
    ),
    "by hand: two clients of 5.3.3 in one group, with different tags": ("filters_differ",),
    "by hand: a client of 5.3.3 with a full memory, whose group was reset": ("client_behind",),
    "by hand: traced consumers of 5.3.3 that log what they do": ("trace_polled", "kind_unknown"),
    "by hand: a static topic of 5.3.3": ("static_topic",),
    "`make releases`: 5.5.1 with RocksDB transactions": ("half_open", "half_dropped"),
    "`tests/store/test_pop_records.py`: stores of 5.5.0": ("pop_record", "visible_again"),
    "`tests/store/test_pop_log.py`: stores of 5.5.0": ("acknowledged", "acknowledged_retry", "left_out"),
    "no real broker: the rule's own tests": (
        "slave",
        "expression",
        "shared_copy",
        "unfinished_itself",
        "visible_now",
        "acknowledged_late",
    ),
}
# Those of a copied folder are the same reasons in other words.
_OF_FOLDERS = {"subscription_given", "snapshot"}


def codes() -> set[str]:
    kinds = {"fate.name.", "fate.why."}
    found = {key.removeprefix(kind) for key in MESSAGES for kind in kinds if key.startswith(kind)}
    facts = {key.removeprefix("lookup.fact.") for key in MESSAGES if key.startswith("lookup.fact.")}
    found |= {code for code in facts if code.startswith(("half_", "later_")) or code == "only_half"}
    return {code for code in found if not code.startswith("copied_")} - _OF_FOLDERS


def test_every_code_is_in_the_table_once() -> None:
    listed = [code for row in (*PRODUCED.values(), *ELSEWHERE.values()) for code in row]
    assert len(listed) == len(set(listed)) and set(listed) == codes()


@pytest.mark.parametrize("test", PRODUCED)
def test_the_test_asks_for_its_codes(test: str) -> None:
    file, _, name = test.partition("::")
    text = (HERE / file).read_text(encoding="utf-8")
    before, marker, rest = text.partition(f"def {name}(")
    decorators = before[before.rindex("\n\n\n") :]
    body = decorators + rest.partition("\n\n\n")[0]
    assert marker and [code for code in PRODUCED[test] if f'"{code}"' not in body] == []


def test_the_document_has_the_table() -> None:
    rows = [
        f"| {', '.join(f'`{code}`' for code in row)} | {where if where in ELSEWHERE else f'`{where}`'} |"
        for where, row in (*PRODUCED.items(), *ELSEWHERE.items())
    ]
    assert "\n".join([HEAD, *rows]) in DOCUMENT.read_text(encoding="utf-8")

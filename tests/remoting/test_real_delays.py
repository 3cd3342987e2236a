"""What a real broker of either line shows while a part of it halts, or refuses an answer (Haltable.java)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from idcore.answers.fate import Verdict
from idcore.answers.lookup import Answer, LookupService, Moment, delayed, transactions
from idcore.answers.lookup.topic_brokers import Pace
from idcore.rocketmq.message.validators import HALF_TOPIC
from idcore.rocketmq.remoting.client import Limits
from idcore.rocketmq.remoting.cluster import Cluster
from tests.remoting.asking import codes, texts
from tests.remoting.boot import OneBroker
from tests.remoting.test_real_fate import profile_of, said

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]
TOPIC = "Halted"
PACE = Pace(lambda: time.time_ns() // 1_000_000, lambda seconds: time.sleep(seconds / 20))


@contextmanager
def halted(alone: OneBroker, *parts: str) -> Iterator[None]:
    """A broker of which these parts halt meanwhile; before it ends they go on."""
    files = [alone.work / "broker" / part for part in parts]
    for file in files:
        file.touch()
    watched = [part for part in parts if part != "dispatch"]
    try:
        for part in watched:
            alone.wait("broker", f"HALTED {part}".encode())
        yield
    finally:
        for file in files:
            file.unlink(missing_ok=True)


@contextmanager
def refused(alone: OneBroker, *lines: str) -> Iterator[None]:
    """A broker that refuses requests of a code with a value, after so many that it answers."""
    file = alone.work / "broker" / "refused"
    file.with_suffix(".new").write_text("\n".join(lines), encoding="utf-8")
    file.with_suffix(".new").rename(file)
    try:
        yield
    finally:
        file.unlink()


def put(alone: OneBroker, *lines: str) -> list[list[str]]:
    """Lets the producer send messages, `NAME TOPIC LEVEL TIMER COUNT`; the ids of each one's last record."""
    file = alone.work / "clients" / "halted"
    file.with_suffix(".new").write_text("\n".join(lines), encoding="utf-8")
    file.with_suffix(".new").rename(file)
    for line in lines:
        alone.words("SENT", line.split()[0])
    return [alone.words("PUT", line.split()[0]) for line in lines]


def service_of(alone: OneBroker, answer_seconds: float = 30.0) -> LookupService:
    profile = replace(profile_of(alone), limits=Limits(10, answer_seconds))
    return LookupService(Cluster(profile), lambda: Moment(datetime.now(UTC), UTC), pace=PACE)


def verdicts_of(answer: Answer) -> dict[str, Verdict]:
    assert answer.found and answer.fate is not None, texts(answer)
    return {verdict.group: verdict for verdict in answer.fate}


def until(ask: Callable[[], Any], wanted: Any) -> None:
    """Asks until the answer is this."""
    end = time.monotonic() + 40
    while (found := ask()) != wanted:
        assert time.monotonic() < end, found
        time.sleep(0.1)


@pytest.mark.long(first=1)
def test_what_is_late_and_what_no_queue_has_yet(alone: OneBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retry and delayed messages while nothing delivers them; then delivered, but in no queue and no index yet."""
    monkeypatch.setattr(delayed, "SLACK_MS", 0)
    alone.wait_for("TOOK fails-once opens 1")

    def group(name: str, text: str) -> tuple[str, str, list[str]]:
        return said(verdicts_of(service.one(text, TOPIC, fate=True))[name])

    service = service_of(alone)
    with service.cluster, ExitStack() as stack:
        with halted(alone, "delays"):
            (late, _), *_ = put(alone, "late Halted 0 0 1", "halted-level HaltedLater 1 0 1")
            alone.wait_for("TOOK fails-once late 0")
            until(lambda: group("fails-once", late), ("retry_waiting", "proved", ["late"]))
            new_group = (
                ("stuck", ["still", "young", "blocker"]) if alone.old else ("never_read", ["no_offset_yet", "young"])
            )
            assert group("idle", late) == (new_group[0], "uncertain", new_group[1])
            with refused(alone, "45 * 0 error"):
                assert group("fails-once", late) == ("no_verdict", "none", ["delay_unknown"])
            until(lambda: later_of(service, alone, "halted-level"), {"later_late"})
            stack.enter_context(halted(alone, "dispatch"))
        until(lambda: group("fails-once", late), ("no_verdict", "none", ["just_delivered"]))
        until(lambda: later_of(service, alone, "halted-level"), {"later_passed"})
        ((msg_id, stored_id),) = put(alone, "stalled Halted 0 0 1")
        found = verdicts_of(service.one(stored_id, TOPIC, fate=True))
        assert said(found["fails-once"]) == ("not_dispatched", "proved", [])
        assert said(found["idle"])[::2] == (("not_dispatched", []) if alone.old else ("never_read", ["not_dispatched"]))
        by_msg_id = service.one(msg_id, TOPIC)
        assert (by_msg_id.found, by_msg_id.reason) == (False, "unknown") and "dispatch_behind" in codes(by_msg_id)
        if not alone.old:  # the broker notes it every 5 s
            until(lambda: group("muted", late), ("broadcast", "inferred", ["broadcast_not_reached"]))
    alone.wait_for("TOOK fails-once stalled 1")


def later_of(service: LookupService, alone: OneBroker, name: str) -> set[str]:
    """What is said of a message for a later time."""
    answer = service.one(alone.words("SENT", name)[0], "HaltedLater")
    assert answer.found, texts(answer)
    return {code for code in codes(answer) if code.startswith("later_")}


def test_what_a_broker_refuses_is_no_verdict(alone: OneBroker) -> None:
    alone.wait_for("READY", "REASONS", "GONE")

    def found(name: str, topic: str, *lines: str) -> dict[str, tuple[str, list[str]]]:
        service = service_of(alone)  # of its own: answers of a moment ago count
        with service.cluster, refused(alone, *lines):
            verdicts = verdicts_of(service.one(alone.words("SENT", name)[0], topic, fate=True))
        assert all((each.code == "no_verdict") == (each.certainty == "none") for each in verdicts.values())
        return {group: said(verdict)[::2] for group, verdict in verdicts.items()}

    lines = ("14 works 0 error", "202 %RETRY%gone 0 error", "12 %RETRY%gone 0 error")
    first = found("first", "FateTopic", *lines)
    assert first["works"] == ("no_verdict", ["offset_unknown"])
    assert first["gone"] == ("no_verdict", ["copies_unknown"])
    lines = ("203 choosy 0 error", "14 twins 1 error", "14 %RETRY%lingers 0 error")
    waiting = found("judged", "Reasons", *lines)
    assert waiting["choosy"] == ("no_verdict", ["connection_unknown"])
    assert waiting["lingers"] == ("no_verdict", ["retry_offset_unknown"])
    code, why = waiting["twins"]
    assert code == "behind" and why[0] == "asked_once"
    code, why = found("early", "Reasons")["twins"]
    assert code == "stuck" and "blocker_itself" in why


def test_clients_say_which_of_them_has_the_message_in_memory(alone: OneBroker) -> None:
    """Asked only for one id alone, and only where the profile permits it."""
    alone.wait_for("BEGAN hangs first 0", "GOT refuses early 0", "REASONS")
    profile = profile_of(alone)
    service = service_of(alone)
    open_cluster = Cluster(replace(profile, limits=replace(profile.limits, reach_clients=True)))
    reaching = LookupService(open_cluster, lambda: Moment(datetime.now(UTC), UTC), pace=PACE)
    warm, first, early = (alone.words("SENT", name)[0] for name in ("warm", "first", "early"))
    with service.cluster, reaching.cluster:

        def asked(by: LookupService, msg_id: str, topic: str, group: str, *more: str) -> Verdict:
            answer = next(iter(by.look_up([msg_id, *more], topic, fate=True)))
            return verdicts_of(answer)[group]

        hangs = asked(reaching, warm, "FateTopic", "hangs")
        assert (hangs.code, hangs.certainty, hangs.why[0].code) == ("running", "inferred", "in_memory_first")
        assert str(hangs.values["client"]).endswith("@hangs") and hangs.values["since"] <= time.time() * 1_000
        behind_it = asked(reaching, first, "FateTopic", "hangs")
        assert (behind_it.code, behind_it.why[0].code) == ("handed_out", "in_memory")
        refuses = asked(reaching, early, "Reasons", "refuses")
        assert (refuses.code, refuses.why[0].code) == ("running", "in_memory_first"), (
            "in order, and sent back to itself"
        )
        twins = asked(reaching, early, "Reasons", "twins")
        assert twins.code == "stuck" and "in_no_memory" in {reason.code for reason in twins.why}
        for by, more in ((service, ()), (reaching, (first,))):
            verdict = asked(by, warm, "FateTopic", "hangs", *more)
            assert verdict.code != "running" and "in_memory_first" not in {reason.code for reason in verdict.why}


def test_a_broker_that_never_answers_leaves_no_verdict(current: OneBroker) -> None:
    current.wait_for("READY")
    service = service_of(current, 0.5)
    with service.cluster, refused(current, "203 works 0 silent"):
        verdicts = verdicts_of(service.one(current.words("SENT", "first")[0], "FateTopic", fate=True))
    assert {verdict.code for verdict in verdicts.values()} <= {"no_verdict"}


def test_records_of_one_message_are_each_judged(alone: OneBroker) -> None:
    alone.wait_for("REASONS", "TOOK fails-once opens 1")
    put(alone, "twice Halted 0 0 2")
    service = service_of(alone)
    expected = {
        "fails-once": [("consumed_on_retry", ["twice"])] * 2,
        "half-done": [("consumed", ["nobody_connected", "filter_unknown"]), ("offline", ["proxy", "other_record"])],
    }

    def found() -> dict[str, list[Any]]:
        fate = service.one(alone.words("SENT", "twice")[0], TOPIC, fate=True).fate or ()
        return {name: [said(each)[::2] for each in fate if each.group == name] for name in expected}

    with service.cluster:
        until(found, expected)


def test_a_transaction_that_was_committed_is_found_from_its_half_message(alone: OneBroker) -> None:
    alone.wait_for("TRANSACTIONS")
    service = service_of(alone)
    with service.cluster:
        assert ends_of(service, alone, "committed", HALF_TOPIC) == {"half_committed"}


def test_behind_more_notes_than_are_read_the_progress_shows_that_nobody_gets_it(
    old: OneBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if more than 1,024 decisions had come in between; a broker of 5.3.3 may give it up before it notes them."""
    old.wait_for("TRANSACTIONS")
    monkeypatch.setattr(transactions, "_MOST_NOTES", 0)
    service = service_of(old)
    with service.cluster:
        until(lambda: ends_of(service, old, "rolled_back", "ReasonsTx"), {"half_swept"})
        with refused(old, "14 CID_RMQ_SYS_TRANS 0 error"):
            assert ends_of(service, old, "rolled_back", "ReasonsTx") == {"only_half"}


def ends_of(service: LookupService, alone: OneBroker, name: str, topic: str) -> set[str]:
    """What is said of a transaction whose message is not found."""
    answer = service.one(alone.words("SENT", name)[0], topic)
    return {code for code in codes(answer) if code.startswith(("half_", "only_half"))}

"""What hurts the real cluster, so it comes last: bytes of a log are overwritten, a broker is killed."""

from __future__ import annotations

import time

import pytest

from idcore.answers.lookup import LookupService
from idcore.rocketmq.remoting.guard import Member
from idcore.rocketmq.remoting.requests import RuntimeInfo
from tests.remoting.asking import as_mqadmin, at, codes, desk_of, profile, texts
from tests.remoting.conftest import Filled

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]


class TestDamage:
    """Last, for these hurt the cluster: bytes of broker b are overwritten, then it is killed."""

    def test_damaged_and_hole(self, real: Filled, service: LookupService) -> None:
        lines = real.of("plain", topic="Notices")
        log = real.cluster.work / "broker-b" / "store" / "commitlog"
        for line, where, raw, reason in (
            (lines[4], 84, b"\x7f\xff\xff\xff", "damaged"),  # the body's length
            (lines[6], 0, bytes(lines[6]["by_offset"]["store_size"]), "hole"),
        ):
            offset = line["by_offset"]["commit_log_offset"] + where
            with (log / f"{offset - offset % (1 << 20):020d}").open("r+b") as file:
                file.seek(offset % (1 << 20))
                file.write(raw)
            line["by_offset"] = line["by_uniq"] = "overwritten"
            answer = service.one(line["offset_msg_id"])
            assert (answer.found, answer.reason) == (False, reason), texts(answer)

    def caught_up(self, service: LookupService) -> tuple[Member, ...]:
        """Both of broker b, once the slave has all that its master has."""
        ends: list[int] = []
        for _ in range(200):
            members = service.cluster.topology(-1).brokers()["broker-b"]
            ends = [service.cluster.ask(member, RuntimeInfo()).max_offset for member in members]
            if len(members) == 2 and ends[0] == ends[1]:
                return members
            time.sleep(0.3)
        raise AssertionError(f"the slave did not catch up: {ends}")

    def test_a_slave_stands_in_for_its_master_and_then_nobody_does(self, real: Filled) -> None:
        lines = real.of("plain", topic="Notices")
        knows = desk_of(profile(real))
        with knows.cluster:
            members = self.caught_up(knows)
            assert [str(member) for member in members] == [
                f"broker-b ({real.cluster.broker_b}, master)",
                f"broker-b ({real.cluster.slave_b}, slave)",
            ]
            assert knows.one(lines[0]["offset_msg_id"]).found
            real.cluster.kill("broker-b")
            for text in (lines[0]["offset_msg_id"], lines[0]["msg_id"]):
                answer = knows.one(text)
                assert answer.found and "replica" in codes(answer), texts(answer)
                assert real.cluster.slave_b in answer.asked
                assert as_mqadmin(answer.copies[0]) == lines[0]["by_offset"]
            # the slave cannot know where its master's log ended
            assert knows.one(at(lines[0], 1 << 40)).reason == "unreachable"
            real.cluster.kill("slave-b")
            for text in (lines[1]["offset_msg_id"], lines[1]["msg_id"]):
                answer = knows.one(text)
                assert (answer.found, answer.reason) == (False, "unreachable"), texts(answer)
                assert real.cluster.broker_b in texts(answer)
            assert knows.one(real.of("plain", topic="Orders")[0]["msg_id"]).found
        for _ in range(100):
            fresh = desk_of(profile(real))
            with fresh.cluster:
                answer = fresh.one(lines[0]["offset_msg_id"])
            if answer.reason == "not_in_topology":
                break
            time.sleep(0.2)
        # the name server has forgotten it: now its address is a stranger's
        assert answer.reason == "not_in_topology"

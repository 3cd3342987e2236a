"""What hurts the real cluster, so it comes last: bytes of a log are overwritten, a broker is killed."""

from __future__ import annotations

import time

import pytest

from idcore.lookup import Desk
from tests.remoting.asking import desk_of, profile, texts
from tests.remoting.conftest import Filled

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]


class TestDamage:
    """Last, for these hurt the cluster: bytes of broker b are overwritten, then it is killed."""

    def test_damaged_and_hole(self, real: Filled, desk: Desk) -> None:
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
            answer = desk.one(line["offset_msg_id"])
            assert (answer.found, answer.reason) == (False, reason), texts(answer)

    def test_a_broker_that_is_down(self, real: Filled) -> None:
        line = real.of("plain", topic="Notices")[0]
        knows = desk_of(profile(real))
        with knows.cluster:
            assert knows.one(line["offset_msg_id"]).found
            real.cluster.kill("broker-b")
            for text in (line["offset_msg_id"], line["msg_id"]):
                answer = knows.one(text)
                assert (answer.found, answer.reason) == (False, "unreachable")
                assert real.cluster.broker_b in texts(answer)
            assert knows.one(real.of("plain", topic="Orders")[0]["msg_id"]).found
        for _ in range(100):
            fresh = desk_of(profile(real))
            with fresh.cluster:
                answer = fresh.one(line["offset_msg_id"])
            if answer.reason == "not_in_topology":
                break
            time.sleep(0.2)
        # the name server has forgotten it: now its address is a stranger's
        assert answer.reason == "not_in_topology"

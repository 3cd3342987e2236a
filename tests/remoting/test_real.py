"""Look-ups in a real cluster (5.3.3): every message by either id, fields as mqadmin's, every miss explained."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from idcore.answers.lookup import (
    Answer,
    Listing,
    LookupService,
    Way,
    advice_text,
    reason_text,
    relation_text,
    row_of,
    ways,
)
from idcore.base import catalogue
from idcore.ids import OffsetId
from tests.remoting.asking import as_mqadmin, at, codes, desk_of, profile, texts
from tests.remoting.boot import ACCESS, SECRET
from tests.remoting.conftest import Filled

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = [pytest.mark.java, pytest.mark.timeout(240)]

WHOLE_MESSAGES = ("plain", "keys", "unicode", "binary", "packed_ZLIB", "packed_LZ4", "packed_ZSTD", "twice", "own_key")


class TestEveryMessage:
    def test_all_kinds_were_sent(self, real: Filled) -> None:
        kinds = {line["kind"] for line in real.lines}
        assert kinds == {
            *WHOLE_MESSAGES,
            "batch",
            "large_batch",
            "held_batch",
            "delay",
            "committed",
            "rolled_back",
            "retried",
            "dead",
            "unindexed",
            "filler",
            "deleted",
        }
        assert len(real.lines) > 130

    def test_is_found_by_its_offset_id_with_the_fields_of_mqadmin(self, real: Filled, service: LookupService) -> None:
        lines = [line for line in real.lines if line["offset_msg_id"] and line["kind"] != "deleted"]
        answers = list(service.look_up([line["offset_msg_id"] for line in lines]))
        for line, answer in zip(lines, answers, strict=True):
            own = [copy for copy in answer.copies if str(copy.record.offset_id) == line["offset_msg_id"]]
            assert answer.found and answer.reason is None and len(own) == 1, (line, texts(answer))
            assert as_mqadmin(own[0]) == line["by_offset"]
            assert own[0].record.body_crc_ok

    def test_is_found_by_its_msg_id_with_the_fields_of_mqadmin(self, real: Filled, service: LookupService) -> None:
        lines = [line for line in real.lines if line["msg_id"] and isinstance(line["by_uniq"], dict)]
        assert len(lines) > 100
        answers = list(service.look_up([line["msg_id"] for line in lines]))
        for line, answer in zip(lines, answers, strict=True):
            assert answer.found, (line, texts(answer))
            assert line["by_uniq"] in [as_mqadmin(copy) for copy in answer.copies]

    def test_is_found_by_its_msg_id_in_its_topic(self, real: Filled, service: LookupService) -> None:
        for topic in ("Orders", "Notices", "Both"):
            lines = real.of("plain", "keys", topic=topic)
            for line, answer in zip(lines, service.look_up([line["msg_id"] for line in lines], topic), strict=True):
                assert [copy.record.topic for copy in answer.copies] == [topic]
                assert as_mqadmin(answer.copies[0]) == line["by_uniq"]


class TestCopies:
    def relations(self, answer: Answer) -> list[tuple[str, str | None]]:
        return [(copy.record.topic, copy.relation) for copy in answer.copies]

    def test_sent_twice(self, real: Filled, service: LookupService) -> None:
        for line in real.of("twice"):
            answer = service.one(line["msg_id"])
            assert [relation for _, relation in self.relations(answer)] == ["message", "resent"]

    def test_a_delay_and_its_delivery(self, real: Filled, service: LookupService) -> None:
        for line in real.of("delay"):
            for text in (line["msg_id"], line["offset_msg_id"]):
                answer = service.one(text)
                assert self.relations(answer) == [("Orders", "delivered"), ("SCHEDULE_TOPIC_XXXX", "delayed")]

    def test_a_transaction_and_its_half(self, real: Filled, service: LookupService) -> None:
        answer = service.one(real.of("committed")[0]["msg_id"])
        assert self.relations(answer) == [("Notices", "committed"), ("RMQ_SYS_TRANS_HALF_TOPIC", "half")]
        committed, half = (copy.record for copy in answer.copies)
        assert committed.prepared_transaction_offset == half.physical_offset

    def test_a_rolled_back_transaction_is_only_a_half(self, real: Filled, service: LookupService) -> None:
        for topic in (None, "Notices"):
            answer = service.one(real.of("rolled_back")[0]["msg_id"], topic)
            assert self.relations(answer) == [("RMQ_SYS_TRANS_HALF_TOPIC", "half")]
            assert {"half_rolled_back", "half_swept"} & codes(answer), texts(answer)

    def test_a_retry_and_a_dead_letter_name_their_group(self, real: Filled, service: LookupService) -> None:
        for kind, relation, topic in (("retried", "retry", "%RETRY%readers"), ("dead", "dead_letter", "%DLQ%readers")):
            line = real.of(kind)[0]
            for text in (line["msg_id"], line["offset_msg_id"]):
                answer = service.one(text)
                assert self.relations(answer)[0] == ("Orders", "message")
                assert self.relations(answer)[-1] == (topic, relation)
                assert answer.copies[-1].group == "readers" and "readers" in relation_text(answer.copies[-1])

    def test_a_batch_is_one_id_with_many_messages(self, real: Filled, service: LookupService) -> None:
        lines = real.of("batch")
        answer = service.one(lines[0]["offset_msg_id"])
        assert self.relations(answer) == [("Orders", "batch")] * len(lines)
        assert {str(copy.record.offset_id) for copy in answer.copies} == {line["offset_msg_id"] for line in lines}

    def test_an_item_of_a_batch_is_found_by_its_own_id(self, real: Filled, service: LookupService) -> None:
        lines = real.of("batch")
        for topic in ("Orders", None):
            answers = list(service.look_up([line["msg_id"] for line in lines], topic))
            for place, (line, answer) in enumerate(zip(lines, answers, strict=True), 1):
                assert "no message" in line["by_uniq"], "mqadmin does not find it"
                assert (answer.found, answer.reason) == (True, "index_lost")
                (copy,) = answer.copies
                assert as_mqadmin(copy) == line["by_offset"] and copy.relation == "batch"
                (said,) = [item.values for item in answer.evidence if item.code == "batch_item"]
                assert (said["place"], said["count"]) == (place, 5) and said["batch_id"] == copy.record.uniq_id

    def test_an_item_of_a_batch_that_was_held_for_seconds_is_found(self, real: Filled, service: LookupService) -> None:
        lines = real.of("held_batch")
        answers = list(service.look_up([line["msg_id"] for line in lines], "Orders"))
        for place, (line, answer) in enumerate(zip(lines, answers, strict=True), 1):
            assert "no message" in line["by_uniq"], "mqadmin does not find it"
            assert (answer.found, answer.reason) == (True, "index_lost")
            (copy,) = answer.copies
            assert as_mqadmin(copy) == line["by_offset"]
            (said,) = [item.values for item in answer.evidence if item.code == "batch_item"]
            assert (said["place"], said["count"], said["batch_id"]) == (place, 3, copy.record.uniq_id)
            made, batch = (int(text[-12:-4], 16) for text in (line["msg_id"], copy.record.uniq_id or ""))
            assert batch - made > 1_500

    def test_of_a_large_batch_all_items_are_found_by_their_own_ids(self, real: Filled, service: LookupService) -> None:
        lines = real.of("large_batch")
        assert len(lines) == 40
        lines = [lines[0], *lines[6:10], *lines[-2:]]  # ids of the batch are tried for the last 32
        answers = list(service.look_up([line["msg_id"] for line in lines], "Orders"))
        for line, answer in zip(lines, answers, strict=True):
            assert answer.found and as_mqadmin(answer.copies[0]) == line["by_offset"]
            assert "batch_item_open" in codes(answer)

    def test_a_key_finds_all_its_messages(self, service: LookupService) -> None:
        answer = service.one("order-1")
        assert {copy.record.topic for copy in answer.copies} == {"Orders", "Notices", "Both"}
        assert len(service.one("user-0", "Orders").copies) == 4

    def test_an_offset_shaped_uniq_key_is_found_as_a_key(self, service: LookupService) -> None:
        """Its address is a stranger's, so it is refused as an offset id, and found as the msgId it is too."""
        answer = service.one("0A0B0C0D00002A9F0000000000012345")
        assert {copy.record.topic for copy in answer.copies} == {"Orders", "Notices", "Both"}
        assert "refused" in codes(answer)


class TestMisses:
    """Each reason of CONTRACT section 3 that a live cluster can give, from the real one."""

    def test_mid_record(self, real: Filled, service: LookupService) -> None:
        lines = real.of("plain", "keys", "packed_LZ4", "filler")
        for step in (1, 3, 4, 8, 20, 28, 60, 91):
            for line in lines[::9]:
                answer = service.one(at(line, line["by_offset"]["commit_log_offset"] + step))
                assert (answer.found, answer.reason) == (False, "mid_record"), (step, texts(answer))
                assert "log_range" in codes(answer)

    def test_the_last_records_middle_is_not_past_the_end(self, real: Filled, service: LookupService) -> None:
        last = max(real.of("filler"), key=lambda line: line["by_offset"]["commit_log_offset"])
        answer = service.one(at(last, last["by_offset"]["commit_log_offset"] + 1))
        assert answer.reason == "mid_record"

    def test_beyond_end(self, real: Filled, service: LookupService) -> None:
        line = real.of("plain")[0]
        for offset in (1 << 30, 1 << 47):
            answer = service.one(at(line, offset))
            assert answer.reason == "beyond_end" and str(offset) in texts(answer)

    def test_before_minimum(self, real: Filled, service: LookupService) -> None:
        for line in real.of("deleted"):
            answer = service.one(line["offset_msg_id"])
            assert (answer.found, answer.reason) == (False, "before_minimum")
            assert "from 2097152" in texts(answer)
        # mqadmin shows another record for offset 0, as if it were the one
        first = real.of("deleted")[0]
        assert first["by_offset"]["commit_log_offset"] == 2 << 20
        assert "answered_other" in codes(service.one(first["offset_msg_id"]))

    def test_blank(self, real: Filled, service: LookupService) -> None:
        host = real.of("filler")[0]["by_offset"]["store_host"]
        shown = [line["by_offset"] for line in real.lines if isinstance(line["by_offset"], dict)]
        ends = {each["commit_log_offset"] + each["store_size"] for each in shown if each["store_host"] == host}
        answers = [service.one(at(real.of("filler")[0], end)) for end in sorted(ends)]
        blanks = [answer for answer in answers if answer.reason == "blank"]
        assert len(blanks) == 1 and "answered_rubbish" in codes(blanks[0])
        inside = OffsetId.from_hex(blanks[0].id).physical_offset + 64
        assert service.one(at(real.of("filler")[0], inside)).reason in ("hole", "mid_record")

    def test_wrong_topic_says_the_right_one(self, real: Filled, service: LookupService) -> None:
        line = real.of("plain", topic="Orders")[0]
        answer = service.one(line["msg_id"], "Notices")
        assert (answer.found, answer.reason) == (False, "wrong_topic")
        assert "it is in topic Orders" in texts(answer) and line["offset_msg_id"] in texts(answer)
        assert not isinstance(line["by_uniq"], str)

    def test_topic_unknown(self, real: Filled, service: LookupService) -> None:
        missing = real.of("plain")[0]["msg_id"][:-4] + "FF00"
        answer = service.one(missing, "NoSuchTopic")
        assert answer.reason == "topic_unknown" and "NoSuchTopic" in texts(answer)

    def test_another_topic_for_an_offset_id_is_said(self, real: Filled, service: LookupService) -> None:
        answer = service.one(real.of("plain", topic="Orders")[0]["offset_msg_id"], "Notices")
        assert answer.found and "topic_differs" in codes(answer)

    def test_expired(self, service: LookupService) -> None:
        answer = service.one("0108719066FF9A489C04DB99CA00000003")
        assert answer.reason == "expired" and "earliest" in codes(answer)

    def test_clock_behind(self, real: Filled) -> None:
        """Real brokers, asked by a machine whose clock is two hours ahead, for an id of the hour to come."""
        ahead = desk_of(profile(real), timedelta(hours=2))
        future = int((datetime.now(UTC) + timedelta(hours=1) - datetime(2021, 1, 1, tzinfo=UTC)).total_seconds())
        with ahead.cluster:
            answer = ahead.one(f"0108719066FF9A489C{future:08X}00000003")
        assert answer.reason == "clock_behind" and "clock" in codes(answer)

    def test_window(self, real: Filled) -> None:
        """Asked from the month to come, the id reads as newer than its message: its own time is the wrong window.

        The broker's clock is as much behind that of the desk, so the window begins as much earlier.
        """
        line = real.of("plain", topic="Orders")[0]
        later = timedelta(days=40)
        narrow = desk_of(profile(real, search_whole_log=False), later)
        with narrow.cluster:
            answer = narrow.one(line["msg_id"], "Orders")
            assert answer.found and "clock" in codes(answer)
        whole = desk_of(profile(real), later)
        with whole.cluster:
            answer = whole.one(line["msg_id"], "Orders")
            assert answer.found

    def test_what_the_index_has_lost_is_found_through_its_queue(self, real: Filled, service: LookupService) -> None:
        for line in real.of("unindexed"):
            assert isinstance(line["by_uniq"], str) and "no message" in line["by_uniq"]
            answer = service.one(line["msg_id"], "Orders")
            assert (answer.found, answer.reason) == (True, "index_lost")
            assert "found_without_index" in codes(answer)
            assert as_mqadmin(answer.copies[0]) == line["by_offset"]
            by_offset = service.one(line["offset_msg_id"])
            assert by_offset.found and "index_missed" in codes(by_offset)

    def test_index_lost(self, real: Filled, service: LookupService) -> None:
        beside = real.of("unindexed")[0]["msg_id"]
        answer = service.one(beside[:-4] + "FFF0", "Orders")
        assert answer.reason == "index_lost" and "index_silent" in codes(answer)

    def test_unknown(self, real: Filled, service: LookupService) -> None:
        answer = service.one(real.of("plain", topic="Notices")[3]["msg_id"][:-4] + "FFF0", "Notices")
        assert answer.reason == "unknown", texts(answer)
        assert {"topics_asked", "earliest", "id_time_open", "messages"} <= codes(answer)

    def test_letter_case(self, real: Filled, service: LookupService) -> None:
        line = real.of("plain", topic="Orders")[0]
        answer = service.one(line["msg_id"].lower())
        assert not answer.found and line["msg_id"] in texts(answer)

    @pytest.mark.parametrize("text", ["", "no such key", "no-such-key", "\u0001", "x" * 1_001, "0" * 31])
    def test_not_an_id(self, service: LookupService, text: str) -> None:
        assert service.one(text).reason == "not_an_id"

    def test_every_miss_has_evidence_and_advice(self, real: Filled, service: LookupService) -> None:
        line = real.of("plain")[0]
        for text in (at(line, 1), at(line, 1 << 30), line["msg_id"][:-4] + "FFF0", "no-such-key"):
            answer = service.one(text)
            assert (
                answer.reason
                and answer.evidence
                and reason_text(answer)
                and advice_text(answer, words=catalogue.words())
            )


class TestLists:
    """Ways without an id: what the real brokers give for a time, a queue offset, a group, a key."""

    def listed(self, service: LookupService, **given: str) -> tuple[Listing, list[str]]:
        way = Way.of(given, UTC)
        assert way is not None
        found = service.list_messages(way)
        return found, [str(copy.record.offset_id) for copy in found.copies]

    def test_a_topic_and_a_time_give_each_message_of_that_time_on_every_broker(
        self, real: Filled, service: LookupService
    ) -> None:
        for topic in ("Orders", "Notices", "Both"):
            whole, _ = self.listed(service, topic=topic, **{"from": "2020-01-01"})
            assert whole.cut is None and whole.left == 0 and whole.reason is None
            shown = [line["by_offset"] for line in real.of(*WHOLE_MESSAGES, "batch", topic=topic) if line["by_offset"]]
            assert shown and all(each in [as_mqadmin(copy) for copy in whole.copies] for each in shown)
            stored = sorted(copy.record.store_timestamp for copy in whole.copies)
            assert stored == [copy.record.store_timestamp for copy in whole.copies]
            for low, high in ((0, -1), (len(stored) // 3, 2 * len(stored) // 3), (5, 5)):
                begin, end = (
                    datetime.fromtimestamp(stored[at] / 1_000, UTC).isoformat(timespec="milliseconds")
                    for at in (low, high)
                )
                found, _ = self.listed(service, topic=topic, **{"from": begin, "to": end})
                assert [copy.record.store_timestamp for copy in found.copies] == [
                    at for at in stored if stored[low] <= at <= stored[high]
                ]

    def test_a_queue_offset_gives_its_record(self, real: Filled, service: LookupService) -> None:
        for line in real.of("plain", "keys", "packed_LZ4", "binary")[::7]:
            shown = line["by_offset"]
            found, _ = self.listed(service, topic=line["topic"], queue=f"{shown['queue_id']}:{shown['queue_offset']}")
            assert shown in [as_mqadmin(copy) for copy in found.copies], found
            name = shown["store_host"].lstrip("/")
            found, ids = self.listed(
                service, topic=line["topic"], queue=f"{name}:{shown['queue_id']}:{shown['queue_offset']}"
            )
            assert ids == [line["offset_msg_id"] or ids[0]] and as_mqadmin(found.copies[0]) == shown
        behind, _ = self.listed(service, topic="Orders", queue="broker-a:0:99999")
        assert behind.reason == "behind_end" and behind.queues[0].max_offset > 0

    def test_dead_letters_of_a_group_name_their_home(self, real: Filled, service: LookupService) -> None:
        found, _ = self.listed(service, dead_letters="readers")
        dead = {line["msg_id"] for line in real.of("dead")}
        assert dead == {copy.record.uniq_id for copy in found.copies} and found.cut is None
        row = ways.row(found.copies[0])
        assert (row["group"], row["home_topic"], row["topic"]) == ("readers", "Orders", "%DLQ%readers")
        assert self.listed(service, dead_letters="nobody")[0].reason == "no_dead_letters"

    def test_a_key_gives_what_the_look_up_gives(self, service: LookupService) -> None:
        _, ids = self.listed(service, key="user-0", topic="Orders")
        assert set(ids) == {str(copy.record.offset_id) for copy in service.one("user-0", "Orders").copies}


def test_the_command_line_prints_what_mqadmin_shows(real: Filled) -> None:
    lines = real.of("plain", "keys", "unicode", "binary", "packed_ZSTD", "committed")[::7]
    ids = [line["offset_msg_id"] or line["msg_id"] for line in lines]
    command = [
        sys.executable,
        "-m",
        "idcore",
        "view",
        "--namesrv",
        real.cluster.names,
        "--tls-ca",
        str(real.cluster.ca),
    ]
    keys = {"ROCKETMQ_ACCESS_KEY": ACCESS, "ROCKETMQ_SECRET_KEY": SECRET}
    done = subprocess.run(
        [*command, *ids], capture_output=True, text=True, timeout=60, env=os.environ | keys, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    for line, text in zip(lines, done.stdout.splitlines(), strict=True):
        (shown,) = [copy for copy in json.loads(text)["copies"] if copy["relation"] in ("message", "committed")]
        wanted = dict(line["by_offset"] or line["by_uniq"])
        # mqadmin shows the client's view: hosts with a slash before them, the compressed bit cleared
        for name in ("born_host", "store_host"):
            wanted[name] = wanted[name].lstrip("/")
        assert shown["sys_flag"] & ~1 == wanted.pop("sys_flag")
        assert {name: shown[name] for name in wanted} == wanted
    stranger = subprocess.run([*command, ids[0]], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)
    assert stranger.returncode == 3 and json.loads(stranger.stdout)["reason"] == "not_permitted"


@pytest.mark.parametrize(("command", "name"), [("queryMsgById", "offset_msg_id"), ("queryMsgByUniqueKey", "msg_id")])
def test_fields_are_those_that_mqadmin_prints(real: Filled, service: LookupService, command: str, name: str) -> None:
    line = real.of("keys", topic="Notices")[1]
    printed = (real.cluster.work / f"sent.jsonl.{command}").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^([A-Z][A-Za-z ]+?): +(.*?)\s*$", printed, re.MULTILINE))
    (copy,) = row_of(service.one(line[name]))["copies"]

    def day(milliseconds: int) -> str:
        return f"{datetime.fromtimestamp(milliseconds / 1_000):%Y-%m-%d %H:%M:%S},{milliseconds % 1_000:03d}"

    wanted = {
        "Topic": copy["topic"],
        "Tags": f"[{copy['properties']['TAGS']}]",
        "Keys": f"[{copy['properties']['KEYS']}]",
        "Queue ID": str(copy["queue_id"]),
        "Queue Offset": str(copy["queue_offset"]),
        "CommitLog Offset": str(copy["commit_log_offset"]),
        "Reconsume Times": str(copy["reconsume_times"]),
        "Born Timestamp": day(copy["born_timestamp"]),
        "Store Timestamp": day(copy["store_timestamp"]),
        "Born Host": copy["born_host"],
        "Store Host": copy["store_host"],
        "System Flag": str(copy["sys_flag"]),
    }
    assert {key: shown.get(key) for key in wanted} == wanted
    assert sorted(shown["Properties"].strip("{}").split(", ")) == sorted(
        f"{k}={v}" for k, v in copy["properties"].items()
    )
    if name == "offset_msg_id":
        assert shown["OffsetID"] == copy["offset_msg_id"]


def test_a_hundred_ids_are_all_found_in_one_go(real: Filled, service: LookupService) -> None:
    ids = [line["msg_id"] for line in real.of("plain", "keys", "unicode", "binary")][:100]
    ids += [line["offset_msg_id"] for line in real.of("plain")][: 100 - len(ids)]
    assert len(set(ids)) == 100
    assert [answer.found for answer in service.look_up(ids)] == [True] * 100  # benchmarks/lookup.py says how fast

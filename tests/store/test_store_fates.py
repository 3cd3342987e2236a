"""What became of messages, said of store folders: planted groups, a real broker's store, folders that lack parts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from idcore.answers.fate import Verdict
from idcore.answers.lookup import Answer, StoreLookup, group_evidence, row_of, store_fates
from idcore.answers.lookup.copies import is_special
from idcore.answers.lookup.group_evidence import is_copy_of
from idcore.cli.make import run_store
from idcore.cli.parser import build_parser
from idcore.ids import Clock
from idcore.rocketmq.message import Host, Message, Record
from idcore.rocketmq.store import Stored, StoreFolder
from idcore.simulate.broker import Broker
from idcore.simulate.writer import StoreWriter
from tests.remoting.fake import UNIQ
from tests.remoting.test_traces import AT, CONSUMER, OWN, USUAL, after, before, traces
from tests.store.doubtful import BATCH, IN_NAMESPACE, SENT_ON, STORE, TWO_TOPICS, written

ROOT = Path(__file__).resolve().parent.parent.parent
CLOCK = Clock(datetime(2026, 11, 22, 8, tzinfo=UTC), UTC)
# of the real store: a message that was sent twice, and its two groups
TWICE, LONG = "CB0071156B7B4E0E2F2A691BA5A307BD", "retry_group_with_a_very_long_name_"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = tmp_path_factory.mktemp("groups") / "store"
    asked = ["make", "store", "--messages", "300", "--groups", "7", "--seed", "3", "--out", str(root)]
    assert run_store(build_parser().parse_args(asked)) == 0
    return root, json.loads(root.with_name("truth.json").read_text())


def look_up(root: Path, text: str, **options: Any) -> Answer:
    with StoreFolder(root) as store:
        return StoreLookup(store, CLOCK, **options).one(text, fate=True)


def verdicts(root: Path, text: str) -> dict[str, Verdict]:
    found = look_up(root, text).fate
    assert found is not None
    return {verdict.group: verdict for verdict in found}


def messages(store: StoreFolder) -> list[Record]:
    every = (step.record for step in store.log.walk() if isinstance(step, Stored))
    return [record for record in every if not is_special(record.topic)]


def evidence(answer: Answer) -> set[str]:
    return {item.code for item in answer.evidence if not item.is_figure}


def test_every_message_has_the_fate_that_was_planted(made: tuple[Path, dict[str, Any]]) -> None:
    root, truth = made
    groups = {row["group"] for row in truth["fates"]}
    wanted = Counter({(row["group"], row["topic"], row["verdict"]): row["messages"] for row in truth["fates"]})
    found: Counter[tuple[str, str, str]] = Counter()
    with StoreFolder(root) as store:
        lookup = StoreLookup(store, CLOCK)
        for record in messages(store):
            for verdict in lookup.at(record.physical_offset, fate=True).fate or ():
                assert verdict.record == str(record.offset_id)
                if verdict.group in groups:
                    found[verdict.group, record.topic, verdict.code] += 1
    assert found == wanted
    assert {code for *_, code in wanted} >= {"consumed", "behind", "disabled", "never_read", "broadcast", "dead"}
    assert {row["verdict"] for row in truth["failed"]} == {
        "consumed_on_retry",
        "retry_queued",
        "retry_waiting",
        "dead",
    }
    for row in truth["failed"]:
        assert verdicts(root, row["msg_id"])[row["group"]].code == row["verdict"]


def test_a_real_store_knows_which_record_a_copy_belongs_to(real_root: Path) -> None:
    found = look_up(real_root, TWICE)
    first, second = "7F00000100005597000000000008D7C3", "7F00000100005597000000000008D8C2"
    said = {(each.record, each.group[: len(LONG)]): each for each in found.fate or ()}
    assert {key: each.code for key, each in said.items()} == {
        (first, "retry_group"): "consumed",
        (second, "retry_group"): "consumed",
        (first, LONG): "consumed_on_retry",
        (second, LONG): "retry_queued",
    }
    assert said[second, LONG].values == {"tries": 2}
    assert [reason.code for reason in said[second, LONG].why] == ["snapshot", "other_record"]
    # asked for by its place alone the record has the same fate
    with StoreFolder(real_root) as store:
        alone = StoreLookup(store, CLOCK).one(second, fate=True).fate or ()
    assert {each.group[: len(LONG)]: each.code for each in alone} == {"retry_group": "consumed", LONG: "retry_queued"}


def test_the_age_of_the_folder_is_said(real_root: Path) -> None:
    (item,) = [item for item in look_up(real_root, TWICE).evidence if item.code == "store_snapshot"]
    assert item.values["shown"] == "2026-11-21T01:56:20.061+00:00" and item.values["age_seconds"] == 108_220
    row = row_of(look_up(real_root, TWICE))
    (said,) = row["evidence"]["store_snapshot"]
    assert (
        "1 d 6 h 3 min 40 s before it was read" in said["text"] and row["fate"][0]["asked_at"] == item.values["shown"]
    )


def test_a_damaged_or_missing_file_of_offsets_is_said_and_takes_only_its_verdicts(copy: Path) -> None:
    offsets = copy / "config" / "consumerOffset.json"
    raw = offsets.read_bytes()
    offsets.write_bytes(raw[: len(raw) // 2])
    found = look_up(copy, TWICE)
    assert "config_bak" in evidence(found) and {each.code for each in found.fate or ()} >= {"retry_queued"}
    shutil.rmtree(copy / "config")
    found = look_up(copy, TWICE)
    assert "config_no_offsets" in evidence(found)
    known = {(each.group[: len(LONG)], each.code) for each in found.fate or ()}
    assert known == {(LONG, "no_verdict")}  # the copies still name their group
    assert {reason.code for each in found.fate or () for reason in each.why} == {"copied_retry_offset_unknown"}


def test_without_an_index_the_log_is_read_and_a_gap_in_it_gives_no_verdict(copy: Path) -> None:
    whole = [(each.record, each.group, each.code) for each in look_up(copy, TWICE).fate or ()]
    index = sorted((copy / "index").iterdir())
    shutil.copy(index[0], copy / "first")
    for file in index[1:]:
        file.unlink()
    assert [(each.record, each.group, each.code) for each in look_up(copy, TWICE).fate or ()] == whole
    index[0].unlink()
    again = look_up(copy, TWICE)
    assert again.reason == "index_lost" and len(again.fate or ()) == len(whole)
    log = sorted((copy / "commitlog").iterdir())[0]
    raw = bytearray(log.read_bytes())
    raw[1_026_000:1_026_300] = b"\x7f" * 300  # where a copy may have been
    log.write_bytes(raw)
    codes = {each.code for each in look_up(copy, TWICE).fate or () if each.group == "retry_group"}
    assert codes == {"no_verdict"}


def test_traces_in_the_same_log_are_evidence_where_they_are_asked_for(tmp_path: Path) -> None:
    message = Message.of("Orders", b"card", "paid").with_uniq_id(UNIQ)
    with StoreWriter(tmp_path / "store") as writer:
        broker = Broker(writer, Host(bytes([10, 20, 0, 5]), 10911))
        broker.send(message, 0, AT, CONSUMER, AT)
        for number, (topic, text) in enumerate(((USUAL, before(1) + after(1)), (OWN, before(2) + after(2, code=4)))):
            writer.put(traces(number, text, topic), AT + number)
        broker.write_offsets({"Orders@readers": {0: 0}, "%RETRY%readers@readers": {0: 0}})
    root = tmp_path / "store"
    assert {each.code for each in look_up(root, UNIQ).fate or ()} == {"behind"}
    found = look_up(root, UNIQ, trace_topics=())
    (verdict,) = found.fate or ()
    assert (verdict.code, verdict.certainty, verdict.why[0].code) == ("consumed", "proved", "trace_success")
    assert found.trace is not None and found.trace.topics == (USUAL,) and len(found.trace.message_trace.attempts) == 1
    offsets = root / "config" / "consumerOffset.json"
    offsets.write_text(offsets.read_text().replace("%RETRY%readers@readers", "%RETRY%readers@others"))
    (verdict,) = look_up(root, UNIQ, trace_topics=()).fate or ()
    assert (verdict.certainty, verdict.why[1].code) == ("uncertain", "kind_unknown"), "it may have been a pull consumer"
    found = look_up(root, UNIQ, trace_topics=(OWN,))
    assert (
        found.trace is not None
        and set(found.trace.topics) == {USUAL, OWN}
        and len(found.trace.message_trace.attempts) == 2
    )


def said_of(root: Path, text: str) -> dict[tuple[str, str, int], tuple[str, str]]:
    """By topic, group and place among the records of the message: verdict and certainty, with traces."""
    found = look_up(root, text, trace_topics=())
    homes = [copy.record for copy in found.copies if not is_special(copy.record.topic)]
    places = {str(record.offset_id): (record.topic, place) for place, record in enumerate(homes)}
    return {
        (places[each.record][0], each.group, places[each.record][1]): (each.code, each.certainty)
        for each in found.fate or ()
    }


PERHAPS, WAITS = ("consumed", "uncertain"), ("retry_waiting", "inferred")


def test_a_trace_proves_nothing_where_its_msgid_has_several_records(tmp_path: Path) -> None:
    root = written(tmp_path / "store")
    readers, both = "readers", "both"
    assert said_of(root, TWO_TOPICS) == {
        ("Orders", both, 0): PERHAPS,
        ("Orders", readers, 0): PERHAPS,
        ("Paid", both, 1): WAITS,
    }
    items = said_of(root, BATCH)
    assert items[("Orders", both, 0)] == WAITS
    assert {items[key] for key in items if key != ("Orders", both, 0)} == {PERHAPS}
    one = next(copy.record.offset_id for copy in look_up(root, BATCH).copies if copy.record.topic == "Orders")
    assert said_of(root, str(one))[("Orders", both, 0)] == WAITS, "by the place of one item alone"


def test_a_trace_names_groups_without_their_namespace(tmp_path: Path) -> None:
    assert said_of(written(tmp_path / "store"), IN_NAMESPACE) == {
        ("NS%Orders", "NS%readers", 0): ("consumed", "proved")
    }


def test_a_copy_of_a_message_that_was_sent_on_may_be_of_either_record(tmp_path: Path) -> None:
    said = said_of(written(tmp_path / "store"), SENT_ON)
    assert {said["Orders", "both", place] for place in (0, 1)} == {("retry_waiting", "uncertain")}


@pytest.mark.parametrize(("copies", "records"), [(150, 1), (20, 150)])
def test_each_copy_of_a_message_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: int, records: int
) -> None:
    """Each group went through all copies, twice: of 800 groups in an archive of 45 KB that took 6 s."""
    with StoreWriter(tmp_path / "store") as writer:
        broker = Broker(writer, STORE)
        for at in range(records):
            broker.send(Message.of("Orders", b"%d" % at, "paid").with_uniq_id(UNIQ), 0, AT, CONSUMER, AT + at)
        for at in range(copies):
            copy = Message.of("%RETRY%x", b"card", "paid").with_uniq_id(UNIQ).with_property("RETRY_TOPIC", "Orders")
            broker.send(copy.with_property("ORIGIN_GROUP", f"g{at}"), 0, AT, CONSUMER, AT + records + at)
        broker.write_offsets({"Orders@g": {0: records}})
    calls = Counter[str]()

    def counted(*given: Any) -> bool:
        calls["compared"] += 1
        return is_copy_of(*given)

    for module in (store_fates, group_evidence):
        monkeypatch.setattr(module, "is_copy_of", counted)
    found = look_up(tmp_path / "store", UNIQ).fate
    assert found is not None and {each.group for each in found} == {"g", *(f"g{at}" for at in range(copies))}
    judged = min(records, group_evidence.MOST_RECORDS)
    assert calls["compared"] <= judged * (copies + min(records, 64) * copies)


def test_without_trace_topics_this_is_said(real_root: Path) -> None:
    found = look_up(real_root, TWICE, trace_topics=()).trace
    assert found is not None and not found.topics and "store_no_trace" in {item.code for item in found.evidence}


def test_the_command_says_it_below_each_record(real_root: Path) -> None:
    command = [sys.executable, "-m", "idcore", "view", "--store", str(real_root), "--fate", "--trace", TWICE]
    said = subprocess.run([*command, "--format", "table"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert any(line.split()[:3] == ["retry_group", "Consumed", "uncertain"] for line in said.splitlines())
    assert "the folder shows the state of 2026-11-21 01:56:20.061 +00:00" in said
    assert "The folder has no topic with message traces." in said
    done = subprocess.run([*command, "--format", "json"], cwd=ROOT, capture_output=True, text=True, check=True)
    row = json.loads(done.stdout)
    assert {each["verdict"] for each in row["fate"]} == {"consumed", "consumed_on_retry", "retry_queued"}
    assert row["trace"]["attempts"] == [] and row["evidence"]["store_snapshot"][0]["written"]


def test_a_topic_that_nobody_reads_is_said(real_root: Path) -> None:
    with StoreFolder(real_root) as store:
        topics = {record.topic: str(record.offset_id) for record in messages(store)}
        unread = {topic for topic in topics if not store.config.groups_of(topic)}
    for topic in unread:
        found = look_up(real_root, topics[topic])
        assert found.fate == () and "store_no_groups" in evidence(found)
    assert not {"Orders", "VectorTopic"} & unread

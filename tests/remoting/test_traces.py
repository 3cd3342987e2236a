"""The trace of a message from a cluster: pages, several topics, bad records, who does not answer, why there is none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC
from typing import Any

import pytest

from idcore.answers.lookup import Answer, open_source, row_of
from idcore.answers.lookup.model import TraceResult
from idcore.answers.lookup.source import Moment, Terms
from idcore.base.catalogue import words
from idcore.ids.model import UniqId
from idcore.presentation.reader import Reader
from idcore.presentation.terminal import messages
from idcore.rocketmq.message import Host, Record, compress
from idcore.rocketmq.message.flags import compression_bits
from idcore.rocketmq.message.row import has_key
from idcore.rocketmq.remoting.frame import Frame
from tests.cli.test_view_live import view
from tests.remoting.fake import NOW, UNIQ, Fake, record
from tests.remoting.servers import answer

USUAL, CLOUD, OWN = "RMQ_SYS_TRACE_TOPIC", "rmq_sys_TRACE_DATA_cn", "OwnTrace"
AT = 1_795_000_000_000
CONSUMER = Host(bytes([10, 0, 0, 3]), 50_122)
TRACED = {"TRACE_ON": "true", "MSG_REGION": "r"}


def request(number: int) -> str:
    return str(UniqId.of("10.0.0.3", 4_464, 0x18B4AAC2, 1_000_000 + number, number))


def before(number: int, msg_id: str = UNIQ) -> str:
    return f"SubBefore\x01{AT + number}\x01r\x01readers\x01{request(number)}\x01{msg_id}\x01{number}\x01null\x02"


def after(number: int, msg_id: str = UNIQ, code: int = 0) -> str:
    ok = "true" if code == 0 else "false"
    return (
        f"SubAfter\x01{request(number)}\x01{msg_id}\x017\x01{ok}\x01null\x01{code}\x01{AT + number + 30}\x01readers\x02"
    )


def pub(msg_id: str = UNIQ) -> str:
    return (
        f"Pub\x01{AT}\x01r\x01senders\x01Orders\x01{msg_id}\x01null\x01null\x01127.0.0.1:10911\x014\x012\x010\x01AB"
        "\x01true\x02"
    )


def traces(offset: int, text: str, topic: str = USUAL, key: str = UNIQ, at: int = AT, **more: Any) -> Record:
    made = Record.of(
        topic,
        text.encode(),
        f"KEYS\x01{key} other\x02UNIQ_KEY\x01T{offset:031X}\x02",
        queue_id=0,
        born_timestamp=at,
        born_host=CONSUMER,
        store_host=Host(b"\x7f\0\0\1", 10911),
        **more,
    )
    return made.placed(0, offset, at)


class Traceful(Fake):
    """Answers a query as a broker does: by hash, in whole seconds, 64 at most, the newest."""

    def handle(self, frame: Frame) -> Iterable[bytes]:
        if frame.code != 12:
            yield from super().handle(frame)
            return
        begin, end = int(frame.field("beginTimestamp") or 0), int(frame.field("endTimestamp") or 0)
        found = [
            each
            for each in self.records
            if each.topic == frame.field("topic")
            and has_key(each, frame.field("key") or "")
            and begin <= each.store_timestamp // 1_000 * 1_000 <= end
        ]
        newest = sorted(found, key=lambda each: -each.physical_offset)[:64]
        yield answer(frame, 0, b"".join(map(bytes, newest))) if newest else answer(frame, 22, b"", "no")


MESSAGE = record("Orders", UNIQ, 0, properties=TRACED)


def ask(fake: Fake, text: str = UNIQ, *named: str) -> tuple[Answer, TraceResult]:
    with fake.server:
        found = fake.service(trace_topics=named).one(text)
    assert found.trace is not None
    return found, found.trace


def codes(traced: TraceResult) -> set[str]:
    return {item.code for item in traced.evidence}


def test_sends_and_attempts_of_several_records() -> None:
    records = [traces(1, pub() + before(1)), traces(2, after(1, code=2) + before(2)), traces(3, after(2))]
    found, traced = ask(Traceful(["Orders", USUAL], [MESSAGE, *records]))
    assert found.found and traced.msg_ids == (UNIQ,) and traced.topics == (USUAL,) and codes(traced) == set()
    (send,) = traced.message_trace.sends
    assert (send.broker, send.client, send.cost_ms) == ("127.0.0.1:10911", "10.0.0.3:50122", 2)
    assert [
        (one.outcome, one.duration_ms, one.retry_times, one.host, one.pid) for one in traced.message_trace.attempts
    ] == [
        ("exception", 30, 1, "10.0.0.3", 4_464),
        ("success", 30, 2, "10.0.0.3", 4_464),
    ]
    assert found.asked == traced.asked


def test_only_contexts_of_the_message_itself_are_taken() -> None:
    other = UNIQ[:-1] + "1"
    _, traced = ask(Traceful(["Orders", USUAL], [MESSAGE, traces(1, pub(other) + before(1, other) + before(2))]))
    assert not traced.message_trace.sends and len(traced.message_trace.attempts) == 1
    assert codes(traced) == {"trace_no_send"}


def test_topics_that_were_named_and_those_of_the_cloud_are_asked_too() -> None:
    records = [traces(1, pub(), CLOUD), traces(2, before(1), OWN), traces(3, after(1))]
    fake = Traceful(["Orders", USUAL, CLOUD, OWN, "MY_TRACE"], [MESSAGE, *records])
    found, traced = ask(fake, UNIQ, OWN)
    assert set(traced.topics) == {USUAL, CLOUD, OWN}
    assert len(traced.message_trace.sends) == 1 and [one.duration_ms for one in traced.message_trace.attempts] == [30]
    assert {copy.record.topic for copy in found.copies if copy.relation != "trace"} == {"Orders"}
    (item,) = traced.evidence
    assert (item.code, item.values) == ("trace_other_topics", {"names": "MY_TRACE"})


def test_more_records_than_a_broker_gives_at_once_are_read_page_by_page() -> None:
    records = [traces(at, before(at) + after(at), at=AT + 40 * at) for at in range(1, 201)]
    _, traced = ask(Traceful(["Orders", USUAL], [MESSAGE, *records]))
    assert [one.retry_times for one in traced.message_trace.attempts] == list(range(1, 201))
    assert codes(traced) == {"trace_no_send"}


def test_more_than_a_page_in_one_second_is_said_to_be_cut() -> None:
    records = [traces(at, before(at)) for at in range(1, 80)]
    _, traced = ask(Traceful(["Orders", USUAL], [MESSAGE, *records]))
    assert len(traced.message_trace.attempts) == 64
    cut = next(item for item in traced.evidence if item.code == "trace_cut")
    assert cut.values["count"] == 64


def test_what_is_older_than_a_full_second_is_still_read() -> None:
    records = [traces(at, before(at), at=AT - 5_000 * (at < 4)) for at in range(1, 80)]
    _, traced = ask(Traceful(["Orders", USUAL], [MESSAGE, *records]))
    assert [one.retry_times for one in traced.message_trace.attempts][:3] == [1, 2, 3]
    assert len(traced.message_trace.attempts) == 67 and "trace_cut" in codes(traced)


def test_there_is_an_end_to_the_pages() -> None:
    fake = Traceful(
        ["Orders", USUAL], [MESSAGE, *(traces(at, before(at), at=AT + 1_000 * at) for at in range(1, 1_200))]
    )
    _, traced = ask(fake)
    asked = [frame for frame in fake.server.seen if frame.code == 12 and frame.field("topic") == USUAL]
    assert len([frame for frame in asked if frame.field("_UNIQUE_KEY_QUERY") == "false"]) == 16
    assert "trace_cut" in codes(traced) and 900 < len(traced.message_trace.attempts) < 1_024


def test_a_packed_body_is_read_and_a_bad_one_is_named() -> None:
    packed = Record.of(
        USUAL,
        compress("zlib", before(1).encode()),
        f"KEYS\x01{UNIQ}\x02",
        queue_id=0,
        born_timestamp=AT,
        born_host=CONSUMER,
        store_host=Host(b"\x7f\0\0\1", 10911),
        sys_flag=1 | compression_bits("zlib"),
    ).placed(0, 1, AT)
    broken = traces(2, "Pub\x01x\x02" + after(1) + "Forward\x01x\x02")
    rubbish = traces(3, "not zlib", sys_flag=1)
    found, traced = ask(Traceful(["Orders", USUAL], [MESSAGE, packed, broken, rubbish]))
    assert [one.duration_ms for one in traced.message_trace.attempts] == [30]
    assert traced.message_trace.unknown == 1
    bad = [item for item in traced.evidence if item.code == "trace_bad"]
    assert {item.values["problem"]["code"] for item in bad} == {"trace_fields", "body_broken"}
    assert "Pub has 2 fields" in json.dumps(row_of(found)["trace"]["evidence"])


@pytest.mark.parametrize(
    ("topics", "message", "text", "wanted"),
    [
        (["Orders"], MESSAGE, UNIQ, {"trace_no_topic", "trace_off", "trace_no_send", "trace_no_attempt"}),
        (["Orders", USUAL], MESSAGE, UNIQ, {"trace_off", "trace_no_send", "trace_no_attempt"}),
        (
            ["Orders", USUAL],
            record("Orders", UNIQ, 0),
            UNIQ,
            {"trace_no_region", "trace_off", "trace_no_send", "trace_no_attempt"},
        ),
        (
            ["Orders", USUAL],
            record("Orders", UNIQ, 0, properties=TRACED | {"TRACE_ON": "false"}),
            UNIQ,
            {"trace_switched_off", "trace_off", "trace_no_send", "trace_no_attempt"},
        ),
        (
            ["Orders", USUAL],
            record("Orders", "01EA2C235B8585B70D08C1575B00000015", 0, properties=TRACED),
            "01EA2C235B8585B70D08C1575B00000015",
            {"trace_grpc", "trace_off", "trace_no_send", "trace_no_attempt"},
        ),
        (["Orders", USUAL], MESSAGE, "some-key", {"trace_no_id"}),
    ],
)
def test_why_nothing_may_be_traced(topics: list[str], message: Record, text: str, wanted: set[str]) -> None:
    _, traced = ask(Traceful(topics, [message]), text)
    assert codes(traced) == wanted and not traced.message_trace.attempts
    every = json.dumps(row_of(Answer(text, (), None, (), (), trace=traced)))
    assert "trace_off" not in wanted or "does not prove anything" in every


def test_the_trace_of_a_message_that_is_gone_is_found_by_its_msg_id() -> None:
    found, traced = ask(Traceful(["Orders", USUAL], [traces(1, before(1))]))
    assert [copy.relation for copy in found.copies] == ["trace"]
    assert "only_trace" in {item.code for item in found.evidence}
    assert traced.msg_ids == (UNIQ,) and len(traced.message_trace.attempts) == 1


def test_a_broker_that_does_not_answer_makes_no_answer_of_the_trace() -> None:
    class Silent(Traceful):
        def handle(self, frame: Frame) -> Iterable[bytes]:
            if frame.code == 12 and frame.field("topic") == USUAL and frame.field("_UNIQUE_KEY_QUERY") == "false":
                yield answer(frame, 1, b"", "no disk")
            else:
                yield from super().handle(frame)

    found, traced = ask(Silent(["Orders", USUAL], [MESSAGE]))
    assert found.found and "error_answer" not in {item.code for item in found.evidence}
    assert "error_answer" in codes(traced)


def test_nothing_is_asked_about_traces_unless_somebody_wants_them() -> None:
    fake = Traceful(["Orders", USUAL], [MESSAGE, traces(1, pub())])
    with fake.server:
        found = fake.service().one(UNIQ)
    assert found.trace is None and "trace" not in row_of(found)


class TestCommandLine:
    @pytest.fixture
    def fake(self) -> Iterable[Fake]:
        made = Traceful(
            ["Orders", USUAL, OWN],
            [MESSAGE, traces(1, pub() + before(1)), traces(2, after(1, code=3) + before(2), OWN)],
        )
        with made.server:
            yield made

    def test_json_has_the_key_trace(self, fake: Fake) -> None:
        names = str(fake.server.address)
        done = view("--namesrv", names, UNIQ, "--trace-topic", OWN)
        assert done.returncode == 0 and done.stderr == ""
        row = json.loads(done.stdout)["trace"]
        assert (row["topics"], row["msg_ids"], row["unknown"], row["evidence"]) == ([USUAL, OWN], [UNIQ], 0, {})
        assert [(one["outcome"], one["began_ms"], one["duration_ms"]) for one in row["attempts"]] == [
            ("null", AT + 1, 30),
            (None, AT + 2, None),
        ]
        assert [one["success"] for one in row["sends"]] == [True]
        plain = json.loads(view("--namesrv", names, UNIQ).stdout)
        assert "trace" not in plain

    def test_a_table_for_people(self, fake: Fake) -> None:
        done = view("--namesrv", str(fake.server.address), UNIQ, "--trace", "--trace-topic", OWN, "--format", "table")
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        assert f"Read from the trace topics {USUAL}, {OWN}." in lines
        assert "2026-11-18 11:06:40.000 +00:00 2 ms stored senders normal 127.0.0.1:10911 10.0.0.3:50122" in lines
        assert "2026-11-18 11:06:40.001 +00:00 30 ms returned null 1 readers 10.0.0.3 4464 10.0.0.3:50122" in lines
        assert "2026-11-18 11:06:40.002 +00:00 no end in the trace 2 readers 10.0.0.3 4464 10.0.0.3:50122" in lines

    def test_a_journey_asks_for_groups_and_traces_too(self, fake: Fake) -> None:
        done = view("--namesrv", str(fake.server.address), UNIQ, "--journey", "--topic", "Orders")
        row = json.loads(done.stdout)
        assert row["fate"] == [] and len(row["trace"]["attempts"]) == 1, "no broker lists a group"
        at = {event["code"]: event["at"] for event in row["journey"]["events"]}
        assert (at["sent"], at["attempt"]) == ("2026-11-18T11:06:40.000+00:00", "2026-11-18T11:06:40.001+00:00")
        assert row["journey"]["found"] == {"lines": None, "records": 1, "groups": 0, "trace": 2}


def test_a_profile_names_its_trace_topics(tmp_path: Any) -> None:
    fake = Traceful(["Orders", USUAL, OWN], [MESSAGE, traces(1, pub(), OWN)])
    with fake.server:
        path = tmp_path / "clusters.toml"
        path.write_text(f'[clusters.c]\nname_servers = ["{fake.server.address}"]\ntrace_topics = ["{OWN}"]\n')
        terms = Terms(Moment(NOW, NOW.tzinfo), None, None, {"IDCORE_CLUSTERS": str(path)}, {"trace": True})  # type: ignore[arg-type]
        service = open_source("cluster", "c", terms)
        (found,) = service.look_up([UNIQ])
        assert found.trace is not None and len(found.trace.message_trace.sends) == 1
        service.close()


TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = {"traceparent": f"00-{TRACE_ID}-00f067aa0ba902b7-01", "b3": "<b>-1"}


@pytest.mark.parametrize("template", [None, "https://tempo/trace/{trace_id}"])
def test_the_trace_id_of_another_tracer_becomes_a_link_of_the_operators(template: str | None) -> None:
    fake = Fake(["Orders"], [record("Orders", UNIQ, 0, properties=SPAN)])
    with fake.server:
        found = fake.service(trace_link=template).one(UNIQ)
    (copy,) = row_of(found)["copies"]
    link = template and f"https://tempo/trace/{TRACE_ID}"
    assert copy["tracers"] == [{"name": "traceparent", "trace_id": TRACE_ID, "link": link}]
    shown = [" ".join(line.split()) for line in messages.record(copy, Reader(words(), UTC))]
    assert f"Trace ID of traceparent {TRACE_ID}{f' {link}' if link else ''}" in shown

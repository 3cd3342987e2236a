"""Messages, batches, properties, bodies, the wire form and the rules: each with literal values."""

from __future__ import annotations

import gzip
import pickle
import zlib
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcore.base.errors import CoreError
from idcore.rocketmq.message import (
    Host,
    Message,
    MessageBatch,
    check_broker_topic,
    compress,
    flags,
    hash_code,
    is_system_topic,
)
from idcore.rocketmq.message import properties as names
from idcore.rocketmq.message.bodies import crc32, text_of, unpack
from idcore.rocketmq.message.flags import Compression
from idcore.rocketmq.message.javatext import hash_map_order, is_blank, to_text, units
from idcore.rocketmq.message.model import MessageExt
from idcore.rocketmq.message.properties import Dialect
from idcore.rocketmq.message.wire import decode_message, decode_messages, unwrap
from tests.message.refusing import outcome
from tests.message.wire_form import encode_message

pytestmark = pytest.mark.quick


def code_of(error: pytest.ExceptionInfo[CoreError]) -> tuple[str | None, str | None, int | None]:
    return error.value.code, error.value.field, error.value.byte


def test_a_message_is_made_as_javas_constructor_makes_it() -> None:
    message = Message.of("T", b"x", "tag", ["a", "b"])
    assert dict(message.properties) == {"TAGS": "tag", "KEYS": "a b", "WAIT": "true"}
    assert (message.tags, message.keys, message.wait_store_ok, message.delay_level) == ("tag", "a b", True, 0)
    assert dict(Message.of("T", b"x", "", "", wait_store_ok=False).properties) == {"WAIT": "false"}
    assert Message("T").wait_store_ok
    assert not replace(message, properties={"WAIT": "yes"}).wait_store_ok
    assert replace(message, properties={"WAIT": "TRUE"}).wait_store_ok
    with pytest.raises(FrozenInstanceError):
        message.topic = "U"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(message)) == message


def test_a_retry_keeps_the_id_it_has() -> None:
    first = Message.of("T", b"x").with_uniq_id("ONE")
    assert first.with_uniq_id("TWO") is first
    assert first.uniq_id == "ONE"


@pytest.mark.parametrize("level", ["", "x", "1.5", "２", "²", "2147483648", "+", "--1"])
def test_a_delay_level_that_is_no_number_is_refused(level: str) -> None:
    if level == "２":
        assert Message("T", properties={"DELAY": level}).delay_level == 2  # as Integer.parseInt takes it
        return
    with pytest.raises(CoreError) as caught:
        Message("T", properties={"DELAY": level}).delay_level
    assert code_of(caught)[:2] == ("delay_number", "properties")


@pytest.mark.parametrize(
    ("messages", "code", "words"),
    [
        ([], "batch_empty", "a batch contains at least one message"),
        ([Message.of("T", b"x").with_delay_level(1)], "batch_delay", "TimeDelayLevel is not supported for batching"),
        ([Message.of("%RETRY%g", b"x")], "batch_retry", "Retry Group is not supported for batching"),
        (
            [Message.of("T", b"x"), Message.of("U", b"x")],
            "batch_topic",
            "The topic of the messages in one batch should be the same",
        ),
        (
            [Message.of("T", b"x"), Message.of("T", b"x", wait_store_ok=False)],
            "batch_wait",
            "The waitStoreMsgOK of the messages in one batch should the same",
        ),
    ],
)
def test_every_restriction_of_a_batch_has_its_own_words(messages: list[Message], code: str, words: str) -> None:
    with pytest.raises(CoreError) as caught:
        MessageBatch.of_messages(messages)
    assert caught.value.code == code
    assert caught.value.problem == words


def test_a_batch_that_is_allowed() -> None:
    messages = [Message.of("T", bytes([at]), wait_store_ok=False) for at in range(3)]
    batch = MessageBatch.of_messages(messages)
    assert (batch.topic, batch.wait_store_ok, batch.messages) == ("T", False, tuple(messages))
    assert list(decode_messages(b"".join(map(encode_message, batch.messages)), "T")) == messages


@pytest.mark.parametrize(
    ("text", "current", "split"),
    [
        ("a\x01b\x02", {"a": "b"}, {"a": "b"}),
        ("a\x01b", {"a": "b"}, {"a": "b"}),
        ("a\x01\x02", {}, {}),
        ("\x01b\x02", {}, {"": "b"}),
        ("a\x01b\x01c\x02", {"a": "b\x01c"}, {}),
        ("a\x01b\x01\x02", {"a": "b\x01"}, {"a": "b"}),
        ("a\x01b\x02a\x01c\x02", {"a": "c"}, {"a": "c"}),
        ("lonely\x02a\x01b", {"a": "b"}, {"a": "b"}),
        ("\x02\x02", {}, {}),
        ("", {}, {}),
    ],
)
def test_properties_as_java_reads_them(text: str, current: dict[str, str], split: dict[str, str]) -> None:
    assert names.decode(text) == names.decode(text, "bare") == current
    assert names.decode(text, "split") == split


@pytest.mark.parametrize(("dialect", "text"), [("current", "a\x01b\x02"), ("split", "a\x01b\x02"), ("bare", "a\x01b")])
def test_the_last_separator_depends_on_the_generation(dialect: Dialect, text: str) -> None:
    assert names.encode({"a": "b"}, dialect) == text
    assert names.encode({}, dialect) == ""
    assert names.decode(text, dialect) == {"a": "b"}


def test_a_value_with_a_separator_comes_back_as_two_pieces() -> None:
    text = names.encode({"a": "b\x02c\x01d"})
    assert names.decode(text) == {"a": "b", "c": "d"}
    assert names.pieces(text) == [("a", "b"), ("c", "d")]
    assert names.pieces("a\x01b\x02lonely\x02x\x01") == [("a", "b"), ("lonely", None), ("x", "")]
    assert names.pieces("") == []


def test_keys_are_cut_at_spaces() -> None:
    assert names.keys_of({"KEYS": " order-1  user-2 "}) == ["order-1", "user-2"]
    assert names.keys_of({}) == []


def test_java_text_by_hand() -> None:
    assert hash_code("TagA") == 2598919
    assert hash_code("polygenelubricants") == -2147483648
    assert hash_code("键") == 0x952E
    assert hash_code("\U0001f600") == 31 * 0xD83D + 0xDE00
    assert units("a\U0001f600") == 3
    # a surrogate's bytes, as C and JNI clients write them, are one broken character to Java
    assert to_text(b"a\xed\xa0\xbd\xed\xb8\x80z\xed\xa0") == "a\ufffd\ufffdz\ufffd"
    assert to_text(b"\xed\x9f\xbf\xed") == "\ud7ff\ufffd"
    assert is_blank(" \t\x1c\u3000")
    assert not is_blank("\u00a0")
    assert hash_map_order(["MSG_REGION", "UNIQ_KEY", "CLUSTER", "WAIT", "TRACE_ON"], 128) == [
        "MSG_REGION",
        "UNIQ_KEY",
        "CLUSTER",
        "WAIT",
        "TRACE_ON",
    ]
    assert hash_map_order(["TRACE_ON", "WAIT", "CLUSTER", "UNIQ_KEY", "MSG_REGION"], 128)[0] == "MSG_REGION"


BODY = b"the same words again, the same words again, " * 50


@pytest.mark.parametrize("kind", ["zlib", "lz4", "zstd"])
def test_bodies_both_ways_whole_and_broken(kind: Compression) -> None:
    packed = compress(kind, BODY)
    sys_flag = flags.compression_bits(kind)
    assert len(packed) < len(BODY) // 4
    assert unpack(packed, sys_flag) == BODY
    assert unpack(packed, sys_flag & ~flags.COMPRESSED) == packed
    assert unpack(b"", sys_flag) == b""
    for size in range(1, len(packed) - 4):
        with pytest.raises(CoreError) as caught:
            unpack(packed[:size], sys_flag)
        assert code_of(caught)[1] == "body"
        assert caught.value.code in ("body_cut", "body_broken")
    with pytest.raises(CoreError) as caught:
        unpack(packed, sys_flag, len(BODY) - 1)
    assert caught.value.code == "body_huge"
    assert unpack(packed, sys_flag, len(BODY)) == BODY


def test_a_bomb_is_stopped_early() -> None:
    for kind in ("zlib", "lz4", "zstd"):
        packed = compress(kind, bytes(80 << 20))  # type: ignore[arg-type]
        with pytest.raises(CoreError) as caught:
            unpack(packed, flags.compression_bits(kind))  # type: ignore[arg-type]
        assert caught.value.code == "body_huge"


def test_frame_after_frame_is_read_and_many_small_ones_do_not_hang_a_look_up() -> None:
    import lz4.frame

    frames = [lz4.frame.compress(BODY[at : at + 700], store_size=False) for at in range(0, len(BODY), 700)]
    assert unpack(b"".join(frames), 0x101) == BODY
    with pytest.raises(CoreError) as caught:
        unpack(b"".join(frames)[:-1], 0x101)
    assert caught.value.code == "body_cut"
    empty = lz4.frame.compress(b"", store_size=False)
    assert unpack(empty * 40_000, 0x101) == b""  # a minute, where each frame copies all that follow


def test_old_clients_set_no_type_and_unknown_types_are_named() -> None:
    assert unpack(zlib.compress(b"x"), 1) == b"x"
    with pytest.raises(CoreError) as caught:
        unpack(b"xx", 1 | 5 << 8)
    assert code_of(caught) == ("compression", "sys_flag", None)
    with pytest.raises(CoreError) as caught:
        unpack(gzip.compress(b"x"), 1)
    assert caught.value.code == "body_broken"


@given(st.binary(min_size=1, max_size=200), st.sampled_from([1, 0x101, 0x201, 0x301]))
def test_random_bodies_are_one_clear_error(raw: bytes, sys_flag: int) -> None:
    found = outcome(unpack, raw, sys_flag, 1 << 16)
    assert isinstance(found, bytes) or found.field == "body"


def test_the_crc_never_has_its_highest_bit() -> None:
    assert crc32(b"hi") == 0x58932AAC
    assert zlib.crc32(b"hi") == 0xD8932AAC
    assert crc32(b"") == 0


@pytest.mark.parametrize(
    ("body", "text"), [(b"abc\n", "abc\n"), ("键😀".encode(), "键😀"), (b"\0", None), (b"\xff", None)]
)
def test_a_body_is_text_or_it_is_not(body: bytes, text: str | None) -> None:
    assert text_of(body) == text


def test_wire_bytes_by_hand() -> None:
    message = Message("T", b"hi", -2, {"A": "b"})
    raw = encode_message(message)
    assert raw.hex(" ") == ("00 00 00 1c 00 00 00 00 00 00 00 00 ff ff ff fe 00 00 00 02 68 69 00 04 41 01 62 02")
    assert decode_message(raw, 0, "T") == (message, 28)
    for size in range(len(raw)):
        with pytest.raises(CoreError) as caught:
            decode_message(raw[:size])
        assert caught.value.code == "cut"
        assert caught.value.byte == size
        assert caught.value.field
    for at, value, code, field in (
        (0, 21, "total_size", "total_size"),
        (0, 27, "beyond", "properties_length"),
        (16, -1, "negative", "body_length"),
        (16, 9, "beyond", "body_length"),
        (22, -1, "negative", "properties_length"),
        (22, 3, "sum", "total_size"),
    ):
        size = 2 if at == 22 else 4
        with pytest.raises(CoreError) as caught:
            decode_message(raw[:at] + value.to_bytes(size, "big", signed=True) + raw[at + size :])
        assert code_of(caught)[:2] == (code, field)


def test_the_wire_form_refuses_what_java_would_write_wrongly() -> None:
    with pytest.raises(CoreError) as caught:
        encode_message(Message("T", b"x", 0, {"a": "x" * 32_766}))
    assert caught.value.code == "properties_long"
    with pytest.raises(CoreError) as caught:
        encode_message(Message("T"))
    assert caught.value.code == "body_null"


@given(st.binary(max_size=120))
def test_random_bytes_are_no_batch_or_a_whole_one(raw: bytes) -> None:
    found = outcome(lambda: list(decode_messages(raw)))
    if isinstance(found, CoreError):
        assert found.field
        assert found.byte is not None
        assert 0 <= found.byte <= len(raw)
    else:
        assert sum(22 + len(m.body or b"") for m in found) <= len(raw)


def test_an_inner_batch_is_unwrapped_with_the_places_of_its_items() -> None:
    items = [Message("T", bytes([at]), at, {"KEYS": f"k{at}"}) for at in range(3)]
    outer = MessageExt(
        "T",
        b"".join(map(encode_message, items)),
        9,
        {"UNIQ_KEY": "ALL", "INNER_NUM": "3"},
        sys_flag=flags.INNER_BATCH | 64,
        queue_offset=100,
        commit_log_offset=5,
        store_host=Host(b"\1\2\3\4", 5),
    )
    found = unwrap(outer)
    assert [(m.body, m.flag, m.queue_offset, m.keys, m.commit_log_offset) for m in found] == [
        (bytes([at]), at, 100 + at, f"k{at}", 5) for at in range(3)
    ]
    for sys_flag in (0, flags.INNER_BATCH, flags.NEED_UNWRAP):  # a consumer takes apart what has both
        plain = replace(outer, sys_flag=sys_flag)
        assert unwrap(plain) == (plain,)


def test_which_id_a_client_prints() -> None:
    stored = MessageExt("T", None, 0, {}, store_host=Host(bytes([10, 0, 0, 1]), 10911), commit_log_offset=255)
    assert stored.msg_id == stored.offset_msg_id == "0A00000100002A9F00000000000000FF"
    sent = replace(stored, properties={"UNIQ_KEY": "AC110001473C7D4991AD336AEA5703E0"})
    assert sent.msg_id == "AC110001473C7D4991AD336AEA5703E0"
    assert " msgId=0A00000100002A9F00000000000000FF," in str(sent)
    assert "AC110001473C7D4991AD336AEA5703E0" in str(sent)
    v6 = replace(stored, store_host=Host(bytes(15) + b"\1", 1))
    assert "storeHost=/[0:0:0:0:0:0:0:1]:1," in str(v6)
    assert len(v6.offset_msg_id) == 56


def test_topics_that_are_refused() -> None:
    check_broker_topic("%RETRY%a|b-c_9")
    check_broker_topic("x" * 127)
    check_broker_topic("%DLQ%" + "x" * 250)
    for topic, code in (
        (" ", "topic_blank"),
        ("", "topic_blank"),
        ("x" * 128, "topic_length"),
        ("a b", "topic_characters"),
        ("键", "topic_characters"),
        ("a.b", "topic_characters"),
    ):
        with pytest.raises(CoreError) as caught:
            check_broker_topic(topic)
        assert code_of(caught)[:2] == (code, "topic")
    for topic in ("x" * 128, "%RETRY%" + "x" * 249):
        with pytest.raises(CoreError) as caught:
            check_broker_topic(topic)
        assert caught.value.code == "topic_length"
    assert is_system_topic("SCHEDULE_TOPIC_XXXX")
    assert is_system_topic("rmq_sys_x")
    assert not is_system_topic("%RETRY%g")


def test_the_bits_of_sys_flag_in_words() -> None:
    assert flags.describe(0) == []
    assert flags.describe(257) == ["compressed (lz4)"]
    assert flags.describe(256) == ["was compressed (lz4)"]
    assert flags.describe(1 | 2 | 8 | 16 | 32 | 64 | 128) == [
        "compressed (zlib)",
        "multi tags",
        "transaction commit",
        "born host IPv6",
        "store host IPv6",
        "need unwrap",
        "inner batch",
    ]
    assert [flags.transaction(bits) for bits in (0, 4, 8, 12)] == ["none", "prepared", "commit", "rollback"]


@pytest.mark.parametrize("text", [None, "", "-1", "1.5", "²", " 7", "9" * 19, "9" * 5_000])
def test_a_property_that_is_not_a_number_of_java_has_none(text: str | None) -> None:
    assert names.number(text) is None
    assert names.number("0012") == 12

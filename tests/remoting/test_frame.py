"""Frames: one table of cases driven both ways, whole and byte by byte; what is no frame names its field."""

from __future__ import annotations

import gzip
import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idcore.base import loose_json
from idcore.rocketmq.remoting.errors import FrameError
from idcore.rocketmq.remoting.frame import LONGEST_FRAME, Frame, FrameReader, encode

pytestmark = pytest.mark.quick

RECORDED = Path(__file__).resolve().parent.parent / "vectors" / "frames.jsonl.gz"

# (name, the frame, its bytes). JSON cases were written by hand after a recorded frame; the ROCKETMQ case is a recorded
# one (Java client 5.3.3, GET_ROUTEINFO_BY_TOPIC), cut to one field.
CASES: list[tuple[str, Frame, bytes]] = [
    (
        "json request",
        Frame(105, 0, 0, "JAVA", 479, None, {"topic": "T"}),
        b"\x00\x00\x00\x7f\x00\x00\x00\x7b"
        b'{"code":105,"extFields":{"topic":"T"},"flag":0,"language":"JAVA","opaque":0,'
        b'"serializeTypeCurrentRPC":"JSON","version":479}',
    ),
    (
        "json answer with a remark and a body",
        Frame(17, 2, 1, "JAVA", 479, "no\nroute", None, b"\x00\xff"),
        b"\x00\x00\x00\x7b\x00\x00\x00\x75"
        b'{"code":17,"flag":1,"language":"JAVA","opaque":2,"remark":"no\\nroute",'
        b'"serializeTypeCurrentRPC":"JSON","version":479}'
        b"\x00\xff",
    ),
    (
        "json with empty fields and a text beyond ASCII",
        Frame(0, -1, 3, "GO", 0, "键", {}),
        b"\x00\x00\x00\x7e\x00\x00\x00\x7a"
        b'{"code":0,"extFields":{},"flag":3,"language":"GO","opaque":-1,"remark":"\xe9\x94\xae",'
        b'"serializeTypeCurrentRPC":"JSON","version":0}',
    ),
    (
        "binary request",
        Frame(105, 1, 0, "JAVA", 479, None, {"topic": "T"}, b"", "ROCKETMQ"),
        b"\x00\x00\x00\x25\x01\x00\x00\x21"
        b"\x00\x69\x00\x01\xdf\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"
        b"\x00\x00\x00\x0c\x00\x05topic\x00\x00\x00\x01T",
    ),
    (
        "binary answer with a remark, a body and a language of its own",
        Frame(1, 7, 1, "#200", -1, "no", None, b"body", "ROCKETMQ"),
        b"\x00\x00\x00\x1f\x01\x00\x00\x17"
        b"\x00\x01\xc8\xff\xff\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x02no\x00\x00\x00\x00"
        b"body",
    ),
]


@pytest.mark.parametrize(("frame", "raw"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
class TestBothWays:
    def test_a_frame_becomes_its_bytes(self, frame: Frame, raw: bytes) -> None:
        assert encode(frame) == raw

    def test_the_bytes_become_the_frame(self, frame: Frame, raw: bytes) -> None:
        assert decode(raw) == frame

    def test_one_byte_at_a_time_it_comes_out_with_the_last(self, frame: Frame, raw: bytes) -> None:
        reader = FrameReader()
        for at in range(len(raw) - 1):
            assert list(reader.feed(raw[at : at + 1])) == []
        assert list(reader.feed(raw[-1:])) == [frame]
        reader.end()

    def test_every_cut_says_what_is_missing(self, frame: Frame, raw: bytes) -> None:
        for at in range(1, len(raw)):
            reader = FrameReader()
            assert list(reader.feed(raw[:at])) == []
            with pytest.raises(FrameError) as caught:
                reader.end()
            assert caught.value.values["remaining"] == at
            assert caught.value.values["needed"] == (len(raw) if at >= 4 else 4)

    def test_the_error_survives_the_way_between_processes(self, frame: Frame, raw: bytes) -> None:
        with pytest.raises(FrameError) as caught:
            decode(raw[:-1])
        again = pickle.loads(pickle.dumps(caught.value))
        assert again == caught.value and again.values["needed"] == len(raw) and type(again) is FrameError


def decode(raw: bytes) -> Frame:
    """The one frame that these bytes are, no more and no less."""
    reader = FrameReader()
    frames = list(reader.feed(raw))
    reader.end()
    (frame,) = frames
    return frame


def recorded() -> list[dict[str, Any]]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_recorded_frame_decodes_to_what_was_recorded_and_encodes_to_its_bytes() -> None:
    frames = recorded()
    assert len(frames) == 230
    assert {each["serialisation"] for each in frames} == {"JSON", "ROCKETMQ"}
    for each in frames:
        raw = bytes.fromhex(each["hex"])
        frame = decode(raw)
        assert (frame.code, frame.opaque, frame.flag, frame.version) == (
            each["code"],
            each["opaque"],
            each["flag"],
            each["version"],
        )
        assert frame.serialisation == each["serialisation"]
        assert frame.remark == each["remark"]
        assert (frame.fields or None) == (each["extFields"] or None)
        assert frame.is_response == (each["direction"] == "response")
        assert len(frame.body) == each["body_len"]
        assert encode(frame) == raw


def test_a_stream_of_frames_cut_anywhere_gives_the_same_frames() -> None:
    raws = [bytes.fromhex(each["hex"]) for each in recorded()]
    stream, expected = b"".join(raws), [decode(raw) for raw in raws]
    chance = random.Random(7)
    for most in (1, 3, 1_000, 70_000):
        reader, at = FrameReader(), 0
        found: list[Frame] = []
        while at < len(stream):
            size = chance.randint(1, most)
            found += reader.feed(stream[at : at + size])
            at += size
        reader.end()
        assert found == expected


# (name, bytes, field, byte): each is refused at once, without waiting for more.
WRONG: list[tuple[str, bytes, str, int | None]] = [
    ("a length below four", b"\x00\x00\x00\x03", "header length", 0),
    ("a length of zero", b"\x00\x00\x00\x00", "header length", 0),
    ("a negative length", b"\xff\xff\xff\xff", "length", 0),
    ("a length over the limit", (LONGEST_FRAME + 1).to_bytes(4, "big"), "length", 0),
    ("an unknown serialisation", b"\x00\x00\x00\x10\x02\x00\x00\x04", "serialisation", 4),
    ("a header longer than its frame", b"\x00\x00\x00\x10\x00\x00\x00\x0d", "header", 8),
    ("a header that is no JSON", b"\x00\x00\x00\x06\x00\x00\x00\x02{]", "header", 8),
    ("a header that is no UTF-8", b"\x00\x00\x00\x06\x00\x00\x00\x02\xff\xff", "header", 8),
    ("a header that is a list", b"\x00\x00\x00\x06\x00\x00\x00\x02[]", "header", 8),
    ("no code", b"\x00\x00\x00\x06\x00\x00\x00\x02{}", "code", None),
    ("a code that is text", b'\x00\x00\x00\x10\x00\x00\x00\x0c{"code":"1"}', "code", None),
    ("a code that is true", b'\x00\x00\x00\x11\x00\x00\x00\x0d{"code":true}', "code", None),
    ("a code of 40 bits", b'\x00\x00\x00\x19\x00\x00\x00\x15{"code":109951162777}', "code", None),
    (
        "a field that is a number",
        b'\x00\x00\x00\x23\x00\x00\x00\x1f{"code":1,"extFields":{"a":12}}',
        "extFields",
        None,
    ),
    ("a binary header cut in its head", b"\x00\x00\x00\x08\x01\x00\x00\x04\x00\x01\x00\x00", "header", 8),
    (
        "a binary remark longer than its header",
        b"\x00\x00\x00\x19\x01\x00\x00\x15" + bytes(13) + b"\x00\x00\x00\x09" + bytes(4),
        "remark",
        25,
    ),
    (
        "a binary remark of negative length",
        b"\x00\x00\x00\x19\x01\x00\x00\x15" + bytes(13) + b"\xff\xff\xff\xff" + bytes(4),
        "remark",
        25,
    ),
    (
        "a binary field cut off",
        b"\x00\x00\x00\x1c\x01\x00\x00\x18" + bytes(17) + b"\x00\x00\x00\x03\x00\x05t",
        "name of an extField",
        31,
    ),
    (
        "bytes behind the binary fields",
        b"\x00\x00\x00\x1a\x01\x00\x00\x16" + bytes(17) + b"\x00\x00\x00\x00\x07",
        "extFields",
        29,
    ),
]


@pytest.mark.parametrize(("raw", "field", "byte"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_no_frame_names_the_field_and_its_byte(raw: bytes, field: str, byte: int | None) -> None:
    reader = FrameReader()
    with pytest.raises(FrameError) as caught:
        list(reader.feed(raw))
    assert (caught.value.field, caught.value.byte) == (field, byte)
    with pytest.raises(FrameError) as again:
        list(reader.feed(CASES[0][2]))
    assert again.value == caught.value


def test_frames_before_the_broken_one_are_given() -> None:
    frames = FrameReader().feed(CASES[0][2] + WRONG[0][1])
    assert next(frames) == CASES[0][1]
    with pytest.raises(FrameError):
        next(frames)


def test_the_limit_is_the_readers_own() -> None:
    raw = CASES[0][2]
    assert list(FrameReader(len(raw) - 4).feed(raw)) == [CASES[0][1]]
    with pytest.raises(FrameError):
        list(FrameReader(len(raw) - 5).feed(raw))


def mutations(count: int, seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    raws = [bytes.fromhex(each["hex"])[:600] for each in recorded()] + [case[2] for case in CASES]
    for _ in range(count):
        raw = bytearray(chance.choice(raws))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(raw))
            kind = chance.randrange(3)
            if kind == 0:
                raw[at] = chance.randrange(256)
            elif kind == 1:
                del raw[at : at + chance.randint(1, 9)]
            else:
                raw[at:at] = chance.randbytes(chance.randint(1, 9))
            if not raw:
                raw = bytearray(b"\0")
        yield bytes(raw)


def test_ten_thousand_malformed_frames_kill_nothing() -> None:
    errors = []
    for raw in mutations(10_000, 1):
        try:
            decode(raw)
        except FrameError as problem:
            errors.append(problem)
    assert len(errors) > 5_000 and all(problem.field for problem in errors)


@given(
    st.builds(
        Frame,
        st.integers(-(1 << 15), (1 << 15) - 1),
        st.integers(-(1 << 31), (1 << 31) - 1),
        st.integers(0, 3),
        st.sampled_from(["JAVA", "PYTHON", "#77"]),
        st.integers(0, 1_000),
        st.none() | st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
        st.none()
        | st.dictionaries(
            st.text(st.characters(codec="utf-8"), max_size=9),
            st.text(st.characters(codec="utf-8"), max_size=20),
            min_size=1,
            max_size=4,
        ),
        st.binary(max_size=40),
        st.sampled_from(["JSON", "ROCKETMQ"]),
    )
)
def test_any_frame_comes_back(frame: Frame) -> None:
    assert decode(encode(frame)) == frame


LOOSE: list[tuple[bytes, Any]] = [
    (b'{0:"10.0.0.1:10911"}', {"0": "10.0.0.1:10911"}),
    (b'{"a":{0:"x", 1 :"y"},"b":[{-1:2}]}', {"a": {"0": "x", "1": "y"}, "b": [{"-1": 2}]}),
    (b'{bare:1,"{0:":"{1:,2:"}', {"bare": 1, "{0:": "{1:,2:"}),
    (b'{0:"a\\"{1:\\"b"}', {"0": 'a"{1:"b'}),
    ('{0:"北京,1:"}'.encode(), {"0": "北京,1:"}),
    (
        b'{"t":{{"brokerName":"a","queueId":0,"topic":"{{"}:{"at":9},{"queueId":1}:[{0:1},2]},"n":{ {0:1} : {} }}',
        {
            "t": [[{"brokerName": "a", "queueId": 0, "topic": "{{"}, {"at": 9}], [{"queueId": 1}, [{"0": 1}, 2]]],
            "n": [[{"0": 1}, {}]],
        },
    ),
    (b'{{{"a":1}:2}:3}', [[[[{"a": 1}, 2]], 3]]),
]


@pytest.mark.parametrize(("raw", "value"), LOOSE)
def test_keys_without_quotes_are_read_as_fastjson_writes_them(raw: bytes, value: Any) -> None:
    assert loose_json.loads(raw) == value


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{0}",
        b'{0:"a',
        b"{0:1,}",
        b"[0:1]",
        b"\xff",
        b"[" * 100_000,
        b'{0:"' + b'\\"' * 50_000,
        b"{" * 100_000,
        b"{{0:1}}",
        b"{{]:1}",
    ],
)
def test_what_is_no_json_is_an_error_and_soon(raw: bytes) -> None:
    with pytest.raises(ValueError):
        loose_json.loads(raw)

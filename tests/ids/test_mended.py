"""Letters that stand for digits, and the fields of a line besides its IDs."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid

import pytest

from idcore.ids.other_forms import MOST, other_forms
from idcore.ids.record_fields import fields_of

pytestmark = pytest.mark.quick
ID = "AC110001473C7D4991AD336AEA5703E0"  # 172.17.0.1, pid 18236
OFFSET = "AC11000100002A9F00000000000E8580"
# As the Java client 4.9 prints them.
SENT = (
    "SendResult [sendStatus=SEND_OK, msgId=AC110001473C7D4991AD336AEA5703E0, "
    "offsetMsgId=AC11000100002A9F00000000000E8580, "
    "messageQueue=MessageQueue [topic=TopicTest, brokerName=itcast, queueId=3], queueOffset=1323]"
)
RECEIVED = (
    "MessageExt [brokerName=broker-a, queueId=1, storeSize=684, queueOffset=70200, sysFlag=0, "
    "bornTimestamp=1795139400601, bornHost=/10.42.35.17:41124, storeTimestamp=1795139400602, "
    "storeHost=/10.42.1.11:10911, commitLogOffset=37734359346, bodyCRC=2010220930, reconsumeTimes=2, "
    "toString()=Message{topic='OrderPaid', flag=0, properties={KEYS=order-7, TAGS=TagA}, transactionId='null'}]"
)


@pytest.mark.parametrize("seed", range(20))
def test_an_id_with_letters_for_digits_is_offered_with_their_places(seed: int) -> None:
    chance, written = random.Random(seed), list(ID)
    places = chance.sample([place for place, digit in enumerate(ID) if digit in "01"], 3)
    for place in places:
        written[place] = chance.choice("Oo" if ID[place] == "0" else "Il")
    (made,) = other_forms(f"msgId={''.join(written)}, please look")
    assert (made.text, made.places) == (ID, tuple(place + 1 for place in sorted(places)))


@pytest.mark.parametrize("text", [ID, "Oooo", "O" * 31, ID.replace("7", "Z"), "illegal order of lions", ""])
def test_what_is_an_id_or_none_is_not_offered(text: str) -> None:
    assert other_forms(text) == []


def test_each_is_offered_once_and_few_of_them() -> None:
    wrong = [f"ACI1OOO1473C7D4991AD336AEA57{n:04X}" for n in range(9)]
    assert len(other_forms(" ".join(wrong + wrong))) == MOST


BYTES = bytes.fromhex(ID)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (BYTES.hex(" ").upper(), "groups"),
        (f"id: {BYTES.hex(':')}!", "groups"),
        (BYTES.hex("-", 2), "groups"),
        (f"{OFFSET[:16]} {OFFSET[16:]}", "groups"),
        (f"{ID[:20]}\n{ID[20:]}", "groups"),
        (f"{ID[:20]}\r\n{ID[20:]}\r\n", "groups"),
        (f"msgId={base64.b64encode(ID.encode()).decode()} sent", "base64"),
        (base64.b64encode(BYTES).decode(), "base64"),
        (base64.urlsafe_b64encode(bytes.fromhex(OFFSET)).decode().rstrip("="), "base64"),
        ("msgId＝" + "".join(chr(ord(one) + 0xFEE0) for one in ID) + " 发送成功", "wide"),
    ],
)
def test_an_id_in_another_form_is_offered(text: str, form: str) -> None:
    (one,) = other_forms(text)
    assert one.text in (ID, OFFSET) and one.form == form


def dumped(raw: bytes, row: str, size: int = 1, swapped: bool = False) -> str:
    """Bytes as a tool prints them: 16 in a row, in groups of so many, with offset and characters where `row` says."""
    lines = []
    for at in range(0, len(raw), 16):
        part = raw[at : at + 16]
        groups = [part[place : place + size] for place in range(0, len(part), size)]
        digits = " ".join((group[::-1] if swapped else group).hex() for group in groups)
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(row.format(at=at, digits=digits.ljust(16 * 2 + 16 // size - 1), shown=shown))
    return "\n".join(lines) + "\n"


DUMPS = {
    "xxd": ("{at:08x}: {digits}  {shown}", 2, False),
    "hexdump -C": ("{at:08x}  {digits}  |{shown}|", 1, False),
    "hexdump": ("{at:07x} {digits}", 2, True),
    "od": ("{at:07o} {digits}  >{shown}<", 1, False),
    "tcpdump": ("\t0x{at:04x}:  {digits}  {shown}", 2, False),
    "Netty": ("|{at:08x}| {digits} |{shown:16}|", 1, False),
    "xxd -p": ("{digits}", 16, False),
}


@pytest.mark.parametrize("tool", DUMPS)
@pytest.mark.parametrize("before", range(0, 19, 3))
def test_an_id_among_dumped_bytes_is_offered(tool: str, before: int) -> None:
    raw = b"\0" * before + b"UNIQ_KEY\x01" + ID.encode() + b"\x02WAIT\x01true\x02"
    (one,) = other_forms("packet 1\n" + dumped(raw, *DUMPS[tool]))
    assert (one.text, one.form) == (ID, "dump")
    two = f"09:59:58 first\n{dumped(b'none' * 9, *DUMPS[tool])}09:59:59 second\n{dumped(raw, *DUMPS[tool])}"
    assert [one.text for one in other_forms(two)] == [ID], "its offsets begin again"


def test_random_bytes_are_offered_in_no_form() -> None:
    chance = random.Random(8)
    for _ in range(2_000):
        raw = chance.randbytes(16)
        digest = base64.b64encode(hashlib.md5(raw).hexdigest().encode()).decode()
        for text in (raw.hex(" "), base64.b64encode(raw).decode(), digest, str(uuid.UUID(bytes=raw, version=4))):
            assert not other_forms(text), text
        assert not other_forms("\n".join((raw.hex()[:20], raw.hex()[20:]))), "two lines of hex digits are no ID"
    for tool in DUMPS:
        assert not other_forms(dumped(chance.randbytes(4_000), *DUMPS[tool])), tool


def test_every_field_of_a_line_is_read() -> None:
    assert fields_of(SENT) == {
        "topic": "TopicTest",
        "brokerName": "itcast",
        "queueId": "3",
        "queueOffset": "1323",
        "sendStatus": "SEND_OK",
    }
    received = fields_of(RECEIVED)
    assert (received["topic"], received["KEYS"], received["reconsumeTimes"]) == ("OrderPaid", "order-7", "2")
    assert received["bornHost"] == "10.42.35.17:41124" and "transactionId" not in received
    assert fields_of('{"topic": "Paid", "queueId": 2, "keys": null}') == {"topic": "Paid", "queueId": "2"}
    assert fields_of("mytopic=a topics=b") == {}

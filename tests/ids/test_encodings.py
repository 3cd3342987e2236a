"""Lines in GBK among others: words are read, and no digit of an ID is lost to a letter."""

from __future__ import annotations

import random

import pytest

from idcore.base.encodings import text_of, text_of_line, texts_of
from idcore.ids.delivery import DeliveryText
from idcore.scan.deliveries import DeliveryLook

pytestmark = pytest.mark.quick
ID = "0A141E28126418B4AAC26531F659001F"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (f"消费失败 msgId={ID}".encode("gbk"), f"消费失败 msgId={ID}"),
        (f"消费失败 msgId={ID}".encode(), f"消费失败 msgId={ID}"),
        (f"镕基：收到消息{ID}".encode("gbk"), f"镕基：收到消息{ID}"),
        (f"Größe café {ID}".encode("latin-1"), f"Gr\ufffd\ufffde caf\ufffd {ID}"),
        (b"\x81" + ID.encode(), "\ufffd" + ID),
        ("é".encode("latin-1") + b"A0" * 16, "\ufffd" + "A0" * 16),
        (b"\xff\xfe\x80", "\ufffd\ufffd\ufffd"),
        (b"", ""),
    ],
)
def test_a_line_is_gbk_only_where_all_of_it_can_be(line: bytes, text: str) -> None:
    assert text_of_line(line) == text


def test_a_text_is_the_same_however_it_is_cut() -> None:
    lines = [f"行 {n} 消费失败 {ID}" for n in range(40)]
    raw = b"\n".join(line.encode("gbk" if n % 3 else "utf-8") for n, line in enumerate(lines))
    assert text_of(raw) == "\n".join(lines)
    for seed in range(20):
        r = random.Random(seed)
        cuts = sorted(r.randrange(len(raw)) for _ in range(9))
        pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
        assert "".join(texts_of(pieces, 1 << 20)) == "\n".join(lines)
        assert "".join(texts_of(pieces, 64)).count(ID) == 40  # what is cut in time has all digits


def test_a_scan_and_decode_read_the_words_of_gbk_and_two_records_with_a_blank_line_between() -> None:
    records = [f"OffsetID: 0A09000200002A9F00000000000AAE6{n}\nTopic: t\nKeys: [{ID[:-1]}{n}]\n" for n in range(2)]
    text = "\n".join([*records, "MessageTrack [consumerGroup=g, trackType=NOT_ONLINE]", f"消费失败 msgId={ID}"])
    read, look = DeliveryText(), DeliveryLook(True)
    read.feed(text)
    read.close()
    look.take("a.log", 0, text.encode("gbk"))
    alone = DeliveryLook(True)
    alone.take("b.log", 0, f"消费失败 msgId={ID}".encode("gbk"))
    alone.end()
    look.end()
    assert [one.delivery.event for one in alone.told] == ["failed"]
    assert [one.delivery for one in look.told] == read.found
    assert [(one.event, one.group) for one in read.found][-2:] == [("track", "g"), ("failed", None)]


@pytest.mark.parametrize("size", [1, 7, 64, 65])
def test_no_letter_of_a_long_line_is_cut(size: int) -> None:
    text = "消费失败😀é" * 400
    raw = text.encode()
    pieces = [raw[at : at + 65] for at in range(0, len(raw), 65)]
    assert "".join(texts_of(pieces, size)) == text


def test_one_letter_of_latin_1_is_no_chinese() -> None:
    assert "鲞" not in text_of_line("Größe 5".encode("latin-1"))

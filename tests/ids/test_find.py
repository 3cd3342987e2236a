"""Tokens in text: escapes, line ends, labels and hints, the same tokens however the text is cut, bounded memory."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idcore.ids import Token, find
from idcore.ids.find import behind_label
from idcore.ids.identify import judge
from idcore.ids.rules import other_thing

pytestmark = pytest.mark.quick

ID = "AC110001473C7D4991AD336AEA5703E0"
OFFSET = "AC11000100002A9F00000000000E8580"
SIX = "FE8000000000000038ABE5FFFED4CBD2001518B4AAC219B9B5640000"
CLIENT = "01EA2C235B8585B70D08C1575B00000015"


def places(text: str) -> list[tuple[str, int, int]]:
    return [(token.text, token.line, token.column) for token in find(text)]


@pytest.mark.parametrize(
    "label",
    [
        "traceId",
        "TraceID",
        "trace_id",
        "traceid",
        "spanId",
        "X_B3_TraceId",
        "requestId",
        "reqId",
        "tid",
        "md5",
        "fileMd5",
        "SHA1",
        "sha256",
        "ETag",
        "uuid",
        "sessionId",
        "idToken",
        "correlationId",
        "key",
        "shardKey",
    ],
)
def test_a_label_can_say_that_its_value_is_something_else(label: str) -> None:
    assert other_thing(f"{label}=") == other_thing(rf"a\n{label}=") == other_thing(rf"\t{label}=") != ""


@pytest.mark.parametrize(
    "text",
    [
        r'{"message":"{\"sign\":\"',
        r"{\\\"sign\\\":\\\"",
        "{&quot;sign&quot;:&quot;",
        "&lt;sign&gt;",
        "%7B%22sign%22%3A%22",
        "sign=3D",
        r"\u0022sign\u0022:\u0022",
    ],
)
def test_so_can_one_whose_signs_are_escaped(text: str) -> None:
    """The commonest form of a signature in a log: JSON as a text in JSON."""
    assert other_thing(text) == "sign"
    token = next(find(f"{text}0A0A92F3577B1234AAC2129D0E0E4736"))
    assert judge(token).reason == "other_name" and token.label in ("sign", None)


@pytest.mark.parametrize(
    "label",
    [
        "",
        "id",
        "msgId",
        "MSGID",
        "messageId",
        "message_id",
        "offsetMsgId",
        "UNIQ_KEY",
        "transactionId",
        "orderId",
        "origin_message_id",
        "share",
        "mdcId",
        "uid",
    ],
)
def test_other_labels_leave_it_open(label: str) -> None:
    assert {other_thing(f"{before}{label}=") for before in ("", r"\n", r"a\t", "\t")} == {""}


def test_line_ends_and_no_final_line_end() -> None:
    expected = [(ID, 1, 1), (OFFSET, 2, 3), (SIX, 4, 1)]
    for end in ("\n", "\r\n"):
        text = end.join([ID, "x " + OFFSET, "", SIX])
        assert places(text) == expected
        assert places(text + end) == expected


def test_a_carriage_return_alone_ends_no_line() -> None:
    assert places(f"{ID}\r{OFFSET}") == [(ID, 1, 1), (OFFSET, 1, 34)]


def test_a_byte_order_mark_is_no_column() -> None:
    assert places("\ufeff" + ID) == [(ID, 1, 1)]


def test_columns_count_characters() -> None:
    assert places(f"消息ID: {ID}") == [(ID, 1, 7)]
    assert places(f"😀{ID}") == [(ID, 1, 2)]


@pytest.mark.parametrize("escape", ["%22", "%3D", "\\u0022", "\\u003d", "\\x22", "\\x3A", "%2C"])
def test_an_escape_in_front_does_not_count(escape: str) -> None:
    text = f"msgId{escape}{ID}"
    assert places(text) == [(ID, 1, 6 + len(escape))]
    assert places(f"{escape}{SIX}{escape}{CLIENT}") == [
        (SIX, 1, 1 + len(escape)),
        (CLIENT, 1, 1 + 2 * len(escape) + 56),
    ]


@pytest.mark.parametrize(
    "escape", ["=3D", "=3d", "=22", "=5B", "%253D", "%2522", "#011", "#012", "\\011", "\\040", "^A", "^F"]
)
@pytest.mark.parametrize("one", [ID, SIX, CLIENT])
def test_escapes_of_mail_syslog_and_terminals_do_not_count(escape: str, one: str) -> None:
    assert places(f"msgId{escape}{one} ") == [(one, 1, 6 + len(escape))]


@pytest.mark.parametrize("front", ["=", "#", "^", "\\"])
def test_a_sign_alone_takes_no_digit_of_an_id(front: str) -> None:
    for one in (ID, "3D" + ID[2:], "011" + ID[3:], "A" + ID[1:], CLIENT):
        assert places(front + one) == [(one, 1, 2)]


def test_what_only_looks_like_an_escape_counts() -> None:
    assert places("u0022" + ID) == []  # 36 digits, no backslash
    assert places("\\U0022" + ID) == []
    assert places("\\X22" + ID) == [("22" + ID, 1, 3)]  # 34 digits, a candidate that is refused
    assert places(ID[:30] + "%" + "22" + ID[:30]) == []


@pytest.mark.parametrize("length", [31, 33, 35, 48, 55, 57, 60, 62, 64, 1000])
def test_only_whole_runs_of_32_34_and_56_digits_are_candidates(length: int) -> None:
    assert places("A" * length) == []
    assert places(f"-{'A' * length}-{ID}-") == [(ID, 1, length + 3)]


@pytest.mark.parametrize(
    ("before", "label", "vouched"),
    [
        ("msgId=", "msgId", True),
        ("offsetMsgId=", "offsetMsgId", True),
        ("UNIQ_KEY=", "UNIQ_KEY", True),
        ('"msgId":"', "msgId", True),
        ('"msgId" : "', "msgId", False),  # five signs: one more than the rule allows
        ('\\"msgId\\":\\"', "msgId", True),
        ('\\\\\\"msgId\\\\\\":\\\\\\"', "msgId", True),  # JSON in JSON in JSON
        ("&quot;msgId&quot;:&quot;", "msgId", True),
        ("&#34;UNIQ_KEY&#34;:&#39;", "UNIQ_KEY", True),
        ("%2522msgId%2522%253A%2522", "msgId", True),
        ("\\u0022msgId\\u0022:\\u0022", "msgId", True),
        ("%7BmsgId%3D", "msgId", True),
        ("msgId&amp;", None, False),
        ("transactionId='", "transactionId", True),
        ("__transactionId__=", "__transactionId__", False),
        ("ORIGIN_MESSAGE_ID=", "ORIGIN_MESSAGE_ID", False),
        ("OffsetID:            ", "OffsetID", False),
        ("msgIds=[", "msgIds", True),
        ("UNIQ_KEY:", "UNIQ_KEY", True),
        ("Message ID: ", "Message ID", False),
        ("消息ID： ", "ID", False),
        ("MsgId:", "MsgId", True),
        ("%22msgId%22%3A%22", "msgId", True),
        ("msgId ", "msgId", True),
        ("KEYS=", "KEYS", False),
        ("queryMsgById -i ", None, False),
        ("SendStatus.OK ", None, False),
        ("/tmp/", None, False),
        ("", None, False),
    ],
)
def test_the_name_in_front(before: str, label: str | None, vouched: bool) -> None:
    token = next(find(before + ID))
    assert (token.text, token.label, token.vouched) == (ID, label, vouched)


@pytest.mark.parametrize(
    "before",
    [
        "msgId=",
        '"msgId": "',
        r"{\"msgId\":\"",
        "&quot;msgId&quot;:&quot;",
        "&#34;msgId&#34;:&#x27;",
        "%22msgId%22%3A%22",
        "%7BmsgId%3D",
        "%2522msgId%2522%253A%2522",
        "msgId=3D",
        r"\x22msgId\x22\x3a\x22",
        r"\u0022msgId\u0022:\u0022",
    ],
)
def test_the_lines_of_a_finding_have_the_names_that_its_ids_have(before: str) -> None:
    """The pattern that looks for an ID behind its label again reads every spelling of which it was read."""
    assert next(find(before + ID)).label == "msgId"
    match = behind_label("msgId", ID.encode()).search(f"x {before}{ID}".encode())
    assert match is not None and match[1] == ID.encode()
    assert behind_label("msgId", ID.encode()).search(f"x{before}{OFFSET} {ID}".encode()) is None


def test_a_comma_joined_list_bears_the_name_of_its_first() -> None:
    text = f"msgId={ID},{ID[:-1]}1,{ID[:-1]}2, offsetMsgId={OFFSET},{OFFSET[:-1]}1"
    assert [token.label for token in find(text)] == ["msgId"] * 3 + ["offsetMsgId"] * 2
    assert [token.vouched for token in find(text)] == [True, False, False, True, False]


def test_born_timestamps_as_they_are_written() -> None:
    for text in (
        f"bornTimestamp=1634734558909, x, UNIQ_KEY={ID}",
        f'{{"UNIQ_KEY":"{ID}","bornTimestamp":1634734558909}}',
        f"BornTimestamp=1634734558909 {ID}",
        f"BORN_TIMESTAMP=1634734558909, UNIQ_KEY={ID}",
        f'\\"UNIQ_KEY\\":\\"{ID}\\",\\"bornTimestamp\\":1634734558909',
    ):
        assert next(find(text)).born_ms == 1_634_734_558_909, text


def test_a_store_timestamp_dates_nothing() -> None:
    token = next(find(f"storeTimestamp=1634734558909, UNIQ_KEY={ID}"))
    assert (token.born_ms, token.prefix_time) == (None, None)


def test_of_several_born_timestamps_the_one_before_the_token_counts() -> None:
    text = f"[bornTimestamp=1634734558901, {ID}, bornTimestamp=1634734558902, {ID}]\n{ID}"
    assert [token.born_ms for token in find(text)] == [1_634_734_558_901, 1_634_734_558_902, None]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("2026-11-21 09:50:13.373 INFO ", datetime(2026, 11, 21, 9, 50, 13, 373000)),
        ("[INFO] 2020-05-15 11:06:17,697 [] ", datetime(2020, 5, 15, 11, 6, 17, 697000)),
        ("2021/11/09 12:11:17 ", datetime(2021, 11, 9, 12, 11, 17)),
        ("2026-11-21T09:50:13Z ", datetime(2026, 11, 21, 9, 50, 13, tzinfo=timezone.utc)),  # noqa: UP017
        ("2026-11-21T09:50:13.1+08:00 ", datetime(2026, 11, 21, 9, 50, 13, 100000, timezone(timedelta(hours=8)))),
        ("2026-11-21 09:50:13 -0330 ", datetime(2026, 11, 21, 9, 50, 13, 0, timezone(-timedelta(minutes=210)))),
        ("2026-11-21 09:50:13 UTC ", datetime(2026, 11, 21, 9, 50, 13, 0, timezone(timedelta(minutes=0)))),
        ("2026-11-21 09:50:13 GMT+8 ", datetime(2026, 11, 21, 9, 50, 13, 0, timezone(timedelta(minutes=480)))),
        ("2026-11-21 09:50:13 UTC-03:30 ", datetime(2026, 11, 21, 9, 50, 13, 0, timezone(timedelta(minutes=-210)))),
        ("2026-11-21 09:50:13+00\t", datetime(2026, 11, 21, 9, 50, 13, 0, timezone(timedelta(minutes=0)))),
        ("2026-11-21 09:50:13-05 ", datetime(2026, 11, 21, 9, 50, 13, 0, timezone(timedelta(minutes=-300)))),
        ("2026-11-21 09:50:13 UTCx ", datetime(2026, 11, 21, 9, 50, 13)),
        ("2026-11-21 09:50:13-13 ", datetime(2026, 11, 21, 9, 50, 13)),
        ("2026-11-21 09:50:13-11-", datetime(2026, 11, 21, 9, 50, 13)),
        ("2026-11-21 09:50:13 -11 ", datetime(2026, 11, 21, 9, 50, 13)),
        ("2026-13-21 09:50:13 ", None),
        ("content:", None),
    ],
)
def test_the_time_that_a_line_opens_with(prefix: str, expected: datetime | None) -> None:
    assert next(find(f"{prefix}msgId={ID}")).prefix_time == expected


def test_mqadmins_born_timestamp_is_a_wall_time() -> None:
    text = f"OffsetID: {OFFSET} | Born Timestamp:      2018-03-11 20:57:47,471 | UNIQ_KEY={ID}"
    token = list(find(text))[1]
    assert (token.born_ms, token.prefix_time) == (None, datetime(2018, 3, 11, 20, 57, 47, 471000))


def oracle(text: str) -> list[str]:
    found = []
    for run in re.finditer(r"[0-9A-Fa-f]+", text):
        digits, before = run.group(), text[: run.start()]
        for pattern in (
            r"%25(?:3d|3a|22|5b|2c|20)",
            r"=(?:3d|3a|22|5b|2c|20)",
            r"[#\\][0-3][0-7]{2}",
            r"\^(?-i:[A-F])",
        ):
            escape = re.match(pattern, text[run.start() - 1 :], re.IGNORECASE) if before else None
            if escape is not None and len(digits) - (len(escape[0]) - 1) in (32, 34, 56):
                digits = digits[len(escape[0]) - 1 :]
                break
        else:
            if before.endswith(("%", "\\x")):
                digits = digits[2:]
            elif before.endswith("\\u"):
                digits = digits[4:]
        if len(digits) in (32, 34, 56) and len(run.group()) >= 32:
            found.append(digits)
    return found


PIECES = st.sampled_from(
    [
        ID,
        OFFSET,
        SIX,
        CLIENT,
        "%",
        "%22",
        "\\u",
        "\\u0022",
        "\\x22",
        "%253D",
        "=3D",
        "=3a",
        "#011",
        "\\011",
        "^A",
        "\\",
        "x",
        "u",
        " ",
        "\n",
        "\r\n",
        "msgId=",
        ",",
        "A",
        "0",
        "A" * 31,
        "f" * 60,
        "é",
        "bornTimestamp=1634734558909",
        "G",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join), st.integers(1, 70))
def test_the_same_tokens_however_the_text_is_cut(text: str, size: int) -> None:
    whole = list(find(text))
    assert [token.text for token in whole if token.whole == "whole"] == oracle(text)
    assert list(find(text[at : at + size] for at in range(0, len(text), size))) == whole
    lines = text.split("\n")
    for token in (token for token in whole if token.whole != "joined"):
        line = lines[token.line - 1]
        assert line[token.column - 1 : token.column - 1 + len(token.text)] == token.text


def long_line(pieces: int) -> Iterator[str]:
    """One line of `pieces` times 100,000 characters: text, ids at odd places, runs that are no ids."""
    for number in range(pieces):
        head = f"msgId={ID[:-4]}{number:04X}, %22{OFFSET} " + "a" * (number % 31) + "-"
        yield head + ". word " * ((100_000 - len(head)) // 7) + "." * ((100_000 - len(head)) % 7)


@pytest.mark.long
@pytest.mark.slow
def test_one_line_of_40_mb_is_read_in_bounded_memory() -> None:
    tracemalloc.start()
    try:
        found = 0
        tokens = find(long_line(400))
        for number, (first, second) in enumerate(zip(tokens, tokens, strict=True)):
            assert first.text == f"{ID[:-4]}{number:04X}"
            assert (first.line, first.column, first.label) == (1, number * 100_000 + 7, "msgId")
            assert (second.text, second.column) == (OFFSET, number * 100_000 + 7 + 32 + 5)
            found += 2
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == 800
    assert peak < 24 << 20


def test_a_run_of_hex_digits_without_end_is_skipped() -> None:
    def pieces() -> Iterator[str]:
        yield "x" + ID + " "
        for _ in range(300):
            yield "AB" * 8_192
        yield f" {ID}\n{OFFSET}"

    assert [(token.text, token.line) for token in find(pieces())] == [(ID, 1), (ID, 1), (OFFSET, 2)]


@pytest.mark.timeout(20)  # a second; to try a run again from each digit, or each mask for each cut, took minutes
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("body=" + "ab" * (1 << 19) + "]" + "." * (1 << 18), 0),  # a body in hex, its end in the middle of a window
        (f"bornTimestamp=1763690000000, msgId={ID} " * 14_000, 14_000),
        ("msgId=AC110001****0001 msgId=AC110001001E18B4AAC20001**** " * 17_500, 35_000),  # masks and cuts in turn
    ],
)
def test_a_long_line_costs_its_length(text: str, found: int) -> None:
    tokens = list(find(text + ID))
    assert len(tokens) == found + 1 and tokens[-1].text == ID


def test_a_run_cut_by_the_window_is_judged_whole() -> None:
    for filler in range((1 << 20) - 40, (1 << 20) + 8, 3):
        text = "." * filler + f"%22{ID} " + "A" * 33
        assert [token.text for token in find([text, ".", ID, "0"])] == [ID]


def test_a_token_is_a_value() -> None:
    assert next(find(f"msgId={ID}")) == Token(ID, 1, 7, "msgId", None, None, True)


@pytest.mark.parametrize(
    ("before", "label"),
    [
        (r"offsetMsgId=x\nmsgId=", "msgId"),
        (r"{\"a\":1,\r\n\t\"msgId\":\"", "msgId"),
        (r"sent\tUNIQ_KEY=", "UNIQ_KEY"),
        (r"\nnumber=", "number"),
        ("number=", "number"),
        (r"C:\temp\name=", "name"),
        (r"C:\\temp\\new\\tag=", "tag"),
        (r"\\host\share\reason=", "reason"),
        (r'{"dir":"C:\\x","a":"y\nmsgId=', "msgId"),
        (r"info:\nmsgId=", "msgId"),
    ],
)
def test_a_label_has_no_letter_of_an_escape_in_front_of_it(before: str, label: str) -> None:
    (token,) = find(f"{before}7F00000137C418B4AAC2681D55E90001")
    assert token.label == label


@pytest.mark.parametrize("names", [("msgId", "bornTimestamp"), ("bornTimestamp", "msgId")])
def test_of_several_messages_each_id_has_its_own_birth_in_front_of_it_or_behind(names: tuple[str, str]) -> None:
    """JSON has its fields in any order: with the ID first, each but the first was born with the one before it."""
    day = 86_400_000
    births = [1_683_166_930_100, 1_683_166_930_100 + 5 * day]  # 4 and 9 May 2023, 10:22:10.100 at +08:00
    elapsed = [3 * day + 37_330_100, 8 * day + 37_330_100]
    rows = [
        {"msgId": f"0A0102031A2B18B4AAC2{ms:08X}000{place}", "bornTimestamp": born}
        for place, (ms, born) in enumerate(zip(elapsed, births, strict=True))
    ]
    text = json.dumps([{name: row[name] for name in names} for row in rows])
    assert [token.born_ms for token in find(text)] == births

"""IDs that a line break cuts, that have a digit too many, or whose end is masked: read, or said, never lost."""

from __future__ import annotations

import itertools
import random
import re
import textwrap
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from idcore.ids import broken_lines, find, judge, masks
from idcore.ids.broken_lines import unbroken
from idcore.ids.clock import Clock
from idcore.ids.dating import dates_of
from idcore.ids.identify import Verdict, identify
from tests.scan.reading import tokens

pytestmark = pytest.mark.quick
ID = "0A6408A4001E18B4AAC20E41363B0037"
OFFSET = "0A03000200002A9F00000000000B4FDC"
CLIENT = "01087190669A000007083CA9AD00000003"
CONSUMED = (
    "ConsumeMessageThread_ship_4 Receive New Messages: [MessageExt [brokerName=broker-a, queueId=3, storeSize=240, "
    f"queueOffset=771, storeHost=/10.3.0.2:10911, msgId={OFFSET}, commitLogOffset=741340, bodyCRC=988340972, "
    f"properties={{MIN_OFFSET=0, UNIQ_KEY={ID}, CLUSTER=DefaultCluster, WAIT=true}}, transactionId='null'}}]]"
)


def read(text: str) -> list[Verdict]:
    return [judge(token) for token in find(text)]


def ids(text: str) -> list[str]:
    return [verdict.text for verdict in read(text) if verdict.best is not None]


@pytest.mark.parametrize("width", range(40, 130, 3))
@pytest.mark.parametrize("end", ["\n", "\r\n", "=\n"])
def test_an_id_that_a_terminal_or_mail_breaks_is_joined(width: int, end: str) -> None:
    broken = end.join(re.findall(f".{{1,{width}}}", CONSUMED))
    for one in (OFFSET, ID):
        assert one in ids(broken), broken
    tokens = [token for token in find(broken) if token.text == ID]
    (token,) = tokens
    assert broken.splitlines()[token.line - 1][token.column - 1 :].startswith(ID[:1])
    cut = ID not in broken
    assert (token.whole == "joined") == cut
    best = judge(token).best
    assert best is not None and (best.certainty == "likely") == cut
    assert ("id_joined" in {reason.code for reason in best.why}) == cut


def test_quoted_printable_mail_has_its_ids() -> None:
    mail = "\n".join(textwrap.wrap(f"SendResult [sendStatus=3DSEND_OK, msgId=3D{ID}, offsetMsgId=3D{OFFSET}]", 75))
    soft = f"msgId=3D{ID[:20]}=\n{ID[20:]} =E6=B2=A1\n"
    assert ids(mail) == [ID, OFFSET] and ids(soft) == [ID]
    assert [token.label for token in find(soft)] == ["msgId"]


@pytest.mark.parametrize(
    "text",
    [
        f"{ID[:16]}\n{ID[16:]}\n" * 3,  # a column of halves
        f"  {ID[:16]}\n  {ID[16:]}\n" * 3,
        f"> {ID[:16]}\n> {ID[16:]}\n" * 3,
        f"sent {ID[:16]}\nABCDEF {ID[16:]}",  # 22 digits
        f"sent {ID}\n{ID}",  # two whole ones
        "the word dead\nbeef and more",
        f"sent {ID[:31]}\nbornTimestamp=1",  # "b" is no last digit
        f"sent {ID[:28]}\ndead_letter and more",
    ],
)
def test_what_is_no_broken_id_is_not_joined(text: str) -> None:
    assert all(token.whole == "whole" for token in find(text))


@pytest.mark.parametrize(
    "text",
    [
        f"│ 10:00 │ sent msgId={ID[:20]} │\n│       │ {ID[20:]}, ok        │",
        f"| id | msgId={ID[:9]} | |\n|    | {ID[9:]} | |",
        f"┃ msgId={ID[:20]} ┃\r\n┃ {ID[20:]} ┃\r\n",
        f"sent msgId={ID[:16]}-\n{ID[16:]} done",
        f"sent msgId={ID[:16]}↵\n{ID[16:]} done",
        f"sent msgId={ID[:16]}\n    ↪ {ID[16:]} done",
    ],
)
def test_an_id_that_a_table_or_an_editor_breaks_is_joined(text: str) -> None:
    assert ids(text) == [ID]
    assert ID.encode() in unbroken(text.encode()) and len(unbroken(text.encode())) == len(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        f"│ sent {ID[:16]} │ ok │\n│ {ID[16:]} │ ok │",  # another cell is between them
        f"│ sent {ID[:16]} │\n│ │ {ID[16:]} │",  # it is in another cell
        f"| {ID[:16]} |\n| {ID[16:]} |\n" * 3,  # a column of halves
    ],
)
def test_digits_of_two_cells_are_not_joined(text: str) -> None:
    assert ids(text) == [] and unbroken(text.encode()) == text.encode()


SIX_CUT = "FE80000000000000AEDE48FFFE001122000018B4AAC20E41363B0037"
SIX_AT = "20010DB800400000000000000000000700002A9F00000000000B4FDC"


@pytest.mark.parametrize("place", [22, 24, 30, 32, 34, 40])
@pytest.mark.parametrize("end", ["\n", "\r\n", "=\r\n", "\n> ", "\n    "])
@pytest.mark.parametrize("whole", [SIX_CUT, SIX_AT])
def test_a_piece_of_an_id_of_ipv6_is_no_other_id(place: int, end: str, whole: str) -> None:
    """Pieces of 32 and 34 digits are as long as other IDs."""
    text = f"sent msgId={whole[:place]}{end}{whole[place:]} topic=t"
    assert ids(text) == [whole]
    assert [token.text for token in tokens(unbroken(text.encode()))] == [whole]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"order 5EE648BA69F6E80001B14286\n{ID} sent", [ID]),  # begins as no address of IPv6 does
        (f"order 2EE648BA69F6E80001B14286\n{ID} sent", [ID]),  # no name in front
        (f"sent msgId={'2F010235' + ID[8:]}\n{ID[:24]} of a batch", ["2F010235" + ID[8:]]),
        (f"sent {SIX_CUT}\n{ID} sent", [SIX_CUT, ID]),
    ],
)
def test_an_id_of_ipv4_next_to_other_digits_stays_one(text: str, found: list[str]) -> None:
    assert ids(text) == [token.text for token in tokens(unbroken(text.encode()))] == found


def test_a_piece_at_the_end_of_a_line_or_text_is_said() -> None:
    for text in (f"sent msgId={ID[:25]}", f"sent msgId={ID[:25]}\nnext line", f"sent msgId={ID[:25]}\r\n\r\n"):
        (verdict,) = read(text)
        assert verdict.best is None and "25 digits" in str(verdict.error)
    assert read(f"sent {ID[:25]}\nnext line") == []


def test_what_may_be_a_broken_id_is_said() -> None:
    """Two pieces of other strings with as many digits: no reading is certain."""
    (verdict,) = read("commit 9F86D081884C7D65\n9A2FEAA0C55AD015 done")
    assert verdict.best is None and verdict.reason == "broken"
    assert "line 1" in str(verdict.error)


def test_a_digit_too_many_behind_a_name_that_vouches() -> None:
    ((verdict),) = read(f'{{"msgId":"{ID}1","msgType":"resource_report"}}')
    assert verdict.best is not None and verdict.text == ID and verdict.best.certainty == "likely"
    assert ids(f'"msgId":"{ID}10"') == [ID] and ids(f"{ID}10") == []
    assert verdict.best.why[-1].code == "id_longer"
    assert read(f"{ID}1") == []
    assert read("msgId=9F86D081884C7D659A2FEAA0C55AD0151") == []


@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        (f"msgId={ID[:28]}****", "masked_timed", "18:25:54.747"),
        (f"consumed {ID[:22]}...", "masked", "10.100.8.164"),
        (f"{ID[:20]}…", "masked", "pid 30"),
        ("msgId=C0A80001123412345678****", "masked", "pid 4660"),  # a loader that is not known, behind a name
        (f"msgId={ID[:8]}****{ID[12:20]}...", "masked_parts", "host 10.100.8.164, pid ?, loader 18B4AAC2, counter ?"),
        (f"sent MsgId: {ID[:4]}…{ID[-4:]} to queue", "masked_parts", "host 10.100.?.?, pid ?, loader ?, counter 55"),
        (f"msgId={ID[:12]}****{ID[16:]}", "masked_parts_timed", "day 3 of a month at 18:25:54.747"),
        (f"at ****{ID[12:]} received", "masked_parts_timed", "host ?.?.?.?, pid ?, loader 18B4AAC2, counter 55"),
        (f"UNIQ_KEY={ID[:20]}********{ID[-4:]}", "masked_parts", "counter 55"),
        (f"消息ID msgId={ID[:6]}xx{ID[8:24]}********", "masked_parts", "host 10.100.8.?, pid 30"),
        (f"msgId={ID[:12]}****", "masked_parts", "pid 30, loader ?"),
        (f"offsetMsgId={OFFSET[:8]}****{OFFSET[12:]}", "masked_offset", "broker 10.3.0.2:?, offset 741,340"),
        (f"offsetMsgId={OFFSET[:16]}…", "masked_offset", "broker 10.3.0.2:10911, offset ?"),
        (f"msgId={OFFSET[:16]}****{OFFSET[20:]}", "masked_offset", "10.3.0.2:10911, offset 0x????0000000B4FDC"),
        (f'offsetMsgId="{OFFSET[:30]}", queueId=3', "masked_offset", "10.3.0.2:10911, offset 0x00000000000B4F??"),
        (f"msgId={CLIENT[:14]}****", "masked_client", "MAC address 08:71:90:66:9a:00, pid ?, time ?"),
        (
            f"msgId={CLIENT[:2]}{'*' * 12}{CLIENT[14:]}",
            "masked_client",
            "pid 7, time 2025-05-19 11:02:05 +00:00, sequence 3",
        ),
        (
            f"message_id: {CLIENT[:6]}…{CLIENT[-8:]}",
            "masked_client",
            "MAC address 08:71:?:?:?:?, pid ?, time ?, sequence 3",
        ),
        (f"msgId={CLIENT[:33]}, done", "masked_client", "33 digits of a 5.x msgId"),
        (f"msgId=0101007F****{ID[12:20]}...", "masked_parts", "host 1.1.0.127"),  # bytes turned round: no 5.x msgId
    ],
)
def test_what_a_mask_leaves_is_told(text: str, reason: str, told: str) -> None:
    (verdict,) = read(text)
    assert verdict.best is None and verdict.reason == reason and told in str(verdict.error)


SIX = "20010DB885A3000000008A2E03707334473C7D4991AD336AEA5703E0"
HOST = "host 2001:db8:85a3::8a2e:370:7334"
DAY_10 = "day 10 of a month at 23:37:24.823"


@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        (f"msgId={SIX[:36]}****{SIX[42:]}", "masked_parts_timed", f"{HOST}, pid 18236, loader ?, counter 992"),
        (f"msgId={SIX[:32]}****{SIX[40:]}", "masked_parts_timed", DAY_10),
        (f"msgId={SIX[:32]}****", "masked_parts", f"{HOST}, pid ?"),
        (f"msgId={SIX[:34]}…", "masked_parts", f"{HOST}, pid ?"),
        (f"msgId={SIX[:48]}...", "masked", f"{HOST}, pid 18236, loader 7D4991AD"),
        (f"msgId={SIX[:33]}, t", "masked_parts", f"33 digits of a msgId, the rest is masked or cut off (?): {HOST}"),
        (f"msgId={SIX[:8]}{'*' * 20}{SIX[28:]}", "masked_parts_timed", "host 2001:db8:?:?:?:?:?:7334, pid 18236"),
        (f"messageId: {SIX[:8]}****{SIX[-4:]}", "masked_parts", "host 2001:db8:?:?:?:?:?:?, pid ?"),
        (f"offsetMsgId={SIX[:32]}00002A9F0000****", "masked_offset", "[2001:db8:85a3::8a2e:370:7334]:10911"),
    ],
)
def test_what_a_mask_leaves_of_an_id_of_ipv6_is_told(text: str, reason: str, told: str) -> None:
    (verdict,) = read(text)
    assert verdict.best is None and verdict.reason == reason and told in str(verdict.error)
    assert verdict.text == re.split("[=,]| ", text.replace(": ", "="))[1]


def test_the_first_digits_of_a_masked_id_of_ipv6_are_no_other_id() -> None:
    """Neither door reads them as 32 digits of IPv4, nor `=20` in front of them as a blank and a 5.x msgId."""
    masked = [
        f"{SIX[:size]}{mask}{SIX[size + 4 :]}" for size in (32, 34, 36) for mask in ("****", "…", "••", "##", "xx")
    ]
    shown = [
        f"{name}={one}" for one in (*masked, f"{SIX[:32]}***", f"{SIX[:36]}..", SIX[:36]) for name in ("msgId", "no")
    ]
    for text in shown[:-1]:
        assert ids(text) == [] and list(tokens(text.encode())) == [], text
    for text in (f"**{SIX[:32]}**", f"{SIX[:32]}…", f"{SIX[:32]}...", f"{SIX[:32]}..{SIX[:32]}", f"{ID}****{ID[:4]}"):
        whole = text.lstrip("*")[:32]
        assert whole in ids(text) and whole in [token.text for token in tokens(text.encode())], text
    assert ids(f"=?utf-8?Q?message=20{CLIENT}?=") == [CLIENT]


@pytest.mark.parametrize("text", ["***{}***", "no {}****", "msgId={}###"])
def test_a_whole_id_of_a_known_client_is_no_part_of_one_of_ipv6(text: str) -> None:
    """Chat sets it in bold and slanted letters. Hosts from 32.0.0.0 to 63.255.255.255 begin as addresses of IPv6 do."""
    cloud = "2F010235" + ID[8:]
    assert ids(text.format(cloud)) == [token.text for token in tokens(text.format(cloud).encode())] == [cloud]


@pytest.mark.parametrize("text", ["0138****56785678", "01234567..0123456789", "messageId=0123456789..."])
def test_a_number_with_a_mask_is_no_5x_msgid(text: str) -> None:
    """It may be a telephone number. A real one has its version, a MAC address, times: some letter is seen."""
    for verdict in (*read(text), identify(text.partition("=")[2] or text, None)):
        assert verdict.best is None and verdict.reason != "masked_client"


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f86d081884c7d659a2feaa0...",
        f"{ID[:19]}***",
        "0A6408A4001E18B4AAC2",
        "commit 9f86d0…81884c7d of msg",
        "price ****1234, phone 138****5678, msgId ok",
        f"msgId={ID[:3]}…{ID[-4:]}",  # too little
        f"msgId={ID[:12]}**{ID[12:]}",  # too much
        "see file 0A1B2C3D...4E5F",
        "msgId=2408845202900028B10ADF0D6...",  # of IPv4 or of IPv6
        "transactionId=2FD4E1C67A2D28FCED849EE1BB76E7391B93EB12".lower() + ", t",
        "messageId=1234567890..",
        "messageId=12345678901234567890…",
        "msgId=138****56789...",
    ],
)
def test_other_digits_that_end_early_are_no_ids(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    ["topic=* tag=a", "sub=TagA||TagB, expression='*'", "wait ... ok", "path/*/x**y", "#xx # x# XX", "1.2 0x1F # 5#"],
)
def test_a_sign_away_from_digits_is_no_mask(text: str) -> None:
    assert masks.NEAR.search(text) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_sign_of_a_mask_is_next_to_a_digit(seed: int) -> None:
    chance, found = random.Random(seed), 0
    for _ in range(2_000):
        pieces = [
            chance.choice((ID[: chance.randrange(13)], "*xX#•"[chance.randrange(5)], "**", "…", "..", "x*", "Xx"))
            for _ in range(chance.randrange(2, 9))
        ]
        text = "".join(pieces)
        for match in masks.MASKED.finditer(f"id={text} "):
            if masks.digits_of(match[0]) is not None:
                found += 1
                assert masks.NEAR.search(match[0]) is not None, match[0]
    assert found > 50


@pytest.mark.parametrize("end", ["\n> ", "\n>> ", "\n> > ", "\n    ", "\n\t", "\\\n", "\u00ad\n", "=\n", "\r\n> "])
@pytest.mark.parametrize("place", [8, 20, 31])
def test_an_id_that_goes_on_behind_a_margin_is_joined_at_both_doors(end: str, place: int) -> None:
    text = f"sent msgId={ID[:place]}{end}{ID[place:]} topic=t"
    assert ids(text) == [ID]
    whole = unbroken(text.encode())
    assert len(whole) == len(text.encode()) and ID.encode() in whole


HIDDEN = [
    "</span>",
    "</em>",
    "\u200b",
    "\u00ad",
    "\u2060",
    "<wbr>",
    "<wbr/>",
    "&#8203;",
    "&shy;",
    "\x1b[m\x1b[K",
    "\x1b[01;31m",
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_nobody_sees_between_digits_parts_no_id(hidden: str) -> None:
    for parts in ([16], [4, 20, 31]):
        cuts = [0, *parts, len(ID)]
        text = f"sent msgId={hidden.join(ID[a:b] for a, b in itertools.pairwise(cuts))} topic=t"
        (token,) = find(text)
        assert (token.text, token.label, token.column) == (ID, "msgId", 12)
        whole = unbroken(text.encode())
        assert len(whole) == len(text.encode()) and ID.encode() in whole
    for alone in (f"de{hidden}{ID}", f"{ID}{hidden}{OFFSET}"):  # a whole one keeps its digits
        assert ID in ids(alone)


def test_a_piece_behind_a_name_that_vouches_is_named() -> None:
    (verdict,) = read(f"received msgId={ID[:27]}, topic=t")
    assert verdict.best is None and "27 digits" in str(verdict.error)
    assert read(f"received {ID[:27]}, topic=t") == read(f"msgId={ID[:12]}{'0' * 16}, t") == []


@pytest.mark.parametrize("text", ["0123456789", "01374A3125B8D7", "0108719066", "01" + "7" * 16])
def test_digits_without_a_mask_are_not_called_masked(text: str) -> None:
    verdict = identify(text)
    assert verdict.best is None and verdict.reason == "length" and verdict.error is not None


def test_a_cut_offset_of_a_broker_with_1_in_front_is_one() -> None:
    for label in ("offsetMsgId", None):
        verdict = identify("0102030400002A9F00000000...", label)
        assert verdict.reason == "masked_offset" and "1.2.3.4" in str(verdict.error)


def test_what_a_scan_says_of_one_id_proves_nothing_of_others() -> None:
    """It may be assumed there."""
    clock = Clock(datetime(2026, 11, 26, 12, tzinfo=UTC), UTC, "assumed")
    ids = [f"AC11010{host}473C18B4AAC2{5 * 86_400_000:08X}0001" for host in (1, 2)]
    tokens = list(find("\n".join(ids)))
    born = int(datetime(2026, 9, 5, 16, tzinfo=UTC).timestamp() * 1_000)
    linked = [replace(tokens[0], born_ms=born, linked=True, assumed=("month", "zone")), tokens[1]]
    dates = dates_of([(judge(token), token) for token in linked], clock)
    assert dates.zone is None and dates.latest is None and dates.processes == {}


def test_a_whole_trace_id_at_the_end_of_a_line_is_no_piece_of_an_id() -> None:
    """Its `=3a` is no escape, and the year behind the line's end is none of its digits."""
    text = "http 200 /pay traceId=3a0772443a0739141292a5429b952fe6\n2026-10-20 09:56:08.620 send ok\n"
    assert [token.whole for token in find(text)] in ([], ["whole"])


def test_a_column_of_ids_is_told_without_reading_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of a hundred thousand took 16 seconds: each line was read with the next as if their digits were one ID."""
    monkeypatch.setattr(broken_lines, "find", lambda part: pytest.fail(f"{part!r} was read"))
    rows = ["0A6408A4001E18B4AAC20E41363B0037", "0A64080200002A9F00000000075F01A8", "FDBDDC010002002E" * 3 + "00002A9F"]
    for row in rows:
        for line in (row, f"> {row}", f"msgId={row}", f"{row},", f"{row} |"):
            text = (f"{line}\n" * 50).encode()
            assert unbroken(text) == text


@pytest.mark.parametrize("seed", range(4))
def test_a_break_is_mended_where_find_joins_what_is_around_it(seed: int) -> None:
    draw = random.Random(seed)
    pieces = ["0A6408A4001E18B4AAC20E41363B0037", "FE80000000000000024205A5FFFE112233441F18B4AAC20E41363B00", "2026"]
    names = ["msgId=", "msgId=3D", "%253D", "%3D", "#011", "^A", "| ", "> ", "2026-03-01 INFO sent ", ""]
    ends = ["", "", "=", "\\", "-", "|", " │", "↵", "\u00ad", "  ", "."]
    margins = ["", "", "> ", "| ", "│ ", "\t", " ↪ ", "    "]
    mended = 0
    for _ in range(1000):
        digits = draw.choice(pieces)
        cut = draw.choice([draw.randrange(len(digits) + 1), 32])
        feed = draw.choice(ends) + draw.choice(["\n", "\r\n"]) + draw.choice(margins)
        text = draw.choice(names) + digits[:cut] + feed + digits[cut:] + draw.choice([" ok", "", "x", "_", ",", ";"])
        is_joined = any(token.whole == "joined" and judge(token).best is not None for token in find(text))
        mended += is_joined
        assert (unbroken(text.encode()) != text.encode()) == is_joined, text
    assert mended > 10

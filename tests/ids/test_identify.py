"""Verdicts: the classification rule against its twin, ranked readings with reasons, refusals that say why."""

from __future__ import annotations

import pickle
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from idcore.base.catalogue import words
from idcore.ids import ClientId, OffsetId, Verdict, find, identify, judge
from idcore.ids.identify import identify_alone
from idcore.ids.scoring import is_made_up
from idcore.intake import intake
from tests.scan.reading import LABEL, Client, Refused, classify

pytestmark = pytest.mark.quick

HEX = "0123456789ABCDEF"
IPS = st.sampled_from(["7F000001", "0101007F", "0A0B0C0D", "C0A80101", "CB007107", "08080808", "FFFFFFFF", "00000000"])
LOADERS = st.sampled_from(["18B4AAC2", "00B4AAC2", "AC4C820C", "CEF51E0A", "7C84929B", "00000000", "1B9871B4"])
LABELS = st.sampled_from([None, "msgId", "offsetMsgId", "UNIQ_KEY", "MessageID", "KEYS", "transactionId", "xmsgIds"])
ANY = st.text(HEX, min_size=8, max_size=8)


@st.composite
def tokens(draw: st.DrawFn) -> str:
    """Tokens of 32, 34 and 56 digits that come near every branch of the rule."""
    digits = draw(st.sampled_from([32, 32, 32, 34, 56]))
    if digits == 34:
        text = draw(st.sampled_from(["01", "02", "00"])) + "".join(draw(ANY) for _ in range(4))
    else:
        ip = draw(st.one_of(IPS, ANY)) if digits == 32 else "".join(draw(ANY) for _ in range(4))
        body = draw(st.sampled_from(["offset", "offset", "uniq", "noise"]))
        if body == "offset":
            port = draw(st.sampled_from([0, 1, 10911, 42514, 65535, 65536]))
            near = [0, 1, 2**44, 2**44 + 256, 2**48, 2**48 + 1, 2**63, 2**64 - 1, 0x00003CF1C4030100]
            offset = draw(st.one_of(st.sampled_from(near), st.integers(0, 2**64 - 1)))
            text = ip + f"{port:08X}{offset:016X}"
        elif body == "uniq":
            limit = 31 * 86_400_000
            near = [0, limit, limit + 1000, limit + 1001, 2**32 - 86_400_000, 2**32 - 86_400_001, 2**32 - 1]
            elapsed = draw(st.one_of(st.sampled_from(near), st.integers(0, 2**32 - 1)))
            pid = draw(st.sampled_from(["0000", "0001", "FFFF"]))
            text = ip + pid + draw(st.one_of(LOADERS, ANY)) + f"{elapsed:08X}" + draw(ANY)[:4]
        else:
            text = ip + "".join(draw(ANY) for _ in range(3))
    return draw(st.sampled_from([str.upper, str.lower, str.upper, lambda s: s[:-12] + s[-12:].lower()]))(text)


def verdict_of(text: str, label: str | None, any_case: bool) -> str:
    verdict = identify(text, label, "any" if any_case else "strict")
    if verdict.best is None:
        assert verdict.error is not None
        assert verdict.reason == verdict.error.code
        return f"-{verdict.reason}"
    assert verdict.error is None
    assert verdict.reason is None
    return verdict.best.id.layout.name


def twin_of(text: str, label: str | None, any_case: bool) -> str:
    """The layout's name, or the code of the refusal with a minus in front."""
    labelled = LABEL.search((label or "").encode()) is not None
    found = classify(text, labelled, "any" if any_case else "strict")
    if isinstance(found, Refused):
        return f"-{found.reason}"
    return "client_v1" if isinstance(found, Client) else found.layout


@settings(max_examples=1500, deadline=None)
@given(tokens(), LABELS, st.booleans())
@example("0101007F0000A61200003CF1C4030100", None, False)
def test_the_rule_is_its_twin(text: str, label: str | None, any_case: bool) -> None:
    assert verdict_of(text, label, any_case) == twin_of(text, label, any_case)


@settings(max_examples=300, deadline=None)
@given(tokens(), LABELS)
def test_every_verdict_keeps_the_text_and_can_be_told(text: str, label: str | None) -> None:
    verdict = identify(text, label)
    assert verdict.text == text
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    for reading in verdict.readings:
        assert reading.certainty in ("certain", "likely", "possible")
        assert reading.error is None
    for reading in (*verdict.readings, *verdict.rejected):
        assert reading.maker
        assert words().has(reading.made_by.key)
        assert reading.why
        for reason in reading.why:
            assert words().has(reason.key)
            assert "{" not in str(reason)
        if reading.id.layout.name != "client_v1" or len(text) == 34:
            assert str(reading.id) == text


@given(st.text(string.printable, max_size=70))
def test_any_text_has_a_verdict(text: str) -> None:
    verdict = identify(text)
    assert (verdict.best is None) == (verdict.error is not None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("abc", "odd"),
        ("abcd", "length"),
        ("msgId", "digit"),
        ("2408845202900028B10ADF0D6...", "digit"),
        ("A" * 62, "length"),
        ("AC110001473C7D4991AD336AEA5703E", "odd"),
        (" AC", "digit"),
    ],
)
def test_what_cannot_be_an_id_is_refused_with_one_reason(text: str, code: str) -> None:
    verdict = identify(text)
    assert (verdict.reason, verdict.readings, verdict.rejected) == (code, (), ())


def named(verdict: Verdict) -> list[tuple[str, str | None]]:
    return [(reading.id.layout.name, reading.certainty) for reading in (*verdict.readings, *verdict.rejected)]


def codes(verdict: Verdict, at: int = 0) -> set[str]:
    return {reason.code for reason in (*verdict.readings, *verdict.rejected)[at].why}


def test_a_java_id_is_certain_with_or_without_a_label() -> None:
    for label in (None, "msgId", "offsetMsgId"):
        verdict = identify("AC110001473C7D4991AD336AEA5703E0", label)
        assert named(verdict) == [("uniq_v4", "certain")]
        assert {"port_bytes", "loader_stream", "case_upper", "elapsed_fits", "host_docker"} <= codes(verdict)
    assert "label_against" in codes(verdict)


def test_an_unknown_loader_is_likely_with_a_label_and_possible_without() -> None:
    text = "0A64F892048A1B9871B45B0C6972005C"  # C++ client, apache/rocketmq-client-cpp issue 392
    assert named(identify(text, "msgId")) == [("uniq_v4", "likely")]
    assert named(identify(text)) == [("uniq_v4", "possible")]


def test_an_offset_id_names_its_rival() -> None:
    verdict = identify("AC11000100002A9F00000000000E8580", "offsetMsgId")
    assert named(verdict) == [("offset_v4", "certain"), ("uniq_v4", "possible")]
    assert {"port_fits", "port_known"} <= codes(verdict)
    assert "pid_zero_too" in codes(verdict, 1)


def test_the_little_endian_trap() -> None:
    verdict = identify("0101007F0000A61200003CF1C4030100")
    assert named(verdict) == [("uniq_v4_le", "likely"), ("offset_v4", "possible"), ("uniq_v4", "possible")]
    assert isinstance(verdict.others[0].id, OffsetId)
    assert verdict.others[0].id.address == "1.1.0.127:42514"
    assert "pid_zero_too" in codes(verdict, 2)


def test_of_two_layouts_that_fit_as_well_none_is_certain() -> None:
    """10.20.30.40 of C++ 1.2.0, whose rand() is the port of most brokers; the offset would be 67 TB."""
    rest = ("uniq_v4", "possible")
    for label, offset in (("msgId", "likely"), (None, "likely"), ("offsetMsgId", "likely")):
        verdict = identify("281E140A00002A9F00003CF1C4030100", label)
        assert named(verdict) == [("uniq_v4_le", "likely"), ("offset_v4", offset), rest], label


@settings(max_examples=1_000, deadline=None)
@given(tokens(), LABELS)
@example("281E140A00002A9F00003CF1C4030100", "msgId")
def test_no_interpretation_is_certain_next_to_the_first(text: str, label: str | None) -> None:
    assert "certain" not in [reading.certainty for reading in identify(text, label).readings[1:]]


@pytest.mark.parametrize(
    ("text", "field", "layout"),
    [
        ("7F00000100002A9FFFFFFFFFFFFFFFFF", "offset", "uniq_v4"),
        ("7F00000100002A9F0001000000000001", "offset", "uniq_v4"),
        ("7F0000010000000018B42AC200000000", "port", "uniq_v4"),
    ],
)
def test_an_impossible_offset_reading_stands_under_others_and_names_its_field(
    text: str, field: str, layout: str
) -> None:
    verdict = identify(text)
    assert verdict.best is not None
    assert verdict.best.id.layout.name == layout
    wrong = [reading for reading in verdict.others if reading.id.kind == "offset"]
    assert len(wrong) == 1
    assert wrong[0].certainty is None
    assert wrong[0].error is not None
    assert wrong[0].error.field == field
    assert field in str(wrong[0].why[0])


def test_port_zero_with_nothing_behind_it_is_refused_and_shown() -> None:
    verdict = identify("AC100A64000000000000000000000001", "msgId")
    assert verdict.error is not None
    assert (verdict.reason, verdict.error.field, verdict.error.byte) == ("port", "port", 4)
    assert named(verdict) == [("offset_v4", None)]


def test_lower_case_is_refused_and_any_case_takes_it() -> None:
    text = "c0a8832a3c1c18b4aac2146e2f4f03e7"
    assert identify(text).reason == "lower_case"
    assert named(identify(text))[0] == ("uniq_v4", None)
    verdict = identify(text, case="any")
    assert named(verdict)[0][0] == "uniq_v4"
    assert "case_lower" in codes(verdict)
    assert str(verdict.best.id if verdict.best else "") == text
    assert named(identify("01" + text, case="any"))[0][0] == "client_v1"
    assert named(identify("c0a8832a" * 3 + text, case="any"))[0][0] == "uniq_v6"


def test_an_id_that_is_given_alone_is_read_in_lower_case() -> None:
    text = "ac110001473c7d4991ad336aea5703e0"
    assert identify_alone(text) == identify(text, None, "any") and identify_alone(text).in_lower_case
    assert identify_alone(text.upper()) == identify(text.upper()) and not identify_alone(text.upper()).in_lower_case
    never = "9f86d081884c7d659a2feaa0c55ad015"  # no ID in upper case either
    assert identify_alone(never) == identify(never) and identify_alone(never).reason == "lower_case"


@pytest.mark.parametrize(
    ("before", "is_key"),
    [
        ("KEYS=", True),
        ("KEYS: [", True),
        ("Message Keys:   ", True),
        ("Key: ", True),
        ('{"keys":"', True),
        ("msgKey=", True),
        ("UNIQ_KEY=", False),  # of an ID
        ("turkeys=", False),
        ("md5=", False),
    ],
)
def test_nobody_is_asked_whether_a_key_in_lower_case_is_an_id(before: str, is_key: bool) -> None:
    (token,) = find(f"{before}d41d8cd98f00b204e9800998ecf8427e")
    assert judge(token).reason == "lower_case" and judge(token, "any").best is not None
    made = intake.read([("", f"{before}d41d8cd98f00b204e9800998ecf8427e, {'5d41402abc4b2a76b9719d911017c592'}")])
    assert made.lower == (0 if is_key else 2)


def test_digits_alone_are_no_lower_case() -> None:
    assert identify("10000001" + "00010000" + "0000" + "0" * 12).reason != "lower_case"


def test_a_go_id_shows_its_letters() -> None:
    verdict = identify("0A0266DB4E24000000003da94f100001")
    assert named(verdict) == [("uniq_v4", "certain")]
    assert {"case_go", "loader_zero"} <= codes(verdict)
    assert verdict.best is not None
    assert verdict.best.maker == "Go client 2.x, or rocketmq-rs (Rust)"


def test_a_uuid_without_dashes_is_only_possible() -> None:
    verdict = identify("550E8400E29B41D4A716446655440000")
    assert named(verdict)[0] == ("uniq_v4", "possible")
    assert "uuid_v4" in codes(verdict)


def test_a_client_id_that_lost_its_version_is_proposed() -> None:
    verdict = identify("EA2C235B8585B70D08C1575B00000015")
    lost = [reading for reading in verdict.others if isinstance(reading.id, ClientId)]
    assert len(lost) == 1
    assert [reason.code for reason in lost[0].why] == ["lost_version"]
    assert isinstance(lost[0].id, ClientId)
    assert lost[0].id.seconds == 146_888_539


def test_an_impossible_elapsed_needs_a_loader_or_a_label() -> None:
    text = "0A00000109D02B7C3D4EF4A6C0550001"  # ErQing .NET: the low 32 bits of epoch ms
    assert identify(text).reason == "elapsed"
    error = identify(text).error
    assert error is not None
    assert (error.field, error.byte) == ("elapsed", 10)
    for label in ("msgId", "UNIQ_KEY", "offsetMsgId"):  # the last ends in msgid, and the kernel reads it so too
        assert identify(text, label).reason is None
    assert identify(text, "msgId", vouched=False).reason == "elapsed"
    assert identify(text, "KEYS").reason == "elapsed"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("7F0000011BE34AA298B76656B6BD0245", "host_loopback"),
        ("FE8000000000000038ABE5FFFED4CBD2001518B4AAC219B9B5640000", "host_link_local"),
        ("C0A879ED000018B4AAC236FDB13F0000", "pid_shifted"),
        ("C0A879EDFFFF18B4AAC236FDB13F0000", "pid_unknown"),
        ("313233344E24000000003da94f100001", "host_fake"),
        ("E0000001473C7D4991AD336AEA5703E0", "host_odd"),
        ("AC110001473C7D4991AD9C0000000001", "elapsed_signed"),
        ("AC110001473C7D4991ADFFFFFFFF0001", "clock_back"),
        ("AC110001473C7D4991ADC33000000001", "elapsed_known_maker"),
        ("AC110001473C7D4991AD9FA524030001", "elapsed_slack"),
    ],
)
def test_what_a_field_tells(text: str, code: str) -> None:
    verdict = identify(text)
    assert verdict.best is not None
    assert code in codes(verdict)


def test_an_offset_id_under_uniq_key_can_be_genuine_and_says_so() -> None:
    verdict = identify("AC100A6400002A9F0000000000000001", "UNIQ_KEY")
    assert named(verdict)[0][0] == "offset_v4"
    assert "label_key" in codes(verdict)


@pytest.mark.parametrize("name", ["etag", "sign", "traceId"])
def test_a_name_of_something_else_outweighs_a_loader_that_chance_finds_in_the_stream(name: str) -> None:
    by_chance = "EE1E778F3FCA69E2FE3B52E1C3A90D11"  # 69E2FE3B is place 18,379: one of 100,000 hashes has such a loader
    usual = "0A1204040CE518B4AAC268FA63E10058"
    (token,) = find(f'{name}="{by_chance}"')
    assert judge(token).reason == "other_name"
    (token,) = find(f'{name}="{usual}"')
    assert judge(token).best is not None
    (token,) = find(f"msgId={by_chance[:20]}12E1C3A90D11")
    assert judge(token).best is not None, "of a single send"


@pytest.mark.parametrize(
    "text",
    [
        "0123456789ABCDEF" * 2,
        "1234567890ABCDEF" * 2,
        "12345678901234567890123456789012",
        "A" * 32,
        "1" * 32,
        "C0A80101" * 4,
        "DEADBEEF" * 4,
        "00112233445566778899AABBCCDDEEFF",
        "AABBCCDDEEFF00112233445566778899",
        "01020304050607080910111213141516",
    ],
)
def test_digits_that_repeat_or_count_on_are_no_more_than_possible(text: str) -> None:
    best = identify(text, "msgId").best
    assert best is not None and best.certainty == "possible" and "made_up" in [why.code for why in best.why]


@pytest.mark.parametrize(
    "text",
    [
        "7F0000010016A09E000000000000000A",  # of the C++ client 2.2.0, of its first second
        "AC110001473C7D4991AD336AEA5703E0",
        "0A0000070B7E2A139A5561F8B2E40007",
        "7F0000010001000000000000000A0001",
        "0146D6B3F2C11F00D4061B1E7E00000000",
    ],
)
def test_real_digits_are_not_called_made_up(text: str) -> None:
    assert not is_made_up(text)

"""Bodies of trace records: literal bytes of every form, what is refused, and a slow twin over random and bad input."""

from __future__ import annotations

import random
from dataclasses import astuple, replace

import pytest

from idcore.base.errors import CoreError
from idcore.rocketmq.message.trace import (
    Context,
    EndTransaction,
    Pub,
    Recall,
    SubAfter,
    SubBefore,
    Unknown,
    read_trace,
)
from tests.message.refusing import outcome

pytestmark = pytest.mark.quick

# By hand, after TraceDataEncoder of the releases from 4.4.0 to 5.5.0.
MSG, REQUEST = "0A42333A0DC818B4AAC246C290FD0000", "0A42333A0DC918B4AAC246C291FD0001"
SENT = f"1795000000000\x01DefaultRegion\x01senders\x01Orders\x01{MSG}\x01TagA\x01k1 k2\x01127.0.0.1:10911"
PUB_12 = f"Pub\x01{SENT}\x0112\x013\x010"
BEFORE_8 = f"SubBefore\x011795000000010\x01DefaultRegion\x01readers\x01{REQUEST}\x01{MSG}\x010\x01null"
BEFORE = SubBefore(1_795_000_000_010, "DefaultRegion", "readers", REQUEST, MSG, 0, None)
AFTER_6 = f"SubAfter\x01{REQUEST}\x01{MSG}\x014\x01true\x01k1"
AFTER = SubAfter(REQUEST, MSG, 4, True, "k1")
END = f"EndTransaction\x01{SENT}\x012\x01{MSG}\x01ROLLBACK_MESSAGE\x01true"
RECALL = f"Recall\x011795000000000\x01null\x01senders\x01Orders\x01{MSG}\x01false"
SENDER = (1_795_000_000_000, "DefaultRegion", "senders", "Orders", MSG, "TagA", "k1 k2", "127.0.0.1:10911")
PUB = Pub(*SENDER, 12, 3, 0)

FORMS: list[tuple[str, Context]] = [
    (PUB_12, PUB),
    (f"{PUB_12}\x01true", replace(PUB, success=True)),
    (f"{PUB_12}\x01null\x01false", replace(PUB, success=False)),
    (f"{PUB_12}\x01AB\x01true\x0110.0.0.3", replace(PUB, offset_msg_id="AB", success=True, client_host="10.0.0.3")),
    (BEFORE_8, BEFORE),
    (f"{BEFORE_8}\x0110.0.0.3", replace(BEFORE, client_host="10.0.0.3")),
    (AFTER_6, AFTER),
    (f"{AFTER_6}\x014", replace(AFTER, code=4)),
    (f"{AFTER_6}\x010\x01", replace(AFTER, code=0)),  # CLOUD, 5.3.1 on: a separator, then the end
    (f"{AFTER_6}\x010\x011795000000014\x01readers", replace(AFTER, code=0, time_ms=1_795_000_000_014, group="readers")),
    (END, EndTransaction(*SENDER, 2, MSG, "ROLLBACK_MESSAGE", True)),
    (RECALL, Recall(1_795_000_000_000, None, "senders", "Orders", MSG, False)),
    ("Forward\x01a\x01\x01", Unknown("Forward", ("a", "", ""))),
    ("", Unknown("", ())),
]


def decode_trace(body: bytes) -> list[Context]:
    """Every context in its order; the first that is not as a client writes it is an error."""
    contexts: list[Context] = []
    for item in read_trace(body):
        if isinstance(item, CoreError):
            raise item
        contexts.append(item)
    return contexts


@pytest.mark.parametrize(("text", "context"), FORMS, ids=[text[:12] + str(text.count("\x01")) for text, _ in FORMS])
def test_every_form_of_every_release(text: str, context: Context) -> None:
    assert decode_trace(f"{text}\x02".encode()) == [context]


def test_all_forms_in_one_body_and_none_in_an_empty_one() -> None:
    assert decode_trace("".join(f"{text}\x02" for text, _ in FORMS).encode()) == [context for _, context in FORMS]
    assert decode_trace(b"") == []


def test_a_context_glued_to_a_sub_after_begins_at_the_name_of_its_type() -> None:
    short = f"{AFTER_6}\x010\x01"  # CLOUD, 4.9.5 to 4.9.8 and 5.1.4 to 5.3.0: no end
    after = replace(AFTER, code=0)
    assert decode_trace(short.encode()) == [after]
    assert decode_trace((short * 3).encode()) == [after] * 3
    body = f"{BEFORE_8}\x02{short}{short}{PUB_12}\x02{short}{RECALL}\x02{short}"
    assert decode_trace(body.encode()) == [BEFORE, after, after, PUB, after, FORMS[11][1], after]


def test_a_value_that_is_the_name_of_a_type_begins_no_context() -> None:
    pub = f"{PUB_12}\x02".replace("TagA", "Recall").replace("k1 k2", "SubAfter").replace("Orders", "Pub")
    assert decode_trace(pub.encode()) == [replace(PUB, tags="Recall", keys="SubAfter", topic="Pub")]
    after = f"SubAfter\x01{REQUEST}\x01{MSG}\x014\x01true\x01SubBefore\x010\x011795000000014\x01Pub\x02"
    assert decode_trace(after.encode()) == [
        replace(AFTER, keys="SubBefore", code=0, time_ms=1_795_000_000_014, group="Pub")
    ]


def test_an_empty_field_at_the_end_is_kept() -> None:
    """Java's decoder drops it, fails on the missing field, and so loses the whole record."""
    assert decode_trace(BEFORE_8.replace("null", "").encode() + b"\x02") == [replace(BEFORE, keys="")]


@pytest.mark.parametrize(
    ("text", "code", "field", "begin", "said"),
    [
        ("Pub\x01x\x02", "trace_fields", None, "Pub", "Pub has 2 fields, not 12, 13, 14, 15"),
        (f"{END}\x01\x02", "trace_fields", None, "EndT", "EndTransaction has 14 fields, not 13"),
        (f"\x02{RECALL[:-5]}yes\x02", "trace_choice", "success", "yes", "success of the trace context Recall is 'yes'"),
        (END.replace("ROLLB", "rollB") + "\x02", "trace_choice", "state", "rollB", "not one of COMMIT_MESSAGE"),
        (
            AFTER_6.replace("\x014", "\x01") + "\x02",
            "trace_number",
            "cost_ms",
            "\x01true",
            "cost_ms of",
        ),
        (f"{AFTER_6}\x012147483648\x02", "trace_number", "code", "2147", "2147483648"),
        (f"{AFTER_6}\x01٣\x02", "trace_number", "code", "٣", "not a number"),
        (PUB_12, "trace_end", None, "Pub", "the trace context Pub has no end"),
        (f"{RECALL}\x02{AFTER_6}\x010", "trace_end", None, "SubAfter", "SubAfter has no end"),
    ],
)
def test_an_error_names_the_context_the_field_and_the_byte(
    text: str, code: str, field: str | None, begin: str, said: str
) -> None:
    problem = outcome(decode_trace, text.encode())
    assert isinstance(problem, CoreError)
    assert (problem.code, problem.field, problem.byte) == (code, field, text.index(begin))
    assert said in str(problem)


def test_a_field_that_is_not_utf_8_is_named_with_its_byte() -> None:
    problem = outcome(decode_trace, PUB_12.encode().replace(b"TagA", b"Tag\xff") + b"\x02")
    assert isinstance(problem, CoreError)
    assert (problem.code, problem.field) == ("trace_text", "tags")
    assert problem.byte == PUB_12.index("TagA") + 3


def test_a_bad_context_does_not_take_the_others_with_it() -> None:
    found = list(read_trace(f"{PUB_12}\x02Pub\x02{AFTER_6}\x02{BEFORE_8[:30]}".encode()))
    assert [item.code if isinstance(item, CoreError) else type(item) for item in found] == [
        Pub,
        "trace_fields",
        SubAfter,
        "trace_end",
    ]


def slow(body: bytes) -> list[tuple[str, ...]]:
    """Character by character: the name and fields of each context, or `bad` and its name."""
    text, fields = body.decode("utf-8"), [""]
    found: list[tuple[str, ...]] = []
    names = ("Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall")

    def end(whole: bool) -> None:
        nonlocal fields
        found.append(tuple(fields) if whole else ("cut", fields[0]))
        fields = [""]

    pending = False
    for place, char in enumerate(text):
        if char == "\x02":
            if fields[0] == "SubAfter" and len(fields) == 8 and fields[7] == "":
                fields.pop()
            end(True)
            pending = False
        elif char == "\x01":
            fields.append("")
            pending = True
            follows = text[place + 1 :]
            glued = any(follows == name or follows.startswith((f"{name}\x01", f"{name}\x02")) for name in names)
            if fields[0] == "SubAfter" and len(fields) == 8 and (glued or not follows):
                fields.pop()
                end(True)
                pending = False
        else:
            fields[-1] += char
            pending = True
    if pending:
        end(False)
    return found


def seen(item: Context | CoreError) -> str:
    return str(item.values["context"]) if isinstance(item, CoreError) else getattr(item, "type", type(item).__name__)


def test_like_the_slow_twin_over_random_bodies() -> None:
    rng = random.Random(7)
    pieces = [text for text, _ in FORMS] + [f"{AFTER_6}\x010", "Pub", "SubAfter", "x", "7", "true", "", "键"]
    whole = 0
    for _ in range(10_000):
        parts = [rng.choice(pieces) + rng.choice(["\x01", "\x02", "\x02", "\x02", ""]) for _ in range(rng.randrange(9))]
        body = "".join(parts).encode()
        wanted, found = slow(body), list(read_trace(body))
        assert [seen(item) for item in found] == [each[1] if each[0] == "cut" else each[0] for each in wanted], body
        for item, each in zip(found, wanted, strict=True):
            if isinstance(item, Unknown):
                assert (item.type, *item.fields) == each
            elif not isinstance(item, CoreError):
                whole += 1
                texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in astuple(item)]
                assert [text for text in texts if text != "None"] == [text for text in each[1:] if text != "null"]
    assert whole > 5_000


def test_ten_thousand_malformed_bodies_end_in_errors_of_the_core_or_in_contexts() -> None:
    rng = random.Random(11)
    good = "".join(f"{text}\x02" for text, _ in FORMS).encode()
    refused = 0
    for _ in range(10_000):
        body = bytearray(good[rng.randrange(len(good)) :] if rng.random() < 0.3 else good)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(body) or 1)
            change = rng.randrange(4)
            if change == 0:
                body[at : at + 1] = rng.choice((b"\0", b"\x01", b"\x02", b"0", b"\x80", b"\xff"))
            elif change == 1:
                del body[at : at + rng.randrange(9)]
            elif change == 2:
                body[at:at] = rng.choice((b"\x01", b"\x02", b"\xc3", b"9" * 30, b"SubAfter\x01"))
            else:
                del body[max(at, 1) :]
        refused += isinstance(outcome(decode_trace, bytes(body)), CoreError)
        list(read_trace(body))
    assert 5_000 < refused < 10_000


@pytest.mark.timeout(20)
def test_a_body_of_separators_or_of_glued_contexts_takes_no_longer_than_its_size() -> None:
    assert len(list(read_trace(b"\x01" * (1 << 20)))) == 1
    assert len(decode_trace((f"{AFTER_6}\x010\x01" * 20_000).encode())) == 20_000

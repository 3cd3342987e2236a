"""A text as an id: every reading that holds, best first, each with its reasons. Knows no line, no clock and no zone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from idcore.errors import IdError
from idcore.ids import makers, rules
from idcore.ids.model import (
    ClientId,
    Kind,
    MessageId,
    OffsetId,
    UniqId,
    elapsed_error,
    offset_error,
    port_error,
    refuse,
    unhex,
    version_error,
)
from idcore.ids.words import Maker, Reason, plain
from idcore.layout import CLIENT_V1, OFFSET_V4, OFFSET_V6, UNIQ_V4, UNIQ_V4_LE, UNIQ_V6, Layout

Certainty = Literal["certain", "likely", "possible"]
Case = Literal["strict", "any"]

# A reading's score is the sum of what speaks for it (the weights stand beside each reason below); a reading that
# reaches CERTAIN_FROM needs no second look, one below LIKELY_FROM is no more than a way to read the digits.
CERTAIN_FROM, LIKELY_FROM = 6, 4

_PAIRS: dict[int, tuple[Layout, Layout]] = {
    UNIQ_V4.digits: (UNIQ_V4, OFFSET_V4), UNIQ_V6.digits: (UNIQ_V6, OFFSET_V6),
}
# Names that clients print before their own ids, and before the broker's. A plain msgId stands before both kinds.
_CLIENT_LABELS = frozenset({"msgid", "msgids", "messageid", "uniq_key", "transactionid", "__transactionid__", "id"})
_OFFSET_LABELS = frozenset({"offsetmsgid", "offsetid", "origin_message_id", "msgid", "msgids", "id"})
_KEY_LABELS = frozenset({"uniq_key", "transactionid", "__transactionid__"})

_USUAL_PORTS = frozenset(range(10_900, 11_000)) | {9_876, 10_811, 8_080, 8_081}
_NODE_PORTS = range(30_000, 32_768)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a text as an id. `certainty` is None for a reading that cannot hold; `error` says why."""

    id: MessageId
    certainty: Certainty | None
    made_by: Maker
    why: tuple[Reason, ...]
    score: int = 0
    error: IdError | None = None

    @property
    def kind(self) -> Kind:
        """uniq, offset or client."""
        return self.id.kind

    @property
    def maker(self) -> str:
        """Who most likely made it, in a few words."""
        return str(self.made_by)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a text is: the readings that hold, best first; those that do not; or the error that refuses it."""

    text: str
    label: str | None
    readings: tuple[Reading, ...]
    rejected: tuple[Reading, ...] = ()
    error: IdError | None = None
    reason: str | None = None

    @property
    def best(self) -> Reading | None:
        """The first reading, or None for a refused text."""
        return self.readings[0] if self.readings else None

    @property
    def others(self) -> tuple[Reading, ...]:
        """Every reading but the best, those that cannot hold last."""
        return self.readings[1:] + self.rejected


def identify(
    text: str, label: str | None = None, case: Case = "strict", *, vouched: bool | None = None
) -> Verdict:
    """Every reading of one token.

    `label` is the name in front of it. `vouched` says whether that name stands so close that it vouches for an
    impossible elapsed (find() knows); left out, the label itself decides.
    """
    if vouched is None:
        vouched = rules.vouches(label)
    try:
        raw = unhex(text)
        if len(text) not in rules.CANDIDATE_DIGITS:
            raise refuse("length", None, min(len(raw), 16), text, digits=len(text))
    except IdError as error:
        return Verdict(text, label, (), (), error, error.code)
    letters = _letters(text)
    if len(text) == CLIENT_V1.digits:
        found, rejected, error = _client(raw, text, label)
    else:
        found, rejected, error = _uniq_or_offset(raw, text, label, vouched)
    if letters == "lower" and not (case == "any" and len(text) == UNIQ_V4.digits):
        error = refuse("lower_case", None, _first_letter(text) // 2, text)
        rejected = [_rejected(item, error) for item in found] + rejected
        found = []
    if found:
        first = found[0]
        # The order of the first reading is the rule's, not the score's; the rest goes by score.
        found = [first, *sorted(found[1:], key=lambda item: -item.score)]
        return Verdict(text, label, tuple(found), tuple(rejected))
    assert error is not None
    return Verdict(text, label, (), tuple(rejected), error, error.code)


def decode(text: str, label: str | None = None, case: Case = "strict") -> MessageId:
    """The best reading's id, or the error that refuses the text."""
    verdict = identify(text, label, case)
    if verdict.error is not None:
        raise verdict.error
    assert verdict.best is not None
    return verdict.best.id


def _letters(text: str) -> Literal["upper", "lower", "mixed", "none"]:
    upper, lower = text.upper(), text.lower()
    if upper == lower:
        return "none"
    if text == upper:
        return "upper"
    return "lower" if text == lower else "mixed"


def _first_letter(text: str) -> int:
    return next(at for at, char in enumerate(text) if char > "9")


def _rejected(reading: Reading, error: IdError) -> Reading:
    why = (Reason(error.code or "", error.values), *reading.why)
    return Reading(reading.id, None, reading.made_by, why, reading.score, error)


def _certainty(score: int) -> Certainty:
    return "certain" if score >= CERTAIN_FROM else "likely" if score >= LIKELY_FROM else "possible"


# ---- 32 and 56 digits


def _uniq_or_offset(
    raw: bytes, text: str, label: str | None, vouched: bool
) -> tuple[list[Reading], list[Reading], IdError | None]:
    uniq_layout, offset_layout = _PAIRS[len(text)]
    uniq = UniqId.from_bytes(raw, uniq_layout, text)
    offset = OffsetId.from_bytes(raw, offset_layout, text)
    found: list[Reading] = []
    rejected: list[Reading] = []
    error: IdError | None = None
    extra = _lost_client(text, raw) if uniq_layout is UNIQ_V4 else []

    if offset.port > rules.PORT_LIMIT:
        lead = Reason("port_bytes", _pid_bytes(uniq_layout))
        found, error = _judged_uniq(uniq, label, vouched, lead, 1)
    elif 1 <= offset.port and 0 <= offset.physical_offset <= rules.OFFSET_LIMIT:
        little = _little_endian(raw, text, offset) if uniq_layout is UNIQ_V4 else None
        if little is not None:
            found = [_little_reading(little, offset, label), _offset_reading(offset, label, little)]
        else:
            found = [_offset_reading(offset, label, None)]
            too = _uniq_reading(uniq, label, Reason("pid_zero_too", {"loader": uniq.loader_text}), -3)
            if not rules.elapsed_possible(uniq.elapsed):
                rejected.append(_rejected(too, elapsed_error(uniq)))
            else:
                found.append(Reading(too.id, "possible", too.made_by, too.why, too.score))
    else:
        problem = port_error(offset) if offset.port == 0 else offset_error(offset)
        if uniq.loader == 0:
            error = problem
        else:
            lead = Reason("pid_zero", {"port": offset.port, "offset": offset.physical_offset})
            found, error = _judged_uniq(uniq, label, vouched, lead, 1)
        rejected.append(_rejected(_offset_reading(offset, label, None), problem))
    if error is not None and error.code == "elapsed":
        rejected.insert(0, _rejected(_uniq_reading(uniq, label, None, 0), error))
    if found:
        found += extra
    else:
        rejected += extra
    return found, rejected, error


@lru_cache(maxsize=8)
def _pid_bytes(layout: Layout) -> dict[str, int]:
    start = layout.span("pid").start
    return {"start": start, "stop": start + 1}


def _judged_uniq(
    uniq: UniqId, label: str | None, vouched: bool, lead: Reason, points: int
) -> tuple[list[Reading], IdError | None]:
    """A uniq reading, or the refusal of its elapsed."""
    elapsed = uniq.elapsed
    if not (vouched or rules.elapsed_possible(elapsed) or rules.clock_set_back(elapsed)
            or makers.is_known(uniq.loader)):
        return [], elapsed_error(uniq)
    return [_uniq_reading(uniq, label, lead, points)], None


def _uniq_reading(uniq: UniqId, label: str | None, lead: Reason | None, points: int) -> Reading:
    text = uniq.text
    why: list[Reason] = [] if lead is None else [lead]
    score = points
    maker = makers.uniq_maker(
        uniq.layout.name, uniq.loader, whole_seconds=uniq.elapsed % 1000 == 0,
        host_loopback=uniq.ip == b"\x7f\0\0\1", elapsed_fits=rules.elapsed_possible(uniq.elapsed) or rules.clock_set_back(uniq.elapsed),
        last_twelve=text[-12:])
    score += _weigh_loader(uniq, why)
    score += _weigh_label(label, _CLIENT_LABELS, why)
    score += _weigh_letters(text, why, go=uniq.loader < 0x10000)
    score += _weigh_elapsed(uniq, label, why)
    score += _weigh_host(uniq, maker, why)
    if _looks_like_uuid(text):
        why.append(Reason("uuid_v4", {"digit": text[16]}))
        if not makers.is_known(uniq.loader):
            score -= 3
            maker = Maker("dotnet_uuid")
    return Reading(uniq, _certainty(score), maker, tuple(why), score)


def _weigh_loader(uniq: UniqId, why: list[Reason]) -> int:
    place = makers.loader_place(uniq.loader)
    if place is not None:
        why.append(_stream_reason(uniq.loader, *place))
        return 4  # a chance hit is 1 in 100,000
    if uniq.loader in makers.KNOWN_CONSTANTS:
        why.append(Reason("loader_known", {"loader": uniq.loader_text}))
        return 4
    if uniq.loader == 0 and uniq.elapsed % 1000 == 0:
        why.append(plain("loader_zero"))
        return 3
    why.append(Reason("loader_unknown", {"loader": uniq.loader_text}))
    return -1 if uniq.loader <= makers.MASK_64_BIT_JVM else -2  # neither HotSpot nor rand() sets the top bit


@lru_cache(maxsize=4_096)
def _stream_reason(loader: int, position: int, bits: int) -> Reason:
    values = {"loader": f"{loader:08X}", "position": position}
    return Reason("loader_stream" if bits == 31 else "loader_stream_25", values)


@lru_cache(maxsize=512)
def _label_reason(code: str, label: str) -> Reason:
    return Reason(code, {"label": label})


def _weigh_label(label: str | None, own: frozenset[str], why: list[Reason]) -> int:
    if label is None:
        return 0
    name = label.lower()
    if name in own:
        why.append(_label_reason("label_client" if own is _CLIENT_LABELS else "label_offset", label))
        return 2
    if name in _CLIENT_LABELS or name in _OFFSET_LABELS:
        code = "label_key" if own is _OFFSET_LABELS and name in _KEY_LABELS else "label_against"
        why.append(_label_reason(code, label))
        return -1
    return 0


def _weigh_letters(text: str, why: list[Reason], *, go: bool = False) -> int:
    letters = _letters(text)
    if letters == "none":
        return 1
    if letters == "upper":
        why.append(plain("case_upper"))
        return 1
    if letters == "lower":
        why.append(plain("case_lower"))
        return -2
    if go and text[:-12] == text[:-12].upper() and text[-12:] == text[-12:].lower():
        why.append(plain("case_go"))
        return 2
    why.append(plain("case_mixed"))
    return -1


def _weigh_elapsed(uniq: UniqId, label: str | None, why: list[Reason]) -> int:
    elapsed = uniq.elapsed
    if elapsed <= rules.LONGEST_MONTH_MS:
        why.append(plain("elapsed_fits"))
        if elapsed >= rules.SIGN_BIT:
            why.append(plain("elapsed_signed"))
        return 1
    if rules.elapsed_possible(elapsed):
        why.append(Reason("elapsed_slack", {"over_ms": elapsed - rules.LONGEST_MONTH_MS}))
        return 1
    if rules.clock_set_back(elapsed):
        why.append(Reason("clock_back", {"back_ms": rules.ELAPSED_WRAP - elapsed}))
        return 0
    if makers.is_known(uniq.loader):
        why.append(plain("elapsed_known_maker"))
        return -1
    if rules.vouches(label):
        why.append(plain("elapsed_label"))
    return -2


def _weigh_host(uniq: UniqId, maker: Maker, why: list[Reason]) -> int:
    ip = uniq.ip
    java = maker.code.startswith("java")
    if uniq.pid == 0 and java:
        why.append(plain("pid_shifted"))
    elif uniq.pid == 0xFFFF:
        why.append(plain("pid_unknown"))
    if len(ip) == 16:
        if ip[0] == 0xFE and ip[1] & 0xC0 == 0x80:
            why.append(plain("host_link_local"))
        return 1
    if ip[0] == 127:
        why.append(plain("host_loopback"))
        return 1
    if ip[:2] == b"\xac\x11":
        why.append(plain("host_docker"))
        return 1
    if maker.code.startswith("go") and all(0x30 <= octet <= 0x39 for octet in ip):
        why.append(plain("host_fake"))
        return 1
    if ip[0] == 0 or 224 <= ip[0] < 240 or ip == b"\xff\xff\xff\xff":
        why.append(Reason("host_odd", {"host": uniq.host}))
        return -1
    return 1


def _looks_like_uuid(text: str) -> bool:
    return len(text) == 32 and text[12] == "4" and text[16] in "89ABab"


def _offset_reading(offset: OffsetId, label: str | None, little: UniqId | None) -> Reading:
    why = [Reason("port_fits", {"port": offset.port})]
    score = 2
    if offset.port in _USUAL_PORTS:
        why.append(Reason("port_known", {"port": offset.port}))
        score += 2
    elif offset.port in _NODE_PORTS:
        why.append(Reason("port_node", {"port": offset.port}))
        score += 1
    elif offset.port >= 1024:
        score += 1
    score += _weigh_label(label, _OFFSET_LABELS, why)
    score += _weigh_letters(offset.text, why)
    if offset.physical_offset < rules.LITTLE_ENDIAN_OFFSET:
        score += 1
    elif little is not None:
        why.append(Reason("little_endian_not", {"offset": offset.physical_offset}))
        score -= 2
    if len(offset.ip) == 4 and (offset.ip[0] == 0 or offset.ip[0] >= 224):
        why.append(Reason("host_odd", {"host": offset.host}))
        score -= 1
    else:
        score += 1
    return Reading(offset, _certainty(score), Maker("broker"), tuple(why), score)


def _little_endian(raw: bytes, text: str, offset: OffsetId) -> UniqId | None:
    """The little-endian reading, where the trap is sprung: a huge offset, a last byte 00, a sane address and time."""
    if offset.physical_offset <= rules.LITTLE_ENDIAN_OFFSET or raw[-1] != 0:
        return None
    little = UniqId.from_bytes(raw, UNIQ_V4_LE, text)
    if not 1 <= little.ip[0] <= 223 or little.elapsed >= rules.LITTLE_ENDIAN_ELAPSED_MS:
        return None
    if rules.private_or_loopback(offset.ip) and not rules.private_or_loopback(little.ip):
        return None
    return little


def _little_reading(little: UniqId, offset: OffsetId, label: str | None) -> Reading:
    why = [Reason("little_endian", {"host": little.host, "offset": offset.physical_offset})]
    score = 3
    if rules.private_or_loopback(little.ip):
        score += 1
    score += _weigh_label(label, _CLIENT_LABELS, why)
    score += _weigh_letters(little.text, why)
    return Reading(little, _certainty(score), makers.uniq_maker(UNIQ_V4_LE.name, little.loader, whole_seconds=False),
                   tuple(why), score)


# ---- 34 digits


def _client(
    raw: bytes, text: str, label: str | None
) -> tuple[list[Reading], list[Reading], IdError | None]:
    client = ClientId.from_bytes(raw, CLIENT_V1, text)
    maker = makers.client_maker(client.seconds, text[-16:])
    why = [plain("version_01")] if client.version == 1 else []
    score = 2
    if maker.code == "grpc_rust":
        why.append(plain("seconds_rust"))
        score += 2
    elif maker.code == "grpc_cpp_old":
        why.append(plain("seconds_le"))
        score += 2
    elif makers.FIRST_SECONDS <= client.seconds <= makers.LAST_SECONDS:
        why.append(plain("seconds_fit"))
        score += 3
    else:
        why.append(plain("seconds_odd"))
    score += _weigh_label(label, _CLIENT_LABELS, why)
    score += 1 if maker.code == "grpc_rust" else _weigh_letters(text, why)
    reading = Reading(client, _certainty(score), maker, tuple(why), score)
    if client.version != 1:
        error = version_error(client)
        return [], [_rejected(reading, error)], error
    return [reading], [], None


def _lost_client(text: str, raw: bytes) -> list[Reading]:
    """A client id that lost its leading 01, proposed when seconds are plausible and the sequence is small."""
    client = ClientId.from_bytes(b"\x01" + raw, CLIENT_V1, "01" + text)
    if not (makers.FIRST_SECONDS <= client.seconds <= makers.LAST_SECONDS and client.sequence < 1 << 20):
        return []
    return [Reading(client, "possible", makers.client_maker(client.seconds), (plain("lost_version"),), 1)]

"""A text as an id: every interpretation that holds, best first, with its reasons. Uses no line, clock or zone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from idcore.base.errors import CoreError
from idcore.base.layout import (
    CLIENT_START,
    CLIENT_V1,
    ID_DIGITS,
    LAYOUTS,
    OFFSET_V4,
    OFFSET_V6,
    UNIQ_V4,
    UNIQ_V6,
    Layout,
)
from idcore.ids import little_endian, makers, masks, rules
from idcore.ids.model import (
    ClientId,
    MessageId,
    OffsetId,
    UniqId,
    elapsed_error,
    from_bytes,
    offset_error,
    port_error,
    refuse,
    unhex,
    version_error,
)
from idcore.ids.reasons import Reason, bare_reason, shared_reason
from idcore.ids.scoring import (
    Certainty,
    Reading,
    letters_of,
    weigh_client,
    weigh_little_endian,
    weigh_offset,
    weigh_uniq,
)
from idcore.ids.tokens import Token

Case = Literal["strict", "lookalikes", "any"]  # each takes more: all that only looks like IDs, and lower case

# Why a string only looks like an ID, as tables say it, and the code of the error: its name, or the whole input.
ALIKE = {"label": "other_name", "spread": "look_alike_spread", "uuid": "look_alike_uuid", "single": "look_alike"}
LOOK_ALIKES = ("lower_case", *ALIKE.values())  # reasons that case "any" does not know
_PAIRS: dict[int, tuple[Layout, Layout]] = {
    UNIQ_V4.digits: (UNIQ_V4, OFFSET_V4),
    UNIQ_V6.digits: (UNIQ_V6, OFFSET_V6),
}


def case_of(case: str, lookalikes: str | None) -> Case:
    """What two options ask for: letters of any case are more than look-alikes as IDs.

    >>> case_of("strict", "ids"), case_of("any", None)
    ('lookalikes', 'any')
    """
    return "any" if case == "any" else "lookalikes" if lookalikes == "ids" or case == "lookalikes" else "strict"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a text is: the interpretations that hold, best first; those that do not; or the error that rejects it."""

    text: str
    label: str | None
    readings: tuple[Reading, ...]
    rejected: tuple[Reading, ...] = ()
    error: CoreError | None = None
    reason: str | None = None
    vouched: bool = False  # a name in front says that it is a msgId
    shown: bool = True  # its place shows that it may be an ID

    @property
    def best(self) -> Reading | None:
        """The first interpretation, or None for a rejected text."""
        return self.readings[0] if self.readings else None

    @property
    def in_lower_case(self) -> bool:
        """Whether it is an id whose letters are all lower case."""
        return self.best is not None and letters_of(self.text) == "lower"

    @property
    def others(self) -> tuple[Reading, ...]:
        """Every interpretation but the best, those that cannot hold last."""
        return self.readings[1:] + self.rejected


def identify(
    text: str,
    label: str | None = None,
    case: Case = "strict",
    *,
    vouched: bool | None = None,
    disowned: str = "",
    shown: bool = True,
) -> Verdict:
    """Every interpretation of one token.

    `label` is the name in front of it. `vouched`: whether that name is so close that it vouches for an impossible
    elapsed, as find() saw it. Without `vouched` the label itself decides. `disowned`: what else a name so close says
    that it is: then only a known client's loader makes it a msgId. `shown`: its place shows that it may be an ID.
    """
    if vouched is None:
        vouched = rules.vouches(label)
    vouched = vouched or (disowned != "" and case != "strict")  # a person says that they are IDs
    try:
        raw = unhex(text)
        if len(text) not in rules.CANDIDATE_DIGITS:
            raise refuse("length", None, min(len(raw), 16), text, digits=len(text))
    except CoreError as problem:  # as of each sign of a mask
        has_sign = len(text) < ID_DIGITS[-1] and any(sign in text for sign in masks.SIGNS)
        if has_sign and masks.MASKED.fullmatch(text) is not None and masks.rest_of(text, label) is not None:
            return _of_rest(Token(text, 1, 1, label, whole="cut"))
        return Verdict(text, label, (), (), problem, problem.code)
    letters = letters_of(text)
    judge = _uniq_or_offset if len(text) in _PAIRS else _of_own_length
    readings, rejected, error = judge(raw, text, label, vouched)
    traced = letters == "lower" and _is_trace_id(text, disowned)
    if traced or (letters == "lower" and case != "any"):
        first_letter = next(at for at, char in enumerate(text) if char > "9")
        error = refuse("trace_id" if traced else "lower_case", None, first_letter // 2, text)
        rejected = [_rejected(item, error) for item in readings] + rejected
        readings = []
    first = readings[0] if readings else rejected[0] if error is not None and error.code == "elapsed" else None
    if first is not None and disowned and case == "strict" and may_be_another(first.id):
        error = refuse("other_name", None, None, text)
        rejected = [_rejected(item, error) for item in readings] + rejected
        readings = []
    if readings:
        first = readings[0]
        # The order of the first interpretation is the rule's, not the score's; the rest goes by score.
        others = sorted(readings[1:], key=lambda item: -item.score)
        if any(item.certainty == "certain" for item in others):
            first, *others = map(_not_certain, (first, *others))
        readings = [first, *others]
        return Verdict(text, label, tuple(readings), tuple(rejected), vouched=vouched, shown=shown)
    assert error is not None
    named = label or (disowned if error.code in ("other_name", "trace_id") else None)
    return Verdict(text, named, (), tuple(rejected), error, error.code)


def _is_trace_id(text: str, disowned: str) -> bool:
    """Whether lower-case digits are a trace ID, by what is around them; a name may be wrong of a usual client's ID."""
    if len(text) != UNIQ_V4.digits:
        return False
    named = disowned in rules.TRACES and not makers.is_usual(int(text[UNIQ_V4.digits_of("loader")], 16))
    return named or disowned == rules.TRACEPARENT


def judge(token: Token, case: Case = "strict") -> Verdict:
    """Every interpretation of a token that find() saw in a text."""
    if token.whole == "cut":
        return _of_rest(token)
    verdict = identify(token.text, token.label, case, vouched=token.vouched, disowned=token.disowned, shown=token.shown)
    best = verdict.best
    if token.whole == "whole":
        return verdict
    known = best is not None and isinstance(best.id, UniqId) and makers.is_known(best.id.loader)
    if best is not None and (known or (token.whole != "longer" and best.certainty != "possible")):
        first = replace(best, certainty="likely", why=(*best.why, bare_reason(f"id_{token.whole}")))
        return replace(verdict, readings=(first, *verdict.readings[1:]))
    if token.whole == "longer":
        return verdict
    error = refuse("broken", None, None, token.text, line=token.line)
    rejected = (*(_rejected(item, error) for item in verdict.readings), *verdict.rejected)
    return replace(verdict, readings=(), rejected=rejected, error=error, reason=error.code)


def _of_rest(token: Token) -> Verdict:
    """What is left of an ID that is masked or cut: the fields of its kind that are there."""
    kind, digits = masks.rest_of(token.text, token.label) or ("uniq", token.text.ljust(masks.SIZE, masks.HIDDEN))
    values = masks.values_of(kind, digits)
    if kind != "uniq":
        code = f"masked_{kind}"
    else:
        code = "masked_parts" if values["time"] == masks.HIDDEN else "masked_parts_timed"
        if masks.is_process_seen(digits) and values["counter"] == masks.HIDDEN:
            code = "masked" if values["time"] == masks.HIDDEN else "masked_timed"
    hidden = digits.count(masks.HIDDEN)
    error = refuse(code, None, None, token.text, digits=len(digits) - hidden, hidden=hidden, **values)
    return Verdict(token.text, token.label, (), (), error, code)


def as_rest_of(verdict: Verdict, whole: str) -> Verdict:
    """The verdict of what is left of an ID that the same input has as a whole."""
    assert verdict.error is not None
    values = {name: verdict.error.values[name] for name in ("digits", "hidden")}
    error = refuse("masked_known", None, None, verdict.text, whole=whole, **values)
    return replace(verdict, error=error, reason=error.code)


def as_look_alike(verdict: Verdict, reason: str) -> Verdict:
    """The verdict of a string that only looks like a msgId, as all of its input shows: one of `ALIKE`."""
    error = refuse(ALIKE[reason], None, None, verdict.text)
    rejected = (*(_rejected(item, error) for item in verdict.readings), *verdict.rejected)
    return replace(verdict, readings=(), rejected=rejected, error=error, reason=error.code)


def may_be_another(message_id: MessageId) -> bool:
    """Whether chance alone makes such an ID of hex digits: a big-endian msgId whose loader is of no usual launch."""
    return isinstance(message_id, UniqId) and not message_id.layout.early and not makers.is_usual(message_id.loader)


AROUND = " \t\r\n\0\ufeff,;\"'"  # what is copied with an ID


def identify_alone(text: str, case: Case = "strict", label: str | None = None) -> Verdict:
    """One text that a person gives alone: what a copy takes along is no part of it, and letters that are all lower case
    do not reject it if it is an ID otherwise. `label`: the name that a link brings along."""
    text = text.strip(AROUND)
    verdict = identify(text, label, case)
    if verdict.reason != "lower_case":
        return verdict
    found = identify(text, label, "any")
    return found if found.best is not None else verdict


def _not_certain(reading: Reading) -> Reading:
    """At most likely: where another layout has as much for it, neither is certain."""
    return replace(reading, certainty="likely") if reading.certainty == "certain" else reading


def _rejected(reading: Reading, error: CoreError) -> Reading:
    why = (Reason(error.code or "", error.values), *reading.why)
    return Reading(reading.id, None, reading.made_by, why, reading.score, error)


# ---- 32 and 56 digits


def _uniq_or_offset(
    raw: bytes, text: str, label: str | None, vouched: bool
) -> tuple[list[Reading], list[Reading], CoreError | None]:
    uniq_layout, offset_layout = _PAIRS[len(text)]
    uniq = UniqId.from_bytes(raw, uniq_layout, text)
    offset = OffsetId.from_bytes(raw, offset_layout, text)
    readings: list[Reading] = []
    rejected: list[Reading] = []
    error: CoreError | None = None
    extra = _lost_client(text, raw) if uniq_layout is UNIQ_V4 else []
    little = little_endian.shaped(raw, text) if uniq_layout is UNIQ_V4 else None

    if offset.port > rules.PORT_LIMIT:
        lead = shared_reason("port_bytes", **_pid_bytes(uniq_layout))
        readings, error = _judged_uniq(uniq, label, vouched, lead)
        if little is not None and not makers.is_known(uniq.loader):
            other = [replace(item, certainty="possible", score=min(item.score, 1)) for item in readings]
            readings, error = [weigh_little_endian(little, None, label), *other], None
    elif offset.port >= 1 and 0 <= offset.physical_offset <= rules.OFFSET_LIMIT:
        if little is not None and little_endian.beats_offset(little, offset):
            readings = [weigh_little_endian(little, offset, label), weigh_offset(offset, label, little)]
        else:
            maybe = little if little is not None and little_endian.rivals_offset(little, offset) else None
            readings = [weigh_offset(offset, label, None, maybe)]
            if maybe is not None:
                readings.append(replace(weigh_little_endian(maybe, offset, label), certainty="possible", score=1))
        too = weigh_uniq(uniq, label, shared_reason("pid_zero_too", loader=uniq.loader_text), -3)
        if not rules.elapsed_possible(uniq.elapsed):
            rejected.append(_rejected(too, elapsed_error(uniq)))
        else:
            readings.append(replace(too, certainty="possible"))
    else:
        problem = port_error(offset) if offset.port == 0 else offset_error(offset)
        if uniq.loader == 0:
            error = problem
        else:
            lead = Reason("pid_zero", {"port": offset.port, "offset": offset.physical_offset})
            readings, error = _judged_uniq(uniq, label, vouched, lead)
        rejected.append(_rejected(weigh_offset(offset, label, None), problem))
    if error is not None and error.code == "elapsed":
        rejected.insert(0, _rejected(weigh_uniq(uniq, label, None, 0), error))
    if readings:
        readings += extra
    else:
        rejected += extra
    return readings, rejected, error


@lru_cache(maxsize=8)
def _pid_bytes(layout: Layout) -> dict[str, int]:
    start = layout.span("pid").start
    return {"start": start, "stop": start + 1}


def _judged_uniq(
    uniq: UniqId, label: str | None, vouched: bool, lead: Reason
) -> tuple[list[Reading], CoreError | None]:
    """An interpretation as a msgId, or the error of its elapsed."""
    if not _elapsed_holds(uniq, vouched):
        return [], elapsed_error(uniq)
    return [weigh_uniq(uniq, label, lead, 1)], None


def _elapsed_holds(uniq: UniqId, vouched: bool) -> bool:
    elapsed = uniq.elapsed
    return vouched or rules.elapsed_possible(elapsed) or rules.clock_set_back(elapsed) or makers.is_known(uniq.loader)


# ---- 34 digits, and every other length


def _of_own_length(
    raw: bytes, text: str, label: str | None, vouched: bool
) -> tuple[list[Reading], list[Reading], CoreError | None]:
    """A length that no msgId shares with an offsetMsgId: the first layout of that length that holds."""
    layouts = [layout for layout in LAYOUTS.values() if layout.size == len(raw)]
    layout = next((layout for layout in layouts if layout.holds(raw)), None)
    error = version_error(raw, layouts[0], text) if layout is None else None
    message_id = from_bytes(raw, layout or layouts[0], text)
    if isinstance(message_id, ClientId):
        reading = weigh_client(message_id, label)
    else:
        assert isinstance(message_id, UniqId), "an offsetMsgId of another length has no rule yet"
        reading = weigh_uniq(message_id, label, None, 1)
        error = error or (None if _elapsed_holds(message_id, vouched) else elapsed_error(message_id))
    return ([reading], [], None) if error is None else ([], [_rejected(reading, error)], error)


def _lost_client(text: str, raw: bytes) -> list[Reading]:
    """A 5.x msgId that lost its leading 01, proposed when seconds are plausible and the sequence is small."""
    whole = bytes.fromhex(CLIENT_START) + raw
    *_, seconds, sequence = CLIENT_V1.struct.unpack(whole)
    if not (makers.FIRST_SECONDS <= seconds <= makers.LAST_SECONDS and sequence < 1 << 20):
        return []
    client = ClientId.from_bytes(whole, CLIENT_V1, CLIENT_START + text)
    return [Reading(client, "possible", makers.client_maker(seconds), (bare_reason("lost_version"),), 1)]


__all__ = ["Case", "Certainty", "Reading", "Verdict", "identify", "identify_alone", "judge"]

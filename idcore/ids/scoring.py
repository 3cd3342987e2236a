"""What supports one interpretation of an id: reasons, a score, how certain it is. Chooses none and dates nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from idcore.base.errors import CoreError
from idcore.base.layout import UNIQ_V4_LE
from idcore.ids import generations, makers, rules
from idcore.ids.little_endian import process_ids
from idcore.ids.model import ClientId, Kind, MessageId, OffsetId, UniqId
from idcore.ids.reasons import Maker, Reason, bare_reason, shared_reason, shared_reasons

Certainty = Literal["certain", "likely", "possible"]

# An interpretation's score is the sum of what supports it (the weights are next to each reason below); one that
# reaches CERTAIN_FROM needs no second look, one below LIKELY_FROM is no more than a way to read the digits.
CERTAIN_FROM, LIKELY_FROM = 6, 4
_MADE_UP = 0.8  # of the steps from byte to byte that are the same

# Names that clients print before their own ids, and before the broker's. A plain "msgId" occurs before both kinds.
_CLIENT_LABELS = frozenset({"msgid", "msgids", "messageid", "uniq_key", "transactionid", "__transactionid__", "id"})
_OFFSET_LABELS = frozenset({"offsetmsgid", "offsetid", "origin_message_id", "msgid", "msgids", "id"})
_BROKER = Maker("broker")
_KEY_LABELS = frozenset({"uniq_key", "transactionid", "__transactionid__"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a text as an id. `certainty` is None for one that cannot hold; `error` says why."""

    id: MessageId
    certainty: Certainty | None
    made_by: Maker
    why: tuple[Reason, ...]
    score: int = 0
    error: CoreError | None = None

    @property
    def kind(self) -> Kind:
        """uniq, offset or client."""
        return self.id.kind

    @property
    def maker(self) -> str:
        """Who most likely generated it, in a few words."""
        return str(self.made_by)


def letters_of(text: str) -> Literal["upper", "lower", "mixed", "none"]:
    """In which case letters are; "none" of digits alone."""
    upper, lower = text.upper(), text.lower()
    if upper == lower:
        return "none"
    if text == upper:
        return "upper"
    return "lower" if text == lower else "mixed"


def is_made_up(text: str) -> bool:
    """Whether digits repeat from end to end, or count on byte by byte: those of an example, and of no ID in 10^18.

    >>> [is_made_up(text) for text in ("0123456789ABCDEF" * 2, "7F0000010016A09E000000000000000A")]
    [True, False]
    """
    digits = text.upper()
    end = len(digits) - 8  # what repeats has its last digits in front, too: few others do
    comes_again = digits.find(digits[end:]) < end
    if comes_again and any(digits[period:] == digits[:-period] for period in range(1, len(digits) // 2 + 1)):
        return True
    octets = bytes.fromhex(digits)
    some = [(octets[at + 1] - octets[at]) & 255 for at in range(0, len(octets) - 1, 3)]
    if len(set(some)) == len(some):  # of most IDs
        return False
    steps = [(after - before) & 255 for before, after in pairwise(octets)]
    return max(map(steps.count, set(some))) >= _MADE_UP * len(steps)


def _weigh_digits(text: str, score: int, why: list[Reason]) -> int:
    """The score of digits that may be made up: no more than possible where they are."""
    if not is_made_up(text):
        return score
    why.append(bare_reason("made_up"))
    return min(score, LIKELY_FROM - 1)


def _certainty(score: int) -> Certainty:
    return "certain" if score >= CERTAIN_FROM else "likely" if score >= LIKELY_FROM else "possible"


def weigh_uniq(uniq: UniqId, label: str | None, lead: Reason | None, points: int) -> Reading:
    """A msgId with what supports it; `lead` is what the rule found first, worth some points."""
    text = uniq.text
    why: list[Reason] = [] if lead is None else [lead]
    score = points
    fits = rules.elapsed_possible(uniq.elapsed) or rules.clock_set_back(uniq.elapsed)
    maker = makers.uniq_maker(
        uniq.layout.name,
        uniq.loader,
        whole_seconds=uniq.elapsed % 1000 == 0,
        host_loopback=uniq.ip == b"\x7f\0\0\1",
        elapsed_fits=fits,
        last_twelve=text[-12:],
    )
    score += _weigh_loader(uniq, why)
    score += _weigh_label(label, _CLIENT_LABELS, why)
    score += _weigh_letters(text, why, go=uniq.loader < 0x10000)
    score += _weigh_elapsed(uniq, label, why)
    score += _weigh_host(uniq, maker, why)
    if len(text) == 32 and text[12] == "4" and text[16] in "89ABab":
        why.append(Reason("uuid_v4", {"digit": text[16]}))
        if not makers.is_known(uniq.loader):
            score -= 3
    score = _weigh_digits(text, score, why)
    return Reading(uniq, _certainty(score), maker, shared_reasons(why), score)


def _weigh_loader(uniq: UniqId, why: list[Reason]) -> int:
    place = makers.loader_place(uniq.loader)
    if place is not None:
        why.append(_stream_reason(uniq.loader, *place))
        return 4  # a chance hit is 1 in 100,000
    if uniq.loader in makers.KNOWN_CONSTANTS:
        why.append(shared_reason("loader_known", loader=uniq.loader_text))
        return 4
    if uniq.loader == 0 and uniq.elapsed % 1000 == 0:
        why.append(bare_reason("loader_zero"))
        return 3
    why.append(shared_reason("loader_unknown", loader=uniq.loader_text))
    return -1 if uniq.loader <= makers.MASK_64_BIT_JVM else -2  # neither HotSpot nor rand() sets the top bit


@lru_cache(maxsize=4_096)
def _stream_reason(loader: int, position: int, bits: int) -> Reason:
    values = {"loader": f"{loader:08X}", "position": position}
    return Reason("loader_stream" if bits == 31 else "loader_stream_25", values)


def _weigh_label(label: str | None, own: frozenset[str], why: list[Reason]) -> int:
    if label is None:
        return 0
    name = label.lower()
    if name in own:
        why.append(shared_reason("label_client" if own is _CLIENT_LABELS else "label_offset", label=label))
        return 2
    if name in _CLIENT_LABELS or name in _OFFSET_LABELS:
        code = "label_key" if own is _OFFSET_LABELS and name in _KEY_LABELS else "label_against"
        why.append(shared_reason(code, label=label))
        return -1
    return 0


def _weigh_letters(text: str, why: list[Reason], *, go: bool = False) -> int:
    letters = letters_of(text)
    if letters == "none":
        return 1
    if letters == "upper":
        why.append(bare_reason("case_upper"))
        return 1
    if letters == "lower":
        why.append(bare_reason("case_lower"))
        return -2
    if go and text[:-12] == text[:-12].upper() and text[-12:] == text[-12:].lower():
        why.append(bare_reason("case_go"))
        return 2
    why.append(bare_reason("case_mixed"))
    return -1


def _weigh_elapsed(uniq: UniqId, label: str | None, why: list[Reason]) -> int:
    elapsed = uniq.elapsed
    if elapsed <= rules.LONGEST_MONTH_MS:
        why.append(bare_reason("elapsed_fits"))
        if elapsed >= rules.SIGN_BIT:
            why.append(bare_reason("elapsed_signed"))
        return 1
    if rules.elapsed_possible(elapsed):
        why.append(Reason("elapsed_slack", {"over_ms": elapsed - rules.LONGEST_MONTH_MS}))
        return 1
    if rules.clock_set_back(elapsed):
        why.append(Reason("clock_back", {"back_ms": rules.ELAPSED_WRAP - elapsed}))
        return 0
    if makers.is_known(uniq.loader):
        why.append(bare_reason("elapsed_known_maker"))
        return -1
    if rules.vouches(label):
        why.append(bare_reason("elapsed_label"))
    return -2


def _weigh_host(uniq: UniqId, maker: Maker, why: list[Reason]) -> int:
    ip = uniq.ip
    java = maker.code.startswith("java")
    if uniq.pid == 0 and java:
        why.append(bare_reason("pid_shifted"))
    elif uniq.pid == 0xFFFF:
        why.append(bare_reason("pid_unknown"))
    if java and uniq.layout is not UNIQ_V4_LE:
        why += _releases(uniq)
    if len(ip) == 16:
        if ip[0] == 0xFE and ip[1] & 0xC0 == 0x80:
            why.append(bare_reason("host_link_local"))
        return 1
    if ip[0] == 127:
        why.append(bare_reason("host_loopback"))
        return 1
    if ip[:2] == b"\xac\x11":
        why.append(bare_reason("host_docker"))
        return 1
    if maker.code.startswith("go") and all(0x30 <= octet <= 0x39 for octet in ip):
        why.append(bare_reason("host_fake"))
        return 1
    if ip[0] == 0 or 224 <= ip[0] < 240 or ip == b"\xff\xff\xff\xff":
        why.append(Reason("host_odd", {"host": uniq.host}))
        return -1
    return 1


def _releases(uniq: UniqId) -> tuple[Reason, ...]:
    releases = generations.java_releases(uniq)
    if not generations.is_narrow(releases):
        return ()
    if releases.newest == generations.LAST:
        return (Reason("releases_since", {"oldest": releases.oldest}),)
    if releases.oldest == generations.FIRST:
        return (Reason("releases_until", {"newest": releases.newest}),)
    return (Reason("releases_range", {"oldest": releases.oldest, "newest": releases.newest}),)


def weigh_offset(
    offset: OffsetId, label: str | None, little: UniqId | None, maybe_little: UniqId | None = None
) -> Reading:
    """An offsetMsgId with what supports it; `little` is the little-endian interpretation that competes with it.

    `maybe_little` is one that cannot win, the offset being small enough, but is as sane.
    """
    why = [shared_reason("port_fits", port=offset.port)]
    score = 2
    if rules.is_usual_port(offset.port):
        why.append(shared_reason("port_known", port=offset.port))
        score += 2
    elif offset.port in rules.NODE_PORTS:
        why.append(shared_reason("port_node", port=offset.port))
        score += 1
    elif offset.port >= 1024:
        score += 1
    score += _weigh_label(label, _OFFSET_LABELS, why)
    score += _weigh_letters(offset.text, why)
    if offset.physical_offset < rules.HUGE_OFFSET:
        score += 1
    if little is not None:
        why.append(Reason("little_endian_not", {"offset": offset.physical_offset}))
        score -= 2
    if maybe_little is not None:
        why.append(Reason("little_endian_maybe", {"host": maybe_little.host}))
        score -= 3
    if len(offset.ip) == 4 and (offset.ip[0] == 0 or offset.ip[0] >= 224):
        why.append(Reason("host_odd", {"host": offset.host}))
        score -= 1
    else:
        score += 1
    return Reading(offset, _certainty(score), _BROKER, shared_reasons(why), score)


def weigh_little_endian(little: UniqId, offset: OffsetId | None, label: str | None) -> Reading:
    """A little-endian msgId with what supports it; `offset` is the competing interpretation as an offsetMsgId."""
    if offset is not None:
        why = [Reason("little_endian", {"host": little.host, "offset": offset.physical_offset})]
        score = 3 if offset.physical_offset > rules.HUGE_OFFSET else 1
    else:
        why = [Reason("little_endian_shape", {"host": little.host})]
        score = 4
    if little.pid:
        least, greatest = process_ids(little)
        why.append(Reason("pid_upper_half", {"least": least, "greatest": greatest}))
    else:
        why.append(bare_reason("pid_below_65536"))
    if rules.private_or_loopback(little.ip):
        score += 1
    elif little.ip[0] == 0:
        why.append(
            bare_reason("host_unresolved") if little.ip == bytes(4) else Reason("host_not_ipv4", {"host": little.host})
        )
    score += _weigh_label(label, _CLIENT_LABELS, why)
    score += _weigh_letters(little.text, why)
    return Reading(
        little,
        _certainty(score),
        makers.uniq_maker(UNIQ_V4_LE.name, little.loader, whole_seconds=False),
        shared_reasons(why),
        score,
    )


def weigh_client(client: ClientId, label: str | None) -> Reading:
    """A 5.x msgId with what supports it."""
    text = client.text
    maker = makers.client_maker(client.seconds, text[-16:], client.sequence)
    why = [bare_reason("version_01")] if client.version == 1 else []
    score = 2
    open_ = makers.seconds_open(client.seconds, text[-16:], client.sequence)
    if maker.code == "grpc_rust":
        why.append(bare_reason("seconds_rust"))
        score += 2
    elif maker.code == "grpc_cpp_old":
        why += [bare_reason("seconds_le"), bare_reason("sequence_per_second")]
        score += 2
    elif makers.is_plausible(client.seconds):
        why.append(bare_reason("seconds_fit"))
        score += 3
    else:
        why.append(bare_reason("seconds_odd"))
    if open_:
        why.append(bare_reason("seconds_rust_open" if maker.code == "grpc_rust" else "seconds_open"))
        score -= 3
    if client.mac == bytes(6):
        why.append(bare_reason("mac_zero"))
    elif client.mac[0] & 1:
        why.append(bare_reason("mac_made_up"))
    if maker.code == "grpc":
        names = makers.client_languages(client.mac, client.pid, client.sequence)
        if "C#" in names and not client.mac[0] & 1:
            why.append(bare_reason("mac_maybe_made_up"))
        why.append(Reason("language_open", {"names": ", ".join(names)}))
    score += _weigh_label(label, _CLIENT_LABELS, why)
    score += 1 if maker.code == "grpc_rust" else _weigh_letters(text, why)
    score = _weigh_digits(text, score, why)
    return Reading(client, _certainty(score), maker, shared_reasons(why), score)

"""What the ids of one input show about one another, where one alone is open. Judges no id by itself.

First every verdict is seen, then those that are open are settled. What is seen are sets, so the order of the ids does
not count. Only ids that are likely by themselves are witnesses, and no id is its own witness. The scan settles
little-endian ids and the seconds of 5.x clients by the same rules, when it merges what its tasks found.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from idcore.base.layout import OFFSET_V4, UNIQ_V4_LE
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids import little_endian, makers, masks, rules
from idcore.ids.identify import Case, Certainty, Reading, Verdict, as_look_alike, as_rest_of
from idcore.ids.look_alikes import Suspects
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.reasons import Maker, Reason
from idcore.ids.scoring import weigh_little_endian, weigh_offset

# How the seconds of a 5.x client are read.
WAYS = ("grpc", "grpc_cpp_old", "grpc_rust")  # by what kernels.clients.way_of gives
_BY_LETTERS = ("go", "elixir")  # clients that the letters of their ids tell apart: of a process most ids have some
_GO_FAMILY = (*_BY_LETTERS, "go_family")
_GROUP_DIGITS = 20  # a broker and two zeros, or a little-endian process
_MOST_WHOLE = 10_000  # IDs of a text in which masked ones are looked for
_ENOUGH = 2  # witnesses of one kind: one of them is not the id that asks


@dataclass(slots=True)
class _Group:
    """Ids of 32 digits that begin alike: all of one broker, or all of one little-endian process."""

    ids: int = 0
    shaped: int = 0  # that can well be little-endian: a small offset is one of theirs once in 65,536
    little: int = 0  # that are it by themselves
    least: int = 1 << 62
    greatest: int = 0

    def is_little(self, port: int) -> bool:
        """Of a broker one offset in 256 ends in 00, and its offsets are not terabytes apart."""
        if 2 * self.shaped <= self.ids:
            return False
        apart = self.shaped >= 3 and self.greatest - self.least >= rules.LARGE_OFFSET
        return self.little > 0 or (apart and not rules.is_usual_port(port))


def _with_begin(texts: list[str], begin: str) -> list[str]:
    """Of sorted texts of hex digits those that begin so."""
    return texts[bisect_left(texts, begin) : bisect_left(texts, f"{begin}G")]


class Neighbours:
    """Brokers, processes and 5.x clients of one input, by the ids that are likely by themselves."""

    def __init__(self, case: Case = "strict") -> None:
        self._case = case
        self._witnesses: dict[Hashable, set[str]] = {}
        self._groups: dict[str, _Group] = {}
        self._suspects = Suspects()
        self._by_letters: dict[Hashable, set[str]] = {}
        self._whole: set[str] = set()  # of a text that is short
        self._by_begin: list[str] = []  # the same, sorted
        self._by_end: list[str] = []  # and their digits turned round

    def see(self, verdict: Verdict) -> None:
        """Takes an id as a witness, if it is likely."""
        best = verdict.best
        self._see_group(verdict)
        message_id = best and best.id
        if best is not None and len(self._whole) <= _MOST_WHOLE:
            self._whole.add(verdict.text.upper())
        if self._case == "strict" and isinstance(message_id, UniqId) and not makers.is_usual(message_id.loader):
            self._suspects.see(message_id, verdict.vouched, makers.is_known(message_id.loader), verdict.shown)
        if best is not None and best.made_by.code in _BY_LETTERS:
            self._by_letters.setdefault(_key(best, ""), set()).add(best.made_by.code)
        if best is None or best.certainty == "possible" or _either_way(best):
            return
        texts = self._witnesses.setdefault(_key(best, best.made_by.code), set())
        if len(texts) < _ENOUGH:
            texts.add(verdict.text.upper())

    def _whole_of(self, verdict: Verdict) -> str | None:
        """The ID of the input of which a masked or cut one is; None where several may be it."""
        if not (verdict.reason or "").startswith("masked") or len(self._whole) > _MOST_WHOLE:
            return None
        rest = masks.rest_of(verdict.text, verdict.label)
        if rest is None:
            return None
        if len(self._by_begin) != len(self._whole):
            self._by_begin, self._by_end = sorted(self._whole), sorted(one[::-1] for one in self._whole)
        digits, pattern = rest[1], lazy_pattern(rest[1].replace(masks.HIDDEN, "."))
        begins = _with_begin(self._by_begin, digits.partition(masks.HIDDEN)[0])
        ends = _with_begin(self._by_end, digits[::-1].partition(masks.HIDDEN)[0])
        fitting = begins if len(begins) <= len(ends) else [one[::-1] for one in ends]
        found = [one for one in fitting if pattern.fullmatch(one)]
        return found[0] if len(found) == 1 else None

    def _look_alike(self, verdict: Verdict) -> str:
        """Why an ID only looks like one, by all of them; nothing where it does not."""
        best = verdict.best
        return self._suspects.look_alike(best.id) if best is not None and isinstance(best.id, UniqId) else ""

    def _see_group(self, verdict: Verdict) -> None:
        pair = _offset_or_little(verdict)
        if pair is None:
            return
        offset, little = pair
        group = self._groups.setdefault(verdict.text[:_GROUP_DIGITS].upper(), _Group())
        group.ids += 1
        if little is not None and offset.physical_offset >= rules.USUAL_OFFSET:
            group.shaped += 1
            group.little += little_endian.beats_offset(little, offset)
            group.least = min(group.least, offset.physical_offset)
            group.greatest = max(group.greatest, offset.physical_offset)

    def _settle_group(self, verdict: Verdict) -> Verdict | None:
        """A little-endian id or an offsetMsgId, as all ids that begin like it are; None where the id is neither."""
        offset, little = _offset_or_little(verdict) or (None, None)
        if offset is None or little is None:
            return None
        group = self._groups.get(verdict.text[:_GROUP_DIGITS].upper())
        if group is None:
            return None
        is_little = group.is_little(offset.port)
        best = verdict.readings[0]
        if (best.id.layout is UNIQ_V4_LE) == is_little and not _open(verdict):
            return None
        if group.least == group.greatest if is_little else group.shaped == group.ids:
            return None  # no other id is a witness
        rest = tuple(item for item in verdict.readings if item.id.layout not in (UNIQ_V4_LE, OFFSET_V4))
        one = weigh_little_endian(little, offset, verdict.label)
        other = weigh_offset(offset, verdict.label, little)
        first, second = (one, other) if is_little else (other, one)
        why = Reason("neighbour_process", {"host": little.host})
        if not is_little:
            why = Reason("neighbour_broker", {"address": offset.address})
        sure: Certainty = "certain" if first.id == best.id and best.certainty != "possible" else "likely"
        first = replace(first, certainty=sure, why=(*first.why, why))
        return replace(verdict, readings=(first, replace(second, certainty="possible"), *rest))

    def settle(self, verdict: Verdict) -> Verdict:
        """The verdict as the other ids settle it; as it was where they do not, or where it was clear."""
        best = verdict.best
        if (whole := self._whole_of(verdict)) is not None:
            return as_rest_of(verdict, whole)
        if reason := self._look_alike(verdict):
            return as_look_alike(verdict, reason)
        if best is not None and best.made_by.code in _GO_FAMILY:
            seen = self._by_letters.get(_key(best, ""), set())
            code = next((code for code in _BY_LETTERS if code in seen), "go_family")
            return replace(verdict, readings=(replace(best, made_by=Maker(code)), *verdict.readings[1:]))
        grouped = self._settle_group(verdict)
        if grouped is not None:
            return grouped
        if best is None or not _open(verdict):
            return verdict
        heard = [(reading, *self._speaks(reading, verdict.text.upper())) for reading in verdict.readings]
        spoken = [(reading, why, maker) for reading, why, maker in heard if why is not None]
        if len(spoken) != 1:  # no witness, or witnesses for two interpretations
            return verdict
        reading, why, maker = spoken[0]
        certainty: Certainty = "certain" if reading is best and best.certainty == "likely" else "likely"
        first = replace(reading, certainty=certainty, why=(*reading.why, why), made_by=maker)
        return replace(verdict, readings=(first, *(other for other in verdict.readings if other is not reading)))

    def _speaks(self, reading: Reading, text: str) -> tuple[Reason | None, Maker]:
        """Why other ids support an interpretation, and who generated the id then."""
        message_id = reading.id
        if isinstance(message_id, ClientId):
            ways = [way for way in WAYS if self._seen(_key(reading, way), text)]
            if len(ways) != 1:
                return None, reading.made_by
            return Reason("neighbour_client", {"mac": message_id.mac_text, "pid": message_id.pid}), Maker(ways[0])
        if not self._seen(_key(reading, ""), text):
            return None, reading.made_by
        if isinstance(message_id, OffsetId):
            return Reason("neighbour_broker", {"address": message_id.address}), reading.made_by
        return Reason("neighbour_process", {"host": message_id.host}), reading.made_by

    def _seen(self, key: Hashable, text: str) -> bool:
        return bool(self._witnesses.get(key, set()) - {text})


def settled(verdicts: Iterable[Verdict], case: Case = "strict") -> list[Verdict]:
    """All verdicts of one input, each settled by the others where it was open."""
    held = list(verdicts)
    known = Neighbours(case)
    for verdict in held:
        known.see(verdict)
    return [known.settle(verdict) for verdict in held]


def _key(reading: Reading, way: str) -> Hashable:
    """What ids of one origin share: a broker's address, a process, a 5.x client and the way of its seconds."""
    message_id = reading.id
    if isinstance(message_id, OffsetId):
        return message_id.address
    if isinstance(message_id, UniqId):
        return message_id.layout.name, message_id.host, message_id.pid, message_id.loader
    return message_id.mac, message_id.pid, way


def _either_way(reading: Reading) -> bool:
    """Whether the seconds of a 5.x client can be read both ways round."""
    is_client = isinstance(reading.id, ClientId)
    return is_client and any(reason.code in ("seconds_open", "seconds_rust_open") for reason in reading.why)


def _offset_or_little(verdict: Verdict) -> tuple[OffsetId, UniqId | None] | None:
    """An id's interpretations as an offsetMsgId and as a little-endian msgId, where one of them is its best."""
    best = verdict.best
    if best is None or not (best.id.layout is UNIQ_V4_LE or best.id.layout is OFFSET_V4):
        return None
    if isinstance(best.id, OffsetId) and not verdict.text.endswith("00"):
        return best.id, None
    raw = bytes.fromhex(verdict.text)
    offset = OffsetId.from_bytes(raw, OFFSET_V4, verdict.text)
    if not 1 <= offset.port <= rules.PORT_LIMIT:
        return None
    return offset, little_endian.shaped(raw, verdict.text)


def _open(verdict: Verdict) -> bool:
    """Whether an id alone leaves open what it is, or, of a 5.x client, when it was generated."""
    best = verdict.readings[0]
    doubt = best.certainty == "possible" or (best.certainty == "likely" and len(verdict.readings) > 1)
    return doubt or _either_way(best)

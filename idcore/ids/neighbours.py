"""What the ids of one input tell about one another, where one alone is open. Judges no id by itself.

First every verdict is seen, then those that are open are settled. What is seen are sets, so the order of the ids does
not count; only ids that are likely by themselves are witnesses, and none for itself. The scan, which reads an input
once, goes by what one id alone tells.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from idcore.ids.identify import Certainty, Reading, Verdict
from idcore.ids.model import ClientId, OffsetId, UniqId
from idcore.ids.words import Maker, Reason

# Which way round the seconds of a 5.x client are.
_WAYS = ("grpc", "grpc_cpp_old")
_ENOUGH = 2  # witnesses of one kind: one of them is not the id that asks


class Neighbours:
    """Brokers, processes and 5.x clients of one input, by the ids that are likely by themselves."""

    def __init__(self) -> None:
        self._witnesses: dict[Hashable, set[str]] = {}

    def see(self, verdict: Verdict) -> None:
        """Takes an id as a witness, if it is likely."""
        best = verdict.best
        if best is None or best.certainty == "possible" or _either_way(best):
            return
        texts = self._witnesses.setdefault(_key(best, best.made_by.code), set())
        if len(texts) < _ENOUGH:
            texts.add(verdict.text.upper())

    def settle(self, verdict: Verdict) -> Verdict:
        """The verdict as the other ids settle it; as it was where they do not, or where it was clear."""
        best = verdict.best
        if best is None or not _open(verdict):
            return verdict
        heard = [(reading, *self._speaks(reading, verdict.text.upper())) for reading in verdict.readings]
        spoken = [(reading, why, maker) for reading, why, maker in heard if why is not None]
        if len(spoken) != 1:  # nobody, or for two readings at once
            return verdict
        reading, why, maker = spoken[0]
        certainty: Certainty = "certain" if reading is best and best.certainty == "likely" else "likely"
        first = replace(reading, certainty=certainty, why=(*reading.why, why), made_by=maker)
        return replace(verdict, readings=(first, *(other for other in verdict.readings if other is not reading)))

    def _speaks(self, reading: Reading, text: str) -> tuple[Reason | None, Maker]:
        """Why other ids speak for a reading, and who made it then."""
        found = reading.id
        if isinstance(found, ClientId):
            ways = [way for way in _WAYS if self._seen(_key(reading, way), text)]
            if len(ways) != 1:
                return None, reading.made_by
            return Reason("neighbour_client", {"mac": found.mac_text, "pid": found.pid}), Maker(ways[0])
        if not self._seen(_key(reading, ""), text):
            return None, reading.made_by
        if isinstance(found, OffsetId):
            return Reason("neighbour_broker", {"address": found.address}), reading.made_by
        return Reason("neighbour_process", {"host": found.host}), reading.made_by

    def _seen(self, key: Hashable, text: str) -> bool:
        return bool(self._witnesses.get(key, set()) - {text})


def settled(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """All verdicts of one input, each settled by the others where it was open."""
    held = list(verdicts)
    known = Neighbours()
    for verdict in held:
        known.see(verdict)
    return [known.settle(verdict) for verdict in held]


def _key(reading: Reading, way: str) -> Hashable:
    """What ids of one origin share: a broker's address, a process, a 5.x client and the way of its seconds."""
    found = reading.id
    if isinstance(found, OffsetId):
        return found.address
    if isinstance(found, UniqId):
        return found.layout.name, found.host, found.pid, found.loader
    return found.mac, found.pid, way


def _either_way(reading: Reading) -> bool:
    """Whether the seconds of a 5.x client can be read both ways round."""
    return any(reason.code == "seconds_open" for reason in reading.why)


def _open(verdict: Verdict) -> bool:
    """Whether an id alone leaves open what it is, or, of a 5.x client, when it was made."""
    best = verdict.readings[0]
    doubt = best.certainty == "possible" or (best.certainty == "likely" and len(verdict.readings) > 1)
    return doubt or _either_way(best)

"""Chains and tracks of one process, written as the rule reads: lists and loops; knows no bytes, no files, no clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

Id = tuple[int, int]  # elapsed in ms, 16-bit counter

DISORDER = 64  # a step back this far is threads that took the counter in another order than they read the clock
REACH = 1024  # a step ahead this far is a few missing ids
RECENT = 16  # fragments that may still be continued
GROWN = 3  # ids that make a fragment count
RETURNS = 4  # hops back to another fragment that prove two living processes
RING = 128  # a position is not used twice within so many ids
LOW = 1024  # a restarted process begins below this
WRAP_SLACK = 1024
RATE_SLACK = 4
LATE = 250  # ms a thread may rest between its clock and its counter
FALL = 1000  # ms within which a step back can be threads
TAILS = 64


def step(a: int, b: int) -> int:
    """The shortest way from counter a to counter b, -32,768 to 32,767."""
    return ((b - a + 32768) % 65536) - 32768


@dataclass
class Fragment:
    """Ids that follow each other closely."""

    number: int
    members: list[int]  # places in the order of chains
    first_counter: int
    last_counter: int
    first_elapsed: int
    last_elapsed: int
    positions: list[int] = field(default_factory=lambda: [0])

    def in_range(self, one: Id) -> bool:
        s = step(self.last_counter, one[1])
        return -DISORDER <= s <= REACH and (s >= 0 or one[0] - self.last_elapsed <= FALL)

    def repeated_by(self, one: Id) -> bool:
        return self.positions[-1] + step(self.last_counter, one[1]) in self.positions[-RING:]

    def add(self, place: int, one: Id) -> None:
        self.positions.append(self.positions[-1] + step(self.last_counter, one[1]))
        self.members.append(place)
        self.last_elapsed, self.last_counter = one


@dataclass
class Chain:
    """Ids of one run of one process, in the order (elapsed, counter), with their unrolled positions."""

    ids: list[Id]
    positions: list[int]
    track: int

    @property
    def produced(self) -> int:
        return max(self.positions) - min(self.positions) + 1

    @property
    def missing(self) -> int:
        return self.produced - len(set(self.positions))

    @property
    def wraps(self) -> int:
        first = self.ids[0][1]
        return (first + max(self.positions)) // 65536 - (first + min(self.positions)) // 65536

    @property
    def out_of_order(self) -> int:
        return sum(b < a for a, b in pairwise(self.positions))


def unroll(ids: list[Id], track: int) -> Chain:
    ids = sorted(ids)
    positions = [0]
    for a, b in pairwise(ids):
        positions.append(positions[-1] + step(a[1], b[1]))
    return Chain(ids, positions, track)


def in_order(ids: list[Id]) -> list[Id]:
    """By elapsed; within one elapsed round the ring of counters from where the elapsed before it ended."""
    groups: dict[int, list[int]] = {}
    for e, c in sorted(ids):
        groups.setdefault(e, []).append(c)
    out: list[Id] = []
    for e in sorted(groups):
        start = out[-1][1] - DISORDER if out else 0
        out += [(e, c) for c in sorted(groups[e], key=lambda c: (c - start) % 65536)]
    return out


def chains(distinct: list[Id]) -> list[Chain]:
    """The chains of one process, numbered by their first id."""
    ids = in_order(distinct)
    fragments, opened, repeats, returns = _fragments(ids)
    openings = len(fragments) - 1
    if openings == 0:
        return [unroll(ids, 0)]
    if returns >= RETURNS and returns >= openings:
        return _shared(ids, fragments)
    cuts = [] if 2 * openings > len(ids) else _breaks(ids, opened, repeats)
    bounds = [0, *cuts, len(ids)]
    return [unroll(ids[a:b], 0) for a, b in pairwise(bounds)]


def tracks(found: list[Chain]) -> int:
    return 1 + max(chain.track for chain in found)


def _fragments(ids: list[Id]) -> tuple[list[Fragment], set[int], set[int], int]:
    """Every id to the nearest living fragment; counts the returns that one process cannot explain."""
    fragments: list[Fragment] = []
    recent: list[Fragment] = []  # most recently touched first
    opened: set[int] = set()
    repeats: set[int] = set()
    returns = 0
    for place, one in enumerate(ids):
        fits = [f for f in recent if f.in_range(one) and not f.repeated_by(one)]
        newest = recent[0] if recent else None
        if newest is not None and newest.in_range(one) and newest.repeated_by(one):
            repeats.add(place)
        if not fits:
            fragment = Fragment(len(fragments), [place], one[1], one[1], one[0], one[0])
            fragments.append(fragment)
            opened.add(place)
            recent = [fragment, *recent][:RECENT]
            continue
        fragment = min(fits, key=lambda f: abs(step(f.last_counter, one[1])))  # the first of equals: touched last
        if newest is not None and newest not in fits and min(len(fragment.members), len(newest.members)) >= GROWN:
            away = abs(step(newest.last_counter, one[1]))
            span = fragment.last_elapsed - fragment.first_elapsed
            reach = max(fragment.positions) - min(fragment.positions)
            returns += place in repeats or away * span > LATE * reach
        fragment.add(place, one)
        recent.remove(fragment)
        recent.insert(0, fragment)
    return fragments, opened, repeats, returns


def _breaks(ids: list[Id], opened: set[int], repeats: set[int]) -> list[int]:
    """Restarts of a process that has its fingerprint to itself: falls to a low counter that no wrap explains."""
    cuts: list[int] = []
    start = 0
    positions = [0]
    for i in range(1, len(ids)):
        (e0, c0), (e1, c1) = ids[i - 1], ids[i]
        if i in opened and c1 <= c0 and c1 < LOW:
            span = e0 - ids[start][0]
            rate = Fraction(max(positions) - min(positions), span) if span else Fraction(0)  # ids per ms
            no_wrap = 65536 - c0 + c1 > WRAP_SLACK + RATE_SLACK * rate * (e1 - e0 + LATE)
            no_threads = i in repeats or e1 - e0 > FALL or (span > 0 and c0 - c1 > DISORDER + rate * LATE)
            stays = i + 1 == len(ids) or abs(step(c1, ids[i + 1][1])) <= abs(step(c0, ids[i + 1][1]))
            if no_wrap and no_threads and stays:
                cuts.append(i)
                start, positions = i, [0]
                continue
        positions.append(positions[-1] + step(c0, c1))
    return cuts


@dataclass
class _Tail:
    """The living end of a chain while fragments are linked."""

    chain: int
    last_place: int
    last_counter: int
    first_elapsed: int
    last_elapsed: int
    advance: int


def _shared(ids: list[Id], fragments: list[Fragment]) -> list[Chain]:
    """Two or more processes under one fingerprint: fragments linked to chains, chains laid on tracks."""
    grown = [f for f in fragments if len(f.members) >= GROWN]
    slots: list[_Tail] = []
    chain_of: dict[int, int] = {}  # fragment number -> chain
    members: list[list[int]] = []
    for f in sorted(grown, key=lambda f: f.members[0]):
        best: tuple[int, int] | None = None  # (ahead, slot)
        for slot, tail in enumerate(slots):
            if tail.last_place > f.members[0]:
                continue
            ahead = (f.first_counter - tail.last_counter) % 65536
            span = tail.last_elapsed - tail.first_elapsed
            rate = Fraction(tail.advance, span) if span else Fraction(0)
            if ahead <= REACH + RATE_SLACK * rate * (f.first_elapsed - tail.last_elapsed):
                best = min(best, (ahead, slot)) if best else (ahead, slot)
        if best is not None:
            tail = slots[best[1]]
            tail.advance += best[0] + f.positions[-1]
            tail.last_place, tail.last_counter, tail.last_elapsed = f.members[-1], f.last_counter, f.last_elapsed
        else:
            place = f.members[-1]
            tail = _Tail(len(members), place, f.last_counter, f.first_elapsed, f.last_elapsed, f.positions[-1])
            members.append([])
            if len(slots) < TAILS:
                slots.append(tail)
            else:
                slots[min(range(TAILS), key=lambda s: slots[s].last_place)] = tail
        chain_of[f.number] = tail.chain
        members[tail.chain] += f.members
    number_of = {place: f.number for f in grown for place in f.members}
    touched = grown[0].number  # fragments are numbered as they open
    for place in range(len(ids)):
        if place in number_of:
            touched = number_of[place]
        else:
            members[chain_of[touched]].append(place)
    out: list[Chain] = []
    ends: list[int] = []  # of each track: the last place of its chains
    for places in sorted((sorted(m) for m in members), key=lambda m: m[0]):
        track = next((t for t, end in enumerate(ends) if end < places[0]), len(ends))
        ends[track : track + 1] = [places[-1]]
        out.append(unroll([ids[p] for p in places], track))
    return out

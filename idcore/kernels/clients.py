"""Ids of 5.x gRPC clients: how their seconds are meant, by values and letters. `idcore.ids.makers` in machine words."""

from __future__ import annotations

import numpy as np

from idcore.ids import makers
from idcore.ids.clock import CLIENT_EPOCH_S
from idcore.kernels import inlined, inner, kernel

from .dates import (
    BORN,
    KIND_BITS,
    MINUTE,
    MONTH,
    NO_MINUTE,
    NO_ZONE,
    PREFIX,
    PREFIX_EARLY,
    PREFIX_LATE,
    PREFIX_SOON,
    QUARTER,
)
from .encode import decode
from .find import CASE_SHIFT, MAX_ELAPSED, SEQUENCE_SHIFT, swap_32

U = np.uint64
FIRST_SECONDS, LAST_SECONDS = U(makers.FIRST_SECONDS), U(makers.LAST_SECONDS)
LETTERS = U(3) << CASE_SHIFT  # of a key's third word; an id without letters may be of a client that has some elsewhere
UPPER, LOWER = U(1), U(2)
BIG, LITTLE, RUST = range(3)  # seconds since 2021, the same with the low byte first, milliseconds of a month in UTC
WAYS = 3
CLIENT_EPOCH = np.int64(CLIENT_EPOCH_S * 1_000)
AHEAD_BIAS, NO_AHEAD = 2_048, np.int64(2_047)  # of a vote of a 5.x client: minutes ahead of UTC, from -720 to 840


@inlined
def is_plausible(seconds):
    return FIRST_SECONDS <= seconds and seconds <= LAST_SECONDS


@kernel
def way_of(value, k2):
    """How the seconds of one id are meant, and whether that is clear (`client_maker` and `seconds_open`)."""
    seconds, sequence = value >> SEQUENCE_SHIFT, value & U(0xFFFFFFFF)
    letters = (k2 & LETTERS) >> CASE_SHIFT
    big, little = is_plausible(seconds), is_plausible(swap_32(seconds))
    if seconds % U(1000) == U(0) and seconds <= MAX_ELAPSED:
        if letters & LOWER != U(0):
            return RUST, True
        if letters == U(0):
            return RUST, not (big or little)
        if not (big or little):
            return RUST, True
    turned = swap_32(sequence)
    if big:
        return (LITTLE if little and turned < sequence else BIG), not little or turned != sequence
    return (LITTLE if little else BIG), True


@inner
def way_of_key(runs, start, stop, values, counts):
    """How all ids of one client are meant: as most of those that are clear, else as most of all."""
    clear = np.zeros(WAYS, np.int64)
    every = np.zeros(WAYS, np.int64)
    for r in range(start, stop):
        group = runs.order[r]
        k2 = runs.key2[group]
        n = decode(runs.data, runs.places[group], runs.distinct[group], k2, values, counts, 0)
        for i in range(n):
            way, sure = way_of(values[i], k2)
            every[way] += counts[i]
            if sure:
                clear[way] += counts[i]
    return np.argmax(clear) if clear.any() else np.argmax(every)


@kernel
def ahead_of(sent, instant, late, in_use):
    """By how many minutes the seconds of a 5.x client are ahead of the instant of its line, where a zone is."""
    minutes = (sent - instant + QUARTER // 2) // QUARTER * 15
    if minutes < -720 or minutes > 840 or not in_use[(minutes + 720) // 15]:
        return NO_AHEAD
    return minutes if abs(sent - instant - minutes * MINUTE) <= late else NO_AHEAD


@inner
def date_client(value, k2, born, moment, ahead, local_2021, in_use):
    """When a 5.x client generated an id, by what kind of proof, by how many minutes its seconds are ahead: a vote."""
    way, _ = way_of(value, k2)
    kind, minutes = MONTH, NO_AHEAD
    if way != BIG:
        sent = CLIENT_EPOCH + np.int64(swap_32(value >> SEQUENCE_SHIFT)) * 1_000
        if way == RUST:  # its milliseconds of a month are dated by the line alone
            sent = born if born >= 0 else moment if moment >= 0 else NO_MINUTE
        return sent, kind, (minutes + AHEAD_BIAS) << KIND_BITS | kind
    sent = CLIENT_EPOCH + np.int64(value >> SEQUENCE_SHIFT) * 1_000
    if born >= 0:
        minutes = ahead_of(sent, born, MINUTE, in_use)
        kind = BORN if minutes != NO_AHEAD else MONTH
    elif moment >= 0:
        if -PREFIX_EARLY <= moment - sent and moment - sent <= PREFIX_LATE:
            minutes = np.int64(0)
        else:
            minutes = ahead_of(sent, moment, PREFIX_SOON, in_use)
            if ahead == NO_ZONE and minutes != local_2021:
                minutes = NO_AHEAD
        if ahead != NO_ZONE and minutes != NO_AHEAD:
            kind = PREFIX
    if minutes != NO_AHEAD:
        sent -= minutes * MINUTE
    return sent, kind, (minutes + AHEAD_BIAS) << KIND_BITS | kind

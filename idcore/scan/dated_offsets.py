"""Offsets of brokers with the instants of their lines: the rows of `growth`, and bytes a second. Reads no text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from idcore.base.rises import longest_rise
from idcore.kernels.dates import DAY, MINUTE
from idcore.kernels.pairs import IN_SCAN_ZONE, LAST_OF_MINUTE, WITHIN_MINUTE
from idcore.scan import column_texts
from idcore.scan.month_inference import InputEvidence

from .months import COUNT, Months

_LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class DatedOffsets:
    """One row for each broker and minute, those of a broker side by side; instants are milliseconds since 1970."""

    addresses: pa.Array
    edges: np.ndarray
    begin: np.ndarray
    least: np.ndarray
    least_at: np.ndarray
    greatest: np.ndarray
    greatest_at: np.ndarray

    @classmethod
    def of_ranges(cls, ranges: np.ndarray, months: Months, known: InputEvidence) -> DatedOffsets:
        """From the rows of RANGES, in any order; of equal offsets the earliest instant counts."""
        ranges = ranges.copy()
        ranges[:, 3] = _settled(ranges[:, 3].view(np.int64), months, known).view(np.uint64)
        ranges = ranges[np.lexsort(ranges[:, 3::-1].T)]
        rows = _starts(ranges[:, :4])
        words, begin = ranges[rows, :3], ranges[rows, 3].view(np.int64)
        least, after = np.divmod(np.minimum.reduceat(ranges[:, 4], rows), WITHIN_MINUTE)
        greatest, until = np.divmod(np.maximum.reduceat(ranges[:, 5], rows), WITHIN_MINUTE)
        return cls(
            column_texts.addresses(words, column_texts.hosts(words)),
            np.append(_starts(words), len(words)),
            begin,
            least.view(np.int64),
            begin + after.view(np.int64),
            greatest.view(np.int64),
            begin + (LAST_OF_MINUTE - until).view(np.int64),
        )

    def columns(self) -> list[pa.Array | np.ndarray]:
        known = np.ones(len(self.begin), np.bool_)
        instants = (column_texts.instants(at, known) for at in (self.least_at, self.greatest_at))
        return [self.addresses, column_texts.instants(self.begin, known), self.least, self.greatest, *instants]

    def bytes_per_second(self, addresses: pa.Array) -> pa.Array:
        """Of each address: bytes from its lowest to its highest offset, over the seconds between their instants.

        Only minutes that fit a log that grows count, and the highest offset is of the last of them: an ID of a wrong
        clock would stretch those seconds to hours.
        Null without such lines, and where the highest offset is not later than the lowest: no speed is in those.
        """
        if not len(self.begin):
            return pa.nulls(len(addresses), pa.float64())
        first, sizes = self.edges[:-1], np.diff(self.edges)
        fits = self._fits()
        lowest = np.minimum.reduceat(np.where(fits, self.least, _LATEST), first)
        highest = self.greatest[np.maximum.reduceat(np.where(fits, np.arange(len(fits)), 0), first)]
        is_lowest = fits & (self.least == np.repeat(lowest, sizes))
        is_highest = fits & (self.greatest == np.repeat(highest, sizes))
        begin = np.minimum.reduceat(np.where(is_lowest, self.least_at, _LATEST), first)
        end = np.minimum.reduceat(np.where(is_highest, self.greatest_at, _LATEST), first)
        seconds = (end - begin) / 1000
        later = (seconds > 0) & (highest > lowest)
        speed = pa.array(np.divide(highest - lowest, seconds, out=np.zeros(len(first)), where=later), mask=~later)
        return speed.take(pc.index_in(addresses, value_set=self.addresses.take(pa.array(first))))

    def _fits(self) -> np.ndarray:
        """Which minutes are of a log that only grows: their lowest offsets never fall."""
        fits = np.ones(len(self.begin), np.bool_)
        falls = np.zeros(len(self.begin), np.bool_)
        falls[1:] = np.diff(self.least) < 0
        falls[self.edges[:-1]] = False
        for place in np.flatnonzero(np.logical_or.reduceat(falls, self.edges[:-1])):
            begin, end = self.edges[place], self.edges[place + 1]
            fits[begin:end] = False
            fits[begin + np.array(longest_rise(self.least[begin:end].tolist()))] = True
        return fits


def _settled(minutes: np.ndarray, months: Months, known: InputEvidence) -> np.ndarray:
    """Starts of minutes, those of the zone of the scan moved to what the whole input proves of zone and month."""
    assumed = minutes // (IN_SCAN_ZONE // 2) + 1 >> 1  # 0: proved by the line; 1: the month is; 2: nothing
    minutes = minutes - assumed * IN_SCAN_ZONE
    calendar = months.calendar
    if not assumed.any() or not len(calendar):
        return minutes
    month = np.searchsorted(calendar[:, 0], minutes, side="right") - 1
    if known.latest is not None:
        elapsed, until = minutes - calendar[month, 0], known.latest + DAY
        for _ in range(COUNT):
            late = (assumed == 2) & (month > 0)
            late &= (calendar[month, 0] + elapsed > until) | (elapsed >= calendar[month, 1])
            month = month - late
        minutes = np.where(assumed == 2, calendar[month, 0] + elapsed, minutes)
    if known.ahead is not None:
        ahead = (calendar[month, 4] - calendar[month, 0]) // MINUTE
        minutes = np.where(assumed > 0, minutes + (ahead - known.ahead) * MINUTE, minutes)
    return minutes


def _starts(rows: np.ndarray) -> np.ndarray:
    """Where a row differs from the one before it."""
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.flatnonzero(begins)

"""An input that somebody decodes: its sources, what was read of them at once, its link, its files to take away."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import tee
from typing import Self

from idcore.base.catalogue import Words, words
from idcore.ids.clock import Clock, ZoneSource
from idcore.ids.dating import Dates
from idcore.ids.describe import Seeds, item_of
from idcore.ids.identify import Case, case_of
from idcore.intake.intake import (
    PASTED,
    FoundId,
    Intake,
    Source,
    as_scanned,
    dated_by,
    dates_of_found,
    ids_of,
    kept,
    only_ids,
    read_sources,
    rows_of,
)
from idcore.presentation import export, times
from idcore.runs.runs import Run

MOST_LINKED = 20  # ids that an address can carry
LONG = 20_000  # bytes of an input whose page takes its turn
_Zone = tuple[str, str]  # of a clock: what was made with another one is made again


@dataclass(slots=True)
class Decoding:
    """What is read once, when it is asked for; and what is made of it once for each zone."""

    sources: list[Source] = field(default_factory=list)
    intake: Intake = field(default_factory=Intake)
    case: Case = "strict"
    reference: datetime | None = None  # "now" of the input, where it is not the reader's
    scanned_in: tuple[tzinfo, ZoneSource] | None = None  # the zone of its scan: a colleague may have another one
    link: str | None = None
    unread: bool = False
    made: dict[_Zone, tuple[bytes, bytes]] = field(default_factory=dict)
    dates: dict[_Zone, Dates] = field(default_factory=dict)
    zone_sources: dict[_Zone, dict[str, tuple[int, str]]] = field(default_factory=dict)
    seeds: Seeds = field(default_factory=Seeds)
    agrees_with: str | None = None  # a scan
    plain: list[FoundId] = field(default_factory=list)  # as they were read

    @classmethod
    def of_run(cls, run: Run) -> Self:
        """The input that a scan keeps, read again as the scan read it."""
        decoding = cls(kept(run), case=case_of(str(run.options.get("case")), None))
        at = run.options.get("at")
        if decoding.sources:
            decoding.intake = read_sources(decoding.sources, decoding.case)
            decoding.reference = datetime.fromisoformat(at) if isinstance(at, str) else None
            zone, source = times.zone_of(str(run.options.get("zone"))), run.options.get("zone_source")
            decoding.scanned_in = None if zone is None else (zone, "given" if source == "given" else "assumed")
        return decoding

    def again(self, case: Case) -> Self:
        """The same input, to be read once more with lower-case ids as upper case, or rejected."""
        return type(self)(self.sources, case=case, reference=self.reference, link=self.link)

    def read_now(self) -> bool:
        """Reads the input, once: whether that was now. Ids that are few are in its link."""
        if not self.unread:
            return False
        self.unread = False
        self.intake = read_sources(self.sources, self.case)
        if self.intake.read_in_lower_case:
            self.case = "any"  # its scan and its link read it like this page
        if self.link is None and not self.files and only_ids(self.text):
            ids = ids_of(self.intake, MOST_LINKED)
            self.link = ",".join(ids) if ids else None
        return True

    def agree(self, run: Run | None) -> None:
        """Times of ids alone, which no line shows, as the scan of a log has them for their processes."""
        name = None if run is None or not (self.single or self.intake.is_list) else run.name
        if name == self.agrees_with:
            return
        self.plain = self.plain or self.intake.items
        self.agrees_with, self.dates, self.zone_sources, self.made = name, {}, {}, {}
        self.intake.take(self.plain if name is None or run is None else as_scanned(self.plain, run))

    @property
    def size(self) -> int:
        """Bytes of all sources."""
        return sum(source.size for source in self.sources)

    @property
    def is_long(self) -> bool:
        """Whether others would notice the work with it."""
        return self.size > LONG

    @property
    def text(self) -> str:
        """What was pasted, here or before the scan that keeps it; of a long one that is kept, the beginning."""
        pasted = (source for source in self.sources if isinstance(source.data, bytes) or source.name == PASTED)
        return b"".join(next(source.pieces(), b"") for source in pasted).decode(errors="replace")

    @property
    def holds_ids(self) -> bool:
        """Whether there are ids, or may well be some behind the beginning."""
        return bool(self.intake.found) or self.intake.cut

    @property
    def single(self) -> bool:
        """Whether the input is one id."""
        return len(self.intake.found) == 1 and not self.intake.cut

    @property
    def files(self) -> bool:
        """Whether files are here, not only a text."""
        return any(source.name != PASTED for source in self.sources)

    def where(self, words: Words) -> str:
        """What was read: so many lines of text, or so many files."""
        return words.count("file", len(self.sources)) if self.files else words.count("line", self.intake.lines)

    def with_zone_of_scan(self, clock: Clock) -> Clock:
        """A reader's clock, with the zone of the input's scan where none was chosen: else one ID has two times."""
        if self.scanned_in is None or clock.zone_source == "given":
            return clock
        zone, source = self.scanned_in
        return replace(clock, zone=zone, zone_source=source)

    def dating(self, clock: Clock) -> Clock:
        """A clock with what all lines prove together."""
        key = (str(clock.zone), clock.zone_source)
        if key not in self.dates:
            self.dates = {key: dates_of_found(self.intake.found, clock)}
        return replace(clock, dates=self.dates[key])

    def dated_by(self, clock: Clock) -> dict[str, tuple[int, str]]:
        """What month and zone of the times shown come from: how many times, and a zone."""
        key = (str(clock.zone), clock.zone_source)
        if key not in self.zone_sources:
            self.zone_sources = {key: dated_by(self.intake.found, self.dating(clock))}
        return self.zone_sources[key]

    def exports(self, clock: Clock) -> tuple[bytes, bytes]:
        """Everything that was read as CSV and as JSON Lines, made once for a zone."""
        key = (str(clock.zone), clock.zone_source)
        if key not in self.made:
            for_csv, for_json = tee(rows_of(self.intake, clock, self.seeds))
            csv, json = export.csv_of_ids(for_csv), export.json_lines(item_of(row, words()) for row in for_json)
            pairs = [("", next(csv)), *zip(json, csv, strict=True)]  # row by row: all rows at once are large
            self.made = {key: (export.file_of(row for _, row in pairs), export.file_of(row for row, _ in pairs))}
        return self.made[key]

"""What a visitor pasted or uploaded, read at once: tokens and verdicts, up to a limit. Uses no widget and no clock."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path
from typing import Any, BinaryIO

from idcore.base import encodings
from idcore.base.encodings import BYTE_ORDER_MARKS
from idcore.base.errors import CoreError, coded, refuse
from idcore.base.open_folders import opener, own_file
from idcore.ids.clock import Clock, ZoneSource
from idcore.ids.dating import Dates, dates_of
from idcore.ids.delivery import DeliveryText
from idcore.ids.describe import Seeds, describe, month_source, when
from idcore.ids.find import find
from idcore.ids.identify import ALIKE, AROUND, Case, Verdict, identify_alone, judge
from idcore.ids.lists import is_list_of_ids, is_table_of_ids
from idcore.ids.neighbours import settled
from idcore.ids.pasted_logs import PastedLogs
from idcore.ids.rules import is_key
from idcore.ids.tokens import Token
from idcore.intake.allowed import own_of
from idcore.rocketmq.message.tracers import traces_in
from idcore.runs.run_times import sent_ms_of_many
from idcore.runs.runs import Run
from idcore.sources.kinds import PACKINGS, WIDE

PASTED = "pasted.txt"
LIMIT = 5_000  # ids read at once; the scan reads all of them
HEAD = 4 << 20  # bytes of one file read at once
MEMBERS = 1_000  # of one archive, read at once
PASSED_OVER = 512 << 20  # bytes unpacked at once at most, with those of members that are no text
HEAD_BYTES, PIECE = 512, 1 << 16  # bytes that show what a file is; bytes unpacked at once
_WORD = re.compile(r"[0-9A-Za-z]{16,80}")
_OWN = ("line", "record")  # where the month of a time is from that its own line proves
_RUN = re.compile(r"[0-9A-Fa-f]+")


@dataclass(frozen=True, slots=True)
class Dating:
    """How a scan dates ids: the zone, where it is known from, and "now"."""

    zone: tzinfo
    source: ZoneSource
    at: datetime

    @classmethod
    def of(cls, clock: Clock) -> Dating:
        """As the reader's clock has it; what the lines prove, the scan finds by itself."""
        return cls(clock.zone, clock.zone_source, clock.reference)

    @property
    def options(self) -> dict[str, str]:
        """As a run keeps it."""
        return {"zone": str(self.zone), "zone_source": self.source, "at": self.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to scan: the name that people use for it, and its bytes."""

    name: str
    data: bytes | BinaryIO | Path

    @classmethod
    def of_file(cls, file: Any) -> Source:
        """A file that somebody chose, even one that is called as what is pasted is."""
        return cls(f"./{PASTED}" if file.name == PASTED else file.name, file)

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, piece by piece."""
        if isinstance(self.data, bytes):
            yield self.data
        elif isinstance(self.data, Path):
            with open_copy(self.data) as file:
                yield from iter(lambda: file.read(1 << 20), b"")
        else:
            self.data.seek(0)
            yield from iter(partial(self.data.read, 1 << 20), b"")

    @property
    def size(self) -> int:
        """Bytes."""
        if isinstance(self.data, bytes):
            return len(self.data)
        if isinstance(self.data, Path):
            return self.data.stat().st_size
        return self.data.seek(0, os.SEEK_END)

    def digest(self) -> bytes:
        """What distinguishes its content from any other."""
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.digest()


def sources_of_input(text: str, files: Iterable[Any], name: str = PASTED) -> list[Source]:
    """What somebody pasted, under a name, and the files that they chose: of one name, the later ones are numbered."""
    pasted = [Source(name, text.encode())] if text.strip() else []
    sources: dict[str, Source] = {}
    numbers: dict[str, Iterator[int]] = {}  # 10,000 files of one name would try each number again and again
    for source in [*pasted, *map(Source.of_file, files)]:
        head, dot, tail = source.name.partition(".")
        numbered = (f"{head} ({number}){dot}{tail}" for number in numbers.setdefault(source.name, count(2)))
        own = next(one for one in chain([source.name], numbered) if one not in sources)
        sources[own] = replace(source, name=own)
    return list(sources.values())


@dataclass(frozen=True, slots=True)
class FoundId:
    """One token, what it is, the file it came from (empty for pasted text), and which log of which text."""

    token: Token
    verdict: Verdict
    source: str = ""
    log: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class SourceHead:
    """The beginning of one source: texts with their names, whether there is more, and what could not be read."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    more: bool = False
    failed: list[tuple[str, CoreError]] = field(default_factory=list)
    partly: list[tuple[str, CoreError]] = field(default_factory=list)  # read up to a place, and why not beyond it


@dataclass
class Intake:
    """Everything that was read at once."""

    items: list[FoundId] = field(default_factory=list)  # ids and rejected tokens, in the order of the text
    longest: int = 0  # digits of the longest run, where nothing was found
    cut: bool = False  # there is more than was read at once
    lower: int = 0  # all in lower case: rejected ids that would be read, or, read as upper case, those that were
    look_alikes: int = 0  # in upper case: rejected by their name or by the whole input, or read all the same
    alone: bool = False  # one string, pasted without anything around it
    texts: list[str] = field(default_factory=list)  # names of the texts that were looked through
    failed: list[tuple[str, CoreError]] = field(default_factory=list)  # names of files that could not be read, and why
    partly: list[tuple[str, CoreError]] = field(default_factory=list)  # the same of files read up to a place
    size: int = 0  # characters that were looked through
    lines: int = 0  # of pasted text
    binary: bool = False  # some of it is not text
    said: dict[str, DeliveryText] = field(default_factory=dict)  # by source: what its lines say of deliveries
    is_list: bool = False  # nothing but ids
    is_table: bool = False  # rows with ids alone in the same columns
    traces: tuple[str, ...] = ()  # ids of W3C traces

    @cached_property
    def found(self) -> list[FoundId]:
        """The ids."""
        return [item for item in self.items if item.verdict.best is not None]

    @cached_property
    def refused(self) -> list[FoundId]:
        """The tokens that only look like ids."""
        return [item for item in self.items if item.verdict.best is None and item.verdict.reason != "trace_id"]

    def take(self, items: list[FoundId]) -> None:
        """The same ids, dated otherwise."""
        self.items = items
        for name in ("found", "refused"):
            self.__dict__.pop(name, None)

    @property
    def trace_ids(self) -> int:
        """How many are trace IDs, which nobody takes for IDs of messages."""
        return len(self.items) - len(self.found) - len(self.refused)

    @property
    def read_in_lower_case(self) -> bool:
        """Whether a string that was pasted alone is an id in lower case: it is read, with a word on its letters."""
        return self.alone and self.items[0].verdict.in_lower_case

    @property
    def without_ids(self) -> list[str]:
        """Files that have no id, where all of each was read and others have some."""
        named = {item.source for item in self.found}
        return [] if self.cut or not named else [name for name in self.texts if name not in named]

    @property
    def kinds(self) -> dict[str, int]:
        """How many ids of each kind."""
        counts: dict[str, int] = {}
        for item in self.found:
            best = item.verdict.best
            if best is not None:
                counts[best.kind] = counts.get(best.kind, 0) + 1
        return counts


def read(
    sources: Sequence[tuple[str, str]],
    limit: int = LIMIT,
    case: Case = "strict",
    go_on: Callable[[], object] = bool,
) -> Intake:
    """Finds and judges the ids of several texts, each with the name it came under.

    `go_on` is called again and again: what it raises ends the work.
    """
    items: list[FoundId] = []
    intake = Intake(texts=[name for name, _ in sources])
    named = 0
    word = len(sources) == 1 and not sources[0][0] and _WORD.fullmatch(sources[0][1].strip(" \t\r\n")) is not None
    for number, (name, text) in enumerate(sources):
        intake.said[name] = said = DeliveryText(limit, go_on)
        if not word:  # which says nothing of a delivery
            said.feed(text)
            said.close()
        logs = PastedLogs(text)
        for token in _tokens(text):
            go_on()
            if len(items) >= limit:
                intake.cut = True
                break
            verdict = identify_alone(token.text, case) if word else judge(token, case)
            lower = _lower(token, verdict, case)
            intake.lower += lower
            named += lower and bool(token.disowned)
            items.append(FoundId(token, verdict, name, (number, logs.of(token.line))))
    if case != "any" and named == intake.lower:
        intake.lower = 0  # all of them are called something else: nobody is asked whether they are ids
    intake.alone = len(sources) == len(items) == 1 and not sources[0][0] and _only(sources[0][1], items[0].token.text)
    if intake.alone and not word:
        items = [replace(items[0], verdict=identify_alone(items[0].token.text, case))]
    verdicts = settled((item.verdict for item in items), case)
    intake.items = [
        item if verdict is item.verdict else replace(item, verdict=verdict)
        for item, verdict in zip(items, verdicts, strict=True)
    ]
    strict = verdicts if case == "strict" else settled(judge(item.token) for item in items)
    intake.look_alikes = sum(verdict.reason in ALIKE.values() for verdict in strict)
    intake.size = sum(len(text) for _, text in sources)
    intake.traces = traces_in("\n".join(text for _, text in sources if "-" in text))
    if not intake.found:
        intake.binary = any(mark in text[:HEAD] for _, text in sources for mark in "\0\ufffd")
        intake.longest = max((len(run) for _, text in sources for run in _RUN.findall(text[:HEAD])), default=0)
    return intake


def read_sources(sources: Sequence[Source], case: Case = "strict") -> Intake:
    """Reads the beginning of every source at once."""
    only = [source.name for source in sources] == [PASTED]
    heads = [heads_of(source.data, "" if only else source.name) for source in sources]
    intake = read([text for head in heads for text in head.texts], case=case)
    intake.cut = intake.cut or any(head.more for head in heads)
    intake.failed = [problem for head in heads for problem in head.failed]
    intake.partly = [problem for head in heads for problem in head.partly]
    pasted = [head for source, head in zip(sources, heads, strict=True) if source.name == PASTED]
    intake.lines = sum(lines_of(text) for head in pasted for _, text in head.texts)
    texts = [text for head in heads for _, text in head.texts] if intake.found else []
    intake.is_list = bool(texts) and all(map(is_list_of_ids, texts))
    intake.is_table = bool(texts) and not intake.is_list and all(map(is_table_of_ids, texts))
    return intake


def dates_of_found(items: Iterable[FoundId], clock: Clock) -> Dates:
    """What the lines of all texts prove together."""
    return dates_of(((item.verdict, item.token, item.log) for item in items), clock)


def dated_by(items: Sequence[FoundId], clock: Clock) -> dict[str, tuple[int, str]]:
    """What month and zone of the times of msgIds come from: how many times, and the zone of the first.

    Most lines prove nothing themselves: those to which other lines lend a zone or a month count apart.
    """
    sources: dict[str, tuple[int, str]] = {}
    for item in items:
        best = item.verdict.best
        if best is None or best.id.kind != "uniq":
            continue
        sent, reason = when(best, item.token, clock)
        if sent is None or sent.zone_source is None:
            continue
        month, name = month_source(best, reason), str(sent.zone_source)
        if item.token.linked:
            name = "linked"
        elif sent.zone_source in ("born", "prefix"):
            name = name if month in _OWN else "others"
        elif reason is not None:
            others = month in ("process", "input") or reason.code == "month_before"
            name = "line_others" if others else "line"
        n, zone = sources.get(name, (0, sent.zone))
        sources[name] = n + 1, zone
    return dict(sorted(sources.items(), key=lambda item: item[0].endswith("others")))  # what lends before what it dates


def as_scanned(items: Sequence[FoundId], run: Run) -> list[FoundId]:
    """Ids that no line dates, with the times that a scan has of their processes."""
    places, readings = [], []
    for place, item in enumerate(items):
        token, best = item.token, item.verdict.best
        if best is not None and token.born_ms is None and token.prefix_time is None and token.named_day is None:
            places.append(place)
            readings.append(best)
    dated = list(items)
    for at, (sent, assumed) in sent_ms_of_many(run, readings).items():
        item = items[places[at]]
        token = replace(item.token, born_ms=sent, linked=True, assumed=assumed)
        dated[places[at]] = replace(item, token=token)
    return dated


def zones_of(intake: Intake, clock: Clock) -> dict[str, tuple[tzinfo, int]]:
    """The zone that the lines of each source prove alone, and how many IDs it has; empty where all prove the same."""
    groups: dict[str, list[FoundId]] = {}
    for item in intake.found:
        groups.setdefault(item.source, []).append(item)
    proven: dict[str, tuple[tzinfo, int]] = {}
    for name, items in groups.items() if len(groups) > 1 else ():
        dates = dates_of_found(items, clock)
        if dates.zone is not None:
            proven[name] = dates.zone[0], len(items)
    return proven if len({zone for zone, _ in proven.values()}) > 1 else {}


def lines_of(text: str) -> int:
    """How many lines a text has; an end of line at its end opens no new one."""
    return text.count("\n") + (not text.endswith("\n"))


def pasted_lines(sources: Iterable[Source]) -> int:
    """Lines of what was pasted among sources."""
    return sum(lines_of(text_of(b"".join(one.pieces()))) for one in sources if one.name == PASTED)


def only_ids(text: str) -> bool:
    """Whether a text is a list of ids and nothing else: only then may a link carry it."""
    pieces = text.replace(",", " ").split()
    return bool(pieces) and all(piece.isalnum() and len(piece) <= 80 for piece in pieces)


def _lower(token: Token, verdict: Verdict, case: Case) -> bool:
    """Whether a token is an id but for its letters, all of them in lower case."""
    if token.text.isdigit() or token.text != token.text.lower() or is_key(token.label):
        return False
    if case != "any" and verdict.reason == "lower_case":
        verdict = judge(token, "any")
    return verdict.best is not None


def _only(text: str, token: str) -> bool:
    """Whether a text is one string and nothing else."""
    return text.strip(AROUND) == token


def _tokens(text: str) -> Iterator[Token]:
    """The candidates of a text; a text that is nothing but words is a list of arguments, and each is judged."""
    words = text.replace(",", " ").split() if len(text) < 65_536 else []
    if words and all(_WORD.fullmatch(word) for word in words):
        for number, line in enumerate(text.split("\n"), 1):
            for match in _WORD.finditer(line):
                yield Token(match.group(), number, match.start() + 1)
        return
    yield from find(text)


def heads_of(data: bytes | BinaryIO | Path, name: str, limit: int = HEAD) -> SourceHead:
    """The beginning of a source as texts, unpacked as a scan would; pasted text is taken whole."""
    if isinstance(data, bytes):
        return SourceHead([(name, text_of(data))])
    if isinstance(data, Path):
        with open_copy(data) as file:
            return heads_of(file, name, limit)
    from idcore.sources.archives import ARCHIVES, kind_of  # Arrow, which pasted text does without

    data.seek(0)
    raw = data.read(limit + 1)
    data.seek(0)
    try:
        kind = kind_of(raw[:HEAD_BYTES])
        if kind not in PACKINGS and kind not in ARCHIVES:
            return SourceHead([(name, text_of(raw[:limit], kind))], len(raw) > limit)
        heads = _unpacked(data, name, limit)
    except CoreError as error:  # what a scan cannot read says what it is
        return SourceHead(failed=[(name, error)])
    data.seek(0)
    return heads


def _unpacked(file: BinaryIO, name: str, limit: int) -> SourceHead:
    """Texts of an archive or a packed file, up to the limit over all of them."""
    from idcore.sources.archives import texts  # Arrow only where something is packed
    from idcore.sources.unpack import READ_ERRORS, Unpacked

    heads, left, unpacked = SourceHead(), limit, Unpacked(PASSED_OVER)
    for number, text in enumerate(texts(file, unpacked)):
        if number == MEMBERS or unpacked.is_too_much:  # a scan goes on
            heads.more = True
            break
        label = name + text.member
        if text.stream is None or text.error is not None:
            heads.failed.append((label, text.error or refuse("no_file")))
            continue
        raw = bytearray()  # a stream may give a byte at a time
        try:
            while len(raw) <= left and (piece := text.stream.read(min(PIECE, left + 1 - len(raw)))):
                raw += piece
        except READ_ERRORS as error:
            (heads.partly if raw else heads.failed).append((label, coded(error)))
        heads.texts.append((label, text_of(bytes(raw[:left]), text.kind)))
        heads.more = len(raw) > left
        left -= min(left, len(raw))
        if heads.more or not left:
            heads.more = True
            break
    return heads


def text_of(raw: bytes, kind: str = "plain") -> str:
    """Bytes as text: a byte order mark is obeyed, everything else is UTF-8 or GBK, and what is not does not stop us."""
    for mark, name in BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return raw.decode(name, errors="replace")
    return raw.decode(kind, errors="replace") if kind in WIDE else encodings.text_of(raw)


def rows_of(intake: Intake, clock: Clock, seeds: Seeds | None = None) -> Iterator[dict[str, Any]]:
    """Ids and rejected tokens as `decode` prints them."""
    for item in intake.items:
        said = intake.said.get(item.source)
        delivery = None if said is None else said.of(item.token.line, item.token.text, item.token.column)
        yield describe(item.verdict, item.token, clock, seeds, delivery)


def ids_of(intake: Intake, limit: int) -> list[str] | None:
    """The ids as a link may carry them: each as often as it comes, or None where they are too many."""
    ids = [item.token.text for item in intake.items]
    return ids if 0 < len(ids) <= limit else None


def twins(names: Sequence[str], digests: Sequence[bytes]) -> list[list[str]]:
    """Names of sources with the same content: their ids count more than once."""
    groups: dict[bytes, list[str]] = {}
    for name, digest in zip(names, digests, strict=True):
        groups.setdefault(digest, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def asked_of(sources: Sequence[Source], dated: Dating, case: Case) -> tuple[str, dict[str, Any]]:
    """What distinguishes an input, and how it is read, from any other; and what its run keeps of both."""
    names, digests = [source.name for source in sources], [source.digest() for source in sources]
    made = hashlib.sha256(f"{dated.zone} {dated.source} {dated.at:%Y-%m-%d} {case}".encode())
    for name, digest in zip(names, digests, strict=True):
        made.update(hashlib.sha256(name.encode()).digest() + digest)  # of fixed length: the cut is never in doubt
    return made.hexdigest(), {**dated.options, "case": case, "sources": names, "same": twins(names, digests)}


def safe_name(name: str) -> str:
    """A file name that stays in its folder under any name of an upload."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(name).name).strip("._")
    return plain[-80:] or "input"


def keep(run: Run, sources: Sequence[Source]) -> dict[str, str]:
    """Copies sources into the folder of a scan; the name of each by its path."""
    named = {}
    for place, source in enumerate(sources):
        path = run.input_folder / f"{place:03d}-{safe_name(source.name)}"
        with open(path, "wb", opener=own_file) as file:
            for piece in source.pieces():
                file.write(piece)
        named[str(path)] = source.name
    return named


def copies(run: Run) -> list[Path]:
    """The files that a scan keeps, in their order: no link and no pipe that somebody else put there."""
    files = [entry for entry in run.input_folder.iterdir() if entry.name.partition("-")[0].isdecimal()]
    regular = (path for path in files if stat.S_ISREG(path.lstat().st_mode))
    return sorted(regular, key=lambda path: int(path.name.partition("-")[0]))


def open_copy(path: Path) -> BinaryIO:
    """One of them; OSError where its place has something else by now."""
    return open(path, "rb", opener=opener(own_of(path.parents[1])))


def kept(run: Run) -> list[Source]:
    """What a scan read, from its own folder."""
    files = copies(run)
    names = run.options.get("sources") or [path.name.partition("-")[2] for path in files]
    return [Source(name, path) for name, path in zip(names, files, strict=False)]


def message_of(ids: Sequence[str]) -> str | None:
    """The id of the only message: of a line with a msgId and an offsetMsgId the first, which all its copies have."""
    if len(ids) == 1:
        return ids[0]
    readings = [(identify_alone(text).best, text) for text in ids[:3]]
    others = [text for reading, text in readings if reading is not None and reading.id.kind != "offset"]
    pair = len(ids) == 2 and None not in [reading for reading, _ in readings]
    return others[0] if pair and len(others) == 1 else None

"""What a scan that goes on knows so far: the facts of its batches, folded, in files that outlive the process. No Spark.

The facts are kept in pieces, each of which is an eighth of what is kept. When there are more ids than that, the oldest
piece goes: the tables are those of a scan over the bytes of the others. A batch is a file that is named by its number,
so that a batch that comes twice, after a crash, counts once.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from idcore.base.errors import CoreError, refuse
from idcore.base.open_folders import Roots, own_file
from idcore.scan.crossing import Fact, What, from_batches, reports_of, to_batch
from idcore.scan.folding import fold
from idcore.scan.months import Months
from idcore.scan.tables import Merge, Tables, combine
from idcore.sources.growing_files import TRUNCATED, EndedFile, Range
from idcore.sources.inputs import InputFile
from idcore.sources.kinds import GROWING

NOTE = -2  # the part of what a batch says of its files
KEPT = 16_000_000  # ids: a refresh of their tables takes less than a second of one core
PIECES = 8
FEW = 8 << 20  # bytes of facts, of some two million ids, that one thread merges: to sort two halves again takes longer
TAIL = 32  # batches that are folded together, or as many as fill a piece
STATE = "state.json"
VERSION = 2
_COMMON = (What.SUMMARY, What.SUSPECTED)  # what each part of a merge needs


@dataclass(frozen=True, slots=True)
class Followed:
    """One file that is followed: its name now, the bytes of it that the pieces have, and why no more of it come."""

    path: str
    begun: int
    read: int
    ended: str = ""
    unread: int = 0

    @property
    def error(self) -> CoreError | None:
        """The error that says what was lost of the file."""
        if not self.ended or (self.ended != TRUNCATED and not self.unread):
            return None
        return refuse(f"follow_{self.ended}", bytes=self.unread)


@dataclass(slots=True)
class _Piece:
    """Facts of batches that follow one another; `begins`: the first byte of each file in it."""

    facts: list[Fact] = field(default_factory=list)
    begins: dict[int, int] = field(default_factory=dict)
    ids: int = 0
    name: str = ""  # of its file, when it is full


def note(ranges: Iterable[Range], ended: Iterable[EndedFile], left_out: Mapping[str, str]) -> Fact:
    """What a batch says of its files."""
    facts = {
        "read": [[one.number, one.generation.path, one.start, one.stop] for one in ranges],
        "ended": [list(one) for one in ended],
        "left_out": dict(left_out),
    }
    return Fact(NOTE, What.REPORT, json.dumps(facts).encode())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known up to a batch: facts, and the bytes that they are of by the numbers of their files."""

    facts: list[Fact]
    inputs: dict[int, InputFile]
    batch: int
    is_cut: bool
    left_out: dict[str, str]


class State:
    """The facts and files of a scan that goes on, in a folder of its own, which has one writer."""

    def __init__(self, folder: Path, kept: int = KEPT, roots: Roots = None) -> None:
        self.folder, self.kept, self.roots = folder, kept, roots
        self.files: dict[int, Followed] = {}
        self.batch = -1
        self.is_cut = False  # whether older ids are kept no more
        self.left_out: dict[str, str] = {}  # paths that are not followed, and why, as coded JSON
        self._pieces = [_Piece()]
        self._tail: list[Fact] = []
        self._since = 0  # batches in the tail
        self._lock = threading.Lock()  # of all that a snapshot has
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._load_all()
        except (ValueError, KeyError, TypeError) as problem:  # of JSON and of Arrow
            raise problem if isinstance(problem, CoreError) else refuse("follow_damaged", folder=self.folder) from None

    # ---- batches

    def take(self, batch: int, facts: pa.Table) -> bool:
        """Takes the facts of a batch, whose file is on disk before this returns. False of one that is known.

        One thread takes batches. Who looks meanwhile waits for no disk and no fold.
        """
        if batch <= self.batch:
            return False
        _write(self._file(batch), facts.to_batches(), facts.schema)
        with self._lock:
            self._add(batch, facts)
        if self._since >= TAIL or self._pieces[-1].ids >= self.kept // PIECES:
            self._fold()
        return True

    def _add(self, batch: int, facts: pa.Table) -> None:
        self.batch = batch
        for fact in from_batches(facts.to_batches()):
            if fact.part == NOTE:
                note = json.loads(fact.data)
                self.left_out = note["left_out"]
                for number, path, start, stop in note["read"]:
                    known = self.files.get(number, Followed(path, start, start))
                    self.files[number] = replace(known, path=path, read=max(known.read, stop))
                    if stop > start:
                        self._pieces[-1].begins.setdefault(number, start)
                for number, why, unread in note["ended"]:
                    if number in self.files:
                        self.files[number] = replace(self.files[number], ended=why, unread=unread)
                continue
            self._tail.append(fact)
            if fact.what == What.REPORT:
                self._pieces[-1].ids += sum(report.ids for report in reports_of(fact.data))
        self._since += 1

    # ---- files of it

    def _file(self, batch: int) -> Path:
        return self.folder / f"batch-{batch:010d}.arrow"

    def _fold(self) -> None:
        """Folds the tail into the newest piece, and writes down what the batches until now have become."""
        newest = self._pieces[-1]
        folded = fold([*newest.facts, *self._tail])
        name = f"piece-{self.batch:010d}.arrow" if newest.ids >= self.kept // PIECES else ""
        if name:
            _write_facts(self.folder / name, folded)
        with self._lock:
            newest.facts, newest.name, self._tail, self._since = folded, name, [], 0
            if name:
                self._pieces.append(_Piece())
                self._drop()
        self._write_down()

    def _drop(self) -> None:
        """Forgets the oldest pieces, and the files of which nothing is left."""
        while len(self._pieces) > PIECES:
            self._pieces.pop(0)
            self.is_cut = True
            for number, file in list(self.files.items()):
                begun = next((piece.begins[number] for piece in self._pieces if number in piece.begins), None)
                if begun is None and file.ended:
                    del self.files[number]
                else:
                    self.files[number] = replace(file, begun=file.read if begun is None else begun)

    def _write_down(self) -> None:
        """The state as it is, in one rename; then what it makes idle goes."""
        newest = self._pieces[-1]
        name = f"open-{self.batch:010d}.arrow"
        _write_facts(self.folder / name, newest.facts)
        state = {
            "version": VERSION,
            "batch": self.batch,
            "is_cut": self.is_cut,
            "left_out": self.left_out,
            "files": {number: asdict(file) for number, file in self.files.items()},
            "pieces": [[one.name or name, one.ids, one.begins] for one in self._pieces],
        }
        aside = self.folder / f".{STATE}"
        with open(aside, "w", encoding="utf-8", opener=own_file) as file:
            json.dump(state, file)
        _rename(aside, self.folder / STATE)
        held = {STATE, *(one.name or name for one in self._pieces)}
        for path in self.folder.glob("*.arrow"):
            is_idle = path.name <= self._file(self.batch).name if path.name.startswith("batch-") else True
            if path.name not in held and is_idle:
                path.unlink(missing_ok=True)

    def _load_all(self) -> None:
        try:
            state = json.loads((self.folder / STATE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            state = None
        if state is not None:
            if state["version"] != VERSION:
                raise CoreError("follow_version", {"folder": str(self.folder)})
            self.batch, self.is_cut, self.left_out = state["batch"], state["is_cut"], state["left_out"]
            self.files = {int(number): Followed(**file) for number, file in state["files"].items()}
            self._pieces = [
                _Piece(
                    list(from_batches(_read(self.folder / name).to_batches())),
                    {int(number): begin for number, begin in begins.items()},
                    ids,
                    name if name.startswith("piece-") else "",
                )
                for name, ids, begins in state["pieces"]
            ]
        for path in sorted(self.folder.glob("batch-*.arrow")):
            batch = int(path.stem.partition("-")[2])
            if batch > self.batch:
                self._add(batch, _read(path))

    # ---- what it comes to

    @property
    def ids(self) -> int:
        return sum(piece.ids for piece in self._pieces)

    def snapshot(self) -> Snapshot:
        """All that has come by now; it can be asked for while a batch comes."""
        with self._lock:
            inputs = {
                number: InputFile(file.path, file.read, file.error, kind=GROWING, roots=self.roots, start=file.begun)
                for number, file in sorted(self.files.items())
            }
            facts = [*(fact for piece in self._pieces for fact in piece.facts), *self._tail]
            return Snapshot(facts, inputs, self.batch, self.is_cut, dict(self.left_out))


def tables_of(facts: Iterable[Fact], inputs: Mapping[int, InputFile], months: Months) -> Tables:
    """The tables of a scan over these bytes. Of many facts two threads merge, each some of the parts."""
    facts = list(facts)
    threads = 1 if sum(len(fact.data) for fact in facts) <= FEW else 2
    common = [fact for fact in facts if fact.what in _COMMON]
    others = [fact for fact in facts if fact.what not in _COMMON]
    halves = [[fact for fact in others if fact.part % threads == half] for half in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        merged = list(pool.map(lambda own: list(Merge(months).tables([*own, *common])), halves))
    files = {number: (file.shown, file.size - file.start, file.error) for number, file in inputs.items()}
    return combine([part for parts in merged for part in parts], files)


def _write_facts(path: Path, facts: list[Fact]) -> None:
    batches = [to_batch([fact]) for fact in facts]
    _write(path, batches, to_batch([Fact(0, What.REPORT, b"")]).schema)


def _write(path: Path, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    aside = path.with_name(f".{path.name}")
    with open(aside, "wb", opener=own_file) as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    _rename(aside, path)


def _rename(aside: Path, path: Path) -> None:
    """Gives a file its name once its bytes are on disk: a machine that loses power leaves all of it or nothing."""
    for one in (aside, path.parent):
        if one == path.parent:
            aside.replace(path)
        descriptor = os.open(one, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()

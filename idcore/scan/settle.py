"""Little-endian ids and offsetMsgIds that look alike, settled by all ids of one origin. Reads no line and no time.

A task judges each id alone. All that begin with the same ten bytes are of one broker, or of one little-endian process.
`idcore.ids.neighbours` has the same rule, for the ids of a page or of a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from idcore.ids import rules
from idcore.kernels import codes, encode, find, little_endian

from .crossing import Block

Origin = tuple[int, int]  # address and port, as bytes 0 to 3 and 6 to 7 say them
_U = np.uint64
_SOME = 8  # one offset in so many ends in 00 where a process is looked for: of a broker one in 256 does


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a block that may be of either kind: its values as offsets, and how often each is in the input."""

    block: int
    key: int
    little: bool
    offsets: np.ndarray
    counts: np.ndarray


def settle(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with every run under the key that all ids of its origin give it."""
    moved: dict[Origin, list[_Run]] = {}
    for origin, runs in _doubtful(blocks).items():
        is_little = _is_little(origin, runs)
        if is_little is not None and any(run.little != is_little for run in runs):
            moved[origin] = [run for run in runs if run.little != is_little]
    if not moved:
        return list(blocks)
    taken: dict[int, set[int]] = {}
    for runs in moved.values():
        for run in runs:
            taken.setdefault(run.block, set()).add(run.key)
    kept = [without(block, list(taken[at])) if at in taken else block for at, block in enumerate(blocks)]
    return [
        *kept,
        _encoded([piece for origin, runs in moved.items() for run in runs for piece in _pieces(origin, run)]),
    ]


def _doubtful(blocks: Sequence[Block]) -> dict[Origin, list[_Run]]:
    """The runs of every origin that has ids of both kinds, or offsets all of which may end in 00."""
    brokers: dict[Origin, list[tuple[int, int]]] = {}
    processes: dict[Origin, list[tuple[int, int]]] = {}
    ends_in_00: dict[Origin, list[int]] = {}  # different offsets, and those of them that end in 00
    for at, block in enumerate(blocks):
        code = codes.codes_of(block.keys)
        offset, turned = np.flatnonzero(code == int(find.CODE_OFFSET_V4)), np.flatnonzero(code == int(find.CODE_LE))
        places = np.cumsum(block.lengths, dtype=np.int64) - block.lengths
        for key in offset.tolist():
            origin = int(block.keys[key, 1]), int(block.keys[key, 2] & find.WORD)
            brokers.setdefault(origin, []).append((at, key))
            if not rules.is_usual_port(origin[1]):
                ended = ends_in_00.setdefault(origin, [0, 0])
                ended[0] += int(block.distinct[key])
                ended[1] += encode.ends_in_00(block.runs, places[key], block.distinct[key])
        for key in turned.tolist():
            address, third = int(little_endian.swap_32(block.keys[key, 1])), int(block.keys[key, 2])
            if third >> 32 & 0xFFFF == 0:  # a pid above 65,535 is not a port
                processes.setdefault((address, int(little_endian.swap_16(_U(third & 0xFFFF)))), []).append((at, key))
    return {
        origin: [_run(blocks, *one, little=False) for one in runs]
        + [_run(blocks, *one, little=True) for one in processes.get(origin, ())]
        for origin, runs in brokers.items()
        if origin in processes or _SOME * ends_in_00.get(origin, (1, 0))[1] > ends_in_00.get(origin, (1, 0))[0]
    }


def _run(blocks: Sequence[Block], at: int, key: int, *, little: bool) -> _Run:
    block = blocks[at]
    size = int(block.distinct[key])
    values, counts = np.empty(size, np.uint64), np.empty(size, np.int64)
    encode.decode(block.runs, int(block.lengths[:key].sum()), size, block.keys[key, 2], values, counts, 0)
    return _Run(at, key, little, turned(values) if little else values, counts)


def turned(values: np.ndarray) -> np.ndarray:
    """Elapsed and counter as the six low bytes of an offset, or the other way round."""
    elapsed, counter = (values >> _U(16)).astype(np.uint32).byteswap(), values.astype(np.uint16).byteswap()
    return (elapsed.astype(np.uint64) << _U(16)) | counter


def shaped_as_little_endian(origin: Origin, offsets: np.ndarray) -> np.ndarray:
    """`idcore.ids.little_endian.shaped`, of ids with a port and an offset below 2^48."""
    address, port = origin
    if address & 0xFF >= 224 or not 0 < port < 0xFFFF:
        return np.zeros(len(offsets), np.bool_)
    elapsed = turned(offsets) >> _U(16)
    return (offsets & _U(0xFF) == 0) & (offsets >> _U(48) == 0) & (elapsed < rules.LITTLE_ENDIAN_ELAPSED_MS)


def _beats(origin: Origin, offsets: np.ndarray) -> np.ndarray:
    """`idcore.ids.little_endian.beats_offset`, of shaped ids."""
    there = _U(origin[0])
    back = _U(little_endian.swap_32(there))
    private, turned, nowhere = little_endian.is_private(there), little_endian.is_private(back), int(back) >> 24 == 0
    usual = rules.is_usual_port(origin[1])
    if private and not turned:
        return np.zeros(len(offsets), np.bool_)
    large = offsets >= rules.LARGE_OFFSET
    large |= (offsets >= rules.USUAL_OFFSET) & (not private and (turned or nowhere))
    return np.where(offsets > rules.HUGE_OFFSET, not (nowhere and usual), large & (not usual))


def _is_little(origin: Origin, runs: Sequence[_Run]) -> bool | None:
    """Whether all are of a little-endian process; None where no other id of the origin shows it."""
    offsets, counts = np.concatenate([run.offsets for run in runs]), np.concatenate([run.counts for run in runs])
    shaped = shaped_as_little_endian(origin, offsets)
    well = shaped & (offsets >= rules.USUAL_OFFSET)
    least, greatest = offsets[well].min(initial=_U(1 << 62)), offsets[well].max(initial=_U(0))
    total, likely = int(counts.sum()), int(counts[well].sum())
    if 2 * likely > total:
        apart = likely >= 3 and int(greatest) - int(least) >= rules.LARGE_OFFSET
        apart = apart and not rules.is_usual_port(origin[1])
        if (_beats(origin, offsets)[well]).any() or apart:
            return True if least < greatest else None
    return False if likely < total else None


def _pieces(origin: Origin, run: _Run) -> Iterator[tuple[list[int], np.ndarray]]:
    """Words and values of the keys that a run becomes: what cannot be little-endian stays as it was."""
    address, port = origin
    shaped = shaped_as_little_endian(origin, run.offsets)
    broker = [0, address, int(find.CODE_OFFSET_V4) << 56 | port]
    values = np.repeat(run.offsets, run.counts)
    if run.little:
        yield broker, np.sort(values)
        return
    process = [
        0,
        int(little_endian.swap_32(_U(address))),
        int(find.CODE_LE) << 56 | int(little_endian.swap_16(_U(port))),
    ]
    kept = np.repeat(shaped, run.counts)
    if shaped.any():
        yield process, np.sort(turned(values[kept]))
    if not shaped.all():
        yield broker, np.sort(values[~kept])


def without(block: Block, keys: Sequence[int] | np.ndarray) -> Block:
    """A block without some keys."""
    gone = np.zeros(len(block.keys), np.bool_)
    gone[keys] = True
    runs = block.runs[~np.repeat(gone, block.lengths)]
    paired = block.paired
    packed = int(block.paired_lengths.sum())
    paired = np.concatenate([paired[:packed][~np.repeat(gone, block.paired_lengths)], paired[packed:]])
    return block._replace(
        keys=block.keys[~gone],
        distinct=block.distinct[~gone],
        lengths=block.lengths[~gone],
        runs=runs,
        paired_lengths=block.paired_lengths[~gone],
        paired=paired,
    )


def _encoded(pieces: Sequence[tuple[list[int], np.ndarray]]) -> Block:
    """Keys with their sorted values as a block of their own, without paired_offsets."""
    words = np.array([words for words, _ in pieces], np.uint64)
    values = np.concatenate([values for _, values in pieces])
    starts = np.concatenate([[0], np.cumsum([len(values) for _, values in pieces])]).astype(np.int64)
    keys = len(words)
    distinct, lengths = np.empty(keys, np.uint32), np.empty(keys, np.uint32)
    out = np.empty(20 * len(values) + 32, np.uint8)
    groups = encode.Groups(values, starts, words, np.zeros(keys, np.bool_))
    size = encode.encode(groups, np.arange(keys), distinct, lengths, out)
    nothing = np.zeros(0, np.uint8)
    return Block(
        words, distinct, lengths, out[:size], np.zeros((0, 3), np.uint64), np.zeros(keys, np.uint32), nothing, 0
    )

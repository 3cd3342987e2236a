"""Text to ids: finds every token, judges it as `idcore.ids.identify` does, and files it under its process or broker.

One call takes one window of text. It keeps no text, allocates nothing, and leaves an id where its first digit is. The
judgement is `idcore.ids.identify` in machine words: the tests hold the two equal over random tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from idcore.base.layout import CLIENT_START, CLIENT_V1, ID_DIGITS, LAYOUTS, OFFSET_V4, UNIQ_V4, UNIQ_V6, Layout
from idcore.ids import rules
from idcore.kernels import inlined, inner, kernel
from idcore.kernels.codes import CLIENTS, CODE_SHIFT, CODES, EARLY, OFFSETS, UNIQS, WORDS_SIZE, rows_of
from idcore.kernels.little_endian import (
    COUNTER_SHIFT,
    WORD,
    looks_little_endian,
    may_be_little_endian,
    shaped_little_endian,
    swap_16,
    swap_32,
)

from . import signs
from .signs import is_digit, is_letter, is_quote_or_space
from .vector import (
    bo_mask_64,
    borrowed,
    hex_mask_64,
    leading_zeros,
    letter_case_32,
    load_8,
    load_64,
    newline_mask_64,
    ones_of,
    trailing_zeros,
    unhex_32,
)

U = np.uint64


def _bits_after(layout, name):  # type: ignore[no-untyped-def]
    """Bits to the right of a field."""
    return 8 * (layout.size - layout.span(name).stop)


CODE_V4, CODE_V6 = U(CODES["uniq_v4"]), U(CODES["uniq_v6"])
CODE_CLIENT, CODE_LE = U(CODES["client_v1"]), U(CODES["uniq_v4_le"])
CODE_OFFSET_V4, CODE_OFFSET_V6 = U(CODES["offset_v4"]), U(CODES["offset_v6"])
VALUE_SHIFT = U(_bits_after(UNIQ_V4, "loader"))
PID_SHIFT = U(_bits_after(UNIQ_V4, "pid") - _bits_after(UNIQ_V4, "loader"))
SEQUENCE_SHIFT = U(_bits_after(CLIENT_V1, "seconds"))
assert (UNIQ_V4.digits, UNIQ_V6.digits) == (32, 56), "`judge` reads these, as two words and as three"
assert _bits_after(OFFSET_V4, "port") == 64 and _bits_after(CLIENT_V1, "pid") == 64, (
    "the words of the kernel are 8 bytes"
)

VALUE_MASK = U((1 << int(VALUE_SHIFT)) - 1)
MAX_OFFSET = U(rules.OFFSET_LIMIT)
MAX_ELAPSED = U(rules.LONGEST_MONTH_MS + rules.ELAPSED_SLACK_MS)
SET_BACK = U(rules.ELAPSED_WRAP - rules.CLOCK_BACK_MS)
CASE_SHIFT = U(16)  # a 5.x msgId's third word: in which case the letters of its last 16 digits are
BLOCK = 16  # a run of 32 digits holds a whole block of 16 for any begin of the blocks
LOW_BITS, HIGH_BITS = U(0x7FFF7FFF7FFF7FFF), U(0x8000800080008000)
LONGEST_LINE = 1 << 20
ESCAPED_SIGNS = tuple(int.from_bytes(b"%02x" % sign, "big") for sign in b'=:"[, ')
LINE_IDS = 1 << 15  # of a kind, in one line: more than a line of 1 MiB may have, with a sign between two
# Columns of a line that is kept; the last: whether a `bo` may be in it, as in bornTimestamp.
LINE_COLUMNS = 5
FIRST_ID, END_ID, BEGIN, END, HAS_BO = range(LINE_COLUMNS)
BLOCKS = 32  # of 64 bytes, looked at together
LINE_ENDED = np.int64(-1)

REASONS = ("lower_case", "version", "port", "elapsed", "other_name", "trace_id")
LOWER_CASE, VERSION, PORT, ELAPSED, OTHER_NAME, TRACE_ID = range(6)
OF_THING = 16  # what `judge` says of OTHER_NAME: this, and the row of THINGS
STATE_IDS, STATE_KEYS, LINE_START, LINE_OPEN, LINE_FIRST = range(5)
STATE_LINES, STATE_RANGES, STATE_PAIRED, STATE_LOOSE, STATE_VOTES = range(5, 10)
STATE_NAMED = 10
STATE_SIZE = 11
# Columns of a msgId that a name calls something else: its key, value, the row of THINGS, its place.
NAMED_COLUMNS = 6
KEY_COLUMNS, TABLE_COLUMNS = 3, 8
TABLE_SLOT, TABLE_IDS, TABLE_LAST, TABLE_UNSORTED, TABLE_MARKS = range(KEY_COLUMNS, TABLE_COLUMNS)
# Marks of a key: the case of letters (`letter_case_16`); whether no usual launch has it, a label vouches for it, it has
# several ids, one of them has a letter behind the process, and the place of one shows that it may be an id.
LETTER_CASES = U(3)
UNKNOWN, LABELLED, SEVERAL, LETTERED, SHOWN = U(4), U(8), U(16), U(32), U(64)
# What a call does: count ids, read on for a line that began earlier, write down where each id is.
COUNT, TAIL, PLACE = range(3)


def _words(names: Iterable[bytes]) -> np.ndarray:
    """A row for each name: its length, then its letters."""
    every = list(names)
    rows = np.zeros((len(every), 16), np.uint8)
    for row, name in zip(rows, every, strict=True):
        row[0] = len(name)
        row[1 : 1 + len(name)] = np.frombuffer(name, np.uint8)
    return rows


LABELS = _words(map(str.encode, rules.VOUCHING_LABELS))
THINGS = _words(map(str.encode, rules.OTHER_THINGS))
TRACES = np.array([thing in rules.TRACES for thing in rules.OTHER_THINGS])
MESSAGES, MESSAGE_WITHIN, CELL_SIGNS_MOST = _words(rules.MESSAGE_WORDS), rules.MESSAGE_WITHIN, rules.CELL_SIGNS_MOST
MASK_SIGNS_MOST = rules.MASK_SIGNS_MOST
LONGEST_NAME, OTHER_SIGNS_MOST = rules.LONGEST_NAME, rules.OTHER_SIGNS_MOST
LABEL_SIGNS_MOST, BACKSLASHES_MOST = rules.LABEL_SIGNS_MOST, rules.BACKSLASHES_MOST
ENTITY_WORDS = np.array([int.from_bytes(entity.encode(), "little") for entity in rules.ENTITIES], np.uint64)
ENTITY_SIGNS = np.array([(ord(sign), len(entity)) for entity, sign in rules.ENTITIES.items()])
# The rows of THINGS by their last letter, a to z, and where in these those of each letter begin.
BY_LAST = np.array(sorted(range(len(THINGS)), key=lambda row: rules.OTHER_THINGS[row][-1]))
OF_LAST = np.array([sum(thing[-1] < chr(97 + letter) for thing in rules.OTHER_THINGS) for letter in range(27)])
TRACEID = U(int.from_bytes(b" traceid", "little"))
CDATA = U(int.from_bytes(b"![CDATA[", "little"))


# The layouts of a length that no msgId shares with an offsetMsgId, by code: their bytes alone say what they are.
SHARED_DIGITS = V4_DIGITS, V6_DIGITS = UNIQ_V4.digits, UNIQ_V6.digits
LEAST_DIGITS, MOST_DIGITS = ID_DIGITS[0], ID_DIGITS[-1]
OWN_LENGTHS = {CODES[name]: layout for name, layout in LAYOUTS.items() if layout.digits not in SHARED_DIGITS}
CLIENT_DIGITS, CLIENT_VERSION = CLIENT_V1.digits, U(int(CLIENT_START, 16))
CLIENT_FIRST, CLIENT_SECOND = CLIENT_START.encode()


class Rules(NamedTuple):
    """What decides whether a token is an id: whether lower case will do, whether look-alikes are ids, the loaders of
    known clients and those of usual launches, sorted, and rows of the layouts that have a length of their own.
    `digits`: the lengths of ids, as bits."""

    any_case: bool
    all_are_ids: bool
    loaders: np.ndarray
    usual: np.ndarray
    own_lengths: np.ndarray
    digits: np.uint64


def rules_for(case: str, loaders: np.ndarray, usual: np.ndarray, own_lengths: dict[int, Layout] = OWN_LENGTHS) -> Rules:
    """The rules by the table of layouts."""
    digits = {*SHARED_DIGITS, *(layout.digits for layout in own_lengths.values())}
    assert 32 <= min(digits) and max(digits) < 64, "the finder takes runs of 32 to 63 digits"
    return Rules(
        case == "any", case != "strict", loaders, usual, rows_of(own_lengths), U(sum(1 << size for size in digits))
    )


class FoundIds(NamedTuple):
    """What is found. `table`: open-addressed keys, a power of two of rows, each with its slot, ids, last value, whether
    they came out of order, and marks. `keys`: the key of each slot. `values`, `slots`, `places`: one entry an id; its
    place is the byte of the text at which it begins. `lines`: those kept. `state`: how many of all these there are.
    `refused`, `samples`: what is not an id, by reason; `named`: those that a name calls something else."""

    table: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    slots: np.ndarray
    lines: np.ndarray
    state: np.ndarray
    refused: np.ndarray
    samples: np.ndarray
    places: np.ndarray
    named: np.ndarray


@inlined
def hash_of(k0, k1, k2):
    h = (k0 * U(0x9E3779B97F4A7C15)) ^ (k1 * U(0xC2B2AE3D27D4EB4F)) ^ (k2 * U(0xFF51AFD7ED558CCD))
    h ^= h >> U(32)
    h *= U(0xD6E8FEB86659FD93)
    return h ^ (h >> U(29))


@inner
def letter_case_16(p):
    """Of 16 hex digits: bit 0 is set when one is an upper-case letter, bit 1 when one is a lower-case letter."""
    upper = lower = U(0)
    for place in (U(0), U(8)):
        word = load_64(p + place)
        letter = (word >> U(6)) & U(0x0101010101010101)
        small = (word >> U(5)) & letter
        upper |= letter & ~small
        lower |= small
    return U(upper != U(0)) | (U(lower != U(0)) << U(1))


@kernel
def is_known(loaders, loader):
    low, high = 0, loaders.size
    while low < high:
        middle = (low + high) >> 1
        if U(loaders[middle]) < loader:
            low = middle + 1
        else:
            high = middle
    return low < loaders.size and U(loaders[low]) == loader


@inlined
def digit_of(byte):
    """The value of a hex digit; 255 of another byte."""
    if is_digit(byte):
        return byte - signs.ZERO
    return (byte | 32) - signs.LOWER_A + 10 if signs.LOWER_A <= byte | 32 and byte | 32 <= signs.LOWER_F else 255


@kernel
def sign_before(p):
    """The sign in front of p, and how many bytes it has: `rules.sign_before`."""
    last, size = np.int64(load_8(p - U(1))), 1
    if last == signs.QUOTE or last == signs.APOSTROPHE:
        while size <= BACKSLASHES_MOST and load_8(p - U(size + 1)) == signs.BACKSLASH:
            size += 1
        return last, size
    if last == signs.SEMICOLON:
        word = load_64(p - U(8))
        for row in range(ENTITY_WORDS.size):
            if word >> U(64 - 8 * ENTITY_SIGNS[row, 1]) == ENTITY_WORDS[row]:
                return ENTITY_SIGNS[row, 0], ENTITY_SIGNS[row, 1]
        return last, 1
    high, low = digit_of(np.int64(load_8(p - U(2)))), digit_of(last)
    if high > 15 or low > 15:
        return last, 1
    before, second = load_8(p - U(3)), load_8(p - U(4))
    if before == signs.PERCENT or before == signs.EQUALS:
        return high << 4 | low, 3
    if before == signs.LOWER_X and second == signs.BACKSLASH:
        return high << 4 | low, 4
    if before == signs.FIVE and second == signs.TWO and load_8(p - U(5)) == signs.PERCENT:
        return high << 4 | low, 5
    if before == signs.ZERO and second == signs.ZERO:
        if load_8(p - U(5)) == signs.LOWER_U and load_8(p - U(6)) == signs.BACKSLASH:
            return high << 4 | low, 6
    return last, 1


@inner
def has_label(p):
    """True when the word in front of `p` names a msgId; at most 4 separators may be between."""
    for _ in range(LABEL_SIGNS_MOST):
        c, size = sign_before(p)
        if not (is_quote_or_space(c) or is_naming(c) or c == signs.BRACKET or c == signs.COMMA):
            break
        p -= U(size)
    return ends_in_label(p - U(1))


@inner
def ends_in_label(end):
    """Whether a word whose last letter is at `end` names a msgId."""
    for row in range(LABELS.shape[0]):
        size = np.int64(LABELS[row, 0])
        same = True
        for i in range(size):
            c = load_8(end - U(i))
            if signs.UPPER_A <= c <= signs.UPPER_Z:
                c += 32
            if c != LABELS[row, size - i]:
                same = False
                break
        if same:
            return True
    return False


@inner
def ends_in_thing(p, size):
    """Which of OTHER_THINGS the last word of the name of so many letters in front of p is, or -1: `_thing_at_end`."""
    if size == 0 or not is_letter(load_8(p - U(1))):
        return -1
    letter = np.int64((load_8(p - U(1)) | 32) - signs.LOWER_A)
    for at in range(OF_LAST[letter], OF_LAST[letter + 1]):
        row = BY_LAST[at]
        length = np.int64(THINGS[row, 0])
        if length > size:
            continue
        same = True
        for i in range(1, length):
            if load_8(p - U(1 + i)) | 32 != THINGS[row, length - i]:
                same = False
                break
        if same:
            first, before = load_8(p - U(length)), load_8(p - U(length + 1))
            if length == size or not is_letter(before) or (first < signs.LOWER_A and before >= signs.LOWER_A):
                return row
    return -1


@inlined
def is_escaped(byte):
    """Whether a letter behind a backslash is a line break or a tab: `rules.behind_escape`."""
    return byte == signs.LOWER_N or byte == signs.LOWER_R or byte == signs.LOWER_T


@kernel
def other_thing(p):
    """Which of OTHER_THINGS the text in front of p names, or -1: `rules.other_thing`."""
    if load_8(p - U(1)) == signs.BRACKET and load_64(p - U(8)) == CDATA and load_8(p - U(9)) == signs.LESS:
        p -= U(9)
    names = False
    for _ in range(OTHER_SIGNS_MOST):
        byte, wide = sign_before(p)
        if is_naming(byte) or byte == signs.GREATER:
            names = True
        elif not is_quote_or_space(byte) and byte != signs.BRACKET:
            break
        p -= U(wide)
    if not names:
        return -1
    size = 0
    while size < LONGEST_NAME:
        byte = load_8(p - U(size + 1))
        if not (is_letter(byte) or is_digit(byte) or byte == signs.UNDERSCORE or byte == signs.HYPHEN):
            break
        size += 1
    if size > 1 and load_8(p - U(size + 1)) == signs.BACKSLASH and is_escaped(load_8(p - U(size))):
        size -= 1
    if size == 0 or ends_in_label(p - U(1)):
        return -1
    row = ends_in_thing(p, size)
    if row >= 0:
        return row
    while size and is_digit(load_8(p - U(1))):
        p -= U(1)
        size -= 1
    if size >= 2 and load_8(p - U(1)) | 32 == signs.LOWER_D and load_8(p - U(2)) | 32 == signs.LOWER_I:  # id
        p -= U(2)
        size -= 2
        while size and (load_8(p - U(1)) == signs.UNDERSCORE or load_8(p - U(1)) == signs.HYPHEN):
            p -= U(1)
            size -= 1
    return ends_in_thing(p, size)


@kernel
def is_of_traceparent(p):
    """Whether 32 digits at p are the trace ID of a W3C traceparent: `rules.is_of_traceparent`."""
    if load_8(p - U(1)) != signs.HYPHEN or load_8(p + U(32)) != signs.HYPHEN or load_8(p + U(49)) != signs.HYPHEN:
        return False
    return hex_mask_64(p - U(3)) & U(3) == U(3) and hex_mask_64(p + U(33)) & U(0xFFFF) == U(0xFFFF)


@inlined
def is_naming(byte):
    """Whether a sign behind a name is of its value: = or a colon."""
    return byte == signs.COLON or byte == signs.EQUALS


@inner
def names_trace(p):
    """Whether the text in front of p names a trace ID. That of most logs, `traceId=`, is told at once."""
    end = p
    for _ in range(OTHER_SIGNS_MOST):
        byte, wide = sign_before(end)
        if not (is_naming(byte) or is_quote_or_space(byte) or byte == signs.GREATER or byte == signs.BRACKET):
            break
        end -= U(wide)
    last = load_8(end - U(1)) | 32
    if (
        last != signs.LOWER_D
        and last != signs.LOWER_E
        and not is_digit(load_8(end - U(1)))
        and load_8(p - U(1)) != signs.BRACKET
    ):
        return False  # of neither `trace`, `tid` nor an `id`, and no CDATA
    word, before = load_64(end - U(8)) | U(0x2020202020202020), load_8(end - U(8))
    if word >> U(8) == TRACEID >> U(8) and not is_letter(before) and before != signs.BACKSLASH:
        if is_naming(load_8(end)):
            return True
    thing = other_thing(p)
    return thing >= 0 and TRACES[thing]


@inlined
def of_lower_case(p, size, rules):
    """Why digits with no letter in upper case are rejected, or -1 where lower case will do."""
    reason = -1 if rules.any_case else LOWER_CASE
    if size == V4_DIGITS:
        before = load_8(p - U(1))
        if before == signs.HYPHEN:
            if is_of_traceparent(p):
                reason = TRACE_ID
        elif (before != signs.SPACE or not is_letter(load_8(p - U(2)))) and names_trace(p):
            hi, lo = unhex_32(p)
            if not is_known(rules.usual, ((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD):
                reason = TRACE_ID
    return reason


@inner
def keep_sample(reason, buf, place, size, origin, refused, samples):
    refused[reason, 1] = place + origin
    refused[reason, 2] = size
    for i in range(size):
        samples[reason, i] = buf[place + i]


@inlined
def refuse(reason, buf, place, size, origin, refused, samples):
    if refused[reason, 0] == 0:
        keep_sample(reason, buf, place, size, origin, refused, samples)
    refused[reason, 0] += 1


@inlined
def is_offset(k2):
    return OFFSETS >> (k2 >> CODE_SHIFT) & U(1) != U(0)


@inlined
def is_client(k2):
    return CLIENTS >> (k2 >> CODE_SHIFT) & U(1) != U(0)


@inlined
def is_early(k2):
    """Whether the month of a process begins on the last day of the month before."""
    return EARLY >> (k2 >> CODE_SHIFT) & U(1) != U(0)


@inlined
def may_pair(bytes_long, line_open, ids):
    """A line is kept when it may show something: seen from its start, not too long, an id, not too many."""
    return line_open and 1 <= ids and ids <= 2 * LINE_IDS and bytes_long <= LONGEST_LINE


@inlined
def client_of(hi, lo, letters):
    """Key and value of a 5.x id, by its 16 bytes behind the version, and the case of its last 16 digits."""
    return hi >> U(16), (CODE_CLIENT << CODE_SHIFT) | (letters << CASE_SHIFT) | (hi & U(0xFFFF)), lo


@inlined
def is_little_endian(hi, lo, loaders):
    """Whether an id without a valid port is of a little-endian client."""
    return (
        may_be_little_endian(lo)
        and shaped_little_endian(hi, lo)
        and not is_known(loaders, ((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD)
    )


@inlined
def id_of(hi, lo, wide, loaders):
    """Of the last 16 bytes of a 4.x id: why it is rejected (-1: it is not), address, third word, value."""
    port = hi & WORD
    address = hi >> U(32)
    is_place = U(1) <= port and port < U(65536) and lo <= MAX_OFFSET
    if is_place and (wide or not looks_little_endian(hi, lo)):
        return -1, address, ((CODE_OFFSET_V6 if wide else CODE_OFFSET_V4) << CODE_SHIFT) | port, lo
    if is_place or (not wide and port >= U(65536) and is_little_endian(hi, lo, loaders)):
        loader = swap_32(((hi << U(16)) | (lo >> VALUE_SHIFT)) & WORD)
        k2 = (CODE_LE << CODE_SHIFT) | (swap_16((hi >> U(16)) & U(0xFFFF)) << PID_SHIFT) | loader
        elapsed = swap_32((lo >> COUNTER_SHIFT) & WORD)
        return -1, swap_32(address), k2, (elapsed << COUNTER_SHIFT) | swap_16(lo & U(0xFFFF))
    identity = ((port << U(16)) | (lo >> VALUE_SHIFT)) & U((1 << 48) - 1)
    loader = identity & WORD
    elapsed = (lo & VALUE_MASK) >> COUNTER_SHIFT
    reason = -1
    if port < U(65536) and loader == U(0):
        reason = PORT
    elif elapsed > MAX_ELAPSED and elapsed < SET_BACK and not is_known(loaders, loader):
        reason = ELAPSED  # unless a label vouches for it
    return reason, address, ((CODE_V6 if wide else CODE_V4) << CODE_SHIFT) | identity, lo & VALUE_MASK


@inlined
def by_name(reason, p, k2, rules):
    """Why a msgId is none, after the name in front of it: one that names something else, but of a usual launch or an
    early month, or one that vouches for an impossible elapsed. Where all are ids, the first vouches for it too."""
    if reason > 0 and reason != ELAPSED:
        return reason
    if rules.all_are_ids:
        return -1 if reason == ELAPSED and (has_label(p) or other_thing(p) >= 0) else reason
    thing = other_thing(p)
    if thing >= 0 and not is_early(k2) and not is_known(rules.usual, k2 & WORD):
        return OF_THING + thing
    return -1 if reason == ELAPSED and has_label(p) else reason


@inner
def judge_own_length(p, size, rules):
    """As `judge`, of a length that no msgId shares with an offsetMsgId: by the rows of the layouts of that length."""
    rows = rules.own_lengths
    for row in range(rows.shape[0]):
        if rows[row, 0] != size:
            continue
        code = U(rows[row, 1])
        k0 = k1 = k2 = value = U(0)
        fits = True
        for at in range(size >> 1):
            high, low = U(load_8(p + U(2 * at))), U(load_8(p + U(2 * at + 1)))
            byte = (((high & U(15)) + (high >> U(6)) * U(9)) << U(4)) | ((low & U(15)) + (low >> U(6)) * U(9))
            place = rows[row, 2 + at]
            moved = byte << U(8 * (7 - (place & 7)))
            if place >= WORDS_SIZE:
                fits &= byte == U(place - WORDS_SIZE)
            elif place >= 24:
                value |= moved
            elif place >= 16:
                k2 |= moved
            elif place >= 8:
                k1 |= moved
            else:
                k0 |= moved
        if not fits:
            continue
        k2 |= code << CODE_SHIFT
        if is_client(k2):
            return -1, k0, k1, k2 | letter_case_16(p + U(size - 16)) << CASE_SHIFT, value
        elapsed = value >> COUNTER_SHIFT
        late = elapsed > MAX_ELAPSED and elapsed < SET_BACK and not is_known(rules.loaders, k2 & WORD)
        return by_name(ELAPSED if late else -1, p, k2, rules), k0, k1, k2, value
    return VERSION, U(0), U(0), U(0), U(0)


@inlined
def may_be_chance(k2, rules):
    """Whether hex digits are of a process by chance, as its loader is of no usual launch."""
    return UNIQS >> (k2 >> CODE_SHIFT) & U(1) != U(0) and not is_known(rules.usual, k2 & WORD)


@inlined
def judge(p, size, rules):
    """Of so many digits at p as an id has: why they are rejected (-1: they are not), key and value."""
    letters = letter_case_32(p)
    if size != V4_DIGITS:
        letters |= letter_case_32(p + U(size - 32))
    if letters == U(2):
        reason = of_lower_case(p, size, rules)
        if reason >= 0:
            return reason, U(0), U(0), U(0), U(0)
    hi, lo = unhex_32(p)
    if size == V4_DIGITS:
        reason, k1, k2, value = id_of(hi, lo, False, rules.loaders)
        if k2 >> CODE_SHIFT == CODE_V4:
            reason = by_name(reason, p, k2, rules)
        return reason, U(0), k1, k2, value
    if size == V6_DIGITS:
        last_hi, last_lo = unhex_32(p + U(24))
        reason, _, k2, value = id_of(last_hi, last_lo, True, rules.loaders)
        if k2 >> CODE_SHIFT == CODE_V6:
            reason = by_name(reason, p, k2, rules)
        return reason, hi, lo, k2, value
    if size == CLIENT_DIGITS and hi >> U(56) == CLIENT_VERSION:  # half the instructions of `judge_own_length`
        hi, lo = unhex_32(p + U(2))
        k1, k2, value = client_of(hi, lo, letter_case_16(p + U(18)))
        return -1, U(0), k1, k2, value
    return judge_own_length(p, size, rules)


@inlined
def is_longer(p, size, rules):
    """Whether one digit or two of `size` are behind a msgId of a known client that a label vouches for."""
    is_client = load_8(p) == CLIENT_FIRST and load_8(p + U(1)) == CLIENT_SECOND
    if size != LEAST_DIGITS + 1 and (size != CLIENT_DIGITS or is_client):
        return False
    if not has_label(p):
        return False
    reason, _, _, k2, _ = judge(p, 32, rules)
    return reason < 0 and k2 >> CODE_SHIFT == CODE_V4 and is_known(rules.loaders, k2 & WORD)


@inlined
def is_octal(byte):
    return signs.ZERO <= byte and byte <= signs.SEVEN


@inner
def is_escaped_sign(p):
    """Whether the two digits at p are those of a sign in front of a value: = : " [ , or a blank."""
    pair = np.int64(load_8(p) << 8 | load_8(p + U(1)) | 32)
    for sign in ESCAPED_SIGNS:
        if pair == sign:
            return True
    return False


@inner
def mask_sign(p):
    """How many bytes the sign of a mask at p has, and how many such signs are there; 0 of each where none is."""
    first = load_8(p)
    width = 1
    if first == signs.WIDE:  # … and •
        if load_8(p + U(1)) != signs.WIDE_SECOND:
            return 0, 0
        third = load_8(p + U(2))
        if third != signs.ELLIPSIS_THIRD and third != signs.BULLET_THIRD:
            return 0, 0
        width = 3
    elif not (first == signs.STAR or first == signs.HASH or first == signs.DOT or first | 32 == signs.LOWER_X):
        return 0, 0
    count = 0
    while count < MASK_SIGNS_MOST:
        at = p + U(count * width)
        if load_8(at) != first or (width == 3 and load_8(at + U(2)) != load_8(p + U(2))):
            break
        count += 1
    return width, count


@kernel
def is_cut_v6(p, size):
    """Whether so many digits at p are the first of an ID of IPv6, whose rest is masked: `masks.is_cut_v6`."""
    first, second = load_8(p), load_8(p + U(1)) | 32
    is_f = first | 32 == signs.LOWER_F and signs.LOWER_C <= second and second <= signs.LOWER_E
    if size < LEAST_DIGITS or size >= MOST_DIGITS or not (first == signs.TWO or first == signs.THREE or is_f):
        return False
    end = p + U(size)
    width, count = mask_sign(end)
    first = load_8(end)
    if count == 0 or (count == 1 and width == 1 and first != signs.STAR):
        return False
    if size > V4_DIGITS:
        return True
    behind = end + U(count * width)
    rest = ~hex_mask_64(behind)
    digits = np.int64(trailing_zeros(rest)) if rest != U(0) else 64
    third = load_8(end + U(2))
    is_mask = count >= 3 and (first == signs.STAR or first == signs.HASH or third == signs.BULLET_THIRD)
    return digits < 24 and (digits > 0 or is_mask)


@inner
def has_loader(p, rules):
    """Whether the 32 digits at p have the loader of a known client where a msgId of IPv4 has it."""
    hi, lo = unhex_32(p)
    return is_known(rules.loaders, (hi & U(0xFFFF)) << U(16) | lo >> U(48))


@inner
def is_blank_of_v6(p, size):
    """Whether `=20` in front of 01 at p is the beginning of an address of IPv6, and no escape of a blank."""
    if load_8(p - U(1)) != signs.EQUALS or load_8(p + U(1)) != signs.ZERO or load_8(p) != signs.TWO:
        return False
    if load_8(p + U(2)) != signs.ZERO or load_8(p + U(3)) != signs.ONE:
        return False
    return has_label(p) or is_cut_v6(p, size)


@inlined
def escape_before(p, size, digits):
    """How many of the `size` digits at p belong to an escape that begins in front of them: `_escape` of the finder."""
    before = load_8(p - U(1))
    if before == signs.PERCENT:
        is_long = LEAST_DIGITS + 4 <= size and size <= MOST_DIGITS + 4
        twice = is_long and load_8(p) == signs.TWO and load_8(p + U(1)) == signs.FIVE and is_escaped_sign(p + U(2))
        return 4 if twice and digits >> U(size - 4) & U(1) != U(0) else 2
    if load_8(p - U(2)) == signs.BACKSLASH:
        if before == signs.LOWER_X:
            return 2
        if before == signs.LOWER_U:
            return 4
    if (size <= LEAST_DIGITS + 1 and before != signs.CARET) or size > MOST_DIGITS + 4:
        return 0
    count = 0
    if before == signs.EQUALS and is_escaped_sign(p):
        count = 0 if is_blank_of_v6(p, size) else 2
    elif before == signs.HASH or before == signs.BACKSLASH:
        octal = is_octal(load_8(p + U(1))) and is_octal(load_8(p + U(2)))
        if octal and signs.ZERO <= load_8(p) and load_8(p) <= signs.THREE:
            count = 3
    elif before == signs.CARET and signs.UPPER_A <= load_8(p) and load_8(p) <= signs.UPPER_F:
        count = 1
    return count if count and digits >> U(size - count) & U(1) != U(0) else 0


@inlined
def row_of(k0, k1, k2, table, keys, used):
    """The row of a key in the table, where it is put when it is new; and how many keys there are then."""
    rows = U(table.shape[0] - 1)
    h = hash_of(k0, k1, k2) & rows
    while True:
        there = table[h, 2]
        if there == U(0):
            table[h, 0] = keys[used, 0] = k0
            table[h, 1] = keys[used, 1] = k1
            table[h, 2] = keys[used, 2] = k2
            table[h, TABLE_SLOT] = U(used)
            return h, used + 1
        if there == k2 and table[h, 1] == k1 and table[h, 0] == k0:
            return h, used
        h = (h + U(1)) & rows


@inlined
def count_id(row, value, table):
    table[row, TABLE_IDS] += U(1)
    if value < table[row, TABLE_LAST]:
        table[row, TABLE_UNSORTED] = U(1)
    table[row, TABLE_LAST] = value


@inlined
def keep_letters(row, k2, tail, table):
    """Keeps the case of the last 16 digits, at `tail`, of a client without a loader: they tell Go from Elixir."""
    if k2 & WORD == U(0):
        table[row, TABLE_MARKS] |= letter_case_16(tail)


@inlined
def same_word(p, row):
    """Whether a word of MESSAGES is at p, in letters of any case."""
    for i in range(np.int64(MESSAGES[row, 0])):
        c, wanted = load_8(p + U(i)), MESSAGES[row, 1 + i]
        if c != wanted and not (wanted < 128 and c | 32 == wanted):
            return False
    return True


@inner
def is_edge(p, step):
    """Whether the line or a cell of it ends at p: `rules._is_edge`, by steps of 1 or -1."""
    separated = False
    for _ in range(CELL_SIGNS_MOST):
        c = load_8(p)
        if c == signs.COMMA or c == signs.SEMICOLON or c == signs.BAR or c == signs.TAB:
            separated = True
        elif not is_quote_or_space(c) and c != signs.RETURN:
            break
        p += step
    c = load_8(p)
    return separated or c == signs.NEWLINE or c == 0 or c == 0xBF  # the last byte of a byte order mark


@kernel
def shows_id(p, size):
    """Whether the place of so many digits at p shows that they may be an id: `rules.shows_id`."""
    for back in range(1, MESSAGE_WITHIN + 1):
        if load_8(p - U(back)) == signs.NEWLINE:
            break
        for row in range(MESSAGES.shape[0]):
            if np.int64(MESSAGES[row, 0]) <= back and same_word(p - U(back), row):
                return True
    return is_edge(p - U(1), U((1 << 64) - 1)) and is_edge(p + U(size), U(1))


@inlined
def mark_suspect(row, value, p, size, table):
    """Marks the key of an unknown client, before its id at p is counted: what `idcore.scan.look_alikes` judges by."""
    marks = table[row, TABLE_MARKS]
    if marks & UNKNOWN == U(0):
        return
    if table[row, TABLE_IDS] != U(0) and table[row, TABLE_LAST] != value:
        marks |= SEVERAL
    if (value >> U(3)) & ((value >> U(2)) | (value >> U(1))) & U(0x1111111111111111) != U(0):
        marks |= LETTERED
    if marks & LABELLED == U(0) and has_label(p):
        marks |= LABELLED
    if marks & (SHOWN | SEVERAL) == U(0) and shows_id(p, size):
        marks |= SHOWN
    table[row, TABLE_MARKS] = marks


@kernel
def keep_named(k0, k1, k2, value, thing, place, found):
    """Keeps a msgId that a name calls something else, a row of THINGS; a window has fewer than there are rows."""
    row = found.state[STATE_NAMED]
    found.named[row, 0], found.named[row, 1], found.named[row, 2], found.named[row, 3] = k0, k1, k2, value
    found.named[row, 4], found.named[row, 5] = U(thing), U(place)
    found.state[STATE_NAMED] = row + 1


@inlined
def mark_starts(p, blocks, carry, starts):
    """Where ids may begin in some blocks of 64 bytes, found without a jump: the first whole 16 of a run of digits.

    `carry`: whether the 16 bytes before p are digits. Returns that of the next block, and all starts in one word.
    """
    every = U(0)
    for i in range(blocks):
        mask = ~hex_mask_64(p + U(64 * i))
        whole = ~(((mask & LOW_BITS) + LOW_BITS) | mask) & HIGH_BITS  # the top bit of each block of 16 hex digits
        starts[i] = whole & ~((whole << U(BLOCK)) | (carry << U(BLOCK - 1)))
        every |= starts[i]
        carry = whole >> U(63)
    return carry, every


@inlined
def mark_events(p, left, blocks, starts, events):
    """Places of line feeds among the first `left` bytes from p, and of starts; and whether a `bo` may be there."""
    count = 0
    bo = U(0)
    for i in range(blocks):
        at = 64 * i
        feeds = newline_mask_64(p + U(at))
        if left - at < 64:
            feeds &= (U(1) << U(left - at)) - U(1) if left > at else U(0)
        bo |= bo_mask_64(p + U(at))
        both = starts[i] | feeds
        ones = np.int64(ones_of(both))
        for k in range(3):  # the usual number; what is too much is written over
            events[count + k] = at + np.int64(trailing_zeros(both))
            both &= both - U(1)
        for k in range(3, ones):
            events[count + k] = at + np.int64(trailing_zeros(both))
            both &= both - U(1)
        count += ones
    return count, bo


@inner
def last_feed(p, size):
    """The place of the last line feed of `size` bytes, or -1."""
    at = size
    while at > 0:
        feeds = newline_mask_64(p + U(at - 64))
        if at < 64:
            feeds &= ~((U(1) << U(64 - at)) - U(1))
        if feeds != U(0):
            return at - 1 - np.int64(leading_zeros(feeds))
        at -= 64
    return -1


@kernel
def find(buf, origin, start, stop, what, rules, found):
    """Takes the tokens whose run of digits begins in buf[start:stop]; buf holds 64 bytes before and 192 after.

    Returns where to go on: `stop`, or earlier when the table must grow first; LINE_ENDED once the line that is read on
    (TAIL) has ended.
    """
    text = U(buf.ctypes.data)
    rules, found = borrowed(rules), borrowed(found)
    table, lines, state = found.table, found.lines, found.state
    limit = table.shape[0] // 2
    n, keys, kept = state[STATE_IDS], state[STATE_KEYS], state[STATE_LINES]
    line_start, line_open, line_first = state[LINE_START], state[LINE_OPEN], state[LINE_FIRST]
    ended = full = False
    told = U(line_start != start + origin)  # whether a `bo` was seen near this line, or what came before was not
    carry = U(hex_mask_64(text + U(start - 64)) >> U(48) == U(0xFFFF))
    starts = np.empty(BLOCKS, np.uint64)
    events = np.empty(64 * BLOCKS + 4, np.int64)
    place = stop
    for chunk in range(start, stop + BLOCK - 1, 64 * BLOCKS):
        blocks = min(BLOCKS, (stop + BLOCK - 1 - chunk + 63) >> 6)
        p = text + U(chunk)
        carry, any_start = mark_starts(p, blocks, carry, starts)
        if any_start != U(0) or n != line_first or what == TAIL:
            count, bo = mark_events(p, stop - chunk, blocks, starts, events)
        else:  # no id, and none before in the line that is open: only where the last line begins matters
            events[0] = last_feed(p, min(64 * blocks, stop - chunk))
            count, bo = np.int64(events[0] >= 0), U(1)
        told |= bo
        for event in range(count):
            at = chunk + events[event]
            if load_8(text + U(at)) == signs.NEWLINE:
                if n != line_first:
                    if may_pair(at + origin - line_start, line_open, n - line_first):
                        lines[kept, FIRST_ID], lines[kept, END_ID] = line_first, n
                        lines[kept, BEGIN], lines[kept, END] = line_start, at + origin
                        lines[kept, HAS_BO] = np.int64(told != U(0))
                        kept += 1
                    line_first = n
                if what == TAIL:
                    ended = True
                    break
                told = bo
                line_start = at + 1 + origin
                line_open = 1
                continue
            block = at - (BLOCK - 1)
            place = block - np.int64(leading_zeros(~hex_mask_64(text + U(block - 64))))
            rest = ~hex_mask_64(text + U(place))
            size = np.int64(trailing_zeros(rest)) if rest != U(0) else 999
            if place < start or place >= stop or size < LEAST_DIGITS:
                continue
            if keys >= limit:
                full = True
                break
            escape = escape_before(text + U(place), size, rules.digits)
            place += escape
            size -= escape
            if is_cut_v6(text + U(place), size) and not (size == V4_DIGITS and has_loader(text + U(place), rules)):
                continue
            if is_longer(text + U(place), size, rules):
                size = 32
            if size > 63 or rules.digits >> U(size) & U(1) == U(0):
                continue
            reason, k0, k1, k2, value = judge(text + U(place), size, rules)
            if reason >= 0:
                if what != TAIL:
                    if reason >= OF_THING:
                        if what == COUNT:
                            keep_named(k0, k1, k2, value, reason - OF_THING, place + origin, found)
                        reason = OTHER_NAME
                    refuse(reason, buf, place, size, origin, found.refused, found.samples)
            else:
                row, used = row_of(k0, k1, k2, table, found.keys, keys)
                if used != keys:
                    keys = used
                    if not rules.all_are_ids and may_be_chance(k2, rules):
                        table[row, TABLE_MARKS] |= UNKNOWN
                if what == COUNT:
                    mark_suspect(row, value, text + U(place), size, table)
                    count_id(row, value, table)
                    keep_letters(row, k2, text + U(place + size - 16), table)
                found.places[n] = place + origin
                found.values[n] = value
                found.slots[n] = np.uint32(table[row, TABLE_SLOT])
                n += 1
        if ended or full:
            break
    state[STATE_IDS], state[STATE_KEYS], state[STATE_LINES] = n, keys, kept
    state[LINE_START], state[LINE_OPEN], state[LINE_FIRST] = line_start, line_open, line_first
    return LINE_ENDED if ended else place if full else stop


@kernel
def grow(table, larger):
    """Moves every key into a larger table."""
    rows = U(larger.shape[0] - 1)
    for row in range(table.shape[0]):
        if table[row, 2] != U(0):
            h = hash_of(table[row, 0], table[row, 1], table[row, 2]) & rows
            while larger[h, 2] != U(0):
                h = (h + U(1)) & rows
            for column in range(table.shape[1]):
                larger[h, column] = table[row, column]

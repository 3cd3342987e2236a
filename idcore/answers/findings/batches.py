"""Counters that the items of a batch used up: ids that are in no consumer's log, and yet not missing. Reads no line.

DefaultMQProducer.batch (5.x) gives each of n items an id, then the MessageBatch: n counters and one more. The n records
have the last one as UNIQ_KEY; the others are printed by the producer's SendResult alone. So an id with n offsetMsgIds
one behind the other explains up to n missing counters right below it. A producer's own log has the n ids and not the
last one: right above the last of joined ids one missing counter is explained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import pyarrow as pa

from idcore.answers.findings import limits
from idcore.base.layout import OFFSET_DIGITS, VALUE_DIGITS
from idcore.scan.lines import LineEvidence


class Batches:
    """The ids of batches, with the number of messages of each, and these numbers by process."""

    def __init__(self, copies: Iterable[pa.Table] = (), evidence: LineEvidence | None = None) -> None:
        self.items: dict[str, int] = {}
        self.by_process: Counter[str] = Counter()
        self.whole = True  # whether all rows were looked at
        self.last_items: set[str] = set() if evidence is None else evidence.last_items
        self._senders = {msg_id[:-VALUE_DIGITS] for msg_id in self.last_items}
        again = {} if evidence is None else evidence.records
        left = limits.MOST_COPIES
        for piece in copies:
            if len(piece) > left:
                piece, self.whole = piece.slice(0, left), False
                if not left:
                    break
            left -= len(piece)
            for msg_id, joined in zip(*(piece[name].to_pylist() for name in ("msg_id", "offset_msg_ids")), strict=True):
                offsets = joined.split(",")
                # a SendResult prints the ids of the items, never that of their batch
                copied = any(record.again or record.status for record in again.get(msg_id, {}).values())
                if not copied and side_by_side(offsets):
                    self.items[msg_id] = len(offsets)
                    self.by_process[msg_id[:-VALUE_DIGITS]] += len(offsets)

    def of(self, msg_ids: Iterable[str]) -> list[int]:
        """How many messages each of these ids is the batch of; 0 for those that are not a batch."""
        return [self.items.get(msg_id, 0) for msg_id in msg_ids]

    def ends(self, msg_ids: Iterable[str]) -> list[bool]:
        """Whether each of these ids is that of the last item of a batch."""
        return [msg_id in self.last_items for msg_id in msg_ids]

    def made_by(self, msg_id: str) -> bool:
        """Whether the process that generated an id sent batches."""
        return msg_id[:-VALUE_DIGITS] in self._senders or self.total(msg_id) > 0

    def total(self, msg_id: str) -> int:
        """The messages of all batches of the process that generated an id."""
        return self.by_process.get(msg_id[:-VALUE_DIGITS], 0)


def side_by_side(offsets: list[str]) -> bool:
    """Whether offsetMsgIds, in the order of their offsets, are records of one broker one behind the other."""
    broker = offsets[0][:-OFFSET_DIGITS]
    if any(text[:-OFFSET_DIGITS] != broker for text in offsets):
        return False
    places = [int(text[-OFFSET_DIGITS:], 16) for text in offsets]
    return all(0 < after - before <= limits.BATCH_STEP_BYTES for before, after in pairwise(places))

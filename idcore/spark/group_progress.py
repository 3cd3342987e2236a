"""The table `progress` of a store: where each consumer group is in each queue. Reads no record and judges nothing."""

from __future__ import annotations

import pyarrow as pa

from idcore.answers.lookup.store_fates import StoreEvidence
from idcore.scan.schemas import SCHEMAS
from idcore.scan.tables import Tables


def table(evidence: StoreEvidence, scanned: Tables) -> pa.Table:
    """One row for each queue of a topic and each group that has an offset in the topic; system topics too."""
    config, topics = evidence.config, scanned["topics"]
    spans: dict[str, dict[int, tuple[int, int]]] = {}
    for topic, queue, first, last in zip(
        *(topics[name].to_pylist() for name in ("topic", "queue_id", "min_queue_offset", "max_queue_offset")),
        strict=True,
    ):
        spans.setdefault(topic, {})[queue] = (first, last + 1)
    rows = []
    for (topic, group), offsets in sorted((config.offsets or {}).items()):
        earlier = config.earlier.get((topic, group), {})
        for queue in sorted({*offsets, *spans.get(topic, ())}):
            begin, end = spans.get(topic, {}).get(queue, (None, None))
            by_queue = evidence.end_of(topic, queue)
            rows.append(
                {
                    "topic": topic,
                    "queue_id": queue,
                    "group": group,
                    "consumer_offset": offsets.get(queue),
                    "earlier_offset": earlier.get(queue),
                    "queue_begin": begin,
                    "queue_end": end if by_queue is None else by_queue,
                }
            )
    return pa.Table.from_pylist(rows, schema=SCHEMAS["progress"])

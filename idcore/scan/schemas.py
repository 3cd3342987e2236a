"""The columns of the tables that a scan writes, as docs/tables.md describes them, and the order of their rows."""

from __future__ import annotations

import pyarrow as pa

from idcore.ids.origins import PROCESS_KEY

TIME = pa.timestamp("us", "UTC")
TEXT = pa.string()
_TYPES = {"": pa.int64(), "small": pa.int32(), "text": TEXT, "time": TIME, "truth": pa.bool_(), "real": pa.float64()}
_PROCESS = "layout:text host:text pid:small loader:text"
_COUNTED = "ids distinct"
_SENT = "first_sent_at:time last_sent_at:time"
_OFFSETS = "min_offset max_offset"

# name:type, int64 where no type is given
_COLUMNS = {
    "processes": f"{_PROCESS} maker:text {_COUNTED} first_elapsed_ms last_elapsed_ms {_SENT} first_counter last_counter"
    " produced missing wraps wraps_certain:truth out_of_order tracks rate_per_second:real"
    " chains loader_position:small loader_bits:small last_possible_elapsed_ms zone:text zone_source:text month:text"
    " months_mixed:truth clock_back:truth one_counter:truth",
    "hosts": f"host:text processes {_COUNTED} {_SENT} assumed:text",
    "brokers": f"address:text host:text port {_COUNTED} segments {_OFFSETS} bytes_per_second:real",
    "segments": f"address:text segment:text {_COUNTED} {_OFFSETS}",
    "clients": f"mac:text pid:small {_COUNTED} {_SENT} min_sequence max_sequence maker:text zone:text zone_source:text",
    "counters": f"{_PROCESS} elapsed_ms sent_at:time counter position track chain missing_before",
    "timeline": "minute:time kind:text ids",
    "activity": "host:text minute:time ids",
    "distribution": f"address:text from_offset to_offset {_COUNTED}",
    "copies": "msg_id:text offset_msg_ids:text lines",
    "growth": f"address:text minute:time {_OFFSETS} min_at:time max_at:time",
    "findings": f"code:text severity:text subject:text count evidence:text values:text certainty:text {_SENT}"
    " assumed:text",
    "deliveries": "msg_id:text broker:text queue_id queue_offset physical_offset consumer_group:text try:small"
    " event:text at:time file:text line topic:text stored_topic:text thread:text status:text",
    "refused": "reason:text ids sample:text file:text byte",
    "lookalikes": f"reason:text label:text {_COUNTED} sample:text file:text byte",
    "topics": "topic:text queue_id messages bytes first_store_timestamp:time last_store_timestamp:time"
    f" {_OFFSETS} min_queue_offset max_queue_offset crc_failed",
    "tags": "topic:text tag:text messages bytes",
    "fates": "topic:text queue_id group:text minute:time verdict:text messages bytes first_queue_offset"
    " last_queue_offset first_store_timestamp:time last_store_timestamp:time",
    "undelivered": "topic:text queue_id queue_offset commit_log_offset bytes store_timestamp:time msg_id:text groups"
    " verdicts:text",
    "attempts": "topic:text queue_id queue_offset commit_log_offset msg_id:text group:text retry_times:small"
    " outcome:text led_to:text store_timestamp:time due_at:time began_at:time ended_at:time calls client:text"
    " copy_offset trace_offset",
    "retries": "group:text minute:time led_to:text tries most_retry_times",
    "progress": "topic:text queue_id group:text consumer_offset earlier_offset queue_begin queue_end",
    "files": "file:text bytes text_bytes ids refused error:text error_values:text lookalikes trace_ids",
}


def _schema(columns: str) -> pa.Schema:
    pairs = (column.partition(":") for column in columns.split())
    return pa.schema([(name, _TYPES[kind]) for name, _, kind in pairs])


# Of a process, as findings judge it: its clock was set back, so what it generated and misses is not known; its chains
# are one counter, and neither several processes nor restarts. Scans of older versions do not say it.
CLOCK_MARKS = CLOCK_BACK, ONE_COUNTER = "clock_back", "one_counter"
UNORDERED = ("months_mixed",)  # of which the counter cannot be followed, besides those that cut it
UNCOUNTED = (*UNORDERED, CLOCK_BACK)
GROUP_ROWS = 1 << 17  # of a file, read together: one host among millions is found without reading the others
OF_STORES = ("topics", "tags", "fates", "undelivered", "attempts", "retries", "progress")  # of a store only
SCHEMAS: dict[str, pa.Schema] = {name: _schema(columns) for name, columns in _COLUMNS.items()}
# Of a list of IDs that a live cluster was asked about. It has several brokers, each with a queue 0.
OF_LISTS: dict[str, pa.Schema] = {
    "fates": SCHEMAS["fates"].append(pa.field("broker", TEXT)),
    "undelivered": SCHEMAS["undelivered"].append(pa.field("broker", TEXT)),
    "asked_ids": _schema("id:text outcome:text reason:text topic:text records groups"),
}
ORDER = {
    "processes": PROCESS_KEY,
    "hosts": ["host"],
    "brokers": ["address"],
    "segments": ["address", "segment"],
    "clients": ["mac", "pid"],
    "counters": [*PROCESS_KEY, "sent_at", "elapsed_ms", "counter"],
    "timeline": ["minute", "kind"],
    "activity": ["host", "minute"],
    "distribution": ["address", "from_offset"],
    "copies": ["msg_id"],
    "growth": ["address", "minute"],
}
IN_ORDER = {"processes", "hosts", "counters", "activity"}  # of these each table of a merge has this order

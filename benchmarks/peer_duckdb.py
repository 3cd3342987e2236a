"""The tables processes, hosts, brokers and segments by DuckDB alone, as someone who knows it well would write them.

    python -m benchmarks.peer_duckdb LOG OUT        writes four Parquet files, prints one JSON line of totals

Kept generous: runs of 32 digits only, whatever has four zero digits in the middle is an offsetMsgId; nothing is scored,
refused or attributed. Equal ids are folded in one pass before anything is counted, so that distinct is exact.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb

TABLES = ("processes", "hosts", "brokers", "segments")

IDS = r"""
create table ids as
with texts as (
    select unnest(regexp_extract_all(line, '[0-9A-Fa-f]{32}')) as id
    from read_csv($log, columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '',
                  header = false, auto_detect = false)
)
select ('0x' || substr(id, 1, 16))::UBIGINT as high, ('0x' || substr(id, 17, 16))::UBIGINT as low, count(*) as n
from texts group by all
"""

UNIQ = """
create table uniq as
select high // 4294967296 as ip, (high // 65536) % 65536 as pid,
       (high % 65536) * 65536 + low // 281474976710656 as loader,
       (low // 65536) % 4294967296 as elapsed, (low % 65536)::BIGINT as counter, n
from ids where (high // 65536) % 65536 > 0
"""

PROCESSES = """
create table processes as
with steps as (
    select *, coalesce((counter - lag(counter) over in_order + 98304) % 65536 - 32768, 0) as step
    from uniq window in_order as (partition by ip, pid, loader order by elapsed, counter)
), positions as (
    select *, sum(step) over (partition by ip, pid, loader order by elapsed, counter
                              rows unbounded preceding) as position
    from steps
), processes as (
    select ip, pid, loader, sum(n) as ids, count(*) as "distinct",
           min(elapsed) as first_elapsed_ms, max(elapsed) as last_elapsed_ms,
           arg_min(counter, elapsed * 65536 + counter) as first_counter,
           arg_max(counter, elapsed * 65536 + counter) as last_counter,
           max(position) as highest, min(position) as lowest, count(distinct position) as filled,
           sum((step < 0)::INT) as out_of_order
    from positions group by all
)
select ip, pid, loader, ids, "distinct", first_elapsed_ms, last_elapsed_ms, first_counter, last_counter,
       highest - lowest + 1 as produced, highest - lowest + 1 - filled as missing,
       floor((first_counter + highest) / 65536) - floor((first_counter + lowest) / 65536) as wraps, out_of_order
from processes
"""

HOSTS = """
create table hosts as
select ip, count(*) as processes, sum(ids) as ids, sum("distinct") as "distinct",
       min(first_elapsed_ms) as first_elapsed_ms, max(last_elapsed_ms) as last_elapsed_ms
from processes group by ip
"""

SEGMENTS = """
create table segments as
select high // 4294967296 as ip, high % 65536 as port, low // 1073741824 * 1073741824 as segment,
       sum(n) as ids, count(*) as "distinct", min(low) as min_offset, max(low) as max_offset
from ids where (high // 65536) % 65536 = 0 group by all
"""

BROKERS = """
create table brokers as
select ip, port, sum(ids) as ids, sum("distinct") as "distinct", count(*) as segments,
       min(min_offset) as min_offset, max(max_offset) as max_offset
from segments group by ip, port
"""


def scan(log: Path, out: Path) -> dict[str, float]:
    begun = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    db = duckdb.connect()
    db.execute("set preserve_insertion_order = false")
    db.execute(IDS, {"log": str(log)})
    for statement in (UNIQ, PROCESSES, HOSTS, SEGMENTS, BROKERS):
        db.execute(statement)
    for table in TABLES:
        db.table(table).write_parquet(str(out / f"{table}.parquet"))
    totals = {table: db.table(table).count("*").fetchall()[0][0] for table in TABLES}
    ids, distinct = db.sql("select sum(n), count(*) from ids").fetchall()[0]
    return {**totals, "ids": int(ids), "distinct": distinct, "seconds": round(time.perf_counter() - begun, 2)}


if __name__ == "__main__":
    print(json.dumps(scan(Path(sys.argv[1]), Path(sys.argv[2]))))

"""What a scan costs by the style in which lines write their time: CPU of one task, the best of some rounds.

python -m benchmarks.styles                   lines written as their message is sent
python -m benchmarks.styles --late 1800       half an hour later, as consumers do: no ID proves such a time
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from idcore.scan.facts import scan_task
from idcore.scan.months import month_rows
from idcore.sources.inputs import list_files, split_files

BEGUN = datetime(2026, 3, 4, 10, 31, 12, tzinfo=UTC)
MONTHS = month_rows(datetime(2026, 6, 1, tzinfo=UTC), UTC)
STYLES = {
    "ISO 8601": "%Y-%m-%d %H:%M:%S,123",
    "time of day, logback": "%H:%M:%S.123 [main]",
    "no time": "",
    "syslog": "%b %d %H:%M:%S web1 order[812]:",
    "syslog and ISO 8601": "%b %d %H:%M:%S web1 order[812]: %Y-%m-%d %H:%M:%S,123",
    "Android": "%m-%d %H:%M:%S.123",
    "klog": "I%m%d %H:%M:%S.123456 12 send.go:1]",
    "nginx": '10.0.0.9 - - [%d/%b/%Y:%H:%M:%S +0000] "POST /send HTTP/1.1" 200',
    "date": "%a %b %d %H:%M:%S UTC %Y",
    "java.util.logging": "%b %d, %Y %I:%M:%S %p com.acme.Order send",
    "Tomcat": "%d-%b-%Y %H:%M:%S.123",
    "German": "%d.%m.%Y %H:%M:%S",
    "compact": "%Y%m%d %H:%M:%S.123",
    "zap, epoch": '{"level":"info","ts":%s.123}',
    "Chinese": "%Y年%m月%d日 %H:%M:%S",
    "WebSphere": "[%m/%d/%y %H:%M:%S:123 UTC]",
}


def lines_of(style: str, count: int, late: float) -> Iterator[str]:
    """SendResults with the time in a style, some milliseconds apart."""
    chance, sent = random.Random(1), BEGUN
    for number in range(count):
        sent += timedelta(milliseconds=chance.randrange(1, 40))
        elapsed = (sent - sent.replace(day=1, hour=0, minute=0, second=0, microsecond=0)) // timedelta(milliseconds=1)
        written = sent + timedelta(seconds=late)
        front = written.strftime(style.replace("%s", str(int(written.timestamp()))))
        id_ = f"0A650701015518B4AAC2{elapsed:08X}{number & 0xFFFF:04X}"
        yield f"{front} INFO SendResult [msgId={id_}, offsetMsgId=0A00000100002A9F{number * 300:016X}]"


def cost(path: Path, rounds: int) -> float:
    """Seconds of CPU, the best of some rounds after one to warm up."""
    seconds = list[float]()
    for _ in range(rounds + 1):
        begun = time.process_time()
        for _ in scan_task(list(split_files(list_files([str(path)]), 1 << 30)), MONTHS):
            pass
        seconds.append(time.process_time() - begun)
    return min(seconds[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=4_000, help="lines of each style")
    parser.add_argument("--late", type=float, default=0, help="seconds between a send and its line")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print("| style | ms of CPU a MB |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, style in STYLES.items():
            path = Path(folder) / "a.log"
            path.write_text("\n".join(lines_of(style, given.lines, given.late)) + "\n")
            print(f"| {name} | {cost(path, given.rounds) * 1e9 / path.stat().st_size:,.1f} |", flush=True)


if __name__ == "__main__":
    main()

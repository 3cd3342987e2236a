"""Text for the browser tests: ids and log lines with known figures. No randomness, no clock."""

from __future__ import annotations

UNIQ = "AC1100016E3518B4AAC263F4FD4A0000"  # 172.17.0.1, pid 28213, JDK 8 loader, the 20th of a month, 09:50:00.010
OFFSET = "AC11000100002A9F00000000000E8580"  # 172.17.0.1:10911, offset 951,680
TRACE = "3f2504e04f8911d39a0c0305e82c3301"  # lower case: a trace id, refused
START = 0x63F4FD4A


def send_result(process: int, number: int, broker: int = 1) -> str:
    """One SendResult line: `process` is the last byte of host and pid, `number` counts from 0 and is the counter."""
    uniq = f"0A2A00{process:02X}{4000 + process:04X}18B4AAC2{START + number * 10:08X}{number % 65536:04X}"
    offset = f"0A2A01{broker:02X}00002A9F{number * 1000 + (broker << 31):016X}"
    return (
        f"2026-10-20 09:50:13,373 INFO [send-1] SendResult [sendStatus=SEND_OK, msgId={uniq}, offsetMsgId={offset}, "
        f"messageQueue=MessageQueue [topic=OrderPaid, brokerName=broker-{broker}, queueId=0], queueOffset={number}]"
    )


def log(lines: int, processes: int = 3, brokers: int = 2, first: int = 0) -> str:
    """`lines` lines dealt to the processes in turn; a counter that begins near 65,536 wraps."""
    return "".join(
        send_result(1 + line % processes, first + line // processes, 1 + line % brokers) + "\n" for line in range(lines)
    )

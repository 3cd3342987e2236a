"""The bits of sysFlag (MessageSysFlag): what they say, and nothing about the record that carries them."""

from __future__ import annotations

from typing import Literal

COMPRESSED = 0x1
MULTI_TAGS = 0x2
PREPARED, COMMIT, ROLLBACK = 0x4, 0x8, 0xC
BORN_HOST_V6 = 0x10
STORE_HOST_V6 = 0x20
NEED_UNWRAP = 0x40
INNER_BATCH = 0x80
COMPRESSION_SHIFT, COMPRESSION_MASK = 8, 0x700

Compression = Literal["zlib", "lz4", "zstd"]
Transaction = Literal["none", "prepared", "commit", "rollback"]
# Clients before 5.0 set no type bits; their bodies are zlib.
COMPRESSIONS: dict[int, Compression] = {0: "zlib", 1: "lz4", 2: "zstd", 3: "zlib"}
_TRANSACTIONS: dict[int, Transaction] = {0: "none", PREPARED: "prepared", COMMIT: "commit", ROLLBACK: "rollback"}
_TYPES: dict[Compression, int] = {"lz4": 1, "zstd": 2, "zlib": 3}


def compression_bits(kind: Compression) -> int:
    """What a 5.x client sets for a body it compressed."""
    return COMPRESSED | _TYPES[kind] << COMPRESSION_SHIFT


def compression_type(sys_flag: int) -> int:
    """The three bits that say how a compressed body was made."""
    return (sys_flag & COMPRESSION_MASK) >> COMPRESSION_SHIFT


def transaction(sys_flag: int) -> Transaction:
    """The transaction's state. A half message is stored with `none` under RMQ_SYS_TRANS_HALF_TOPIC."""
    return _TRANSACTIONS[sys_flag & ROLLBACK]


def in_queue(sys_flag: int) -> bool:
    """Whether the record gets a place in its queue: a prepared and a rolled-back one do not."""
    return sys_flag & ROLLBACK in (0, COMMIT)


def holds_others(sys_flag: int) -> bool:
    """Whether the body is an inner batch: messages in wire form, which a consumer takes apart (PullAPIWrapper)."""
    return bool(sys_flag & INNER_BATCH and sys_flag & NEED_UNWRAP)


def describe(sys_flag: int) -> list[str]:
    """The bits that are set, in words of the format."""
    words = []
    if sys_flag & COMPRESSED:
        words.append(f"compressed ({COMPRESSIONS.get(compression_type(sys_flag), 'unknown')})")
    elif compression_type(sys_flag) in COMPRESSIONS and compression_type(sys_flag):
        words.append(f"was compressed ({COMPRESSIONS[compression_type(sys_flag)]})")
    if sys_flag & MULTI_TAGS:
        words.append("multi tags")
    if transaction(sys_flag) != "none":
        words.append(f"transaction {transaction(sys_flag)}")
    for bit, word in (
        (BORN_HOST_V6, "born host IPv6"),
        (STORE_HOST_V6, "store host IPv6"),
        (NEED_UNWRAP, "need unwrap"),
        (INNER_BATCH, "inner batch"),
    ):
        if sys_flag & bit:
            words.append(word)
    return words

"""Sends that lines report: failed ones in front of a gap, succeeded ones to a doubtful broker. Reads no counter."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from idcore.answers.findings import limits
from idcore.scan.lines import Piece

# As DefaultMQProducerImpl and NettyRemotingClient name what fails, and as applications say it.
# What denies a failure is in front of it, and a count of none, or the name of a limit, is behind it.
_NOT_DENIED = "".join(
    f"(?<!{word})"
    for word in ("无", "未", "不", "没", "没有", "无任何", "没有任何", "未发生", "没有发生", "未出现", "没有出现")
)
_NO_COUNT = r"(?!(?:次数|(?:条|个)?数|数量|总数)?\s?(?:[=:]|：)?\s?0(?!\d))"
_ZH_FAILED = rf"发送(?:(?!成功)[^\n]){{0,30}}?{_NOT_DENIED}(?:失败|异常|超时(?!时|阈|设|配|参)){_NO_COUNT}"  # in bytes
_FAILED = re.compile(
    rb"sendDefaultImpl|sendKernelImpl exception|Remoting(?:TooMuchRequest|Timeout|Connect|SendRequest)"
    rb"|MQClientException|MQBrokerException|times, still failed|No route info of this topic|TIMEOUT_CLEAN_QUEUE"
    rb"|(?i:\bsend(?:ing)?\b[^\n\[\]{}=]{0,40}?(?<!0 )(?<!no )(?<!not )(?<!never )(?<!without )(?<!n't )"
    rb"\b(?:failed|failure|fails|error|exception|timed[ -]out)\b(?! count)(?!\s?[=:]\s?(?:0|null|none|false)\b))"
    rb"|(?i:(?<!not )(?<!never )(?<!n't )\b(?:failed|unable) to send\b(?!:? ?0\b))|" + _ZH_FAILED.encode()
)
# SEND_OK as Java and the Go client print it, before the offsetMsgId of the same answer. That the answer has not
# ended is seen first: once, and not again behind each sendStatus.
_OK = re.compile(rb"SendResult ?[\[{](?=[^\]}\n]*$).*?sendStatus[=:] ?(?:SEND_OK|0)\b")
_LONGEST = 1 << 12


@dataclass(frozen=True, slots=True)
class Failure:
    """A line that reports a failed send, and where it is."""

    text: str
    file: str
    line: int

    @property
    def at(self) -> str:
        """The place as `file:line`."""
        return f"{self.file}:{self.line}"


def in_front(piece: Piece, at: int, process: bytes) -> Failure | None:
    """The last failed send between the id at a place and the id of the same process in front of it."""
    text = piece.text
    stop = text.rfind(b"\n", 0, at) + 1
    before = text.rfind(process, max(0, stop - limits.MOST_IN_FRONT), stop)
    if before < 0:  # it is not known who generated what is there
        return None
    start = text.find(b"\n", before, stop) + 1
    hits = list(_FAILED.finditer(text, start, stop))
    if not hits:
        return None
    begin = text.rfind(b"\n", 0, hits[-1].start()) + 1
    raw = text[begin : text.find(b"\n", hits[-1].end(), stop)]
    return Failure(_quoted(raw), piece.file, piece.line + text.count(b"\n", 0, begin) + 1)


def _quoted(raw: bytes) -> str:
    """A line as a sentence can hold it: so long, and nothing that a terminal obeys."""
    text = raw[: 4 * limits.MOST_QUOTED].decode("utf-8", "replace")
    shown = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return shown if len(shown) <= limits.MOST_QUOTED else shown[: limits.MOST_QUOTED - 1] + "…"


def failed(gaps: int, looked: int, failed_sends: Iterable[Failure]) -> dict[str, Any]:
    """What a finding of so many gaps says of failed sends in front of those that were looked at."""
    failures = sorted(set(failed_sends), key=lambda failure: (failure.file, failure.line))
    if not failures:
        return {}
    figures = {"failed_line": failures[0].text, "failed_at": failures[0].at}
    if gaps == 1:
        return {"also": ["failed"], **figures}
    return {"also": ["failed_gaps"], "failed": len(failures), "looked": looked, **figures}


def succeeded(text: bytes, broker: bytes) -> bool:
    """Whether an answer SEND_OK contains an offsetMsgId of a broker, whose digits begin so."""
    at = text.find(broker)
    for _ in range(limits.MOST_SENDS):
        if at < 0:
            return False
        start = max(text.rfind(b"\n", max(0, at - _LONGEST), at) + 1, at - _LONGEST, 0)
        answer = text.rfind(b"SendResult", start, at)
        if answer >= 0 and _OK.match(text, answer, at):
            return True
        at = text.find(broker, at + len(broker))
    return False

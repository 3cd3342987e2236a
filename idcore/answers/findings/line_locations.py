"""Where the ids of findings are: file, line and byte, and what the line contains next to them. Judges nothing.

One more look at the text, after the scan's, of small inputs only. An id is looked for by its digits, and the whole text
may be before it.
The ids of the worst findings come first. An id that is not found has no place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from idcore.answers.findings import failed_sends, limits
from idcore.answers.findings.model import Finding
from idcore.answers.findings.processes import is_loopback
from idcore.answers.findings.registry import INFO, rules
from idcore.base.layout import OFFSET_DIGITS
from idcore.ids.find import behind_label
from idcore.scan.lines import BORN_HOST, LineEvidence, Piece, texts
from idcore.sources.inputs import InputFile
from idcore.sources.kinds import COMMITLOG

_LONGEST_RECORD = 1 << 14
_BROKER = re.compile(rb"brokerName=([^,\]\s]{1,200})")
_NO_LOADER = "0000"  # the upper half of what clients without a loader write
_TAIL = 12  # digits that the Go client and its relatives print in lower case


@dataclass(slots=True)
class _Needle:
    """Digits that are looked for, and the first place where they are."""

    texts: tuple[bytes, ...]
    label: str = ""  # in front of them: where another label is, is another place
    place: dict[str, Any] | None = None
    broker: str | None = None
    behind_gap: bool = False  # a failed send may be in front of it, in any file that reports sends
    failure: failed_sends.Failure | None = None

    def wanted_in(self, file: str) -> bool:
        """Whether there is still something to look for in a file: in one file the first place is enough."""
        explained = not self.behind_gap or self.failure is not None
        return self.place is None or not (explained or self.place["file"] == file)

    def first_in(self, text: bytes) -> tuple[int, bytes] | None:
        """The first place in a text, and how the digits are spelled there."""
        if self.label:
            hits = [behind_label(self.label, digits).search(text) for digits in self.texts]
            return min(((hit.start(1), hit[1]) for hit in hits if hit is not None), default=None)
        return min(((at, digits) for digits in self.texts if (at := text.find(digits)) >= 0), default=None)


@dataclass(slots=True)
class _Hosts:
    """The born hosts of printed messages whose id begins with these digits."""

    start: bytes
    found: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Broker:
    """Whether some answer SEND_OK contains an offsetMsgId that begins with these digits."""

    start: bytes
    succeeded: bool = False


@dataclass(frozen=True, slots=True)
class LineFacts:
    """What lines contain of the ids of findings: the ids by label and text, and what they say by the subject."""

    needles: Mapping[tuple[str, str], _Needle] = field(default_factory=dict)
    hosts: Mapping[str, _Hosts] = field(default_factory=dict)
    brokers: Mapping[str, _Broker] = field(default_factory=dict)


def place(findings: Sequence[Finding], files: Sequence[InputFile]) -> list[Finding]:
    """The findings, their evidence with `places` of the ids and, where lines show them, born hosts and broker names."""
    return with_places(findings, search(findings, files))


def with_places(findings: Sequence[Finding], facts: LineFacts) -> list[Finding]:
    """The same of lines that were searched for these findings, or a little earlier for others: then some lack it."""
    return [_with(finding, facts) for finding in findings]


def search(findings: Sequence[Finding], files: Sequence[InputFile]) -> LineFacts:
    """Looks for the ids of findings in the lines of small inputs; nothing is looked for in others."""
    total = sum(file.size for file in files)
    # The lines of a commit log are made from its records: they have no place in a file.
    if total > limits.MOST_PLACED or any(file.kind == COMMITLOG for file in files):
        return LineFacts()
    most = limits.MOST_SEARCHED // max(total, 1)
    first_ids = [(finding, finding.evidence.ids[0]) for finding in findings if finding.evidence.ids]
    asked = [(finding.subject, text) for finding, text in first_ids if _asks(finding, "born_hosts")]
    hosts = {subject: _Hosts(b"UNIQ_KEY=" + text[:-_TAIL].encode()) for subject, text in asked[:most]}
    asked = [(finding.subject, text) for finding, text in first_ids if _asks(finding, "send_ok")]
    asked = asked[: max(0, most - len(hosts))]
    brokers = {subject: _Broker(text[:-OFFSET_DIGITS].encode()) for subject, text in asked}
    room = max(0, most - len(hosts) - len(brokers))
    needles = {named: _Needle(_spellings(named[1]), named[0]) for named in list(_wanted(findings))[:room]}
    for named in (("", text) for finding in findings if _of_gaps(finding) for text in finding.evidence.ids):
        if named in needles:
            needles[named].behind_gap = True
    if needles or hosts or brokers:
        left = limits.MOST_SEARCHED  # once more: what was packed is longer than its file
        for piece in texts(files, limits.MOST_PLACED, LineEvidence()):
            wanted = [needle for needle in needles.values() if needle.wanted_in(piece.file)]
            doubtful = [one for one in brokers.values() if not one.succeeded]
            left -= len(piece.text) * (len(wanted) + len(hosts) + len(doubtful))
            if left < 0:
                break
            if piece.byte >= 0:
                _look(piece, wanted)
            for one in hosts.values():
                _born(piece.text, one)
            for other in doubtful:
                other.succeeded = failed_sends.succeeded(piece.text, other.start)
    return LineFacts(needles, hosts, brokers)


def _ids(finding: Finding) -> list[tuple[str, str]]:
    """The ids of a finding and, of copies, their offsetMsgIds; of gaps those below them. Each with its label."""
    offsets = [text for text in finding.evidence.offset_msg_ids if isinstance(text, str)]
    texts = [*finding.evidence.ids, *offsets, *finding.evidence.after_ids]
    return [(finding.evidence.label or "", text) for text in texts]


def _wanted(findings: Iterable[Finding]) -> Iterator[tuple[str, str]]:
    """Every id once: the first of each finding, worst first, then the second ones, and so on."""
    rounds = zip_longest(*(_ids(finding) for finding in findings))
    yield from dict.fromkeys(named for one in rounds for named in one if named is not None)


def _asks(finding: Finding, what: str) -> bool:
    """Whether its rule asks lines for it."""
    return what in rules()[finding.code].lines


def _of_gaps(finding: Finding) -> bool:
    """Whether its ids are behind gaps that need an explanation: those of a sample do not."""
    return _asks(finding, "failed_sends") and finding.severity != INFO and finding.evidence.more is None


def _spellings(text: str) -> tuple[bytes, ...]:
    """The digits as a line may show them: upper case and, of a client without loader, with a tail in lower case."""
    mixed = text[:-_TAIL] + text[-_TAIL:].lower()
    without = text[-20:-16] == _NO_LOADER
    return (text.encode(), mixed.encode()) if without and mixed != text else (text.encode(),)


def _look(piece: Piece, needles: Iterable[_Needle]) -> None:
    text = piece.text
    for needle in needles:
        match = needle.first_in(text)
        if match is None:
            continue
        at, digits = match
        line = piece.line + text.count(b"\n", 0, at) + 1
        if needle.behind_gap:
            needle.failure = failed_sends.in_front(piece, at, digits[:-_TAIL])
        if needle.place is None:
            needle.place = {"id": digits.decode(), "file": piece.file, "line": line, "byte": piece.byte + at}
            needle.broker = _broker_of(text, at)


def _broker_of(text: bytes, at: int) -> str | None:
    """The broker's name next to an id: behind it in a SendResult, before it in a MessageExt."""
    start = text.rfind(b"\n", max(0, at - _LONGEST_RECORD), at) + 1
    end = text.find(b"\n", at, at + _LONGEST_RECORD)
    before, behind = text[start:at], text[at : end if end >= 0 else at + _LONGEST_RECORD]
    if b"SendResult" in before[-_LONGEST_RECORD:]:
        hit = _BROKER.search(behind)
    else:
        hit = next(iter(list(_BROKER.finditer(before))[-1:]), None)
    return hit[1].decode("utf-8", "replace") if hit else None


def _born(text: bytes, hosts: _Hosts) -> None:
    """Born hosts of the first messages: the name is before the id, in the same record, which is searched once."""
    at, searched = text.find(hosts.start), -1
    while at >= 0 and len(hosts.found) < limits.MOST_BORN_HOSTS:
        start = text.rfind(b"MessageExt [", max(0, at - _LONGEST_RECORD), at)
        hit = BORN_HOST.search(text, start, at) if start > searched else None
        searched = max(searched, start)
        if hit is not None and b"\n" not in text[hit.end() : at]:
            hosts.found.add(hit[1].decode("utf-8", "replace"))
        at = text.find(hosts.start, at + 1)


def _around(finding: Finding, placed: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The ids around the widest gap as they are in their lines, and where these are."""
    figures: dict[str, Any] = {}
    for name, text in (("gap_after", finding.evidence.gap_after), ("gap_before", finding.evidence.gap_before)):
        if (id_place := placed.get(text or "")) is not None:
            figures |= {name: id_place["id"], f"{name}_at": f"{id_place['file']}:{id_place['line']}"}
    return figures | ({"also": ["gap_lines"]} if {"gap_after_at", "gap_before_at"} <= figures.keys() else {})


def _with(finding: Finding, facts: LineFacts) -> Finding:
    needles, hosts, brokers = facts.needles, facts.hosts, facts.brokers
    known = {named[1]: needles[named] for named in _ids(finding) if named in needles}
    placed = {text: needle.place for text, needle in known.items() if needle.place is not None}
    more: dict[str, Any] = {"places": [*finding.evidence.places, *placed.values()]} if placed else {}
    # An address that the ids contain as well shows nothing new.
    process = finding.evidence.fingerprint
    own = {process.host} if process else set()
    born = hosts[finding.subject].found if _asks(finding, "born_hosts") and finding.subject in hosts else set()
    if others := sorted(host for host in born - own if not is_loopback(host)):
        more |= {"born_hosts": ", ".join(others), "also": ["born_hosts"]}
    names = sorted({needle.broker for needle in known.values() if needle.broker})
    if names and _asks(finding, "broker_name"):
        more["broker_name"] = ", ".join(names)
    if _of_gaps(finding):
        behind = [known[text] for text in finding.evidence.ids if text in known]
        failures = (needle.failure for needle in behind if needle.failure is not None)
        looked = sum(needle.place is not None for needle in behind)
        around, failed = _around(finding, placed), failed_sends.failed(len(finding.evidence.ids), looked, failures)
        also = [*around.pop("also", ()), *failed.pop("also", ())]
        more |= around | failed | ({"also": also} if also else {})
    if _asks(finding, "send_ok") and finding.subject in brokers and brokers[finding.subject].succeeded:
        more["also"] = ["send_ok"]
    if not more:
        return finding
    if "also" in more:
        more["also"] = [*finding.evidence.also, *more["also"]]
    # An id is shown as its line has it.
    more["ids"] = [placed[text]["id"] if text in placed else text for text in finding.evidence.ids]
    if finding.evidence.maker_code == "go_family" and (
        "".join(place["id"][-_TAIL:] for place in placed.values()).isupper()  # Go's own client prints the tail lower
    ):
        more |= {"maker_code": "elixir", "variant": "elixir"}
    return finding.with_evidence(**more)

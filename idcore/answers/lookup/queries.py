"""What a reader asked last and what was answered: questions as addresses have them, answers that fit. Asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from idcore.answers.lookup.groups import GroupAnswer
from idcore.answers.lookup.model import Answer
from idcore.answers.lookup.progress import Progress
from idcore.base.catalogue import Words
from idcore.ids.find import find
from idcore.ids.identify import identify

WINDOW_MS = 60_000  # a rate is of the last minute, where it was asked so often


def texts_of(text: str) -> list[str]:
    """Ids or keys in the box: one a line or joined by commas; of a line of several words the ids in it."""
    texts: list[str] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",") if part.strip()]
        if any(" " in part for part in parts):
            texts += [token.text for token in find(line) if identify(token.text, token.label).best is not None]
        else:
            texts += parts
    return list(dict.fromkeys(texts))


@dataclass(frozen=True, slots=True)
class LookupQuery:
    """What the form holds when it is sent."""

    ids: list[str]
    topic: str | None
    cluster: str
    fate: bool = False
    trace: bool = False

    @property
    def in_address(self) -> dict[str, str]:
        """The same as parameters of an address; what is not asked for is not there."""
        switches = {"fate": self.fate, "trace": self.trace}
        named = {"id": ",".join(self.ids), "topic": self.topic or "", "cluster": self.cluster}
        return {name: value for name, value in named.items() if value} | {
            name: "1" for name in switches if switches[name]
        }


@dataclass(frozen=True, slots=True)
class Answers:
    """The last look-up of this session."""

    found: list[Answer]
    asked: LookupQuery
    at: datetime

    @property
    def cluster(self) -> str:
        """The cluster that was asked."""
        return self.asked.cluster

    def fits(self, query: Mapping[str, str]) -> bool:
        """Whether it is what an address asks for; one without an ID asks for nothing."""
        switches = {name: "1" if query.get(name) == "1" else "" for name in ("fate", "trace")}
        return not query.get("id") or self._has(query, id=query["id"], **switches)

    def is_journey(self, text: str, query: Mapping[str, str]) -> bool:
        """Whether it is all about one message, by the cluster and topic of an address."""
        return self._has(query, id=text, fate="1", trace="1")

    def _has(self, query: Mapping[str, str], **wanted: str) -> bool:
        has, named = self.asked.in_address, {name: query[name] for name in ("cluster", "topic") if query.get(name)}
        return all(has.get(name, "") == value for name, value in (wanted | named).items())

    def sentence(self, words: Words) -> str:
        """How many were found."""
        total = sum(answer.found for answer in self.found)
        return words("lookup.said", found=f"{total:,}", ids=words.count("id", len(self.found)), cluster=self.cluster)


@dataclass(frozen=True, slots=True)
class GroupQuery:
    """What the form holds when it is sent; `at` is the place of a message, as a link has it."""

    cluster: str
    topic: str
    group: str = ""
    at: str = ""

    @property
    def query(self) -> dict[str, str]:
        """The URL parameters that ask it."""
        return {"cluster": self.cluster, "topic": self.topic, "group": self.group, "at": self.at}


@dataclass(frozen=True, slots=True)
class GroupReadings:
    """What this session asked last, and the answers to the same question since, the newest last."""

    asked: GroupQuery
    seen: tuple[GroupAnswer, ...]
    in_a_row: int = 0

    @property
    def now(self) -> GroupAnswer:
        return self.seen[-1]

    @property
    def before(self) -> Progress | None:
        """The earliest answer that the last one is compared with."""
        return self.seen[0].progress if len(self.seen) > 1 else None

    @classmethod
    def after(cls, before: GroupReadings | None, asked: GroupQuery, seen: GroupAnswer, in_a_row: int) -> GroupReadings:
        """With one answer more. Answers to another question, and those too old for a rate, are left out."""
        earlier = before.seen if before is not None and before.asked == asked else ()
        while len(earlier) > 1 and seen.at_ms - earlier[1].at_ms >= WINDOW_MS:
            earlier = earlier[1:]
        return cls(asked, (*earlier, seen), in_a_row)

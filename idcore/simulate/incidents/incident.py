"""One incident: a stage, a story played on it, and the findings that are true of it. Contains no story itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from idcore.ids import clock as clocks
from idcore.simulate.incidents.simulated_cluster import LISTENER, Sent, Stage

Story = Callable[["Incident"], Iterator[str]]
Begin = Callable[[datetime, tzinfo], datetime]
STORIES: dict[str, dict[str, tuple[Story, Begin]]] = {}
HEALTHY = "healthy"
_AROUND = 150  # lines of the background before and after a story


def _as_asked(start: datetime, _: tzinfo) -> datetime:
    return start


def variant(code: str, name: str, begin: Begin = _as_asked) -> Callable[[Story], Story]:
    """Names a story: a variant of the incident of some finding. `begin` moves the start of the log."""

    def keep(story: Story) -> Story:
        STORIES.setdefault(code, {})[name] = (story, begin)
        return story

    return keep


class Incident(Stage):
    """A log with one incident in it. Without a variant the seed chooses one."""

    def __init__(self, code: str, variant: str | None, seed: int, start: datetime, zone: tzinfo) -> None:
        known = list(STORIES[code])
        self.code = code
        self.variant = variant or known[seed % len(known)]
        self._story, begin = STORIES[code][self.variant]
        super().__init__(seed, begin(start, zone), zone)
        self.expected: list[dict[str, Any]] = []

    def lines(self) -> Iterator[str]:
        """All lines of the log, without their ends."""
        yield from self.background(_AROUND)
        yield from self._story(self)
        yield from self.background(_AROUND)

    def expect(self, subject: str, code: str | None = None, severity: str | None = None) -> None:
        """Notes a finding that is true of the log; a `severity` where it is not the usual one of its code."""
        row = {"code": code or self.code, "severity": severity, "subject": subject}
        if row not in self.expected:
            self.expected.append(row)

    def received_line(self, sent: Sent, **more: Any) -> str:
        """The line in which a consumer prints the MessageExt: it shows the offsetMsgId as msgId, worth a word."""
        self.expect(f"msgId ({LISTENER})", "id_confusion", "info")
        return super().received_line(sent, **more)

    def host(self) -> str:
        """An address of the cluster's network."""
        return f"{self.net}.{self.random.randrange(60, 250)}.{self.random.randrange(2, 250)}"

    def pid(self) -> int:
        """A process id like most."""
        return self.random.randrange(1_000, 60_000)

    def truth(self, severities: Mapping[str, str]) -> dict[str, Any]:
        """What has to be found, and when the log ends. `severities`: the usual ones, by code."""
        expected = [{**row, "severity": row["severity"] or severities[row["code"]]} for row in self.expected]
        at = clocks.from_ms(self.now, self.zone).isoformat(timespec="milliseconds")
        return {"incident": self.code, "variant": self.variant, "at": at, "expected": expected}

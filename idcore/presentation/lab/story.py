"""A story of the lab as a few values that fit into a link: who sends, from when on, and which steps. Plays nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from idcore.base.errors import refuse
from idcore.ids.clock import from_ms, parse_instant, parse_zone, to_ms
from idcore.ids.model import host_bytes

# The steps in the order in which a page offers them. The codes are a contract: links contain them.
GROUPS: dict[str, tuple[str, ...]] = {
    "producer": ("send", "busy", "lost", "again"),
    "consumer": ("consume", "dead"),
    "broker": ("delay", "commit", "rollback", "batch", "roll"),
    "process": ("month", "back", "far", "wrap", "twin", "collide"),  # and its clock
}
STEPS = tuple(code for codes in GROUPS.values() for code in codes)
STEPS_MOST = 60
_NONE, _BETWEEN = "-", "."
_YEARS = range(2000, 2100)


@dataclass(frozen=True, slots=True)
class Story:
    """Who sends, from when on, and what happens. `clock` is the wall time of the producer's zone."""

    steps: tuple[str, ...] = ()
    clock: str = "2026-11-20T09:50:13.373"
    made_in: str = "Asia/Shanghai"
    host: str = "10.20.3.11"
    pid: int = 28_213
    loader: int = 0x18B4AAC2

    @classmethod
    def of(cls, steps: str, **settings: Any) -> Story:
        """A story by its steps as links write them: `send.lost.consume`."""
        return cls(tuple(step for step in steps.split(_BETWEEN) if step not in ("", _NONE)), **settings)

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Story:
        """A story from the parameters of a link. What is not a step, a zone or an address is rejected by name."""
        own: dict[str, Any] = {name: text for name in _SETTINGS if (text := given.get(name, "").strip())}
        if "pid" in own:
            own["pid"] = _number("pid", own["pid"], r"\d{1,7}", 10, "a number from 0 to 4,194,304", 1 << 22)
        if "loader" in own:
            own["loader"] = _number("loader", own["loader"], "[0-9A-Fa-f]{1,8}", 16, "up to 8 hex digits", 0xFFFFFFFF)
        if "made_in" in own:  # a plus sign in a link is a blank
            own["made_in"] = re.sub(r"^ ?(?=\d\d:\d\d$)", "+", own["made_in"])
        story = cls.of(given.get("story", ""), **own)
        story.check()
        return story

    def first(self, steps: int) -> Story:
        """The same with its first steps alone."""
        return replace(self, steps=self.steps[:steps])

    def check(self) -> None:
        """Rejects what cannot be played."""
        wrong = next((step for step in self.steps if step not in STEPS), None)
        if wrong is not None:
            raise refuse("lab_step", step=wrong[:40])
        if len(self.steps) > STEPS_MOST:
            raise refuse("lab_steps", most=STEPS_MOST, steps=len(self.steps))
        host_bytes(self.host)
        if self.start.astimezone(UTC).year not in _YEARS:
            raise refuse("lab_years", first=_YEARS[0], last=_YEARS[-1])

    @property
    def zone(self) -> tzinfo:
        """The producer's zone."""
        return parse_zone(self.made_in)

    @property
    def start(self) -> datetime:
        """The instant at which the producing process starts."""
        return parse_instant(self.clock, self.zone)

    @property
    def start_ms(self) -> int:
        """The same in ms since 1970."""
        return to_ms(self.start)

    def at(self, ms: int) -> datetime:
        """An instant of the story in the producer's zone."""
        return from_ms(ms, self.zone)

    @property
    def settings(self) -> dict[str, str]:
        """Who sends and from when on, as boxes and links have it."""
        known = ((name, getattr(self, name)) for name in _SETTINGS)
        return {name: f"{value:08X}" if name == "loader" else str(value) for name, value in known}

    @property
    def params(self) -> dict[str, str]:
        """What a link to this story carries: the steps, and each setting that is not the usual one."""
        params = {"story": _BETWEEN.join(self.steps) or _NONE}
        for name, usual in _SETTINGS.items():
            value = getattr(self, name)
            if value != usual:
                params[name] = f"{value:08X}" if name == "loader" else str(value)
        return params

    def then(self, step: str) -> Story:
        """One step more."""
        return replace(self, steps=(*self.steps, step))

    def undone(self) -> Story:
        """Without the last step."""
        return replace(self, steps=self.steps[:-1])

    def cleared(self) -> Story:
        """The same producer before its first step."""
        return replace(self, steps=())


_SETTINGS: dict[str, Any] = {item.name: item.default for item in fields(Story) if item.name != "steps"}


def _number(name: str, text: str, form: str, base: int, wanted: str, most: int) -> int:
    value = int(text, base) if re.fullmatch(form, text) else -1
    if not 0 <= value <= most:
        raise refuse("lab_number", name=name, value=text[:40], wanted=wanted)
    return value


_DOCKER: dict[str, Any] = {"host": "172.17.0.2", "pid": 1}
_LAST_DAY: dict[str, Any] = {"clock": "2026-11-30T23:59:57.150"}

# Stories to begin with, by name, in the order of a first lesson.
READY: dict[str, Story] = {
    "retry": Story.of("lost.consume"),
    "again": Story.of("send.again.send"),
    "dead": Story.of("send.consume.consume.dead"),
    "delay": Story.of("send.delay"),
    "transaction": Story.of("commit.rollback"),
    "batch": Story.of("send.batch.send"),
    "roll": Story.of("send.roll.send"),
    "month": Story.of("send.month.send", **_LAST_DAY),
    "back": Story.of("send.month.back.far", **_LAST_DAY),
    "wrap": Story.of("send.wrap.send"),
    "containers": Story.of("send.twin.send.twin.collide", **_DOCKER),
}

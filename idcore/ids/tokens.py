"""A string of a text that may be an ID, with what its line shows about it. Finds none, judges none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from idcore.ids.line_moments import NamedDay

Wholeness = Literal["whole", "joined", "grouped", "longer", "cut"]


@dataclass(frozen=True, slots=True)
class Token:
    """A run of digits that may be an id, where it is, and what its line shows about it.

    `line` and `column` count from 1, columns in characters. `vouched`: a label that vouches for an impossible elapsed
    is directly in front, `disowned`: what else a name there says that it is. `prefix_time` is the time the line opens
    with, or another one of it (`line_moments`), naive where it names no zone; `named_day` is one without a year, which
    an ID proves, where the line has no other. `stored_ms`: the broker's time, which dates nothing. `of_record`: it and
    born_ms are of another line of the record (`records`). `whole`: whether a line break or the signs between groups
    were taken out of it, a digit is left over behind it, or digits are missing at its end, masked or cut off. `linked`:
    the id came in a link instead of a line, and born_ms is the time of the link; `assumed` is what of that was assumed.
    `gateway`: an MQTT server generated it, for the message of a device. `shown`: whether its place shows that it may be
    an id (`rules.shows_id`). `reports_send`: its line says that the message was sent just now.
    """

    text: str
    line: int
    column: int
    label: str | None = None
    born_ms: int | None = None
    prefix_time: datetime | None = None
    vouched: bool = False
    disowned: str = ""
    linked: bool = False
    assumed: tuple[str, ...] = ()
    of_record: bool = False
    whole: Wholeness = "whole"
    gateway: bool = False
    reports_send: bool = False
    shown: bool = True
    named_day: NamedDay | None = None
    stored_ms: int | None = None

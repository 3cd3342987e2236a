"""What each role of the console and its reports is coloured with: read from .streamlit/config.toml. Draws nothing."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from idcore.base.console_folder import CONSOLE

Theme = Literal["light", "dark"]

CONFIG = CONSOLE / ".streamlit" / "config.toml"

# Role -> option of the theme; with a number: that entry of the option's list.
ROLES: dict[str, tuple[str, int | None]] = {
    "host": ("blueColor", None),
    "pid": ("violetColor", None),
    "loader": ("grayColor", None),
    "time": ("greenColor", None),
    "counter": ("orangeColor", None),
    "broker": ("chartCategoricalColors", 4),
    "offset": ("chartCategoricalColors", 5),
    "uniq": ("primaryColor", None),
    "client": ("chartCategoricalColors", 6),
    "error": ("redColor", None),
    "warning": ("yellowColor", None),
    "info": ("grayColor", None),
}

# Field of a layout -> the role that colours it.
FIELD_ROLES = {
    "ip": "host",
    "pid": "pid",
    "loader": "loader",
    "elapsed": "time",
    "counter": "counter",
    "broker": "broker",  # the ip of an offsetMsgId
    "port": "broker",
    "offset": "offset",
    "version": "client",
    "mac": "host",
    "seconds": "time",
    "sequence": "counter",
}

# Level of a verdict -> its place between what was consumed and what never will be; lightness orders them too.
LEVELS = {"dead": 9, "blocked": 7, "retry": 6, "waiting": 5, "unclear": 4, "retried": 2, "done": 3}


@dataclass(frozen=True, slots=True)
class Palette:
    """All colours of one theme that figures and rulers may use."""

    text: str
    muted: str
    background: str
    panel: str
    line: str
    roles: dict[str, str]
    series: tuple[str, ...]
    scale: tuple[str, ...]
    levels: dict[str, str]


@cache
def _themes() -> dict[str, dict[str, Any]]:
    with CONFIG.open("rb") as file:
        return cast(dict[str, dict[str, Any]], tomllib.load(file)["theme"])


@cache
def palette(theme: Theme) -> Palette:
    """The colours of the light or the dark theme."""
    options = _themes()[theme]

    def colour(option: str, place: int | None) -> str:
        value = options[option]
        return str(value if place is None else value[place])

    return Palette(
        text=options["textColor"],
        muted=options["grayColor"],
        background=options["backgroundColor"],
        panel=options["secondaryBackgroundColor"],
        line=options["borderColor"],
        roles={role: colour(*where) for role, where in ROLES.items()},
        series=tuple(options["chartCategoricalColors"]),
        scale=tuple(options["chartSequentialColors"]),
        levels={level: options["chartDivergingColors"][place] for level, place in LEVELS.items()},
    )


def series_colour(palette: Palette, place: int) -> str:
    """The colour of the place-th host, broker or track, by first appearance."""
    return palette.series[place % len(palette.series)]


def colours_of(addresses: Sequence[str], palette: Palette) -> dict[str, str]:
    """A colour for each broker, the same wherever it is drawn; in the order of addresses, not of today's sizes.

    More brokers than colours all have one: two brokers of one colour among others would look related.
    """
    alone = len(addresses) <= len(palette.series)
    return {
        address: series_colour(palette, place) if alone else palette.roles["broker"]
        for place, address in enumerate(sorted(addresses))
    }


def tint(colour: str, alpha: float) -> str:
    """A colour of the theme, made see-through."""
    value = colour.lstrip("#")
    red, green, blue = (int(value[place : place + 2], 16) for place in (0, 2, 4))
    return f"rgba({red},{green},{blue},{alpha:g})"


def dark_colours() -> dict[str, str]:
    """Of each colour of the light theme that of the dark one."""
    light, dark = palette("light"), palette("dark")
    pairs = [(getattr(light, name), getattr(dark, name)) for name in ("text", "muted", "background", "panel", "line")]
    pairs += [(colour, dark.roles[role]) for role, colour in light.roles.items()]
    pairs += zip(light.series, dark.series, strict=True)
    found: dict[str, str] = {}
    for colour, other in pairs:
        found.setdefault(colour.lower(), other)
    return found


def css_variables() -> str:
    """Every role as a CSS variable that follows the reader's theme: `--role-host` and so on."""
    light, dark = palette("light"), palette("dark")
    pairs = {f"role-{role}": (light.roles[role], dark.roles[role]) for role in ROLES}
    pairs["muted"] = (light.muted, dark.muted)
    pairs["line"] = (light.line, dark.line)
    pairs["panel"] = (light.panel, dark.panel)
    pairs["ink"] = (light.text, dark.text)
    pairs["ground"] = (light.background, dark.background)
    return "".join(f"--{name}:light-dark({a},{b});" for name, (a, b) in pairs.items())


def css_fields() -> str:
    """A field's colour wherever it is drawn, and the light it keeps while its span or its row is pointed at."""
    rules = [
        f'[data-field="{name}"]{{--c:var(--role-{role})}}'
        f'.mq-anatomy:has([data-field="{name}"]:hover) [data-field="{name}"]{{opacity:1}}'
        for name, role in FIELD_ROLES.items()
    ]
    return "".join(rules)

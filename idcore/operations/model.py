"""What an operation is: its arguments with types and limits, its permission, its answer. Answers nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Literal

from idcore.base.catalogue import Words, languages, words
from idcore.base.errors import refuse
from idcore.base.open_folders import Roots
from idcore.ids.clock import Clock, machine_zone, parse_instant, parse_zone
from idcore.intake import allowed as places
from idcore.intake.intake import Dating
from idcore.policy.access import Visitor
from idcore.policy.audit import Actor
from idcore.runs.runs import Runs
from idcore.scan import run_damage

Kind = Literal["text", "number", "flag", "texts"]
MOST_TEXT = 1 << 20  # characters of a text to decode
_JSON_TYPES = {"text": "string", "number": "integer", "flag": "boolean", "texts": "array"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `most`: characters of a text, or of each of several; the largest number. `items`: of `texts`."""

    name: str
    kind: Kind
    meaning: str
    required: bool = False
    most: int = 300
    least: int = 0
    items: int = 100
    choices: tuple[str, ...] = ()
    default: Any = None

    def check(self, value: Any) -> Any:
        """The value, if it is of its type and within its limits; CoreError says what would be."""
        if self.kind == "texts":
            fits = isinstance(value, list) and 0 < len(value) <= self.items and all(map(self._fits, value))
        elif self.kind == "number":
            fits = isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most
        elif self.kind == "flag":
            fits = isinstance(value, bool)
        else:
            fits = self._fits(value)
        if not fits:
            raise refuse("argument_wrong", name=self.name, wanted=self.wanted)
        return value

    def _fits(self, value: Any) -> bool:
        """Whether it is a text that can be written: a lone surrogate has no encoding."""
        if not isinstance(value, str) or not self.least <= len(value) <= self.most:
            return False
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
        return not self.choices or value in self.choices

    @property
    def wanted(self) -> str:
        """What may be given, in a few words."""
        if self.choices:
            return ", ".join(self.choices)
        if self.kind == "number":
            return f"a whole number from {self.least:,} to {self.most:,}"
        if self.kind == "flag":
            return "true, false"
        text = f"a text of {f'{self.least:,} to' if self.least else 'at most'} {self.most:,} characters"
        return text if self.kind == "text" else f"1 to {self.items:,} texts, each {text}"

    @property
    def schema(self) -> dict[str, Any]:
        """It in JSON Schema 2020-12."""
        of_text: dict[str, Any] = {"type": "string", "maxLength": self.most}
        if self.least:
            of_text["minLength"] = self.least
        if self.choices:
            of_text = {"type": "string", "enum": list(self.choices)}
        schema: dict[str, Any] = {"type": _JSON_TYPES[self.kind], "description": self.meaning}
        if self.kind == "text":
            schema |= of_text
        elif self.kind == "texts":
            schema |= {"items": of_text, "minItems": 1, "maxItems": self.items}
        elif self.kind == "number":
            schema |= {"minimum": self.least, "maximum": self.most}
        return schema if self.default is None else schema | {"default": self.default}


@dataclass(frozen=True, slots=True)
class Field:
    """A key of an answer: its JSON type, and what it is. One of no type may be anything."""

    name: str
    type: str | tuple[str, ...]
    meaning: str

    @property
    def schema(self) -> dict[str, Any]:
        """It in JSON Schema."""
        if not self.type:
            return {"description": self.meaning}
        kinds = self.type if isinstance(self.type, str) else list(self.type)
        schema: dict[str, Any] = {"type": kinds, "description": self.meaning}
        return schema | {"items": {}} if "array" in self.type else schema


@dataclass(frozen=True, slots=True)
class Result:
    """An answer: its items one after the other as they come, what is true of all of them, and how many they are.

    Without a number they are counted as they come.
    """

    items: Iterable[Mapping[str, Any]]
    head: Mapping[str, Any] = field(default_factory=dict)
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a door stands: the folders of this machine that are open, and the folder of scans.

    `zone` is that of producers where nobody says one; None is the machine's.
    """

    roots: Callable[[], Sequence[Path | str]]
    runs: Callable[[], Path]
    zone: tzinfo | None = UTC


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. Both functions give the roles of the moment: `later` is for work whose turn comes later.

    The end of a log-in ends what `now` gives, and not what was begun. `counted` is whom limits count: the log-in, else
    the session. `gone` is whether they have hung up. `before_long` is called before work of more than a moment that no
    file and no cluster makes long: what it raises ends the call. `is_counted`: their limit has this call already.
    """

    now: Callable[[], Visitor]
    later: Callable[[], Visitor]
    who: Actor
    ground: Ground
    counted: str = ""
    gone: Callable[[], bool] = bool
    before_long: Callable[[], object] = bool
    is_counted: bool = False

    def __post_init__(self) -> None:
        if not self.counted:
            object.__setattr__(self, "counted", self.now().name or self.who.session)

    def go_on(self) -> None:
        """CoreError once they have hung up: long work asks it again and again."""
        if self.gone():
            raise refuse("call_gone")

    @property
    def visitor(self) -> Visitor:
        """With the roles of now."""
        return self.now()

    @property
    def runs(self) -> Runs:
        """The scans that they may see."""
        return Runs(self.ground.runs(), self.visitor)

    @property
    def roots(self) -> Sequence[Path | str]:
        """The places that they may read."""
        return self.ground.roots() if self.visitor.may("folders") else []

    @property
    def guard(self) -> Roots:
        """The same for what opens files."""
        return places.guard_of(self.roots)

    def inside(self, path: str) -> Path | str:
        """A path inside an open place; CoreError otherwise, also where nothing is: that says nothing of other paths."""
        self.visitor.require("folders")
        try:
            return places.inside(path, self.roots)
        except PermissionError:
            raise refuse("not_open", path=path) from None


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The arguments of one call, checked: each argument of the operation by its name, its default where none came."""

    given: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    @property
    def words(self) -> Words:
        """The sentences of its language."""
        return words(str(self.given.get("lang") or "en"))

    def clock(self, ground: Ground) -> Clock:
        """How IDs are dated: `at` is now, and `zone` that of producers. CoreError of what is neither."""
        zone = parse_zone(self.given["zone"]) if self.given.get("zone") else ground.zone or machine_zone()
        at = parse_instant(self.given["at"], zone) if self.given.get("at") else datetime.now(zone)
        return Clock(at, zone, "given" if self.given.get("zone") else "assumed")

    def dating(self, ground: Ground) -> Dating:
        """The same for a scan."""
        return Dating.of(self.clock(ground))


Run = Callable[[CallArguments, Caller], Result]


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table. `begins`: it makes or ends a scan of the caller's own; no operation changes anything else.

    `needs` is a permission of the table of roles. `alone`: it reads what it is given, and no file and no cluster.
    `command`: that of the command line whose JSON has the same items.
    """

    name: str
    summary: str
    arguments: tuple[Argument, ...]
    needs: str
    run: Run
    fields: tuple[Field, ...]
    head: tuple[Field, ...] = ()
    begins: bool = False
    alone: bool = False
    command: str = ""

    def asked(self, given: Mapping[str, Any]) -> CallArguments:
        """The arguments of a call; CoreError names the first that is missing, not known, or not of its kind."""
        asked: dict[str, Any] = {one.name: one.default for one in self.arguments}
        for name in given:
            if name not in asked:
                listed = ", ".join(asked)
                raise refuse("argument_unknown", name=str(name)[:60], known=listed)
        for one in self.arguments:
            if given.get(one.name) is not None:
                asked[one.name] = one.check(given[one.name])
            elif one.required:
                raise refuse("argument_missing", name=one.name)
        return CallArguments(asked)

    def call(self, given: Mapping[str, Any], caller: Caller) -> Result:
        """The answer. AccessError without the permission, now; CoreError of what cannot be answered."""
        caller.visitor.require(self.needs)
        asked = self.asked(given)
        name = asked.given.get("run")
        try:
            return self.run(asked, caller)
        except Exception as error:
            if (named := run_damage.blamed(error, lambda: caller.runs.open(name) if name else None)) is error:
                raise
            raise named from error

    @property
    def input_schema(self) -> dict[str, Any]:
        """Its arguments in JSON Schema."""
        return {
            "type": "object",
            "properties": {one.name: one.schema for one in self.arguments},
            "required": [one.name for one in self.arguments if one.required],
            "additionalProperties": False,
        }

    @property
    def item_schema(self) -> dict[str, Any]:
        """One item of its answer in JSON Schema."""
        return _object(self.fields)

    @property
    def output_schema(self) -> dict[str, Any]:
        """Its answer, a part of it at a time."""
        schema = _object(self.head)
        schema["properties"] |= {
            "items": {"type": "array", "items": self.item_schema},
            "next": {"type": ["string", "null"], "description": "the cursor of the next part; null at the end"},
            "remaining": {"type": "integer", "description": "how many items come behind this part"},
        }
        return schema | {"required": ["items", "next", "remaining"]}


def _object(fields: Iterable[Field]) -> dict[str, Any]:
    return {"type": "object", "properties": {one.name: one.schema for one in fields}}


ZONE = Argument(
    "zone", "text", "time zone of the producers where the text does not show it: IANA name or ±HH:MM", most=60
)
AT = Argument("at", "text", "the time that counts as now, in ISO 8601: it decides the month of an ID", most=40)
LANG = Argument("lang", "text", "language of the sentences", choices=tuple(languages()), default="en")
# fmt: off
CASE = Argument(
    "case", "text", "any: also take what only looks like an ID, such as one in lower case",
    choices=("strict", "any"), default="strict",
)
LOOKALIKES = Argument(
    "lookalikes", "text", "take as IDs what only looks like some, by its label or by all of the input",
    choices=("ids",),
)
# fmt: on
RUN = Argument("run", "text", "name of a scan, as start_scan and scans give it", required=True, most=60, least=1)
CERTAINTY = Field("certainty", ("string", "null"), "how sure it is: certain, likely, possible, or a verdict's own word")
DISPROOF = Field("disproof", ("string", "null"), "what would show that it is wrong")
EVIDENCE = Field("evidence", (), "what it rests on")

"""Every message that a person reads, by its code and in the language asked for: one file a language. Decides nothing.

The rest of the core holds codes with values: in errors, tables, scans, findings, look-ups. A sentence is made here,
when a door (a page, the command line, a report) shows it. `docs/adr/0020-messages.md` says why this is not gettext.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from string import Formatter
from typing import Any, Protocol

from idcore.base import safe_text
from idcore.base.lazy_pattern import lazy_pattern

ENGLISH = "en"
# Values that errors, tables and JSON hold as one text because they are several; a sentence joins them as its language
# does. The pages join theirs themselves.
_JOINED = ", "
_SEVERAL = frozenset(
    {
        "addresses",
        "began_at",
        "born_hosts",
        "consumer_hosts",
        "differs",
        "group",
        "hosts",
        "ids",
        "known",
        "names",
        "places",
        "records",
        "statuses",
        "topics",
    }
)
_SECONDS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
_OF_CODES = ("error.", "meaning.", "also.", "reason.", "lookup.fact.")


class Coded(Protocol):
    """A reason, a client, an error: the key of its message, and what fills it."""

    @property
    def key(self) -> str: ...

    @property
    def values(self) -> Mapping[str, Any] | None: ...


class CodedError(Coded, Protocol):
    """An error of the core, as idcore.base.errors has it."""

    @property
    def field(self) -> str | None: ...

    @property
    def byte(self) -> int | None: ...


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a file, English first."""
    names = (module.name for module in iter_modules(__path__))
    return ENGLISH, *sorted(name for name in names if name != ENGLISH)


class Words:
    """All messages in one language."""

    __slots__ = ("_messages", "_plural", "lang")

    def __init__(self, lang: str) -> None:
        module = import_module(f"{__name__}.{lang}")
        self.lang = lang
        self._messages: Mapping[str, str | Mapping[str, str]] = module.MESSAGES
        self._plural = module.plural

    def __call__(self, key: str, **values: Any) -> str:
        """The message of a key, filled in."""
        return self.fill(key, values)

    def fill_known(self, key: str, values: Mapping[str, Any]) -> str:
        """A message; what the values do not hold is a question mark."""
        return self.fill(key, {**dict.fromkeys(self.placeholders(key), "?"), **values})

    def fill(self, key: str, values: Mapping[str, Any] | None) -> str:
        """The same from a mapping. A value that has a code itself is said in this language too; `count` chooses the form."""
        template = self._messages[key]
        if not isinstance(template, str):
            count = (values or {}).get("count", 0)
            template = template.get(f"={count}") or template.get(self._plural(count)) or template["other"]
        if not values:
            return template
        if self._messages["comma"] != _JOINED and key.startswith(_OF_CODES) and not _SEVERAL.isdisjoint(values):
            values = {**values, **self._several(values)}
        if "_seconds" in template or not _PLAIN.issuperset(map(type, values.values())):
            values = _Filled(self, values)  # seldom: `decode` has several reasons for each id
        text = template.format_map(values)
        return text if _STRAY.search(text) is None else _without_stray_spaces(template, values)

    def _several(self, values: Mapping[str, Any]) -> dict[str, str]:
        """What is several things in one text, with the commas of this language."""
        texts = {name: value for name, value in values.items() if name in _SEVERAL and isinstance(value, str)}
        return {name: self("comma").join(text.split(_JOINED)) for name, text in texts.items()}

    def has(self, key: str) -> bool:
        """Whether there is such a message."""
        return key in self._messages

    def placeholders(self, key: str) -> frozenset[str]:
        """The names that a message is filled with, in any of its forms."""
        message = self._messages[key]
        forms = (message,) if isinstance(message, str) else message.values()
        fields = (name for form in forms for _, name, _, _ in Formatter().parse(form) if name)
        return frozenset(name.partition(".")[0].partition("[")[0] for name in fields)

    def template(self, key: str) -> str:
        """The message of a key as it is written, in the form of many."""
        message = self._messages[key]
        return message if isinstance(message, str) else message["other"]

    def table(self, prefix: str) -> dict[str, str]:
        """Codes below a prefix with their templates, in the form of many: what docs and tests list."""
        keys = (key for key in self._messages if key.startswith(prefix))
        return {key.removeprefix(prefix): self.template(key) for key in keys}

    def count(self, noun: str, number: int) -> str:
        """`no IDs`, `1 ID`, `2,048 IDs`."""
        template = self._messages[f"n.{noun}"]
        number = int(number)
        if not isinstance(template, str):
            template = template.get(f"={number}") or template.get(self._plural(number)) or template["other"]
        return template.format(n=f"{number:,}")

    def assumed(self, codes: Iterable[str]) -> str:
        """What of a time nothing shows, to put behind it: ` (month assumed, zone assumed)`; empty where all is shown.

        `codes`: `month`, `zone`; with `_part` behind it, what is assumed for a part of the IDs.
        """
        text = self("comma").join(self(f"{code}.assumed") for code in codes)
        return self("in_brackets", text=text) if text else ""

    def coded(self, item: Coded) -> str:
        """A reason, a client or an error in this language; its code where the catalogue has no message."""
        key = item.key
        return self.fill(key, item.values) if key in self._messages else key.partition(".")[2]

    def client(self, code: str, values: Mapping[str, Any] | None = None) -> str:
        """Who generated an id, by the code that tables hold."""
        key = f"client.{code}"
        return self.fill(key, values) if key in self._messages else code

    def problem(self, code: str, values: Mapping[str, Any] | None = None) -> str:
        """What is wrong, without the place: `error.` and its code. An unknown code is shown as it is."""
        key = f"error.{code}"
        return self.fill(key, values or {}) if key in self._messages else code

    def numbers(self, key: str, **values: int) -> str:
        """A message that is filled with numbers."""
        return self(key, **{name: f"{value:,}" for name, value in values.items()})

    def said(self, value: Any) -> str:
        """An error, or what a table or a scan keeps of one, without the place; everything else as text."""
        if isinstance(value, Mapping) and "code" in value:
            return self.problem(value["code"], value.get("values"))
        return self.coded(value) if _is_coded(value) else str(value)

    def error(self, error: CodedError) -> str:
        """One sentence of a CoreError that says what, which field, which byte."""
        said = upper(self.coded(error))
        where = []
        if error.field is not None:
            where.append(self("where.field", name=self.field(error.field)))
        if error.byte is not None:
            where.append(self("where.byte", byte=error.byte))
        if where:
            return said + self("where", places=self("comma").join(where))
        return said if said.endswith((".", self("stop"))) else said + self("stop")

    def field(self, name: str) -> str:
        """The name of a field as this language writes it next to the format's own."""
        return self(f"field.{name}") if self.has(f"field.{name}") else name

    def listed(self, parts: Sequence[str]) -> str:
        """`a, b and c`."""
        if len(parts) < 2:
            return "".join(parts)
        head, joint = self("comma").join(parts[:-1]), self("and")
        if joint.strip() >= "\u4e00":  # Chinese has a space next to Latin letters and digits only
            joint = joint.lstrip() if head.rstrip("*")[-1:] >= "\u4e00" else joint
            joint = joint.rstrip() if parts[-1].lstrip("*")[:1] >= "\u4e00" else joint
        return head + joint + parts[-1]

    def first(self, names: Sequence[str], most: int, joint: str = "comma") -> str:
        """`a, b, c and 4 more`."""
        more = len(names) - most
        return self(joint).join(names[:most]) + (self("decode.more_files", n=f"{more:,}") if more > 0 else "")

    def bytes(self, number: float) -> str:
        """A size as people read it, in powers of 1,024."""
        return safe_text.size(number)

    def duration(self, seconds: float) -> str:
        """A time span in its two largest units, `2 h 5 min`, or in one where the second is 0."""
        total = max(0.0, float(seconds))
        if total < 1:
            return self("span.ms", n=f"{total * 1000:.0f}")
        if total < 60:
            return self("span.s", n=f"{total:.1f}".removesuffix(".0"))
        large, small = next(pair for pair in (("d", "h"), ("h", "min"), ("min", "s")) if total >= _SECONDS[pair[0]])
        first, rest = divmod(int(total), _SECONDS[large])
        figures = {large: f"{first:,}", small: rest // _SECONDS[small]}
        return " ".join(f"{figure} {self(f'unit.{unit}')}" for unit, figure in figures.items() if figure)

    def lasting(self, seconds: float) -> str:
        """A time span to the millisecond: 3599.932 is 59 min 59.932 s."""
        milliseconds = round(seconds * 1000)
        days, rest = divmod(milliseconds, 86_400_000)
        hours, rest = divmod(rest, 3_600_000)
        minutes, rest = divmod(rest, 60_000)
        figures = {"d": f"{days:,}" if days else "", "h": hours or "", "min": minutes or ""}
        figures["s"] = f"{rest / 1000:.3f}".rstrip("0").rstrip(".") if rest or not milliseconds else ""
        return " ".join(f"{figure} {self(f'unit.{unit}')}" for unit, figure in figures.items() if figure)

    def share(self, part: float, whole: float) -> str:
        """A share as a percentage; it never says 0 or 100 when it is not: `share(1, 100_000)` is `< 0.01%`."""
        if not whole:
            return "–"
        value = 100 * part / whole
        if 0 < value < 0.01:
            return "< 0.01%"
        if 99.99 < value < 100:
            return "> 99.99%"
        if 0 < value < 0.1 or 99.9 < value < 100:  # of 2,000 hosts each has 0.05%
            return f"{value:.2f}%"
        return f"{value:.1f}%".replace(".0%", "%")

    def share_cell(self, part: float, whole: float) -> str:
        """The same in a column of shares, where all have one decimal."""
        text = self.share(part, whole)
        return text if "." in text or not whole else text.replace("%", ".0%")


_PLAIN = frozenset({str, int, float})


# Chinese has a space next to Latin letters and digits only: none between two of its signs.
_WIDE = "\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
_STRAY = lazy_pattern(rf" (?<=[*{_WIDE}] )(?=[*{_WIDE}])")  # or two stars of bold words: seldom
_ENDS_WIDE, _BEGINS_WIDE = lazy_pattern(rf"[{_WIDE}]\*{{0,2}}\Z"), lazy_pattern(rf"\*{{0,2}}[{_WIDE}]")


def _without_stray_spaces(template: str, values: Mapping[str, Any]) -> str:
    """A template filled in, without its spaces between two Chinese signs; those inside a value stay.

    >>> _without_stray_spaces("{who} 已确认 {what}", {"who": "某个消费者", "what": "订单 日志"})
    '某个消费者已确认订单 日志'
    """
    text = ""
    for literal, name, spec, conversion in Formatter().parse(template):
        is_stray = literal[:1] == " " and _ENDS_WIDE.search(text) and _BEGINS_WIDE.match(literal[1:])
        text += literal[1:] if is_stray else literal
        if name is not None:
            value = f"{{{name}{'!' * bool(conversion)}{conversion or ''}:{spec}}}".format_map(values)
            text = text[:-1] if _ends_stray(text, value) else text
            text += value
    return text


def _ends_stray(text: str, value: str) -> bool:
    """Whether the space at the end of a text is between two Chinese signs once a value follows."""
    return text[-1:] == " " and bool(_ENDS_WIDE.search(text[:-1]) and _BEGINS_WIDE.match(value))


class _Filled(dict[str, Any]):
    """What a template takes: a coded value is said, a list is joined, a figure in seconds is a span."""

    def __init__(self, words: Words, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.words = words

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if isinstance(value, (list, tuple)) and any(map(_is_coded, value)):
            return self.words("semicolon").join(map(self.words.said, value))
        if _is_coded(value):
            return self.words.said(value)
        if name.endswith("_seconds") and not isinstance(value, str):
            return self.words.lasting(value)
        return value


def _is_coded(value: Any) -> bool:
    return isinstance(getattr(value, "key", None), str) or (isinstance(value, Mapping) and "code" in value)


@cache
def words(lang: str = ENGLISH) -> Words:
    """The messages of one language."""
    return Words(lang)


def lang_of(asked: str | None) -> str | None:
    """A language by what a link or a browser calls it: zh, zh-CN, en-US; None where this package has no file for it."""
    head = (asked or "").lower().replace("_", "-").split("-")[0]
    return head if head in languages() else None


def upper(text: str) -> str:
    """A sentence with a capital: `no IDs` is `No IDs`. An address, an ID or a file name at its start stays as it is.

    So does the name at the start of a Chinese sentence.

    >>> upper("pulled, not acknowledged yet"), upper("orders.log has none"), upper("iOS"), upper("pay 的消息")
    ('Pulled, not acknowledged yet', 'orders.log has none', 'iOS', 'pay 的消息')
    """
    first, _, rest = text.partition(" ")
    word = first.rstrip(",;:")
    is_word = word.isascii() and word.isalpha() and word.islower() and rest[:1] < "\u2e80"
    return text[:1].upper() + text[1:] if is_word else text

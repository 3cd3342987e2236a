"""The words of the console in the reader's language: sentences, counts, sizes, reasons. Knows no page and no widget."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Protocol

from idcore import safe_text
from idcore.errors import CoreError
from idcore.ids import words as core
from idcore.ids import words_zh as core_zh
from idcore.lab import story as lab
from pages.parts.words import (
    en,
    en_compare,
    en_findings,
    en_lab,
    en_messages,
    en_triage,
    zh,
    zh_compare,
    zh_findings,
    zh_lab,
    zh_messages,
    zh_reasons,
    zh_triage,
)

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")

TABLES: dict[Lang, Mapping[str, str]] = {
    "en": {
        **en.WORDS,
        **en_triage.WORDS,
        **en_findings.WORDS,
        **en_compare.WORDS,
        **en_messages.WORDS,
        **en_lab.WORDS,
    },
    "zh": {
        **zh.WORDS,
        **zh_triage.WORDS,
        **zh_findings.WORDS,
        **zh_compare.WORDS,
        **zh_messages.WORDS,
        **zh_lab.WORDS,
    },
}
CORE: dict[Lang, Mapping[str, str]] = {
    "en": {**core.ERRORS, **lab.ERRORS, **core.REASONS, **core.MAKERS},
    "zh": {**core_zh.ERRORS, **zh_lab.ERRORS, **core_zh.REASONS, **core_zh.MAKERS},
}


class Coded(Protocol):
    """A reason or a maker of the core: a code, its values, and English as str()."""

    @property
    def code(self) -> str: ...

    @property
    def values(self) -> Mapping[str, Any] | None: ...


class Words:
    """All words in one language."""

    __slots__ = ("_table", "lang")

    def __init__(self, lang: Lang) -> None:
        self.lang = lang
        self._table = TABLES[lang]

    def __call__(self, key: str, **values: Any) -> str:
        """The text of a key, filled in."""
        template = self._table[key]
        return template.format(**values) if values else template

    def has(self, key: str) -> bool:
        """Whether there is such a text."""
        return key in self._table

    def count(self, noun: str, number: int) -> str:
        """`no ids`, `1 id`, `2,048 ids`: forms are none|one|many, or one form for all."""
        forms = self._table[f"n.{noun}"].split("|")
        form = forms[min(int(number), len(forms) - 1) if len(forms) == 3 else (1 if number and len(forms) == 2 else 0)]
        return form.format(n=f"{number:,}")

    def coded(self, reason: Coded) -> str:
        """A reason or a maker of the core in this language."""
        template = CORE[self.lang].get(reason.code)
        return core.say(template, reason.values) if template is not None else str(reason)

    def code(self, code: str, values: Mapping[str, Any] | None = None) -> str:
        """The same from a bare code; an unknown one stays as it is."""
        template = CORE[self.lang].get(code)
        if template is None:
            return code
        try:
            return core.say(template, values or {})
        except KeyError:
            return self._table.get(f"refusal.{code}", code)

    def reason(self, english: str) -> str:
        """Why a file or a run failed, which tables and runs hold in English; what no pattern knows stays as it is."""
        if self.lang == "en" or not english:
            return english
        for pattern, chinese in zh_reasons.PATTERNS:
            if (hit := pattern.fullmatch(english)) is not None:
                return chinese.format(**{name: self.reason(part or "") for name, part in hit.groupdict().items()})
        return english

    def maker(self, code: str, position: float | None = None) -> str:
        """Who made the ids of a process, by the code that tables hold; runs of before hold English words."""
        template = CORE[self.lang].get(code) if code in core.MAKERS else None
        if template is None:
            return self._maker_of_words(code)
        known = position is not None and position == position
        return core.say(template, {"position": int(position or 0) if known else "?"})

    def _maker_of_words(self, english: str) -> str:
        code = _maker_codes().get(english)
        if code is not None:
            return CORE[self.lang][code]
        head, _, tail = core.MAKERS["java_main"].partition("{position}")
        if english.startswith(head) and english.endswith(tail):
            return CORE[self.lang]["java_main"].format(position=english[len(head) : len(english) - len(tail)])
        return english

    def error(self, error: CoreError) -> str:
        """One sentence that says what, which field, which byte."""
        template = CORE[self.lang].get(error.code or "")
        said = core.say(template, error.values) if template else self.reason(error.problem)
        said = said[:1].upper() + said[1:]
        where = []
        if error.field is not None:
            where.append(self("where.field", name=self.field(error.field)))
        if error.byte is not None:
            where.append(self("where.byte", byte=error.byte))
        return said + (self("where", places=self("comma").join(where)) if where else self("stop"))

    def field(self, name: str) -> str:
        """The name of a field as this language writes it beside the format's own."""
        return self._table.get(f"field.{name}", name)

    def listed(self, parts: list[str]) -> str:
        """`a, b and c`."""
        if len(parts) < 2:
            return "".join(parts)
        head, joint = self("comma").join(parts[:-1]), self("and")
        if self.lang == "zh":  # a space stands beside Latin letters and digits only
            joint = joint.lstrip() if head.rstrip("*")[-1:] >= "\u4e00" else joint
            joint = joint.rstrip() if parts[-1].lstrip("*")[:1] >= "\u4e00" else joint
        return head + joint + parts[-1]

    def bytes(self, number: float) -> str:
        """A size as people read it, in powers of 1,024."""
        return safe_text.size(number)

    def duration(self, seconds: float) -> str:
        """A time span in its two largest units."""
        total = max(0.0, float(seconds))
        if total < 1:
            return self("span.ms", n=f"{total * 1000:.0f}")
        if total < 60:
            return self("span.s", n=f"{total:.1f}".removesuffix(".0"))
        if total < 3600:
            return self("span.min", m=int(total // 60), s=int(total % 60))
        if total < 86400:
            return self("span.h", h=int(total // 3600), m=int(total % 3600 // 60))
        return self("span.d", d=f"{int(total // 86400):,}", h=int(total % 86400 // 3600))

    def share(self, part: float, whole: float) -> str:
        """A share as a percentage that never says 0 or 100 when it is not."""
        if not whole:
            return "–"
        value = 100 * part / whole
        if 0 < value < 0.1:
            return "< 0.1%"
        if 99.9 < value < 100:
            return "> 99.9%"
        return f"{value:.1f}%".replace(".0%", "%")


@cache
def _maker_codes() -> dict[str, str]:
    return {english: code for code, english in core.MAKERS.items()}


@cache
def words(lang: Lang) -> Words:
    """The words of one language."""
    return Words(lang)


def lang_of(asked: str | None) -> Lang | None:
    """A language by what a link or a browser calls it: zh, zh-CN, en-US."""
    head = (asked or "").lower().replace("_", "-").split("-")[0]
    return head if head in LANGS else None

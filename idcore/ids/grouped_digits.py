"""IDs whose digits are in groups, as word processors, chats and UUIDs have them: joined where they are sure to be one.

Digits alone are never enough: a UUID in capitals has as many. The loader of a known client, the port of a broker or the
version and time of a 5.x client show an ID, and no other part of the groups may be one too.
"""

from __future__ import annotations

import re
from itertools import accumulate

from idcore.base.layout import ID_DIGITS, LAYOUTS, Layout
from idcore.base.lazy_pattern import lazy_pattern
from idcore.ids import makers, rules
from idcore.ids.identify import identify

_PART = rf"[0-9A-Fa-f]{{1,{ID_DIGITS[-1] - 1}}}"
_MOST = 64  # groups: a row of more is no ID that a person has copied
_SIGNS, _HYPHENS = " :_.\u00a0\u2009\u202f", "-\u2010-\u2014"
_ROW = lazy_pattern(  # what is shorter than an ID and one sign, as a time, is no more than looked at
    rf"(?<![0-9A-Za-z])(?=[{_HYPHENS}{_SIGNS}0-9A-Fa-f]{{{ID_DIGITS[0] + 1}}})"
    rf"{_PART}(?P<sign>[{_SIGNS}]|[{_HYPHENS}] ?){_PART}(?:(?P=sign){_PART}){{0,{_MOST}}}(?![0-9A-Za-z])"
)


def joined_groups(text: str) -> tuple[str, frozenset[str]]:
    """A text of the same length with what parts the digits of an ID put behind them, and the IDs that are joined.

    >>> joined_groups("msgId AC110001-473C-7D49-91AD-336AEA5703E0 twice")
    ('msgId AC110001473C7D4991AD336AEA5703E0---- twice', frozenset({'AC110001473C7D4991AD336AEA5703E0'}))
    """
    found: set[str] = set()

    def joined(row: re.Match[str]) -> str:
        groups = row[0].split(row["sign"])
        one = _only_id(groups)
        if one is None:
            return row[0]
        first, last = one
        found.add(digits := "".join(groups[first:last]))
        return row["sign"].join([*groups[:first], digits + row["sign"] * (last - first - 1), *groups[last:]])

    return _ROW.sub(joined, text), frozenset(found)


def _only_id(groups: list[str]) -> tuple[int, int] | None:
    """From which group to which the ID goes: all of them, else the only one that has the first of them or the last."""
    if len(groups) > _MOST or any(len(group) in rules.CANDIDATE_DIGITS for group in groups):
        return None
    ends = [0, *accumulate(map(len, groups))]
    parts = {(0, last) for last in range(2, len(ends))} | {(first, len(groups)) for first in range(len(groups) - 1)}
    sure = [
        (first, last)
        for first, last in sorted(parts)
        if ends[last] - ends[first] in rules.CANDIDATE_DIGITS and _is_sure("".join(groups[first:last]))
    ]
    whole = (0, len(groups))
    return whole if whole in sure else sure[0] if len(sure) == 1 else None


def _is_sure(digits: str) -> bool:
    """Whether digits are an ID by what is in them; most are told apart by one field."""
    if not any(_has_its_mark(digits, layout) for layout in LAYOUTS.values() if layout.digits == len(digits)):
        return False
    best = identify(digits).best
    return best is not None and best.certainty != "possible"


def _has_its_mark(digits: str, layout: Layout) -> bool:
    """Whether the field by which a layout is told from mere digits has a value of an ID."""
    fields = {item.name: item for item in layout.fields}

    def value(name: str) -> int:
        return int(digits[layout.digits_of(name)], 16)

    if layout.byteorder != "big":
        return False
    if "version" in fields:
        return value("version") == fields["version"].always
    return makers.is_known(value("loader")) if "loader" in fields else rules.is_usual_port(value("port"))

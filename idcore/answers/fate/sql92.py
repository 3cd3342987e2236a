"""Whether a broker's SQL92 filter lets a message through, by its properties. What is in doubt is left undecided.

The grammar is that of SelectorParser.jj, the values those of ComparisonExpression and LogicExpression of RocketMQ.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

Value = str | int | float | bool | None
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>\d{1,18}(?:\.\d{1,18})?(?![\w.]))|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<sign><>|<=|>=|[=<>(),+-]))",
    re.ASCII,
)
_WORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN", "IS", "NULL", "TRUE", "FALSE"})
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Undecided(Exception):
    """The expression has something that this does not judge."""


def matches(expression: str, properties: Mapping[str, str]) -> bool | None:
    """Whether the filter lets the message through; None where this is not certain."""
    try:
        parser = _Parser(_tokens(expression), properties)
        value = parser.any_of()
        if parser.left:
            return None
    except (_Undecided, RecursionError):
        return None
    return value is True  # a broker drops what is neither true nor false


def _tokens(expression: str) -> list[str]:
    tokens, at, end = [], 0, len(expression.rstrip())
    while at < end:
        match = _TOKEN.match(expression, at)
        if match is None:
            raise _Undecided
        at = match.end()
        token = match[match.lastgroup or 0]
        tokens.append(token.upper() if token.upper() in _WORDS else token)
    return tokens


class _Parser:
    """Reads from left to right, and evaluates what it reads: True, False, or None where a property is not there."""

    def __init__(self, tokens: list[str], properties: Mapping[str, str]) -> None:
        self.left, self.properties = tokens[::-1], properties

    def _take(self, *wanted: str) -> str | None:
        return self.left.pop() if self.left and self.left[-1] in wanted else None

    def _need(self, wanted: str) -> None:
        if self._take(wanted) is None:
            raise _Undecided

    def any_of(self) -> bool | None:
        value = self._all_of()
        while self._take("OR"):
            other = self._all_of()
            value = True if value or other else None if None in (value, other) else False
        return value

    def _all_of(self) -> bool | None:
        value = self._one()
        while self._take("AND"):
            other = self._one()
            value = False if False in (value, other) else None if None in (value, other) else True
        return value

    def _one(self) -> bool | None:
        if self._take("NOT"):
            return _not(self._one())
        if self._take("("):
            found = self.any_of()
            self._need(")")
            return found
        value = self._value()
        if self._take("IS"):
            negated = self._take("NOT") is not None
            self._need("NULL")
            return (value is None) != negated
        if sign := self._take("=", "<>"):
            same = _same(value, self._value())
            return same if sign == "=" else _not(same)
        if sign := self._take(*_ORDERS):
            return _ordered(sign, value, self._value())
        negated = self._take("NOT") is not None
        found = self._between(value) if self._take("BETWEEN") else self._among(value)
        return _not(found) if negated else found

    def _between(self, value: Value) -> bool | None:
        low = self._value()
        self._need("AND")
        sides = _ordered(">=", value, low), _ordered("<=", value, self._value())
        return False if False in sides else None if None in sides else True

    def _among(self, value: Value) -> bool | None:
        self._need("IN")
        self._need("(")
        listed = [self._value()]
        while self._take(","):
            listed.append(self._value())
        self._need(")")
        if not all(isinstance(each, str) for each in listed):
            raise _Undecided
        return None if value is None else value in listed

    def _value(self) -> Value:
        sign = self._take("+", "-")
        if not self.left:
            raise _Undecided
        token = self.left.pop()
        if token[0].isdigit():
            number = float(token) if "." in token else int(token)
            return -number if sign == "-" else number
        if sign is not None or token in _WORDS - {"TRUE", "FALSE"}:
            raise _Undecided
        if token in ("TRUE", "FALSE"):
            return token == "TRUE"
        if token[0] == "'":
            return token[1:-1].replace("''", "'")
        if not (token[0].isalpha() or token[0] in "_$"):
            raise _Undecided
        return self.properties.get(token)


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _same(left: Value, right: Value) -> bool | None:
    if right is None:  # what is not there equals what is not there; of one of them it matters on which side it is
        return left is None
    if left is None:
        return None
    if isinstance(left, bool) and isinstance(right, str):  # a broker then fails
        raise _Undecided
    if isinstance(left, bool) or isinstance(right, bool):
        texts = {str(each).lower() for each in (left, right)}
        if not texts <= {"true", "false"}:
            raise _Undecided
        return len(texts) == 1
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return _number(left, right) == _number(right, left)


def _ordered(sign: str, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str):  # texts are compared otherwise by one release and another
        raise _Undecided
    return _ORDERS[sign](_number(left, right), _number(right, left))


def _number(value: Value, other: Value) -> float:
    """A number, or a property that is one as the kind of number that it is compared with."""
    if isinstance(value, str) and re.fullmatch(
        r"-?\d{1,15}" if isinstance(other, int) else r"-?\d{1,15}(\.\d{1,15})?", value
    ):
        return float(value)
    if isinstance(value, bool | str) or value is None:
        raise _Undecided
    return value

"""The one error family of the core: a code with values, the field, the byte. It does not depend on any format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from errno import ENOSPC, errorcode
from typing import Any, Self

from idcore.base.catalogue import words


class CoreError(ValueError):
    """Anything that the core rejects, from one digit of an id to a whole cluster.

    `code` is the key `error.<code>` of the catalogue and `values` fill its message. So each door shows it in its
    reader's language. A value may be an error itself. `field` is the field's own name in its layout, `byte` the place
    (0-based) of the first byte that proves the problem, `text` what was read.
    """

    def __init__(
        self,
        code: str,
        values: Mapping[str, Any] | None = None,
        field: str | None = None,
        byte: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.values: dict[str, Any] = dict(values or {})
        self.field = field
        self.byte = byte
        self.text = text

    @property
    def key(self) -> str:
        """The key of its message."""
        return f"error.{self.code}"

    @property
    def problem(self) -> str:
        """One plain English sentence without a final stop."""
        return words().coded(self)

    def __str__(self) -> str:
        where = []
        if self.field is not None:
            where.append(f"field {self.field}")
        if self.byte is not None:
            where.append(f"byte {self.byte}")
        place = f" ({', '.join(where)})" if where else ""
        return f"{self.problem}{place}"

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception with required arguments is pickled by its args alone; Spark sends errors between processes,
        # so every part has to travel.
        return type(self), (self.code, self.values, self.field, self.byte, self.text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoreError):
            return NotImplemented
        return self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((type(self), self.code, self.field, self.byte, self.text))

    def without_stack(self) -> Self:
        """The same, to be kept: the stack of one holds what was in memory when it was raised, such as an answer."""
        kind, given = self.__reduce__()
        held: Self = kind(*given)
        return held

    def as_dict(self) -> dict[str, Any]:
        """The three keys that the command line prints."""
        return {"problem": self.problem, "field": self.field, "byte": self.byte}

    def coded(self) -> dict[str, Any]:
        """Code and values alone, as tables and scans keep them (JSON)."""
        return {"code": self.code, "values": {name: json_value(value) for name, value in self.values.items()}}


def refuse(
    code: str, field: str | None = None, byte: int | None = None, text: str | None = None, **values: Any
) -> CoreError:
    """An error of the family by its code, with the values of its message by name."""
    return CoreError(code, values, field, byte, text)


def from_coded(held: Mapping[str, Any] | None) -> CoreError | None:
    """The error of what a table or a scan keeps; None of nothing."""
    return CoreError(held["code"], held.get("values")) if held else None


def json_value(value: Any) -> Any:
    """A value of a message as JSON has it: an error is its code and values."""
    if isinstance(value, CoreError):
        return value.coded()
    if hasattr(value, "item"):  # a number of numpy
        return value.item()
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return value if isinstance(value, str | int | float | bool | dict) or value is None else str(value)


def coded(error: Exception) -> CoreError:
    """Any error as one of the family: what the system says has the name of its errno as code, the rest is quoted.

    A library that says more than the system, such as which object is missing, is quoted too. Of a disk that is full
    nothing more is worth saying.
    """
    if isinstance(error, CoreError):
        return error
    said = " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())[:300]
    number = getattr(error, "errno", None) or 0
    code = errorcode.get(number, "")
    if (said == os.strerror(number) or number == ENOSPC) and words().has(f"error.{code}"):
        return CoreError(code)
    return CoreError("said", {"why": said})

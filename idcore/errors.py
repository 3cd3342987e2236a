"""The one error family of the core: what is wrong, in which field, at which byte. Knows no format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CoreError(ValueError):
    """Something that was read as an id, an instant or a zone and is none.

    `problem` is one plain sentence without a final stop. `field` is the field's own name in its layout, `byte` the
    place (0-based) of the first byte that proves the problem, `text` what was read. `code` and `values` say the same
    thing to a program, so that a page can say it in another language.
    """

    def __init__(
        self,
        problem: str,
        field: str | None = None,
        byte: int | None = None,
        text: str | None = None,
        code: str | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.field = field
        self.byte = byte
        self.text = text
        self.code = code
        self.values: dict[str, Any] = dict(values or {})

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
        return type(self), (self.problem, self.field, self.byte, self.text, self.code, self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CoreError):
            return NotImplemented
        return self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((type(self), self.problem, self.field, self.byte, self.text, self.code))

    def as_dict(self) -> dict[str, Any]:
        """The three keys that the command line prints."""
        return {"problem": self.problem, "field": self.field, "byte": self.byte}

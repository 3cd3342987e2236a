"""What an administrator lets a reader see of bodies: all, a part, masked, or nothing. Reads only the body's bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MASK = "••••"
Withheld = Literal["switched_off", "cut", "masked", "no_text"]


@dataclass(frozen=True, slots=True)
class VisibleBody:
    """A body as it may be shown, and what was done to it."""

    raw: bytes | None
    text: str | None
    withheld: Withheld | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class BodyPolicy:
    """`show` false hides every body; `masks` blot out what they match; longer bodies than `most_bytes` are cut."""

    show: bool = True
    masks: tuple[re.Pattern[str], ...] = ()
    most_bytes: int = 4 << 20

    def apply(self, body: bytes, text: str | None) -> VisibleBody:
        """The body as this policy lets it out; `text` is the body as text, None when it is not text."""
        if not self.show:
            return VisibleBody(None, None, "switched_off", len(body))
        if self.masks:
            if text is None:
                # A pattern cannot be looked for in what is not text, so nothing of it gets out.
                return VisibleBody(None, None, "no_text", len(body))
            clean = text
            for mask in self.masks:
                clean = mask.sub(MASK, clean)
            changed = clean != text
            raw = clean.encode()
            if len(raw) > self.most_bytes:
                return VisibleBody(raw[: self.most_bytes], self._cut(raw), "cut", len(body))
            return VisibleBody(raw, clean, "masked" if changed else None, len(body))
        if len(body) > self.most_bytes:
            return VisibleBody(body[: self.most_bytes], None if text is None else self._cut(body), "cut", len(body))
        return VisibleBody(body, text, None, len(body))

    def _cut(self, body: bytes) -> str:
        return body[: self.most_bytes].decode("utf-8", "ignore")

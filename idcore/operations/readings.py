"""An item of `decode` and `explain_line`, also for the command line. Needs the standard library alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from idcore.base.catalogue import Words


def reading_item(row: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """A row of `describe` with what would show that the reading is wrong."""
    return dict(row) | {"disproof": words(f"wrong_if.reading.{row['kind'] or 'none'}")}

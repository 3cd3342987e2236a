"""The error a call ends in, or its value: for tests that do not know beforehand which of the two it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from idcore.base.errors import CoreError


def outcome(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What the call returns, or the CoreError it raises; any other error is the test's."""
    try:
        return call(*arguments, **named)
    except CoreError as problem:
        return problem

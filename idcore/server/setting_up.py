"""What set-up still does behind a console that already decodes. It is told by the file of `scripts/setup.py`.

Installs and ends nothing itself.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from idcore.runs.runs import is_alive

FILE = Path(__file__).resolve().parents[2] / ".cache" / "setting-up.json"  # of a clone; a package has none
STEPS = ("java", "packages", "kernels", "archive")  # `setup.` and the name is its sentence


@dataclass(frozen=True, slots=True)
class SettingUp:
    """The step at work: its name, its number from 1, how many there are, and the seconds since set-up began."""

    step: str
    number: int
    steps: int
    seconds: float


def now(file: Path = FILE) -> SettingUp | None:
    """How far set-up is; None where nothing is being set up, or its process has gone."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        found = SettingUp(
            str(told["step"]), int(told["number"]), int(told["steps"]), time.time() - float(told["began"])
        )
        alive = is_alive(int(told["pid"]), None)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if alive and found.step in STEPS else None

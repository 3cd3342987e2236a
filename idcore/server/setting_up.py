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
STEPS = ("java", "packages", "kernels")  # `setup.` and the name is its sentence


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
        state = json.loads(file.read_text(encoding="utf-8"))
        setting_up = SettingUp(
            str(state["step"]), int(state["number"]), int(state["steps"]), time.time() - float(state["began"])
        )
        alive = is_alive(int(state["pid"]), None)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return setting_up if alive and setting_up.step in STEPS else None

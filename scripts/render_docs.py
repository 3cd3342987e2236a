"""Writes the pages of docs/ that are rendered from the code. Set-up only: scripts.rendered has their text."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.rendered.pages import main

if __name__ == "__main__":
    main()

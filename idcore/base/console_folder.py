"""Where the files of the console are, in a clone or in an installed package: `app.py`, pages, Streamlit's settings."""

from __future__ import annotations

from pathlib import Path

_CORE = Path(__file__).resolve().parents[1]
# A wheel has them inside the package, because nothing else of it may stand beside other people's packages.
CONSOLE = _CORE.parent if (_CORE.parent / "app.py").is_file() else _CORE / "_console"

"""Pyodide, Python for browsers: fetched once from its npm package into .cache, and refused if it is not the known one.

    python3 scripts/pyodide.py

Only the standard library: `make setup-dev` runs it for the tests, `make page` asks it for the bytes.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import urllib.request
from pathlib import Path

VERSION = "314.0.7"
ADDRESS = f"https://registry.npmjs.org/pyodide/-/pyodide-{VERSION}.tgz"
# The `integrity` that the registry states.
SHA512 = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
SIZE = "6.5 MB"
PACKED = Path(__file__).resolve().parent.parent / ".cache" / "pyodide" / f"pyodide-{VERSION}.tgz"


def is_known(packed: bytes) -> bool:
    """Whether these are the bytes of the pinned version."""
    return base64.b64encode(hashlib.sha512(packed).digest()).decode() == SHA512


def is_there(packed: Path = PACKED) -> bool:
    """Whether it was fetched and is still whole."""
    return packed.is_file() and is_known(packed.read_bytes())


def fetch(packed: Path = PACKED, address: str = ADDRESS) -> bytes:
    """The package; downloaded if it is not there. Ends the program where it cannot be had."""
    if is_there(packed):
        return packed.read_bytes()
    print(f"downloading {address} ({SIZE})", file=sys.stderr)
    try:
        with urllib.request.urlopen(address, timeout=60) as there:
            found: bytes = there.read()
    except OSError as problem:
        raise SystemExit(f"{address} cannot be reached: {problem}") from None
    if not is_known(found):
        raise SystemExit(f"{address} has other bytes than the known ones")
    packed.parent.mkdir(parents=True, exist_ok=True)
    packed.with_suffix(".part").write_bytes(found)
    packed.with_suffix(".part").replace(packed)
    return found


if __name__ == "__main__":
    fetch()

"""Certificates that sign themselves, by openssl, for servers of the tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

NAME = "broker.test"


def write(certificate: Path, key: Path, *addresses: str) -> None:
    """A certificate of two days for broker.test and these addresses, and its key."""
    names = ",".join([f"DNS:{NAME}", *(f"IP:{address}" for address in addresses)])
    made = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext subjectAltName={names}".split()
    command = [*made, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

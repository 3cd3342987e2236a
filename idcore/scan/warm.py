"""Compiles or loads every kernel by scanning a few made ids, so that the first real scan does not wait for it."""

from __future__ import annotations

import os
import tempfile

import numpy as np

from idcore.scan.local import scan_local

TEXT = (
    b"msgId=0A00000100FF18B4AAC20000000A0001, offsetMsgId=0A00000200002A9F0000000000000001\n"
    b"0A00000100FF18B4AAC20000000A0001 0A00000200002A9F0000000000000002\n"
    b"0A00000100FF18B4AAC20000000A0001 0A00000100FF18B4AAC2000007FF0000 0A00000100FF18B4AAC2FF0000FF0000\n"
    b"0108719066FF9A489C04DB99CA00000003 0108719066FF9A489C04DB99CA00000002 0101007F0000A61200003CF1C4030100\n"
    b"20010DB8000000000000000000000001000118B4AAC20000000A0001\n"
    b"20010DB800000000000000000000000100002A9F0000000000000001\n"
)


def warm() -> None:
    """Scans a few lines in a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ids.log")
        with open(path, "wb") as file:
            file.write(TEXT)
        scan_local([path], np.array([[0, 31 * 86_400_000 - 1]], np.int64), split_size=100)


if __name__ == "__main__":
    warm()

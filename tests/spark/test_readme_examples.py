"""The examples of the README, run one after the other: each prints what is shown. One of them is a scan."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from idcore.cli import scan
from tests.cli.in_process import command
from tests.test_readme import examples, matches

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
SOME = 500  # lines of a log, of whose IDs nothing is shown: all 20,000 take twenty seconds


def printed(line: str, folder: Path) -> list[str]:
    """What a line of a shell prints: `python -m idcore` with its words, and files for its streams."""
    words, streams = shlex.split(line), {}
    for mark in "<>":
        if mark in words:
            at = words.index(mark)
            streams[mark] = folder / words[at + 1]
            del words[at : at + 2]
    assert words[:3] == ["python", "-m", "idcore"], line
    given = b"".join(streams["<"].read_bytes().splitlines(keepends=True)[:SOME]) if "<" in streams else b""
    done = command(*words[3:], given=given, env=os.environ, folder=folder)
    assert done.returncode in (0, 1) and b"Traceback" not in done.stderr, f"{line}: {done.stderr.decode()}"
    if ">" in streams:
        streams[">"].write_bytes(done.stdout)
        return []
    return [text.rstrip() for text in done.stdout.decode().splitlines() if text.strip()]


def test_the_examples_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_start_spark", lambda: None)  # the session of the tests runs
    assert len(examples()) >= 4
    for line, shown in examples():
        said = printed(line, tmp_path)
        assert matches(shown, said), f"{line} prints\n" + "\n".join(said)

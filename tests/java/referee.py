"""One Java process of one release that answers questions with RocketMQ's own classes. Judges no answer."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.java import jars


class Referee:
    """One Java process of one release in one zone: questions in, answers out."""

    def __init__(self, release: str, zone: str, home: Path, classes: Path, main: str = "Referee") -> None:
        self.release = release
        self.zone = ZoneInfo(zone)
        path = f"{classes}{os.pathsep}{jars.folder(release)}/*"
        self._process = subprocess.Popen(
            [
                "java",
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                f"-Duser.timezone={zone}",
                f"-Duser.home={home}",
                f"-Djava.io.tmpdir={tempfile.gettempdir()}",
                "-XX:-UsePerfData",
                "-cp",
                path,
                main,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=home,
        )

    def ask(self, questions: list[str]) -> list[list[str]]:
        """One list of words for each question."""
        assert self._process.stdin
        assert self._process.stdout
        answers = []
        for at in range(0, len(questions), 50):  # few enough at a time for either pipe
            part = questions[at : at + 50]
            self._process.stdin.write("".join(question + "\n" for question in part))
            self._process.stdin.flush()
            answers += [self._process.stdout.readline().split() for _ in part]
        assert all(answers), "Java ended early"
        return answers

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)

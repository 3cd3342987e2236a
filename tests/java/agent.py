"""An agent that keeps a real server's ports on loopback, where its settings cannot: 4.9 has none, the HA port never."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from tests.java import jars

_MANIFEST = "Manifest-Version: 1.0\nPremain-Class: Loopback\n\n"


def loopback_agent(folder: Path) -> Path:
    """The jar for -javaagent, compiled into a folder; it finds Javassist among the server's own jars."""
    classes = folder / "agent"
    subprocess.run(
        [
            "javac",
            "-nowarn",
            "-encoding",
            "UTF-8",
            "-cp",
            f"{jars.folder(jars.OLD_SERVER)}/*",
            "-d",
            str(classes),
            str(jars.HERE / "Loopback.java"),
        ],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    made = folder / "loopback.jar"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", _MANIFEST)
        for path in sorted(classes.glob("*.class")):
            archive.write(path, path.name)
    return made

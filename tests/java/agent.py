"""An agent that keeps a real server's ports on loopback, where its settings cannot: 4.9 has none, the HA port never."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.java import jars

_MANIFEST = "Manifest-Version: 1.0\nPremain-Class: Loopback\n\n"


def loopback_agent(folder: Path) -> Path:
    """The jar for -javaagent, compiled into a folder; it finds Javassist among the server's own jars."""
    classes = folder / "agent"
    jars.javac(jars.OLD_SERVER, classes, jars.HERE / "Loopback.java")
    made = folder / "loopback.jar"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", _MANIFEST)
        for path in sorted(classes.glob("*.class")):
            archive.write(path, path.name)
    return made

"""What the files of a scan are called where a person reads them: without the folder of the server that all are in.

Within the scan a name is of one file: what of its folders is not shared stays. Uploads have no folder. Opens no input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from idcore.base.safe_text import json_text
from idcore.intake.allowed import is_copy
from idcore.presentation.triage.run_tables import stamp
from idcore.runs.runs import Run

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = ("evidence", "values", "subject")  # of findings


@dataclass(frozen=True, slots=True)
class FileNames:
    """The folder that all files of the server share, with a slash at its end; empty where they share none.

    `copies` is that of a scan's own copies of its input.
    """

    folder: str = ""
    copies: str = ""

    @classmethod
    def of(cls, files: Iterable[str]) -> FileNames:
        """Those of all files of a scan."""
        folders = [name.split("/")[:-1] for name in files if is_of_server(name)]
        parts = takewhile(lambda same: len(set(same)) == 1, zip(*folders, strict=False))
        shared = "/".join(part for part, *_ in parts)
        return cls(f"{shared}/" if shared.strip("/") else "")

    def __call__(self, name: str) -> str:
        """The name of a file, or of a place in it.

        >>> names = FileNames.of(["/srv/logs/app.log", "/srv/logs/sub/deep/gap.log", "upload.log"])
        >>> names("/srv/logs/sub/deep/gap.log:7"), names("/srv/logs/app.log"), names("upload.log")
        ('sub/deep/gap.log:7', 'app.log', 'upload.log')
        """
        return name.removeprefix(self.copies).removeprefix(self.folder)

    def named(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with these names: in its files, and in what findings say of them."""
        if not self.folder or table.empty:
            return table
        texts = table.columns.intersection(["file", *(_TEXTS if "evidence" in table else ())])
        folders = {self.folder, json_text(self.folder)[1:-1]}  # as it is, and as strings of JSON have it
        begins = re.compile(rf"(?<![\w/.-])(?:{'|'.join(map(re.escape, folders))})")  # not inside of another path
        within = lambda text: begins.sub("", text) if isinstance(text, str) else text  # noqa: E731
        return table.assign(**{name: [within(text) for text in table[name]] for name in texts})


def names_of(run: Run) -> FileNames:
    """What the files of a run are called."""
    return _names(run.path, stamp(run))


@lru_cache(maxsize=64)
def _names(path: Path, written: float) -> FileNames:
    run = Run(path)
    files = run.table("files").column("file").to_pylist() if run.has("files") else []
    names = FileNames.of(name for name in files if not is_copy(path, name))
    return replace(names, copies=f"{run.input_folder}/")


def folders_of(files: Iterable[str]) -> list[str]:
    """The folders of the server that the files are in, each once."""
    return list(dict.fromkeys(name.rpartition("/")[0] or "/" for name in files if is_of_server(name)))


def is_of_server(name: str) -> bool:
    """Whether a file was read where it is: an upload has no path, and an archive that was uploaded has none either."""
    return name.startswith("/") or "://" in name

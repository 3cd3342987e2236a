"""A story of the lab played in a folder that goes away again, and its stores as one file to take away."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from idcore.base import temporary
from idcore.presentation.lab.played import PlayedStory
from idcore.presentation.lab.story import Story
from idcore.presentation.lab.world import SIZES, play


def played(story: Story) -> PlayedStory:
    """The story played, in a folder that goes away again."""
    with TemporaryDirectory(prefix="lab-", dir=temporary.own()) as folder:
        return play(story, Path(folder))


def archive(story: Story) -> bytes:
    """Both stores of a story, and the settings that a broker needs to open them."""
    packed = io.BytesIO()
    with (
        TemporaryDirectory(prefix="lab-", dir=temporary.own()) as folder,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        root = Path(folder)
        play(story, root)
        for path in sorted(root.rglob("*")):
            if path.is_file():
                target.write(path, path.relative_to(root))
        target.writestr("broker.conf", SIZES.broker_conf)
    return packed.getvalue()

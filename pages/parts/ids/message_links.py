"""The ways from ids to their messages: a live cluster, a store folder. Asks nobody."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from idcore.catalogue import Words
from idcore.remoting.profile import FILE, NAMESRV
from pages.parts import scans
from pages.parts.widgets import page_link

MOST_IDS = 20  # that an address can carry


def messages(ids: Sequence[str], words: Words) -> None:
    """Links that take ids along: look them up where a cluster is configured; one to a store where folders are open."""
    if 0 < len(ids) <= MOST_IDS and (os.environ.get(FILE) or os.environ.get(NAMESRV)):
        page_link("lookup", words("card.lookup"), icon=":material/search:", id=",".join(ids))
    if len(ids) == 1 and any(isinstance(root, Path) for root in scans.allowed_roots()):
        page_link("store", words("card.store"), icon=":material/folder_open:", id=ids[0])

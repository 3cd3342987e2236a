"""Uploads as store folders: kept as long as a session has them open, with how far they are. The core lays them out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.base.catalogue import Words
from idcore.base.errors import CoreError
from idcore.intake import store_uploads
from idcore.intake.store_uploads import STEP, UploadedStores
from idcore.presentation.reports.markdown import escaped
from idcore.simulate import played_store
from pages.parts import session, visitor


def held(token: str) -> UploadedStores | None:
    """The uploads that an address names, held by this session as well; None where they are gone."""
    here = visitor.current()
    here.require("folders")
    upload = store_uploads.held(token, here.name)
    if upload is not None:
        session.kept()["store_kept"] = upload
    return upload


def latest() -> UploadedStores | None:
    """The uploads that this session has open."""
    upload = session.kept().get("store_kept")
    return upload if isinstance(upload, UploadedStores) else None


def close() -> None:
    """This session has no uploads open any more."""
    session.kept().pop("store_kept", None)


def folder(uploaded: Sequence[Any], words: Words) -> Path | None:
    """The store folder that the uploads come to; of several, the one that is chosen."""
    visitor.current().require("folders")
    key = sorted(file.file_id for file in uploaded)
    kept = latest()
    if kept is None or kept.key != key:
        bar = st.progress(0.0, words("store.copying", name=escaped(uploaded[0].name)))
        kept = store_uploads.keep(key, uploaded, visitor.current().name, words, partial(_show, bar, words))
        bar.empty()
        session.kept()["store_kept"] = kept
    return chosen(kept, words)


def example() -> UploadedStores:
    """The store folder of the example, as if it had been uploaded."""
    visitor.current().require("folders")
    kept = store_uploads.hold([played_store.NAME], [played_store.NAME], visitor.current().name, _example)
    session.kept()["store_kept"] = kept
    return kept


def _example(root: Path) -> tuple[dict[str, Path], list[CoreError]]:
    played_store.EXAMPLE.write(root / played_store.NAME)
    return {played_store.NAME: root / played_store.NAME}, []


def _show(bar: Any, words: Words, name: str, done: int, total: int) -> None:
    """How far an upload is copied or unpacked, every 16 MiB."""
    if done % (16 * STEP) < STEP or done == total:
        figures = {"done": words.bytes(done), "total": words.bytes(total), "share": words.share(done, total)}
        bar.progress(min(1.0, done / total) if total else 1.0, words("store.copied", name=escaped(name), **figures))


def chosen(kept: UploadedStores, words: Words) -> Path | None:
    """The store of the uploads that is looked into, after what is wrong with the others."""
    for problem in kept.problems:
        st.error(escaped(words.error(problem)), icon=":material/error:")
    if len(kept.stores) < 2:
        return next(iter(kept.stores.values()), None)
    return kept.stores[st.selectbox(words("store.which"), list(kept.stores), key="store_which")]

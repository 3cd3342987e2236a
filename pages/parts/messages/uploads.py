"""Uploads as store folders: kept as long as a session has them open, with how far they are. The core lays them out."""

from __future__ import annotations

import secrets
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from idcore.catalogue import Words
from idcore.reports.markdown import escaped
from idcore.store_uploads import STEP, laid_out
from pages.parts import visitor


@dataclass(weakref_slot=True, slots=True)
class Kept:
    """What came of some uploads: their stores by a name each, and what is wrong with the others.

    An address names it by its token. Sessions hold it; with the last of them its folder is deleted.
    """

    key: list[str]
    place: tempfile.TemporaryDirectory[str]
    stores: dict[str, Path]
    problems: list[str]
    names: list[str]
    owner: str | None
    token: str = field(default_factory=lambda: secrets.token_hex(16))


_kept: weakref.WeakValueDictionary[str, Kept] = weakref.WeakValueDictionary()


def held(token: str) -> Kept | None:
    """The uploads that an address names, held by this session as well; None where they are gone."""
    found = _kept.get(token)
    if found is None or found.owner != visitor.current().name:
        return None
    st.session_state["store_kept"] = found
    return found


def latest() -> Kept | None:
    """The uploads that this session has open."""
    found = st.session_state.get("store_kept")
    return found if isinstance(found, Kept) else None


def close() -> None:
    """This session has no uploads open any more."""
    st.session_state.pop("store_kept", None)


def folder(uploaded: Sequence[Any], words: Words) -> Path | None:
    """The store folder that the uploads come to; of several, the one that is chosen."""
    key = sorted(file.file_id for file in uploaded)
    kept = latest()
    if kept is None or kept.key != key:
        place = tempfile.TemporaryDirectory(prefix="idcore-store-", ignore_cleanup_errors=True)
        bar = st.progress(0.0, words("store.copying", name=escaped(uploaded[0].name)))
        moved = partial(_show, bar, words)
        stores, problems = laid_out(uploaded, Path(place.name), words, moved)
        bar.empty()
        said = [escaped(words.error(problem)) for problem in problems]  # names and reasons are from strangers
        kept = Kept(key, place, stores, said, [file.name for file in uploaded], visitor.current().name)
        _kept[kept.token] = st.session_state["store_kept"] = kept
    return chosen(kept, words)


def _show(bar: Any, words: Words, name: str, done: int, total: int) -> None:
    """How far an upload is copied or unpacked, every 16 MiB."""
    if done % (16 * STEP) < STEP or done == total:
        figures = {"done": words.bytes(done), "total": words.bytes(total), "share": words.share(done, total)}
        bar.progress(min(1.0, done / total) if total else 1.0, words("store.copied", name=escaped(name), **figures))


def chosen(kept: Kept, words: Words) -> Path | None:
    """The store of the uploads that is looked into, after what is wrong with the others."""
    for problem in kept.problems:
        st.error(problem, icon=":material/error:")
    if len(kept.stores) < 2:
        return next(iter(kept.stores.values()), None)
    return kept.stores[st.selectbox(words("store.which"), list(kept.stores), key="store_which")]

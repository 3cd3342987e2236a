"""Whose session a page is drawn for, what it has uploaded, where it ends. Draws nothing, and depends on no page."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec
from weakref import WeakValueDictionary

import streamlit as st

from idcore.base.errors import CoreError
from idcore.policy import audit
from idcore.policy.audit import Actor
from idcore.server import download_turns, streamlit_private
from idcore.server.conversation import draw_again, is_open
from idcore.server.front_door import UPLOAD, Uploads, session_of
from idcore.server.gate import MEDIA, DownloadOwners, May, anyone
from idcore.server.memory import Visit
from pages.parts import visitor

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

# Streamlit lets a browser come back to its session for 120 s, and afterwards drops it when another visitor leaves.
REMEMBERED = 125.0
P = ParamSpec("P")
USUAL_FILES, OF_ONE = 1_000, 512  # files of a session that take nothing besides their bytes; bytes of one more
USUAL_NAMES = 300  # characters of the name and the ID of an upload, which do not count
_visits: WeakValueDictionary[str, Visit] = WeakValueDictionary()  # by the ID of their session


class PageEnds(Exception):
    """Ends a page where it is. `st.stop` also takes back each request of the browser that has come meanwhile."""


def stop() -> NoReturn:
    """Ends the page here, or the part of it that has a turn of its own."""
    raise PageEnds


def ending(draw: Callable[P, None]) -> Callable[P, None]:
    """A page, or a part of one that has turns of its own, which may end before its last line."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> None:
        with suppress(PageEnds):
            draw(*args, **kwargs)

    return drawn


def begin() -> None:
    """The visit of this session, with the login that it has now."""
    _visit().user = visitor.current().name or ""


def _visit() -> Visit:
    if "visit" not in st.session_state:
        visit = st.session_state["visit"] = Visit()
        if (session := _id()) is not None:
            _visits[session] = visit
    held: Visit = st.session_state["visit"]
    return held


def connected() -> int:
    """How many sessions have a browser that is connected."""
    return sum(map(is_open, list(_visits)))


def kept() -> dict[str, Any]:
    """What this visit holds until it ends: runs and files that go with it, and what takes much memory."""
    return _visit().kept


def forget_left(now: float) -> bool:
    """Ends the visits of those who left; Streamlit keeps the session of the last one until another visitor leaves.

    Gives whether nobody is remembered any more. To be called by the event loop of the server.
    """
    for session, visit in list(_visits.items()):
        if is_open(session):
            visit.left = None
        elif visit.left is None:
            visit.left = now
        elif now - visit.left >= REMEMBERED:
            del _visits[session]
            visit.end()
            streamlit_private.uploads().pop(session, None)
    return not _visits


def tabs(session: str) -> Collection[str]:
    """The sessions of whose this one is; without a log-in nobody knows more than this one."""
    visit = _visits.get(session)
    if visit is None or not visit.user:
        return (session,)
    return {session, *(name for name, other in list(_visits.items()) if other.user == visit.user)}


def whose(session: str) -> str:
    """The person of a session; without a log-in nobody knows more than the session."""
    visit = _visits.get(session)
    return (visit.user if visit is not None else "") or session


def uploaded(session: str) -> tuple[int, int]:
    """Bytes of uploads in memory: of whose this session is, and of all. Empty files count by long names or many."""
    stored = [(name, list(files.values())) for name, files in list(streamlit_private.uploads().items())]
    sizes = {name: sum(map(_size, files)) + OF_ONE * max(0, len(files) - USUAL_FILES) for name, files in stored}
    return sum(sizes.get(one, 0) for one in tabs(session)), sum(sizes.values())


def _size(file: Any) -> int:
    return len(file.data) + max(0, len(file.name) + len(file.file_id) - USUAL_NAMES)


UPLOADS = Uploads(uploaded, tabs)
OFFERED = DownloadOwners()


def offer(data: bytes, mime: str, file: str, name: str | None, may: May = anyone) -> None:
    """From now on this download is also this visitor's, as long as they may have it.

    Its address is made of its content, so others may find it.
    """
    if name and (digest := streamlit_private.download_digest(data, mime, file)):
        OFFERED.add(digest, name, may)


def owners(path: str) -> Mapping[str, May] | None:
    """Whose an address of Streamlit is: a download of those for whom it was made, an upload of whose the visit is."""
    if path.startswith(MEDIA):
        return OFFERED.names(path)
    if path.startswith(UPLOAD):
        visit = _visits.get(session_of(path))
        return {} if visit is None else {visit.user: anyone}
    return None


def give_back(files: Iterable[UploadedFile]) -> None:
    """What is copied elsewhere leaves the memory of the server now, and not with its session."""
    held = streamlit_private.uploads().get(_id() or "", {})
    for file in files:
        held.pop(file.file_id, None)


_id = streamlit_private.session_id


def name() -> str | None:
    """What names this session in logs. It opens nothing, as the ID of the session would."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:8] if (session_id := _id()) else None


def who() -> str:
    """Whom limits count: the login, else the session. Visitors behind one proxy may share an address."""
    return visitor.current().name or name() or "none"


def someone() -> Actor:
    """Whom the audit log names: the login, else the address; and the session."""
    return Actor(visitor.current().name or st.context.ip_address or "local", name() or "none")


def note_login() -> None:
    """The session of somebody who is logged in begins: a tab, or a page that was loaded again."""
    if visitor.current().name is not None:
        audit.note("login", someone())


def making() -> Callable[[], AbstractContextManager[None]]:
    """What goes around the making of a file for this session, later and elsewhere."""
    return partial(download_turns.making, _id() or "")


def no_room(session: str, why: CoreError) -> None:
    """What somebody typed or pasted has no room: the page says why, and goes on."""
    UPLOADS.refuse(session, why)
    draw_again(session)


def chosen(uploader: str) -> list[Any]:
    """The files of an uploader, by its key, that are here: a browser still has the IDs of those that have gone."""
    return [file for file in st.session_state.get(uploader) or [] if hasattr(file, "name")]


def refused_upload() -> CoreError | None:
    """Why an upload or a text of this session was not taken; it is said once."""
    return UPLOADS.refusal(session_id) if (session_id := _id()) else None

"""Whose session a page is drawn for, what it has uploaded, where it ends. Draws nothing, and depends on no page."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import streamlit as st
from streamlit.runtime.memory_media_file_storage import _calculate_file_id
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from idcore.base.errors import CoreError
from idcore.policy import audit
from idcore.policy.audit import Who
from idcore.server.front_door import UPLOAD, Uploads, session_of
from idcore.server.gate import MEDIA, May, Offered, anyone
from pages.parts import visitor


def stop() -> NoReturn:
    """Ends the page here. `st.stop` does, too, and drops what was typed meanwhile into a dialog or a fragment."""
    raise StopException


def uploaded(session: str) -> tuple[int, int]:
    """Bytes of uploads in memory: of one session, and of all."""
    stored = getattr(getattr(st.runtime.get_instance(), "uploaded_file_mgr", None), "file_storage", {})
    sizes = {name: sum(len(file.data) for file in list(files.values())) for name, files in list(stored.items())}
    return sizes.get(session, 0), sum(sizes.values())


UPLOADS = Uploads(uploaded)
OFFERED = Offered()


def offer(data: bytes, mime: str, file: str, name: str | None, may: May = anyone) -> None:
    """From now on this download is also this visitor's, as long as they may have it.

    Its address is made of its content, so others may find it.
    """
    if name:
        OFFERED.add(_calculate_file_id(data, mime, file), name, may)


def owners(path: str) -> Mapping[str, May] | None:
    """Whose an address of Streamlit is: a download of those for whom it was made, an upload of whose the visit is."""
    if path.startswith(MEDIA):
        return OFFERED.names(path)
    if path.startswith(UPLOAD):
        visit = _visit(session_of(path))
        return {} if visit is None else {visitor.entrance().policy.visitor(visit._user_info).name or "": anyone}
    return None


def _visit(session: str) -> Any:
    """Streamlit's own object of a session; None where there is none of this ID."""
    found = getattr(st.runtime.get_instance(), "_session_mgr").get_session_info(session)  # noqa: B009
    return None if found is None else found.session


def draw_again(session: str) -> None:
    """The page of a session once more, as its browser last asked for it: it has something new to say."""
    if (visit := _visit(session)) is not None:
        visit.request_rerun(visit._client_state)


def give_back(files: Iterable[UploadedFile]) -> None:
    """What is copied elsewhere leaves the memory of the server now, and not with its session."""
    held, found = getattr(st.runtime.get_instance(), "uploaded_file_mgr", None), _id()
    if held is not None and found:
        for file in files:
            held.remove_file(found, file.file_id)


def _id() -> str | None:
    found = get_script_run_ctx(suppress_warning=True)
    return found.session_id if found is not None else None


def name() -> str | None:
    """What names this session in logs. It opens nothing, as the ID of the session would."""
    return hashlib.sha256(found.encode()).hexdigest()[:8] if (found := _id()) else None


def who() -> str:
    """Whom limits count: the login, else the session. Visitors behind one proxy may share an address."""
    return visitor.current().name or name() or "none"


def someone() -> Who:
    """Whom the audit log names: the login, else the address; and the session."""
    return Who(visitor.current().name or st.context.ip_address or "local", name() or "none")


def note_login() -> None:
    """The session of somebody who is logged in begins: a tab, or a page that was loaded again."""
    if visitor.current().name is not None:
        audit.note("login", someone())


def refused_upload() -> CoreError | None:
    """Why an upload of this session was not taken; it is said once."""
    return UPLOADS.refusal(found) if (found := _id()) else None

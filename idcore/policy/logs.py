"""The server's log as lines of JSON, with the request, the session and the run of each. Plain text is the default."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from idcore.base.errors import refuse
from idcore.base.safe_text import printable
from idcore.policy import settings

OURS = ("idcore", "pages")
_SERVER, _STREAMLIT = "uvicorn.error", "streamlit"
_LOG_IN = "streamlit.web.server.starlette.starlette_auth_routes"  # the way to the provider and back
_SAID_TWICE = "Uncaught app execution"  # of Streamlit: the console has said all of this error of a page
_OF_REQUESTS = {*OURS, _STREAMLIT, "uvicorn"}
LONGEST = 2_000  # characters of one message: a stranger writes some of them
_SESSION = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_STACK = logging.Formatter()
RUN: ContextVar[str | None] = ContextVar("run", default=None)
REQUEST: ContextVar[str | None] = ContextVar("request", default=None)


class JsonLines(logging.Formatter):
    """One line a record. `session` gives what names the session at work, or None."""

    def __init__(self, session: Callable[[], str | None] = lambda: None) -> None:
        super().__init__()
        self._session = session

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "session": self._session(),
            "request": REQUEST.get(),
            "run": getattr(record, "run", None) or RUN.get(),
            "error": getattr(record, "error_id", None),
        }
        if record.exc_info:
            line["stack"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=False)


def wants_json() -> bool:
    """Whether the setting says so; CoreError where it is neither `json` nor `plain`."""
    form = settings.current().log.strip().lower()
    if form not in ("", "plain", "json"):
        raise refuse("setting_wrong", setting=settings.name_of("log"), value=form[:100], wanted="json or plain")
    return form == "json"


def use_json(session: Callable[[], str | None] = lambda: None) -> None:
    """Every handler there is writes JSON; libraries that were imported since the last call are found now.

    In either form a malformed request or message is one line, without the stack of the server. What a stranger wrote
    gives no command to a terminal, and of a session's ID there is only the beginning: whoever has it whole gets the
    session.
    """
    if _without_stack not in (served := logging.getLogger(_SERVER)).filters:
        served.addFilter(_without_stack)
    root, in_json = logging.getLogger(), wants_json()
    if in_json and not root.handlers:
        root.addHandler(logging.StreamHandler())
        for name in OURS:
            logging.getLogger(name).setLevel(logging.INFO)
    others = [one for one in list(root.manager.loggerDict.values()) if isinstance(one, logging.Logger)]
    for handler in [each for one in (root, *others) for each in one.handlers]:
        if _without_commands not in handler.filters:
            handler.addFilter(_without_stack)
            handler.addFilter(_without_commands)
        if in_json and not isinstance(handler.formatter, JsonLines):
            handler.setFormatter(JsonLines(session))


def _without_commands(record: logging.LogRecord) -> bool:
    """Writes escape characters of a terminal out: anybody can send a text that a server writes down (log injection).

    Streamlit's own lines lose what is behind the first eight digits of an ID. Those of the server have no break, behind
    which another line could be forged, and an end.
    """
    try:
        message = record.getMessage()
    except (TypeError, ValueError):  # the handler says so
        return True
    shown = printable(message)
    if record.name.partition(".")[0] in _OF_REQUESTS:
        shown = shown.rstrip("\n").replace("\n", "\\n")[:LONGEST]
    if record.name.startswith(_STREAMLIT):
        shown = _SESSION.sub(r"\1…", shown)
    if shown != message:
        record.msg, record.args = shown, ()
    if record.exc_info and not record.exc_text:  # its last line may have what a stranger wrote, too
        record.exc_text = printable(_STACK.formatException(record.exc_info))
    return True


def _without_stack(record: logging.LogRecord) -> bool:
    """Takes the stack out of a line about a malformed request (h11) or message (protobuf), or one that was broken off.

    All of these are their sender's fault. So is a log-in that fails, and anybody may begin one: its reason stays.
    """
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if record.msg == _SAID_TWICE:
        return False
    if type(error).__module__.partition(".")[0] in ("h11", "google") or type(error).__name__ == "ClientDisconnect":
        reason = str(error) or "it was broken off"
        record.msg, record.args, record.exc_info = f"a request or message was not read: {reason}", (), None
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
    elif error is not None and record.name == _LOG_IN:
        reason = f"{record.getMessage()} {type(error).__name__}: {error}"
        record.msg, record.args, record.exc_info = reason, (), None
    return True


@contextmanager
def of_run(name: str) -> Iterator[None]:
    """Lines of this thread name the run that it works on."""
    token = RUN.set(name)
    try:
        yield
    finally:
        RUN.reset(token)

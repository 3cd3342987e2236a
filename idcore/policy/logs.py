"""The server's log as lines of JSON, with the request, the session and the run of each. Plain text is the default."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from idcore.base.errors import refuse

SETTING = "IDCORE_LOG"
OURS = ("idcore", "pages")
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
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=False)


def wants_json() -> bool:
    """Whether the setting says so; CoreError where it is neither `json` nor `plain`."""
    told = os.environ.get("IDCORE_LOG", "").strip().lower()
    if told not in ("", "plain", "json"):
        raise refuse("setting_wrong", setting=SETTING, value=told[:100], wanted="json or plain")
    return told == "json"


def use_json(session: Callable[[], str | None] = lambda: None) -> None:
    """Every handler there is writes JSON; libraries that were imported since the last call are found now."""
    if not wants_json():
        return
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler())
        for name in OURS:
            logging.getLogger(name).setLevel(logging.INFO)
    others = [one for one in list(root.manager.loggerDict.values()) if isinstance(one, logging.Logger)]
    for handler in [each for one in (root, *others) for each in one.handlers]:
        if not isinstance(handler.formatter, JsonLines):
            handler.setFormatter(JsonLines(session))


@contextmanager
def of_run(name: str) -> Iterator[None]:
    """Lines of this thread name the run that it works on."""
    token = RUN.set(name)
    try:
        yield
    finally:
        RUN.reset(token)

"""How the server starts, answers a first request and reports an error. Depends on no page."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from traceback import walk_tb
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import Message, Scope

from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.doors.entry import Entry
from idcore.doors.router import ApiRouter
from idcore.policy import limits, logs, metrics, private, tokens
from idcore.runs import background_run, retention
from idcore.runs.runs import Runs, runs_root, write_ends
from idcore.server import jobs, memory, provider_connections, streamlit_private, watched_groups, webhook
from idcore.server.conversation import Asked, Conversations, draw_again
from idcore.server.first_page import FirstPage
from idcore.server.front_door import STRANGER, FrontDoor, UploadBound, say_address
from idcore.server.gate import LOGIN, Gate
from idcore.server.login_cookie import LoginCookie, cookies_of
from pages.parts import problems, scans, session, visitor
from pages.parts.view import COOKIE

LOG = logging.getLogger(__name__)
# Seconds that a thread keeps the interpreter while others want it. The loop that talks to browsers gives it up with
# each message, and then waits for every page at work. With Python's 5 ms each, 30 pages stopped it for a minute.
sys.setswitchinterval(0.0005)
# Streamlit puts the folder of its script there for each run, and takes it out: who imports meanwhile misses a folder.
sys.path.append(str(Path(__file__).resolve().parents[1]))
OURS = {"idcore", "pages", "__main__"}  # the last is the script of a page
TIDY, HOUR = 10, 3600  # seconds between two looks whether visits have ended, and for runs that are too old


def check_start() -> None:
    """Ends the process, with a sentence, where it would be open to others without a login, or a setting is wrong."""
    try:
        private.begin(runs_root())
        memory.open_more_files()
        visitor.check_roles(visitor.entrance().policy)
        scans.check_places()
        limits.check()
        metrics.allowed_networks()
        webhook.target()
        watched_groups.named()
        tokens.most_days()
        logs.use_json(session.name)
    except CoreError as error:
        sys.stderr.write(f"{error.problem}\n")
        raise SystemExit(2) from None


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
    """Spark starts with the server, in the background. With the server goes what was not to be kept."""
    logs.use_json(session.name)
    streamlit_private.log_refusals_in_a_line()
    streamlit_private.watch_websockets()
    streamlit_private.watch_requests()
    if visitor.entrance().mode == "login":
        provider_connections.share_authorities()
    streamlit_private.bound_providers()
    jobs.warm_up()
    watched_groups.begin()
    say_address(st.get_option("server.address"), address)
    tidy = asyncio.create_task(_tidy())
    yield {}
    tidy.cancel()
    jobs.discard_all()


async def _tidy() -> None:
    """After a visit has ended, what it held goes back to the system, not only to this process. Old runs go hourly."""
    swept, gone_on = 0.0, False
    while True:
        await asyncio.sleep(TIDY)
        try:
            if not gone_on and jobs.ready():  # Spark may be installed only now
                gone_on = True
                await asyncio.to_thread(scans.go_on)
            if (now := time.monotonic()) - swept > HOUR or not swept:
                worked, swept = timedelta(seconds=now - swept if swept else 0), now
                if await asyncio.to_thread(retention.sweep, Runs(runs_root()), datetime.now(UTC), worked):
                    scans.cache.forget_runs()
            await asyncio.to_thread(write_ends)
            await asyncio.to_thread(background_run.forget_deleted)
            nobody = session.forget_left(now)
            await asyncio.to_thread(memory.tidy, forget_answers if nobody else None)
            logs.use_json(session.name)
        except Exception:  # whatever fails once is tried again: nothing else deletes old runs
            LOG.exception("what ended visits held is not given back")


def forget_answers() -> None:
    """With the last visitor goes what made pages faster: it holds pages of memory that are else free."""
    from pages.parts import cache

    cache.forget_all()
    memory.forget_jobs()


def on_script_error(error: Exception) -> bool:
    """The last resort: an error that no page caught becomes one message, its traceback goes to the log.

    One before the page began, or where a widget takes its value, is a line: the browser sent what its widgets cannot
    have, and may do so all day.
    """
    reference = secrets.token_hex(4)
    extra = {"error_id": reference}
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    ours = [place for place, frame in enumerate(frames) if frame.f_globals.get("__name__", "").split(".")[0] in OURS]
    if ours and all(frame.f_code.co_name != "register_widget" for frame in frames[ours[-1] :]):
        LOG.error("a page failed: error %s", reference, exc_info=error, extra=extra)
    else:
        LOG.warning("a message of a browser was not understood: %.200r: error %s", error, reference, extra=extra)
    problems.show_error(error, reference)
    return True


def gauges() -> tuple[Mapping[str, float], Mapping[str, int]]:
    """What is now: for the metrics."""
    uploads = session.uploaded("")[1]
    now = {**jobs.gauges(runs_root()), "sessions": session.connected(), "uploads_bytes": uploads}
    return now, metrics.memory_of(os.getpid())


def read(scope: Scope, message: Message) -> Asked | None:
    """What a page asks with a message. None of text, of which Streamlit would write a stack each time."""
    if message.get("text") is not None:
        return None
    return streamlit_private.read(message.get("bytes") or b"", bool(scope.get(STRANGER)))


def refusal(scope: Scope, message: Message) -> bytes | None:
    """What the page hears of a message that was dropped: its person chose too many files at once."""
    if message.get("bytes") is None or scope.get(STRANGER):
        return None
    most = f"{streamlit_private.MOST_IN_A_MESSAGE:,}"
    return streamlit_private.too_many_files(message["bytes"], _spoken(scope)("decode.too_many_files", most=most))


def busy(scope: Scope, request: str) -> bytes | None:
    """What the page hears of a download for which too many wait."""
    return streamlit_private.too_many_downloads(request, _spoken(scope)("problem.too_many_downloads"))


def _spoken(scope: Scope) -> catalogue.Words:
    kept = next((value for name, value in cookies_of(scope["headers"]) if name == f"{COOKIE}lang"), None)
    return catalogue.words(catalogue.lang_of(kept) or catalogue.ENGLISH)


def address(host: str) -> str:
    """The address of the console on a host, as a browser opens it."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host}:{st.get_option('browser.serverPort')}{base().rstrip('/')}"


def base() -> str:
    """The address of the first page: `/`, or the path that the administrator serves the console under."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}/" if path else "/"


def addresses() -> Collection[str]:
    """The pages of the console, and what Streamlit answers for a login."""
    from pages.parts import frame

    return {*LOGIN, *(address for rows in frame.MENU.values() for address, _, _ in rows)}


def origins() -> Sequence[str]:
    """Other sites whose pages may connect."""
    return st.get_option("server.corsAllowedOrigins") or ()


def hosts() -> Sequence[str]:
    """The names that the administrator gives to this console and to those sites; some are patterns."""
    named = [urlsplit(one).hostname for one in origins()]
    return [*(st.get_option("server.allowedHosts") or ()), *filter(None, named)]


# Asked for several times a request: as it was at the start.
_BASE, _HOSTS, _ORIGINS = cache(base), cache(hosts), cache(origins)
ENTRY = Entry(
    visitor.entrance, visitor.claims_of, visitor.tokens, _BASE, _HOSTS, _ORIGINS, scans.configured_roots, runs_root
)
MIDDLEWARE = [
    Middleware(FrontDoor, _ORIGINS, _BASE, jobs.engine, runs_root, gauges, visitor.reasons),
    Middleware(LoginCookie, visitor.entrance, visitor.log_ins, _BASE),
    Middleware(Gate, visitor.entrance, visitor.claims_of, _BASE, _HOSTS, session.owners),
    Middleware(ApiRouter, ENTRY),
    Middleware(UploadBound, _BASE, session.UPLOADS, draw_again),
    Middleware(Conversations, read, streamlit_private.told, refusal, session.no_room, session.whose, busy),
    Middleware(FirstPage, _BASE, addresses, f"{COOKIE}lang"),
]

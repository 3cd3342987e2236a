"""What every answer of the console carries, who may open its websocket, and whether it is ready. Uses no page.

Headers are read here and not by Starlette's `Headers`, which takes a name in capitals for another.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.policy import audit, limits, logs, metrics, settings
from idcore.runs import room
from idcore.server import setting_up, watched_groups
from idcore.server.logins import is_loopback, is_named

HEALTH = "_idcore/health"
OFFLINE = "_idcore/rocketmq-ids.html"  # the page that decodes without a server, to be kept
OFFLINE_FILE = Path(__file__).resolve().parents[2] / "dist" / "rocketmq-ids.html"  # where `make page` puts it
UPLOAD = "_stcore/upload_file/"  # and the session, and the file
KEEPS = "rocketmq-ids.keeps"  # in the scope of a websocket: hears the size of each message whose values are kept
FITS = "rocketmq-ids.fits"  # in the scope of a websocket: why a message of a size has no room, or None
COMES = "rocketmq-ids.comes"  # in the state of a websocket: whether a message that has not ended may have so many bytes
STRANGER = "rocketmq-ids.stranger"  # in the scope of a websocket: whether nobody has logged in
TOO_LARGE = 1009  # of a websocket that ends (RFC 6455, 7.4.1)
MOST_IN_BOXES = 20 << 20  # bytes of a message: Streamlit ends the websocket of one of 25 MB
SILENT = 60  # seconds in which nothing more of an upload comes
MOST_REFUSED = 1_000  # sentences that wait for their pages
# Streamlit's page has inline scripts and styles, and makes scripts and pictures in the browser (blob:). Its charts
# compile none. Nothing is loaded from, sent to or framed by another place.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
REPLACED = {name for name, _ in HEADERS}
# Routes of Starlette end in `$`, which stands before a last line feed too: the gate would judge another address.
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
NOT_KEPT = {"cache-control": "no-store"}
UNKEPT = [(name.encode(), value.encode()) for name, value in NOT_KEPT.items()]  # of an answer that does not say


def say_address(listening: str | None, url: Callable[[str], str]) -> None:
    """One line on standard output when the console is up: what a browser on this machine opens."""
    host = "localhost" if listening in (None, "", "0.0.0.0", "::") else str(listening)
    text = catalogue.words(catalogue.ENGLISH)("start.address", url=url(f"[{host}]" if ":" in host else host))
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # a log is a file or a pipe, and the server runs on


class Uploads:
    """How much visitors may upload: what is there, and what is on its way. Each refusal waits for its page.

    `held` gives the bytes that the visitor of a session has in the memory of the server, and those of all; `tabs` the
    sessions of that visitor, or one could claim what is for all with a few of them.
    """

    def __init__(
        self,
        held: Callable[[str], tuple[int, int]],
        tabs: Callable[[str], Collection[str]] = lambda session: (session,),
    ) -> None:
        self._held, self._tabs = held, tabs
        self._coming: dict[str, int] = {}
        self._refused: dict[str, CoreError] = {}

    def begin(self, session: str, size: int) -> bool:
        """Whether so many bytes more may come."""
        own, all_of_them = self._held(session)
        own += size + sum(self._coming.get(one, 0) for one in self._tabs(session))
        all_of_them += size + sum(self._coming.values())
        for name, there in (("uploads_of_one", own), ("uploads", all_of_them)):
            if limits.exceeds(name, there):
                self.refuse(session, limits.limit_error(name, there))
                return False
        self._coming[session] = self._coming.get(session, 0) + size
        return True

    def end(self, session: str, size: int) -> None:
        """They are there, or will not come."""
        self._coming[session] -= size
        if not self._coming[session]:
            del self._coming[session]

    def refuse(self, session: str, why: CoreError) -> None:
        """Something of this session was not taken; its next page says why."""
        if len(self._refused) >= MOST_REFUSED:
            self._refused.clear()
        self._refused[session] = why

    def refusal(self, session: str) -> CoreError | None:
        """Why an upload of this session was refused since the last look."""
        return self._refused.pop(session, None)


class FrontDoor:
    """Refuses websockets of other sites, answers for health, and puts the headers on every answer.

    `origins` are further origins whose pages may connect, `base` is the path that the console is served under, and
    `engine` has the state of Spark, or is None. Each is asked when it is needed. `reasons` are further ones why the
    console is degraded.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: Callable[[], Sequence[str]],
        base: Callable[[], str],
        engine: Callable[[], Any],
        root: Callable[[], Path],
        gauges: metrics.Gauges = lambda: ({}, {}),
        reasons: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.app, self.origins, self.base, self.engine, self.root = app, origins, base, engine, root
        self.gauges, self.reasons = gauges, reasons

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        logs.REQUEST.set(secrets.token_hex(4))
        path = path_of(scope, self.base())
        if scope["type"] == "websocket" and (_CONTROL.search(path) or not self._is_own(scope["headers"])):
            await send_refusal(scope, receive, send)
        elif scope["type"] == "http" and (_CONTROL.search(path) or is_ambiguous(scope["headers"])):
            await Response(status_code=400, headers={"connection": "close"})(scope, receive, _with_headers(send))
        elif scope["type"] == "http" and path == HEALTH:
            health = readiness(getattr(self.engine(), "state", None), self.root(), self.reasons())
            await JSONResponse(health, headers=NOT_KEPT)(scope, receive, _with_headers(send))
        elif scope["type"] == "http" and path == OFFLINE and OFFLINE_FILE.is_file():
            # As a file: opened here it would be under the policy of the console, which compiles nothing.
            await FileResponse(OFFLINE_FILE, filename=OFFLINE_FILE.name)(scope, receive, _with_headers(send))
        elif scope["type"] == "http" and path == metrics.PATH:
            await self._metrics(scope, receive, send)
        elif scope["type"] == "http":
            await self.app(scope, receive, _with_headers(send))
        else:
            await self.app(scope, receive, send)

    def _is_own(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        return not is_ambiguous(headers) and is_own(headers, self.origins())

    async def _metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        """For this machine and whom the administrator names; for others it is not there."""
        peer, _ = scope.get("client") or (None, None)
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"host"), "")
        # A browser of this machine may have a page of another site whose name was made to lead here (DNS rebinding).
        rebound = is_loopback(peer) and not is_named(host)
        if rebound or not metrics.may_read(peer, scope["headers"]):
            await Response(status_code=404)(scope, receive, send)
            return
        gauges, memory = await asyncio.to_thread(self.gauges)
        health = readiness(getattr(self.engine(), "state", None), self.root(), self.reasons())
        body, kind = metrics.exposition(
            {**gauges, "ready": health["state"] == "ready"}, memory, watched_groups.samples()
        )
        await Response(body, headers=NOT_KEPT | {"content-type": kind})(scope, receive, _with_headers(send))


class UploadBound:
    """Takes an upload that has room, by the size it says. It comes after the gate: what is refused there counts not.

    One that says no size is not taken: it would be in memory before its end is known. `refused` hears of each session
    that has a reason to read: the browser itself shows a mark alone.
    """

    def __init__(
        self, app: ASGIApp, base: Callable[[], str], uploads: Uploads, refused: Callable[[str], None] = lambda _: None
    ) -> None:
        self.app, self.base, self.uploads, self.refused = app, base, uploads, refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = path_of(scope, self.base())
        if scope["type"] != "http" or scope["method"] != "PUT" or not path.startswith(UPLOAD):
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        # Of a body in chunks the server reads every chunk, whatever length the request says next to them.
        size = b"" if b"transfer-encoding" in headers else headers.get(b"content-length", b"")
        session = session_of(path)
        if not size.isdigit() or not self.uploads.begin(session, int(size)):
            await Response(status_code=413 if size.isdigit() else 411)(scope, receive, send)
            if size.isdigit():
                self.refused(session)
            return
        try:
            await self.app(scope, _patient(receive), send)
        finally:
            self.uploads.end(session, int(size))


def _patient(receive: Receive) -> Receive:
    """A body that comes; one that has stopped for a minute ends as if its browser had gone, and gives back its room."""

    async def receiving() -> Message:
        try:
            return await asyncio.wait_for(receive(), SILENT)
        except TimeoutError:
            return {"type": "http.disconnect"}

    return receiving


def path_of(scope: Scope, base: str) -> str:
    """The path below the console's own. A server in front may have put a prefix before it, which no route has."""
    path: str = scope.get("path", "")
    return path.removeprefix(scope.get("root_path", "")).removeprefix(base)


def session_of(path: str) -> str:
    """The session that an upload is for."""
    return path.removeprefix(UPLOAD).partition("/")[0]


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in REPLACED]
            # Such as a download: a cache between here and a browser would give it to others, and after a log-out.
            has_cache_control = any(name.lower() == b"cache-control" for name, _ in kept)
            message = {**message, "headers": [*kept, *HEADERS, *(() if has_cache_control else UNKEPT)]}
        await send(message)

    return sending


def header_of(headers: Iterable[tuple[bytes, bytes]], name: bytes, default: str = "") -> str:
    """The first header of a name, which is in small letters."""
    for key, value in headers:
        if key.lower() == name:
            return value.decode("latin-1")
    return default


def is_own(headers: Iterable[tuple[bytes, bytes]], origins: Sequence[str]) -> bool:
    """Whether a websocket comes from a page of this very server, or of an origin that the administrator names.

    Streamlit also lets in every page of `localhost`, which may be another user's. A program sends no origin.
    """
    held = {name.lower(): value.decode("latin-1") for name, value in headers}
    origin = held.get(b"origin")
    if origin is None:
        return True
    return _place(origin) == held.get(b"host", "").lower() or origin.rstrip("/") in [one.rstrip("/") for one in origins]


def is_ambiguous(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request has a length and chunks, or two hosts: a proxy may read another one (RFC 9112, 3.2, 6.1)."""
    names = [name.lower() for name, _ in headers]
    return names.count(b"host") > 1 or (b"content-length" in names and b"transfer-encoding" in names)


def _place(origin: str) -> str | None:
    """Host and port of an origin, as a browser writes them into Host."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def readiness(engine: str | None, root: Path, also: Sequence[str] = ()) -> dict[str, Any]:
    """Whether the console can do all it does, and by codes why not, without paths and versions.

    `engine` is the state of Spark; None where it is not installed. Where scans are off it is not a fault.
    """
    if settings.current().no_spark:
        engine = None
    reasons = [*also]
    if setting_up.now() is not None:
        reasons.append("setting_up")
    if engine in ("no_java", "failed"):
        reasons.append(f"spark_{engine}")
    if not room.is_writable(root):
        reasons.append("runs_read_only")
    elif room.is_full(root):
        reasons.append("disk_full")
    if not audit.is_writable():
        reasons.append("audit_log")
    return {"state": "degraded" if reasons else "ready", "reasons": reasons, "spark": engine or "off"}


async def send_refusal(scope: Scope, receive: Receive, send: Send) -> None:
    """403 without a reason, which would only help a stranger."""
    if scope["type"] == "websocket":
        await receive()  # the handshake; to close before it is accepted refuses it with 403
        await send({"type": "websocket.close", "code": 1008})
    else:
        await Response(status_code=403)(scope, receive, send)

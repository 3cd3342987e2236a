"""Who comes in at all: requests from elsewhere, and files without a login, end here. Speaks ASGI; uses no page."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idcore.base.errors import CoreError, refuse
from idcore.policy import audit, limits
from idcore.policy.access import Visitor
from idcore.policy.metrics import is_proxied
from idcore.server import log_out
from idcore.server.front_door import COMES, FITS, KEEPS, STRANGER, path_of, send_refusal
from idcore.server.log_out import LOGOUT
from idcore.server.login_cookie import cookie_name, cookies_of
from idcore.server.logins import Entrance, is_loopback, is_named

LOG = logging.getLogger(__name__)
FIGURES = "_stcore/metrics"  # of Streamlit: nobody needs them, `_idcore/metrics` has those of the console
MEDIA = "media/"  # and the digest of a download
CLOSED = (MEDIA, "component/", "_stcore/")  # what is not the page itself, without a login
OPEN = ("_stcore/health", "_stcore/host-config", "_stcore/stream")  # of these: they show the page that offers the login
CALLBACK = "oauth2callback"
LOGIN = ("auth/login", LOGOUT, CALLBACK)  # Streamlit's own addresses
WANTED = "rocketmq-ids-wanted"  # a cookie: the link that somebody followed before the login
LONGEST_LINK = 2_000
FORGOTTEN = 120.0  # seconds until the session of a browser that has gone has given its file descriptors back
OF_STRANGERS, OF_PERSON = 2, 8  # the share of the file descriptors that sessions may have: one half, one eighth
MOST_OF_STRANGER = 128 << 10  # bytes of a message before a log-in: the page sends its address, and a click
MOST_COMING = 100 << 20  # bytes of the messages of one person that have not ended: four of the largest
OF_SESSION = 4  # file descriptors: its websocket, and the event loop that Streamlit makes for its script
MOST_OFFERED = 10_000  # downloads whose people are remembered: one that was offered before them is refused


May = Callable[[Visitor], bool]  # whether somebody may still have what was made for them


def anyone(_: Visitor) -> bool:
    """The `may` of a download that every visitor may have."""
    return True


class DownloadOwners:
    """For whom pages made each download. Pages add to it in threads, and the gate asks it."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], May] = {}  # of a digest and a name, the latest last
        self._lock = threading.Lock()

    def add(self, digest: str, name: str, may: May = anyone) -> None:
        """From now on this download is also theirs, as long as they may have it."""
        with self._lock:
            self._pairs.pop((digest, name), None)
            self._pairs[digest, name] = may
            if len(self._pairs) > MOST_OFFERED:
                del self._pairs[next(iter(self._pairs))]

    def names(self, path: str) -> dict[str, May]:
        """Whose the download of an address is."""
        asked_digest = os.path.splitext(path.removeprefix(MEDIA))[0]
        with self._lock:
            return {name: may for (digest, name), may in self._pairs.items() if digest == asked_digest}


class Websockets:
    """Those of one person, or of all who have not logged in: their sessions have a share of the file descriptors.

    Without a bound who opens and closes them takes all, and no page of anybody opens. Sessions that the server still
    remembers count. Only its event loop uses this.
    """

    def __init__(self, share: int, whose: str) -> None:
        self._share, self._whose = share, whose
        self._open, self._ended = 0, deque[float]()
        # Of the largest click of each: its session keeps what was typed, also when later clicks leave it out.
        self.sizes: dict[object, int] = {}
        self.coming: dict[object, int] = {}  # of the message of each that has not ended

    def begin(self, now: float) -> bool:
        """Whether one more may come."""
        there = self.held(now)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // self._share // OF_SESSION
        if most > 0 and there >= most:  # no limit is -1
            return False
        if there == most - 1:
            LOG.warning("%s websockets %s: until some end, no more are taken", most, self._whose)
        self._open += 1
        return True

    def end(self, now: float) -> None:
        """A websocket has closed; `held` still counts it for a while."""
        self._open -= 1
        self._ended.append(now)

    def held(self, now: float) -> int:
        while self._ended and self._ended[0] + FORGOTTEN <= now:
            self._ended.popleft()
        return self._open + len(self._ended)


class Gate:
    """Refuses what must not reach Streamlit. `claims` has what a request says of its visitor; {} of a forged cookie.

    `owners` has the names of those whose an address is, such as that of a download, and whether they may still have it;
    None of one that is everybody's.
    """

    def __init__(
        self,
        app: ASGIApp,
        entrance: Callable[[], Entrance],
        claims: Callable[[Iterable[tuple[bytes, bytes]]], Mapping[str, Any]],
        base: Callable[[], str],
        hosts: Callable[[], Sequence[str]] = tuple,
        owners: Callable[[str], Mapping[str, May] | None] = lambda _: None,
    ) -> None:
        self.app, self.entrance, self.claims, self.base = app, entrance, claims, base
        self.hosts, self.owners = hosts, owners
        self.websockets: dict[str, Websockets] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        entrance = self.entrance()
        if path_of(scope, self.base()) == FIGURES or not _may_come(scope, entrance, self.hosts()):
            await send_refusal(scope, receive, send)
        elif log_out.is_foreign_logout(path_of(scope, self.base()), scope["headers"]):
            await self._maybe_foreign_logout(entrance, scope, receive, send)
        elif scope["type"] == "websocket" and entrance.mode != "open":
            await self._websocket(entrance, scope, receive, send)
        elif entrance.mode == "login":
            await self._with_login(entrance, scope, receive, send)
        elif entrance.mode == "header" and self._is_closed(entrance, path_of(scope, self.base()), scope):
            await send_refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _is_closed(self, entrance: Entrance, path: str, scope: Scope) -> bool:
        """Whether an address is nobody's, or that of somebody else: a colleague may know a link of a download."""
        if scope["type"] != "http" or (names := self.owners(path)) is None:
            return False
        who = entrance.visitor(self.claims(scope["headers"]), time.time())
        return not who.name or who.name not in names or not names[who.name](who)

    async def _with_login(self, entrance: Entrance, scope: Scope, receive: Receive, send: Send) -> None:
        path, now, claims = path_of(scope, self.base()), time.time(), self.claims(scope["headers"])
        left = entrance.left(claims, now)
        if path == LOGOUT and left > 0:
            audit.note("logout", audit.Actor(entrance.policy.visitor(claims).name or ""))
        without = left <= 0 and path.startswith(CLOSED) and path not in OPEN
        if without or self._is_closed(entrance, path, scope):
            await send_refusal(scope, receive, send)
        elif path == CALLBACK:
            await self.app(scope, receive, _sent_on(send, link_of_cookie(scope["headers"], self.base()), self.base()))
        elif left <= 0 and is_page(scope):
            await self.app(scope, receive, _with_header(send, link_cookie(scope, self.base())))
        else:
            await self.app(scope, receive, send)

    async def _maybe_foreign_logout(self, entrance: Entrance, scope: Scope, receive: Receive, send: Send) -> None:
        """Who has logged in is asked; without a log-in there is nothing to end."""
        names = {value for name, value in cookies_of(scope["headers"]) if name == cookie_name(entrance.encrypted)}
        logged_in = entrance.mode == "login" and entrance.left(self.claims(scope["headers"]), time.time()) > 0
        if scope["type"] != "http" or not logged_in or len(names) != 1:
            await send_refusal(scope, receive, send)
        elif log_out.is_answered(scope.get("query_string", b""), *names):
            await self._with_login(entrance, scope, receive, send)
        else:
            await log_out.question(*names)(scope, receive, send)

    async def _websocket(self, entrance: Entrance, scope: Scope, receive: Receive, send: Send) -> None:
        """One of a person ends with the log-in, and its messages count as uploads; a stranger's have to be short."""
        claims, now = self.claims(scope["headers"]), time.monotonic()
        name = entrance.visitor(claims, time.time()).name or ""
        for known, some in [*self.websockets.items()]:
            if not some.held(now):
                del self.websockets[known]
        share, whose = (OF_PERSON, "of one person") if name else (OF_STRANGERS, "without a log-in")
        own = self.websockets.setdefault(name, Websockets(share, whose))
        if not own.begin(now):
            await send_refusal(scope, receive, send)
            return
        websocket = object()

        def keeps(size: int) -> None:
            own.sizes[websocket] = max(size, own.sizes.get(websocket, 0))

        def comes(size: int) -> bool:
            own.coming[websocket] = size
            return sum(own.coming.values()) <= MOST_COMING if name else size <= MOST_OF_STRANGER

        def fits(size: int) -> CoreError | None:
            if not name and size > MOST_OF_STRANGER:
                return refuse("text_large", held=f"{size:,} bytes", most=f"{MOST_OF_STRANGER:,} bytes")
            if not name:
                return None
            more = max(0, size - own.sizes.get(websocket, 0))
            everybodys = sum(sum(some.sizes.values()) for some in self.websockets.values())
            for limit, held in (("uploads_of_one", sum(own.sizes.values())), ("uploads", everybodys)):
                if limits.exceeds(limit, held + more):
                    return limits.limit_error(limit, held + more)
            return None

        scope.setdefault("state", {})[COMES] = comes  # of the connection: its protocol asks while a message comes
        if name:
            receive = closed_at_expiry(receive, entrance.left(claims, time.time()))
        scope = {**scope, STRANGER: not name, FITS: fits} | ({KEEPS: keeps} if name else {})
        try:
            await self.app(scope, receive, send)
        finally:
            own.sizes.pop(websocket, None)
            own.coming.pop(websocket, None)
            own.end(time.monotonic())


def _may_come(scope: Scope, entrance: Entrance, hosts: Sequence[str]) -> bool:
    """Whether a request may come from there: through this machine alone, or from a proxy whose header counts."""
    if entrance.mode == "open":
        # Whoever serves the application otherwise than `streamlit run` may have bound another address.
        here = is_loopback((scope.get("server") or ("",))[0]) and not is_rebound(scope, hosts)
        return entrance.anywhere or here
    if entrance.mode == "header":
        names = [name.decode("latin-1").lower() for name, _ in scope["headers"]]
        once = all(names.count(name) <= 1 for name in entrance.headers)
        return once and entrance.trusts((scope.get("client") or ("",))[0])
    return True


def is_rebound(scope: Scope, hosts: Sequence[str]) -> bool:
    """Whether a websocket comes from a page of another site whose name was made to lead to this machine.

    Such a page has that name as its origin and as its host alike, and cannot add a header of a proxy. `hosts` are those
    that the administrator names.
    """
    if scope["type"] != "websocket" or is_proxied(scope["headers"]):
        return False
    origin = next((value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"origin"), None)
    if origin is None:
        return False
    try:
        host = urlsplit(origin).netloc.rpartition("@")[2]
    except ValueError:
        return True
    if is_named(host, hosts):
        return False
    LOG.warning("a page of %s was refused: server.allowedHosts does not have this host", ascii(origin))
    return True


def closed_at_expiry(receive: Receive, seconds: float) -> Receive:
    """A websocket that ends with its login; the page connects again, and is asked to log in."""
    ends = time.monotonic() + seconds

    async def receiving() -> Message:
        try:
            return await asyncio.wait_for(receive(), max(0.0, ends - time.monotonic()))
        except TimeoutError:
            return {"type": "websocket.disconnect", "code": 1000}

    return receiving


def is_page(scope: Scope) -> bool:
    """Whether a browser asks for a page to look at, and not for the way of a login."""
    asked = b",".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    way = scope["path"].endswith(tuple(f"/{one}" for one in LOGIN))
    return scope["type"] == "http" and scope["method"] == "GET" and b"text/html" in asked and not way


def link_cookie(scope: Scope, base: str) -> tuple[bytes, bytes]:
    """The link as a cookie of ten minutes: Streamlit leads everybody who logs in to the first page."""
    query = scope.get("query_string", b"").decode("latin-1")
    link = quote(f"{scope['path']}?{query}" if query else scope["path"], safe="")[:LONGEST_LINK]
    path = base.rstrip("/") or "/"
    return b"set-cookie", f"{WANTED}={link}; Path={path}; Max-Age=600; HttpOnly; SameSite=Lax".encode()


def link_of_cookie(headers: Iterable[tuple[bytes, bytes]], base: str) -> str | None:
    """The link of that cookie; only a path of this console, or it would lead to another site."""
    held = next((value for name, value in cookies_of(headers) if name == WANTED), "")
    link = unquote(held)
    own = link.startswith(base) and link[1:2] not in ("/", "\\") and link.isascii() and link.isprintable()
    own = own and ".." not in unquote(link.partition("?")[0])  # a browser takes it for a way up, out of the base
    return link if own and " " not in link and len(held) < LONGEST_LINK else None


def _sent_on(send: Send, link: str | None, base: str) -> Send:
    """After a login its answer leads to the link instead of the first page."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and link is not None:
            first, other = (b"location", base.encode()), (b"location", link.encode())
            message = {**message, "headers": [other if pair == first else pair for pair in message["headers"]]}
        await send(message)

    return sending


def _with_header(send: Send, header: tuple[bytes, bytes]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], header]}
        await send(message)

    return sending

"""Who comes in at all: requests from elsewhere, and files without a login, end here. Speaks ASGI; uses no page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from idcore.front_door import App, Message, Receive, Scope, Send
from idcore.logins import Ended, Entrance, is_loopback

CLOSED = ("media/", "component/", "_stcore/")  # what is not the page itself, without a login
OPEN = ("_stcore/health", "_stcore/host-config", "_stcore/stream")  # of these: they show the page that offers the login
LOGOUT = "auth/logout"
LOGIN = ("auth/login", LOGOUT, "oauth2callback")  # Streamlit's own addresses


class Gate:
    """Refuses what must not reach Streamlit. `claims` reads the signed cookie of a request; {} of a forged one."""

    def __init__(
        self,
        app: App,
        entrance: Callable[[], Entrance],
        ended: Callable[[], Ended],
        claims: Callable[[Iterable[tuple[bytes, bytes]]], Mapping[str, Any]],
        base: Callable[[], str],
    ) -> None:
        self.app, self.entrance, self.ended, self.claims, self.base = app, entrance, ended, claims, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        entrance = self.entrance()
        if not _may_come(scope, entrance):
            await refuse(scope, receive, send)
        elif entrance.mode != "login":
            await self.app(scope, receive, send)
        else:
            await self._with_login(entrance, scope, receive, send)

    async def _with_login(self, entrance: Entrance, scope: Scope, receive: Receive, send: Send) -> None:
        path, now = scope["path"].removeprefix(self.base()), time.time()
        claims = self.claims(scope["headers"])
        left = 0.0 if self.ended().has(claims) else entrance.left(claims, now)
        if scope["type"] == "websocket":
            await self.app(scope, until(receive, left) if left > 0 else receive, send)
            return
        if path == LOGOUT and left > 0:
            self.ended().end(claims, now)
        if left <= 0 and path.startswith(CLOSED) and path not in OPEN:
            await refuse(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _may_come(scope: Scope, entrance: Entrance) -> bool:
    """Whether a request may come from there: through this machine alone, or from a proxy whose header counts."""
    if entrance.mode == "open":
        # Whoever serves the application otherwise than `streamlit run` may have bound another address.
        return entrance.anywhere or is_loopback((scope.get("server") or ("",))[0])
    if entrance.mode == "header":
        names = [name.decode("latin-1").lower() for name, _ in scope["headers"]]
        once = all(names.count(name) <= 1 for name in entrance.headers)
        return once and entrance.trusts((scope.get("client") or ("",))[0])
    return True


def until(receive: Receive, seconds: float) -> Receive:
    """A websocket that ends with its login; the page connects again, and is asked to log in."""
    ends = time.monotonic() + seconds

    async def receiving() -> Message:
        try:
            return await asyncio.wait_for(receive(), max(0.0, ends - time.monotonic()))
        except TimeoutError:
            return {"type": "websocket.disconnect", "code": 1000}

    return receiving


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """403, without a reason: it would help whoever tries."""
    if scope["type"] == "websocket":
        await receive()  # the handshake; to close before it is accepted refuses it with 403
        await send({"type": "websocket.close", "code": 1008})
        return
    body = b"Forbidden"
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})

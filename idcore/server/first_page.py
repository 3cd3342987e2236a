"""The page that a browser loads first: with the place of its server, its language and its name. Speaks ASGI."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idcore.base import catalogue

NAME = "RocketMQ IDs"


class FirstPage:
    """Gives the browser the place of its server, so that a deep link logs no error.

    Streamlit's front end asks /anatomy/_stcore/health before /_stcore/health, since /anatomy may be a page or a base
    path. The miss is a console error on every deep link. `window.__streamlit` is its own hook for it.
    `base` is the path that the console is served under, `known` has its pages, `cookie` has a reader's language.
    """

    def __init__(
        self, app: ASGIApp, base: Callable[[], str], known: Callable[[], Collection[str]], cookie: str = ""
    ) -> None:
        self.app, self.base, self.known, self.cookie = app, base, known, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "text/html" not in Headers(scope=scope).get("accept", "")
        ):
            await self.app(scope, receive, send)
            return
        query = scope.get("query_string", b"").decode("latin-1")
        if scope["path"] == self.base().rstrip("/"):  # else with a scheme and a Host, which are not those of a proxy
            await RedirectResponse(self.base() + (f"?{query}" if query else ""), 307)(scope, receive, send)
            return
        if (lost := stray(scope["path"], self.base(), self.known())) is not None:
            where = urlencode({"missing": lost}) + (f"&{query}" if query else "")
            await RedirectResponse(f"{self.base()}?{where}", 307)(scope, receive, send)
            return
        plain = [
            (name, value) for name, value in scope["headers"] if name not in (b"accept-encoding", b"if-none-match")
        ]
        await self.app({**scope, "headers": plain}, receive, self._filled_in(scope, send))

    def _filled_in(self, scope: Scope, send: Send) -> Send:
        """Holds a page back until it is whole, and fills it in."""
        lang, head, body = self._lang(scope), None, b""

        async def rewrite(message: Message) -> None:
            nonlocal head, body
            # A browser asks for its downloads like for a page: they go on as they come.
            if message["type"] == "http.response.start" and is_page(message):
                head = message
                return
            if message["type"] != "http.response.body" or head is None:
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(raw=list(head["headers"]))
            body = with_base(body, self.base(), lang)
            headers["content-length"] = str(len(body))
            await send({**head, "headers": headers.raw})
            await send({"type": "http.response.body", "body": body})

        return rewrite

    def _lang(self, scope: Scope) -> str:
        """The language of the address, else of an earlier visit."""
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("lang", [None])[0]
        kept = cookie_parser(Headers(scope=scope).get("cookie", "")).get(self.cookie)
        return catalogue.lang_of(asked) or catalogue.lang_of(kept) or catalogue.ENGLISH


def is_page(start: Message) -> bool:
    """Whether an answer that begins so is all of a page; a report that is downloaded is a file, also as HTML."""
    headers = Headers(raw=start["headers"])
    is_whole = start["status"] == 200 and "content-disposition" not in headers
    return is_whole and headers.get("content-type", "").startswith("text/html")


def stray(path: str, base: str, known: Collection[str]) -> str | None:
    """The address that was asked for, if it is not one of the console's: Streamlit would open a dialog for it."""
    asked = path.removeprefix(base.rstrip("/")).strip("/")
    if not asked or asked in known or "_stcore" in asked or "." in asked.rpartition("/")[2]:
        return None
    return asked[:60]


def with_base(page: bytes, path: str, lang: str) -> bytes:
    """The first page with its server's address, its language and its name in it."""
    path = json.dumps(f"/{path.strip('/')}").replace("<", "\\u003c")
    script = f"<script>window.__streamlit={{BACKEND_BASE_URL:location.origin+{path}}}</script>"
    page = page.replace(b"<head>", b"<head>" + script.encode(), 1)
    page = page.replace(b"<title>Streamlit</title>", f"<title>{NAME}</title>".encode(), 1)
    html = catalogue.words(lang)("lang.html")
    return page.replace(b'<html lang="en">', f'<html lang="{html}">'.encode(), 1)

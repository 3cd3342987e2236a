"""One random name in the browser, in the place of the cookies that Streamlit makes for a log-in. Speaks ASGI.

Streamlit splits a large cookie and signs each part alone. Parts of two log-ins could be joined into a third one, which
no provider has ever confirmed. So they never leave the server: this middleware keeps what Streamlit sets, and puts it
into each request that brings the name of the log-in. Why this way: docs/adr/0061-a-login-is-one-name.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from http import HTTPStatus

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idcore.base import catalogue
from idcore.server.logins import Entrance, LogIns

OF_STREAMLIT = "_streamlit_user"  # and _streamlit_user_1, …, _streamlit_user_tokens, _streamlit_user_tokens_1, …
OF_WAY = "_streamlit_session"  # the way to the provider and back: which log-in was begun here, of which person
NAME = "rocketmq-ids-login"
HOST = "__Host-"  # of a cookie that no other host, such as a sibling, can set (RFC 6265bis)
LONGEST_LINE = 8_192  # bytes of a header line that the websocket server takes (websockets.http11.MAX_LINE_LENGTH)
LASTS = "rocketmq-ids.lasts"  # in the scope of a request: whether nobody has ended its log-in meanwhile
MOST_EXPIRED = 32  # cookies that one answer deletes
Header = tuple[bytes, bytes]


class LoginCookie:
    """Exchanges the name of a log-in for the cookies of Streamlit on the way in, and the other way round.

    Cookies of Streamlit that a browser sends itself are dropped in every mode. `log_ins` has what is kept.
    """

    def __init__(
        self, app: ASGIApp, entrance: Callable[[], Entrance], log_ins: Callable[[], LogIns], base: Callable[[], str]
    ) -> None:
        self.app, self.entrance, self.log_ins, self.base = app, entrance, log_ins, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        sent, headers = list(cookies_of(scope["headers"])), scope["headers"]
        own, name, expired = self._read(sent) if sent else ([], "", [])  # programs send none
        if scope["type"] == "http" and is_too_long(headers) and _wants_page(headers):
            await _too_long(scope, expired)(scope, receive, send)
            return
        headers = [pair for pair in headers if pair[0].lower() != b"cookie"]
        if own:
            headers.append((b"cookie", "; ".join(f"{key}={value}" for key, value in own).encode("latin-1")))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", ())
                if expired or any(header.lower() == b"set-cookie" for header, _ in given):
                    message = {**message, "headers": [*self._kept(given, name), *expired]}
            await send(message)

        scope = {**scope, "headers": headers} | ({LASTS: lambda: self.log_ins().has(name)} if name else {})
        await self.app(scope, receive, sending if scope["type"] == "http" else send)

    def _read(self, sent: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], str, list[Header]]:
        """Of the cookies of a request those to hand on, the name of its log-in, and what ends those of Streamlit."""
        # Python reads backslashes in a quoted cookie in quadratic time (CVE-2024-7592): nobody else was answered for a
        # minute. No cookie of the console has one.
        plain = [(name, value) for name, value in sent if "\\" not in value]
        own = [(name, value) for name, value in plain if not name.startswith(OF_STREAMLIT)]
        foreign = sorted({name for name, _ in sent if name.startswith(OF_STREAMLIT)})[:MOST_EXPIRED]
        entrance = self.entrance()
        if entrance.encrypted:  # another host could set its own, and a visitor would be logged in as its owner
            own = [(OF_WAY if name == f"{HOST}{OF_WAY}" else name, value) for name, value in own if name != OF_WAY]
        cookie = cookie_name(entrance.encrypted)
        names = {value for name, value in own if name == cookie}
        name = names.pop() if len(names) == 1 else ""  # of two log-ins at once neither is believed
        if entrance.mode == "login" and name:
            own += self.log_ins().cookies(name, time.time()).items()
        expired = [self._set(one, "", 0) for one in foreign]  # of a version before this one, or made by hand
        return own, name, expired

    def _kept(self, headers: Iterable[Header], name: str) -> list[Header]:
        """The headers of an answer, with the cookies of a log-in kept here and its name in their place."""
        passed: list[Header] = []
        cookies: dict[str, str] = {}
        is_ended, entrance = False, self.entrance()
        for header, value in headers:
            text = value.decode("latin-1")
            if entrance.encrypted and header.lower() == b"set-cookie" and text.startswith(f"{OF_WAY}="):
                value = f"{HOST}{text}; Secure".encode("latin-1")
            if header.lower() != b"set-cookie" or not text.startswith(OF_STREAMLIT):
                passed.append((header, value))
                continue
            key, _, held = text.partition(";")[0].partition("=")
            if held.strip('"'):
                cookies[key] = held
            else:
                is_ended = True
        if cookies or is_ended:
            if name:
                self.log_ins().end(name)
            cookie = cookie_name(entrance.encrypted)
            if OF_STREAMLIT in cookies and entrance.mode == "login":
                begun = self.log_ins().begin(cookies, time.time())
                passed.append(self._set(cookie, begun, int(entrance.seconds), entrance.encrypted))
            elif name:
                passed.append(self._set(cookie, "", 0, entrance.encrypted))
        return passed

    def _set(self, name: str, value: str, seconds: int, encrypted: bool = False) -> Header:
        path = "/" if encrypted else self.base().rstrip("/") or "/"
        text = f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax"
        return b"set-cookie", (text + "; Secure" if encrypted else text).encode("latin-1")


def cookie_name(encrypted: bool) -> str:
    """The cookie with the name of a log-in."""
    return f"{HOST}{NAME}" if encrypted else NAME


def cookies_of(headers: Iterable[Header]) -> Iterable[tuple[str, str]]:
    """Names and values as Starlette reads them, every one of every line: what is dropped here it must not find."""
    for header, line in headers:
        if header.lower() == b"cookie":
            for pair in line.decode("latin-1").split(";"):
                name, is_pair, value = pair.partition("=")
                yield (name.strip(), value.strip()) if is_pair else ("", pair.strip())


def is_too_long(headers: Iterable[Header]) -> bool:
    """Whether the line of cookies is longer than the websocket server takes: the page would stay empty for ever."""
    return any(name.lower() == b"cookie" and len(b"cookie: \r\n" + line) > LONGEST_LINE for name, line in headers)


def _wants_page(headers: Iterable[Header]) -> bool:
    return any(name.lower() == b"accept" and b"text/html" in value for name, value in headers)


def _too_long(scope: Scope, expired: list[Header]) -> PlainTextResponse:
    """What to do about it, as text: no page could say it, since none can connect."""
    size = max(len(line) for name, line in scope["headers"] if name.lower() == b"cookie")
    values = {"bytes": f"{size:,}", "most": f"{LONGEST_LINE:,}"}
    text = "\n\n".join(catalogue.words(lang)("login.cookies_too_long", **values) for lang in catalogue.languages())
    status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    answer = PlainTextResponse(text, status, headers={"cache-control": "no-store"})
    answer.raw_headers += expired
    return answer

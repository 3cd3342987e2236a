"""Who comes in by the doors for programs: a token, a log-in, or this machine; and from which pages. Speaks ASGI."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.types import Scope

from idcore.base.errors import CoreError, refuse
from idcore.operations.model import Caller, Ground
from idcore.policy.access import NOBODY, WITHOUT_LOGIN, Visitor
from idcore.policy.audit import Actor
from idcore.policy.tokens import PREFIX, Token, Tokens
from idcore.server.front_door import header_of, is_own
from idcore.server.login_cookie import LASTS
from idcore.server.logins import Entrance, is_named

PATH = "api/v1"
Pairs = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Entry:
    """What the console knows of its visitors, as functions that are asked for each call.

    `claims` has what the headers of a request say of its visitor. `hosts` and `origins` are those that the
    administrator names, `base` is the path that the console is served under, `roots` are the open places.
    """

    entrance: Callable[[], Entrance]
    claims: Callable[[Pairs], Mapping[str, Any]]
    tokens: Callable[[], Tokens]
    base: Callable[[], str]
    hosts: Callable[[], Sequence[str]]
    origins: Callable[[], Sequence[str]]
    roots: Callable[[], Sequence[Path | str]]
    runs: Callable[[], Path]

    def refusal(self, scope: Scope, document: bool) -> CoreError | None:
        """Why a request may not come from there: a page of another site, or a name that was led to this machine.

        A link to a document may be on any page.

        A page can add any header but Host, Origin and Sec-Fetch-Site, so nothing else is believed.
        """
        headers = scope["headers"]
        site = header_of(headers, b"sec-fetch-site", "none")
        foreign = site not in ("same-origin", "none") and not header_of(headers, b"origin")
        if not document and (foreign or not is_own(headers, self.origins())):
            return refuse("call_foreign")
        entrance = self.entrance()
        host = header_of(headers, b"host")
        if entrance.mode == "open" and not entrance.anywhere and not is_named(host, self.hosts()):
            return refuse("call_host", host=host[:100])
        return None

    def caller(self, scope: Scope) -> Caller:
        """Who asks: CoreError `call_no_login` where nobody is known, `call_token` where a token is none any more."""
        address = (scope.get("client") or ("local",))[0]
        given = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"authorization"]
        ground = Ground(self.roots, self.runs)
        if any(PREFIX in each for each in given):  # what else a proxy puts there is its own
            return self._with_token(*given, ground=ground)
        entrance = self.entrance()
        if entrance.mode == "open":
            who = Actor(address, f"api {address}")
            return Caller(lambda: WITHOUT_LOGIN, lambda: WITHOUT_LOGIN, who, ground, who.session)
        claims = self.claims(scope["headers"])
        visitor = entrance.visitor(claims, time.time())
        if not visitor.name:
            raise refuse("call_no_login")

        lasts = scope.get(LASTS, lambda: True)

        def now() -> Visitor:
            return self.entrance().visitor(claims, time.time()) if lasts() else NOBODY

        def later() -> Visitor:
            found = self.entrance()
            return found.policy.visitor(claims, joined=found.mode == "header")

        return Caller(now, later, Actor(visitor.name, "api"), ground, visitor.name)

    def _with_token(self, given: str, *more: str, ground: Ground) -> Caller:
        kind, _, text = given.partition(" ")
        text = text.strip()
        # Of two headers neither is believed: what is in front of the console may have read the other one.
        token = self.tokens().of_text(text) if kind.lower() == "bearer" and not more else None
        if token is None or not (name := self._person(token).name):
            raise refuse("call_token")
        return Caller(lambda: self._of_token(text), self._later(token), Actor(name, token.name), ground, name)

    def _of_token(self, text: str) -> Visitor:
        token = self.tokens().of_text(text)
        return NOBODY if token is None else self._person(token)

    def _later(self, token: Token) -> Callable[[], Visitor]:
        return lambda: self._person(token) if self.tokens().has(token) else NOBODY

    def _person(self, token: Token) -> Visitor:
        entrance = self.entrance()
        return NOBODY if entrance.mode == "open" else token.visitor(entrance.policy, joined=entrance.mode == "header")

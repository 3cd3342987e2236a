"""Who looks at a page: the login of this session and its roles; the page for who has none. Decides no permission."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from idcore.base.catalogue import Words
from idcore.policy import private, settings
from idcore.policy.access import ANY_CLUSTER, NOBODY, WITHOUT_LOGIN, AccessError, Policy, Roles, Visitor
from idcore.policy.tokens import Tokens
from idcore.presentation.reports.markdown import escaped
from idcore.presentation.reports.markup import tag
from idcore.runs.runs import runs_root
from idcore.server import streamlit_private
from idcore.server.login_cookie import OF_STREAMLIT, cookie_name
from idcore.server.logins import Entrance, LogIns, Settings, entrance_of


def entrance() -> Entrance:
    """How people come in, as it was when the server started, with the roles of now."""
    entry = _begun()
    roles = _roles()
    return entry if roles is None else replace(entry, policy=roles.policy())


def reasons() -> list[str]:
    """By a code, why health is degraded: the file of roles was changed and cannot be read."""
    roles = _roles()
    return ["roles"] if roles is not None and roles.is_broken else []


@cache
def _roles() -> Roles | None:
    """The file of roles; None without one."""
    file, opened = settings.current().access, _begun()
    return Roles(file, opened.policy, check_roles) if file else None


def check_roles(policy: Policy) -> None:
    """AccessError where a role is for a cluster that the administrator did not configure."""
    if named := policy.clusters.keys() - {ANY_CLUSTER}:
        from idcore.answers.lookup import offered  # only where clusters have roles

        known = offered(private.environment())
        for name in sorted(named - known.keys()):
            raise AccessError("access_cluster", {"cluster": name, "known": ", ".join(known) or "–"})


@cache
def _begun() -> Entrance:
    """AccessError where the console must not start like this."""
    try:
        auth: Mapping[str, Any] = st.secrets.get("auth") or {}
    except FileNotFoundError:  # there is none, or it cannot be read
        for path in st.get_option("secrets.files"):
            if Path(path).exists():  # a login that is configured there would be left out in silence
                raise AccessError("start_secrets", {"file": path}) from None
        auth = {}
    headers = st.get_option("server.trustedUserHeaders") or {}
    return entrance_of(Settings(st.get_option("server.address"), auth, headers, settings.current()))


@cache
def log_ins() -> LogIns:
    """The log-ins that are kept."""
    return LogIns(runs_root(), _begun().seconds)


@cache
def tokens() -> Tokens:
    """The personal tokens that are kept."""
    return Tokens(runs_root())


def current() -> Visitor:
    """Who asks, now: a log-in that has ended is nobody's. Without one there is one visitor with all permissions.

    A page keeps its websocket when its log-in is ended elsewhere, so the log-in itself is asked for each time.
    """
    entry = entrance()
    if entry.mode == "login" and not log_ins().has(st.context.cookies.get(cookie_name(entry.encrypted), "")):
        return NOBODY
    return entry.visitor({} if entry.mode == "open" else st.user.to_dict(), time.time())


def claims() -> Mapping[str, Any]:
    """What the log-in of this session says of its person, as far as names and roles need it."""
    policy = entrance().policy
    wanted = {policy.name_claim, policy.groups_claim, "email", "email_verified", "sub", "iss"}
    return {name: value for name, value in st.user.to_dict().items() if name in wanted}


def later() -> Callable[[], Visitor]:
    """Who asks now, for work that begins later in a thread of the server: with the roles that they have then.

    The end of the log-in does not end what it began.
    """
    return _with({} if entrance().mode == "open" else st.user.to_dict())


def by_name(owner: str | None) -> Callable[[], Visitor]:
    """The owner of a run without a log-in at hand: with the roles that the name alone has now, and no group's."""
    subject = (owner or "").removeprefix("sub:")  # the name of who has no address
    claim = entrance().policy.name_claim if subject == owner else "sub"
    return _with({} if owner is None else {claim: subject})


def _with(claims: Mapping[str, Any]) -> Callable[[], Visitor]:
    def then() -> Visitor:
        entry = entrance()
        if entry.mode == "open":
            return WITHOUT_LOGIN
        return entry.policy.visitor(claims, joined=entry.mode == "header")

    return then


def claims_of(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, Any]:
    """What the headers of a proxy or the signed cookie of a request say; nothing of a forged one."""
    given = Headers(raw=list(headers))
    if entrance().mode == "header":
        return {claim: given.get(header) for header, claim in st.get_option("server.trustedUserHeaders").items()}
    cookies = cookie_parser(given.get("cookie", ""))
    try:
        held = json.loads(streamlit_private.signed_claims(cookies, OF_STREAMLIT) or b"{}")
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def log_in(words: Words, here: Visitor) -> None:
    """The page for who has not logged in: what this is, and a button for each provider. Who has no role reads so."""
    entry = entrance()
    with st.container(key="login", width=440):
        st.title(words("name"), anchor=False)
        if here.name:
            refused(words, here)
            log_out(words, here)
            return
        st.html(tag("p", words("login.lead" if entry.mode == "login" else "login.by_proxy"), class_="mq-said"))
        for provider in entry.providers:
            one = provider == "default"
            label = words("login.button") if one else words("login.with", provider=escaped(provider))
            call = st.login if one else partial(st.login, provider)
            st.button(label, type="primary", key=f"login-{provider}", on_click=call, width="stretch")


def log_out(words: Words, here: Visitor) -> None:
    """Who is logged in, and the way out; nothing where there is no login."""
    if here.name is None:
        return
    st.html(tag("div", words("login.as", name=here.name), class_="mq-faint mq-note"))
    if entrance().mode == "login":
        st.button(words("login.out"), key="log-out", icon=":material/logout:", on_click=st.logout, type="tertiary")


def refused(words: Words, here: Visitor, roles: Iterable[str] = ()) -> None:
    """A page that a role lacks says so: who asks, which role it needs, and whom to ask for it."""
    contact = entrance().policy.contact
    key = "access.no_role" if not here.roles else "access.no_page"
    said = words(key, name=here.name or "", roles=words("comma").join(roles))
    whom = words("access.ask", contact=contact) if contact else words("access.ask_admin")
    st.info(escaped(f"{said} {whom}"), icon=":material/lock:")

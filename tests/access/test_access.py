"""Roles and their file, how people come in, when a log-in ends by itself, and who passes the gate: without a page."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from idcore.base import catalogue
from idcore.base.errors import CoreError
from idcore.policy import settings
from idcore.policy.access import (
    NOBODY,
    PERMISSIONS,
    ROLES,
    VIEWERS,
    WITHOUT_LOGIN,
    AccessError,
    Policy,
    Roles,
    Visitor,
    read,
)
from idcore.server import gate
from idcore.server.conversation import Asked, Conversations, Told
from idcore.server.front_door import MOST_IN_BOXES, readiness
from idcore.server.gate import WANTED, Gate, closed_at_expiry, is_page, is_rebound, link_cookie, link_of_cookie
from idcore.server.logins import SAID, Entrance, Settings, entrance_of, is_loopback, is_named
from pages.parts import scans, visitor

FILE = """
contact = "desk@example.com"
[viewer]
everybody = true
[triage]
groups = ["support"]
[look-up.production]
groups = ["ops"]
[look-up.test]
people = ["Ann@example.com"]
[admin]
people = ["root@example.com"]
"""
NOW = 1_800_000_000.0
ANN = {"is_logged_in": True, "iat": NOW - 60, "email": "ANN@example.com", "sub": "1", "groups": ["support"]}
AUTH = {
    "redirect_uri": "https://desk/oauth2callback",
    "cookie_secret": "x" * 32,
    "client_id": "console",
    "client_secret": "s",
    "server_metadata_url": "https://idp/",
}


def policy(tmp_path: Path, text: str = FILE) -> Policy:
    path = tmp_path / "access.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


# ---- the file of roles


def test_groups_and_people_have_the_roles_of_the_file_and_clusters_by_name(tmp_path: Path) -> None:
    found = policy(tmp_path).visitor(ANN)
    assert found == Visitor("ann@example.com", frozenset({"viewer", "triage", "look-up"}), frozenset({"test"}))
    assert found.may_ask("test") and not found.may_ask("production") and not found.may("bodies")
    root = policy(tmp_path).visitor({"email": "root@example.com", "groups": "ops"})
    assert root.roles == {"viewer", "admin", "look-up"} and root.clusters == {"production"}


def test_an_address_that_is_not_verified_is_nobodys(tmp_path: Path) -> None:
    claims = {"email": "root@example.com", "sub": "7"}
    unverified: tuple[Any, ...] = (False, "false", "False", "FALSE", None, 0, 2, "no", "", [], {})
    for no in unverified:
        assert policy(tmp_path).visitor(claims | {"email_verified": no}) == Visitor("sub:7", frozenset({"viewer"})), no
    for yes in (claims, claims | {"email_verified": True}, claims | {"email_verified": "True"}):
        assert policy(tmp_path).visitor(yes).roles > {"admin"}, yes
    assert policy(tmp_path).visitor({"email": "", "sub": ""}) == NOBODY == policy(tmp_path).visitor({})


def test_letters_that_look_alike_and_subjects_of_two_providers_are_two_people(tmp_path: Path) -> None:
    found = policy(tmp_path, '[admin]\npeople = ["Kes@example.com"]')
    assert found.visitor({"email": "KES@Example.com"}).roles == {"admin"}
    for other in ("\u212aes@example.com", "ke\u017f@example.com"):  # the sign of Kelvin, a long s
        assert not found.visitor({"email": other}).roles, other
    first, second = (found.visitor({"sub": "7", "iss": iss}).name for iss in ("https://one", "https://two"))
    assert first == "sub:https://one:7" and first != second
    for chosen in (first, first.upper(), f" {first}"):
        assert found.visitor({"email": chosen, "sub": "8", "iss": "https://two"}).name == "sub:https://two:8"


def test_a_space_that_is_no_blank_makes_another_name_and_group(tmp_path: Path) -> None:
    """The bytes of a header are read as Latin-1: the last one of à in UTF-8 is a space there, and that of Å too."""
    found = policy(tmp_path)
    assert found.visitor({"email": " root@example.com\t"}).roles > {"admin"}
    for other in ("root@example.com\xa0", "root@example.com\x85", "\u3000root@example.com", "root@example.com\n"):
        assert found.visitor({"email": other}).roles == {"viewer"}, other
    grave, ring = (found.visitor({"email": name.encode().decode("latin-1")}).name for name in ("annà", "annÅ"))
    assert grave != ring
    claims = {"email": "bob@example.com", "groups": "guests, support\xa0"}
    assert found.visitor(claims, joined=True).roles == {"viewer"}


@pytest.mark.parametrize(
    "groups",
    [
        {"support": 1},
        {"support": True},
        [["support"]],
        [{"support": 1}],
        [5, None, True],
        5,
        True,
        None,
        "",
        "supports",
    ],
)
def test_only_a_list_of_texts_or_one_text_is_groups(groups: Any, tmp_path: Path) -> None:
    """An object has keys, and they are not the groups of anybody."""
    assert policy(tmp_path).visitor({"email": "bob@example.com", "groups": groups}).roles == {"viewer"}
    assert policy(tmp_path).visitor({"email": "bob@example.com", "groups": [5, "support"]}).roles != {"viewer"}


def test_only_a_header_has_its_groups_in_one_text(tmp_path: Path) -> None:
    claims = {"email": "bob@example.com", "groups": "guests, support"}
    assert policy(tmp_path).visitor(claims).roles == {"viewer"}
    assert policy(tmp_path).visitor(claims, joined=True).roles == {"viewer", "triage"}


def test_without_a_file_who_logs_in_is_a_viewer_and_without_login_one_visitor_may_all() -> None:
    assert VIEWERS.visitor(ANN).roles == {"viewer"}
    assert all(WITHOUT_LOGIN.may(name) for name in PERMISSIONS) and WITHOUT_LOGIN.may_ask("any")
    assert not any(NOBODY.may(name) for name in PERMISSIONS) and not NOBODY.may_open("decode")
    assert not WITHOUT_LOGIN.may_open("a page that the table lacks")


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("[traige]\ngroups = []", "access_key", "traige"),
        ("[triage]\ngroup = ['x']", "access_key", "triage.group"),
        ("[triage]\ngroups = 'x'", "access_list", "triage.groups"),
        ("[triage]\ngroups = ['']", "access_list", "triage.groups"),
        ("[viewer]\neverybody = 'yes'", "access_flag", "viewer.everybody"),
        ("triage = ['x']", "access_table", "triage"),
        ("[look-up]\ngroups = ['x']", "access_table", "look-up.groups"),
        ("contact = 3", "access_text", "contact"),
        ("[triage", "access_file", "access.toml"),
    ],
)
def test_a_mistake_in_the_file_names_the_file_and_the_key(tmp_path: Path, text: str, code: str, named: str) -> None:
    with pytest.raises(AccessError) as raised:
        policy(tmp_path, text)
    assert raised.value.code == code and named in raised.value.problem and "access.toml" in raised.value.problem


def test_roles_are_those_of_the_file_now_and_a_broken_one_leaves_the_last_good_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, checked = tmp_path / "access.toml", list[Policy]()

    def check(found: Policy) -> None:
        checked.append(found)
        if "nowhere" in found.clusters:
            raise AccessError("access_cluster", {"cluster": "nowhere", "known": "one"})

    roles = Roles(path, policy(tmp_path), check)
    assert "triage" in roles.policy().visitor(ANN).roles and not roles.is_broken and len(checked) == 1
    broken = ("[triage", "[traige]\ngroups = []", "[look-up.nowhere]\ngroups = ['ops']", None)
    for number, text in enumerate(broken):
        path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        assert "triage" in roles.policy().visitor(ANN).roles and roles.is_broken
        assert roles.policy() is roles.policy()
        said = [record.levelname for record in caplog.records if record.name == "idcore.policy.access"]
        assert said == ["ERROR"] * (number + 1)  # once for each change
    policy(tmp_path, '[viewer]\npeople = ["ann@example.com"]')
    assert roles.policy().visitor(ANN).roles == {"viewer"} and not roles.is_broken


def test_who_follows_on_without_a_log_in_has_the_name_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor, "_begun", lambda: LOGIN)
    monkeypatch.setattr(visitor, "_roles", lambda: None)
    for owner in ("ann@example.com", "sub:https://one:7", "sub:7"):
        assert visitor.by_name(owner)() == Visitor(owner, frozenset({"viewer"})), owner
    assert visitor.by_name(None)() == NOBODY


def test_the_console_asks_the_file_and_says_in_health_that_it_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, roles = replace(LOGIN, policy=policy(tmp_path)), Roles(tmp_path / "access.toml", VIEWERS)
    monkeypatch.setattr(visitor, "_begun", lambda: begun)
    monkeypatch.setattr(visitor, "_roles", lambda: roles)
    assert "triage" in visitor.entrance().policy.visitor(ANN).roles and visitor.reasons() == []
    policy_file = tmp_path / "access.toml"
    policy_file.write_text("[triage]\npeople = []", encoding="utf-8")
    assert visitor.entrance().policy.visitor(ANN).roles == set()
    policy_file.write_text("[triage", encoding="utf-8")
    assert visitor.entrance().policy.visitor(ANN).roles == set() and visitor.reasons() == ["roles"]
    assert readiness(None, tmp_path, visitor.reasons())["reasons"] == ["roles"]


# ---- how people come in


def given(address: str | None = "127.0.0.1", auth: Any = None, headers: Any = None, **environment: str) -> Settings:
    return Settings(address, auth or {}, headers or {}, settings.Settings.of(environment))


HEADER: dict[str, Any] = {
    "headers": {"X-Forwarded-Email": "email"},
    "FORWARDED_ALLOW_IPS": "",
    "IDCORE_TRUSTED_PROXIES": "10.0.0.5",
}


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (given("0.0.0.0"), "start_open"),
        (given(None), "start_open"),
        (given(""), "start_open"),
        (given("::"), "start_open"),
        (given("desk.example.com"), "start_open"),
        (given(IDCORE_WITHOUT_LOGIN="yes"), "start_said"),
        (given("0.0.0.0", AUTH, {"X-User": "email"}), "start_both"),
        (given(IDCORE_ACCESS=os.devnull), "start_roles"),
        (given(auth=AUTH | {"cookie_secret": "short"}), "start_secret"),
        (given(auth=AUTH | {"redirect_uri": ""}), "start_auth"),
        (given(auth=AUTH | {"client_secret": ""}), "start_auth"),
        (given(auth=AUTH, IDCORE_LOGIN_HOURS="0"), "start_hours"),
        (given(auth=AUTH, IDCORE_LOGIN_HOURS="nan"), "start_hours"),
        (given(**HEADER | {"headers": {"X-Groups": "groups"}}), "start_header"),
        (given(**HEADER | {"IDCORE_TRUSTED_PROXIES": " "}), "start_proxies"),
        (given(**HEADER | {"IDCORE_TRUSTED_PROXIES": "proxy"}), "start_proxy"),
        (given(headers=HEADER["headers"], IDCORE_TRUSTED_PROXIES="10.0.0.5"), "start_forwarded"),
    ],
)
def test_what_would_be_open_by_mistake_does_not_start(settings: Settings, code: str) -> None:
    with pytest.raises(AccessError) as raised:
        entrance_of(settings)
    assert raised.value.code == code and "does not start" in raised.value.problem


def test_loopback_a_login_a_proxy_or_a_word_of_the_administrator_start() -> None:
    assert entrance_of(given()).mode == "open" and not entrance_of(given()).anywhere
    assert entrance_of(given("0.0.0.0", IDCORE_WITHOUT_LOGIN=SAID)).anywhere
    assert entrance_of(given(None, AUTH)).providers == ("default",)
    named = {key: AUTH[key] for key in ("redirect_uri", "cookie_secret")} | {"okta": AUTH}
    assert entrance_of(given(None, named)).providers == ("okta",)
    assert entrance_of(given("0.0.0.0", **HEADER)).proxies == (ip_network("10.0.0.5"),)
    assert is_loopback("::ffff:127.0.0.1") and is_loopback("::1") and not is_loopback("::ffff:10.0.0.1")


# ---- when a login ends

LOGIN = Entrance("login", Policy({"viewer": VIEWERS.members["viewer"]}, {}), ("default",), seconds=3600)


def test_a_log_in_ends_by_its_time_and_is_none_without_a_beginning() -> None:
    assert LOGIN.visitor(ANN, NOW).name == "ann@example.com"
    no_times: list[Any] = [NOW - 3600, None, True, "1", 10**400, -(10**400), float("inf"), float("nan")]
    for broken in (*({"iat": none} for none in no_times), {"is_logged_in": "true"}):
        assert LOGIN.visitor(ANN | broken, NOW) == NOBODY, broken
    assert LOGIN.visitor({}, NOW) == NOBODY


def test_a_login_of_a_clock_that_was_far_ahead_is_nobodys() -> None:
    """An hour more or less shuts nobody out; one of next year would be good until then."""
    hours = replace(LOGIN, seconds=12 * 3600)
    for ahead, name in ((-3600, "ann@example.com"), (3600, "ann@example.com"), (86_400, ""), (3e7, "")):
        assert hours.visitor(ANN | {"iat": NOW + ahead}, NOW).name == name
        assert hours.left(ANN | {"iat": NOW + ahead}, NOW) <= 2 * hours.seconds


# ---- the gate

PROXY = Entrance(
    "header", VIEWERS, (), (ip_network("10.0.0.5"), ip_network("10.1.0.0/24")), frozenset({"x-forwarded-email"})
)
MAIL = (b"X-Forwarded-Email", b"root@example.com")


async def answer(_: Any, __: Any, send: Any) -> None:
    await send({"type": "websocket.accept"})


async def connect() -> dict[str, Any]:
    return {"type": "websocket.connect"}


def passes(entrance: Entrance, scope: Mapping[str, Any], claims: Mapping[str, Any] = {}) -> bool:
    """Whether a request reaches the application."""
    reached, sent = [], []

    async def app(_: Any, __: Any, ___: Any) -> None:
        reached.append(True)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    whole = {
        "path": "/desk/",
        "method": "GET",
        "headers": [],
        "server": ("127.0.0.1", 80),
        "client": ("10.0.0.5", 1),
    } | dict(scope)
    coming = Gate(app, lambda: entrance, lambda _: claims, lambda: "/desk/")(whole, receive, send)
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, coming).result()  # type: ignore[arg-type]
    refused = bool(sent) and (sent[0].get("status") == 403 or sent[0].get("code") == 1008)
    assert bool(reached) != refused
    return bool(reached)


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_trusted_header_counts_only_from_the_proxy(kind: str) -> None:
    for client in ("10.0.0.5", "::ffff:10.0.0.5", "10.1.0.77"):
        assert passes(PROXY, {"type": kind, "client": (client, 1), "headers": [MAIL]})
    for stranger in ("10.0.0.6", "127.0.0.1", "::1", "", "10.1.1.1"):
        assert not passes(PROXY, {"type": kind, "client": (stranger, 1), "headers": [MAIL]}), stranger
    assert not passes(PROXY, {"type": kind, "client": None, "headers": [MAIL]})
    twice = [MAIL, (b"x-forwarded-email", b"ann@example.com")]
    assert not passes(PROXY, {"type": kind, "headers": twice})  # the proxy did not replace what it was sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_another_server_that_binds_all_addresses_does_not_open_the_console(kind: str) -> None:
    assert passes(Entrance(), {"type": kind, "server": ("127.0.0.1", 8501)})
    assert not passes(Entrance(), {"type": kind, "server": ("192.0.2.2", 8501)})
    assert passes(Entrance(anywhere=True), {"type": kind, "server": ("192.0.2.2", 8501)})
    assert not passes(Entrance(), {"type": kind, "server": None})


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]:8501", "LOCALHOST:8501", "10.0.0.9:", "ids.desk.example"])
def test_a_host_is_an_address_localhost_or_one_that_is_named(host: str) -> None:
    assert is_named(host, ["ids.*.example"])


@pytest.mark.parametrize(
    "host", ["[::1].evil.com", "x@127.0.0.1", "evil.com#@localhost", "[::1", "::1]", "", "a/b", "[]"]
)
def test_what_only_begins_or_ends_like_a_known_host_is_none(host: str) -> None:
    assert not is_named(host, ["ids.*.example"]) and not is_named(f"{host}:8501", ["ids.*.example"])


@pytest.mark.parametrize(
    ("origin", "headers", "comes"),
    [
        (None, {}, True),  # a program
        ("http://localhost:8501", {}, True),
        ("http://127.0.0.1:8501", {}, True),
        ("http://[::1]:8501", {}, True),
        ("http://evil.example:8501", {}, False),  # its name leads to this machine, so that its host is the same
        ("http://evil.example:8501", {"x-forwarded-for": "192.0.2.7"}, True),  # a proxy; no page can send this
        ("https://ids.desk.example", {}, True),  # named by the administrator
        ("http://[", {}, False),
    ],
)
def test_without_a_login_a_name_that_was_made_to_lead_here_opens_no_websocket(
    origin: str | None, headers: Mapping[str, str], comes: bool
) -> None:
    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    given += [] if origin is None else [(b"Origin", origin.encode())]
    assert is_rebound({"type": "websocket", "headers": given}, ["*.desk.example"]) is not comes
    if origin != "https://ids.desk.example":
        assert passes(Entrance(), {"type": "websocket", "headers": given}) is comes
    assert passes(LOGIN, {"type": "websocket", "headers": given})  # the cookie is of another host


def test_figures_of_streamlit_are_nobodys() -> None:
    figures = {"type": "http", "path": "/desk/_stcore/metrics"}
    assert not passes(LOGIN, figures, ANN | {"iat": time.time()}) and not passes(PROXY, figures)
    assert not passes(Entrance(anywhere=True), figures)


def test_without_a_login_there_is_the_page_that_offers_it_and_no_file() -> None:
    mine = ANN | {"iat": time.time()}
    for path in ("", "runs", "_stcore/health", "_stcore/host-config", "static/media/font.woff2", "oauth2callback"):
        assert passes(LOGIN, {"type": "http", "path": f"/desk/{path}"}), path
    for path in ("media/a.csv", "_stcore/upload_file/a/b", "component/a.js", "_stcore/agent/x"):
        assert not passes(LOGIN, {"type": "http", "path": f"/desk/{path}"}), path
        assert not passes(LOGIN, {"type": "http", "path": f"/a/prefix/desk/{path}", "root_path": "/a/prefix"}), path
        assert not passes(LOGIN, {"type": "http", "path": f"/desk/{path}"}, mine | {"iat": NOW * 0}), path
        assert passes(LOGIN, {"type": "http", "path": f"/desk/{path}"}, mine), path


def link_after(cookie: str) -> str | None:
    return link_of_cookie([(b"cookie", f"a=b; {WANTED}={cookie}; c=d".encode())], "/desk/")


def test_who_logs_in_comes_to_the_link_that_was_followed_and_never_to_another_site() -> None:
    scope = {"path": "/desk/findings", "query_string": b"run=20261121-015500-a1b2c3&lang=zh"}
    name, value = link_cookie(scope, "/desk/")
    assert name == b"set-cookie" and b"HttpOnly" in value and b"Path=/desk;" in value
    assert (
        link_after(value.decode().split(";")[0].partition("=")[2])
        == "/desk/findings?run=20261121-015500-a1b2c3&lang=zh"
    )
    for upwards in ("/desk/../other", "/desk/a/..%2F..%2Fother", "/desk/%252e%252E/other", "/desk/a\\..\\..\\other"):
        assert link_after(upwards) is None, upwards
    assert link_after("/desk/lines%3Ffind=..") == "/desk/lines?find=.."
    for stranger in ("//evil/desk/", "https://evil/", "/other", "/desk/%0d%0aSet-Cookie", "", "%2F%2Fevil", "/\\evil"):
        assert link_after(stranger) is None, stranger
    assert link_of_cookie([(b"cookie", f"{WANTED}=%2F%2Fevil".encode())], "/") is None


def test_the_way_of_a_login_is_not_the_link_that_was_followed() -> None:
    asked = {"type": "http", "method": "GET", "headers": [(b"Accept", b"text/html")]}
    assert is_page(asked | {"path": "/desk/findings"}) and not is_page(asked | {"path": "/desk/auth/login"})
    assert not is_page(asked | {"path": "/desk/findings", "headers": []})


def test_a_websocket_ends_with_its_login() -> None:
    async def silent() -> Any:
        await asyncio.sleep(60)

    with ThreadPoolExecutor(1) as apart:
        message: Any = apart.submit(asyncio.run, closed_at_expiry(silent, 0.02)()).result(5)  # type: ignore[arg-type]
    assert message == {"type": "websocket.disconnect", "code": 1000}


def test_a_websocket_behind_a_proxy_ends_after_as_long() -> None:
    """Its headers are those of its beginning: who has left the company keeps an open page no longer than a log-in."""
    assert entrance_of(given(**HEADER | {"IDCORE_LOGIN_HOURS": "2"})).left({}, NOW) == 7_200
    proxy = replace(PROXY, seconds=0.02)
    door = Gate(answer, lambda: proxy, lambda _: {"email": "ann@example.com"}, lambda: "/")
    heard: list[Any] = []

    async def silent() -> Any:
        await asyncio.sleep(60)

    async def listens(_: Any, receive: Any, __: Any) -> None:
        heard.append(await receive())

    async def send(_: Any) -> None:
        return

    door.app = listens
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [MAIL], "client": ("10.0.0.5", 1)}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, silent, send)).result(5)  # type: ignore[arg-type]
    assert heard == [{"type": "websocket.disconnect", "code": 1000}]


def test_strangers_leave_half_of_the_file_descriptors_to_those_who_have_logged_in(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each websocket makes a session with four of them, which stays for two minutes after its browser has gone."""
    monkeypatch.setattr(gate.resource, "getrlimit", lambda _: (24, 24))  # of 3 strangers
    clock: Any = SimpleNamespace(monotonic=lambda: clock.now, time=time.time, now=1000.0)
    monkeypatch.setattr(gate, "time", clock)
    claims: dict[str, Any] = {}
    door = Gate(answer, lambda: Entrance("login"), lambda _: claims, lambda: "/")

    async def opens() -> bool:
        """Whether a websocket that ends at once is taken."""
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [], "client": ("10.0.0.5", 1)}
        await door(scope, connect, send)
        return sent != [{"type": "websocket.close", "code": 1008}]

    async def answer_all() -> None:
        assert [await opens() for _ in range(5)] == [True, True, True, False, False]
        claims.update(is_logged_in=True, iat=time.time(), email="ann@example.com")
        assert all([await opens() for _ in range(5)])
        claims.clear()
        clock.now += gate.FORGOTTEN
        assert [await opens() for _ in range(4)] == [True, True, True, False]
        clock.now += gate.FORGOTTEN
        monkeypatch.setattr(gate.resource, "getrlimit", lambda _: (gate.resource.RLIM_INFINITY,) * 2)
        assert all([await opens() for _ in range(9)])

    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, answer_all()).result(5)  # type: ignore[arg-type]
    assert caplog.text.count("3 websockets without a log-in") == 2


PERSON = {"is_logged_in": True, "email": "ann@example.com"}


def click(_: Any, message: Any) -> Asked:
    return Asked(message["bytes"], is_click=True)


def of_sizes(door: Gate, *sizes: int) -> list[str]:
    """What a page of a console hears on one websocket whose browser sends messages of so many bytes."""
    heard: list[str] = []
    coming = iter([{"type": "websocket.receive", "bytes": bytes(size)} for size in sizes])

    async def receive() -> Any:
        return next(coming, {"type": "websocket.disconnect", "code": 1000})

    async def listens(_: Any, receive: Any, __: Any) -> None:
        while not heard or heard[-1].startswith("websocket.receive"):
            message = await receive()
            heard.append(f"{message['type']} {message.get('code') or len(message['bytes'])}")

    async def send(_: Any) -> None:
        return

    door.app = Conversations(listens, click)
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [], "client": ("10.0.0.5", 1)}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, receive, send)).result(5)  # type: ignore[arg-type]
    return heard


@pytest.mark.parametrize("mode", ["login", "header"])
def test_what_a_session_keeps_of_a_strangers_messages_is_short(mode: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Each session keeps its clicks: with 25 MB each, 500 strangers fill the memory of a server."""
    door = Gate(answer, lambda: Entrance(mode, proxies=(ip_network("10.0.0.5"),)), lambda _: {}, lambda: "/")
    most = gate.MOST_OF_STRANGER
    assert of_sizes(door, 10, most, most + 1, 10) == [
        "websocket.receive 10",
        f"websocket.receive {most}",
        "websocket.disconnect 1009",
    ]
    assert "no room for a message of 131,073 bytes" in caplog.text


def test_messages_of_a_person_count_as_uploads_as_long_as_their_websocket_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IDCORE_UPLOADS_VISITOR", "1M")
    door = Gate(answer, lambda: Entrance("login"), lambda _: PERSON | {"iat": time.time()}, lambda: "/")
    for _ in range(3):  # the largest one counts, and none of a websocket that has ended
        assert of_sizes(door, 900_000, 900_000) == ["websocket.receive 900000"] * 2 + ["websocket.disconnect 1000"]
    assert of_sizes(door, 10, 1 << 21)[-1] == "websocket.disconnect 1009"


def test_a_text_without_room_is_said_and_its_page_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its websocket used to end, and its page sent the same text again."""
    monkeypatch.setenv("IDCORE_UPLOADS_VISITOR", "30M")
    heard: list[str] = []
    told: list[tuple[str, CoreError]] = []
    coming = iter([10, MOST_IN_BOXES + 1, 16 << 20, 31 << 20, 17])

    async def receive() -> Any:
        size = next(coming, None)
        ends = {"type": "websocket.disconnect", "code": 1000}
        return ends if size is None else {"type": "websocket.receive", "bytes": bytes(size)}

    async def listens(_: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.send", "bytes": b"session-7"})
        while not heard or heard[-1] != "1000":
            message = await receive()
            heard.append(str(message.get("code") or len(message["bytes"])))

    async def send(_: Any) -> None:
        return

    app = Conversations(listens, click, lambda data, _: Told(data.decode()), no_room=lambda *one: told.append(one))
    door = Gate(app, lambda: Entrance("login"), lambda _: PERSON | {"iat": time.time()}, lambda: "/")
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [], "client": ("10.0.0.5", 1)}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, receive, send)).result(5)  # type: ignore[arg-type]
    assert heard == ["10", str(16 << 20), "17", "1000"]
    assert [session for session, _ in told] == ["session-7"] * 2
    for lang, way in (("en", ("Decode", "Scans")), ("zh", ("解码", "扫描记录"))):
        said = catalogue.words(lang).error(told[0][1])
        assert "20.0 MiB" in said and all(name in said for name in way)


def test_a_person_leaves_most_file_descriptors_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate.resource, "getrlimit", lambda _: (96, 96))  # of 3 websockets of one person
    who = ["ann@example.com"]
    claims = lambda _: PERSON | {"iat": time.time(), "email": who[0]}  # noqa: E731
    door = Gate(answer, lambda: Entrance("login"), claims, lambda: "/")

    def heard() -> bool:
        return of_sizes(door, 10) != []

    assert [heard() for _ in range(5)] == [True, True, True, False, False]
    who[0] = "bob@example.com"
    assert heard()


def test_every_role_has_a_permission_and_every_permission_a_role() -> None:
    assert {role for one in PERMISSIONS.values() for role in one.roles} == set(ROLES)
    assert replace(NOBODY, name="x").roles == frozenset()


def test_with_a_log_in_no_console_starts_whose_open_folder_has_the_scans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "data" / "runs"))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path / "data"))
    for mode in ("login", "header"):
        monkeypatch.setattr(visitor, "entrance", lambda mode=mode: Entrance(mode))
        with pytest.raises(CoreError) as refused:
            scans.check_places()
        assert refused.value.code == "start_places_own"
    monkeypatch.setattr(visitor, "entrance", Entrance)
    scans.check_places()  # without one every visitor has every scan


@pytest.mark.parametrize("setting", ["IDCORE_CLUSTERS", "IDCORE_KAFKA_PROPERTIES", "secrets.files"])
def test_nor_one_whose_open_folder_has_its_keys(setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data" / "keys"
    file.parent.mkdir()
    file.touch()
    monkeypatch.setenv("IDCORE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IDCORE_ALLOWED_PATHS", str(tmp_path / "data"))
    monkeypatch.setattr(visitor, "entrance", lambda: Entrance("login"))
    scans.check_places()
    if setting == "secrets.files":
        monkeypatch.setattr(scans.st, "get_option", {setting: [str(file)]}.__getitem__)
    else:
        monkeypatch.setenv(setting, str(file))
    with pytest.raises(CoreError, match=setting) as refused:
        scans.check_places()
    assert refused.value.code == "start_places_own"

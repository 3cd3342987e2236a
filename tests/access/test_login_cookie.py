"""A log-in is one random name in the browser: parts of two log-ins cannot be joined, and log out deletes it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import stat
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.auth_util import set_cookie_with_chunks
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from idcore.doors.entry import Entry
from idcore.policy.access import NOBODY, VIEWERS
from idcore.policy.tokens import Tokens
from idcore.server.gate import Gate
from idcore.server.login_cookie import LONGEST_LINE, OF_STREAMLIT, OF_WAY, LoginCookie, cookie_name
from idcore.server.logins import KEPT, Entrance, LogIns
from pages.parts import visitor

SECRET = "a secret of this test alone, long enough"
LOGIN = Entrance("login", VIEWERS, ("default",), seconds=3600)
NAME = cookie_name(False)


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LogIns:
    """A console with a log-in, whose log-ins are kept in a folder of the test."""
    kept = LogIns(tmp_path, LOGIN.seconds)
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: SECRET)
    monkeypatch.setattr(visitor, "entrance", lambda: LOGIN)
    monkeypatch.setattr(visitor, "log_ins", lambda: kept)
    return kept


def claims_of(**more: Any) -> dict[str, Any]:
    said = {"iss": "https://idp", "sub": "7", "iat": int(time.time()), "email": "eve@example.com"} | more
    return said | {"origin": "https://desk", "is_logged_in": True, "provider": "default"}


def by_streamlit(claims: Mapping[str, Any]) -> dict[str, str]:
    """The cookies that Streamlit's own code makes for these claims."""
    made: dict[str, str] = {}

    def signed(name: str, value: str) -> bytes:
        return create_signed_value(SECRET, name, value)

    def put(name: str, value: str) -> None:
        made[name] = signed(name, value).decode()

    set_cookie_with_chunks(put, signed, OF_STREAMLIT, dict(claims), cookie_attr_size=60)
    return made


@dataclass
class Answer:
    """What reached Streamlit of a request, and the cookies that its answer set."""

    cookies: dict[str, str] = field(default_factory=dict)
    claims: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    body: bytes = b""
    set: dict[str, Any] = field(default_factory=dict)


def asks(
    cookies: Mapping[str, str] | Iterable[str],
    path: str = "/",
    sets: Mapping[str, str] = {},
    kind: str = "http",
    entrance: Entrance = LOGIN,
    site: bytes | None = b"same-origin",
    query: bytes = b"",
) -> Answer:
    """A request with these cookies through the doors of the console; `sets` are the cookies that Streamlit answers."""
    got = Answer()
    lines = [f"{name}={value}" for name, value in cookies.items()] if isinstance(cookies, Mapping) else list(cookies)

    async def streamlit(scope: Any, _: Any, send: Any) -> None:
        held = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
        got.cookies = dict(pair.split("=", 1) for line in held for pair in line.split("; "))  # type: ignore[misc]
        got.claims = visitor.claims_of(scope["headers"])
        made = [(b"set-cookie", f"{name}={value}; Path=/".encode()) for name, value in sets.items()]
        await send({"type": "http.response.start", "status": 200, "headers": made})

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            got.status = message["status"]
            for name, value in message["headers"]:
                if name == b"set-cookie":
                    got.set.update(SimpleCookie(value.decode()))
        got.body += message.get("body", b"")

    gate = Gate(streamlit, lambda: entrance, visitor.claims_of, lambda: "/")
    door = LoginCookie(gate, lambda: entrance, visitor.log_ins, lambda: "/")
    headers = [(b"accept", b"text/html"), (b"cookie", "; ".join(lines).encode("latin-1"))]
    headers += [] if site is None else [(b"sec-fetch-site", site)]
    scope = {"type": kind, "method": "GET", "path": path, "query_string": query, "headers": headers}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, receive, send)).result()  # type: ignore[arg-type]
    return got


def logs_in(**claims: Any) -> str:
    """The name that the browser gets for a log-in."""
    answer = asks({}, "/oauth2callback", by_streamlit(claims_of(**claims)))
    assert set(answer.set) == {NAME}
    return str(answer.set[NAME].value)


def whole(cookies: Mapping[str, str]) -> dict[str, Any]:
    """What Streamlit itself reads out of cookies."""
    return json.loads(starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), OF_STREAMLIT) or b"{}")  # type: ignore[no-any-return]


def spliced() -> dict[str, str]:
    """Parts of two log-ins of one person that Streamlit joins into a log-in of the administrator.

    A nickname of the right length lets a part of the first end before the address, and one of the second begin with
    the name, which is the administrator's address.
    """

    groups = [random.Random(number).randbytes(16).hex() for number in range(200)]  # what repeats would be packed

    def parts(nickname: int, name: str) -> dict[str, str]:
        own = claims_of(groups=groups, nickname="n" * nickname)
        return by_streamlit(own | {"email": own.pop("email"), "name": name} | {"is_logged_in": own.pop("is_logged_in")})

    def cut_behind(text: str, name: str) -> tuple[dict[str, str], int]:
        at = json.dumps(whole(parts(0, name))).index(text) + len(text)
        first = starlette_websocket.starlette_app_utils.decode_signed_value(
            SECRET, f"{OF_STREAMLIT}_1", parts(0, name)[f"{OF_STREAMLIT}_1"]
        )
        size = len(first or b"")
        return parts(-at % size, name), -(-at // size)

    one, cut = cut_behind('"email": "', "x" * 200)
    two, also = cut_behind('"name": "', "adm1@example.com")
    assert cut == also and len(one) == len(two)
    return two | {f"{OF_STREAMLIT}_{number}": one[f"{OF_STREAMLIT}_{number}"] for number in range(1, cut + 1)}


def test_parts_of_two_log_ins_are_nobody_at_every_door() -> None:
    """Streamlit takes them for the administrator's log-in: docs/explanation/streamlit-split-cookie.md."""
    cookies = spliced()
    assert whole(cookies)["email"] == "adm1@example.com"  # the fault is still there
    mine = logs_in()
    for path in ("/", "/media/a.csv", "/_stcore/upload_file/a/b", "/_stcore/stream", "/auth/logout", "/oauth2callback"):
        for kind in ("http", "websocket"):
            answer = asks(cookies, path, kind=kind)
            assert not answer.claims and not any(name.startswith(OF_STREAMLIT) for name in answer.cookies), path
            both = asks(cookies | {NAME: mine}, path, kind=kind)
            assert both.claims["email"] == "eve@example.com", path


@pytest.mark.parametrize("groups", [0, 130, 1_000, 20_000])
def test_a_log_in_of_any_size_is_one_short_cookie(groups: int) -> None:
    said = [f"a-group-with-a-long-name-{number}" for number in range(groups)]
    name = logs_in(groups=said)
    assert len(f"{NAME}={name}") < 100
    for kind in ("http", "websocket"):
        assert asks({NAME: name}, kind=kind).claims["groups"] == said


def test_a_whole_cookie_of_streamlit_is_nobody_too_and_is_deleted() -> None:
    """One that is copied from another console of the same secret, or from a version before this one."""
    cookies = by_streamlit(claims_of())
    assert whole(cookies)["email"] == "eve@example.com"
    answer = asks(cookies)
    assert not answer.claims and answer.set[OF_STREAMLIT]["max-age"] == "0"
    for mode in (Entrance(), Entrance("header", VIEWERS)):
        assert not any(name.startswith(OF_STREAMLIT) for name in asks(cookies, entrance=mode).cookies)


@pytest.mark.parametrize(
    "written",
    [
        f" {OF_STREAMLIT} = {{}}",
        f"\xa0{OF_STREAMLIT}={{}}",
        f"a=b;{OF_STREAMLIT}={{}};c=d",
        f"a=b,{OF_STREAMLIT}={{}}",
        f"{OF_STREAMLIT}={{}}; {OF_STREAMLIT}=x",
        f"\t{OF_STREAMLIT}\x1f={{}}",
    ],
)
def test_however_a_cookie_is_written_streamlit_does_not_find_one_that_was_dropped(written: str) -> None:
    made = by_streamlit(claims_of())[OF_STREAMLIT]
    assert not asks([written.format(made)]).claims


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("entrance", [LOGIN, Entrance(anywhere=True)], ids=lambda one: one.mode)
@pytest.mark.parametrize("piece", ["\\", "\\a", '\\"', "\\101"])
def test_a_cookie_with_backslashes_is_read_by_nobody(piece: str, entrance: Entrance, kind: str) -> None:
    """60 KB of them took the whole server a minute, before anybody had logged in (CVE-2024-7592)."""
    given = [f'"{piece * 500}"', f'a="{piece * 500}"', f'{OF_WAY}="{piece * 500}"']
    assert asks(["b=c", *given, "d=e"], kind=kind, entrance=entrance).cookies == {"b": "c", "d": "e"}


def test_a_name_that_was_guessed_changed_or_given_twice_is_nobody() -> None:
    mine, other = logs_in(), logs_in(sub="8", email="bob@example.com")
    assert asks({NAME: mine}).claims["email"] == "eve@example.com"
    for wrong in (mine[:-1], mine + "A", mine.swapcase(), "", "..", "../run.json", "\x00", "a" * 4_000, "%2e%2e", "é"):
        assert not asks({NAME: wrong}).claims, wrong
    assert not asks([f"{NAME}={mine}", f"{NAME}={other}"]).claims
    assert asks([f"{NAME}={mine}", f"{NAME}={mine}"]).claims


def test_log_out_ends_a_log_in_for_its_copies_for_open_pages_and_for_other_consoles(
    desk: LogIns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDCORE_AUDIT_LOG", str(tmp_path / "audit.jsonl"))
    mine, other = logs_in(), logs_in()
    monkeypatch.setattr(type(st.context), "cookies", {NAME: mine})  # of a page that stays open
    monkeypatch.setattr(type(st.user), "to_dict", lambda _: claims_of())
    assert visitor.current().name == "eve@example.com"
    of_another_site = asks({NAME: mine}, "/auth/logout", {OF_STREAMLIT: '""'}, site=b"cross-site")
    assert of_another_site.status == 200 and visitor.current().name == "eve@example.com"
    answer = asks({NAME: mine}, "/auth/logout", {OF_STREAMLIT: '""', f"{OF_STREAMLIT}_tokens": '""'})
    assert answer.set[NAME]["max-age"] == "0" and set(answer.set) == {NAME}
    assert visitor.current() == NOBODY and not asks({NAME: mine}).claims
    assert not LogIns(tmp_path).cookies(mine, time.time())  # another console of the folder
    assert asks({NAME: other}).claims  # of another browser of hers
    asks({NAME: mine}, "/auth/logout", {OF_STREAMLIT: '""'})
    (line,) = (tmp_path / "audit.jsonl").read_text().splitlines()  # once
    assert '"logout"' in line and '"eve@example.com"' in line


@pytest.mark.parametrize("site", [None, b"cross-site", b"same-site"])
def test_who_does_not_say_from_which_page_logs_out_by_a_link_that_no_other_site_has(site: bytes | None) -> None:
    """Without TLS a browser sends no Sec-Fetch-Site, and a typed address or a proxy that drops Referer says nothing."""
    mine, other = logs_in(), logs_in()
    ends = {OF_STREAMLIT: '""'}
    asked = asks({NAME: mine}, "/auth/logout", ends, site=site)
    key = re.search(rb'href="\?(key=\w+)"', asked.body)
    assert asked.status == 200 and key and asked.body.count("退出登录".encode()) == 1 and not asked.set
    of_other = re.search(rb'href="\?(key=\w+)"', asks({NAME: other}, "/auth/logout", ends, site=site).body)
    assert of_other
    for wrong in (b"", b"key=", b"key=%C3%A9", b"key=" + b"0" * 64, of_other[1]):
        assert not asks({NAME: mine}, "/auth/logout", ends, site=site, query=wrong).set
    assert asks({NAME: mine}).claims
    assert asks({NAME: mine}, "/auth/logout", ends, site=site, query=key[1]).set[NAME]["max-age"] == "0"
    assert not asks({NAME: mine}).claims and asks({NAME: other}).claims
    assert asks({NAME: mine}, "/auth/logout", ends, site=site, query=key[1]).status == 403  # nothing to end
    assert asks({NAME: other}, "/auth/logout", ends, kind="websocket", site=site).status == 0


def test_who_logs_in_again_has_one_log_in_and_a_failed_one_leaves_none(desk: LogIns) -> None:
    first = logs_in()
    answer = asks({NAME: first}, "/oauth2callback", by_streamlit(claims_of()))
    second = str(answer.set[NAME].value)
    assert second != first and not asks({NAME: first}).claims and asks({NAME: second}).claims
    assert len(list(desk.folder.iterdir())) == 1
    asks({NAME: second}, "/oauth2callback", {OF_STREAMLIT: '""'})
    assert not list(desk.folder.iterdir())


def test_a_log_in_survives_a_new_server_and_ends_with_its_time(desk: LogIns, tmp_path: Path) -> None:
    begun = 1_800_000_000.0
    name = desk.begin({OF_STREAMLIT: "x"}, begun)
    later = LogIns(tmp_path, 3600)
    for seconds, there in ((0, True), (3599, True), (3600, False), (-3600, True), (-3601, False), (1e9, False)):
        assert bool(later.cookies(name, begun + seconds)) == there, seconds


def test_who_reads_the_folder_cannot_log_in_and_nobody_else_reads_it(desk: LogIns) -> None:
    name = logs_in()
    (file,) = desk.folder.iterdir()
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700 and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert name not in file.name + file.read_text() and not asks({NAME: file.name}).claims


def test_log_ins_whose_time_is_over_are_deleted_at_the_next_one(desk: LogIns) -> None:
    for number in range(3):
        desk.begin({OF_STREAMLIT: str(number)}, time.time())
    for file in desk.folder.iterdir():
        os.utime(file, (time.time() - 3_700,) * 2)
    desk.begin({OF_STREAMLIT: "later"}, time.time() + 3_700)
    assert len(list(desk.folder.iterdir())) == 1


@pytest.mark.parametrize("ahead", [86_400, 31_536_000, -86_400])
def test_a_console_with_another_clock_ends_no_log_in_of_others(desk: LogIns, tmp_path: Path, ahead: float) -> None:
    now = time.time()
    name = desk.begin({OF_STREAMLIT: "x"}, now)
    LogIns(tmp_path, 3600).begin({OF_STREAMLIT: "y"}, now + ahead)
    assert desk.cookies(name, now)


def test_a_log_in_looks_through_those_of_others_once_an_hour(desk: LogIns, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that logs in all day left files, and each further log-in looked at all of them, where all wait."""
    looked: list[float] = []
    monkeypatch.setattr(desk, "_delete_old", looked.append)
    for now in (10_000, 10_001, 13_599, 13_600, 13_601, 9_000):  # the clock was set back
        desk.begin({OF_STREAMLIT: "x"}, now)
    assert len(looked) == 3 and max(looked) - min(looked) < 3_600, "by the clock of the files"


def test_a_folder_that_takes_nothing_keeps_log_ins_with_this_server(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = LogIns(tmp_path / "file")
    name = kept.begin({OF_STREAMLIT: "x"}, 10)
    assert kept.has(name) and kept.cookies(name, 10) == {OF_STREAMLIT: "x"}
    kept.end(name)
    assert not kept.has(name) and not kept.cookies(name, 10)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, "5", '{"begun": "x", "cookies": {}}', '{"begun": 1, "cookies": 5}']
)
def test_a_damaged_file_is_no_log_in(desk: LogIns, text: str) -> None:
    name = logs_in()
    next(desk.folder.iterdir()).write_text(text)
    assert not asks({NAME: name}).claims


@pytest.mark.parametrize("kind", ["a link", "open to others", "a pipe"])
def test_what_another_user_of_the_machine_made_is_no_log_in(desk: LogIns, kind: str, tmp_path: Path) -> None:
    """The folder may be shared. A pipe would keep the event loop, and with it everybody, for ever."""
    name = desk.begin({OF_STREAMLIT: "y"}, time.time())
    assert desk.cookies(name, time.time()) == {OF_STREAMLIT: "y"}
    (file,) = desk.folder.iterdir()
    if kind == "open to others":
        file.chmod(0o640)
    else:
        file.rename(tmp_path / "elsewhere")
        os.mkfifo(file, 0o600) if kind == "a pipe" else file.symlink_to(tmp_path / "elsewhere")
    assert desk.cookies(name, time.time()) == {}


def test_a_file_that_got_the_name_of_another_is_no_log_in(desk: LogIns) -> None:
    """Who may write in a shared folder can rename what the console made, and make the folder before the console."""
    name, own = logs_in(email="root@example.com"), "a name that eve knows"
    digest = hashlib.sha256(own.encode()).hexdigest()
    (desk.folder / hashlib.sha256(name.encode()).hexdigest()).rename(desk.folder / digest)
    assert asks({NAME: own}).claims == {} == asks({NAME: name}).claims


def test_a_console_behind_https_has_a_cookie_that_no_other_host_can_set() -> None:
    https = Entrance("login", VIEWERS, ("default",), encrypted=True)
    answer = asks({}, "/oauth2callback", by_streamlit(claims_of()), entrance=https)
    cookie = answer.set[cookie_name(True)]
    assert cookie.key.startswith("__Host-") and cookie["secure"] and cookie["httponly"] and cookie["path"] == "/"
    assert cookie["samesite"].lower() == "lax" and asks({cookie.key: cookie.value}, entrance=https).claims
    assert not asks({NAME: cookie.value}, entrance=https).claims


def test_behind_https_a_log_in_that_another_host_has_begun_does_not_end_here() -> None:
    """A sibling host could set the cookie of its own log-in, and log a visitor in as itself (login CSRF)."""
    https = Entrance("login", VIEWERS, ("default",), encrypted=True)
    way = asks({}, "/auth/login", {OF_WAY: "mine"}, entrance=https).set[f"__Host-{OF_WAY}"]
    assert way["secure"] and way["path"] == "/" and way.value == "mine"
    both = {OF_WAY: "of another host", way.key: way.value}
    for sent in (both, dict(reversed(both.items()))):
        assert asks(sent, "/oauth2callback", entrance=https).cookies == {OF_WAY: "mine"}
    assert not asks({OF_WAY: "of another host"}, "/oauth2callback", entrance=https).cookies
    assert asks({OF_WAY: "plain http"}, "/oauth2callback").cookies == {OF_WAY: "plain http"}


def test_more_cookies_than_the_websocket_takes_are_said_instead_of_an_empty_page() -> None:
    fits = LONGEST_LINE - len("cookie: other=\r\n")
    assert asks({"other": "x" * fits}).status == 200
    answer = asks({"other": "x" * (fits + 1)})
    assert answer.status == 431 and b"delete the cookies of this host" in answer.body and "请".encode() in answer.body
    left = asks({f"{OF_STREAMLIT}_{number}": "x" * 3_000 for number in range(4)})  # of a version before this one
    assert left.status == 431 and {f"{OF_STREAMLIT}_{number}" for number in range(4)} <= set(left.set)


def test_kept_log_ins_are_no_run(tmp_path: Path, desk: LogIns) -> None:
    from idcore.runs.runs import Runs

    logs_in()
    assert desk.folder == tmp_path / KEPT and Runs(tmp_path).list() == [] and Runs(tmp_path).sweep() == 0


def test_a_request_hears_that_its_log_in_was_ended_meanwhile(desk: LogIns) -> None:
    """A long answer of the API asks: who had copied the cookie read on after the log-out."""
    name = desk.begin(by_streamlit(claims_of()), time.time())
    entry = Entry(
        lambda: LOGIN,
        visitor.claims_of,
        lambda: Tokens(desk.folder),
        lambda: "/",
        list,
        list,
        list,
        lambda: desk.folder,
    )
    seen: list[str | None] = []

    async def api(scope: Any, _: Any, __: Any) -> None:
        caller = entry.caller(scope)
        seen.append(caller.visitor.name)
        desk.end(name)
        seen.append(caller.visitor.name)

    door = LoginCookie(api, lambda: LOGIN, lambda: desk, lambda: "/")
    headers = [(b"cookie", f"{NAME}={name}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/decode", "headers": headers}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, door(scope, None, None)).result()  # type: ignore[arg-type]
    assert seen == ["eve@example.com", ""]

"""A login at a real OpenID Connect provider on loopback: who sees what, in real Chromium and as a raw client."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from oidc_provider_mock import User, run_server_in_thread  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Locator, expect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from idcore.server.login_cookie import OF_STREAMLIT, cookie_name
from tests.browser.harness import Console, Visit, console, visit
from tests.browser.samples import log

pytestmark = pytest.mark.browser
SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "a secret of this test alone, long enough"
client_id = "console"
client_secret = "anything"
server_metadata_url = "http://localhost:{port}/.well-known/openid-configuration"
client_kwargs = {{ prompt = "login" }}
"""
ACCESS = """contact = "desk@example.com"
[viewer]
everybody = true
[triage]
groups = ["support"]
[admin]
people = ["root@example.com"]
"""
LIMITS = {"IDCORE_NO_SPARK": "1", "IDCORE_UPLOADS_VISITOR": "1M"}


def user(name: str, *groups: str) -> User:
    return User(sub=name, claims={"email": f"{name}@example.com", "groups": list(groups)})


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console with a login, and its provider: ann and bob have triage, eve is a viewer."""
    folder = tmp_path_factory.mktemp("login")
    many = [f"a-group-with-a-long-name-{number}" for number in range(1_000)]  # a cookie of 45 KB, if it were one
    people = [user("ann", "support"), user("bob", "support"), user("eve"), user("root"), user("max", *many)]
    with run_server_in_thread(user_claims=people) as provider:
        (folder / "secrets.toml").write_text(SECRETS.format(port=provider.server_port), encoding="utf-8")
        (folder / "access.toml").write_text(ACCESS, encoding="utf-8")
        secrets, roles = str(folder / "secrets.toml"), str(folder / "access.toml")
        with console(folder, STREAMLIT_SECRETS_FILES=secrets, IDCORE_ACCESS=roles, **LIMITS) as running:  # type: ignore[arg-type]
            yield running


def main(tab: Visit) -> Locator:
    return tab.page.locator('[data-testid="stMain"]')


def asks_to_log_in(tab: Visit) -> None:
    """The login page, and nothing else."""
    expect(tab.page.get_by_role("button", name="Log in")).to_be_visible(timeout=30_000)
    expect(tab.page.locator('[data-testid="stSidebar"] a')).to_have_count(0)
    assert "Compare" not in tab.page.locator("body").inner_text()


@contextmanager
def logged_in(browser: Browser, desk: Console, name: str, link: str = "") -> Iterator[Visit]:
    with visit(browser, desk.url) as tab:
        tab.page.goto(desk.url + link)
        tab.page.get_by_role("button", name="Log in").click()
        tab.page.get_by_role("button", name=name, exact=True).click()
        expect(tab.page.locator('[data-testid="stSidebar"]')).to_contain_text(f"Logged in as {name}@example.com")
        assert not [what for what in tab.wrong if desk.url in what]
        tab.wrong.clear()  # the provider's page has a style sheet of another site
        yield tab


def status(url: str, method: str = "GET", **headers: str) -> int:
    asked = urllib.request.Request(url, method=method, headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def compares(tab: Visit) -> str:
    """Makes a run of two pasted texts; its link."""
    tab.turn_to("/compare")
    expect(main(tab)).to_contain_text("Only you and administrators see it")
    tab.page.get_by_role("textbox", name=re.compile("^First input")).fill(log(20))
    tab.page.get_by_role("textbox", name=re.compile("^Second input")).fill(log(10))
    tab.page.get_by_role("button", name="Compare", exact=True).click()
    tab.page.wait_for_url(re.compile(r"[?&]run=[0-9]{8}-[0-9]{6}-[0-9a-f]{32}"))
    expect(main(tab)).to_contain_text("only in the first")
    return f"{urlsplit(tab.page.url).path}?{urlsplit(tab.page.url).query}"


def sees(tab: Visit, link: str, text: str) -> None:
    tab.turn_to(link)
    expect(main(tab)).to_contain_text(text, timeout=30_000)


def _files_are_bound(browser: Browser, desk: Console, ann: Visit, bob: Visit) -> None:
    """The address of ann's download and of her upload are hers: bob has 403, with a token of his own."""
    with ann.page.expect_download() as saved:
        ann.page.get_by_role("button", name="Counts as CSV").click()
    taken = {name: tab.page.request.get(saved.value.url).status for name, tab in (("ann", ann), ("bob", bob))}
    assert taken == {"ann": 200, "bob": 403} and status(saved.value.url) == 403
    ann.turn_to("/decode")
    with ann.page.expect_request(lambda one: "upload_file" in one.url and one.method == "PUT") as sent:
        ann.page.locator("input[type=file]").set_input_files({"name": "a.log", "mimeType": "", "buffer": b"one"})
    expect(main(ann)).to_contain_text("a.log")
    answers = {}
    for name, tab in (("ann", ann), ("bob", bob)):
        cookies = {one.get("name"): one.get("value", "") for one in tab.page.context.cookies()}
        headers = {"X-Xsrftoken": cookies["_streamlit_xsrf"]}
        file = {"file": {"name": "b.log", "mimeType": "text/plain", "buffer": b"bob's"}}
        put = tab.page.request.put(sent.value.url, headers=headers, multipart=file)  # type: ignore[arg-type]
        answers[name] = put.status
        if name == "bob":
            assert tab.page.request.delete(sent.value.url, headers=headers).status == 403
    assert answers == {"ann": 204, "bob": 403}
    ann.settle()  # until the page has drawn its box of files again, it would miss another
    more = {"name": "large.log", "mimeType": "", "buffer": bytes(2 << 20)}
    ann.page.locator("input[type=file]").set_input_files(more)  # type: ignore[arg-type]
    expect(main(ann)).to_contain_text("uploads and texts would take")  # at once, and not at the next click
    assert "1.0 MiB" in main(ann).inner_text() and all("413" in what for what in ann.wrong)
    ann.wrong.clear()


def test_who_may_see_what(browser: Browser, desk: Console) -> None:
    with visit(browser, desk.url) as nobody:
        nobody.page.goto(f"{desk.url}/runs")
        asks_to_log_in(nobody)
        assert status(f"{desk.url}/_idcore/health") == 200
        for closed in ("/media/abc.csv", "/_stcore/metrics", "/component/a/b.js"):
            assert status(desk.url + closed) == 403, closed
        assert status(f"{desk.url}/_stcore/upload_file/a/b", "PUT") == 403
    with logged_in(browser, desk, "ann") as ann:
        link = compares(ann)
        _shared(browser, desk, ann, link)
        _as_eve(browser, desk, link)
        _stolen(browser, desk, ann)


def _shared(browser: Browser, desk: Console, ann: Visit, link: str) -> None:
    """Bob sees ann's files never, and her scan once she shares it."""
    with logged_in(browser, desk, "bob") as bob:
        _files_are_bound(browser, desk, ann, bob)
        bob.page.goto(desk.url + link)
        expect(main(bob)).to_contain_text("has not shared it with you", timeout=30_000)
        ann.turn_to("/runs")
        ann.page.get_by_role("button", name="Private").click()
        ann.page.get_by_text("Who has the link").click()
        expect(ann.page.get_by_role("button", name="Shared by link")).to_be_visible()
        sees(bob, link, "only in the first")
        bob.turn_to("/runs")
        expect(main(bob)).to_contain_text("Nothing has been scanned")  # shared by link: not in his list
        ann.page.get_by_text("Everybody, in their list").click()
        expect(ann.page.get_by_role("button", name="Shared", exact=True)).to_be_visible()
        sees(bob, "/runs", "Scan of ann@example.com")
        expect(main(bob).get_by_role("button", name=re.compile("Delete|Rename|Pin"))).to_have_count(0)


def _as_eve(browser: Browser, desk: Console, link: str) -> None:
    with logged_in(browser, desk, "eve", link) as eve:  # and comes to the link that she followed
        expect(main(eve)).to_contain_text("This page needs one of these roles: triage, admin.")
        assert eve.page.url == desk.url + link
        expect(eve.page.get_by_role("link", name="Compare")).to_have_count(0)
        expect(main(eve)).to_contain_text("desk@example.com")
        _logs_out_without_a_page(desk, eve)


def _logs_out_without_a_page(desk: Console, eve: Visit) -> None:
    """As a browser without TLS whose address was typed, or whose proxy drops Referer: asked first, then logged out."""
    mine = next(one for one in eve.page.context.cookies() if one.get("name") == cookie_name(False))
    sent = {"Cookie": f"{cookie_name(False)}={mine.get('value')}"}
    way = urllib.request.Request(f"{desk.url}/auth/logout", headers=sent)
    with urllib.request.urlopen(way, timeout=10) as answer:
        link = re.search(r'href="(\?key=\w+)"', answer.read().decode())
    assert link
    eve.page.reload()
    expect(eve.page.locator('[data-testid="stSidebar"]')).to_contain_text("eve@example.com", timeout=30_000)
    way.full_url += link[1]
    with urllib.request.urlopen(way, timeout=10) as answer:
        assert "end_session" in answer.url  # of the provider
    eve.page.reload()
    asks_to_log_in(eve)


def _stolen(browser: Browser, desk: Console, ann: Visit) -> None:
    """A cookie that was changed is nobody's; one that was copied ends when its owner logs out."""
    cookies = ann.page.context.cookies()
    with visit(browser, desk.url) as forger:
        mine = next(one for one in cookies if one.get("name") == cookie_name(False))
        changed = {**mine, "value": mine.get("value", "").swapcase()}
        said = {"email": "root@example.com", "iat": int(time.time()), "is_logged_in": True, "origin": desk.url}
        signed = create_signed_value("a secret of this test alone, long enough", OF_STREAMLIT, json.dumps(said))
        whole = {**mine, "name": OF_STREAMLIT, "value": signed.decode()}  # Streamlit itself would let it in
        for forged in (changed, whole):
            forger.page.context.add_cookies([forged])  # type: ignore[list-item]
            forger.page.goto(f"{desk.url}/runs")
            asks_to_log_in(forger)
    with visit(browser, desk.url) as thief:
        thief.page.context.add_cookies(cookies)  # type: ignore[arg-type]
        thief.page.goto(f"{desk.url}/runs")
        expect(thief.page.locator('[data-testid="stSidebar"]')).to_contain_text("ann@example.com", timeout=30_000)
        ann.page.get_by_role("button", name="Log out").click()
        ann.page.wait_for_url(re.compile("end_session"))
        ann.page.goto(desk.url)
        asks_to_log_in(ann)
        thief.page.reload()
        asks_to_log_in(thief)


def test_who_is_in_a_thousand_groups_logs_in_with_one_short_cookie(browser: Browser, desk: Console) -> None:
    with logged_in(browser, desk, "max", "/runs") as tab:
        tab.heading("Scans")
        cookies = {one.get("name", ""): one.get("value", "") for one in tab.page.context.cookies(desk.url)}
        assert not any(name.startswith(OF_STREAMLIT) for name in cookies)
        assert sum(len(name) + len(value) for name, value in cookies.items()) < 1_000


def test_a_header_of_a_stranger_is_refused_whatever_it_says_of_its_address(tmp_path: Path) -> None:
    """uvicorn believes X-Forwarded-For of this machine, unless it is told not to: asked through a real server."""
    headers = {"X-Forwarded-Email": "root@example.com", "X-Forwarded-For": "10.9.9.9"}
    names = '{"X-Forwarded-Email": "email"}'
    settings = {"IDCORE_TRUSTED_PROXIES": "10.9.9.9", "FORWARDED_ALLOW_IPS": "", "IDCORE_NO_SPARK": "1"}
    with console(tmp_path, STREAMLIT_SERVER_TRUSTED_USER_HEADERS=names, **settings) as running:  # type: ignore[arg-type]
        assert status(running.url, **headers) == 403 == status(running.url)
        with pytest.raises(InvalidStatus), connect(f"ws{running.url[4:]}/_stcore/stream", additional_headers=headers):
            pytest.fail("the websocket was accepted")
        assert status(f"{running.url}/_idcore/health") == 200

"""A provider of log-ins that answers without an end, too late, packed, or with addresses that no browser is led to."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from streamlit.runtime.secrets import AttrDict
from streamlit.web.server.starlette import starlette_auth_routes as routes

from idcore.server import provider_answers, streamlit_private
from idcore.server.provider_answers import MOST_BYTES, AnswerRefused


class Provider(BaseHTTPRequestHandler):
    """Answers with what the test says; `sent` counts the bytes that it could send."""

    head: ClassVar[dict[str, str]] = {}
    parts: ClassVar[list[bytes]] = []
    has_body = True
    pause = threading.Event()
    sent = 0

    def do_GET(self) -> None:
        self.send_response(200)
        for name, value in type(self).head.items():
            self.send_header(name, value)
        if not type(self).has_body:
            self.flush_headers()
            type(self).pause.wait(10)
            return
        self.end_headers()
        try:
            for part in type(self).parts:
                self.wfile.write(part)
                type(self).sent += len(part)
            type(self).pause.wait(10)
        except OSError:  # the console has ended the connection
            pass

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of what it says of itself."""
    for name, value in (("head", {}), ("parts", []), ("sent", 0), ("pause", threading.Event())):
        monkeypatch.setattr(Provider, name, value)
    Provider.pause.set()
    monkeypatch.setattr(routes, "_create_oauth_client", routes._create_oauth_client)
    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/.well-known/openid-configuration"
        section = {
            "redirect_uri": "http://127.0.0.1/oauth2callback",
            "default": {"client_id": "c", "client_secret": "s", "server_metadata_url": address},
        }
        monkeypatch.setattr(routes, "get_secrets_auth_section", lambda: AttrDict(section))
        streamlit_private.bound_providers()
        streamlit_private.bound_providers()  # twice is once
        yield address
        Provider.pause.set()
        server.shutdown()


def loaded() -> dict[str, Any]:
    """What the console has of the provider, as a log-in and a log-out ask for it."""
    client, _ = routes._create_oauth_client("default")
    return in_thread(client.load_server_metadata())


def in_thread(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """A loop of its own: tests with a browser may have one at work in this thread."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()


def test_an_answer_without_an_end_is_not_kept(provider: str) -> None:
    """One of 100 MB took 240 MB."""
    Provider.parts = [b" " * (1 << 20)] * 100
    with pytest.raises(AnswerRefused, match="longer than 1,048,576 bytes"):
        loaded()
    assert Provider.sent < 16 * MOST_BYTES  # what the system holds on its way


def test_a_packed_answer_is_not_unpacked(provider: str) -> None:
    Provider.head = {"content-encoding": "gzip"}
    Provider.parts = [gzip.compress(b" " * (100 << 20))]
    with pytest.raises(AnswerRefused, match="packed"):
        loaded()


def test_an_answer_that_does_not_come_is_not_waited_for(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_answers, "SECONDS", 0.2)
    Provider.parts = [b"{"]
    Provider.pause.clear()
    with pytest.raises(AnswerRefused, match="took longer"):
        loaded()


def test_headers_without_an_end_are_not_waited_for(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """httpx waits for so long for each part: one that sends a byte each second kept a log-in for ever."""
    monkeypatch.setattr(provider_answers, "SECONDS", 0.2)
    monkeypatch.setattr(Provider, "has_body", False)
    Provider.pause.clear()
    with pytest.raises(AnswerRefused, match="took longer"):
        loaded()


def test_a_usual_answer_is_whole(provider: str) -> None:
    usual = {"issuer": "x", "authorization_endpoint": "http://a/b", "end_session_endpoint": "https://a/end?x=1"}
    text = json.dumps(usual | {"claims_supported": ["a" * 1_000] * 900}).encode()
    Provider.head = {"content-type": "application/json", "transfer-encoding": "chunked"}
    Provider.parts = [b"%x\r\n%s\r\n" % (len(text), text), b"0\r\n\r\n"]
    assert usual.items() <= loaded().items()


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a/b", "/b", "", 5, None, ["https://a"]],
)
def test_no_browser_is_led_out_of_the_web(address: Any, provider: str) -> None:
    held = {"authorization_endpoint": address, "end_session_endpoint": address, "jwks_uri": "http://a"}
    Provider.parts = [json.dumps(held).encode()]
    known = loaded().keys()
    assert "jwks_uri" in known and not known & {"authorization_endpoint", "end_session_endpoint"}


@pytest.mark.parametrize(("own", "there"), [("https://a/x", False), ("http://a/x", True), ("", False)])
def test_a_provider_with_tls_leads_nobody_out_of_it(own: str, there: bool) -> None:
    async def load() -> dict[str, Any]:
        return {"end_session_endpoint": "http://a/end", "issuer": "x"}

    held = in_thread(provider_answers.of_the_web(load, own)())
    assert ("end_session_endpoint" in held) == there and "issuer" in held

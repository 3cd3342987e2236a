"""A log-out comes from a page of this console: a link, a picture or a form of another site ends nobody's visit."""

from __future__ import annotations

import pytest

from idcore.server.log_out import is_foreign_logout

HOST = "ids.example.com"
OWN = [
    {"sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "none"},
    {"sec-fetch-site": "same-origin", "referer": "https://evil.example/"},  # the browser's own word counts
    {"origin": f"https://{HOST}"},
    {"referer": f"http://{HOST}/decode?run=x"},
    {"referer": f"http://{HOST.upper()}/"},
]
FOREIGN: list[dict[str, str]] = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "referer": f"https://{HOST}/"},
    {"sec-fetch-site": ""},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"referer": f"https://{HOST}.evil.example/"},
    {"referer": f"https://evil.example/?{HOST}"},
    {"referer": f"https://{HOST}@evil.example/"},
    {"referer": "http://[::1"},
    {},  # referrerpolicy=no-referrer on a page of another site, without TLS
]


def headers(said: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in {"host": HOST, **said}.items()]


@pytest.mark.parametrize("said", OWN, ids=str)
def test_the_button_and_a_typed_address_log_out(said: dict[str, str]) -> None:
    assert not is_foreign_logout("auth/logout", headers(said))


@pytest.mark.parametrize("said", FOREIGN, ids=str)
def test_another_site_logs_nobody_out_and_may_link_to_pages(said: dict[str, str]) -> None:
    assert is_foreign_logout("auth/logout", headers(said))
    assert not is_foreign_logout("decode", headers(said)) and not is_foreign_logout("", headers(said))


def test_a_request_without_a_host_is_foreign() -> None:
    assert is_foreign_logout("auth/logout", [(b"referer", b"")]) and is_foreign_logout("auth/logout", [])

"""The way to a log-in costs the server little, whoever asks for it."""

from __future__ import annotations

import ssl

import pytest
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]

from idcore.server import provider_connections

pytestmark = pytest.mark.quick


def test_what_providers_are_trusted_by_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, made = ssl.SSLContext.load_verify_locations, list[object]()

    def counted(context: ssl.SSLContext, *given: object, **more: object) -> None:
        made.append(given)
        read(context, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
    monkeypatch.setattr(AsyncOAuth2Client, "__init__", AsyncOAuth2Client.__init__)
    AsyncOAuth2Client("id", "secret")
    assert made, "a client reads them by this method"
    provider_connections._authorities.cache_clear()
    provider_connections.share_authorities()
    provider_connections.share_authorities()  # nothing more
    made.clear()
    for _ in range(3):
        AsyncOAuth2Client("id", "secret")
    assert len(made) == 1
    AsyncOAuth2Client(
        "id", "secret", verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )  # what an administrator sets counts
    assert len(made) == 1
    assert provider_connections._authorities().verify_mode == ssl.CERT_REQUIRED
    assert provider_connections._authorities().check_hostname

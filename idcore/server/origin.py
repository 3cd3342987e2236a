"""Where a request comes from: a page of this console, or another web site (cross-site request forgery, CSRF)."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

LOGOUT = "auth/logout"
_OWN = ("same-origin", "none")  # none: somebody typed the address, or opened a bookmark


def is_own_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a page of this very server asks, or a person without a page.

    A browser says so in Sec-Fetch-Site, which no page can set. Without TLS it says nothing, and Origin or Referer
    count. Another site can leave these out, so that a request without any of the three is not taken.
    """
    held = {name.lower(): value.decode("latin-1").lower() for name, value in headers}
    if (site := held.get(b"sec-fetch-site")) is not None:
        return site in _OWN
    said = held.get(b"origin") or held.get(b"referer") or ""
    try:
        return urlsplit(said).netloc == held.get(b"host", "") != ""
    except ValueError:
        return False


def is_foreign_logout(path: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether another site would log somebody out."""
    return path == LOGOUT and not is_own_page(headers)

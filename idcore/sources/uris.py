"""How paths are written: of this machine, or as URIs of stores. Opens nothing, and loads no library."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit, urlunsplit

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_uri(path: str) -> bool:
    """Whether a path names a store; `file:` is this machine."""
    return bool(_URI.match(path)) and path[:5].lower() != "file:"


def local_path(path: str) -> str:
    """A path of this machine, also when it is written as a file: URI."""
    if path[:7].lower() == "file://":
        return unquote(urlsplit(path).path)
    return path


def without_secrets(path: str) -> str:
    """A URI for people: no password, and no query, which may be a signature."""
    if not is_uri(path):
        return path
    scheme, place, rest, _, _ = urlsplit(path)
    user, at, host = place.rpartition("@")
    return urlunsplit((scheme, host if ":" in user else user + at + host, rest, "", ""))


def is_web(uri: str) -> bool:
    """Whether a web server has it."""
    return uri[:7].lower() == "http://" or uri[:8].lower() == "https://"

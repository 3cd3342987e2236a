"""Files behind http:// and https://, by ranges where the server has them.

Follows no way to another server, nor out of an open folder.
"""

from __future__ import annotations

import base64
import netrc
import re
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import Any, BinaryIO, TypeVar, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from idcore.base.errors import CoreError, coded
from idcore.base.numbers import whole_number
from idcore.base.open_folders import Roots
from idcore.sources.uris import is_below

_HEAD = 1 << 16
_MOST = 1 << 60  # bytes of a file: more is no size
_SECONDS = 60.0
_PAUSES = (0.5, 2.0)  # seconds before a request is made again
Fetch = Callable[[int, int], bytes]
Answer = TypeVar("Answer")


class WebError(CoreError):
    """What went wrong between here and a server."""


class FinalError(WebError):
    """An answer that will be the same when the question is asked again."""


class _SamePlace(HTTPRedirectHandler):
    """A server or a folder that is allowed to be read says nothing about those it points to."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: HTTPMessage, newurl: str) -> Any:
        to = urljoin(req.full_url, newurl)
        if urlsplit(to)[:2] != urlsplit(req.full_url)[:2]:
            raise FinalError("other_server", {"server": urlsplit(to).netloc.rpartition("@")[2]})
        if self.roots is not None and not any(is_below(to, root) for root in self.roots):
            raise FinalError("other_folder")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _ask(uri: str, first: int, last: int, roots: Roots) -> HTTPResponse:
    """The answer to a request for a range of bytes. Credentials: from the URI, else from ~/.netrc."""
    scheme, place, path, query, _ = urlsplit(uri)
    user, _, host = place.rpartition("@")
    request = Request(urlunsplit((scheme, host, quote(path, safe="/%:@!$&'()*+,;=~"), query, "")))
    request.add_header("Range", f"bytes={first}-{last}")
    request.add_header("Accept-Encoding", "identity")
    request.add_header("User-Agent", "rocketmq-ids")
    login = tuple(map(unquote, user.split(":", 1))) if ":" in user else _from_netrc(urlsplit(uri).hostname or "")
    if login:
        encoded = base64.b64encode(":".join(login).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {encoded}")
    try:
        return cast(HTTPResponse, build_opener(_SamePlace(roots)).open(request, timeout=_SECONDS))
    except HTTPError as error:
        error.close()
        if error.code == 416:  # no such range: the file is empty
            raise EOFError from error
        kind = WebError if error.code >= 500 else FinalError
        raise kind("http_status", {"status": error.code, "why": str(error.reason)}) from error
    except URLError as error:
        why = coded(error.reason) if isinstance(error.reason, OSError) else str(error.reason)
        raise WebError("server_unreachable", {"why": why}) from error
    except HTTPException as error:
        raise WebError("server_answer", {"why": type(error).__name__}) from error


def _from_netrc(host: str) -> tuple[str, str] | None:
    try:
        login = netrc.netrc().authenticators(host)
    except (OSError, netrc.NetrcParseError):
        return None
    return (login[0], login[2] or "") if login else None


def _total(answer: HTTPResponse) -> int | None:
    """Size of the whole file, when the answer is a part of it."""
    match = re.fullmatch(r"bytes \d+-\d+/(\d{1,19})", answer.headers.get("Content-Range", ""), re.ASCII)
    return int(match[1]) if answer.status == 206 and match else None


def size_of(uri: str, roots: Roots) -> int:
    """Bytes of a file; 0 when the server does not say."""
    try:
        with _ask(uri, 0, 0, roots) as answer:
            total = _total(answer)
            length = answer.headers.get("Content-Length") or "0"
            size = whole_number(length) if total is None else total
            if size is None or size >= _MOST:
                raise FinalError("server_answer", {"why": f"{length[:40]} bytes"})
            return size
    except EOFError:
        return 0


def opened(uri: str, roots: Roots) -> tuple[int, Fetch, bytes, BinaryIO | None]:
    """Size, how to fetch a range, and the first bytes; or a stream, from a server that has no ranges."""

    def begin() -> tuple[int, Fetch, bytes, BinaryIO | None]:
        answer = _ask(uri, 0, _HEAD - 1, roots)
        total = _total(answer)
        if total is None:
            return 0, _nothing, b"", cast(BinaryIO, _Stream(answer))
        tag = answer.headers.get("ETag")

        def fetch(at: int, size: int) -> bytes:
            with _ask(uri, at, at + size - 1, roots) as part:
                if part.status != 206 or part.headers.get("ETag") != tag:
                    raise FinalError("changed")
                return _whole(part, size)

        with answer:
            return total, lambda at, size: _tried(lambda: fetch(at, size)), _whole(answer, min(total, _HEAD)), None

    try:
        return _tried(begin)
    except EOFError:
        return 0, _nothing, b"", None


def _tried(ask: Callable[[], Answer]) -> Answer:
    """Asked again where the network, not the server, failed."""
    for pause in _PAUSES:
        try:
            return ask()
        except FinalError:
            raise
        except (WebError, OSError):
            time.sleep(pause)
    return ask()


def _whole(answer: HTTPResponse, size: int) -> bytes:
    try:
        data = answer.read(size)
    except HTTPException as error:
        raise WebError("server_broke_off") from error
    if len(data) < size:
        raise WebError("server_broke_off")
    return data


def _nothing(_at: int, _size: int) -> bytes:
    return b""


class _Stream:
    """An answer as a file that is read forward."""

    def __init__(self, answer: HTTPResponse) -> None:
        self.answer = answer
        self.at = 0
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        try:
            data = self.answer.read(None if size < 0 else size)
        except HTTPException as error:
            raise WebError("server_broke_off") from error
        self.at += len(data)
        return data

    def tell(self) -> int:
        return self.at

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True
        self.answer.close()

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

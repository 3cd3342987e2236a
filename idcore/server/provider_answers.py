"""What a provider of log-ins may answer: so many bytes, in so many seconds, and addresses of the web. Asks nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache, wraps
from typing import Any
from urllib.parse import urlsplit

MOST_BYTES = 1 << 20  # a log-in of 1,000 groups has some 50,000, the keys of a large provider 20,000
SECONDS = 30.0  # for all of an answer: each of its parts has a limit of its own


class AnswerRefused(OSError):
    """An answer that is too long, too slow, or packed."""


@cache
def bounded(kind: type[Any]) -> type[Any]:
    """A client of httpx whose answers have a limit while they come. It asks for none that are packed."""

    class Bounded(kind):  # type: ignore[misc]
        async def send(self, request: Any, *, stream: bool = False, **more: Any) -> Any:
            request.headers["accept-encoding"] = "identity"
            try:
                async with asyncio.timeout(SECONDS):  # of its headers too, which may come byte by byte
                    response = await super().send(request, stream=True, **more)
                    try:
                        content = await _read(response)
                    finally:
                        await response.aclose()
            except TimeoutError:
                raise AnswerRefused(f"the answer of the provider took longer than {SECONDS:.0f} s") from None
            headers = [(name, value) for name, value in response.headers.multi_items() if name != "transfer-encoding"]
            return type(response)(response.status_code, headers=headers, content=content, request=response.request)

    return Bounded


async def _read(response: Any) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise AnswerRefused("the answer of the provider is packed")
    content = bytearray()
    async for part in response.aiter_raw():
        content += part
        if len(content) > MOST_BYTES:
            raise AnswerRefused(f"the answer of the provider is longer than {MOST_BYTES:,} bytes")
    return bytes(content)


def of_the_web(load: Callable[[], Any], address: str) -> Callable[[], Any]:
    """What loads the addresses of a provider, without those that a browser is not led to.

    Those are of other schemes than https, or http where the provider's own `address` is http.
    """
    schemes = {"https", "http"} if urlsplit(address).scheme == "http" else {"https"}

    @wraps(load)
    async def loaded() -> Any:
        held = await load()
        for name in ("authorization_endpoint", "end_session_endpoint"):
            if name in held and not _is_of(held[name], schemes):
                del held[name]
        return held

    return loaded


def _is_of(address: Any, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(address) if isinstance(address, str) else None
    except ValueError:
        return False
    return parts is not None and parts.scheme in schemes and bool(parts.hostname)

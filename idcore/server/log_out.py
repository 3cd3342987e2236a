"""Whether a page of this console logs somebody out, or maybe another web site (cross-site request forgery, CSRF).

Speaks HTTP; who has logged in is the gate's. A request that says nothing of its page is answered with a question.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from html import escape
from urllib.parse import parse_qs, urlsplit

from starlette.responses import HTMLResponse

from idcore.base import catalogue

LOGOUT = "auth/logout"
_OWN = ("same-origin", "none")  # none: somebody typed the address, or opened a bookmark
_PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }} body {{ margin: 3rem auto;
max-width: 27rem; padding: 0 1rem }}</style>{questions}"""


def is_own_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a page of this very server asks, or a person without a page.

    A browser says so in Sec-Fetch-Site, which no page can set. Without TLS it says nothing, and Origin or Referer
    count. Another site can leave these out, so that a request without any of the three is not taken.
    """
    held = {name.lower(): value.decode("latin-1").lower() for name, value in headers}
    if (site := held.get(b"sec-fetch-site")) is not None:
        return site in _OWN
    origin = held.get(b"origin") or held.get(b"referer") or ""
    try:
        return urlsplit(origin).netloc == held.get(b"host", "") != ""
    except ValueError:
        return False


def is_foreign_logout(path: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether another site may want to log somebody out."""
    return path == LOGOUT and not is_own_page(headers)


def is_answered(query: bytes, log_in: str) -> bool:
    """Whether an address has the key of this log-in's question: no other site has read it.

    `log_in` is the random name of the log-in, as the browser's cookie has it.
    """
    given = parse_qs(query.decode("latin-1")).get("key", [""])[0]
    return bool(log_in) and hmac.compare_digest(given.encode(), _key(log_in).encode())


def question(log_in: str) -> HTMLResponse:
    """Asks the person, in each language, and does nothing until the link is followed."""
    questions = []
    for lang in catalogue.languages():
        words = catalogue.words(lang)
        link = f'<a href="?key={_key(log_in)}">{escape(words("login.out"))}</a>'
        questions.append(f'<p lang="{words("lang.html")}">{escape(words("login.out_question"))} {link}</p>')
    page = _PAGE.format(title=escape(catalogue.words(catalogue.ENGLISH)("login.out")), questions="".join(questions))
    return HTMLResponse(page, headers={"cache-control": "no-store"})


def _key(log_in: str) -> str:
    return hmac.digest(log_in.encode(), LOGOUT.encode(), "sha256").hex()

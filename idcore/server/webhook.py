"""Announces what was found to the one address that the administrator names: signed, retried, limited, off by default.

The form is that of Standard Webhooks (standardwebhooks.com), so receivers check it with a library. Decides nothing:
announcements.py (new errors of a followed scan) and watched_groups.py (problems of a group) say what is worth one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import logging
import queue
import re
import secrets
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from idcore.base.errors import refuse
from idcore.base.safe_text import json_text
from idcore.policy import limits, metrics, settings

LOG = logging.getLogger(__name__)
PREFIX = "whsec_"  # in front of a key, as Standard Webhooks writes it
LEAST_KEY = 24  # bytes
LONGEST = 256 << 10  # bytes of one announcement
MOST_WAITING = 1_000  # announcements; what comes while so many wait is dropped, and counted
_WRITTEN = re.compile(r"[!-~]+")  # of an address: each announcement with another one would fail, and be in the log
PAUSES = (1.0, 5.0, 30.0, 120.0)  # seconds before each further try
SECONDS = 10.0  # for each part of an answer
LONGEST_ANSWER = 30.0  # seconds for all of it: a receiver that sends "100 Continue" for ever would end announcements


@dataclass(frozen=True, slots=True)
class Target:
    """Where announcements go, and the key that signs them."""

    url: SplitResult
    key: bytes

    def headers(self, name: str, at: int, body: bytes) -> dict[str, str]:
        """The name, the time (seconds since 1970) and the signature over both and the body."""
        signed = hmac.digest(self.key, f"{name}.{at}.".encode() + body, hashlib.sha256)
        signature = f"v1,{base64.b64encode(signed).decode()}"
        return {
            "content-type": "application/json",
            "user-agent": "rocketmq-ids",
            "webhook-id": name,
            "webhook-timestamp": str(at),
            "webhook-signature": signature,
        }

    def send(self, name: str, at: int, body: bytes) -> int:
        """The status of the answer; OSError or HTTPException without one. A redirect is an answer, and not followed."""
        host, is_secure = self.url.hostname or "", self.url.scheme == "https"
        connection = (http.client.HTTPSConnection if is_secure else http.client.HTTPConnection)(host, self.url.port)
        path = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        try:
            connection.sock = connected = socket.create_connection((host, connection.port), SECONDS)
            if is_secure:  # its handshake is a part of the answer
                wrap = ssl.create_default_context().wrap_socket
                connection.sock = connected = wrap(connected, do_handshake_on_connect=False, server_hostname=host)
            ending = threading.Timer(LONGEST_ANSWER, _end, [connected])
            ending.daemon = True
            ending.start()
            try:
                connection.request("POST", path, body, self.headers(name, at, body))
                return connection.getresponse().status
            finally:
                ending.cancel()
        finally:
            connection.close()


def _end(connected: socket.socket) -> None:
    """Whoever waits for more hears that there is none."""
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def target() -> Target | None:
    """What is set; None where it is off. CoreError names the setting that is wrong, without its value's secrets."""
    configured = settings.current()
    if not configured.webhook:
        return None
    try:
        url = urlsplit(configured.webhook)
        fine = url.scheme in ("http", "https") and bool(url.hostname) and "@" not in url.netloc and url.port != 0
        fine = fine and _WRITTEN.fullmatch(configured.webhook) is not None
    except ValueError:
        fine = False
    if not fine:
        wanted = "an address such as https://tickets.example.org/rocketmq, without a log-in"
        raise refuse("setting_wrong", setting=settings.name_of("webhook"), value="…", wanted=wanted)
    try:
        key = base64.b64decode(configured.webhook_secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if len(key) < LEAST_KEY:
        wanted = f"{PREFIX} and at least {LEAST_KEY} random bytes in base64"
        raise refuse("setting_wrong", setting=settings.name_of("webhook_secret"), value="…", wanted=wanted)
    return Target(url, key)


class Announcer:
    """Sends announcements one after the other, in a thread of its own; what waits ends with the process."""

    def __init__(self, target: Target, sleep: Callable[[float], None] = time.sleep) -> None:
        self._target, self._sleep = target, sleep
        self._waiting: queue.Queue[tuple[str, bytes]] = queue.Queue(MOST_WAITING)
        self._sent = deque[float]()  # when, in the last minute
        threading.Thread(target=self._work, name="webhook", daemon=True).start()

    def put(self, payload: Mapping[str, Any]) -> bool:
        """Takes an announcement, and counts one that is too long; False where there is no room, which is counted."""
        body = json_text(payload, default=str).encode()
        if len(body) > LONGEST:
            self._count("too_long")
            return True
        try:
            self._waiting.put_nowait((f"msg_{secrets.token_hex(12)}", body))
        except queue.Full:
            self._count("dropped")
            return False
        return True

    def wait(self) -> None:
        """Blocks until nothing waits any more."""
        self._waiting.join()

    def _work(self) -> None:
        while True:
            name, body = self._waiting.get()
            try:
                # Waits while as many were sent in the last minute as the limit says.
                most = limits.figure("announcements")
                while len(self._sent) >= most:
                    self._sleep(max(0.0, self._sent.popleft() + 60 - time.monotonic()))
                self._sent.append(time.monotonic())
                self._count("sent" if self._send(name, body) else "failed")
            except Exception:  # a thread that ends would announce nothing any more
                LOG.exception("an announcement failed")
                self._count("failed")
            finally:
                self._waiting.task_done()

    def _send(self, name: str, body: bytes) -> bool:
        """Whether it was taken. What may pass is tried again under the same name, so a receiver can tell."""
        for pause in (0.0, *PAUSES):
            self._sleep(pause)
            try:
                status = self._target.send(name, int(time.time()), body)
            except (OSError, http.client.HTTPException) as error:
                LOG.warning("the webhook did not answer: %s", error)
                continue
            if 200 <= status < 300:
                return True
            LOG.warning("the webhook answered %s", status)
            if status not in (408, 425, 429) and status < 500:
                return False
        return False

    def _count(self, outcome: str) -> None:
        metrics.count("webhook", outcome=outcome)


@cache
def _announcer() -> Announcer | None:
    where = target()
    return None if where is None else Announcer(where)


def is_on() -> bool:
    """Whether announcements are sent anywhere."""
    return _announcer() is not None


def announce(payload: Mapping[str, Any]) -> bool:
    """Sends a JSON object to the address of `IDCORE_WEBHOOK`; nothing where none is set. Never blocks.

    False where there is no room for it now.
    """
    announcer = _announcer()
    return announcer is None or announcer.put(payload)

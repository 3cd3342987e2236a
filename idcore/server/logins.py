"""How people come in: by a log-in, a proxy's header, or not at all; and the log-ins that are kept. Asks no provider."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import logging
import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from idcore.base.plain_json import loads
from idcore.policy import private, settings
from idcore.policy.access import NOBODY, VIEWERS, WITHOUT_LOGIN, AccessError, Policy, Visitor, read

LOG = logging.getLogger(__name__)
Mode = Literal["open", "login", "header"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
SAID = "everybody may see everything"  # what an administrator writes who wants no login
HOURS = 12.0  # a login is good for
CLOCK_STEP = 3600.0  # seconds that a clock may be set back without ending the log-ins that began before
SECRET = 32  # characters at least: whoever guesses it makes a login of any name
LONGEST_ADDRESS = 45  # characters: of IPv6 whose end is written as IPv4
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.%]{2,60})\]|([A-Za-z0-9._-]{1,253}))(?::[0-9]{0,5})?")
SWEEP = 3600.0  # seconds between two looks for old ones: a script logs in as often as it likes, and all wait for a look
MOST_BYTES = 4 << 20  # of one
KEPT = ".logins"  # in the folder of scans: the log-ins, a file each


@dataclass(frozen=True, slots=True)
class Settings:
    """What the administrator set, as it was found; `headers` maps a header to the claim it gives."""

    address: str | None
    auth: Mapping[str, Any]
    headers: Mapping[str, str]
    told: settings.Settings


@dataclass(frozen=True, slots=True)
class Entrance:
    """How people come in. `anywhere`: the administrator lets everybody in who reaches the console.

    `encrypted`: people reach the console by https alone, so that the cookie of their log-in may demand it.
    """

    mode: Mode = "open"
    policy: Policy = VIEWERS
    providers: tuple[str, ...] = ()
    proxies: tuple[Network, ...] = ()
    headers: frozenset[str] = frozenset()
    anywhere: bool = False
    seconds: float = HOURS * 3600
    encrypted: bool = False

    def visitor(self, claims: Mapping[str, Any], now: float) -> Visitor:
        """Who these claims are of: a log-in whose time is over, or that does not say when it began, is nobody's."""
        if self.mode == "open":
            return WITHOUT_LOGIN
        if self.mode == "header":
            return self.policy.visitor(claims, joined=True)
        return NOBODY if self.left(claims, now) <= 0 else self.policy.visitor(claims)

    def left(self, claims: Mapping[str, Any], now: float) -> float:
        """Seconds until a login ends by itself. One of a clock that was far ahead has ended: it never would.

        What a proxy says is of this moment, and of as long as a log-in at the most.
        """
        if self.mode == "header":
            return self.seconds
        begun = claims.get("iat")
        if claims.get("is_logged_in") is not True or isinstance(begun, bool) or not isinstance(begun, int | float):
            return 0.0
        return begun + self.seconds - now if now - self.seconds < begun < now + self.seconds else 0.0  # of any length

    def trusts(self, peer: str | None) -> bool:
        """Whether this address is one of the proxies."""
        address = address_of(peer)
        return address is not None and any(address in network for network in self.proxies)


def entrance_of(given: Settings) -> Entrance:
    """How people come in; AccessError says in a sentence why the console must not start like this."""
    told, said = given.told, given.told.without_login
    if said not in ("", SAID):
        raise AccessError("start_said", {"said": SAID})
    if given.auth and given.headers:
        raise AccessError("start_both")
    policy = read(told.access) if told.access else VIEWERS
    try:
        hours = float(told.login_hours)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= 24 * 30:  # the cookie lives for 30 days; nan fits nowhere
        raise AccessError("start_hours", {"text": told.login_hours})
    seconds = hours * 3600
    if given.auth:
        encrypted = str(given.auth.get("redirect_uri")).startswith("https://")
        return Entrance("login", policy, _providers(given.auth), seconds=seconds, encrypted=encrypted)
    if given.headers:
        return _by_header(given, policy, seconds)
    if told.access:
        raise AccessError("start_roles", {"file": str(told.access)})
    if not said and not is_loopback(given.address):
        raise AccessError("start_open", {"address": given.address or "0.0.0.0", "said": SAID})
    return Entrance(anywhere=bool(said))


def _by_header(given: Settings, policy: Policy, seconds: float) -> Entrance:
    """A proxy that has logged people in gives their names: from its own address alone."""
    if policy.name_claim not in given.headers.values():
        raise AccessError("start_header", {"claim": policy.name_claim})
    texts = [part.strip() for part in given.told.trusted_proxies.split(",") if part.strip()]
    if not texts:
        raise AccessError("start_proxies")
    # uvicorn replaces the address of a proxy by what X-Forwarded-For has, before anybody else sees a request.
    if given.told.forwarded_allow_ips.strip():
        raise AccessError("start_forwarded")
    try:
        proxies = tuple(ipaddress.ip_network(text) for text in texts)
    except ValueError as error:
        raise AccessError("start_proxy", {"why": str(error)}) from None
    return Entrance("header", policy, (), proxies, frozenset(name.lower() for name in given.headers), seconds=seconds)


def _providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    """The providers of a login: `default` is the one whose keys are in [auth] itself."""
    for key in ("redirect_uri", "cookie_secret"):
        if not auth.get(key):
            raise AccessError("start_auth", {"key": key})
    if len(str(auth["cookie_secret"])) < SECRET:
        raise AccessError("start_secret", {"least": SECRET})
    providers = [] if "client_id" not in auth else ["default"]
    providers += [name for name, value in auth.items() if isinstance(value, Mapping) and name != "client_kwargs"]
    for name in providers or ["default"]:
        section = auth if name == "default" else auth[name]
        for key in ("client_id", "client_secret", "server_metadata_url"):
            if not section.get(key):
                raise AccessError("start_auth", {"key": key if name == "default" else f"{name}.{key}"})
    return tuple(providers)


def address_of(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address as it is; an IPv4 address in an IPv6 one is the IPv4 address."""
    plain = (text or "").partition("%")[0]
    return _address(plain) if len(plain) <= LONGEST_ADDRESS else None


@lru_cache(maxsize=256)
def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Kept, for the same few come with every request."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address


def is_named(host: str, hosts: Sequence[str] = ()) -> bool:
    """Whether a Host is an address, `localhost`, or one that the administrator names (DNS rebinding)."""
    whole = _HOST.fullmatch(host)  # RFC 9110, 7.2: no name of a user, and nothing behind the bracket but a port
    name = "" if whole is None else (whole[1] or whole[2]).lower()
    known = name == "localhost" or address_of(name) is not None
    return known or any(fnmatchcase(name, one.lower()) for one in hosts)


def is_loopback(text: str | None) -> bool:
    """Whether only this machine reaches an address; no address is all addresses."""
    address = address_of(text)
    return text == "localhost" or (address is not None and address.is_loopback)


class LogIns:
    """The log-ins of this console, each in a file: server-side sessions, in the folder of scans.

    The browser has a random name and nothing else, so nothing of a log-in can be exchanged, added or brought back. The
    file's name is a digest: who reads the folder cannot log in. Log out deletes the file, for every console of the
    folder.
    """

    def __init__(self, root: Path, seconds: float = HOURS * 3600) -> None:
        self.folder, self.seconds = root / KEPT, seconds
        self._unwritten: dict[str, str] = {}  # of a disk that is full or read-only: this server alone knows them
        self._undeleted: set[str] = set()
        self._swept = -math.inf

    def begin(self, cookies: Mapping[str, str], now: float) -> str:
        """Keeps the cookies that Streamlit made for a log-in; the random name to give to the browser."""
        name = secrets.token_urlsafe(32)
        text = json.dumps({"name": _digest(name), "begun": now, "cookies": dict(cookies)})
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # In place, and not renamed into it: nobody knows the name before this returns.
            place = os.open(self._file(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
            if abs(now - self._swept) >= SWEEP:
                self._swept = now
                self._delete_old(self._file(name).stat().st_mtime)
        except OSError as error:
            LOG.warning("a log-in cannot be kept, and ends with this server: %s", error)
            self._unwritten[_digest(name)] = text
        return name

    def has(self, name: str) -> bool:
        """Whether nobody has ended this log-in."""
        return (_digest(name) in self._unwritten or self._file(name).exists()) and _digest(name) not in self._undeleted

    def cookies(self, name: str, now: float) -> Mapping[str, str]:
        """What Streamlit made for this log-in; nothing where there is none, or its time is over."""
        if not self.has(name):
            return {}
        try:
            text = self._unwritten.get(_digest(name))
            held = loads(text.encode() if text else private.read_own(self._file(name), MOST_BYTES)[0]) or {}
            begun, cookies = float(held["begun"]), {str(key): str(value) for key, value in held["cookies"].items()}
            if held["name"] != _digest(name):  # who may write in a shared folder gave another's file this name
                return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):  # deleted meanwhile, or damaged
            return {}
        return cookies if 0 <= now - begun + CLOCK_STEP < self.seconds + CLOCK_STEP else {}

    def end(self, name: str) -> None:
        """From now on this log-in is nobody's."""
        self._unwritten.pop(_digest(name), None)
        try:
            self._file(name).unlink(missing_ok=True)
        except OSError as error:
            LOG.warning("a log-in that was ended cannot be deleted: %s", error)
            self._undeleted.add(_digest(name))

    def _file(self, name: str) -> Path:
        return self.folder / _digest(name)

    def _delete_old(self, now: float) -> None:
        """`now` is of the clock that dates the files: a console whose own is ahead would end those of all others."""
        for file in self.folder.iterdir():
            with suppress(FileNotFoundError):  # another console of the folder was first
                if file.stat().st_mtime + self.seconds < now:
                    file.unlink()


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()

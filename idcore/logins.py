"""How people come in: by login, by a proxy's header, or not at all; and when a login ends. Speaks to no provider."""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from idcore.access import NOBODY, VIEWERS, WITHOUT_LOGIN, AccessError, Policy, Visitor, read

Mode = Literal["open", "login", "header"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
SAID = "everybody may see everything"  # what an administrator writes who wants no login
HOURS = 12.0  # a login is good for
LATEST_ENDED = 1_000  # logins that stay ended whatever the clock says: it may have been ahead when they were
SECRET = 32  # characters at least: whoever guesses it makes a login of any name
ENDED = ".logins-ended"  # in the folder of scans: logins that their people ended before their time


@dataclass(frozen=True, slots=True)
class Settings:
    """What the administrator set, as it was found; `headers` maps a header to the claim it gives."""

    address: str | None
    auth: Mapping[str, Any]
    headers: Mapping[str, str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Entrance:
    """How people come in. `anywhere`: the administrator lets everybody in who reaches the console."""

    mode: Mode = "open"
    policy: Policy = VIEWERS
    providers: tuple[str, ...] = ()
    proxies: tuple[Network, ...] = ()
    headers: frozenset[str] = frozenset()
    anywhere: bool = False
    seconds: float = HOURS * 3600

    def visitor(self, claims: Mapping[str, Any], ended: Ended, now: float) -> Visitor:
        """Who these claims are of: a login that has ended, or does not say when it began, is nobody's."""
        if self.mode == "open":
            return WITHOUT_LOGIN
        if self.mode == "header":
            return self.policy.visitor(claims, joined=True)
        left = self.left(claims, now)
        return NOBODY if left <= 0 or ended.has(claims) else self.policy.visitor(claims)

    def left(self, claims: Mapping[str, Any], now: float) -> float:
        """Seconds until a login ends by itself. One of a clock that was far ahead has ended: it never would."""
        begun = claims.get("iat")
        if claims.get("is_logged_in") is not True or isinstance(begun, bool) or not isinstance(begun, int | float):
            return 0.0
        return begun + self.seconds - now if begun - now < self.seconds else 0.0

    def trusts(self, peer: str | None) -> bool:
        """Whether this address is one of the proxies."""
        address = address_of(peer)
        return address is not None and any(address in network for network in self.proxies)


def entrance_of(given: Settings) -> Entrance:
    """How people come in; AccessError says in a sentence why the console must not start like this."""
    environment = given.environment
    said = environment.get("IDCORE_WITHOUT_LOGIN", "")
    if said not in ("", SAID):
        raise AccessError("start_said", {"said": SAID})
    if given.auth and given.headers:
        raise AccessError("start_both")
    file = environment.get("IDCORE_ACCESS", "")
    policy = read(Path(file)) if file else VIEWERS
    seconds = _seconds(environment.get("IDCORE_LOGIN_HOURS", ""))
    if given.auth:
        return Entrance("login", policy, _providers(given.auth), seconds=seconds)
    if given.headers:
        return _by_header(given, policy)
    if file:
        raise AccessError("start_roles", {"file": file})
    if not said and not is_loopback(given.address):
        raise AccessError("start_open", {"address": given.address or "0.0.0.0", "said": SAID})
    return Entrance(anywhere=bool(said))


def _by_header(given: Settings, policy: Policy) -> Entrance:
    """A proxy that has logged people in gives their names: from its own address alone."""
    if policy.name_claim not in given.headers.values():
        raise AccessError("start_header", {"claim": policy.name_claim})
    texts = [part.strip() for part in given.environment.get("IDCORE_TRUSTED_PROXIES", "").split(",") if part.strip()]
    if not texts:
        raise AccessError("start_proxies")
    # uvicorn replaces the address of a proxy by what X-Forwarded-For has, before anybody else sees a request.
    if given.environment.get("FORWARDED_ALLOW_IPS", "127.0.0.1").strip():
        raise AccessError("start_forwarded")
    try:
        proxies = tuple(ipaddress.ip_network(text) for text in texts)
    except ValueError as error:
        raise AccessError("start_proxy", {"why": str(error)}) from None
    return Entrance("header", policy, (), proxies, frozenset(name.lower() for name in given.headers))


def _providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    """The providers of a login: `default` is the one whose keys are in [auth] itself."""
    for key in ("redirect_uri", "cookie_secret"):
        if not auth.get(key):
            raise AccessError("start_auth", {"key": key})
    if len(str(auth["cookie_secret"])) < SECRET:
        raise AccessError("start_secret", {"least": SECRET})
    found = [] if "client_id" not in auth else ["default"]
    found += [name for name, value in auth.items() if isinstance(value, Mapping) and name != "client_kwargs"]
    for name in found or ["default"]:
        section = auth if name == "default" else auth[name]
        for key in ("client_id", "client_secret", "server_metadata_url"):
            if not section.get(key):
                raise AccessError("start_auth", {"key": key if name == "default" else f"{name}.{key}"})
    return tuple(found)


def _seconds(text: str) -> float:
    try:
        hours = float(text or HOURS)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= 24 * 30:  # the cookie lives for 30 days; nan fits nowhere
        raise AccessError("start_hours", {"text": text})
    return hours * 3600


def address_of(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address as it is; an IPv4 address in an IPv6 one is the IPv4 address."""
    try:
        found = ipaddress.ip_address((text or "").partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found


def is_loopback(text: str | None) -> bool:
    """Whether only this machine reaches an address; no address is all addresses."""
    found = address_of(text)
    return text == "localhost" or (found is not None and found.is_loopback)


@dataclass(slots=True)
class Ended:
    """Logins that people ended. The browser's cookie would be good until its time is over: this list ends it before."""

    root: Path
    seconds: float = HOURS * 3600
    _here: dict[str, float] = field(default_factory=dict)
    _read: tuple[tuple[int, int], frozenset[str]] = ((0, 0), frozenset())

    def has(self, claims: Mapping[str, Any]) -> bool:
        """Whether this login was ended, here or in another console of the same folder."""
        key = key_of(claims)
        return key in self._here or key in self._written()

    def end(self, claims: Mapping[str, Any], now: float) -> None:
        """From now on this login is nobody's. Those that would have ended by themselves go, but for the latest ones."""
        mine = key_of(claims), now + self.seconds
        self._here = dict([*_still([*self._here.items()], now), mine])
        written = [(key, float(until or 0)) for key, _, until in (line.partition(" ") for line in self._lines())]
        lines = [f"{key} {until:.0f}" for key, until in (*_still(written, now), mine)]
        with suppress(OSError):  # a full disk: this server has it in memory
            self.root.mkdir(parents=True, exist_ok=True)
            spare = self.root / f"{ENDED}.{time.monotonic_ns()}"
            spare.write_text("\n".join(lines) + "\n", encoding="ascii")
            spare.replace(self.root / ENDED)

    def _lines(self) -> list[str]:
        try:
            return (self.root / ENDED).read_text(encoding="ascii").splitlines()
        except OSError:
            return []

    def _written(self) -> frozenset[str]:
        try:
            found = (self.root / ENDED).stat()
        except OSError:
            return frozenset()
        if (changed := (found.st_mtime_ns, found.st_ino)) != self._read[0]:
            self._read = changed, frozenset(line.partition(" ")[0] for line in self._lines())
        return self._read[1]


def _still(ended: Sequence[tuple[str, float]], now: float) -> list[tuple[str, float]]:
    """Logins of a list, oldest first, that are not to be forgotten."""
    return [one for one in ended[:-LATEST_ENDED] if one[1] > now] + list(ended[-LATEST_ENDED:])


def key_of(claims: Mapping[str, Any]) -> str:
    """One login of one person: what the provider says of it, as a digest."""
    said = [str(claims.get(name)) for name in ("iss", "sub", "iat", "nonce", "sid")]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:32]

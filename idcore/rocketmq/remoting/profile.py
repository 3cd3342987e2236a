"""Which clusters there are and how they may be asked: profiles from a TOML file or the environment. Contacts nobody."""

from __future__ import annotations

import re
import ssl
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from idcore.base.errors import coded
from idcore.policy.limits import figure
from idcore.policy.settings import Settings, name_of
from idcore.rocketmq.message.tracers import LINK_PLACE
from idcore.rocketmq.remoting.acl import Credentials
from idcore.rocketmq.remoting.address import Address, Endpoint
from idcore.rocketmq.remoting.bodies import BodyPolicy
from idcore.rocketmq.remoting.client import Limits, Tls
from idcore.rocketmq.remoting.errors import ProfileError

# What a reader without a cluster is shown.
EXAMPLE = """# clusters.toml; start the console with IDCORE_CLUSTERS=clusters.toml
[clusters.production]
name_servers = ["10.0.0.1:9876", "10.0.0.2:9876"]

# one cluster only: IDCORE_NAMESRV=10.0.0.1:9876;10.0.0.2:9876
"""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
# The characters of an address, without those that are only there by percent encoding.
_ADDRESS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """How to verify that a server is the right one. Certificates are checked unless `verify` is false."""

    ca_file: str | None = None
    server_name: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    verify: bool = True

    def load(self) -> Tls:
        """The files read; an error names the setting whose file is missing or is not a file."""
        if self.ca_file and not Path(self.ca_file).is_file():
            raise ProfileError("profile_no_file", {"setting": "tls.ca_file", "path": self.ca_file}, "tls.ca_file")
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.cert_file:
                context.load_cert_chain(self.cert_file, self.key_file)
        except (OSError, ssl.SSLError) as problem:
            where = "tls.cert_file" if self.cert_file else "tls.ca_file"
            raise ProfileError("profile_tls", {"setting": where, "why": str(problem)}, where) from None
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return Tls(context, self.server_name)


@dataclass(frozen=True, slots=True)
class Profile:
    """One cluster as its administrator described it."""

    name: str
    name_servers: tuple[Endpoint, ...]
    credentials: Credentials | None = None
    tls: TlsSettings | None = None
    # The address in ids and routes -> the one that is dialled instead (NAT, port forwarding).
    address_map: Mapping[Endpoint, Endpoint] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    bodies: BodyPolicy = field(default_factory=BodyPolicy)
    lookups_per_minute: int = field(default_factory=partial(figure, "lookups_of_one"))
    most_topics: int = 500
    search_whole_log: bool = True
    trace_topics: tuple[str, ...] = ()
    # The address of a trace in the operator's own tracer, with LINK_PLACE where its id goes.
    trace_link: str | None = None
    # Whether visitors see who is connected: the clients behind an id, with their addresses.
    show_clients: bool = False

    def mapped(self) -> dict[Address, Endpoint]:
        """The address map by the addresses that ids carry."""
        return {Address.of(given.host, given.port): target for given, target in self.address_map.items()}


def name_servers(text: str) -> tuple[Endpoint, ...]:
    """`HOST:PORT[;HOST:PORT…]`, as namesrvAddr is written."""
    endpoints = tuple(dict.fromkeys(Endpoint.parse(part) for part in re.split(r"[;,]", text) if part.strip()))
    if not endpoints:
        raise ProfileError("profile_no_server", None, "name_servers")
    return endpoints


def credentials_of(settings: Settings) -> Credentials | None:
    """Both keys that are set, or None when there is neither."""
    access, secret = settings.access_key, settings.secret_key
    if not access and not secret:
        return None
    if not access or not secret:
        missing = name_of("secret_key" if access else "access_key")
        raise ProfileError("profile_half", {"missing": missing}, missing)
    return Credentials(access, secret, settings.security_token or None)


def is_configured(settings: Settings) -> bool:
    """Whether the administrator configured any cluster."""
    return bool(settings.clusters or settings.namesrv)


def configured(environment: Mapping[str, str]) -> dict[str, Profile]:
    """Every cluster this machine's administrator configured, by name: an empty result means that look-ups are off."""
    profiles: dict[str, Profile] = {}
    settings = Settings.of(environment)
    if settings.clusters:
        profiles |= from_file(settings.clusters, environment)
    if settings.namesrv:
        tls = TlsSettings(settings.tls_ca or None) if settings.tls or settings.tls_ca else None
        profiles.setdefault(
            "default", Profile("default", name_servers(settings.namesrv), credentials_of(settings), tls)
        )
    return profiles


def from_file(path: Path, environment: Mapping[str, str]) -> dict[str, Profile]:
    """The profiles of a TOML file: one `[clusters.NAME]` each."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ProfileError(
            "profile_unreadable", {"path": str(path), "why": coded(problem)}, name_of("clusters")
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ProfileError("profile_toml", {"path": str(path), "why": str(problem)}, name_of("clusters")) from None
    top = _Table(values, "")
    clusters = top.table("clusters")
    top.finish()
    profiles = {}
    for name in clusters.names():
        if not _NAME.fullmatch(name):
            raise ProfileError("profile_name", {"name": name[:80]}, "clusters")
        profiles[name] = _profile(name, clusters.table(name), path.parent, environment)
    return profiles


def _profile(name: str, table: _Table, folder: Path, environment: Mapping[str, str]) -> Profile:
    plain = Limits()
    profile = Profile(
        name,
        tuple(dict.fromkeys(table.endpoint(text, "name_servers") for text in table.texts("name_servers"))),
        _credentials(table, folder, environment),
        _tls(table, folder),
        _address_map(table.table("address_map")),
        Limits(
            table.number("connect_milliseconds", int(1_000 * plain.connect_seconds), 1) / 1_000,
            table.number("answer_milliseconds", int(1_000 * plain.answer_seconds), 1) / 1_000,
            plain.longest_frame,
            table.flag("reach_clients", False),
        ),
        _bodies(table.table("bodies")),
        table.number("lookups_per_minute", figure("lookups_of_one"), 1),
        table.number("most_topics", 500, 1),
        table.flag("search_whole_log", True),
        tuple(table.texts("trace_topics")),
        _trace_link(table),
        table.flag("show_clients", False),
    )
    table.finish()
    if not profile.name_servers:
        raise ProfileError("profile_empty", {"setting": f"clusters.{name}.name_servers"}, "name_servers")
    return profile


def _trace_link(table: _Table) -> str | None:
    """A template of an address. The id may not decide which server is opened, and nothing else is filled in."""
    template = table.text("trace_link")
    if template is None:
        return None
    where = table.path("trace_link")
    try:
        parts = urlsplit(template)
        known = bool(parts.hostname) and parts.scheme in ("http", "https") and "{" not in parts.netloc
    except ValueError:
        known = False
    rest = template.replace(LINK_PLACE, "")
    if not known or rest == template or not _ADDRESS.fullmatch(rest):
        raise ProfileError("profile_link", {"setting": where, "value": template[:200]}, where)
    return template


def _credentials(table: _Table, folder: Path, environment: Mapping[str, str]) -> Credentials | None:
    """Names of environment variables, or a secrets file: the profile itself never holds a key."""
    variables, secrets = table.text("credentials_environment"), table.text("secrets_file")
    if variables is not None and secrets is not None:
        raise ProfileError("profile_exclusive", None, table.path("secrets_file"))
    if variables is not None:
        # a prefix: PROD means PROD_ACCESS_KEY and PROD_SECRET_KEY
        names = [f"{variables}_{part}" for part in ("ACCESS_KEY", "SECRET_KEY", "SECURITY_TOKEN")]
        for missing in names[:2]:
            if not environment.get(missing):
                where = table.path("credentials_environment")
                raise ProfileError("profile_environment", {"missing": missing}, where)
        return Credentials(environment[names[0]], environment[names[1]], environment.get(names[2]) or None)
    if secrets is None:
        return None
    path = folder / secrets
    try:
        held = _Table(tomllib.loads(path.read_text(encoding="utf-8")), "secrets_file")
    except OSError as problem:
        why = {"path": secrets, "why": coded(problem)}
        raise ProfileError("profile_secret_unreadable", why, table.path("secrets_file")) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # the parser's message may quote the line, and the line is a secret
        raise ProfileError("profile_secret_toml", {"path": secrets}, table.path("secrets_file")) from None
    access, secret, token = held.text("access_key"), held.text("secret_key"), held.text("security_token")
    held.finish()
    if not access or not secret:
        raise ProfileError("profile_secret_keys", {"path": secrets}, table.path("secrets_file"))
    return Credentials(access, secret, token)


def _tls(table: _Table, folder: Path) -> TlsSettings | None:
    if not table.has("tls"):
        return None
    if table.is_flag("tls"):
        return TlsSettings() if table.flag("tls", False) else None
    inner = table.table("tls")
    paths = [inner.text(name) for name in ("ca_file", "cert_file", "key_file")]
    ca_file, cert_file, key_file = (None if path is None else str(folder / path) for path in paths)
    settings = TlsSettings(ca_file, inner.text("server_name"), cert_file, key_file, inner.flag("verify", True))
    inner.finish()
    return settings


def _address_map(table: _Table) -> dict[Endpoint, Endpoint]:
    addresses = {}
    for given in table.names():
        source, target = table.endpoint(given, given), table.text(given)
        if source.is_name:
            raise ProfileError("profile_address", {"given": given}, table.path(given))
        addresses[source] = table.endpoint(target or "", given)
    table.finish()
    return addresses


def _bodies(table: _Table) -> BodyPolicy:
    try:
        policy = BodyPolicy(
            table.flag("show", True),
            tuple(re.compile(pattern) for pattern in table.texts("mask")),
            table.number("most_bytes", BodyPolicy().most_bytes, 0),
        )
    except re.error as problem:
        where = table.path("mask")
        raise ProfileError("profile_mask", {"setting": where, "why": str(problem)}, where) from None
    table.finish()
    return policy


class _Table:
    """A TOML table whose every key has to be known: a misspelt switch must not be an open door."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = values
        self._where = where
        self._read: set[str] = set()

    def path(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name

    def names(self) -> list[str]:
        return list(self._values)

    def has(self, name: str) -> bool:
        return name in self._values

    def is_flag(self, name: str) -> bool:
        return isinstance(self._values.get(name), bool)

    def _get(self, name: str, kind: type, what: str) -> Any:
        self._read.add(name)
        value = self._values.get(name)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise ProfileError(f"profile_not_{what}", {"setting": self.path(name), "value": value}, self.path(name))
        return value

    def table(self, name: str) -> _Table:
        return _Table(self._get(name, dict, "table") or {}, self.path(name))

    def text(self, name: str) -> str | None:
        return self._get(name, str, "text")

    def flag(self, name: str, default: bool) -> bool:
        value = self._get(name, bool, "flag")
        return default if value is None else value

    def number(self, name: str, default: int, least: int) -> int:
        value = self._get(name, int, "number")
        if value is not None and value < least:
            values = {"setting": self.path(name), "value": value, "least": least}
            raise ProfileError("profile_least", values, self.path(name))
        return default if value is None else value

    def texts(self, name: str) -> Sequence[str]:
        value = self._get(name, list, "list") or []
        if not all(isinstance(item, str) for item in value):
            raise ProfileError("profile_not_list", {"setting": self.path(name), "value": value}, self.path(name))
        return value

    def endpoint(self, text: str, name: str) -> Endpoint:
        try:
            return Endpoint.parse(text)
        except ProfileError as problem:
            values = {"setting": self.path(name), "problem": problem}
            raise ProfileError("profile_endpoint", values, self.path(name)) from None

    def finish(self) -> None:
        unknown = [name for name in self._values if name not in self._read]
        if unknown:
            where = self.path(unknown[0])
            raise ProfileError("profile_unknown", {"setting": where}, where)

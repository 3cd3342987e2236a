"""Who may do what: one table of permissions, the roles that have them, and whom the administrator gave which role.

Depends on no page and no login: a visitor is a name, roles and clusters.
"""

from __future__ import annotations

import logging
import threading
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from idcore.base.errors import CoreError

LOG = logging.getLogger(__name__)
Role = Literal["viewer", "triage", "look-up", "bodies", "admin"]
ROLES: dict[Role, str] = {  # and what each is for
    "viewer": "decode, and see their own scans",
    "triage": "scan folders of the server, compare, and open scans that others share",
    "look-up": "ask clusters, each by its name",
    "bodies": "see bodies of messages that another role of theirs finds",
    "admin": "have everybody's scans, and see how the console is set up",
}
EVERY_ROLE = tuple(ROLES)
ANY_CLUSTER = "*"


class AccessError(CoreError):
    """The file of roles is wrong, or a visitor has not the permission."""


@dataclass(frozen=True, slots=True)
class Permission:
    """What a role may do: `pages` are addresses, `covers` says it in a sentence."""

    name: str
    roles: tuple[Role, ...]
    covers: str
    pages: tuple[str, ...] = ()


BLANK = " \t"  # around a name or a group; with another space it is somebody else's, or a letter of UTF-8 was cut
OF_RUNS = ("findings", "lines", "producers", "counters", "brokers", "fate")
_READING = ("home", "decode", "anatomy", "lab", "runs", "tokens", "message", "help", *OF_RUNS)

# The table. Pages, lists, buttons and functions ask it; docs/access.md and a test are made of it.
PERMISSIONS: dict[str, Permission] = {
    one.name: one
    for one in (
        Permission(
            "decode",
            EVERY_ROLE,
            "decode, scan what one pastes or uploads, open, rename, share and delete scans of one's own",
            _READING,
        ),
        Permission("compare", ("triage", "admin"), "compare two inputs or two scans", ("compare",)),
        Permission("shared_runs", ("triage", "admin"), "open scans that others share"),
        Permission("folders", ("triage", "admin"), "scan and search folders of the server that are open", ("store",)),
        Permission("look_up", ("look-up",), "ask a cluster, each by its name", ("lookup", "groups")),
        Permission("bodies", ("bodies",), "see bodies of messages, of a cluster and of a store folder"),
        Permission("all_runs", ("admin",), "list, open, rename, share and delete everybody's scans"),
        Permission("settings", ("admin",), "see how the console is set up, such as the folder of its scans"),
    )
}
OF_PAGE: dict[str, str] = {page: one.name for one in PERMISSIONS.values() for page in one.pages}


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks. `name` is None where the console has no login, and empty where nobody has logged in.

    `scopes` are the permissions of a personal token; None where somebody asks for themselves.
    """

    name: str | None
    roles: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    scopes: frozenset[str] | None = None

    def may(self, permission: str) -> bool:
        """Whether one of the roles has this permission; one that is not in the table is an error."""
        of_token = self.scopes is None or permission in self.scopes
        return of_token and not self.roles.isdisjoint(PERMISSIONS[permission].roles)

    def may_open(self, page: str) -> bool:
        """Whether one of the roles has this page; a page that the table lacks is closed to everybody."""
        return page in OF_PAGE and self.may(OF_PAGE[page])

    def keeps_all_of(self, before: Visitor) -> bool:
        """Whether this is the same person with every role and cluster of a moment ago."""
        return self.name == before.name and self.roles >= before.roles and self.clusters >= before.clusters

    def may_ask(self, cluster: str) -> bool:
        """Whether one of the roles asks this cluster."""
        return self.may("look_up") and not self.clusters.isdisjoint({cluster, ANY_CLUSTER})

    def require_cluster(self, cluster: str) -> None:
        """AccessError without a role that asks this cluster."""
        if not self.may_ask(cluster):
            raise AccessError("not_allowed", {"name": self.name or "–", "roles": f"look-up ({cluster})"})

    def require(self, permission: str) -> None:
        """AccessError without the permission: what is done calls this, not only what draws its button."""
        if not self.may(permission):
            raise AccessError(
                "not_allowed", {"name": self.name or "–", "roles": ", ".join(PERMISSIONS[permission].roles)}
            )


# Without login there is one visitor, who may do all that the configuration opens.
WITHOUT_LOGIN = Visitor(None, frozenset(ROLES), frozenset({ANY_CLUSTER}))
NOBODY = Visitor("")


@dataclass(frozen=True, slots=True)
class Members:
    """Who has a role: groups, people by name, or everybody who logs in."""

    groups: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    everybody: bool = False

    def have(self, name: str, groups: Iterable[str]) -> bool:
        return self.everybody or name in self.people or not self.groups.isdisjoint(groups)


@dataclass(frozen=True, slots=True)
class Policy:
    """The file of roles, read. Without a file everybody who logs in is a viewer."""

    members: Mapping[str, Members]
    clusters: Mapping[str, Members]
    name_claim: str = "email"
    groups_claim: str = "groups"
    contact: str = ""

    def visitor(self, claims: Mapping[str, Any], *, joined: bool = False) -> Visitor:
        """Who has logged in, of what the provider says. `joined`: a header has all groups in one text, with commas."""
        name = name_of(claims, self.name_claim)
        if not name:
            return NOBODY
        held = claims.get(self.groups_claim)
        if isinstance(held, str):
            held = [part.strip(BLANK) for part in held.split(",")] if joined else [held]
        # A list of texts, or one text. The keys of an object are names of something else, and a number has no form.
        groups = (
            {group for group in held if isinstance(group, str) and group} if isinstance(held, list | tuple) else set()
        )
        clusters = frozenset(cluster for cluster, who in self.clusters.items() if who.have(name, groups))
        roles = {role for role, who in self.members.items() if who.have(name, groups)}
        return Visitor(name, frozenset(roles | ({"look-up"} if clusters else set())), clusters)


VIEWERS = Policy({"viewer": Members(everybody=True)}, {})


def name_of(claims: Mapping[str, Any], claim: str = "email") -> str:
    """The name of a login, in small letters: an e-mail address that is not verified is nobody's; else the subject."""
    name = claims.get(claim)
    if claim == "email" and str(claims.get("email_verified", True)).lower() != "true":
        name = None
    # Somebody who chose such a name would be the person without one whose subject it has.
    if not isinstance(name, str) or not name.strip() or _small(name.strip(BLANK)).startswith("sub:"):
        subject = claims.get("sub")
        issuer = claims.get("iss")  # two providers may have the same subject
        return ":".join(filter(None, ("sub", issuer, subject))) if isinstance(subject, str) and subject else ""
    return _small(name.strip(BLANK))


def _small(name: str) -> str:
    """A to Z in small letters. Other letters stay: a long s, or the sign of Kelvin, would become those of another."""
    return "".join(one.lower() if one.isascii() else one for one in name)


def read(path: Path) -> Policy:
    """The policy of a TOML file; AccessError names the file and the key of what is wrong."""
    file = str(path)
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AccessError("access_file", {"file": file, "why": str(error)}) from None
    texts = {"name_claim": "email", "groups_claim": "groups", "contact": ""}
    _known(file, "", held, [*ROLES, *texts])
    for key in texts.keys() & held.keys():
        if not isinstance(held[key], str) or not held[key].strip():
            raise AccessError("access_text", {"file": file, "key": key})
        texts[key] = held[key].strip()
    members: dict[str, Members] = {}
    clusters: dict[str, Members] = {}
    for role in ROLES.keys() & held.keys():
        if role != "look-up":
            members[role] = _members(file, role, held[role])
        else:
            clusters = {name: _members(file, f"{role}.{name}", who) for name, who in _table(file, role, held[role])}
    return Policy(members, clusters, **texts)


class Roles:
    """The file of roles, read again when it has changed: who leaves a team has lost its roles at the next look.

    A file that cannot be read leaves the last good roles. `check` may refuse what is well written, by AccessError.
    """

    def __init__(self, path: Path, policy: Policy, check: Callable[[Policy], None] = lambda _: None) -> None:
        self.path, self.is_broken, self._policy, self._check = path, False, policy, check
        self._seen: tuple[int, ...] | None = None
        self._lock = threading.Lock()

    def policy(self) -> Policy:
        """The roles as the file has them now, or as it had them when it was last right."""
        if self._stamp() != self._seen:
            with self._lock:
                if (stamp := self._stamp()) != self._seen:
                    self._read()
                    self._seen = stamp
        return self._policy

    def _stamp(self) -> tuple[int, ...]:
        try:
            status = self.path.stat()
        except OSError:
            return ()
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> None:
        try:
            policy = read(self.path)
            self._check(policy)
        except AccessError as problem:
            self.is_broken = True
            LOG.error("the roles stay as they were: %s", problem.problem)
        else:
            if policy != self._policy:
                LOG.info("the roles of %s are read again", self.path)
            self._policy, self.is_broken = policy, False


def _known(file: str, place: str, held: Iterable[str], known: Iterable[str]) -> None:
    for key in held:
        if key not in known:
            raise AccessError("access_key", {"file": file, "key": place + key, "known": ", ".join(known)})


def _table(file: str, key: str, value: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise AccessError("access_table", {"file": file, "key": key})
    return value.items()


def _members(file: str, key: str, value: Any) -> Members:
    held = dict(_table(file, key, value))
    _known(file, f"{key}.", held, ("groups", "people", "everybody"))
    everybody = held.get("everybody", False)
    if not isinstance(everybody, bool):
        raise AccessError("access_flag", {"file": file, "key": f"{key}.everybody"})
    groups, people = (_texts(file, f"{key}.{name}", held.get(name, [])) for name in ("groups", "people"))
    return Members(groups, frozenset(_small(one) for one in people), everybody)


def _texts(file: str, key: str, value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        raise AccessError("access_list", {"file": file, "key": key})
    return frozenset(one.strip() for one in value)

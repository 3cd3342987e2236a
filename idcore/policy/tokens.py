"""Personal tokens for programs: a person makes one, with less than they may do and an end, and revokes it.

Like a log-in each is a file in the folder of scans. It has a digest of the secret and what the provider said of the
person, so the roles are those of now. Draws nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from idcore.base.errors import refuse
from idcore.base.numbers import whole_number
from idcore.base.plain_json import loads
from idcore.policy import private, settings
from idcore.policy.access import NOBODY, PERMISSIONS, Policy, Visitor

KEPT = ".tokens"  # in the folder of scans
PREFIX = "rmqids_"  # so that a scanner of repositories knows one
DAY = 86_400
OFF = "off"
USUAL_DAYS = 90
MOST_DAYS, MOST_OF_ONE, LONGEST_LABEL = 366, 20, 80
MOST_BYTES = 1 << 20  # of one: the groups of its person are in it
_WRITTEN = re.compile(rf"{PREFIX}([0-9a-f]{{16}})_([A-Za-z0-9_-]{{43}})")
_LATEST = 253_402_214_400.0  # seconds since 1970 that are a day in every zone: 9999-12-31
_USED = 3_600.0  # seconds: how exactly the last use is known


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of one; its secret is not. Times are seconds since 1970."""

    name: str
    owner: str
    label: str
    scopes: frozenset[str]
    begun: float
    ends: float
    used: float | None
    claims: Mapping[str, Any]
    digest: str

    def visitor(self, policy: Policy, *, joined: bool) -> Visitor:
        """Its person with the roles of now, and no more than its scopes; nobody if it is of another name by now."""
        visitor = policy.visitor(self.claims, joined=joined)
        return replace(visitor, scopes=self.scopes) if visitor.name and visitor.name == self.owner else NOBODY


def most_days() -> int | None:
    """How many days a token may live; None where nobody may use one. CoreError if the setting is wrong."""
    text = str(settings.one("tokens")).strip()
    if text.lower() == OFF:
        return None
    if not text:
        return USUAL_DAYS
    if (days := whole_number(text)) is None or not 0 < days <= MOST_DAYS:
        wanted = f"a number of days from 1 to {MOST_DAYS}, or {OFF}"
        raise refuse("setting_wrong", setting=settings.name_of("tokens"), value=text[:100], wanted=wanted)
    return days


class Tokens:
    """The tokens of a folder of scans, for every console of it."""

    def __init__(self, root: Path) -> None:
        self.folder, self._now = root / KEPT, time.time

    def make(
        self, visitor: Visitor, claims: Mapping[str, Any], label: str, scopes: Collection[str], days: int
    ) -> tuple[Token, str]:
        """A new token and its text, which is shown once. CoreError where this person may not have it."""
        most = most_days()
        if most is None:
            raise refuse("tokens_off")
        if not visitor.name or visitor.scopes is not None:
            raise refuse("tokens_no_login")
        label = " ".join(label.split())
        if not label or len(label) > LONGEST_LABEL or not label.isprintable():
            raise refuse("token_label", most=LONGEST_LABEL)
        if not scopes or not set(scopes) <= PERMISSIONS.keys():
            raise refuse("token_scopes")
        for scope in sorted(scopes):
            visitor.require(scope)
        if not 1 <= days <= most:
            raise refuse("token_days", most=most)
        if len(self.of(visitor.name)) >= MOST_OF_ONE:
            raise refuse("token_many", most=MOST_OF_ONE)
        name, secret, now = secrets.token_hex(8), secrets.token_urlsafe(32), self._now()
        held = {
            "owner": visitor.name,
            "label": label,
            "scopes": sorted(scopes),
            "begun": now,
            "ends": now + days * DAY,
            "claims": dict(claims),
            "digest": _digest(secret),
        }
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = os.open(self._file(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(place, "w", encoding="utf-8") as file:
            file.write(json.dumps(held))
        os.utime(self._file(name), (now, now))
        token = self._read(name)
        assert token is not None, "it was written just now"
        return token, f"{PREFIX}{name}_{secret}"

    def of_text(self, text: str) -> Token | None:
        """The token that this text is, if nobody has revoked it and its time is not over."""
        match = _WRITTEN.fullmatch(text)
        token = None if match is None or most_days() is None else self._read(match[1])
        if match is None or token is None or not hmac.compare_digest(token.digest.encode(), _digest(match[2]).encode()):
            return None
        now = self._now()
        if not token.begun - DAY <= now < token.ends:
            return None
        if token.used is None or now - token.used > _USED:
            with suppress(OSError):
                os.utime(self._file(token.name), (now, now + 1))
        return token

    def has(self, token: Token) -> bool:
        """Whether nobody has revoked it; its end does not end what was begun with it."""
        return (known := self._read(token.name)) is not None and known.digest == token.digest

    def of(self, owner: str | None = None) -> list[Token]:
        """The tokens of one person, or of all, the newest first."""
        if not self.folder.is_dir():
            return []
        every = filter(None, (self._read(path.name) for path in self.folder.iterdir()))
        return sorted((one for one in every if owner in (None, one.owner)), key=lambda one: -one.begun)

    def revoke(self, visitor: Visitor, name: str) -> None:
        """From now on it is nobody's. CoreError where it is another's, unless the visitor is an administrator."""
        token = self._read(name) if re.fullmatch("[0-9a-f]{16}", name) else None
        if token is None or (token.owner != visitor.name and not visitor.may("settings")):
            raise refuse("token_gone")
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.folder / name

    def _read(self, name: str) -> Token | None:
        """None of one that is damaged or gone, or that another user of this machine made: the folder may be shared."""
        try:
            raw, status = private.read_own(self._file(name), MOST_BYTES)
            if (held := loads(raw)) is None:
                return None
            changed = status.st_mtime
            begun, ends = float(held["begun"]), float(held["ends"])
            if not 0 <= begun <= ends <= _LATEST:  # pages show them
                return None
            used = changed - 1 if changed > begun + 0.5 else None
            owner, label, digest = (str(held[key]) for key in ("owner", "label", "digest"))
            scopes = frozenset(map(str, held["scopes"])) & PERMISSIONS.keys()
            return Token(name, owner, label, scopes, begun, ends, used, dict(held["claims"]), digest)
        except (OSError, ValueError, TypeError, KeyError):
            return None


def _digest(secret: str) -> str:
    """Of a secret with 256 random bits: nobody can try them all, so a fast one will do."""
    return hashlib.sha256(secret.encode()).hexdigest()

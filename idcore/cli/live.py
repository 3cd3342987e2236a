"""`view` in a live cluster: options become a profile, answers become lines. Looks up nothing itself."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import IO

from idcore.cli.parser import Usage, read_clock
from idcore.cli.records import card
from idcore.lookup import Answer, LookupService, Moment, Progress
from idcore.remoting.acl import Credentials
from idcore.remoting.audit import AuditLog, RateLimit
from idcore.remoting.bodies import BodyPolicy
from idcore.remoting.cluster import Cluster
from idcore.remoting.errors import ProfileError, RemotingError
from idcore.remoting.profile import (
    ACCESS_KEY,
    AUDIT_LOG,
    SECRET_KEY,
    Profile,
    TlsSettings,
    configured,
    credentials_of,
    name_servers,
)
from idcore.safe_text import json_text, plain

FOUND, SOME_MISSED, NOTHING_ASKED = 0, 1, 3
_AT_ONCE = 64


def run_live(options: argparse.Namespace, texts: Iterable[str]) -> int:
    """Looks up; 0 when every id was found, 1 when one was not, 3 when nobody could be asked."""
    if options.begin is not None or options.end is not None:
        raise Usage("--from and --to go with --store; a cluster is asked around the id's own time, then for everything")
    try:
        profile = _profile(options)
        cluster = Cluster(profile)
    except ProfileError as problem:
        raise Usage(problem.problem) from None
    reference, zone, source = read_clock(options)
    moment = Moment(reference, zone, source == "given")
    form = options.format or ("table" if sys.stdout.isatty() else "json")
    audit = AuditLog(Path(os.environ[AUDIT_LOG])) if os.environ.get(AUDIT_LOG) else None
    missed = asked = refused = 0
    with cluster:
        service = LookupService(
            cluster, lambda: moment, audit, RateLimit(profile.lookups_per_minute) if options.cluster else None
        )
        try:
            cluster.topology()
            waiting = iter(texts)
            while part := list(islice(waiting, _AT_ONCE)):
                for answer in service.look_up(part, options.topic, _user(), _progress()):
                    asked += 1
                    missed += not answer.found
                    refused += answer.nothing_asked or (answer.reason == "not_permitted" and not answer.found)
                    _print(answer, profile.bodies, form, sys.stdout)
        except RemotingError as problem:
            print(f"idcore: {plain(str(problem))}", file=sys.stderr)
            return NOTHING_ASKED if not asked else SOME_MISSED
    if not asked:
        print("idcore: no id in this text", file=sys.stderr)
        return SOME_MISSED
    if refused == asked:
        return NOTHING_ASKED
    return SOME_MISSED if missed else FOUND


def _profile(options: argparse.Namespace) -> Profile:
    if options.cluster is not None:
        if options.tls or options.tls_ca or options.access_key or options.secret_key:
            raise Usage("--tls and keys go with --namesrv; a profile has its own")
        found = configured(os.environ)
        if options.cluster not in found:
            known = f"there are {', '.join(sorted(found))}" if found else "none is configured"
            raise Usage(f"no cluster {options.cluster!r}: {known}")
        return found[options.cluster]
    given = {ACCESS_KEY: options.access_key, SECRET_KEY: options.secret_key}
    credentials: Credentials | None = credentials_of(
        {**os.environ, **{name: key for name, key in given.items() if key}}
    )
    tls = TlsSettings(options.tls_ca) if options.tls or options.tls_ca else None
    return Profile(options.namesrv, name_servers(options.namesrv), credentials, tls)


def _user() -> str:
    """Who asks, for the audit log; a container may run as a number that has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _progress() -> Progress | None:
    """On a terminal: how many of the topics were asked, where there are many."""
    if not sys.stderr.isatty():
        return None

    def tell(done: int, total: int, topic: str) -> None:
        if total > _AT_ONCE:
            text = f"idcore: {done} of {total} topics asked" if done < total else ""
            print(f"\r{text:<60}\r" if not text else f"\r{text:<60}", end="", file=sys.stderr, flush=True)

    return tell


def _print(answer: Answer, bodies: BodyPolicy, form: str, out: IO[str]) -> None:
    row = answer.as_dict(bodies)
    if form == "json":
        out.write(json_text(row) + "\n")
        out.flush()
        return
    if answer.found:
        count = len(answer.copies)
        out.write(f"{plain(answer.id)}: {count} record{'' if count == 1 else 's'}\n")
    else:
        out.write(f"{plain(answer.id) or '(empty)'}: not found ({answer.reason})\n")
    if answer.sentence:
        out.write(f"  {'note' if answer.found else 'reason':<11} {plain(answer.sentence)}\n")
    for item in answer.evidence:
        out.write(plain(f"  evidence    {item}\n"))
    if answer.advice and not answer.found:
        out.write(f"  next        {plain(answer.advice)}\n")
    out.write(f"  asked       {', '.join(answer.asked) or 'nobody'}\n")
    for copy in row["copies"]:
        out.write(f"  {'relation':<27} {plain(copy['relation_text'])}\n")
        out.write(card(copy) + "\n")
    out.flush()

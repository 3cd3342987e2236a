"""`view --fate --out`: a long list of IDs against a live cluster, as tables. Asks nobody itself."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterable

from idcore.answers.fate_list.batched_lookups import FateListProgress, IdList, ask
from idcore.answers.fate_list.sentences import progress_text
from idcore.answers.fate_list.tally import Tally, write
from idcore.answers.lookup import LookupService
from idcore.base.catalogue import words
from idcore.base.safe_text import json_text
from idcore.cli.complaint import complain
from idcore.cli.parser import Usage
from idcore.cli.worker_thread import aside, until
from idcore.presentation.terminal import scans

FOUND, SOME_MISSED, NOTHING_ASKED, INTERRUPTED = 0, 1, 3, 130


def check(options: argparse.Namespace) -> None:
    """Usage errors that need no connection."""
    if not options.fate or options.store is not None:
        raise Usage("--out goes with --fate and with --namesrv or --cluster")
    if options.trace or options.journey or options.who or options.format in ("csv", "jsonl"):
        raise Usage("--out goes with --topic and --format table or json")
    if options.out.exists():
        raise Usage(f"{options.out} exists; choose a new folder")


def run(source: LookupService, texts: Iterable[str], options: argparse.Namespace, user: str, form: str) -> int:
    """Exit status 0 all judged, 1 some not, 3 nothing could be asked, 130 interrupted; the tables are there."""
    wanted = IdList.of(texts, options.topic)
    options.out.mkdir(parents=True)  # now, so that one that cannot be written is found before the work
    tally, interrupted = _asked(source, wanted, user)
    more = {"given": wanted.given, "doubles": wanted.given - len(wanted.ids), "stopped": interrupted}
    summary = write(options.out, tally, cluster=source.cluster.name, topic=wanted.topic, **more)
    if form == "json":
        print(json_text(summary))
    else:
        print("\n".join(scans.verdicts(summary, tally.tables(), options.out)))
    if tally.problem is not None:
        complain(str(tally.problem))
    if interrupted:
        return INTERRUPTED
    if not tally.found and tally.outcomes["not_found"] == 0:
        return NOTHING_ASKED
    return FOUND if tally.outcomes["judged"] == len(wanted.ids) else SOME_MISSED


def _asked(source: LookupService, wanted: IdList, user: str) -> tuple[Tally, bool]:
    """The first Ctrl-C keeps what is there, a second one ends at once."""
    stopped = threading.Event()

    def work(stop: threading.Event) -> Tally:
        return ask(source, wanted, user, _show if sys.stderr.isatty() else None, stop)

    def interrupted(over: threading.Event) -> None:
        stopped.set()
        print(file=sys.stderr)
        complain("stopping; what was judged is kept")
        until(over)

    return aside("fate-list", work, interrupted), stopped.is_set()


def _show(now: FateListProgress) -> None:
    print(f"\r\x1b[K{progress_text(now, words())}", end="", file=sys.stderr, flush=True)

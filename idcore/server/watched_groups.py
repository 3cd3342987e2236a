"""How far the consumer groups are that the administrator names: asked every minute, for metrics and announcements.

The questions are those of the page of consumer groups, with its limits, its audit log and read codes only.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from idcore.base.errors import CoreError, refuse
from idcore.policy import settings
from idcore.policy.access import WITHOUT_LOGIN
from idcore.policy.metrics import Sample
from idcore.server.webhook import announce

if TYPE_CHECKING:  # the look-up is loaded where a group is named
    from idcore.answers.lookup.progress import Progress

LOG = logging.getLogger(__name__)
EVERY = 60.0  # seconds between two questions about a group
MOST = 50  # groups; one after the other, so that a cluster is asked about one at a time
USER = "console"  # whom the audit log names


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """A consumer group in a topic of a cluster."""

    cluster: str
    topic: str
    group: str

    @property
    def labels(self) -> tuple[str, ...]:
        return self.cluster, self.topic, self.group


@dataclass(frozen=True, slots=True)
class State:
    """What the last question came to; without progress nobody answered. `problems` are codes of what is wrong."""

    progress: Progress | None = None
    stalled: int = 0
    problems: frozenset[str] = frozenset()

    def samples(self, of: Group) -> Iterator[Sample]:
        now = self.progress
        yield "group_up", of.labels, float(now is not None and not now.silent)
        if now is None:
            return
        yield "group_lag_messages", of.labels, now.lag
        yield "group_stalled_queues", of.labels, self.stalled
        yield "group_clients", of.labels, len(now.members)
        ages = [
            (now.at_ms + now.ahead_ms.get(queue.broker, 0) - queue.passed_ms) / 1_000
            for queue in now.queues
            if queue.lag and queue.passed_ms is not None
        ]
        yield "group_oldest_seconds", of.labels, max([0.0, *ages])
        sides = {kind: [side for side in now.side_topics if side.kind == kind] for kind in ("retry", "dead")}
        yield "group_retries", of.labels, sum(side.written for side in sides["retry"])
        yield "group_retries_waiting", of.labels, sum(side.waiting or 0 for side in sides["retry"])
        yield "group_dead_letters", of.labels, sum(side.held for side in sides["dead"])
        for broker, ahead in now.ahead_ms.items():
            yield "broker_clock_seconds", (of.cluster, broker), ahead / 1_000


def named() -> tuple[Group, ...]:
    """The groups of the setting; CoreError if it is wrong."""
    text = settings.current().watched_groups
    groups = []
    for part in filter(None, map(str.strip, text.split(","))):
        pieces = part.split("/")
        if len(pieces) != 3 or not all(pieces):
            raise _wrong(part)
        groups.append(Group(*pieces))
    if len(groups) > MOST:
        raise _wrong(f"{len(groups)} groups")
    return tuple(dict.fromkeys(groups))


def _wrong(value: str) -> CoreError:
    wanted = f"at most {MOST} groups, each as cluster/topic/group, with commas between them"
    return refuse("setting_wrong", setting=settings.name_of("watched_groups"), value=value[:100], wanted=wanted)


class Watch:
    """Asks about groups again and again. `tell` hears of a problem that is new, and of one that is over."""

    def __init__(self, groups: tuple[Group, ...], tell: Callable[[dict[str, Any]], object] = announce) -> None:
        self.groups, self._tell = groups, tell
        self._states: dict[Group, State] = {}

    def samples(self) -> list[Sample]:
        """The metrics of all groups, as they were last asked."""
        states = sorted(self._states.items())
        samples = {sample[:2]: sample for group, state in states for sample in state.samples(group)}
        return sorted(samples.values())

    def run(self, stop: threading.Event) -> None:
        """Asks about every group, again and again, until `stop` is set."""
        while not stop.wait(0):
            begun = time.monotonic()
            for group in self.groups:
                self.look(group)
            stop.wait(max(1.0, EVERY - (time.monotonic() - begun)))

    def look(self, group: Group) -> None:
        before = self._states.get(group)
        now = self._states[group] = _asked(group, before)
        known = before.problems if before is not None else frozenset()
        for code in sorted(now.problems ^ known):
            fact = "begun" if code in now.problems else "ended"
            lag = None if now.progress is None else now.progress.lag
            event = {"event": "group", "code": code, "state": fact, "at": round(time.time()), "lag": lag}
            self._tell(event | {"cluster": group.cluster, "topic": group.topic, "group": group.group})


def _asked(group: Group, before: State | None) -> State:
    from idcore.answers.lookup import shared
    from idcore.answers.lookup.groups import progress_of

    try:
        service = shared.cluster(group.cluster, WITHOUT_LOGIN)
        if service is None:
            raise CoreError("terms_cluster", {"name": group.cluster, "known": ", ".join(shared.offers(WITHOUT_LOGIN))})
        work = partial(progress_of, group.topic, group.group)
        seen = service.ask(f"topic:{group.topic} group:{group.group}", USER, work).progress
    except (CoreError, OSError) as problem:
        LOG.warning("the group %s of %s cannot be watched: %s", group.group, group.topic, problem)
        return State(problems=frozenset({"unreachable"}))
    except Exception:  # a thread that ends would watch no group any more, and the last metrics would stay
        LOG.exception("the group %s of %s cannot be watched", group.group, group.topic)
        return State(problems=frozenset({"unreachable"}))
    assert seen is not None, "a group was asked for"
    earlier = before.progress if before is not None else None
    stalled = sum(reason.code == "stuck" for reason in seen.contradictions(earlier))
    dead = _dead_letters(seen)
    codes = {
        "unreachable": bool(seen.silent),
        "stalled": stalled > 0,
        "dead_letters": earlier is not None and dead > _dead_letters(earlier),
        "no_client": seen.online is None and not seen.proxied and not seen.silent and seen.lag > 0,
    }
    return State(seen, stalled, frozenset(code for code, there in codes.items() if there))


def _dead_letters(progress: Progress) -> int:
    """The dead letters that were ever written."""
    return sum(side.written for side in progress.side_topics if side.kind == "dead")


_watch: Watch | None = None


def begin() -> None:
    """Once, with the server; nothing where no group is named."""
    global _watch
    if _watch is None and (groups := named()):
        _watch = Watch(groups)
        threading.Thread(target=_watch.run, args=(threading.Event(),), name="watched-groups", daemon=True).start()


def samples() -> list[Sample]:
    """The metrics of all watched groups."""
    return [] if _watch is None else _watch.samples()

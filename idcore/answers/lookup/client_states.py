"""Questions that brokers pass on to the machines of clients: bounded in number and time. Judges nothing."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from idcore.answers.lookup.clients import LiveClient
from idcore.answers.lookup.notes import Notes
from idcore.rocketmq.remoting.consumers import ClientState, RunningInfo
from idcore.rocketmq.remoting.errors import RemotingError
from idcore.rocketmq.remoting.guard import Member

_AT_ONCE, _NAMED = 8, 5


def states(
    clients: Sequence[tuple[str, LiveClient]], members: Mapping[str, Sequence[Member]], notes: Notes, seconds: float
) -> list[ClientState | None]:
    """What each client of a group says of itself; None for one that has not answered in the time for all of them."""
    late = threading.Event()

    def ask(group: str, client: LiveClient) -> ClientState | None:
        for broker in client.brokers:
            for process in members.get(broker, ())[:1]:
                if late.is_set():
                    return None
                try:
                    state = notes.cluster.ask_client(process, RunningInfo(group, client.client_id))
                except RemotingError as problem:
                    if not late.is_set():
                        notes.fail(problem)
                    continue
                if state is not None:
                    return state
        return None

    pool = ThreadPoolExecutor(_AT_ONCE, "clients")
    try:
        waiting = [pool.submit(ask, group, client) for group, client in clients]
        done = wait(waiting, seconds).done
    finally:
        late.set()
        pool.shutdown(wait=False, cancel_futures=True)
    answers = [each.result() if each in done else None for each in waiting]
    silent = [client.client_id for (_, client), state in zip(clients, answers, strict=True) if state is None]
    if silent:
        more = ", …" if len(silent) > _NAMED else ""
        named = ", ".join(silent[:_NAMED]) + more
        notes.add("clients_silent", count=len(silent), of=len(clients), seconds=round(seconds), clients=named)
    return answers

"""Tables of visitors come before what is below tables; one visitor's work at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from idcore.policy.page_turns import PageTurns

Turn = Callable[[], AbstractContextManager[None]]


def test_tables_come_first_and_one_at_a_time() -> None:
    turns, done, begun = PageTurns(), list[str](), threading.Semaphore(0)
    at_work = 0

    def work(name: str, turn: Turn) -> None:
        nonlocal at_work
        begun.release()
        with turn():
            at_work += 1
            assert at_work == 1
            done.append(name)
            at_work -= 1

    with turns.table():
        waiting = [("files", turns.below), ("table", turns.table), ("charts", turns.below), ("table", turns.table)]
        threads = [threading.Thread(target=work, args=each) for each in waiting]
        for thread in threads:
            thread.start()
            begun.acquire()
        while turns.waiting() < len(threads):
            threading.Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert done[:2] == ["table", "table"] and sorted(done[2:]) == ["charts", "files"]


def test_a_scan_begins_after_the_tables_but_does_not_wait_for_ever() -> None:
    turns, done = PageTurns(), list[str]()

    def scan() -> None:
        turns.after_tables(60)
        done.append("scan")

    def table() -> None:
        with turns.table():
            done.append("table")

    threads = [threading.Thread(target=table), threading.Thread(target=scan)]
    with turns.table():
        threads[0].start()
        while not turns.waiting():
            threading.Event().wait(0.001)
        threads[1].start()
        turns.after_tables(0.01)  # one is being made, and one waits
        assert not done
    for thread in threads:
        thread.join()
    assert done == ["table", "scan"]
    with turns.below():
        turns.after_tables(60)  # what is below a table does not count


def test_a_short_page_does_not_wait_and_an_error_gives_the_turn_back() -> None:
    turns = PageTurns()
    with turns.table(), turns.table(wanted=False), turns.below(wanted=False):
        assert turns.waiting() == 0
    try:
        with turns.below():
            raise KeyError
    except KeyError:
        pass
    with turns.table():
        assert turns.waiting() == 0


def test_who_has_many_pages_keeps_nobody_waiting() -> None:
    turns, done = PageTurns(), list[str]()

    def work(name: str, turn: Turn) -> None:
        with turn():
            done.append(name)

    with turns.table(who="eve"):
        tabs = [("eve", partial(turns.table, who="eve"))] * 20
        waiting = [*tabs, ("bob", partial(turns.below, who="bob")), ("ann", partial(turns.table, who="ann")), *tabs]
        threads = [threading.Thread(target=work, args=each) for each in waiting]
        for number, thread in enumerate(threads, 1):
            thread.start()
            while turns.waiting() < number:
                threading.Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert done[:2] == ["ann", "bob"] and done[2:] == ["eve"] * 40

"""Long work of a command in a thread of its own: Ctrl-C, SIGTERM and SIGHUP reach the main one. Shows nothing."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
POLL_SECONDS = 0.1  # seconds until a signal is seen that came just before the main thread began to wait
_swallowed = False  # whether a signal came whose KeyboardInterrupt nobody has caught yet


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM, and the SIGHUP of a terminal that is closed, end what is in the block as Ctrl-C does.

    By default each ends Python at once, without `atexit`: folders would stay. Where SIGHUP is ignored (`nohup`), it
    stays so. Only the main thread hears of signals.
    """
    global _swallowed
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    numbers = [each for each in ends if signal.getsignal(each) != signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in numbers}
    try:
        yield
    finally:
        _swallowed = False
        for number, handler in before.items():
            signal.signal(number, handler)


@interruptible()
def aside(name: str, work: Callable[[threading.Event], T], interrupted: Callable[[threading.Event], Any]) -> T:
    """What the work returns or raises. It is given the stop that an interrupt sets.

    Then `interrupted` is called with the event that the work is over. It waits for that, or raises.
    """
    global _swallowed
    stop, over = threading.Event(), threading.Event()
    ended: list[Any] = []

    def run() -> None:
        try:
            ended.append((work(stop), None))
        except BaseException as error:  # noqa: BLE001  raised again by the thread that waits
            ended.append((None, error))
        finally:
            over.set()

    thread = threading.Thread(target=run, name=name, daemon=True)
    try:
        thread.start()
        until(over)  # join() would take the thread as ended: an interrupt of its lock does that in 3.11
    except KeyboardInterrupt:
        _swallowed = False
        stop.set()
        interrupted(over)
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    ((result, problem),) = ended
    if problem is not None:
        raise problem
    return result  # type: ignore[no-any-return]


def until(over: threading.Event) -> None:
    """Waits in the main thread. A wait without an end may hold a signal back as long as the work takes.

    Python runs the handler between two steps of the thread: too late when the signal comes after the last one and
    before the system call. And a library that is being imported may swallow what the handler raises: CPython's
    PyObject_HasAttrString and PyDict_GetItem do, with every exception. Then it is raised here.
    """
    while not over.wait(POLL_SECONDS):
        if _swallowed:
            raise KeyboardInterrupt


def _interrupt(*_: object) -> NoReturn:
    global _swallowed
    _swallowed = True
    raise KeyboardInterrupt

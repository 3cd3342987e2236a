"""Downloads that are made when they are asked for: nobody keeps the threads of the server with them, nor its log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from streamlit.runtime import backend_operation_handler as handler
from streamlit.runtime.media_file_storage import MediaFileStorageError

from idcore.policy.access import AccessError
from idcore.server import streamlit_private
from idcore.server.download_turns import MOST_ASKED, MOST_AT_ONCE, MOST_OF_ONE, DownloadTurns
from idcore.server.memory import Visit
from pages.parts import session

pytestmark = pytest.mark.quick


class Work:
    """Downloads that last until `end`: those at work, and those that were made."""

    def __init__(self) -> None:
        self.at_work: list[str] = []
        self.made: list[str] = []
        self.end = asyncio.Event()

    def of(self, name: str) -> Callable[[], Any]:
        async def make() -> None:
            self.at_work.append(name)
            await self.end.wait()
            self.made.append(name)

        return make


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread of its own: a browser of the tests before may keep a loop running in this one."""
    with ThreadPoolExecutor(1) as apart:
        apart.submit(lambda: asyncio.run(story())).result()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_person_keeps_some_of_the_threads_and_hears_when_too_many_wait() -> None:
    async def story() -> None:
        turns, work = DownloadTurns(), Work()
        asked = [asyncio.create_task(turns.wait("ann", work.of("ann"))) for _ in range(MOST_ASKED + 100)]
        await settled()
        assert work.at_work == ["ann"] * MOST_OF_ONE and sum(task.done() for task in asked) == 100
        asked.append(asyncio.create_task(turns.wait("bob", work.of("bob"))))
        await settled()
        assert work.at_work[-1] == "bob", "it waits for nobody else's"
        work.end.set()
        assert (await asyncio.gather(*asked)).count(True) == MOST_ASKED + 1 == len(work.made)
        assert await turns.wait("ann", work.of("ann")), "all have their places back"

    run(story)


def test_all_together_leave_threads_to_the_server() -> None:
    async def story() -> None:
        turns, work = DownloadTurns(), Work()
        asked = [asyncio.create_task(turns.wait(f"p{number}", work.of("x"))) for number in range(20)]
        await settled()
        assert len(work.at_work) == MOST_AT_ONCE < 5, "as many threads as Python makes on one core"
        work.end.set()
        assert all(await asyncio.gather(*asked)) and len(work.made) == 20

    run(story)


def test_a_download_that_fails_gives_its_place_back() -> None:
    async def fails() -> None:
        raise ValueError

    async def story() -> None:
        turns, work = DownloadTurns(), Work()
        work.end.set()
        for _ in range(MOST_ASKED + 1):
            with pytest.raises(ValueError):
                await turns.wait("ann", fails)
        assert await turns.wait("ann", work.of("ann"))

    run(story)


def test_of_a_download_that_is_not_there_or_is_refused_the_log_has_a_line(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler._LOGGER, "propagate", True)
    streamlit_private.log_refusals_in_a_line()

    def logged(cause: Exception | None) -> logging.LogRecord:
        caplog.clear()
        try:
            raise MediaFileStorageError("x") from cause
        except MediaFileStorageError:
            handler._LOGGER.error("Error executing deferred callable", exc_info=True)
        return caplog.records[-1]

    assert logged(None).exc_info is None
    assert logged(AccessError("file_withheld", {"name": "ann"})).exc_info is None
    assert logged(ValueError("a mistake of ours")).exc_info is not None


def test_a_person_is_the_login_of_a_visit_else_the_session() -> None:
    visit = Visit()
    visit.user = "ann"
    session._visits["one"] = visit
    try:
        assert session.whose("one") == "ann" and session.whose("other") == "other"
        visit.user = ""
        assert session.whose("one") == "one"
    finally:
        session._visits.pop("one", None)

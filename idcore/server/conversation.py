"""What passes between a browser and Streamlit on a websocket: what is dropped, and what waits for its turn.

Streamlit is told nothing else, and nothing in it is replaced: its messages alone say what it does. Their contents are
read by the functions that are given.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idcore.base.errors import CoreError, refuse
from idcore.base.safe_text import size as size_text
from idcore.server.download_turns import DownloadTurns, is_making
from idcore.server.front_door import FITS, KEEPS, MOST_IN_BOXES, STRANGER, TOO_LARGE

LOG = logging.getLogger(__name__)
MOST_PARTS, LONGEST_PART = 16, 1 << 16  # parts of a page that wait until it is drawn; bytes of one that does
PATIENCE = 30.0  # seconds that they wait for a page that is not drawn, and a download for its answer if none is made
LOOK = 1.0  # seconds after which it is asked whether a download is made
_open: dict[str, Conversation] = {}  # by the ID of their session


@dataclass(frozen=True, slots=True)
class Asked:
    """A message of a browser that Streamlit may have.

    `data` is what it gets. `is_click` says whether its session keeps the values in it; `part` is the fragment that it
    is for, `is_timed` whether nobody clicked for it, and `place` the same click without values, where it is for the
    whole page. `download` is the ID of a request for a download.
    """

    data: bytes
    is_click: bool = False
    part: str = ""
    is_timed: bool = False
    place: bytes = b""
    download: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a message to a browser says of its session: its ID, whether it begins or ends to draw the whole page.

    `place` is where the browser is from now on, and `download` the ID of a request that is answered with it.
    """

    session: str = ""
    begins: bool = False
    ends: bool = False
    place: bytes = b""
    download: str = ""


class Conversations:
    """Has a conversation with each browser.

    `read` gives what a message asks, or None where Streamlit is not to have it; `refusal` is what the page hears of
    such a one. `told` reads what a page is sent, with the place where its browser was before. `no_room` hears of each
    message of a session without room; before the session is known, or for a stranger, it ends the websocket. Downloads
    of one person (`whose`) have their turns; with too many waiting, `busy` is the answer to one more.
    """

    def __init__(
        self,
        app: ASGIApp,
        read: Callable[[Scope, Message], Asked | None],
        told: Callable[[bytes, bytes], Told] = lambda _, __: Told(),
        refusal: Callable[[Scope, Message], bytes | None] = lambda *_: None,
        no_room: Callable[[str, CoreError], None] = lambda *_: None,
        whose: Callable[[str], str] = str,
        busy: Callable[[Scope, str], bytes | None] = lambda *_: None,
    ) -> None:
        self.app, self.read, self.told, self.refusal = app, read, told, refusal
        self.no_room, self.whose, self.busy = no_room, whose, busy
        self.turns = DownloadTurns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        conversation = Conversation(self, scope, receive, send)
        try:
            await self.app(scope, conversation.receive, conversation.send)
        finally:
            conversation.end()


class Conversation:
    """With one browser. Only the event loop of the server uses it."""

    def __init__(self, all_of_them: Conversations, scope: Scope, receive: Receive, send: Send) -> None:
        self._all, self._scope, self._receive, self._send = all_of_them, scope, receive, send
        self._session = ""
        self._place = b""  # where the browser is: the last click for a whole page, without values
        self._waits, self._draws = 0.0, False  # until when a page that was asked for may begin; whether one is drawn
        self._parts: deque[Asked] = deque()
        self._ready: deque[bytes] = deque()
        self._downloads: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wakes = asyncio.Event()
        self._coming: asyncio.Future[Message] | None = None
        self._ended = False

    async def receive(self) -> Message:
        """The next message that Streamlit may have."""
        while True:
            self._let_parts_go()
            if self._ready:
                return {"type": "websocket.receive", "bytes": self._ready.popleft()}
            if self._coming is None:
                self._coming = asyncio.ensure_future(self._receive())
            await self._next(self._coming)
            if self._coming.done():
                message, self._coming = self._coming.result(), None
                if message["type"] != "websocket.receive":
                    return message
                if (taken := await self._judge(message)) is not None:
                    return taken

    async def _next(self, coming: asyncio.Future[Message]) -> None:
        """Waits until the browser says something, or there is something to do."""
        self._wakes.clear()
        woken = asyncio.ensure_future(self._wakes.wait())
        try:
            await asyncio.wait((coming, woken), timeout=1 if self._parts else None, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()

    async def _judge(self, message: Message) -> Message | None:
        """A message as Streamlit gets it; None of one that it does not get, or not yet."""
        size = len(message.get("bytes") or b"")
        if (why := _lacks_room(self._scope, size)) is not None:
            LOG.warning("there is no room for a message of %s bytes of a websocket", f"{size:,}")
            if not self._session or self._scope.get(STRANGER):
                return {"type": "websocket.disconnect", "code": TOO_LARGE}
            self._all.no_room(self._session, why)
            return None
        asked = self._all.read(self._scope, message)
        if asked is None:
            if (answer := self._all.refusal(self._scope, message)) is not None:
                await self._send({"type": "websocket.send", "bytes": answer})
            return None
        if asked.is_click and KEEPS in self._scope:
            self._scope[KEEPS](size)  # nothing else runs since it was asked whether there is room
        if asked.download:
            self._begin_download(asked)
        elif asked.part and size <= LONGEST_PART and self._is_drawing():
            self._hold(asked)
        else:
            if asked.is_click and not asked.part:
                self._asks(asked.place)
            return {**message, "bytes": asked.data}
        return None

    async def send(self, message: Message) -> None:
        """To the browser."""
        if data := message.get("bytes"):
            said = self._all.told(data, self._place)
            if said.session and not self._session:
                self._session = said.session
                _open[said.session] = self
            self._place = said.place or self._place
            if said.begins:
                self._waits, self._draws = 0.0, True
            elif said.ends and self._draws:
                self._draws = False
                self._wakes.set()
            if (done := self._downloads.get(said.download)) is not None:
                done.set()
        await self._send(message)

    def draw_again(self) -> None:
        """The page once more, as its browser has it."""
        if self._place:
            self._asks(self._place)
            self._ready.append(self._place)
            self._wakes.set()

    def end(self) -> None:
        """The websocket has ended."""
        self._ended = True
        if _open.get(self._session) is self:
            del _open[self._session]
        if self._coming is not None:
            self._coming.cancel()

    def _asks(self, place: bytes) -> None:
        """For the whole page. What ends before it begins is the one before."""
        self._place, self._waits, self._draws = place, asyncio.get_running_loop().time() + PATIENCE, False

    def _is_drawing(self) -> bool:
        return self._draws or asyncio.get_running_loop().time() < self._waits

    def _hold(self, asked: Asked) -> None:
        """A part of a page has its turn when the page has been sent: before, Streamlit may drop the rest of it."""
        if asked.is_timed and any(asked.part == one.part for one in self._parts):
            return
        self._parts.append(asked)
        if len(self._parts) > MOST_PARTS:
            self._ready.append(self._parts.popleft().data)

    def _let_parts_go(self) -> None:
        if self._parts and not self._is_drawing():
            self._ready.extend(one.data for one in self._parts)
            self._parts.clear()

    def _begin_download(self, asked: Asked) -> None:
        if asked.download not in self._downloads:  # a page asks for each once
            task = asyncio.create_task(self._download(asked))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _download(self, asked: Asked) -> None:
        done = self._downloads[asked.download] = asyncio.Event()

        async def make() -> None:
            if not self._ended:
                self._ready.append(asked.data)
                self._wakes.set()
                await self._made(done)

        try:
            has_turn = await self._all.turns.wait(self._all.whose(self._session), make)
            if not has_turn and not self._ended and (answer := self._all.busy(self._scope, asked.download)) is not None:
                with suppress(OSError, RuntimeError):  # it has just ended
                    await self._send({"type": "websocket.send", "bytes": answer})
        finally:
            del self._downloads[asked.download]

    async def _made(self, done: asyncio.Event) -> None:
        """Waits for an answer. Streamlit drops some, or cannot send them: then until nothing is made any more.

        What it has begun to make goes on when the browser has gone.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE
        while not done.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), LOOK)
            if (self._ended or loop.time() >= until) and not is_making(self._session):
                return


def is_open(session: str) -> bool:
    """Whether the browser of a session is connected."""
    return session in _open


def draw_again(session: str) -> None:
    """The page of a session once more, where its browser is connected. For the event loop of the server alone."""
    if (conversation := _open.get(session)) is not None:
        conversation.draw_again()


def _lacks_room(scope: Scope, size: int) -> CoreError | None:
    """Why a message of so many bytes has no room."""
    if size > MOST_IN_BOXES:
        return refuse("text_large", held=size_text(size), most=size_text(MOST_IN_BOXES))
    why: CoreError | None = scope[FITS](size) if FITS in scope else None
    return why
